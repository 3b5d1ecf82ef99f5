//===- RecurrentOps.cpp - Kernels of recurrent cells ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/RecurrentOps.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Functions.h"
#include "tpuc/Target/CV18xx/Kernels/Products.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

constexpr unsigned kFilter = 1, kRecurrence = 2, kHidden = 5, kCell = 6;

/// The extents of a cell, and of a row of its units in local memory.
struct CellShape {
  uint32_t gates = 1, units = 1, inputs = 1, samples = 1, steps = 1;
  uint32_t pieces = 1, width = 1;

  /// The units of so many gates: the rows of a gate's samples, then those of the next.
  Extents of(uint32_t gates) const { return {gates * samples, pieces, 1, width}; }
  /// So many steps of one sample have their inputs multiplied at once.
  uint32_t stepsAtOnce() const {
    constexpr uint32_t kBytes = 4096;
    return samples != 1 ? 1 : std::clamp(kBytes / (gates * width * 2), 1U, steps);
  }
};

CellShape shapeOf(const Chip &chip, const TiledOp &tiled) {
  const auto dimsOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  const ArrayRef<int64_t> input = dimsOf(tiled.op->getOperand(0));
  const int64_t units = tiled.op->getAttrOfType<IntegerAttr>("hidden_size").getInt();
  const int64_t rows = dimsOf(tiled.op->getOperand(kFilter))[1];
  const LocalMatrix row{.columns = static_cast<uint32_t>(units)};
  return {static_cast<uint32_t>(rows / units),
          static_cast<uint32_t>(units),
          static_cast<uint32_t>(input[2]),
          static_cast<uint32_t>(input[1]),
          static_cast<uint32_t>(input[0]),
          row.pieces(chip),
          row.width(chip)};
}

/// Tensors of the units that a cell keeps beside those of functions.
constexpr uint32_t kOfUnits = 5;

int64_t scratchOf(const Chip &chip, const CellShape &shape) {
  const auto bytes = [&](uint32_t gates) {
    return int64_t{alignedBytes(chip, shape.of(gates), true)};
  };
  return (shape.stepsAtOnce() + 1) * bytes(shape.gates) + kOfUnits * bytes(1) +
         2 * int64_t{curveTableBytes()} + functionScratch(chip, shape.of(shape.gates));
}

/// Commands of a cell; the first that fails is kept.
class Cell {
public:
  explicit Cell(const Site &site)
      : shape(shapeOf(site.chip(), site.tiled)), site(site), chip(site.chip()),
        next(static_cast<uint32_t>(site.tiled.scratchAddress)) {
    keep(site.operand(0), input);
    keep(site.result(), result);
    given = tensor(shape.gates);
    next += (shape.stepsAtOnce() - 1) * alignedBytes(chip, given.shape, true);
    // Of each gate the steps follow each other.
    given.strides[0] *= shape.stepsAtOnce();
    fed = tensor(shape.gates);
    for (LocalTensor *each : {&hidden, &made, &cell, &newCell, &room})
      *each = tensor(1);
    for (auto [curve, table] :
         {std::pair(Curve::Sigmoid, &sigmoids), std::pair(Curve::Tanh, &tanhs)}) {
      *table = next;
      next += curveTableBytes();
      emit([&, curve = curve, table = table] {
        return loadCurveTables(site.builder, curve, *table);
      });
    }
    begin(hidden, kHidden);
  }

  LocalTensor tensor(uint32_t gates) {
    const LocalTensor made = alignedTensor(chip, next, shape.of(gates), true);
    next += alignedBytes(chip, made.shape, true);
    return made;
  }
  /// The state that an operand says, or 0.
  void begin(const LocalTensor &state, unsigned index) {
    if (isGiven(site.op(), index)) {
      LocalTensor from;
      keep(site.operand(index), from);
      run("copy", state, from);
      return;
    }
    // All lanes have a table, whose numbers are finite.
    const LocalTensor any{.address = sigmoids, .shape = state.shape, .isBf16 = true};
    run("mul", state, any);
  }
  void run(std::string_view name, const LocalTensor &to, const LocalTensor &left,
           Elements right = uint16_t{0}) {
    emit([&] {
      return emitElements(site.builder, {.name = name, .result = to, .left = left, .right = right});
    });
  }
  /// Some gates of a tensor of all.
  LocalTensor gates(LocalTensor all, uint32_t first, uint32_t count) const {
    all.address += first * shape.samples * all.strides[0];
    all.shape[0] = count * shape.samples;
    return all;
  }
  /// to = filter * from + bias, of as many gates as `to` has.
  void multiply(const LocalTensor &to, const LocalMatrix &from, unsigned index,
                uint32_t firstGate = 0) {
    const FilterLayout &filter = layoutOf(site.tiled, index).filter;
    for (uint32_t gate = 0; gate * shape.samples < to.shape[0]; ++gate) {
      LocalMatrix right = filter.gate(firstGate + gate, site.tiled.operands[index].address, chip);
      right.rows = from.columns;
      std::optional<uint32_t> bias;
      if (filter.carried != 0)
        bias = right.address + right.bytes(chip);
      const LocalMatrix result{gates(to, gate, 1).address, from.rows, shape.units};
      emit([&] {
        return emitProduct(site.builder, result, from, right, /*hasRelu=*/false, std::nullopt,
                           bias);
      });
    }
  }
  /// The units of one gate as the rows of a matrix.
  LocalMatrix stateRows(const LocalTensor &state) const {
    return {state.address, shape.samples, shape.units};
  }
  /// What the filter makes of the input of step `index`, in the order of the direction.
  LocalTensor takeInput(uint32_t index) {
    const uint32_t count = shape.stepsAtOnce(), place = placeOf(index),
                   first = place / count * count;
    if (index == 0 || placeOf(index - 1) / count * count != first)
      multiply(given,
               {rowOf(input, first).address, std::min(count, shape.steps - first) * shape.samples,
                shape.inputs},
               kFilter);
    LocalTensor made = given;
    made.address += (place - first) * alignedBytes(chip, shape.of(1), true);
    return made;
  }
  void function(Curve curve, const LocalTensor &to, const LocalTensor &from) {
    const uint32_t tables = curve == Curve::Tanh ? tanhs : sigmoids;
    emit([&] { return emitCurve(site.builder, curve, {to, from, next, tables}); });
  }
  void give(uint32_t index, const LocalTensor &state) {
    run("copy", rowOf(result, placeOf(index)), state);
  }

  Expected<void> done() const {
    return problem ? Expected<void>(tl::unexpected<Error>(*problem)) : Expected<void>();
  }

  const CellShape shape;
  LocalTensor input, result, given, fed, hidden, made, cell, newCell, room;

private:
  uint32_t placeOf(uint32_t index) const {
    const auto direction = site.op()->getAttrOfType<StringAttr>("direction");
    const bool isReversed = direction && direction.getValue() == "reverse";
    return isReversed ? shape.steps - 1 - index : index;
  }
  /// The samples of a step.
  LocalTensor rowOf(LocalTensor all, uint32_t place) const {
    all.address += place * shape.samples * all.strides[0];
    all.shape[0] = shape.samples;
    return all;
  }
  void keep(Expected<LocalTensor> tensor, LocalTensor &to) {
    if (tensor)
      to = *tensor;
    else if (!problem)
      problem = tensor.error();
  }
  void emit(llvm::function_ref<Expected<void>()> command) {
    if (problem)
      return;
    if (Expected<void> emitted = command(); !emitted)
      problem = emitted.error();
  }

  const Site &site;
  const Chip &chip;
  uint32_t next;
  uint32_t sigmoids = 0, tanhs = 0;
  std::optional<Error> problem;
};

Expected<void> checkCell(const Site &site) {
  if (!site.isBf16() || !layoutOf(site.tiled, 0).isBf16)
    return makeError("", "a cell of integers", "BF16");
  return {};
}

} // namespace

/// c' = f c + i tanh(..), h' = o tanh(c'); gates in the order i, o, f, c.
Expected<void> emitOf(tpu::LSTMOp op, const Site &site) {
  if (Expected<void> checked = checkCell(site); !checked)
    return checked;
  Cell cell(site);
  cell.begin(cell.cell, kCell);
  for (uint32_t index = 0; index < cell.shape.steps; ++index) {
    const LocalTensor given = cell.takeInput(index);
    cell.multiply(cell.fed, cell.stateRows(cell.hidden), kRecurrence);
    cell.run("add", cell.fed, given, cell.fed);
    cell.function(Curve::Sigmoid, cell.gates(cell.fed, 0, 3), cell.gates(cell.fed, 0, 3));
    cell.function(Curve::Tanh, cell.room, cell.gates(cell.fed, 3, 1));
    cell.run("mul", cell.newCell, cell.gates(cell.fed, 0, 1), cell.room);
    cell.run("mac", cell.newCell, cell.gates(cell.fed, 2, 1), cell.cell);
    std::swap(cell.cell, cell.newCell);
    cell.function(Curve::Tanh, cell.room, cell.cell);
    cell.run("mul", cell.hidden, cell.gates(cell.fed, 1, 1), cell.room);
    if (!isa<NoneType>(op.getY().getType()))
      cell.give(index, cell.hidden);
  }
  if (isa<NoneType>(op.getY().getType()))
    cell.run("copy", cell.result, cell.cell);
  return cell.done();
}

/// h' = g + z (h - g); gates in the order z, r, h.
Expected<void> emitOf(tpu::GRUOp op, const Site &site) {
  if (Expected<void> checked = checkCell(site); !checked)
    return checked;
  Cell cell(site);
  for (uint32_t index = 0; index < cell.shape.steps; ++index) {
    const LocalTensor given = cell.takeInput(index);
    const LocalTensor update = cell.gates(cell.fed, 0, 1), reset = cell.gates(cell.fed, 1, 1);
    const LocalTensor both = cell.gates(cell.fed, 0, 2), last = cell.gates(cell.fed, 2, 1);
    const LocalTensor sum = cell.gates(given, 2, 1);
    cell.multiply(op.getLinearBeforeReset() ? cell.fed : both, cell.stateRows(cell.hidden),
                  kRecurrence);
    cell.run("add", both, cell.gates(given, 0, 2), both);
    cell.function(Curve::Sigmoid, both, both);
    if (op.getLinearBeforeReset()) {
      cell.run("mac", sum, reset, last);
    } else {
      cell.run("mul", cell.made, reset, cell.hidden);
      cell.multiply(last, cell.stateRows(cell.made), kRecurrence, 2);
      cell.run("add", sum, sum, last);
    }
    cell.function(Curve::Tanh, cell.made, sum);
    cell.run("sub", cell.room, cell.hidden, cell.made);
    cell.run("mac", cell.made, update, cell.room);
    std::swap(cell.hidden, cell.made);
    cell.give(index, cell.hidden);
  }
  return cell.done();
}

/// h' = tanh(..)
Expected<void> emitOf(tpu::RNNOp, const Site &site) {
  if (Expected<void> checked = checkCell(site); !checked)
    return checked;
  Cell cell(site);
  for (uint32_t index = 0; index < cell.shape.steps; ++index) {
    const LocalTensor given = cell.takeInput(index);
    cell.multiply(cell.fed, cell.stateRows(cell.hidden), kRecurrence);
    cell.run("add", cell.fed, given, cell.fed);
    cell.function(Curve::Tanh, cell.hidden, cell.fed);
    cell.give(index, cell.hidden);
  }
  return cell.done();
}

int64_t scratchOfCell(const Chip &chip, const TiledOp &tiled) {
  return isa<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(tiled.op) ? scratchOf(chip, shapeOf(chip, tiled))
                                                            : 0;
}

} // namespace tpuc::cv18xx::backend
