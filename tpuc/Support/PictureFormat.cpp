//===- PictureFormat.cpp - How cameras order the bytes of a picture ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/PictureFormat.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc {

std::string_view pictureFormatName(PictureFormat format) {
  return kPictureFormatNames[static_cast<size_t>(format)];
}

std::optional<PictureFormat> parsePictureFormat(std::string_view name) {
  const auto found = std::find(kPictureFormatNames.begin(), kPictureFormatNames.end(), name);
  if (found == kPictureFormatNames.end())
    return std::nullopt;
  return static_cast<PictureFormat>(found - kPictureFormatNames.begin());
}

bool isPacked(PictureFormat format) {
  return format == PictureFormat::RgbPacked || format == PictureFormat::BgrPacked;
}

bool isYuv(PictureFormat format) {
  return format == PictureFormat::Yuv420Planar || format == PictureFormat::YuvNv12 ||
         format == PictureFormat::YuvNv21;
}

int64_t numChannels(PictureFormat format) {
  if (format == PictureFormat::Grayscale)
    return 1;
  return format == PictureFormat::RgbaPlanar ? 4 : 3;
}

int64_t numChannels(std::string_view wanted) {
  return wanted == "gray" ? 1 : wanted == "rgbd" ? 4 : 3;
}

std::optional<int64_t> channelIn(PictureFormat format, std::string_view wanted, int64_t channel) {
  const bool isGray = format == PictureFormat::Grayscale;
  if (wanted == "gray")
    return isGray && channel == 0 ? std::optional<int64_t>(0) : std::nullopt;
  if (isGray || channel < 0 || channel > 3)
    return std::nullopt;
  if (channel == 3)
    return (wanted == "rgbd" || wanted == "rgba") && format == PictureFormat::RgbaPlanar
               ? std::optional<int64_t>(3)
               : std::nullopt;
  const bool isBgr = format == PictureFormat::BgrPlanar || format == PictureFormat::BgrPacked;
  return isBgr == (wanted == "bgr") ? channel : 2 - channel;
}

Expected<std::vector<int64_t>> pictureDims(PictureFormat format, const PictureExtents &extents) {
  const auto &[batch, height, width] = extents;
  if (isYuv(format)) {
    if (height % 2 != 0 || width % 2 != 0)
      return makeError("", fmt::format("a height of {} and a width of {}", height, width),
                       fmt::format("even ones for {}", pictureFormatName(format)));
    return std::vector<int64_t>{batch, 1, height / 2 * 3, width};
  }
  if (isPacked(format))
    return std::vector<int64_t>{batch, height, width, numChannels(format)};
  return std::vector<int64_t>{batch, numChannels(format), height, width};
}

Expected<PictureExtents> pictureExtents(PictureFormat format, std::span<const int64_t> dims) {
  const auto wrong = [&](const char *expected) {
    return makeError("", fmt::format("a picture of shape [{}]", fmt::join(dims, ", ")),
                     fmt::format("{} for {}", expected, pictureFormatName(format)));
  };
  if (dims.size() != 4)
    return wrong("4 dimensions");
  if (isYuv(format)) {
    if (dims[1] != 1 || dims[2] % 3 != 0 || dims[3] % 2 != 0)
      return wrong("[N, 1, H * 3 / 2, W] of even H and W");
    return PictureExtents{dims[0], dims[2] / 3 * 2, dims[3]};
  }
  const size_t channelAxis = isPacked(format) ? 3 : 1;
  if (dims[channelAxis] != numChannels(format))
    return wrong(isPacked(format) ? "[N, H, W, 3]" : "the channels that it has, behind N");
  return isPacked(format) ? PictureExtents{dims[0], dims[1], dims[2]}
                          : PictureExtents{dims[0], dims[2], dims[3]};
}

YuvToRgb yuvToRgb(bool isVideoRange) {
  constexpr double kRed = 0.299, kBlue = 0.114, kGreen = 1 - kRed - kBlue;
  const double chroma = isVideoRange ? 255.0 / 224 : 1;
  const double redV = 2 * (1 - kRed) * chroma;
  const double blueU = 2 * (1 - kBlue) * chroma;
  const auto exact = [](double number) { return std::round(number * 0x1p13) * 0x1p-13; };
  return {exact(isVideoRange ? 255.0 / 219 : 1), isVideoRange ? 16.0 : 0,      exact(redV),
          exact(-blueU * kBlue / kGreen),        exact(-redV * kRed / kGreen), exact(blueU)};
}

int64_t PictureBytes::size() const {
  return isYuv(format) ? height * width / 2 * 3 : numChannels(format) * height * width;
}

int64_t PictureBytes::offset(int64_t channel, int64_t y, int64_t x) const {
  if (isPacked(format))
    return (y * width + x) * numChannels(format) + channel;
  if (!isYuv(format) || channel == 0)
    return (channel * height + y) * width + x;
  const int64_t pair = y / 2 * (width / 2) + x / 2;
  const int64_t chroma = channel - 1;
  if (format == PictureFormat::Yuv420Planar)
    return height * width + chroma * (height / 2) * (width / 2) + pair;
  return height * width + 2 * pair + (format == PictureFormat::YuvNv21 ? 1 - chroma : chroma);
}

} // namespace tpuc
