//===- Preprocess.cpp - What pictures become -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/PictureFormat.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tpuc;
using namespace tpuc::ops;

namespace {

/// The numbers of one picture, channel by channel.
class PictureNumbers {
public:
  PictureNumbers(PictureFormat format, const PictureBytes &bytes, bool isVideoRange)
      : format(format), bytes(bytes), yuv(yuvToRgb(isVideoRange)) {}

  int64_t size() const { return bytes.size(); }

  /// Channel `channel` of the format at a pixel: of YUV red, green or blue.
  float at(const float *picture, int64_t channel, int64_t y, int64_t x) const {
    if (!isYuv(format))
      return picture[bytes.offset(channel, y, x)];
    const float luma = static_cast<float>(yuv.luma) *
                       (picture[bytes.offset(0, y, x)] - static_cast<float>(yuv.yOffset));
    constexpr float kMiddle = 128;
    const float u = picture[bytes.offset(1, y, x)] - kMiddle;
    const float v = picture[bytes.offset(2, y, x)] - kMiddle;
    const std::array<float, 3> colours = {luma + static_cast<float>(yuv.redV) * v,
                                          luma + static_cast<float>(yuv.greenU) * u +
                                              static_cast<float>(yuv.greenV) * v,
                                          luma + static_cast<float>(yuv.blueU) * u};
    // The sums are exact.
    return std::clamp(std::floor(colours[static_cast<size_t>(channel)] + 0.5F), 0.0F, 255.0F);
  }

private:
  PictureFormat format;
  PictureBytes bytes;
  YuvToRgb yuv;
};

/// Where the gaps of a frame buffer are.
Expected<std::optional<PictureFrame>> frameOf(OpContext &context) {
  const std::optional<Dims> numbers = context.optionalIntList("frame");
  if (!numbers)
    return std::nullopt;
  constexpr int64_t kMost = 1 << 24;
  if (numbers->size() != 4 ||
      std::ranges::any_of(*numbers, [](int64_t number) { return number < 1 || number > kMost; }))
    return context.error("frame", "four numbers from 1 to 16777216");
  return PictureFrame{(*numbers)[0], (*numbers)[1], {(*numbers)[2], (*numbers)[3]}};
}

Expected<void> evaluatePreprocess(OpContext &context) {
  const std::optional<PictureFormat> format =
      parsePictureFormat(context.text("customization_format"));
  if (!format)
    return context.error("customization_format " + context.text("customization_format"),
                         "one that there is");
  const Expected<std::optional<PictureFrame>> frame = frameOf(context);
  if (!frame)
    return tl::unexpected(frame.error());
  Expected<PictureExtents> extents =
      pictureExtents(*format, context.operand(0).shape().dims(), *frame);
  if (!extents)
    return context.error(extents.error().found, extents.error().expected);
  const Dims crop =
      context.optionalIntList("crop_dims").value_or(Dims{extents->height, extents->width});
  const std::string wanted = context.text("pixel_format");
  const int64_t channels = numChannels(wanted);
  const std::vector<double> mean = context.realList("mean");
  const std::vector<double> scale = context.realList("scale");
  const auto fits = [&](const std::vector<double> &numbers) {
    return numbers.empty() || numbers.size() == static_cast<size_t>(channels);
  };
  if (crop.size() != 2 || crop[0] > extents->height || crop[1] > extents->width || !fits(mean) ||
      !fits(scale))
    return context.error("crop_dims, mean or scale", "those of the picture's format");
  const bool isPlanar = context.text("channel_format") == "nchw";
  const Dims dims = isPlanar ? Dims{extents->batch, channels, crop[0], crop[1]}
                             : Dims{extents->batch, crop[0], crop[1], channels};
  Expected<Tensor *> output = context.allocate(0, DataType::F32, Shape(std::span(dims)));
  if (!output)
    return propagate(output);
  const Tensor input = convert(context.operand(0), DataType::F32);
  const PictureNumbers numbers(*format,
                               PictureBytes(*format, extents->height, extents->width,
                                            *frame ? (*frame)->alignment : PictureAlignment()),
                               context.flag("video_range"));
  const int64_t top = extents->height / 2 - crop[0] / 2;
  const int64_t left = extents->width / 2 - crop[1] / 2;
  const int64_t pixels = crop[0] * crop[1];
  for (int64_t item = 0; item < extents->batch; ++item) {
    const float *picture = input.data<float>().data() + item * numbers.size();
    float *to = (*output)->mutableData<float>().data() + item * channels * pixels;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const std::optional<int64_t> source = channelIn(*format, wanted, channel);
      if (!source)
        return context.error("pixel_format " + wanted, "channels that the picture has");
      const auto index = static_cast<size_t>(channel);
      const float middle = mean.empty() ? 0.0F : static_cast<float>(mean[index]);
      const float factor = scale.empty() ? 1.0F : static_cast<float>(scale[index]);
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        const float x = numbers.at(picture, *source, top + pixel / crop[1], left + pixel % crop[1]);
        to[isPlanar ? channel * pixels + pixel : pixel * channels + channel] =
            (x - middle) * factor;
      }
    }
  }
  return {};
}

} // namespace

std::span<const OpEvaluator> ops::preprocessOps() {
  static constexpr OpEvaluator kOps[] = {{"Preprocess", evaluatePreprocess}};
  return kOps;
}
