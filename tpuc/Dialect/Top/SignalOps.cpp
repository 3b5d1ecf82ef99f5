//===- SignalOps.cpp - Spectra of signals ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/SignalOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/SignalShapes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowShapes.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The integer that an operand holds: kDynamic if it is not constant, none if it is left out.
static std::optional<int64_t> integerOf(Value value) {
  if (!isPresent(value))
    return std::nullopt;
  std::optional<Dims> ints = constantInts(value);
  return ints && ints->size() == 1 ? ints->front() : kDynamic;
}

/// The extents of a real or complex signal are given as its last one.
static Expected<void> checkSignal(ArrayRef<int64_t> input, size_t leastRank) {
  bool fits = input.size() >= leastRank &&
              (input.back() == kDynamic || input.back() == 1 || input.back() == 2);
  if (!fits)
    return makeError("", "input has shape " + dimsText(input),
                     fmt::format("rank {} at least and a last extent of 1 or 2", leastRank));
  return {};
}

static LogicalResult verifyElement(Operation *op, Type to) {
  if (storageDataType(to))
    return success();
  return op->emitOpError("attribute 'to' is ") << to << "; expected an element type of tensors";
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

Expected<DftShape> tpuc::top::dftShape(DFTOp op, ArrayRef<int64_t> input, int64_t axis,
                                       std::optional<int64_t> length) {
  if (Expected<void> checked = checkSignal(input, 2); !checked)
    return propagate(checked);
  auto rank = static_cast<int64_t>(input.size());
  int64_t front = axis < 0 ? axis + rank : axis;
  if (front < 0 || front >= rank - 1)
    return makeError("", fmt::format("axis {}", axis),
                     fmt::format("one of the {} before the last", rank - 1));
  DftShape shape{static_cast<size_t>(front), input[front], Dims(input)};
  bool isHalf = op.getInverse() && op.getOnesided();
  if (length)
    shape.length = *length;
  else if (isHalf && shape.length != kDynamic)
    shape.length = 2 * (shape.length - 1);
  if (shape.length != kDynamic && shape.length < 1)
    return makeError("", fmt::format("a transform of {} elements", shape.length), "at least 1");
  shape.output[front] = shape.length;
  if (op.getOnesided() && !op.getInverse() && shape.length != kDynamic)
    shape.output[front] = shape.length / 2 + 1;
  shape.output.back() = isHalf ? 1 : 2;
  return shape;
}

LogicalResult DFTOp::verify() {
  if (!isa<FloatType>(elementTypeOf(getInput())))
    return emitOpError("input has elements ") << elementTypeOf(getInput()) << "; expected floats";
  if (failed(verifyIndexType(*this, "length", getLength())))
    return failure();
  return verifyIndexType(*this, "axis_tensor", getAxisTensor());
}

LogicalResult DFTOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  int64_t axis = integerOf(getAxisTensor()).value_or(static_cast<int64_t>(getAxis()));
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  // Any but the last extent may change.
  if (axis == kDynamic)
    return setResult(*this, 0, element, Dims(dims->size(), kDynamic));
  Expected<DftShape> shape = dftShape(*this, *dims, axis, integerOf(getLength()));
  if (!shape)
    return emit(*this, shape.error());
  return setResult(*this, 0, element, shape->output);
}

/// Some 5 N log2(N) for each transform of N complex elements.
static int64_t transformFlops(Value output, int64_t length) {
  auto perElement = static_cast<int64_t>(std::ceil(5 * std::log2(std::max<int64_t>(length, 2))));
  return staticElements(output) / 2 * perElement;
}

int64_t DFTOp::flops() {
  std::optional<Dims> dims = dimsOf(getOutput());
  int64_t axis = integerOf(getAxisTensor()).value_or(static_cast<int64_t>(getAxis()));
  if (!dims || staticElements(getOutput()) == 0 || axis == kDynamic)
    return 0;
  return transformFlops(getOutput(), (*dims)[axis < 0 ? axis + dims->size() : axis]);
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

Expected<StftShape> tpuc::top::stftShape(STFTOp op, ArrayRef<int64_t> input, int64_t step,
                                         const std::optional<Dims> &window,
                                         std::optional<int64_t> length) {
  if (Expected<void> checked = checkSignal(input, 3); !checked)
    return propagate(checked);
  if (input.size() != 3)
    return makeError("", "input has shape " + dimsText(input), "rank 3");
  if (window && window->size() != 1)
    return makeError("", "window has shape " + dimsText(*window), "rank 1");
  int64_t frame = input[1];
  if (window)
    frame = window->front();
  if (length) {
    if (window && *length != kDynamic && frame != kDynamic && frame != *length)
      return makeError("", fmt::format("window has {} elements", frame),
                       fmt::format("{}, the length", *length));
    frame = *length == kDynamic ? frame : *length;
    if (!window && *length == kDynamic)
      frame = kDynamic;
  }
  if (step != kDynamic && step < 1)
    return makeError("", fmt::format("step is {}", step), "at least 1");
  StftShape shape{frame, {input[0], kDynamic, kDynamic, 2}};
  if (frame == kDynamic)
    return shape;
  if (frame < 1 || (input[1] != kDynamic && frame > input[1]))
    return makeError("", fmt::format("frames have {} elements", frame),
                     fmt::format("1 to {}, those of the signal", input[1]));
  shape.output[2] = op.getOnesided() ? frame / 2 + 1 : frame;
  if (input[1] != kDynamic && step != kDynamic)
    shape.output[1] = (input[1] - frame) / step + 1;
  return shape;
}

LogicalResult STFTOp::verify() {
  if (!isa<FloatType>(elementTypeOf(getInput())))
    return emitOpError("input has elements ") << elementTypeOf(getInput()) << "; expected floats";
  if (failed(verifyIndexType(*this, "step", getStep())))
    return failure();
  return verifyIndexType(*this, "length", getLength());
}

LogicalResult STFTOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, element, Dims{kDynamic, kDynamic, kDynamic, 2});
  std::optional<Dims> window;
  if (isPresent(getWindow()))
    window = dimsOf(getWindow()).value_or(Dims{kDynamic});
  Expected<StftShape> shape = stftShape(*this, *dims, integerOf(getStep()).value_or(kDynamic),
                                        window, integerOf(getLength()));
  if (!shape)
    return emit(*this, shape.error());
  return setResult(*this, 0, element, shape->output);
}

int64_t STFTOp::flops() {
  std::optional<Dims> dims = dimsOf(getOutput());
  return dims && staticElements(getOutput()) > 0 ? transformFlops(getOutput(), (*dims)[2]) : 0;
}

//===----------------------------------------------------------------------===//
// Windows and filters
//===----------------------------------------------------------------------===//

LogicalResult CosineWindowOp::verify() {
  if (failed(verifyIndexType(*this, "size", getSize())))
    return failure();
  return verifyElement(*this, getTo());
}

LogicalResult CosineWindowOp::inferShape() {
  int64_t size = integerOf(getSize()).value_or(kDynamic);
  if (size != kDynamic && size < 0)
    return emitOpError("size is ") << size << "; expected at least 0";
  return setResult(*this, 0, getTo(), Dims{size});
}

int64_t CosineWindowOp::flops() {
  return staticElements(getOutput()) * 2 * static_cast<int64_t>(getCoeff().size());
}

LogicalResult MelWeightMatrixOp::verify() { return verifyElement(*this, getTo()); }

LogicalResult MelWeightMatrixOp::inferShape() {
  int64_t bins = integerOf(getBins()).value_or(kDynamic);
  int64_t length = integerOf(getLength()).value_or(kDynamic);
  for (int64_t each : {bins, length})
    if (each != kDynamic && each < 0)
      return emitOpError("has ") << bins << " bins and length " << length
                                 << "; expected at least 0";
  return setResult(*this, 0, getTo(), Dims{length == kDynamic ? kDynamic : length / 2 + 1, bins});
}

int64_t MelWeightMatrixOp::flops() { return 0; }
