//===- Layers.h - The ops of a network that compute -----------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_LAYERS_H
#define TPUC_CODEGEN_LAYERS_H

#include "tpuc/Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tpuc::codegen {

/// Whether `op` computes a tensor: it is no constant, no input, and no other form of a constant.
bool isLayer(mlir::Operation *op);

/// Whether `op` gives a constant: `top.Weight`, `top.None`, or `tpu.Unpack` of one.
bool isConstant(mlir::Operation *op);

/// Whether a value is the same in every run: a weight, packed or loaded.
bool isConstantValue(mlir::Value value);

/// An error that names the layer of `op`.
tl::unexpected<Error> wrong(mlir::Operation *op, const llvm::Twine &found,
                            const llvm::Twine &expected = "");

/// The bytes of a tensor of static shape as global memory holds it; 0 for none.
int64_t globalBytes(mlir::Type type);

/// The address in a type's encoding; none if it has none.
std::optional<int64_t> addressOf(mlir::Type type);
/// `type` with that address.
mlir::RankedTensorType withAddress(mlir::RankedTensorType type, int64_t address);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_LAYERS_H
