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

/// `size` integers, where the attribute is there. IntegerRanges.h says what each may be.
llvm::LogicalResult verifyEntries(mlir::Operation *op, llvm::StringRef name,
                                  std::optional<mlir::ArrayAttr> ints, size_t size);
llvm::LogicalResult verifyAutoPad(mlir::Operation *op, llvm::StringRef autoPad);

/// kernel_shape, strides, dilations, pads and auto_pad of any window op.
template <typename Op> llvm::LogicalResult verifyWindow(Op op, size_t spatial) {
  if (spatial < 1 || spatial > kMaxSpatial)
    return op.emitOpError("kernel_shape has ") << spatial << " entries; expected 1 to 3";
  if (llvm::failed(verifyEntries(op, "kernel_shape", op.getKernelShape(), spatial)) ||
      llvm::failed(verifyEntries(op, "strides", op.getStrides(), spatial)) ||
      llvm::failed(verifyEntries(op, "pads", op.getPads(), 2 * spatial)))
    return llvm::failure();
  if constexpr (requires { op.getDilations(); })
    if (llvm::failed(verifyEntries(op, "dilations", op.getDilations(), spatial)))
      return llvm::failure();
  if constexpr (requires { op.getAutoPad(); })
    return verifyAutoPad(op, op.getAutoPad());
  return llvm::success();
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
