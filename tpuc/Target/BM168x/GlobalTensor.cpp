//===- GlobalTensor.cpp - Tensors in global memory-------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/GlobalTensor.h"

namespace tpuc::bm168x {

GlobalTensor GlobalTensor::slice(unsigned axis, int64_t first, int64_t count) const {
  GlobalTensor part = *this;
  part.shape[axis] = count;
  part.address += static_cast<uint64_t>(byteSize(type, first * stride[axis]));
  return part;
}

GlobalTensor GlobalTensor::permuted(const std::array<unsigned, 4> &axes) const {
  GlobalTensor result = *this;
  for (size_t i = 0; i < 4; ++i) {
    result.shape[i] = shape[axes[i]];
    result.stride[i] = stride[axes[i]];
  }
  return result;
}

GlobalTensor globalTensor(DataType type, const Extents &shape, uint64_t address) {
  return {type, address, shape, {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1}};
}

} // namespace tpuc::bm168x
