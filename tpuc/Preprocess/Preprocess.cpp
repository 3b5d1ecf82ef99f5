//===- Preprocess.cpp - Names and checks of the options -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/Preprocess.h"

#include "tpuc/Preprocess/PictureAxes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc {

namespace {

/// Larger pictures are a slip of the keyboard; OpenCV refuses them as well.
constexpr int64_t kMaxExtent = int64_t(1) << 20;
constexpr int64_t kMaxPixels = int64_t(1) << 30;

template <typename Enum, size_t Size>
std::optional<Enum> parseName(std::string_view name,
                              const std::array<std::string_view, Size> &names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

Expected<void> checkPerChannel(const char *option, const std::vector<double> &values,
                               PixelFormat format) {
  const auto channels = static_cast<size_t>(numChannels(format));
  const bool isThreefoldGray = format == PixelFormat::Gray && values.size() == 3 &&
                               values[0] == values[1] && values[0] == values[2];
  if (!values.empty() && values.size() != channels && !isThreefoldGray)
    return makeError(
        option, fmt::format("{} value{}", values.size(), values.size() > 1 ? "s" : ""),
        fmt::format("{}, one per channel of pixel_format {}", channels, pixelFormatName(format)));
  for (double value : values)
    if (!std::isfinite(value))
      return makeError(option, fmt::format("{}", value), "a finite number");
  return {};
}

Expected<void> checkResizeDims(const std::vector<int64_t> &resizeDims, const PictureAxes &axes) {
  const char *const option = "--resize_dims";
  if (resizeDims.empty())
    return {};
  const std::string found = fmt::format("{}", fmt::join(resizeDims, ","));
  if (resizeDims.size() != 2)
    return makeError(option, found, "two numbers, height and width");
  if (std::min(resizeDims[0], resizeDims[1]) < 1)
    return makeError(option, found, "a height and a width of 1 at least");
  if (std::max(resizeDims[0], resizeDims[1]) > kMaxExtent ||
      resizeDims[0] * resizeDims[1] > kMaxPixels)
    return makeError(option, found,
                     fmt::format("at most {} a side and {} in all", kMaxExtent, kMaxPixels));
  if (resizeDims[0] < axes.height || resizeDims[1] < axes.width)
    return makeError(option, found,
                     fmt::format("nothing smaller than the input's height and width, {},{}",
                                 axes.height, axes.width));
  return {};
}

} // namespace

std::string_view pixelFormatName(PixelFormat format) {
  return kPixelFormatNames[static_cast<size_t>(format)];
}

std::string_view channelFormatName(ChannelFormat format) {
  return kChannelFormatNames[static_cast<size_t>(format)];
}

std::string_view padTypeName(PadType type) { return kPadTypeNames[static_cast<size_t>(type)]; }

std::optional<PixelFormat> parsePixelFormat(std::string_view name) {
  return parseName<PixelFormat>(name == "rgba" ? "rgbd" : name, kPixelFormatNames);
}

std::optional<ChannelFormat> parseChannelFormat(std::string_view name) {
  return parseName<ChannelFormat>(name, kChannelFormatNames);
}

std::optional<PadType> parsePadType(std::string_view name) {
  return parseName<PadType>(name, kPadTypeNames);
}

int64_t numChannels(PixelFormat format) {
  switch (format) {
  case PixelFormat::Gray:
    return 1;
  case PixelFormat::Rgbd:
    return 4;
  default:
    return 3;
  }
}

Expected<PictureAxes> pictureAxes(std::span<const int64_t> dims, PixelFormat pixelFormat,
                                  ChannelFormat channelFormat) {
  const std::string text = fmt::format("input [{}]", fmt::join(dims, ", "));
  if (channelFormat == ChannelFormat::None)
    return makeError("--channel_format", "none, which means that the input is no picture",
                     "nchw or nhwc");
  PictureAxes axes;
  // Without batch, [height, width] is a gray picture and three axes are one of any format.
  if (dims.size() < 2 || dims.size() > 4 || (dims.size() == 2 && numChannels(pixelFormat) != 1))
    return makeError("--channel_format", text,
                     fmt::format("the axes {} of a picture", channelFormatName(channelFormat)));
  if (dims.size() == 4) {
    axes.batch = dims[0];
    dims = dims.subspan(1);
  }
  const size_t channelAxis = channelFormat == ChannelFormat::Nchw ? 0 : 2;
  if (dims.size() == 3) {
    axes.channels = dims[channelAxis];
    dims = channelAxis == 0 ? dims.subspan(1) : dims.first(2);
  }
  axes.height = dims[0];
  axes.width = dims[1];
  const int64_t channels = numChannels(pixelFormat);
  if (axes.channels >= 0 && axes.channels != channels)
    return makeError(
        "--pixel_format",
        fmt::format("{} has {} channel{}", pixelFormatName(pixelFormat), channels,
                    channels > 1 ? "s" : ""),
        fmt::format("the {} of {} ({})", axes.channels, text, channelFormatName(channelFormat)));
  axes.channels = channels;
  return axes;
}

Expected<void> PreprocessOptions::check(std::span<const int64_t> dims) const {
  if (std::find(kKeepRatioModeNames.begin(), kKeepRatioModeNames.end(), keepRatioMode) ==
      kKeepRatioModeNames.end())
    return makeError("--keep_ratio_mode", keepRatioMode,
                     fmt::format("{}", fmt::join(kKeepRatioModeNames, " or ")));
  if (padValue < 0 || padValue > 255)
    return makeError("--pad_value", fmt::format("{}", padValue), "0 to 255");
  if (bytes) {
    Expected<PictureExtents> extents = pictureExtents(*bytes, dims, frame);
    if (!extents)
      return propagate(extents);
    return checkResizeDims(
        resizeDims, {extents->batch, tpuc::numChannels(*bytes), extents->height, extents->width});
  }
  if (Expected<void> result = checkPerChannel("--mean", mean, pixelFormat); !result)
    return result;
  if (Expected<void> result = checkPerChannel("--scale", scale, pixelFormat); !result)
    return result;
  Expected<PictureAxes> axes = pictureAxes(dims, pixelFormat, channelFormat);
  if (!axes)
    return propagate(axes);
  return checkResizeDims(resizeDims, *axes);
}

/// How pictures become the bytes that a network takes, where the user says more about it.
static Expected<PreprocessOptions> withBytesOf(const PreprocessOptions &own,
                                               const PreprocessOptions &wanted,
                                               const std::string &input) {
  const std::string taken = "', which input '" + input + "' takes";
  if (wanted.bytes && wanted.bytes != own.bytes)
    return makeError("--customization_format",
                     "'" + std::string(pictureFormatName(*wanted.bytes)) + "'",
                     "'" + std::string(pictureFormatName(*own.bytes)) + taken);
  const bool isVideoRange = own.isVideoRange.value_or(true);
  if (isYuv(*own.bytes) && wanted.isVideoRange.value_or(isVideoRange) != isVideoRange)
    return makeError("--yuv_range", isVideoRange ? "'full'" : "'video'",
                     (isVideoRange ? "'video" : "'full") + taken);
  PreprocessOptions merged = wanted.keepAspectRatio ? wanted : own;
  merged.bytes = own.bytes;
  merged.frame = own.frame;
  merged.isVideoRange = isVideoRange;
  merged.resizeDims = wanted.resizeDims;
  return merged;
}

Expected<void> takePictures(const std::optional<PreprocessOptions> &wanted,
                            std::span<InputSpec> inputs) {
  for (InputSpec &input : inputs) {
    if (input.dims.size() != 3 && input.dims.size() != 4)
      continue;
    if (wanted && input.preprocess && input.preprocess->bytes) {
      Expected<PreprocessOptions> merged = withBytesOf(*input.preprocess, *wanted, input.name);
      if (!merged)
        return propagate(merged);
      if (Expected<void> checked = merged->check(input.dims); !checked)
        return checked;
      input.preprocess = std::move(*merged);
    } else if (wanted) {
      if (Expected<void> checked = wanted->check(input.dims); !checked)
        return checked;
      input.preprocess = wanted;
    } else if (!input.preprocess) {
      input.preprocess.emplace();
    }
  }
  return {};
}

} // namespace tpuc
