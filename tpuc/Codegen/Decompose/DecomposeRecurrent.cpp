//===- DecomposeRecurrent.cpp - Recurrent cells one by one ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Directions that one cell computes.
struct Directions {
  int64_t first = 0, count = 1;
};

/// The tensor [count, ...] of some directions of [directions, blocks, units, width], with units and
/// width filled up with 0.
struct UnitLayout {
  int64_t blocks = 1, units = 1, paddedUnits = 1, width = 1, paddedWidth = 1;
};

Tensor partOf(const Tensor &all, const Directions &part, const UnitLayout &layout,
              ArrayRef<int64_t> dims) {
  Tensor one(all.type(), Shape(std::span(dims.data(), dims.size())));
  const std::span<const std::byte> from = all.rawBytes();
  const std::span<std::byte> to = one.mutableBytes();
  std::ranges::fill(to, std::byte{0});
  const auto row = static_cast<size_t>(byteSize(all.type(), layout.width));
  const auto paddedRow = static_cast<size_t>(byteSize(all.type(), layout.paddedWidth));
  for (int64_t block = 0; block < part.count * layout.blocks; ++block)
    for (int64_t unit = 0; unit < layout.units; ++unit) {
      const auto source =
          static_cast<size_t>((part.first * layout.blocks + block) * layout.units + unit);
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

  /// `isDivided`: into one cell for each direction, also where the chip computes both at once.
  bool run(bool isDivided) {
    dropUnusedStates();
    if (!isKnown())
      return false;
    input = op.getInput();
    if (op.getBatchFirst())
      input = maker.permuted(input, {1, 0, 2}, "steps");
    steps = OpMaker::dimsOf(input)[0];
    samples = OpMaker::dimsOf(input)[1];
    divide(isDivided);
    for (Cell &each : cells)
      addStates(each);
    if constexpr (requires { op.getYC(); })
      if (isWanted(kCellResult))
        maker.replace(kCellResult, lastCell());
    if (!isWanted(0) && !isWanted(1))
      return true;
    Value all = resultsOf(0, 1, "directions");
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

  /// Makes the cells, which have no states yet.
  void divide(bool isDivided) {
    if (directions == 2 && !isDivided) {
      cells.push_back(withoutStates({0, 2}));
      Operation *tried = resultOf(cells.front(), 0).getDefiningOp();
      const bool isComputed = maker.backend.placeOf(tried).has_value();
      tried->erase();
      if (isComputed)
        return;
      cells.clear();
    }
    for (int64_t direction = 0; direction < directions; ++direction)
      cells.push_back(withoutStates({direction, 1}));
  }

  /// A constant operand of some directions, [count, `blocks` * units, width].
  Value constant(unsigned index, const Directions &part, const UnitLayout &layout,
                 ArrayRef<int64_t> dims, StringRef what) {
    if (isa<NoneType>(op->getOperand(index).getType()))
      return maker.none();
    return maker.weight(partOf(*OpMaker::constantOf(op->getOperand(index)), part, layout, dims),
                        what);
  }

  /// The state [count, samples, units] in which some directions begin.
  Value initial(unsigned index, const Directions &part) {
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
    state = maker.part(state, 0, part.first, part.count, "state");
    if (paddedUnits == units)
      return state;
    const std::array<int64_t, 3> dims = {part.count, samples, paddedUnits - units};
    Tensor zeros(*storageDataType(state.getType()), Shape(std::span(dims)));
    std::ranges::fill(zeros.mutableBytes(), std::byte{0});
    return maker.joined({state, maker.weight(zeros, "no_state")}, 2, "whole_state");
  }

  std::string nameOf(const Directions &part) {
    return part.count == 2 ? "both" : isReversed(part.first) ? "backward" : "forward";
  }

  /// A cell and its operands.
  struct Cell {
    Directions part;
    SmallVector<Value> operands;
  };

  Cell withoutStates(const Directions &part) {
    const std::string what = nameOf(part);
    const int64_t inputs = OpMaker::dimsOf(input)[2];
    Cell made{part,
              {input,
               constant(kFilter, part, {gates, units, paddedUnits, inputs, inputs},
                        {part.count, gates * paddedUnits, inputs}, what + "_filter"),
               constant(kRecurrence, part, {gates, units, paddedUnits, units, paddedUnits},
                        {part.count, gates * paddedUnits, paddedUnits}, what + "_recurrence"),
               constant(kBias, part, {2 * gates, units, paddedUnits},
                        {part.count, 2 * gates * paddedUnits}, what + "_bias")}};
    made.operands.append(op->getNumOperands() - made.operands.size(), maker.none());
    return made;
  }

  void addStates(Cell &cell) {
    cell.operands[kInitialHidden] = initial(kInitialHidden, cell.part);
    if constexpr (requires { op.getInitialC(); })
      cell.operands[kInitialCell] = initial(kInitialCell, cell.part);
  }

  /// Result `index` of a cell, alone.
  Value resultOf(const Cell &of, unsigned index) {
    NamedAttrList attributes(op->getAttrDictionary());
    attributes.set("hidden_size", maker.builder.getI64IntegerAttr(paddedUnits));
    attributes.set("batch_first", maker.builder.getBoolAttr(false));
    attributes.set("direction",
                   maker.builder.getStringAttr(of.part.count == 2          ? "bidirectional"
                                               : isReversed(of.part.first) ? "reverse"
                                                                           : "forward"));
    SmallVector<int64_t> dims = {of.part.count, samples, paddedUnits};
    if (index == 0)
      dims.insert(dims.begin(), steps);
    SmallVector<Type> results(op->getNumResults(), maker.builder.getNoneType());
    results[index] = OpMaker::typeOf(op.getInput()).clone(dims);
    return maker.make(Op::getOperationName(), nameOf(of.part) + (index == 0 ? "" : "_cell"),
                      results, of.operands, attributes);
  }

  /// Result `index` of all cells, whose directions are dimension `axis`.
  Value resultsOf(unsigned index, int64_t axis, StringRef what) {
    SmallVector<Value> parts;
    for (const Cell &each : cells)
      parts.push_back(resultOf(each, index));
    return maker.joined(parts, axis, what);
  }

  /// The cells behind the last step: computed again, as a cell gives one result.
  Value lastCell() {
    Value states = maker.sliced(resultsOf(kCellResult, 0, "cells"), 2, 0, units, "cell_units");
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
  Value input; ///< [steps, samples, inputs]
  int64_t steps = 1, samples = 1;
  SmallVector<Cell> cells;
};

bool decompose(OpMaker &maker, bool isDivided) {
  if (auto lstm = dyn_cast<tpu::LSTMOp>(maker.op))
    return Recurrent(maker, lstm).run(isDivided);
  if (auto gru = dyn_cast<tpu::GRUOp>(maker.op))
    return Recurrent(maker, gru).run(isDivided);
  if (auto rnn = dyn_cast<tpu::RNNOp>(maker.op))
    return Recurrent(maker, rnn).run(isDivided);
  return false;
}

} // namespace

bool codegen::decomposeRecurrent(OpMaker &maker) { return decompose(maker, /*isDivided=*/false); }

bool codegen::decomposeLongRecurrent(OpMaker &maker) {
  return isa<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(maker.op) &&
         OpMaker::dimsOf(maker.op->getOperand(kFilter))[0] == 2 &&
         !fittingPlaceOf(maker.op, maker.backend) && decompose(maker, /*isDivided=*/true);
}
