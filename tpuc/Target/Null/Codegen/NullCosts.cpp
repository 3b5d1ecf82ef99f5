//===- NullCosts.cpp - What commands of null take -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullCosts.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Target/Null/Codegen/NullLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

static int64_t ceilDiv(int64_t a, int64_t b) {
  return static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

static int64_t atRate(int64_t bytes, double rate) {
  return static_cast<int64_t>(static_cast<double>(bytes) / rate) + 1;
}

int64_t transferCost(const TargetInfo &target, int64_t bytes, int64_t rows) {
  const TimingInfo &timing = *target.timing;
  const int64_t start = int64_t{timing.transferStartCycles} + timing.memoryLatencyCycles;
  return start + atRate(std::max(bytes, rows * timing.minBurstBytes), timing.globalToLocal);
}

int64_t transferCost(const TargetInfo &target, const TiledOp &tiled, unsigned index) {
  const bool isResult = index == tiled.op->getNumOperands();
  const Tile &tile = isResult ? tiled.result.tile : tiled.operands[index].tile;
  const TensorLayout &tensor = layoutOf(*tiled.model).operand(index);
  // Rows end at the last axis that is tiled.
  int64_t length = tile[kAxisW].size;
  for (unsigned axis = kAxisW; axis-- > 0 && tile[axis + 1].size == tensor.extents[axis + 1];)
    length *= tile[axis].size;
  const int64_t elements = numElements(tile);
  return transferCost(target, byteSize(tensor.type, elements), elements / length);
}

int64_t moveCost(const TargetInfo &target, Operation *op) {
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes += globalBytes(result.getType());
  const TimingInfo &timing = *target.timing;
  return int64_t{timing.transferStartCycles} + 2 * int64_t{timing.memoryLatencyCycles} +
         atRate(bytes, timing.globalToGlobal);
}

static const ConvThroughput &throughputOf(const TimingInfo &timing, DataType type) {
  return bitWidth(type) == 8 ? timing.conv8 : bitWidth(type) == 16 ? timing.conv16 : timing.conv32;
}

int64_t computeCost(const TargetInfo &target, const TiledOp &tiled) {
  const TimingInfo &timing = *target.timing;
  const Tile &result = tiled.result.tile;
  const int64_t rounds = result[kAxisN].size * ceilDiv(result[kAxisC].size, target.tiles().lanes);
  const int64_t pixels = result[kAxisD].size * result[kAxisH].size * result[kAxisW].size;
  const ConvThroughput &rate = throughputOf(timing, tiled.model->layoutOf(0).type);
  int64_t cycles = 0;
  if (isa<tpu::ConvOp, tpu::DeconvOp>(tiled.op))
    cycles = rounds * ceilDiv(pixels, rate.pixels) *
             ceilDiv(tiled.model->operands[1].extents[kAxisW], rate.channels);
  else if (isa<tpu::MatMulOp>(tiled.op))
    cycles = rounds * ceilDiv(pixels, rate.pixels) *
             ceilDiv(tiled.operands[0].tile[kAxisW].size, rate.channels);
  else if (isa<tpu::RequantIntOp>(tiled.op))
    cycles = rounds * ceilDiv(pixels, timing.requantElementsPerCycle);
  else
    // All operands pass by, or all that is reduced.
    for (const LocalTile &operand : tiled.operands)
      cycles += ceilDiv(numElements(operand.tile), target.tiles().lanes) / 2 + 1;
  return timing.computeStartCycles + cycles;
}

} // namespace tpuc::Null
