//===- DecomposeReductions.cpp - Reductions and running sums --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "llvm/ADT/SmallBitVector.h"

#include <string>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// A tensor seen as rows of what is reduced: dimensions that stay in front of the others. Or it
/// stays what it is, where the last dimensions of pictures are reduced.
class RowReduction {
public:
  RowReduction(OpMaker &maker, Value pictures) : maker(maker), matrix(pictures) {}
  RowReduction(OpMaker &maker, Value input, const llvm::SmallBitVector &reduced) : maker(maker) {
    SmallVector<int64_t> order;
    int64_t rows = 1;
    int64_t width = 1;
    for (const bool isReduced : {false, true})
      for (auto [dim, extent] : llvm::enumerate(OpMaker::dimsOf(input)))
        if (reduced[static_cast<unsigned>(dim)] == isReduced) {
          order.push_back(static_cast<int64_t>(dim));
          (isReduced ? width : rows) *= extent;
        }
    if (!llvm::is_sorted(order))
      input = maker.permuted(input, order, "turned");
    matrix = maker.reshaped(input, {rows, width}, "rows");
  }

  /// [rows, 1], or [images, channels, 1, 1].
  Value reduce(Value of, StringRef mode) {
    SmallVector<int64_t> dims(OpMaker::dimsOf(of));
    SmallVector<int64_t> axes;
    for (size_t dim = dims.size() / 2; dim < dims.size(); ++dim) {
      axes.push_back(static_cast<int64_t>(dim));
      dims[dim] = 1;
    }
    NamedAttrList attributes;
    attributes.set("axes", maker.builder.getI64ArrayAttr(axes));
    attributes.set("mode", maker.builder.getStringAttr(mode));
    return maker.make<tpu::ReduceOp>(mode, dims, {of, maker.none()}, attributes);
  }

private:
  OpMaker &maker;

public:
  Value matrix;
};

Value reducedBy(OpMaker &maker, StringRef mode, RowReduction &rows) {
  Value matrix = rows.matrix;
  if (mode == "ReduceL1")
    return rows.reduce(maker.makeLike<tpu::AbsOp>("magnitudes", matrix), "ReduceSum");
  if (mode == "ReduceL2" || mode == "ReduceSumSquare") {
    Value sum = rows.reduce(maker.makeLike<tpu::MulOp>("squares", {matrix, matrix}), "ReduceSum");
    return mode == "ReduceL2" ? maker.makeLike<tpu::SqrtOp>("root", sum) : sum;
  }
  if (mode == "ReduceLogSum")
    return maker.makeLike<tpu::LogOp>("logarithm", rows.reduce(matrix, "ReduceSum"));
  if (mode == "ReduceLogSumExp") {
    Value most = rows.reduce(matrix, "ReduceMax");
    Value less = maker.makeLike<tpu::SubOp>("less", {matrix, most});
    Value sum = rows.reduce(maker.makeLike<tpu::ExpOp>("exponentials", less), "ReduceSum");
    return maker.makeLike<tpu::AddOp>("total",
                                      {maker.makeLike<tpu::LogOp>("logarithm", sum), most});
  }
  return rows.reduce(matrix, mode);
}

/// Whether the chip has what is wider than stored integers and floats of 16 bits.
bool hasF32(const OpMaker &maker) { return hasScheme(maker.backend.info(), schemes::kF32); }

/// Whether the chip computes all from `input` to `value` in local memory, each of its first
/// operand.
bool isLocalFrom(const OpMaker &maker, Value input, Value value) {
  for (; value != input; value = value.getDefiningOp()->getOperand(0))
    if (!maker.isLocal(value))
      return false;
  return true;
}

} // namespace

bool codegen::decomposeChannelMean(OpMaker &maker) {
  constexpr int64_t kFewest = 16;
  auto op = dyn_cast<tpu::ReduceOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || !hasF32(maker))
    return false;
  const bool isMean = op.getMode() == "ReduceMean";
  const std::optional<llvm::SmallBitVector> reduced = dimsReducedBy(op);
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if ((!isMean && op.getMode() != "ReduceSum") || dims.size() != 4 || !reduced ||
      reduced->count() != 1 || !reduced->test(1) || dims[1] < kFewest || dims[2] * dims[3] != 1)
    return false;
  const std::array<int64_t, 4> extents = {1, dims[1], 1, 1};
  Tensor shares(DataType::F32, Shape(std::span(extents)));
  std::ranges::fill(shares.mutableData<float>(),
                    isMean ? 1.0F / static_cast<float>(dims[1]) : 1.0F);
  NamedAttrList attributes;
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr({1, 1}));
  const Value value = maker.make<tpu::ConvOp>(
      "channels", {dims[0], 1, 1, 1},
      {maker.widened(op.getInput()), maker.weight(shares, "shares"), maker.none()}, attributes);
  if (!maker.isLocal(value)) {
    eraseUnused(value.getDefiningOp());
    return false;
  }
  maker.replace(0, maker.finished(value, 0));
  return true;
}

std::optional<llvm::SmallBitVector> codegen::dimsReducedBy(tpu::ReduceOp op) {
  const auto rank = static_cast<unsigned>(OpMaker::dimsOf(op.getInput()).size());
  const auto axes = top::intsOf(op.getAxes(), op.getAxesTensor());
  if (!axes && !isa<NoneType>(op.getAxesTensor().getType()))
    return std::nullopt;
  if (!axes || axes->empty())
    return llvm::SmallBitVector(rank, !op.getNoopWithEmptyAxes());
  llvm::SmallBitVector reduced(rank);
  for (int64_t axis : *axes)
    reduced.set(static_cast<unsigned>(OpMaker::frontAxis(axis, op.getInput())));
  return reduced;
}

bool codegen::decomposeStoredExtremum(OpMaker &maker) {
  auto reduce = dyn_cast<tpu::ReduceOp>(maker.op);
  auto pool = dyn_cast<tpu::MaxPoolOp>(maker.op);
  const bool isExtremum =
      reduce ? reduce.getMode() == "ReduceMax" || reduce.getMode() == "ReduceMin"
             // The limit may be no number of the scale.
             : pool && (!pool.getDoRelu() || pool.getReluLimit().convertToDouble() < 0);
  if (!isExtremum || !hasF32(maker) || fittingPlaceOf(maker.op, maker.backend))
    return false;
  RankedTensorType from = OpMaker::typeOf(maker.op->getOperand(0));
  RankedTensorType to = OpMaker::typeOf(maker.op->getResult(0));
  if (!tpu::isQuantized(maker.op->getOperand(0)) || from.getElementType() != to.getElementType())
    return false;
  const Type number = maker.builder.getF32Type();
  SmallVector<Value> operands(maker.op->getOperands());
  operands[0] = maker.make(tpu::CastOp::getOperationName(), "numbers", Type(from.clone(number)),
                           operands[0], {});
  const Value extremum =
      maker.make(maker.op->getName().getStringRef(), "extremum", Type(to.clone(number)), operands,
                 NamedAttrList(maker.op->getAttrDictionary()));
  maker.replace(0, maker.make(tpu::CastOp::getOperationName(), "stored", Type(to), extremum, {}));
  return true;
}

/// Whether the reduction would be decomposed to itself.
static bool isOfRows(tpu::ReduceOp op, const llvm::SmallBitVector &reduced) {
  const bool isPlain =
      llvm::is_contained({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"}, op.getMode());
  return isPlain && reduced.size() == 2 && reduced.count() == 1 && reduced.test(1);
}

bool codegen::decomposeReduce(OpMaker &maker) {
  auto op = dyn_cast<tpu::ReduceOp>(maker.op);
  if (!op || op.getMode() == "ReduceProd" || !OpMaker::isFloat(op.getInput()))
    return false;
  const std::optional<llvm::SmallBitVector> reduced = dimsReducedBy(op);
  if (!reduced || isOfRows(op, *reduced))
    return false;
  // Norms and logarithms of 16 bits would round in between, where the chip has wider floats.
  const bool isOfPictures =
      reduced->size() == 4 && reduced->count() == 2 && reduced->test(2) && reduced->test(3);
  if (isOfPictures) {
    // Pictures stay what they are, in the group of the layers around.
    RowReduction pictures(maker, maker.widened(op.getInput()));
    const Value result = reducedBy(maker, op.getMode(), pictures);
    if (isLocalFrom(maker, pictures.matrix, result)) {
      maker.replace(0, maker.finished(result, 0));
      return true;
    }
    eraseUnused(result.getDefiningOp());
  }
  RowReduction rows(maker, maker.widened(op.getInput()), *reduced);
  Value result = reducedBy(maker, op.getMode(), rows);
  maker.replace(0, maker.finished(result, 0));
  return true;
}

bool codegen::decomposeNormalize(OpMaker &maker) {
  auto op = dyn_cast<tpu::NormalizeOp>(maker.op);
  if (!op)
    return false;
  const auto axis = static_cast<unsigned>(OpMaker::frontAxis(op.getAxis(), op.getInput()));
  Value input = maker.widened(op.getInput());
  SmallVector<int64_t> dims(OpMaker::dimsOf(input));
  llvm::SmallBitVector reduced(static_cast<unsigned>(dims.size()));
  reduced.set(axis);
  RowReduction rows(maker, input, reduced);
  Value norm = reducedBy(maker, op.getP() == 1 ? "ReduceL1" : "ReduceL2", rows);
  // Where the norm is 0 so are the elements.
  NamedAttrList least;
  least.set("const_val", maker.builder.getF64FloatAttr(1e-30));
  norm = maker.makeLike<tpu::MaxConstOp>("positive", norm, least);
  dims[axis] = 1;
  norm = maker.reshaped(norm, dims, "norms");
  maker.replace(0, maker.finished(maker.makeLike<tpu::DivOp>("quotients", {input, norm}), 0));
  return true;
}

/// A running sum is a product with a triangle of ones.
bool codegen::decomposeCumSum(OpMaker &maker) {
  auto op = dyn_cast<tpu::CumSumOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()))
    return false;
  std::optional<int64_t> axis = op.getAxis();
  if (!axis)
    if (const auto axes = top::constantInts(op.getAxisTensor()); axes && axes->size() == 1)
      axis = axes->front();
  if (!axis)
    return false;
  const auto dim = OpMaker::frontAxis(*axis, op.getInput());
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const int64_t extent = dims[dim];
  // Longer ones would be more multiplications than a chip should do.
  constexpr int64_t kMostTerms = 4096;
  if (extent > kMostTerms)
    return false;
  SmallVector<int64_t> order;
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != dim)
      order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(dim));
  SmallVector<int64_t> inverse(order.size());
  for (auto [index, source] : llvm::enumerate(order))
    inverse[static_cast<size_t>(source)] = static_cast<int64_t>(index);
  const bool isLast = llvm::is_sorted(order);
  Value turned = isLast ? op.getInput() : maker.permuted(op.getInput(), order, "turned");
  const SmallVector<int64_t> turnedDims(OpMaker::dimsOf(turned));
  const std::array<int64_t, 2> square = {extent, extent};
  Tensor ones(DataType::F32, Shape(std::span(square)));
  for (int64_t from = 0; from < extent; ++from)
    for (int64_t to = 0; to < extent; ++to) {
      const int64_t distance = op.getReverse() ? from - to : to - from;
      ones.mutableData<float>()[static_cast<size_t>(from * extent + to)] =
          distance >= (op.getExclusive() ? 1 : 0) ? 1 : 0;
    }
  Value matrix =
      maker.reshaped(turned, {OpMaker::typeOf(turned).getNumElements() / extent, extent}, "rows");
  Value sums = maker.makeLike<tpu::MatMulOp>(
      "sums", {matrix, maker.weight(ones, "triangle", op.getInput()), maker.none()});
  sums = maker.reshaped(sums, turnedDims, "sums_turned");
  maker.replace(0, isLast ? maker.finished(sums, 0) : maker.permuted(sums, inverse, "sums_back"));
  return true;
}

/// Whether an op combines tensors element by element, for one reader.
static bool isCombination(Operation *op) {
  return isa_and_nonnull<tpu::AddOp, tpu::SubOp, tpu::MulOp>(op) && op->hasOneUse();
}

/// The dimension of a few elements that `op` sums up as `decomposeSumOfFew` does; none of others.
static std::optional<size_t> dimOfFew(Operation *op, const Backend &backend) {
  constexpr int64_t kFewest = 64, kMostParts = 8;
  auto reduce = dyn_cast<tpu::ReduceOp>(op);
  if (!reduce || reduce.getMode() != "ReduceSum" || !OpMaker::isFloat(reduce.getInput()))
    return std::nullopt;
  const std::optional<llvm::SmallBitVector> reduced = dimsReducedBy(reduce);
  if (!reduced || reduced->count() != 1)
    return std::nullopt;
  const auto dim = static_cast<size_t>(reduced->find_first());
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(reduce.getInput());
  const int64_t count = dims[dim];
  // The sum of two rounds once; more are added in F32.
  const int64_t most = hasScheme(backend.info(), schemes::kF32) ? kMostParts : 2;
  if (count < 2 || count > most || ShapedType::getNumElements(dims.drop_front(dim + 1)) < kFewest)
    return std::nullopt;
  return dim;
}

bool codegen::isPartOfSum(Operation *op, const Backend &backend) {
  return isCombination(op) && dimOfFew(*op->getUsers().begin(), backend);
}

/// Element `number` of dimension `dim` of `value`, without that dimension. Where it is put together
/// of such parts for nobody else, or made element by element of what is, nothing is copied.
static Value partOf(OpMaker &maker, Value value, size_t dim, int64_t number,
                    const std::string &suffix) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(value));
  const size_t behind = dims.size() - dim;
  const int64_t extent = dims[dim];
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(dim));
  Operation *made = value.getDefiningOp();
  const auto takesParts = [&](Operation *user) {
    return dimOfFew(user, maker.backend) || isPartOfSum(user, maker.backend);
  };
  if (auto concat = dyn_cast_or_null<tpu::ConcatOp>(made);
      concat && !concat.getDoRelu() && llvm::all_of(value.getUsers(), takesParts) &&
      OpMaker::frontAxis(static_cast<int64_t>(concat.getAxis()), value) == dim &&
      std::ssize(concat.getInputs()) == extent) {
    const Value part = concat.getInputs()[static_cast<size_t>(number)];
    Operation *view = part.getDefiningOp();
    const bool isView = view && view->hasTrait<traits::ViewLike>() &&
                        OpMaker::dimsOf(view->getOperand(0)) == ArrayRef(dims);
    return isView ? view->getOperand(0) : maker.viewed(part, dims, "summand" + suffix);
  }
  if (!isCombination(made))
    return maker.viewed(
        maker.part(value, static_cast<int64_t>(dim), extent == 1 ? 0 : number, 1, "part" + suffix),
        dims, "summand" + suffix);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(made->getOperands())) {
    const ArrayRef<int64_t> own = OpMaker::dimsOf(operand);
    if (own.size() < behind)
      operands.push_back(operand);
    else
      operands.push_back(partOf(maker, operand, own.size() - behind, number,
                                suffix + "_" + std::to_string(index)));
  }
  return maker.make(made->getName().getStringRef(), "elements" + suffix,
                    Type(OpMaker::typeOf(value).clone(dims)), operands,
                    NamedAttrList(made->getAttrDictionary()));
}

bool codegen::decomposeSumOfFew(OpMaker &maker) {
  const std::optional<size_t> dim = dimOfFew(maker.op, maker.backend);
  if (!dim)
    return false;
  auto op = cast<tpu::ReduceOp>(maker.op);
  const int64_t count = OpMaker::dimsOf(op.getInput())[*dim];
  Value sum;
  for (int64_t number = 0; number < count; ++number) {
    const std::string index = std::to_string(number);
    const Value part = partOf(maker, op.getInput(), *dim, number, index);
    const Value shaped = maker.viewed(part, OpMaker::dimsOf(op.getOutput()), "summand" + index);
    const Value summand = count > 2 ? maker.widened(shaped, "wide" + index) : shaped;
    sum = sum ? maker.makeLike<tpu::AddOp>("sum" + index, {sum, summand}) : summand;
  }
  maker.replace(0, maker.finished(sum, 0));
  return true;
}
