//===- MirroredOp.h - Ops of the tpu dialect and those of top that they come from ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_MIRROREDOP_H
#define TPUC_DIALECT_TPU_MIRROREDOP_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include <optional>

namespace tpuc::tpu {

/// The op of the other dialect, top or tpu, that an op of either computes the same as; none for
/// those that only one of them has.
std::optional<mlir::OperationName> mirrorOf(mlir::OperationName name);

/// Makes the op `name` with the attributes of `op`, and with its regions, which are moved.
mlir::Operation *createMirrored(mlir::OpBuilder &builder, mlir::Operation *op,
                                mlir::OperationName name, mlir::ValueRange operands,
                                mlir::TypeRange results);

} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_MIRROREDOP_H
