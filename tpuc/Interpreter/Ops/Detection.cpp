//===- Detection.cpp - What ops of detectors compute ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Detection.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/OpShapes/Detection.h"
#include "tpuc/Support/Sizes.h"

using namespace tpuc;
using namespace tpuc::ops;

static kernels::DetectionParams detectionParams(const OpContext &context) {
  kernels::DetectionParams params;
  params.classes = context.integer("num_classes");
  params.background = context.integer("background_label_id");
  params.shareLocation = context.flag("share_location");
  params.varianceInTarget = context.flag("variance_encoded_in_target");
  const std::string code = context.text("code_type");
  params.code = code == "CENTER_SIZE"   ? kernels::BoxCode::CenterSize
                : code == "CORNER_SIZE" ? kernels::BoxCode::CornerSize
                                        : kernels::BoxCode::Corner;
  params.confidenceThreshold = static_cast<float>(context.real("confidence_threshold"));
  params.nmsThreshold = static_cast<float>(context.real("nms_threshold"));
  params.eta = static_cast<float>(context.real("eta"));
  params.topK = context.integer("top_k");
  params.keepTopK = context.integer("keep_top_k");
  return params;
}

static Expected<void> evaluateDetectionOutput(OpContext &context) {
  const Shape &location = context.operand(0).shape();
  const Shape &confidence = context.operand(1).shape();
  const Shape &priors = context.operand(2).shape();
  const kernels::DetectionParams params = detectionParams(context);
  if (location.rank() == 0 || priors.rank() != 3 || priors[0] != 1 || priors[1] != 2 ||
      priors[2] % 4 != 0)
    return context.error("shapes " + location.str() + " and " + priors.str(),
                         "items first, and [1, 2, boxes * 4]");
  const int64_t items = location[0];
  const int64_t boxes = priors[2] / 4;
  const Count perBox = Count(params.shareLocation ? 1 : params.classes) * 4;
  if (context.operand(0).numElements() != items * boxes * perBox ||
      context.operand(1).numElements() != items * boxes * Count(params.classes))
    return context.error("location has shape " + location.str() + " and confidence " +
                             confidence.str() + " for " + std::to_string(boxes) + " boxes of " +
                             std::to_string(params.classes) + " classes",
                         "numbers for each box");
  const int64_t rows = shapes::detectionRows(
      {params.classes, params.background, params.topK, params.keepTopK}, boxes);
  Expected<Tensor *> output = allocateLike(context, Dims{1, 1, Count(items) * rows, 7});
  if (!output)
    return propagate(output);
  Tensor found(DataType::F32, (*output)->shape());
  kernels::detectionOutput(convert(context.operand(0), DataType::F32),
                           convert(context.operand(1), DataType::F32),
                           convert(context.operand(2), DataType::F32), items, params, found);
  **output = convert(found, (*output)->type());
  return {};
}

static Expected<void> evaluateRoiPool(OpContext &context) {
  const Shape &input = context.operand(0).shape();
  const Shape &rois = context.operand(1).shape();
  const int64_t height = context.integer("output_height");
  const int64_t width = context.integer("output_width");
  const kernels::RoiPoolParams params{context.real("spatial_scale"), context.flag("score_maps")};
  const int64_t parts = params.scoreMaps ? height * width : 1;
  if (input.rank() != 4 || rois.rank() != 2 || rois[1] != 5 || input[1] % parts != 0)
    return context.error("shapes " + input.str() + " and " + rois.str(),
                         "[N, C, H, W] and [R, 5], with channels for each bin");
  Expected<Tensor *> output = allocateLike(context, Dims{rois[0], input[1] / parts, height, width});
  if (!output)
    return propagate(output);
  Tensor pooled(DataType::F32, (*output)->shape());
  Expected<void> done = kernels::roiPool(convert(context.operand(0), DataType::F32),
                                         convert(context.operand(1), DataType::F32), params, pooled,
                                         context.threads());
  if (!done)
    return located(context, done.error());
  **output = convert(pooled, (*output)->type());
  return {};
}

std::span<const OpEvaluator> ops::detectionOps() {
  static constexpr OpEvaluator kOps[] = {
      {"DetectionOutput", evaluateDetectionOutput},
      {"RoiPool", evaluateRoiPool},
  };
  return kOps;
}
