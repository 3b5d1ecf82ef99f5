//===- Movement.cpp - What ops that move elements compute -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Sizes.h"
#include "tpuc/Support/SliceRange.h"

#include <algorithm>
#include <numeric>

using namespace tpuc;
using namespace tpuc::ops;
using kernels::AxisSource;
using kernels::PadMode;

static std::string text(int64_t value) { return std::to_string(value); }

/// The ranges that leave every dimension as it is.
static std::vector<SliceRange> wholeRanges(const Shape &shape) {
  std::vector<SliceRange> ranges;
  for (int64_t extent : shape)
    ranges.push_back({0, 1, extent});
  return ranges;
}

/// Makes `result` of these extents out of `input`. `sourceOf` gives the source of an axis. It is
/// asked when there is room for the result, and not of one without elements: a source is as long as
/// its extent, which may then be any number.
template <typename SourceOf>
static Expected<void> remapInto(OpContext &context, unsigned result, const Tensor &input,
                                const Dims &dims, const SourceOf &sourceOf,
                                const Tensor *fill = nullptr) {
  Expected<Tensor *> output = allocateDims(context, result, input.type(), dims);
  if (!output)
    return propagate(output);
  if ((*output)->numElements() == 0)
    return {};
  std::vector<AxisSource> sources;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    sources.push_back(sourceOf(axis));
  kernels::remap(input, sources, fill, **output, context.threads());
  return {};
}

/// Makes `result` of these ranges of the first operand.
static Expected<void> sliceInto(OpContext &context, unsigned result,
                                const std::vector<SliceRange> &ranges) {
  Dims dims;
  for (const SliceRange &range : ranges)
    dims.push_back(range.count);
  return remapInto(context, result, context.operand(0), dims,
                   [&](size_t axis) { return kernels::sliceSource(ranges[axis]); });
}

//===--- Joining and cutting ------------------------------------------------===//

/// min(max(x, 0), limit) in place; a negative limit is none. NaN stays.
static void reluInPlace(Tensor &tensor, double limit) {
  DataType type = isFloat(tensor.type()) ? DataType::F64 : DataType::I64;
  Tensor wide = convert(tensor, type).clone();
  auto clip = [limit](auto values) {
    for (auto &value : values) {
      using T = std::decay_t<decltype(value)>;
      if (value < T(0))
        value = T(0);
      else if (limit >= 0 && static_cast<double>(value) > limit)
        value = static_cast<T>(limit);
    }
  };
  if (type == DataType::F64)
    clip(wide.mutableData<double>());
  else
    clip(wide.mutableData<int64_t>());
  Tensor narrow = convert(wide, tensor.type());
  auto bytes = narrow.rawBytes();
  std::copy(bytes.begin(), bytes.end(), tensor.mutableBytes().begin());
}

static Expected<void> evaluateConcat(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  Expected<size_t> axis = frontAxis(context, context.integer("axis"), dims.size());
  if (!axis)
    return propagate(axis);
  std::vector<Tensor> inputs;
  int64_t joined = 0;
  for (unsigned index = 0; index < context.numOperands(); ++index) {
    Dims each = dimsOf(context, index);
    Dims wanted = dims;
    if (each.size() == wanted.size())
      wanted[*axis] = each[*axis];
    if (each != wanted || context.operand(index).type() != context.operand(0).type())
      return context.error("joins shapes " + context.operand(0).shape().str() + " and " +
                               context.operand(index).shape().str(),
                           "one type, and shapes that differ in dimension " +
                               std::to_string(*axis) + " alone");
    joined += each[*axis];
    inputs.push_back(context.operand(index));
  }
  dims[*axis] = joined;
  Expected<Tensor *> output = allocateDims(context, 0, inputs.front().type(), dims);
  if (!output)
    return propagate(output);
  kernels::concat(inputs, *axis, **output, context.threads());
  if (context.flag("do_relu"))
    reluInPlace(**output, context.real("relu_limit"));
  return {};
}

static Expected<void> evaluateSplit(OpContext &context) {
  const Shape &shape = context.operand(0).shape();
  Expected<size_t> axis = frontAxis(context, context.integer("axis"), shape.rank());
  if (!axis)
    return propagate(axis);
  auto count = static_cast<int64_t>(context.results().size());
  int64_t extent = shape[*axis];
  std::optional<Dims> sizes = context.ints("split_size", 1);
  if (!sizes) {
    int64_t part = (extent + count - 1) / count;
    sizes.emplace(static_cast<size_t>(count), part);
    sizes->back() = extent - part * (count - 1);
  }
  bool fits = static_cast<int64_t>(sizes->size()) == count;
  int64_t sum = 0;
  for (int64_t size : *sizes) {
    fits = fits && size >= 0 && size <= extent;
    sum += fits ? size : 0;
  }
  if (!fits || sum != extent)
    return context.error("cannot cut " + text(extent) + " slices into these " + text(count) +
                             " parts",
                         "sizes of at least 0 that add up to " + text(extent));
  std::vector<SliceRange> ranges = wholeRanges(shape);
  int64_t start = 0;
  for (unsigned index = 0; index < sizes->size(); ++index) {
    ranges[*axis] = {start, 1, (*sizes)[index]};
    start += (*sizes)[index];
    if (Expected<void> done = sliceInto(context, index, ranges); !done)
      return done;
  }
  return {};
}

static Expected<void> evaluateSlice(OpContext &context) {
  const Shape &shape = context.operand(0).shape();
  Expected<Dims> offset = neededInts(context, "offset", 1);
  Expected<Dims> ends = neededInts(context, "ends", 2);
  if (!offset || !ends)
    return propagate(!offset ? offset : ends);
  Dims axes = context.ints("axes", 3).value_or(countUp(offset->size()));
  Dims steps = context.ints("steps", 4).value_or(Dims(axes.size(), 1));
  if (offset->size() != axes.size() || ends->size() != axes.size() || steps.size() != axes.size())
    return context.error("offsets, ends or steps for another number of axes",
                         std::to_string(axes.size()));
  Expected<std::vector<size_t>> front = frontAxes(context, axes, shape.rank());
  if (!front)
    return propagate(front);
  std::vector<SliceRange> ranges = wholeRanges(shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0)
      return context.error("a step of 0", "another number");
    size_t axis = (*front)[i];
    ranges[axis] = sliceRange(shape[axis], (*offset)[i], (*ends)[i], steps[i]);
  }
  return sliceInto(context, 0, ranges);
}

//===--- The same elements in another order or shape -------------------------===//

static Expected<void> evaluatePermute(OpContext &context) {
  Dims order = context.intList("order");
  Dims dims = dimsOf(context, 0);
  if (dims.size() != order.size())
    return context.error("input of rank " + std::to_string(dims.size()),
                         "rank " + std::to_string(order.size()));
  Expected<std::vector<size_t>> front = frontAxes(context, order, dims.size());
  if (!front)
    return propagate(front);
  order.assign(front->begin(), front->end());
  Dims result;
  for (int64_t axis : order)
    result.push_back(dims[static_cast<size_t>(axis)]);
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), result);
  if (!output)
    return propagate(output);
  kernels::permute(context.operand(0), order, **output, context.threads());
  return {};
}

/// The elements of the input under the shape `dims`.
static Expected<void> reshapeTo(OpContext &context, std::span<const int64_t> dims) {
  const Tensor &input = context.operand(0);
  Expected<Shape> shape = checkedShape(context, dims, input.type());
  if (!shape)
    return propagate(shape);
  if (shape->numElements() != input.numElements())
    return context.error("an input of shape " + input.shape().str(),
                         "the elements of shape " + shape->str());
  context.set(0, input.reshaped(*shape));
  return {};
}

static Expected<void> evaluateReshape(OpContext &context) {
  Expected<Dims> shape = neededInts(context, "shape", 1);
  if (!shape)
    return propagate(shape);
  Dims dims = dimsOf(context, 0);
  std::optional<size_t> open;
  int64_t rest = 1;
  for (size_t axis = 0; axis < shape->size(); ++axis) {
    int64_t &extent = (*shape)[axis];
    if (extent == 0 && !context.flag("allowzero")) {
      if (axis >= dims.size())
        return context.error("takes extent " + std::to_string(axis) + " of an input of rank " +
                             std::to_string(dims.size()));
      extent = dims[axis];
    }
    if (extent < -1 || (extent == -1 && open))
      return context.error("a shape with extent " + text(extent), "at most one -1");
    if (extent == -1)
      open = axis;
    else if (__builtin_mul_overflow(rest, extent, &rest))
      return context.error("a shape of too many elements");
  }
  if (open) {
    int64_t count = context.operand(0).numElements();
    if (rest == 0 ? count != 0 : count % rest != 0)
      return context.error(text(count) + " elements for extents of " + text(rest), "a multiple");
    (*shape)[*open] = rest == 0 ? 0 : count / rest;
  }
  return reshapeTo(context, *shape);
}

static Expected<void> evaluateFlatten(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  if (dims.empty())
    return reshapeTo(context, Dims{1});
  Expected<size_t> start = frontAxis(context, context.integer("start_dim"), dims.size());
  Expected<size_t> end = frontAxis(context, context.integer("end_dim"), dims.size());
  if (!start || !end)
    return propagate(!start ? start : end);
  if (*start > *end)
    return context.error("joins dimensions " + std::to_string(*start) + " to " +
                         std::to_string(*end));
  std::span<const int64_t> all(dims);
  Dims result(all.begin(), all.begin() + static_cast<int64_t>(*start));
  result.push_back(kernels::product(all.subspan(*start, *end - *start + 1)));
  result.insert(result.end(), all.begin() + static_cast<int64_t>(*end) + 1, all.end());
  return reshapeTo(context, result);
}

static Expected<void> evaluateFlattenTo2D(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  auto rank = static_cast<int64_t>(dims.size());
  auto axis = context.integer("axis");
  if (axis < -rank || axis > rank)
    return context.error("axis " + text(axis), "-" + text(rank) + " to " + text(rank));
  auto front = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  std::span<const int64_t> all(dims);
  return reshapeTo(context,
                   Dims{kernels::product(all.first(front)), kernels::product(all.subspan(front))});
}

static Expected<void> evaluateSqueeze(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  std::optional<Dims> axes = context.ints("axes", 1);
  Expected<std::vector<size_t>> gone = frontAxes(context, axes.value_or(Dims()), dims.size());
  if (!gone)
    return propagate(gone);
  Dims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    bool drop = axes ? std::ranges::find(*gone, axis) != gone->end() : dims[axis] == 1;
    if (!drop)
      result.push_back(dims[axis]);
    else if (dims[axis] != 1)
      return context.error("removes dimension " + std::to_string(axis) + " of extent " +
                               text(dims[axis]),
                           "extent 1");
  }
  return reshapeTo(context, result);
}

static Expected<void> evaluateUnsqueeze(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  Expected<Dims> axes = neededInts(context, "axes", 1);
  if (!axes)
    return propagate(axes);
  size_t rank = dims.size() + axes->size();
  Expected<std::vector<size_t>> added = frontAxes(context, *axes, rank);
  if (!added)
    return propagate(added);
  Dims result;
  auto next = dims.begin();
  for (size_t axis = 0; axis < rank; ++axis)
    result.push_back(std::ranges::find(*added, axis) != added->end() ? 1 : *next++);
  return reshapeTo(context, result);
}

//===--- Repeating and padding ----------------------------------------------===//

static Expected<void> evaluateExpand(OpContext &context) {
  Expected<Dims> wanted = neededInts(context, "shape", 1);
  if (!wanted)
    return propagate(wanted);
  const Tensor &input = context.operand(0);
  Dims dims = dimsOf(context, 0);
  size_t rank = std::max(dims.size(), wanted->size());
  dims.insert(dims.begin(), rank - dims.size(), 1);
  wanted->insert(wanted->begin(), rank - wanted->size(), 1);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t extent = dims[axis];
    int64_t &target = (*wanted)[axis];
    if (target < 0 || (extent != 1 && target != 1 && target != extent))
      return context.error("extent " + text(extent) + " is to become " + text(target),
                           "extents that are equal or 1");
    target = target == 1 ? extent : target;
  }
  if (Expected<Shape> shape = checkedShape(context, *wanted, input.type()); !shape)
    return propagate(shape);
  return remapInto(context, 0, input.reshaped(Shape(std::span(dims.data(), dims.size()))), *wanted,
                   [&](size_t axis) {
                     const int64_t step = dims[axis] == (*wanted)[axis] ? 1 : 0;
                     return kernels::sliceSource({0, step, (*wanted)[axis]});
                   });
}

static Expected<void> evaluateTile(OpContext &context) {
  Expected<Dims> tile = neededInts(context, "tile", 1);
  if (!tile)
    return propagate(tile);
  Dims dims = dimsOf(context, 0);
  if (tile->size() != dims.size())
    return context.error(std::to_string(tile->size()) + " repetitions",
                         std::to_string(dims.size()) + ", one for each dimension");
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if ((*tile)[axis] < 0 || __builtin_mul_overflow(dims[axis], (*tile)[axis], &dims[axis]))
      return context.error(text((*tile)[axis]) + " repetitions",
                           "at least 0, and a tensor that fits");
  if (Expected<Shape> shape = checkedShape(context, dims, context.operand(0).type()); !shape)
    return propagate(shape);
  const Tensor &input = context.operand(0);
  return remapInto(context, 0, input, dims, [&](size_t axis) {
    return kernels::tileSource(input.shape()[axis], (*tile)[axis]);
  });
}

static PadMode padMode(std::string_view name) {
  if (name == "reflect")
    return PadMode::Reflect;
  if (name == "edge")
    return PadMode::Edge;
  return name == "wrap" ? PadMode::Wrap : PadMode::Constant;
}

static Expected<void> evaluatePad(OpContext &context) {
  const Tensor &input = context.operand(0);
  const Shape &shape = input.shape();
  Expected<Dims> pads = neededInts(context, "paddings", 1);
  if (!pads)
    return propagate(pads);
  Dims axes = context.intsOf(3).value_or(countUp(shape.rank()));
  Expected<std::vector<size_t>> front = frontAxes(context, axes, shape.rank());
  if (!front)
    return propagate(front);
  if (pads->size() != 2 * axes.size())
    return context.error(std::to_string(pads->size()) + " paddings",
                         std::to_string(2 * axes.size()) + ", two for each dimension");
  PadMode mode = padMode(context.text("mode"));
  Dims dims = dimsOf(context, 0);
  std::vector<std::pair<int64_t, int64_t>> sides(shape.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = (*front)[i];
    auto [before, after] = sides[axis] = {(*pads)[i], (*pads)[i + axes.size()]};
    if (__builtin_add_overflow(dims[axis], before, &dims[axis]) ||
        __builtin_add_overflow(dims[axis], after, &dims[axis]) || dims[axis] < 0)
      return context.error("pads " + text(shape[axis]) + " elements by " + text(before) + " and " +
                               text(after),
                           "a result of at least none");
    if (shape[axis] == 0 && dims[axis] > 0 && mode != PadMode::Constant)
      return context.error("no elements to pad with in dimension " + std::to_string(axis),
                           "mode \"constant\"");
  }
  if (Expected<Shape> padded = checkedShape(context, dims, input.type()); !padded)
    return propagate(padded);
  const Tensor *given = context.optional(2);
  if (given && (given->numElements() != 1 || given->type() != input.type()))
    return context.error("a value of shape " + given->shape().str() + " and type " +
                             std::string(dataTypeName(given->type())),
                         "one element of type " + std::string(dataTypeName(input.type())));
  Tensor value =
      given ? *given : convert(Tensor::of<double>({}, {context.real("val")}), input.type());
  return remapInto(
      context, 0, input, dims,
      [&](size_t axis) {
        return kernels::padSource(shape[axis], sides[axis].first, sides[axis].second, mode);
      },
      &value);
}

static Expected<void> evaluateCenterCropPad(OpContext &context) {
  const Shape &shape = context.operand(0).shape();
  Expected<Dims> wanted = neededInts(context, "shape", 1);
  if (!wanted)
    return propagate(wanted);
  Dims axes = context.optionalIntList("axes").value_or(countUp(shape.rank()));
  Expected<std::vector<size_t>> front = frontAxes(context, axes, shape.rank());
  if (!front)
    return propagate(front);
  if (wanted->size() != axes.size())
    return context.error(std::to_string(wanted->size()) + " wanted extents",
                         std::to_string(axes.size()));
  Dims dims = dimsOf(context, 0);
  for (size_t i = 0; i < axes.size(); ++i)
    dims[(*front)[i]] = (*wanted)[i];
  if (Expected<Shape> result = checkedShape(context, dims, context.operand(0).type()); !result)
    return propagate(result);
  return remapInto(context, 0, context.operand(0), dims, [&](size_t axis) {
    int64_t extent = shape[axis];
    int64_t target = dims[axis];
    // Both halves are rounded down in front.
    int64_t before = target >= extent ? (target - extent) / 2 : -((extent - target) / 2);
    return kernels::padSource(extent, before, target - extent - before, PadMode::Constant);
  });
}

//===--- Channels, sequences, triangles --------------------------------------===//

static Expected<void> evaluateDepth2Space(OpContext &context) {
  kernels::BlockParams params{context.integer("block_h"), context.integer("block_w"),
                              context.flag("is_CRD")};
  Dims dims = dimsOf(context, 0);
  bool toDepth = context.flag("is_inversed");
  int64_t block = params.blockH * params.blockW;
  bool fits =
      dims.size() == 4 && (toDepth ? dims[2] % params.blockH == 0 && dims[3] % params.blockW == 0
                                   : dims[1] % block == 0);
  if (!fits)
    return context.error("an input of shape " + context.operand(0).shape().str(),
                         "rank 4 and extents that blocks of " + text(params.blockH) + " x " +
                             text(params.blockW) + " divide");
  Dims result = toDepth ? Dims{dims[0], Count(dims[1]) * block, dims[2] / params.blockH,
                               dims[3] / params.blockW}
                        : Dims{dims[0], dims[1] / block, Count(dims[2]) * params.blockH,
                               Count(dims[3]) * params.blockW};
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), result);
  if (!output)
    return propagate(output);
  auto *kernel = toDepth ? &kernels::spaceToDepth : &kernels::depthToSpace;
  kernel(context.operand(0), params, **output, context.threads());
  return {};
}

static Expected<void> evaluateShuffleChannel(OpContext &context) {
  const Tensor &input = context.operand(0);
  auto group = context.integer("group");
  if (input.shape().rank() < 2 || input.shape()[1] % group != 0)
    return context.error("an input of shape " + input.shape().str(),
                         "channels that " + text(group) + " groups divide");
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  int64_t batch = input.shape()[0];
  int64_t each = input.shape()[1] / group;
  int64_t inner = kernels::product(dimsOf(context, 0)) / std::max<int64_t>(1, batch * each * group);
  Tensor shuffled = (*output)->reshaped({batch, each, group, inner});
  kernels::permute(input.reshaped({batch, group, each, inner}), {{0, 2, 1, 3}}, shuffled,
                   context.threads());
  return {};
}

static Expected<void> evaluateReverseSequence(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<std::vector<size_t>> axes =
      frontAxes(context, Dims{context.integer("batch_axis"), context.integer("time_axis")},
                input.shape().rank());
  if (!axes)
    return propagate(axes);
  Dims lengths = *context.intsOf(1);
  int64_t batches = input.shape()[axes->front()];
  int64_t times = input.shape()[axes->back()];
  if (static_cast<int64_t>(lengths.size()) != batches)
    return context.error(std::to_string(lengths.size()) + " lengths of sequences", text(batches));
  for (int64_t length : lengths)
    if (length < 0 || length > times)
      return context.error("a sequence of length " + text(length), "0 to " + text(times));
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::reverseSequence(input, lengths, axes->front(), axes->back(), **output,
                           context.threads());
  return {};
}

static Expected<void> evaluateTrilu(OpContext &context) {
  const Tensor &input = context.operand(0);
  if (input.shape().rank() < 2)
    return context.error("an input of rank " + std::to_string(input.shape().rank()), "at least 2");
  auto diagonal = static_cast<int64_t>(context.optionalInteger("diagonal").value_or(0));
  if (std::optional<Dims> given = context.intsOf(1)) {
    if (given->size() != 1)
      return context.error(std::to_string(given->size()) + " numbers of diagonals", "one");
    diagonal = given->front();
  }
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::trilu(input, diagonal, context.flag("upper"), **output, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::movementOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Concat", evaluateConcat},
      {"Split", evaluateSplit},
      {"Slice", evaluateSlice},
      {"Permute", evaluatePermute},
      {"Reshape", evaluateReshape},
      {"Flatten", evaluateFlatten},
      {"FlattenTo2D", evaluateFlattenTo2D},
      {"Squeeze", evaluateSqueeze},
      {"Unsqueeze", evaluateUnsqueeze},
      {"Expand", evaluateExpand},
      {"Tile", evaluateTile},
      {"Pad", evaluatePad},
      {"Depth2Space", evaluateDepth2Space},
      {"ShuffleChannel", evaluateShuffleChannel},
      {"ReverseSequence", evaluateReverseSequence},
      {"Trilu", evaluateTrilu},
      {"CenterCropPad", evaluateCenterCropPad},
  };
  return kOps;
}
