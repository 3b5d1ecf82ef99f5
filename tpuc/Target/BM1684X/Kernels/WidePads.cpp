//===- WidePads.cpp - Convolutions with wide pads -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/WidePads.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>

namespace tpuc::bm1684x {

/// How many rows (axis 0) or columns the windows of `output` cover.
static int64_t covered(const Window2d &window, const Extents &output, size_t axis) {
  return (output[axis + 2] - 1) * window.stride[axis] +
         (window.kernel[axis] - 1) * window.dilation[axis] + 1;
}

bool hasWidePads(const Window2d &window, const Extents &output) {
  for (size_t axis = 0; axis < 2; ++axis)
    if (window.padBegin[axis] > kMostPad || window.padEnd[axis] > kMostPad ||
        window.padBegin[axis] >= covered(window, output, axis))
      return true;
  return false;
}

LocalTensor paddedPlace(const LocalTensor &image, const Window2d &window, const Extents &output,
                        const Scratch &scratch) {
  Extents shape = image.shape;
  for (size_t axis = 0; axis < 2; ++axis) {
    shape[axis + 2] += window.padBegin[axis] + window.padEnd[axis];
    shape[axis + 2] = std::min(shape[axis + 2], covered(window, output, axis));
  }
  return localTensor(image.type, shape, scratch.address, Layout::Aligned, image.startLane);
}

void addPadded(Builder &builder, const LocalTensor &padded, const LocalTensor &image,
               const Window2d &window, double outside) {
  LocalTensor middle = padded;
  LocalTensor seen = image;
  for (unsigned axis = 0; axis < 2; ++axis) {
    const unsigned dim = axis + 2;
    const int64_t all = middle.shape[dim];
    const int64_t begin = std::min(window.padBegin[axis], all);
    const int64_t count = std::min(image.shape[dim], all - begin);
    for (auto [first, size] : {std::pair{int64_t{0}, begin}, {begin + count, all - begin - count}})
      if (size > 0)
        addUnaryArith(builder, ArithOp::Copy, middle.slice(dim, first, size),
                      immediate(image.type, outside));
    if (count == 0)
      return;
    middle = middle.slice(dim, begin, count);
    seen = seen.slice(dim, 0, count);
  }
  addUnaryArith(builder, ArithOp::Copy, middle, seen);
}

} // namespace tpuc::bm1684x
