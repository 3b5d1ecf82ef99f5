//===- Attach.h - The meanings of all ops -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_ATTACH_H
#define TPUC_INTERPRETER_ATTACH_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace tpuc {

// Each attaches what the ops of one family of the top dialect compute. The dialect must be loaded.
void attachAttention(mlir::MLIRContext *context);
void attachBinary(mlir::MLIRContext *context);
void attachControl(mlir::MLIRContext *context);
void attachConvolution(mlir::MLIRContext *context);
void attachIndex(mlir::MLIRContext *context);
void attachMatrix(mlir::MLIRContext *context);
void attachMovement(mlir::MLIRContext *context);
void attachNorm(mlir::MLIRContext *context);
void attachPool(mlir::MLIRContext *context);
void attachQuantize(mlir::MLIRContext *context);
void attachRecurrent(mlir::MLIRContext *context);
void attachReduce(mlir::MLIRContext *context);
void attachResize(mlir::MLIRContext *context);
void attachShape(mlir::MLIRContext *context);
void attachSignal(mlir::MLIRContext *context);
void attachUnary(mlir::MLIRContext *context);

// What ops of the tpu dialect compute that top has not, and those on stored integers.
void attachTpuCast(mlir::MLIRContext *context);
void attachTpuElementwise(mlir::MLIRContext *context);
void attachTpuGroup(mlir::MLIRContext *context);
void attachTpuProducts(mlir::MLIRContext *context);
void attachTpuResize(mlir::MLIRContext *context);
void attachTpuSums(mlir::MLIRContext *context);

} // namespace tpuc

#endif // TPUC_INTERPRETER_ATTACH_H
