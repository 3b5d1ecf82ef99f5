//===- Detection.cpp - What ops of detectors compute ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Detection.h"
#include "tpuc/Interpreter/Kernels/AnchorDetection.h"
#include "tpuc/Interpreter/Kernels/ObjectDetection.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/OpShapes/Detection.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Whether operand `index` is a map [items, channels, H, W].
static bool isMap(const OpContext &context, unsigned index, int64_t items, Count channels) {
  const Shape &shape = context.operand(index).shape();
  return shape.rank() == 4 && shape[0] == items && shape[1] == channels;
}

static tl::unexpected<Error> mapError(const OpContext &context, unsigned index,
                                      const std::string &channels) {
  return context.error("map " + std::to_string(index) + " has shape " +
                           context.operand(index).shape().str(),
                       "[N, C, H, W] with the items of the others and C = " + channels);
}

/// Result 0 of this shape in f32, filled by `fill`, in the type of operand `like`.
template <typename Fill>
static Expected<void> makeRows(OpContext &context, const Dims &dims, const Fill &fill) {
  Expected<Tensor *> output = allocateLike(context, dims);
  if (!output)
    return propagate(output);
  Tensor rows(DataType::F32, (*output)->shape());
  fill(rows.mutableData<float>());
  **output = convert(rows, (*output)->type());
  return {};
}

/// All operands in f32.
static std::vector<Tensor> operandsInF32(const OpContext &context) {
  std::vector<Tensor> tensors;
  for (unsigned index = 0; index < context.numOperands(); ++index)
    tensors.push_back(convert(context.operand(index), DataType::F32));
  return tensors;
}

static bool allPositive(const std::vector<double> &numbers) {
  return !numbers.empty() &&
         std::ranges::all_of(numbers, [](double each) { return each > 0 && std::isfinite(each); });
}

static kernels::ProposalParams proposalParams(const OpContext &context) {
  kernels::ProposalParams params;
  params.stride = context.integer("feat_stride");
  params.baseSize = context.integer("base_size");
  params.ratios = context.realList("ratios");
  params.scales = context.realList("scales");
  params.minSize = context.real("min_size");
  params.beforeNms = context.integer("pre_nms_top_n");
  params.afterNms = context.integer("post_nms_top_n");
  params.nmsThreshold = context.real("nms_threshold");
  params.scoreThreshold = context.real("obj_threshold");
  params.imageHeight = static_cast<double>(context.integer("image_height"));
  params.imageWidth = static_cast<double>(context.integer("image_width"));
  return params;
}

static Expected<void> evaluateProposal(OpContext &context) {
  const kernels::ProposalParams params = proposalParams(context);
  if (!allPositive(params.ratios) || !allPositive(params.scales))
    return context.error("ratios or scales are not all above 0", "positive numbers");
  const Count anchors = Count(std::ssize(params.ratios)) * std::ssize(params.scales);
  const Shape &scores = context.operand(0).shape();
  if (scores.rank() != 4 || scores[1] != anchors * 2)
    return mapError(context, 0, "2 for each anchor");
  const int64_t items = scores[0];
  if (!isMap(context, 1, items, anchors * 4) || context.operand(1).shape()[2] != scores[2] ||
      context.operand(1).shape()[3] != scores[3])
    return mapError(context, 1, "4 for each anchor");
  std::optional<Tensor> info;
  if (context.has(2)) {
    const Shape &shape = context.operand(2).shape();
    if (shape.rank() != 2 || shape[1] != 3 || (shape[0] != 1 && shape[0] != items))
      return context.error("im_info has shape " + shape.str(), "[1 or N, 3]");
    info = convert(context.operand(2), DataType::F32);
  }
  const Count rows = Count(items) * params.afterNms;
  Expected<Tensor> roiScores = Tensor::create(DataType::F32, Dims{rows, 1}, "roi_scores");
  if (!roiScores)
    return located(context, roiScores.error());
  const Tensor from = convert(context.operand(0), DataType::F32);
  const Tensor by = convert(context.operand(1), DataType::F32);
  Expected<void> done = makeRows(context, Dims{rows, 5}, [&](std::span<float> rois) {
    kernels::propose(from, by, info ? &*info : nullptr, params, rois,
                     roiScores->mutableData<float>());
  });
  if (done && context.wants(1))
    context.set(1, convert(*roiScores, context.operand(0).type()));
  return done;
}

static Expected<void> evaluateYoloDetection(OpContext &context) {
  kernels::YoloParams params;
  params.classes = context.integer("class_num");
  params.anchors = context.realList("anchors");
  params.inputHeight = context.integer("net_input_h");
  params.inputWidth = context.integer("net_input_w");
  params.scoreThreshold = context.real("obj_threshold");
  params.nmsThreshold = context.real("nms_threshold");
  params.keep = context.integer("keep_topk");
  params.acrossClasses = context.flag("across_classes");
  params.corners = context.flag("corners");
  const size_t maps = context.numOperands();
  if (maps == 0 || !allPositive(params.anchors) || params.anchors.size() % (maps * 2) != 0)
    return context.error(std::to_string(params.anchors.size()) + " anchors for " +
                             std::to_string(maps) + " maps",
                         "positive pairs, as many for each map");
  const Shape &first = context.operand(0).shape();
  const int64_t items = first.rank() > 0 ? first[0] : 0;
  const auto perMap = static_cast<int64_t>(params.anchors.size() / maps / 2);
  for (unsigned index = 0; index < maps; ++index)
    if (!isMap(context, index, items, (Count(params.classes) + 5) * perMap))
      return mapError(context, index, "class_num + 5 for each anchor");
  const Dims shape =
      params.corners ? Dims{1, 1, Count(items) * params.keep, 7} : Dims{items, 1, params.keep, 6};
  return makeRows(context, shape, [&](std::span<float> rows) {
    kernels::detectYolo(operandsInF32(context), params, rows);
  });
}

static Expected<void> evaluateRetinaFaceDetection(OpContext &context) {
  kernels::FaceParams params;
  params.scoreThreshold = context.real("confidence_threshold");
  params.nmsThreshold = context.real("nms_threshold");
  params.keep = context.integer("keep_topk");
  static constexpr int64_t kChannels[] = {4, 8, 20};
  constexpr unsigned kMaps = 9;
  if (context.numOperands() != kMaps)
    return context.error(std::to_string(context.numOperands()) + " maps", "nine");
  const Shape &first = context.operand(0).shape();
  const int64_t items = first.rank() > 0 ? first[0] : 0;
  for (unsigned index = 0; index < kMaps; ++index) {
    const Shape &shape = context.operand(index).shape();
    const Shape &scores = context.operand(index / 3 * 3).shape();
    if (!isMap(context, index, items, kChannels[index % 3]) || shape[2] != scores[2] ||
        shape[3] != scores[3])
      return mapError(context, index, "4, 8 and 20 for each stride");
  }
  return makeRows(context, Dims{items, 1, params.keep, 15}, [&](std::span<float> rows) {
    kernels::detectFaces(operandsInF32(context), params, rows);
  });
}

static Expected<void> evaluateFrcnDetection(OpContext &context) {
  kernels::RegionParams params;
  params.classes = context.integer("class_num");
  params.scoreThreshold = context.real("obj_threshold");
  params.nmsThreshold = context.real("nms_threshold");
  params.keep = context.integer("keep_topk");
  const Shape &rois = context.operand(2).shape();
  const size_t rank = rois.rank();
  if ((rank != 2 && rank != 4) || rois[rank - 1] != 5 || (rank == 4 && rois[1] != 1))
    return context.error("rois has shape " + rois.str(), "[R, 5] or [N, 1, R, 5]");
  const int64_t items = rank == 2 ? 1 : rois[0];
  const Count scores = Count(items) * rois[rank - 2] * params.classes;
  if (context.operand(1).numElements() != scores || context.operand(0).numElements() != scores * 4)
    return context.error("deltas has shape " + context.operand(0).shape().str() + " and scores " +
                             context.operand(1).shape().str() + " for rois " + rois.str(),
                         "numbers for each region and class");
  return makeRows(context, Dims{items, 1, params.keep, 6}, [&](std::span<float> rows) {
    const std::vector<Tensor> tensors = operandsInF32(context);
    kernels::detectInRegions(tensors[0], tensors[1], tensors[2], items, params, rows);
  });
}

/// Which of `names` the attribute `name` holds. Errors: none of them.
template <typename Enum, size_t N>
static Expected<Enum> choice(const OpContext &context, std::string_view name,
                             const std::array<std::string_view, N> &names) {
  const std::string found = context.text(name);
  const auto *at = std::ranges::find(names, found);
  if (at == names.end())
    return context.error(std::string(name) + " is '" + found + "'",
                         fmt::format("one of {}", fmt::join(names, ", ")));
  return static_cast<Enum>(at - names.begin());
}

static Expected<kernels::ObjectParams> objectParams(const OpContext &context) {
  kernels::ObjectParams params;
  auto box = choice<kernels::ObjectBox>(context, "box_code", kernels::kObjectBoxNames);
  auto score = choice<kernels::ObjectScore>(context, "score_code", kernels::kObjectScoreNames);
  auto layout = choice<kernels::ObjectLayout>(context, "layout", kernels::kObjectLayoutNames);
  auto letterbox = choice<kernels::Letterbox>(context, "letterbox", kernels::kLetterboxNames);
  auto mask = choice<kernels::ObjectMask>(context, "mask", kernels::kObjectMaskNames);
  if (!box)
    return propagate(box);
  if (!score)
    return propagate(score);
  if (!layout)
    return propagate(layout);
  if (!letterbox)
    return propagate(letterbox);
  if (!mask)
    return propagate(mask);
  params.box = *box;
  params.score = *score;
  params.layout = *layout;
  params.letterbox = *letterbox;
  params.mask = *mask;
  params.classes = context.integer("num_classes");
  params.inputHeight = context.integer("input_height");
  params.inputWidth = context.integer("input_width");
  params.partFields = context.optionalIntList("part_fields").value_or(Dims());
  params.grids = context.optionalIntList("grids").value_or(Dims());
  params.anchorCounts = context.optionalIntList("anchor_counts").value_or(Dims());
  params.anchors = context.realList("anchors");
  if (const std::vector<double> variances = context.realList("variances"); !variances.empty()) {
    if (variances.size() != params.variances.size())
      return context.error(std::to_string(variances.size()) + " variances", "four");
    std::ranges::copy(variances, params.variances.begin());
  }
  params.bins = context.integer("bins");
  params.extra = context.integer("extra");
  params.keyPoints = context.integer("key_points");
  params.objectness = context.flag("objectness");
  params.labelled = context.flag("labelled");
  params.boxesActivated = context.flag("boxes_activated");
  params.normalized = context.flag("normalized");
  params.swapXy = context.flag("swap_xy");
  params.scaleXy = context.realList("scale_xy");
  params.background = context.integer("background");
  params.scoreThreshold = context.real("score_threshold");
  params.nmsThreshold = context.real("nms_threshold");
  params.topK = context.integer("top_k");
  params.keep = context.integer("keep_topk");
  params.agnostic = context.flag("agnostic");
  params.multiLabel = context.flag("multi_label");
  params.rotated = context.flag("rotated");
  params.extrasDecoded = context.flag("extras_decoded");
  params.only = context.optionalIntList("classes");
  params.picture = context.optionalIntList("picture").value_or(Dims());
  if (const std::string fault = kernels::objectParamsFault(params); !fault.empty())
    return context.error(fault);
  return params;
}

static Expected<void> evaluateObjectDetection(OpContext &context) {
  Expected<kernels::ObjectParams> params = objectParams(context);
  if (!params)
    return propagate(params);
  const bool hasMasks = params->mask != kernels::ObjectMask::None;
  const auto records = static_cast<unsigned>(context.numOperands()) - (hasMasks ? 1 : 0);
  if (context.numOperands() == 0 || records == 0)
    return context.error("no tensors", "one at least");
  const Shape &first = context.operand(0).shape();
  const int64_t items = first.rank() > 0 ? first[0] : 0;
  std::vector<int64_t> sizes;
  for (unsigned index = 0; index < records; ++index) {
    const Shape &shape = context.operand(index).shape();
    if (shape.rank() == 0 || shape[0] != items || items == 0)
      return context.error("tensor " + std::to_string(index) + " has shape " + shape.str(),
                           "as many items as the others first, one at least");
    sizes.push_back(context.operand(index).numElements() / items);
  }
  auto levels = kernels::objectLevels(*params, sizes);
  if (!levels)
    return context.error(levels.error().found, levels.error().expected);
  if (hasMasks && !isMap(context, records, items, params->extra))
    return mapError(context, records, std::to_string(params->extra));
  const Count rows = Count(items) * params->keep;
  const bool wantsExtras = params->extra > 0 && context.wants(1);
  Dims dims = {wantsExtras ? rows : Count(0), params->extra};
  if (hasMasks)
    dims = {dims[0], context.operand(records).shape()[2], context.operand(records).shape()[3]};
  Expected<Tensor> extras = Tensor::create(DataType::F32, dims, "extras");
  if (!extras)
    return located(context, extras.error());
  Expected<void> done = makeRows(context, Dims{1, 1, rows, 7}, [&](std::span<float> found) {
    kernels::detectObjects(operandsInF32(context), *params, *levels, items, found,
                           extras->mutableData<float>());
  });
  if (done && wantsExtras)
    context.set(1, convert(*extras, context.operand(0).type()));
  return done;
}

std::span<const OpEvaluator> ops::detectionOps() {
  static constexpr OpEvaluator kOps[] = {
      {"DetectionOutput", evaluateDetectionOutput},
      {"FrcnDetection", evaluateFrcnDetection},
      {"ObjectDetection", evaluateObjectDetection},
      {"Proposal", evaluateProposal},
      {"RetinaFaceDetection", evaluateRetinaFaceDetection},
      {"RoiPool", evaluateRoiPool},
      {"YoloDetection", evaluateYoloDetection},
  };
  return kOps;
}
