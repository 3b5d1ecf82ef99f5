//===- PictureFormat.h - How cameras order the bytes of a picture --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_PICTUREFORMAT_H
#define TPUC_SUPPORT_PICTUREFORMAT_H

#include "tpuc/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tpuc {

/// The order of the bytes of a picture, as options and attributes name it. Planar: one channel
/// after the other, each in rows. Packed: the channels of a pixel together. Of YUV with 4:2:0 the
/// plane Y comes first, then one U and V for each 2 by 2 pixels: as planes (YUV420_PLANAR), in
/// turns from U (YUV_NV12), or in turns from V (YUV_NV21).
enum class PictureFormat : uint8_t {
  RgbPlanar,
  RgbPacked,
  BgrPlanar,
  BgrPacked,
  Grayscale,
  Yuv420Planar,
  YuvNv12,
  YuvNv21,
  RgbaPlanar,
};

/// In the order of the enum.
inline constexpr std::array<std::string_view, 9> kPictureFormatNames = {
    "RGB_PLANAR",    "RGB_PACKED", "BGR_PLANAR", "BGR_PACKED", "GRAYSCALE",
    "YUV420_PLANAR", "YUV_NV12",   "YUV_NV21",   "RGBA_PLANAR"};

std::string_view pictureFormatName(PictureFormat format);
/// None for another word.
std::optional<PictureFormat> parsePictureFormat(std::string_view name);

bool isPacked(PictureFormat format);
bool isYuv(PictureFormat format);
/// 1 for Grayscale, 4 for RgbaPlanar, else 3.
int64_t numChannels(PictureFormat format);
/// How many channels a network takes in the order `wanted`: 1 of "gray", 4 of "rgbd", else 3.
int64_t numChannels(std::string_view wanted);

/// Which channel of the format holds channel `channel` of a network that wants the order `wanted`:
/// "rgb", "bgr", "gray" or "rgbd" ("rgba"). Of YUV, channels are red, green and blue here. None
/// where the format has no such channel.
std::optional<int64_t> channelIn(PictureFormat format, std::string_view wanted, int64_t channel);

/// Batch, height and width in pixels.
struct PictureExtents {
  int64_t batch = 1;
  int64_t height = 0;
  int64_t width = 0;
};

/// The dimensions of a tensor that holds such pictures: [N, C, H, W], packed [N, H, W, C], and YUV
/// [N, 1, H * 3 / 2, W]. Errors: odd extents of YUV.
Expected<std::vector<int64_t>> pictureDims(PictureFormat format, const PictureExtents &extents);
/// The inverse. Errors: dimensions that are none of the format.
Expected<PictureExtents> pictureExtents(PictureFormat format, std::span<const int64_t> dims);

/// RGB of YUV: red = luma * (Y - yOffset) + redV * (V - 128), green = luma * (Y - yOffset) + greenU
/// * (U - 128) + greenV * (V - 128), blue = luma * (Y - yOffset) + blueU * (U - 128).
struct YuvToRgb {
  double luma, yOffset, redV, greenU, greenV, blueU;
};
/// ITU-R BT.601: with Kr = 0.299 and Kb = 0.114, redV = 2 (1 - Kr), blueU = 2 (1 - Kb), greenV =
/// -redV Kr / Kg, greenU = -blueU Kb / Kg. Full range has Y and chroma from 0 to 255; video range
/// has Y from 16 to 235 and chroma from 16 to 240, so that luma is 255 / 219 and chroma is scaled
/// by 255 / 224. All but yOffset are rounded to multiples of 2^-13: sums of bytes times them are
/// exact in f32, in any order.
YuvToRgb yuvToRgb(bool isVideoRange);

/// One picture of a batch, sample by sample.
class PictureBytes {
public:
  PictureBytes(PictureFormat format, int64_t height, int64_t width)
      : format(format), height(height), width(width) {}
  /// How many bytes a picture has.
  int64_t size() const;
  /// Where the sample of a channel stands for the pixel (y, x): of YUV that of Y, U or V.
  int64_t offset(int64_t channel, int64_t y, int64_t x) const;

private:
  PictureFormat format;
  int64_t height, width;
};

} // namespace tpuc

#endif // TPUC_SUPPORT_PICTUREFORMAT_H
