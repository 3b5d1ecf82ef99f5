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
    return {};
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
  const int64_t most = attention.heads == 1 ? attention.query.shape[0] : attention.heads;
  return std::clamp<int64_t>(kMostScores / one, 1, most);
}

LocalTensor headsOfRows(const LocalTensor &rows, int64_t heads, int64_t first, int64_t count) {
  if (heads == 1)
    return rows.slice(0, first, count);
  const int64_t width = rows.shape[3] / heads;
  LocalTensor view = rows.slice(3, first * width, width);
  view.explicitStride = view.strides();
  view.layout = Layout::Explicit;
  view.shape[0] = count;
  view.explicitStride[0] = width;
  return view;
}

AttentionOperands sampleOf(const AttentionOperands &attention, int64_t index) {
  AttentionOperands one = attention;
  for (LocalTensor *tensor : {&one.query, &one.key, &one.value, &one.output})
    *tensor = tensor->slice(0, index, 1);
  return one;
}

} // namespace tpuc::bm1684x
