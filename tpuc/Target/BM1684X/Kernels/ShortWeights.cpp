//===- ShortWeights.cpp - Weights of a softmax in 16 bits------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/ShortWeights.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"

#include <limits>
#include <numbers>

namespace tpuc::bm1684x {

namespace {

/// Powers of 2 in steps of 2^-10, as the mantissa of F16 has them.
constexpr int kStepBits = 10;
constexpr double kSteps = 1 << kStepBits;
constexpr uint32_t kStepMask = (1U << kStepBits) - 1;
/// The bits of 2 - 2^-10 in F16.
constexpr uint32_t kBelowTwo = 0x3fff;
/// 2^(15 - f) as a polynomial of 2 - 2^-10 - f in F16, for f from 0 to 1: 0.08 % wrong at most.
constexpr double kPowerTerms[] = {7404, 7840, -122.9375, 1273};

struct Registers {
  uint32_t table = 0;
  LocalTensor maximum;
  LocalTensor folded;
  std::array<LocalTensor, 2> full; ///< F32
};

WindowSum maximaOf(const ShortWeights &weights, const LocalTensor &maximum) {
  return {weights.scores, maximum, true, true, 1};
}

Registers registersOf(const ShortWeights &weights, ScratchAllocator &space) {
  const Extents &shape = weights.scores.shape;
  const uint32_t lane = weights.scores.startLane;
  Registers made;
  made.table = space.bytes(std::size(kPowerTerms) * sizeof(uint16_t));
  made.maximum = space.take(DataType::F32, {shape[0], shape[1], shape[2], 1}, lane);
  made.folded = takeWindowScratch(maximaOf(weights, made.maximum), space);
  for (LocalTensor &tensor : made.full)
    tensor = space.take(DataType::F32, shape, lane);
  return made;
}

/// `shape` in 16 bits in the place of a tensor of 32 bits.
LocalTensor inPlaceOf(const LocalTensor &wide, DataType type) {
  return localTensor(type, wide.shape, wide.address, Layout::Aligned, wide.startLane);
}

} // namespace

uint32_t shortWeightsScratch(const ShortWeights &weights) {
  ScratchAllocator space;
  registersOf(weights, space);
  return space.next;
}

/// exp(-x) = 2^-(n + f) with a whole number n and f below 1: q = 2^10 (n + f) is rounded to a whole
/// number, whose lowest bits are f. n is taken from the bits of the exponent of 2^(15 - f), and
/// 0 is left where these are fewer.
void addShortWeights(Builder &builder, const ShortWeights &weights) {
  ScratchAllocator space{weights.scratch.address};
  const Registers registers = registersOf(weights, space);
  const auto &[r0, r1] = registers.full;
  const LocalTensor &scores = weights.scores;
  addShortTable(builder, DataType::F16, kPowerTerms, registers.table);
  addWindowSum(builder, maximaOf(weights, registers.maximum), registers.folded);
  // -inf less itself is no number.
  addArith(builder, ArithOp::Max, registers.maximum, registers.maximum,
           immediate(DataType::F32, std::numeric_limits<float>::lowest()));
  addArith(builder, ArithOp::Sub, r0, repeated(registers.maximum, scores.shape), scores);
  addArith(builder, ArithOp::Mul, r1, r0,
           immediate(DataType::F32, kSteps * std::numbers::log2e * weights.scale));
  const LocalTensor steps = inPlaceOf(r0, DataType::U16);
  addCast(builder, steps, r1);
  const LocalTensor s = inPlaceOf(scores, DataType::U16);
  const LocalTensor h = inPlaceOf(r1, DataType::U16);
  addArith(builder, ArithOp::And, s, steps, Immediate{DataType::U16, kStepMask});
  addArith(builder, ArithOp::Xor, h, s, Immediate{DataType::U16, kBelowTwo});
  addTaylor(builder, s.as(DataType::F16), h.as(DataType::F16), registers.table,
            std::size(kPowerTerms));
  addArith(builder, ArithOp::And, h, steps, Immediate{DataType::U16, ~kStepMask & 0xffffU});
  const LocalTensor signs = steps.as(DataType::I16);
  addArith(builder, ArithOp::SubSat, signs, s, h);
  addArith(builder, ArithOp::Max, weights.weights.as(DataType::I16), signs,
           immediate(DataType::I16, 0));
}

} // namespace tpuc::bm1684x
