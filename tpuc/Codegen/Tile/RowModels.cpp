//===- RowModels.cpp - How ops on rows are divided into tiles ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/TileModels.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::codegen::tiling;

namespace {

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

/// Whether whole pictures or sequences are reduced: all but the first two of three or four
/// dimensions.
bool reducesPictures(tpu::ReduceOp op) {
  Expected<llvm::SmallBitVector> isReduced = reducedDims(op);
  return isReduced && (isReduced->size() == 3 || isReduced->size() == 4) &&
         isReduced->count() == isReduced->size() - 2 && !isReduced->test(0) && !isReduced->test(1);
}

} // namespace

AxisSpan tiling::spanAt(ArrayRef<int64_t> dims, int64_t axis) {
  const auto dim = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  return {.outer = ShapedType::getNumElements(dims.take_front(dim)),
          .extent = dims[dim],
          .inner = ShapedType::getNumElements(dims.drop_front(dim + 1))};
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

namespace {

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

/// Rows of `width` elements, as many as `front` has, each on its own; the operands behind the first
/// belong to each. Alone, all rows follow each other.
TileModel rowModel(Operation *op, ArrayRef<int64_t> front, int64_t width, int64_t resultWidth,
                   TileLayout layout) {
  const bool isOne = layout == TileLayout::Flat || front.empty();
  const int64_t batch = isOne ? 1 : ShapedType::getNumElements(front.drop_back());
  const int64_t rows = isOne ? ShapedType::getNumElements(front) : front.back();
  TileModel model{.operands = {},
                  .result = {batch, rows, 1, 1, resultWidth},
                  .isTileable = {true, true, false, false, false}};
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
TileModel spanModel(Operation *op, const AxisSpan &span, ArrayRef<int64_t> front,
                    int64_t resultExtent, TileLayout layout) {
  if (span.inner == 1)
    return rowModel(op, front, span.extent, resultExtent, layout);
  TileModel model = rowModel(op, {}, 1, 1, layout);
  model.result = {span.outer, span.inner, 1, 1, resultExtent};
  model.operands[0].extents = {span.outer, span.inner, 1, 1, span.extent};
  return model;
}

/// In a group, pictures lie as other layers have them.
TileModel pictureReductionModel(tpu::ReduceOp op) {
  OperandModel data{.isPresent = true, .extents = *axisExtents(dimsOf(op.getInput()))};
  data.maps[kAxisH] = kWhole;
  data.maps[kAxisW] = kWhole;
  return {.operands = {data, {}},
          .result = {data.extents[kAxisN], data.extents[kAxisC], 1, 1, 1},
          .isTileable = {true, true, false, false, false}};
}

} // namespace

/// The rows of a product are c, its columns w.
Expected<TileModel> tiling::matMulModel(tpu::MatMulOp op, TileLayout layout) {
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
  const bool isOne = isShared && !op.getLeftTranspose() && layout == TileLayout::Flat;
  const int64_t batch = isOne ? 1 : ShapedType::getNumElements(output.drop_back(2));
  if (!isShared && (ShapedType::getNumElements(left.drop_back(2)) != batch ||
                    ShapedType::getNumElements(right.drop_back(2)) != batch))
    return makeError("", "operands whose batches are repeated", "one matrix for each product");
  const int64_t rows = ShapedType::getNumElements(output.drop_back()) / batch;
  // A computed matrix is taken as it lies.
  const bool isTurned = op.getRightTranspose() && !(isShared && isConstantValue(op.getRight()));
  TileModel model{.operands = {},
                  .result = {batch, rows, 1, 1, columns},
                  .isTileable = {true, true, false, false, !isTurned}};
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

Expected<TileModel> tiling::softmaxModel(tpu::SoftmaxOp op, TileLayout layout) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  int64_t axis = op.getAxis();
  axis += axis < 0 ? static_cast<int64_t>(dims.size()) : 0;
  const AxisSpan span = spanAt(dims, axis);
  return spanModel(op, span, dims.take_front(static_cast<size_t>(axis)), span.extent, layout);
}

Expected<TileModel> tiling::cumSumModel(tpu::CumSumOp op, TileLayout layout) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  const std::optional<int64_t> axis = op.getAxis();
  if (!axis || dims.empty() || (*axis != -1 && *axis != std::ssize(dims) - 1))
    return makeError("", "a running sum along another dimension", "the last one");
  return rowModel(op, dims.drop_back(), dims.back(), dims.back(), layout);
}

Expected<TileModel> tiling::pixelNormModel(tpu::PixelNormOp op) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  const AxisSpan span = spanAt(dims, 1);
  return spanModel(op, span, dims.take_front(), span.extent, TileLayout::Flat);
}

template <typename Op> static Expected<TileModel> modelOfLayerNorm(Op op, TileLayout layout) {
  const ArrayRef<int64_t> dims = dimsOf(op.getInput());
  int64_t axis = op.getAxis();
  axis += axis < 0 ? static_cast<int64_t>(dims.size()) : 0;
  const int64_t width = ShapedType::getNumElements(dims.drop_front(static_cast<size_t>(axis)));
  return rowModel(op, dims.take_front(static_cast<size_t>(axis)), width, width, layout);
}

Expected<TileModel> tiling::layerNormModel(tpu::LayerNormOp op, TileLayout layout) {
  return modelOfLayerNorm(op, layout);
}
Expected<TileModel> tiling::layerNormModel(tpu::RMSNormOp op, TileLayout layout) {
  return modelOfLayerNorm(op, layout);
}

/// Some columns of rows, which follow each other.
Expected<TileModel> tiling::columnTileModel(tpu::SliceOp op) {
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
  TileModel model{
      .operands = {}, .result = *axisExtents(to), .isTileable = {true, true, false, false, true}};
  OperandModel data{.isPresent = true, .extents = *axisExtents(from)};
  data.maps[kAxisW] = {.kind = AxisMap::Window, .pad = -first};
  model.operands.push_back(data);
  model.operands.resize(op->getNumOperands());
  return model;
}

/// Rows of all inputs behind each other.
Expected<TileModel> tiling::columnConcatModel(tpu::ConcatOp op) {
  const ArrayRef<int64_t> dims = dimsOf(op.getOutput());
  const auto rank = static_cast<int64_t>(dims.size());
  const auto axis = static_cast<int64_t>(op.getAxis());
  if (rank < 2 || (axis != -1 && axis != rank - 1))
    return makeError("", "a concatenation of other dimensions", "columns");
  TileModel model{.operands = {},
                  .result = *axisExtents(matrixDims(dims)),
                  .isTileable = {true, true, false, false, false}};
  for (Value input : op.getInputs()) {
    OperandModel part{.isPresent = true, .extents = *axisExtents(matrixDims(dimsOf(input)))};
    part.maps[kAxisW] = kWhole;
    model.operands.push_back(part);
  }
  return model;
}

/// Of a mask [B or 1, heads or 1, rows or 1, keys] the matrices in their order, those of a sample
/// where it has some of its own.
static Expected<OperandModel> maskModel(tpu::ScaleDotProductAttentionOp op,
                                        const AxisExtents &result) {
  SmallVector<int64_t> dims(dimsOf(op.getMask()));
  const std::optional<DataType> type = storageDataType(op.getMask().getType());
  const bool isNumber = type == DataType::F32 || type == storageDataType(op.getQuery().getType());
  if (!isNumber || dims.back() != dimsOf(op.getKey())[1])
    return makeError("", "a mask of another type or of fewer keys",
                     "numbers in f32 or of the type of the queries for all keys");
  while (dims.size() < 4)
    dims.insert(dims.begin(), 1);
  OperandModel mask{.isPresent = true, .extents = {dims[0] * dims[1], dims[2], 1, 1, dims[3]}};
  mask.maps[kAxisW] = kWhole;
  if (dims[2] == 1)
    mask.maps[kAxisC] = kWhole;
  if (dims[0] == 1 && result[kAxisN] > 1)
    mask.maps[kAxisN] = kWhole;
  else if (dims[1] > 1)
    mask.maps[kAxisN] = {.kind = AxisMap::Window, .stride = dims[1], .window = dims[1]};
  return mask;
}

/// Rows of queries with all heads side by side, each of which needs all keys and values.
Expected<TileModel> tiling::attentionModel(tpu::ScaleDotProductAttentionOp op) {
  if (!op.getQNumHeads())
    return makeError("", "a dimension for the heads", "rows that hold all heads");
  const auto extents = [](Value value) { return *axisExtents(matrixDims(dimsOf(value))); };
  TileModel model{.operands = {},
                  .result = extents(op->getResult(0)),
                  .isTileable = {true, true, false, false, false}};
  for (unsigned index = 0; index < 3; ++index) {
    OperandModel rows{.isPresent = true, .extents = extents(op->getOperand(index))};
    rows.maps[kAxisW] = kWhole;
    if (index > 0)
      rows.maps[kAxisC] = kWhole;
    model.operands.push_back(rows);
  }
  model.operands.emplace_back();
  if (!isAbsent(op.getMask())) {
    Expected<OperandModel> mask = maskModel(op, model.result);
    if (!mask)
      return propagate(mask);
    model.operands.back() = *mask;
  }
  for (Value operand : op->getOperands().drop_front(4)) {
    if (!isAbsent(operand))
      return makeError("", "lengths or what is kept", "attention alone");
    model.operands.emplace_back();
  }
  return model;
}

Expected<TileModel> tiling::reduceModel(tpu::ReduceOp op, TileLayout layout) {
  if (layout == TileLayout::NCHW && reducesPictures(op))
    return pictureReductionModel(op);
  Expected<std::optional<AxisSpan>> span = spanOf(op);
  if (!span)
    return propagate(span);
  TileModel model = spanModel(op, **span, (*span)->outer, 1, TileLayout::Flat);
  model.operands[1] = {};
  return model;
}
