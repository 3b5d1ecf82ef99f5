//===- AnchorDetection.cpp - Boxes around anchors and in regions ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/AnchorDetection.h"
#include "tpuc/Interpreter/Kernels/Boxes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tpuc::kernels {

namespace {

/// How many pixels are added to the extents of boxes before they are compared.
struct PixelRule {
  float ofAreas;
  float ofIntersection;
};
constexpr PixelRule kCountedPixels = {1, 1};

float overlapOf(const Box &a, const Box &b, PixelRule rule) {
  auto area = [&](const Box &box) {
    return (box.width() + rule.ofAreas) * (box.height() + rule.ofAreas);
  };
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top) + rule.ofIntersection;
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left) + rule.ofIntersection;
  if (!(height > 0 && width > 0))
    return 0;
  const float common = height * width;
  return common / (area(a) + area(b) - common);
}

/// `box` whose extents are counted in pixels, moved by (dx, dy, dw, dh): Faster R-CNN's transform.
Box movedBy(const Box &box, const std::array<float, 4> &by) {
  const float width = box.width() + 1;
  const float height = box.height() + 1;
  const float x = by[0] * width + box.left + width / 2;
  const float y = by[1] * height + box.top + height / 2;
  const float halfWidth = exponential(by[2]) * width / 2;
  const float halfHeight = exponential(by[3]) * height / 2;
  return {y - halfHeight, x - halfWidth, y + halfHeight, x + halfWidth};
}

Box shifted(const Box &box, float x, float y) {
  return {box.top + y, box.left + x, box.bottom + y, box.right + x};
}

/// A square around the middle of `base` pixels.
Box around(double base, double width, double height) {
  const double middle = (base - 1) / 2;
  return {
      static_cast<float>(middle - (height - 1) / 2), static_cast<float>(middle - (width - 1) / 2),
      static_cast<float>(middle + (height - 1) / 2), static_cast<float>(middle + (width - 1) / 2)};
}

std::vector<Box> proposalAnchors(const ProposalParams &params) {
  std::vector<Box> anchors;
  const auto base = static_cast<double>(params.baseSize);
  for (double ratio : params.ratios) {
    const double width = std::nearbyint(std::sqrt(base * base / ratio));
    const double height = std::nearbyint(width * ratio);
    for (double scale : params.scales)
      anchors.push_back(around(base, width * scale, height * scale));
  }
  return anchors;
}

/// A map of one item: planes of the same extents.
struct Planes {
  const float *data;
  int64_t height;
  int64_t width;

  Planes(const Tensor &tensor, int64_t item)
      : data(tensor.data<float>().data() +
             item * tensor.shape()[1] * tensor.shape()[2] * tensor.shape()[3]),
        height(tensor.shape()[2]), width(tensor.shape()[3]) {}

  int64_t size() const { return height * width; }
  float at(int64_t plane, int64_t pixel) const { return data[plane * size() + pixel]; }
};

/// What is known of the picture of an item.
struct PictureInfo {
  float height, width, scale;
};

PictureInfo pictureInfo(const Tensor *info, int64_t item, const ProposalParams &params) {
  if (!info)
    return {static_cast<float>(params.imageHeight), static_cast<float>(params.imageWidth), 1};
  const float *row = info->data<float>().data() + (info->shape()[0] == 1 ? 0 : item * 3);
  return {row[0], row[1], row[2]};
}

/// Within [0, extent - 1]; what is no number stays none.
float clipped(float place, float extent) { return std::max(std::min(place, extent - 1), 0.0F); }

std::vector<Candidate> proposals(const Planes &scores, const Planes &deltas,
                                 std::span<const Box> anchors, const PictureInfo &picture,
                                 const ProposalParams &params) {
  std::vector<Candidate> candidates;
  const auto count = std::ssize(anchors);
  const float least = static_cast<float>(params.minSize) * picture.scale;
  for (int64_t pixel = 0; pixel < scores.size(); ++pixel)
    for (int64_t anchor = 0; anchor < count; ++anchor) {
      const float score = scores.at(count + anchor, pixel);
      if (!(score >= static_cast<float>(params.scoreThreshold)))
        continue;
      const Box from = shifted(anchors[static_cast<size_t>(anchor)],
                               static_cast<float>(pixel % scores.width * params.stride),
                               static_cast<float>(pixel / scores.width * params.stride));
      Box box = movedBy(from, {deltas.at(anchor * 4, pixel), deltas.at(anchor * 4 + 1, pixel),
                               deltas.at(anchor * 4 + 2, pixel), deltas.at(anchor * 4 + 3, pixel)});
      if (std::isnan(box.top + box.bottom) || std::isnan(box.left + box.right))
        continue;
      box = {clipped(box.top, picture.height), clipped(box.left, picture.width),
             clipped(box.bottom, picture.height), clipped(box.right, picture.width)};
      if (box.width() + 1 >= least && box.height() + 1 >= least)
        candidates.push_back({box, score, 0, pixel});
    }
  if (params.beforeNms >= 0 && std::ssize(candidates) > params.beforeNms) {
    std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::score);
    candidates.resize(static_cast<size_t>(params.beforeNms));
  }
  return candidates;
}

/// Where row `index` of `rows` begins, which have `columns` numbers.
float *rowOf(std::span<float> rows, int64_t index, int64_t columns) {
  return rows.data() + index * columns;
}

} // namespace

void propose(const Tensor &scores, const Tensor &deltas, const Tensor *info,
             const ProposalParams &params, std::span<float> rois, std::span<float> roiScores) {
  std::ranges::fill(rois, 0.0F);
  std::ranges::fill(roiScores, 0.0F);
  const std::vector<Box> anchors = proposalAnchors(params);
  const auto threshold = static_cast<float>(params.nmsThreshold);
  for (int64_t item = 0; item < scores.shape()[0]; ++item) {
    const std::vector<Candidate> best =
        bestOf(proposals(Planes(scores, item), Planes(deltas, item), anchors,
                         pictureInfo(info, item, params), params),
               params.afterNms, [&](const Box &a, const Box &b) {
                 return overlapOf(a, b, kCountedPixels) > threshold;
               });
    for (int64_t index = 0; index < params.afterNms; ++index) {
      float *row = rowOf(rois, item * params.afterNms + index, 5);
      row[0] = static_cast<float>(item);
      if (index >= std::ssize(best))
        continue;
      const Candidate &each = best[static_cast<size_t>(index)];
      std::ranges::copy(std::array{each.box.left, each.box.top, each.box.right, each.box.bottom},
                        row + 1);
      roiScores[static_cast<size_t>(item * params.afterNms + index)] = each.score;
    }
  }
}

//===----------------------------------------------------------------------===//
// YOLO
//===----------------------------------------------------------------------===//

namespace {

/// The likeliest class of a softmax over the planes from `first` on, and its share.
std::pair<int64_t, float> likeliest(const Planes &map, int64_t first, int64_t classes,
                                    int64_t pixel) {
  int64_t best = 0;
  for (int64_t label = 1; label < classes; ++label)
    if (map.at(first + label, pixel) > map.at(first + best, pixel))
      best = label;
  double sum = 0;
  const double most = map.at(first + best, pixel);
  for (int64_t label = 0; label < classes; ++label)
    sum += std::exp(map.at(first + label, pixel) - most);
  return {best, static_cast<float>(1 / sum)};
}

/// The boxes of one map; `anchors` are its own.
void addYoloBoxes(const Planes &map, std::span<const double> anchors, const YoloParams &params,
                  std::vector<Candidate> &candidates) {
  const auto perPixel = std::ssize(anchors) / 2;
  const auto threshold = static_cast<float>(params.scoreThreshold);
  const auto height = static_cast<float>(params.inputHeight ? params.inputHeight : map.height);
  const auto width = static_cast<float>(params.inputWidth ? params.inputWidth : map.width);
  for (int64_t pixel = 0; pixel < map.size(); ++pixel)
    for (int64_t anchor = 0; anchor < perPixel; ++anchor) {
      const int64_t first = anchor * (params.classes + 5);
      const float confidence = sigmoid(map.at(first + 4, pixel));
      if (!(confidence >= threshold))
        continue;
      const auto [label, share] = likeliest(map, first + 5, params.classes, pixel);
      const float score = confidence * share;
      if (!(score >= threshold))
        continue;
      const float x = (sigmoid(map.at(first, pixel)) + static_cast<float>(pixel % map.width)) /
                      static_cast<float>(map.width);
      const float y = (sigmoid(map.at(first + 1, pixel)) + static_cast<float>(pixel / map.width)) /
                      static_cast<float>(map.height);
      const auto at = static_cast<size_t>(anchor * 2);
      const float halfWidth =
          exponential(map.at(first + 2, pixel)) * static_cast<float>(anchors[at]) / width / 2;
      const float halfHeight =
          exponential(map.at(first + 3, pixel)) * static_cast<float>(anchors[at + 1]) / height / 2;
      const Box box = {y - halfHeight, x - halfWidth, y + halfHeight, x + halfWidth};
      if (isFinite(box))
        candidates.push_back({box, score, params.acrossClasses ? 0 : label, label});
    }
}

} // namespace

void detectYolo(std::span<const Tensor> maps, const YoloParams &params, std::span<float> rows) {
  std::ranges::fill(rows, 0.0F);
  const int64_t columns = params.corners ? 7 : 6;
  const std::span<const double> anchors = params.anchors;
  const size_t perMap = anchors.size() / maps.size();
  int64_t next = 0;
  for (int64_t item = 0; item < maps[0].shape()[0]; ++item) {
    std::vector<Candidate> candidates;
    for (size_t index = 0; index < maps.size(); ++index)
      addYoloBoxes(Planes(maps[index], item), anchors.subspan(index * perMap, perMap), params,
                   candidates);
    const std::vector<Candidate> best =
        bestOf(std::move(candidates), params.keep, [&](const Box &a, const Box &b) {
          return overlap(a, b) > static_cast<float>(params.nmsThreshold);
        });
    // Rows that are left over come last: of each item, or of all.
    if (!params.corners)
      next = item * params.keep;
    for (const Candidate &each : best) {
      const auto label = static_cast<float>(each.place);
      const Box &box = each.box;
      float *row = rowOf(rows, next++, columns);
      if (params.corners)
        std::ranges::copy(std::array{static_cast<float>(item), label + 1, each.score, box.left,
                                     box.top, box.right, box.bottom},
                          row);
      else
        std::ranges::copy(std::array{(box.left + box.right) / 2, (box.top + box.bottom) / 2,
                                     box.width(), box.height(), label, each.score},
                          row);
    }
  }
}

//===----------------------------------------------------------------------===//
// Faces
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t kFaceAnchors = 2;
constexpr int64_t kFacePoints = 5;
constexpr int64_t kFaceColumns = 15;

/// A face before boxes are compared: what its row holds, but for the score.
struct Face {
  Box box;
  std::array<float, kFacePoints * 2> points;
};

/// The face of `anchor` at `pixel`. Extents are counted in pixels.
Face faceAt(const Box &anchor, const Planes &deltas, const Planes &points, int64_t index,
            int64_t pixel) {
  const float width = anchor.width() + 1;
  const float height = anchor.height() + 1;
  const float x = anchor.left + (width - 1) / 2;
  const float y = anchor.top + (height - 1) / 2;
  const float middleX = deltas.at(index * 4, pixel) * width + x;
  const float middleY = deltas.at(index * 4 + 1, pixel) * height + y;
  const float halfWidth = (exponential(deltas.at(index * 4 + 2, pixel)) * width - 1) / 2;
  const float halfHeight = (exponential(deltas.at(index * 4 + 3, pixel)) * height - 1) / 2;
  Face face = {
      {middleY - halfHeight, middleX - halfWidth, middleY + halfHeight, middleX + halfWidth}, {}};
  for (int64_t point = 0; point < kFacePoints; ++point) {
    const int64_t plane = (index * kFacePoints + point) * 2;
    const auto at = static_cast<size_t>(point * 2);
    face.points[at] = points.at(plane, pixel) * width + x;
    face.points[at + 1] = points.at(plane + 1, pixel) * height + y;
  }
  return face;
}

} // namespace

void detectFaces(std::span<const Tensor> maps, const FaceParams &params, std::span<float> rows) {
  std::ranges::fill(rows, 0.0F);
  constexpr double kBase = 16;
  constexpr std::array<std::array<double, kFaceAnchors>, 3> kScales = {{{2, 1}, {8, 4}, {32, 16}}};
  for (int64_t item = 0; item < maps[0].shape()[0]; ++item) {
    std::vector<Candidate> candidates;
    std::vector<Face> faces;
    for (size_t level = 0; level < kScales.size(); ++level) {
      const Planes scores(maps[level * 3], item);
      const Planes deltas(maps[level * 3 + 1], item);
      const Planes points(maps[level * 3 + 2], item);
      const auto stride = static_cast<int64_t>(8 << level);
      for (int64_t index = 0; index < kFaceAnchors; ++index) {
        const double side = kBase * kScales[level][static_cast<size_t>(index)];
        const Box anchor = around(kBase, side, side);
        for (int64_t pixel = 0; pixel < scores.size(); ++pixel) {
          const float score = scores.at(kFaceAnchors + index, pixel);
          if (!(score >= static_cast<float>(params.scoreThreshold)))
            continue;
          const Face face =
              faceAt(shifted(anchor, static_cast<float>(pixel % scores.width * stride),
                             static_cast<float>(pixel / scores.width * stride)),
                     deltas, points, index, pixel);
          if (!isFinite(face.box))
            continue;
          candidates.push_back({face.box, score, 0, std::ssize(faces)});
          faces.push_back(face);
        }
      }
    }
    const std::vector<Candidate> best =
        bestOf(std::move(candidates), params.keep, [&](const Box &a, const Box &b) {
          return overlapOf(a, b, kCountedPixels) > static_cast<float>(params.nmsThreshold);
        });
    for (size_t index = 0; index < best.size(); ++index) {
      float *row = rowOf(rows, item * params.keep + static_cast<int64_t>(index), kFaceColumns);
      const Face &face = faces[static_cast<size_t>(best[index].place)];
      row = std::ranges::copy(std::array{face.box.left, face.box.top, face.box.right,
                                         face.box.bottom, best[index].score},
                              row)
                .out;
      std::ranges::copy(face.points, row);
    }
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void detectInRegions(const Tensor &deltas, const Tensor &scores, const Tensor &rois, int64_t items,
                     const RegionParams &params, std::span<float> rows) {
  std::ranges::fill(rows, 0.0F);
  if (items == 0)
    return;
  constexpr PixelRule kRule = {1, 0};
  constexpr int64_t kColumns = 6;
  const int64_t regions = rois.numElements() / 5 / items;
  const float *by = deltas.data<float>().data();
  const float *score = scores.data<float>().data();
  const float *roi = rois.data<float>().data();
  for (int64_t item = 0; item < items; ++item) {
    std::vector<Candidate> candidates;
    for (int64_t region = item * regions; region < (item + 1) * regions; ++region)
      for (int64_t label = 1; label < params.classes; ++label) {
        const int64_t place = region * params.classes + label;
        if (!(score[place] > static_cast<float>(params.scoreThreshold)))
          continue;
        const float *corners = roi + region * 5 + 1;
        const float *move = by + place * 4;
        const Box box = movedBy({corners[1], corners[0], corners[3], corners[2]},
                                {move[0], move[1], move[2], move[3]});
        if (isFinite(box))
          candidates.push_back({box, score[place], label, place});
      }
    const std::vector<Candidate> best =
        bestOf(std::move(candidates), params.keep, [&](const Box &a, const Box &b) {
          return overlapOf(a, b, kRule) > static_cast<float>(params.nmsThreshold);
        });
    for (size_t index = 0; index < best.size(); ++index) {
      const Candidate &each = best[index];
      std::ranges::copy(std::array{each.box.left, each.box.top, each.box.right, each.box.bottom,
                                   static_cast<float>(each.label), each.score},
                        rowOf(rows, item * params.keep + static_cast<int64_t>(index), kColumns));
    }
  }
}

} // namespace tpuc::kernels
