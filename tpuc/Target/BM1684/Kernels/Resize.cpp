//===- Resize.cpp - Resizes of pictures on the BM1684 ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Elementwise.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace tpuc::bm1684 {

namespace {

std::string describe(const LocalTensor &input, const LocalTensor &output) {
  return fmt::format("[{}] to [{}]", fmt::join(input.shape, ","), fmt::join(output.shape, ","));
}

bool matches(const LocalTensor &input, const LocalTensor &output) {
  return input.shape[0] == output.shape[0] && input.shape[1] == output.shape[1] &&
         input.startLane == output.startLane && input.type == DataType::F32 &&
         output.type == DataType::F32;
}

Expected<void> checkUpsample(const std::string &where, const UpsampleNearest &upsample) {
  bool fits = matches(upsample.input, upsample.output);
  for (size_t axis = 2; axis < 4; ++axis)
    fits = fits && upsample.output.shape[axis] % upsample.input.shape[axis] == 0;
  if (!fits)
    return makeError(where, describe(upsample.input, upsample.output),
                     "f32 with equal n, c and lanes, and whole factors of h and w");
  return {};
}

/// Output elements at equal distances whose taps are at equal distances and weigh the same.
struct Run {
  int64_t to = 0, toStep = 1;
  int64_t from = 0, fromStep = 1;
  int64_t toSecond = 0; ///< From the first tap to the second.
  double weight = 0;
  int64_t count = 0;
};

/// Whether the element fits to the end of the run; the second element decides the distances.
bool extend(Run &run, int64_t to, const ResizeTap &tap) {
  const int64_t toStep = to - (run.to + (run.count - 1) * run.toStep);
  const int64_t fromStep = tap.first - (run.from + (run.count - 1) * run.fromStep);
  if (run.count > 1 && (toStep != run.toStep || fromStep != run.fromStep))
    return false;
  run.toStep = toStep;
  run.fromStep = fromStep;
  ++run.count;
  return true;
}

/// Taps of a scale that is a ratio of small numbers repeat, and each class of taps is a run.
std::vector<Run> runsOf(const std::vector<ResizeTap> &taps) {
  std::map<std::pair<int64_t, int64_t>, std::vector<Run>> classes;
  for (size_t i = 0; i < taps.size(); ++i) {
    ResizeTap tap = taps[i];
    if (tap.secondWeight == 0)
      tap.second = tap.first;
    const auto to = static_cast<int64_t>(i);
    constexpr double kSame = 1 << 24;
    std::vector<Run> &runs =
        classes[{std::llround(tap.secondWeight * kSame), tap.second - tap.first}];
    if (runs.empty() || !extend(runs.back(), to, tap))
      runs.push_back({to, 1, tap.first, 1, tap.second - tap.first, tap.secondWeight, 1});
  }
  std::vector<Run> all;
  for (const auto &[key, runs] : classes)
    all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

bool isIdentity(const std::vector<ResizeTap> &taps, int64_t extent) {
  for (size_t i = 0; i < taps.size(); ++i)
    if (taps[i].first != static_cast<int64_t>(i) || taps[i].secondWeight != 0)
      return false;
  return static_cast<int64_t>(taps.size()) == extent;
}

/// output = the taps of `axis`. `products` has space for as many elements as the output.
void addAxis(Builder &builder, const LocalTensor &output, const LocalTensor &input, unsigned axis,
             const std::vector<ResizeTap> &taps, uint32_t products) {
  for (const Run &run : runsOf(taps)) {
    const LocalTensor to = output.every(axis, run.to, run.toStep, run.count);
    const LocalTensor first = input.every(axis, run.from, run.fromStep, run.count);
    if (run.weight == 0) {
      addCopy(builder, to, first);
      continue;
    }
    addArith(builder, ArithOp::Mul, to, first, number(1 - run.weight));
    const LocalTensor second = input.every(axis, run.from + run.toSecond, run.fromStep, run.count);
    const LocalTensor product =
        localTensor(to.type, to.shape, products, Layout::Aligned, to.startLane);
    addArith(builder, ArithOp::Mul, product, second, number(run.weight));
    addArith(builder, ArithOp::Add, to, to, product);
  }
}

struct ResizePlan {
  LocalTensor columns;
  uint32_t products = 0;
};

ResizePlan planOf(const Resize &resize, ScratchAllocator &space) {
  const Extents &in = resize.input.shape, &out = resize.output.shape;
  const uint32_t lane = resize.input.startLane;
  ResizePlan plan;
  plan.columns = space.take(DataType::F32, {in[0], in[1], in[2], out[3]}, lane);
  plan.products =
      space.take(DataType::F32, {in[0], in[1], std::max(in[2], out[2]), out[3]}, lane).address;
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

/// The same resize of the input rows that its taps see: of a tile of the output these are few.
Resize ofSeenRows(Resize resize) {
  int64_t first = resize.input.shape[2], last = -1;
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

Expected<uint32_t> checkedScratch(const std::string &where, const Resize &resize) {
  const Extents &in = resize.input.shape, &out = resize.output.shape;
  if (!matches(resize.input, resize.output))
    return makeError(where, describe(resize.input, resize.output), "f32 with equal n, c and lanes");
  if (Expected<void> fits = checkTaps(where, "rows", resize.rows, in[2], out[2]); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkTaps(where, "columns", resize.columns, in[3], out[3]); !fits)
    return propagate(fits);
  ScratchAllocator space;
  planOf(ofSeenRows(resize), space);
  return space.next;
}

} // namespace

Expected<void> checkUpsampleNearest(const UpsampleNearest &upsample) {
  return checkUpsample("upsampling", upsample);
}

Expected<void> emitUpsampleNearest(Builder &builder, const UpsampleNearest &upsample) {
  if (Expected<void> fits = checkUpsample(builder.layer(), upsample); !fits)
    return fits;
  const Extents &in = upsample.input.shape, &out = upsample.output.shape;
  const int64_t scaleH = out[2] / in[2], scaleW = out[3] / in[3];
  const auto rows = [&](int64_t first) { return upsample.output.every(2, first, scaleH, in[2]); };
  // The columns of the first of each group of rows, then the rows below from it.
  for (int64_t x = 0; x < scaleW; ++x)
    addCopy(builder, rows(0).every(3, x, scaleW, in[3]), upsample.input);
  for (int64_t y = 1; y < scaleH; ++y)
    addCopy(builder, rows(y), rows(0));
  return {};
}

Expected<uint32_t> resizeScratch(const Resize &resize) { return checkedScratch("resize", resize); }

Expected<void> emitResize(Builder &builder, const Resize &whole) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), whole.scratch, checkedScratch(builder.layer(), whole));
      !fits)
    return fits;
  const Resize resize = ofSeenRows(whole);
  ScratchAllocator space{resize.scratch.address};
  const ResizePlan plan = planOf(resize, space);
  LocalTensor columns = resize.input;
  if (!isIdentity(resize.columns, resize.input.shape[3])) {
    addAxis(builder, plan.columns, columns, 3, resize.columns, plan.products);
    columns = plan.columns;
  }
  addAxis(builder, resize.output, columns, 2, resize.rows, plan.products);
  return {};
}

} // namespace tpuc::bm1684
