//===- RowCompaction.cpp - Chosen elements of each channel (SG) -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SG 8 and 15 move the elements that a mask chooses to the front of their channel, 9 and 16 put the
// places of the elements that are not zero there. Both count them; what is behind stays as it was.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <cstring>

namespace tpuc::bm1684x {

namespace {

struct RowCompactionPlan {
  View result, counts;
  Source data;
  std::optional<Source> mask; ///< Without one the data chooses, and its places are stored.
};

uint32_t elementBits(const uint8_t *row, int64_t i, unsigned bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, row + i * bytes, bytes);
  return bits;
}

Step rowCompactionStep(const RowCompactionPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot snapshots[2];
    const Source &chooser = plan.mask ? *plan.mask : plan.data;
    // Both results are written while the operands are read.
    const auto take = [&](size_t i, const Source &source) {
      return snapshots[i].take(
          exec, source, mustCopyAlways(plan.result, source) || mustCopyAlways(plan.counts, source));
    };
    const Located data = take(0, plan.data);
    const Located mask = plan.mask ? take(1, *plan.mask) : data;
    const Located result = locateLocal(exec, plan.result);
    const Located counts = locateLocal(exec, plan.counts);
    const unsigned bytes = plan.result.bytes();
    const Extents &shape = chooser.view->shape;
    overIndices(exec, shape[1], shape[0] * shape[3], [&](int64_t begin, int64_t end) {
      for (int64_t n = 0; n < shape[0]; ++n)
        for (int64_t c = begin; c < end; ++c) {
          const uint8_t *from = data.channel(plan.mask ? 0 : n, c);
          const uint8_t *choice = mask.channel(n, c);
          uint8_t *to = result.channel(n, c);
          uint16_t count = 0;
          for (int64_t w = 0; w < shape[3]; ++w) {
            if (elementBits(choice, w, precBytes(chooser.prec)) == 0)
              continue;
            const uint32_t chosen =
                plan.mask ? elementBits(from, w, bytes) : static_cast<uint32_t>(w);
            std::memcpy(to + count * bytes, &chosen, bytes);
            ++count;
          }
          std::memcpy(counts.channel(n, c), &count, sizeof count);
        }
    });
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareRowCompaction(const Decoded &decoded) {
  const bool isSelect = decoded.sub() == 8 || decoded.sub() == 15;
  const Prec prec = decoded.prec(Field::Opd0Prec);
  const View &result = decoded.result();
  RowCompactionPlan plan{result, *decoded.operands.find(Role::Res1),
                         sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, false), std::nullopt};
  if (isSelect)
    plan.mask =
        sourceOf(decoded, Role::Opd1, Field::Opd1Addr, decoded.prec(Field::Opd1Prec), false);
  if (isSelect && isFloatPrec(plan.mask->prec))
    return decoded.unsupported("a mask of floats");
  if (isSelect && result.prec != prec)
    return decoded.unsupported("data and result of different types");
  if (!isSelect && (isFloatPrec(prec) || (result.prec != Prec::I16 && result.prec != Prec::I32)))
    return decoded.unsupported("other types than integers to i16 or i32");
  const int64_t width = plan.data.view->shape[3];
  if (decoded.get(Field::Res0H) != 1 || result.shape[3] != width ||
      (isSelect && plan.mask->view->shape[3] != width))
    return decoded.unsupported("rows of different lengths");
  return rowCompactionStep(plan);
}

} // namespace tpuc::bm1684x
