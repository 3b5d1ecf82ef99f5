//===- LowerPictureResize.h - Pictures of bytes in other extents -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_LOWERPICTURERESIZE_H
#define TPUC_CONVERSION_TOPTOTPU_LOWERPICTURERESIZE_H

#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Dialect/Top/ResizeOps.h"

namespace tpuc {

/// Whether `op` scales the planes of a picture, bytes that stand for themselves, linearly into
/// others, and `target` has floats that hold bytes and 11 bits of a weight.
bool isPictureResize(top::InterpOp op, const TargetInfo &target);

/// Lowers it to products of rows and of columns with constants, in F16, and a Cast to bytes. Rows
/// are channels there, so that all lanes work, whereas a picture fills three; bytes become F16
/// there. A product gives some rows of what they need. Weights have 11 bits behind the point, as
/// OpenCV's. What the second product reads is rounded to 1/8, so that bytes differ from those of
/// exact sums by one at most. Errors: as Lowering::run.
Expected<void> lowerPictureResize(top::InterpOp op, Lowering &lowering);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_LOWERPICTURERESIZE_H
