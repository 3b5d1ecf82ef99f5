//===- ObjectDetection.h - Objects from the heads of detectors --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What top.ObjectDetection computes; its text gives the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_OBJECTDETECTION_H
#define TPUC_INTERPRETER_KERNELS_OBJECTDETECTION_H

#include "tpuc/Support/Error.h"
#include "tpuc/Support/Tensor.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tpuc::kernels {

enum class ObjectBox : uint8_t {
  Center,
  Corners,
  AnchorExp,
  AnchorSquare,
  GridExp,
  Distances,
  Prior
};
enum class ObjectScore : uint8_t { None, Sigmoid, Softmax };
enum class ObjectLayout : uint8_t { Planes, Anchors, Pixels };
enum class Letterbox : uint8_t { None, Center, Normal };
/// Which pixels of an object's mask are computed: none, those in its box, all.
enum class ObjectMask : uint8_t { None, Box, Whole };

/// As attributes spell them, in the order of the enums.
inline constexpr std::array<std::string_view, 7> kObjectBoxNames = {
    "CENTER", "CORNERS", "ANCHOR_EXP", "ANCHOR_SQUARE", "GRID_EXP", "DISTANCES", "PRIOR"};
inline constexpr std::array<std::string_view, 3> kObjectScoreNames = {"NONE", "SIGMOID", "SOFTMAX"};
inline constexpr std::array<std::string_view, 3> kObjectLayoutNames = {"PLANES", "ANCHORS",
                                                                       "PIXELS"};
inline constexpr std::array<std::string_view, 3> kLetterboxNames = {"NONE", "CENTER", "NORMAL"};
inline constexpr std::array<std::string_view, 3> kObjectMaskNames = {"NONE", "BOX", "WHOLE"};

/// A level of the heads: the places of a grid, or of decoded boxes.
struct ObjectLevel {
  int64_t height = 1;
  int64_t width = 1;
  int64_t anchors = 1;

  int64_t pixels() const { return height * width; }
};

struct ObjectParams {
  ObjectBox box = ObjectBox::Center;
  ObjectScore score = ObjectScore::None;
  ObjectLayout layout = ObjectLayout::Planes;
  int64_t classes = 1;
  int64_t inputHeight = 1;
  int64_t inputWidth = 1;
  std::vector<int64_t> partFields;   ///< Empty: one tensor has all fields.
  std::vector<int64_t> grids;        ///< Height and width of each level; empty: decoded boxes.
  std::vector<int64_t> anchorCounts; ///< For each level; empty: 1.
  std::vector<double> anchors;       ///< Width and height for each level and anchor.
  std::array<double, 4> variances = {1, 1, 1, 1};
  int64_t bins = 1;
  int64_t extra = 0;
  int64_t keyPoints = 0;
  bool objectness = false;
  bool labelled = false;
  bool boxesActivated = false;
  bool normalized = false;
  bool swapXy = false;
  std::vector<double> scaleXy; ///< For each level; empty: 1.
  int64_t background = -1;
  double scoreThreshold = 0.25;
  double nmsThreshold = 0.45;
  int64_t topK = -1;
  int64_t keep = 200;
  bool agnostic = false;
  bool multiLabel = false;
  bool rotated = false;                     ///< The first extra number is the angle.
  bool extrasDecoded = false;               ///< Extra numbers of a grid are in their last form.
  ObjectMask mask = ObjectMask::None;       ///< Else the extra numbers are factors of planes.
  std::optional<std::vector<int64_t>> only; ///< Classes that are reported.
  std::vector<int64_t> picture;             ///< Height and width; empty: the input's pixels.
  Letterbox letterbox = Letterbox::None;

  int64_t boxFields() const { return 4 * bins; }
  int64_t scoreFields() const { return labelled ? 2 : classes; }
  /// F of the op's text, at most Count::kMost.
  int64_t fields() const;
  size_t parts() const { return partFields.empty() ? 1 : partFields.size(); }
  bool hasGrids() const { return !grids.empty(); }
  bool decodesExtras() const { return hasGrids() && !extrasDecoded; }
};

/// What is wrong with `params` themselves: numbers of anchors, fields or extents that do not go
/// together, thresholds below 0, codes that need what is not there. Empty: nothing.
std::string objectParamsFault(const ObjectParams &params);

/// The levels of tensors that have `sizes` elements for each item. Errors: they hold other records
/// than `params` says.
Expected<std::vector<ObjectLevel>> objectLevels(const ObjectParams &params,
                                                std::span<const int64_t> sizes);

/// `inputs`: as the op says, f32, with what `levels` have, for `items` items; with masks the planes
/// are the last one. Gives items * keep rows of 7, and unless `extras` is empty as many rows of
/// `extra` numbers, or masks of the planes' extents.
void detectObjects(std::span<const Tensor> inputs, const ObjectParams &params,
                   std::span<const ObjectLevel> levels, int64_t items, std::span<float> rows,
                   std::span<float> extras);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_OBJECTDETECTION_H
