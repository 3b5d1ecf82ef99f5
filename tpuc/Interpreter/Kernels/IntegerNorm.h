//===- IntegerNorm.h - Norms, softmaxes and attention on integers -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are exact, and what follows is a short sequence of f32 operations (Support/BitExactMath.h),
// so that devices have the same bits. Stored integers are i8 or u8.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERNORM_H
#define TPUC_INTERPRETER_KERNELS_INTEGERNORM_H

#include "tpuc/Support/Quantize.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

namespace tpuc::kernels {

/// weight * (x - mean) / sqrt(variance + epsilon) + bias over the axes from `axis` on, of at most
/// steps::kLongestNorm elements; x is scale * (input - a zero point), which does not matter. Weight
/// and bias, f32 of as many elements or null. The output is f32.
void integerLayerNorm(const Tensor &input, double scale, const Tensor *weight, const Tensor *bias,
                      size_t axis, double epsilon, Tensor &output, ThreadPool &threads);

/// The softmax of beta * x over the last axis, of at most steps::kLongestSoftmax elements, stored
/// as `params` says. The input is f32, the output i8 or u8.
void integerSoftmax(const Tensor &input, double beta, const QuantParams &params, Tensor &output,
                    ThreadPool &threads);

/// How the operands and the result of attention are stored, and its heads.
struct IntegerAttentionParams {
  QuantParams query, key, value, output;
  /// 0: the operands have a dimension for the heads.
  int64_t queryHeads = 0, keyHeads = 0;
  double scale = 1;
};
/// Attention without masks over at most steps::kLongestSoftmax keys, all four tensors i8 or u8.
void integerAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                      const IntegerAttentionParams &params, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERNORM_H
