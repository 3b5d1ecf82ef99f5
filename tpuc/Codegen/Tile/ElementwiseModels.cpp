//===- ElementwiseModels.cpp - How element-wise ops are divided into tiles ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/TileModels.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::codegen::tiling;

namespace {

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

/// How many elements the fullest lane holds of [1, channels, 1, count / channels].
int64_t fullestLane(int64_t count, int64_t channels, const Spread &spread) {
  return llvm::divideCeil(channels, spread.lanes) * (count / channels);
}

/// The divisors of `count` whose quotients are in a range, in rising order.
SmallVector<int64_t> divisorsOf(int64_t count, int64_t leastQuotient, int64_t mostQuotient) {
  SmallVector<int64_t> found;
  for (int64_t divisor = 1; divisor * divisor <= count; ++divisor)
    if (count % divisor == 0)
      found.append({divisor, count / divisor});
  llvm::erase_if(found, [&](int64_t divisor) {
    return count / divisor < leastQuotient || count / divisor > mostQuotient;
  });
  llvm::sort(found);
  return found;
}

/// [1, c, 1, w] for `count` elements whose dimensions do not matter, c a multiple of the lanes.
/// Where rows would be short then, c is as large as rows allow. Where elements cannot be shared
/// evenly, c is the least divisor of `count` with which the fullest lane holds nearly as few
/// elements as possible, at most three quarters of `most`. None where there are not enough or too
/// many in a row.
std::optional<SmallVector<int64_t>> spreadDims(int64_t count, int64_t most, const Spread &spread) {
  // A transfer takes its time for each row, so rows are not short, and as long as they may be.
  constexpr int64_t kLeastRow = 32;
  const SmallVector<int64_t> divisors = divisorsOf(count, kLeastRow, spread.width);
  for (int64_t channels = spread.lanes; channels <= count; channels += spread.lanes)
    if (count % channels == 0 && count / channels <= spread.width) {
      if (count / channels < kLeastRow && !divisors.empty())
        channels = divisors.back();
      return SmallVector<int64_t>{1, channels, 1, count / channels};
    }
  const auto fullest = [&](int64_t channels) { return fullestLane(count, channels, spread); };
  int64_t least = 3 * most / 4;
  for (int64_t channels : divisors)
    least = std::min(least, fullest(channels));
  for (int64_t channels : divisors)
    if (fullest(channels) <= std::min(3 * most / 4, least + least / 8))
      return SmallVector<int64_t>{1, channels, 1, count / channels};
  return std::nullopt;
}

/// The view of an element-wise op whose operands have all elements or one, where its own channels
/// would leave most lanes idle, or have few elements, whose transfers take long.
std::optional<TileModel> spreadModel(Operation *op, ValueRange operands, const Spread &spread) {
  const ArrayRef<int64_t> dims = dimsOf(op->getResult(0));
  const int64_t count = ShapedType::getNumElements(dims);
  const bool isMatrix = dims.size() >= 2 && dims[0] * dims[1] == count && dims[1] > 1;
  const bool isFull = dims.size() >= 2 && dims[1] >= spread.lanes && !isMatrix;
  // Less than the shortest transfer that costs no more than its elements, in most types.
  constexpr int64_t kShortRow = 64;
  const int64_t row = isFull ? count / (dims[0] * dims[1]) : 0;
  if (row >= kShortRow)
    return std::nullopt;
  for (Value operand : operands)
    if (!isAbsent(operand) && dimsOf(operand) != dims &&
        ShapedType::getNumElements(dimsOf(operand)) != 1)
      return std::nullopt;
  const int64_t channels = isMatrix ? dims[0] : dims.size() >= 2 ? dims[1] : 1;
  const int64_t fullest = fullestLane(count, channels, spread);
  auto flat = spreadDims(count, isFull ? 2 * fullest : fullest, spread);
  // Lanes that are full keep their channels, unless rows become longer.
  if (flat && flat->back() < 2 * row)
    return std::nullopt;
  if (!flat && isMatrix)
    flat = {1, dims[0], 1, dims[1]};
  if (!flat)
    return std::nullopt;
  TileModel model{.operands = {},
                  .result = *axisExtents(*flat),
                  .isTileable = {false, true, false, false, true}};
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

/// Whether rows are loaded as channels, or channels stored as rows: these stay what they are.
bool hasPackedRows(Operation *op, ValueRange operands) {
  return tpu::storedRows(op) || llvm::any_of(operands, [](Value value) {
           if (auto load = value.getDefiningOp<tpu::LoadOp>())
             value = load.getInput();
           auto rows = value.getDefiningOp<tpu::PackRowsOp>();
           return rows && !rows.getInLocalMemory();
         });
}

} // namespace

Expected<TileModel> tiling::elementwiseModel(Operation *op, ValueRange operands,
                                             TileLayout layout) {
  const ArrayRef<int64_t> resultDims = dimsOf(op->getResult(0));
  const size_t rank = resultDims.size();
  const bool inRows = layout == TileLayout::Matrix;
  if (inRows && !repeatsWholeBatches(operands, resultDims))
    return makeError("", "matrices that are repeated for some dimensions", "all or none");
  const bool merges = llvm::all_of(
      operands, [&](Value operand) { return isAbsent(operand) || dimsOf(operand) == resultDims; });
  Expected<AxisExtents> result = axisExtents(alignedDims(op->getResult(0), rank, merges, inRows));
  if (!result)
    return propagate(result);
  TileModel model{.operands = {}, .result = *result, .isTileable = {true, true, true, true, true}};
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

Expected<TileModel> tiling::freeModel(Operation *op, ValueRange operands, TileLayout layout,
                                      const Spread &spread) {
  if (layout == TileLayout::Flat && !hasPackedRows(op, operands))
    if (std::optional<TileModel> model = spreadModel(op, operands, spread))
      return *model;
  return elementwiseModel(op, operands, layout);
}

Expected<TileModel> tiling::tableModel(tpu::LutOp op, TileLayout layout, const Spread &spread) {
  Expected<TileModel> model = freeModel(op, op.getInput(), layout, spread);
  if (model)
    model->operands.push_back(
        wholeOperand({1, 1, 1, 1, ShapedType::getNumElements(dimsOf(op.getTable()))}));
  return model;
}

Spread tiling::spreadOf(const TargetInfo &target) {
  constexpr int64_t kRows = 4, kMostElementBytes = 4;
  return {target.tiles().lanes, target.tiles().bytes / (kRows * kMostElementBytes)};
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
  Expected<TileModel> ordered = checkedModel(op, TileLayout::NCHW, Spread());
  if (!ordered || llvm::is_contained(ordered->isTileable, false))
    return false;
  for (auto [operand, value] : llvm::zip_equal(ordered->operands, op->getOperands())) {
    const auto isSame = [](const AxisMap &map) { return map.kind == AxisMap::Same; };
    const bool isTable = isa<tpu::LutOp>(op) && value == op->getOperand(1);
    if (operand.isPresent && !isTable && numElements(wholeTile(operand.extents)) != 1 &&
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
