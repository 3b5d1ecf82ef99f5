//===- DecomposeRecurrent.cpp - Recurrent cells one by one ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The tensor [1, ...] of one direction of [directions, blocks, units, width], with units and width
/// filled up with 0.
struct UnitLayout {
  int64_t blocks = 1, units = 1, paddedUnits = 1, width = 1, paddedWidth = 1;
};

Tensor directionOf(const Tensor &all, int64_t direction, const UnitLayout &layout,
                   ArrayRef<int64_t> dims) {
  Tensor one(all.type(), Shape(std::span(dims.data(), dims.size())));
  const std::span<const std::byte> from = all.rawBytes();
  const std::span<std::byte> to = one.mutableBytes();
  std::ranges::fill(to, std::byte{0});
  const auto row = static_cast<size_t>(byteSize(all.type(), layout.width));
  const auto paddedRow = static_cast<size_t>(byteSize(all.type(), layout.paddedWidth));
  for (int64_t block = 0; block < layout.blocks; ++block)
    for (int64_t unit = 0; unit < layout.units; ++unit) {
      const auto source =
          static_cast<size_t>((direction * layout.blocks + block) * layout.units + unit);
      const auto target = static_cast<size_t>(block * layout.paddedUnits + unit);
      std::ranges::copy(from.subspan(source * row, row),
                        to.subspan(target * paddedRow, row).begin());
    }
  return one;
}

/// The operands that all three ops have.
enum : unsigned {
  kInput,
  kFilter,
  kRecurrence,
  kBias,
  kSequenceLengths,
  kInitialHidden,
  kInitialCell
};

template <typename Op> class Recurrent {
public:
  Recurrent(OpMaker &maker, Op op)
      : maker(maker), op(op),
        gates(OpMaker::dimsOf(op.getFilter())[1] / int64_t(op.getHiddenSize())),
        directions(OpMaker::dimsOf(op.getFilter())[0]), units(op.getHiddenSize()),
        paddedUnits(static_cast<int64_t>(
            llvm::alignTo(op.getHiddenSize(), maker.backend.tileUnit(op, kAxisC)))) {}

  bool run() {
    dropUnusedStates();
    if (!isKnown())
      return false;
    Value input = op.getInput();
    if (op.getBatchFirst())
      input = maker.permuted(input, {1, 0, 2}, "steps");
    steps = OpMaker::dimsOf(input)[0];
    samples = OpMaker::dimsOf(input)[1];
    for (int64_t direction = 0; direction < directions; ++direction)
      operands.push_back(operandsOf(input, direction));
    if constexpr (requires { op.getYC(); })
      if (isWanted(kCellResult))
        maker.replace(kCellResult, lastCell());
    if (!isWanted(0) && !isWanted(1))
      return true;
    SmallVector<Value> parts;
    for (int64_t direction = 0; direction < directions; ++direction)
      parts.push_back(cell(direction, 0, {steps, 1, samples, paddedUnits}));
    Value all = maker.joined(parts, 1, "directions");
    // [steps, directions, samples, units]
    all = maker.sliced(all, 3, 0, units, "units");
    if (isWanted(1))
      maker.replace(1, lastOf(all));
    if (isWanted(0))
      maker.replace(0, op.getBatchFirst() ? maker.permuted(all, {2, 0, 1, 3}, "turned") : all);
    return true;
  }

private:
  bool isKnown() {
    for (unsigned index : {kFilter, kRecurrence, kBias})
      if (!isa<NoneType>(op->getOperand(index).getType()) &&
          !OpMaker::constantOf(op->getOperand(index)))
        return false;
    if (op.getActivations() || op.getClip() || !takesAllSteps())
      return false;
    if constexpr (requires { op.getPeephole(); })
      if (!isa<NoneType>(op.getPeephole().getType()) || op.getInputForget())
        return false;
    return paddedUnits != units || directions != 1 || op.getBatchFirst() || isWanted(1) ||
           (isWanted(0) && isWanted(kCellResult)) || !isa<NoneType>(op.getSequenceLens().getType());
  }

  /// Exporters name the last states whether anybody reads them or not; a cell's would be computed
  /// by a second run over all steps.
  void dropUnusedStates() {
    for (OpResult state : op->getResults().drop_front())
      if (state.use_empty())
        state.setType(maker.builder.getNoneType());
  }

  static constexpr unsigned kCellResult = 2;
  bool isWanted(unsigned index) {
    return index < op->getNumResults() && !isa<NoneType>(op->getResult(index).getType());
  }

  /// Whether no sequence ends before the last step.
  bool takesAllSteps() {
    if (isa<NoneType>(op.getSequenceLens().getType()))
      return true;
    const std::optional<top::Dims> lengths = top::constantInts(op.getSequenceLens());
    const int64_t all = OpMaker::dimsOf(op.getInput())[op.getBatchFirst() ? 1 : 0];
    return lengths && llvm::all_of(*lengths, [&](int64_t length) { return length == all; });
  }

  bool isReversed(int64_t direction) { return direction == 1 || op.getDirection() == "reverse"; }

  /// A constant operand of one direction.
  Value constant(unsigned index, int64_t direction, const UnitLayout &layout,
                 ArrayRef<int64_t> dims, StringRef what) {
    if (isa<NoneType>(op->getOperand(index).getType()))
      return maker.none();
    return maker.weight(
        directionOf(*OpMaker::constantOf(op->getOperand(index)), direction, layout, dims), what);
  }

  /// The state [1, samples, units] in which a direction begins.
  Value initial(unsigned index, int64_t direction) {
    if (index >= op->getNumOperands() || isa<NoneType>(op->getOperand(index).getType()))
      return maker.none();
    Value state = op->getOperand(index);
    // A cell without states begins with zeros.
    if (const std::optional<Tensor> known = OpMaker::constantOf(state);
        known &&
        llvm::all_of(known->rawBytes(), [](std::byte byte) { return byte == std::byte{0}; }))
      return maker.none();
    if (op.getBatchFirst())
      state = maker.permuted(state, {1, 0, 2}, "states");
    state = maker.part(state, 0, direction, 1, "state");
    if (paddedUnits == units)
      return state;
    const std::array<int64_t, 3> dims = {1, samples, paddedUnits - units};
    Tensor zeros(*storageDataType(state.getType()), Shape(std::span(dims)));
    std::ranges::fill(zeros.mutableBytes(), std::byte{0});
    return maker.joined({state, maker.weight(zeros, "no_state")}, 2, "whole_state");
  }

  std::string nameOf(int64_t direction) { return isReversed(direction) ? "backward" : "forward"; }

  SmallVector<Value> operandsOf(Value input, int64_t direction) {
    const std::string what = nameOf(direction);
    const int64_t inputs = OpMaker::dimsOf(input)[2];
    SmallVector<Value> made = {
        input,
        constant(kFilter, direction, {gates, units, paddedUnits, inputs, inputs},
                 {1, gates * paddedUnits, inputs}, what + "_filter"),
        constant(kRecurrence, direction, {gates, units, paddedUnits, units, paddedUnits},
                 {1, gates * paddedUnits, paddedUnits}, what + "_recurrence"),
        constant(kBias, direction, {2 * gates, units, paddedUnits}, {1, 2 * gates * paddedUnits},
                 what + "_bias"),
        maker.none(),
        initial(kInitialHidden, direction)};
    if constexpr (requires { op.getInitialC(); })
      made.append({initial(kInitialCell, direction), maker.none()});
    return made;
  }

  /// Result `index` of one direction's cell, alone.
  Value cell(int64_t direction, unsigned index, ArrayRef<int64_t> dims) {
    NamedAttrList attributes(op->getAttrDictionary());
    attributes.set("hidden_size", maker.builder.getI64IntegerAttr(paddedUnits));
    attributes.set("batch_first", maker.builder.getBoolAttr(false));
    attributes.set("direction",
                   maker.builder.getStringAttr(isReversed(direction) ? "reverse" : "forward"));
    SmallVector<Type> results(op->getNumResults(), maker.builder.getNoneType());
    results[index] = OpMaker::typeOf(op.getInput()).clone(dims);
    return maker.make(Op::getOperationName(), nameOf(direction) + (index == 0 ? "" : "_cell"),
                      results, operands[static_cast<size_t>(direction)], attributes);
  }

  /// The cells behind the last step: computed again, as a cell gives one result.
  Value lastCell() {
    SmallVector<Value> cells;
    for (int64_t direction = 0; direction < directions; ++direction)
      cells.push_back(cell(direction, kCellResult, {1, samples, paddedUnits}));
    Value states = maker.sliced(maker.joined(cells, 0, "cells"), 2, 0, units, "cell_units");
    if (op.getBatchFirst())
      return maker.permuted(states, {1, 0, 2}, "cells_turned");
    return maker.makeLike<tpu::CopyOp>("cell_states", states);
  }

  /// The state behind the last step of each direction.
  Value lastOf(Value all) {
    SmallVector<Value> last;
    for (int64_t direction = 0; direction < directions; ++direction) {
      Value part = maker.sliced(all, 0, isReversed(direction) ? 0 : steps - 1, 1, "last");
      part = maker.sliced(part, 1, direction, 1, "last_of_direction");
      last.push_back(maker.reshaped(part, {1, samples, units}, "last_state"));
    }
    Value states = maker.joined(last, 0, "last_states");
    return op.getBatchFirst() ? maker.permuted(states, {1, 0, 2}, "last_states_turned") : states;
  }

  OpMaker &maker;
  Op op;
  int64_t gates, directions, units, paddedUnits;
  int64_t steps = 1, samples = 1;
  /// Of the cell of each direction.
  SmallVector<SmallVector<Value>> operands;
};

} // namespace

bool codegen::decomposeRecurrent(OpMaker &maker) {
  if (auto lstm = dyn_cast<tpu::LSTMOp>(maker.op))
    return Recurrent(maker, lstm).run();
  if (auto gru = dyn_cast<tpu::GRUOp>(maker.op))
    return Recurrent(maker, gru).run();
  if (auto rnn = dyn_cast<tpu::RNNOp>(maker.op))
    return Recurrent(maker, rnn).run();
  return false;
}
