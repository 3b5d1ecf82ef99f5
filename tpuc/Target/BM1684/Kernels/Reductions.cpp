//===- Reductions.cpp - Softmaxes, norms and reductions on the BM1684 -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Reductions.h"
#include "tpuc/Target/BM1684/Kernels/Elementwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tpuc::bm1684 {

namespace {

Expected<void> checkOperands(const std::string &where, const LocalTensor &in,
                             const LocalTensor &out) {
  for (const auto &[name, tensor] : {std::pair{"input", &in}, std::pair{"output", &out}})
    if (Expected<void> fits = checkRegular(where, name, *tensor); !fits)
      return fits;
  if (in.startLane != out.startLane)
    return makeError(where, fmt::format("lanes {} and {}", in.startLane, out.startLane),
                     "the same lane");
  return {};
}

Expected<void> checkShapes(const std::string &where, const LocalTensor &in, const LocalTensor &out,
                           const Extents &wanted) {
  if (Expected<void> fits = checkOperands(where, in, out); !fits)
    return fits;
  if (out.shape != wanted)
    return makeError(
        where, fmt::format("[{}] to [{}]", fmt::join(in.shape, ","), fmt::join(out.shape, ",")),
        fmt::format("[{}]", fmt::join(wanted, ",")));
  return {};
}

//===--- Reductions -------------------------------------------------------===//

Expected<uint32_t> checkedScratch(const std::string &where, const Reduction &reduction) {
  const LocalTensor &in = reduction.input;
  if (Expected<void> fits =
          checkShapes(where, in, reduction.output, {in.shape[0], in.shape[1], 1, 1});
      !fits)
    return propagate(fits);
  const uint32_t copy = reduction.kind == ReduceKind::Min
                            ? laneBytes(in.type, in.shape, Layout::Aligned, in.startLane)
                            : 0;
  return copy + rowSumScratch(in);
}

} // namespace

Expected<uint32_t> reductionScratch(const Reduction &reduction) {
  return checkedScratch("reduction", reduction);
}

Expected<void> emitReduction(Builder &builder, const Reduction &reduction) {
  if (Expected<void> fits = checkScratch(builder.layer(), reduction.scratch,
                                         checkedScratch(builder.layer(), reduction));
      !fits)
    return fits;
  LocalTensor in = reduction.input;
  const LocalTensor &out = reduction.output;
  ScratchAllocator space{reduction.scratch.address};
  const bool isMinimum = reduction.kind == ReduceKind::Min;
  // Minima are the negative maxima of what is negative.
  if (isMinimum) {
    in = space.take(in.type, in.shape, in.startLane);
    addArith(builder, ArithOp::Mul, in, reduction.input, number(-1));
  }
  addRowSum(builder, out, in, isMinimum || reduction.kind == ReduceKind::Max, space.next);
  // The command for maxima begins with the lowest number: where nothing was larger, all were
  // -infinity.
  if (isMinimum || reduction.kind == ReduceKind::Max)
    addCompareSelect(builder, out, out, number(std::numeric_limits<float>::lowest()), out,
                     number(-std::numeric_limits<double>::infinity()));
  if (isMinimum)
    addLinear(builder, out, out, -1, 0);
  if (reduction.kind == ReduceKind::Mean)
    addLinear(builder, out, out, 1.0 / static_cast<double>(in.shape[2] * in.shape[3]), 0);
  return {};
}

//===--- Softmax ----------------------------------------------------------===//

namespace {

struct SoftmaxPlan {
  std::array<LocalTensor, Series::kNumRegisters> full, rows;
  LocalTensor maximum;
  uint32_t sums = 0;
};

SoftmaxPlan planOf(const Softmax &softmax, ScratchAllocator &space) {
  SoftmaxPlan plan;
  const Extents &shape = softmax.input.shape;
  const uint32_t lane = softmax.input.startLane;
  const Extents row = {shape[0], shape[1], shape[2], 1};
  for (LocalTensor &tensor : plan.full)
    tensor = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.rows)
    tensor = space.take(DataType::F32, row, lane);
  plan.maximum = space.take(DataType::F32, row, lane);
  plan.sums = space.bytes(rowSumScratch(softmax.input));
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Softmax &softmax) {
  if (Expected<void> fits = checkShapes(where, softmax.input, softmax.output, softmax.input.shape);
      !fits)
    return propagate(fits);
  ScratchAllocator space;
  planOf(softmax, space);
  return space.next;
}

/// exp(register 0) to register 3.
void addExponentials(Builder &builder, const SoftmaxPlan &plan) {
  std::array<std::vector<LocalTensor>, Series::kNumRegisters> parts;
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = flatParts(plan.full[i], kMostFlatPart);
  for (size_t i = 0; i < parts[0].size(); ++i) {
    Series series{builder, {parts[0][i], parts[1][i], parts[2][i], parts[3][i]}};
    constexpr double kLeast = -87.3;
    addArith(builder, ArithOp::Max, parts[0][i], parts[0][i], number(kLeast));
    series.power(parts[3][i]);
  }
}

} // namespace

Expected<uint32_t> softmaxScratch(const Softmax &softmax) {
  return checkedScratch("softmax", softmax);
}

Expected<void> emitSoftmax(Builder &builder, const Softmax &softmax) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), softmax.scratch, checkedScratch(builder.layer(), softmax));
      !fits)
    return fits;
  ScratchAllocator space{softmax.scratch.address};
  const SoftmaxPlan plan = planOf(softmax, space);
  const auto &[f0, f1, f2, f3] = plan.full;
  const Extents &shape = softmax.input.shape;
  // beta x - max(beta x)
  LocalTensor scaled = softmax.input;
  if (softmax.beta != 1) {
    scaled = f1;
    addLinear(builder, f1, softmax.input, softmax.beta, 0);
  }
  addRowSum(builder, plan.maximum, scaled, /*isMaximum=*/true, plan.sums);
  addArith(builder, ArithOp::Sub, f0, scaled, repeated(plan.maximum, shape));
  // Registers take the place of the scaled input.
  if (softmax.isLog)
    addCopy(builder, softmax.output, f0);
  addExponentials(builder, plan);
  const LocalTensor &sums = plan.rows[3];
  addRowSum(builder, sums, f3, /*isMaximum=*/false, plan.sums);
  if (softmax.isLog) {
    Series series{builder, plan.rows};
    series.log(sums);
    addArith(builder, ArithOp::Sub, softmax.output, softmax.output, repeated(plan.rows[3], shape));
    return {};
  }
  // The power of the largest element is 1, but where all are -infinity: these rows become 0.
  constexpr double kSeen = 0.5;
  addSelect(builder, ArithOp::SelectGreater, plan.rows[1], sums, number(kSeen), number(1));
  addArith(builder, ArithOp::Div, plan.rows[0], plan.rows[1], sums);
  addArith(builder, ArithOp::Mul, softmax.output, f3, repeated(plan.rows[0], shape));
  return {};
}

//===--- Norms ------------------------------------------------------------===//

namespace {

struct NormPlan {
  std::array<LocalTensor, 2> full, means;
  uint32_t sums = 0, parameter = 0;
};

bool isRow(const LocalTensor &parameter, const LocalTensor &input) {
  return parameter.shape == Extents{1, 1, input.shape[2], input.shape[3]};
}

NormPlan planOf(const Normalization &norm, ScratchAllocator &space) {
  NormPlan plan;
  const Extents &shape = norm.input.shape;
  const uint32_t lane = norm.input.startLane;
  for (LocalTensor &tensor : plan.full)
    tensor = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.means)
    tensor = space.take(DataType::F32, {shape[0], shape[1], 1, 1}, lane);
  plan.sums = space.bytes(rowSumScratch(norm.input));
  uint32_t bytes = 0;
  for (const std::optional<LocalTensor> *parameter : {&norm.gamma, &norm.beta})
    if (*parameter)
      bytes = std::max(bytes, broadcastBytes(**parameter, norm.output));
  plan.parameter = space.bytes(bytes);
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Normalization &norm) {
  if (Expected<void> fits = checkShapes(where, norm.input, norm.output, norm.input.shape); !fits)
    return propagate(fits);
  for (const std::optional<LocalTensor> *parameter : {&norm.gamma, &norm.beta})
    if (*parameter) {
      const bool isScalar = (*parameter)->shape == Extents{1, norm.input.shape[1], 1, 1};
      if (!isScalar && !isRow(**parameter, norm.input))
        return makeError(where,
                         fmt::format("a parameter [{}]", fmt::join((*parameter)->shape, ",")),
                         "one row, or a number for each channel");
      if (Expected<void> fits = checkBroadcast(where, **parameter, norm.output); !fits)
        return propagate(fits);
    }
  ScratchAllocator space;
  planOf(norm, space);
  return space.next;
}

} // namespace

Expected<uint32_t> normalizationScratch(const Normalization &norm) {
  return checkedScratch("normalization", norm);
}

Expected<void> emitNormalization(Builder &builder, const Normalization &norm) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), norm.scratch, checkedScratch(builder.layer(), norm));
      !fits)
    return fits;
  ScratchAllocator space{norm.scratch.address};
  const NormPlan plan = planOf(norm, space);
  const Extents &shape = norm.input.shape;
  const double share = 1.0 / static_cast<double>(shape[2] * shape[3]);
  const auto &[f0, f1] = plan.full;
  const auto &[m0, m1] = plan.means;
  LocalTensor centred = norm.input;
  if (norm.centers) {
    centred = f0;
    addRowSum(builder, m0, norm.input, /*isMaximum=*/false, plan.sums);
    addLinear(builder, m0, m0, share, 0);
    addArith(builder, ArithOp::Sub, f0, norm.input, repeated(m0, shape));
  }
  addArith(builder, ArithOp::Mul, f1, centred, centred);
  addRowSum(builder, m0, f1, /*isMaximum=*/false, plan.sums);
  addLinear(builder, m0, m0, share, norm.epsilon);
  addSfu(builder, SfuOp::Rsqrt, m1, m0);
  addArith(builder, ArithOp::Mul, norm.output, centred, repeated(m1, shape));
  for (const auto &[op, parameter] :
       {std::pair(ArithOp::Mul, &norm.gamma), std::pair(ArithOp::Add, &norm.beta)})
    if (*parameter) {
      ScratchAllocator own{plan.parameter};
      addArith(builder, op, norm.output, norm.output,
               broadcastTo(builder, **parameter, norm.output, own));
    }
  return {};
}

} // namespace tpuc::bm1684
