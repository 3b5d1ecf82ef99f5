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
