//===- RecurrentOps.cpp - Kernels of recurrent cells ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/RecurrentOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
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
  /// So many steps of one sample have their inputs multiplied at once.
  uint32_t stepsAtOnce = 1;
  /// Functions work on so many gates at once.
  uint32_t gatesAtOnce = 1;

  /// The units of so many gates: the rows of a gate's samples, then those of the next.
  Extents of(uint32_t gates) const { return {gates * samples, pieces, 1, width}; }
  uint32_t mostStepsAtOnce() const {
    constexpr uint32_t kBytes = 4096;
    return samples != 1 ? 1 : std::clamp(kBytes / (gates * width * 2), 1U, steps);
  }
};

CellShape shapeOf(const Chip &chip, Operation *op) {
  const ArrayRef<int64_t> input = extentsIn(op->getOperand(0));
  const int64_t units = op->getAttrOfType<IntegerAttr>("hidden_size").getInt();
  const int64_t rows = extentsIn(op->getOperand(kFilter))[1];
  const LocalMatrix row{.columns = static_cast<uint32_t>(units)};
  CellShape shape{static_cast<uint32_t>(rows / units),
                  static_cast<uint32_t>(units),
                  static_cast<uint32_t>(input[2]),
                  static_cast<uint32_t>(input[1]),
                  static_cast<uint32_t>(input[0]),
                  row.pieces(chip),
                  row.width(chip)};
  shape.stepsAtOnce = shape.mostStepsAtOnce();
  shape.gatesAtOnce = shape.gates;
  return shape;
}

/// Tensors of the units that a cell keeps beside those of functions.
constexpr uint32_t kOfUnits = 5;

int64_t scratchOf(const Chip &chip, const CellShape &shape) {
  const auto bytes = [&](uint32_t gates) {
    return int64_t{alignedBytes(chip, shape.of(gates), true)};
  };
  return (shape.stepsAtOnce + 1) * bytes(shape.gates) + kOfUnits * bytes(1) +
         2 * int64_t{curveTableBytes()} + functionScratch(chip, shape.of(shape.gatesAtOnce));
}

/// Commands of a cell; the first that fails is kept. Where inputs, filters and results lie is said
/// by the classes below.
class Cell {
public:
  Cell(Builder &builder, Operation *op, const CellShape &shape, int64_t scratch)
      : shape(shape), builder(builder), chip(builder.chip()), op(op),
        next(static_cast<uint32_t>(scratch)) {}
  virtual ~Cell() = default;

  LocalTensor tensor(uint32_t gates) {
    const LocalTensor made = alignedTensor(chip, next, shape.of(gates), true);
    next += alignedBytes(chip, made.shape, true);
    return made;
  }
  /// The state that an operand says, or 0.
  void begin(const LocalTensor &state, unsigned index) {
    if (isGiven(op, index)) {
      takeState(state, index);
      return;
    }
    // All lanes have a table, whose numbers are finite.
    const LocalTensor any{.address = sigmoids, .shape = state.shape, .isBf16 = true};
    run("mul", state, any);
  }
  void run(std::string_view name, const LocalTensor &to, const LocalTensor &left,
           Elements right = uint16_t{0}) {
    emit([&] {
      return emitElements(builder, {.name = name, .result = to, .left = left, .right = right});
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
    for (uint32_t gate = 0; gate * shape.samples < to.shape[0]; ++gate)
      multiplyGate({gates(to, gate, 1).address, from.rows, shape.units}, from, index,
                   firstGate + gate);
  }
  /// The units of one gate as the rows of a matrix.
  LocalMatrix stateRows(const LocalTensor &state) const {
    return {state.address, shape.samples, shape.units};
  }
  /// What the filter makes of the input of step `index`, in the order of the direction.
  LocalTensor takeInput(uint32_t index) {
    const uint32_t count = shape.stepsAtOnce, place = stepAt(index), first = place / count * count;
    if (index == 0 || stepAt(index - 1) / count * count != first)
      multiply(given, inputRows(first, std::min(count, shape.steps - first)), kFilter);
    LocalTensor made = given;
    made.address += (place - first) * alignedBytes(chip, shape.of(1), true);
    return made;
  }
  void function(Curve curve, const LocalTensor &to, const LocalTensor &from) {
    const uint32_t tables = curve == Curve::Tanh ? tanhs : sigmoids;
    const uint32_t all = to.shape[0] / shape.samples;
    for (uint32_t first = 0; first < all; first += shape.gatesAtOnce) {
      const uint32_t count = std::min(shape.gatesAtOnce, all - first);
      emit([&] {
        return emitCurve(builder, curve,
                         {gates(to, first, count), gates(from, first, count), next, tables});
      });
    }
  }
  void give(uint32_t index, const LocalTensor &state) { giveRows(stepAt(index), state); }
  /// A result without steps.
  void giveOnly(const LocalTensor &state) { giveRows(0, state); }

  Expected<void> done() const {
    return problem ? Expected<void>(tl::unexpected<Error>(*problem)) : Expected<void>();
  }

  const CellShape shape;
  LocalTensor given, fed, hidden, made, cell, newCell, room;

protected:
  /// The samples of so many steps, features as columns.
  virtual LocalMatrix inputRows(uint32_t first, uint32_t count) = 0;
  /// The state that operand `index` is.
  virtual void takeState(const LocalTensor &state, unsigned index) = 0;
  virtual void multiplyGate(const LocalMatrix &result, const LocalMatrix &from, unsigned index,
                            uint32_t gate) = 0;
  /// The result's samples of a step.
  virtual void giveRows(uint32_t place, const LocalTensor &state) = 0;

  /// What a cell has before its first step.
  void prepare() {
    given = tensor(shape.gates);
    next += (shape.stepsAtOnce - 1) * alignedBytes(chip, given.shape, true);
    // Of each gate the steps follow each other.
    given.strides[0] *= shape.stepsAtOnce;
    fed = tensor(shape.gates);
    for (LocalTensor *each : {&hidden, &made, &cell, &newCell, &room})
      *each = tensor(1);
    for (auto [curve, table] :
         {std::pair(Curve::Sigmoid, &sigmoids), std::pair(Curve::Tanh, &tanhs)}) {
      *table = next;
      next += curveTableBytes();
      emit([&, curve = curve, table = table] { return loadCurveTables(builder, curve, *table); });
    }
    begin(hidden, kHidden);
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
  /// A product with the rows of one gate, and what stands behind them, in local memory.
  void multiplyWith(const FilterLayout &filter, LocalMatrix right, const LocalMatrix &result,
                    const LocalMatrix &from) {
    right.rows = from.columns;
    std::optional<uint32_t> bias;
    if (filter.carried != 0)
      bias = right.address + right.bytes(chip);
    emit([&] {
      return emitProduct(builder, result, from, right, /*hasRelu=*/false, std::nullopt, bias);
    });
  }

  Builder &builder;
  const Chip &chip;
  Operation *const op;
  uint32_t next;

private:
  uint32_t stepAt(uint32_t index) const {
    const auto direction = op->getAttrOfType<StringAttr>("direction");
    const bool isReversed = direction && direction.getValue() == "reverse";
    return isReversed ? shape.steps - 1 - index : index;
  }

  uint32_t sigmoids = 0, tanhs = 0;
  std::optional<Error> problem;
};

/// All operands and the result are in local memory.
class TiledCell final : public Cell {
public:
  explicit TiledCell(const Site &site)
      : Cell(site.builder, site.op(), shapeOf(site.chip(), site.op()), site.tiled.scratchAddress),
        site(site) {
    keep(site.operand(0), input);
    keep(site.result(), result);
    prepare();
  }

private:
  LocalMatrix inputRows(uint32_t first, uint32_t count) override {
    return {rowOf(input, first).address, count * shape.samples, shape.inputs};
  }
  void takeState(const LocalTensor &state, unsigned index) override {
    LocalTensor from;
    keep(site.operand(index), from);
    run("copy", state, from);
  }
  void multiplyGate(const LocalMatrix &result, const LocalMatrix &from, unsigned index,
                    uint32_t gate) override {
    const FilterLayout &filter = layoutOf(site.tiled, index).filter;
    multiplyWith(filter, filter.gate(gate, site.tiled.operands[index].address, chip), result, from);
  }
  void giveRows(uint32_t place, const LocalTensor &state) override {
    run("copy", rowOf(result, place), state);
  }
  /// The samples of a step.
  LocalTensor rowOf(LocalTensor all, uint32_t place) const {
    all.address += place * shape.samples * all.strides[0];
    all.shape[0] = shape.samples;
    return all;
  }

  const Site &site;
  LocalTensor input, result;
};

/// Where a cell that does not fit the lanes keeps what passes. Behind its scratch: the inputs of
/// some steps, sums of float32, a part of a left matrix, all of the recurrence or nothing, and two
/// places for rows of filters.
struct StreamPlaces {
  CellShape shape;
  uint32_t inputs = 0, sums = 0, left = 0;
  std::optional<uint32_t> recurrence;
  std::array<uint32_t, 2> rows = {};
  /// So many rows are multiplied at once; those of biases have room behind them.
  uint32_t rowsAtOnce = 0;
};

uint32_t rowBytesOf(const CellShape &shape) { return shape.width * 2; }

std::optional<StreamPlaces> placesOf(const Chip &chip, Operation *op, uint32_t stepsAtOnce,
                                     bool keepsRecurrence) {
  constexpr uint32_t kLine = kEuBytes / 2, kBiasRows = 2;
  StreamPlaces places;
  places.shape = shapeOf(chip, op);
  CellShape &shape = places.shape;
  shape.stepsAtOnce = stepsAtOnce;
  shape.gatesAtOnce = 1;
  int64_t end = scratchOf(chip, shape);
  const auto take = [&](int64_t bytes) {
    return static_cast<uint32_t>(std::exchange(end, end + alignedTo(bytes, kEuBytes)));
  };
  const uint32_t rows = stepsAtOnce * shape.samples;
  const LocalMatrix input{0, rows, shape.inputs};
  places.inputs = take(input.bytes(chip));
  places.sums = take(2 * int64_t{rows} * rowBytesOf(shape));
  const uint32_t widest = std::max(input.width(chip), shape.width);
  places.left = take(rows == 1 ? 0 : int64_t{rows} * widest * 2);
  if (keepsRecurrence) {
    const FilterLayout filter = filterOf(op, kRecurrence);
    places.recurrence = take(filter.gates * filter.gate(0, 0, chip).bytes(chip));
  }
  const int64_t room = (int64_t{kLaneBytes} - end) / 2 / kEuBytes * kEuBytes;
  const int64_t fitting = room / rowBytesOf(shape) - kBiasRows;
  if (fitting < int64_t{kLine})
    return std::nullopt;
  places.rowsAtOnce = static_cast<uint32_t>(fitting) / kLine * kLine;
  for (uint32_t &place : places.rows)
    place = take(room);
  return places;
}

/// The recurrence stays where there is room, as each step reads it; then as many steps at once as
/// there is room for.
std::optional<StreamPlaces> placesOf(const Chip &chip, Operation *op) {
  for (const bool keepsRecurrence : {true, false})
    for (uint32_t steps = shapeOf(chip, op).mostStepsAtOnce(); steps != 0; steps /= 2)
      if (const auto places = placesOf(chip, op, steps, keepsRecurrence))
        return places;
  return std::nullopt;
}

/// Inputs, rows of filters and results pass between both memories.
class StreamedCell final : public Cell {
public:
  StreamedCell(Builder &builder, Operation *op, const StreamPlaces &places)
      : Cell(builder, op, places.shape, 0), places(places) {
    for (unsigned index : {kFilter, kRecurrence})
      filters[index - kFilter] = filterOf(op, index);
    // Behind the columns of the last piece are zeros, which loads leave.
    const uint32_t rows = places.rows[1] - places.rows[0];
    if (shape.units % shape.width != 0)
      for (const uint32_t place : places.rows)
        emit([&] {
          return emitFill(builder,
                          alignedTensor(chip, place, {1, chip.lanes, 1, rows / 2}, /*isBf16=*/true),
                          0);
        });
    prepare();
    if (places.recurrence)
      for (uint32_t gate = 0; gate < shape.gates; ++gate) {
        const FilterLayout &filter = filters[kRecurrence - kFilter];
        const LocalMatrix all = filter.gate(gate, *places.recurrence, chip);
        emit([&] { return emitPadded(builder, rowsOfGate(kRecurrence, gate, 0), all); });
      }
  }

private:
  LocalMatrix inputRows(uint32_t first, uint32_t count) override {
    const LocalMatrix rows{places.inputs, count * shape.samples, shape.inputs};
    const int64_t begin = int64_t{first} * shape.samples * shape.inputs * 2;
    emit([&] {
      return emitLoad(builder, denseMatrix(placeOf(addressIn(op->getOperand(0)) + begin), rows),
                      rows);
    });
    return rows;
  }
  void takeState(const LocalTensor &state, unsigned index) override {
    const LocalMatrix rows = stateRows(state);
    emit([&] {
      return emitPadded(builder, denseMatrix(placeOf(addressIn(op->getOperand(index))), rows),
                        rows);
    });
  }
  void giveRows(uint32_t place, const LocalTensor &state) override {
    const LocalMatrix rows = stateRows(state);
    const int64_t begin = int64_t{place} * shape.samples * shape.units * 2;
    emit([&] {
      return emitStore(builder, rows,
                       denseMatrix(placeOf(addressIn(givenResult(op)) + begin), rows));
    });
  }

  /// The rows of a gate from `first` on, in global memory.
  GlobalMatrix rowsOfGate(unsigned index, uint32_t gate, uint32_t first) const {
    const FilterLayout &filter = filters[index - kFilter];
    const int64_t row = int64_t{gate} * (filter.row + filter.biasRows()) + first;
    return denseMatrix(placeOf(addressIn(op->getOperand(index)) + row * shape.units * 2),
                       {0, 1, shape.units});
  }

  void multiplyGate(const LocalMatrix &result, const LocalMatrix &from, unsigned index,
                    uint32_t gate) override {
    const FilterLayout &filter = filters[index - kFilter];
    if (index == kRecurrence && places.recurrence) {
      multiplyWith(filter, filter.gate(gate, *places.recurrence, chip), result, from);
      return;
    }
    LocalMatrix sums = result;
    sums.address = places.sums;
    const uint32_t width = from.width(chip);
    for (uint32_t first = 0; first < from.columns;) {
      const uint32_t piece = first / width;
      const uint32_t end = std::min((piece + 1) * width, from.columns);
      const uint32_t count = std::min(places.rowsAtOnce, end - first);
      const ProductPart part{.piece = piece,
                             .first = first % width,
                             .count = count,
                             .addsSums = first != 0,
                             .leavesSums = first + count < from.columns};
      multiplyPart(sums, from, part, index, gate, first);
      first += part.count;
    }
    run("copy", tensorOf(result), tensorOf(sums));
  }

  void multiplyPart(const LocalMatrix &sums, LocalMatrix from, ProductPart part, unsigned index,
                    uint32_t gate, uint32_t first) {
    const FilterLayout &filter = filters[index - kFilter];
    LocalMatrix right{places.rows[numParts++ % 2], part.count, shape.units};
    std::optional<uint32_t> bias;
    if (!part.leavesSums && filter.carried != 0) {
      bias = right.address + right.bytes(chip);
      right.rows += static_cast<uint32_t>(filter.biasRows());
    }
    emit([&] { return emitLoad(builder, rowsOfGate(index, gate, first), right); });
    right.rows = part.count;
    if (from.rows != 1) {
      // The rows of a left matrix have no gaps.
      const Extents shape = {from.rows, 1, 1, part.count};
      LocalTensor to = alignedTensor(chip, places.left + part.piece * kLaneBytes, shape, true);
      LocalTensor columns = to;
      columns.address = from.address + part.piece * kLaneBytes + part.first * 2;
      columns.strides[0] = from.rowBytes(chip);
      run("copy", to, columns);
      from.address = places.left;
      part.first = 0;
    }
    emit([&] {
      return emitProduct(builder, sums, from, right, /*hasRelu=*/false, std::nullopt, bias, part);
    });
  }

  LocalTensor tensorOf(const LocalMatrix &matrix) const {
    return alignedTensor(chip, matrix.address, {matrix.rows, shape.pieces, 1, shape.width}, true);
  }

  const StreamPlaces &places;
  std::array<FilterLayout, 2> filters;
  uint32_t numParts = 0;
};

Expected<void> checkCell(const Site &site) {
  if (!site.isBf16() || !layoutOf(site.tiled, 0).isBf16)
    return makeError("", "a cell of integers", "BF16");
  return {};
}

/// c' = f c + i tanh(..), h' = o tanh(c'); gates in the order i, o, f, c.
Expected<void> emitSteps(tpu::LSTMOp op, Cell &cell) {
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
    cell.giveOnly(cell.cell);
  return cell.done();
}

/// h' = g + z (h - g); gates in the order z, r, h.
Expected<void> emitSteps(tpu::GRUOp op, Cell &cell) {
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
Expected<void> emitSteps(tpu::RNNOp, Cell &cell) {
  for (uint32_t index = 0; index < cell.shape.steps; ++index) {
    const LocalTensor given = cell.takeInput(index);
    cell.multiply(cell.fed, cell.stateRows(cell.hidden), kRecurrence);
    cell.run("add", cell.fed, given, cell.fed);
    cell.function(Curve::Tanh, cell.hidden, cell.fed);
    cell.give(index, cell.hidden);
  }
  return cell.done();
}

template <typename Op> Expected<void> emitTiled(Op op, const Site &site) {
  if (Expected<void> checked = checkCell(site); !checked)
    return checked;
  TiledCell cell(site);
  return emitSteps(op, cell);
}

} // namespace

Expected<void> emitOf(tpu::LSTMOp op, const Site &site) { return emitTiled(op, site); }
Expected<void> emitOf(tpu::GRUOp op, const Site &site) { return emitTiled(op, site); }
Expected<void> emitOf(tpu::RNNOp op, const Site &site) { return emitTiled(op, site); }

int64_t scratchOfCell(const Chip &chip, const TiledOp &tiled) {
  return isCell(tiled.op) ? scratchOf(chip, shapeOf(chip, tiled.op)) : 0;
}

bool isStreamed(Operation *op) { return op->hasAttr(kStreamed); }

void planStream(const Chip &chip, Operation *op) {
  if (!isCell(op) || !placesOf(chip, op))
    return;
  for (unsigned index = 0; index < op->getNumOperands(); ++index)
    if (const auto type = dyn_cast<RankedTensorType>(op->getOperand(index).getType()))
      if (const bool isBias = index == kFilter + 2;
          !isBias && storageDataType(type) != DataType::BF16)
        return;
  op->setAttr(kStreamed, UnitAttr::get(op->getContext()));
}

Expected<void> emitStreamed(Builder &builder, Operation *op) {
  const std::optional<StreamPlaces> places = placesOf(builder.chip(), op);
  if (!places)
    return makeError("", "a cell whose states do not fit the lanes", "one that does");
  StreamedCell cell(builder, op, *places);
  if (auto lstm = dyn_cast<tpu::LSTMOp>(op))
    return emitSteps(lstm, cell);
  if (auto gru = dyn_cast<tpu::GRUOp>(op))
    return emitSteps(gru, cell);
  return emitSteps(cast<tpu::RNNOp>(op), cell);
}

} // namespace tpuc::cv18xx::backend
