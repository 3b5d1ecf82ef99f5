//===- RecurrentOps.cpp - Recurrent cells ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Support/OpShapes/Recurrent.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static std::optional<shapes::Dims> knownDims(Value value) {
  const std::optional<Dims> dims = isPresent(value) ? dimsOf(value) : std::nullopt;
  return dims ? std::optional(shapes::Dims(dims->begin(), dims->end())) : std::nullopt;
}

template <typename Op> static Expected<shapes::RecurrentShapes> shapesOf(Op op, int64_t gates) {
  shapes::RecurrentOperands operands{knownDims(op.getInput()),
                                     knownDims(op.getFilter()),
                                     knownDims(op.getRecurrence()),
                                     knownDims(op.getBias()),
                                     knownDims(op.getSequenceLens()),
                                     knownDims(op.getInitialH()),
                                     {},
                                     {}};
  if constexpr (requires { op.getInitialC(); }) {
    operands.initialC = knownDims(op.getInitialC());
    operands.peephole = knownDims(op.getPeephole());
  }
  return shapes::recurrentShapes({.gates = gates,
                                  .hidden = static_cast<int64_t>(op.getHiddenSize()),
                                  .isBidirectional = op.getDirection() == "bidirectional",
                                  .batchFirst = op.getBatchFirst()},
                                 operands);
}

template <typename Op> static LogicalResult infer(Op op, int64_t gates) {
  Expected<shapes::RecurrentShapes> shapes = shapesOf(op, gates);
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
  Expected<shapes::RecurrentShapes> shapes = shapesOf(op, gates);
  if (!shapes || shapes->sequence == kDynamic || shapes->batch == kDynamic ||
      shapes->inputSize == kDynamic)
    return 0;
  auto hidden = static_cast<int64_t>(op.getHiddenSize());
  return Count(2) * shapes->sequence * shapes->batch * shapes->directions * gates * hidden *
         (Count(shapes->inputSize) + hidden);
}

/// `activationsPerDirection`: how many functions the cell has.
template <typename Op> static LogicalResult verifyCell(Op op, size_t activationsPerDirection) {
  static constexpr StringRef kKnown[] = {
      "relu",     "tanh", "sigmoid",    "affine",      "leakyrelu", "thresholdedrelu",
      "softplus", "elu",  "scaledtanh", "hardsigmoid", "softsign"};
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

LogicalResult LSTMIntegerOp::verify() {
  const size_t gates = getInputFactors().size();
  if (gates != 3 && gates != 4)
    return emitOpError("has ") << gates << " input_factors; expected 3 or 4";
  const auto check = [&](StringRef name, std::optional<ArrayAttr> found, size_t count) {
    if ((found ? found->size() : 0) == count)
      return success();
    emitOpError("has ") << (found ? found->size() : 0) << " " << name << "; expected " << count;
    return failure();
  };
  return success(
      succeeded(check("recurrent_factors", getRecurrentFactors(), gates)) &&
      succeeded(check("peephole_factors", getPeepholeFactors(),
                      isPresent(getPeephole()) ? gates - 1 : 0)) &&
      succeeded(check("norm_scales", getNormScales(), isPresent(getNorm()) ? gates : 0)));
}

LogicalResult LSTMIntegerOp::inferShape() {
  Expected<shapes::Dims> shape = shapes::integerLstmShape(
      static_cast<int64_t>(getInputFactors().size()),
      {knownDims(getInput()), knownDims(getFilter()), knownDims(getRecurrence()),
       knownDims(getBias()), knownDims(getPeephole()), knownDims(getNorm()),
       knownDims(getProjection()), knownDims(getProjectionBias())});
  if (!shape)
    return emit(*this, shape.error());
  return setResult(*this, 0, elementTypeOf(getInput()), *shape);
}

/// The products of each step; gates count for little beside them.
int64_t LSTMIntegerOp::flops() {
  const std::optional<Dims> input = dimsOf(getInput());
  if (!input || input->size() != 3 || llvm::is_contained(*input, kDynamic))
    return 0;
  Count weights = staticElements(getFilter()) + staticElements(getRecurrence());
  if (isPresent(getProjection()))
    weights = weights + staticElements(getProjection());
  return Count(2) * (*input)[0] * (*input)[1] * weights;
}
