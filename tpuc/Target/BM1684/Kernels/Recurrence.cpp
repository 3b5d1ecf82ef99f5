//===- Recurrence.cpp - Recurrent cells over all steps on the BM1684 ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Recurrence.h"
#include "tpuc/Target/BM1684/Kernels/Functions.h"
#include "tpuc/Target/BM1684/Kernels/WindowCommands.h"

namespace tpuc::bm1684 {

namespace {

/// The commands of one cell.
class Cell : public bm168x::RecurrentCell<Cell, Recurrence, Series::kNumRegisters, false> {
public:
  Cell(Builder &builder, const Recurrence &recurrence, ScratchAllocator space)
      : RecurrentCell(recurrence, space), builder(builder) {}

  void product(const LocalTensor &to, const LocalTensor &input, uint32_t filter, GatePlace first,
               bool isRecurrence);
  void add(const LocalTensor &to, const Term &a, const Term &b) {
    addArith(builder, ArithOp::Add, to, a, b);
  }
  void sub(const LocalTensor &to, const Term &a, const Term &b) {
    addArith(builder, ArithOp::Sub, to, a, b);
  }
  void mul(const LocalTensor &to, const Term &a, const Term &b) {
    addArith(builder, ArithOp::Mul, to, a, b);
  }
  void linear(const LocalTensor &tensor, double factor, double addend) {
    addLinear(builder, tensor, tensor, factor, addend);
  }
  void logistic(const LocalTensor &to, const LocalTensor &from, double factor) {
    Series series{builder};
    for (size_t index = 0; index < Series::kNumRegisters; ++index)
      series.registers[index] = plan.wide[index].slice(1, 0, to.shape[1]);
    if (factor != 1)
      addLinear(builder, to, from, factor, 0);
    series.sigmoid(factor == 1 ? from : to, to);
  }
  void clear(const LocalTensor &tensor) { addCopy(builder, tensor, number(0)); }
  /// There is one type.
  void convert(const LocalTensor &to, const LocalTensor &from) { addCopy(builder, to, from); }

private:
  Builder &builder;
};

void Cell::product(const LocalTensor &to, const LocalTensor &input, uint32_t filter,
                   GatePlace first, bool isRecurrence) {
  const int64_t slot = first.gate * units / kLanes;
  const int64_t row = filterRow(input.shape[1], 1);
  const auto at = [&](uint32_t address, int64_t words) {
    return to.at(address + static_cast<uint32_t>(words * 4)).commandAddress();
  };
  ConvCommand conv{
      .input = input, .output = to, .filter = at(filter, slot * row), .slotStride = row};
  if (recurrence.biasAddress) {
    const int64_t gates = first.gate + (isRecurrence ? bm168x::gatesOf(recurrence.kind) : 0);
    conv.bias = at(*recurrence.biasAddress, gates * units / kLanes);
  }
  addConv(builder, conv);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Recurrence &recurrence) {
  const auto lies = [&](std::string_view name, const LocalTensor &tensor) {
    return checkRegular(where, name, tensor);
  };
  if (Expected<void> fits = bm168x::checkRecurrence(where, recurrence, lies); !fits)
    return propagate(fits);
  if (recurrence.directions != 1)
    return makeError(where, "both directions of a cell at once", "one");
  ScratchAllocator space;
  bm168x::RecurrencePlan<LocalTensor, Series::kNumRegisters, false>(recurrence, space);
  return space.next;
}

} // namespace

Expected<uint32_t> recurrenceScratch(const Recurrence &recurrence) {
  return checkedScratch("recurrence", recurrence);
}

Expected<void> emitRecurrence(Builder &builder, const Recurrence &recurrence) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), recurrence);
  if (Expected<void> fits = checkScratch(builder.layer(), recurrence.scratch, needed); !fits)
    return fits;
  Cell(builder, recurrence, ScratchAllocator{recurrence.scratch.address}).run();
  return {};
}

} // namespace tpuc::bm1684
