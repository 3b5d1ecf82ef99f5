//===- NormOps.cpp - Normalization ----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/WindowShapes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The first result is like the input.
static LogicalResult likeInput(Operation *op) {
  Value input = op->getOperand(0);
  return setResult(op, 0, elementTypeOf(input), dimsOf(input));
}

/// `parameter` has one element for each channel of `input`, axis 1.
static LogicalResult checkPerChannel(Operation *op, Value input, Value parameter, StringRef name) {
  std::optional<Dims> dims = dimsOf(input);
  if (!dims || !isPresent(parameter))
    return success();
  if (dims->empty())
    return op->emitOpError("input is a scalar; expected channels");
  // A vector is one batch of channels without spatial dimensions.
  int64_t channels = dims->size() > 1 ? (*dims)[1] : 1;
  int64_t elements = staticElements(parameter);
  if (elements != 0 && channels != kDynamic && elements != channels)
    return op->emitOpError(name) << " has " << elements << " elements; expected " << channels
                                 << ", one per channel";
  return success();
}

static LogicalResult likeInputPerChannel(Operation *op) {
  static constexpr StringRef kNames[] = {"second operand", "third operand", "fourth operand",
                                         "fifth operand"};
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (failed(checkPerChannel(op, op->getOperand(0), op->getOperand(i), kNames[i - 1])))
      return failure();
  return likeInput(op);
}

/// Like the input, along an axis that it has.
static LogicalResult likeInputAlong(Operation *op, int64_t axis) {
  if (std::optional<Dims> dims = dimsOf(op->getOperand(0)))
    if (failed(normalizeAxis(op, axis, static_cast<int64_t>(dims->size()))))
      return failure();
  return likeInput(op);
}

/// `perElement` operations for each element of the input.
static int64_t perElement(Operation *op, int64_t operations) {
  return staticElements(op->getOperand(0)) * operations;
}

LogicalResult BatchNormOp::inferShape() { return likeInputPerChannel(*this); }
int64_t BatchNormOp::flops() { return perElement(*this, 2); }

LogicalResult BatchNormTrainOp::inferShape() {
  if (failed(likeInputPerChannel(*this)) ||
      failed(setResult(*this, 1, elementTypeOf(getMean()), dimsOf(getMean()))))
    return failure();
  return setResult(*this, 2, elementTypeOf(getVariance()), dimsOf(getVariance()));
}
int64_t BatchNormTrainOp::flops() { return perElement(*this, 6); }

LogicalResult ScaleOp::inferShape() { return likeInputPerChannel(*this); }
int64_t ScaleOp::flops() { return perElement(*this, 2); }

LogicalResult LayerNormOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> statistics;
  if (dims) {
    FailureOr<int64_t> axis = normalizeAxis(*this, getAxis(), static_cast<int64_t>(dims->size()));
    if (failed(axis))
      return failure();
    statistics = dims;
    std::fill(statistics->begin() + *axis, statistics->end(), 1);
  }
  Type f32 = Float32Type::get(getContext());
  for (unsigned i = 1; i < 3; ++i)
    if (isPresent(getResult(i)) && failed(setResult(*this, i, f32, statistics)))
      return failure();
  return likeInput(*this);
}
int64_t LayerNormOp::flops() { return perElement(*this, 8); }

LogicalResult InstanceNormOp::inferShape() { return likeInputPerChannel(*this); }
int64_t InstanceNormOp::flops() { return perElement(*this, 8); }

LogicalResult GroupNormOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  auto groups = static_cast<int64_t>(getNumGroups());
  if (dims && dims->size() < 2)
    return emitOpError("input has shape ") << dimsText(*dims) << "; expected batch and channels";
  if (dims && (*dims)[1] != kDynamic && (*dims)[1] % groups != 0)
    return emitOpError("input has ")
           << (*dims)[1] << " channels; expected a multiple of the " << groups << " groups";
  return likeInputPerChannel(*this);
}
int64_t GroupNormOp::flops() { return perElement(*this, 8); }

LogicalResult RMSNormOp::inferShape() {
  const std::optional<Dims> dims = dimsOf(getInput());
  if (const std::optional<uint64_t> heads = getNumHeads(); heads && dims && !dims->empty()) {
    const auto axis = static_cast<int64_t>(getAxis());
    const bool isLast = axis == -1 || axis == static_cast<int64_t>(dims->size()) - 1;
    if (!isLast || (dims->back() != kDynamic && dims->back() % static_cast<int64_t>(*heads) != 0))
      return emitOpError("normalizes ")
             << *heads << " parts of " << dimsText(*dims) << " from axis " << axis
             << " on; expected equal parts of the last dimension";
  }
  return likeInputAlong(*this, getAxis());
}
int64_t RMSNormOp::flops() { return perElement(*this, 4); }

LogicalResult PixelNormOp::inferShape() { return likeInputPerChannel(*this); }
int64_t PixelNormOp::flops() { return perElement(*this, 8); }

LogicalResult NormalizeOp::inferShape() { return likeInputAlong(*this, getAxis()); }
int64_t NormalizeOp::flops() { return perElement(*this, 3); }

LogicalResult MeanVarianceNormOp::inferShape() {
  if (std::optional<Dims> dims = dimsOf(getInput()))
    for (int64_t axis : toInts(getAxes()))
      if (failed(normalizeAxis(*this, axis, static_cast<int64_t>(dims->size()))))
        return failure();
  return likeInput(*this);
}
int64_t MeanVarianceNormOp::flops() { return perElement(*this, 6); }

LogicalResult LRNOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims && dims->size() < 2)
    return emitOpError("input has shape ") << dimsText(*dims) << "; expected batch and channels";
  if (dims && getWithinChannel() && dims->size() != 4)
    return emitOpError("input has shape ") << dimsText(*dims) << "; expected [n, c, h, w]";
  return likeInput(*this);
}
int64_t LRNOp::flops() {
  // Sums over rows and columns are taken one after the other.
  const int64_t sums = getWithinChannel() ? 2 : 1;
  return perElement(*this, 2 * sums * static_cast<int64_t>(getSize()) + 3);
}

LogicalResult SoftmaxOp::inferShape() { return likeInputAlong(*this, getAxis()); }
int64_t SoftmaxOp::flops() { return perElement(*this, 5); }

LogicalResult HardmaxOp::inferShape() { return likeInputAlong(*this, getAxis()); }
int64_t HardmaxOp::flops() { return perElement(*this, 1); }
