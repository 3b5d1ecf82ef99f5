//===- IntegerMatrix.cpp - Products of 8-bit matrices ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "tpuc/Interpreter/Kernels/QuantizeLinear.h"

#include <cstring>

using namespace tpuc;
using namespace tpuc::kernels;

void kernels::integerMatMul(const Tensor &left, const Tensor &right, const Tensor *bias,
                            const IntegerMatMulParams &params, Tensor &output, ThreadPool &threads,
                            KernelCache *) {
  const auto wide = [&](const Tensor &tensor, int32_t zero) {
    Tensor zeroTensor = Tensor::of<int32_t>({1}, {zero});
    return subtractZeroPoint(tensor, &zeroTensor, threads);
  };
  Tensor sums(DataType::I32, output.shape());
  matMul(wide(left, params.leftZero), wide(right, params.rightZero), bias,
         {params.transposeLeft, params.transposeRight}, sums, threads, nullptr);
  if (params.requant)
    return integerRequantize(sums, 0, static_cast<int64_t>(output.shape().rank()) - 1,
                             *params.requant, output, threads);
  std::memcpy(output.mutableBytes().data(), sums.rawBytes().data(), sums.rawBytes().size());
}
