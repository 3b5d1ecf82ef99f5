//===- LowerPreprocess.h - Pictures of bytes as inputs, on a chip --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_LOWERPREPROCESS_H
#define TPUC_CONVERSION_TOPTOTPU_LOWERPREPROCESS_H

#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"

namespace tpuc {

/// Whether an input holds pictures of bytes, which stay as they are given.
bool isPictureInput(top::InputOp input);

/// Whether the elements of `value` are stated to be bytes that stand for themselves.
bool holdsPictureBytes(mlir::Value value);

/// Whether every byte of a picture is the integer that `type`, of 8 bits, stores its number as.
bool keepsBytes(top::PreprocessOp op, quant::UniformQuantizedType type);

/// Lowers a preprocessing to ops that chips have: on bytes a Permute of packed pixels, a Slice of
/// what is cropped, and of YUV the parts of the picture side by side; then on floats a Cast and a
/// 1x1 convolution that scales, or also orders the channels, and on integers the channels in their
/// order and a ScaleLut. Errors: as Lowering::run.
Expected<void> lowerPreprocess(top::PreprocessOp op, Lowering &lowering);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_LOWERPREPROCESS_H
