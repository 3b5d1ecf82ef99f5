//===- QuantizedAddition.cpp - Sums of two quantized tensors in fixed point -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Broadcast.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kDequantInt = 4;
/// What is dropped of (q * 2^20) * multiplier, the doubling high product's 31 bits.
constexpr int32_t kTermShift = 31 - QuantizedAddition::kLeftShift;

LocalTensor termOf(const LocalTensor &operand) {
  return localTensor(DataType::I32, operand.shape, 0, Layout::Aligned, operand.startLane);
}

uint32_t termBytes(const LocalTensor &operand) {
  return laneBytes(DataType::I32, operand.shape, Layout::Aligned, operand.startLane);
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedAddition &sum) {
  if (Expected<void> fits = checkByteTensor(where, "output", sum.output); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkRequantize(where, sum.result); !fits)
    return propagate(fits);
  // The sum and its product; an operand without its factor takes the place of the former.
  uint32_t needed = 2 * termBytes(sum.output);
  for (const auto &[operand, factor] :
       {std::pair{&sum.left, &sum.leftFactor}, std::pair{&sum.right, &sum.rightFactor}}) {
    if (Expected<void> fits = checkByteTensor(where, "operand", *operand); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkBroadcast(where, *operand, sum.output); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkRequantize(where, *factor); !fits)
      return propagate(fits);
    needed += termBytes(*operand) + broadcastBytes(termOf(*operand), sum.output);
  }
  for (const Requantize *factor : {&sum.leftFactor, &sum.rightFactor, &sum.result})
    if (factor->shift < 0 || factor->multiplier < 0)
      return makeError(where,
                       fmt::format("a factor {} / 2^(31 + {})", factor->multiplier, factor->shift),
                       "0 to less than 1");
  return needed;
}

/// output I32 = round((input - zero point) * multiplier / 2^kTermShift), half up.
void addTerm(Builder &builder, const LocalTensor &output, const LocalTensor &input,
             const Requantize &factor) {
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kRequant, kDequantInt));
  setResult(builder, command, output);
  setField(builder, command, Field::Opd0Addr, input.tiuAddress());
  command.set(Field::Opd2Sign, 1);
  command.set(Field::Opd0Prec, input.prec()).set(Field::Opd0Sign, isSigned(input.type));
  command.set(Field::Round, static_cast<uint64_t>(Rounding::HalfUp));
  command.set(Field::Opd1Const, 1);
  const auto zero = static_cast<uint32_t>(factor.zeroPoint) & 0xFFFF;
  command.set(Field::Opd1Addr, (static_cast<uint32_t>(-kTermShift) & 0xFFFF) << 16 | zero);
  command.set(Field::Opd2Addr, static_cast<uint32_t>(factor.multiplier));
  builder.add(command);
}

/// An operand in the unit of the sum. `spare` has room for it.
LocalTensor scaledOperand(Builder &builder, const LocalTensor &operand, const Requantize &factor,
                          const LocalTensor &output, LocalTensor spare, ScratchAllocator &space) {
  LocalTensor scaled = space.take(DataType::I32, operand.shape, operand.startLane);
  if (factor.shift == 0) {
    addTerm(builder, scaled, operand, factor);
  } else {
    spare.shape = operand.shape;
    spare.startLane = operand.startLane;
    addTerm(builder, spare, operand, factor);
    addShift(builder, ArithOp::ArithShift, scaled, spare, -factor.shift, Rounding::HalfAway);
  }
  return broadcastTo(builder, scaled, output, space);
}

} // namespace

Expected<uint32_t> quantizedAdditionScratch(const QuantizedAddition &sum) {
  return checkedScratch("sum", sum);
}

Expected<void> emitQuantizedAddition(Builder &builder, const QuantizedAddition &sum) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), sum);
  if (Expected<void> fits = checkScratch(builder.layer(), sum.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{sum.scratch.address};
  const LocalTensor &output = sum.output;
  LocalTensor total = space.take(DataType::I32, output.shape, output.startLane);
  LocalTensor high = space.take(DataType::I32, output.shape, output.startLane);
  const LocalTensor left = scaledOperand(builder, sum.left, sum.leftFactor, output, total, space);
  const LocalTensor right =
      scaledOperand(builder, sum.right, sum.rightFactor, output, total, space);
  addArith(builder, sum.subtracts ? ArithOp::Sub : ArithOp::Add, total, left, right);
  addMultiplyHigh(builder, high, total, immediate(DataType::I32, sum.result.multiplier),
                  Rounding::HalfUp);
  Requantize shift = sum.result;
  shift.multiplier = 1;
  addRequantize(builder, output, high, shift, Rounding::HalfAway);
  return {};
}

} // namespace tpuc::bm1684x
