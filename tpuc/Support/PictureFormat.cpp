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

namespace {

/// The dimensions of one frame of `bytes`, which has gaps.
std::vector<int64_t> frameDims(PictureFormat format, const PictureExtents &extents,
                               const PictureBytes &bytes) {
  if (isYuv(format))
    return {extents.batch, 1, 1, bytes.size()};
  const auto channels = std::ssize(bytes.planes());
  if (channels == 1)
    return {extents.batch, 1, extents.height, bytes.planes()[0].stride};
  return {extents.batch, channels, 1, bytes.size() / channels};
}

} // namespace

Expected<std::vector<int64_t>> pictureDims(PictureFormat format, const PictureExtents &extents,
                                           const PictureAlignment &alignment) {
  const auto &[batch, height, width] = extents;
  if (isYuv(format) && (height % 2 != 0 || width % 2 != 0))
    return makeError("", fmt::format("a height of {} and a width of {}", height, width),
                     fmt::format("even ones for {}", pictureFormatName(format)));
  if (alignment.isPresent())
    return frameDims(format, extents, PictureBytes(format, height, width, alignment));
  if (isYuv(format))
    return std::vector<int64_t>{batch, 1, height / 2 * 3, width};
  if (isPacked(format))
    return std::vector<int64_t>{batch, height, width, numChannels(format)};
  return std::vector<int64_t>{batch, numChannels(format), height, width};
}

Expected<PictureExtents> pictureExtents(PictureFormat format, std::span<const int64_t> dims,
                                        const std::optional<PictureFrame> &frame) {
  const auto wrong = [&](const std::string &expected) {
    return makeError("", fmt::format("a picture of shape [{}]", fmt::join(dims, ", ")),
                     fmt::format("{} for {}", expected, pictureFormatName(format)));
  };
  if (dims.size() != 4)
    return wrong("4 dimensions");
  if (frame) {
    const PictureExtents extents = {dims[0], frame->height, frame->width};
    const auto whole = pictureDims(format, extents, frame->alignment);
    if (!whole)
      return tl::unexpected(whole.error());
    if (!std::ranges::equal(*whole, dims))
      return wrong(fmt::format("[{}]", fmt::join(*whole, ", ")));
    return extents;
  }
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

std::string pictureText(PictureFormat format, int64_t height, int64_t width) {
  return fmt::format("{} pictures, {} rows of {} pixels", pictureFormatName(format), height, width);
}

PictureBytes::PictureBytes(PictureFormat format, int64_t height, int64_t width,
                           const PictureAlignment &alignment)
    : format(format) {
  const auto aligned = [](int64_t size, int64_t to) { return (size + to - 1) / to * to; };
  const auto add = [&](int64_t rows, int64_t rowBytes, int64_t rowAlignment) {
    const int64_t stride = aligned(rowBytes, rowAlignment);
    parts.push_back({bytes, rows, rowBytes, stride});
    bytes += rows * stride;
  };
  const auto addPlane = [&](int64_t rows, int64_t rowBytes, int64_t rowAlignment) {
    add(rows, rowBytes, rowAlignment);
    bytes = aligned(bytes, alignment.plane);
  };
  const bool hasUAndV = format == PictureFormat::Yuv420Planar;
  if (isYuv(format)) {
    addPlane(height, width, hasUAndV && alignment.row > 1 ? 2 * alignment.row : alignment.row);
    for (int64_t plane = 0; plane < (hasUAndV ? 2 : 1); ++plane)
      addPlane(height / 2, hasUAndV ? width / 2 : width, alignment.row);
  } else if (isPacked(format)) {
    add(height, width * numChannels(format), alignment.row);
  } else if (numChannels(format) == 1) {
    add(height, width, alignment.row);
  } else {
    for (int64_t channel = 0; channel < numChannels(format); ++channel)
      addPlane(height, width, alignment.row);
  }
}

int64_t PictureBytes::offset(int64_t channel, int64_t y, int64_t x) const {
  if (isPacked(format))
    return y * parts[0].stride + x * numChannels(format) + channel;
  if (!isYuv(format) || channel == 0) {
    const PicturePlane &plane = parts[static_cast<size_t>(channel)];
    return plane.offset + y * plane.stride + x;
  }
  if (format == PictureFormat::Yuv420Planar) {
    const PicturePlane &plane = parts[static_cast<size_t>(channel)];
    return plane.offset + y / 2 * plane.stride + x / 2;
  }
  const int64_t chroma = channel - 1;
  return parts[1].offset + y / 2 * parts[1].stride + x / 2 * 2 +
         (format == PictureFormat::YuvNv21 ? 1 - chroma : chroma);
}

} // namespace tpuc
