//===- RecurrentOps.cpp - Recurrent cells ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/RecurrentShapes.h"
#include "tpuc/Dialect/Top/WindowShapes.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// Checks `found` against `expected`, in which what is not yet known is kDynamic and is learned.
static Expected<void> match(StringRef name, const std::optional<Dims> &found,
                            ArrayRef<int64_t *> expected) {
  if (!found)
    return {};
  Dims wanted;
  bool fits = found->size() == expected.size();
  for (size_t axis = 0; axis < expected.size(); ++axis) {
    wanted.push_back(*expected[axis]);
    if (fits && *expected[axis] == kDynamic)
      *expected[axis] = (*found)[axis];
    fits = fits && ((*found)[axis] == kDynamic || (*found)[axis] == *expected[axis]);
  }
  if (!fits)
    return makeError("", fmt::format("{} has shape {}", name.str(), dimsText(*found)),
                     dimsText(wanted));
  return {};
}

Expected<RecurrentShapes> tpuc::top::recurrentShapes(Operation *op, int64_t gates,
                                                     const RecurrentOperands &operands) {
  int64_t hidden = cast<IntegerAttr>(op->getAttr("hidden_size")).getInt();
  auto direction = op->getAttrOfType<StringAttr>("direction");
  bool bidirectional = direction && direction.getValue() == "bidirectional";
  auto batchFirstAttr = op->getAttrOfType<BoolAttr>("batch_first");
  bool batchFirst = batchFirstAttr && batchFirstAttr.getValue();
  RecurrentShapes shapes{kDynamic, kDynamic, bidirectional ? 2 : 1, kDynamic, {}, {}};
  int64_t *batch = &shapes.batch;
  int64_t *directions = &shapes.directions;
  int64_t rows = gates * hidden;
  int64_t biases = 2 * rows;
  int64_t peepholes = 3 * hidden;
  using Row = SmallVector<int64_t *, 3>;
  Row input = batchFirst ? Row{batch, &shapes.sequence, &shapes.inputSize}
                         : Row{&shapes.sequence, batch, &shapes.inputSize};
  Row state = batchFirst ? Row{batch, directions, &hidden} : Row{directions, batch, &hidden};
  struct Check {
    StringRef name;
    const std::optional<Dims> &found;
    Row expected;
  };
  for (const Check &check : {Check{"input", operands.input, input},
                             {"filter", operands.filter, {directions, &rows, &shapes.inputSize}},
                             {"recurrence", operands.recurrence, {directions, &rows, &hidden}},
                             {"bias", operands.bias, {directions, &biases}},
                             {"sequence_lens", operands.sequenceLens, {batch}},
                             {"initial_h", operands.initialH, state},
                             {"initial_c", operands.initialC, state},
                             {"peephole", operands.peephole, {directions, &peepholes}}})
    if (Expected<void> matched = match(check.name, check.found, check.expected); !matched)
      return propagate(matched);
  if (batchFirst) {
    shapes.y = {shapes.batch, shapes.sequence, shapes.directions, hidden};
    shapes.yH = {shapes.batch, shapes.directions, hidden};
  } else {
    shapes.y = {shapes.sequence, shapes.directions, shapes.batch, hidden};
    shapes.yH = {shapes.directions, shapes.batch, hidden};
  }
  return shapes;
}

static std::optional<Dims> dimsIfPresent(Value value) {
  return isPresent(value) ? dimsOf(value) : std::nullopt;
}

template <typename Op> static Expected<RecurrentShapes> shapesOf(Op op, int64_t gates) {
  RecurrentOperands operands{dimsOf(op.getInput()),
                             dimsOf(op.getFilter()),
                             dimsOf(op.getRecurrence()),
                             dimsIfPresent(op.getBias()),
                             dimsIfPresent(op.getSequenceLens()),
                             dimsIfPresent(op.getInitialH()),
                             {},
                             {}};
  if constexpr (requires { op.getInitialC(); }) {
    operands.initialC = dimsIfPresent(op.getInitialC());
    operands.peephole = dimsIfPresent(op.getPeephole());
  }
  return recurrentShapes(op, gates, operands);
}

template <typename Op> static LogicalResult infer(Op op, int64_t gates) {
  Expected<RecurrentShapes> shapes = shapesOf(op, gates);
  if (!shapes)
    return emit(op, shapes.error());
  Type element = elementTypeOf(op.getInput());
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (isPresent(op->getResult(i)) &&
        failed(setResult(op, i, element, i == 0 ? shapes->y : shapes->yH)))
      return failure();
  return success();
}

/// Two products per step and direction; the gates themselves count for little beside them.
template <typename Op> static int64_t countFlops(Op op, int64_t gates) {
  Expected<RecurrentShapes> shapes = shapesOf(op, gates);
  if (!shapes || shapes->sequence == kDynamic || shapes->batch == kDynamic ||
      shapes->inputSize == kDynamic)
    return 0;
  auto hidden = static_cast<int64_t>(op.getHiddenSize());
  return 2 * shapes->sequence * shapes->batch * shapes->directions * gates * hidden *
         (shapes->inputSize + hidden);
}

/// `activationsPerDirection`: how many functions the cell has.
template <typename Op> static LogicalResult verifyCell(Op op, size_t activationsPerDirection) {
  static constexpr StringRef kKnown[] = {
      "relu",     "tanh", "sigmoid",    "affine",      "leakyrelu", "thresholdedrelu",
      "softplus", "elu",  "scaledtanh", "hardsigmoid", "softsign"};
  auto hidden = static_cast<int64_t>(op.getHiddenSize());
  if (hidden < 1)
    return op.emitOpError("hidden_size is ") << hidden << "; expected at least 1";
  StringRef direction = op.getDirection();
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return op.emitOpError("direction is '")
           << direction << "'; expected forward, reverse or bidirectional";
  ArrayAttr activations = op.getActivationsAttr();
  if (!activations)
    return success();
  size_t wanted = activationsPerDirection * (direction == "bidirectional" ? 2 : 1);
  if (activations.size() != wanted)
    return op.emitOpError("has ") << activations.size() << " activations; expected " << wanted;
  for (Attribute name : activations)
    if (!llvm::is_contained(kKnown, cast<StringAttr>(name).getValue().lower()))
      return op.emitOpError("activation is ") << name << "; expected one of ONNX's";
  return success();
}

LogicalResult LSTMOp::verify() { return verifyCell(*this, 3); }
LogicalResult LSTMOp::inferShape() { return infer(*this, 4); }
int64_t LSTMOp::flops() { return countFlops(*this, 4); }

LogicalResult GRUOp::verify() { return verifyCell(*this, 2); }
LogicalResult GRUOp::inferShape() { return infer(*this, 3); }
int64_t GRUOp::flops() { return countFlops(*this, 3); }

LogicalResult RNNOp::verify() { return verifyCell(*this, 1); }
LogicalResult RNNOp::inferShape() { return infer(*this, 1); }
int64_t RNNOp::flops() { return countFlops(*this, 1); }
