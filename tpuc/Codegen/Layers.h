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
#include <vector>

namespace tpuc::codegen {

/// Whether `op` computes a tensor: it is no constant, no input, and no other form of a constant.
bool isLayer(mlir::Operation *op);

/// Whether `op` gives a constant: `top.Weight`, `top.None`, or `tpu.Unpack` of one.
bool isConstant(mlir::Operation *op);

/// Whether the host computes `op`.
bool isOnCpu(mlir::Operation *op);

/// Layers that one engine computes, one after the other.
struct SubNet {
  bool isCpu = false;
  llvm::SmallVector<mlir::Operation *> layers;
};

/// The sub-networks of a network in the order in which they run; one at least.
std::vector<SubNet> subNetsOf(mlir::Block &block);

/// Whether only layers of its own sub-network read a value that the host makes, or the caller one
/// whose shape only the data show: it needs no place on the device.
bool staysOnHost(mlir::Value value);

/// The number of the output of the network that `value` is, if only the data show its shape.
std::optional<unsigned> outputOnHost(mlir::Value value);

/// Whether the shape of a value is known, or it is left out.
bool hasKnownShape(mlir::Value value);

/// The type of a tensor of known shape; none for others.
mlir::RankedTensorType staticType(mlir::Value value);

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
