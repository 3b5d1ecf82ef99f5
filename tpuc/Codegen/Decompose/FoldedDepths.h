//===- FoldedDepths.h - Convolutions over volumes as over pictures -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_FOLDEDDEPTHS_H
#define TPUC_CODEGEN_DECOMPOSE_FOLDEDDEPTHS_H

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"

namespace tpuc::codegen {

/// The planes under windows over depths, as channels of pictures that follow each other:
/// [N, C, D, H, W] as [N * depths, kernel * C, H, W]. Null where the chip cannot load them so.
mlir::Value packedPlanes(OpMaker &maker, mlir::Value input, int64_t depths, int64_t kernel,
                         int64_t stride, int64_t pad);

/// A convolution over volumes as one over pictures, with some depths of the result that follow each
/// other as channels, and all planes that they need as channels of the input. So lanes have more
/// channels, and planes under several windows are loaded less often. `attributes` have the window
/// over planes; `apart` is the op that computes it otherwise, which goes away. Gives
/// [N * D' / block, block * O, H', W'], the channels of each depth together; null where the chip
/// takes longer so by estimate, and then `apart` stays.
mlir::Value convolvedBlocks(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                            const top::Window &window, mlir::NamedAttrList attributes,
                            tpu::ConvOp apart);

/// A convolution over volumes as one over pictures, all of whose depths are channels. The filter
/// has zeros where an input's depth is under no tap:
///
///   volumes  [N, C, D, H, W]    with a window of 3 x 1 x 1, padded
///   pictures [N, C * D, H, W]   filter of one channel, D = 4:  w1 w2  0  0
///                                                              w0 w1 w2  0
///                                                               0 w0 w1 w2
///                                                               0  0 w0 w1
///
/// These are the same elements in the same order, so nothing is moved. `attributes` have the window
/// over planes, and `apart` is as above. Gives [N, O, D', H', W'], or null.
mlir::Value convolvedFolds(OpMaker &maker, tpu::ConvOp op, const Tensor &filter,
                           const top::Window &window, mlir::NamedAttrList attributes,
                           tpu::ConvOp apart);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_FOLDEDDEPTHS_H
