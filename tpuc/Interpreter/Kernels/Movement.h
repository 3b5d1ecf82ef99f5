//===- Movement.h - Moving elements ----------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_MOVEMENT_H
#define TPUC_INTERPRETER_KERNELS_MOVEMENT_H

#include "tpuc/Support/SliceRange.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <string_view>

// Outputs have the element type of the input and the shape that the kernel makes; every element
// type is allowed. Values are copied bit by bit.

namespace tpuc::kernels {

/// Where the elements of one dimension come from: for each index of the output that of the input,
/// or kFill for a new element.
using AxisSource = std::vector<int64_t>;
inline constexpr int64_t kFill = -1;

enum class PadMode : uint8_t { Constant, Reflect, Edge, Wrap };

AxisSource sliceSource(const SliceRange &range);
/// `extent` elements again and again, `times` times.
AxisSource tileSource(int64_t extent, int64_t times);
/// `before` elements in front of `extent` ones and `after` behind; negative ones are taken away.
/// The padded extent must not be negative; modes other than Constant need an element.
AxisSource padSource(int64_t extent, int64_t before, int64_t after, PadMode mode);

/// `output[i, j, ...] = input[source[0][i], source[1][j], ...]`, or the one element of `fill` where
/// a source is kFill. `fill` has the type of the input and is used only there; null: zeros.
void remap(const Tensor &input, std::span<const AxisSource> source, const Tensor *fill,
           Tensor &output, ThreadPool &threads);

/// Dimension i of the output is dimension `order[i]` of the input.
void permute(const Tensor &input, std::span<const int64_t> order, Tensor &output,
             ThreadPool &threads);

/// Joins `inputs`, which differ in the extent of `axis` alone.
void concat(std::span<const Tensor> inputs, size_t axis, Tensor &output, ThreadPool &threads);

struct BlockParams {
  int64_t blockH = 1;
  int64_t blockW = 1;
  /// The channel is the outermost of the parts of the deep dimension, not the innermost.
  bool crd = false;
};
/// Input [n, c * blockH * blockW, h, w], output [n, c, h * blockH, w * blockW].
void depthToSpace(const Tensor &input, const BlockParams &params, Tensor &output,
                  ThreadPool &threads);
/// The inverse of depthToSpace.
void spaceToDepth(const Tensor &input, const BlockParams &params, Tensor &output,
                  ThreadPool &threads);

/// Reverses the first `lengths[b]` slices along `timeAxis` for each index b of `batchAxis`.
/// Lengths are 0 to the extent of `timeAxis`.
void reverseSequence(const Tensor &input, std::span<const int64_t> lengths, size_t batchAxis,
                     size_t timeAxis, Tensor &output, ThreadPool &threads);

/// Keeps elements j >= i + diagonal (`upper`) or j <= i + diagonal of each matrix [.., i, j].
void trilu(const Tensor &input, int64_t diagonal, bool upper, Tensor &output, ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_MOVEMENT_H
