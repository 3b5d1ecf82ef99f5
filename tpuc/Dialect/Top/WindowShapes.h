//===- WindowShapes.h - Shapes of what slides a window over its input --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_WINDOWSHAPES_H
#define TPUC_DIALECT_TOP_WINDOWSHAPES_H

#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/OpShapes/Window.h"

namespace tpuc::top {

using shapes::convolutionWindow;
using shapes::poolWindow;
using shapes::transposedWindow;
using shapes::Window;
using shapes::WindowSpec;

/// What the attributes of an op with a window say.
template <typename Op> WindowSpec windowSpec(Op op) {
  WindowSpec spec;
  if constexpr (requires { op.getKernelShape(); })
    spec.kernel = intVector(op.getKernelShape());
  spec.strides = intVector(op.getStrides());
  if constexpr (requires { op.getDilations(); })
    spec.dilations = intVector(op.getDilations());
  spec.pads = intVector(op.getPads());
  if constexpr (requires { op.getAutoPad(); })
    spec.autoPad = op.getAutoPad().str();
  if constexpr (requires { op.getCeilMode(); })
    spec.ceilMode = op.getCeilMode();
  if constexpr (requires { op.getGroup(); })
    spec.group = op.getGroup();
  if constexpr (requires { op.getInserts(); })
    spec.inserts = intVector(op.getInserts());
  if constexpr (requires { op.getOutputPadding(); }) {
    spec.outputPadding = intVector(op.getOutputPadding());
    spec.outputShape = intVector(op.getOutputShape());
  }
  return spec;
}

// The window of an op for operands of the given extents: `auto_pad` is resolved where the extents
// are static. The same functions serve shape inference and evaluation, which knows more extents.
// Errors (without `where`): operands that do not fit each other or the attributes.
Expected<Window> windowOf(ConvOp op, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> filter);
Expected<Window> windowOf(ConvIntegerOp op, llvm::ArrayRef<int64_t> input,
                          llvm::ArrayRef<int64_t> filter);
Expected<Window> windowOf(QLinearConvOp op, llvm::ArrayRef<int64_t> input,
                          llvm::ArrayRef<int64_t> filter);
Expected<Window> windowOf(DeconvOp op, llvm::ArrayRef<int64_t> input,
                          llvm::ArrayRef<int64_t> filter);
Expected<Window> windowOf(DeformConv2DOp op, llvm::ArrayRef<int64_t> input,
                          llvm::ArrayRef<int64_t> filter, llvm::ArrayRef<int64_t> offset);
Expected<Window> windowOf(AvgPoolOp op, llvm::ArrayRef<int64_t> input);
Expected<Window> windowOf(MaxPoolOp op, llvm::ArrayRef<int64_t> input);
Expected<Window> windowOf(MaxPoolWithMaskOp op, llvm::ArrayRef<int64_t> input);
Expected<Window> windowOf(LpPoolOp op, llvm::ArrayRef<int64_t> input);
/// `outputShape`: the whole result where an operand states it.
Expected<Window> windowOf(MaxUnpoolOp op, llvm::ArrayRef<int64_t> input,
                          const std::optional<Dims> &outputShape);
/// `image` and `block`: the values of the operands, none where they are not known.
Expected<Window> windowOf(Col2ImOp op, llvm::ArrayRef<int64_t> input,
                          const std::optional<Dims> &image, const std::optional<Dims> &block);

/// Emits `error` about `op`.
llvm::LogicalResult emit(mlir::Operation *op, const Error &error);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_WINDOWSHAPES_H
