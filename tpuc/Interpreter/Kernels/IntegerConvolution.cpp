//===- IntegerConvolution.cpp - Convolutions of 8-bit tensors -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/QuantizeLinear.h"
#include "tpuc/Support/Convert.h"

#include <cstring>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

Tensor wide(const Tensor &tensor, int32_t zero, ThreadPool &threads) {
  Tensor zeroTensor = Tensor::of<int32_t>({1}, {zero});
  return subtractZeroPoint(tensor, &zeroTensor, threads);
}

void finish(const Tensor &sums, const std::optional<RequantParams> &requant, Tensor &output,
            ThreadPool &threads) {
  if (requant)
    return integerRequantize(sums, 0, 1, *requant, output, threads);
  std::memcpy(output.mutableBytes().data(), sums.rawBytes().data(), sums.rawBytes().size());
}

} // namespace

void kernels::integerConvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                              const IntegerConvParams &params, Tensor &output, ThreadPool &threads,
                              KernelCache *) {
  Tensor offsets(DataType::I32, Shape{output.shape()[1]});
  const Tensor taps = wide(filter, 0, threads);
  for (int64_t i = 0; i < taps.numElements(); ++i)
    offsets.mutableData<int32_t>()[i / (taps.numElements() / output.shape()[1])] +=
        params.inputZero * taps.data<int32_t>()[i];
  for (int64_t i = 0; bias && i < output.shape()[1]; ++i)
    offsets.mutableData<int32_t>()[i] += bias->data<int32_t>()[i];
  Tensor sums(DataType::I32, output.shape());
  convolve(wide(input, params.inputZero, threads), taps, &offsets, {params.window, params.group},
           sums, threads, nullptr);
  finish(sums, params.requant, output, threads);
}

void kernels::integerDeconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                                const IntegerConvParams &params, Tensor &output,
                                ThreadPool &threads, KernelCache *) {
  Tensor sums(DataType::I32, output.shape());
  deconvolve(wide(input, params.inputZero, threads), wide(filter, 0, threads), bias,
             {params.window, params.group}, sums, threads, nullptr);
  finish(sums, params.requant, output, threads);
}
