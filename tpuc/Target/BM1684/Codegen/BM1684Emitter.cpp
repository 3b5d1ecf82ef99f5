//===- BM1684Emitter.cpp - Commands of the BM1684 -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/BM1684Emitter.h"
#include "tpuc/Target/BM1684/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684/Codegen/Transfers.h"
#include "tpuc/Target/BM1684/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684/Machine/Timing.h"
#include "tpuc/Target/BM1684/TargetInfo.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using mlir::Operation;

BM1684Emitter::BM1684Emitter(bm168x::Waits waits)
    : FamilyEmitter(builder, kCommandTable, chipInfo()), builder(waits) {}

Expected<void> BM1684Emitter::load(const TiledOp &tiled, unsigned index, int64_t global) {
  return named(tiled.op, loadOperand(builder, tiled, index, global));
}

Expected<void> BM1684Emitter::unpack(const TiledOp &tiled, unsigned index) {
  return named(tiled.op, unpackOperand(builder, tiled, index));
}

Expected<void> BM1684Emitter::pack(const TiledOp &tiled) {
  return named(tiled.op, packResult(builder, tiled));
}

Expected<void> BM1684Emitter::compute(const TiledOp &tiled) {
  Kernels kernels = kernelsOf(tiled);
  if (!kernels)
    return named(tiled.op, propagate(kernels));
  for (const Kernel &kernel : *kernels)
    if (Expected<void> emitted = named(tiled.op, kernel.emit(builder)); !emitted)
      return emitted;
  return {};
}

Expected<void> BM1684Emitter::store(const TiledOp &tiled, int64_t global) {
  return named(tiled.op, storeResult(builder, tiled, global));
}

Expected<void> BM1684Emitter::loadPool(unsigned /*space*/, int64_t global, int64_t local,
                                       int64_t bytes) {
  builder.beginLayer("");
  constexpr int64_t kWord = 4;
  const Extents rows = {1, kLanes, 1, bytes / kWord};
  return emitLoad(builder, globalTensor(DataType::I32, rows, static_cast<uint64_t>(global)),
                  localTensor(DataType::I32, rows, static_cast<uint32_t>(local), Layout::Compact));
}

Expected<void> BM1684Emitter::move(Operation *op) { return named(op, emitMove(builder, op)); }

bool BM1684Emitter::isInMemory(Operation *op) const {
  // Stacked rows are nowhere in global memory.
  return !isa<tpu::PackRowsOp>(op);
}

Expected<bm168x::CommandCost> BM1684Emitter::costOf(const mc::Command &command) const {
  return commandCost(command, TimingModel::Vendor, "a command");
}

Expected<std::array<int64_t, 2>>
BM1684Emitter::cyclesOf(const bm168x::CommandStreams &group) const {
  Expected<TimingReports> reports = simulateTimings(group.tiu, group.gdma, "the commands");
  if (!reports)
    return propagate(reports);
  return std::array{reports->vendor.totalCycles, reports->conservative.totalCycles};
}

} // namespace tpuc::bm1684::backend
