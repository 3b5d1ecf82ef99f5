//===- QuantizedSoftmax.cpp - Softmaxes to integers-----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/BitExactMath.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Quantized.h"
#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/SoftmaxWeights.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

struct IntegerSoftmaxPlan {
  SoftmaxRegisters registers;
  LocalTensor share; ///< F32 [n,c,h,1]
  LocalTensor folded;
  Scratch rest;
};

/// What the sum of the weights is.
WindowSum totalOf(const SoftmaxRegisters &registers) {
  return {registers.full[0], registers.row, true, false, 1};
}

/// The shares, stored.
QuantizeOp storeOf(const QuantizedSoftmax &softmax, const IntegerSoftmaxPlan &plan) {
  return {plan.registers.full[1], softmax.output, softmax.outputAs.scale,
          softmax.outputAs.zeroPoint, plan.rest};
}

IntegerSoftmaxPlan planOf(const QuantizedSoftmax &softmax, ScratchAllocator &space) {
  IntegerSoftmaxPlan plan;
  plan.registers = takeSoftmaxRegisters(softmax.input.shape, softmax.input.startLane, space);
  plan.share = space.take(DataType::F32, plan.registers.row.shape, softmax.input.startLane);
  plan.folded = takeWindowScratch(totalOf(plan.registers), space);
  plan.rest.address = space.next;
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedSoftmax &softmax) {
  if (Expected<void> fits = checkLayout(where, "input", softmax.input, Layout::Aligned); !fits)
    return propagate(fits);
  const LocalTensor &in = softmax.input;
  if (in.type != DataType::F32 || in.shape[3] > steps::kLongestSoftmax)
    return makeError(where, fmt::format("[{}] {}", fmt::join(in.shape, ","), dataTypeName(in.type)),
                     fmt::format("f32, rows of at most {}", steps::kLongestSoftmax));
  ScratchAllocator space;
  const IntegerSoftmaxPlan plan = planOf(softmax, space);
  Expected<uint32_t> store = quantizeScratch(storeOf(softmax, plan));
  if (!store)
    return store;
  return space.next + *store;
}

} // namespace

Expected<uint32_t> quantizedSoftmaxScratch(const QuantizedSoftmax &softmax) {
  return checkedScratch("softmax", softmax);
}

Expected<void> emitQuantizedSoftmax(Builder &builder, const QuantizedSoftmax &softmax) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), softmax);
  if (Expected<void> fits = checkScratch(builder.layer(), softmax.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{softmax.scratch.address};
  IntegerSoftmaxPlan plan = planOf(softmax, space);
  plan.rest.bytes = softmax.scratch.address + *needed - plan.rest.address;
  const SoftmaxRegisters &registers = plan.registers;
  const LocalTensor weights = addSoftmaxWeights(builder, softmax.input, softmax.beta, registers);
  addCast(builder, registers.full[0], weights, Rounding::HalfToEven);
  addWindowSum(builder, totalOf(registers), plan.folded);
  addArith(builder, ArithOp::Div, plan.share, immediate(DataType::F32, 1), registers.row,
           steps::kRootSteps);
  addArith(builder, ArithOp::Mul, registers.full[1], registers.full[0],
           repeated(plan.share, softmax.input.shape));
  return emitQuantize(builder, storeOf(softmax, plan));
}

} // namespace tpuc::bm1684x
