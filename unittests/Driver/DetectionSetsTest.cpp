//===- DetectionSetsTest.cpp ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/DetectionSets.h"
#include "tpuc/Driver/ModuleFile.h"

#include "mlir/Parser/Parser.h"

#include <array>
#include <gmock/gmock.h>

using namespace tpuc;

namespace {

constexpr int64_t kWidth = 7;
constexpr tpu::DetectionRows kLayout = {.item = 0, .category = 1, .score = 2, .box = 3};

/// item, class, score, x1, y1, x2, y2
using Row = std::array<float, kWidth>;

constexpr Row kNone = {};
constexpr Row kCat = {0, 3, 0.9F, 0.1F, 0.1F, 0.4F, 0.5F};
constexpr Row kDog = {0, 5, 0.8F, 0.5F, 0.2F, 0.9F, 0.6F};
constexpr Row kSecondDog = {0, 5, 0.8F, 0.0F, 0.6F, 0.3F, 0.9F};

Tensor tensorOf(const std::vector<Row> &rows) {
  Tensor tensor(DataType::F32, Shape{1, 1, static_cast<int64_t>(rows.size()), kWidth});
  for (size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(rows[i], tensor.mutableData<float>().begin() + static_cast<ptrdiff_t>(i) * 7);
  return tensor;
}

std::vector<Row> rowsOf(const Tensor &tensor) {
  std::vector<Row> rows(static_cast<size_t>(tensor.numElements() / kWidth));
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(tensor.data<float>().begin() + static_cast<ptrdiff_t>(i) * 7, kWidth,
                rows[i].begin());
  return rows;
}

Row with(Row row, size_t column, float value) {
  row[column] = value;
  return row;
}

TEST(DetectionSets, RowsThatChangedPlacesAreEqual) {
  const Tensor reference = tensorOf({kCat, kDog, kSecondDog, kNone});
  const MatchedDetections matched =
      matchDetections(tensorOf({kCat, kSecondDog, kDog, kNone}), reference, kLayout);
  EXPECT_EQ(rowsOf(matched.rows), rowsOf(reference));
  EXPECT_EQ(matched.numFound, 3);
  EXPECT_TRUE(matched.isAnyMoved);
  EXPECT_EQ(
      matched.sentence("boxes"),
      "the rows of 'boxes' are compared as a set: 3 of 3 detections found again by item, class "
      "and an overlap of at least 50 %");
}

TEST(DetectionSets, ScoresAndBoxesOfMatchedRowsStayWhatTheyAre) {
  const Row near = with(kCat, 2, 0.7F);
  const MatchedDetections matched =
      matchDetections(tensorOf({kDog, near}), tensorOf({kCat, kDog}), kLayout);
  EXPECT_THAT(rowsOf(matched.rows), testing::ElementsAre(near, kDog));
}

TEST(DetectionSets, ClassesAreWholeNumbers) {
  const Row near = with(with(kCat, 0, 1e-6F), 1, 2.99999F);
  const MatchedDetections matched =
      matchDetections(tensorOf({kDog, near}), tensorOf({kCat, kDog}), kLayout);
  EXPECT_THAT(rowsOf(matched.rows), testing::ElementsAre(near, kDog));
}

TEST(DetectionSets, ALostDetectionDiffers) {
  const Tensor reference = tensorOf({kCat, kDog, kSecondDog});
  const MatchedDetections matched =
      matchDetections(tensorOf({kDog, kSecondDog, kNone}), reference, kLayout);
  EXPECT_THAT(rowsOf(matched.rows), testing::ElementsAre(kNone, kDog, kSecondDog));
  EXPECT_EQ(matched.numFound, 2);
  EXPECT_EQ(matched.numAtCutoff, 0);
}

TEST(DetectionSets, OneThatIsNewDiffers) {
  const MatchedDetections matched =
      matchDetections(tensorOf({kCat, kDog}), tensorOf({kDog, kNone}), kLayout);
  EXPECT_THAT(rowsOf(matched.rows), testing::ElementsAre(kDog, kCat));
}

TEST(DetectionSets, ClassItemAndPlaceMakeAnotherDetection) {
  for (const Row &other : {with(kCat, 0, 1), with(kCat, 1, 4), with(kCat, 5, 0.2F)}) {
    const MatchedDetections matched =
        matchDetections(tensorOf({other, kDog}), tensorOf({kCat, kDog}), kLayout);
    EXPECT_EQ(matched.numFound, 1);
    EXPECT_THAT(rowsOf(matched.rows), testing::ElementsAre(other, kDog));
  }
}

TEST(DetectionSets, OnlyAboutTheLeastScoreMayBeAnotherOnes) {
  const Row last = {0, 5, 0.5F, 0.0F, 0.0F, 0.1F, 0.1F};
  const Row other = {0, 2, 0.5F, 0.8F, 0.8F, 0.9F, 0.9F};
  const Tensor reference = tensorOf({kCat, last});
  MatchedDetections matched = matchDetections(tensorOf({kCat, other}), reference, kLayout);
  EXPECT_EQ(matched.numAtCutoff, 1);
  EXPECT_EQ(rowsOf(matched.rows), rowsOf(reference));
  EXPECT_THAT(matched.sentence("boxes"), testing::HasSubstr("and 1 with about the least score"));
  // A score that roundings do not explain.
  matched = matchDetections(tensorOf({kCat, with(other, 2, 0.6F)}), reference, kLayout);
  EXPECT_EQ(matched.numAtCutoff, 0);
  // Not all of them.
  const std::vector<Row> lost(8, last);
  const std::vector<Row> others(8, other);
  matched = matchDetections(tensorOf(others), tensorOf(lost), kLayout);
  EXPECT_EQ(matched.numAtCutoff, 1);
}

TEST(DetectionSets, BoxesAroundACentreOfItemsInTheFirstDimension) {
  const tpu::DetectionRows layout = {
      .item = std::nullopt, .category = 4, .score = 5, .box = 0, .isCentred = true};
  Tensor reference(DataType::F32, Shape{2, 1, 1, 6});
  const std::array<float, 12> values = {.5F, .5F, .2F, .2F, 1, .9F, .5F, .5F, .2F, .2F, 1, .9F};
  std::ranges::copy(values, reference.mutableData<float>().begin());
  Tensor made = reference.clone();
  // Half of the width beside it: an overlap of a third.
  made.mutableData<float>()[6] = .6F;
  const MatchedDetections matched = matchDetections(made, reference, layout);
  EXPECT_EQ(matched.numFound, 1);
  EXPECT_FALSE(matched.isAnyMoved);
}

TEST(DetectionSets, OtherShapesStayAsTheyAre) {
  const Tensor made = tensorOf({kCat});
  EXPECT_EQ(rowsOf(matchDetections(made, tensorOf({kCat, kDog}), kLayout).rows), rowsOf(made));
}

TEST(DetectionSets, OutputsOfDetectorsAreKnown) {
  const auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
  func.func @main(%0: tensor<1x16xf32>, %1: tensor<1x12xf32>, %2: tensor<1x2x16xf32>) -> (tensor<1x1x2x7xf32>, tensor<1x16xf32>) {
    %3 = "top.Input"(%0) : (tensor<1x16xf32>) -> tensor<1x16xf32> loc("loc")
    %4 = "top.Input"(%1) : (tensor<1x12xf32>) -> tensor<1x12xf32> loc("conf")
    %5 = "top.Input"(%2) : (tensor<1x2x16xf32>) -> tensor<1x2x16xf32> loc("priors")
    %6 = "tpu.DetectionOutput"(%3, %4, %5) {code_type = "CENTER_SIZE", keep_top_k = 2 : i64, num_classes = 3 : i64} : (tensor<1x16xf32>, tensor<1x12xf32>, tensor<1x2x16xf32>) -> tensor<1x1x2x7xf32> loc("boxes")
    %7 = "tpu.Relu"(%3) : (tensor<1x16xf32>) -> tensor<1x16xf32> loc("plain")
    return %6, %7 : tensor<1x1x2x7xf32>, tensor<1x16xf32>
  })",
                                                        context.get());
  ASSERT_TRUE(module);
  const DetectionOutputs outputs = detectionOutputs(*module);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs.begin()->first, "boxes");
  EXPECT_EQ(outputs.begin()->second.score, 2);
}

TEST(DetectionSets, WhatIsSaidOfDetectionsGoesWithThem) {
  const auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
  #points = loc(fused["boxes", "points"])
  func.func @main(%0: tensor<1x2x8xf32>) -> (tensor<1x1x3x7xf32>, tensor<3x3xf32>) {
    %1 = "top.Input"(%0) : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32> loc("rows")
    %2:2 = "tpu.ObjectDetection"(%1) {box_code = "CORNERS", layout = "ANCHORS", num_classes = 1 : i64, extra = 3 : i64, key_points = 1 : i64, keep_topk = 3 : i64, input_height = 8 : i64, input_width = 8 : i64} : (tensor<1x2x8xf32>) -> (tensor<1x1x3x7xf32>, tensor<3x3xf32>) loc(#points)
    return %2#0, %2#1 : tensor<1x1x3x7xf32>, tensor<3x3xf32>
  })",
                                                        context.get());
  ASSERT_TRUE(module);
  DetectionMatcher matcher(*module);
  const auto points = [](const std::vector<float> &numbers) {
    return Tensor::of<float>(Shape{3, 3}, numbers);
  };
  const Tensor plain = points(std::vector<float>(9));
  // Centre and size: the boxes do not overlap.
  const Row one = {0, 0, 0.5F, 2, 2, 2, 2};
  const Row other = {0, 0, 0.5F, 6, 6, 2, 2};
  EXPECT_FALSE(matcher.matched("rows", plain, plain).has_value());
  const auto rows =
      matcher.matched("boxes", tensorOf({other, one, kNone}), tensorOf({one, other, kNone}));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rowsOf(*rows), (std::vector<Row>{one, other, kNone}));
  ASSERT_NE(matcher.find("boxes"), nullptr);
  EXPECT_TRUE(matcher.find("boxes")->isAnyMoved);
  const Tensor reference = points({1, 2, 3, 4, 5, 6, 0, 0, 0});
  const auto moved = matcher.matched("points", points({4, 5, 6, 1, 2, 3, 9, 9, 9}), reference);
  ASSERT_TRUE(moved);
  EXPECT_THAT(std::vector<float>(moved->data<float>().begin(), moved->data<float>().end()),
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 0, 0, 0));
}

} // namespace
