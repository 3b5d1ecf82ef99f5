//===- IntegerQuantize.h - Between floats and quantized tensors ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERQUANTIZE_H
#define TPUC_INTERPRETER_KERNELS_INTEGERQUANTIZE_H

#include "tpuc/Support/Quantize.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// output = saturate(round(input / scale) + zeroPoint), as `tpuc::quantize` computes it: one
/// division in f64. The input is f32, f16 or bf16, the output i8, u8, i16, u16 or i32 of the same
/// shape; `range` lies within the output's type.
void quantizeTensor(const Tensor &input, const QuantParams &params, IntegerRange range,
                    RoundingMode rounding, Tensor &output, ThreadPool &threads);

/// output = scale * (input - zeroPoint): the product in f64 rounded to f32, then once more to f16
/// or bf16 (nearest even) if that is the output's type.
void dequantizeTensor(const Tensor &input, const QuantParams &params, Tensor &output,
                      ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERQUANTIZE_H
