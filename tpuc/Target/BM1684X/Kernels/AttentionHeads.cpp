//===- AttentionHeads.cpp - Rows that hold the heads of attention----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/AttentionHeads.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

HeadSizes headSizes(const AttentionOperands &attention) {
  return {attention.query.shape[1], attention.key.shape[1],
          attention.query.shape[3] / attention.heads,
          attention.value.shape[3] / attention.keyHeads};
}

/// Errors unless the mask lies as it should.
static Expected<void> checkMask(const std::string &where, const AttentionOperands &attention) {
  const AttentionMask &mask = *attention.mask;
  const LocalTensor &numbers = mask.numbers;
  if (Expected<void> fits = checkLayout(where, "a mask", numbers, Layout::Aligned); !fits)
    return fits;
  const HeadSizes sizes = headSizes(attention);
  const int64_t all = attention.query.shape[0] * mask.heads;
  const int64_t rows = mask.isForAllRows ? int64_t{kLanes} : sizes.rows;
  const bool fits = (mask.heads == 1 || mask.heads == attention.heads) &&
                    (numbers.shape[0] == mask.heads || numbers.shape[0] == all) &&
                    numbers.shape == Extents{numbers.shape[0], rows, 1, sizes.keys} &&
                    (numbers.type == attention.query.type || numbers.type == DataType::F32) &&
                    numbers.startLane == 0;
  if (fits)
    return {};
  return makeError(where,
                   fmt::format("a mask [{}] {} of {} heads", fmt::join(numbers.shape, ","),
                               dataTypeName(numbers.type), mask.heads),
                   fmt::format("[{} or {},{},1,{}] {} or f32 from lane 0", mask.heads, all, rows,
                               sizes.keys, dataTypeName(attention.query.type)));
}

Expected<void> checkHeads(const std::string &where, const AttentionOperands &attention) {
  for (const LocalTensor *tensor :
       {&attention.query, &attention.key, &attention.value, &attention.output}) {
    if (Expected<void> fits = checkLayout(where, "a tensor", *tensor, Layout::Aligned); !fits)
      return fits;
    if (tensor->startLane != 0)
      return makeError(where, fmt::format("a tensor from lane {}", tensor->startLane), "lane 0");
  }
  const int64_t samples = attention.query.shape[0];
  const auto [rows, keys, width, valueWidth] = headSizes(attention);
  const bool fits =
      attention.heads % attention.keyHeads == 0 &&
      attention.query.shape == Extents{samples, rows, 1, attention.heads * width} &&
      attention.key.shape == Extents{samples, keys, 1, attention.keyHeads * width} &&
      attention.value.shape == Extents{samples, keys, 1, attention.keyHeads * valueWidth} &&
      attention.output.shape == Extents{samples, rows, 1, attention.heads * valueWidth};
  if (fits)
    return attention.mask ? checkMask(where, attention) : Expected<void>();
  return makeError(where,
                   fmt::format("{} and {} heads of [{}], [{}], [{}] to [{}]", attention.heads,
                               attention.keyHeads, fmt::join(attention.query.shape, ","),
                               fmt::join(attention.key.shape, ","),
                               fmt::join(attention.value.shape, ","),
                               fmt::join(attention.output.shape, ",")),
                   "[n,Q,1,H*D], [n,K,1,G*D], [n,K,1,G*E] to [n,Q,1,H*E], G dividing H");
}

int64_t headsAtOnce(const AttentionOperands &attention) {
  constexpr uint32_t kMostScores = 16384;
  const HeadSizes sizes = headSizes(attention);
  const uint32_t one = laneBytes(DataType::F32, {1, sizes.rows, 1, sizes.keys});
  return std::clamp<int64_t>(kMostScores / one, 1, attention.query.shape[0] * attention.heads);
}

AttentionOperands samplesOf(const AttentionOperands &attention, int64_t first, int64_t count) {
  AttentionOperands some = attention;
  for (LocalTensor *tensor : {&some.query, &some.key, &some.value, &some.output})
    *tensor = tensor->slice(0, first, count);
  if (some.mask && some.mask->numbers.shape[0] == attention.query.shape[0] * some.mask->heads)
    some.mask->numbers =
        some.mask->numbers.slice(0, first * some.mask->heads, count * some.mask->heads);
  return some;
}

void forMasks(const AttentionOperands &attention, int64_t first, int64_t count,
              const std::function<void(int64_t, const LocalTensor &)> &emit) {
  const AttentionMask &mask = *attention.mask;
  const int64_t samples = attention.query.shape[0];
  const bool isForSamples = mask.numbers.shape[0] != mask.heads;
  // `number` matrices of scores, whose masks are `step` from each other.
  const auto part = [&](int64_t to, int64_t from, int64_t number, int64_t step) {
    LocalTensor view = mask.numbers.slice(0, from, 1);
    view.explicitStride = view.strides();
    view.layout = Layout::Explicit;
    view.explicitStride[0] = step * mask.numbers.strides()[0];
    view.shape[0] = number;
    if (mask.isForAllRows) {
      view.explicitStride[1] = 0;
      view.shape[1] = attention.query.shape[1];
    }
    emit(to, view);
  };
  if (mask.heads == 1 && !isForSamples)
    return part(0, 0, count * samples, 0);
  if (samples == 1)
    return part(0, mask.heads == 1 ? 0 : first, count, mask.heads == 1 ? 0 : 1);
  for (int64_t head = 0; head < count; ++head)
    part(head * samples, mask.heads == 1 ? 0 : first + head, samples,
         isForSamples ? mask.heads : 0);
}

} // namespace tpuc::bm1684x
