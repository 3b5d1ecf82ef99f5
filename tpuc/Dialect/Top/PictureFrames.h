//===- PictureFrames.h - Pictures in frame buffers ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_PICTUREFRAMES_H
#define TPUC_DIALECT_TOP_PICTUREFRAMES_H

#include "tpuc/Support/PictureFormat.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace tpuc::top {

/// The attribute of `top.Input` and `top.Preprocess` whose pictures have gaps: height, width, and
/// what rows and planes begin at multiples of, in bytes.
inline constexpr llvm::StringLiteral kFrame = "frame";
/// The attribute of a `top.Preprocess` that gives another tensor than the input of the plain
/// network: the name of that input, by which quantize tables know it.
inline constexpr llvm::StringLiteral kPlainName = "plain_name";

/// What the attribute of `op` says; nothing without it, and where it has not four numbers from 1
/// to 2^24.
std::optional<PictureFrame> frameOf(mlir::Operation *op);
mlir::ArrayAttr frameAttr(mlir::MLIRContext *context, const PictureFrame &frame);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_PICTUREFRAMES_H
