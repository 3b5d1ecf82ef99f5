//===- AddPostprocess.cpp - Boxes in place of the heads of detectors -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/DetectionOps.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Transforms/DetectorHeads.h"
#include "tpuc/Transforms/Matching.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <fmt/format.h>
#include <set>

namespace tpuc {
#define GEN_PASS_DEF_ADDPOSTPROCESS
#include "tpuc/Transforms/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// Height and width of the picture that the network takes.
Expected<std::pair<int64_t, int64_t>> pictureExtents(func::FuncOp main) {
  for (auto input : main.getOps<InputOp>()) {
    const std::optional<HeadMap> map = asMap(input.getOutput());
    if (!map)
      continue;
    const auto isChannels = [](int64_t extent) { return extent <= 4; };
    // [N, H, W, C] where the last dimension alone can be that of channels.
    if (!isChannels(map->channels) && isChannels(map->width))
      return std::pair(map->channels, map->height);
    return std::pair(map->height, map->width);
  }
  return makeError("--add_postprocess", "no input of the network is a picture",
                   "an input of four known dimensions");
}

class PostprocessBuilder : public OpBuilder {
public:
  PostprocessBuilder(func::FuncOp main, const DetectorHeads &heads,
                     const PostprocessOptions &options)
      : OpBuilder(main.front().getTerminator()), main(main), heads(heads), options(options) {
    main.walk([&](Operation *op) {
      for (const std::string &name : tensorNames(op))
        names.insert(name);
    });
  }

  /// Has each level have its own of the extra numbers that all levels have together.
  void spreadExtras();
  /// Computes shares and distances by ops of the chip, as far as whole tensors need them.
  void decode();
  /// What the network gives: boxes, and what they have besides.
  SmallVector<Value> detect(int64_t inputHeight, int64_t inputWidth);

private:
  /// A name that no tensor has yet.
  NameLoc named(const std::string &wanted) {
    std::string name = wanted;
    for (int number = 2; !names.insert(name).second; ++number)
      name = fmt::format("{}_{}", wanted, number);
    return NameLoc::get(getStringAttr(name));
  }
  RankedTensorType like(Value value, const Dims &dims) {
    return RankedTensorType::get(dims, elementTypeOf(value));
  }
  Value reshape(Value value, const Dims &dims, const std::string &name) {
    return create<ReshapeOp>(named(name), like(value, dims), value,
                             create<NoneOp>(getUnknownLoc(), getNoneType()), getI64ArrayAttr(dims),
                             BoolAttr());
  }
  Value sigmoid(Value value) {
    const std::string name = layerName(value.getDefiningOp()) + "_sigmoid";
    return create<SigmoidOp>(named(name), TypeRange(value.getType()), ValueRange(value));
  }
  Value meanOfBins(Value boxes);
  NamedAttrList attributes(int64_t inputHeight, int64_t inputWidth);
  func::FuncOp main;
  DetectorHeads heads;
  const PostprocessOptions &options;
  std::set<std::string> names;
};

/// [N, 4 * bins, H, W] as [N, 4, H * W]: the means of softmaxes, by a product with 0 ... bins - 1.
Value PostprocessBuilder::meanOfBins(Value boxes) {
  const HeadMap map = *asMap(boxes);
  const std::string name = layerName(boxes.getDefiningOp());
  Value bins = reshape(boxes, {map.items * 4, heads.bins, map.pixels()}, name + "_bins");
  Value shares =
      create<SoftmaxOp>(named(name + "_shares"), TypeRange(bins.getType()), ValueRange(bins),
                        ArrayRef{getNamedAttr("axis", getI64IntegerAttr(1))});
  Tensor numbers(DataType::F32, Shape{1, 1, heads.bins});
  for (int64_t bin = 0; bin < heads.bins; ++bin)
    numbers.mutableData<float>()[static_cast<size_t>(bin)] = static_cast<float>(bin);
  Value weights = WeightOp::create(*this, main->getParentOfType<ModuleOp>(), name + "_numbers",
                                   std::move(numbers))
                      .getOutput();
  Value none = create<NoneOp>(getUnknownLoc(), getNoneType());
  Value means = create<MatMulOp>(named(name + "_means"),
                                 TypeRange(like(boxes, {map.items * 4, 1, map.pixels()})),
                                 ValueRange{weights, shares, none});
  return reshape(means, {map.items, 4, map.pixels()}, name + "_distances");
}

void PostprocessBuilder::spreadExtras() {
  if (!heads.joinedExtras)
    return;
  if (heads.partFields.empty())
    heads.partFields = {4 * heads.bins + heads.numClasses};
  const size_t parts = heads.partFields.size();
  heads.partFields.push_back(heads.extra);
  const int64_t items = (*dimsOf(heads.joinedExtras))[0];
  const std::string name = layerName(heads.joinedExtras.getDefiningOp()) + "_level";
  SmallVector<Value> inputs;
  int64_t before = 0;
  for (size_t level = 0; level < heads.grids.size() / 2; ++level) {
    const int64_t places = heads.grids[2 * level] * heads.grids[2 * level + 1];
    inputs.append(heads.inputs.begin() + level * parts, heads.inputs.begin() + (level + 1) * parts);
    Value none = create<NoneOp>(getUnknownLoc(), getNoneType());
    inputs.push_back(create<SliceOp>(
        named(name), TypeRange(like(heads.joinedExtras, {items, heads.extra, places})),
        ValueRange{heads.joinedExtras, none, none, none, none},
        ArrayRef{getNamedAttr("offset", getI64ArrayAttr({0, 0, before})),
                 getNamedAttr("ends", getI64ArrayAttr({items, heads.extra, before + places}))}));
    before += places;
  }
  heads.inputs = std::move(inputs);
}

void PostprocessBuilder::decode() {
  const bool isWhole = heads.partFields.empty();
  const size_t parts = isWhole ? 1 : heads.partFields.size();
  // The parts that hold scores and nothing else.
  const int64_t firstScore = 4 * heads.bins;
  const int64_t behindScores = firstScore + (heads.objectness ? 1 : 0) + heads.numClasses;
  std::vector<bool> isScore(parts, isWhole);
  int64_t field = 0;
  int64_t numScores = 0;
  for (size_t part = 0; part < heads.partFields.size(); ++part) {
    const int64_t end = field + heads.partFields[part];
    isScore[part] = field >= firstScore && end <= behindScores;
    numScores += isScore[part] ? end - field : 0;
    field = end;
  }
  // Of a map that has all fields, a sigmoid of everything is right only for these boxes.
  const bool needsSigmoid =
      heads.scoreCode == "SIGMOID" &&
      (isWhole ? heads.boxCode == "ANCHOR_SQUARE" : numScores == behindScores - firstScore);
  const bool needsMeans = heads.bins > 1 && !isWhole && heads.partFields[0] == firstScore;
  for (size_t index = 0; index < heads.inputs.size(); ++index) {
    Value &input = heads.inputs[index];
    if (needsSigmoid && isScore[index % parts])
      input = sigmoid(input);
    if (needsMeans && index % parts == 0)
      input = meanOfBins(input);
  }
  if (needsSigmoid) {
    heads.scoreCode = "NONE";
    heads.boxesActivated = isWhole;
  }
  if (needsMeans) {
    heads.bins = 1;
    heads.partFields[0] = 4;
  }
  if (heads.scoreCode == "SOFTMAX" && !isWhole) {
    Value &scores = heads.inputs[1];
    scores = create<SoftmaxOp>(named(layerName(scores.getDefiningOp()) + "_softmax"),
                               TypeRange(scores.getType()), ValueRange(scores),
                               ArrayRef{getNamedAttr("axis", getI64IntegerAttr(-1))});
    heads.scoreCode = "NONE";
  }
}

NamedAttrList PostprocessBuilder::attributes(int64_t inputHeight, int64_t inputWidth) {
  NamedAttrList list;
  const auto integer = [&](StringRef name, int64_t value) {
    list.set(name, getI64IntegerAttr(value));
  };
  const auto flag = [&](StringRef name, bool value) {
    if (value)
      list.set(name, getBoolAttr(true));
  };
  const auto integers = [&](StringRef name, ArrayRef<int64_t> values) {
    if (!values.empty())
      list.set(name, getI64ArrayAttr(values));
  };
  const auto reals = [&](StringRef name, ArrayRef<double> values) {
    if (!values.empty())
      list.set(name, getF64ArrayAttr(values));
  };
  list.set("box_code", getStringAttr(heads.boxCode));
  list.set("score_code", getStringAttr(heads.scoreCode));
  list.set("layout", getStringAttr(heads.layout));
  integer("num_classes", heads.numClasses);
  integer("input_height", inputHeight);
  integer("input_width", inputWidth);
  integers("part_fields", heads.partFields);
  integers("grids", heads.grids);
  integers("anchor_counts", heads.anchorCounts);
  reals("anchors", heads.anchors);
  reals("variances", options.variances.empty() ? heads.variances : options.variances);
  reals("scale_xy", heads.scaleXy);
  integer("bins", heads.bins);
  integer("extra", heads.extra);
  integer("key_points", heads.keyPoints);
  flag("objectness", heads.objectness);
  flag("labelled", heads.labelled);
  flag("boxes_activated", heads.boxesActivated);
  flag("normalized", heads.normalized);
  flag("swap_xy", options.swapXy.value_or(false));
  integer("background", heads.background);
  constexpr double kUsualThreshold = 0.25;
  list.set("score_threshold", getF64FloatAttr(options.scoreThreshold.value_or(kUsualThreshold)));
  list.set("nms_threshold", getF64FloatAttr(options.nmsThreshold.value_or(heads.nmsThreshold)));
  integer("top_k", options.topK.value_or(-1));
  constexpr int64_t kUsualKeep = 200;
  integer("keep_topk", options.keep.value_or(kUsualKeep));
  flag("agnostic", options.agnostic.value_or(false));
  flag("multi_label", options.multiLabel.value_or(heads.multiLabel));
  flag("rotated", heads.rotated);
  flag("extras_decoded", heads.extrasDecoded);
  if (heads.protos)
    list.set("mask", getStringAttr(options.cropMasks.value_or(true) ? "BOX" : "WHOLE"));
  if (options.classes)
    list.set("classes", getI64ArrayAttr(*options.classes));
  integers("picture", options.picture);
  if (!options.letterbox.empty())
    list.set("letterbox", getStringAttr(StringRef(options.letterbox).upper()));
  return list;
}

SmallVector<Value> PostprocessBuilder::detect(int64_t inputHeight, int64_t inputWidth) {
  const int64_t items = (*dimsOf(heads.inputs.front()))[0];
  const NamedAttrList list = attributes(inputHeight, inputWidth);
  const int64_t rows = items * cast<IntegerAttr>(list.get("keep_topk")).getInt();
  Value first = heads.inputs.front();
  Type extras = getNoneType();
  if (heads.protos) {
    const HeadMap protos = *asMap(heads.protos);
    extras = like(first, {rows, protos.height, protos.width});
    heads.inputs.push_back(heads.protos);
  } else if (heads.extra > 0) {
    extras = like(first, {rows, heads.extra});
  }
  const SmallVector<Type> types = {like(first, {1, 1, rows, 7}), extras};
  const StringRef what = heads.protos ? "masks" : heads.keyPoints > 0 ? "key_points" : "angles";
  Location location = named("detections");
  if (heads.extra > 0)
    location = FusedLoc::get(getContext(), {location, named(what.str())});
  auto found = create<ObjectDetectionOp>(location, types, heads.inputs, list.getAttrs());
  SmallVector<Value> results = {found.getOutput()};
  if (heads.extra > 0)
    results.push_back(found.getExtras());
  return results;
}

/// What the options say of heads whose shapes leave it open.
Expected<void> apply(const PostprocessOptions &options, DetectorHeads &heads) {
  const bool isDecoded = heads.grids.empty();
  const auto refuses = [](const std::string &key, const std::string &why) {
    return makeError("--postprocess_options", key + " says nothing here: " + why);
  };
  if (!options.boxes.empty() && !isDecoded)
    return refuses("boxes", "the boxes are not decoded yet");
  if (options.normalized && !isDecoded)
    return refuses("normalized", "the boxes are not decoded yet");
  if (!options.anchors.empty() && heads.anchors.empty())
    return refuses("anchors", "the boxes have none");
  if (!options.scaleXy.empty() && heads.scaleXy.empty())
    return refuses("scale_xy", "the centres have no factor");
  if (!options.variances.empty() && heads.variances.empty())
    return refuses("variances", "the boxes have none");
  if (options.bins && (isDecoded || heads.boxCode != "DISTANCES"))
    return refuses("bins", isDecoded ? "the boxes are decoded" : "the boxes are no distances");
  if (options.cropMasks && !heads.protos)
    return refuses("crop_masks", "there are no masks");
  if (heads.labelled && !options.scores.empty())
    return refuses("scores", "the boxes have their class");
  if (heads.labelled && options.multiLabel)
    return refuses("multi_label", "the boxes have one class each");
  if (options.background.value_or(-1) >= heads.numClasses)
    return makeError("--postprocess_options", fmt::format("background is {}", *options.background),
                     fmt::format("a class below {}, or -1", heads.numClasses));
  const int64_t background = options.background.value_or(heads.background);
  if (options.classes)
    for (int64_t label : *options.classes)
      if (label >= heads.numClasses || label == background)
        return makeError(
            "--postprocess_options", fmt::format("classes has {}", label),
            fmt::format("classes below {}{}", heads.numClasses,
                        background < 0 ? "" : fmt::format(" but {}, the background", background)));
  if (!options.boxes.empty())
    heads.boxCode = options.boxes == "corners" ? "CORNERS" : "CENTER";
  heads.normalized = options.normalized.value_or(heads.normalized);
  heads.background = options.background.value_or(heads.background);
  if (!options.scores.empty())
    heads.scoreCode = options.scores == "none"      ? "NONE"
                      : options.scores == "sigmoid" ? "SIGMOID"
                                                    : "SOFTMAX";
  return {};
}

struct AddPostprocessPass : tpuc::impl::AddPostprocessBase<AddPostprocessPass> {
  using Base::Base;

  void runOnOperation() override {
    Expected<PostprocessOptions> options = parsePostprocessOptions(std::string(settings));
    Expected<std::string> done = options ? addPostprocess(getOperation(), version, *options)
                                         : Expected<std::string>(propagate(options));
    if (!done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
      return;
    }
    getOperation().emitRemark(*done);
  }
};

} // namespace

Expected<std::string> tpuc::addPostprocess(ModuleOp module, const std::string &version,
                                           const PostprocessOptions &options) {
  Expected<func::FuncOp> main = mainFunction(module);
  if (!main)
    return propagate(main);
  Expected<std::pair<int64_t, int64_t>> extents = pictureExtents(*main);
  if (!extents)
    return propagate(extents);
  Operation *end = main->front().getTerminator();
  std::vector<HeadOutput> outputs;
  for (Value value : end->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getRank() == 0)
      return makeError("--add_postprocess", "an output of the network has no known shape",
                       "--input_shapes that fix it");
    if (llvm::is_contained(type.getShape(), 0))
      return makeError("--add_postprocess", "an output of the network holds nothing",
                       "outputs with elements");
    outputs.emplace_back(value);
  }
  if (outputs.empty())
    return makeError("--add_postprocess", "the network has no output", "the heads of a detector");
  Expected<DetectorHeads> heads =
      findHeads(version, options, outputs, extents->first, extents->second);
  if (!heads)
    return propagate(heads);
  if (Expected<void> applied = apply(options, *heads); !applied)
    return propagate(applied);
  PostprocessBuilder builder(*main, *heads, options);
  builder.spreadExtras();
  const bool isOnHost = options.decode == "host";
  if (!isOnHost)
    builder.decode();
  end->setOperands(builder.detect(extents->first, extents->second));
  updateFunctionType(*main);
  return heads->what;
}

std::vector<std::string> tpuc::detectorNames() {
  std::vector<std::string> names;
  for (StringRef version : detectorVersions())
    names.push_back(version.str());
  std::ranges::sort(names);
  return names;
}
