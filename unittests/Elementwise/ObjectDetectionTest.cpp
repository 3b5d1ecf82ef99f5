//===- ObjectDetectionTest.cpp - Objects from the heads of detectors ------===//
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

const std::string kDecoded = "box_code = \"CENTER\", layout = \"ANCHORS\", num_classes = 2 : i64, "
                             "input_height = 64 : i64, input_width = 64 : i64, "
                             "keep_topk = 3 : i64";
const std::string kGrid = "input_height = 64 : i64, input_width = 64 : i64, keep_topk = 1 : i64, "
                          "num_classes = 1 : i64, score_threshold = 0.1, ";

/// Rows x, y, w, h, scores of two classes.
Tensor rows(const std::vector<double> &numbers) {
  return f32({1, static_cast<int64_t>(numbers.size() / 6), 6}, numbers);
}

class ObjectDetectionTest : public testing::Test {
protected:
  std::string detect(const std::string &attributes,
                     const std::vector<std::optional<Tensor>> &inputs) {
    return run("ObjectDetection", attributes, inputs, {true, false});
  }
  OpRunner run;
};

} // namespace

TEST_F(ObjectDetectionTest, KeepsTheBestBoxesOfEachClass) {
  const Tensor three = rows({10, 10, 8, 8, .5, .25, 11, 10, 8, 8, .75, 0, 10, 10, 8, 8, 0, .625});
  EXPECT_EQ(detect(kDecoded, {three}), "1x1x3x7xf32: 0 0 0.75 11 10 8 8 0 1 0.625 10 10 8 8 0 0 0 "
                                       "0 0 0 0");
  // Of any class together; above the overlap of 7/9 that the first two have.
  EXPECT_EQ(detect(kDecoded + ", agnostic = true", {three}),
            "1x1x3x7xf32: 0 0 0.75 11 10 8 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  EXPECT_EQ(detect(kDecoded + ", nms_threshold = 0.8", {three}),
            "1x1x3x7xf32: 0 0 0.75 11 10 8 8 0 1 0.625 10 10 8 8 0 0 0.5 10 10 8 8");
  EXPECT_EQ(detect(kDecoded + ", classes = [1]", {three}),
            "1x1x3x7xf32: 0 1 0.625 10 10 8 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  EXPECT_EQ(detect(kDecoded + ", nms_threshold = 1.0, top_k = 1 : i64, agnostic = true", {three}),
            "1x1x3x7xf32: 0 0 0.75 11 10 8 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  // Each class of a place.
  EXPECT_EQ(detect(kDecoded + ", multi_label = true, score_threshold = 0.2", {three}),
            "1x1x3x7xf32: 0 0 0.75 11 10 8 8 0 1 0.625 10 10 8 8 0 0 0 0 0 0 0");
  EXPECT_EQ(detect(kDecoded + ", background = 0 : i64, score_threshold = 0.2", {three}),
            "1x1x3x7xf32: 0 1 0.625 10 10 8 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
}

TEST_F(ObjectDetectionTest, TiesAreKeptInTheirOrder) {
  EXPECT_EQ(
      detect(kDecoded, {rows({10, 10, 4, 4, .5, 0, 30, 10, 4, 4, .5, 0, 20, 20, 4, 4, 0, .5})}),
      "1x1x3x7xf32: 0 0 0.5 10 10 4 4 0 0 0.5 30 10 4 4 0 1 0.5 20 20 4 4");
  // The threshold itself is not above it, and a place of two equal classes is of the first one.
  EXPECT_EQ(detect(kDecoded + ", score_threshold = 0.5",
                   {rows({10, 10, 4, 4, .5, 0, 30, 10, 4, 4, .75, .75})}),
            "1x1x3x7xf32: 0 0 0.75 30 10 4 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
}

TEST_F(ObjectDetectionTest, LeavesOutWhatIsNoNumber) {
  EXPECT_EQ(
      detect(kDecoded, {rows({kNaN, 10, 4, 4, .5, 0, 30, kInf, 4, 4, .5, 0, 2, 2, 4, 4, kNaN, 0})}),
      "1x1x3x7xf32: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
}

TEST_F(ObjectDetectionTest, ScoresThatAreNoNumberLeaveTheOthers) {
  // As they are, and as numbers whose sigmoids are asked for: s(ln 3) = 3/4.
  EXPECT_EQ(detect(kDecoded, {rows({10, 10, 4, 4, kNaN, .5, 30, 10, 4, 4, .75, kNaN})}),
            "1x1x3x7xf32: 0 0 0.75 30 10 4 4 0 1 0.5 10 10 4 4 0 0 0 0 0 0 0");
  EXPECT_EQ(detect(kDecoded + ", score_code = \"SIGMOID\"",
                   {rows({10, 10, 4, 4, kNaN, 0, 30, 10, 4, 4, std::log(3.0), kNaN})}),
            "1x1x3x7xf32: 0 0 0.75 30 10 4 4 0 1 0.5 10 10 4 4 0 0 0 0 0 0 0");
}

TEST_F(ObjectDetectionTest, PicturesOfOneColumnAreScaledToOnePixel) {
  // 1000 rows of one pixel become 64 rows of one, 31 from the left of 64.
  EXPECT_EQ(detect(kDecoded + ", picture = [1000, 1], letterbox = \"CENTER\"",
                   {rows({31.5, 32, 1, 32, .5, 0})}),
            "1x1x3x7xf32: 0 0 0.5 0.5 500 1 500 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
}

TEST_F(ObjectDetectionTest, TenThousandCandidates) {
  // A row of boxes that do not touch each other, of rising scores, each of them twice.
  std::vector<double> numbers;
  constexpr int kCount = 10000;
  for (int index = 0; index < kCount; ++index)
    numbers.insert(numbers.end(), {index / 2 * 10.0, 0, 4, 4, 0.5 + index / 2 * 0.00005, 0});
  // The best three; the second of each pair goes, whose score is the same.
  const auto best = [&](const std::string &more) {
    return detect(kDecoded + more, {rows(numbers)});
  };
  const std::string expected = best("");
  EXPECT_NE(expected.find(" 49990 0 4 4 "), std::string::npos) << expected;
  EXPECT_NE(expected.find(" 49980 0 4 4 "), std::string::npos) << expected;
  EXPECT_NE(expected.find(" 49970 0 4 4"), std::string::npos) << expected;
  EXPECT_EQ(best(", top_k = 20000 : i64"), expected);
  // Of two candidates one overlaps the other.
  EXPECT_NE(best(", top_k = 2 : i64").find("49990 0 4 4 0 0 0 0 0 0 0 0 0 0"), std::string::npos);
}

TEST_F(ObjectDetectionTest, DecodesEachCode) {
  // A grid of 2 by 1 in 64 by 64 pixels: strides of 64 and 32; the object is in the second row.
  const auto plane = [](const std::vector<double> &record) {
    std::vector<double> numbers;
    for (double each : record)
      numbers.insert(numbers.end(), {-30, each});
    return f32({1, static_cast<int64_t>(record.size()), 2, 1}, numbers);
  };
  const std::string grid = kGrid + "grids = [2, 1], score_code = \"SIGMOID\", ";
  const std::string anchored = "anchors = [10.0, 20.0], objectness = true";
  // s(0) = 1/2; both scores are 1/2, too.
  EXPECT_EQ(detect(grid + anchored + ", box_code = \"ANCHOR_EXP\"", {plane({0, 0, 0, 0, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.25 32 48 10 20");
  EXPECT_EQ(detect(grid + anchored + ", box_code = \"ANCHOR_SQUARE\"", {plane({0, 0, 0, 0, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.25 32 48 10 20");
  EXPECT_EQ(detect(grid + anchored + ", box_code = \"ANCHOR_SQUARE\", boxes_activated = true",
                   {plane({1, 0.25, 1, 0.5, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.25 96 32 40 20");
  EXPECT_EQ(detect(grid + anchored +
                       ", box_code = \"ANCHOR_EXP\", scale_xy = [2.0], "
                       "boxes_activated = true",
                   {plane({1, 0.25, 0, 0, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.25 96 32 10 20");
  EXPECT_EQ(detect(grid + "box_code = \"GRID_EXP\"", {plane({0.5, -0.5, 0, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.5 32 16 64 32");
  EXPECT_EQ(detect(grid + "box_code = \"DISTANCES\"", {plane({0.25, 0.5, 0.25, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.5 32 40 32 16");
  // Equal bins have their mean in the middle, and one that is large has it there.
  EXPECT_EQ(detect(grid + "box_code = \"DISTANCES\", bins = 3 : i64",
                   {plane({99, 0, 0, 0, 0, 99, 0, 99, 0, 0, 0, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.5 64 32 64 96");
  EXPECT_EQ(detect(grid + "box_code = \"PRIOR\", anchors = [10.0, 20.0], variances = [0.1, 0.2, "
                          "0.2, 0.2], swap_xy = true",
                   {plane({1, 2, 0, 0, 0})}),
            "1x1x1x7xf32: 0 0 0.5 34 52 10 20");
}

TEST_F(ObjectDetectionTest, ReadsEachLayout) {
  // Two anchors at two pixels; the second anchor has an object at the second pixel.
  const std::string common = kGrid + "box_code = \"PRIOR\", grids = [1, 2], anchor_counts = [2], "
                                     "anchors = [1.0, 2.0, 3.0, 4.0], layout = ";
  const std::vector<double> object = {0, 0, 0, 0, 0.5};
  const auto place = [&](int64_t first, int64_t step) {
    std::vector<double> numbers(20, 0);
    for (size_t field = 0; field < 5; ++field)
      numbers[static_cast<size_t>(first) + field * static_cast<size_t>(step)] = object[field];
    return numbers;
  };
  const std::string found = "1x1x1x7xf32: 0 0 0.5 48 32 3 4";
  EXPECT_EQ(detect(common + "\"PLANES\"", {f32({1, 10, 1, 2}, place(11, 2))}), found);
  EXPECT_EQ(detect(common + "\"ANCHORS\"", {f32({1, 2, 2, 5}, place(15, 1))}), found);
  EXPECT_EQ(detect(common + "\"PIXELS\"", {f32({1, 2, 2, 5}, place(15, 1))}), found);
  // The second anchor of the first pixel is record 2 of ANCHORS and record 1 of PIXELS.
  EXPECT_EQ(detect(common + "\"ANCHORS\"", {f32({1, 2, 2, 5}, place(10, 1))}),
            "1x1x1x7xf32: 0 0 0.5 16 32 3 4");
  EXPECT_EQ(detect(common + "\"PIXELS\"", {f32({1, 2, 2, 5}, place(5, 1))}),
            "1x1x1x7xf32: 0 0 0.5 16 32 3 4");
  EXPECT_EQ(
      detect(common + "\"PLANES\", part_fields = [4, 1]",
             {f32({1, 8, 1, 2}, std::vector<double>(16, 0)), f32({1, 2, 1, 2}, {0, 0, 0, .5})}),
      found);
}

TEST_F(ObjectDetectionTest, JoinsLevels) {
  const std::string levels = kGrid + "box_code = \"DISTANCES\", grids = [1, 1, 1, 2], layout = ";
  const std::string found = "1x1x1x7xf32: 0 0 0.5 48 32 32 64";
  const std::vector<double> box = {0.5, 0.5, 0.5, 0.5, 0.5};
  std::vector<double> records(15, 0);
  std::ranges::copy(box, records.begin() + 10);
  EXPECT_EQ(detect(levels + "\"PIXELS\"", {f32({1, 3, 5}, records)}), found);
  std::vector<double> planes(15, 0);
  for (size_t field = 0; field < 5; ++field)
    planes[field * 3 + 2] = box[field];
  EXPECT_EQ(detect(levels + "\"PLANES\"", {f32({1, 5, 3}, planes)}), found);
  EXPECT_EQ(detect(levels + "\"PLANES\"", {f32({1, 5, 1, 1}, {0, 0, 0, 0, 0}),
                                           f32({1, 5, 1, 2}, {0, .5, 0, .5, 0, .5, 0, .5, 0, .5})}),
            found);
}

TEST_F(ObjectDetectionTest, MovesBoxesAndPointsToThePicture) {
  // A picture of 128 by 32 pixels was halved, and lies 24 pixels below the top.
  const std::string points = "box_code = \"CENTER\", layout = \"ANCHORS\", num_classes = 1 : i64, "
                             "input_height = 64 : i64, input_width = 64 : i64, extra = 3 : i64, "
                             "keep_topk = 1 : i64, key_points = 1 : i64, picture = [32, 128]";
  const Tensor one = f32({1, 1, 8}, {10, 32, 8, 20, .5, 12, 34, .75});
  EXPECT_EQ(run("ObjectDetection", points + ", letterbox = \"CENTER\"", {one}, {true, true}),
            "1x1x1x7xf32: 0 0 0.5 20 16 16 32 | 1x3xf32: 24 20 0.75");
  EXPECT_EQ(run("ObjectDetection", points, {one}, {true, true}),
            "1x1x1x7xf32: 0 0 0.5 20 16 16 10 | 1x3xf32: 24 17 0.75");
  EXPECT_EQ(run("ObjectDetection", points + ", letterbox = \"NORMAL\"", {one}, {true, true}),
            "1x1x1x7xf32: 0 0 0.5 20 32 16 0 | 1x3xf32: 24 68 0.75");
}

TEST_F(ObjectDetectionTest, ComparesRotatedBoxesByTheirGaussians) {
  const std::string rotated = "box_code = \"CENTER\", layout = \"ANCHORS\", num_classes = 1 : i64, "
                              "input_height = 64 : i64, input_width = 64 : i64, extra = 1 : i64, "
                              "keep_topk = 2 : i64, rotated = true";
  // Two bars that cross: as they lie they are one, turned by a right angle they share little.
  const double right = 1.5707963267948966;
  const Tensor same = f32({1, 2, 6}, {10, 10, 20, 2, .75, 0, 10, 10, 20, 2, .5, 0});
  const Tensor crossed = f32({1, 2, 6}, {10, 10, 20, 2, .75, 0, 10, 10, 20, 2, .5, right});
  EXPECT_EQ(detect(rotated, {same}), "1x1x2x7xf32: 0 0 0.75 10 10 20 2 0 0 0 0 0 0 0");
  EXPECT_EQ(detect(rotated, {crossed}), "1x1x2x7xf32: 0 0 0.75 10 10 20 2 0 0 0.5 10 10 20 2");
  // A box without an area overlaps none.
  const Tensor flat = f32({1, 2, 6}, {10, 10, 0, 2, .75, 0, 10, 10, 0, 2, .5, 0});
  EXPECT_EQ(detect(rotated, {flat}), "1x1x2x7xf32: 0 0 0.75 10 10 0 2 0 0 0.5 10 10 0 2");
}

TEST_F(ObjectDetectionTest, TurnsDistancesByTheAngle) {
  const std::string rotated = kGrid + "box_code = \"DISTANCES\", grids = [1, 1], extra = 1 : i64, "
                                      "rotated = true";
  // 16 to the left, 48 to the right, 8 up and down: a middle 16 to the right of the place. s(0) -
  // 1/4 of pi turns that by an eighth; decoded, a right angle has it below.
  EXPECT_EQ(run("ObjectDetection", rotated, {f32({1, 6, 1, 1}, {.25, .125, .75, .125, .5, 0})},
                {true, true}),
            "1x1x1x7xf32: 0 0 0.5 43.31371 43.31371 64 16 | 1x1xf32: 0.7853982");
  EXPECT_EQ(run("ObjectDetection", rotated + ", extras_decoded = true",
                {f32({1, 6, 1, 1}, {.25, .125, .75, .125, .5, 1.5707963267948966})}, {true, true}),
            "1x1x1x7xf32: 0 0 0.5 32 48 64 16 | 1x1xf32: 1.5707964");
}

TEST_F(ObjectDetectionTest, PointsOfAGridAreDecodedOnce) {
  const std::string points = kGrid + "box_code = \"DISTANCES\", grids = [1, 1], extra = 3 : i64, "
                                     "key_points = 1 : i64";
  // Scores may be shares already: what follows them is not.
  const Tensor one = f32({1, 8, 1, 1}, {.5, .5, .5, .5, .5, .25, .125, 0});
  EXPECT_EQ(run("ObjectDetection", points, {one}, {true, true}),
            "1x1x1x7xf32: 0 0 0.5 32 32 64 64 | 1x3xf32: 32 16 0.5");
  EXPECT_EQ(run("ObjectDetection", points + ", extras_decoded = true", {one}, {true, true}),
            "1x1x1x7xf32: 0 0 0.5 32 32 64 64 | 1x3xf32: 0.25 0.125 0");
}

TEST_F(ObjectDetectionTest, MasksAreThoseOfTheirBoxes) {
  const std::string masks = "box_code = \"CORNERS\", layout = \"ANCHORS\", num_classes = 1 : i64, "
                            "input_height = 8 : i64, "
                            "input_width = 16 : i64, keep_topk = 2 : i64, extra = 2 : i64, mask = ";
  // Pixels of the planes are 4 by 4 of the input: columns 1 and 2 are those from 2/4 to below 9/4.
  const Tensor box = f32({1, 1, 7}, {2, 4, 9, 8, .5, 2, -1});
  const double third = std::log(3.0);
  const Tensor planes = f32({1, 2, 2, 4}, {0, third, 0, 0, 0, third, 0, 0, //
                                           0, third, 0, 0, 0, third, third, 0});
  // 2 ln 3 - ln 3: 3/4; 0: 1/2; -ln 3: 1/4. The second row of objects is left over.
  EXPECT_EQ(run("ObjectDetection", masks + "\"BOX\"", {box, planes}, {true, true}),
            "1x1x2x7xf32: 0 0 0.5 5.5 6 7 4 0 0 0 0 0 0 0 | 2x2x4xf32: 0 0 0 0 0 0.75 0.25 0 0 0 0 "
            "0 0 0 0 0");
  EXPECT_EQ(run("ObjectDetection", masks + "\"WHOLE\"", {box, planes}, {true, true}),
            "1x1x2x7xf32: 0 0 0.5 5.5 6 7 4 0 0 0 0 0 0 0 | 2x2x4xf32: 0.5 0.75 0.5 0.5 0.5 0.75 "
            "0.25 0.5 0 0 0 0 0 0 0 0");
  // A pixel on the upper edge is inside, one on the lower edge is not; outside of the map is
  // nothing.
  EXPECT_EQ(run("ObjectDetection", masks + "\"BOX\"",
                {f32({1, 1, 7}, {-9, -9, 4, 4, .5, 0, 0}), planes}, {true, true}),
            "1x1x2x7xf32: 0 0 0.5 -2.5 -2.5 13 13 0 0 0 0 0 0 0 | 2x2x4xf32: 0.5 0 0 0 0 0 0 0 0 0 "
            "0 0 0 0 0 0");
  const auto refuses = [&](const std::vector<std::optional<Tensor>> &inputs,
                           const std::string &attributes, const std::string &expected) {
    const std::string found = run("ObjectDetection", attributes, inputs, {true, true});
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  refuses({box}, masks + "\"BOX\"", "has a mask without planes");
  refuses({box, planes}, masks + "\"ROUND\"", "'mask' is 'ROUND'");
  refuses({box, f32({1, 3, 1, 1}, {0, 0, 0})}, masks + "\"BOX\"",
          "the planes of masks has shape [1, 3, 1, 1]; expected [N, 2, H, W]");
}

TEST_F(ObjectDetectionTest, ItemsFollowEachOther) {
  EXPECT_EQ(detect(kDecoded, {f32({2, 1, 6}, {1, 1, 2, 2, 0.25, 0, 3, 3, 2, 2, 0, 0.5})}),
            "1x1x6x7xf32: 1 1 0.5 3 3 2 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
            "0 0 0 0 0 0 0");
  // A class stands in the record.
  EXPECT_EQ(detect("box_code = \"CORNERS\", layout = \"ANCHORS\", labelled = true, num_classes = 9 "
                   ": i64, input_height = 64 : i64, input_width = 64 : i64, keep_topk = 1 : i64, "
                   "normalized = true",
                   {f32({1, 2, 6}, {0, 0, .5, .25, .5, 7, 0, 0, 1, 1, .75, 9})}),
            "1x1x1x7xf32: 0 7 0.5 16 8 32 16");
}

TEST_F(ObjectDetectionTest, RefusesWhatDoesNotFit) {
  const auto refuses = [&](const std::string &found, const std::string &expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  const Tensor none = rows({0, 0, 0, 0, 0, 0});
  refuses(detect(kDecoded + ", grids = [1, 1]", {none}), "has box_code CENTER with grids");
  refuses(detect(kGrid + "box_code = \"GRID_EXP\"", {none}), "box_code GRID_EXP without grids");
  refuses(detect(kGrid + "box_code = \"EDGES\"", {none}), "box_code");
  refuses(detect(kDecoded + ", nms_threshold = -0.5", {none}), "nms_threshold is -");
  refuses(detect(kDecoded + ", variances = [1.0]", {none}), "has 1 variances");
  refuses(detect(kDecoded + ", picture = [1]", {none}), "picture has 1 extents");
  refuses(detect(kDecoded + ", part_fields = [4, 3]", {none, none}),
          "part_fields has 7 fields, not 6");
  refuses(detect(kDecoded, {f32({1, 1, 7}, {0, 0, 0, 0, 0, 0, 0})}),
          "7 numbers for each item; expected 1 records of 6");
  refuses(
      detect(kGrid + "box_code = \"ANCHOR_EXP\", grids = [1, 1]", {f32({1, 5}, {0, 0, 0, 0, 0})}),
      "has 0 extents of anchors, not 2");
  refuses(detect(kDecoded + ", rotated = true", {none}), "has rotated boxes without an angle");
  refuses(detect(kGrid + "box_code = \"GRID_EXP\", grids = [1]", {f32({1, 5}, {0, 0, 0, 0, 0})}),
          "grids is no list of heights and widths");
}
