//===- CopyRow.h - Rows of elements with strides -------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_COPYROW_H
#define TPUC_TARGET_BM168X_COPYROW_H

#include <cstdint>
#include <cstring>

namespace tpuc::bm168x {

/// Copies `count` elements between rows; strides count elements.
template <typename T>
void copyRow(uint8_t *to, int64_t toStride, const uint8_t *from, int64_t fromStride,
             int64_t count) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * fromStride * kSize, sizeof(T));
    std::memcpy(to + i * toStride * kSize, &value, sizeof(T));
  }
}

/// The same for elements of 1, 2 or 4 bytes.
inline void copyRow(unsigned bytes, uint8_t *to, int64_t toStride, const uint8_t *from,
                    int64_t fromStride, int64_t count) {
  if (toStride == 1 && fromStride == 1)
    std::memcpy(to, from, static_cast<size_t>(count) * bytes);
  else if (bytes == 1)
    copyRow<uint8_t>(to, toStride, from, fromStride, count);
  else if (bytes == 2)
    copyRow<uint16_t>(to, toStride, from, fromStride, count);
  else
    copyRow<uint32_t>(to, toStride, from, fromStride, count);
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_COPYROW_H
