//===- Detection.cpp - Boxes and regions of detectors ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Detection.h"
#include "tpuc/Interpreter/Kernels/Boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tpuc::kernels {

namespace {

/// `prior`, moved by the numbers `by` of its edges (left, top, right, bottom) or its centre and
/// size.
Box moved(const Box &prior, const float *variance, const float *by, BoxCode code) {
  const std::array<float, 4> step = {variance[0] * by[0], variance[1] * by[1], variance[2] * by[2],
                                     variance[3] * by[3]};
  if (code == BoxCode::CenterSize) {
    const float x = step[0] * prior.width() + (prior.left + prior.right) / 2;
    const float y = step[1] * prior.height() + (prior.top + prior.bottom) / 2;
    const float width = exponential(step[2]) * prior.width();
    const float height = exponential(step[3]) * prior.height();
    return {y - height / 2, x - width / 2, y + height / 2, x + width / 2};
  }
  // Corners move by numbers, or by those times the prior's own extents.
  const bool isSized = code == BoxCode::CornerSize;
  const float width = isSized ? prior.width() : 1;
  const float height = isSized ? prior.height() : 1;
  return {prior.top + step[1] * height, prior.left + step[0] * width,
          prior.bottom + step[3] * height, prior.right + step[2] * width};
}

struct Found {
  int64_t label;
  float score;
  int64_t box;
};

/// The boxes of one item: decoded, and chosen class by class.
class ItemDetector {
public:
  ItemDetector(const DetectionParams &params, std::span<const float> location,
               std::span<const float> confidence, std::span<const float> priors)
      : params(params), location(location), confidence(confidence), priors(priors),
        boxes(static_cast<int64_t>(priors.size()) / 8) {}

  std::vector<Found> run() {
    for (int64_t label = 0; label < params.classes; ++label)
      if (label != params.background)
        choose(label);
    if (params.keepTopK >= 0 && std::ssize(found) > params.keepTopK) {
      std::ranges::stable_sort(found, std::ranges::greater(), &Found::score);
      found.resize(static_cast<size_t>(params.keepTopK));
      std::ranges::stable_sort(found, {}, &Found::label);
    }
    return std::move(found);
  }

  Box box(int64_t index, int64_t label) const {
    const auto at = static_cast<size_t>(index * 4);
    const float *prior = priors.data() + at;
    static constexpr float kOnes[] = {1, 1, 1, 1};
    const float *variance = params.varianceInTarget ? kOnes : prior + boxes * 4;
    const int64_t place = params.shareLocation ? index : index * params.classes + label;
    return moved({prior[1], prior[0], prior[3], prior[2]}, variance, location.data() + place * 4,
                 params.code);
  }

private:
  void choose(int64_t label) {
    std::vector<Found> candidates;
    for (int64_t index = 0; index < boxes; ++index) {
      const float score = confidence[static_cast<size_t>(index * params.classes + label)];
      if (score > params.confidenceThreshold)
        candidates.push_back({label, score, index});
    }
    std::ranges::stable_sort(candidates, std::ranges::greater(), &Found::score);
    if (params.topK >= 0 && std::ssize(candidates) > params.topK)
      candidates.resize(static_cast<size_t>(params.topK));
    float threshold = params.nmsThreshold;
    constexpr float kLeastThreshold = 0.5F;
    std::vector<Box> kept;
    for (const Found &candidate : candidates) {
      const Box current = box(candidate.box, label);
      if (std::ranges::any_of(
              kept, [&](const Box &other) { return overlap(current, other) > threshold; }))
        continue;
      kept.push_back(current);
      found.push_back(candidate);
      if (params.eta < 1 && threshold > kLeastThreshold)
        threshold *= params.eta;
    }
  }

  const DetectionParams &params;
  std::span<const float> location;
  std::span<const float> confidence;
  std::span<const float> priors;
  int64_t boxes;
  std::vector<Found> found;
};

/// The pixels [begin, end) of bin `index` along an axis, within `extent`.
std::pair<int64_t, int64_t> binOf(int64_t index, float bin, float start, int64_t extent) {
  const auto at = static_cast<float>(index);
  auto within = [&](float place) {
    // What is no number is no place within.
    return place > 0 ? static_cast<int64_t>(std::min(place, static_cast<float>(extent))) : 0;
  };
  return {within(std::floor(at * bin + start)), within(std::ceil((at + 1) * bin + start))};
}

/// Where a region begins along an axis, and how long its bins are.
std::pair<float, float> binsOf(float first, float last, int64_t bins, const RoiPoolParams &params) {
  const auto scale = static_cast<float>(params.spatialScale);
  if (params.scoreMaps) {
    constexpr float kLeastExtent = 0.1F;
    const float begin = std::round(first) * scale;
    const float end = (std::round(last) + 1) * scale;
    return {begin, std::max(end - begin, kLeastExtent) / static_cast<float>(bins)};
  }
  const float begin = std::round(first * scale);
  const float end = std::round(last * scale);
  return {begin, std::max(end - begin + 1, 1.0F) / static_cast<float>(bins)};
}

void poolRegion(const Tensor &input, const float *roi, const RoiPoolParams &params,
                const Shape &shape, float *to) {
  const Shape &from = input.shape();
  const int64_t height = from[2];
  const int64_t width = from[3];
  const int64_t bins = shape[2] * shape[3];
  const auto [top, binHeight] = binsOf(roi[2], roi[4], shape[2], params);
  const auto [left, binWidth] = binsOf(roi[1], roi[3], shape[3], params);
  const float *item =
      input.data<float>().data() + static_cast<int64_t>(roi[0]) * from[1] * height * width;
  for (int64_t row = 0; row < shape[2]; ++row)
    for (int64_t column = 0; column < shape[3]; ++column) {
      const auto [beginY, endY] = binOf(row, binHeight, top, height);
      const auto [beginX, endX] = binOf(column, binWidth, left, width);
      const bool isEmpty = endY <= beginY || endX <= beginX;
      const int64_t bin = row * shape[3] + column;
      for (int64_t channel = 0; channel < shape[1]; ++channel) {
        const float *plane =
            item + (params.scoreMaps ? channel * bins + bin : channel) * height * width;
        float sum = 0;
        float most = -std::numeric_limits<float>::infinity();
        for (int64_t y = beginY; y < endY; ++y)
          for (int64_t x = beginX; x < endX; ++x) {
            sum += plane[y * width + x];
            most = std::max(most, plane[y * width + x]);
          }
        const auto area = static_cast<float>((endY - beginY) * (endX - beginX));
        to[channel * bins + bin] = isEmpty ? 0 : params.scoreMaps ? sum / area : most;
      }
    }
}

} // namespace

void detectionOutput(const Tensor &location, const Tensor &confidence, const Tensor &priors,
                     int64_t items, const DetectionParams &params, Tensor &output) {
  constexpr size_t kColumns = 7;
  std::span<float> rows = output.mutableData<float>();
  std::ranges::fill(rows, 0.0F);
  const auto perItem = static_cast<size_t>(items);
  if (perItem == 0)
    return;
  std::span<const float> locations = location.data<float>();
  std::span<const float> scores = confidence.data<float>();
  const size_t numLocations = locations.size() / perItem;
  const size_t numScores = scores.size() / perItem;
  size_t at = 0;
  for (size_t item = 0; item < perItem; ++item) {
    ItemDetector detector(params, locations.subspan(item * numLocations, numLocations),
                          scores.subspan(item * numScores, numScores), priors.data<float>());
    for (const Found &each : detector.run()) {
      const Box box = detector.box(each.box, each.label);
      const std::array<float, kColumns> row = {static_cast<float>(item),
                                               static_cast<float>(each.label),
                                               each.score,
                                               box.left,
                                               box.top,
                                               box.right,
                                               box.bottom};
      std::ranges::copy(row, rows.begin() + static_cast<ptrdiff_t>(at));
      at += kColumns;
    }
  }
}

Expected<void> roiPool(const Tensor &input, const Tensor &rois, const RoiPoolParams &params,
                       Tensor &output, ThreadPool &threads) {
  constexpr float kFarthest = 1 << 30;
  std::span<const float> regions = rois.data<float>();
  const int64_t items = input.shape()[0];
  for (size_t at = 0; at < regions.size(); ++at) {
    const bool isItem = at % 5 == 0;
    const float most = isItem ? static_cast<float>(items - 1) : kFarthest;
    const float least = isItem ? 0 : -kFarthest;
    if (!(regions[at] >= least && regions[at] <= most))
      return makeError("",
                       "region " + std::to_string(at / 5) + " has " +
                           (isItem ? "the item " : "the corner ") + std::to_string(regions[at]),
                       isItem ? "0 to " + std::to_string(items - 1) : "a pixel");
  }
  const Shape &shape = output.shape();
  const int64_t size = shape[1] * shape[2] * shape[3];
  float *to = output.mutableData<float>().data();
  threads.parallelFor(shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t region = begin; region < end; ++region)
      poolRegion(input, regions.data() + region * 5, params, shape, to + region * size);
  });
  return {};
}

} // namespace tpuc::kernels
