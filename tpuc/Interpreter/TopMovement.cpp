//===- TopMovement.cpp - What the ops of MovementOps.td compute --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/EvaluateShapes.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <numeric>

using namespace tpuc;
using namespace tpuc::top;
using kernels::AxisSource;
using kernels::PadMode;

static std::string text(int64_t value) { return std::to_string(value); }

/// The sources that leave every dimension as it is.
static std::vector<AxisSource> wholeSources(const Shape &shape) {
  std::vector<AxisSource> sources;
  for (int64_t extent : shape)
    sources.push_back(kernels::sliceSource({0, 1, extent}));
  return sources;
}

static Expected<void> remapInto(EvalContext &context, unsigned result,
                                const std::vector<AxisSource> &sources,
                                const Tensor *fill = nullptr) {
  const Tensor &input = context.operand(0);
  EvalDims dims;
  for (const AxisSource &source : sources)
    dims.push_back(static_cast<int64_t>(source.size()));
  Expected<Tensor *> output = allocateDims(context, result, input.type(), dims);
  if (!output)
    return propagate(output);
  kernels::remap(input, sources, fill, **output, context.threads());
  return {};
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

static Expected<void> evaluateConcat(ConcatOp op, EvalContext &context) {
  EvalDims dims = dimsOf(context, 0);
  Expected<size_t> axis = frontAxis(context, static_cast<int64_t>(op.getAxis()), dims.size());
  if (!axis)
    return propagate(axis);
  std::vector<Tensor> inputs;
  int64_t joined = 0;
  for (unsigned index = 0; index < context.numOperands(); ++index) {
    EvalDims each = dimsOf(context, index);
    EvalDims wanted = dims;
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
  if (op.getDoRelu())
    reluInPlace(**output, op.getReluLimit().convertToDouble());
  return {};
}

static Expected<void> evaluateSplit(SplitOp op, EvalContext &context) {
  const Shape &shape = context.operand(0).shape();
  Expected<size_t> axis = frontAxis(context, static_cast<int64_t>(op.getAxis()), shape.rank());
  if (!axis)
    return propagate(axis);
  auto count = static_cast<int64_t>(op->getNumResults());
  int64_t extent = shape[*axis];
  std::optional<EvalDims> sizes = context.ints(op.getSplitSize(), 1);
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
  std::vector<AxisSource> sources = wholeSources(shape);
  int64_t start = 0;
  for (unsigned index = 0; index < sizes->size(); ++index) {
    sources[*axis] = kernels::sliceSource({start, 1, (*sizes)[index]});
    start += (*sizes)[index];
    if (Expected<void> done = remapInto(context, index, sources); !done)
      return done;
  }
  return {};
}

static Expected<void> evaluateSlice(SliceOp op, EvalContext &context) {
  const Shape &shape = context.operand(0).shape();
  Expected<EvalDims> offset = neededInts(context, op.getOffset(), 1, "offset");
  Expected<EvalDims> ends = neededInts(context, op.getEnds(), 2, "ends");
  if (!offset || !ends)
    return propagate(!offset ? offset : ends);
  EvalDims axes =
      context.ints(op.getAxes(), 3)
          .value_or(llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(offset->size()))));
  EvalDims steps = context.ints(op.getSteps(), 4).value_or(EvalDims(axes.size(), 1));
  if (offset->size() != axes.size() || ends->size() != axes.size() || steps.size() != axes.size())
    return context.error("offsets, ends or steps for another number of axes",
                         std::to_string(axes.size()));
  Expected<llvm::SmallVector<size_t>> front = frontAxes(context, axes, shape.rank());
  if (!front)
    return propagate(front);
  std::vector<AxisSource> sources = wholeSources(shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0)
      return context.error("a step of 0", "another number");
    size_t axis = (*front)[i];
    sources[axis] =
        kernels::sliceSource(sliceRange(shape[axis], (*offset)[i], (*ends)[i], steps[i]));
  }
  return remapInto(context, 0, sources);
}

//===--- The same elements in another order or shape -------------------------===//

static Expected<void> evaluatePermute(PermuteOp op, EvalContext &context) {
  EvalDims order = toInts(op.getOrder());
  EvalDims dims = dimsOf(context, 0);
  if (dims.size() != order.size())
    return context.error("input of rank " + std::to_string(dims.size()),
                         "rank " + std::to_string(order.size()));
  EvalDims result;
  for (int64_t axis : order)
    result.push_back(dims[static_cast<size_t>(axis)]);
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), result);
  if (!output)
    return propagate(output);
  kernels::permute(context.operand(0), order, **output, context.threads());
  return {};
}

/// The elements of the input under the shape `dims`.
static Expected<void> reshapeTo(EvalContext &context, llvm::ArrayRef<int64_t> dims) {
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

static Expected<void> evaluateReshape(ReshapeOp op, EvalContext &context) {
  Expected<EvalDims> shape = neededInts(context, op.getShape(), 1, "shape");
  if (!shape)
    return propagate(shape);
  EvalDims dims = dimsOf(context, 0);
  std::optional<size_t> open;
  int64_t rest = 1;
  for (size_t axis = 0; axis < shape->size(); ++axis) {
    int64_t &extent = (*shape)[axis];
    if (extent == 0 && !op.getAllowzero()) {
      if (axis >= dims.size())
        return context.error("takes extent " + std::to_string(axis) + " of an input of rank " +
                             std::to_string(dims.size()));
      extent = dims[axis];
    }
    if (extent < -1 || (extent == -1 && open))
      return context.error("a shape with extent " + text(extent), "at most one -1");
    if (extent == -1)
      open = axis;
    else if (llvm::MulOverflow(rest, extent, rest))
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

static Expected<void> evaluateFlatten(FlattenOp op, EvalContext &context) {
  EvalDims dims = dimsOf(context, 0);
  if (dims.empty())
    return reshapeTo(context, {1});
  Expected<size_t> start = frontAxis(context, static_cast<int64_t>(op.getStartDim()), dims.size());
  Expected<size_t> end = frontAxis(context, static_cast<int64_t>(op.getEndDim()), dims.size());
  if (!start || !end)
    return propagate(!start ? start : end);
  if (*start > *end)
    return context.error("joins dimensions " + std::to_string(*start) + " to " +
                         std::to_string(*end));
  llvm::ArrayRef<int64_t> all(dims);
  EvalDims result(all.take_front(*start));
  result.push_back(kernels::product(all.slice(*start, *end - *start + 1)));
  llvm::append_range(result, all.drop_front(*end + 1));
  return reshapeTo(context, result);
}

static Expected<void> evaluateFlattenTo2D(FlattenTo2DOp op, EvalContext &context) {
  EvalDims dims = dimsOf(context, 0);
  auto rank = static_cast<int64_t>(dims.size());
  auto axis = static_cast<int64_t>(op.getAxis());
  if (axis < -rank || axis > rank)
    return context.error("axis " + text(axis), "-" + text(rank) + " to " + text(rank));
  auto front = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  llvm::ArrayRef<int64_t> all(dims);
  return reshapeTo(
      context, {kernels::product(all.take_front(front)), kernels::product(all.drop_front(front))});
}

static Expected<void> evaluateSqueeze(SqueezeOp op, EvalContext &context) {
  EvalDims dims = dimsOf(context, 0);
  std::optional<EvalDims> axes = context.ints(op.getAxes(), 1);
  Expected<llvm::SmallVector<size_t>> gone =
      frontAxes(context, axes.value_or(EvalDims()), dims.size());
  if (!gone)
    return propagate(gone);
  EvalDims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    bool drop = axes ? llvm::is_contained(*gone, axis) : dims[axis] == 1;
    if (!drop)
      result.push_back(dims[axis]);
    else if (dims[axis] != 1)
      return context.error("removes dimension " + std::to_string(axis) + " of extent " +
                               text(dims[axis]),
                           "extent 1");
  }
  return reshapeTo(context, result);
}

static Expected<void> evaluateUnsqueeze(UnsqueezeOp op, EvalContext &context) {
  EvalDims dims = dimsOf(context, 0);
  Expected<EvalDims> axes = neededInts(context, op.getAxes(), 1, "axes");
  if (!axes)
    return propagate(axes);
  size_t rank = dims.size() + axes->size();
  Expected<llvm::SmallVector<size_t>> added = frontAxes(context, *axes, rank);
  if (!added)
    return propagate(added);
  EvalDims result;
  auto *next = dims.begin();
  for (size_t axis = 0; axis < rank; ++axis)
    result.push_back(llvm::is_contained(*added, axis) ? 1 : *next++);
  return reshapeTo(context, result);
}

//===--- Repeating and padding ----------------------------------------------===//

static Expected<void> evaluateExpand(ExpandOp op, EvalContext &context) {
  Expected<EvalDims> wanted = neededInts(context, op.getShape(), 1, "shape");
  if (!wanted)
    return propagate(wanted);
  const Tensor &input = context.operand(0);
  EvalDims dims = dimsOf(context, 0);
  size_t rank = std::max(dims.size(), wanted->size());
  dims.insert(dims.begin(), rank - dims.size(), 1);
  wanted->insert(wanted->begin(), rank - wanted->size(), 1);
  for (auto [extent, target] : llvm::zip_equal(dims, *wanted)) {
    if (target < 0 || (extent != 1 && target != 1 && target != extent))
      return context.error("extent " + text(extent) + " is to become " + text(target),
                           "extents that are equal or 1");
    target = target == 1 ? extent : target;
  }
  Expected<Tensor *> output = allocateDims(context, 0, input.type(), *wanted);
  if (!output)
    return propagate(output);
  std::vector<AxisSource> sources;
  for (auto [extent, target] : llvm::zip_equal(dims, *wanted))
    sources.push_back(extent == target ? kernels::sliceSource({0, 1, extent})
                                       : kernels::sliceSource({0, 0, target}));
  kernels::remap(input.reshaped(Shape(std::span(dims.data(), dims.size()))), sources, nullptr,
                 **output, context.threads());
  return {};
}

static Expected<void> evaluateTile(TileOp op, EvalContext &context) {
  Expected<EvalDims> tile = neededInts(context, op.getTile(), 1, "tile");
  if (!tile)
    return propagate(tile);
  EvalDims dims = dimsOf(context, 0);
  if (tile->size() != dims.size())
    return context.error(std::to_string(tile->size()) + " repetitions",
                         std::to_string(dims.size()) + ", one for each dimension");
  for (auto [extent, times] : llvm::zip_equal(dims, *tile))
    if (times < 0 || llvm::MulOverflow(extent, times, extent))
      return context.error(text(times) + " repetitions", "at least 0, and a tensor that fits");
  if (Expected<Shape> shape = checkedShape(context, dims, context.operand(0).type()); !shape)
    return propagate(shape);
  std::vector<AxisSource> sources;
  for (auto [extent, times] : llvm::zip_equal(context.operand(0).shape().dims(), *tile))
    sources.push_back(kernels::tileSource(extent, times));
  return remapInto(context, 0, sources);
}

static PadMode padMode(llvm::StringRef name) {
  if (name == "reflect")
    return PadMode::Reflect;
  if (name == "edge")
    return PadMode::Edge;
  return name == "wrap" ? PadMode::Wrap : PadMode::Constant;
}

static Expected<void> evaluatePad(PadOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const Shape &shape = input.shape();
  Expected<EvalDims> pads = neededInts(context, op.getPaddings(), 1, "paddings");
  if (!pads)
    return propagate(pads);
  EvalDims axes =
      context.ints(std::nullopt, 3)
          .value_or(llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(shape.rank()))));
  Expected<llvm::SmallVector<size_t>> front = frontAxes(context, axes, shape.rank());
  if (!front)
    return propagate(front);
  if (pads->size() != 2 * axes.size())
    return context.error(std::to_string(pads->size()) + " paddings",
                         std::to_string(2 * axes.size()) + ", two for each dimension");
  PadMode mode = padMode(op.getMode());
  EvalDims dims = dimsOf(context, 0);
  std::vector<std::pair<int64_t, int64_t>> sides(shape.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = (*front)[i];
    auto [before, after] = sides[axis] = {(*pads)[i], (*pads)[i + axes.size()]};
    if (llvm::AddOverflow(dims[axis], before, dims[axis]) ||
        llvm::AddOverflow(dims[axis], after, dims[axis]) || dims[axis] < 0)
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
      given ? *given
            : convert(Tensor::of<double>({}, {op.getVal().convertToDouble()}), input.type());
  std::vector<AxisSource> sources;
  sources.reserve(shape.rank());
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    sources.push_back(kernels::padSource(shape[axis], sides[axis].first, sides[axis].second, mode));
  return remapInto(context, 0, sources, &value);
}

static Expected<void> evaluateCenterCropPad(CenterCropPadOp op, EvalContext &context) {
  const Shape &shape = context.operand(0).shape();
  Expected<EvalDims> wanted = neededInts(context, op.getShape(), 1, "shape");
  if (!wanted)
    return propagate(wanted);
  EvalDims axes = op.getAxes()
                      ? toInts(*op.getAxes())
                      : llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(shape.rank())));
  Expected<llvm::SmallVector<size_t>> front = frontAxes(context, axes, shape.rank());
  if (!front)
    return propagate(front);
  if (wanted->size() != axes.size())
    return context.error(std::to_string(wanted->size()) + " wanted extents",
                         std::to_string(axes.size()));
  EvalDims dims = dimsOf(context, 0);
  for (size_t i = 0; i < axes.size(); ++i)
    dims[(*front)[i]] = (*wanted)[i];
  if (Expected<Shape> result = checkedShape(context, dims, context.operand(0).type()); !result)
    return propagate(result);
  std::vector<AxisSource> sources;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    int64_t extent = shape[axis];
    int64_t target = dims[axis];
    // Both halves are rounded down in front.
    int64_t before = target >= extent ? (target - extent) / 2 : -((extent - target) / 2);
    sources.push_back(
        kernels::padSource(extent, before, target - extent - before, PadMode::Constant));
  }
  return remapInto(context, 0, sources);
}

//===--- Channels, sequences, triangles --------------------------------------===//

static Expected<void> evaluateDepth2Space(Depth2SpaceOp op, EvalContext &context) {
  kernels::BlockParams params{static_cast<int64_t>(op.getBlockH()),
                              static_cast<int64_t>(op.getBlockW()), op.getIs_CRD()};
  EvalDims dims = dimsOf(context, 0);
  bool toDepth = op.getIsInversed();
  int64_t block = params.blockH * params.blockW;
  bool fits =
      dims.size() == 4 && (toDepth ? dims[2] % params.blockH == 0 && dims[3] % params.blockW == 0
                                   : dims[1] % block == 0);
  if (!fits)
    return context.error("an input of shape " + context.operand(0).shape().str(),
                         "rank 4 and extents that blocks of " + text(params.blockH) + " x " +
                             text(params.blockW) + " divide");
  EvalDims result =
      toDepth
          ? EvalDims{dims[0], dims[1] * block, dims[2] / params.blockH, dims[3] / params.blockW}
          : EvalDims{dims[0], dims[1] / block, dims[2] * params.blockH, dims[3] * params.blockW};
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), result);
  if (!output)
    return propagate(output);
  auto *kernel = toDepth ? &kernels::spaceToDepth : &kernels::depthToSpace;
  kernel(context.operand(0), params, **output, context.threads());
  return {};
}

static Expected<void> evaluateShuffleChannel(ShuffleChannelOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  auto group = static_cast<int64_t>(op.getGroup());
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

static Expected<void> evaluateReverseSequence(ReverseSequenceOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  Expected<llvm::SmallVector<size_t>> axes = frontAxes(
      context, {static_cast<int64_t>(op.getBatchAxis()), static_cast<int64_t>(op.getTimeAxis())},
      input.shape().rank());
  if (!axes)
    return propagate(axes);
  EvalDims lengths = *context.ints(std::nullopt, 1);
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

static Expected<void> evaluateTrilu(TriluOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  if (input.shape().rank() < 2)
    return context.error("an input of rank " + std::to_string(input.shape().rank()), "at least 2");
  auto diagonal = static_cast<int64_t>(op.getDiagonal().value_or(0));
  if (std::optional<EvalDims> given = context.ints(std::nullopt, 1)) {
    if (given->size() != 1)
      return context.error(std::to_string(given->size()) + " numbers of diagonals", "one");
    diagonal = given->front();
  }
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::trilu(input, diagonal, op.getUpper(), **output, context.threads());
  return {};
}

void tpuc::attachMovement(mlir::MLIRContext *context) {
  attachEvaluate<ConcatOp, evaluateConcat>(context);
  attachEvaluate<SplitOp, evaluateSplit>(context);
  attachEvaluate<SliceOp, evaluateSlice>(context);
  attachEvaluate<PermuteOp, evaluatePermute>(context);
  attachEvaluate<ReshapeOp, evaluateReshape>(context);
  attachEvaluate<FlattenOp, evaluateFlatten>(context);
  attachEvaluate<FlattenTo2DOp, evaluateFlattenTo2D>(context);
  attachEvaluate<SqueezeOp, evaluateSqueeze>(context);
  attachEvaluate<UnsqueezeOp, evaluateUnsqueeze>(context);
  attachEvaluate<ExpandOp, evaluateExpand>(context);
  attachEvaluate<TileOp, evaluateTile>(context);
  attachEvaluate<PadOp, evaluatePad>(context);
  attachEvaluate<Depth2SpaceOp, evaluateDepth2Space>(context);
  attachEvaluate<ShuffleChannelOp, evaluateShuffleChannel>(context);
  attachEvaluate<ReverseSequenceOp, evaluateReverseSequence>(context);
  attachEvaluate<TriluOp, evaluateTrilu>(context);
  attachEvaluate<CenterCropPadOp, evaluateCenterCropPad>(context);
}
