//===- ConvolutionFloat.h - f32 convolutions of any form --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_CONVOLUTIONFLOAT_H
#define TPUC_INTERPRETER_KERNELS_CONVOLUTIONFLOAT_H

#include "tpuc/Interpreter/Kernels/Convolution.h"

namespace tpuc::kernels {

/// As convolve and, `transposed`, deconvolve, for non-empty f32 tensors in plain layouts. The order
/// of each sum depends on the shapes alone: not on the processor, nor on the number of threads.
void convolveFloats(bool transposed, const Tensor &input, const Tensor &filter, const Tensor *bias,
                    const ConvParams &params, Tensor &output, ThreadPool &threads,
                    KernelCache *cache);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_CONVOLUTIONFLOAT_H
