//===- ObjectDetection.cpp - Objects from the heads of detectors ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/ObjectDetection.h"
#include "tpuc/Interpreter/Kernels/Boxes.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace tpuc::kernels {

int64_t ObjectParams::fields() const {
  return Count(boxFields()) + (objectness ? 1 : 0) + scoreFields() + extra;
}

//===----------------------------------------------------------------------===//
// What goes together
//===----------------------------------------------------------------------===//

/// Whether a box depends on the place where it was found.
static bool needsGrid(ObjectBox code) {
  return code != ObjectBox::Center && code != ObjectBox::Corners;
}

static bool needsAnchors(ObjectBox code) {
  return code == ObjectBox::AnchorExp || code == ObjectBox::AnchorSquare ||
         code == ObjectBox::Prior;
}

/// How many anchors all levels have, at most Count::kMost.
static int64_t allAnchors(const ObjectParams &params) {
  if (params.anchorCounts.empty())
    return std::ssize(params.grids) / 2;
  Count sum = 0;
  for (int64_t each : params.anchorCounts)
    sum += each;
  return sum;
}

static std::string anchorsFault(const ObjectParams &params) {
  if (params.grids.size() % 2 != 0)
    return "grids is no list of heights and widths";
  if (params.hasGrids() != needsGrid(params.box))
    return params.hasGrids() ? "has grids, but decoded boxes" : "has boxes of a grid without grids";
  if (!params.anchorCounts.empty() && params.anchorCounts.size() * 2 != params.grids.size())
    return "has " + std::to_string(params.anchorCounts.size()) + " anchor_counts for " +
           std::to_string(params.grids.size() / 2) + " levels";
  const int64_t wanted = needsAnchors(params.box) ? Count(allAnchors(params)) * 2 : Count(0);
  if (std::ssize(params.anchors) != wanted)
    return "has " + std::to_string(params.anchors.size()) + " extents of anchors, not " +
           std::to_string(wanted);
  if (!std::ranges::all_of(params.anchors,
                           [](double each) { return each > 0 && std::isfinite(each); }))
    return "anchors are not all above 0";
  return {};
}

std::string objectParamsFault(const ObjectParams &params) {
  if (std::string fault = anchorsFault(params); !fault.empty())
    return fault;
  if (!params.partFields.empty()) {
    Count sum = 0;
    for (int64_t each : params.partFields)
      sum += each;
    if (sum != params.fields())
      return "part_fields has " + std::to_string(sum) + " fields, not " +
             std::to_string(params.fields());
  }
  if (!(params.scoreThreshold >= 0) || !(params.nmsThreshold >= 0))
    return "has a threshold below 0";
  const auto isNumber = [](double each) { return std::isfinite(each); };
  if (!std::ranges::all_of(params.scaleXy, isNumber) ||
      !std::ranges::all_of(params.variances, isNumber))
    return "scale_xy or variances are not finite";
  if (!params.scaleXy.empty() && params.scaleXy.size() * 2 != params.grids.size())
    return "has " + std::to_string(params.scaleXy.size()) + " scale_xy for " +
           std::to_string(params.grids.size() / 2) + " levels";
  if (!params.picture.empty() && params.picture.size() != 2)
    return "picture is no height and width";
  if (params.rotated && params.extra == 0)
    return "has rotated boxes without an angle";
  if (params.mask != ObjectMask::None && (params.extra == 0 || params.keyPoints > 0))
    return "has masks without numbers that planes are multiplied by";
  if (params.keyPoints > 0 &&
      (params.extra % params.keyPoints != 0 || params.extra / params.keyPoints < 2))
    return "has " + std::to_string(params.extra) + " numbers for " +
           std::to_string(params.keyPoints) + " points";
  return {};
}

Expected<std::vector<ObjectLevel>> objectLevels(const ObjectParams &params,
                                                std::span<const int64_t> sizes) {
  const size_t parts = params.parts();
  auto fieldsOf = [&](size_t part) {
    return params.partFields.empty() ? params.fields() : params.partFields[part];
  };
  std::vector<ObjectLevel> levels;
  for (size_t index = 0; index < params.grids.size(); index += 2)
    levels.push_back({params.grids[index], params.grids[index + 1],
                      params.anchorCounts.empty() ? 1 : params.anchorCounts[index / 2]});
  if (!params.hasGrids() && sizes.size() == parts)
    levels.push_back({1, sizes[0] / fieldsOf(0), 1});
  const bool isJoined = sizes.size() == parts;
  if (!isJoined && sizes.size() != levels.size() * parts)
    return makeError("", std::to_string(sizes.size()) + " tensors",
                     std::to_string(parts) + " for all levels or for each of " +
                         std::to_string(levels.size()));
  if (isJoined && levels.size() > 1 && params.layout == ObjectLayout::Planes &&
      std::ranges::any_of(levels, [](const ObjectLevel &level) { return level.anchors > 1; }))
    return makeError("", "planes of several anchors with all levels in one tensor", "one anchor");
  std::vector<Count> records;
  for (const ObjectLevel &level : levels)
    records.push_back(Count(level.height) * level.width * level.anchors);
  if (isJoined)
    records = {std::accumulate(records.begin(), records.end(), Count(0))};
  for (size_t index = 0; index < sizes.size(); ++index)
    if (sizes[index] != Count(records[index / parts]) * fieldsOf(index % parts))
      return makeError("",
                       "tensor " + std::to_string(index) + " has " + std::to_string(sizes[index]) +
                           " numbers for each item",
                       std::to_string(records[index / parts]) + " records of " +
                           std::to_string(fieldsOf(index % parts)));
  return levels;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

namespace {

/// The fields of one record, which lie in one tensor or several.
class Record {
public:
  struct Part {
    const float *first;
    int64_t step;
    int64_t fields;
  };

  void add(const float *first, int64_t step, int64_t fields) {
    parts.push_back({first, step, fields});
  }
  void clear() { parts.clear(); }
  float operator[](int64_t field) const {
    const Part *part = parts.data();
    while (field >= part->fields)
      field -= (part++)->fields;
    return part->first[field * part->step];
  }

private:
  std::vector<Part> parts;
};

/// A box before its edges are rounded.
struct Edges {
  double top, left, bottom, right;

  Box rounded() const {
    return {static_cast<float>(top), static_cast<float>(left), static_cast<float>(bottom),
            static_cast<float>(right)};
  }
};

/// A rotated box as a Gaussian: its mean and its covariances.
struct Gaussian {
  double x, y, xx, yy, xy;

  double determinant() const { return std::max(xx * yy - xy * xy, 0.0); }
};

Gaussian gaussianOf(const Edges &box, double angle) {
  const double along = (box.right - box.left) * (box.right - box.left) / 12;
  const double across = (box.bottom - box.top) * (box.bottom - box.top) / 12;
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  return {(box.left + box.right) / 2, (box.top + box.bottom) / 2,
          along * cosine * cosine + across * sine * sine,
          along * sine * sine + across * cosine * cosine, (along - across) * cosine * sine};
}

/// 1 less the Hellinger distance; 0 where a box has no area.
double overlap(const Gaussian &a, const Gaussian &b) {
  const Gaussian sum = {a.x - b.x, a.y - b.y, a.xx + b.xx, a.yy + b.yy, a.xy + b.xy};
  const double areas = std::sqrt(a.determinant() * b.determinant());
  if (!(areas > 0 && sum.determinant() > 0))
    return 0;
  const double apart =
      (sum.xx * sum.y * sum.y + sum.yy * sum.x * sum.x - 2 * sum.xy * sum.x * sum.y) /
          sum.determinant() / 4 +
      std::log(sum.determinant() / (4 * areas)) / 2;
  return 1 - std::sqrt(1 - std::exp(-std::max(apart, 0.0)));
}

/// Where a record stands.
struct Place {
  size_t level;
  int64_t anchor;
  int64_t pixel;
};

class RecordDetector {
public:
  RecordDetector(std::span<const Tensor> inputs, const ObjectParams &params,
                 std::span<const ObjectLevel> levels, int64_t item)
      : inputs(inputs), params(params), levels(levels), item(item) {}

  /// Of each kept box: its place is record * classes + class.
  std::vector<Candidate> run();
  /// The box of the record `index`.
  Edges box(int64_t index) {
    const Place place = placeOf(index);
    read(place);
    return boxAt(place);
  }
  Gaussian gaussian(const Candidate &candidate) {
    const Edges edges = box(candidate.place / params.classes);
    return gaussianOf(edges, angle());
  }
  /// The other fields of the record `index`.
  void copyExtras(int64_t index, std::span<float> extras);
  /// Sets what `mask` has of the record `index`: height by width shares of `planes`.
  void drawMask(int64_t index, const Tensor &planes, std::span<float> mask);

private:
  void addCandidates(int64_t index, const Place &place);
  void addCandidate(int64_t index, const Place &place, int64_t label, float score);
  bool isReported(int64_t label) const {
    return label != params.background && (reported.empty() || reported[static_cast<size_t>(label)]);
  }
  Place placeOf(int64_t index) const;
  void read(const Place &place);
  std::array<double, 4> boxFields() const;
  Edges boxAt(const Place &place) const;
  /// Of a box that is rotated, in radians.
  double angle() const {
    const double t = record[params.fields() - params.extra];
    return params.decodesExtras() ? (1 / (1 + std::exp(-t)) - 0.25) * std::numbers::pi : t;
  }
  int64_t firstScore() const { return params.boxFields() + (params.objectness ? 1 : 0); }
  /// Scores as shares of those of the record, in `shares`.
  void readScores();
  void keepBestOfClasses();
  std::vector<Candidate> bestOfRotated();
  /// The first class of the largest number, but for the background and what is no number; -1: none.
  template <typename Numbers> int64_t bestClass(const Numbers &numberOf) const {
    int64_t best = -1;
    for (int64_t label = 0; label < params.classes; ++label)
      if (const float number = numberOf(label); label != params.background && !std::isnan(number) &&
                                                (best < 0 || number > numberOf(best)))
        best = label;
    return best;
  }

  std::span<const Tensor> inputs;
  const ObjectParams &params;
  std::span<const ObjectLevel> levels;
  int64_t item;
  Record record;
  std::vector<float> shares;
  std::vector<bool> reported;
  std::vector<Candidate> candidates;
};

Place RecordDetector::placeOf(int64_t index) const {
  size_t level = 0;
  while (index >= levels[level].pixels() * levels[level].anchors) {
    index -= levels[level].pixels() * levels[level].anchors;
    ++level;
  }
  if (params.layout == ObjectLayout::Pixels)
    return {level, index % levels[level].anchors, index / levels[level].anchors};
  return {level, index / levels[level].pixels(), index % levels[level].pixels()};
}

void RecordDetector::read(const Place &place) {
  const size_t parts = params.parts();
  const bool isJoined = inputs.size() == parts;
  const ObjectLevel &level = levels[place.level];
  // The records before this level's, and all of them, where they share a tensor.
  int64_t before = 0;
  int64_t all = level.pixels() * level.anchors;
  if (isJoined) {
    all = 0;
    for (size_t index = 0; index < levels.size(); ++index) {
      if (index == place.level)
        before = all;
      all += levels[index].pixels() * levels[index].anchors;
    }
  }
  record.clear();
  for (size_t part = 0; part < parts; ++part) {
    const Tensor &tensor = inputs[isJoined ? part : place.level * parts + part];
    const int64_t fields = params.partFields.empty() ? params.fields() : params.partFields[part];
    const float *first = tensor.data<float>().data() + item * all * fields;
    switch (params.layout) {
    case ObjectLayout::Planes: {
      // Of several levels in one tensor each has one anchor.
      const int64_t perPlane = isJoined && levels.size() > 1 ? all : level.pixels();
      record.add(first + place.anchor * fields * perPlane + before + place.pixel, perPlane, fields);
      break;
    }
    case ObjectLayout::Anchors:
      record.add(first + (before + place.anchor * level.pixels() + place.pixel) * fields, 1,
                 fields);
      break;
    case ObjectLayout::Pixels:
      record.add(first + (before + place.pixel * level.anchors + place.anchor) * fields, 1, fields);
      break;
    }
  }
}

/// The mean of 0 ... `bins` - 1 by a softmax of `values`.
double meanBin(const Record &record, int64_t first, int64_t bins) {
  double most = record[first];
  for (int64_t bin = 1; bin < bins; ++bin)
    most = std::max(most, static_cast<double>(record[first + bin]));
  double sum = 0;
  double weighted = 0;
  for (int64_t bin = 0; bin < bins; ++bin) {
    const double share = std::exp(record[first + bin] - most);
    sum += share;
    weighted += share * static_cast<double>(bin);
  }
  return weighted / sum;
}

std::array<double, 4> RecordDetector::boxFields() const {
  std::array<double, 4> fields;
  for (int64_t side = 0; side < 4; ++side)
    fields[static_cast<size_t>(side)] =
        params.bins > 1 ? meanBin(record, side * params.bins, params.bins) : record[side];
  if (params.swapXy)
    fields = {fields[1], fields[0], fields[3], fields[2]};
  return fields;
}

/// A box around (x, y).
Edges centered(double x, double y, double width, double height) {
  return {y - height / 2, x - width / 2, y + height / 2, x + width / 2};
}

Edges RecordDetector::boxAt(const Place &place) const {
  const auto [a, b, c, d] = boxFields();
  const double unitX = params.normalized ? static_cast<double>(params.inputWidth) : 1;
  const double unitY = params.normalized ? static_cast<double>(params.inputHeight) : 1;
  if (params.box == ObjectBox::Center)
    return centered(a * unitX, b * unitY, c * unitX, d * unitY);
  if (params.box == ObjectBox::Corners)
    return {b * unitY, a * unitX, d * unitY, c * unitX};
  const ObjectLevel &level = levels[place.level];
  const double strideX = static_cast<double>(params.inputWidth) / static_cast<double>(level.width);
  const double strideY =
      static_cast<double>(params.inputHeight) / static_cast<double>(level.height);
  const auto x = static_cast<double>(place.pixel % level.width);
  const auto y = static_cast<double>(place.pixel / level.width);
  if (params.box == ObjectBox::GridExp)
    return centered((a + x) * strideX, (b + y) * strideY, std::exp(c) * strideX,
                    std::exp(d) * strideY);
  if (params.box == ObjectBox::Distances && params.rotated) {
    // Its middle lies between the distances along the sides, which are turned around the place.
    const double along = (c - a) / 2 * strideX;
    const double across = (d - b) / 2 * strideY;
    const double cosine = std::cos(angle());
    const double sine = std::sin(angle());
    return centered((x + 0.5) * strideX + along * cosine - across * sine,
                    (y + 0.5) * strideY + along * sine + across * cosine, (a + c) * strideX,
                    (b + d) * strideY);
  }
  if (params.box == ObjectBox::Distances)
    return {(y + 0.5 - b) * strideY, (x + 0.5 - a) * strideX, (y + 0.5 + d) * strideY,
            (x + 0.5 + c) * strideX};
  int64_t before = 0;
  for (size_t index = 0; index < place.level; ++index)
    before += levels[index].anchors;
  const auto at = static_cast<size_t>((before + place.anchor) * 2);
  const double width = params.anchors[at];
  const double height = params.anchors[at + 1];
  if (params.box == ObjectBox::Prior)
    return centered((x + 0.5) * strideX + a * params.variances[0] * width,
                    (y + 0.5) * strideY + b * params.variances[1] * height,
                    std::exp(c * params.variances[2]) * width,
                    std::exp(d * params.variances[3]) * height);
  auto share = [&](double t) { return params.boxesActivated ? t : 1 / (1 + std::exp(-t)); };
  if (params.box == ObjectBox::AnchorSquare)
    return centered((2 * share(a) - 0.5 + x) * strideX, (2 * share(b) - 0.5 + y) * strideY,
                    4 * share(c) * share(c) * width, 4 * share(d) * share(d) * height);
  const double scale = params.scaleXy.empty() ? 1 : params.scaleXy[place.level];
  const double shift = (scale - 1) / 2;
  return centered((scale * share(a) - shift + x) * strideX,
                  (scale * share(b) - shift + y) * strideY, std::exp(c) * width,
                  std::exp(d) * height);
}

void RecordDetector::readScores() {
  const int64_t first = firstScore();
  for (int64_t label = 0; label < params.classes; ++label)
    shares[static_cast<size_t>(label)] = record[first + label];
  if (params.score == ObjectScore::Sigmoid) {
    std::ranges::transform(shares, shares.begin(), sigmoid);
  } else if (params.score == ObjectScore::Softmax) {
    const double most = *std::ranges::max_element(shares);
    double sum = 0;
    for (float each : shares)
      sum += std::exp(each - most);
    for (float &each : shares)
      each = static_cast<float>(std::exp(each - most) / sum);
  }
}

void RecordDetector::addCandidate(int64_t index, const Place &place, int64_t label, float score) {
  const Box box = boxAt(place).rounded();
  if (isFinite(box))
    candidates.push_back({box, score, params.agnostic ? 0 : label, index * params.classes + label});
}

void RecordDetector::addCandidates(int64_t index, const Place &place) {
  const auto threshold = static_cast<float>(params.scoreThreshold);
  read(place);
  float objectness = 1;
  if (params.objectness) {
    objectness = record[params.boxFields()];
    if (params.score == ObjectScore::Sigmoid)
      objectness = sigmoid(objectness);
    // Shares of classes are at most 1.
    if (params.score != ObjectScore::None && !(objectness > threshold))
      return;
  }
  if (params.labelled) {
    const float score = objectness * record[firstScore()];
    const float label = record[firstScore() + 1];
    if (score > threshold && label >= 0 && label < static_cast<float>(params.classes) &&
        isReported(static_cast<int64_t>(label)))
      addCandidate(index, place, static_cast<int64_t>(label), score);
    return;
  }
  if (params.score == ObjectScore::Sigmoid && !params.multiLabel) {
    // The best class of the numbers is that of their sigmoids, of which one is enough.
    const int64_t best = bestClass([&](int64_t label) { return record[firstScore() + label]; });
    if (best < 0 || !isReported(best))
      return;
    if (const float score = objectness * sigmoid(record[firstScore() + best]); score > threshold)
      addCandidate(index, place, best, score);
    return;
  }
  readScores();
  if (params.multiLabel) {
    for (int64_t label = 0; label < params.classes; ++label)
      if (const float score = objectness * shares[static_cast<size_t>(label)];
          score > threshold && isReported(label))
        addCandidate(index, place, label, score);
    return;
  }
  const int64_t best = bestClass([&](int64_t label) { return shares[static_cast<size_t>(label)]; });
  if (best >= 0 && isReported(best))
    if (const float score = objectness * shares[static_cast<size_t>(best)]; score > threshold)
      addCandidate(index, place, best, score);
}

/// Leaves the best `topK` of those that compete, the first ones where scores are equal.
void RecordDetector::keepBestOfClasses() {
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::score);
  std::vector<int64_t> numbers(static_cast<size_t>(params.classes), 0);
  std::erase_if(candidates, [&](const Candidate &each) {
    return ++numbers[static_cast<size_t>(each.label)] > params.topK;
  });
}

/// Each box becomes a Gaussian once, which is where its candidate says in the meantime.
std::vector<Candidate> RecordDetector::bestOfRotated() {
  std::vector<Gaussian> gaussians;
  std::vector<int64_t> places;
  for (Candidate &each : candidates) {
    gaussians.push_back(gaussian(each));
    places.push_back(std::exchange(each.place, std::ssize(places)));
  }
  std::vector<Candidate> best =
      bestOf(std::move(candidates), params.keep, [&](const Candidate &a, const Candidate &b) {
        return overlap(gaussians[static_cast<size_t>(a.place)],
                       gaussians[static_cast<size_t>(b.place)]) > params.nmsThreshold;
      });
  for (Candidate &each : best)
    each.place = places[static_cast<size_t>(each.place)];
  return best;
}

std::vector<Candidate> RecordDetector::run() {
  shares.resize(static_cast<size_t>(params.classes));
  if (params.only) {
    reported.resize(static_cast<size_t>(params.classes));
    for (int64_t label : *params.only)
      if (label < params.classes)
        reported[static_cast<size_t>(label)] = true;
  }
  int64_t index = 0;
  for (size_t level = 0; level < levels.size(); ++level)
    for (int64_t last = index + levels[level].pixels() * levels[level].anchors; index < last;
         ++index)
      addCandidates(index, placeOf(index));
  if (params.topK >= 0)
    keepBestOfClasses();
  if (params.rotated)
    return bestOfRotated();
  return bestOf(std::move(candidates), params.keep, [&](const Box &a, const Box &b) {
    return overlap(a, b) > static_cast<float>(params.nmsThreshold);
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// From pixels of the input to those of the picture: (x - left) * perX.
struct Projection {
  double left = 0, top = 0, perX = 1, perY = 1;

  explicit Projection(const ObjectParams &params) {
    if (params.picture.empty())
      return;
    const auto inHeight = static_cast<double>(params.inputHeight);
    const auto inWidth = static_cast<double>(params.inputWidth);
    const auto height = static_cast<double>(params.picture[0]);
    const auto width = static_cast<double>(params.picture[1]);
    perX = width / inWidth;
    perY = height / inHeight;
    if (params.letterbox == Letterbox::None)
      return;
    const double factor = std::min(inHeight / height, inWidth / width);
    // The scaled picture has whole pixels, one at least, as it was prepared.
    const double scaledHeight = std::max(std::floor(height * factor), 1.0);
    const double scaledWidth = std::max(std::floor(width * factor), 1.0);
    perX = width / scaledWidth;
    perY = height / scaledHeight;
    if (params.letterbox == Letterbox::Center) {
      left = std::floor((inWidth - scaledWidth) / 2);
      top = std::floor((inHeight - scaledHeight) / 2);
    }
  }

  double x(double place) const { return (place - left) * perX; }
  double y(double place) const { return (place - top) * perY; }
};

/// Centre and size of `box`, in pixels of the picture where there is one.
std::array<float, 4> centreAndSize(const Edges &box, const ObjectParams &params) {
  std::array<double, 4> corners = {box.left, box.top, box.right, box.bottom};
  if (!params.picture.empty()) {
    const Projection toPicture(params);
    const auto height = static_cast<double>(params.picture[0]);
    const auto width = static_cast<double>(params.picture[1]);
    corners = {toPicture.x(corners[0]), toPicture.y(corners[1]), toPicture.x(corners[2]),
               toPicture.y(corners[3])};
    if (!params.rotated)
      corners = {std::clamp(corners[0], 0.0, width), std::clamp(corners[1], 0.0, height),
                 std::clamp(corners[2], 0.0, width), std::clamp(corners[3], 0.0, height)};
  }
  return {static_cast<float>((corners[0] + corners[2]) / 2),
          static_cast<float>((corners[1] + corners[3]) / 2),
          static_cast<float>(corners[2] - corners[0]), static_cast<float>(corners[3] - corners[1])};
}

void RecordDetector::copyExtras(int64_t index, std::span<float> extras) {
  const Place place = placeOf(index);
  read(place);
  const int64_t first = params.fields() - params.extra;
  for (int64_t field = 0; field < params.extra; ++field)
    extras[static_cast<size_t>(field)] = record[first + field];
  if (params.rotated)
    extras[0] = static_cast<float>(angle());
  if (params.keyPoints == 0)
    return;
  const Projection toPicture(params);
  const ObjectLevel &level = levels[place.level];
  const int64_t perPoint = params.extra / params.keyPoints;
  for (int64_t point = 0; point < params.keyPoints; ++point) {
    float *numbers = extras.data() + point * perPoint;
    double x = numbers[0];
    double y = numbers[1];
    if (params.decodesExtras()) {
      x = (2 * x + static_cast<double>(place.pixel % level.width)) *
          static_cast<double>(params.inputWidth) / static_cast<double>(level.width);
      y = (2 * y + static_cast<double>(place.pixel / level.width)) *
          static_cast<double>(params.inputHeight) / static_cast<double>(level.height);
    }
    numbers[0] = static_cast<float>(toPicture.x(x));
    numbers[1] = static_cast<float>(toPicture.y(y));
    if (params.decodesExtras())
      std::transform(numbers + 2, numbers + perPoint, numbers + 2, sigmoid);
  }
}

/// The numbers from `first` to `last`, without the latter, that are in 0 ... `extent` - 1.
std::pair<int64_t, int64_t> wholeNumbers(double first, double last, int64_t extent) {
  const auto most = static_cast<double>(extent);
  return {static_cast<int64_t>(std::ceil(std::clamp(first, 0.0, most))),
          static_cast<int64_t>(std::ceil(std::clamp(last, 0.0, most)))};
}

void RecordDetector::drawMask(int64_t index, const Tensor &planes, std::span<float> mask) {
  const Edges edges = box(index);
  const int64_t height = planes.shape()[2];
  const int64_t width = planes.shape()[3];
  std::pair<int64_t, int64_t> rows = {0, height};
  std::pair<int64_t, int64_t> columns = {0, width};
  if (params.mask == ObjectMask::Box) {
    const double perX = static_cast<double>(width) / static_cast<double>(params.inputWidth);
    const double perY = static_cast<double>(height) / static_cast<double>(params.inputHeight);
    rows = wholeNumbers(edges.top * perY, edges.bottom * perY, height);
    columns = wholeNumbers(edges.left * perX, edges.right * perX, width);
  }
  const float *first = planes.data<float>().data() + item * params.extra * height * width;
  for (int64_t y = rows.first; y < rows.second; ++y) {
    float *sums = mask.data() + y * width;
    for (int64_t plane = 0; plane < params.extra; ++plane) {
      const float factor = record[params.fields() - params.extra + plane];
      const float *from = first + (plane * height + y) * width;
      for (int64_t x = columns.first; x < columns.second; ++x)
        sums[x] += factor * from[x];
    }
    std::transform(sums + columns.first, sums + std::max(columns.first, columns.second),
                   sums + columns.first, sigmoid);
  }
}

} // namespace

void detectObjects(std::span<const Tensor> inputs, const ObjectParams &params,
                   std::span<const ObjectLevel> levels, int64_t items, std::span<float> rows,
                   std::span<float> extras) {
  constexpr int64_t kColumns = 7;
  const bool hasMasks = params.mask != ObjectMask::None;
  const std::span<const Tensor> records = inputs.first(inputs.size() - (hasMasks ? 1 : 0));
  const size_t perRow = extras.size() / static_cast<size_t>(items * params.keep);
  std::ranges::fill(rows, 0.0F);
  std::ranges::fill(extras, 0.0F);
  int64_t next = 0;
  for (int64_t item = 0; item < items; ++item) {
    RecordDetector detector(records, params, levels, item);
    for (const Candidate &each : detector.run()) {
      const std::array<float, 4> box =
          centreAndSize(detector.box(each.place / params.classes), params);
      std::ranges::copy(std::array{static_cast<float>(item),
                                   static_cast<float>(each.place % params.classes), each.score,
                                   box[0], box[1], box[2], box[3]},
                        rows.begin() + next * kColumns);
      const std::span<float> more = extras.subspan(static_cast<size_t>(next) * perRow, perRow);
      if (hasMasks && !more.empty())
        detector.drawMask(each.place / params.classes, inputs.back(), more);
      else if (!more.empty())
        detector.copyExtras(each.place / params.classes, more);
      ++next;
    }
  }
}

} // namespace tpuc::kernels
