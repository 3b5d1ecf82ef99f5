//===- ConvertScatter.cpp - Segments, sparse rows, diagonals, blocks ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using fb::BuiltinOperator;

namespace {

//===----------------------------------------------------------------------===//
// Constants on the way
//===----------------------------------------------------------------------===//

/// The type of the numbers of input `index`: floats where it holds integers that stand for such.
DataType typeOf(TFLiteLayer &layer, unsigned index) {
  return storageDataType(TFLiteLayer::elementType(layer.in(index))).value_or(DataType::F32);
}

/// A constant of `dims` elements that are all `value`; an error of the layer where it cannot be.
Value filledWith(TFLiteLayer &layer, StringRef suffix, ArrayRef<int64_t> dims, DataType type,
                 const Tensor &value) {
  Expected<Tensor> made =
      Tensor::create(type, std::span<const int64_t>(dims.data(), dims.size()), layer.place());
  if (!made) {
    layer.fail(made.error().found, made.error().expected);
    return layer.none();
  }
  const Tensor one = convert(value, type);
  const std::span<std::byte> to = made->mutableBytes();
  for (size_t at = 0; at < to.size(); at += one.rawBytes().size())
    std::ranges::copy(one.rawBytes(), to.begin() + static_cast<ptrdiff_t>(at));
  return layer.weight(suffix, std::move(*made));
}

Value filledWith(TFLiteLayer &layer, StringRef suffix, ArrayRef<int64_t> dims, DataType type,
                 double value) {
  return filledWith(layer, suffix, dims, type, Tensor::of<double>({}, {value}));
}

/// Whether row and column are the same, as a matrix of `rows` by `columns`.
Value diagonalMask(TFLiteLayer &layer, int64_t rows, int64_t columns) {
  Expected<Tensor> mask = Tensor::create(DataType::Bool, Ints{rows, columns}, layer.place());
  if (!mask) {
    layer.fail(mask.error().found, mask.error().expected);
    return layer.none();
  }
  for (int64_t row = 0; row < std::min(rows, columns); ++row)
    mask->mutableData<uint8_t>()[static_cast<size_t>(row * columns + row)] = 1;
  return layer.weight("diagonal", std::move(*mask));
}

Value unsqueezed(TFLiteLayer &layer, StringRef suffix, Value value, int64_t axis) {
  return layer.temp<top::UnsqueezeOp>(suffix, {value, layer.none()},
                                      layer.attrs().setInts("axes", Ints{axis}));
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

/// Matrices of zeros with the rows of the input as diagonals.
void matrixDiag(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  if (layer.failed())
    return;
  if (dims.empty())
    return layer.fail("has an input without dimensions", "1 or more");
  Value row = unsqueezed(layer, "column", layer.in(0), static_cast<int64_t>(dims.size()));
  layer.emit<top::WhereOp>({diagonalMask(layer, dims.back(), dims.back()), row,
                            filledWith(layer, "zero", {}, typeOf(layer, 0), 0)});
}

/// The matrices of input 0 with the rows of input 1 as diagonals.
void matrixSetDiag(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  Ints diagonal = layer.shape(1);
  if (layer.failed())
    return;
  if (dims.size() < 2 || diagonal.size() + 1 != dims.size() ||
      !std::equal(diagonal.begin(), diagonal.end() - 1, dims.begin()) ||
      diagonal.back() != std::min(dims.back(), dims[dims.size() - 2]))
    return layer.fail("has a diagonal that does not fit",
                      "one for each matrix, with a number for each row that has a column");
  Value row = layer.in(1);
  const auto last = static_cast<int64_t>(diagonal.size()) - 1;
  if (const int64_t missing = dims.back() - diagonal.back(); missing > 0) {
    diagonal.back() = missing;
    row = layer.temp<top::ConcatOp>("row",
                                    {row, filledWith(layer, "rest", diagonal, typeOf(layer, 0), 0)},
                                    layer.attrs().setInt("axis", last));
  }
  layer.emit<top::WhereOp>({diagonalMask(layer, dims[dims.size() - 2], dims.back()),
                            unsqueezed(layer, "rows", row, last), layer.in(0)});
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// How many segments there may be: as many as the format's integers count.
constexpr int64_t kMostSegments = std::numeric_limits<int32_t>::max();

/// `combined` by `reduction`: row i of the data goes to row ids[i] of the result, of which there
/// are `count`. Those of negative numbers are left out where `dropsNegative`. A number of `count`
/// or more is an error: of the layer where it is constant, and otherwise of the run that computes
/// it.
void segments(TFLiteLayer &layer, int64_t count, StringRef reduction, const Tensor &begin,
              bool dropsNegative) {
  const Ints data = layer.shape(0);
  const Ints ids = layer.shape(1);
  if (layer.failed())
    return;
  if (ids.size() > data.size() || !std::equal(ids.begin(), ids.end(), data.begin()))
    return layer.fail("has segments of another shape", "that of the first dimensions of the data");
  for (int64_t id : layer.constantInts(1).value_or(Ints()))
    if (id >= count)
      return layer.fail(fmt::format("has the segment {}", id), fmt::format("less than {}", count));
  Ints shape = {count + (dropsNegative ? 1 : 0)};
  shape.append(data.begin() + static_cast<ptrdiff_t>(ids.size()), data.end());
  Value number = layer.cast("number", layer.in(1), DataType::I64);
  if (dropsNegative) {
    // They go to a row in front of the first, and none is behind the last.
    Value limited = layer.temp<top::MaxOp>(
        "limited", {number, filledWith(layer, "least", {}, DataType::I64, -1)});
    number =
        layer.temp<top::AddOp>("row", {limited, filledWith(layer, "one", {}, DataType::I64, 1)});
  }
  Value tuples = unsqueezed(layer, "tuples", number, static_cast<int64_t>(ids.size()));
  const SmallVector<Value> operands = {filledWith(layer, "begin", shape, typeOf(layer, 0), begin),
                                       tuples, layer.in(0)};
  const Attrs attributes = layer.attrs().setString("reduction", reduction);
  if (!dropsNegative) {
    layer.emit<top::ScatterNDOp>(operands, attributes);
    return;
  }
  Value all = layer.temp<top::ScatterNDOp>("all", operands, attributes);
  layer.emit<top::SliceOp>({all, layer.none(), layer.none(), layer.none(), layer.none()},
                           layer.partAttrs(0, 1, count + 1));
}

/// As many rows as the last segment, whose number must be known, says.
void segmentSum(TFLiteLayer &layer) {
  const Ints ids = layer.needInts(1, "segments");
  if (layer.failed())
    return;
  if (!llvm::is_sorted(ids) || (!ids.empty() && (ids.front() < 0 || ids.back() >= kMostSegments)))
    return layer.fail("has segments that are not in order, or too large",
                      fmt::format("0 or more, below {}, in ascending order", kMostSegments));
  segments(layer, ids.empty() ? 0 : ids.back() + 1, "add", Tensor::of<double>({}, {0}), false);
}

void unsortedSegments(TFLiteLayer &layer, StringRef reduction, const Tensor &begin) {
  const Ints count = layer.needInts(2, "number of segments");
  if (layer.failed())
    return;
  if (count.size() != 1 || count[0] < 0 || count[0] > kMostSegments)
    return layer.fail("has a number of segments that is none, or too large",
                      fmt::format("one from 0 to {}", kMostSegments));
  segments(layer, count[0], reduction, begin, true);
}

/// The least or largest number of the type of the data.
Tensor limitOf(TFLiteLayer &layer, bool isLeast) {
  const auto pick = [&]<typename T>(T) {
    using Limits = std::numeric_limits<T>;
    return Tensor::of<T>({}, {isLeast ? Limits::lowest() : Limits::max()});
  };
  switch (typeOf(layer, 0)) {
  case DataType::I32:
    return pick(int32_t());
  case DataType::I64:
    return pick(int64_t());
  case DataType::F64:
    return pick(double());
  default:
    return pick(float());
  }
}

void unsortedSum(TFLiteLayer &layer) {
  unsortedSegments(layer, "add", Tensor::of<double>({}, {0}));
}
void unsortedProd(TFLiteLayer &layer) {
  unsortedSegments(layer, "mul", Tensor::of<double>({}, {1}));
}
void unsortedMax(TFLiteLayer &layer) { unsortedSegments(layer, "max", limitOf(layer, true)); }
void unsortedMin(TFLiteLayer &layer) { unsortedSegments(layer, "min", limitOf(layer, false)); }

//===----------------------------------------------------------------------===//
// Sparse rows
//===----------------------------------------------------------------------===//

/// Inputs: places, the shape, values (or one for all), the value elsewhere.
void sparseToDense(TFLiteLayer &layer) {
  const Ints shape = layer.needInts(1, "output shape");
  Ints places = layer.shape(0);
  const Ints values = layer.shape(2);
  if (layer.failed())
    return;
  const auto rank = static_cast<int64_t>(shape.size());
  if (places.size() > 2 || values.size() > 1 || (places.size() == 2 && places[1] != rank) ||
      (places.size() < 2 && rank != 1) ||
      llvm::any_of(shape, [](int64_t each) { return each < 0; }))
    return layer.fail("has places that do not fit its shape", "one number for each dimension");
  const int64_t count = places.empty() ? 1 : places[0];
  const auto expanded = [&](StringRef suffix, Value value, const Ints &dims) {
    Value target = layer.intsWeight((suffix + "_shape").str(), dims);
    return layer.temp<top::ExpandOp>(suffix, {value, target});
  };
  Value updates = layer.in(2);
  if (values.empty())
    updates = expanded("values", layer.reshaped("value", updates, {1}), {count});
  Value rest = expanded("rest", layer.in(3), shape);
  Value tuples =
      layer.reshaped("tuples", layer.cast("place", layer.in(0), DataType::I64), {count, rank});
  layer.emit<top::ScatterNDOp>({rest, tuples, updates});
}

/// Inputs: numbers of rows, places, the shape, weights, the table. The rows whose places differ in
/// the last dimension only are added, each times its weight; `combiner`: 1 divides by the sum of
/// the weights, 2 by the root of the sum of their squares.
void embeddingLookupSparse(TFLiteLayer &layer) {
  const auto combiner = layer.options<fb::EmbeddingLookupSparseOptions>().combiner();
  const Ints places = layer.shape(1);
  Ints shape = layer.needInts(2, "shape");
  const Ints table = layer.shape(4);
  if (layer.failed())
    return;
  if (places.size() != 2 || shape.size() < 1 || places[1] != std::ssize(shape) || table.empty() ||
      combiner < 0 || combiner > 2)
    return layer.fail("has places, a shape or a combiner that do not fit",
                      "places [rows, dimensions], and a combiner of SUM, MEAN or SQRTN");
  shape.pop_back();
  Ints ones(table.size(), 1);
  ones[0] = places[0];
  Value rows = layer.temp<top::GatherOp>("rows", {layer.in(4), layer.in(0)},
                                         layer.attrs().setInt("axis", 0));
  Value weights = layer.reshaped("weights", layer.in(3), ones);
  Value scaled = layer.temp<top::MulOp>("scaled", {rows, weights});
  Value tuples =
      layer.part("tuples", layer.cast("places", layer.in(1), DataType::I64), 1, 0, places[1] - 1);
  // The sums of `updates` with the extents `inner` at each place.
  const auto sum = [&](StringRef suffix, Value updates, ArrayRef<int64_t> inner) {
    Ints dims = shape;
    dims.append(inner.begin(), inner.end());
    Value zeros = filledWith(layer, (suffix + "_zeros").str(), dims, DataType::F32, 0);
    return SmallVector<Value>{zeros, tuples, updates};
  };
  const ArrayRef<int64_t> inner = ArrayRef(table).drop_front();
  const Attrs add = layer.attrs().setString("reduction", "add");
  if (combiner == 0) {
    layer.emit<top::ScatterNDOp>(sum("sum", scaled, inner), add);
    return;
  }
  Value total = layer.temp<top::ScatterNDOp>("total", sum("sum", scaled, inner), add);
  Value parts = combiner == 1 ? weights : layer.temp<top::MulOp>("squares", {weights, weights});
  Value divisor = layer.temp<top::ScatterNDOp>(
      "divisor", sum("parts", parts, ArrayRef(ones).drop_front()), add);
  if (combiner == 2)
    divisor = layer.temp<top::SqrtOp>("root", divisor);
  // Places without rows stay 0.
  Value isEmpty = layer.temp<top::CompareOp>("empty", {divisor, layer.filled("none", {}, 0)},
                                             layer.attrs().setString("mode", "Equal"));
  divisor = layer.temp<top::WhereOp>("by", {isEmpty, layer.filled("one", {}, 1), divisor});
  layer.emit<top::DivOp>({total, divisor});
}

/// The distinct elements in the order in which they come first, and which of them each one is.
void unique(TFLiteLayer &layer) {
  const bool narrow = layer.options<fb::UniqueOptions>().idx_out_type() == fb::ElementType::INT32;
  SmallVector<Value> made = layer.temps<top::UniqueOp>("distinct", 4, 4, layer.in(0),
                                                       layer.attrs().setBool("sorted", false));
  if (layer.wants(0))
    layer.emitAs<top::CopyOp>(0, made[0], layer.attrs());
  if (layer.wants(1))
    layer.emitAs<top::CastOp>(
        1, made[2],
        layer.attrs().setType(
            "to", elementType(layer.context(), narrow ? DataType::I32 : DataType::I64)));
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// `value`, a vector of at most `count` elements, with zeros behind.
Value zeroPadded(TFLiteLayer &layer, StringRef suffix, Value value, int64_t count, DataType type) {
  Value all = layer.temp<top::ConcatOp>(
      (suffix + "_and_zeros").str(),
      {value, filledWith(layer, (suffix + "_zeros").str(), {count}, type, 0)},
      layer.attrs().setInt("axis", 0));
  Value first = layer.part((suffix + "_first").str(), all, 0, 0, count);
  return layer.temp<top::ReshapeOp>((suffix + "_padded").str(), {first, layer.none()},
                                    layer.attrs().setInts("shape", Ints{count}));
}

/// Inputs: boxes, their scores, how many are taken, the least overlap that is too much, the score
/// that must be exceeded. Outputs: numbers of boxes, their scores where `givesScores`, and how many
/// they are; zeros stand behind the last one.
void nonMaxSuppression(TFLiteLayer &layer, bool givesScores) {
  const Ints most = layer.needInts(2, "number of boxes");
  const Ints boxes = layer.shape(0);
  const Ints scores = layer.shape(1);
  if (layer.failed())
    return;
  if (most.size() != 1 || most[0] < 0 || boxes.size() != 2 || boxes[1] != 4 || scores.size() != 1 ||
      scores[0] != boxes[0])
    return layer.fail("has boxes, scores or a number of boxes that do not fit",
                      "[boxes, 4], [boxes], and 0 or more");
  if (givesScores) {
    const std::optional<Tensor> sigma = layer.needConstant(5, "sigma");
    if (!sigma)
      return;
    if (sigma->numElements() != 1 || sigma->data<float>()[0] != 0)
      return layer.fail("lowers the scores of boxes that overlap (sigma)",
                        "a sigma of 0, as others are not supported");
  }
  const int64_t count = most[0];
  Value limit = layer.intsWeight("most", Ints{count});
  Value taken = layer.temp<top::NmsOp>(
      "boxes",
      {layer.reshaped("of_one", layer.in(0), {1, boxes[0], 4}),
       layer.reshaped("of_one_class", layer.in(1), {1, 1, boxes[0]}), limit,
       layer.reshaped("overlap", layer.in(3), {1}), layer.reshaped("least", layer.in(4), {1})});
  Value places =
      layer.temp<top::SqueezeOp>("places", {layer.part("column", taken, 1, 2, 3), layer.none()},
                                 layer.attrs().setInts("axes", Ints{1}));
  const auto put = [&](unsigned index, Value value) {
    if (layer.wants(index))
      layer.emitAs<top::CastOp>(
          index, value, layer.attrs().setType("to", elementType(layer.context(), DataType::I32)));
  };
  put(0, zeroPadded(layer, "places", places, count, DataType::I64));
  if (givesScores && layer.wants(1)) {
    Value own =
        layer.temp<top::GatherOp>("scores", {layer.in(1), places}, layer.attrs().setInt("axis", 0));
    layer.emitAs<top::CopyOp>(1, zeroPadded(layer, "scores", own, count, typeOf(layer, 1)),
                              layer.attrs());
  }
  Value extents = layer.temp<top::ShapeOp>("extents", taken);
  put(givesScores ? 2 : 1, layer.reshaped("count", layer.part("rows", extents, 0, 0, 1), {}));
}

void nonMaxSuppressionV4(TFLiteLayer &layer) { nonMaxSuppression(layer, false); }
void nonMaxSuppressionV5(TFLiteLayer &layer) { nonMaxSuppression(layer, true); }

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The input with the block of input 1 in it, from the place that input 2 says; the place is moved
/// so that the block fits.
void dynamicUpdateSlice(TFLiteLayer &layer) {
  const Ints dims = layer.shape(0);
  const Ints block = layer.shape(1);
  if (layer.failed())
    return;
  const size_t rank = dims.size();
  if (block.size() != rank || rank == 0)
    return layer.fail("has a block of another rank", "as many dimensions as the input");
  Ints most;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (block[axis] > dims[axis])
      return layer.fail("has a block that is larger than the input", "one that fits");
    most.push_back(dims[axis] - block[axis]);
  }
  const Shape strides = Shape(std::span(dims.data(), rank)).strides();
  Value begin = layer.cast("begin", layer.in(2), DataType::I64);
  begin = layer.temp<top::MaxOp>("from", {begin, layer.intsWeight("least", Ints(rank, 0))});
  begin = layer.temp<top::MinOp>("within", {begin, layer.intsWeight("most", most)});
  Value steps = layer.temp<top::MulOp>(
      "steps", {begin, layer.intsWeight("strides", Ints(strides.begin(), strides.end()))});
  Value offset = layer.temp<top::ReduceOp>("offset", {steps, layer.none()},
                                           layer.attrs()
                                               .setString("mode", "ReduceSum")
                                               .setInts("axes", Ints{0})
                                               .setBool("keepdims", true));
  const Shape blockShape(std::span(block.data(), rank));
  const Shape blockStrides = blockShape.strides();
  Ints places;
  for (int64_t element = 0; element < blockShape.numElements(); ++element) {
    int64_t place = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      place += element / blockStrides[axis] % block[axis] * strides[axis];
    places.push_back(place);
  }
  const auto count = static_cast<int64_t>(places.size());
  Value all = layer.temp<top::AddOp>("places", {layer.intsWeight("block", places), offset});
  int64_t total = 1;
  for (int64_t extent : dims)
    total *= extent;
  Value written =
      layer.temp<top::ScatterNDOp>("written", {layer.reshaped("flat", layer.in(0), {total}),
                                               layer.reshaped("tuples", all, {count, 1}),
                                               layer.reshaped("updates", layer.in(1), {count})});
  layer.emit<top::ReshapeOp>({written, layer.none()}, layer.attrs().setInts("shape", dims));
}

/// Elements of the padding value between those of the input.
void dilate(TFLiteLayer &layer) {
  Ints dims = layer.shape(0);
  const Ints factors = layer.needInts(1, "dilations");
  std::optional<Tensor> filling = layer.failed() ? std::nullopt : layer.constant(2);
  if (layer.failed())
    return;
  if (factors.size() != dims.size() || !filling || filling->numElements() != 1 ||
      llvm::any_of(factors, [](int64_t factor) { return factor < 1; }))
    return layer.fail("has dilations or a padding value that do not fit",
                      "a number of 1 or more for each dimension, and one constant value");
  Value value = layer.in(0);
  Value padding = filledWith(layer, "padding", {}, typeOf(layer, 0), filling->reshaped(Shape()));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (factors[axis] == 1 || dims[axis] == 0)
      continue;
    const auto name = [&](StringRef what) { return fmt::format("{}{}", what.str(), axis); };
    const auto behind = static_cast<int64_t>(axis) + 1;
    Ints split = dims;
    split.insert(split.begin() + behind, 1);
    Ints gaps = split;
    gaps[axis + 1] = factors[axis] - 1;
    Value between = layer.temp<top::ExpandOp>(
        name("gaps"), {padding, layer.intsWeight(name("gaps_shape"), gaps)});
    Value spread = layer.temp<top::ConcatOp>(name("spread"),
                                             {layer.reshaped(name("split"), value, split), between},
                                             layer.attrs().setInt("axis", behind));
    dims[axis] *= factors[axis];
    value = layer.reshaped(name("joined"), spread, dims);
    dims[axis] -= factors[axis] - 1;
    value = layer.part(name("inner"), value, static_cast<int64_t>(axis), 0, dims[axis]);
  }
  layer.emit<top::CopyOp>(value);
}

constexpr OpRow kScatterRows[] = {
    {BuiltinOperator::DILATE, 3, 3, dilate, "Reshape, Concat, Slice"},
    {BuiltinOperator::DYNAMIC_UPDATE_SLICE, 3, 3, dynamicUpdateSlice, "Reshape, ScatterND"},
    {BuiltinOperator::EMBEDDING_LOOKUP_SPARSE, 5, 5, embeddingLookupSparse,
     "Gather, Mul, ScatterND"},
    {BuiltinOperator::MATRIX_DIAG, 1, 1, matrixDiag, "Unsqueeze, Where"},
    {BuiltinOperator::MATRIX_SET_DIAG, 2, 2, matrixSetDiag, "Unsqueeze, Where"},
    {BuiltinOperator::NON_MAX_SUPPRESSION_V4, 5, 5, nonMaxSuppressionV4, "Nms, Concat, Slice"},
    {BuiltinOperator::NON_MAX_SUPPRESSION_V5, 6, 6, nonMaxSuppressionV5,
     "Nms, Gather, Concat, Slice"},
    {BuiltinOperator::SEGMENT_SUM, 2, 2, segmentSum, "ScatterND"},
    {BuiltinOperator::SPARSE_TO_DENSE, 4, 4, sparseToDense, "Expand, ScatterND"},
    {BuiltinOperator::UNIQUE, 1, 1, unique, "Unique, Cast"},
    {BuiltinOperator::UNSORTED_SEGMENT_MAX, 3, 3, unsortedMax, "ScatterND, Slice"},
    {BuiltinOperator::UNSORTED_SEGMENT_MIN, 3, 3, unsortedMin, "ScatterND, Slice"},
    {BuiltinOperator::UNSORTED_SEGMENT_PROD, 3, 3, unsortedProd, "ScatterND, Slice"},
    {BuiltinOperator::UNSORTED_SEGMENT_SUM, 3, 3, unsortedSum, "ScatterND, Slice"},
};

} // namespace

ArrayRef<OpRow> tpuc::tflite::scatterRows() { return kScatterRows; }
