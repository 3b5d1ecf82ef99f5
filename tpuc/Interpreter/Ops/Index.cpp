//===- Index.cpp - What gathering and scattering compute ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Index.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

#include <numeric>

using namespace tpuc;
using namespace tpuc::ops;
using kernels::Reduction;

static Expected<void> evaluateGather(OpContext &context) {
  const Tensor &input = context.operand(0);
  Dims dims = dimsOf(context, 0);
  Dims indices = dimsOf(context, 1);
  Expected<size_t> axis = frontAxis(context, context.integer("axis"), dims.size());
  if (!axis)
    return propagate(axis);
  dims.erase(dims.begin() + *axis);
  dims.insert(dims.begin() + *axis, indices.begin(), indices.end());
  Expected<Tensor *> output = allocateDims(context, 0, input.type(), dims);
  if (!output)
    return propagate(output);
  return aboutLayer(context,
                    kernels::gather(input, context.operand(1), *axis, **output, context.threads()));
}

/// The axis along which elements are named, if indices and input fit.
static Expected<size_t> elementsAxis(OpContext &context, int64_t given) {
  Dims dims = dimsOf(context, 0);
  Dims indices = dimsOf(context, 1);
  Expected<size_t> axis = frontAxis(context, given, dims.size());
  if (!axis)
    return axis;
  bool fits = indices.size() == dims.size();
  for (size_t dim = 0; fits && dim < dims.size(); ++dim)
    fits = dim == *axis || indices[dim] <= dims[dim];
  if (!fits)
    return context.error("indices of shape " + context.operand(1).shape().str(),
                         "at most " + context.operand(0).shape().str() + " but for dimension " +
                             std::to_string(*axis));
  return axis;
}

static Expected<void> evaluateGatherElements(OpContext &context) {
  Expected<size_t> axis = elementsAxis(context, context.integer("axis"));
  if (!axis)
    return propagate(axis);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), context.operand(1).shape());
  if (!output)
    return propagate(output);
  return aboutLayer(context, kernels::gatherElements(input, context.operand(1), *axis, **output,
                                                     context.threads()));
}

/// The shape of what tuples of indices name behind `batch` shared dimensions.
static Expected<Dims> namedSlices(OpContext &context, size_t batch) {
  Dims dims = dimsOf(context, 0);
  Dims indices = dimsOf(context, 1);
  bool fits = indices.size() > batch && dims.size() >= batch &&
              indices.back() <= static_cast<int64_t>(dims.size() - batch);
  for (size_t axis = 0; fits && axis < batch; ++axis)
    fits = dims[axis] == indices[axis];
  if (!fits)
    return context.error("indices of shape " + context.operand(1).shape().str() +
                             " for an input of shape " + context.operand(0).shape().str(),
                         "tuples in the last dimension, and the same " + std::to_string(batch) +
                             " batch dimensions");
  Dims result(indices.begin(), indices.end() - 1);
  result.insert(result.end(), dims.begin() + static_cast<int64_t>(batch) + indices.back(),
                dims.end());
  return result;
}

static Expected<void> evaluateGatherND(OpContext &context) {
  auto batch = static_cast<size_t>(context.integer("batch_dims"));
  Expected<Dims> dims = namedSlices(context, batch);
  if (!dims)
    return propagate(dims);
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), *dims);
  if (!output)
    return propagate(output);
  return aboutLayer(context, kernels::gatherND(context.operand(0), context.operand(1), batch,
                                               **output, context.threads()));
}

static Reduction reductionOf(std::string_view name) {
  if (name == "add")
    return Reduction::Add;
  if (name == "mul")
    return Reduction::Mul;
  if (name == "max")
    return Reduction::Max;
  return name == "min" ? Reduction::Min : Reduction::None;
}

static Expected<Tensor *> allocateScatter(OpContext &context, const Shape &updates) {
  const Tensor &input = context.operand(0);
  if (context.operand(2).shape() != updates || context.operand(2).type() != input.type())
    return context.error("updates of shape " + context.operand(2).shape().str(),
                         "shape " + updates.str() + " and the type of the input");
  return context.allocate(0, input.type(), input.shape());
}

static Expected<void> evaluateScatterElements(OpContext &context) {
  Expected<size_t> axis = elementsAxis(context, context.integer("axis"));
  if (!axis)
    return propagate(axis);
  Expected<Tensor *> output = allocateScatter(context, context.operand(1).shape());
  if (!output)
    return propagate(output);
  return aboutLayer(
      context, kernels::scatterElements(context.operand(0), context.operand(1), context.operand(2),
                                        *axis, reductionOf(context.text("reduction")), **output));
}

static Expected<void> evaluateScatterND(OpContext &context) {
  Expected<Dims> dims = namedSlices(context, 0);
  if (!dims)
    return propagate(dims);
  Expected<Shape> updates = checkedShape(context, *dims, context.operand(0).type());
  if (!updates)
    return propagate(updates);
  Expected<Tensor *> output = allocateScatter(context, *updates);
  if (!output)
    return propagate(output);
  return aboutLayer(context,
                    kernels::scatterND(context.operand(0), context.operand(1), context.operand(2),
                                       reductionOf(context.text("reduction")), **output));
}

static Expected<void> evaluateTensorScatter(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  Dims updates = dimsOf(context, 1);
  Expected<size_t> axis = frontAxis(context, context.integer("axis"), dims.size());
  if (!axis)
    return propagate(axis);
  bool fits = *axis > 0 && updates.size() == dims.size() && updates[*axis] <= dims[*axis] &&
              context.operand(1).type() == context.operand(0).type();
  for (size_t dim = 0; fits && dim < dims.size(); ++dim)
    fits = dim == *axis || updates[dim] == dims[dim];
  if (!fits)
    return context.error("updates of shape " + context.operand(1).shape().str(),
                         "shape " + context.operand(0).shape().str() +
                             ", at most that along axis " + std::to_string(*axis) +
                             ", and the type of the input");
  if (context.has(2) && context.operand(2).numElements() != dims[0])
    return context.error(std::to_string(context.operand(2).numElements()) + " starts",
                         "one for each of the " + std::to_string(dims[0]) + " samples");
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  return aboutLayer(context,
                    kernels::tensorScatter(input, context.operand(1), context.optional(2), *axis,
                                           context.text("mode") == "circular", **output));
}

static Expected<void> evaluateOneHot(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  Expected<size_t> axis = frontAxis(context, context.integer("axis"), dims.size() + 1);
  if (!axis)
    return propagate(axis);
  Dims depth = *context.intsOf(1);
  const Tensor &values = context.operand(2);
  if (depth.size() != 1 || values.numElements() != 2)
    return context.error(std::to_string(depth.size()) + " depths and " +
                             std::to_string(values.numElements()) + " values",
                         "1 and 2");
  dims.insert(dims.begin() + *axis, depth.front());
  Expected<Tensor *> output = allocateDims(context, 0, values.type(), dims);
  if (!output)
    return propagate(output);
  kernels::oneHot(context.operand(0), values, *axis, **output, context.threads());
  return {};
}

static Expected<void> evaluateCompress(OpContext &context) {
  Tensor input = context.operand(0);
  if (!context.optionalInteger("axis"))
    input = input.reshaped({input.numElements()});
  Expected<size_t> axis =
      frontAxis(context, context.optionalInteger("axis") ? *context.optionalInteger("axis") : 0,
                input.shape().rank());
  if (!axis)
    return propagate(axis);
  if (context.operand(1).type() != DataType::Bool)
    return context.error(
        "a condition of type " + std::string(dataTypeName(context.operand(1).type())), "bool");
  std::vector<int64_t> kept;
  const std::span<const uint8_t> condition = context.operand(1).data<uint8_t>();
  for (size_t index = 0; index < condition.size(); ++index)
    if (condition[index])
      kept.push_back(static_cast<int64_t>(index));
  Shape shape = input.shape();
  if (!kept.empty() && kept.back() >= shape[*axis])
    return context.error("a condition that holds for slice " + std::to_string(kept.back()),
                         "at most " + std::to_string(shape[*axis]) + " slices");
  shape[*axis] = static_cast<int64_t>(kept.size());
  Expected<Tensor *> output = context.allocate(0, input.type(), shape);
  if (!output)
    return propagate(output);
  kernels::takeSlices(input, kept, *axis, **output, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::indexOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Gather", evaluateGather},       {"GatherElements", evaluateGatherElements},
      {"GatherND", evaluateGatherND},   {"ScatterElements", evaluateScatterElements},
      {"ScatterND", evaluateScatterND}, {"TensorScatter", evaluateTensorScatter},
      {"OneHot", evaluateOneHot},       {"Compress", evaluateCompress},
  };
  return kOps;
}
