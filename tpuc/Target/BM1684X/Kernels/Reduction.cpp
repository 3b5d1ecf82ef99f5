//===- Reduction.cpp - Reductions------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tpuc::bm1684x {

namespace {

bool isSum(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::Mean; }

/// Sums over h and w in 16 bits are products with a matrix of ones, whose sums are F32.
bool isProduct(const Reduction &reduction) {
  return isSum(reduction.kind) && !reduction.overWidth && reduction.input.type != DataType::F32;
}

/// Sums over w in 16 bits are taken of a copy in F32.
bool isWidened(const Reduction &reduction) {
  return isSum(reduction.kind) && reduction.overWidth && reduction.input.type != DataType::F32;
}

/// What a reduction works with.
struct ReductionPlan {
  double scale = 1;
  LocalTensor wideInput;  ///< F32, for sums over w in 16 bits
  LocalTensor wideOutput; ///< F32, for sums in 16 bits
  LocalTensor negative;   ///< For minima
  LocalTensor folded;     ///< For windows
};

WindowSum windowSum(const Reduction &reduction, const ReductionPlan &plan) {
  bool isWide = isWidened(reduction);
  WindowSum sum{isWide ? plan.wideInput : reduction.input,
                isWide ? plan.wideOutput : reduction.output, reduction.overWidth,
                !isSum(reduction.kind), plan.scale};
  if (reduction.kind == ReduceKind::Min)
    sum.input = plan.negative;
  return sum;
}

ReductionPlan planOf(const Reduction &reduction, ScratchAllocator &space) {
  const LocalTensor &in = reduction.input;
  const LocalTensor &out = reduction.output;
  ReductionPlan plan;
  if (reduction.kind == ReduceKind::Mean)
    plan.scale = 1.0 / static_cast<double>((reduction.overWidth ? 1 : in.shape[2]) * in.shape[3]);
  if (isProduct(reduction) || isWidened(reduction))
    plan.wideOutput = space.take(DataType::F32, out.shape, out.startLane);
  if (isProduct(reduction))
    return plan;
  if (isWidened(reduction))
    plan.wideInput = space.take(DataType::F32, in.shape, in.startLane);
  if (reduction.kind == ReduceKind::Min)
    plan.negative = space.take(in.type, in.shape, in.startLane);
  plan.folded = takeWindowScratch(windowSum(reduction, plan), space);
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Reduction &reduction) {
  const LocalTensor &in = reduction.input;
  const LocalTensor &out = reduction.output;
  for (const auto &[name, tensor] : {std::pair{"input", &in}, std::pair{"output", &out}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  Extents wanted = {in.shape[0], in.shape[1], reduction.overWidth ? in.shape[2] : 1, 1};
  if (out.shape != wanted || out.type != in.type || out.startLane != in.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","),
                                 dataTypeName(in.type), fmt::join(out.shape, ","),
                                 dataTypeName(out.type)),
                     fmt::format("[{}] of the same type and lane", fmt::join(wanted, ",")));
  ScratchAllocator space;
  planOf(reduction, space);
  return space.next;
}

/// The command for maxima begins with the least finite number: where nothing was larger, all were
/// -infinity.
void restoreInfinities(Builder &builder, const LocalTensor &maxima) {
  const double least = maxima.type == DataType::F16   ? -65504.0
                       : maxima.type == DataType::F32 ? -std::numeric_limits<float>::max()
                                                      : -0x1.FEp127;
  addCompareSelect(builder, CompareOp::Equal, maxima, maxima, immediate(maxima.type, least),
                   immediate(maxima.type, -std::numeric_limits<double>::infinity()), maxima);
}

} // namespace

Expected<uint32_t> reductionScratch(const Reduction &reduction) {
  return checkedScratch("reduction", reduction);
}

Expected<void> emitReduction(Builder &builder, const Reduction &reduction) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), reduction);
  if (Expected<void> fits = checkScratch(builder.layer(), reduction.scratch, needed); !fits)
    return fits;
  const LocalTensor &in = reduction.input;
  const LocalTensor &out = reduction.output;
  ScratchAllocator space{reduction.scratch.address};
  ReductionPlan plan = planOf(reduction, space);
  if (isProduct(reduction)) {
    for (int64_t n = 0; n < in.shape[0]; ++n)
      addOnesProduct(builder, plan.wideOutput.slice(0, n, 1), in.slice(0, n, 1));
    if (plan.scale != 1)
      addLinear(builder, plan.wideOutput, plan.wideOutput, plan.scale, 0);
    addCast(builder, out, plan.wideOutput);
    return {};
  }
  // Minima are the negative maxima of what is negative.
  const bool isMinimum = reduction.kind == ReduceKind::Min;
  if (isWidened(reduction))
    addCast(builder, plan.wideInput, in);
  if (isMinimum)
    addLinear(builder, plan.negative, in, -1, 0);
  addWindowSum(builder, windowSum(reduction, plan), plan.folded);
  if (!isSum(reduction.kind))
    restoreInfinities(builder, out);
  if (isWidened(reduction))
    addCast(builder, out, plan.wideOutput);
  if (isMinimum)
    addLinear(builder, out, out, -1, 0);
  return {};
}

namespace {

constexpr unsigned kAxisOfRows = 3;

Expected<uint32_t> checkedScratch(const std::string &where, const RunningSum &sum) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &sum.input}, std::pair{"output", &sum.output}}) {
    if (tensor->type != DataType::I32)
      return makeError(where, fmt::format("an {} of {}", name, dataTypeName(tensor->type)), "i32");
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  if (sum.input.shape != sum.output.shape || sum.input.startLane != sum.output.startLane)
    return makeError(where, "other extents or lanes of the sums", "those of what is added");
  return sum.input.shape[kAxisOfRows] > 2
             ? laneBytes(DataType::I32, sum.output.shape, Layout::Aligned, sum.output.startLane)
             : 0;
}

} // namespace

Expected<uint32_t> runningSumScratch(const RunningSum &sum) {
  return checkedScratch("running sum", sum);
}

/// Step k adds what lies 2^k elements in front, which is the sum of 2^k elements. Steps take turns
/// between two places, as none may read what it has written; the last one writes the output.
Expected<void> emitRunningSum(Builder &builder, const RunningSum &sum) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), sum);
  if (Expected<void> fits = checkScratch(builder.layer(), sum.scratch, needed); !fits)
    return fits;
  const int64_t width = sum.input.shape[kAxisOfRows];
  const std::array<LocalTensor, 2> places = {sum.output, sum.output.at(sum.scratch.address)};
  unsigned steps = 0;
  while (int64_t{1} << steps < width)
    ++steps;
  if (steps == 0)
    addUnaryArith(builder, ArithOp::Copy, sum.output, sum.input);
  LocalTensor from = sum.input;
  for (unsigned step = 0; step < steps; ++step) {
    const LocalTensor &to = places[(steps - 1 - step) % 2];
    const int64_t distance = int64_t{1} << step;
    const auto head = [&](const LocalTensor &row) { return row.slice(kAxisOfRows, 0, distance); };
    const auto rest = [&](const LocalTensor &row, int64_t first) {
      return row.slice(kAxisOfRows, first, width - distance);
    };
    addUnaryArith(builder, ArithOp::Copy, head(to), head(from));
    addArith(builder, ArithOp::Add, rest(to, distance), rest(from, distance), rest(from, 0));
    from = to;
  }
  return {};
}

} // namespace tpuc::bm1684x
