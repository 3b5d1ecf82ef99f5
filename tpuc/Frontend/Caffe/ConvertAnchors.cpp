//===- ConvertAnchors.cpp - Layers of detectors with anchors --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/DetectionOps.h"
#include "tpuc/Frontend/Caffe/CaffeLayer.h"

#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

using Floats = std::vector<double>;

/// An error unless `keep` boxes can be kept.
bool canKeep(CaffeLayer &layer, int64_t keep, StringRef field) {
  constexpr int64_t kMost = 1 << 20;
  if (keep >= 1 && keep <= kMost)
    return true;
  layer.fail(fmt::format("its {} is {}", field.str(), keep), fmt::format("1 to {}", kMost));
  return false;
}

/// The sizes of anchors that the layer states, or those of Faster R-CNN's authors.
Floats statedOr(const google::protobuf::RepeatedField<float> &stated, Floats usual) {
  return stated.empty() ? std::move(usual) : Floats(stated.begin(), stated.end());
}

/// Two forks have the layer. With the picture's size as third bottom it is that of Faster R-CNN,
/// whose regions are [R, 5]. With two bottoms it states the size, and regions are [N, 1, R, 5].
void proposal(CaffeLayer &layer) {
  const proto::ProposalParameter &p = layer.parameters().proposal_param();
  const bool ofPicture = layer.numInputs() == 3;
  const int64_t keep = ofPicture ? int64_t(p.post_nms_topn()) : p.rpn_nms_post_top_n();
  const int64_t base = ofPicture ? int64_t(p.base_size()) : p.anchor_base_size();
  if (!canKeep(layer, keep, ofPicture ? "post_nms_topn" : "rpn_nms_post_top_n"))
    return;
  Attrs attributes = layer.attrs();
  attributes.setInt("feat_stride", p.feat_stride())
      .setInt("base_size", base)
      .setFloats("ratios", statedOr(p.ratio(), {0.5, 1, 2}))
      .setFloats("scales", statedOr(p.scale(), {8, 16, 32}))
      .setInt("post_nms_top_n", keep);
  if (ofPicture) {
    // The picture's size has extents of 1 behind it in files of the first generation.
    Ints dims = layer.shape(2);
    const int64_t rows = dims.empty() ? 0 : dims[0];
    int64_t numbers = 1;
    for (int64_t dim : dims)
      numbers *= dim;
    if (rows < 1 || numbers != rows * 3)
      return layer.fail("its third bottom does not hold the size of pictures",
                        "[N, 3]: height, width, scale");
    attributes.setFloat("min_size", p.min_size())
        .setInt("pre_nms_top_n", std::min<int64_t>(p.pre_nms_topn(), INT32_MAX))
        .setFloat("nms_threshold", p.nms_thresh());
    Value info = layer.reshaped("info", layer.in(2), {rows, 3});
    layer.emitAll<top::ProposalOp>(2, 1, {layer.in(0), layer.in(1), info}, attributes);
    return;
  }
  if (p.net_input_h() < 1 || p.net_input_w() < 1)
    return layer.fail("does not state the size of the picture",
                      "net_input_h and net_input_w, or a third bottom");
  attributes.setFloat("min_size", 0)
      .setInt("pre_nms_top_n", -1)
      .setFloat("nms_threshold", p.rpn_nms_threshold())
      .setFloat("obj_threshold", p.rpn_obj_threshold())
      .setInt("image_height", p.net_input_h())
      .setInt("image_width", p.net_input_w());
  const Ints dims = layer.shape(0);
  Value rois = layer
                   .temps<top::ProposalOp>("regions", 2, 1,
                                           {layer.in(0), layer.in(1), layer.none()}, attributes)
                   .front();
  layer.emitReshaped(rois, {dims[0], 1, keep, 5});
}

/// `10,13, 16,30`; none where it is no list of numbers.
std::optional<Floats> anchorsOf(const std::string &text) {
  Floats anchors;
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, ',');
  for (StringRef part : parts) {
    double number = 0;
    if (part.trim().getAsDouble(number))
      return std::nullopt;
    anchors.push_back(number);
  }
  return anchors;
}

/// The anchors of the published networks, which the layer has where it states none.
Floats usualAnchors(const proto::YoloDetectionParameter &p) {
  if (p.tiny())
    return {10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319};
  if (p.yolo_v4())
    return {142, 110, 192, 243, 459, 401, 36, 75, 76, 55, 72, 146, 12, 16, 19, 36, 40, 28};
  return {10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326};
}

void yoloDetection(CaffeLayer &layer) {
  const proto::YoloDetectionParameter &p = layer.parameters().yolo_detection_param();
  std::optional<Floats> anchors = p.anchors().empty() ? usualAnchors(p) : anchorsOf(p.anchors());
  if (!anchors)
    return layer.fail("its anchors are '" + p.anchors() + "'", "numbers, such as \"10,13,16,30\"");
  if (p.net_input_h() < 1 || p.net_input_w() < 1)
    return layer.fail("does not state the size of the picture", "net_input_h and net_input_w");
  if (!canKeep(layer, p.keep_topk(), "keep_topk"))
    return;
  layer.emit<top::YoloDetectionOp>(layer.inputsFrom(0),
                                   layer.attrs()
                                       .setInt("class_num", p.class_num())
                                       .setFloats("anchors", *anchors)
                                       .setInt("net_input_h", p.net_input_h())
                                       .setInt("net_input_w", p.net_input_w())
                                       .setFloat("obj_threshold", p.obj_threshold())
                                       .setFloat("nms_threshold", p.nms_threshold())
                                       .setInt("keep_topk", p.keep_topk()));
}

/// YOLOv2's end in the fork of MobileNet-YOLO: all boxes can be kept, and compete across classes.
void yoloDetectionOutput(CaffeLayer &layer) {
  const proto::YoloDetectionOutputParameter &p = layer.parameters().yolo_detection_output_param();
  Ints dims = layer.shape(0);
  if (dims.size() != 4 || p.coords() != 4 || p.num_box() < 1 ||
      p.biases_size() != static_cast<int>(p.num_box() * 2))
    return layer.fail(fmt::format("has {} boxes of {} coordinates and {} biases", p.num_box(),
                                  p.coords(), p.biases_size()),
                      "a map, 4 coordinates, and two biases for each box");
  const int64_t boxes = dims[2] * dims[3] * p.num_box();
  if (!canKeep(layer, boxes, "number of boxes"))
    return;
  layer.emit<top::YoloDetectionOp>(layer.in(0),
                                   layer.attrs()
                                       .setInt("class_num", p.num_classes())
                                       .setFloats("anchors", statedOr(p.biases(), {}))
                                       .setFloat("obj_threshold", p.confidence_threshold())
                                       .setFloat("nms_threshold", p.nms_threshold())
                                       .setInt("keep_topk", boxes)
                                       .setBool("across_classes", true)
                                       .setBool("corners", true));
}

void retinaFaceDetection(CaffeLayer &layer) {
  const proto::RetinaFaceDetectionParameter &p = layer.parameters().retinaface_detection_param();
  if (!canKeep(layer, p.keep_topk(), "keep_topk"))
    return;
  layer.emit<top::RetinaFaceDetectionOp>(
      layer.inputsFrom(0), layer.attrs()
                               .setFloat("confidence_threshold", p.confidence_threshold())
                               .setFloat("nms_threshold", p.nms_threshold())
                               .setInt("keep_topk", p.keep_topk()));
}

void frcnDetection(CaffeLayer &layer) {
  const proto::FrcnDetectionParameter &p = layer.parameters().frcn_detection_param();
  if (p.class_num() < 2)
    return layer.fail(fmt::format("its class_num is {}", p.class_num()),
                      "2 or more, the background with them");
  if (!canKeep(layer, p.keep_topk(), "keep_topk"))
    return;
  layer.emit<top::FrcnDetectionOp>({layer.in(0), layer.in(1), layer.in(2)},
                                   layer.attrs()
                                       .setInt("class_num", p.class_num())
                                       .setFloat("obj_threshold", p.obj_threshold())
                                       .setFloat("nms_threshold", p.nms_threshold())
                                       .setInt("keep_topk", p.keep_topk()));
}

constexpr LayerRow kAnchorRows[] = {
    {"FrcnDetection", 3, 3, frcnDetection, "FrcnDetection", "forks"},
    {"Proposal", 2, 3, proposal, "Proposal, Reshape", "forks"},
    {"RetinaFaceDetection", 9, 9, retinaFaceDetection, "RetinaFaceDetection", "forks"},
    {"YoloDetection", 1, -1, yoloDetection, "YoloDetection", "forks"},
    {"YoloDetectionOutput", 1, 1, yoloDetectionOutput, "YoloDetection", "forks"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::anchorRows() { return kAnchorRows; }
