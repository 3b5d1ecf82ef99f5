//===- Window.cpp - Shapes of what slides a window over its input ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Window.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::shapes;

namespace {

Dims intsOr(const std::optional<Dims> &given, size_t size, int64_t value) {
  return given.value_or(Dims(size, value));
}

Expected<void> checkInput(std::span<const int64_t> input, size_t spatial) {
  if (input.size() != spatial + 2)
    return makeError("", fmt::format("input has shape {}", dimsText(input)),
                     fmt::format("batch, channels and {} spatial dimensions", spatial));
  return {};
}

/// Pads in front, then behind.
void splitInHalf(const Dims &pads, Window &window) {
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  window.padsBegin.assign(pads.begin(), middle);
  window.padsEnd.assign(middle, pads.end());
}

/// The attributes of a window over `spatial` dimensions, with their defaults; pads not yet
/// resolved.
Window explicitWindow(const WindowSpec &attributes) {
  Window window;
  window.kernel = attributes.kernel;
  size_t spatial = window.kernel.size();
  window.strides = intsOr(attributes.strides, spatial, 1);
  window.dilations = intsOr(attributes.dilations, spatial, 1);
  Dims pads = intsOr(attributes.pads, 2 * spatial, 0);
  splitInHalf(pads, window);
  return window;
}

Count reach(const Window &window, size_t axis) {
  return (Count(window.kernel[axis]) - 1) * window.dilations[axis] + 1;
}

int64_t ceilDiv(int64_t a, int64_t b) { return a >= 0 ? (Count(a) + b - 1) / b : -(-a / b); }

int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((Count(-a) + b - 1) / b); }

/// Splits `total` elements of padding as `autoPad` says.
void splitPads(std::string_view autoPad, int64_t total, int64_t &begin, int64_t &end) {
  begin = autoPad == "SAME_LOWER" ? total - total / 2 : total / 2;
  end = total - begin;
}

/// Resolves the pads of a forward window and appends the spatial extents of its output, which are
/// those of ONNX's pooling operators.
Expected<void> slide(Window &window, std::string_view autoPad, bool ceilMode,
                     std::span<const int64_t> input) {
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    int64_t extent = input[axis + 2];
    int64_t stride = window.strides[axis];
    int64_t size = reach(window, axis);
    if (autoPad == "VALID")
      window.padsBegin[axis] = window.padsEnd[axis] = 0;
    if (extent == kDynamic) {
      window.output.push_back(kDynamic);
      continue;
    }
    if (autoPad.starts_with("SAME")) {
      int64_t out = ceilDiv(extent, stride);
      splitPads(autoPad, std::max<int64_t>(Count(out - 1) * stride + size - extent, 0),
                window.padsBegin[axis], window.padsEnd[axis]);
      window.output.push_back(out);
      continue;
    }
    const Count padded = Count(extent) + window.padsBegin[axis] + window.padsEnd[axis];
    const Count room = padded - size;
    int64_t out = (ceilMode ? ceilDiv(room, stride) : floorDiv(room, stride)) + 1;
    // A window that would start in the padding behind the input is left out.
    if (ceilMode && Count(out - 1) * stride >= Count(extent) + window.padsBegin[axis])
      --out;
    if (room < 0 && out <= 0)
      return makeError("",
                       fmt::format("spatial dimension {} has extent {}, with padding {}", axis,
                                   extent, int64_t(padded)),
                       fmt::format("at least the kernel's {}", size));
    window.output.push_back(out);
  }
  return {};
}

/// What a convolution's input and filter must agree on. `channelAxis`: that of the filter which
/// runs over the input's channels of one group.
Expected<void> checkFilter(std::span<const int64_t> input, std::span<const int64_t> filter,
                           const Window &window, int64_t group, bool transposed) {
  size_t spatial = window.kernel.size();
  if (filter.size() != spatial + 2)
    return makeError("", fmt::format("filter has shape {}", dimsText(filter)),
                     fmt::format("rank {} for {} spatial dimensions", spatial + 2, spatial));
  for (size_t axis = 0; axis < spatial; ++axis)
    if (filter[axis + 2] != kDynamic && filter[axis + 2] != window.kernel[axis])
      return makeError("", fmt::format("filter has shape {}", dimsText(filter)),
                       fmt::format("kernel_shape {}", dimsText(window.kernel)));
  int64_t channels = input[1];
  int64_t wanted = transposed ? filter[0] : filter[1];
  if (channels != kDynamic && wanted != kDynamic &&
      channels != (transposed ? wanted : int64_t(Count(wanted) * group)))
    return makeError(
        "", fmt::format("input has {} channels, the filter {}", channels, dimsText(filter)),
        fmt::format("{} channels in {} groups",
                    transposed ? wanted : int64_t(Count(wanted) * group), group));
  if (filter[0] != kDynamic && filter[0] % group != 0)
    return makeError("", fmt::format("filter has shape {}", dimsText(filter)),
                     fmt::format("a first extent that {} groups divide", group));
  return {};
}

/// `input` with `inserts` zeros between neighbours.
Dims insertZeros(std::span<const int64_t> input, const std::optional<Dims> &inserts) {
  Dims result(input.begin(), input.end());
  if (!inserts)
    return result;
  for (size_t axis = 0; axis < inserts->size(); ++axis)
    if (result[axis + 2] != kDynamic && result[axis + 2] > 0)
      result[axis + 2] = result[axis + 2] + Count(result[axis + 2] - 1) * (*inserts)[axis];
  return result;
}

} // namespace

Expected<Window> shapes::poolWindow(const WindowSpec &spec, std::span<const int64_t> input) {
  Window window = explicitWindow(spec);
  if (Expected<void> checked = checkInput(input, window.kernel.size()); !checked)
    return propagate(checked);
  window.output = {input[0], input[1]};
  Expected<void> slid = slide(window, spec.autoPad, spec.ceilMode, input);
  if (!slid)
    return propagate(slid);
  return window;
}

Expected<Window> shapes::convolutionWindow(const WindowSpec &spec, std::span<const int64_t> input,
                                           std::span<const int64_t> filter) {
  Window window = explicitWindow(spec);
  if (Expected<void> checked = checkInput(input, window.kernel.size()); !checked)
    return propagate(checked);
  if (Expected<void> checked = checkFilter(input, filter, window, spec.group, false); !checked)
    return propagate(checked);
  window.output = {input[0], filter[0]};
  Expected<void> slid = slide(window, spec.autoPad, false, insertZeros(input, spec.inserts));
  if (!slid)
    return propagate(slid);
  return window;
}

Expected<Window> shapes::deformableWindow(const WindowSpec &spec, int64_t offsetGroup,
                                          std::span<const int64_t> input,
                                          std::span<const int64_t> filter,
                                          std::span<const int64_t> offset) {
  Window window = explicitWindow(spec);
  if (Expected<void> checked = checkInput(input, window.kernel.size()); !checked)
    return propagate(checked);
  if (Expected<void> checked = checkFilter(input, filter, window, spec.group, false); !checked)
    return propagate(checked);
  window.output = {input[0], filter[0]};
  if (Expected<void> slid = slide(window, "NOTSET", false, input); !slid)
    return propagate(slid);
  const Count offsets = Count(offsetGroup) * 2 * window.kernel[0] * window.kernel[1];
  Dims wanted = {input[0], offsets, window.output[2], window.output[3]};
  bool fits = offset.size() == 4;
  for (size_t axis = 0; fits && axis < 4; ++axis)
    fits = offset[axis] == kDynamic || wanted[axis] == kDynamic || offset[axis] == wanted[axis];
  if (!fits)
    return makeError("", fmt::format("offset has shape {}", dimsText(offset)), dimsText(wanted));
  return window;
}

Expected<Window> shapes::transposedWindow(const WindowSpec &spec, std::span<const int64_t> input,
                                          std::span<const int64_t> filter) {
  Window window = explicitWindow(spec);
  size_t spatial = window.kernel.size();
  if (Expected<void> checked = checkInput(input, spatial); !checked)
    return propagate(checked);
  if (Expected<void> checked = checkFilter(input, filter, window, spec.group, true); !checked)
    return propagate(checked);
  Dims expanded = insertZeros(input, spec.inserts);
  Dims outputPadding = intsOr(spec.outputPadding, spatial, 0);
  std::optional<Dims> outputShape = spec.outputShape;
  if (outputShape && outputShape->size() == spatial + 2)
    outputShape->erase(outputShape->begin(), outputShape->begin() + 2);
  int64_t channels = filter[1] == kDynamic ? kDynamic : int64_t(Count(filter[1]) * spec.group);
  window.output = {input[0], channels};
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t extent = expanded[axis + 2];
    if (extent == kDynamic) {
      window.output.push_back(outputShape ? (*outputShape)[axis] : kDynamic);
      continue;
    }
    const int64_t full =
        Count(window.strides[axis]) * (extent - 1) + outputPadding[axis] + reach(window, axis);
    bool same = spec.autoPad.starts_with("SAME");
    if (outputShape || same) {
      // A window shorter than the stride does not reach the end: there is no padding then, as
      // ONNX's own shape inference has it.
      int64_t out = outputShape ? (*outputShape)[axis]
                                : std::min<int64_t>(full, Count(extent) * window.strides[axis]);
      const int64_t total = Count(full) - out;
      // ONNX puts the odd element in front unless auto_pad is SAME_UPPER. Where the window does not
      // reach the end of the wanted output there is only the bias.
      window.padsBegin[axis] =
          total <= 0 ? 0 : (spec.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2);
      window.padsEnd[axis] = total - window.padsBegin[axis];
      window.output.push_back(out);
      continue;
    }
    if (spec.autoPad == "VALID")
      window.padsBegin[axis] = window.padsEnd[axis] = 0;
    const int64_t out = Count(full) - window.padsBegin[axis] - window.padsEnd[axis];
    if (out < 0)
      return makeError("",
                       fmt::format("pads {} and {} of spatial dimension {}", window.padsBegin[axis],
                                   window.padsEnd[axis], axis),
                       fmt::format("at most {} together", full));
    window.output.push_back(out);
  }
  return window;
}

Expected<Window> shapes::unpoolWindow(const WindowSpec &spec, std::span<const int64_t> input,
                                      const std::optional<Dims> &outputShape, bool isStated) {
  Window window = explicitWindow(spec);
  size_t spatial = window.kernel.size();
  if (Expected<void> checked = checkInput(input, spatial); !checked)
    return propagate(checked);
  window.output = {input[0], input[1]};
  // Unless the size is stated, the inverse of pooling; indices refer to that one in any case.
  for (size_t axis = 0; axis < spatial; ++axis)
    window.output.push_back(input[axis + 2] == kDynamic
                                ? kDynamic
                                : int64_t(Count(input[axis + 2] - 1) * window.strides[axis] +
                                          window.kernel[axis] - window.padsBegin[axis] -
                                          window.padsEnd[axis]));
  if (outputShape) {
    if (outputShape->size() != spatial + 2)
      return makeError("", fmt::format("output_shape has {} entries", outputShape->size()),
                       std::to_string(spatial + 2));
    window.output = *outputShape;
  } else if (isStated) {
    std::fill(window.output.begin() + 2, window.output.end(), kDynamic);
  }
  for (int64_t extent : window.output)
    if (extent < 0 && extent != kDynamic)
      return makeError("", fmt::format("output would have shape {}", dimsText(window.output)),
                       "extents of at least 0");
  return window;
}

Expected<Window> shapes::blocksWindow(const WindowSpec &spec, std::span<const int64_t> input,
                                      const std::optional<Dims> &image,
                                      const std::optional<Dims> &block) {
  if (input.size() != 3)
    return makeError("", fmt::format("input has shape {}", dimsText(input)),
                     "batch, channels times block, number of blocks");
  Window window;
  if (!image || !block) {
    size_t spatial = image ? image->size() : block ? block->size() : 0;
    window.output.assign(spatial ? spatial + 2 : 0, kDynamic);
    if (image)
      std::copy(image->begin(), image->end(), window.output.begin() + 2);
    if (spatial)
      window.output[0] = input[0];
    return window;
  }
  size_t spatial = block->size();
  window.kernel = *block;
  window.strides = intsOr(spec.strides, spatial, 1);
  window.dilations = intsOr(spec.dilations, spatial, 1);
  Dims pads = intsOr(spec.pads, 2 * spatial, 0);
  if (image->size() != spatial || window.strides.size() != spatial ||
      window.dilations.size() != spatial || pads.size() != 2 * spatial)
    return makeError(
        "",
        fmt::format("image_shape {}, block_shape {}, strides {}, dilations {}, pads {}",
                    dimsText(*image), dimsText(*block), dimsText(window.strides),
                    dimsText(window.dilations), dimsText(pads)),
        "one entry per spatial dimension, two of pads");
  splitInHalf(pads, window);
  Count blockSize = 1;
  Count blocks = 1;
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t extent = (*image)[axis];
    if (extent < 1 || window.kernel[axis] < 1)
      return makeError(
          "", fmt::format("image_shape {}, block_shape {}", dimsText(*image), dimsText(*block)),
          "extents of at least 1");
    const Count room =
        Count(extent) + window.padsBegin[axis] + window.padsEnd[axis] - reach(window, axis);
    if (room < 0)
      return makeError(
          "", fmt::format("image_shape {}, block_shape {}", dimsText(*image), dimsText(*block)),
          "an image that holds a block");
    blockSize *= window.kernel[axis];
    blocks *= room / window.strides[axis] + 1;
  }
  if (input[2] != kDynamic && input[2] != blocks)
    return makeError("", fmt::format("input has {} blocks", input[2]),
                     std::to_string(int64_t(blocks)));
  if (input[1] != kDynamic && input[1] % blockSize != 0)
    return makeError("", fmt::format("input has {} rows", input[1]),
                     fmt::format("a multiple of the block's {} elements", int64_t(blockSize)));
  window.output = {input[0], input[1] == kDynamic ? kDynamic : input[1] / blockSize};
  window.output.insert(window.output.end(), image->begin(), image->end());
  return window;
}
