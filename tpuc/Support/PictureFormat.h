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
#include <string>
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

/// What rows and planes of a frame buffer begin at multiples of, in bytes.
struct PictureAlignment {
  int64_t row = 1;
  int64_t plane = 1;

  bool isPresent() const { return row != 1 || plane != 1; }
  friend bool operator==(const PictureAlignment &, const PictureAlignment &) = default;
};

/// Pictures with gaps behind rows and planes, whose extents their dimensions do not show.
struct PictureFrame {
  int64_t height = 0;
  int64_t width = 0;
  PictureAlignment alignment;
  friend bool operator==(const PictureFrame &, const PictureFrame &) = default;
};

/// The dimensions of a tensor that holds such pictures: [N, C, H, W], packed [N, H, W, C], and YUV
/// [N, 1, H * 3 / 2, W]. With an alignment, they count bytes: gray and packed pictures are
/// [N, 1, H, bytes of a row], planar ones [N, C, 1, bytes of a plane], YUV [N, 1, 1, bytes of a
/// picture]. Errors: odd extents of YUV.
Expected<std::vector<int64_t>> pictureDims(PictureFormat format, const PictureExtents &extents,
                                           const PictureAlignment &alignment = {});
/// The inverse; pictures with gaps are those of `frame`. Errors: dimensions that are none of the
/// format, or not those of the frame.
Expected<PictureExtents> pictureExtents(PictureFormat format, std::span<const int64_t> dims,
                                        const std::optional<PictureFrame> &frame = {});
/// `RGB_PLANAR pictures, 480 rows of 640 pixels`, for messages.
std::string pictureText(PictureFormat format, int64_t height, int64_t width);

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

/// Rows of a picture that lie in equal steps; all numbers are bytes but `rows`.
struct PicturePlane {
  int64_t offset, rows, rowBytes, stride;
  friend bool operator==(const PicturePlane &, const PicturePlane &) = default;
};

/// One picture of a batch, sample by sample.
///
/// Rows begin at multiples of `alignment.row`, planes at multiples of `alignment.plane`. The rows
/// of Y in YUV420_PLANAR are aligned to twice as much, so that those of U and V are half as long. A
/// picture of gray or packed pixels is one plane, and the next one follows its last row.
class PictureBytes {
public:
  PictureBytes(PictureFormat format, int64_t height, int64_t width,
               const PictureAlignment &alignment = {});
  /// How many bytes a picture has, gaps included.
  int64_t size() const { return bytes; }
  /// Where the sample of a channel stands for the pixel (y, x): of YUV that of Y, U or V.
  int64_t offset(int64_t channel, int64_t y, int64_t x) const;
  /// One for each channel of planar formats, two of YUV_NV12 and YUV_NV21, else one.
  const std::vector<PicturePlane> &planes() const { return parts; }

private:
  PictureFormat format;
  std::vector<PicturePlane> parts;
  int64_t bytes = 0;
};

} // namespace tpuc

#endif // TPUC_SUPPORT_PICTUREFORMAT_H
