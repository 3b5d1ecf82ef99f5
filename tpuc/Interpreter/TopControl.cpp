//===- TopControl.cpp - What the ops of ControlOps.td compute ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ControlOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

#include <algorithm>
#include <limits>

using namespace tpuc;
using namespace tpuc::top;
using ops::allocateDims;
using ops::frontAxis;

/// The one element of operand `index` as a condition.
static Expected<bool> conditionOf(const EvalContext &context, const Tensor &tensor) {
  if (tensor.numElements() != 1 || tensor.type() != DataType::Bool)
    return context.error("a condition of shape " + tensor.shape().str(), "one truth value");
  return tensor.data<uint8_t>()[0] != 0;
}

static Expected<void> evaluateIf(IfOp op, EvalContext &context) {
  Expected<bool> holds = conditionOf(context, context.operand(0));
  if (!holds)
    return propagate(holds);
  auto yielded = context.run(*holds ? op.getThenBranch() : op.getElseBranch(), {});
  if (!yielded)
    return propagate(yielded);
  for (auto [index, tensor] : llvm::enumerate(*yielded))
    context.set(static_cast<unsigned>(index), tensor);
  return {};
}

/// The slices of one result, stacked along a new dimension `axis`. Without slices the extents are
/// those of `type`, 0 where they are not known.
static Expected<void> setStacked(EvalContext &context, unsigned index, int64_t axis,
                                 const std::vector<Tensor> &slices, mlir::Type type) {
  ops::Dims dims;
  DataType element = DataType::F32;
  if (slices.empty()) {
    std::optional<DataType> stored = storageDataType(type);
    if (!stored)
      return context.error("a gathered value of a type that tensors cannot hold");
    element = *stored;
    if (auto ranked = mlir::dyn_cast<mlir::RankedTensorType>(type))
      for (int64_t extent : ranked.getShape())
        dims.push_back(std::max<int64_t>(extent, 0));
  } else {
    element = slices.front().type();
    dims.assign(slices.front().shape().begin(), slices.front().shape().end());
  }
  Expected<size_t> front = frontAxis(context, axis, dims.size() + 1);
  if (!front)
    return propagate(front);
  dims.insert(dims.begin() + *front, 1);
  Expected<Shape> sliceShape = checkedShape(context, dims, element);
  if (!sliceShape)
    return propagate(sliceShape);
  std::vector<Tensor> parts;
  for (const Tensor &slice : slices) {
    if (!(slice.shape() == slices.front().shape()))
      return context.error("gathers shapes " + slices.front().shape().str() + " and " +
                               slice.shape().str(),
                           "one shape in each iteration");
    parts.push_back(slice.reshaped(*sliceShape));
  }
  dims[*front] = static_cast<int64_t>(slices.size());
  Expected<Tensor *> output = allocateDims(context, index, element, dims);
  if (!output)
    return propagate(output);
  kernels::concat(parts, *front, **output, context.threads());
  return {};
}

static Expected<void> evaluateLoop(LoopOp op, EvalContext &context) {
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (std::optional<ops::Dims> given = context.intsOf(0)) {
    if (given->size() != 1)
      return context.error(std::to_string(given->size()) + " trip counts", "one");
    trips = given->front();
  }
  bool goesOn = true;
  if (context.has(1)) {
    Expected<bool> holds = conditionOf(context, context.operand(1));
    if (!holds)
      return propagate(holds);
    goesOn = *holds;
  }
  size_t carried = op.getInitial().size();
  llvm::SmallVector<Tensor> state;
  for (size_t i = 0; i < carried; ++i)
    state.push_back(context.operand(static_cast<unsigned>(i + 2)));
  std::vector<std::vector<Tensor>> gathered(op->getNumResults() - carried);
  for (int64_t trip = 0; goesOn && trip < trips; ++trip) {
    Tensor condition(DataType::Bool, {});
    condition.mutableData<uint8_t>()[0] = 1;
    llvm::SmallVector<Tensor> arguments = {Tensor::of<int64_t>({}, {trip}), condition};
    arguments.append(state);
    auto yielded = context.run(op.getBody(), arguments);
    if (!yielded)
      return propagate(yielded);
    Expected<bool> holds = conditionOf(context, yielded->front());
    if (!holds)
      return propagate(holds);
    goesOn = *holds;
    state.assign(yielded->begin() + 1, yielded->begin() + 1 + carried);
    for (size_t i = 0; i < gathered.size(); ++i)
      gathered[i].push_back((*yielded)[1 + carried + i]);
  }
  for (size_t i = 0; i < carried; ++i)
    context.set(static_cast<unsigned>(i), state[i]);
  mlir::Operation &yield = op.getBody().front().back();
  for (size_t i = 0; i < gathered.size(); ++i) {
    auto index = static_cast<unsigned>(carried + i);
    if (Expected<void> done =
            setStacked(context, index, 0, gathered[i], yield.getOperand(index + 1).getType());
        !done)
      return done;
  }
  return {};
}

/// Slice `index` of `tensor` along `axis`, without that dimension.
static Tensor sliceOf(const Tensor &tensor, size_t axis, int64_t index, ThreadPool &threads) {
  const Shape &shape = tensor.shape();
  std::vector<kernels::AxisSource> sources;
  ops::Dims dims;
  for (size_t dim = 0; dim < shape.rank(); ++dim) {
    sources.push_back(dim == axis ? kernels::AxisSource{index}
                                  : kernels::sliceSource({0, 1, shape[dim]}));
    if (dim != axis)
      dims.push_back(shape[dim]);
  }
  Shape wanted = shape;
  wanted[axis] = 1;
  Tensor slice(tensor.type(), wanted);
  kernels::remap(tensor, sources, nullptr, slice, threads);
  return slice.reshaped(Shape(std::span(dims.data(), dims.size())));
}

static Expected<void> evaluateScan(ScanOp op, EvalContext &context) {
  auto scanned = static_cast<size_t>(op.getNumScanInputs());
  size_t states = context.numOperands() - scanned;
  size_t outputs = op->getNumResults() - states;
  auto listOf = [](std::optional<mlir::ArrayAttr> attribute, size_t count) {
    return intVector(attribute).value_or(ops::Dims(count, 0));
  };
  ops::Dims inputAxes = listOf(op.getInputAxes(), scanned);
  ops::Dims inputDirections = listOf(op.getInputDirections(), scanned);
  ops::Dims outputAxes = listOf(op.getOutputAxes(), outputs);
  ops::Dims outputDirections = listOf(op.getOutputDirections(), outputs);
  int64_t length = 0;
  llvm::SmallVector<size_t> axes;
  for (size_t i = 0; i < scanned; ++i) {
    const Shape &shape = context.operand(static_cast<unsigned>(states + i)).shape();
    Expected<size_t> axis = frontAxis(context, inputAxes[i], shape.rank());
    if (!axis)
      return propagate(axis);
    axes.push_back(*axis);
    if (i == 0)
      length = shape[*axis];
    else if (shape[*axis] != length)
      return context.error("scans " + std::to_string(length) + " and " +
                               std::to_string(shape[*axis]) + " slices",
                           "as many of each input");
  }
  llvm::SmallVector<Tensor> state;
  for (size_t i = 0; i < states; ++i)
    state.push_back(context.operand(static_cast<unsigned>(i)));
  std::vector<std::vector<Tensor>> gathered(outputs);
  for (int64_t trip = 0; trip < length; ++trip) {
    llvm::SmallVector<Tensor> arguments = state;
    for (size_t i = 0; i < scanned; ++i)
      arguments.push_back(sliceOf(context.operand(static_cast<unsigned>(states + i)), axes[i],
                                  inputDirections[i] != 0 ? length - 1 - trip : trip,
                                  context.threads()));
    auto yielded = context.run(op.getBody(), arguments);
    if (!yielded)
      return propagate(yielded);
    state.assign(yielded->begin(), yielded->begin() + states);
    for (size_t i = 0; i < outputs; ++i)
      gathered[i].push_back((*yielded)[states + i]);
  }
  for (size_t i = 0; i < states; ++i)
    context.set(static_cast<unsigned>(i), state[i]);
  mlir::Operation &yield = op.getBody().front().back();
  for (size_t i = 0; i < outputs; ++i) {
    if (outputDirections[i] != 0)
      std::reverse(gathered[i].begin(), gathered[i].end());
    auto index = static_cast<unsigned>(states + i);
    if (Expected<void> done = setStacked(context, index, outputAxes[i], gathered[i],
                                         yield.getOperand(index).getType());
        !done)
      return done;
  }
  return {};
}

void tpuc::attachControl(mlir::MLIRContext *context) {
  attachEvaluate<IfOp, evaluateIf>(context);
  attachEvaluate<LoopOp, evaluateLoop>(context);
  attachEvaluate<ScanOp, evaluateScan>(context);
}
