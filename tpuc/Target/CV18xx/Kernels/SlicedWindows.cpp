//===- SlicedWindows.cpp - Convolutions by slices of input channels -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/SlicedWindows.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"

#include <algorithm>
#include <utility>

namespace tpuc::cv18xx {

namespace {

/// Elements [begin, begin + count) of an axis.
struct Span {
  uint32_t begin = 0, count = 1;
};

std::vector<Span> spansOf(uint32_t extent, uint32_t step) {
  std::vector<Span> spans;
  for (uint32_t begin = 0; begin < extent; begin += step)
    spans.push_back({begin, std::min(step, extent - begin)});
  return spans;
}

uint32_t lineUp(uint32_t bytes) { return (bytes + kEuBytes - 1) / kEuBytes * kEuBytes; }

/// The elements of the input under the windows of some results, and what lies beside them.
struct Under {
  Span input;
  uint32_t padBegin = 0, padEnd = 0;
};

/// From the first to the last element of a window along h (0) or w (1).
uint32_t reachOf(const Window &window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilation[axis] + 1;
}

Under underOf(const SlicedConvolution &all, size_t axis, const Span &results) {
  const Window &window = all.window;
  const int64_t extent = all.input.shape[2 + axis];
  const int64_t begin = int64_t{results.begin} * window.stride[axis] - window.padBegin[axis];
  const int64_t end =
      begin + int64_t{results.count - 1} * window.stride[axis] + reachOf(window, axis);
  const int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, extent);
  return {{static_cast<uint32_t>(first), static_cast<uint32_t>(std::max<int64_t>(last - first, 0))},
          static_cast<uint32_t>(first - begin),
          static_cast<uint32_t>(end - last)};
}

/// What one load of each operand and one command work on.
struct Slice {
  uint32_t picture = 0;
  Span outputs, rows, columns, inputs;
  bool isFirst = true, isLast = true;
};

/// Where all lies in the lanes: two places for what is loaded.
struct Places {
  std::array<uint32_t, 2> input = {}, filter = {}, parameters = {};
  uint32_t sums = 0, end = 0;

  Places(const Chip &chip, const SlicedConvolution &all, const SlicePlan &plan) {
    const auto extent = [&](size_t axis, uint32_t results) {
      const uint32_t most = (results - 1) * all.window.stride[axis] + reachOf(all.window, axis);
      return std::min(most, all.input.shape[2 + axis]);
    };
    const bool isBf16 = all.input.isBf16;
    const uint32_t bytes = isBf16 ? 2 : 1, slots = (plan.outputs + chip.lanes - 1) / chip.lanes;
    const uint32_t ofInput =
        alignedBytes(chip, {1, plan.inputs, extent(0, plan.rows), extent(1, plan.columns)}, isBf16);
    const uint32_t ofFilter =
        lineUp(slots * all.window.kernel[0] * all.window.kernel[1] * plan.inputs * bytes);
    const auto take = [&](uint32_t size) { return std::exchange(end, end + size); };
    for (uint32_t &place : input)
      place = take(ofInput);
    for (uint32_t &place : filter)
      place = take(ofFilter);
    for (uint32_t &place : parameters)
      place = take(all.parameters ? lineUp(slots * (isBf16 ? 4 : kRequantBytes)) : 0);
    sums = take(planeBytes(chip, plan, isBf16) * (isBf16 ? 2 : 4));
  }

  static uint32_t planeBytes(const Chip &chip, const SlicePlan &plan, bool isBf16) {
    return alignedBytes(chip, {1, plan.outputs, plan.rows, plan.columns}, isBf16);
  }
};

/// A part of a tensor of global memory, whose rows stay dense.
GlobalTensor partOf(GlobalTensor tensor, uint32_t picture, const Span &channels, const Span &rows,
                    const Span &columns) {
  tensor.offset += picture * tensor.strides[0] + channels.begin * tensor.strides[1] +
                   rows.begin * tensor.strides[2] + columns.begin * (tensor.isBf16 ? 2 : 1);
  tensor.shape = {1, channels.count, rows.count, columns.count};
  return tensor;
}

class SliceEmitter {
public:
  SliceEmitter(Builder &builder, const SlicedConvolution &all, const SlicePlan &plan)
      : builder(builder), chip(builder.chip()), all(all), places(chip, all, plan),
        planeBytes(Places::planeBytes(chip, plan, all.input.isBf16)) {}

  Expected<void> run(const std::vector<Slice> &slices) {
    for (size_t i = 0; i <= slices.size(); ++i) {
      if (i < slices.size())
        if (Expected<void> done = load(slices[i], i % 2); !done)
          return done;
      if (i != 0)
        if (Expected<void> done = compute(slices[i - 1], (i - 1) % 2); !done)
          return done;
    }
    return {};
  }

private:
  Expected<void> load(const Slice &slice, size_t place) {
    const bool isBf16 = all.input.isBf16;
    const Under rows = underOf(all, 0, slice.rows), columns = underOf(all, 1, slice.columns);
    const GlobalTensor input =
        partOf(all.input, slice.picture, slice.inputs, rows.input, columns.input);
    if (Expected<void> done =
            emitLoad(builder, input, alignedTensor(chip, places.input[place], input.shape, isBf16));
        !done)
      return done;
    const uint64_t bytes = isBf16 ? 2 : 1;
    const uint32_t taps = all.window.kernel[0] * all.window.kernel[1];
    GlobalTensor filter = all.filter;
    filter.isBf16 = isBf16;
    const uint64_t tapBytes = all.input.shape[1] * bytes, row = taps * tapBytes;
    filter.offset += slice.outputs.begin * row + slice.inputs.begin * bytes;
    filter.shape = {1, slice.outputs.count, taps, slice.inputs.count};
    filter.strides = {0, row, tapBytes};
    if (Expected<void> done = emitLoad(
            builder, filter, compactTensor(chip, places.filter[place], filter.shape, isBf16));
        !done || !all.parameters || !slice.isLast)
      return done;
    return loadParameters(slice.outputs, place);
  }

  Expected<void> loadParameters(const Span &outputs, size_t place) {
    const bool isBf16 = all.input.isBf16;
    const uint32_t bytes = isBf16 ? 2 : kRequantBytes, slots = slotsOf(outputs.count);
    GlobalTensor from = all.filter;
    from.isBf16 = isBf16;
    from.offset = *all.parameters + uint64_t{outputs.begin} * bytes;
    from.shape = {1, outputs.count, 1, isBf16 ? 1 : kRequantBytes};
    from.strides = {0, bytes, 0};
    for (uint32_t half = 0; half < (isBf16 ? 2 : 1); ++half) {
      if (Expected<void> done = emitLoad(
              builder, from,
              compactTensor(chip, places.parameters[place] + half * slots * 2, from.shape, isBf16));
          !done)
        return done;
      from.offset += all.halfDistance;
    }
    return {};
  }

  Expected<void> compute(const Slice &slice, size_t place) {
    const bool isBf16 = all.input.isBf16;
    const Under rows = underOf(all, 0, slice.rows), columns = underOf(all, 1, slice.columns);
    const LocalTensor result = alignedTensor(
        chip, places.sums, {1, slice.outputs.count, slice.rows.count, slice.columns.count}, isBf16);
    Convolution one{.input = alignedTensor(
                        chip, places.input[place],
                        {1, slice.inputs.count, rows.input.count, columns.input.count}, isBf16),
                    .result = result,
                    .window = all.window,
                    .filter = places.filter[place],
                    .parameters = std::nullopt,
                    .halfDistance = 2 * slotsOf(slice.outputs.count),
                    .addsSums = !slice.isFirst,
                    .leavesSums = !slice.isLast,
                    .planeDistance = planeBytes};
    one.window.padBegin = {rows.padBegin, columns.padBegin};
    one.window.padEnd = {rows.padEnd, columns.padEnd};
    if (slice.isLast) {
      if (all.parameters)
        one.parameters = places.parameters[place];
      one.hasRelu = all.hasRelu;
    }
    if (Expected<void> done = emitConvolution(builder, one); !done || !slice.isLast)
      return done;
    if (all.limit)
      if (Expected<void> done = emitElements(
              builder, {.name = "min", .result = result, .left = result, .right = *all.limit});
          !done)
        return done;
    return emitStore(builder, result,
                     partOf(all.result, slice.picture, slice.outputs, slice.rows, slice.columns));
  }

  uint32_t slotsOf(uint32_t channels) const { return (channels + chip.lanes - 1) / chip.lanes; }

  Builder &builder;
  const Chip &chip;
  const SlicedConvolution &all;
  const Places places;
  const uint32_t planeBytes;
};

std::vector<Slice> slicesOf(const SlicedConvolution &all, const SlicePlan &plan) {
  const std::vector<Span> inputs = spansOf(all.input.shape[1], plan.inputs);
  std::vector<Slice> slices;
  for (uint32_t picture = 0; picture < all.result.shape[0]; ++picture)
    for (const Span &outputs : spansOf(all.result.shape[1], plan.outputs))
      for (const Span &rows : spansOf(all.result.shape[2], plan.rows))
        for (const Span &columns : spansOf(all.result.shape[3], plan.columns))
          for (const Span &each : inputs)
            slices.push_back({picture, outputs, rows, columns, each,
                              each.begin == inputs.front().begin,
                              each.begin == inputs.back().begin});
  return slices;
}

uint64_t numSlices(const SlicedConvolution &all, const SlicePlan &plan) {
  const auto count = [](uint32_t extent, uint32_t step) {
    return uint64_t{(extent + step - 1) / step};
  };
  return all.result.shape[0] * count(all.result.shape[1], plan.outputs) *
         count(all.result.shape[2], plan.rows) * count(all.result.shape[3], plan.columns) *
         count(all.input.shape[1], plan.inputs);
}

/// Nanoseconds of the slices of one result, the engines side by side, times the number of results.
double timeOf(const Chip &chip, const SlicedConvolution &all, const SlicePlan &plan) {
  SlicedConvolution one = all;
  one.result.shape = {1, std::min(plan.outputs, all.result.shape[1]),
                      std::min(plan.rows, all.result.shape[2]),
                      std::min(plan.columns, all.result.shape[3])};
  // Two slices stand for all.
  const uint64_t slices = (all.input.shape[1] + plan.inputs - 1) / plan.inputs;
  Builder builder(chip);
  std::vector<Slice> each = slicesOf(one, plan);
  if (each.size() > 2)
    each.erase(each.begin() + 1, each.end() - 1);
  if (!SliceEmitter(builder, all, plan).run(each))
    return -1;
  const TimingParameters parameters = timingSets(chip).front();
  std::array<double, 2> busy = {};
  for (const Command &command : builder.finish().commands)
    busy[command.engine().index()] += nanosecondsOf(chip, command, parameters);
  const double perSlice = *std::ranges::max_element(busy) / static_cast<double>(each.size());
  return perSlice * static_cast<double>(numSlices(all, plan) / slices * slices);
}

/// Sizes along an axis that are worth a try: all of it, and equal parts of it, in multiples of
/// `unit`.
std::vector<uint32_t> sizesOf(uint32_t extent, uint32_t unit, uint32_t most) {
  std::vector<uint32_t> sizes;
  for (uint32_t count = 1; sizes.empty() || sizes.back() > unit; count += 1 + count / 3) {
    const uint32_t share = (extent + count - 1) / count;
    const uint32_t size = std::min((share + unit - 1) / unit * unit, std::max(extent, unit));
    if (size <= most && (sizes.empty() || size < sizes.back()))
      sizes.push_back(size);
    if (share <= unit)
      break;
  }
  return sizes;
}

constexpr uint32_t kMostPad = 15;
constexpr uint64_t kMostSlices = 1 << 16;

/// Whether each window has elements of the input, and pads are such that a command takes.
bool takesWindows(const SlicedConvolution &all) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const Span results = {0, all.result.shape[2 + axis]};
    const Under under = underOf(all, axis, results);
    const uint32_t reach = reachOf(all.window, axis);
    if (under.padBegin >= reach || under.padEnd >= reach || under.padBegin > kMostPad ||
        under.padEnd > kMostPad || under.input.count == 0)
      return false;
  }
  return true;
}

} // namespace

bool isPlanOf(const Chip &chip, const SlicedConvolution &convolution, const SlicePlan &plan) {
  return plan.inputs != 0 && plan.outputs != 0 && plan.rows != 0 && plan.columns != 0 &&
         plan.inputs <= kMostWindowExtent && plan.outputs <= kMostWindowExtent &&
         plan.rows <= kMostWindowExtent && plan.columns <= kMostWindowExtent &&
         Places(chip, convolution, plan).end <= kLaneBytes && takesWindows(convolution) &&
         numSlices(convolution, plan) <= kMostSlices;
}

std::optional<SlicePlan> bestSlices(const Chip &chip, const SlicedConvolution &convolution) {
  const uint32_t most = kMostWindowExtent / chip.lanes * chip.lanes;
  std::optional<SlicePlan> best;
  double least = 0;
  for (const uint32_t inputs : sizesOf(convolution.input.shape[1], chip.lanes, most))
    for (const uint32_t outputs : sizesOf(convolution.result.shape[1], chip.lanes, most))
      for (const uint32_t rows : sizesOf(convolution.result.shape[2], 1, most))
        for (const uint32_t columns : sizesOf(convolution.result.shape[3], 1, most)) {
          const SlicePlan plan = {inputs, outputs, rows, columns};
          if (!isPlanOf(chip, convolution, plan))
            continue;
          const double time = timeOf(chip, convolution, plan);
          if (time < 0 || (best && time >= least))
            continue;
          best = plan;
          least = time;
        }
  return best;
}

Expected<void> emitSliced(Builder &builder, const SlicedConvolution &convolution,
                          const SlicePlan &plan) {
  if (!isPlanOf(builder.chip(), convolution, plan))
    return makeError("", "slices that do not fit the lanes", "smaller ones");
  return SliceEmitter(builder, convolution, plan).run(slicesOf(convolution, plan));
}

} // namespace tpuc::cv18xx
