//===- BM1684XEmitter.cpp - Commands of the BM1684X ---------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/BM1684XEmitter.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Target/BM1684X/Codegen/Loads.h"
#include "tpuc/Target/BM1684X/Codegen/Moves.h"
#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684X/Codegen/Stores.h"
#include "tpuc/Target/BM1684X/Codegen/Transfers.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Machine/Timing.h"
#include "tpuc/Target/BM1684X/TargetInfo.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

BM1684XEmitter::BM1684XEmitter(bm168x::Waits waits)
    : FamilyEmitter(builder, kCommandTable, chipInfo()), builder(waits) {}

Expected<void> BM1684XEmitter::load(const TiledOp &tiled, unsigned index, int64_t global) {
  return named(tiled.op, loadOperand(builder, tiled, index, global));
}

Expected<void> BM1684XEmitter::compute(const TiledOp &tiled) {
  Kernels kernels = kernelsOf(tiled);
  if (!kernels)
    return named(tiled.op, propagate(kernels));
  for (const Kernel &kernel : *kernels)
    if (Expected<void> emitted = named(tiled.op, kernel.emit(builder)); !emitted)
      return emitted;
  return {};
}

Expected<void> BM1684XEmitter::store(const TiledOp &tiled, int64_t global) {
  return named(tiled.op, storeResult(builder, tiled, global));
}

Expected<void> BM1684XEmitter::loadPool(unsigned /*space*/, int64_t global, int64_t local,
                                        int64_t bytes) {
  builder.beginLayer("");
  constexpr int64_t kWord = 4;
  const Extents rows = {1, kLanes, 1, bytes / kWord};
  return loadTensor(
      builder, globalTensor(DataType::I32, rows, static_cast<uint64_t>(global)),
      localTensor(DataType::I32, rows, static_cast<uint32_t>(local), Layout::Compact));
}

Expected<void> BM1684XEmitter::move(Operation *op) { return named(op, emitMove(builder, op)); }

bool BM1684XEmitter::isInMemory(Operation *op) const {
  if (auto store = dyn_cast<tpu::StoreOp>(op))
    op = store.getInput().getDefiningOp();
  // Neither stacked rows nor what is stored turned are anywhere in global memory.
  auto rows = dyn_cast<tpu::PackRowsOp>(op);
  return !(rows && !rows.getInLocalMemory()) && !tpu::storedRows(op) &&
         (!tpu::storedTurned(op) || isa<tpu::PermuteOp>(op));
}

Expected<bm168x::CommandCost> BM1684XEmitter::costOf(const mc::Command &command) const {
  return commandCost(command, timingParameters(TimingModel::Vendor), "a command");
}

Expected<std::array<int64_t, 2>>
BM1684XEmitter::cyclesOf(const bm168x::CommandStreams &group) const {
  Expected<TimingReports> reports = simulateTimings(group.tiu, group.gdma, "the commands");
  if (!reports)
    return propagate(reports);
  return std::array{reports->vendor.totalCycles, reports->conservative.totalCycles};
}

} // namespace tpuc::bm1684x::backend
