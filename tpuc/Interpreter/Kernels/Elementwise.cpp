//===- Elementwise.cpp - Loops over the elements of broadcast tensors ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Elementwise.h"

namespace tpuc::kernels {

std::optional<Shape> broadcastShape(std::span<const Shape> shapes) {
  size_t rank = 0;
  for (const Shape &shape : shapes)
    rank = std::max(rank, shape.rank());
  std::array<int64_t, Shape::kMaxRank> result;
  result.fill(1);
  for (const Shape &shape : shapes)
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      int64_t &extent = result[rank - shape.rank() + axis];
      if (shape[axis] == extent || shape[axis] == 1)
        continue;
      if (extent != 1)
        return std::nullopt;
      extent = shape[axis];
    }
  return Shape(std::span<const int64_t>(result.data(), rank));
}

BroadcastView::BroadcastView(const Shape &operand, const Shape &output) {
  const size_t shift = output.rank() - operand.rank();
  int64_t operandStride = 1;
  // Innermost first, turned around at the end.
  for (size_t axis = output.rank(); axis-- > 0;) {
    const int64_t extent = output[axis];
    const int64_t own = axis >= shift ? operand[axis - shift] : 1;
    if (extent == 1)
      continue;
    const int64_t stride = own == 1 ? 0 : operandStride;
    operandStride *= own;
    if (rank > 0 && stride == strides[rank - 1] * extents[rank - 1]) {
      extents[rank - 1] *= extent;
      continue;
    }
    extents[rank] = extent;
    strides[rank] = stride;
    ++rank;
  }
  std::reverse(extents.begin(), extents.begin() + static_cast<ptrdiff_t>(rank));
  std::reverse(strides.begin(), strides.begin() + static_cast<ptrdiff_t>(rank));
}

} // namespace tpuc::kernels
