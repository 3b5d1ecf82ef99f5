//===- WindowAttributes.h - Checks of what describes a window ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_WINDOWATTRIBUTES_H
#define TPUC_DIALECT_TOP_WINDOWATTRIBUTES_H

#include "tpuc/Dialect/Top/WindowShapes.h"

#include "mlir/IR/Builders.h"

namespace tpuc::top {

/// Windows slide over one to three dimensions.
inline constexpr size_t kMaxSpatial = 3;

/// `size` integers of at least `least` each, where the attribute is there.
llvm::LogicalResult verifyInts(mlir::Operation *op, llvm::StringRef name,
                               std::optional<mlir::ArrayAttr> ints, size_t size, int64_t least);
/// Any number of integers, all above 0.
llvm::LogicalResult verifyPositive(mlir::Operation *op, llvm::StringRef name,
                                   std::optional<mlir::ArrayAttr> ints);
/// A single integer of at least `least`.
llvm::LogicalResult verifyAtLeast(mlir::Operation *op, llvm::StringRef name, int64_t value,
                                  int64_t least);
llvm::LogicalResult verifyAutoPad(mlir::Operation *op, llvm::StringRef autoPad);

/// kernel_shape, strides, dilations, pads and auto_pad of any window op.
template <typename Op>
llvm::LogicalResult verifyWindow(Op op, size_t spatial, bool negativePads = false) {
  if (spatial < 1 || spatial > kMaxSpatial)
    return op.emitOpError("kernel_shape has ") << spatial << " entries; expected 1 to 3";
  int64_t leastPad = negativePads ? std::numeric_limits<int64_t>::min() : 0;
  if (llvm::failed(verifyInts(op, "kernel_shape", op.getKernelShape(), spatial, 1)) ||
      llvm::failed(verifyInts(op, "strides", op.getStrides(), spatial, 1)) ||
      llvm::failed(verifyInts(op, "pads", op.getPads(), 2 * spatial, leastPad)))
    return llvm::failure();
  if constexpr (requires { op.getDilations(); })
    if (llvm::failed(verifyInts(op, "dilations", op.getDilations(), spatial, 1)))
      return llvm::failure();
  if constexpr (requires { op.getAutoPad(); })
    return verifyAutoPad(op, op.getAutoPad());
  return llvm::success();
}

/// What Conv and Deconv share beyond that.
template <typename Op> llvm::LogicalResult verifyConvolution(Op op) {
  if (llvm::failed(verifyAtLeast(op, "group", op.getGroup(), 1)))
    return llvm::failure();
  return verifyInts(op, "inserts", op.getInserts(), op.getKernelShape().size(), 0);
}

/// Makes the pads of `window` those of `op`, in the place of its `auto_pad`.
template <typename Op> void setPads(Op op, const Window &window) {
  mlir::Builder builder(op.getContext());
  shapes::Dims pads = window.padsBegin;
  pads.insert(pads.end(), window.padsEnd.begin(), window.padsEnd.end());
  op.setPadsAttr(builder.getI64ArrayAttr(pads));
  op.setAutoPad("NOTSET");
}

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_WINDOWATTRIBUTES_H
