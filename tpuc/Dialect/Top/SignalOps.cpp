//===- SignalOps.cpp - Spectra of signals ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/SignalOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/SignalOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Support/OpShapes/Signal.h"

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

static LogicalResult verifyElement(Operation *op, Type to) {
  if (storageDataType(to))
    return success();
  return op->emitOpError("attribute 'to' is ") << to << "; expected an element type of tensors";
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

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
  Expected<shapes::DftShape> shape =
      shapes::dftShape({getInverse(), getOnesided()}, *dims, axis, integerOf(getLength()));
  if (!shape)
    return emit(*this, shape.error());
  return setResult(*this, 0, element, shape->output);
}

/// Some 5 N log2(N) for each transform of N complex elements.
static int64_t transformFlops(Value output, int64_t length) {
  auto perElement = static_cast<int64_t>(std::ceil(5 * std::log2(std::max<int64_t>(length, 2))));
  return Count(staticElements(output) / 2) * perElement;
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
  std::optional<shapes::Dims> window;
  if (isPresent(getWindow())) {
    const Dims known = dimsOf(getWindow()).value_or(Dims{kDynamic});
    window.emplace(known.begin(), known.end());
  }
  Expected<shapes::StftShape> shape =
      shapes::stftShape(getOnesided(), *dims, integerOf(getStep()).value_or(kDynamic), window,
                        integerOf(getLength()));
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
