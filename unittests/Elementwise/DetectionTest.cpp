//===- DetectionTest.cpp - Boxes and regions of detectors -----------------===//
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

// Two unit squares side by side, and one that covers most of the first.
const Tensor kPriors =
    f32({1, 2, 12}, {0,   0,   1,   1,   2,   0,   3,   1,   0,   0,   1,   0.9,
                     0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
const Tensor kStill = f32({1, 12}, std::vector<double>(12, 0));

} // namespace

TEST(DetectionTest, KeepsTheBestOfOverlappingBoxesByClass) {
  OpRunner run;
  const Tensor scores = f32({1, 6}, {0.5, 0.75, 0.5, 0.25, 0.5, 0.625});
  EXPECT_EQ(run("DetectionOutput", "num_classes = 2 : i64", {kStill, scores, kPriors}),
            "1x1x3x7xf32: 0 1 0.75 0 0 1 1 0 1 0.25 2 0 3 1 0 0 0 0 0 0 0");
  // Without a background, class 0 is found as well: its scores are equal, so the first ones stay.
  EXPECT_EQ(run("DetectionOutput",
                "num_classes = 2 : i64, background_label_id = -1 : i64, keep_top_k = 2 : i64",
                {kStill, scores, kPriors}),
            "1x1x2x7xf32: 0 0 0.5 0 0 1 1 0 1 0.75 0 0 1 1");
  EXPECT_EQ(run("DetectionOutput",
                "num_classes = 2 : i64, confidence_threshold = 0.7, top_k = 2 : i64",
                {kStill, scores, kPriors}),
            "1x1x2x7xf32: 0 1 0.75 0 0 1 1 0 0 0 0 0 0 0");
}

TEST(DetectionTest, MovesPriorBoxes) {
  OpRunner run;
  const Tensor scores = f32({1, 3}, {0, 1, 0});
  const Tensor by = f32({1, 12}, {0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0});
  const std::string best = "num_classes = 1 : i64, background_label_id = -1 : i64, "
                           "keep_top_k = 1 : i64, code_type = ";
  EXPECT_EQ(run("DetectionOutput", best + "\"CORNER\"", {by, scores, kPriors}),
            "1x1x1x7xf32: 0 0 1 2.5 1 3 1");
  EXPECT_EQ(run("DetectionOutput", best + "\"CENTER_SIZE\"", {by, scores, kPriors}),
            "1x1x1x7xf32: 0 0 1 2.5 1 3.5 2");
  EXPECT_EQ(run("DetectionOutput", best + "\"CORNER_SIZE\", variance_encoded_in_target = true",
                {by, scores, kPriors}),
            "1x1x1x7xf32: 0 0 1 3 2 3 1");
}

TEST(DetectionTest, RefusesWhatDoesNotFit) {
  OpRunner run;
  const Tensor scores = f32({1, 3}, {0, 1, 0});
  EXPECT_EQ(run("DetectionOutput", "num_classes = 2 : i64", {kStill, scores, kPriors}),
            "layer 'layer' (top.DetectionOutput): location has shape [1, 12] and confidence [1, 3] "
            "for 3 boxes of 2 classes; "
            "expected numbers for each box");
  EXPECT_NE(run("DetectionOutput", "num_classes = 1 : i64, code_type = \"POLAR\"",
                {kStill, scores, kPriors})
                .find("code_type"),
            std::string::npos);
  EXPECT_EQ(run.infer("DetectionOutput", "num_classes = 3 : i64, keep_top_k = 5 : i64",
                      {"tensor<2x?xf32>", "tensor<2x?xf32>", "tensor<1x2x?xf32>"}),
            "tensor<1x1x?x7xf32>");
  EXPECT_EQ(run.infer("DetectionOutput", "num_classes = 3 : i64, top_k = 5 : i64",
                      {"tensor<2x?xf32>", "tensor<2x?xf32>", "tensor<1x2x80xf32>"}),
            "tensor<1x1x20x7xf32>");
}

TEST(DetectionTest, PoolsRegions) {
  OpRunner run;
  std::vector<double> pixels(32);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<double>(i);
  const Tensor picture = f32({1, 2, 4, 4}, pixels);
  const Tensor regions = f32({2, 5}, {0, 0, 0, 7, 7, 0, 4, 4, 4, 4});
  EXPECT_EQ(run("RoiPool", "output_height = 2 : i64, output_width = 2 : i64, spatial_scale = 0.5",
                {picture, regions}),
            "2x2x2x2xf32: 10 11 14 15 26 27 30 31 10 10 10 10 26 26 26 26");
  EXPECT_EQ(run("RoiPool", "output_height = 1 : i64, output_width = 2 : i64, score_maps = true",
                {picture, f32({1, 5}, {0, 0, 0, 1, 1})}),
            "1x1x1x2xf32: 2 19");
  EXPECT_EQ(run("RoiPool", "", {picture, f32({1, 5}, {1, 0, 0, 1, 1})}),
            "layer 'layer' (top.RoiPool): region 0 has the item 1.000000; expected 0 to 0");
  EXPECT_EQ(run("RoiPool", "", {picture, f32({1, 5}, {0, kNaN, 0, 1, 1})}),
            "layer 'layer' (top.RoiPool): region 0 has the corner nan; expected a pixel");
}
