//===- Picture.h - Pictures, read and scaled by a plugin ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding and scaling is OpenCV's work. It stands in the plugin tpuc-picture, which the functions
// below open on first use, because loading OpenCV takes longer than most calls that need none.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_PREPROCESS_PICTURE_H
#define TPUC_PREPROCESS_PICTURE_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tpuc {

/// Bytes in rows from the top, pixels from the left, the channels of a pixel together.
struct Picture {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  std::vector<uint8_t> bytes;
};

/// What a picture is decoded to, whatever its file holds; the order in which the bytes stand.
enum class PictureColours : uint8_t {
  Gray,
  Bgr,
  /// With the opacity last: 255 where the file has none. A picture with opacity is not turned.
  Rgba,
};

/// The most pixels of a picture, unless the user says otherwise.
inline constexpr int64_t kMaxPixels = int64_t(1) << 28;

/// What OpenCV asks the environment for.
inline constexpr const char *kPixelLimitVariable = "OPENCV_IO_MAX_IMAGE_PIXELS";

/// Has pictures of more than `maxPixels` refused by what their header says, before they are
/// decoded. For the beginning of a program: it is OpenCV that refuses, and it asks the environment
/// for the number when the plugin is opened, for the first picture.
void limitPictures(int64_t maxPixels);

/// The picture in a file's `bytes`, of any format that OpenCV reads, 8 bits per channel, turned
/// upright as its EXIF data says. Errors name `where`: not a picture, truncated, enormous;
/// also those of findInPlugin. Can be called from several threads.
Expected<Picture> decodePicture(std::span<const std::byte> bytes, PictureColours colours,
                                const std::string &where);

/// `picture` scaled to `height` and `width`, both positive, with bilinear interpolation between
/// pixel centres, rounded to bytes.
Expected<Picture> resizePicture(const Picture &picture, int64_t height, int64_t width,
                                const std::string &where);

/// The part of `picture` with the upper left corner (`top`, `left`), which may be negative, and the
/// extents `height` and `width`. What lies outside of `picture` is `padValue` in all channels.
Picture cutPicture(const Picture &picture, int64_t top, int64_t left, int64_t height, int64_t width,
                   uint8_t padValue);

/// Whether `bytes`, if they begin as a JPEG file does, have a marker for the end of the image;
/// decoders fill up with gray what is missing before it. True for all other files.
bool isCompleteJpeg(std::span<const std::byte> bytes);

} // namespace tpuc

// The entries of the plugin. They return false and write the reason to `error`.
extern "C" [[gnu::visibility("default")]] bool tpucDecodePicture(std::span<const std::byte> bytes,
                                                                 tpuc::PictureColours colours,
                                                                 tpuc::Picture &picture,
                                                                 std::string &error);
/// `to` says height and width.
extern "C" [[gnu::visibility("default")]] bool
tpucResizePicture(const tpuc::Picture &from, tpuc::Picture &to, std::string &error);

#endif // TPUC_PREPROCESS_PICTURE_H
