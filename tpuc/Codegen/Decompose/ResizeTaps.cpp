//===- ResizeTaps.cpp - Which elements a resized tensor is made of ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Support/OpShapes/Resize.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The extents and the scale of one dimension.
struct Resampling {
  double input, output, scale;
};

Resampling resamplingOf(tpu::InterpOp op, unsigned index) {
  const size_t dim = 2 + index;
  const ArrayRef<int64_t> from = cast<RankedTensorType>(op.getInput().getType()).getShape();
  const auto in = from[dim];
  const auto out = cast<RankedTensorType>(op.getOutput().getType()).getShape()[dim];
  Resampling resampling{double(in), double(out), double(out) / double(in)};
  shapes::ResizeSpec spec = {.axes = std::nullopt, .policy = op.getKeepAspectRatioPolicy().str()};
  if (op.getAxes()) {
    const top::Dims axes = top::toInts(*op.getAxes());
    spec.axes = shapes::Dims(axes.begin(), axes.end());
  }
  const std::vector<double> scales = toDoubles(op.getScales());
  const auto sizes = top::intsOf(op.getSizes(), op.getSizesTensor()).value_or(top::Dims());
  const Expected<shapes::ResizeShape> shape = shapes::resizeShape(spec, from, scales, sizes);
  // Without either, the shape of the result says it.
  if (shape && (!scales.empty() || !sizes.empty()))
    resampling.scale = shape->scales[dim];
  return resampling;
}

/// The input point that output position `x` stands for; none for modes that are not known.
std::optional<double> pointOf(StringRef mode, double x, const Resampling &r) {
  // ONNX takes the extent before it is rounded.
  const double output = r.scale * r.input;
  if (mode == "pytorch_half_pixel" && output == 1)
    return -0.5;
  if (mode == "half_pixel" || mode == "pytorch_half_pixel")
    return (x + 0.5) / r.scale - 0.5;
  if (mode == "asymmetric")
    return x / r.scale;
  if (mode == "align_corners")
    return output == 1 ? 0 : x * (r.input - 1) / (output - 1);
  return std::nullopt;
}

kernels::FixedResize fixedResizeOf(StringRef mode) {
  return mode == "half_pixel"      ? kernels::FixedResize::HalfPixel
         : mode == "align_corners" ? kernels::FixedResize::AlignCorners
                                   : kernels::FixedResize::Asymmetric;
}

double nearest(StringRef mode, double point) {
  if (mode == "floor")
    return std::floor(point);
  if (mode == "ceil")
    return std::ceil(point);
  if (mode == "round_prefer_ceil")
    return std::floor(point + 0.5);
  return std::ceil(point - 0.5);
}

} // namespace

bool codegen::repeatsPixels(tpu::InterpOp op) {
  if (op.getMode() != "nearest")
    return false;
  const StringRef coordinates = op.getCoordMode();
  const StringRef rounding = op.getNearestMode();
  for (unsigned index = 0; index < 2; ++index) {
    const Resampling r = resamplingOf(op, index);
    const double times = r.output / r.input;
    if (times != std::floor(times) || times < 1)
      return false;
    const auto isFrom = [&](double x, double position) {
      const std::optional<double> point = pointOf(coordinates, x, r);
      return point && std::clamp(nearest(rounding, *point), 0.0, r.input - 1) == position;
    };
    // Points do not fall, so those between the ends of a run are of the same element.
    for (double position = 0; position < r.input; ++position)
      if (!isFrom(position * times, position) || !isFrom((position + 1) * times - 1, position))
        return false;
  }
  return true;
}

Expected<std::vector<InputTaps>> codegen::resizeTaps(tpu::InterpOp op, unsigned index, Range output,
                                                     Range input) {
  const bool isLinear = op.getMode() == "linear";
  if ((!isLinear && op.getMode() != "nearest") || op.getAntialias() || op.getExcludeOutside())
    return makeError("", "mode " + op.getMode().str(), "nearest or linear");
  const Resampling r = resamplingOf(op, index);
  const auto inside = [&](double position) {
    return std::clamp<int64_t>(int64_t(std::clamp(position, 0.0, r.input - 1)) - input.begin, 0,
                               input.size - 1);
  };
  std::vector<InputTaps> taps;
  if (op->hasAttr("as_stored")) {
    const kernels::FixedResize how = fixedResizeOf(op.getCoordMode());
    const auto all = kernels::fixedTaps(int64_t(r.input), int64_t(r.output), how);
    for (int64_t x = output.begin; x < output.end(); ++x) {
      const kernels::FixedTap &tap = all[size_t(x)];
      const double weight = tap.low == tap.high ? 0 : std::ldexp(tap.weight, -10);
      taps.push_back({inside(double(tap.low)), inside(double(tap.high)), weight});
    }
    return taps;
  }
  for (int64_t x = output.begin; x < output.end(); ++x) {
    std::optional<double> point = pointOf(op.getCoordMode(), double(x), r);
    if (!point)
      return makeError("", "coord_mode " + op.getCoordMode().str());
    if (!isLinear) {
      const int64_t position = inside(nearest(op.getNearestMode(), *point));
      taps.push_back({position, position, 0});
      continue;
    }
    const double first = std::floor(*point);
    taps.push_back({inside(first), inside(first + 1), *point - first});
  }
  return taps;
}
