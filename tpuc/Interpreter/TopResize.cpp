//===- TopResize.cpp - What resampling computes ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ResizeShapes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/IntegerResize.h"
#include "tpuc/Interpreter/Kernels/Resize.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tpuc;
using namespace tpuc::top;
using kernels::CoordinateMode;
using kernels::NearestMode;
using kernels::ResampleMode;

/// The elements of operand `index`, or of the attribute that stands in for it.
static std::vector<double> doubles(EvalContext &context, std::optional<mlir::ArrayAttr> attribute,
                                   unsigned index) {
  if (!context.has(index))
    return toDoubles(attribute);
  Tensor wide = convert(context.operand(index), DataType::F64);
  auto values = wide.data<double>();
  return {values.begin(), values.end()};
}

static ResampleMode resampleMode(llvm::StringRef mode) {
  return llvm::StringSwitch<ResampleMode>(mode)
      .Cases("linear", "bilinear", ResampleMode::Linear)
      .Cases("cubic", "bicubic", ResampleMode::Cubic)
      .Default(ResampleMode::Nearest);
}

static CoordinateMode coordinateMode(llvm::StringRef mode) {
  return llvm::StringSwitch<CoordinateMode>(mode)
      .Case("half_pixel_symmetric", CoordinateMode::HalfPixelSymmetric)
      .Case("pytorch_half_pixel", CoordinateMode::PytorchHalfPixel)
      .Case("align_corners", CoordinateMode::AlignCorners)
      .Case("asymmetric", CoordinateMode::Asymmetric)
      .Case("tf_crop_and_resize", CoordinateMode::TfCropAndResize)
      .Default(CoordinateMode::HalfPixel);
}

static NearestMode nearestMode(llvm::StringRef mode) {
  return llvm::StringSwitch<NearestMode>(mode)
      .Case("round_prefer_ceil", NearestMode::RoundPreferCeil)
      .Case("floor", NearestMode::Floor)
      .Case("ceil", NearestMode::Ceil)
      .Default(NearestMode::RoundPreferFloor);
}

/// The region of each axis; the whole of those that the op does not name.
static Expected<void> readRegion(const ResizeSpec &spec, EvalContext &context, size_t rank,
                                 kernels::ResizeParams &params) {
  params.roiBegin.assign(rank, 0);
  params.roiEnd.assign(rank, 1);
  if (params.coordinates != CoordinateMode::TfCropAndResize)
    return {};
  std::vector<double> region = doubles(context, std::nullopt, 1);
  Expected<Dims> axes = resizeAxes(spec, static_cast<int64_t>(rank));
  if (!axes)
    return located(context, axes.error());
  if (region.size() != 2 * axes->size())
    return context.error("roi has " + std::to_string(region.size()) + " elements",
                         std::to_string(2 * axes->size()));
  for (size_t i = 0; i < axes->size(); ++i) {
    params.roiBegin[(*axes)[i]] = region[i];
    params.roiEnd[(*axes)[i]] = region[axes->size() + i];
  }
  return {};
}

/// How `op` resamples its input, and the shape that it gives.
template <typename Op>
static Expected<Dims> readResize(Op op, EvalContext &context, kernels::ResizeParams &params) {
  const Tensor &input = context.operand(0);
  llvm::SmallVector<int64_t> sizes = context.ints(op.getSizes(), 3).value_or(Dims());
  Expected<ResizeShape> shape =
      resizeShape(resizeSpec(op), extents(input), doubles(context, op.getScales(), 2), sizes);
  if (!shape)
    return located(context, shape.error());
  if (llvm::is_contained(shape->output, kDynamic))
    return context.error("neither scales nor sizes are given", "one of them");
  params.mode = resampleMode(op.getMode());
  params.coordinates = coordinateMode(op.getCoordMode());
  params.nearest = nearestMode(op.getNearestMode());
  params.cubicA = op.getCubicCoeffA().convertToDouble();
  params.excludeOutside = op.getExcludeOutside();
  params.antialias = op.getAntialias();
  params.extrapolation = op.getExtrapolationValue().convertToDouble();
  params.scales = shape->scales;
  if (Expected<void> read = readRegion(resizeSpec(op), context, input.shape().rank(), params);
      !read)
    return propagate(read);
  return shape->output;
}

/// Room for the result of a resize.
static Expected<Tensor *> allocateResized(EvalContext &context, const Dims &dims) {
  Expected<Tensor *> output = allocateLike(context, dims);
  if (output && context.operand(0).numElements() == 0 && (*output)->numElements() > 0)
    return context.error("input has shape " + context.operand(0).shape().str(),
                         "extents of at least 1");
  return output;
}

static Expected<void> evaluateInterp(InterpOp op, EvalContext &context) {
  kernels::ResizeParams params;
  Expected<Dims> dims = readResize(op, context, params);
  if (!dims)
    return propagate(dims);
  Expected<Tensor *> output = allocateResized(context, *dims);
  if (!output)
    return propagate(output);
  kernels::resize(context.operand(0), params, **output, context.threads());
  return {};
}

/// Linear, on stored integers; the result has their type.
static Expected<void> evaluateStoredInterp(tpu::InterpOp op, EvalContext &context) {
  kernels::ResizeParams params;
  Expected<Dims> dims = readResize(op, context, params);
  if (!dims)
    return propagate(dims);
  Expected<Tensor *> output =
      context.allocate(0, resultType(op), Shape(std::span(dims->data(), dims->size())));
  if (!output)
    return propagate(output);
  kernels::integerResizeLinear(context.operand(0), params, zeroPoint(op.getInput()),
                               requantOf(op, storedRange(op)), **output, context.threads());
  return {};
}

static Expected<void> evaluateUpsample(UpsampleOp op, EvalContext &context) {
  Dims dims(extents(context.operand(0)));
  if (dims.size() != 4)
    return context.error("input has shape " + context.operand(0).shape().str(), "4 dimensions");
  dims[2] *= static_cast<int64_t>(op.getScaleH());
  dims[3] *= static_cast<int64_t>(op.getScaleW());
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  kernels::upsample(context.operand(0), op.getScaleH(), op.getScaleW(), op.getDoRelu(),
                    op.getReluLimit().convertToDouble(), **output, context.threads());
  return {};
}

static Expected<void> evaluateGridSampler(GridSamplerOp op, EvalContext &context) {
  const Shape &input = context.operand(0).shape();
  const Shape &grid = context.operand(1).shape();
  size_t rank = input.rank();
  if (rank < 3 || rank > 5 || grid.rank() != rank || grid[0] != input[0] ||
      grid[rank - 1] != static_cast<int64_t>(rank) - 2)
    return context.error("input has shape " + input.str() + ", grid " + grid.str(),
                         "a coordinate for each of 1 to 3 spatial dimensions");
  Dims dims = {input[0], input[1]};
  dims.append(grid.begin() + 1, grid.end() - 1);
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  if (context.operand(0).numElements() == 0 && (*output)->numElements() > 0)
    return context.error("input has shape " + input.str(), "extents of at least 1");
  auto padding = llvm::StringSwitch<kernels::GridPadding>(op.getPaddingMode())
                     .Case("border", kernels::GridPadding::Border)
                     .Case("reflection", kernels::GridPadding::Reflection)
                     .Default(kernels::GridPadding::Zeros);
  kernels::gridSample(context.operand(0), context.operand(1), resampleMode(op.getMode()), padding,
                      op.getAlignCorners(), **output, context.threads());
  return {};
}

static Expected<void> evaluateAffineGrid(AffineGridOp op, EvalContext &context) {
  const Shape &theta = context.operand(0).shape();
  auto size = *context.ints(std::nullopt, 1);
  auto rank = static_cast<int64_t>(size.size()) - 2;
  if ((rank != 2 && rank != 3) || theta != Shape{size[0], rank, rank + 1} ||
      llvm::any_of(size, [](int64_t extent) { return extent < 0; }))
    return context.error("theta has shape " + theta.str() + ", size " + dimsText(size),
                         "[N, 2, 3] with 4 sizes, or [N, 3, 4] with 5");
  Dims dims = {size[0]};
  dims.append(size.begin() + 2, size.end());
  dims.push_back(rank);
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  kernels::affineGrid(context.operand(0), op.getAlignCorners(), **output, context.threads());
  return {};
}

void tpuc::attachResize(mlir::MLIRContext *context) {
  attachEvaluate<InterpOp, evaluateInterp>(context);
  attachEvaluate<UpsampleOp, evaluateUpsample>(context);
  attachEvaluate<GridSamplerOp, evaluateGridSampler>(context);
  attachEvaluate<AffineGridOp, evaluateAffineGrid>(context);
}

void tpuc::attachTpuResize(mlir::MLIRContext *context) {
  attachEvaluate<tpu::InterpOp, evaluateStoredInterp>(context);
}
