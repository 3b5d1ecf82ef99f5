//===- Resize.cpp - Changing the size of images----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Resize.h"
#include "tpuc/Target/BM1684X/Kernels/AxisTaps.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// Every `step`-th element of an axis, from `first` on.
LocalTensor strided(const LocalTensor &tensor, unsigned axis, int64_t first, int64_t step,
                    int64_t count) {
  LocalTensor part = tensor.slice(axis, first, 1);
  part.explicitStride = tensor.strides();
  part.explicitStride[axis] *= step;
  part.layout = Layout::Explicit;
  part.shape[axis] = count;
  return part;
}

std::string describe(const LocalTensor &input, const LocalTensor &output) {
  return fmt::format("[{}] {} to [{}] {}", fmt::join(input.shape, ","), dataTypeName(input.type),
                     fmt::join(output.shape, ","), dataTypeName(output.type));
}

bool matches(const LocalTensor &input, const LocalTensor &output) {
  return input.type == output.type && input.shape[0] == output.shape[0] &&
         input.shape[1] == output.shape[1] && input.startLane == output.startLane;
}

Expected<void> checkUpsample(const std::string &where, const UpsampleNearest &upsample) {
  const Extents &in = upsample.input.shape;
  const Extents &out = upsample.output.shape;
  bool fits = precOf(upsample.input.type) && matches(upsample.input, upsample.output);
  for (size_t axis = 2; axis < 4; ++axis)
    fits = fits && in[axis] >= 1 && out[axis] >= in[axis] && out[axis] % in[axis] == 0;
  if (!fits)
    return makeError(where, describe(upsample.input, upsample.output),
                     "equal types, n, c and lanes, and whole factors of h and w");
  return {};
}

} // namespace

Expected<void> checkUpsampleNearest(const UpsampleNearest &upsample) {
  return checkUpsample("upsampling", upsample);
}

Expected<void> emitUpsampleNearest(Builder &builder, const UpsampleNearest &upsample) {
  if (Expected<void> fits = checkUpsample(builder.layer(), upsample); !fits)
    return fits;
  const Extents &in = upsample.input.shape;
  const Extents &out = upsample.output.shape;
  const int64_t scaleH = out[2] / in[2];
  const int64_t scaleW = out[3] / in[3];
  auto rows = [&](int64_t first) { return strided(upsample.output, 2, first, scaleH, in[2]); };
  // The columns of the first of each group of rows, then the rows below from it.
  for (int64_t x = 0; x < scaleW; ++x)
    addUnaryArith(builder, ArithOp::Copy, strided(rows(0), 3, x, scaleW, in[3]), upsample.input);
  for (int64_t y = 1; y < scaleH; ++y)
    addUnaryArith(builder, ArithOp::Copy, rows(y), rows(0));
  return {};
}

namespace {

bool isIdentity(const std::vector<ResizeTap> &taps, int64_t extent) {
  for (size_t i = 0; i < taps.size(); ++i)
    if (taps[i].first != static_cast<int64_t>(i) || taps[i].secondWeight != 0)
      return false;
  return static_cast<int64_t>(taps.size()) == extent;
}

struct ResizePlan {
  explicit ResizePlan(DataType sums) : weights(sums) {}

  std::vector<TapBlock> columnBlocks, rowBlocks;
  TapWeights weights;
  LocalTensor columns;
  uint32_t products = 0;
  LocalTensor wideInput, wideOutput; ///< In F32, where operands of 16 bits are added up.
};

/// The blocks and places of a resize with sums of a type.
template <typename Params>
ResizePlan planOf(const Params &resize, DataType sums, ScratchAllocator &space) {
  const Extents &in = resize.input.shape;
  const Extents &out = resize.output.shape;
  const uint32_t startLane = resize.input.startLane;
  const Extents turned{in[0], in[1], in[2], out[3]};
  ResizePlan plan(sums);
  plan.columnBlocks = tapBlocks(resize.columns, 3, turned);
  plan.rowBlocks = tapBlocks(resize.rows, 2, out);
  plan.weights.plan(plan.columnBlocks, space);
  plan.weights.plan(plan.rowBlocks, space);
  plan.columns = space.take(sums, turned, startLane);
  plan.products =
      space.take(sums, {in[0], in[1], std::max(in[2], out[2]), out[3]}, startLane).address;
  return plan;
}

Expected<void> checkTaps(const std::string &where, std::string_view name,
                         const std::vector<ResizeTap> &taps, int64_t input, int64_t output) {
  if (static_cast<int64_t>(taps.size()) != output)
    return makeError(where, fmt::format("{} taps of {} {}", taps.size(), output, name),
                     "one for each");
  for (const ResizeTap &tap : taps)
    if (std::min(tap.first, tap.second) < 0 || std::max(tap.first, tap.second) >= input)
      return makeError(where, fmt::format("{} {} and {}", name, tap.first, tap.second),
                       fmt::format("0 to {}", input - 1));
  return {};
}

template <typename Params>
Expected<void> checkTaps(const std::string &where, const Params &resize) {
  const Extents &in = resize.input.shape;
  const Extents &out = resize.output.shape;
  if (Expected<void> fits = checkTaps(where, "rows", resize.rows, in[2], out[2]); !fits)
    return fits;
  return checkTaps(where, "columns", resize.columns, in[3], out[3]);
}

/// The same resize of the input rows that its taps see: of a tile of the output these are few.
template <typename Params> Params ofSeenRows(Params resize) {
  int64_t first = resize.input.shape[2];
  int64_t last = -1;
  for (ResizeTap &tap : resize.rows) {
    if (tap.secondWeight == 0)
      tap.second = tap.first;
    first = std::min({first, tap.first, tap.second});
    last = std::max({last, tap.first, tap.second});
  }
  if (last - first + 1 >= resize.input.shape[2])
    return resize;
  resize.input = resize.input.slice(2, first, last - first + 1);
  for (ResizeTap &tap : resize.rows) {
    tap.first -= first;
    tap.second -= first;
  }
  return resize;
}

/// Whether elements are added up in F32, and rounded once.
bool isWidened(const Resize &resize) {
  const auto adds = [](const std::vector<ResizeTap> &taps) {
    return std::ranges::any_of(taps, [](const ResizeTap &tap) { return tap.secondWeight != 0; });
  };
  return resize.input.type != DataType::F32 && (adds(resize.rows) || adds(resize.columns));
}

ResizePlan planOf(const Resize &resize, ScratchAllocator &space) {
  if (!isWidened(resize))
    return planOf(resize, resize.input.type, space);
  ResizePlan plan = planOf(resize, DataType::F32, space);
  plan.wideInput = space.take(DataType::F32, resize.input.shape, resize.input.startLane);
  plan.wideOutput = space.take(DataType::F32, resize.output.shape, resize.output.startLane);
  return plan;
}

Expected<void> check(const std::string &where, const Resize &resize) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &resize.input}, std::pair{"output", &resize.output}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  if (!matches(resize.input, resize.output))
    return makeError(where, describe(resize.input, resize.output), "equal types, n, c and lanes");
  return checkTaps(where, resize);
}

} // namespace

Expected<uint32_t> resizeScratch(const Resize &resize) {
  if (Expected<void> checked = check("resize", resize); !checked)
    return propagate(checked);
  ScratchAllocator space;
  planOf(ofSeenRows(resize), space);
  return space.next;
}

Expected<void> emitResize(Builder &builder, const Resize &whole) {
  if (Expected<void> checked = check(builder.layer(), whole); !checked)
    return checked;
  const Resize resize = ofSeenRows(whole);
  ScratchAllocator space{resize.scratch.address};
  ResizePlan plan = planOf(resize, space);
  if (Expected<void> fits =
          checkScratch(builder.layer(), whole.scratch, space.next - resize.scratch.address);
      !fits)
    return fits;
  const bool isWide = isWidened(resize);
  LocalTensor columns = isWide ? plan.wideInput : resize.input;
  if (isWide)
    addCast(builder, columns, resize.input);
  if (!isIdentity(resize.columns, resize.input.shape[3])) {
    addBlocks(builder, plan.columns, columns, 3, plan.columnBlocks, plan.weights, plan.products);
    columns = plan.columns;
  }
  addBlocks(builder, isWide ? plan.wideOutput : resize.output, columns, 2, plan.rowBlocks,
            plan.weights, plan.products);
  if (isWide)
    addCast(builder, resize.output, plan.wideOutput);
  return {};
}

namespace {

/// The elements [to, to + count) of an axis are [from, from + count) of the input.
struct Stretch {
  int64_t to = 0, from = 0, count = 0;
  bool contains(int64_t index) const { return index >= to && index < to + count; }
  bool reads(int64_t index) const { return index >= from && index < from + count; }
};

Stretch longestStretch(const std::vector<int64_t> &sources) {
  Stretch longest;
  Stretch last;
  for (size_t index = 0; index < sources.size(); ++index) {
    if (last.count == 0 || sources[index] != last.from + last.count)
      last = {static_cast<int64_t>(index), sources[index], 0};
    ++last.count;
    if (last.count > longest.count)
      longest = last;
  }
  return longest;
}

} // namespace

Expected<void> emitBorder(Builder &builder, const Border &border) {
  const Extents &in = border.input.shape;
  if (!precOf(border.input.type) || !matches(border.input, border.output))
    return makeError(builder.layer(), describe(border.input, border.output),
                     "equal types, n, c and lanes");
  for (auto [axis, sources] : {std::pair{2U, &border.rows}, {3U, &border.columns}})
    if (static_cast<int64_t>(sources->size()) != border.output.shape[axis] ||
        std::ranges::any_of(*sources,
                            [&](int64_t source) { return source < 0 || source >= in[axis]; }))
      return makeError(builder.layer(), describe(border.input, border.output),
                       "an element of the input for each row and column");
  const Stretch columns = longestStretch(border.columns);
  const auto copyRows = [&](int64_t to, int64_t from, int64_t count) {
    const LocalTensor seen = border.input.slice(2, from, count);
    const LocalTensor made = border.output.slice(2, to, count);
    addUnaryArith(builder, ArithOp::Copy, made.slice(3, columns.to, columns.count),
                  seen.slice(3, columns.from, columns.count));
    for (int64_t x = 0; x < made.shape[3]; ++x)
      if (!columns.contains(x))
        addUnaryArith(builder, ArithOp::Copy, made.slice(3, x, 1),
                      seen.slice(3, border.columns[static_cast<size_t>(x)], 1));
  };
  const Stretch rows = longestStretch(border.rows);
  copyRows(rows.to, rows.from, rows.count);
  // The others are whole rows of those, unless a tile has none of them.
  for (int64_t y = 0; y < border.output.shape[2]; ++y) {
    const int64_t from = border.rows[static_cast<size_t>(y)];
    if (rows.contains(y))
      continue;
    if (rows.reads(from))
      addUnaryArith(builder, ArithOp::Copy, border.output.slice(2, y, 1),
                    border.output.slice(2, rows.to + from - rows.from, 1));
    else
      copyRows(y, from, 1);
  }
  return {};
}

std::array<int64_t, 2> tapWeights(double secondWeight) {
  constexpr int64_t kWhole = int64_t{1} << kTapBits;
  const auto scaled = [](double weight) { return std::llround(std::ldexp(weight, kTapBits)); };
  std::array<int64_t, 2> weights = {scaled(1 - secondWeight), scaled(secondWeight)};
  weights[weights[1] > weights[0] ? 1 : 0] += kWhole - weights[0] - weights[1];
  return weights;
}

namespace {

Expected<void> check(const std::string &where, const QuantizedResize &resize) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &resize.input}, std::pair{"output", &resize.output}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return propagate(fits);
  if (!matches(resize.input, resize.output.as(resize.input.type)))
    return makeError(where, describe(resize.input, resize.output), "equal n, c and lanes");
  if (Expected<void> fits = checkRequantize(where, resize.requantize); !fits)
    return propagate(fits);
  return checkTaps(where, resize);
}

/// How many bytes the sums take that are rounded at last.
uint32_t sumBytes(const QuantizedResize &resize) {
  return laneBytes(DataType::I32, resize.output.shape, Layout::Aligned, resize.output.startLane);
}

} // namespace

Expected<uint32_t> quantizedResizeScratch(const QuantizedResize &resize) {
  if (Expected<void> checked = check("resize", resize); !checked)
    return propagate(checked);
  ScratchAllocator space;
  planOf(ofSeenRows(resize), DataType::I32, space);
  return space.next + sumBytes(resize);
}

Expected<void> emitQuantizedResize(Builder &builder, const QuantizedResize &whole) {
  if (Expected<void> checked = check(builder.layer(), whole); !checked)
    return checked;
  const QuantizedResize resize = ofSeenRows(whole);
  ScratchAllocator space{resize.scratch.address};
  ResizePlan plan = planOf(resize, DataType::I32, space);
  if (Expected<void> fits = checkScratch(builder.layer(), whole.scratch,
                                         space.next - resize.scratch.address + sumBytes(resize));
      !fits)
    return fits;
  LocalTensor sums = space.take(DataType::I32, resize.output.shape, resize.output.startLane);
  addBlocks(builder, plan.columns, resize.input, 3, plan.columnBlocks, plan.weights, plan.products);
  addBlocks(builder, sums, plan.columns, 2, plan.rowBlocks, plan.weights, plan.products);
  // The weights of an element add up to 2^22.
  if (resize.inputZero != 0)
    addArith(builder, ArithOp::Sub, sums, sums,
             immediate(DataType::I32, std::ldexp(resize.inputZero, 2 * kTapBits)));
  addRequantize(builder, resize.output, sums, resize.requantize);
  return {};
}

} // namespace tpuc::bm1684x
