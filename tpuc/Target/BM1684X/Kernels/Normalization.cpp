//===- Normalization.cpp - Norms over h and w------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/BitExactMath.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

struct NormPlan {
  LocalTensor input; ///< F32
  std::array<LocalTensor, 2> full;
  std::array<LocalTensor, 2> means;
  LocalTensor folded;
  std::array<LocalTensor, 2> parameters; ///< gamma and beta in F32, where they are not.
};

NormPlan planOf(const Normalization &norm, ScratchAllocator &space) {
  NormPlan plan;
  const Extents &shape = norm.input.shape;
  const uint32_t lane = norm.input.startLane;
  const bool isWide = norm.input.type != DataType::F32;
  plan.input = isWide ? space.take(DataType::F32, shape, lane) : norm.input;
  plan.input.layout = Layout::Aligned;
  for (LocalTensor &tensor : plan.full)
    tensor = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.means)
    tensor = space.take(DataType::F32, {shape[0], shape[1], 1, 1}, lane);
  plan.folded = takeWindowScratch({plan.input, plan.means[0], false, false, 1}, space);
  const std::optional<LocalTensor> *given[] = {&norm.gamma, &norm.beta};
  for (size_t i = 0; i < 2; ++i)
    if (*given[i] && (*given[i])->type != DataType::F32)
      plan.parameters[i] = space.take(DataType::F32, (*given[i])->shape, (*given[i])->startLane);
  return plan;
}

/// The same row in every lane, or one element per channel.
bool isRow(const Extents &parameter, const Extents &input) {
  return parameter == Extents{1, kLanes, input[2], input[3]};
}

Expected<void> checkParameter(const std::string &where, const std::optional<LocalTensor> &parameter,
                              const LocalTensor &input) {
  if (!parameter)
    return {};
  bool isScalar = parameter->shape == Extents{1, input.shape[1], 1, 1} &&
                  parameter->startLane == input.startLane;
  bool isInAllLanes = isRow(parameter->shape, input.shape) && parameter->startLane == 0;
  const bool fits = parameter->type == input.type || parameter->type == DataType::F32;
  if (!fits || !(isScalar || isInAllLanes))
    return makeError(where,
                     fmt::format("a parameter [{}] {}", fmt::join(parameter->shape, ","),
                                 dataTypeName(parameter->type)),
                     fmt::format("[1,64,{},{}] or [1,{},1,1] of {} or f32", input.shape[2],
                                 input.shape[3], input.shape[1], dataTypeName(input.type)));
  return checkLayout(where, "a parameter", *parameter, Layout::Aligned);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Normalization &norm) {
  const LocalTensor &in = norm.input;
  const LocalTensor &out = norm.output;
  for (const auto &[name, tensor] : {std::pair{"input", &in}, std::pair{"output", &out}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  if (in.shape != out.shape || in.type != out.type || in.startLane != out.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","),
                                 dataTypeName(in.type), fmt::join(out.shape, ","),
                                 dataTypeName(out.type)),
                     "equal shapes, types and lanes");
  for (const std::optional<LocalTensor> *parameter : {&norm.gamma, &norm.beta})
    if (Expected<void> fits = checkParameter(where, *parameter, in); !fits)
      return propagate(fits);
  ScratchAllocator space;
  planOf(norm, space);
  return space.next;
}

/// The parameter in F32, repeated to the shape of `like`.
LocalTensor parameterFor(Builder &builder, const LocalTensor &given, const LocalTensor &copy,
                         const LocalTensor &like) {
  LocalTensor parameter = given;
  if (given.type != DataType::F32) {
    addCast(builder, copy, given);
    parameter = copy;
  }
  if (isRow(given.shape, like.shape)) {
    parameter = repeatedOverLanes(parameter, like.shape[1]);
    parameter.startLane = like.startLane;
  }
  return repeated(parameter, like.shape);
}

} // namespace

Expected<uint32_t> normalizationScratch(const Normalization &norm) {
  return checkedScratch("normalization", norm);
}

Expected<void> emitNormalization(Builder &builder, const Normalization &norm) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), norm);
  if (Expected<void> fits = checkScratch(builder.layer(), norm.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{norm.scratch.address};
  NormPlan plan = planOf(norm, space);
  const Extents &shape = plan.input.shape;
  const double mean = 1.0 / static_cast<double>(shape[2] * shape[3]);
  auto &[f0, f1] = plan.full;
  auto &[m0, m1] = plan.means;
  if (norm.input.type != DataType::F32)
    addCast(builder, plan.input, norm.input);
  LocalTensor centred = plan.input;
  if (norm.centers) {
    centred = f0;
    addWindowSum(builder, {plan.input, m0, false, false, mean}, plan.folded);
    addArith(builder, ArithOp::Sub, f0, plan.input, repeated(m0, shape));
  }
  addArith(builder, ArithOp::Mul, f1, centred, centred);
  addWindowSum(builder, {f1, m0, false, false, mean}, plan.folded);
  addLinear(builder, m0, m0, 1, norm.epsilon);
  addRsqrt(builder, m1, m0);
  addArith(builder, ArithOp::Mul, f1, centred, repeated(m1, shape));
  LocalTensor *value = &f1;
  LocalTensor *next = &f0;
  const std::pair<ArithOp, const std::optional<LocalTensor> *> steps[] = {
      {ArithOp::Mul, &norm.gamma}, {ArithOp::Add, &norm.beta}};
  for (size_t i = 0; i < 2; ++i)
    if (const std::optional<LocalTensor> &given = *steps[i].second) {
      LocalTensor parameter = parameterFor(builder, *given, plan.parameters[i], *value);
      addArith(builder, steps[i].first, *next, *value, parameter);
      std::swap(value, next);
    }
  if (norm.output.type == DataType::F32)
    addUnaryArith(builder, ArithOp::Copy, norm.output, *value);
  else
    addCast(builder, norm.output, *value);
  return {};
}

//===--- Of integers ------------------------------------------------------===//

namespace {

struct IntegerNormPlan {
  std::array<LocalTensor, 2> full; ///< F32 as all others
  std::array<LocalTensor, 4> rows;
  LocalTensor folded;
};

IntegerNormPlan planOf(const QuantizedNormalization &norm, ScratchAllocator &space) {
  IntegerNormPlan plan;
  const Extents &shape = norm.input.shape;
  const uint32_t lane = norm.input.startLane;
  for (LocalTensor &tensor : plan.full)
    tensor = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.rows)
    tensor = space.take(DataType::F32, {shape[0], shape[1], 1, 1}, lane);
  plan.folded = takeWindowScratch({plan.full[0], plan.rows[0], false, false, 1}, space);
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedNormalization &norm) {
  const LocalTensor &in = norm.input;
  const LocalTensor &out = norm.output;
  if (Expected<void> fits = checkByteTensor(where, "input", in); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return propagate(fits);
  if (in.shape != out.shape || out.type != DataType::F32 || in.startLane != out.startLane ||
      in.shape[2] * in.shape[3] > steps::kLongestNorm)
    return makeError(
        where,
        fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","), dataTypeName(in.type),
                    fmt::join(out.shape, ","), dataTypeName(out.type)),
        fmt::format("equal shapes and lanes, to f32, rows of at most {}", steps::kLongestNorm));
  for (const std::optional<LocalTensor> *parameter : {&norm.gamma, &norm.beta})
    if (Expected<void> fits = checkParameter(where, *parameter, out); !fits)
      return propagate(fits);
  ScratchAllocator space;
  planOf(norm, space);
  return space.next;
}

/// (x - mean) / deviation to full[1]: the steps that the op states, in their order.
void addStandardized(Builder &builder, const QuantizedNormalization &norm,
                     const IntegerNormPlan &plan) {
  const Extents &shape = norm.input.shape;
  const auto count = static_cast<double>(shape[2] * shape[3]);
  const double share = 1 / count;
  const auto &[f0, f1] = plan.full;
  const auto &[r0, r1, r2, r3] = plan.rows;
  LocalTensor input = norm.input;
  input.layout = Layout::Aligned;
  addCast(builder, f0, input);
  addWindowSum(builder, {f0, r0, false, false, 1}, plan.folded);
  addLinear(builder, r1, r0, share, 0);
  addCast(builder, r2, r1, Rounding::HalfToEven);
  addArith(builder, ArithOp::Sub, f1, f0, repeated(r2, shape));
  // What is left of the sum, and its share.
  addLinear(builder, r1, r2, count, 0);
  addArith(builder, ArithOp::Sub, r3, r0, r1);
  addLinear(builder, r1, r3, share, 0);
  addArith(builder, ArithOp::Mul, f0, f1, f1);
  addWindowSum(builder, {f0, r0, false, false, 1}, plan.folded);
  addArith(builder, ArithOp::Mul, r2, r3, r1);
  addArith(builder, ArithOp::Sub, r3, r0, r2);
  addLinear(builder, r0, r3, share, norm.epsilon / (norm.scale * norm.scale));
  addRsqrt(builder, r2, r0, steps::kRootSteps);
  addArith(builder, ArithOp::Mul, r3, r1, r2);
  addArith(builder, ArithOp::Mul, f0, f1, repeated(r2, shape));
  addArith(builder, ArithOp::Sub, f1, f0, repeated(r3, shape));
}

} // namespace

Expected<uint32_t> quantizedNormalizationScratch(const QuantizedNormalization &norm) {
  return checkedScratch("normalization", norm);
}

Expected<void> emitQuantizedNormalization(Builder &builder, const QuantizedNormalization &norm) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), norm);
  if (Expected<void> fits = checkScratch(builder.layer(), norm.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{norm.scratch.address};
  const IntegerNormPlan plan = planOf(norm, space);
  addStandardized(builder, norm, plan);
  const auto &[f0, f1] = plan.full;
  const auto parameter = [&](const LocalTensor &given) {
    return parameterFor(builder, given, given, norm.output);
  };
  LocalTensor value = f1;
  if (norm.gamma) {
    value = norm.beta ? f0 : norm.output;
    addArith(builder, ArithOp::Mul, value, f1, parameter(*norm.gamma));
  }
  if (norm.beta)
    addArith(builder, ArithOp::Add, norm.output, value, parameter(*norm.beta));
  else if (!norm.gamma)
    addUnaryArith(builder, ArithOp::Copy, norm.output, f1);
  return {};
}

} // namespace tpuc::bm1684x
