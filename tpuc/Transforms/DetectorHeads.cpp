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
  /// `other`: what is no map of levels.
  std::vector<Level> rawLevels(function_ref<int64_t(const HeadMap &)> fieldsOf,
                               ArrayRef<const HeadOutput *> other = {}) const;
  const HeadOutput *finestMap() const;
  const HeadOutput *joinedExtras() const;
  int64_t numExtras(int64_t fields, const HeadOutput *protos) const;
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

std::vector<Level> HeadFinder::rawLevels(function_ref<int64_t(const HeadMap &)> fieldsOf,
                                         ArrayRef<const HeadOutput *> other) const {
  std::vector<Level> levels;
  for (const HeadOutput &output : outputs) {
    if (llvm::is_contained(other, &output))
      continue;
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
  std::vector<Level> apart(levels.size());
  for (auto [level, separate] : llvm::zip_equal(levels, apart))
    for (const HeadMap &part : level.parts)
      separate.parts.append(partsOf(part));
  const auto channels = [](const Level &level) {
    return llvm::map_to_vector(level.parts, [](const HeadMap &part) { return part.channels; });
  };
  if (llvm::all_of(apart, [&](const Level &level) {
        return isGood(level.parts) && channels(level) == channels(apart.front());
      }))
    levels = std::move(apart);
}

/// Moves the first part of `channels` among those from `place` on there. False without one.
bool bring(Level &level, size_t place, int64_t channels) {
  auto *from = level.parts.begin() + place;
  auto *found = std::find_if(from, level.parts.end(),
                             [&](const HeadMap &part) { return part.channels == channels; });
  if (found == level.parts.end())
    return false;
  std::rotate(from, found, found + 1);
  return true;
}

/// Has the extra numbers be points of three, or else two. False where they are no such points.
bool setPoints(DetectorHeads &heads) {
  const int64_t each = heads.extra % 3 == 0 ? 3 : 2;
  heads.keyPoints = heads.extra / each;
  return heads.keyPoints > 0 && heads.extra % each == 0;
}

/// The output with the largest map, what masks are sums of; null where another one is as large.
const HeadOutput *HeadFinder::finestMap() const {
  const HeadOutput *finest = nullptr;
  int64_t most = 0;
  for (const HeadOutput &output : outputs) {
    int64_t pixels = 0;
    for (const HeadMap &map : output.maps())
      pixels = std::max(pixels, map.pixels());
    if (pixels >= most)
      finest = pixels == most ? nullptr : &output;
    most = std::max(most, pixels);
  }
  return finest && finest->maps().front().map == finest->value() && isRaw(*finest) ? finest
                                                                                   : nullptr;
}

/// The one output that was computed from maps: angles or points of all levels. Else null.
const HeadOutput *HeadFinder::joinedExtras() const {
  const HeadOutput *found = nullptr;
  for (const HeadOutput &output : outputs) {
    if (isRaw(output))
      continue;
    if (found || output.dims().size() != 3 || output.dims()[0] != items() ||
        !output.value().getDefiningOp())
      return nullptr;
    found = &output;
  }
  return found;
}

/// How many of the `fields` behind the box are neither the box nor scores.
int64_t HeadFinder::numExtras(int64_t fields, const HeadOutput *protos) const {
  switch (version.task) {
  case Task::Boxes:
    return 0;
  case Task::Masks:
    return protos->dims()[1];
  case Task::Points:
    return fields - options.numClasses.value_or(1);
  case Task::Angle:
    return 1;
  }
  llvm_unreachable("no task");
}

HeadFinder::Found HeadFinder::rawAnchorFree() {
  const bool hasMasks = version.task == Task::Masks;
  const HeadOutput *protos = hasMasks ? finestMap() : nullptr;
  const HeadOutput *joined = version.task == Task::Boxes || hasMasks ? nullptr : joinedExtras();
  if (hasMasks && !protos)
    return std::optional<DetectorHeads>();
  std::vector<Level> levels =
      rawLevels([](const HeadMap &map) { return map.channels; }, {protos, joined});
  if (levels.empty())
    return std::optional<DetectorHeads>();
  const bool hasExtras = version.task != Task::Boxes && !joined;
  const size_t most = hasExtras ? 3 : 2;
  separateParts(levels, [&](ArrayRef<HeadMap> parts) { return parts.size() == most; });
  const size_t parts = levels.front().parts.size();
  if (parts > most)
    return std::optional<DetectorHeads>();
  const auto hasDistributions = [&](const HeadMap &map) {
    return parts < most ? map.channels > 64 : map.channels == 64;
  };
  const int64_t bins =
      options.bins.value_or(llvm::any_of(levels.front().parts, hasDistributions) ? 16 : 1);
  const int64_t fields = levels.front().channels() - 4 * bins;
  const int64_t extra = hasExtras ? numExtras(fields, protos) : 0;
  const int64_t numClasses = fields - extra;
  if (numClasses < 1 || (hasExtras && extra < 1))
    return std::optional<DetectorHeads>();
  const SmallVector<int64_t> wanted = parts == most
                                          ? SmallVector<int64_t>{4 * bins, numClasses, extra}
                                          : SmallVector<int64_t>{4 * bins + numClasses, extra};
  for (Level &level : levels) {
    if (level.channels() != levels.front().channels())
      return std::optional<DetectorHeads>();
    if (parts == 1)
      continue;
    // Parts of equal channels are in their order.
    for (size_t place = 0; place < parts; ++place)
      if (!bring(level, place, wanted[place]))
        return std::optional<DetectorHeads>();
  }
  DetectorHeads heads;
  takeLevels(heads, levels);
  heads.bins = bins;
  heads.numClasses = numClasses;
  heads.scoreCode = parts == most && isActivated(levels.front().parts[1].map) ? "NONE" : "SIGMOID";
  heads.nmsThreshold = version.isEndToEnd ? 1 : 0.45;
  heads.extra = extra;
  heads.rotated = version.task == Task::Angle;
  if (protos)
    heads.protos = protos->value();
  if (joined) {
    int64_t places = 0;
    for (const Level &level : levels)
      places += level.height() * level.width();
    heads.extra = joined->dims()[1];
    heads.joinedExtras = joined->value();
    heads.extrasDecoded = true;
    if (joined->dims()[2] != places || (heads.rotated && heads.extra != 1))
      return std::optional<DetectorHeads>();
  }
  if (version.task == Task::Points && !setPoints(heads))
    return std::optional<DetectorHeads>();
  describe(heads, joined ? "raw maps, and decoded extras," : "raw maps");
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
  for (Level &level : levels)
    if (level.parts.size() > 1 &&
        !(bring(level, 0, 4) && (level.parts.size() == 2 || bring(level, 1, 1))))
      return std::optional<DetectorHeads>();
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
    heads.rotated = version.task == Task::Angle;
    if (version.task != Task::Masks)
      heads.extra = numExtras(fields, nullptr);
    heads.numClasses = fields - heads.extra;
    if (heads.numClasses < 1 || (version.task != Task::Boxes && heads.extra < 1) ||
        (version.task == Task::Points && !setPoints(heads)))
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
  static constexpr std::pair<Task, std::string_view> kMore[] = {
      {Task::Boxes, ""},
      {Task::Masks, ", each with coefficients, and a map [N, coefficients, H, W] of a finer grid"},
      {Task::Points, ", each with 3 or 2 numbers for each point"},
      {Task::Angle, ", each with an angle"}};
  const auto *more =
      llvm::find_if(kMore, [&](const auto &each) { return each.first == version.task; });
  return makeError(kWhere,
                   fmt::format("no heads of {} at the outputs {}", std::string_view(version.name),
                               outputsText()),
                   fmt::format("{}{}, for an input of {}x{}", expected->second, more->second,
                               inputHeight, inputWidth));
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
