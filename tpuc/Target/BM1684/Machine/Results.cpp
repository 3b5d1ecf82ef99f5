//===- Results.cpp - From sums to stored integers -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Results.h"

#include <limits>

namespace tpuc::bm1684 {

void IntFinish::apply(int64_t count, const int32_t *sums, int32_t added, int32_t *out) const {
  // Sums that 32 bits hold after each step are the rule; loops of 32 bits become vectors.
  uint32_t magnitudes = static_cast<uint32_t>(added ^ (added >> 31));
  for (int64_t i = 0; i < count; ++i)
    magnitudes |= static_cast<uint32_t>(sums[i] ^ (sums[i] >> 31));
  if (magnitudes >= 1u << 29 || shift > 31) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = (*this)(int64_t{sums[i]} + added);
    return;
  }
  const int32_t floor = hasRelu ? 0 : std::numeric_limits<int32_t>::min();
  const auto lower = static_cast<int32_t>(least), upper = static_cast<int32_t>(most);
  if (shift == 0) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = std::clamp(std::max(sums[i] + added, floor), lower, upper);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = std::clamp(((std::max(sums[i] + added, floor) >> (shift - 1)) + 1) >> 1, lower, upper);
}

IntFinish intFinishOf(const Decoded &decoded, bool isSigned) {
  IntFinish finish;
  finish.hasRelu = decoded.flag(Field::Relu);
  finish.shift = static_cast<int>(decoded.get(Field::RightShift));
  const int bits = decoded.result().prec == Prec::I8 ? 8 : 16;
  finish.least = isSigned ? -(int64_t{1} << (bits - 1)) : 0;
  finish.most = (int64_t{1} << (isSigned ? bits - 1 : bits)) - 1;
  return finish;
}

IntFinish intFinishOf(const Decoded &decoded) {
  const bool hasBias = decoded.tensors.find(Role::Opd2) != nullptr;
  const bool isSigned = decoded.flag(Field::Opd0Sign) || decoded.flag(Field::Opd1Sign) ||
                        (hasBias && decoded.flag(Field::Opd2Sign));
  return intFinishOf(decoded, isSigned && !decoded.flag(Field::Relu));
}

} // namespace tpuc::bm1684
