//===- PictureTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Preprocess/Preprocess.h"
#include "tpuc/Support/Npz.h"
#include "unittests/Support/TempFolder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace tpuc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

// What test/golden/preprocess/make_vectors.py calls the same.
const std::string kGolden = TPUC_GOLDEN_DIR "/";
constexpr int64_t kHeight = 5;
constexpr int64_t kWidth = 7;
const std::vector<std::vector<int64_t>> kResizeDims = {{}, {9, 11}, {12, 8}};
const std::vector<double> kMean = {123.675, 116.28, 103.53, 17.5};
const std::vector<double> kScale = {0.0171, 0.0175, 0.0174, 0.5};

PreprocessOptions goldenOptions(PixelFormat pixelFormat, ChannelFormat channelFormat) {
  PreprocessOptions options;
  options.pixelFormat = pixelFormat;
  options.channelFormat = channelFormat;
  options.padValue = 114;
  options.mean.assign(kMean.begin(), kMean.begin() + numChannels(pixelFormat));
  options.scale.assign(kScale.begin(), kScale.begin() + numChannels(pixelFormat));
  return options;
}

InputSpec pictureInput(std::vector<int64_t> dims, PreprocessOptions options = {}) {
  return {"x", DataType::F32, std::move(dims), std::move(options)};
}

Expected<Tensor> read(const std::string &path, const InputSpec &input) {
  Expected<NamedTensors> sample = readSample(std::span(&path, 1), std::span(&input, 1));
  if (!sample)
    return propagate(sample);
  return (*sample)[0].second;
}

std::string message(const std::string &path, const InputSpec &input) {
  Expected<Tensor> tensor = read(path, input);
  return tensor ? "no error" : tensor.error().message();
}

/// Compares all cases of one array of the golden vectors, bit by bit.
void compareWithGolden(const std::string &picture, PixelFormat pixelFormat,
                       ChannelFormat channelFormat, std::span<const float> golden) {
  PreprocessOptions options = goldenOptions(pixelFormat, channelFormat);
  const int64_t channels = numChannels(pixelFormat);
  std::vector<int64_t> dims = {1, channels, kHeight, kWidth};
  if (channelFormat == ChannelFormat::Nhwc)
    dims = {1, kHeight, kWidth, channels};
  const auto size = static_cast<size_t>(channels * kHeight * kWidth);
  size_t at = 0;
  for (const char *mode : {"", "letterbox", "short_side_scale"}) {
    options.keepAspectRatio = *mode != 0;
    if (options.keepAspectRatio)
      options.keepRatioMode = mode;
    for (PadType padType : {PadType::Center, PadType::Normal}) {
      options.padType = padType;
      for (const std::vector<int64_t> &resizeDims : kResizeDims) {
        options.resizeDims = resizeDims;
        Expected<Tensor> tensor = read(kGolden + picture, pictureInput(dims, options));
        ASSERT_TRUE(tensor) << tensor.error().message();
        ASSERT_EQ(tensor->shape().vec(), dims);
        ASSERT_LE(at + size, golden.size());
        EXPECT_THAT(tensor->data<float>(), testing::ElementsAreArray(golden.subspan(at, size)))
            << picture << " " << pixelFormatName(pixelFormat) << " "
            << channelFormatName(channelFormat) << " '" << mode << "' " << padTypeName(padType)
            << " case at " << at;
        at += size;
      }
    }
  }
  EXPECT_EQ(at, golden.size());
}

/// Whether the file `bytes` can be decoded; the reason why not must be one line after its name.
bool isDecoded(const std::string &bytes) {
  Expected<Picture> picture =
      decodePicture(std::as_bytes(std::span(bytes)), PictureColours::Bgr, "damaged");
  if (!picture)
    EXPECT_THAT(picture.error().message(), AllOf(StartsWith("damaged: "), Not(HasSubstr("\\x0a"))));
  return picture.has_value();
}

} // namespace

TEST(Picture, EveryCombinationIsWhatOpencvAndNumpyMake) {
  Expected<NpzReader> reader = NpzReader::open(kGolden + "vectors.npz");
  ASSERT_TRUE(reader) << reader.error().message();
  size_t numCompared = 0;
  for (const char *picture : {"landscape.png", "portrait.jpg", "deep.png"})
    for (std::string_view pixelFormat : kPixelFormatNames)
      for (ChannelFormat channelFormat : {ChannelFormat::Nchw, ChannelFormat::Nhwc}) {
        const std::string name =
            fmt::format("{}.{}.{}", picture, pixelFormat, channelFormatName(channelFormat));
        Expected<Tensor> golden = reader->read(name);
        ASSERT_TRUE(golden) << golden.error().message();
        compareWithGolden(picture, *parsePixelFormat(pixelFormat), channelFormat,
                          golden->data<float>());
        ++numCompared;
      }
  EXPECT_EQ(numCompared, reader->names().size());
}

TEST(Picture, RepeatsOverTheBatch) {
  const std::string path = kGolden + "landscape.png";
  Expected<Tensor> one = read(path, pictureInput({1, 3, 4, 6}));
  Expected<Tensor> two = read(path, pictureInput({2, 3, 4, 6}));
  ASSERT_TRUE(one && two);
  ASSERT_EQ(two->shape(), (Shape{2, 3, 4, 6}));
  const std::span<const float> all = two->data<float>();
  EXPECT_THAT(all.first(72), testing::ElementsAreArray(one->data<float>()));
  EXPECT_THAT(all.subspan(72), testing::ElementsAreArray(one->data<float>()));
}

TEST(Picture, UnknownExtentsComeFromThePicture) {
  const std::string path = kGolden + "landscape.png";
  const auto shapeFor = [&](std::vector<int64_t> dims, const PreprocessOptions &options = {}) {
    Expected<Tensor> tensor = read(path, pictureInput(std::move(dims), options));
    return tensor ? tensor->shape().str() : tensor.error().message();
  };
  EXPECT_EQ(shapeFor({-1, -1, -1, -1}), "[1, 3, 17, 23]");
  EXPECT_EQ(shapeFor({2, 3, 48, -1}), "[2, 3, 48, 23]");
  EXPECT_EQ(shapeFor({-1, 3, -1, -1}, {.resizeDims = {10, 12}}), "[1, 3, 10, 12]");
  EXPECT_EQ(shapeFor({-1, -1, -1, 3}, {.channelFormat = ChannelFormat::Nhwc}), "[1, 17, 23, 3]");
  EXPECT_EQ(shapeFor({3, -1, -1}), "[3, 17, 23]");
  EXPECT_EQ(shapeFor({-1, -1}, {.pixelFormat = PixelFormat::Gray}), "[17, 23]");
}

TEST(Picture, IntegerInputsAreRoundedToTheNearest) {
  const std::string path = kGolden + "landscape.png";
  InputSpec input = pictureInput({1, 3, 17, 23});
  Expected<Tensor> exact = read(path, input);
  input.type = DataType::U8;
  Expected<Tensor> bytes = read(path, input);
  ASSERT_TRUE(exact && bytes);
  EXPECT_THAT(bytes->data<uint8_t>(), testing::ElementsAreArray(exact->data<float>()));

  input.type = DataType::I8;
  input.preprocess->mean = {128, 128, 128};
  input.preprocess->scale = {0.5, 0.5, 8};
  Expected<Tensor> halves = read(path, input);
  ASSERT_TRUE(halves);
  for (int64_t i = 0; i < halves->numElements(); ++i) {
    const bool isLastChannel = i >= 2 * 17 * 23;
    const double value = (exact->data<float>()[i] - 128) * (isLastChannel ? 8 : 0.5);
    ASSERT_EQ(halves->data<int8_t>()[i], std::clamp(std::nearbyint(value), -128.0, 127.0)) << i;
  }
}

TEST(Picture, ThinPicturesKeepOnePixel) {
  // A width of 1 out of 23 leaves 0.74 of the 17 rows.
  Expected<Tensor> tensor =
      read(kGolden + "landscape.png",
           pictureInput({1, 3, 9, 1}, {.keepAspectRatio = true, .padValue = 7}));
  ASSERT_TRUE(tensor) << tensor.error().message();
  const std::span<const float> values = tensor->data<float>();
  EXPECT_EQ(std::count(values.begin(), values.end(), 7.0f), 3 * 8);
}

TEST(Picture, OneForEachInput) {
  const std::vector<std::string> files = {kGolden + "landscape.png", kGolden + "portrait.jpg"};
  InputSpec gray = pictureInput({1, 1, 4, 4}, {.pixelFormat = PixelFormat::Gray});
  gray.name = "gray";
  Expected<NamedTensors> sample =
      readSample(files, std::vector<InputSpec>{pictureInput({-1, 3, -1, -1}), gray});
  ASSERT_TRUE(sample) << sample.error().message();
  EXPECT_EQ((*sample)[0].second.shape(), (Shape{1, 3, 17, 23}));
  EXPECT_EQ((*sample)[1].first, "gray");
  EXPECT_EQ((*sample)[1].second.shape(), (Shape{1, 1, 4, 4}));
}

TEST(Picture, OptionsThatDoNotFitAreErrors) {
  const std::string path = kGolden + "landscape.png";
  EXPECT_THAT(message(path, pictureInput({1, 1, 4, 4})), HasSubstr("--pixel_format: bgr has 3"));
  EXPECT_THAT(message(path, pictureInput({1, 3, 4, 4}, {.mean = {1, 2}})),
              HasSubstr("--mean: 2 values"));
  EXPECT_THAT(message(path, pictureInput({1, 3, 0, 4})), HasSubstr("cannot be scaled to nothing"));
}

TEST(Picture, WhatIsNoPictureIsAnError) {
  const TempFolder folder;
  const std::string path = folder.path("cat.png");
  writeAll(path, "this is no picture");
  EXPECT_EQ(message(path, pictureInput({1, 3, 4, 4})),
            path + ": is neither an array (.npy, .npz) nor a picture that can be decoded, or it is "
                   "truncated");
  EXPECT_EQ(message(folder.path("none.png"), pictureInput({1, 3, 4, 4})),
            folder.path("none.png") + ": cannot be read: No such file or directory");
}

TEST(Picture, TruncatedFilesAreErrors) {
  testing::internal::CaptureStderr();
  for (const char *name : {"landscape.png", "portrait.jpg", "deep.png"}) {
    const std::string whole = readAll(kGolden + name);
    ASSERT_TRUE(isDecoded(whole)) << name;
    for (size_t length = 0; length < whole.size(); ++length)
      EXPECT_FALSE(isDecoded(whole.substr(0, length))) << name << " " << length;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Picture, DamagedBytesAreErrorsOrPictures) {
  testing::internal::CaptureStderr();
  size_t numErrors = 0;
  for (const char *name : {"landscape.png", "portrait.jpg"}) {
    const std::string whole = readAll(kGolden + name);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      numErrors += isDecoded(damaged) ? 0 : 1;
    }
  }
  EXPECT_GT(numErrors, 0u);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Picture, EndOfJpeg) {
  const std::string whole = readAll(kGolden + "portrait.jpg");
  const auto isComplete = [](const std::string &text) {
    return isCompleteJpeg(std::as_bytes(std::span(text)));
  };
  EXPECT_TRUE(isComplete(whole));
  EXPECT_TRUE(isComplete(whole + "more"));
  EXPECT_TRUE(isComplete(""));
  EXPECT_TRUE(isComplete("no JPEG"));
  EXPECT_FALSE(isComplete(whole.substr(0, whole.size() - 2)));
  // The end of a thumbnail in a segment is not the end of the picture.
  const std::string segment("\xFF\xE1\x00\x06\xFF\xD8\xFF\xD9", 8);
  EXPECT_FALSE(isComplete("\xFF\xD8" + segment));
  EXPECT_TRUE(isComplete("\xFF\xD8" + segment + "\xFF\xD9"));
}

TEST(Picture, OtherThreadsKeepTheirStderr) {
  const TempFolder folder;
  const std::string path = folder.path("short.png");
  const std::string whole = readAll(kGolden + "landscape.png");
  writeAll(path, whole.substr(0, whole.size() / 2));
  testing::internal::CaptureStderr();
  std::atomic<int> numDecoded = 0;
  std::thread reader([&] {
    for (; numDecoded < 200; ++numDecoded)
      EXPECT_THAT(message(path, pictureInput({1, 3, -1, -1})), HasSubstr("cannot be decoded: "));
  });
  std::string expected;
  for (int line = 0; numDecoded < 200; ++line) {
    std::fprintf(stderr, "line %d\n", line);
    expected += fmt::format("line {}\n", line);
  }
  reader.join();
  // Not EXPECT_EQ, which compares long texts line by line with line.
  EXPECT_TRUE(testing::internal::GetCapturedStderr() == expected);
}

TEST(PictureDeathTest, ArraysDoNotLoadOpencv) {
  // In a process of its own, because other tests do load it.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const TempFolder folder;
  const std::string array = folder.path("a.npy");
  ASSERT_TRUE(writeNpy(array, Tensor::of<float>({1}, {1})));
  const auto isLoaded = [] {
    return readAll("/proc/self/maps").find("libopencv") != std::string::npos;
  };
  EXPECT_EXIT(
      {
        const bool isRead = read(array, {"x", DataType::F32, {1}, {}}).has_value();
        const bool before = isLoaded();
        const bool isDecoded = read(kGolden + "deep.png", pictureInput({1, 3, 4, 4})).has_value();
        std::_Exit(isRead && !before && isDecoded && isLoaded() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
