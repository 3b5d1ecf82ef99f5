//===- Recurrence.cpp - Recurrent cells over all steps --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Recurrence.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

namespace tpuc::bm1684x {

namespace {

constexpr bool kGatesAreColumns = true;
constexpr unsigned kCellTables = Series::kExp | Series::kLogistic;

/// The coefficients stand in front of all others.
struct TableSpace : ScratchAllocator {
  explicit TableSpace(uint32_t address)
      : ScratchAllocator{address}, table(bytes(Series::tableBytes(kCellTables))) {}
  uint32_t table;
};

/// The commands of one cell.
class Cell
    : public bm168x::RecurrentCell<Cell, Recurrence, Series::kNumRegisters, kGatesAreColumns> {
public:
  Cell(Builder &builder, const Recurrence &recurrence, TableSpace space)
      : RecurrentCell(recurrence, space), builder(builder),
        series(builder, kCellTables, space.table, recurrence.output.type) {}

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
  void scaled(const LocalTensor &to, const LocalTensor &from, double factor) {
    addArith(builder, ArithOp::Mul, to, from, immediate(from.type, factor));
  }
  /// A command for each direction: sums that lie without strides take half the time.
  void addToColumns(const LocalTensor &to, const Gates &a, const Gates &b) {
    for (int64_t direction = 0; direction < recurrence.directions; ++direction)
      add(gatesApart(to, direction * recurrence.batch, recurrence.directions * recurrence.batch),
          gatesApart(a.first, direction * a.apart, roundsOfUnits() * a.first.strides()[1]),
          gatesApart(b.first, direction * b.apart, roundsOfUnits() * b.first.strides()[1]));
  }
  LocalTensor directionsOf(LocalTensor first, int64_t apart) const {
    first.explicitStride = first.strides();
    first.layout = Layout::Explicit;
    first.explicitStride[2] = apart;
    first.shape[2] = recurrence.directions;
    return first;
  }
  void logistic(const LocalTensor &to, const LocalTensor &from, double factor) {
    const auto registerLike = [&](size_t index) { return to.at(plan.wide[index].address); };
    series.use({registerLike(0), registerLike(1), registerLike(2)});
    series.sigmoid(to, from, factor, 0);
  }
  void clear(const LocalTensor &tensor) {
    addUnaryArith(builder, ArithOp::Copy, tensor, immediate(tensor.type, 0));
  }
  void convert(const LocalTensor &to, const LocalTensor &from) {
    if (to.type == from.type)
      addUnaryArith(builder, ArithOp::Copy, to, from);
    else
      addCast(builder, to, from);
  }

private:
  int64_t roundsOfUnits() const { return units / kLanes; }
  /// Gates `stride` elements apart, from an element on, as images [gates,H,1,batch].
  LocalTensor gatesApart(LocalTensor tensor, int64_t first, int64_t stride) const {
    tensor.explicitStride = tensor.strides();
    tensor.layout = Layout::Explicit;
    tensor.explicitStride[0] = stride;
    tensor.address += static_cast<uint32_t>(first * tensor.elementBytes());
    tensor.shape = {bm168x::sigmoidsOf(recurrence.kind), units, 1, recurrence.batch};
    // Aligned, where that says the same.
    return tensor.slice(0, 0, tensor.shape[0]);
  }

  Builder &builder;
  Series series;
};

void Cell::product(const LocalTensor &to, const LocalTensor &input, uint32_t filter,
                   GatePlace first, bool isRecurrence) {
  const int64_t gates = bm168x::gatesOf(recurrence.kind);
  const int64_t slot = (first.direction * gates + first.gate) * roundsOfUnits();
  const int64_t row = alignUp(input.shape[1], channelBlock(input.prec())) * input.elementBytes();
  ConvCommand conv{
      .input = input,
      .output = to,
      .filter = localTensor(input.type, {1, 1, 1, 1}, filter + static_cast<uint32_t>(slot * row)),
      .bias = std::nullopt,
      .window = {}};
  if (recurrence.biasAddress) {
    // Of each direction the filter's gates, then those of the recurrence.
    const int64_t place = (2 * first.direction + (isRecurrence ? 1 : 0)) * gates * roundsOfUnits() +
                          first.gate * roundsOfUnits();
    conv.bias =
        localTensor(DataType::F32, {1, to.shape[1], 1, 1},
                    *recurrence.biasAddress + static_cast<uint32_t>(place * 4), Layout::Compact);
  }
  addConv(builder, conv);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Recurrence &recurrence) {
  const auto lies = [&](std::string_view name, const LocalTensor &tensor) {
    Expected<void> fits = checkFloatTensor(where, name, tensor);
    return fits ? checkLayout(where, name, tensor, Layout::Aligned) : fits;
  };
  if (Expected<void> fits = bm168x::checkRecurrence(where, recurrence, lies); !fits)
    return propagate(fits);
  TableSpace space(0);
  bm168x::RecurrencePlan<LocalTensor, Series::kNumRegisters, kGatesAreColumns>(recurrence, space);
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
  Cell(builder, recurrence, TableSpace(recurrence.scratch.address)).run();
  return {};
}

} // namespace tpuc::bm1684x
