//===- SliceModel.cpp - How one op is cut into slices ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/SliceModel.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

llvm::StringRef codegen::axisName(unsigned axis) {
  static constexpr StringLiteral kNames[] = {"n", "c", "d", "h", "w"};
  return kNames[axis];
}

Slice codegen::wholeSlice(const AxisExtents &extents) {
  Slice slice;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    slice[axis] = {0, extents[axis]};
  return slice;
}

int64_t codegen::numElements(const Slice &slice) {
  int64_t count = 1;
  for (const Range &range : slice)
    count *= range.size;
  return count;
}

/// The elements of [0, extent) in [begin, end), at least one, and how many lie outside.
static PaddedRange clamp(int64_t begin, int64_t end, int64_t extent) {
  const int64_t first = std::clamp<int64_t>(begin, 0, extent - 1);
  const int64_t last = std::clamp<int64_t>(end, first + 1, extent);
  return {
      {first, last - first}, std::max<int64_t>(first - begin, 0), std::max<int64_t>(end - last, 0)};
}

static int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

PaddedRange OperandModel::padded(unsigned axis, Range output) const {
  const AxisMap &map = maps[axis];
  const int64_t extent = extents[axis];
  switch (map.kind) {
  case AxisMap::Same:
    return {output};
  case AxisMap::Whole:
    return {{0, extent}};
  case AxisMap::Window:
    return clamp(output.begin * map.stride - map.pad,
                 (output.end() - 1) * map.stride - map.pad + map.window, extent);
  case AxisMap::Transposed:
    // Input i reaches [i * stride - pad, i * stride - pad + window).
    return clamp(floorDiv(output.begin + map.pad - map.window, map.stride) + 1,
                 floorDiv(output.end() - 1 + map.pad, map.stride) + 1, extent);
  case AxisMap::Scaled:
    return clamp(output.begin / map.stride, (output.end() - 1) / map.stride + 1, extent);
  }
  return {};
}

Slice OperandModel::slice(const Slice &output) const {
  Slice slice;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    slice[axis] = padded(axis, output[axis]).range;
  return slice;
}

Expected<AxisExtents> codegen::axisExtents(ArrayRef<int64_t> dims) {
  switch (dims.size()) {
  case 0:
    return AxisExtents{1, 1, 1, 1, 1};
  case 1:
    return AxisExtents{1, dims[0], 1, 1, 1};
  case 2:
    return AxisExtents{dims[0], dims[1], 1, 1, 1};
  case 3:
    return AxisExtents{dims[0], dims[1], 1, 1, dims[2]};
  case 4:
    return AxisExtents{dims[0], dims[1], 1, dims[2], dims[3]};
  case 5:
    return AxisExtents{dims[0], dims[1], dims[2], dims[3], dims[4]};
  default:
    return makeError("", std::to_string(dims.size()) + " dimensions", "at most 5");
  }
}

namespace {

constexpr AxisMap kWhole{.kind = AxisMap::Whole};

ArrayRef<int64_t> dimsOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// An operand of which every slice of the result needs all.
OperandModel wholeOperand(const AxisExtents &extents) {
  OperandModel model{.isPresent = true, .extents = extents};
  model.maps.fill(kWhole);
  return model;
}

/// The model of one that is left out.
bool isAbsent(Value value) { return isa<NoneType>(value.getType()); }

/// Axes of spatial dimension `index` of `count`.
unsigned spatialAxis(size_t index, size_t count) {
  return static_cast<unsigned>(kNumAxes - count + index);
}

/// An operand with one element, or one row, for each channel of the result.
OperandModel perChannel(Value value, const AxisExtents &extents) {
  if (isAbsent(value))
    return {};
  OperandModel model = wholeOperand(extents);
  model.maps[kAxisC] = {};
  return model;
}

/// The windows of `window` over the spatial axes; the other axes of `model` stay.
void setWindows(OperandModel &model, const top::Window &window, AxisMap::Kind kind) {
  const size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i)
    model.maps[spatialAxis(i, spatial)] = {.kind = kind,
                                           .stride = window.strides[i],
                                           .window =
                                               (window.kernel[i] - 1) * window.dilations[i] + 1,
                                           .pad = window.padsBegin[i]};
}

/// The model of an op with windows over its first operand.
Expected<SliceModel> windowModel(Operation *op, const Expected<top::Window> &window,
                                 AxisMap::Kind kind) {
  if (!window)
    return tl::unexpected(window.error());
  Expected<AxisExtents> input = axisExtents(dimsOf(op->getOperand(0)));
  Expected<AxisExtents> result = axisExtents(dimsOf(op->getResult(0)));
  if (!input)
    return propagate(input);
  if (!result)
    return propagate(result);
  SliceModel model{.operands = {}, .result = *result, .isCuttable = {true, true, true, true, true}};
  OperandModel data{.isPresent = true, .extents = *input};
  setWindows(data, *window, kind);
  model.operands.push_back(data);
  return model;
}

/// Filter and bias of a convolution; the input channels that a slice needs.
template <typename Op>
Expected<SliceModel> convolutionModel(Op op, const Expected<top::Window> &window,
                                      AxisMap::Kind kind, bool isSwapped) {
  Expected<SliceModel> model = windowModel(op, window, kind);
  if (!model)
    return model;
  const auto group = static_cast<int64_t>(op.getGroup());
  SmallVector<int64_t> filter(dimsOf(op.getFilter()));
  const int64_t channels = model->result[kAxisC];
  if (isSwapped) {
    filter[0] = channels;
    filter[1] = model->operands[0].extents[kAxisC] / group;
  }
  const bool isDepthwise = group == channels && group == model->operands[0].extents[kAxisC];
  if (!isDepthwise) {
    model->operands[0].maps[kAxisC] = kWhole;
    model->isCuttable[kAxisC] = group == 1;
  }
  // A filter is seen as [1, output channels, .., .., elements of one].
  model->operands.push_back(perChannel(
      op.getFilter(),
      {1, channels, 1, 1, ShapedType::getNumElements(filter) / std::max<int64_t>(channels, 1)}));
  model->operands.push_back(perChannel(op.getBias(), {1, channels, 1, 1, 1}));
  return model;
}

Expected<SliceModel> convModel(tpu::ConvOp op) {
  if (op.getInserts() && llvm::any_of(top::toInts(*op.getInserts()), [](int64_t n) { return n; }))
    return makeError("", "zeros inserted into the input");
  return convolutionModel(
      op,
      top::convolutionWindow(top::windowSpec(op), dimsOf(op.getInput()), dimsOf(op.getFilter())),
      AxisMap::Window, /*isSwapped=*/false);
}

Expected<SliceModel> deconvModel(tpu::DeconvOp op) {
  return convolutionModel(
      op, top::transposedWindow(top::windowSpec(op), dimsOf(op.getInput()), dimsOf(op.getFilter())),
      AxisMap::Transposed, /*isSwapped=*/true);
}

template <typename Op> Expected<SliceModel> poolModel(Op op) {
  return windowModel(op, top::poolWindow(top::windowSpec(op), dimsOf(op.getInput())),
                     AxisMap::Window);
}

/// Rows of a matrix over lanes: dimensions [..., rows, columns] as [n, rows, 1, columns].
SmallVector<int64_t> matrixDims(ArrayRef<int64_t> dims) {
  if (dims.size() < 2)
    return {1, 1, 1, ShapedType::getNumElements(dims)};
  return {ShapedType::getNumElements(dims.drop_back(2)), dims[dims.size() - 2], 1, dims.back()};
}

/// The extents of an operand of an element-wise op whose result has `rank` dimensions, aligned at
/// the end. Of more than 4 those between the second and the last are taken for one, `h`, where
/// `merges` (no operand repeats only some of them). With `inRows` they are those of matrices.
SmallVector<int64_t> alignedDims(Value value, size_t rank, bool merges, bool inRows) {
  SmallVector<int64_t> dims(rank - dimsOf(value).size(), 1);
  llvm::append_range(dims, dimsOf(value));
  if (inRows)
    return matrixDims(dims);
  if (rank <= 4 || !merges)
    return dims;
  return {dims[0], dims[1], ShapedType::getNumElements(ArrayRef(dims).slice(2, rank - 3)),
          dims.back()};
}

/// How many lanes and elements in each the model aims at where the dimensions do not matter.
struct Spread {
  int64_t lanes = 0, width = 0;
};

/// All lanes, and rows of which a lane holds four of 32 bits for each element.
Spread spreadOf(const TargetInfo &target) {
  constexpr int64_t kRows = 4, kMostElementBytes = 4;
  return {target.memory.lanes, target.memory.localBytesPerLane / (kRows * kMostElementBytes)};
}

/// [1, c, 1, w] for `count` elements whose dimensions do not matter, c a multiple of the lanes;
/// none where there are not enough or too many in a row, or they cannot be shared evenly.
std::optional<SmallVector<int64_t>> spreadDims(int64_t count, const Spread &spread) {
  for (int64_t channels = spread.lanes; channels <= count; channels += spread.lanes)
    if (count % channels == 0 && count / channels <= spread.width)
      return SmallVector<int64_t>{1, channels, 1, count / channels};
  return std::nullopt;
}

/// The view of an element-wise op whose operands have all elements or one, where its own channels
/// would leave most lanes idle, or are single elements, whose transfers take long.
std::optional<SliceModel> spreadModel(Operation *op, ValueRange operands, const Spread &spread) {
  const ArrayRef<int64_t> dims = dimsOf(op->getResult(0));
  const int64_t count = ShapedType::getNumElements(dims);
  const bool isMatrix = dims.size() >= 2 && dims[0] * dims[1] == count && dims[1] > 1;
  if (dims.size() >= 2 && dims[1] >= spread.lanes && !isMatrix)
    return std::nullopt;
  for (Value operand : operands)
    if (!isAbsent(operand) && dimsOf(operand) != dims &&
        ShapedType::getNumElements(dimsOf(operand)) != 1)
      return std::nullopt;
  auto flat = spreadDims(count, spread);
  if (!flat && isMatrix)
    flat = {1, dims[0], 1, dims[1]};
  if (!flat)
    return std::nullopt;
  SliceModel model{.operands = {},
                   .result = *axisExtents(*flat),
                   .isCuttable = {false, true, false, false, true}};
  for (Value operand : operands) {
    if (isAbsent(operand))
      model.operands.emplace_back();
    else if (ShapedType::getNumElements(dimsOf(operand)) == 1 && count != 1)
      model.operands.push_back(wholeOperand({1, 1, 1, 1, 1}));
    else
      model.operands.push_back({.isPresent = true, .extents = model.result});
  }
  return model;
}

/// Whether matrices that are repeated are repeated for all or none of the dimensions in front.
bool repeatsWholeBatches(ValueRange operands, ArrayRef<int64_t> result) {
  return llvm::all_of(operands, [&](Value operand) {
    if (isAbsent(operand) || dimsOf(operand).size() <= 2)
      return true;
    const ArrayRef<int64_t> front = dimsOf(operand).drop_back(2);
    return ShapedType::getNumElements(front) == 1 || front == result.drop_back(2);
  });
}

/// Everything is element-wise; operands of extent 1 are repeated.
Expected<SliceModel> elementwiseModel(Operation *op, ValueRange operands,
                                      Company company = Company::InGroup) {
  const ArrayRef<int64_t> resultDims = dimsOf(op->getResult(0));
  const size_t rank = resultDims.size();
  const bool inRows = company == Company::InRows;
  if (inRows && !repeatsWholeBatches(operands, resultDims))
    return makeError("", "matrices that are repeated for some dimensions", "all or none");
  const bool merges = llvm::all_of(
      operands, [&](Value operand) { return isAbsent(operand) || dimsOf(operand) == resultDims; });
  Expected<AxisExtents> result = axisExtents(alignedDims(op->getResult(0), rank, merges, inRows));
  if (!result)
    return propagate(result);
  SliceModel model{.operands = {}, .result = *result, .isCuttable = {true, true, true, true, true}};
  for (Value operand : operands) {
    if (isAbsent(operand)) {
      model.operands.emplace_back();
      continue;
    }
    OperandModel data{.isPresent = true,
                      .extents = *axisExtents(alignedDims(operand, rank, merges, inRows))};
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      if (data.extents[axis] != model.result[axis])
        data.maps[axis] = kWhole;
    model.operands.push_back(data);
  }
  return model;
}

/// Whether rows are loaded as channels, or channels stored as rows: these stay what they are.
bool hasPackedRows(Operation *op, ValueRange operands) {
  return op->hasAttr(kStoredRows) || llvm::any_of(operands, [](Value value) {
           if (auto load = value.getDefiningOp<tpu::LoadOp>())
             value = load.getInput();
           return value.getDefiningOp<tpu::StackRowsOp>() != nullptr;
         });
}

/// The view of an element-wise op of `operands`: by their dimensions, or by others where nothing
/// else reads its slices.
Expected<SliceModel> freeModel(Operation *op, ValueRange operands, Company company,
                               const Spread &spread) {
  if (company == Company::Alone && !hasPackedRows(op, operands))
    if (std::optional<SliceModel> model = spreadModel(op, operands, spread))
      return *model;
  return elementwiseModel(op, operands, company);
}

/// A table is the same for all elements.
Expected<SliceModel> tableModel(tpu::LutOp op, Company company, const Spread &spread) {
  Expected<SliceModel> model = freeModel(op, op.getInput(), company, spread);
  if (model)
    model->operands.push_back(
        wholeOperand({1, 1, 1, 1, ShapedType::getNumElements(dimsOf(op.getTable()))}));
  return model;
}

/// One slope for each channel of [N, C, ...], or for all.
Expected<SliceModel> preluModel(tpu::PReluOp op) {
  Expected<AxisExtents> result = axisExtents(dimsOf(op.getOutput()));
  if (!result)
    return propagate(result);
  SliceModel model{.operands = {}, .result = *result, .isCuttable = {true, true, true, true, true}};
  model.operands.push_back({.isPresent = true, .extents = *result});
  const int64_t slopes = ShapedType::getNumElements(dimsOf(op.getSlope()));
  if (slopes != 1 && slopes != (*result)[kAxisC])
    return makeError("", std::to_string(slopes) + " slopes", "one for each channel");
  OperandModel slope = wholeOperand({1, slopes, 1, 1, 1});
  if (slopes != 1)
    slope.maps[kAxisC] = {};
  model.operands.push_back(slope);
  return model;
}

/// The bias of a product.
Expected<OperandModel> biasModel(tpu::MatMulOp op, int64_t columns) {
  if (isAbsent(op.getBias()))
    return OperandModel{};
  const int64_t biases = ShapedType::getNumElements(dimsOf(op.getBias()));
  if (biases != columns && biases != 1)
    return makeError("", std::to_string(biases) + " biases", "one for each column");
  OperandModel bias = wholeOperand({1, 1, 1, 1, biases});
  if (biases == columns)
    bias.maps[kAxisW] = {};
  return bias;
}

/// The rows of a product are c, its columns w.
Expected<SliceModel> matMulModel(tpu::MatMulOp op, Company company) {
  const ArrayRef<int64_t> left = dimsOf(op.getInput());
  const ArrayRef<int64_t> right = dimsOf(op.getRight());
  const ArrayRef<int64_t> output = dimsOf(op.getOutput());
  if (left.size() < 2 || right.size() < 2)
    return makeError("", "a product with a vector", "two matrices");
  const int64_t inner = left[left.size() - (op.getLeftTranspose() ? 2 : 1)];
  const int64_t columns = output.back();
  const bool isShared = right.size() == 2;
  // A matrix on the right is the same for all rows of all batches, which alone follow each other
  // unless they lie transposed.
  const bool isOne = isShared && !op.getLeftTranspose() && company == Company::Alone;
  const int64_t batch = isOne ? 1 : ShapedType::getNumElements(output.drop_back(2));
  if (!isShared && (ShapedType::getNumElements(left.drop_back(2)) != batch ||
                    ShapedType::getNumElements(right.drop_back(2)) != batch))
    return makeError("", "operands whose batches are repeated", "one matrix for each product");
  const int64_t rows = ShapedType::getNumElements(output.drop_back()) / batch;
  // A computed matrix is taken as it lies.
  const bool isTurned = op.getRightTranspose() && !(isShared && isConstantValue(op.getRight()));
  SliceModel model{.operands = {},
                   .result = {batch, rows, 1, 1, columns},
                   .isCuttable = {true, true, false, false, !isTurned}};
  OperandModel data{.isPresent = true, .extents = {batch, rows, 1, 1, inner}};
  data.maps[kAxisW] = kWhole;
  OperandModel matrix{.isPresent = true, .extents = {isShared ? 1 : batch, inner, 1, 1, columns}};
  matrix.maps[kAxisC] = kWhole;
  if (isTurned) {
    std::swap(matrix.extents[kAxisC], matrix.extents[kAxisW]);
    matrix.maps[kAxisW] = kWhole;
  }
  if (isShared)
    matrix.maps[kAxisN] = kWhole;
  Expected<OperandModel> bias = biasModel(op, columns);
  if (!bias)
    return propagate(bias);
  model.operands = {data, matrix, *bias};
  return model;
}

/// The span of the dimensions that `isReduced`; those of one element do not matter.
Expected<AxisSpan> spanOver(ArrayRef<int64_t> dims, const llvm::SmallBitVector &isReduced) {
  AxisSpan span;
  for (auto [dim, extent] : llvm::enumerate(dims)) {
    if (extent == 1)
      continue;
    if (!isReduced[static_cast<unsigned>(dim)])
      (span.extent == 1 ? span.outer : span.inner) *= extent;
    else if (span.inner != 1)
      return makeError("", "dimensions between reduced ones",
                       "reduced ones that follow each other");
    else
      span.extent *= extent;
  }
  return span;
}

Expected<llvm::SmallBitVector> reducedDims(tpu::ReduceOp op) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  const auto axes = top::intsOf(op.getAxes(), op.getAxesTensor());
  if (!axes && !isAbsent(op.getAxesTensor()))
    return makeError("", "axes that are computed", "constants");
  const bool isEmpty = !axes || axes->empty();
  llvm::SmallBitVector isReduced(static_cast<unsigned>(dims.size()),
                                 isEmpty && !op.getNoopWithEmptyAxes());
  if (!isEmpty)
    for (int64_t axis : *axes)
      isReduced.set(
          static_cast<unsigned>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis));
  return isReduced;
}

Expected<AxisSpan> reducedSpan(tpu::ReduceOp op) {
  Expected<llvm::SmallBitVector> isReduced = reducedDims(op);
  return isReduced ? spanOver(dimsOf(op.getInput()), *isReduced) : propagate(isReduced);
}

/// Whether whole pictures are reduced: the last two of four dimensions.
bool reducesPictures(tpu::ReduceOp op) {
  Expected<llvm::SmallBitVector> isReduced = reducedDims(op);
  return isReduced && isReduced->size() == 4 && isReduced->count() == 2 && isReduced->test(2) &&
         isReduced->test(3);
}

/// The span of one dimension.
AxisSpan spanAt(ArrayRef<int64_t> dims, int64_t axis) {
  const auto dim = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  return {.outer = ShapedType::getNumElements(dims.take_front(dim)),
          .extent = dims[dim],
          .inner = ShapedType::getNumElements(dims.drop_front(dim + 1))};
}

/// Rows of `width` elements, as many as `front` has, each on its own; the operands behind the first
/// belong to each. Alone, all rows follow each other.
SliceModel rowModel(Operation *op, ArrayRef<int64_t> front, int64_t width, int64_t resultWidth,
                    Company company) {
  const bool isOne = company == Company::Alone || front.empty();
  const int64_t batch = isOne ? 1 : ShapedType::getNumElements(front.drop_back());
  const int64_t rows = isOne ? ShapedType::getNumElements(front) : front.back();
  SliceModel model{.operands = {},
                   .result = {batch, rows, 1, 1, resultWidth},
                   .isCuttable = {true, true, false, false, false}};
  OperandModel data{.isPresent = true, .extents = {batch, rows, 1, 1, width}};
  data.maps[kAxisW] = kWhole;
  model.operands.push_back(data);
  for (Value operand : op->getOperands().drop_front())
    model.operands.push_back(
        isAbsent(operand)
            ? OperandModel{}
            : wholeOperand({1, 1, 1, 1, ShapedType::getNumElements(dimsOf(operand))}));
  return model;
}

/// An op along `span`, which begins behind the dimensions `front`: rows of that extent each on
/// their own, of which those that follow each other in the middle lie transposed. `resultExtent` is
/// what is left of a row.
SliceModel spanModel(Operation *op, const AxisSpan &span, ArrayRef<int64_t> front,
                     int64_t resultExtent, Company company) {
  if (span.inner == 1)
    return rowModel(op, front, span.extent, resultExtent, company);
  SliceModel model = rowModel(op, {}, 1, 1, company);
  model.result = {span.outer, span.inner, 1, 1, resultExtent};
  model.operands[0].extents = {span.outer, span.inner, 1, 1, span.extent};
  return model;
}

Expected<SliceModel> softmaxModel(tpu::SoftmaxOp op, Company company) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  int64_t axis = op.getAxis();
  axis += axis < 0 ? static_cast<int64_t>(dims.size()) : 0;
  const AxisSpan span = spanAt(dims, axis);
  return spanModel(op, span, dims.take_front(static_cast<size_t>(axis)), span.extent, company);
}

SliceModel pixelNormModel(tpu::PixelNormOp op) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  const AxisSpan span = spanAt(dims, 1);
  return spanModel(op, span, dims.take_front(), span.extent, Company::Alone);
}

template <typename Op> Expected<SliceModel> layerNormModel(Op op, Company company) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  int64_t axis = op.getAxis();
  axis += axis < 0 ? static_cast<int64_t>(dims.size()) : 0;
  const int64_t width = ShapedType::getNumElements(dims.drop_front(static_cast<size_t>(axis)));
  return rowModel(op, dims.take_front(static_cast<size_t>(axis)), width, width, company);
}

/// Some columns of rows, which follow each other.
Expected<SliceModel> columnSliceModel(tpu::SliceOp op) {
  const auto rank = static_cast<int64_t>(dimsOf(op.getInput()).size());
  const SmallVector<int64_t> from = matrixDims(dimsOf(op.getInput()));
  const SmallVector<int64_t> to = matrixDims(dimsOf(op.getOutput()));
  const auto offsets = top::intsOf(op.getOffset(), op.getOffsetTensor());
  const auto steps = top::intsOf(op.getSteps(), op.getStepsTensor());
  auto axes = top::intsOf(op.getAxes(), op.getAxesTensor());
  if (!offsets || rank < 2 || ArrayRef(from).drop_back() != ArrayRef(to).drop_back() ||
      (steps && llvm::any_of(*steps, [](int64_t step) { return step != 1; })))
    return makeError("", "a part of other dimensions, or with steps", "columns");
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(offsets->size())));
  int64_t first = 0;
  for (auto [axis, offset] : llvm::zip_equal(*axes, *offsets))
    if (axis == rank - 1 || axis == -1)
      first = std::clamp<int64_t>(offset < 0 ? offset + from.back() : offset, 0, from.back());
  SliceModel model{
      .operands = {}, .result = *axisExtents(to), .isCuttable = {true, true, false, false, true}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(from)};
  data.maps[kAxisW] = {.kind = AxisMap::Window, .pad = -first};
  model.operands.push_back(data);
  model.operands.resize(op->getNumOperands());
  return model;
}

/// Rows of queries with all heads side by side, each of which needs all keys and values.
Expected<SliceModel> attentionModel(tpu::ScaleDotProductAttentionOp op) {
  if (!op.getQNumHeads())
    return makeError("", "a dimension for the heads", "rows that hold all heads");
  const auto extents = [](Value value) { return *axisExtents(matrixDims(dimsOf(value))); };
  SliceModel model{.operands = {},
                   .result = extents(op->getResult(0)),
                   .isCuttable = {true, true, false, false, false}};
  for (unsigned index = 0; index < 3; ++index) {
    OperandModel rows{.isPresent = true, .extents = extents(op->getOperand(index))};
    rows.maps[kAxisW] = kWhole;
    if (index > 0)
      rows.maps[kAxisC] = kWhole;
    model.operands.push_back(rows);
  }
  for (Value operand : op->getOperands().drop_front(3)) {
    if (!isAbsent(operand))
      return makeError("", "masks, lengths or what is kept", "attention alone");
    model.operands.emplace_back();
  }
  return model;
}

Expected<SliceModel> instanceNormModel(tpu::InstanceNormOp op) {
  Expected<AxisExtents> extents = axisExtents(dimsOf(op.getInput()));
  if (!extents)
    return propagate(extents);
  SliceModel model{
      .operands = {}, .result = *extents, .isCuttable = {true, true, false, false, false}};
  model.operands.push_back({.isPresent = true, .extents = *extents});
  for (Value operand : op->getOperands().drop_front())
    model.operands.push_back(perChannel(operand, {1, (*extents)[kAxisC], 1, 1, 1}));
  return model;
}

/// In a group, pictures lie as other layers have them.
SliceModel pictureReductionModel(tpu::ReduceOp op) {
  OperandModel data{.isPresent = true, .extents = *axisExtents(dimsOf(op.getInput()))};
  data.maps[kAxisH] = kWhole;
  data.maps[kAxisW] = kWhole;
  return {.operands = {data, {}},
          .result = {data.extents[kAxisN], data.extents[kAxisC], 1, 1, 1},
          .isCuttable = {true, true, false, false, false}};
}

Expected<SliceModel> reduceModel(tpu::ReduceOp op, Company company) {
  if (company == Company::InGroup && reducesPictures(op))
    return pictureReductionModel(op);
  Expected<std::optional<AxisSpan>> span = spanOf(op);
  if (!span)
    return propagate(span);
  SliceModel model = spanModel(op, **span, (*span)->outer, 1, Company::Alone);
  model.operands[1] = {};
  return model;
}

/// A cell in the form in which it needs no other cell: see DecomposeRecurrent.
template <typename Op> Expected<SliceModel> recurrentModel(Op op) {
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const ArrayRef<int64_t> filter = dimsOf(op.getFilter());
  if (filter[0] != 1 || op.getBatchFirst() || !isAbsent(op.getYH()))
    return makeError("", "several directions, or samples in front", "the steps of one direction");
  if (!isAbsent(op.getSequenceLens()))
    return makeError("", "sequences of different lengths", "all steps");
  if (op.getActivations() || op.getClip())
    return makeError("", "functions other than sigmoid and tanh, or limits");
  if constexpr (requires { op.getPeephole(); })
    if (!isAbsent(op.getPeephole()) || op.getInputForget())
      return makeError("", "peepholes or coupled gates");
  const int64_t columns = input[0] * input[1];
  const auto units = static_cast<int64_t>(op.getHiddenSize());
  SliceModel model{.operands = {},
                   .result = {1, units, 1, 1, isAbsent(op.getY()) ? input[1] : columns},
                   .isCuttable = {}};
  model.operands.push_back(wholeOperand({1, input[2], 1, 1, columns}));
  for (Value row : {Value(op.getFilter()), Value(op.getRecurrence()), Value(op.getBias())})
    model.operands.push_back(
        isAbsent(row) ? OperandModel()
                      : wholeOperand({1, dimsOf(row)[1], 1, 1,
                                      ShapedType::getNumElements(dimsOf(row).drop_front(2))}));
  for (Value operand : op->getOperands().drop_front(model.operands.size()))
    model.operands.push_back(isAbsent(operand) ? OperandModel()
                                               : wholeOperand({1, units, 1, 1, input[1]}));
  return model;
}

Expected<SliceModel> upsampleModel(tpu::UpsampleOp op) {
  Expected<SliceModel> model = elementwiseModel(op, op->getOperands());
  if (!model)
    return model;
  const int64_t scales[] = {static_cast<int64_t>(op.getScaleH()),
                            static_cast<int64_t>(op.getScaleW())};
  for (unsigned i = 0; i < 2; ++i) {
    model->operands[0].maps[kAxisH + i] = {.kind = AxisMap::Scaled, .stride = scales[i]};
    model->unit[kAxisH + i] = scales[i];
  }
  return model;
}

/// A resized tensor of 4 dimensions: rows and columns of the result are sums of any of the input,
/// unless pixels are repeated.
Expected<SliceModel> interpModel(tpu::InterpOp op) {
  const ArrayRef<int64_t> input = dimsOf(op.getInput());
  const ArrayRef<int64_t> output = dimsOf(op.getOutput());
  if (input.size() != 4 || input[0] != output[0] || input[1] != output[1])
    return makeError("", "resized dimensions other than h and w");
  SliceModel model{.operands = {},
                   .result = *axisExtents(output),
                   .isCuttable = {true, true, false, true, false}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(input)};
  const bool repeats = repeatsPixels(op);
  for (unsigned i = 0; i < 2; ++i) {
    const int64_t scale = repeats ? output[2 + i] / input[2 + i] : 1;
    data.maps[kAxisH + i] = repeats ? AxisMap{.kind = AxisMap::Scaled, .stride = scale} : kWhole;
    model.unit[kAxisH + i] = scale;
  }
  model.operands.push_back(data);
  while (model.operands.size() < op->getNumOperands())
    model.operands.emplace_back();
  return model;
}

Expected<SliceModel> modelOf(Operation *op, Company company, const Spread &spread) {
  return llvm::TypeSwitch<Operation *, Expected<SliceModel>>(op)
      .Case([](tpu::ConvOp conv) { return convModel(conv); })
      .Case([](tpu::DeconvOp deconv) { return deconvModel(deconv); })
      .Case<tpu::MaxPoolOp, tpu::AvgPoolOp>([](auto pool) { return poolModel(pool); })
      .Case([&](tpu::MatMulOp product) { return matMulModel(product, company); })
      .Case([&](tpu::SoftmaxOp softmax) { return softmaxModel(softmax, company); })
      .Case([](tpu::PixelNormOp norm) { return pixelNormModel(norm); })
      .Case<tpu::LayerNormOp, tpu::RMSNormOp>(
          [&](auto norm) { return layerNormModel(norm, company); })
      .Case([](tpu::SliceOp slice) { return columnSliceModel(slice); })
      .Case([](tpu::ScaleDotProductAttentionOp op) { return attentionModel(op); })
      .Case([](tpu::InstanceNormOp norm) { return instanceNormModel(norm); })
      .Case([&](tpu::ReduceOp reduce) { return reduceModel(reduce, company); })
      .Case<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>([](auto cell) { return recurrentModel(cell); })
      .Case([](tpu::UpsampleOp upsample) { return upsampleModel(upsample); })
      .Case([](tpu::InterpOp interp) { return interpModel(interp); })
      .Case([](tpu::PReluOp prelu) { return preluModel(prelu); })
      .Case([&](tpu::LutOp lut) { return tableModel(lut, company, spread); })
      .Default([&](Operation *other) {
        return freeModel(other, other->getOperands(), company, spread);
      });
}

/// The model of an op whose tensors have known shapes. Errors (without `where`): others.
Expected<SliceModel> checkedModel(Operation *op, Company company, const Spread &spread) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes()))) {
    if (isa<NoneType>(type))
      continue;
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked || !ranked.hasStaticShape() || ranked.getNumElements() == 0)
      return makeError("", "a tensor whose extents are not known, or 0", "static shapes");
  }
  const auto given =
      llvm::count_if(op->getResultTypes(), [](Type type) { return !isa<NoneType>(type); });
  const bool isFirst = given == 1 && !isa<NoneType>(op->getResult(0).getType());
  if (!isFirst && (given != 1 || !isa<tpu::LSTMOp>(op)))
    return makeError("", std::to_string(given) + " results", "one");
  return modelOf(op, company, spread);
}

} // namespace

Value codegen::givenResult(Operation *op) {
  for (Value result : op->getResults())
    if (!isAbsent(result))
      return result;
  return op->getResult(0);
}

Expected<std::optional<AxisSpan>> codegen::spanOf(Operation *op) {
  if (auto reduce = dyn_cast<tpu::ReduceOp>(op)) {
    Expected<AxisSpan> span = reducedSpan(reduce);
    if (!span)
      return propagate(span);
    return std::optional(*span);
  }
  return llvm::TypeSwitch<Operation *, std::optional<AxisSpan>>(op)
      .Case([](tpu::SoftmaxOp softmax) {
        return spanAt(dimsOf(softmax.getInput()), softmax.getAxis());
      })
      .Case([](tpu::PixelNormOp norm) { return spanAt(dimsOf(norm.getInput()), 1); })
      .Default([](Operation *) { return std::nullopt; });
}

bool codegen::worksInTheMiddle(Operation *op) {
  Expected<std::optional<AxisSpan>> span = spanOf(op);
  return span && *span && (*span)->inner != 1;
}

Company codegen::companyOf(ArrayRef<Operation *> layers) {
  if (layers.size() == 1)
    return Company::Alone;
  const auto isOfRows = [](Operation *op) {
    return isa<tpu::MatMulOp, tpu::SoftmaxOp, tpu::LayerNormOp, tpu::RMSNormOp,
               tpu::ScaleDotProductAttentionOp>(op);
  };
  const auto isOfChannels = [](Operation *op) {
    return isa<tpu::ConvOp, tpu::DeconvOp, tpu::MaxPoolOp, tpu::AvgPoolOp, tpu::InstanceNormOp,
               tpu::UpsampleOp, tpu::InterpOp, tpu::PReluOp>(op) ||
           // One pixel that lies as a row still has channels.
           op->hasAttr(kInRow);
  };
  return llvm::any_of(layers, isOfRows) && llvm::none_of(layers, isOfChannels) ? Company::InRows
                                                                               : Company::InGroup;
}

bool codegen::isElementwise(Operation *op) {
  const RankedTensorType result = staticType(op->getResult(0));
  const auto fits = [&](Value operand) {
    return isAbsent(operand) ||
           (staticType(operand) && staticType(operand).getRank() <= result.getRank());
  };
  if (!result || !llvm::all_of(op->getOperands(), fits) || hasPackedRows(op, op->getOperands()))
    return false;
  // Without the order of its elements in question, lanes do not matter.
  Expected<SliceModel> ordered = checkedModel(op, Company::InGroup, Spread());
  if (!ordered || llvm::is_contained(ordered->isCuttable, false))
    return false;
  for (auto [operand, value] : llvm::zip_equal(ordered->operands, op->getOperands())) {
    const auto isSame = [](const AxisMap &map) { return map.kind == AxisMap::Same; };
    const bool isTable = isa<tpu::LutOp>(op) && value == op->getOperand(1);
    if (operand.isPresent && !isTable && numElements(wholeSlice(operand.extents)) != 1 &&
        (operand.extents != ordered->result || !llvm::all_of(operand.maps, isSame)))
      return false;
  }
  return true;
}

bool codegen::takesAnyOrder(Operation *op, const TargetInfo &target) {
  return isElementwise(op) &&
         spreadModel(op, isa<tpu::LutOp>(op) ? op->getOperands().take_front() : op->getOperands(),
                     spreadOf(target))
             .has_value();
}

SmallVector<Company> codegen::companiesOf(ArrayRef<Operation *> layers,
                                          llvm::function_ref<bool(Operation *)> takesAny) {
  SmallVector<Company> companies(layers.size(), companyOf(layers));
  if (layers.size() == 1)
    return companies;
  // Layers that read each other are in one class, by its first layer; all of one shape.
  llvm::DenseMap<Operation *, unsigned> numberOf;
  llvm::IntEqClasses classes(static_cast<unsigned>(layers.size()));
  llvm::SmallBitVector isFixed(static_cast<unsigned>(layers.size()));
  for (auto [index, op] : llvm::enumerate(layers)) {
    const auto layer = static_cast<unsigned>(index);
    numberOf[op] = layer;
    isFixed[layer] = !takesAny(op);
    for (Value operand : op->getOperands())
      if (auto found = numberOf.find(operand.getDefiningOp()); found != numberOf.end()) {
        classes.join(found->second, layer);
        isFixed[layer] = isFixed[layer] || dimsOf(operand) != dimsOf(op->getResult(0));
      }
  }
  llvm::DenseSet<unsigned> fixed;
  for (unsigned layer : isFixed.set_bits())
    fixed.insert(classes.findLeader(layer));
  for (unsigned layer = 0; layer < layers.size(); ++layer)
    if (!fixed.contains(classes.findLeader(layer)))
      companies[layer] = Company::Alone;
  return companies;
}

Expected<SliceModel> codegen::sliceModel(Operation *op, const TargetInfo &target, Company company) {
  return checkedModel(op, company, spreadOf(target));
}
