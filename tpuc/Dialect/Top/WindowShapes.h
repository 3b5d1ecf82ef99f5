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
#include "tpuc/Support/Error.h"

#include <functional>

namespace tpuc::top {

/// How a window moves over the spatial dimensions, one entry for each, and what comes out.
struct Window {
  Dims kernel;
  Dims strides;
  Dims dilations;
  Dims padsBegin;
  Dims padsEnd;
  /// All extents of the result, kDynamic for those that depend on dynamic ones.
  Dims output;
};

/// What the attributes of an op with a window say.
struct WindowSpec {
  mlir::ArrayAttr kernel;
  std::optional<mlir::ArrayAttr> strides = std::nullopt;
  std::optional<mlir::ArrayAttr> dilations = std::nullopt;
  std::optional<mlir::ArrayAttr> pads = std::nullopt;
  llvm::StringRef autoPad = "NOTSET";
  bool ceilMode = false;
  int64_t group = 1;
  std::optional<mlir::ArrayAttr> inserts = std::nullopt;
  std::optional<mlir::ArrayAttr> outputPadding = std::nullopt;
  std::optional<mlir::ArrayAttr> outputShape = std::nullopt;
};
template <typename Op> WindowSpec windowSpec(Op op) {
  WindowSpec spec{op.getKernelShape(), op.getStrides(), op.getDilations(), op.getPads()};
  if constexpr (requires { op.getAutoPad(); })
    spec.autoPad = op.getAutoPad();
  if constexpr (requires { op.getCeilMode(); })
    spec.ceilMode = op.getCeilMode();
  if constexpr (requires { op.getGroup(); })
    spec.group = op.getGroup();
  if constexpr (requires { op.getInserts(); })
    spec.inserts = op.getInserts();
  if constexpr (requires { op.getOutputPadding(); }) {
    spec.outputPadding = op.getOutputPadding();
    spec.outputShape = op.getOutputShape();
  }
  return spec;
}

// What windowOf gives, for ops of any dialect.
Expected<Window> convolutionWindow(const WindowSpec &spec, llvm::ArrayRef<int64_t> input,
                                   llvm::ArrayRef<int64_t> filter);
Expected<Window> transposedWindow(const WindowSpec &spec, llvm::ArrayRef<int64_t> input,
                                  llvm::ArrayRef<int64_t> filter);
Expected<Window> poolWindow(const WindowSpec &spec, llvm::ArrayRef<int64_t> input);

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
