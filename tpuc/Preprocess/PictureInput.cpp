//===- PictureInput.cpp - A picture as the tensor of an input -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/PictureInput.h"

#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Preprocess/PictureAxes.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tpuc {

namespace {

struct Extent {
  int64_t height;
  int64_t width;
};

PictureColours coloursOf(PixelFormat format) {
  switch (format) {
  case PixelFormat::Gray:
    return PictureColours::Gray;
  case PixelFormat::Rgbd:
    return PictureColours::Rgba;
  default:
    return PictureColours::Bgr;
  }
}

/// The picture's extent times `factor`, cut to whole pixels (one at least) from the double product,
/// in that order, which is how the public tool comes to its numbers.
Extent scaled(const Picture &picture, double factor) {
  const auto scale = [factor](int64_t side) {
    return std::max<int64_t>(static_cast<int64_t>(static_cast<double>(side) * factor), 1);
  };
  return {scale(picture.height), scale(picture.width)};
}

/// The whole picture within `canvas`, the rest padded.
Expected<Picture> letterbox(const Picture &picture, Extent canvas, const PreprocessOptions &options,
                            const std::string &where) {
  const double factor =
      std::min(static_cast<double>(canvas.width) / static_cast<double>(picture.width),
               static_cast<double>(canvas.height) / static_cast<double>(picture.height));
  const Extent inner = scaled(picture, factor);
  Expected<Picture> resized = resizePicture(picture, inner.height, inner.width, where);
  if (!resized)
    return resized;
  Extent corner{0, 0};
  if (options.padType == PadType::Center)
    corner = {(canvas.height - inner.height) / 2, (canvas.width - inner.width) / 2};
  return cutPicture(*resized, -corner.height, -corner.width, canvas.height, canvas.width,
                    static_cast<uint8_t>(options.padValue));
}

/// The middle of the picture, scaled until it fills `canvas`.
Expected<Picture> fill(const Picture &picture, Extent canvas, const std::string &where) {
  const double factor =
      std::max(static_cast<double>(canvas.width) / static_cast<double>(picture.width),
               static_cast<double>(canvas.height) / static_cast<double>(picture.height));
  Extent outer = scaled(picture, factor);
  outer = {std::max(outer.height, canvas.height), std::max(outer.width, canvas.width)};
  Expected<Picture> resized = resizePicture(picture, outer.height, outer.width, where);
  if (!resized)
    return resized;
  return cutPicture(*resized, (outer.height - canvas.height) / 2, (outer.width - canvas.width) / 2,
                    canvas.height, canvas.width, 0);
}

Expected<Picture> scaleTo(const Picture &picture, Extent canvas, const PreprocessOptions &options,
                          const std::string &where) {
  if (!options.keepAspectRatio)
    return resizePicture(picture, canvas.height, canvas.width, where);
  if (options.keepRatioMode == "letterbox")
    return letterbox(picture, canvas, options, where);
  return fill(picture, canvas, where);
}

/// Where channel `channel` of the input stands in a decoded pixel.
int64_t sourceChannel(PixelFormat format, int64_t channel) {
  return format == PixelFormat::Rgb ? 2 - channel : channel;
}

/// (x - mean) * scale in f32 for every byte x.
std::array<float, 256> normalized(const PreprocessOptions &options, int64_t channel) {
  const auto index = static_cast<size_t>(channel);
  const auto mean = static_cast<float>(options.mean.empty() ? 0.0 : options.mean[index]);
  const auto scale = static_cast<float>(options.scale.empty() ? 1.0 : options.scale[index]);
  std::array<float, 256> table;
  for (size_t x = 0; x < table.size(); ++x)
    table[x] = (static_cast<float>(x) - mean) * scale;
  return table;
}

/// Writes the normalized `picture` to `to`, in the order of the input's axes.
void normalize(const Picture &picture, const PreprocessOptions &options, std::span<float> to) {
  const int64_t numPixels = picture.height * picture.width;
  const int64_t channels = picture.channels;
  const bool isPlanar = options.channelFormat == ChannelFormat::Nchw;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const std::array<float, 256> table = normalized(options, channel);
    const uint8_t *from = picture.bytes.data() + sourceChannel(options.pixelFormat, channel);
    float *out = to.data() + (isPlanar ? channel * numPixels : channel);
    const int64_t step = isPlanar ? 1 : channels;
    for (int64_t pixel = 0; pixel < numPixels; ++pixel)
      out[pixel * step] = table[from[pixel * channels]];
  }
}

PictureColours coloursOf(PictureFormat format) {
  if (format == PictureFormat::Grayscale)
    return PictureColours::Gray;
  return format == PictureFormat::RgbaPlanar ? PictureColours::Rgba : PictureColours::Bgr;
}

/// Y, U and V, not rounded, of a pixel of blue, green and red: the inverse of YuvToRgb.
std::array<double, 3> yuvOf(const uint8_t *pixel, const YuvToRgb &yuv) {
  constexpr double kRed = 0.299, kBlue = 0.114, kMiddle = 128;
  const double luma = kRed * pixel[2] + (1 - kRed - kBlue) * pixel[1] + kBlue * pixel[0];
  return {yuv.yOffset + luma / yuv.luma, kMiddle + (pixel[0] - luma) / yuv.blueU,
          kMiddle + (pixel[2] - luma) / yuv.redV};
}

uint8_t roundedByte(double value) {
  return static_cast<uint8_t>(std::clamp(std::round(value), 0.0, 255.0));
}

/// Chroma is that of the mean of 2 by 2 pixels.
void writeYuv(const Picture &picture, const PictureBytes &places, bool isVideoRange,
              std::span<uint8_t> to) {
  const YuvToRgb yuv = yuvToRgb(isVideoRange);
  const auto pixelAt = [&](int64_t y, int64_t x) {
    return picture.bytes.data() + (y * picture.width + x) * picture.channels;
  };
  for (int64_t y = 0; y < picture.height; y += 2)
    for (int64_t x = 0; x < picture.width; x += 2) {
      std::array<double, 3> sums = {};
      for (int64_t pixel = 0; pixel < 4; ++pixel) {
        const int64_t row = y + pixel / 2;
        const int64_t column = x + pixel % 2;
        const std::array<double, 3> parts = yuvOf(pixelAt(row, column), yuv);
        to[static_cast<size_t>(places.offset(0, row, column))] = roundedByte(parts[0]);
        for (size_t part = 1; part < 3; ++part)
          sums[part] += parts[part];
      }
      for (int64_t part = 1; part < 3; ++part)
        to[static_cast<size_t>(places.offset(part, y, x))] =
            roundedByte(sums[static_cast<size_t>(part)] / 4);
    }
}

/// The bytes of `picture` as the options say; gaps stay as they are.
void writeBytes(const Picture &picture, const PreprocessOptions &options, std::span<uint8_t> to) {
  const PictureFormat format = *options.bytes;
  const PictureBytes places(format, picture.height, picture.width,
                            options.frame ? options.frame->alignment : PictureAlignment());
  if (isYuv(format)) {
    writeYuv(picture, places, options.isVideoRange.value_or(true), to);
    return;
  }
  // Decoded colours are blue, green, red, but red first beside an opacity.
  const bool isTurned = format == PictureFormat::RgbPlanar || format == PictureFormat::RgbPacked;
  const uint8_t *from = picture.bytes.data();
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x)
      for (int64_t channel = 0; channel < picture.channels; ++channel)
        to[static_cast<size_t>(places.offset(isTurned ? 2 - channel : channel, y, x))] = *from++;
}

/// The bytes that an input of pictures takes, repeated over the batch.
Expected<Tensor> byteTensor(std::span<const std::byte> bytes, const InputSpec &input,
                            const std::string &where) {
  const PreprocessOptions &options = *input.preprocess;
  Expected<PictureExtents> extents = pictureExtents(*options.bytes, input.dims, options.frame);
  if (!extents)
    return propagate(extents);
  Expected<Picture> picture = decodePicture(bytes, coloursOf(*options.bytes), where);
  if (!picture)
    return propagate(picture);
  Expected<Picture> scaledPicture =
      scaleTo(*picture, {extents->height, extents->width}, options, where);
  if (!scaledPicture)
    return propagate(scaledPicture);
  Expected<Tensor> tensor = Tensor::create(DataType::U8, input.dims, where);
  if (!tensor)
    return tensor;
  const std::span<uint8_t> all = tensor->mutableData<uint8_t>();
  std::ranges::fill(all, uint8_t{0});
  const size_t perPicture = all.size() / static_cast<size_t>(std::max<int64_t>(extents->batch, 1));
  for (size_t at = 0; at < all.size(); at += perPicture)
    writeBytes(*scaledPicture, options, all.subspan(at, perPicture));
  return convert(*tensor, input.type);
}

/// The extents of `input` with those of a picture where they were not known.
std::vector<int64_t> knownDims(const InputSpec &input, const PictureAxes &axes, Extent extent) {
  std::vector<int64_t> all = {axes.channels, extent.height, extent.width};
  if (input.preprocess->channelFormat == ChannelFormat::Nhwc)
    std::rotate(all.begin(), all.begin() + 1, all.end());
  if (input.dims.size() == 4)
    all.insert(all.begin(), axes.batch < 0 ? 1 : axes.batch);
  if (input.dims.size() == 2)
    all = {extent.height, extent.width};
  return all;
}

} // namespace

Expected<Tensor> pictureTensor(std::span<const std::byte> bytes, const InputSpec &input,
                               const std::string &where) {
  if (!input.preprocess)
    return makeError(where, "is not an array",
                     "a .npy or .npz file: input '" + input.name + "' takes no picture");
  const PreprocessOptions &options = *input.preprocess;
  if (Expected<void> result = options.check(input.dims); !result)
    return propagate(result);
  if (options.bytes)
    return byteTensor(bytes, input, where);
  Expected<PictureAxes> axes = pictureAxes(input.dims, options.pixelFormat, options.channelFormat);
  if (!axes)
    return propagate(axes);
  Expected<Picture> picture = decodePicture(bytes, coloursOf(options.pixelFormat), where);
  if (!picture)
    return propagate(picture);

  // What the options say, then what the input says, then the picture itself.
  const Extent extent = {axes->height, axes->width};
  const Extent own = {picture->height, picture->width};
  const auto firstKnown = [&](size_t side, int64_t ofInput, int64_t ofPicture) {
    if (!options.resizeDims.empty())
      return options.resizeDims[side];
    return ofInput >= 0 ? ofInput : ofPicture;
  };
  const Extent canvas = {firstKnown(0, extent.height, own.height),
                         firstKnown(1, extent.width, own.width)};
  const Extent target = {extent.height >= 0 ? extent.height : canvas.height,
                         extent.width >= 0 ? extent.width : canvas.width};
  if (std::min({target.height, target.width, canvas.height, canvas.width}) < 1)
    return makeError(where, "cannot be scaled to nothing",
                     "a height and a width of 1 at least for input '" + input.name + "'");

  Expected<Tensor> tensor = Tensor::create(DataType::F32, knownDims(input, *axes, target), where);
  if (!tensor)
    return tensor;
  Expected<Picture> scaledPicture = scaleTo(*picture, canvas, options, where);
  if (!scaledPicture)
    return propagate(scaledPicture);
  const Picture part =
      cutPicture(*scaledPicture, canvas.height / 2 - target.height / 2,
                 canvas.width / 2 - target.width / 2, target.height, target.width, 0);
  const std::span<float> all = tensor->mutableData<float>();
  const size_t perPicture = part.bytes.size();
  if (!all.empty())
    normalize(part, options, all.first(perPicture));
  for (size_t at = perPicture; at < all.size(); at += perPicture)
    std::copy_n(all.begin(), perPicture, all.begin() + static_cast<ptrdiff_t>(at));
  ConvertOptions toInput;
  toInput.integerRounding = RoundingMode::HalfToEven;
  return convert(*tensor, input.type, toInput);
}

} // namespace tpuc
