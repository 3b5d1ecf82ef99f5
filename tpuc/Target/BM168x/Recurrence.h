//===- Recurrence.h - Recurrent cells over all steps ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_RECURRENCE_H
#define TPUC_TARGET_BM168X_RECURRENCE_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM168x/LocalMemory.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace tpuc::bm168x {

enum class CellKind : uint8_t { Lstm, Gru, Rnn };

/// Gates of a unit.
constexpr int64_t gatesOf(CellKind kind) {
  constexpr int64_t kGates[] = {4, 3, 1};
  return kGates[static_cast<size_t>(kind)];
}

/// One direction of a recurrent cell with the functions sigmoid and tanh, as ONNX states it: gates
/// i o f c, z r h or one.
///
/// Channels are features, columns are steps of `batch` samples each: input [1,I,1,steps*batch],
/// output [1,H,1,steps*batch], both Aligned from lane 0, of one type of floats that the chip has; H
/// is a multiple of the lanes, so that the gates of a unit lie in one lane. The filters of
/// [gates*H,I,1,1] and [gates*H,H,1,1] are packed as the chip's convolutions take them, the bias is
/// F32 [1,2*gates*H,1,1] Compact, the filter's in front of the recurrence's. Sums and states are
/// F32; what the next step multiplies is of the tensors' type. Products with the input are taken
/// for all steps at once.
template <typename Tensor, typename Room> struct Recurrence {
  using LocalTensor = Tensor;
  CellKind kind = CellKind::Lstm;
  Tensor input;
  Tensor output;
  uint32_t filterAddress = 0;
  uint32_t recurrenceAddress = 0;
  std::optional<uint32_t> biasAddress;
  /// [1,H,1,batch] Aligned; 0 where they are left out.
  std::optional<Tensor> initialHidden;
  std::optional<Tensor> initialCell;
  int64_t batch = 1;
  /// From the last step to the first.
  bool isReversed = false;
  /// Of a GRU: the reset gate multiplies the product with the state, not the state.
  bool resetsProduct = false;
  /// The output [1,H,1,batch] is the state of the cell behind the last step instead: of an LSTM.
  bool givesCell = false;
  Room scratch;
};

/// What the steps work on; all F32 but `operand`.
template <typename Tensor, size_t numRegisters> struct RecurrencePlan {
  Tensor products;                       ///< [1,gates*H,1,steps*batch]: of the input, for all steps
  Tensor gates;                          ///< [1,gates*H,1,batch]
  std::array<Tensor, numRegisters> wide; ///< Registers of functions, as large as the gates
  Tensor hidden;                         ///< [1,H,1,batch]
  Tensor cell;
  Tensor operand; ///< The hidden state in the tensors' type

  template <typename Room, typename Space>
  RecurrencePlan(const Recurrence<Tensor, Room> &recurrence, Space &space) {
    const int64_t units = recurrence.output.shape[1];
    const int64_t channels = gatesOf(recurrence.kind) * units;
    const auto take = [&](int64_t count, int64_t width) {
      return space.take(DataType::F32, {1, count, 1, width});
    };
    products = take(channels, recurrence.input.shape[3]);
    gates = take(channels, recurrence.batch);
    for (Tensor &tensor : wide)
      tensor = take(channels, recurrence.batch);
    hidden = take(units, recurrence.batch);
    cell = take(units, recurrence.batch);
    operand = hidden;
    if (recurrence.output.type != DataType::F32)
      operand = space.take(recurrence.output.type, hidden.shape);
  }
};

/// Errors (`where`) unless the tensors of a recurrence belong together; `lies(name, tensor)` says
/// whether the chip can take a tensor.
template <typename Tensor, typename Room>
Expected<void> checkRecurrence(const std::string &where, const Recurrence<Tensor, Room> &recurrence,
                               const auto &lies) {
  const Tensor &in = recurrence.input;
  const Tensor &out = recurrence.output;
  const auto check = [&](std::string_view name, const Tensor &tensor, int64_t channels,
                         int64_t columns) -> Expected<void> {
    if (Expected<void> fits = lies(name, tensor); !fits)
      return fits;
    const auto wanted = decltype(tensor.shape){1, channels, 1, columns};
    if (tensor.shape != wanted || tensor.type != out.type || tensor.startLane != 0)
      return makeError(
          where,
          fmt::format("{} [{}] {}", name, fmt::join(tensor.shape, ","), dataTypeName(tensor.type)),
          fmt::format("[{}] {} from lane 0", fmt::join(wanted, ","), dataTypeName(out.type)));
    return {};
  };
  const int64_t units = out.shape[1];
  if (units % int64_t{kLanes} != 0)
    return makeError(where, fmt::format("{} units", units),
                     fmt::format("a multiple of {}", kLanes));
  if (recurrence.batch < 1 || in.shape[3] % recurrence.batch != 0)
    return makeError(where, fmt::format("{} columns for {} samples", in.shape[3], recurrence.batch),
                     "whole steps");
  if (Expected<void> fits = check("input", in, in.shape[1], in.shape[3]); !fits)
    return fits;
  const int64_t columns = recurrence.givesCell ? recurrence.batch : in.shape[3];
  if (Expected<void> fits = check("output", out, units, columns); !fits)
    return fits;
  for (const std::optional<Tensor> *initial : {&recurrence.initialHidden, &recurrence.initialCell})
    if (*initial)
      if (Expected<void> fits = check("initial state", **initial, units, recurrence.batch); !fits)
        return fits;
  return {};
}

/// The commands of a recurrence, made of those that the chip's `Cell`, derived from this, adds:
/// - product(to, input, filter, firstGate, isRecurrence): to = filter * input + bias, for as many
///   gates as `to` has;
/// - add, sub, mul(to, a, b);
/// - linear(tensor, factor, addend), in place;
/// - logistic(to, from, gates, factor): to = 1 / (1 + exp(-factor * from)) of so many gates;
/// - clear(tensor): to 0;
/// - convert(to, from): to another type, or a copy.
template <typename Cell, typename Recurrence, size_t numRegisters> class RecurrentCell {
public:
  void run();

protected:
  using LocalTensor = typename Recurrence::LocalTensor;
  using Plan = RecurrencePlan<LocalTensor, numRegisters>;

  template <typename Space>
  RecurrentCell(const Recurrence &recurrence, Space &space)
      : recurrence(recurrence), plan(recurrence, space), units(recurrence.output.shape[1]) {}

  LocalTensor gate(const LocalTensor &tensor, int64_t index, int64_t count = 1) const {
    return tensor.slice(1, index * units, count * units);
  }

  const Recurrence &recurrence;
  Plan plan;
  int64_t units;

private:
  Cell &cell() { return static_cast<Cell &>(*this); }
  void begin(const LocalTensor &state, const std::optional<LocalTensor> &initial) {
    if (initial)
      cell().convert(state, *initial);
    else
      cell().clear(state);
  }
  /// tanh x = 2 sigmoid(2 x) - 1
  void tanh(const LocalTensor &to, const LocalTensor &from) {
    cell().logistic(to, from, 1, 2);
    cell().linear(to, 2, -1);
  }
  void stepLstm(const LocalTensor &products);
  void stepGru(const LocalTensor &products);
  void stepRnn(const LocalTensor &products);
};

template <typename Cell, typename Recurrence, size_t numRegisters>
void RecurrentCell<Cell, Recurrence, numRegisters>::stepLstm(const LocalTensor &products) {
  cell().product(plan.gates, plan.operand, recurrence.recurrenceAddress, 0, true);
  cell().add(plan.gates, plan.gates, products);
  const LocalTensor candidate = gate(plan.gates, 3);
  // All four by one series.
  cell().linear(candidate, 2, 0);
  cell().logistic(plan.gates, plan.gates, 4, 1);
  cell().linear(candidate, 2, -1);
  cell().mul(plan.cell, gate(plan.gates, 2), plan.cell);
  cell().mul(candidate, gate(plan.gates, 0), candidate);
  cell().add(plan.cell, plan.cell, candidate);
  tanh(candidate, plan.cell);
  cell().mul(plan.hidden, gate(plan.gates, 1), candidate);
}

template <typename Cell, typename Recurrence, size_t numRegisters>
void RecurrentCell<Cell, Recurrence, numRegisters>::stepGru(const LocalTensor &products) {
  const LocalTensor candidate = gate(plan.gates, 2);
  const LocalTensor both = gate(plan.gates, 0, 2);
  const LocalTensor reset = gate(plan.gates, 1);
  cell().product(recurrence.resetsProduct ? plan.gates : both, plan.operand,
                 recurrence.recurrenceAddress, 0, true);
  cell().add(both, both, gate(products, 0, 2));
  cell().logistic(both, both, 2, 1);
  if (recurrence.resetsProduct) {
    cell().mul(candidate, reset, candidate);
  } else {
    cell().mul(reset, reset, plan.hidden);
    LocalTensor kept = reset;
    if (plan.operand.type != DataType::F32) {
      kept = plan.operand;
      cell().convert(kept, reset);
    }
    cell().product(candidate, kept, recurrence.recurrenceAddress, 2, true);
  }
  cell().add(candidate, candidate, gate(products, 2));
  tanh(candidate, candidate);
  // (1 - z) n + z h = n + z (h - n)
  cell().sub(plan.hidden, plan.hidden, candidate);
  cell().mul(plan.hidden, gate(plan.gates, 0), plan.hidden);
  cell().add(plan.hidden, plan.hidden, candidate);
}

template <typename Cell, typename Recurrence, size_t numRegisters>
void RecurrentCell<Cell, Recurrence, numRegisters>::stepRnn(const LocalTensor &products) {
  cell().product(plan.gates, plan.operand, recurrence.recurrenceAddress, 0, true);
  cell().add(plan.gates, plan.gates, products);
  tanh(plan.hidden, plan.gates);
}

template <typename Cell, typename Recurrence, size_t numRegisters>
void RecurrentCell<Cell, Recurrence, numRegisters>::run() {
  const bool isNarrow = plan.operand.type != DataType::F32;
  cell().product(plan.products, recurrence.input, recurrence.filterAddress, 0, false);
  begin(plan.hidden, recurrence.initialHidden);
  if (isNarrow)
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
    if (isNarrow)
      cell().convert(plan.operand, plan.hidden);
    if (!recurrence.givesCell)
      cell().convert(recurrence.output.slice(3, first, recurrence.batch), plan.operand);
  }
  if (recurrence.givesCell)
    cell().convert(recurrence.output, plan.cell);
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_RECURRENCE_H
