//===- HeadMaps.h - What outputs are made of ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_HEADMAPS_H
#define TPUC_TRANSFORMS_HEADMAPS_H

#include "tpuc/Dialect/Top/ShapeInference.h"

#include <optional>
#include <vector>

namespace tpuc {

/// A tensor [N, channels, height, width].
struct HeadMap {
  mlir::Value map;
  int64_t items;
  int64_t channels;
  int64_t height;
  int64_t width;

  int64_t pixels() const { return height * width; }
};

/// How the records of an output are ordered: see top.ObjectDetection.
enum class RecordOrder : uint8_t { Planes, Anchors, Pixels };

/// An output of a network, and the maps whose elements it has: reshaped, permuted and joined.
class HeadOutput {
public:
  /// `value` has a static shape.
  explicit HeadOutput(mlir::Value value);

  mlir::Value value() const { return output; }
  const top::Dims &dims() const { return extents; }
  /// Empty where any element was computed from others, as of decoded boxes.
  const std::vector<HeadMap> &maps() const { return sources; }
  /// How its records of `fields` numbers are ordered, those of the first map first; nothing where
  /// they are no such records.
  std::optional<RecordOrder> order(int64_t fields) const;

private:
  bool trace(mlir::Value from, std::vector<int64_t> &places);
  bool traceJoined(mlir::Operation *concat, int64_t axis, std::vector<int64_t> &places);

  mlir::Value output;
  top::Dims extents;
  std::vector<HeadMap> sources;
  /// Where each element stands in the maps, one map behind the other.
  std::vector<int64_t> elements;
};

/// The map that `value` is, where it has four static dimensions.
std::optional<HeadMap> asMap(mlir::Value value);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_HEADMAPS_H
