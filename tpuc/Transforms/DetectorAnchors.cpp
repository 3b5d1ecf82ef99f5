//===- DetectorAnchors.cpp - The anchors that detectors were trained with ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/DetectorAnchors.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace tpuc;

namespace {

using Anchors = std::vector<std::vector<double>>;

/// What the configuration files of the authors' networks for COCO state.
struct Published {
  std::string_view version;
  Anchors anchors;
  std::vector<double> scaleXy;
};

const std::vector<Published> &published() {
  static const Anchors kThree = {
      {10, 13, 16, 30, 33, 23}, {30, 61, 62, 45, 59, 119}, {116, 90, 156, 198, 373, 326}};
  static const Anchors kTiny = {{10, 14, 23, 27, 37, 58}, {81, 82, 135, 169, 344, 319}};
  static const Anchors kThreeOfV4 = {
      {12, 16, 19, 36, 40, 28}, {36, 75, 76, 55, 72, 146}, {142, 110, 192, 243, 459, 401}};
  static const Anchors kFour = {{19, 27, 44, 40, 38, 94},
                                {96, 68, 86, 152, 180, 137},
                                {140, 301, 303, 264, 238, 542},
                                {436, 615, 739, 380, 925, 792}};
  static const std::vector<Published> kAll = {
      {"yolov3", kThree, {}},
      {"yolov3", kTiny, {}},
      {"yolov3_tiny", kTiny, {}},
      {"yolov4", kThreeOfV4, {1.2, 1.1, 1.05}},
      {"yolov4", {{23, 27, 37, 58, 81, 82}, {81, 82, 135, 169, 344, 319}}, {1.05, 1.05}},
      {"yolov5", kThree, {}},
      {"yolov5", kFour, {}},
      {"yolov7", kThreeOfV4, {}},
      {"yolov7", kFour, {}}};
  return kAll;
}

const Published *find(std::string_view version, size_t numLevels) {
  const auto found = std::ranges::find_if(published(), [&](const Published &each) {
    return each.version == version && each.anchors.size() == numLevels;
  });
  return found == published().end() ? nullptr : &*found;
}

} // namespace

Expected<std::vector<double>> tpuc::anchorsOf(std::string_view version,
                                              const PostprocessOptions &options,
                                              const std::vector<int64_t> &counts) {
  const Published *known = find(version, counts.size());
  if (options.anchors.empty() && !known)
    return makeError(
        "--postprocess_options",
        fmt::format("no anchors of {} are known for {} levels", version, counts.size()), "anchors");
  const Anchors &anchors = options.anchors.empty() ? known->anchors : options.anchors;
  std::vector<double> all;
  std::vector<int64_t> found;
  for (const std::vector<double> &level : anchors) {
    found.push_back(std::ssize(level) / 2);
    all.insert(all.end(), level.begin(), level.end());
  }
  if (found != counts)
    return makeError("--postprocess_options",
                     fmt::format("anchors has {} pairs", fmt::join(found, ", ")),
                     fmt::format("{} of the levels", fmt::join(counts, ", ")));
  return all;
}

std::vector<double> tpuc::usualScaleXy(std::string_view version, size_t numLevels) {
  const Published *known = find(version, numLevels);
  return known ? known->scaleXy : std::vector<double>();
}

Expected<std::vector<double>> tpuc::priorsOf(const std::vector<int64_t> &counts,
                                             int64_t inputHeight, int64_t inputWidth) {
  std::vector<int64_t> usual(counts.size(), 6);
  usual.front() = 3;
  if (counts != usual || counts.size() < 2)
    return makeError("--postprocess_options",
                     fmt::format("levels of {} priors without anchors", fmt::join(counts, ", ")),
                     "anchors of each level");
  constexpr double kLeast = 0.2;
  constexpr double kMost = 0.95;
  const auto last = static_cast<double>(counts.size() - 1);
  const auto scaleOf = [&](size_t level) {
    return level == counts.size() ? 1.0
                                  : kLeast + (kMost - kLeast) * static_cast<double>(level) / last;
  };
  const auto side = static_cast<double>(std::min(inputHeight, inputWidth));
  std::vector<double> all;
  const auto add = [&](double scale, double ratio) {
    all.push_back(side * scale * std::sqrt(ratio));
    all.push_back(side * scale / std::sqrt(ratio));
  };
  for (size_t level = 0; level < counts.size(); ++level) {
    const double scale = scaleOf(level);
    if (level == 0) {
      add(scale / 2, 1);
      add(scale, 2);
      add(scale, 0.5);
      continue;
    }
    for (double ratio : {1.0, 2.0, 0.5, 3.0, 1.0 / 3})
      add(scale, ratio);
    add(std::sqrt(scale * scaleOf(level + 1)), 1);
  }
  return all;
}
