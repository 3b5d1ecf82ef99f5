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

/// Gates whose function is the sigmoid of sums with the state: one series computes them.
constexpr int64_t sigmoidsOf(CellKind kind) {
  constexpr int64_t kSigmoids[] = {4, 2, 1};
  return kSigmoids[static_cast<size_t>(kind)];
}

/// What the steps work on; all F32 but `operand`.
///
/// Products have the gates of a unit in rounds of lanes, one behind the other. A command takes as
/// long for one column as for a line of them, so it is better to have the gates as columns:
/// ```
/// sums   i | o | f | c        rounds of lanes, `batch` columns each
/// gates  i o f c              one round
/// ```
template <typename Tensor, size_t numRegisters, bool gatesAreColumns> struct RecurrencePlan {
  Tensor products;                       ///< [1,gates*H,1,steps*batch]: of the input, for all steps
  Tensor sums;                           ///< [1,gates*H,1,batch]: of one step
  Tensor gates;                          ///< Sigmoids: [1,H,1,sigmoids*batch], or in the sums
  std::array<Tensor, numRegisters> wide; ///< Registers of functions, as large as the gates
  Tensor hidden;                         ///< [1,H,1,batch], as the following
  Tensor cell;
  Tensor candidate;
  Tensor spare;
  Tensor operand; ///< The hidden state in the tensors' type

  template <typename Room, typename Space>
  RecurrencePlan(const Recurrence<Tensor, Room> &recurrence, Space &space) {
    const int64_t units = recurrence.output.shape[1];
    const int64_t channels = gatesOf(recurrence.kind) * units;
    const int64_t sigmoids = sigmoidsOf(recurrence.kind);
    const auto take = [&](int64_t count, int64_t width) {
      return space.take(DataType::F32, {1, count, 1, width});
    };
    products = take(channels, recurrence.input.shape[3]);
    sums = take(channels, recurrence.batch);
    gates = gatesAreColumns ? take(units, sigmoids * recurrence.batch)
                            : sums.slice(1, 0, sigmoids * units);
    for (Tensor &tensor : wide)
      tensor = take(gates.shape[1], gates.shape[3]);
    hidden = take(units, recurrence.batch);
    cell = take(units, recurrence.batch);
    candidate =
        gatesAreColumns ? take(units, recurrence.batch) : sums.slice(1, channels - units, units);
    spare = take(units, recurrence.batch);
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
/// - addToColumns(to, a, b): a + b, whose gates are rounds of lanes, to gates that are columns;
/// - linear(tensor, factor, addend), in place;
/// - doubled(to, from): to = 2 * from;
/// - logistic(to, from, factor): to = 1 / (1 + exp(-factor * from));
/// - clear(tensor): to 0;
/// - convert(to, from): to another type, or a copy.
/// With `gatesAreColumns` a gate may begin amid a line, which all but `linear` and `logistic` take.
template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
class RecurrentCell {
public:
  void run();

protected:
  using LocalTensor = typename Recurrence::LocalTensor;
  using Plan = RecurrencePlan<LocalTensor, numRegisters, gatesAreColumns>;

  template <typename Space>
  RecurrentCell(const Recurrence &recurrence, Space &space)
      : recurrence(recurrence), plan(recurrence, space), units(recurrence.output.shape[1]) {}

  /// Gates in rounds of lanes.
  LocalTensor slots(const LocalTensor &tensor, int64_t first, int64_t count = 1) const {
    return tensor.slice(1, first * units, count * units);
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
  LocalTensor gate(int64_t index) const {
    return gatesAreColumns ? plan.gates.slice(3, index * recurrence.batch, recurrence.batch)
                           : slots(plan.gates, index);
  }
  /// Sigmoids of the sums and the products of a step with the input.
  void sigmoids(const LocalTensor &products) {
    const int64_t count = sigmoidsOf(recurrence.kind);
    const LocalTensor sums = slots(plan.sums, 0, count);
    if constexpr (gatesAreColumns)
      cell().addToColumns(plan.gates, sums, slots(products, 0, count));
    else
      cell().add(plan.gates, sums, slots(products, 0, count));
    cell().logistic(plan.gates, plan.gates, 1);
  }
  /// tanh x = 2 sigmoid(2 x) - 1
  void tanh(const LocalTensor &to, const LocalTensor &from) {
    cell().logistic(to, from, 2);
    cell().linear(to, 2, -1);
  }
  void stepLstm(const LocalTensor &products);
  void stepGru(const LocalTensor &products);
  void stepRnn(const LocalTensor &products);
};

/// The products of the candidate are twice as large.
template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::stepLstm(
    const LocalTensor &products) {
  constexpr int64_t kInput = 0, kOutput = 1, kForget = 2, kCandidate = 3;
  cell().product(plan.sums, plan.operand, recurrence.recurrenceAddress, 0, true);
  cell().linear(slots(plan.sums, kCandidate), 2, 0);
  // All four by one series.
  sigmoids(products);
  if constexpr (gatesAreColumns) {
    cell().doubled(plan.candidate, gate(kCandidate));
    cell().linear(plan.candidate, 1, -1);
  } else {
    cell().linear(plan.candidate, 2, -1);
  }
  cell().mul(plan.spare, gate(kForget), plan.cell);
  cell().mul(plan.hidden, gate(kInput), plan.candidate);
  cell().add(plan.cell, plan.spare, plan.hidden);
  tanh(plan.candidate, plan.cell);
  cell().mul(plan.hidden, gate(kOutput), plan.candidate);
}

template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::stepGru(
    const LocalTensor &products) {
  constexpr int64_t kUpdate = 0, kReset = 1, kCandidate = 2;
  const LocalTensor sum = slots(plan.sums, kCandidate);
  cell().product(recurrence.resetsProduct ? plan.sums : slots(plan.sums, 0, kCandidate),
                 plan.operand, recurrence.recurrenceAddress, 0, true);
  sigmoids(products);
  LocalTensor kept = plan.spare;
  if (recurrence.resetsProduct) {
    cell().mul(kept, gate(kReset), sum);
  } else {
    cell().mul(plan.spare, gate(kReset), plan.hidden);
    if (plan.operand.type != DataType::F32) {
      kept = plan.operand;
      cell().convert(kept, plan.spare);
    }
    cell().product(sum, kept, recurrence.recurrenceAddress, kCandidate, true);
    kept = sum;
  }
  cell().add(plan.candidate, kept, slots(products, kCandidate));
  tanh(plan.candidate, plan.candidate);
  // (1 - z) n + z h = n + z (h - n)
  cell().sub(plan.spare, plan.hidden, plan.candidate);
  const LocalTensor rest = slots(plan.sums, 0);
  cell().mul(rest, gate(kUpdate), plan.spare);
  cell().add(plan.hidden, rest, plan.candidate);
}

template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::stepRnn(
    const LocalTensor &products) {
  cell().product(plan.sums, plan.operand, recurrence.recurrenceAddress, 0, true);
  cell().add(plan.spare, plan.sums, products);
  tanh(plan.hidden, plan.spare);
}

template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::run() {
  const bool isNarrow = plan.operand.type != DataType::F32;
  cell().product(plan.products, recurrence.input, recurrence.filterAddress, 0, false);
  if (recurrence.kind == CellKind::Lstm)
    cell().linear(slots(plan.products, 3), 2, 0);
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
