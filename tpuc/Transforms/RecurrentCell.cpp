//===- RecurrentCell.cpp - One step of an LSTM or GRU -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   i, f, g, o = parts of x[t] W + h R + b, or four such sums
//   c = sigmoid(f) * c + sigmoid(i) * tanh(g)
//   h = sigmoid(o) * tanh(c)
//
// and for GRU
//
//   z, r = parts of x[t] W + h R + b
//   n = tanh(x[t] W + b + r * (h R + b)), or tanh(x[t] W + (r * h) R + b)
//   h = (1 - z) * n + z * h, or n + z * (h - n)
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/RecurrentCell.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Evaluate.h"

#include <array>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// Steps of a sequence
//===----------------------------------------------------------------------===//

static Value withoutReshapes(Value value) {
  while (isReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// A step of a sequence with dimension `axis` of known extent in front of or behind the samples;
/// none if it is no such thing.
static std::optional<Step> stepAlong(Value sequence, int64_t axis, int64_t index) {
  std::optional<Dims> dims = dimsOf(sequence);
  if (!dims || dims->size() != 3)
    return std::nullopt;
  axis += axis < 0 ? 3 : 0;
  if (axis > 1 || (*dims)[axis] == kDynamic)
    return std::nullopt;
  return Step{sequence, axis, index < 0 ? index + (*dims)[axis] : index};
}

std::optional<Step> tpuc::stepOf(Value value) {
  Value inner = withoutReshapes(value);
  if (auto gather = inner.getDefiningOp<GatherOp>()) {
    std::optional<Tensor> index = constantTensor(gather.getIndices());
    if (index && index->type() == DataType::I64 && index->numElements() == 1)
      return stepAlong(gather.getInput(), static_cast<int64_t>(gather.getAxis()),
                       index->data<int64_t>()[0]);
  }
  if (auto slice = inner.getDefiningOp<SliceOp>()) {
    std::optional<Dims> offset = intsOf(slice.getOffset(), slice.getOffsetTensor());
    std::optional<Dims> axes = intsOf(slice.getAxes(), slice.getAxesTensor());
    if (!offset || offset->size() != 1 || !axes || axes->size() != 1)
      return std::nullopt;
    std::optional<Step> step = stepAlong(slice.getInput(), axes->front(), offset->front());
    std::optional<Dims> dims = dimsOf(slice.getOutput());
    return step && dims && (*dims)[step->axis] == 1 ? step : std::nullopt;
  }
  if (auto split = inner.getDefiningOp<SplitOp>()) {
    auto index = static_cast<int64_t>(cast<OpResult>(inner).getResultNumber());
    std::optional<Step> step =
        stepAlong(split.getInput(), static_cast<int64_t>(split.getAxis()), index);
    std::optional<Dims> whole = dimsOf(split.getInput());
    if (step && (*whole)[step->axis] == static_cast<int64_t>(split.getNumResults()))
      return step;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What a gate adds up
//===----------------------------------------------------------------------===//

/// Elements [begin, begin + count) of a constant whose rows are equal.
static bool addConstant(Value value, int64_t begin, Gate &gate) {
  std::optional<Doubles> elements = constantFloats(value);
  std::optional<int64_t> extent = elements ? lastExtent(value) : std::nullopt;
  if (!elements || elements->empty())
    return false;
  size_t count = gate.bias.size();
  auto size = static_cast<size_t>(extent.value_or(1));
  auto first = static_cast<size_t>(begin);
  if (size != 1 && first + count > size)
    return false;
  for (size_t row = 0; row < elements->size(); row += size)
    for (size_t column = 0; column < size; ++column)
      if ((*elements)[row + column] != (*elements)[column])
        return false;
  for (size_t i = 0; i < count; ++i)
    gate.bias[i] += (*elements)[size == 1 ? 0 : first + i];
  return true;
}

/// Adds the columns of `value` from `begin` on to `gate`. Within a projection of a whole sequence
/// `step` tells which step is meant, and the ops are left to the other steps.
static bool addTerms(Interior &interior, Value value, int64_t begin, std::optional<Step> step,
                     Gate &gate) {
  auto isTaken = [&](Operation *op) { return step || interior.takeOp(op); };
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<WeightOp>(op))
    return addConstant(value, begin, gate);
  if (!step)
    if (std::optional<Part> part = takePart(interior, value); part && part->step == 1)
      return addTerms(interior, part->whole, begin + part->begin, step, gate);
  if (auto sum = dyn_cast<AddOp>(op)) {
    if (!isPlain(sum) || sum.getInputs().size() != 2 || !isTaken(sum))
      return false;
    return llvm::all_of(sum.getInputs(), [&](Value each) {
      bool isWhole = lastExtent(each) == lastExtent(value) || each.getDefiningOp<WeightOp>();
      return isWhole && addTerms(interior, each, begin, step, gate);
    });
  }
  if (auto product = dyn_cast<MatMulOp>(op)) {
    if (!isPlain(product) || product.getLeftTranspose() ||
        !product.getRight().getDefiningOp<WeightOp>() || rankOf(product.getRight()) != 2 ||
        !isF32(product.getRight()) || !isTaken(product))
      return false;
    if (isPresent(product.getBias()) && !addConstant(product.getBias(), begin, gate))
      return false;
    Product added{product.getInput(), {}, product.getRight(), product.getRightTranspose(), begin};
    if (step)
      added.step = Step{product.getInput(), step->axis, step->index};
    gate.products.push_back(added);
    return true;
  }
  if (step)
    return false;
  if (std::optional<Step> projected = stepOf(value);
      projected && lastExtent(projected->sequence) == lastExtent(value))
    return addTerms(interior, projected->sequence, begin, projected, gate);
  if (isReshape(op) && lastExtent(op->getOperand(0)) == lastExtent(value) && isTaken(op))
    return addTerms(interior, op->getOperand(0), begin, step, gate);
  return false;
}

static std::optional<Gate> takeGate(Interior &interior, Value value) {
  std::optional<int64_t> size = lastExtent(value);
  if (!size)
    return std::nullopt;
  Gate gate(*size);
  return addTerms(interior, value, 0, std::nullopt, gate) ? std::optional(gate) : std::nullopt;
}

static Value takeSigmoid(Interior &interior, Value value) {
  auto sigmoid = value.getDefiningOp<SigmoidOp>();
  if (!sigmoid || sigmoid.getLog() || sigmoid.getScale().convertToDouble() != 1 ||
      !sigmoid.getBias().isZero() || !interior.takeOp(sigmoid))
    return {};
  return sigmoid.getInput();
}

/// x of `value = 1 - x`.
static Value takeOneMinus(Interior &interior, Value value) {
  if (auto difference = interior.take<SubOp>(value))
    return difference.getInputs().size() == 2 && constantScalar(difference.getInputs()[0]) == 1.0
               ? difference.getInputs()[1]
               : Value();
  if (auto difference = interior.take<SubConstOp>(value))
    return difference.getIsReverse() && difference.getConstVal().convertToDouble() == 1
               ? difference.getInput()
               : Value();
  return {};
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

/// The factors of a product of two.
static std::optional<std::array<Value, 2>> takeFactorsOf(Interior &interior, Value value) {
  auto product = interior.take<MulOp>(value);
  if (!product || product.getInputs().size() != 2)
    return std::nullopt;
  return std::array<Value, 2>{product.getInputs()[0], product.getInputs()[1]};
}

/// sigmoid(s) * other in either order: calls `match(interior, s, other)` until it is true.
template <typename Match> static bool matchGated(Interior &interior, Value value, Match &&match) {
  Interior before = interior;
  for (unsigned index : {0, 1}) {
    interior = before;
    auto factors = takeFactorsOf(interior, value);
    if (!factors)
      return false;
    Value sigmoid = takeSigmoid(interior, (*factors)[index]);
    if (sigmoid && match(interior, sigmoid, (*factors)[1 - index]))
      return true;
  }
  return false;
}

/// Adds a gate; false if it is none.
static bool addGate(Interior &interior, Value value, SmallVector<Gate> &gates) {
  std::optional<Gate> gate = takeGate(interior, value);
  if (gate)
    gates.push_back(*gate);
  return gate.has_value();
}

std::optional<Cell> tpuc::takeLstmCell(Interior &interior, Value h) {
  Value i, f, g, o;
  Cell cell;
  cell.after = h;
  auto isState = [&](Interior &inner, Value sigmoid, Value other) {
    auto tanh = inner.take<TanhOp>(other);
    o = sigmoid;
    cell.cellAfter = tanh ? tanh.getInput() : Value();
    return tanh != nullptr;
  };
  if (!matchGated(interior, h, isState))
    return std::nullopt;
  auto sum = interior.take<AddOp>(cell.cellAfter);
  if (!sum || sum.getInputs().size() != 2)
    return std::nullopt;
  auto isNew = [&](Interior &inner, Value sigmoid, Value other) {
    auto tanh = inner.take<TanhOp>(other);
    i = sigmoid;
    g = tanh ? tanh.getInput() : Value();
    return tanh != nullptr;
  };
  auto isKept = [&](Interior &, Value sigmoid, Value other) {
    f = sigmoid;
    cell.cellBefore = other;
    return true;
  };
  Interior before = interior;
  for (unsigned index : {0, 1}) {
    interior = before;
    if (!matchGated(interior, sum.getInputs()[index], isNew) ||
        !matchGated(interior, sum.getInputs()[1 - index], isKept))
      continue;
    for (Value each : {i, o, f, g})
      if (!addGate(interior, each, cell.gates))
        return std::nullopt;
    return cell;
  }
  return std::nullopt;
}

/// The argument of the last tanh of a GRU, with the reset gate r: sets the gates r and n.
static bool takeNewGate(Interior &interior, Value value, Cell &cell) {
  Interior before = interior;
  SmallVector<Gate> gates = cell.gates;
  if (auto sum = interior.take<AddOp>(value); sum && sum.getInputs().size() == 2)
    for (unsigned index : {0, 1}) {
      interior = before;
      interior.takeOp(sum);
      cell.gates = gates;
      auto isReset = [&](Interior &inner, Value sigmoid, Value other) {
        cell.reset = takeGate(inner, other);
        return cell.reset && addGate(inner, sigmoid, cell.gates);
      };
      if (matchGated(interior, sum.getInputs()[index], isReset) &&
          addGate(interior, sum.getInputs()[1 - index], cell.gates))
        return true;
    }
  interior = before;
  cell.gates = gates;
  cell.reset.reset();
  std::optional<Gate> gate = takeGate(interior, value);
  if (!gate)
    return false;
  for (const Product &product : gate->products) {
    auto isReset = [&](Interior &inner, Value sigmoid, Value other) {
      cell.gated = product.source;
      return other == cell.before && addGate(inner, sigmoid, cell.gates);
    };
    if (!product.step && matchGated(interior, product.source, isReset)) {
      cell.gates.push_back(*gate);
      return true;
    }
  }
  return false;
}

/// (1 - z) * n + z * h or n + z * (h - n): sets the gate z and what is before, gives n.
static Value takeMixed(Interior &interior, Value h, Cell &cell) {
  auto sum = interior.take<AddOp>(h);
  if (!sum || sum.getInputs().size() != 2)
    return {};
  Interior before = interior;
  for (unsigned index : {0, 1}) {
    Value n;
    Value other = sum.getInputs()[1 - index];
    auto isKept = [&](Interior &inner, Value sigmoid, Value kept) {
      cell.gates.clear();
      cell.before = kept;
      if (auto difference = kept.getDefiningOp<SubOp>();
          difference && difference.getInputs().size() == 2 && difference.getInputs()[1] == other &&
          inner.takeOp(difference)) {
        cell.before = difference.getInputs()[0];
        n = other;
        return addGate(inner, sigmoid, cell.gates);
      }
      auto factors = takeFactorsOf(inner, other);
      for (unsigned side : {0, 1}) {
        Value z = factors ? takeOneMinus(inner, (*factors)[side]) : Value();
        if (!z || takeSigmoid(inner, z) != sigmoid)
          continue;
        n = (*factors)[1 - side];
        return addGate(inner, sigmoid, cell.gates);
      }
      return false;
    };
    interior = before;
    if (matchGated(interior, sum.getInputs()[index], isKept))
      return n;
  }
  return {};
}

std::optional<Cell> tpuc::takeGruCell(Interior &interior, Value h) {
  Cell cell;
  cell.after = h;
  Value n = takeMixed(interior, h, cell);
  auto tanh = n ? interior.take<TanhOp>(n) : TanhOp();
  if (!tanh || !takeNewGate(interior, tanh.getInput(), cell))
    return std::nullopt;
  return cell;
}
