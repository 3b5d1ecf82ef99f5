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

bool hasWidePads(const Window2d &window) {
  const auto isWide = [](int64_t pad) { return pad > kMostPad; };
  return std::ranges::any_of(window.padBegin, isWide) || std::ranges::any_of(window.padEnd, isWide);
}

LocalTensor paddedPlace(const LocalTensor &image, const Window2d &window, const Scratch &scratch) {
  Extents shape = image.shape;
  for (size_t axis = 0; axis < 2; ++axis)
    shape[axis + 2] += window.padBegin[axis] + window.padEnd[axis];
  return localTensor(image.type, shape, scratch.address, Layout::Aligned, image.startLane);
}

void addPadded(Builder &builder, const LocalTensor &padded, const LocalTensor &image,
               const Window2d &window, double outside) {
  LocalTensor middle = padded;
  for (unsigned axis = 0; axis < 2; ++axis) {
    const unsigned dim = axis + 2;
    const int64_t begin = window.padBegin[axis];
    const int64_t end = window.padEnd[axis];
    for (auto [first, count] : {std::pair{int64_t{0}, begin}, {middle.shape[dim] - end, end}})
      if (count > 0)
        addUnaryArith(builder, ArithOp::Copy, middle.slice(dim, first, count),
                      immediate(image.type, outside));
    middle = middle.slice(dim, begin, image.shape[dim]);
  }
  addUnaryArith(builder, ArithOp::Copy, middle, image);
}

} // namespace tpuc::bm1684x
