//===- DetectionOps.cpp - Boxes and regions of detectors ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/DetectionOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Support/OpShapes/Detection.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult DetectionOutputOp::verify() {
  double eta = getEta().convertToDouble();
  if (!(eta > 0 && eta <= 1))
    return emitOpError("eta is ") << eta << "; expected a number above 0, at most 1";
  double threshold = getNmsThreshold().convertToDouble();
  if (!(threshold >= 0))
    return emitOpError("nms_threshold is ") << threshold << "; expected 0 or more";
  return verifyChoice(*this, "code_type", getCodeType(), {"CORNER", "CENTER_SIZE", "CORNER_SIZE"});
}

LogicalResult DetectionOutputOp::inferShape() {
  std::optional<Dims> location = dimsOf(getLocation());
  std::optional<Dims> priors = dimsOf(getPriors());
  if (location && location->empty())
    return emitOpError("location has no dimensions; expected an item first");
  if (priors && (priors->size() != 3 || ((*priors)[1] != 2 && (*priors)[1] != kDynamic)))
    return emitOpError("priors has shape ") << dimsText(*priors) << "; expected [1, 2, boxes * 4]";
  Dims output = {1, 1, kDynamic, 7};
  const int64_t perItem = shapes::detectionRows(
      {static_cast<int64_t>(getNumClasses()), static_cast<int64_t>(getBackgroundLabelId()),
       static_cast<int64_t>(getTopK()), static_cast<int64_t>(getKeepTopK())},
      priors && (*priors)[2] != kDynamic ? (*priors)[2] / 4 : kDynamic);
  if (location && (*location)[0] != kDynamic && perItem != kDynamic)
    output[2] = Count((*location)[0]) * perItem;
  return setResult(*this, 0, elementTypeOf(getLocation()), output);
}

/// Decoding only: how many boxes are compared is not known before the run.
int64_t DetectionOutputOp::flops() { return staticElements(getLocation()) * 4; }

LogicalResult RoiPoolOp::inferShape() {
  std::optional<Dims> input = dimsOf(getInput());
  std::optional<Dims> rois = dimsOf(getRois());
  if (input && input->size() != 4)
    return emitOpError("input has shape ") << dimsText(*input) << "; expected 4 dimensions";
  if (rois && (rois->size() != 2 || ((*rois)[1] != 5 && (*rois)[1] != kDynamic)))
    return emitOpError("rois has shape ") << dimsText(*rois) << "; expected [?, 5]";
  int64_t channels = input ? (*input)[1] : kDynamic;
  const auto bins = static_cast<int64_t>(getOutputHeight() * getOutputWidth());
  if (getScoreMaps() && channels != kDynamic) {
    if (channels % bins != 0)
      return emitOpError("input has ")
             << channels << " channels; expected a multiple of its " << bins << " bins";
    channels /= bins;
  }
  return setResult(*this, 0, elementTypeOf(getInput()),
                   Dims{rois ? (*rois)[0] : kDynamic, channels,
                        static_cast<int64_t>(getOutputHeight()),
                        static_cast<int64_t>(getOutputWidth())});
}

/// Each bin reads its share of the region; regions of the whole input are the most.
int64_t RoiPoolOp::flops() { return staticElements(getOutput()); }

//===----------------------------------------------------------------------===//
// Boxes around anchors and in regions
//===----------------------------------------------------------------------===//

/// Of decoding all maps.
static int64_t flopsOfMaps(OperandRange maps) {
  Count all = 0;
  for (Value map : maps)
    all = all + staticElements(map) * 4;
  return all;
}

/// An error unless `value` of the op is a number that boxes can be compared with.
static LogicalResult verifyThreshold(Operation *op, StringRef name, const llvm::APFloat &value) {
  if (value.isNaN() || value.isNegative())
    return op->emitOpError(name) << " is " << value.convertToDouble() << "; expected 0 or more";
  return success();
}

/// An error unless `value` is known to have another rank than 4, or other channels than `channels`.
static LogicalResult verifyMap(Operation *op, StringRef name, const std::optional<Dims> &dims,
                               int64_t channels) {
  if (dims && (dims->size() != 4 || ((*dims)[1] != channels && (*dims)[1] != kDynamic)))
    return op->emitOpError(name) << " has shape " << dimsText(*dims) << "; expected [N, "
                                 << channels << ", H, W]";
  return success();
}

/// The rows of all items.
static int64_t rowsOf(int64_t items, int64_t perItem) {
  return items == kDynamic ? kDynamic : int64_t(Count(items) * perItem);
}

static bool allPositive(ArrayAttr numbers) {
  return llvm::all_of(numbers.getAsRange<FloatAttr>(), [](FloatAttr each) {
    return each.getValue().isFinite() && each.getValueAsDouble() > 0;
  });
}

LogicalResult ProposalOp::verify() {
  if (getRatios().empty() || getScales().empty() || !allPositive(getRatios()) ||
      !allPositive(getScales()))
    return emitOpError("ratios or scales are empty or not all above 0; expected positive numbers");
  if (isa<NoneType>(getImInfo().getType()) && (getImageHeight() == 0 || getImageWidth() == 0))
    return emitOpError("has no size of the picture; expected im_info, or image_height and "
                       "image_width");
  return verifyThreshold(*this, "nms_threshold", getNmsThreshold());
}

LogicalResult ProposalOp::inferShape() {
  std::optional<Dims> scores = dimsOf(getScores());
  const Count anchors =
      Count(static_cast<int64_t>(getRatios().size())) * static_cast<int64_t>(getScales().size());
  if (failed(verifyMap(*this, "scores", scores, anchors * 2)) ||
      failed(verifyMap(*this, "deltas", dimsOf(getDeltas()), anchors * 4)))
    return failure();
  const int64_t items = scores ? (*scores)[0] : kDynamic;
  const int64_t rows = rowsOf(items, static_cast<int64_t>(getPostNmsTopN()));
  if (failed(setResult(*this, 0, elementTypeOf(getScores()), Dims{rows, 5})))
    return failure();
  return setResult(*this, 1, elementTypeOf(getScores()), Dims{rows, 1});
}

/// Decoding only, as of the ops below: how many boxes are compared is not known before the run.
int64_t ProposalOp::flops() { return staticElements(getDeltas()) * 4; }

LogicalResult YoloDetectionOp::verify() {
  const size_t perMap = getInputs().empty() ? 0 : getAnchors().size() / getInputs().size();
  if (perMap == 0 || perMap % 2 != 0 || getAnchors().size() % getInputs().size() != 0 ||
      !allPositive(getAnchors()))
    return emitOpError("has ") << getAnchors().size() << " anchors for " << getInputs().size()
                               << " maps; expected positive pairs, as many for each map";
  return verifyThreshold(*this, "nms_threshold", getNmsThreshold());
}

LogicalResult YoloDetectionOp::inferShape() {
  const auto perMap = static_cast<int64_t>(getAnchors().size() / getInputs().size() / 2);
  int64_t items = kDynamic;
  for (Value input : getInputs()) {
    std::optional<Dims> dims = dimsOf(input);
    if (failed(verifyMap(*this, "a map", dims,
                         Count(static_cast<int64_t>(getClassNum()) + 5) * perMap)))
      return failure();
    if (dims && (*dims)[0] != kDynamic) {
      if (items != kDynamic && items != (*dims)[0])
        return emitOpError("has maps of ") << items << " and " << (*dims)[0] << " items";
      items = (*dims)[0];
    }
  }
  const auto rows = static_cast<int64_t>(getKeepTopk());
  const Dims output = getCorners() ? Dims{1, 1, rowsOf(items, rows), 7} : Dims{items, 1, rows, 6};
  return setResult(*this, 0, elementTypeOf(getInputs()[0]), output);
}

int64_t YoloDetectionOp::flops() { return flopsOfMaps(getInputs()); }

LogicalResult RetinaFaceDetectionOp::verify() {
  if (getInputs().size() != 9)
    return emitOpError("has ") << getInputs().size()
                               << " maps; expected scores, deltas and landmarks of three strides";
  return verifyThreshold(*this, "nms_threshold", getNmsThreshold());
}

LogicalResult RetinaFaceDetectionOp::inferShape() {
  constexpr int64_t kChannels[] = {4, 8, 20};
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (failed(verifyMap(*this, "a map", dimsOf(input), kChannels[index % 3])))
      return failure();
  std::optional<Dims> scores = dimsOf(getInputs()[0]);
  return setResult(
      *this, 0, elementTypeOf(getInputs()[0]),
      Dims{scores ? (*scores)[0] : kDynamic, 1, static_cast<int64_t>(getKeepTopk()), 15});
}

int64_t RetinaFaceDetectionOp::flops() { return flopsOfMaps(getInputs()); }

LogicalResult FrcnDetectionOp::verify() {
  return verifyThreshold(*this, "nms_threshold", getNmsThreshold());
}

LogicalResult FrcnDetectionOp::inferShape() {
  std::optional<Dims> rois = dimsOf(getRois());
  if (rois &&
      ((rois->size() != 2 && rois->size() != 4) || (rois->back() != 5 && rois->back() != kDynamic)))
    return emitOpError("rois has shape ") << dimsText(*rois) << "; expected [R, 5] or [N, 1, R, 5]";
  const int64_t items = !rois ? kDynamic : rois->size() == 2 ? 1 : (*rois)[0];
  return setResult(*this, 0, elementTypeOf(getScores()),
                   Dims{items, 1, static_cast<int64_t>(getKeepTopk()), 6});
}

int64_t FrcnDetectionOp::flops() { return staticElements(getDeltas()) * 4; }

LogicalResult ObjectDetectionOp::verify() {
  if (getInputs().empty())
    return emitOpError("has no inputs; expected one at least");
  if (failed(verifyChoice(*this, "box_code", getBoxCode(),
                          {"CENTER", "CORNERS", "ANCHOR_EXP", "ANCHOR_SQUARE", "GRID_EXP",
                           "DISTANCES", "PRIOR"})) ||
      failed(verifyChoice(*this, "score_code", getScoreCode(), {"NONE", "SIGMOID", "SOFTMAX"})) ||
      failed(verifyChoice(*this, "layout", getLayout(), {"PLANES", "ANCHORS", "PIXELS"})) ||
      failed(verifyChoice(*this, "letterbox", getLetterbox(), {"NONE", "CENTER", "NORMAL"})) ||
      failed(verifyChoice(*this, "mask", getMask(), {"NONE", "BOX", "WHOLE"})))
    return failure();
  if (getMask() != "NONE" && (getInputs().size() < 2 || getExtra() == 0))
    return emitOpError("has a mask without planes; expected them as the last input, and extra");
  const bool isDecoded = getBoxCode() == "CENTER" || getBoxCode() == "CORNERS";
  if (isDecoded == getGrids().has_value())
    return emitOpError("has box_code ")
           << getBoxCode() << (isDecoded ? " with" : " without") << " grids";
  if (getExtra() == 0 && !isa<NoneType>(getExtras().getType()))
    return emitOpError("has a result for extras, but extra is 0");
  if (getVariances() && getVariances()->size() != 4)
    return emitOpError("has ") << getVariances()->size() << " variances; expected four";
  if (getPicture() && getPicture()->size() != 2)
    return emitOpError("picture has ")
           << getPicture()->size() << " extents; expected height and width";
  if (failed(verifyThreshold(*this, "score_threshold", getScoreThreshold())))
    return failure();
  return verifyThreshold(*this, "nms_threshold", getNmsThreshold());
}

LogicalResult ObjectDetectionOp::inferShape() {
  int64_t items = kDynamic;
  for (Value input : getInputs()) {
    std::optional<Dims> dims = dimsOf(input);
    if (!dims)
      continue;
    if (dims->empty() || !mergeExtent(items, dims->front()))
      return emitOpError("input has shape ") << dimsText(*dims)
                                             << "; expected as many items first "
                                                "as the others";
  }
  const int64_t rows = rowsOf(items, static_cast<int64_t>(getKeepTopk()));
  if (failed(setResult(*this, 0, elementTypeOf(getInputs()[0]), Dims{1, 1, rows, 7})))
    return failure();
  Dims extras = {rows, static_cast<int64_t>(getExtra())};
  if (getMask() != "NONE") {
    const std::optional<Dims> planes = dimsOf(getInputs().back());
    if (failed(verifyMap(*this, "the planes of masks", planes, extras[1])))
      return failure();
    extras = planes ? Dims{rows, (*planes)[2], (*planes)[3]} : Dims{rows, kDynamic, kDynamic};
  }
  return setResult(*this, 1, elementTypeOf(getInputs()[0]), extras);
}

/// Each record is read once.
int64_t ObjectDetectionOp::flops() {
  Count all = 0;
  for (Value input : getInputs())
    all += staticElements(input);
  return all;
}
