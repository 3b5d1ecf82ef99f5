//===- Softmax.cpp - Softmax over w----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tpuc::bm1684x {

namespace {

struct SoftmaxPlan {
  unsigned tables = 0;
  uint32_t table = 0;
  LocalTensor input; ///< F32
  std::array<LocalTensor, Series::kNumRegisters> full;
  std::array<LocalTensor, Series::kNumRegisters> rows;
  LocalTensor maximum;
  LocalTensor folded;
};

SoftmaxPlan planOf(const Softmax &softmax, ScratchAllocator &space) {
  SoftmaxPlan plan;
  plan.tables = Series::kExp | (softmax.isLog ? Series::kLog : 0u);
  plan.table = space.bytes(Series::tableBytes(plan.tables));
  const Extents &shape = softmax.input.shape;
  const uint32_t lane = softmax.input.startLane;
  plan.input = softmax.input;
  if (softmax.input.type != DataType::F32)
    plan.input = space.take(DataType::F32, shape, lane);
  plan.input.layout = Layout::Aligned;
  const Extents row = {shape[0], shape[1], shape[2], 1};
  for (LocalTensor &tensor : plan.full)
    tensor = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.rows)
    tensor = space.take(DataType::F32, row, lane);
  plan.maximum = space.take(DataType::F32, row, lane);
  plan.folded = takeWindowScratch({plan.input, plan.maximum, true, true, 1}, space);
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Softmax &softmax) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &softmax.input}, std::pair{"output", &softmax.output}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  const LocalTensor &in = softmax.input;
  const LocalTensor &out = softmax.output;
  if (in.shape != out.shape || in.type != out.type || in.startLane != out.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","),
                                 dataTypeName(in.type), fmt::join(out.shape, ","),
                                 dataTypeName(out.type)),
                     "equal shapes, types and lanes");
  if (softmax.factors && (softmax.isLog || in.type != DataType::F32))
    return makeError(where, fmt::format("factors of {}", dataTypeName(in.type)),
                     "those of no logarithm, of f32");
  ScratchAllocator space;
  planOf(softmax, space);
  return space.next;
}

} // namespace

Expected<uint32_t> softmaxScratch(const Softmax &softmax) {
  return checkedScratch("softmax", softmax);
}

Expected<void> emitSoftmax(Builder &builder, const Softmax &softmax) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), softmax);
  if (Expected<void> fits = checkScratch(builder.layer(), softmax.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{softmax.scratch.address};
  SoftmaxPlan plan = planOf(softmax, space);
  // Logarithms near 0 have more digits than a short series.
  const DataType rounded = softmax.factors ? softmax.result : softmax.output.type;
  Series series(builder, plan.tables, plan.table, softmax.isLog ? DataType::F32 : rounded);
  const auto &[f0, f1, f2] = plan.full;
  const Extents &shape = plan.input.shape;
  if (softmax.input.type != DataType::F32)
    addCast(builder, plan.input, softmax.input);
  // beta x - max(beta x)
  LocalTensor scaled = plan.input;
  if (softmax.beta != 1) {
    scaled = f0;
    addLinear(builder, f0, plan.input, softmax.beta, 0);
  }
  addWindowSum(builder, {scaled, plan.maximum, true, true, 1}, plan.folded);
  LocalTensor maximum = plan.maximum;
  if (softmax.mayBeHidden) {
    // -inf less itself is no number.
    maximum = plan.rows[0];
    addArith(builder, ArithOp::Max, maximum, plan.maximum,
             immediate(DataType::F32, std::numeric_limits<float>::lowest()));
  }
  addArith(builder, ArithOp::Sub, f1, scaled, repeated(maximum, shape));
  LocalTensor result = softmax.output.type == DataType::F32 ? softmax.output : f0;
  const LocalTensor powers = softmax.factors ? softmax.output : f2;
  auto exponentials = [&] {
    std::array<std::vector<LocalTensor>, Series::kNumRegisters> parts;
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i] = flatParts(plan.full[i], kMostFlatPart);
    const std::vector<LocalTensor> to = flatParts(powers, kMostFlatPart);
    for (size_t i = 0; i < parts[0].size(); ++i) {
      series.use({parts[0][i], parts[2][i], parts[1][i]});
      series.exp(to[i], parts[1][i], Series::kUnlimited);
    }
    addWindowSum(builder, {powers, plan.rows[2], true, false, 1}, plan.folded);
  };
  if (!softmax.isLog) {
    exponentials();
    Term one = immediate(DataType::F32, 1);
    if (softmax.mayBeHidden) {
      // The power of the largest element is 1, but where it is far below the maximum: at its least.
      constexpr double kSeen = 0.5;
      addSelect(builder, ArithOp::SelectGreater, plan.rows[1], plan.rows[2],
                immediate(DataType::F32, kSeen), immediate(DataType::F32, 1));
      one = plan.rows[1];
    }
    const LocalTensor factors = softmax.factors.value_or(plan.rows[0]);
    addArith(builder, ArithOp::Div, factors, one, plan.rows[2]);
    if (softmax.factors)
      return {};
    addArith(builder, ArithOp::Mul, result, f2, repeated(factors, shape));
  } else {
    exponentials();
    series.use(plan.rows);
    series.log(plan.rows[2]);
    addArith(builder, ArithOp::Add, plan.rows[1], plan.rows[0], plan.maximum);
    // Registers have taken the place of the scaled input.
    LocalTensor again = plan.input;
    if (softmax.beta != 1) {
      again = f1;
      addLinear(builder, f1, plan.input, softmax.beta, 0);
    }
    addArith(builder, ArithOp::Sub, result, again, repeated(plan.rows[1], shape));
  }
  if (softmax.output.type != DataType::F32)
    addCast(builder, softmax.output, result);
  return {};
}

} // namespace tpuc::bm1684x
