//===- OptionsTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/Preprocess.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tpuc;

namespace {

std::string checked(const PreprocessOptions &options,
                    const std::vector<int64_t> &dims = {1, 3, 224, 224}) {
  Expected<void> result = options.check(dims);
  return result ? "fits" : result.error().message();
}

} // namespace

TEST(PreprocessOptions, NamesGoBothWays) {
  for (std::string_view name : kPixelFormatNames)
    EXPECT_EQ(pixelFormatName(*parsePixelFormat(name)), name);
  for (std::string_view name : kChannelFormatNames)
    EXPECT_EQ(channelFormatName(*parseChannelFormat(name)), name);
  for (std::string_view name : kPadTypeNames)
    EXPECT_EQ(padTypeName(*parsePadType(name)), name);
  EXPECT_EQ(parsePixelFormat("gray"), PixelFormat::Gray);
  EXPECT_EQ(parsePixelFormat("rgba"), PixelFormat::Rgbd);
  EXPECT_EQ(parseChannelFormat("nhwc"), ChannelFormat::Nhwc);
  EXPECT_EQ(parsePadType("normal"), PadType::Normal);
  EXPECT_FALSE(parsePixelFormat("RGB"));
  EXPECT_FALSE(parseChannelFormat(""));
  EXPECT_FALSE(parsePadType("left"));
}

TEST(PreprocessOptions, DefaultsFitEveryPictureInput) {
  EXPECT_EQ(checked({}), "fits");
  EXPECT_EQ(checked({}, {-1, -1, -1, -1}), "fits");
  EXPECT_EQ(checked({}, {3, 20, 20}), "fits");
  EXPECT_EQ(checked({.pixelFormat = PixelFormat::Gray}, {28, 28}), "fits");
  EXPECT_EQ(checked({.channelFormat = ChannelFormat::Nhwc}, {1, 224, 224, 3}), "fits");
}

TEST(PreprocessOptions, MeanAndScaleCountTheChannels) {
  EXPECT_EQ(checked({.mean = {1, 2, 3}, .scale = {1, 1, 1}}), "fits");
  EXPECT_EQ(checked({.mean = {1, 2, 3, 4, 5}}),
            "--mean: 5 values; expected 3, one per channel of pixel_format bgr");
  EXPECT_EQ(checked({.scale = {1}}),
            "--scale: 1 value; expected 3, one per channel of pixel_format bgr");
  EXPECT_EQ(checked({.mean = {1, 2, 3}, .pixelFormat = PixelFormat::Rgbd}, {1, 4, 8, 8}),
            "--mean: 3 values; expected 4, one per channel of pixel_format rgbd");
  EXPECT_EQ(checked({.scale = {1, std::numeric_limits<double>::infinity(), 1}}),
            "--scale: inf; expected a finite number");
}

TEST(PreprocessOptions, GrayTakesThreeEqualValues) {
  const std::vector<int64_t> dims = {1, 1, 28, 28};
  EXPECT_EQ(checked({.mean = {127.5}, .pixelFormat = PixelFormat::Gray}, dims), "fits");
  EXPECT_EQ(checked({.mean = {0, 0, 0}, .pixelFormat = PixelFormat::Gray}, dims), "fits");
  EXPECT_EQ(checked({.mean = {0, 0, 1}, .pixelFormat = PixelFormat::Gray}, dims),
            "--mean: 3 values; expected 1, one per channel of pixel_format gray");
}

TEST(PreprocessOptions, ResizeDims) {
  EXPECT_EQ(checked({.resizeDims = {256, 256}}), "fits");
  EXPECT_EQ(checked({.resizeDims = {1, 1}}, {1, 3, -1, -1}), "fits");
  EXPECT_EQ(checked({.resizeDims = {256}}),
            "--resize_dims: 256; expected two numbers, height and width");
  EXPECT_EQ(checked({.resizeDims = {0, 256}}),
            "--resize_dims: 0,256; expected a height and a width of 1 at least");
  EXPECT_EQ(checked({.resizeDims = {256, 223}}),
            "--resize_dims: 256,223; expected nothing smaller than the input's height and width, "
            "224,224");
  EXPECT_EQ(checked({.resizeDims = {1 << 16, 1 << 16}}),
            "--resize_dims: 65536,65536; expected at most 1048576 a side and 1073741824 in all");
  EXPECT_EQ(checked({.resizeDims = {224, int64_t(1) << 62}}),
            "--resize_dims: 224,4611686018427387904; expected at most 1048576 a side and "
            "1073741824 in all");
}

TEST(PreprocessOptions, PadValueAndMode) {
  EXPECT_EQ(checked({.keepAspectRatio = true, .padValue = 255}), "fits");
  EXPECT_EQ(checked({.padValue = 256}), "--pad_value: 256; expected 0 to 255");
  EXPECT_EQ(checked({.padValue = -1}), "--pad_value: -1; expected 0 to 255");
  EXPECT_EQ(checked({.keepRatioMode = "long_side_scale"}),
            "--keep_ratio_mode: long_side_scale; expected letterbox or short_side_scale");
}

TEST(PreprocessOptions, InputsThatAreNoPicture) {
  EXPECT_EQ(checked({}, {1, 1, 28, 28}), "--pixel_format: bgr has 3 channels; expected the 1 of "
                                         "input [1, 1, 28, 28] (nchw)");
  EXPECT_EQ(checked({.channelFormat = ChannelFormat::Nhwc}),
            "--pixel_format: bgr has 3 channels; expected the 224 of input [1, 3, 224, 224] "
            "(nhwc)");
  EXPECT_EQ(checked({}, {1, 77}),
            "--channel_format: input [1, 77]; expected the axes nchw of a picture");
  EXPECT_EQ(checked({}, {1, 3, 4, 5, 6}),
            "--channel_format: input [1, 3, 4, 5, 6]; expected the axes nchw of a picture");
  EXPECT_EQ(checked({.channelFormat = ChannelFormat::None}),
            "--channel_format: none, which means that the input is no picture; expected nchw or "
            "nhwc");
}
