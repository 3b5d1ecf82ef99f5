//===- Window.h - Shapes of what slides a window over its input ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_WINDOW_H
#define TPUC_SUPPORT_OPSHAPES_WINDOW_H

#include "tpuc/Support/OpShapes/Dims.h"

#include <string>

namespace tpuc::shapes {

/// How a window moves over the spatial dimensions, one entry for each, and what comes out.
struct Window {
  Dims kernel;
  Dims strides;
  Dims dilations;
  Dims padsBegin;
  Dims padsEnd;
  /// All extents of the result, kDynamic for those that depend on dynamic ones.
  Dims output;
};

/// What the attributes of an op with a window say.
struct WindowSpec {
  Dims kernel;
  std::optional<Dims> strides = std::nullopt;
  std::optional<Dims> dilations = std::nullopt;
  std::optional<Dims> pads = std::nullopt;
  std::string autoPad = "NOTSET";
  bool ceilMode = false;
  int64_t group = 1;
  std::optional<Dims> inserts = std::nullopt;
  std::optional<Dims> outputPadding = std::nullopt;
  std::optional<Dims> outputShape = std::nullopt;
};

// The window of an op for operands of the given extents: `auto_pad` is resolved where the extents
// are static. The same functions serve shape inference and evaluation, which knows more extents.
// Errors (without `where`): operands that do not fit each other or the attributes.
Expected<Window> convolutionWindow(const WindowSpec &spec, std::span<const int64_t> input,
                                   std::span<const int64_t> filter);
Expected<Window> transposedWindow(const WindowSpec &spec, std::span<const int64_t> input,
                                  std::span<const int64_t> filter);
Expected<Window> deformableWindow(const WindowSpec &spec, int64_t offsetGroup,
                                  std::span<const int64_t> input, std::span<const int64_t> filter,
                                  std::span<const int64_t> offset);
Expected<Window> poolWindow(const WindowSpec &spec, std::span<const int64_t> input);
/// `outputShape`: the whole result where an operand states it (`isStated`) and it is known.
Expected<Window> unpoolWindow(const WindowSpec &spec, std::span<const int64_t> input,
                              const std::optional<Dims> &outputShape, bool isStated);
/// Of a Col2Im. `image` and `block`: the values of the operands, none where they are not known.
Expected<Window> blocksWindow(const WindowSpec &spec, std::span<const int64_t> input,
                              const std::optional<Dims> &image, const std::optional<Dims> &block);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_WINDOW_H
