//===- PictureFormatTest.cpp - How cameras order the bytes of a picture --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/PictureFormat.h"

#include <gtest/gtest.h>

#include <set>

using namespace tpuc;

namespace {

std::vector<PictureFormat> allFormats() {
  std::vector<PictureFormat> formats;
  for (std::string_view name : kPictureFormatNames)
    formats.push_back(*parsePictureFormat(name));
  return formats;
}

using Dims = std::vector<int64_t>;

} // namespace

TEST(PictureFormat, NamesAreReadBack) {
  for (PictureFormat format : allFormats())
    EXPECT_EQ(parsePictureFormat(pictureFormatName(format)), format);
  EXPECT_EQ(parsePictureFormat("NV12"), std::nullopt);
}

TEST(PictureFormat, DimensionsGiveTheExtents) {
  for (PictureFormat format : allFormats()) {
    const auto dims = pictureDims(format, {2, 6, 10});
    ASSERT_TRUE(dims) << pictureFormatName(format);
    const auto extents = pictureExtents(format, *dims);
    ASSERT_TRUE(extents) << pictureFormatName(format);
    EXPECT_EQ(extents->batch, 2);
    EXPECT_EQ(extents->height, 6);
    EXPECT_EQ(extents->width, 10);
    int64_t elements = 1;
    for (int64_t dim : *dims)
      elements *= dim;
    EXPECT_EQ(elements, 2 * PictureBytes(format, 6, 10).size()) << pictureFormatName(format);
  }
  EXPECT_EQ(*pictureDims(PictureFormat::YuvNv12, {1, 6, 10}), (Dims{1, 1, 9, 10}));
  EXPECT_EQ(*pictureDims(PictureFormat::BgrPacked, {1, 6, 10}), (Dims{1, 6, 10, 3}));
}

TEST(PictureFormat, OddExtentsAreNoYuv) {
  EXPECT_FALSE(pictureDims(PictureFormat::YuvNv21, {1, 5, 10}));
  EXPECT_FALSE(pictureDims(PictureFormat::Yuv420Planar, {1, 6, 9}));
  EXPECT_FALSE(pictureExtents(PictureFormat::YuvNv12, Dims{1, 1, 8, 10}));
  EXPECT_FALSE(pictureExtents(PictureFormat::RgbPlanar, Dims{1, 1, 8, 10}));
  EXPECT_FALSE(pictureExtents(PictureFormat::Grayscale, Dims{1, 8, 10}));
}

/// Every byte belongs to a sample, and pixels have a sample of each channel.
TEST(PictureFormat, SamplesCoverTheBytes) {
  for (PictureFormat format : allFormats()) {
    const PictureBytes bytes(format, 4, 6);
    std::set<int64_t> met;
    for (int64_t channel = 0; channel < numChannels(format); ++channel)
      for (int64_t y = 0; y < 4; ++y)
        for (int64_t x = 0; x < 6; ++x)
          met.insert(bytes.offset(channel, y, x));
    EXPECT_EQ(static_cast<int64_t>(met.size()), bytes.size()) << pictureFormatName(format);
    EXPECT_EQ(*met.begin(), 0);
    EXPECT_EQ(*met.rbegin(), bytes.size() - 1);
  }
}

/// Of a picture of 4 rows and 6 columns: 24 of Y, then 6 pairs.
TEST(PictureFormat, ChromaStandsBehindLuma) {
  EXPECT_EQ(PictureBytes(PictureFormat::Yuv420Planar, 4, 6).offset(1, 3, 5), 24 + 5);
  EXPECT_EQ(PictureBytes(PictureFormat::Yuv420Planar, 4, 6).offset(2, 0, 0), 24 + 6);
  EXPECT_EQ(PictureBytes(PictureFormat::YuvNv12, 4, 6).offset(1, 2, 2), 24 + 2 * 4);
  EXPECT_EQ(PictureBytes(PictureFormat::YuvNv12, 4, 6).offset(2, 2, 2), 24 + 2 * 4 + 1);
  EXPECT_EQ(PictureBytes(PictureFormat::YuvNv21, 4, 6).offset(2, 2, 2), 24 + 2 * 4);
}

/// Buffers of 4 rows and 6 columns, rows aligned to 8 and planes to 32, counted by hand.
TEST(PictureFormat, FramesHaveGaps) {
  const PictureAlignment alignment = {8, 32};
  using Planes = std::vector<PicturePlane>;
  const auto planes = [&](PictureFormat format) {
    return PictureBytes(format, 4, 6, alignment).planes();
  };
  EXPECT_EQ(planes(PictureFormat::RgbPlanar), (Planes{{0, 4, 6, 8}, {32, 4, 6, 8}, {64, 4, 6, 8}}));
  EXPECT_EQ(planes(PictureFormat::BgrPacked), (Planes{{0, 4, 18, 24}}));
  EXPECT_EQ(planes(PictureFormat::Grayscale), (Planes{{0, 4, 6, 8}}));
  EXPECT_EQ(planes(PictureFormat::YuvNv21), (Planes{{0, 4, 6, 8}, {32, 2, 6, 8}}));
  // Rows of Y are aligned to 16, so that those of U and V are half as long.
  EXPECT_EQ(planes(PictureFormat::Yuv420Planar),
            (Planes{{0, 4, 6, 16}, {64, 2, 3, 8}, {96, 2, 3, 8}}));
  EXPECT_EQ(PictureBytes(PictureFormat::Yuv420Planar, 4, 6, alignment).size(), 128);
  EXPECT_EQ(PictureBytes(PictureFormat::Grayscale, 3, 6, alignment).size(), 24);
  EXPECT_EQ(PictureBytes(PictureFormat::RgbaPlanar, 5, 6, alignment).size(), 4 * 64);
  EXPECT_EQ(PictureBytes(PictureFormat::YuvNv12, 4, 6, alignment).offset(2, 2, 4), 32 + 8 + 5);
  EXPECT_EQ(PictureBytes(PictureFormat::BgrPacked, 4, 6, alignment).offset(2, 1, 1), 24 + 5);
}

TEST(PictureFormat, FramesCountBytes) {
  const PictureAlignment alignment = {8, 32};
  const auto dims = [&](PictureFormat format) {
    return *pictureDims(format, {2, 4, 6}, alignment);
  };
  EXPECT_EQ(dims(PictureFormat::RgbPlanar), (Dims{2, 3, 1, 32}));
  EXPECT_EQ(dims(PictureFormat::BgrPacked), (Dims{2, 1, 4, 24}));
  EXPECT_EQ(dims(PictureFormat::Grayscale), (Dims{2, 1, 4, 8}));
  EXPECT_EQ(dims(PictureFormat::YuvNv12), (Dims{2, 1, 1, 64}));
  const PictureFrame frame = {4, 6, alignment};
  for (PictureFormat format : allFormats()) {
    const auto extents = pictureExtents(format, dims(format), frame);
    ASSERT_TRUE(extents) << extents.error().message();
    EXPECT_TRUE(extents->batch == 2 && extents->height == 4 && extents->width == 6);
    EXPECT_FALSE(pictureExtents(format, dims(format), PictureFrame{6, 6, {8, 64}}));
  }
}

TEST(PictureFormat, ChannelsAreFoundByTheirColour) {
  EXPECT_EQ(channelIn(PictureFormat::RgbPlanar, "bgr", 0), 2);
  EXPECT_EQ(channelIn(PictureFormat::BgrPacked, "bgr", 0), 0);
  EXPECT_EQ(channelIn(PictureFormat::YuvNv12, "bgr", 0), 2);
  EXPECT_EQ(channelIn(PictureFormat::RgbaPlanar, "rgbd", 3), 3);
  EXPECT_EQ(channelIn(PictureFormat::RgbPlanar, "rgbd", 3), std::nullopt);
  EXPECT_EQ(channelIn(PictureFormat::Grayscale, "rgb", 0), std::nullopt);
  EXPECT_EQ(channelIn(PictureFormat::Grayscale, "gray", 0), 0);
}

/// Coefficients are rounded to 2^-13, so that sums are off by at most 255 * 2^-14 for each.
/// White, and red of full intensity by BT.601: Y 76.245, V 255.5 at full range; Y 81.48, V 240.
TEST(PictureFormat, YuvOfKnownColours) {
  const YuvToRgb full = yuvToRgb(false);
  EXPECT_NEAR(full.luma * 255, 255, 0.05);
  EXPECT_NEAR(full.luma * 76.245 + full.redV * 127.5, 255, 0.05);
  const YuvToRgb video = yuvToRgb(true);
  EXPECT_NEAR(video.luma * (235 - video.yOffset), 255, 0.05);
  EXPECT_NEAR(video.luma * (16 + 0.299 * 219 - video.yOffset) + video.redV * 112, 255, 0.05);
  EXPECT_NEAR(video.luma * (16 + 0.114 * 219 - video.yOffset) + video.blueU * 112, 255, 0.05);
  // Green of full intensity: U and V are -0.587 / (2 (1 - Kb)) and -0.587 / (2 (1 - Kr)) of 224.
  EXPECT_NEAR(video.luma * 0.587 * 219 + video.greenU * (-0.587 / 1.772 * 224) +
                  video.greenV * (-0.587 / 1.402 * 224),
              255, 0.05);
}
