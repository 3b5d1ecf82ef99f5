//===- Signal.cpp - Shapes of transforms of signals -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Signal.h"
#include "tpuc/Support/Sizes.h"

#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::shapes;

/// The extents of a real or complex signal are given as its last one.
static Expected<void> checkSignal(std::span<const int64_t> input, size_t leastRank) {
  bool fits = input.size() >= leastRank &&
              (input.back() == kDynamic || input.back() == 1 || input.back() == 2);
  if (!fits)
    return makeError("", "input has shape " + dimsText(input),
                     fmt::format("rank {} at least and a last extent of 1 or 2", leastRank));
  return {};
}

Expected<DftShape> shapes::dftShape(const DftSpec &spec, std::span<const int64_t> input,
                                    int64_t axis, std::optional<int64_t> length) {
  if (Expected<void> checked = checkSignal(input, 2); !checked)
    return propagate(checked);
  auto rank = static_cast<int64_t>(input.size());
  int64_t front = axis < 0 ? axis + rank : axis;
  if (front < 0 || front >= rank - 1)
    return makeError("", fmt::format("axis {}", axis),
                     fmt::format("one of the {} before the last", rank - 1));
  DftShape shape{static_cast<size_t>(front), input[static_cast<size_t>(front)],
                 Dims(input.begin(), input.end())};
  bool isHalf = spec.inverse && spec.onesided;
  if (length)
    shape.length = *length;
  else if (isHalf && shape.length != kDynamic)
    shape.length = Count(2) * (shape.length - 1);
  if (shape.length != kDynamic && shape.length < 1)
    return makeError("", fmt::format("a transform of {} elements", shape.length), "at least 1");
  shape.output[front] = shape.length;
  if (spec.onesided && !spec.inverse && shape.length != kDynamic)
    shape.output[front] = shape.length / 2 + 1;
  shape.output.back() = isHalf ? 1 : 2;
  return shape;
}

Expected<StftShape> shapes::stftShape(bool onesided, std::span<const int64_t> input, int64_t step,
                                      const std::optional<Dims> &window,
                                      std::optional<int64_t> length) {
  if (Expected<void> checked = checkSignal(input, 3); !checked)
    return propagate(checked);
  if (input.size() != 3)
    return makeError("", "input has shape " + dimsText(input), "rank 3");
  if (window && window->size() != 1)
    return makeError("", "window has shape " + dimsText(*window), "rank 1");
  int64_t frame = input[1];
  if (window)
    frame = window->front();
  if (length) {
    if (window && *length != kDynamic && frame != kDynamic && frame != *length)
      return makeError("", fmt::format("window has {} elements", frame),
                       fmt::format("{}, the length", *length));
    frame = *length == kDynamic ? frame : *length;
    if (!window && *length == kDynamic)
      frame = kDynamic;
  }
  if (step != kDynamic && step < 1)
    return makeError("", fmt::format("step is {}", step), "at least 1");
  StftShape shape{frame, {input[0], kDynamic, kDynamic, 2}};
  if (frame == kDynamic)
    return shape;
  if (frame < 1 || (input[1] != kDynamic && frame > input[1]))
    return makeError("", fmt::format("frames have {} elements", frame),
                     fmt::format("1 to {}, those of the signal", input[1]));
  shape.output[2] = onesided ? frame / 2 + 1 : frame;
  if (input[1] != kDynamic && step != kDynamic)
    shape.output[1] = (input[1] - frame) / step + 1;
  return shape;
}
