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

/// One or both directions of a recurrent cell with the functions sigmoid and tanh, as ONNX states
/// it: gates i o f c, z r h or one.
///
/// Channels are features, columns are steps of `batch` samples each: input [1,I,1,steps*batch],
/// output [1,H,1,steps*directions*batch], both Aligned from lane 0, of one type of floats that the
/// chip has; H is a multiple of the lanes, so that the gates of a unit lie in one lane. The filters
/// of [directions*gates*H,I,1,1] and [directions*gates*H,H,1,1] are packed as the chip's
/// convolutions take them, the bias is F32 [1,directions*2*gates*H,1,1] Compact, of each direction
/// the filter's in front of the recurrence's. Sums and states are F32; what the next step
/// multiplies is of the tensors' type. Products with the input are taken for all steps at once.
template <typename Tensor, typename Room> struct Recurrence {
  using LocalTensor = Tensor;
  CellKind kind = CellKind::Lstm;
  Tensor input;
  Tensor output;
  uint32_t filterAddress = 0;
  uint32_t recurrenceAddress = 0;
  std::optional<uint32_t> biasAddress;
  /// [1,H,1,directions*batch] Aligned; 0 where they are left out.
  std::optional<Tensor> initialHidden;
  std::optional<Tensor> initialCell;
  int64_t batch = 1;
  /// 1 or 2, of which the second goes from the last step to the first.
  int64_t directions = 1;
  /// So does the only one.
  bool isReversed = false;
  /// Of a GRU: the reset gate multiplies the product with the state, not the state.
  bool resetsProduct = false;
  /// The output [1,H,1,directions*batch] is the state of the cell behind the last step instead: of
  /// an LSTM.
  bool givesCell = false;
  Room scratch;

  int64_t steps() const { return input.shape[3] / batch; }
  /// Where direction `direction` is in its `index`-th step.
  int64_t stepOf(int64_t direction, int64_t index) const {
    return isReversed || direction == 1 ? steps() - 1 - index : index;
  }
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
/// The rounds of the other direction follow. Its columns stand beside those of the same gate, so
/// that a command computes both directions.
template <typename Tensor, size_t numRegisters, bool gatesAreColumns> struct RecurrencePlan {
  Tensor products; ///< [1,directions*gates*H,1,steps*batch]: of the input, for all steps
  Tensor sums;     ///< [1,directions*gates*H,1,batch]: of one step
  Tensor gates;    ///< Sigmoids: [1,H,sigmoids*directions,batch], or in the sums
  std::array<Tensor, numRegisters> wide; ///< Registers of functions, as large as the gates
  Tensor hidden;                         ///< [1,H,directions,batch], as the following
  Tensor cell; ///< Twice as large, so that its tanh is a sigmoid of itself
  Tensor candidate;
  Tensor spare;
  Tensor operand; ///< In the tensors' type: where the hidden state is no column of the output

  template <typename Room, typename Space>
  RecurrencePlan(const Recurrence<Tensor, Room> &recurrence, Space &space) {
    const int64_t units = recurrence.output.shape[1];
    const int64_t directions = recurrence.directions;
    const int64_t channels = directions * gatesOf(recurrence.kind) * units;
    const int64_t sigmoids = sigmoidsOf(recurrence.kind);
    const auto take = [&](int64_t count, int64_t height, int64_t width) {
      return space.take(DataType::F32, {1, count, height, width});
    };
    const auto state = [&] { return take(units, directions, recurrence.batch); };
    products = take(channels, 1, recurrence.input.shape[3]);
    sums = take(channels, 1, recurrence.batch);
    gates = gatesAreColumns ? take(units, sigmoids * directions, recurrence.batch)
                            : sums.slice(1, 0, sigmoids * units);
    for (Tensor &tensor : wide)
      tensor = take(gates.shape[1], gates.shape[2], gates.shape[3]);
    hidden = state();
    cell = state();
    candidate = gatesAreColumns ? state() : sums.slice(1, channels - units, units);
    spare = state();
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
  if (recurrence.directions != 1 && recurrence.directions != 2)
    return makeError(where, fmt::format("{} directions", recurrence.directions), "1 or 2");
  const int64_t states = recurrence.directions * recurrence.batch;
  const int64_t columns = recurrence.givesCell ? states : recurrence.steps() * states;
  if (Expected<void> fits = check("output", out, units, columns); !fits)
    return fits;
  for (const std::optional<Tensor> *initial : {&recurrence.initialHidden, &recurrence.initialCell})
    if (*initial)
      if (Expected<void> fits = check("initial state", **initial, units, states); !fits)
        return fits;
  return {};
}

/// The commands of a recurrence, made of those that the chip's `Cell`, derived from this, adds:
/// - product(to, input, filter, first, isRecurrence): to = filter * input + bias, for as many gates
///   as `to` has, from gate first.gate of direction first.direction on;
/// - add, sub, mul(to, a, b);
/// - addToColumns(to, a, b): a + b, gates of all directions as `Gates`, to gates that are columns;
/// - directionsOf(first, apart): the tensor with the other direction's elements `apart` behind it;
/// - linear(tensor, factor, addend), in place;
/// - scaled(to, from, factor): to = factor * from;
/// - logistic(to, from, factor): to = 1 / (1 + exp(-factor * from));
/// - clear(tensor): to 0;
/// - convert(to, from): to another type, or a copy.
/// With `gatesAreColumns` a gate may begin amid a line, which all but `linear` and `logistic` take.
/// Without, there is one direction.
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
  /// All gates of one step: those of the first direction, [1,gates*H,1,batch], and how many
  /// elements behind them those of the other direction begin.
  struct Gates {
    LocalTensor first;
    int64_t apart = 0;
  };
  struct GatePlace {
    int64_t direction = 0, gate = 0;
  };

  const Recurrence &recurrence;
  Plan plan;
  int64_t units;

private:
  /// What the next products of each direction multiply, [1,H,1,batch].
  std::array<LocalTensor, 2> states;

  Cell &cell() { return static_cast<Cell &>(*this); }
  void begin(const LocalTensor &state, const std::optional<LocalTensor> &initial) {
    if (initial)
      cell().convert(state, initial->withShape(state.shape));
    else
      cell().clear(state);
  }
  /// A gate of all directions, [1,H,directions,batch].
  LocalTensor gate(int64_t index) const {
    return gatesAreColumns
               ? plan.gates.slice(2, index * recurrence.directions, recurrence.directions)
               : slots(plan.gates, index);
  }
  LocalTensor gate(const Gates &gates, int64_t index) {
    if constexpr (gatesAreColumns)
      if (recurrence.directions == 2)
        return cell().directionsOf(slots(gates.first, index), gates.apart);
    return slots(gates.first, index);
  }
  /// Elements from the gates of one direction to those of the other one.
  int64_t roundsApart(const LocalTensor &tensor) const {
    return gatesOf(recurrence.kind) * units / int64_t{kLanes} * int64_t{tensor.strides()[1]};
  }
  Gates sums() const {
    return {slots(plan.sums, 0, gatesOf(recurrence.kind)), roundsApart(plan.sums)};
  }
  /// The products with the input of the `index`-th step of each direction.
  Gates products(int64_t index) const {
    const int64_t first = recurrence.stepOf(0, index);
    const int64_t steps = recurrence.directions == 2 ? recurrence.stepOf(1, index) - first : 0;
    return {slots(plan.products.slice(3, first * recurrence.batch, recurrence.batch), 0,
                  gatesOf(recurrence.kind)),
            roundsApart(plan.products) + steps * recurrence.batch};
  }
  /// The sums of `count` gates of each direction with its state.
  void multiply(int64_t first, int64_t count) {
    for (int64_t direction = 0; direction < recurrence.directions; ++direction)
      cell().product(slots(plan.sums, direction * gatesOf(recurrence.kind) + first, count),
                     states[direction], recurrence.recurrenceAddress, {direction, first}, true);
  }
  /// The candidates of an LSTM twice as large, of sums or products.
  void doubleCandidates(const LocalTensor &tensor) {
    constexpr int64_t kCandidate = 3;
    for (int64_t direction = 0; direction < recurrence.directions; ++direction)
      cell().linear(slots(tensor, direction * gatesOf(recurrence.kind) + kCandidate), 2, 0);
  }
  /// Sigmoids of the sums and the products of a step with the input.
  void sigmoids(const Gates &products) {
    if constexpr (gatesAreColumns) {
      cell().addToColumns(plan.gates, sums(), products);
    } else {
      const int64_t count = sigmoidsOf(recurrence.kind);
      cell().add(plan.gates, slots(plan.sums, 0, count), slots(products.first, 0, count));
    }
    cell().logistic(plan.gates, plan.gates, 1);
  }
  /// tanh x = 2 sigmoid(2 x) - 1, where `from` is x or, of `isDoubled`, 2 x.
  void tanh(const LocalTensor &to, const LocalTensor &from, bool isDoubled = false) {
    cell().logistic(to, from, isDoubled ? 1 : 2);
    cell().linear(to, 2, -1);
  }
  void stepLstm(const Gates &products);
  void stepGru(const Gates &products);
  void stepRnn(const Gates &products);
};

/// The products of the candidate are twice as large, as is the cell, which is exact:
/// 2 c' = f 2 c + i (4 sigmoid(2 x) - 2), h = o (2 sigmoid(2 c') - 1).
template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::stepLstm(
    const Gates &products) {
  constexpr int64_t kInput = 0, kOutput = 1, kForget = 2, kCandidate = 3;
  multiply(0, gatesOf(recurrence.kind));
  doubleCandidates(plan.sums);
  // All four by one series.
  sigmoids(products);
  if constexpr (gatesAreColumns) {
    cell().scaled(plan.candidate, gate(kCandidate), 4);
    cell().linear(plan.candidate, 1, -2);
  } else {
    cell().linear(plan.candidate, 4, -2);
  }
  cell().mul(plan.spare, gate(kForget), plan.cell);
  cell().mul(plan.hidden, gate(kInput), plan.candidate);
  cell().add(plan.cell, plan.spare, plan.hidden);
  tanh(plan.candidate, plan.cell, /*isDoubled=*/true);
  cell().mul(plan.hidden, gate(kOutput), plan.candidate);
}

template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::stepGru(
    const Gates &products) {
  constexpr int64_t kUpdate = 0, kReset = 1, kCandidate = 2;
  const LocalTensor sum = gate(sums(), kCandidate);
  multiply(0, recurrence.resetsProduct ? gatesOf(recurrence.kind) : kCandidate);
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
    for (int64_t direction = 0; direction < recurrence.directions; ++direction)
      states[direction] = kept.slice(2, direction, 1);
    multiply(kCandidate, 1);
    kept = sum;
  }
  cell().add(plan.candidate, kept, gate(products, kCandidate));
  tanh(plan.candidate, plan.candidate);
  // (1 - z) n + z h = n + z (h - n)
  cell().sub(plan.spare, plan.hidden, plan.candidate);
  cell().mul(plan.cell, gate(kUpdate), plan.spare);
  cell().add(plan.hidden, plan.cell, plan.candidate);
}

template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::stepRnn(
    const Gates &products) {
  multiply(0, 1);
  cell().add(plan.spare, gate(sums(), 0), gate(products, 0));
  tanh(plan.hidden, plan.spare);
}

template <typename Cell, typename Recurrence, size_t numRegisters, bool gatesAreColumns>
void RecurrentCell<Cell, Recurrence, numRegisters, gatesAreColumns>::run() {
  const bool isNarrow = plan.operand.type != DataType::F32;
  const int64_t gates = gatesOf(recurrence.kind);
  for (int64_t direction = 0; direction < recurrence.directions; ++direction)
    cell().product(slots(plan.products, direction * gates, gates), recurrence.input,
                   recurrence.filterAddress, {direction, 0}, false);
  if (recurrence.kind == CellKind::Lstm)
    doubleCandidates(plan.products);
  begin(plan.hidden, recurrence.initialHidden);
  if (isNarrow)
    begin(plan.operand, recurrence.initialHidden);
  if (recurrence.kind == CellKind::Lstm)
    begin(plan.cell, recurrence.initialCell);
  if (recurrence.kind == CellKind::Lstm && recurrence.initialCell)
    cell().linear(plan.cell, 2, 0);
  for (int64_t direction = 0; direction < recurrence.directions; ++direction)
    states[direction] = plan.operand.slice(2, direction, 1);
  for (int64_t i = 0; i < recurrence.steps(); ++i) {
    if (recurrence.kind == CellKind::Lstm)
      stepLstm(products(i));
    else if (recurrence.kind == CellKind::Gru)
      stepGru(products(i));
    else
      stepRnn(products(i));
    if (recurrence.givesCell && isNarrow)
      cell().convert(plan.operand, plan.hidden);
    for (int64_t direction = 0; direction < recurrence.directions; ++direction) {
      const int64_t place = recurrence.stepOf(direction, i) * recurrence.directions + direction;
      const LocalTensor hidden = plan.hidden.slice(2, direction, 1);
      states[direction] = plan.operand.slice(2, direction, 1);
      if (recurrence.givesCell)
        continue;
      const LocalTensor output =
          recurrence.output.slice(3, place * recurrence.batch, recurrence.batch);
      cell().convert(output, hidden);
      if (isNarrow)
        states[direction] = output;
    }
  }
  if (recurrence.givesCell) {
    cell().linear(plan.cell, 0.5, 0);
    cell().convert(recurrence.output, plan.cell.withShape(recurrence.output.shape));
  }
}

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_RECURRENCE_H
