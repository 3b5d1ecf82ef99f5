//===- AddressAssign.h - Addresses before there are groups -----------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_PLACE_ADDRESSASSIGN_H
#define TPUC_CODEGEN_PLACE_ADDRESSASSIGN_H

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Codegen/Place/AddressPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tpuc::codegen {

/// Addresses for a network without groups, in the types of all its tensors: so its commands can be
/// emitted to see how long they take. What lies in another tensor does so as after
/// --address-assign. Errors: those of the allocator.
Expected<void> assignTrialAddresses(mlir::func::FuncOp main, const Backend &backend);

/// The bytes of global memory that the tensors of a network take, weights apart, where layers run
/// in groups that are planned and scheduled but not made yet; about what --address-assign finds for
/// them. Errors: those of the allocator.
Expected<int64_t> plannedBytes(mlir::func::FuncOp main, llvm::ArrayRef<const GroupPlan *> planned,
                               const Backend &backend);

/// The regions that --address-assign has filled, base and bytes: those of weights and neurons, and
/// of inputs and outputs where they are apart. None where the module has no addresses.
std::vector<AddressRegion> addressRegions(mlir::ModuleOp module);

/// Takes the addresses away again.
void dropAddresses(mlir::func::FuncOp main);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_PLACE_ADDRESSASSIGN_H
