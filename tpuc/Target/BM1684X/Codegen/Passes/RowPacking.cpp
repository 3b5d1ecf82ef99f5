//===- RowPacking.cpp - Rows of pictures as channels ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Passes/RowPacking.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace tpuc::bm1684x::backend {

std::optional<RowWindows> RowWindows::packed(const RowPacking &packing) const {
  const auto [inputs, results, isStacked] = packing;
  if (inputRows % inputs != 0 || resultRows % results != 0 || stride * results % inputs != 0)
    return std::nullopt;
  RowWindows made{.inputRows = inputRows / inputs, .resultRows = resultRows / results};
  if (isStacked) {
    made.inputRows = made.resultRows;
    return made;
  }
  made.stride = stride * results / inputs;
  made.padBegin = llvm::divideCeil(padBegin, inputs);
  made.kernel = llvm::divideFloorSigned(reach(results) - 1 - padBegin, inputs) + made.padBegin + 1;
  const int64_t needed = (made.resultRows - 1) * made.stride + made.kernel - made.padBegin;
  made.padEnd = std::max<int64_t>(0, needed - made.inputRows);
  // Rows that no window needs must not make another one.
  if (made.inputRows - needed >= made.stride)
    return std::nullopt;
  return made;
}

Tensor RowWindows::packedFilter(const Tensor &filter, const RowPacking &packing) const {
  const auto [inputs, results, isStacked] = packing;
  const Shape &from = filter.shape();
  const RowWindows windows = *packed(packing);
  const int64_t channels = (isStacked ? reach(results) : inputs) * from[1];
  Tensor made(filter.type(), {results * from[0], channels, windows.kernel, from[3]});
  const std::span<std::byte> bytes = made.mutableBytes();
  std::memset(bytes.data(), 0, bytes.size());
  const auto rowBytes = static_cast<size_t>(byteSize(filter.type(), from[3]));
  for (int64_t result = 0; result < results; ++result)
    for (int64_t h = 0; h < from[2]; ++h) {
      // The row that is read, counted from the first one under the window, and from the picture's.
      const int64_t place = result * stride + h;
      const int64_t row = place - padBegin;
      const int64_t tap = isStacked ? 0 : llvm::divideFloorSigned(row, inputs) + windows.padBegin;
      const int64_t block = isStacked ? place : row - llvm::divideFloorSigned(row, inputs) * inputs;
      for (int64_t o = 0; o < from[0]; ++o)
        for (int64_t c = 0; c < from[1]; ++c) {
          const int64_t source = ((o * from[1] + c) * from[2] + h) * from[3];
          const int64_t channel = block * from[1] + c;
          const int64_t target =
              (((result * from[0] + o) * channels + channel) * windows.kernel + tap) * from[3];
          std::memcpy(bytes.data() + byteSize(filter.type(), target),
                      filter.rawBytes().data() + byteSize(filter.type(), source), rowBytes);
        }
    }
  return made;
}

} // namespace tpuc::bm1684x::backend
