//===- ConvertDetection.cpp - Layers of detectors -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "tpuc/Dialect/Top/DetectionOps.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

/// A box around the place of a pixel, in pixels of the picture.
struct PriorSize {
  float width;
  float height;
};

/// The sizes of the boxes of each pixel, in SSD's order.
SmallVector<PriorSize> priorSizes(CaffeLayer &layer, const proto::PriorBoxParameter &p) {
  SmallVector<PriorSize> sizes;
  if (p.width_size() > 0 || p.height_size() > 0) {
    if (p.width_size() != p.height_size())
      layer.fail(fmt::format("has {} widths and {} heights", p.width_size(), p.height_size()),
                 "one of both for each box");
    for (int index = 0; index < std::min(p.width_size(), p.height_size()); ++index)
      sizes.push_back({p.width(index), p.height(index)});
    return sizes;
  }
  if (p.min_size_size() == 0 || (p.max_size_size() > 0 && p.max_size_size() != p.min_size_size())) {
    layer.fail(
        fmt::format("has {} of min_size and {} of max_size", p.min_size_size(), p.max_size_size()),
        "one or more of min_size, and none or as many of max_size");
    return sizes;
  }
  SmallVector<float> ratios = {1};
  auto add = [&](float ratio) {
    constexpr float kSame = 1e-6F;
    if (llvm::none_of(ratios, [&](float known) { return std::abs(known - ratio) < kSame; }))
      ratios.push_back(ratio);
  };
  for (float ratio : p.aspect_ratio()) {
    if (!(ratio > 0)) {
      layer.fail(fmt::format("has the aspect_ratio {}", ratio), "a positive number");
      return sizes;
    }
    size_t before = ratios.size();
    add(ratio);
    // The reciprocal goes with a ratio that is new.
    if (p.flip() && ratios.size() > before)
      ratios.push_back(1 / ratio);
  }
  for (int index = 0; index < p.min_size_size(); ++index) {
    float least = p.min_size(index);
    sizes.push_back({least, least});
    if (p.max_size_size() > 0) {
      if (p.max_size(index) <= least)
        layer.fail(fmt::format("has the max_size {} for the min_size {}", p.max_size(index), least),
                   "a larger one");
      float middle = std::sqrt(least * p.max_size(index));
      sizes.push_back({middle, middle});
    }
    for (float ratio : ArrayRef(ratios).drop_front())
      sizes.push_back({least * std::sqrt(ratio), least / std::sqrt(ratio)});
  }
  return sizes;
}

/// The variances of the four coordinates.
std::optional<std::array<float, 4>> variances(CaffeLayer &layer,
                                              const proto::PriorBoxParameter &p) {
  if (p.variance_size() > 1 && p.variance_size() != 4) {
    layer.fail(fmt::format("has {} of variance", p.variance_size()), "1 or 4");
    return std::nullopt;
  }
  std::array<float, 4> all = {0.1F, 0.1F, 0.1F, 0.1F};
  for (int index = 0; index < 4 && p.variance_size() > 0; ++index)
    all[static_cast<size_t>(index)] = p.variance(p.variance_size() == 1 ? 0 : index);
  for (float each : all)
    if (!(each > 0)) {
      layer.fail(fmt::format("has the variance {}", each), "a positive number");
      return std::nullopt;
    }
  return all;
}

/// The boxes of all pixels of bottom 0 as (x1, y1, x2, y2) in parts of the picture, bottom 1, and
/// their variances: [1, 2, boxes * 4]. Only shapes matter, so they are constants.
void priorBox(CaffeLayer &layer) {
  const proto::PriorBoxParameter &p = layer.parameters().prior_box_param();
  Ints map = layer.shape(0);
  Ints picture = layer.shape(1);
  if (map.size() != 4 || picture.size() != 4)
    return layer.fail("its bottoms do not have four dimensions", "a map and the picture");
  SmallVector<PriorSize> sizes = priorSizes(layer, p);
  std::optional<std::array<float, 4>> variance = variances(layer, p);
  if (layer.failed())
    return;
  auto stated = [&](uint32_t both, uint32_t one, int64_t otherwise) {
    return static_cast<float>(both ? both : one ? one : otherwise);
  };
  float height = stated(p.img_size(), p.img_h(), picture[2]);
  float width = stated(p.img_size(), p.img_w(), picture[3]);
  auto step = [&](float both, float one, float extent, int64_t count) {
    return both > 0 ? both : one > 0 ? one : extent / static_cast<float>(count);
  };
  float stepY = step(p.step(), p.step_h(), height, map[2]);
  float stepX = step(p.step(), p.step_w(), width, map[3]);
  Expected<Tensor> boxes = Tensor::create(
      DataType::F32, Ints{1, 2, map[2] * map[3] * static_cast<int64_t>(sizes.size()) * 4},
      layer.place());
  if (!boxes)
    return layer.fail("makes more boxes than there is memory for", "a smaller map");
  std::span<float> numbers = boxes->mutableData<float>();
  size_t at = 0;
  for (int64_t y = 0; y < map[2]; ++y)
    for (int64_t x = 0; x < map[3]; ++x)
      for (const PriorSize &size : sizes) {
        float centreX = (static_cast<float>(x) + p.offset()) * stepX;
        float centreY = (static_cast<float>(y) + p.offset()) * stepY;
        for (float edge :
             {(centreX - size.width / 2) / width, (centreY - size.height / 2) / height,
              (centreX + size.width / 2) / width, (centreY + size.height / 2) / height})
          numbers[at++] = p.clip() ? std::clamp(edge, 0.0F, 1.0F) : edge;
      }
  for (size_t index = 0; at < numbers.size(); ++index)
    numbers[at++] = (*variance)[index % 4];
  layer.emitConstant(std::move(*boxes));
}

/// What SSD finds. Caffe gives as many rows as there are boxes; here the rows that may be needed.
void detectionOutput(CaffeLayer &layer) {
  const proto::DetectionOutputParameter &p = layer.parameters().detection_output_param();
  const proto::NonMaximumSuppressionParameter &nms = p.nms_param();
  constexpr double kNoThreshold = -std::numeric_limits<float>::max();
  if (p.num_classes() < 1)
    return layer.fail("states no num_classes", "1 or more");
  if (!(nms.eta() > 0 && nms.eta() <= 1) || !(nms.nms_threshold() >= 0))
    return layer.fail(fmt::format("its nms_param has the threshold {} and the eta {}",
                                  nms.nms_threshold(), nms.eta()),
                      "0 or more, and a number above 0 up to 1");
  // No limit, and no background, are -1.
  auto limit = [](int32_t value) { return std::max(value, -1); };
  static constexpr const char *kCodes[] = {"CORNER", "CENTER_SIZE", "CORNER_SIZE"};
  layer.emit<top::DetectionOutputOp>(
      {layer.in(0), layer.in(1), layer.in(2)},
      layer.attrs()
          .setInt("num_classes", p.num_classes())
          .setInt("background_label_id", limit(p.background_label_id()))
          .setBool("share_location", p.share_location())
          .setBool("variance_encoded_in_target", p.variance_encoded_in_target())
          .setString("code_type", kCodes[p.code_type() - proto::PriorBoxParameter::CORNER])
          .setFloat("confidence_threshold",
                    p.has_confidence_threshold() ? p.confidence_threshold() : kNoThreshold)
          .setFloat("nms_threshold", nms.nms_threshold())
          .setFloat("eta", nms.eta())
          .setInt("top_k", limit(nms.top_k()))
          .setInt("keep_top_k", limit(p.keep_top_k())));
}

/// The regions of bottom 1 as [R, 5]: they come with extents of 1 behind, too.
Value regions(CaffeLayer &layer) {
  Ints dims = layer.shape(1);
  int64_t inner = 1;
  for (int64_t dim : ArrayRef(dims).drop_front())
    inner *= dim;
  if (dims.empty() || inner != 5) {
    layer.fail("its second bottom holds no regions", "[R, 5]: item, x1, y1, x2, y2");
    return layer.none();
  }
  return layer.reshaped("regions", layer.in(1), {dims[0], 5});
}

void emitRoiPool(CaffeLayer &layer, int64_t height, int64_t width, double scale, bool maps) {
  constexpr int64_t kMostBins = 4096;
  if (height < 1 || width < 1 || height > kMostBins || width > kMostBins)
    return layer.fail(fmt::format("makes {}x{} bins", height, width), "1 to 4096 of both");
  Value rois = regions(layer);
  if (layer.failed())
    return;
  layer.emit<top::RoiPoolOp>({layer.in(0), rois}, layer.attrs()
                                                      .setInt("output_height", height)
                                                      .setInt("output_width", width)
                                                      .setFloat("spatial_scale", scale)
                                                      .setBool("score_maps", maps));
}

void roiPooling(CaffeLayer &layer) {
  const proto::ROIPoolingParameter &p = layer.parameters().roi_pooling_param();
  emitRoiPool(layer, p.pooled_h(), p.pooled_w(), p.spatial_scale(), false);
}

void psroiPooling(CaffeLayer &layer) {
  const proto::PSROIPoolingParameter &p = layer.parameters().psroi_pooling_param();
  Ints dims = layer.shape(0);
  const int64_t bins = int64_t(p.group_size()) * p.group_size();
  if (dims.size() != 4 || p.output_dim() < 1 || dims[1] != p.output_dim() * bins)
    return layer.fail(fmt::format("has an output_dim of {} and a group_size of {}", p.output_dim(),
                                  p.group_size()),
                      "channels of the bottom: output_dim times the square of group_size");
  emitRoiPool(layer, p.group_size(), p.group_size(), p.spatial_scale(), true);
}

constexpr LayerRow kDetectionRows[] = {
    {"DetectionOutput", 3, 3, detectionOutput, "DetectionOutput", "SSD"},
    {"PSROIPooling", 2, 2, psroiPooling, "RoiPool", "forks"},
    {"PriorBox", 2, 2, priorBox, "Weight", "SSD"},
    {"ROIPooling", 2, 2, roiPooling, "RoiPool", "forks"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::detectionRows() { return kDetectionRows; }
