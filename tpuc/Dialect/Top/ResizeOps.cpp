//===- ResizeOps.cpp - Resampling -----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ResizeShapes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowAttributes.h"
#include "tpuc/Support/Convert.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult InterpOp::verify() {
  if (failed(verifyChoice(*this, "mode", getMode(), {"nearest", "linear", "cubic"})) ||
      failed(verifyChoice(*this, "coord_mode", getCoordMode(),
                          {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                           "align_corners", "asymmetric", "tf_crop_and_resize"})) ||
      failed(verifyChoice(*this, "nearest_mode", getNearestMode(),
                          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) ||
      failed(verifyChoice(*this, "keep_aspect_ratio_policy", getKeepAspectRatioPolicy(),
                          {"stretch", "not_larger", "not_smaller"})))
    return failure();
  if (getAntialias() && getMode() == "nearest")
    return emitOpError("has antialias in mode 'nearest'; expected linear or cubic");
  if (getCoordMode() == "tf_crop_and_resize" && !isPresent(getRoi()))
    return emitOpError("has coord_mode 'tf_crop_and_resize' without roi; expected a region");
  return success();
}

LogicalResult InterpOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> input = dimsOf(getInput());
  if (!input)
    return setResult(*this, 0, element, std::nullopt);
  std::vector<double> scales = toDoubles(getScales());
  if (isPresent(getScalesTensor())) {
    scales.clear();
    if (std::optional<Tensor> tensor = constantTensor(getScalesTensor())) {
      Tensor wide = convert(*tensor, DataType::F64);
      scales.assign(wide.data<double>().begin(), wide.data<double>().end());
    }
  }
  Dims sizes = intsOf(getSizes(), getSizesTensor()).value_or(Dims());
  Expected<ResizeShape> shape = resizeShape(resizeSpec(*this), *input, scales, sizes);
  if (!shape)
    return emit(*this, shape.error());
  return setResult(*this, 0, element, shape->output);
}

int64_t InterpOp::flops() {
  // Per resampled axis the taps of a kernel: a product and a sum each.
  int64_t perAxis = getMode() == "nearest" ? 0 : getMode() == "linear" ? 4 : 8;
  return staticElements(getOutput()) * perAxis * 2;
}

LogicalResult UpsampleOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  if (dims) {
    if (dims->size() != 4)
      return emitOpError("input has shape ") << dimsText(*dims) << "; expected 4 dimensions";
    if ((*dims)[2] != kDynamic)
      (*dims)[2] = Count((*dims)[2]) * getScaleH();
    if ((*dims)[3] != kDynamic)
      (*dims)[3] = Count((*dims)[3]) * getScaleW();
  }
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

int64_t UpsampleOp::flops() { return 0; }

LogicalResult GridSamplerOp::verify() {
  if (failed(verifyChoice(*this, "mode", getMode(),
                          {"linear", "bilinear", "nearest", "cubic", "bicubic"})))
    return failure();
  return verifyChoice(*this, "padding_mode", getPaddingMode(), {"zeros", "border", "reflection"});
}

LogicalResult GridSamplerOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> input = dimsOf(getInput());
  std::optional<Dims> grid = dimsOf(getGrid());
  if (!input || !grid)
    return setResult(*this, 0, element, std::nullopt);
  auto spatial = static_cast<int64_t>(input->size()) - 2;
  if (spatial < 1 || spatial > static_cast<int64_t>(kMaxSpatial) || grid->size() != input->size() ||
      (grid->back() != kDynamic && grid->back() != spatial))
    return emitOpError("input has shape ")
           << dimsText(*input) << ", grid " << dimsText(*grid)
           << "; expected as many dimensions each, and a coordinate for each spatial one";
  if ((*input)[0] != kDynamic && (*grid)[0] != kDynamic && (*input)[0] != (*grid)[0])
    return emitOpError("input has ")
           << (*input)[0] << " samples, grid " << (*grid)[0] << "; expected as many";
  Dims output = {(*input)[0] == kDynamic ? (*grid)[0] : (*input)[0], (*input)[1]};
  output.append(grid->begin() + 1, grid->end() - 1);
  return setResult(*this, 0, element, output);
}

int64_t GridSamplerOp::flops() {
  std::optional<Dims> input = dimsOf(getInput());
  if (!input)
    return 0;
  StringRef mode = getMode();
  int64_t taps = mode == "nearest" ? 1 : mode.contains("cubic") ? 4 : 2;
  int64_t all = 1;
  for (size_t axis = 2; axis < input->size(); ++axis)
    all *= taps;
  return staticElements(getOutput()) * 2 * all;
}

LogicalResult AffineGridOp::inferShape() {
  std::optional<Dims> theta = dimsOf(getTheta());
  if (theta &&
      (theta->size() != 3 || ((*theta)[1] != kDynamic && (*theta)[1] != 2 && (*theta)[1] != 3)))
    return emitOpError("theta has shape ")
           << dimsText(*theta) << "; expected [N, 2, 3] or [N, 3, 4]";
  std::optional<Dims> size = constantInts(getSize());
  std::optional<Dims> output;
  if (size && (size->size() == 4 || size->size() == 5)) {
    output = Dims{(*size)[0]};
    output->append(size->begin() + 2, size->end());
    output->push_back(static_cast<int64_t>(size->size()) - 2);
  } else if (size) {
    return emitOpError("size has ") << size->size() << " entries; expected 4 or 5";
  } else if (theta && (*theta)[1] != kDynamic) {
    output = Dims((*theta)[1] + 2, kDynamic);
    output->front() = (*theta)[0];
    output->back() = (*theta)[1];
  }
  return setResult(*this, 0, elementTypeOf(getTheta()), output);
}

int64_t AffineGridOp::flops() {
  std::optional<Dims> output = dimsOf(getOutput());
  return output ? staticElements(getOutput()) * 2 * output->back() : Count(0);
}
