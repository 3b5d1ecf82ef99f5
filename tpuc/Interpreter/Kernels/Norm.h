//===- Norm.h - Normalization of tensors ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_NORM_H
#define TPUC_INTERPRETER_KERNELS_NORM_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <vector>

namespace tpuc::kernels {

// The output has the shape and type of the input, a float type. Elements are computed in f32 (f64
// for f64), sums over many of them in f64. Null tensors: factors 1, summands 0.

/// x * scale[c] + bias[c] over channels c, axis 1; then ReLU if asked (limit negative: none).
void scaleChannels(const Tensor &input, const Tensor &scale, const Tensor &bias, bool doRelu,
                   double reluLimit, Tensor &output, ThreadPool &threads);

/// gamma[c] * (x - mean[c]) / sqrt(variance[c] + epsilon) + beta[c].
void batchNorm(const Tensor &input, const Tensor &mean, const Tensor &variance, const Tensor *gamma,
               const Tensor *beta, double epsilon, bool doRelu, double reluLimit, Tensor &output,
               ThreadPool &threads);

/// The same with the mean and the (population) variance of each channel over the whole batch;
/// running = momentum * running + (1 - momentum) * that of the batch.
void batchNormTrain(const Tensor &input, const Tensor &mean, const Tensor &variance,
                    const Tensor *gamma, const Tensor *beta, double epsilon, double momentum,
                    Tensor &output, Tensor &meanOut, Tensor &varianceOut, ThreadPool &threads);

/// weight * (x - mean) / sqrt(variance + epsilon) + bias over the axes from `axis` on; weight and
/// bias broadcast to these. `mean` and `rstd` (1/sqrt(variance + epsilon)), f32, one element per
/// row, may be null.
void layerNorm(const Tensor &input, const Tensor *weight, const Tensor *bias, size_t axis,
               double epsilon, Tensor &output, Tensor *mean, Tensor *rstd, ThreadPool &threads);

/// gamma * x / sqrt(mean of x^2 + epsilon) over the axes from `axis` on; gamma broadcasts to these.
/// Each of `heads` equal parts of the last axis, which `axis` is then, has a mean of its own.
void rmsNorm(const Tensor &input, const Tensor *gamma, size_t axis, double epsilon, int64_t heads,
             Tensor &output, ThreadPool &threads);

/// As layerNorm over each of `groups` groups of channels of a sample; weight and bias per channel.
/// As many groups as channels: instance normalization.
void groupNorm(const Tensor &input, const Tensor *weight, const Tensor *bias, int64_t groups,
               double epsilon, Tensor &output, ThreadPool &threads);

/// As layerNorm over the channels (axis 1) of each position; weight and bias per channel.
void pixelNorm(const Tensor &input, const Tensor *weight, const Tensor *bias, double epsilon,
               Tensor &output, ThreadPool &threads);

/// x / (sum of |x|^p)^(1/p) along `axis`, p 1 or 2; 0 where all are 0.
void normalize(const Tensor &input, size_t axis, int64_t p, Tensor &output, ThreadPool &threads);

/// (x - mean) / (sqrt(variance) + epsilon) over `axes`.
void meanVarianceNorm(const Tensor &input, const std::vector<size_t> &axes, double epsilon,
                      Tensor &output, ThreadPool &threads);

/// x / (bias + alpha/size * sum of squares)^beta, the sum over the channels from c - (size-1)/2 to
/// c + size/2.
void localResponseNorm(const Tensor &input, int64_t size, double alpha, double beta, double bias,
                       Tensor &output, ThreadPool &threads);

/// The same with alpha/size^2, for the sum over the rows and columns of the same channel that are
/// (size-1)/2 before to size/2 behind the position. Input [n, c, h, w].
void localResponseNormWithin(const Tensor &input, int64_t size, double alpha, double beta,
                             double bias, Tensor &output, ThreadPool &threads);

/// exp(beta * x) / sum of exp(beta * x) along `axis`, or the logarithm of it. Without `log`, f16
/// and bf16 go through softmaxInSteps (RoundedSteps.h).
void softmax(const Tensor &input, size_t axis, double beta, bool log, Tensor &output,
             ThreadPool &threads);

/// 1 at the first maximum along `axis`, 0 elsewhere.
void hardmax(const Tensor &input, size_t axis, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_NORM_H
