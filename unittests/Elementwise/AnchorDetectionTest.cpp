//===- AnchorDetectionTest.cpp - Boxes around anchors and in regions ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Elementwise/OpRunner.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

Tensor zeros(const Shape &shape) {
  return f32(shape, std::vector<double>(static_cast<size_t>(shape.numElements()), 0));
}

// One anchor of 16 pixels, at two places that lie a pixel apart.
const std::string kOneAnchor = "feat_stride = 1 : i64, ratios = [1.0], scales = [1.0], "
                               "post_nms_top_n = 2 : i64, min_size = 1.0";
const Tensor kTwoScores = f32({1, 2, 1, 2}, {0, 0, 0.5, 0.75});

} // namespace

TEST(AnchorDetectionTest, ProposesTheBestRegions) {
  OpRunner run;
  const Tensor info = f32({1, 3}, {12, 40, 1});
  const std::vector<std::optional<Tensor>> operands = {kTwoScores, zeros({1, 4, 1, 2}), info};
  const std::vector<bool> both = {true, true};
  // The second region is better, and covers the first one.
  EXPECT_EQ(run("Proposal", kOneAnchor, operands, both),
            "2x5xf32: 0 1 0 17 11 0 0 0 0 0 | 2x1xf32: 0.75 0");
  EXPECT_EQ(run("Proposal", kOneAnchor + ", nms_threshold = 0.95", operands, both),
            "2x5xf32: 0 1 0 17 11 0 0 0 16 11 | 2x1xf32: 0.75 0.5");
  EXPECT_EQ(run("Proposal", kOneAnchor + ", pre_nms_top_n = 1 : i64", operands, {true, false})
                .substr(0, 30),
            "2x5xf32: 0 1 0 17 11 0 0 0 0 0");
  // Without a tensor that says it, the picture's size is an attribute.
  EXPECT_EQ(
      run("Proposal",
          kOneAnchor + ", obj_threshold = 0.6, image_height = 12 : i64, image_width = 17 : i64",
          {kTwoScores, zeros({1, 4, 1, 2}), std::nullopt}, both),
      "2x5xf32: 0 1 0 16 11 0 0 0 0 0 | 2x1xf32: 0.75 0");
}

TEST(AnchorDetectionTest, LeavesOutWhatIsNoNumber) {
  OpRunner run;
  const Tensor info = f32({1, 3}, {12, 40, 1});
  const Tensor wild = f32({1, 4, 1, 2}, {kNaN, kNaN, 0, 0, kInf, kInf, 0, 0});
  EXPECT_EQ(run("Proposal", kOneAnchor, {kTwoScores, wild, info}, {true, true}),
            "2x5xf32: 0 0 0 0 0 0 0 0 0 0 | 2x1xf32: 0 0");
  EXPECT_EQ(run("Proposal", kOneAnchor,
                {f32({1, 2, 1, 2}, {0, 0, kNaN, kNaN}), zeros({1, 4, 1, 2}), info}, {true, true}),
            "2x5xf32: 0 0 0 0 0 0 0 0 0 0 | 2x1xf32: 0 0");
  EXPECT_EQ(run("YoloDetection", "anchors = [1.0, 1.0], class_num = 1 : i64, keep_topk = 1 : i64",
                {f32({1, 6, 1, 1}, {kNaN, 0, kInf, 0, 9, 0})}),
            "1x1x1x6xf32: 0 0 0 0 0 0");
}

TEST(AnchorDetectionTest, RefusesWhatDoesNotFit) {
  OpRunner run;
  const auto refuses = [&](const std::string &found, const std::string &expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  const std::vector<bool> both = {true, true};
  refuses(run("Proposal", kOneAnchor, {kTwoScores, zeros({1, 8, 1, 2}), zeros({1, 3})}, both),
          "deltas has shape [1, 8, 1, 2]; expected [N, 4, H, W]");
  refuses(run("Proposal", kOneAnchor, {kTwoScores, zeros({1, 4, 2, 1}), zeros({1, 3})}, both),
          "map 1 has shape [1, 4, 2, 1]");
  refuses(run("Proposal", kOneAnchor, {kTwoScores, zeros({1, 4, 1, 2}), std::nullopt}, both),
          "has no size of the picture");
  refuses(run("YoloDetection", "anchors = [1.0], class_num = 1 : i64", {zeros({1, 6, 1, 1})}),
          "has 1 anchors for 1 maps");
  refuses(run("YoloDetection", "anchors = [1.0, -1.0], class_num = 1 : i64", {zeros({1, 6, 1, 1})}),
          "expected positive pairs");
  refuses(
      run("FrcnDetection", "class_num = 2 : i64", {zeros({3, 8}), zeros({2, 2}), zeros({3, 5})}),
      "numbers for each region and class");
  refuses(run("RetinaFaceDetection", "", {zeros({1, 4, 1, 1})}), "has 1 maps");
}

TEST(AnchorDetectionTest, ShapesFollowFromItems) {
  OpRunner run;
  EXPECT_EQ(run.infer("YoloDetection",
                      "anchors = [1.0, 1.0], class_num = 1 : i64, keep_topk = 7 : i64",
                      {"tensor<?x6x?x?xf32>"}),
            "tensor<?x1x7x6xf32>");
  EXPECT_EQ(
      run.infer("YoloDetection",
                "anchors = [1.0, 1.0], class_num = 1 : i64, keep_topk = 7 : i64, corners = true",
                {"tensor<3x6x?x?xf32>"}),
      "tensor<1x1x21x7xf32>");
  EXPECT_EQ(run.infer("FrcnDetection", "class_num = 2 : i64, keep_topk = 7 : i64",
                      {"tensor<?x8xf32>", "tensor<?x2xf32>", "tensor<4x1x?x5xf32>"}),
            "tensor<4x1x7x6xf32>");
}
