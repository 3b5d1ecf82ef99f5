//===- Resize.cpp - What resampling computes ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Resize.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Interpreter/Ops/ResizeParams.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::ops;
using kernels::CoordinateMode;
using kernels::NearestMode;
using kernels::ResampleMode;

/// The elements of operand `index`, or of the attribute that stands in for it.
static std::vector<double> doubles(const OpContext &context, std::string_view attribute,
                                   unsigned index) {
  if (!context.has(index))
    return context.realList(attribute);
  Tensor wide = convert(context.operand(index), DataType::F64);
  auto values = wide.data<double>();
  return {values.begin(), values.end()};
}

static ResampleMode resampleMode(std::string_view mode) {
  return choose<ResampleMode>(mode,
                              {{"linear", ResampleMode::Linear},
                               {"bilinear", ResampleMode::Linear},
                               {"cubic", ResampleMode::Cubic},
                               {"bicubic", ResampleMode::Cubic}},
                              ResampleMode::Nearest);
}

static CoordinateMode coordinateMode(std::string_view mode) {
  return choose<CoordinateMode>(mode,
                                {{"half_pixel_symmetric", CoordinateMode::HalfPixelSymmetric},
                                 {"pytorch_half_pixel", CoordinateMode::PytorchHalfPixel},
                                 {"align_corners", CoordinateMode::AlignCorners},
                                 {"asymmetric", CoordinateMode::Asymmetric},
                                 {"tf_crop_and_resize", CoordinateMode::TfCropAndResize}},
                                CoordinateMode::HalfPixel);
}

static NearestMode nearestMode(std::string_view mode) {
  return choose<NearestMode>(mode,
                             {{"round_prefer_ceil", NearestMode::RoundPreferCeil},
                              {"floor", NearestMode::Floor},
                              {"ceil", NearestMode::Ceil}},
                             NearestMode::RoundPreferFloor);
}

static shapes::ResizeSpec resizeSpec(const OpContext &context) {
  return {context.optionalIntList("axes"), context.text("keep_aspect_ratio_policy")};
}

/// The region of each axis; the whole of those that the op does not name.
static Expected<void> readRegion(const shapes::ResizeSpec &spec, const OpContext &context,
                                 size_t rank, kernels::ResizeParams &params) {
  params.roiBegin.assign(rank, 0);
  params.roiEnd.assign(rank, 1);
  if (params.coordinates != CoordinateMode::TfCropAndResize)
    return {};
  std::vector<double> region = doubles(context, "", 1);
  Expected<Dims> axes = shapes::resizeAxes(spec, static_cast<int64_t>(rank));
  if (!axes)
    return located(context, axes.error());
  if (region.size() != 2 * axes->size())
    return context.error("roi has " + std::to_string(region.size()) + " elements",
                         std::to_string(2 * axes->size()));
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>((*axes)[i]);
    params.roiBegin[axis] = region[i];
    params.roiEnd[axis] = region[axes->size() + i];
  }
  return {};
}

Expected<Dims> ops::readResize(const OpContext &context, kernels::ResizeParams &params) {
  const Tensor &input = context.operand(0);
  const Dims sizes = context.ints("sizes", 3).value_or(Dims());
  const shapes::ResizeSpec spec = resizeSpec(context);
  Expected<shapes::ResizeShape> shape =
      shapes::resizeShape(spec, input.shape().dims(), doubles(context, "scales", 2), sizes);
  if (!shape)
    return located(context, shape.error());
  if (std::ranges::find(shape->output, shapes::kDynamic) != shape->output.end())
    return context.error("neither scales nor sizes are given", "one of them");
  params.mode = resampleMode(context.text("mode"));
  params.coordinates = coordinateMode(context.text("coord_mode"));
  params.nearest = nearestMode(context.text("nearest_mode"));
  params.cubicA = context.real("cubic_coeff_a");
  params.excludeOutside = context.flag("exclude_outside");
  params.antialias = context.flag("antialias");
  params.extrapolation = context.real("extrapolation_value");
  params.scales = shape->scales;
  if (Expected<void> read = readRegion(spec, context, input.shape().rank(), params); !read)
    return propagate(read);
  return shape->output;
}

/// Room for the result of a resize.
static Expected<Tensor *> allocateResized(OpContext &context, const Dims &dims) {
  Expected<Tensor *> output = allocateLike(context, dims);
  if (output && context.operand(0).numElements() == 0 && (*output)->numElements() > 0)
    return context.error("input has shape " + context.operand(0).shape().str(),
                         "extents of at least 1");
  return output;
}

static Expected<void> evaluateInterp(OpContext &context) {
  kernels::ResizeParams params;
  Expected<Dims> dims = readResize(context, params);
  if (!dims)
    return propagate(dims);
  Expected<Tensor *> output = allocateResized(context, *dims);
  if (!output)
    return propagate(output);
  kernels::resize(context.operand(0), params, **output, context.threads());
  return {};
}

static Expected<void> evaluateUpsample(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  if (dims.size() != 4)
    return context.error("input has shape " + context.operand(0).shape().str(), "4 dimensions");
  dims[2] = Count(dims[2]) * context.integer("scale_h");
  dims[3] = Count(dims[3]) * context.integer("scale_w");
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  kernels::upsample(context.operand(0), context.integer("scale_h"), context.integer("scale_w"),
                    context.flag("do_relu"), context.real("relu_limit"), **output,
                    context.threads());
  return {};
}

static Expected<void> evaluateGridSampler(OpContext &context) {
  const Shape &input = context.operand(0).shape();
  const Shape &grid = context.operand(1).shape();
  size_t rank = input.rank();
  if (rank < 3 || rank > 5 || grid.rank() != rank || grid[0] != input[0] ||
      grid[rank - 1] != static_cast<int64_t>(rank) - 2)
    return context.error("input has shape " + input.str() + ", grid " + grid.str(),
                         "a coordinate for each of 1 to 3 spatial dimensions");
  Dims dims = {input[0], input[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  if (context.operand(0).numElements() == 0 && (*output)->numElements() > 0)
    return context.error("input has shape " + input.str(), "extents of at least 1");
  const auto padding = choose<kernels::GridPadding>(
      context.text("padding_mode"),
      {{"border", kernels::GridPadding::Border}, {"reflection", kernels::GridPadding::Reflection}},
      kernels::GridPadding::Zeros);
  kernels::gridSample(context.operand(0), context.operand(1), resampleMode(context.text("mode")),
                      padding, context.flag("align_corners"), **output, context.threads());
  return {};
}

static Expected<void> evaluateAffineGrid(OpContext &context) {
  const Shape &theta = context.operand(0).shape();
  auto size = *context.intsOf(1);
  auto rank = static_cast<int64_t>(size.size()) - 2;
  if ((rank != 2 && rank != 3) || theta != Shape{size[0], rank, rank + 1} ||
      std::ranges::any_of(size, [](int64_t extent) { return extent < 0; }))
    return context.error("theta has shape " + theta.str() + ", size " + shapes::dimsText(size),
                         "[N, 2, 3] with 4 sizes, or [N, 3, 4] with 5");
  Dims dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(rank);
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  kernels::affineGrid(context.operand(0), context.flag("align_corners"), **output,
                      context.threads());
  return {};
}

std::span<const OpEvaluator> ops::resizeOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Interp", evaluateInterp},
      {"Upsample", evaluateUpsample},
      {"GridSampler", evaluateGridSampler},
      {"AffineGrid", evaluateAffineGrid},
  };
  return kOps;
}
