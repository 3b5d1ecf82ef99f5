//===- NetworkEmitter.h - The commands of a network in their order --*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_EMIT_NETWORKEMITTER_H
#define TPUC_CODEGEN_EMIT_NETWORKEMITTER_H

#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Codegen/Schedule/NetworkSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tpuc::codegen {

/// Emits what `main` does, unit of time by unit of time: loads, what is computed or moved, stores.
/// Each sub-network of the TPU has commands of its own; those of the CPU have none. The times are
/// those of `--layer-group`; in groups of several tiles the units repeat. Errors
/// name the layer: no group, no address, tiles that do not hold what their users need.
Expected<void> emitNetwork(mlir::func::FuncOp main, const Backend &backend, Emitter &emitter);

/// The same for one sub-network that is planned, but has no groups yet: the commands that it will
/// have. Tensors have addresses, which need not be the last ones.
Expected<void> emitPlanned(llvm::ArrayRef<ScheduleItem> items, llvm::ArrayRef<int64_t> poolUnits,
                           const PoolPlace &pool, const Backend &backend, Emitter &emitter);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_EMIT_NETWORKEMITTER_H
