//===- ConvolutionDnnl.h - f32 convolutions by oneDNN -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_CONVOLUTIONDNNL_H
#define TPUC_INTERPRETER_KERNELS_CONVOLUTIONDNNL_H

#include "tpuc/Interpreter/Kernels/Convolution.h"

namespace tpuc::kernels {

/// As convolve and deconvolve, for non-empty f32 tensors. False if oneDNN has no primitive for it;
/// the output is then undefined.
bool convolveDnnl(bool transposed, const Tensor &input, const Tensor &filter, const Tensor *bias,
                  const ConvParams &params, Tensor &output, ThreadPool &threads,
                  KernelCache *cache);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_CONVOLUTIONDNNL_H
