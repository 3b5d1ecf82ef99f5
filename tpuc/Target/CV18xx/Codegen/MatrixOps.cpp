//===- MatrixOps.cpp - Kernels of products of computed matrices -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/MatrixOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Target/CV18xx/Kernels/Products.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Matrices of one operand, one for each of a tile's batch.
struct Matrices {
  LocalMatrix first;
  /// Bytes in each lane from one to the next.
  uint32_t step = 0;

  LocalMatrix at(int64_t index) const {
    LocalMatrix made = first;
    made.address += static_cast<uint32_t>(index) * step;
    return made;
  }
};

Expected<Matrices> matricesOf(const Chip &chip, const TiledOp &tiled, unsigned index) {
  const bool isResult = index == tiled.op->getNumOperands();
  const LocalTile &tile = isResult ? tiled.result : tiled.operands[index];
  const Tile &held = tile.held.value_or(tile.tile);
  const TensorLayout &layout = layoutOf(tiled, index);
  const unsigned rows = layout.rowAxis(), columns = layout.columnAxis();
  if (held[columns] != tile.tile[columns])
    return makeError("", "some columns of a matrix in local memory", "all");
  Matrices made;
  made.first = {static_cast<uint32_t>(tile.address), static_cast<uint32_t>(held[rows].size),
                static_cast<uint32_t>(held[columns].size), layout.isBf16};
  made.step = made.first.bytes(chip);
  const int64_t skipped = tile.tile[rows].begin - held[rows].begin;
  made.first.address +=
      static_cast<uint32_t>(skipped) * made.first.rowBytes(chip) +
      static_cast<uint32_t>(tile.tile[kAxisN].begin - held[kAxisN].begin) * made.step;
  made.first.rows = static_cast<uint32_t>(tile.tile[rows].size);
  return made;
}

/// Calls `move(global, local)` for each matrix, or for all where they lie as one in both memories.
template <typename Move>
Expected<void> overMatrices(const Chip &chip, const TiledOp &tiled, unsigned index, int64_t address,
                            Move move) {
  Expected<Matrices> local = matricesOf(chip, tiled, index);
  if (!local)
    return propagate(local);
  const bool isResult = index == tiled.op->getNumOperands();
  const Tile &tile = (isResult ? tiled.result : tiled.operands[index]).tile;
  const TensorLayout &layout = layoutOf(tiled, index);
  const std::array<uint64_t, kNumAxes> strides = layout.strides();
  GlobalMatrix global{placeOf(address), strides[layout.rowAxis()], strides[layout.columnAxis()]};
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    global.begin.offset += static_cast<uint64_t>(tile[axis].begin) * strides[axis];
  const auto count = static_cast<uint32_t>(tile[kAxisN].size);
  if (local->step == local->first.bytes(chip) &&
      strides[kAxisN] == local->first.rows * global.rowStride) {
    local->first.rows *= count;
    return move(global, local->first);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (Expected<void> done = move(global, local->at(i)); !done)
      return done;
    global.begin.offset += strides[kAxisN];
  }
  return {};
}

} // namespace

Expected<void> loadMatrices(Builder &builder, const TiledOp &tiled, unsigned index,
                            int64_t address) {
  return overMatrices(builder.chip(), tiled, index, address,
                      [&](const GlobalMatrix &global, const LocalMatrix &local) {
                        return emitLoad(builder, global, local);
                      });
}

Expected<void> storeMatrices(Builder &builder, const TiledOp &tiled, int64_t address) {
  return overMatrices(builder.chip(), tiled, tiled.op->getNumOperands(), address,
                      [&](const GlobalMatrix &global, const LocalMatrix &local) {
                        return emitStore(builder, local, global);
                      });
}

/// How the sums of integers become the result; none of BF16. Errors: other modes.
static Expected<std::optional<SumScale>> scaleOf(tpu::MatMulOp op, bool isBf16) {
  if (isBf16)
    return std::optional<SumScale>();
  const auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto shifts = op->getAttrOfType<ArrayAttr>("rshift");
  const StringRef twice = requantModeName(kernels::fixedPointMode(false));
  if (!mode || mode.getValue() != twice || !multipliers || !shifts || multipliers.size() != 1 ||
      shifts.size() != 1)
    return makeError("", "sums that are not scaled by one multiplier and shift",
                     "quant_mode " + twice.str());
  const int64_t multiplier = top::toInts(multipliers)[0], shift = top::toInts(shifts)[0];
  if (multiplier < 0 || shift < 0 || shift > 63)
    return makeError("", fmt::format("a factor of {} >> {}", multiplier, shift),
                     "one that is not negative");
  return std::optional(SumScale{static_cast<uint32_t>(multiplier), static_cast<unsigned>(shift)});
}

Expected<void> emitProducts(tpu::MatMulOp op, const Site &site) {
  if (op.getLeftTranspose() || !isa<NoneType>(op.getBias().getType()))
    return makeError("", "a left matrix that is turned, or a bias", "as it lies, without a bias");
  Expected<std::optional<SumScale>> scale = scaleOf(op, site.isBf16());
  if (!scale)
    return propagate(scale);
  const Chip &chip = site.chip();
  const TiledOp &tiled = site.tiled;
  Expected<Matrices> left = matricesOf(chip, tiled, 0);
  Expected<Matrices> right = matricesOf(chip, tiled, 1);
  Expected<Matrices> result = matricesOf(chip, tiled, op->getNumOperands());
  if (!left || !right || !result)
    return propagate(!left ? left : !right ? right : result);
  const Relu relu = reluOf(op);
  if (relu.limit)
    return makeError("", "a product with a limit", "none");
  const bool isShared = tiled.operands[1].tile[kAxisN].size == 1;
  for (int64_t i = 0; i < tiled.result.tile[kAxisN].size; ++i)
    if (Expected<void> done = emitProduct(site.builder, result->at(i), left->at(i),
                                          right->at(isShared ? 0 : i), relu.is, *scale);
        !done)
      return done;
  return {};
}

} // namespace tpuc::cv18xx::backend
