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
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

constexpr unsigned kFilter = 1, kRecurrence = 2, kHidden = 5, kCell = 6;

/// The extents of a cell.
struct CellShape {
  uint32_t gates = 1, units = 1, inputs = 1, samples = 1, steps = 1;

  Extents of(uint32_t channels) const { return {1, channels, 1, samples}; }
};

CellShape shapeOf(const TiledOp &tiled) {
  const auto dimsOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  const ArrayRef<int64_t> input = dimsOf(tiled.op->getOperand(0));
  const int64_t units = tiled.op->getAttrOfType<IntegerAttr>("hidden_size").getInt();
  const int64_t rows = dimsOf(tiled.op->getOperand(kFilter))[1];
  return {static_cast<uint32_t>(rows / units), static_cast<uint32_t>(units),
          static_cast<uint32_t>(input[2]), static_cast<uint32_t>(input[1]),
          static_cast<uint32_t>(input[0])};
}

/// Tensors of the units that a cell keeps beside those of functions.
constexpr uint32_t kOfUnits = 5;

int64_t scratchOf(const Chip &chip, const CellShape &shape) {
  const auto bytes = [&](uint32_t channels) {
    return int64_t{alignedBytes(chip, shape.of(channels), true)};
  };
  const uint32_t rows = shape.gates * shape.units;
  return bytes(shape.inputs) + 2 * bytes(rows) + kOfUnits * bytes(shape.units) +
         2 * int64_t{curveTableBytes()} + functionScratch(chip, shape.of(rows));
}

/// Commands of a cell; the first that fails is kept.
class Cell {
public:
  explicit Cell(const Site &site)
      : shape(shapeOf(site.tiled)), site(site), chip(site.chip()),
        next(static_cast<uint32_t>(site.tiled.scratchAddress)) {
    keep(site.operand(0), input);
    keep(site.result(), result);
    step = tensor(shape.inputs);
    given = tensor(shape.gates * shape.units);
    fed = tensor(shape.gates * shape.units);
    for (LocalTensor *each : {&hidden, &made, &cell, &newCell, &room})
      *each = tensor(shape.units);
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

  LocalTensor tensor(uint32_t channels) {
    const LocalTensor made = alignedTensor(chip, next, shape.of(channels), true);
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
    all.address += first * shape.units / chip.lanes * all.strides[1];
    all.shape[1] = count * shape.units;
    return all;
  }
  /// to = filter * from + bias, of some gates.
  void multiply(const LocalTensor &to, const LocalTensor &from, unsigned index,
                uint32_t firstGate = 0) {
    const FilterLayout &filter = layoutOf(site.tiled, index).filter;
    const auto address = static_cast<uint32_t>(site.tiled.operands[index].address);
    const auto behind =
        static_cast<uint32_t>(alignedTo(filter.rowBytes(chip, filter.channels), kEuBytes));
    const uint32_t slot = firstGate * shape.units / chip.lanes;
    Convolution convolution{
        .input = from,
        .result = to,
        .window = {},
        .filter = address + slot * static_cast<uint32_t>(filter.row * filter.elementBytes()),
        .parameters = std::nullopt,
        .halfDistance = static_cast<uint32_t>(filter.carriedBytes(chip, to.shape[1]) / 2)};
    if (filter.carried != 0)
      convolution.parameters = address + behind + slot * static_cast<uint32_t>(filter.carried);
    emit([&] { return emitConvolution(site.builder, convolution); });
  }
  void function(Curve curve, const LocalTensor &to, const LocalTensor &from) {
    const uint32_t tables = curve == Curve::Tanh ? tanhs : sigmoids;
    emit([&] { return emitCurve(site.builder, curve, {to, from, next, tables}); });
  }
  /// The input of step `index`, in the order of the direction, where convolutions can take it.
  void take(uint32_t index) { run("copy", step, part(input, index)); }
  void give(uint32_t index, const LocalTensor &state) { run("copy", part(result, index), state); }

  Expected<void> done() const {
    return problem ? Expected<void>(tl::unexpected<Error>(*problem)) : Expected<void>();
  }

  const CellShape shape;
  LocalTensor input, result, step, given, fed, hidden, made, cell, newCell, room;

private:
  LocalTensor part(LocalTensor all, uint32_t index) const {
    const auto direction = site.op()->getAttrOfType<StringAttr>("direction");
    const bool isReversed = direction && direction.getValue() == "reverse";
    all.address += (isReversed ? shape.steps - 1 - index : index) * shape.samples * all.strides[3];
    all.shape[3] = shape.samples;
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
  const uint32_t units = shapeOf(site.tiled).units;
  if (units % site.chip().lanes != 0)
    return makeError("", fmt::format("{} units", units),
                     fmt::format("a multiple of {}", site.chip().lanes));
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
    cell.take(index);
    cell.multiply(cell.given, cell.step, kFilter);
    cell.multiply(cell.fed, cell.hidden, kRecurrence);
    cell.run("add", cell.given, cell.given, cell.fed);
    cell.function(Curve::Sigmoid, cell.gates(cell.fed, 0, 3), cell.gates(cell.given, 0, 3));
    cell.function(Curve::Tanh, cell.room, cell.gates(cell.given, 3, 1));
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
    const auto sum = [&](uint32_t first, uint32_t count) {
      cell.run("add", cell.gates(cell.given, first, count), cell.gates(cell.given, first, count),
               cell.gates(cell.fed, first, count));
    };
    cell.take(index);
    cell.multiply(cell.given, cell.step, kFilter);
    cell.multiply(op.getLinearBeforeReset() ? cell.fed : cell.gates(cell.fed, 0, 2), cell.hidden,
                  kRecurrence);
    sum(0, 2);
    if (op.getLinearBeforeReset()) {
      cell.function(Curve::Sigmoid, cell.gates(cell.given, 0, 2), cell.gates(cell.given, 0, 2));
      cell.run("mac", cell.gates(cell.given, 2, 1), cell.gates(cell.given, 1, 1),
               cell.gates(cell.fed, 2, 1));
    } else {
      cell.function(Curve::Sigmoid, cell.gates(cell.given, 0, 2), cell.gates(cell.given, 0, 2));
      cell.run("mul", cell.made, cell.gates(cell.given, 1, 1), cell.hidden);
      cell.multiply(cell.gates(cell.fed, 2, 1), cell.made, kRecurrence, 2);
      sum(2, 1);
    }
    cell.function(Curve::Tanh, cell.made, cell.gates(cell.given, 2, 1));
    cell.run("sub", cell.room, cell.hidden, cell.made);
    cell.run("mac", cell.made, cell.gates(cell.given, 0, 1), cell.room);
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
    cell.take(index);
    cell.multiply(cell.given, cell.step, kFilter);
    cell.multiply(cell.fed, cell.hidden, kRecurrence);
    cell.run("add", cell.given, cell.given, cell.fed);
    cell.function(Curve::Tanh, cell.hidden, cell.given);
    cell.give(index, cell.hidden);
  }
  return cell.done();
}

int64_t scratchOfCell(const Chip &chip, const TiledOp &tiled) {
  return isa<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(tiled.op) ? scratchOf(chip, shapeOf(tiled)) : 0;
}

} // namespace tpuc::cv18xx::backend
