//===- BlockedGeometry.h - Extents of tensors in the blocked layout -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_BLOCKEDGEOMETRY_H
#define TPUC_INTERPRETER_KERNELS_BLOCKEDGEOMETRY_H

#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/Simd.h"

namespace tpuc::kernels {

/// The extents of a plain shape with 1 or 2 spatial dimensions.
struct BlockedDims {
  int64_t batch, channels, blocks, height, width, pixels;

  explicit BlockedDims(const Shape &shape)
      : batch(shape[0]), channels(shape[1]), blocks(blocksOf(shape[1])),
        height(shape.rank() == 4 ? shape[2] : 1), width(shape[shape.rank() - 1]),
        pixels(height * width) {}

  /// The first element of a block of channels of a sample.
  int64_t at(int64_t sample, int64_t block) const {
    return (sample * blocks + block) * pixels * kBlock;
  }
  int64_t elements() const { return batch * blocks * pixels * kBlock; }
};

/// A window over 1 or 2 spatial dimensions as one over 2.
struct PlaneWindow {
  std::array<int64_t, 2> kernel, strides, dilations, pads;

  /// Row `y` of a plane of `out` from `plane` of `in`, to `output`. Fills `rows`, one for each row
  /// of the kernel, which the result refers to; weights and limits are the caller's.
  WindowRowArgs row(const BlockedDims &in, const BlockedDims &out, const float *plane, int64_t y,
                    std::span<const float *> rows, float *output) const {
    for (int64_t k = 0; k < kernel[0]; ++k) {
      const int64_t at = y * strides[0] + k * dilations[0] - pads[0];
      rows[static_cast<size_t>(k)] =
          at >= 0 && at < in.height ? plane + at * in.width * kBlock : nullptr;
    }
    return {.rows = rows.data(),
            .kernelHeight = kernel[0],
            .kernelWidth = kernel[1],
            .inputWidth = in.width,
            .outputWidth = out.width,
            .stride = strides[1],
            .dilation = dilations[1],
            .pad = pads[1],
            .weights = nullptr,
            .bias = nullptr,
            .output = output,
            .clamp = false,
            .low = 0,
            .high = 0};
  }

  explicit PlaneWindow(const WindowParams &window)
      : kernel(two(window.kernel, 1)), strides(two(window.strides, 1)),
        dilations(two(window.dilations, 1)), pads(two(window.padsBegin, 0)) {}

private:
  static std::array<int64_t, 2> two(const std::vector<int64_t> &values, int64_t fill) {
    if (values.size() == 1)
      return {fill, values[0]};
    return {values[0], values[1]};
  }
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_BLOCKEDGEOMETRY_H
