//===- MovementOps.cpp - Moving elements ---------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Support/SliceRange.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

// Moving elements computes nothing.
int64_t ConcatOp::flops() { return 0; }
int64_t SplitOp::flops() { return 0; }
int64_t SliceOp::flops() { return 0; }
int64_t PermuteOp::flops() { return 0; }
int64_t ReshapeOp::flops() { return 0; }
int64_t FlattenOp::flops() { return 0; }
int64_t FlattenTo2DOp::flops() { return 0; }
int64_t SqueezeOp::flops() { return 0; }
int64_t UnsqueezeOp::flops() { return 0; }
int64_t ExpandOp::flops() { return 0; }
int64_t TileOp::flops() { return 0; }
int64_t PadOp::flops() { return 0; }
int64_t Depth2SpaceOp::flops() { return 0; }
int64_t ShuffleChannelOp::flops() { return 0; }
int64_t ReverseSequenceOp::flops() { return 0; }
int64_t TriluOp::flops() { return 0; }
int64_t CenterCropPadOp::flops() { return 0; }

static Dims allAxes(int64_t rank) { return llvm::to_vector(llvm::seq<int64_t>(0, rank)); }

//===--- Joining and cutting ------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("has no inputs; expected at least one");
  return verifySameElements(*this, getInputs());
}

LogicalResult ConcatOp::inferShape() {
  std::optional<Dims> result;
  bool allRanked = true;
  int64_t joined = 0;
  size_t axis = 0;
  for (Value input : getInputs()) {
    std::optional<Dims> dims = dimsOf(input);
    if (!dims) {
      allRanked = false;
      continue;
    }
    if (!result) {
      FailureOr<int64_t> front =
          normalizeAxis(*this, static_cast<int64_t>(getAxis()), static_cast<int64_t>(dims->size()));
      if (failed(front))
        return failure();
      axis = static_cast<size_t>(*front);
      result = dims;
    }
    if (dims->size() != result->size())
      return emitOpError("joins tensors of ranks ") << result->size() << " and " << dims->size();
    joined = joined == kDynamic || (*dims)[axis] == kDynamic
                 ? kDynamic
                 : int64_t(joined + Count((*dims)[axis]));
    for (size_t i = 0; i < dims->size(); ++i)
      if (i != axis && !mergeExtent((*result)[i], (*dims)[i]))
        return emitOpError("joins extents ")
               << (*result)[i] << " and " << (*dims)[i] << " in dimension " << i
               << "; expected equal ones but in dimension " << axis;
  }
  if (result)
    (*result)[axis] = allRanked ? joined : kDynamic;
  return setResult(*this, 0, elementTypeOf(getInputs().front()), result);
}

LogicalResult SplitOp::verify() {
  if (failed(verifyForms(*this, "split_size", getSplitTensor(), Forms::AtMostOne)))
    return failure();
  if (getOutputs().empty())
    return emitOpError("has no results; expected at least one");
  return verifyIndexType(*this, "split_tensor", getSplitTensor());
}

/// The extents of the parts along `extent`; all dynamic where they cannot be known.
static FailureOr<Dims> splitSizes(SplitOp op, int64_t extent) {
  auto count = static_cast<int64_t>(op.getOutputs().size());
  std::optional<Dims> given = intsOf(op.getSplitSize(), op.getSplitTensor());
  if (given) {
    Count sum = 0;
    for (int64_t size : *given) {
      if (size < 0)
        return op.emitOpError("has a part of ") << size << " slices; expected at least 0";
      sum += size;
    }
    if (static_cast<int64_t>(given->size()) != count)
      return op.emitOpError("has ") << given->size() << " sizes of parts; expected " << count;
    if (extent != kDynamic && sum != extent)
      return op.emitOpError("has parts of ")
             << int64_t(sum) << " slices in all; expected " << extent;
    return *given;
  }
  Dims sizes = unknownDims(count);
  if (isPresent(op.getSplitTensor()) || extent == kDynamic)
    return sizes;
  int64_t part = (extent + count - 1) / count;
  int64_t last = extent - part * (count - 1);
  if (last < 0)
    return op.emitOpError("cuts ") << extent << " slices into " << count << " parts of " << part;
  std::fill(sizes.begin(), sizes.end(), part);
  sizes.back() = last;
  return sizes;
}

LogicalResult SplitOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  size_t axis = 0;
  Dims sizes;
  if (dims) {
    FailureOr<int64_t> front =
        normalizeAxis(*this, static_cast<int64_t>(getAxis()), static_cast<int64_t>(dims->size()));
    if (failed(front))
      return failure();
    axis = static_cast<size_t>(*front);
    FailureOr<Dims> parts = splitSizes(*this, (*dims)[axis]);
    if (failed(parts))
      return failure();
    sizes = *parts;
  }
  for (unsigned index = 0; index < getOutputs().size(); ++index) {
    if (dims)
      (*dims)[axis] = sizes[index];
    if (failed(setResult(*this, index, elementTypeOf(getInput()), dims)))
      return failure();
  }
  return success();
}

LogicalResult SliceOp::verify() {
  if (failed(verifyForms(*this, "offset", getOffsetTensor(), Forms::One)) ||
      failed(verifyForms(*this, "ends", getEndsTensor(), Forms::One)) ||
      failed(verifyForms(*this, "axes", getAxesTensor(), Forms::AtMostOne)) ||
      failed(verifyForms(*this, "steps", getStepsTensor(), Forms::AtMostOne)) ||
      failed(verifyIndexType(*this, "offset_tensor", getOffsetTensor())) ||
      failed(verifyIndexType(*this, "ends_tensor", getEndsTensor())) ||
      failed(verifyIndexType(*this, "axes_tensor", getAxesTensor())) ||
      failed(verifyIndexType(*this, "steps_tensor", getStepsTensor())))
    return failure();
  if (std::optional<Dims> steps = intsOf(getSteps(), getStepsTensor());
      steps && llvm::is_contained(*steps, 0))
    return emitOpError("has a step of 0; expected another number");
  return success();
}

LogicalResult SliceOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, elementTypeOf(getInput()), dims);
  auto rank = static_cast<int64_t>(dims->size());
  std::optional<Dims> offset = intsOf(getOffset(), getOffsetTensor());
  std::optional<Dims> ends = intsOf(getEnds(), getEndsTensor());
  std::optional<Dims> steps = intsOf(getSteps(), getStepsTensor());
  std::optional<Dims> axes = intsOf(getAxes(), getAxesTensor());
  if (!axes && isPresent(getAxesTensor()))
    return setResult(*this, 0, elementTypeOf(getInput()), unknownDims(rank));
  if (!axes) {
    FailureOr<std::optional<int64_t>> count =
        offset ? std::optional<int64_t>(offset->size())
               : numDimensions(*this, "offset_tensor", getOffsetTensor());
    if (failed(count))
      return failure();
    axes.emplace();
    for (int64_t axis = 0; axis < count->value_or(rank); ++axis)
      axes->push_back(axis);
  }
  FailureOr<Dims> front = normalizeAxes(*this, *axes, rank);
  if (failed(front))
    return failure();
  for (const std::optional<Dims> *each : {&offset, &ends, &steps})
    if (*each && (*each)->size() != axes->size())
      return emitOpError("has ") << (*each)->size() << " offsets, ends or steps; expected "
                                 << axes->size() << ", one for each axis";
  bool known = offset && ends && (steps || !isPresent(getStepsTensor()));
  for (auto [index, axis] : llvm::enumerate(*front)) {
    int64_t &extent = (*dims)[static_cast<size_t>(axis)];
    int64_t step = steps ? (*steps)[index] : 1;
    if (known && step == 0)
      return emitOpError("has a step of 0; expected another number");
    if (known && extent != kDynamic)
      extent = sliceRange(extent, (*offset)[index], (*ends)[index], step).count;
    else
      extent = kDynamic;
  }
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

//===--- The same elements in another order or shape -------------------------===//

LogicalResult PermuteOp::verify() {
  Dims order = toInts(getOrder());
  Dims sorted = order;
  llvm::sort(sorted);
  for (auto [index, axis] : llvm::enumerate(sorted))
    if (axis != static_cast<int64_t>(index))
      return emitOpError("attribute 'order' is ")
             << Attribute(getOrder()) << "; expected each number below " << order.size() << " once";
  return success();
}

LogicalResult PermuteOp::inferShape() {
  Dims order = toInts(getOrder());
  std::optional<Dims> dims = dimsOf(getInput());
  Dims result = unknownDims(static_cast<int64_t>(order.size()));
  if (dims && dims->size() != order.size())
    return emitOpError("input has rank ")
           << dims->size() << "; expected " << order.size() << ", the length of 'order'";
  if (dims)
    for (auto [extent, axis] : llvm::zip_equal(result, order))
      extent = (*dims)[static_cast<size_t>(axis)];
  return setResult(*this, 0, elementTypeOf(getInput()), result);
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifyForms(*this, "shape", getShapeTensor(), Forms::One)) ||
      failed(verifyIndexType(*this, "shape_tensor", getShapeTensor())))
    return failure();
  std::optional<Dims> shape = getShape() ? std::optional(toInts(*getShape())) : std::nullopt;
  if (!shape)
    return success();
  if (llvm::count(*shape, -1) > 1)
    return emitOpError("attribute 'shape' is ") << *getShape() << "; expected at most one -1";
  return success();
}

LogicalResult ReshapeOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> shape = intsOf(getShape(), getShapeTensor());
  if (!shape) {
    FailureOr<std::optional<int64_t>> rank = numDimensions(*this, "shape_tensor", getShapeTensor());
    if (failed(rank))
      return failure();
    return setResult(*this, 0, element, *rank ? std::optional(unknownDims(**rank)) : std::nullopt);
  }
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<size_t> open;
  // What both sides share drops out of the division, so that one extent may stay unknown.
  Dims left = dims.value_or(Dims());
  Dims right;
  for (size_t axis = 0; axis < shape->size(); ++axis) {
    int64_t &extent = (*shape)[axis];
    if (extent == -1) {
      if (open)
        return emitOpError("has a shape with more than one -1");
      open = axis;
      continue;
    }
    if (extent == 0 && !getAllowzero()) {
      if (dims && axis >= dims->size())
        return emitOpError("takes extent ")
               << axis << " of an input of rank " << dims->size() << "; expected one that exists";
      extent = dims ? (*dims)[axis] : kDynamic;
      if (dims)
        left[axis] = 1;
      continue;
    }
    if (extent < 0)
      return emitOpError("has an extent of ") << extent << "; expected at least -1";
    right.push_back(extent);
  }
  int64_t from = dims ? productOf(left) : kDynamic;
  int64_t to = productOf(right);
  if (to == Count::kMost)
    return emitOpError("has a shape of 2^63 elements or more");
  if (open) {
    (*shape)[*open] = kDynamic;
    if (from != kDynamic && to > 0) {
      if (from % to != 0)
        return emitOpError("has ")
               << from << " elements for extents of " << to << "; expected a multiple";
      (*shape)[*open] = from / to;
    }
  } else if (from != kDynamic && to != kDynamic && from != to) {
    return emitOpError("has ") << from << " elements; expected " << to << ", as the shape says";
  }
  return setResult(*this, 0, element, shape);
}

LogicalResult FlattenOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, elementTypeOf(getInput()), dims);
  if (dims->empty())
    return setResult(*this, 0, elementTypeOf(getInput()), Dims{1});
  auto rank = static_cast<int64_t>(dims->size());
  FailureOr<int64_t> start = normalizeAxis(*this, static_cast<int64_t>(getStartDim()), rank);
  FailureOr<int64_t> end = normalizeAxis(*this, static_cast<int64_t>(getEndDim()), rank);
  if (failed(start) || failed(end))
    return failure();
  if (*start > *end)
    return emitOpError("joins dimensions ") << *start << " to " << *end << "; expected a range";
  ArrayRef<int64_t> all(*dims);
  Dims result(all.take_front(static_cast<size_t>(*start)));
  result.push_back(
      productOf(all.slice(static_cast<size_t>(*start), static_cast<size_t>(*end - *start + 1))));
  llvm::append_range(result, all.drop_front(static_cast<size_t>(*end + 1)));
  return setResult(*this, 0, elementTypeOf(getInput()), result);
}

LogicalResult FlattenTo2DOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, elementTypeOf(getInput()), unknownDims(2));
  auto rank = static_cast<int64_t>(dims->size());
  auto axis = static_cast<int64_t>(getAxis());
  if (axis < -rank || axis > rank)
    return emitOpError("axis ") << axis << " does not exist; expected -" << rank << " to " << rank;
  auto front = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  ArrayRef<int64_t> all(*dims);
  return setResult(*this, 0, elementTypeOf(getInput()),
                   Dims{productOf(all.take_front(front)), productOf(all.drop_front(front))});
}

LogicalResult SqueezeOp::verify() {
  if (failed(verifyForms(*this, "axes", getAxesTensor(), Forms::AtMostOne)))
    return failure();
  return verifyIndexType(*this, "axes_tensor", getAxesTensor());
}

LogicalResult SqueezeOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> axes = intsOf(getAxes(), getAxesTensor());
  bool all = !axes && !isPresent(getAxesTensor());
  if (!dims || (all && llvm::is_contained(*dims, kDynamic)))
    return setResult(*this, 0, element, std::nullopt);
  auto rank = static_cast<int64_t>(dims->size());
  if (!axes && !all) {
    FailureOr<std::optional<int64_t>> count = numDimensions(*this, "axes_tensor", getAxesTensor());
    if (failed(count))
      return failure();
    return setResult(*this, 0, element,
                     *count && **count <= rank ? std::optional(unknownDims(rank - **count))
                                               : std::nullopt);
  }
  Dims result;
  FailureOr<Dims> gone = normalizeAxes(*this, axes.value_or(Dims()), rank);
  if (failed(gone))
    return failure();
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t extent = (*dims)[static_cast<size_t>(axis)];
    bool drop = all ? extent == 1 : llvm::is_contained(*gone, axis);
    if (!drop)
      result.push_back(extent);
    else if (extent != 1 && extent != kDynamic)
      return emitOpError("removes dimension ")
             << axis << " of extent " << extent << "; expected extent 1";
  }
  return setResult(*this, 0, element, result);
}

LogicalResult UnsqueezeOp::verify() {
  if (failed(verifyForms(*this, "axes", getAxesTensor(), Forms::One)))
    return failure();
  return verifyIndexType(*this, "axes_tensor", getAxesTensor());
}

LogicalResult UnsqueezeOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> axes = intsOf(getAxes(), getAxesTensor());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  if (!axes) {
    FailureOr<std::optional<int64_t>> count = numDimensions(*this, "axes_tensor", getAxesTensor());
    if (failed(count))
      return failure();
    const auto rank = static_cast<int64_t>(dims->size());
    return setResult(*this, 0, element,
                     *count ? std::optional(unknownDims(rank + **count)) : std::nullopt);
  }
  auto rank = static_cast<int64_t>(dims->size() + axes->size());
  FailureOr<Dims> added = normalizeAxes(*this, *axes, rank);
  if (failed(added))
    return failure();
  Dims result;
  auto next = dims->begin();
  for (int64_t axis = 0; axis < rank; ++axis)
    result.push_back(llvm::is_contained(*added, axis) ? 1 : *next++);
  return setResult(*this, 0, element, result);
}

//===--- Repeating and padding ----------------------------------------------===//

LogicalResult ExpandOp::verify() {
  if (failed(verifyForms(*this, "shape", getShapeTensor(), Forms::One)))
    return failure();
  return verifyIndexType(*this, "shape_tensor", getShapeTensor());
}

LogicalResult ExpandOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> shape = intsOf(getShape(), getShapeTensor());
  if (!shape) {
    FailureOr<std::optional<int64_t>> length =
        numDimensions(*this, "shape_tensor", getShapeTensor());
    if (failed(length))
      return failure();
    if (!dims || !*length)
      return setResult(*this, 0, element, std::nullopt);
    return setResult(*this, 0, element,
                     unknownDims(std::max(**length, static_cast<int64_t>(dims->size()))));
  }
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  size_t rank = std::max(dims->size(), shape->size());
  dims->insert(dims->begin(), rank - dims->size(), 1);
  shape->insert(shape->begin(), rank - shape->size(), 1);
  Dims result;
  for (auto [extent, wanted] : llvm::zip_equal(*dims, *shape)) {
    if (wanted < 0)
      return emitOpError("has a wanted extent of ") << wanted << "; expected at least 0";
    // An unknown extent is 1 or what is wanted.
    if (extent != kDynamic && extent != 1 && wanted != 1 && extent != wanted)
      return emitOpError("cannot repeat extent ")
             << extent << " of " << getInput().getType() << " to " << wanted << "; expected 1 or "
             << wanted;
    result.push_back(wanted == 1 ? extent : wanted);
  }
  return setResult(*this, 0, element, result);
}

LogicalResult TileOp::verify() {
  if (failed(verifyForms(*this, "tile", getTileTensor(), Forms::One)))
    return failure();
  return verifyIndexType(*this, "tile_tensor", getTileTensor());
}

LogicalResult TileOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> tile = intsOf(getTile(), getTileTensor());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  if (!tile)
    return setResult(*this, 0, element, unknownDims(static_cast<int64_t>(dims->size())));
  if (tile->size() != dims->size())
    return emitOpError("has ") << tile->size() << " repetitions; expected " << dims->size()
                               << ", one for each dimension";
  for (auto [extent, times] : llvm::zip_equal(*dims, *tile)) {
    if (times < 0)
      return emitOpError("has ") << times << " repetitions; expected at least 0";
    extent = productOf({extent, times});
  }
  return setResult(*this, 0, element, dims);
}

LogicalResult PadOp::verify() {
  if (failed(verifyForms(*this, "paddings", getPaddingsTensor(), Forms::One)) ||
      failed(verifyIndexType(*this, "paddings_tensor", getPaddingsTensor())) ||
      failed(verifyIndexType(*this, "axes_tensor", getAxesTensor())) ||
      failed(verifyChoice(*this, "mode", getMode(), {"constant", "reflect", "edge", "wrap"})))
    return failure();
  if (isPresent(getValTensor()))
    return verifySameElements(*this, {getInput(), getValTensor()});
  return success();
}

LogicalResult PadOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  auto rank = static_cast<int64_t>(dims->size());
  std::optional<Dims> pads = intsOf(getPaddings(), getPaddingsTensor());
  std::optional<Dims> axes =
      isPresent(getAxesTensor()) ? constantInts(getAxesTensor()) : std::optional(allAxes(rank));
  if (!axes)
    return setResult(*this, 0, element, unknownDims(rank));
  FailureOr<Dims> front = normalizeAxes(*this, *axes, rank);
  if (failed(front))
    return failure();
  if (pads && pads->size() != 2 * front->size())
    return emitOpError("has ") << pads->size() << " paddings; expected " << 2 * front->size()
                               << ", two for each dimension";
  for (auto [index, axis] : llvm::enumerate(*front)) {
    int64_t &extent = (*dims)[static_cast<size_t>(axis)];
    if (!pads || extent == kDynamic) {
      extent = kDynamic;
      continue;
    }
    const int64_t padded = Count(extent) + (*pads)[index] + (*pads)[index + front->size()];
    if (padded < 0)
      return emitOpError("takes more than all of the ")
             << extent << " elements of dimension " << axis;
    if (extent == 0 && padded > 0 && getMode() != "constant")
      return emitOpError("has no elements in dimension ")
             << axis << " to pad with; expected mode \"constant\"";
    extent = padded;
  }
  return setResult(*this, 0, element, dims);
}

LogicalResult CenterCropPadOp::verify() {
  if (failed(verifyForms(*this, "shape", getShapeTensor(), Forms::One)))
    return failure();
  return verifyIndexType(*this, "shape_tensor", getShapeTensor());
}

LogicalResult CenterCropPadOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  auto rank = static_cast<int64_t>(dims->size());
  FailureOr<Dims> axes = normalizeAxes(*this, getAxes() ? toInts(*getAxes()) : allAxes(rank), rank);
  if (failed(axes))
    return failure();
  std::optional<Dims> shape = intsOf(getShape(), getShapeTensor());
  if (shape && shape->size() != axes->size())
    return emitOpError("has ") << shape->size() << " wanted extents; expected " << axes->size();
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    int64_t wanted = shape ? (*shape)[index] : kDynamic;
    if (shape && wanted < 0)
      return emitOpError("has a wanted extent of ") << wanted << "; expected at least 0";
    (*dims)[static_cast<size_t>(axis)] = wanted;
  }
  return setResult(*this, 0, element, dims);
}

//===--- Channels, sequences, triangles --------------------------------------===//

LogicalResult Depth2SpaceOp::verify() { return verifyRank(*this, "input", getInput(), 4); }

LogicalResult Depth2SpaceOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, elementTypeOf(getInput()), unknownDims(4));
  bool toDepth = getIsInversed();
  auto blockH = static_cast<int64_t>(getBlockH());
  auto blockW = static_cast<int64_t>(getBlockW());
  auto divided = [&](int64_t extent, int64_t by) -> FailureOr<int64_t> {
    if (extent == kDynamic)
      return kDynamic;
    if (extent % by != 0)
      return emitOpError("input has type ")
             << getInput().getType() << "; expected " << extent << " to be a multiple of " << by;
    return extent / by;
  };
  const int64_t block = Count(blockH) * blockW;
  FailureOr<int64_t> c = toDepth ? productOf({(*dims)[1], block}) : divided((*dims)[1], block);
  FailureOr<int64_t> h = toDepth ? divided((*dims)[2], blockH) : productOf({(*dims)[2], blockH});
  FailureOr<int64_t> w = toDepth ? divided((*dims)[3], blockW) : productOf({(*dims)[3], blockW});
  if (failed(c) || failed(h) || failed(w))
    return failure();
  return setResult(*this, 0, elementTypeOf(getInput()), Dims{(*dims)[0], *c, *h, *w});
}

LogicalResult ShuffleChannelOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  auto group = static_cast<int64_t>(getGroup());
  if (dims && dims->size() < 2)
    return emitOpError("input has shape ") << dimsText(*dims) << "; expected batch and channels";
  if (dims && (*dims)[1] != kDynamic && (*dims)[1] % group != 0)
    return emitOpError("input has ")
           << (*dims)[1] << " channels; expected a multiple of the " << group << " groups";
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

LogicalResult ReverseSequenceOp::verify() {
  if (failed(verifyIndexType(*this, "sequence_lens", getSequenceLens())))
    return failure();
  return verifyRank(*this, "sequence_lens", getSequenceLens(), 1);
}

LogicalResult ReverseSequenceOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, elementTypeOf(getInput()), dims);
  FailureOr<Dims> axes = normalizeAxes(
      *this, {static_cast<int64_t>(getBatchAxis()), static_cast<int64_t>(getTimeAxis())},
      static_cast<int64_t>(dims->size()));
  if (failed(axes))
    return failure();
  if (std::optional<int64_t> count = vectorLength(getSequenceLens());
      count && !mergeExtent((*dims)[static_cast<size_t>(axes->front())], *count))
    return emitOpError("has ") << *count << " lengths of sequences; expected "
                               << (*dims)[static_cast<size_t>(axes->front())];
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

LogicalResult TriluOp::verify() {
  if (failed(verifyForms(*this, "diagonal", getDiagonalTensor(), Forms::AtMostOne)))
    return failure();
  return verifyIndexType(*this, "diagonal_tensor", getDiagonalTensor());
}

LogicalResult TriluOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims && dims->size() < 2)
    return emitOpError("input has rank ") << dims->size() << "; expected at least 2";
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}
