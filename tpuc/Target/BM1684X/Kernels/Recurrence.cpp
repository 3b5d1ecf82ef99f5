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

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

int64_t gatesOf(CellKind kind) {
  constexpr int64_t kGates[] = {4, 3, 1};
  return kGates[static_cast<size_t>(kind)];
}

constexpr unsigned kCellTables = Series::kExp | Series::kLogistic;

/// What the steps work on; all F32 but `operand`.
struct RecurrencePlan {
  uint32_t table = 0;
  LocalTensor products; ///< [1,gates*H,1,steps*batch]: of the input, for all steps
  LocalTensor gates;    ///< [1,gates*H,1,batch]
  std::array<LocalTensor, Series::kNumRegisters> wide; ///< As large as the gates
  LocalTensor hidden;                                  ///< [1,H,1,batch]
  LocalTensor cell;
  LocalTensor operand; ///< The hidden state in the tensors' type
};

RecurrencePlan planOf(const Recurrence &recurrence, ScratchAllocator &space) {
  RecurrencePlan plan;
  const int64_t units = recurrence.output.shape[1];
  const int64_t channels = gatesOf(recurrence.kind) * units;
  const auto take = [&](int64_t count, int64_t width) {
    return space.take(DataType::F32, {1, count, 1, width});
  };
  plan.table = space.bytes(Series::tableBytes(kCellTables));
  plan.products = take(channels, recurrence.input.shape[3]);
  plan.gates = take(channels, recurrence.batch);
  for (LocalTensor &tensor : plan.wide)
    tensor = take(channels, recurrence.batch);
  plan.hidden = take(units, recurrence.batch);
  plan.cell = take(units, recurrence.batch);
  plan.operand = plan.hidden;
  if (recurrence.output.type != DataType::F32)
    plan.operand = space.take(recurrence.output.type, plan.hidden.shape);
  return plan;
}

Expected<void> checkTensor(const std::string &where, std::string_view name,
                           const LocalTensor &tensor, const Extents &wanted, DataType type) {
  if (Expected<void> fits = checkFloatTensor(where, name, tensor); !fits)
    return fits;
  if (tensor.shape != wanted || tensor.type != type || tensor.startLane != 0)
    return makeError(
        where,
        fmt::format("{} [{}] {}", name, fmt::join(tensor.shape, ","), dataTypeName(tensor.type)),
        fmt::format("[{}] {} from lane 0", fmt::join(wanted, ","), dataTypeName(type)));
  return checkLayout(where, name, tensor, Layout::Aligned);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Recurrence &recurrence) {
  const LocalTensor &in = recurrence.input;
  const LocalTensor &out = recurrence.output;
  const int64_t units = out.shape[1];
  if (units % int64_t{kLanes} != 0)
    return makeError(where, fmt::format("{} units", units),
                     fmt::format("a multiple of {}", kLanes));
  if (recurrence.batch < 1 || in.shape[3] % recurrence.batch != 0)
    return makeError(where, fmt::format("{} columns for {} samples", in.shape[3], recurrence.batch),
                     "whole steps");
  const Extents state = {1, units, 1, recurrence.batch};
  if (Expected<void> fits =
          checkTensor(where, "input", in, {1, in.shape[1], 1, in.shape[3]}, out.type);
      !fits)
    return propagate(fits);
  const int64_t columns = recurrence.givesCell ? recurrence.batch : in.shape[3];
  if (Expected<void> fits = checkTensor(where, "output", out, {1, units, 1, columns}, out.type);
      !fits)
    return propagate(fits);
  for (const std::optional<LocalTensor> *initial :
       {&recurrence.initialHidden, &recurrence.initialCell})
    if (*initial)
      if (Expected<void> fits = checkTensor(where, "initial state", **initial, state, out.type);
          !fits)
        return propagate(fits);
  ScratchAllocator space;
  planOf(recurrence, space);
  return space.next;
}

/// The commands of one cell.
class Cell {
public:
  Cell(Builder &builder, const Recurrence &recurrence)
      : builder(builder), recurrence(recurrence), space{recurrence.scratch.address},
        plan(planOf(recurrence, space)), units(recurrence.output.shape[1]),
        series(builder, kCellTables, plan.table, recurrence.output.type) {}

  void run();

private:
  LocalTensor gate(const LocalTensor &tensor, int64_t index, int64_t count = 1) const {
    return tensor.slice(1, index * units, count * units);
  }
  void arith(ArithOp op, const LocalTensor &to, const Term &a, const Term &b) {
    addArith(builder, op, to, a, b);
  }
  void product(const LocalTensor &to, const LocalTensor &input, uint32_t filter, int64_t firstGate,
               bool isRecurrence);
  void begin(const LocalTensor &state, const std::optional<LocalTensor> &initial);
  void convert(const LocalTensor &to, const LocalTensor &from);
  void useRegisters(int64_t gates);
  void sigmoid(const LocalTensor &tensor, int64_t gates);
  void tanh(const LocalTensor &to, const LocalTensor &from);
  void stepLstm(const LocalTensor &products);
  void stepGru(const LocalTensor &products);
  void stepRnn(const LocalTensor &products);

  Builder &builder;
  const Recurrence &recurrence;
  ScratchAllocator space;
  RecurrencePlan plan;
  int64_t units;
  Series series;
};

/// to = filter * input + bias, for as many gates as `to` has.
void Cell::product(const LocalTensor &to, const LocalTensor &input, uint32_t filter,
                   int64_t firstGate, bool isRecurrence) {
  const int64_t slot = firstGate * units / kLanes;
  const int64_t row = alignUp(input.shape[1], channelBlock(input.prec())) * input.elementBytes();
  ConvCommand conv{
      .input = input,
      .output = to,
      .filter = localTensor(input.type, {1, 1, 1, 1}, filter + static_cast<uint32_t>(slot * row)),
      .bias = std::nullopt,
      .window = {}};
  if (recurrence.biasAddress) {
    const int64_t first =
        slot + (isRecurrence ? gatesOf(recurrence.kind) * units / kLanes : int64_t{0});
    conv.bias =
        localTensor(DataType::F32, {1, to.shape[1], 1, 1},
                    *recurrence.biasAddress + static_cast<uint32_t>(first * 4), Layout::Compact);
  }
  addConv(builder, conv);
}

void Cell::convert(const LocalTensor &to, const LocalTensor &from) {
  if (to.type == from.type)
    addUnaryArith(builder, ArithOp::Copy, to, from);
  else
    addCast(builder, to, from);
}

void Cell::begin(const LocalTensor &state, const std::optional<LocalTensor> &initial) {
  if (initial)
    convert(state, *initial);
  else
    addUnaryArith(builder, ArithOp::Copy, state, immediate(state.type, 0));
}

void Cell::useRegisters(int64_t gates) {
  series.use(
      {gate(plan.wide[0], 0, gates), gate(plan.wide[1], 0, gates), gate(plan.wide[2], 0, gates)});
}

void Cell::sigmoid(const LocalTensor &tensor, int64_t gates) {
  useRegisters(gates);
  series.sigmoid(tensor, tensor, 1, 0);
}

/// tanh x = 2 sigmoid(2 x) - 1
void Cell::tanh(const LocalTensor &to, const LocalTensor &from) {
  useRegisters(1);
  series.sigmoid(to, from, 2, 0);
  addLinear(builder, to, to, 2, -1);
}

void Cell::stepLstm(const LocalTensor &products) {
  product(plan.gates, plan.operand, recurrence.recurrenceAddress, 0, true);
  arith(ArithOp::Add, plan.gates, plan.gates, products);
  const LocalTensor candidate = gate(plan.gates, 3);
  // All four by one series.
  addLinear(builder, candidate, candidate, 2, 0);
  sigmoid(plan.gates, 4);
  addLinear(builder, candidate, candidate, 2, -1);
  arith(ArithOp::Mul, plan.cell, gate(plan.gates, 2), plan.cell);
  arith(ArithOp::Mul, candidate, gate(plan.gates, 0), candidate);
  arith(ArithOp::Add, plan.cell, plan.cell, candidate);
  tanh(candidate, plan.cell);
  arith(ArithOp::Mul, plan.hidden, gate(plan.gates, 1), candidate);
}

void Cell::stepGru(const LocalTensor &products) {
  const LocalTensor candidate = gate(plan.gates, 2);
  const LocalTensor both = gate(plan.gates, 0, 2);
  const LocalTensor reset = gate(plan.gates, 1);
  product(recurrence.resetsProduct ? plan.gates : both, plan.operand, recurrence.recurrenceAddress,
          0, true);
  arith(ArithOp::Add, both, both, gate(products, 0, 2));
  sigmoid(both, 2);
  if (recurrence.resetsProduct) {
    arith(ArithOp::Mul, candidate, reset, candidate);
  } else {
    arith(ArithOp::Mul, reset, reset, plan.hidden);
    LocalTensor kept = reset;
    if (plan.operand.type != DataType::F32) {
      kept = plan.operand;
      addCast(builder, kept, reset);
    }
    product(candidate, kept, recurrence.recurrenceAddress, 2, true);
  }
  arith(ArithOp::Add, candidate, candidate, gate(products, 2));
  tanh(candidate, candidate);
  // (1 - z) n + z h = n + z (h - n)
  arith(ArithOp::Sub, plan.hidden, plan.hidden, candidate);
  arith(ArithOp::Mul, plan.hidden, gate(plan.gates, 0), plan.hidden);
  arith(ArithOp::Add, plan.hidden, plan.hidden, candidate);
}

void Cell::stepRnn(const LocalTensor &products) {
  product(plan.gates, plan.operand, recurrence.recurrenceAddress, 0, true);
  arith(ArithOp::Add, plan.gates, plan.gates, products);
  tanh(plan.hidden, plan.gates);
}

void Cell::run() {
  product(plan.products, recurrence.input, recurrence.filterAddress, 0, false);
  begin(plan.hidden, recurrence.initialHidden);
  if (plan.operand.type != DataType::F32)
    begin(plan.operand, recurrence.initialHidden);
  if (recurrence.kind == CellKind::Lstm)
    begin(plan.cell, recurrence.initialCell);
  const int64_t steps = recurrence.input.shape[3] / recurrence.batch;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t first = (recurrence.isReversed ? steps - 1 - i : i) * recurrence.batch;
    const LocalTensor products = plan.products.slice(3, first, recurrence.batch);
    if (recurrence.kind == CellKind::Lstm)
      stepLstm(products);
    else if (recurrence.kind == CellKind::Gru)
      stepGru(products);
    else
      stepRnn(products);
    if (plan.operand.type != DataType::F32)
      addCast(builder, plan.operand, plan.hidden);
    if (!recurrence.givesCell)
      convert(recurrence.output.slice(3, first, recurrence.batch), plan.operand);
  }
  if (recurrence.givesCell)
    convert(recurrence.output, plan.cell);
}

} // namespace

Expected<uint32_t> recurrenceScratch(const Recurrence &recurrence) {
  return checkedScratch("recurrence", recurrence);
}

Expected<void> emitRecurrence(Builder &builder, const Recurrence &recurrence) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), recurrence);
  if (Expected<void> fits = checkScratch(builder.layer(), recurrence.scratch, needed); !fits)
    return fits;
  Cell(builder, recurrence).run();
  return {};
}

} // namespace tpuc::bm1684x
