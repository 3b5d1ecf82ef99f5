//===- Picture.cpp - Pictures, read and scaled by a plugin --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/Picture.h"

#include "tpuc/Support/Plugin.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace tpuc {

namespace {

/// Calls the entry `symbol` of the plugin, which has the type of `Entry`.
template <typename Entry, typename... Arguments>
Expected<void> callPlugin(const char *symbol, const std::string &where, Arguments &&...arguments) {
  Expected<void *> entry = findInPlugin("tpuc-picture", symbol);
  if (!entry)
    return propagate(entry);
  std::string error;
  if (!reinterpret_cast<Entry *>(*entry)(std::forward<Arguments>(arguments)..., error))
    return makeError(where, error);
  return {};
}

/// A file's bytes, two of them as a number with the high byte first.
class JpegBytes {
public:
  explicit JpegBytes(std::span<const std::byte> bytes) : bytes(bytes) {}

  size_t size() const { return bytes.size(); }
  unsigned operator[](size_t index) const { return std::to_integer<unsigned>(bytes[index]); }
  unsigned word(size_t index) const { return (*this)[index] << 8 | (*this)[index + 1]; }

private:
  std::span<const std::byte> bytes;
};

// ITU-T T.81, table B.1.
constexpr unsigned kStartOfImage = 0xFFD8;
constexpr unsigned kEndOfImage = 0xD9;

/// Markers without a length: a stuffed zero, TEM, the restart markers, the start of an image.
bool standsAlone(unsigned marker) {
  return marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8);
}

} // namespace

void limitPictures(int64_t maxPixels) {
  ::setenv(kPixelLimitVariable, std::to_string(maxPixels).c_str(), /*replace=*/1);
}

Expected<Picture> decodePicture(std::span<const std::byte> bytes, PictureColours colours,
                                const std::string &where) {
  if (!isCompleteJpeg(bytes))
    return makeError(where, "is truncated: a JPEG file without end");
  Picture picture;
  Expected<void> result =
      callPlugin<decltype(tpucDecodePicture)>("tpucDecodePicture", where, bytes, colours, picture);
  if (!result)
    return propagate(result);
  return picture;
}

Expected<Picture> resizePicture(const Picture &picture, int64_t height, int64_t width,
                                const std::string &where) {
  assert(height > 0 && width > 0);
  if (picture.height == height && picture.width == width)
    return picture;
  Picture resized;
  resized.height = height;
  resized.width = width;
  Expected<void> result =
      callPlugin<decltype(tpucResizePicture)>("tpucResizePicture", where, picture, resized);
  if (!result)
    return propagate(result);
  return resized;
}

Picture cutPicture(const Picture &picture, int64_t top, int64_t left, int64_t height, int64_t width,
                   uint8_t padValue) {
  Picture part{height, width, picture.channels, {}};
  part.bytes.assign(static_cast<size_t>(height * width * picture.channels), padValue);
  const int64_t firstColumn = std::max<int64_t>(left, 0);
  const int64_t numColumns = std::min(left + width, picture.width) - firstColumn;
  if (numColumns <= 0)
    return part;
  for (int64_t row = std::max<int64_t>(top, 0); row < std::min(top + height, picture.height);
       ++row) {
    const uint8_t *from = &picture.bytes[(row * picture.width + firstColumn) * picture.channels];
    std::copy_n(from, numColumns * picture.channels,
                &part.bytes[((row - top) * width + firstColumn - left) * picture.channels]);
  }
  return part;
}

bool isCompleteJpeg(std::span<const std::byte> file) {
  const JpegBytes bytes(file);
  if (bytes.size() < 2 || bytes.word(0) != kStartOfImage)
    return true;
  for (size_t at = 2; at + 1 < bytes.size();) {
    const unsigned marker = bytes[at + 1];
    if (bytes[at] != 0xFF || marker == 0xFF) {
      // Coded pixels, or fill bytes before a marker.
      ++at;
      continue;
    }
    if (marker == kEndOfImage)
      return true;
    if (standsAlone(marker)) {
      at += 2;
      continue;
    }
    if (at + 3 >= bytes.size())
      return false;
    at += 2 + bytes.word(at + 2);
  }
  return false;
}

} // namespace tpuc
