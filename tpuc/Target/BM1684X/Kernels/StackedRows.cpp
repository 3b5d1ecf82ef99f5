//===- StackedRows.cpp - Rows under windows as channels ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/StackedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kChannels = 1, kRows = 2;

/// One row of each window, in the lanes of the input.
LocalTensor rowsInPlace(const StackedRows &rows, ScratchAllocator &space) {
  Extents shape = rows.output.shape;
  shape[kChannels] = rows.input.shape[kChannels];
  return space.take(rows.output.type, shape, rows.input.startLane);
}

Expected<uint32_t> checkedScratch(const std::string &where, const StackedRows &rows) {
  const Extents &from = rows.input.shape;
  const Extents &to = rows.output.shape;
  const bool fits = rows.input.type == rows.output.type && from[0] == to[0] && from[3] == to[3] &&
                    to[kChannels] == rows.kernel * from[kChannels];
  if (!fits || rows.output.startLane + to[kChannels] > kLanes ||
      rows.input.startLane + from[kChannels] > kLanes)
    return makeError(where,
                     fmt::format("{} rows of [{}] from lane {} to [{}] from lane {}", rows.kernel,
                                 fmt::join(from, ","), rows.input.startLane, fmt::join(to, ","),
                                 rows.output.startLane),
                     fmt::format("as many times the channels, within {} lanes", kLanes));
  if (Expected<void> checked = checkLayout(where, "output", rows.output, Layout::Aligned); !checked)
    return propagate(checked);
  ScratchAllocator space;
  rowsInPlace(rows, space);
  return space.next;
}

/// Row `place` of every window to `to`, in the lanes of the input.
Expected<void> copyRows(Builder &builder, const StackedRows &rows, int64_t place,
                        const LocalTensor &to) {
  const int64_t before = rows.padBegin - place;
  const int64_t count = to.shape[kRows];
  const int64_t first =
      std::clamp<int64_t>(before > 0 ? ceilDiv(before, rows.stride) : 0, 0, count);
  const int64_t reach = rows.input.shape[kRows] - 1 + before;
  const int64_t end = std::clamp<int64_t>(reach < 0 ? 0 : reach / rows.stride + 1, first, count);
  for (const auto &[begin, size] : {std::pair{int64_t{0}, first}, std::pair{end, count - end}})
    if (size > 0)
      if (Expected<void> filled =
              emitLocalFill(builder, to.slice(kRows, begin, size), rows.outside);
          !filled)
        return filled;
  if (first == end)
    return {};
  LocalTensor from =
      rows.input.slice(kRows, first * rows.stride - before, (end - first - 1) * rows.stride + 1);
  from.explicitStride = from.strides();
  from.explicitStride[kRows] *= rows.stride;
  from.shape[kRows] = end - first;
  from.layout = Layout::Explicit;
  return emitLocalCopy(builder, from, to.slice(kRows, first, end - first));
}

} // namespace

Expected<uint32_t> stackedRowsScratch(const StackedRows &rows) {
  return checkedScratch("stacked rows", rows);
}

Expected<void> emitStackedRows(Builder &builder, const StackedRows &rows) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), rows);
  if (Expected<void> fits = checkScratch(builder.layer(), rows.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{rows.scratch.address};
  const LocalTensor apart = rowsInPlace(rows, space);
  const int64_t channels = rows.input.shape[kChannels];
  for (int64_t place = 0; place < rows.kernel; ++place) {
    const LocalTensor to = rows.output.slice(kChannels, place * channels, channels);
    const bool isInPlace = to.startLane == rows.input.startLane;
    if (Expected<void> copied = copyRows(builder, rows, place, isInPlace ? to : apart); !copied)
      return copied;
    if (!isInPlace)
      addLaneCopy(builder, to, apart);
  }
  return {};
}

} // namespace tpuc::bm1684x
