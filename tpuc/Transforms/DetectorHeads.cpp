//===- DetectorHeads.cpp - The heads of detectors in a network ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/DetectorHeads.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/DetectorAnchors.h"
#include "tpuc/Transforms/Matching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static constexpr const char *kWhere = "--add_postprocess";

bool tpuc::isActivated(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && (isReshape(op) || isa<PermuteOp>(op)))
    op = op->getOperand(0).getDefiningOp();
  return op && isa<SigmoidOp, SoftmaxOp>(op);
}

namespace {

enum class Family : uint8_t { Anchors, AnchorFree, Exponential, Priors };
/// What a record has behind its scores.
enum class Task : uint8_t { Boxes, Masks, Points, Angle };

struct Version {
  StringRef name;
  Family family;
  StringRef boxCode;
  Task task = Task::Boxes;
  /// Decoded records have an objectness.
  bool objectness = false;
  /// The network has one box for each object.
  bool isEndToEnd = false;
};

constexpr Version kVersions[] = {
    {"ssd", Family::Priors, "PRIOR"},
    {"yolov3", Family::Anchors, "ANCHOR_EXP", Task::Boxes, true},
    {"yolov3_tiny", Family::Anchors, "ANCHOR_EXP", Task::Boxes, true},
    {"yolov4", Family::Anchors, "ANCHOR_EXP", Task::Boxes, true},
    {"yolov5", Family::Anchors, "ANCHOR_SQUARE", Task::Boxes, true},
    {"yolov6", Family::AnchorFree, "DISTANCES", Task::Boxes, true},
    {"yolov7", Family::Anchors, "ANCHOR_SQUARE", Task::Boxes, true},
    {"yolov8", Family::AnchorFree, "DISTANCES"},
    {"yolov8_seg", Family::AnchorFree, "DISTANCES", Task::Masks},
    {"yolov8_pose", Family::AnchorFree, "DISTANCES", Task::Points},
    {"yolov8_obb", Family::AnchorFree, "DISTANCES", Task::Angle},
    {"yolov9", Family::AnchorFree, "DISTANCES"},
    {"yolov10", Family::AnchorFree, "DISTANCES", Task::Boxes, false, true},
    {"yolov11", Family::AnchorFree, "DISTANCES"},
    {"yolov11_seg", Family::AnchorFree, "DISTANCES", Task::Masks},
    {"yolov11_pose", Family::AnchorFree, "DISTANCES", Task::Points},
    {"yolov11_obb", Family::AnchorFree, "DISTANCES", Task::Angle},
    {"yolox", Family::Exponential, "GRID_EXP", Task::Boxes, true},
};

/// The tensors of one level, each [N, C, height, width].
struct Level {
  SmallVector<HeadMap> parts;

  int64_t height() const { return parts.front().height; }
  int64_t width() const { return parts.front().width; }
  int64_t channels() const {
    int64_t sum = 0;
    for (const HeadMap &part : parts)
      sum += part.channels;
    return sum;
  }
};

class HeadFinder {
public:
  HeadFinder(const Version &version, const PostprocessOptions &options,
             ArrayRef<HeadOutput> outputs, int64_t inputHeight, int64_t inputWidth)
      : version(version), options(options), outputs(outputs), inputHeight(inputHeight),
        inputWidth(inputWidth) {}

  Expected<DetectorHeads> run();

private:
  using Found = Expected<std::optional<DetectorHeads>>;

  // Each gives nothing where the outputs are not of that form.
  Found rawAnchors();
  Found rawAnchorFree();
  Found rawExponential();
  Found decodedRows();
  Found decodedPairs();
  Found decodedPairsOfGrids();
  Found decodedWithExtras();
  Found chosenBoxes();
  Found priors();

  bool isGrid(const HeadMap &map) const {
    return inputHeight % map.height == 0 && inputWidth % map.width == 0 &&
           inputHeight / map.height == inputWidth / map.width && map.items == items();
  }
  /// Whether an output has the elements of maps, of which the boxes are not computed yet.
  bool isRaw(const HeadOutput &output) const {
    return !output.maps().empty() &&
           llvm::all_of(output.maps(), [&](const HeadMap &map) { return isGrid(map); });
  }
  int64_t items() const { return outputs.front().dims().empty() ? 0 : outputs.front().dims()[0]; }
  /// The levels whose maps all outputs are, the largest first; those of one grid are its parts.
  /// `fieldsOf`: how many fields the records of a map have. Empty where they are no such maps.
  std::vector<Level> rawLevels(function_ref<int64_t(const HeadMap &)> fieldsOf) const;
  /// How many pixels the usual grids have together, of as many anchors; none other than `wanted`.
  bool isUsualNumber(int64_t wanted, int64_t anchors) const;
  void describe(DetectorHeads &heads, const std::string &form) const;
  void takeLevels(DetectorHeads &heads, const std::vector<Level> &levels) const;
  std::string outputsText() const;
  int64_t anchorsPerPixel() const {
    return options.anchors.empty() ? 3 : std::ssize(options.anchors.front()) / 2;
  }

  const Version &version;
  const PostprocessOptions &options;
  ArrayRef<HeadOutput> outputs;
  int64_t inputHeight;
  int64_t inputWidth;
};

std::string nameOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result ? tensorNames(result.getOwner())[result.getResultNumber()] : "an input";
}

std::string HeadFinder::outputsText() const {
  std::vector<std::string> texts;
  for (const HeadOutput &output : outputs)
    texts.push_back(fmt::format("'{}' {}", nameOf(output.value()), dimsText(output.dims())));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void HeadFinder::describe(DetectorHeads &heads, const std::string &form) const {
  std::vector<std::string> names;
  for (const HeadOutput &output : outputs)
    names.push_back("'" + nameOf(output.value()) + "'");
  std::string grids;
  for (size_t index = 0; index < heads.grids.size(); index += 2)
    grids += fmt::format("{}{}x{}", index ? ", " : " of grids ", heads.grids[index],
                         heads.grids[index + 1]);
  heads.what = fmt::format("{} heads: {}{} at {}, {} classes", std::string_view(version.name), form,
                           grids, fmt::join(names, ", "), heads.numClasses);
}

bool HeadFinder::isUsualNumber(int64_t wanted, int64_t anchors) const {
  static constexpr int64_t kStrides[][4] = {
      {8, 16, 32, 0}, {16, 32, 0, 0}, {8, 16, 32, 64}, {4, 8, 16, 32}};
  return llvm::any_of(kStrides, [&](const auto &strides) {
    int64_t places = 0;
    for (int64_t stride : strides)
      places += stride ? (inputHeight / stride) * (inputWidth / stride) * anchors : 0;
    return places == wanted;
  });
}

std::vector<Level> HeadFinder::rawLevels(function_ref<int64_t(const HeadMap &)> fieldsOf) const {
  std::vector<Level> levels;
  for (const HeadOutput &output : outputs) {
    if (output.maps().empty())
      return {};
    const int64_t fields = fieldsOf(output.maps().front());
    if (fields < 1 || !output.order(fields))
      return {};
    for (const HeadMap &map : output.maps()) {
      if (!isGrid(map) || fieldsOf(map) < 1)
        return {};
      auto level = llvm::find_if(levels, [&](const Level &each) {
        return each.height() == map.height && each.width() == map.width;
      });
      (level == levels.end() ? levels.emplace_back() : *level).parts.push_back(map);
    }
  }
  llvm::stable_sort(levels, [](const Level &a, const Level &b) { return a.height() > b.height(); });
  if (levels.size() < 2 || llvm::any_of(levels, [&](const Level &level) {
        return level.parts.size() != levels.front().parts.size();
      }))
    return {};
  return levels;
}

void HeadFinder::takeLevels(DetectorHeads &heads, const std::vector<Level> &levels) const {
  heads.boxCode = version.boxCode;
  for (const Level &level : levels) {
    heads.grids.insert(heads.grids.end(), {level.height(), level.width()});
    for (const HeadMap &part : level.parts)
      heads.inputs.push_back(part.map);
  }
  if (levels.front().parts.size() > 1)
    for (const HeadMap &part : levels.front().parts)
      heads.partFields.push_back(part.channels);
}

//===----------------------------------------------------------------------===//
// Raw maps
//===----------------------------------------------------------------------===//

HeadFinder::Found HeadFinder::rawAnchors() {
  const int64_t anchors = anchorsPerPixel();
  const std::vector<Level> levels = rawLevels([&](const HeadMap &map) {
    return map.channels % anchors == 0 && map.channels / anchors > 5 ? map.channels / anchors : 0;
  });
  if (levels.empty() || levels.front().parts.size() != 1 ||
      llvm::any_of(levels, [&](const Level &level) {
        return level.channels() != levels.front().channels();
      }))
    return std::optional<DetectorHeads>();
  DetectorHeads heads;
  takeLevels(heads, levels);
  heads.numClasses = levels.front().channels() / anchors - 5;
  heads.objectness = true;
  heads.scoreCode = "SIGMOID";
  heads.anchorCounts.assign(levels.size(), anchors);
  Expected<std::vector<double>> known =
      anchorsOf(version.name, options, std::vector<int64_t>(levels.size(), anchors));
  if (!known)
    return propagate(known);
  heads.anchors = std::move(*known);
  heads.scaleXy =
      options.scaleXy.empty() ? usualScaleXy(version.name, levels.size()) : options.scaleXy;
  if (heads.boxCode != "ANCHOR_EXP")
    heads.scaleXy.clear();
  else if (!heads.scaleXy.empty() && heads.scaleXy.size() != levels.size())
    return makeError("--postprocess_options",
                     fmt::format("scale_xy has {} numbers", heads.scaleXy.size()),
                     fmt::format("one for each of {} levels", levels.size()));
  if (llvm::all_of(heads.inputs, isActivated)) {
    if (heads.boxCode != "ANCHOR_SQUARE")
      return std::optional<DetectorHeads>();
    heads.scoreCode = "NONE";
    heads.boxesActivated = true;
  }
  describe(heads, "raw maps");
  return std::optional(std::move(heads));
}

/// The operands of the concatenation of channels that makes `map`; `map` itself without one.
SmallVector<HeadMap> partsOf(const HeadMap &map) {
  auto concat = map.map.getDefiningOp<ConcatOp>();
  if (!concat || !isPlain(concat) || concat.getAxis() != 1)
    return {map};
  SmallVector<HeadMap> parts;
  for (Value operand : concat.getInputs()) {
    const std::optional<HeadMap> part = asMap(operand);
    if (!part)
      return {map};
    parts.push_back(*part);
  }
  return parts;
}

/// Has the tensors that are joined stand by themselves, where all levels have the same ones: nobody
/// needs to join them then. `isGood`: what the channels of these tensors must be.
void separateParts(std::vector<Level> &levels, function_ref<bool(ArrayRef<HeadMap> parts)> isGood) {
  std::vector<Level> apart;
  for (const Level &level : levels)
    apart.push_back({level.parts.size() == 1 ? partsOf(level.parts.front()) : level.parts});
  const auto channels = [](const Level &level) {
    return llvm::map_to_vector(level.parts, [](const HeadMap &part) { return part.channels; });
  };
  if (llvm::all_of(apart, [&](const Level &level) {
        return isGood(level.parts) && channels(level) == channels(apart.front());
      }))
    levels = std::move(apart);
}

HeadFinder::Found HeadFinder::rawAnchorFree() {
  if (version.task != Task::Boxes)
    return std::optional<DetectorHeads>();
  std::vector<Level> levels = rawLevels([](const HeadMap &map) { return map.channels; });
  if (levels.empty())
    return std::optional<DetectorHeads>();
  separateParts(levels, [](ArrayRef<HeadMap> parts) { return parts.size() == 2; });
  const size_t parts = levels.front().parts.size();
  const auto hasDistributions = [&](const HeadMap &map) {
    return parts == 1 ? map.channels > 64 : map.channels == 64;
  };
  const int64_t bins =
      options.bins.value_or(llvm::any_of(levels.front().parts, hasDistributions) ? 16 : 1);
  if (parts > 2)
    return std::optional<DetectorHeads>();
  if (parts == 2)
    for (Level &level : levels)
      if (level.parts[0].channels != 4 * bins)
        std::swap(level.parts[0], level.parts[1]);
  const int64_t numClasses = levels.front().channels() - 4 * bins;
  if (numClasses < 1 || llvm::any_of(
                            levels,
                            [&](const Level &level) {
                              return level.channels() != levels.front().channels() ||
                                     (parts == 2 && level.parts[0].channels != 4 * bins);
                            }))
    return std::optional<DetectorHeads>();
  DetectorHeads heads;
  takeLevels(heads, levels);
  heads.bins = bins;
  heads.numClasses = numClasses;
  heads.scoreCode = parts == 2 && isActivated(levels.front().parts[1].map) ? "NONE" : "SIGMOID";
  heads.nmsThreshold = version.isEndToEnd ? 1 : 0.45;
  describe(heads, "raw maps");
  return std::optional(std::move(heads));
}

HeadFinder::Found HeadFinder::rawExponential() {
  std::vector<Level> levels = rawLevels([](const HeadMap &map) { return map.channels; });
  if (levels.empty())
    return std::optional<DetectorHeads>();
  // The box by itself, then the objectness and the classes, together or not.
  separateParts(levels, [](ArrayRef<HeadMap> parts) {
    return parts.size() > 1 && parts.size() <= 3 && parts.front().channels == 4;
  });
  for (Level &level : levels) {
    const auto bring = [&](size_t place, int64_t channels) {
      auto *from = level.parts.begin() + place;
      auto *found = std::find_if(from, level.parts.end(),
                                 [&](const HeadMap &part) { return part.channels == channels; });
      if (found == level.parts.end())
        return false;
      std::rotate(from, found, found + 1);
      return true;
    };
    if (level.parts.size() > 1 && !(bring(0, 4) && (level.parts.size() == 2 || bring(1, 1))))
      return std::optional<DetectorHeads>();
  }
  const size_t parts = levels.front().parts.size();
  const int64_t numClasses = levels.front().channels() - 5;
  if (parts > 3 || numClasses < 1 ||
      llvm::any_of(levels, [&](const Level &level) { return level.channels() != numClasses + 5; }))
    return std::optional<DetectorHeads>();
  DetectorHeads heads;
  takeLevels(heads, levels);
  heads.numClasses = numClasses;
  heads.objectness = true;
  heads.scoreCode = parts > 1 && isActivated(levels.front().parts.back().map) ? "NONE" : "SIGMOID";
  describe(heads, "raw maps");
  return std::optional(std::move(heads));
}

//===----------------------------------------------------------------------===//
// Decoded boxes
//===----------------------------------------------------------------------===//

/// Rows of a box, an objectness and classes.
HeadFinder::Found HeadFinder::decodedRows() {
  const int64_t anchors = version.family == Family::Anchors ? anchorsPerPixel() : 1;
  for (const HeadOutput &output : outputs) {
    const Dims &dims = output.dims();
    if (isRaw(output) || dims.size() != 3 || dims[2] < 6 || !isUsualNumber(dims[1], anchors))
      continue;
    DetectorHeads heads;
    heads.inputs = {output.value()};
    heads.layout = "ANCHORS";
    heads.objectness = true;
    heads.numClasses = dims[2] - 5;
    describe(heads, fmt::format("{} decoded boxes", dims[1]));
    return std::optional(std::move(heads));
  }
  return std::optional<DetectorHeads>();
}

/// Corners [N, P, 1, 4] as shares of the picture, and scores [N, P, classes].
HeadFinder::Found HeadFinder::decodedPairs() {
  if (outputs.size() != 2)
    return std::optional<DetectorHeads>();
  for (unsigned first : {0U, 1U}) {
    const Dims &boxes = outputs[first].dims();
    const Dims &scores = outputs[1 - first].dims();
    if (boxes.size() < 3 || scores.size() != 3 || boxes.back() != 4 || boxes[1] != scores[1] ||
        (boxes.size() == 4 && boxes[2] != 1) || boxes.size() > 4)
      continue;
    DetectorHeads heads;
    heads.inputs = {outputs[first].value(), outputs[1 - first].value()};
    heads.partFields = {4, scores[2]};
    heads.layout = "ANCHORS";
    heads.boxCode = "CORNERS";
    heads.normalized = true;
    heads.numClasses = scores[2];
    describe(heads, fmt::format("{} decoded boxes", boxes[1]));
    return std::optional(std::move(heads));
  }
  return std::optional<DetectorHeads>();
}

HeadFinder::Found HeadFinder::decodedPairsOfGrids() {
  Found pairs = decodedPairs();
  if (pairs && *pairs && !isUsualNumber((*dimsOf((**pairs).inputs[0]))[1], anchorsPerPixel()))
    return std::optional<DetectorHeads>();
  return pairs;
}

/// [N, fields, P] or [N, P, fields] of a box, classes, and what the task has besides.
HeadFinder::Found HeadFinder::decodedWithExtras() {
  for (const HeadOutput &output : outputs) {
    const Dims &dims = output.dims();
    if (isRaw(output) || dims.size() != 3)
      continue;
    const bool isPlanes = isUsualNumber(dims[2], 1);
    if (!isPlanes && !isUsualNumber(dims[1], 1))
      continue;
    DetectorHeads heads;
    heads.inputs = {output.value()};
    heads.layout = isPlanes ? "PLANES" : "ANCHORS";
    heads.objectness = version.objectness;
    heads.nmsThreshold = version.isEndToEnd ? 1 : 0.45;
    heads.boxCode = version.isEndToEnd ? "CORNERS" : "CENTER";
    const int64_t fields = dims[isPlanes ? 1 : 2] - 4 - (version.objectness ? 1 : 0);
    if (version.task == Task::Masks)
      for (const HeadOutput &other : outputs)
        if (const std::optional<HeadMap> map = asMap(other.value());
            map && map->items == dims[0] && map->channels < fields &&
            inputHeight % map->height == 0 && inputWidth % map->width == 0) {
          heads.protos = other.value();
          heads.extra = map->channels;
        }
    if (version.task == Task::Points) {
      heads.extra = fields - options.numClasses.value_or(1);
      heads.keyPoints = heads.extra / (heads.extra % 3 == 0 ? 3 : 2);
    }
    heads.rotated = version.task == Task::Angle;
    if (heads.rotated)
      heads.extra = 1;
    heads.numClasses = fields - heads.extra;
    if (heads.numClasses < 1 || (version.task != Task::Boxes && heads.extra < 1) ||
        (heads.keyPoints > 0 && heads.extra % heads.keyPoints != 0))
      continue;
    describe(heads, fmt::format("{} decoded boxes", dims[isPlanes ? 2 : 1]));
    return std::optional(std::move(heads));
  }
  return std::optional<DetectorHeads>();
}

/// [N, P, 6]: corners, score, class.
HeadFinder::Found HeadFinder::chosenBoxes() {
  for (const HeadOutput &output : outputs) {
    const Dims &dims = output.dims();
    if (!version.isEndToEnd || isRaw(output) || dims.size() != 3 || dims[2] != 6)
      continue;
    DetectorHeads heads;
    heads.inputs = {output.value()};
    heads.layout = "ANCHORS";
    heads.boxCode = "CORNERS";
    heads.labelled = true;
    heads.nmsThreshold = 1;
    constexpr int64_t kMostClasses = 65536;
    heads.numClasses = options.numClasses.value_or(kMostClasses);
    describe(heads, fmt::format("the best {} decoded boxes", dims[1]));
    return std::optional(std::move(heads));
  }
  return std::optional<DetectorHeads>();
}

HeadFinder::Found HeadFinder::priors() {
  Found pairs = decodedPairs();
  if (!pairs || !*pairs)
    return pairs;
  DetectorHeads heads = std::move(**pairs);
  heads.multiLabel = true;
  heads.background = 0;
  if (!isActivated(heads.inputs[1]))
    heads.scoreCode = "SOFTMAX";
  const HeadOutput &boxes = outputs[outputs[0].value() == heads.inputs[0] ? 0 : 1];
  const std::optional<RecordOrder> order = boxes.order(4);
  if (!order || *order == RecordOrder::Planes)
    return std::optional(std::move(heads));
  heads.layout = *order == RecordOrder::Pixels ? "PIXELS" : "ANCHORS";
  heads.boxCode = "PRIOR";
  heads.normalized = false;
  for (const HeadMap &map : boxes.maps()) {
    heads.grids.insert(heads.grids.end(), {map.height, map.width});
    heads.anchorCounts.push_back(map.channels / 4);
  }
  Expected<std::vector<double>> anchors =
      options.anchors.empty() ? priorsOf(heads.anchorCounts, inputHeight, inputWidth)
                              : anchorsOf(version.name, options, heads.anchorCounts);
  if (!anchors)
    return propagate(anchors);
  heads.anchors = std::move(*anchors);
  heads.variances = {0.1, 0.1, 0.2, 0.2};
  describe(heads, "differences from priors");
  return std::optional(std::move(heads));
}

Expected<DetectorHeads> HeadFinder::run() {
  std::vector<Found (HeadFinder::*)()> forms;
  switch (version.family) {
  case Family::Anchors:
    forms = {&HeadFinder::rawAnchors, &HeadFinder::decodedPairsOfGrids, &HeadFinder::decodedRows};
    break;
  case Family::AnchorFree:
    forms = {&HeadFinder::rawAnchorFree, &HeadFinder::decodedWithExtras, &HeadFinder::chosenBoxes};
    break;
  case Family::Exponential:
    forms = {&HeadFinder::rawExponential, &HeadFinder::decodedRows};
    break;
  case Family::Priors:
    forms = {&HeadFinder::priors};
    break;
  }
  for (auto form : forms) {
    Found found = (this->*form)();
    if (!found)
      return propagate(found);
    if (!*found)
      continue;
    if (options.numClasses && *options.numClasses != (**found).numClasses)
      return makeError(
          "--postprocess_options", fmt::format("num_classes is {}", *options.numClasses),
          fmt::format("the {} classes of the {}", (**found).numClasses, (**found).what));
    return std::move(**found);
  }
  static constexpr std::pair<Family, std::string_view> kExpected[] = {
      {Family::Anchors, "maps [N, anchors * (5 + classes), H, W] of several strides, "
                        "rows [N, boxes, 5 + classes], or corners and scores of boxes"},
      {Family::AnchorFree, "maps [N, 4 * bins + classes, H, W] of several strides, or "
                           "[N, 4 + classes, boxes]"},
      {Family::Exponential,
       "maps [N, 5 + classes, H, W] of several strides, or rows [N, boxes, 5 + classes]"},
      {Family::Priors, "[N, boxes, 4] and [N, boxes, classes]"}};
  const auto *expected =
      llvm::find_if(kExpected, [&](const auto &each) { return each.first == version.family; });
  return makeError(
      kWhere,
      fmt::format("no heads of {} at the outputs {}", std::string_view(version.name),
                  outputsText()),
      fmt::format("{}, for an input of {}x{}", expected->second, inputHeight, inputWidth));
}

} // namespace

ArrayRef<StringRef> tpuc::detectorVersions() {
  static const std::vector<StringRef> kNames = [] {
    std::vector<StringRef> names;
    for (const Version &version : kVersions)
      names.push_back(version.name);
    return names;
  }();
  return kNames;
}

Expected<DetectorHeads> tpuc::findHeads(StringRef version, const PostprocessOptions &options,
                                        ArrayRef<HeadOutput> outputs, int64_t inputHeight,
                                        int64_t inputWidth) {
  const auto *found =
      llvm::find_if(kVersions, [&](const Version &each) { return each.name == version; });
  if (found == std::end(kVersions))
    return makeError(kWhere, "'" + version.str() + "'",
                     "one of " + llvm::join(detectorVersions(), ", "));
  return HeadFinder(*found, options, outputs, inputHeight, inputWidth).run();
}
