//===- LaneMoves.cpp - Copies that pass the lanes -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/LaneMoves.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"

#include <algorithm>

namespace tpuc::cv18xx {

namespace {

/// Two for what is loaded, two for what is stored.
constexpr int64_t kBuffers = 4, kBufferBytes = int64_t{kLaneBytes} / kBuffers;

/// Elements of an axis that a part has: `count` from `begin` on in a lane, and as many in each of
/// the next ones.
struct Cut {
  int64_t begin = 0, count = 1, lanes = 1;
};

std::vector<Cut> cutsOf(int64_t extent, int64_t step, int64_t lanes) {
  std::vector<Cut> cuts;
  for (int64_t begin = 0; begin < extent;) {
    const int64_t rest = extent - begin;
    const int64_t count = std::min(step, rest);
    cuts.push_back({begin, count, std::min(lanes, rest / count)});
    begin += count * cuts.back().lanes;
  }
  return cuts;
}

/// What one load, one command and one store move.
struct Part {
  int64_t from = 0, to = 0;
  int64_t lanes = 1, rows = 1, columns = 1;
};

/// All parts of an exchange, the last axis changing first.
class Parts {
public:
  Parts(const Chip &chip, const Exchange &exchange, const LanePlan &plan) {
    for (size_t index = 0; index < exchange.axes.size(); ++index) {
      const int64_t step = index == exchange.source   ? plan.rows
                           : index == exchange.target ? plan.columns
                                                      : 1;
      const bool isOfLanes = static_cast<int64_t>(index) == plan.lanes;
      cuts.push_back(
          cutsOf(exchange.axes[index].extent, step, isOfLanes ? int64_t{chip.lanes} : 1));
      count *= std::ssize(cuts.back());
    }
  }

  int64_t size() const { return count; }

  Part at(const Exchange &exchange, int64_t number) const {
    Part part;
    for (size_t index = cuts.size(); index-- > 0;) {
      const Cut &cut = cuts[index][static_cast<size_t>(number % std::ssize(cuts[index]))];
      number /= std::ssize(cuts[index]);
      part.from += cut.begin * exchange.axes[index].from;
      part.to += cut.begin * exchange.axes[index].to;
      part.lanes *= cut.lanes;
      (index == exchange.source ? part.rows : part.columns) *= cut.count;
    }
    return part;
  }

private:
  std::vector<std::vector<Cut>> cuts;
  int64_t count = 1;
};

/// The commands of an exchange.
class LaneMover {
public:
  LaneMover(Builder &builder, const Exchange &exchange, const LanePlan &plan,
            const GlobalTensor &from, const GlobalTensor &to)
      : builder(builder), exchange(exchange), plan(plan), from(from), to(to),
        parts(builder.chip(), exchange, plan) {}

  Expected<void> run() {
    if (Expected<void> loaded = load(0); !loaded)
      return loaded;
    for (int64_t number = 0; number < parts.size(); ++number)
      for (auto step : {&LaneMover::loadNext, &LaneMover::exchangeRuns, &LaneMover::store})
        if (Expected<void> done = (this->*step)(number); !done)
          return done;
    return {};
  }

private:
  /// Rows as they lie in the source or, behind those, in the target.
  LocalTensor local(int64_t number, const Part &part, bool isTarget) const {
    const int64_t rows = isTarget ? part.rows : part.columns;
    const int64_t elements = isTarget ? part.columns : part.rows;
    return alignedTensor(
        builder.chip(),
        static_cast<uint32_t>((number % 2 + (isTarget ? kBuffers / 2 : 0)) * kBufferBytes),
        {1, static_cast<uint32_t>(part.lanes), static_cast<uint32_t>(rows),
         static_cast<uint32_t>(elements * exchange.run)},
        false);
  }
  /// From one lane to the next in a tensor of global memory.
  uint64_t laneStride(const Part &part, int64_t CopyAxis::*stride) const {
    const auto lanes = static_cast<size_t>(plan.lanes);
    const int64_t count = lanes == exchange.source   ? part.rows
                          : lanes == exchange.target ? part.columns
                                                     : 1;
    return static_cast<uint64_t>(count * (exchange.axes[lanes].*stride));
  }
  Expected<void> load(int64_t number) {
    const Part part = parts.at(exchange, number);
    const LocalTensor rows = local(number, part, false);
    GlobalTensor begin = from;
    begin.offset += static_cast<uint64_t>(part.from);
    begin.shape = rows.shape;
    begin.strides = {0, laneStride(part, &CopyAxis::from),
                     static_cast<uint64_t>(exchange.axes[exchange.target].from)};
    return emitLoad(builder, begin, rows);
  }
  Expected<void> loadNext(int64_t number) {
    return number + 1 < parts.size() ? load(number + 1) : Expected<void>();
  }
  Expected<void> exchangeRuns(int64_t number) {
    const Part part = parts.at(exchange, number);
    LocalTensor left = local(number, part, false);
    LocalTensor result = local(number, part, true);
    const auto run = static_cast<uint32_t>(exchange.run);
    const auto rows = static_cast<uint32_t>(part.rows),
               columns = static_cast<uint32_t>(part.columns);
    // [rows, columns] of single bytes, [rows, columns, run] of more.
    if (run == 1) {
      left.shape = result.shape = {1, result.shape[1], rows, columns};
      left.strides = {0, left.strides[1], 1, rows};
      result.strides = {0, result.strides[1], columns, 1};
    } else {
      left.shape = result.shape = {rows, result.shape[1], columns, run};
      left.strides = {run, left.strides[1], rows * run, 1};
      result.strides = {columns * run, result.strides[1], run, 1};
    }
    return emitElements(builder, {.name = "copy", .result = result, .left = left});
  }
  Expected<void> store(int64_t number) {
    const Part part = parts.at(exchange, number);
    const LocalTensor rows = local(number, part, true);
    GlobalTensor begin = to;
    begin.offset += static_cast<uint64_t>(part.to);
    begin.shape = rows.shape;
    begin.strides = {0, laneStride(part, &CopyAxis::to),
                     static_cast<uint64_t>(exchange.axes[exchange.source].to)};
    return emitStore(builder, rows, begin);
  }

  Builder &builder;
  const Exchange &exchange;
  const LanePlan &plan;
  const GlobalTensor &from, &to;
  const Parts parts;
};

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Sizes along an axis that are worth a try: powers of two from rows of 64 bytes on, all of it, and
/// as many as give each lane the same.
std::vector<int64_t> sizesOf(const Chip &chip, int64_t extent, int64_t run) {
  constexpr int64_t kGranule = 64;
  const int64_t most = std::min(extent, kBufferBytes / run);
  std::vector<int64_t> sizes;
  for (int64_t size = ceilDiv(kGranule, run); size < most; size *= 2)
    sizes.push_back(size);
  sizes.push_back(most);
  const int64_t even = ceilDiv(extent, int64_t{chip.lanes});
  if (even < most && std::ranges::find(sizes, even) == sizes.end())
    sizes.push_back(even);
  return sizes;
}

std::vector<LanePlan> plansOf(const Chip &chip, const Exchange &exchange) {
  const int64_t rows = exchange.axes[exchange.source].extent;
  const int64_t columns = exchange.axes[exchange.target].extent;
  const int64_t room = kBufferBytes / exchange.run;
  std::vector<LanePlan> plans;
  for (int64_t lanes = 0; lanes < std::ssize(exchange.axes); ++lanes) {
    for (int64_t size : sizesOf(chip, rows, exchange.run))
      plans.push_back({lanes, size, std::min(columns, room / size)});
    for (int64_t size : sizesOf(chip, columns, exchange.run))
      plans.push_back({lanes, std::min(rows, room / size), size});
  }
  return plans;
}

} // namespace

std::optional<Exchange> exchangeOf(std::span<const CopyAxis> axes) {
  Exchange exchange;
  if (axes.empty() || axes.back().from != 1 || axes.back().to != 1)
    return std::nullopt;
  exchange.run = axes.back().extent;
  std::optional<size_t> source, target;
  for (const CopyAxis &axis : axes.first(axes.size() - 1)) {
    if (axis.extent == 1)
      continue;
    if (axis.from == exchange.run)
      source = exchange.axes.size();
    if (axis.to == exchange.run && axis.from != 0)
      target = exchange.axes.size();
    exchange.axes.push_back(axis);
  }
  if (!source || !target || source == target || exchange.run > kBufferBytes)
    return std::nullopt;
  exchange.source = *source;
  exchange.target = *target;
  return exchange;
}

bool isPlanOf(const Exchange &exchange, const LanePlan &plan) {
  return plan.lanes >= 0 && plan.lanes < std::ssize(exchange.axes) && plan.rows > 0 &&
         plan.columns > 0 && plan.rows <= kBufferBytes && plan.columns <= kBufferBytes &&
         plan.rows * plan.columns * exchange.run <= kBufferBytes;
}

Expected<void> emitThroughLanes(Builder &builder, const Exchange &exchange, const LanePlan &plan,
                                const GlobalTensor &from, const GlobalTensor &to) {
  return LaneMover(builder, exchange, plan, from, to).run();
}

std::optional<LanePlan> bestPlan(const Chip &chip, const Exchange &exchange,
                                 std::span<const double, kNumTimingSets> direct) {
  constexpr int64_t kMostParts = 4096;
  const auto sets = timingSets(chip);
  std::optional<LanePlan> best;
  double least = 0;
  for (const LanePlan &plan : plansOf(chip, exchange)) {
    if (Parts(chip, exchange, plan).size() > kMostParts)
      continue;
    Builder builder(chip);
    const GlobalTensor any;
    if (!emitThroughLanes(builder, exchange, plan, any, any))
      continue;
    const CommandStream stream = builder.finish();
    bool isFaster = true;
    for (size_t i = 0; i < sets.size(); ++i)
      isFaster = isFaster && runNanoseconds(chip, stream.commands, sets[i]) < direct[i];
    const double time = runNanoseconds(chip, stream.commands, sets.front());
    if (isFaster && (!best || time < least)) {
      best = plan;
      least = time;
    }
  }
  return best;
}

} // namespace tpuc::cv18xx
