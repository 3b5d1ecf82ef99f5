//===- Blocked.h - Kernels on blocks of 16 channels -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_BLOCKED_H
#define TPUC_INTERPRETER_KERNELS_BLOCKED_H

#include "tpuc/Interpreter/Kernels/CompiledKernel.h"
#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/Pool.h"

#include <memory>

namespace tpuc::kernels {

// The blocked layout of [N, C, spatial...] is [N, ceil(C / 16), spatial..., 16] in f32. What stands
// in the channels beyond C is undefined; no kernel lets it reach another channel. The plain shapes
// below have 1 or 2 spatial dimensions.

int64_t blocksOf(int64_t channels);
/// The shape in which a tensor of the plain shape `shape` lies.
Shape blockedShape(const Shape &shape);

/// From the plain layout into the blocked one, and back.
std::unique_ptr<CompiledKernel> makeToBlocked(const Shape &shape);
std::unique_ptr<CompiledKernel> makeFromBlocked(const Shape &shape);

/// Operand 0 with the post-ops. `blocks`: the blocked shape, or a plain one of any rank, whose
/// post-ops read no operand per channel.
std::unique_ptr<CompiledKernel> makeElementwise(const Shape &blocks, bool isBlocked);

/// Joins operands of the plain shapes `shapes` along the channels.
std::unique_ptr<CompiledKernel> makeConcat(const std::vector<Shape> &shapes);

/// Pooling of `input` to `output`; without ReLU. `padValue` must be 0 if padding counts.
std::unique_ptr<CompiledKernel> makeMaxPool(const Shape &input, const Shape &output,
                                            const WindowParams &window);
std::unique_ptr<CompiledKernel> makeAveragePool(const Shape &input, const Shape &output,
                                                const WindowParams &window, bool countPadding);
/// The mean over all spatial positions; sums in f64.
std::unique_ptr<CompiledKernel> makeGlobalAverage(const Shape &input);

/// Each pixel `scaleH` by `scaleW` times.
std::unique_ptr<CompiledKernel> makeUpsample(const Shape &input, int64_t scaleH, int64_t scaleW);

/// Whether makeConvolution knows such a convolution.
bool isBlockedConvolution(const Shape &input, const Shape &filter, const ConvParams &params);
/// Whether it reads a plain input, which has too few channels for a block.
bool takesPlainInput(const Shape &input, const Shape &filter, const ConvParams &params);
/// A convolution without `doRelu`; terms are added in the order kernel position, channel. `bias`
/// may be null.
std::unique_ptr<CompiledKernel> makeConvolution(const Shape &input, const Shape &output,
                                                const Tensor &filter, const Tensor *bias,
                                                const ConvParams &params);

/// Whether makeDeconvolution knows such a transposed convolution: one group, each output pixel
/// under a window, and enough channels for a block unless its result is plain.
bool isBlockedDeconvolution(const Shape &input, const Shape &output, const ConvParams &params);
/// Whether its result is plain: windows side by side, too few channels for a block.
bool givesPlainResult(const Shape &input, const Shape &output, const ConvParams &params);
/// A transposed convolution without `doRelu`. `bias` may be null.
std::unique_ptr<CompiledKernel> makeDeconvolution(const Shape &input, const Shape &output,
                                                  const Tensor &filter, const Tensor *bias,
                                                  const ConvParams &params);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_BLOCKED_H
