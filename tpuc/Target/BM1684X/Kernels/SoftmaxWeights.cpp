//===- SoftmaxWeights.cpp - Weights of softmaxes to integers---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/SoftmaxWeights.h"
#include "tpuc/Support/BitExactMath.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"

#include <numbers>

namespace tpuc::bm1684x {

namespace {

constexpr size_t kNumTerms = std::size(steps::kPowerTerms);

/// The largest of each row.
WindowSum maximaOf(const LocalTensor &scores, const LocalTensor &row) {
  return {scores, row, true, true, 1};
}

} // namespace

SoftmaxRegisters takeSoftmaxRegisters(const Extents &shape, uint32_t startLane,
                                      ScratchAllocator &space) {
  SoftmaxRegisters registers;
  registers.table = space.bytes(kNumTerms * sizeof(float));
  for (LocalTensor &tensor : registers.full)
    tensor = space.take(DataType::F32, shape, startLane);
  registers.row = space.take(DataType::F32, {shape[0], shape[1], shape[2], 1}, startLane);
  registers.folded = takeWindowScratch(maximaOf(registers.full[0], registers.row), space);
  return registers;
}

LocalTensor addSoftmaxWeights(Builder &builder, const LocalTensor &scores, double scale,
                              const SoftmaxRegisters &registers) {
  constexpr int kMantissaBits = 23;
  const Extents &shape = scores.shape;
  const auto &[r0, r1, r2, r3] = registers.full;
  const LocalTensor &row = registers.row;
  // Powers come out 2^bits times as large: the bits of the exponents are added.
  std::array<double, kNumTerms> terms;
  for (size_t i = 0; i < kNumTerms; ++i)
    terms[i] = std::ldexp(double{steps::kPowerTerms[i]}, steps::weightBits(shape[3]));
  addTable(builder, terms, registers.table);
  addWindowSum(builder, maximaOf(scores, row), registers.folded);
  addArith(builder, ArithOp::Sub, r2, scores, repeated(row, shape));
  addLinear(builder, r0, r2, scale * std::numbers::log2e, 0);
  addArith(builder, ArithOp::Max, r1, r0, immediate(DataType::F32, steps::kLeastExponent));
  const LocalTensor whole = r0.as(DataType::I32);
  addCast(builder, whole, r1, Rounding::HalfToEven);
  addCast(builder, r2, whole);
  addArith(builder, ArithOp::Sub, r3, r1, r2);
  addTaylor(builder, r1, r3, registers.table, kNumTerms);
  addShift(builder, ArithOp::ArithShift, r2.as(DataType::I32), whole, kMantissaBits);
  addArith(builder, ArithOp::Add, r3.as(DataType::I32), r1.as(DataType::I32), r2.as(DataType::I32));
  return r3;
}

} // namespace tpuc::bm1684x
