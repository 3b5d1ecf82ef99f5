//===- ContainerTest.cpp - Model files on the simulated chips -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"
#include "test/conformance/cv18xx/Example.h"
#include "tpuc/Model/Bmodel/Compiled.h"
#include "tpuc/Model/Cvimodel/Cvimodel.h"
#include "unittests/Runtime/AddModel.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace tpuc;
using cvimodel::encodeFile;
using cvimodel::fromCompiled;
using cvimodel::readFile;
using cvimodel::toCompiled;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<std::byte> exampleFile(std::string_view chip) {
  const auto model = cv18xx::conformance::exampleModel(*cv18xx::findChip(chip));
  return *encodeFile(*fromCompiled(model, "example"), "example");
}

std::string messageOf(const std::vector<std::byte> &bytes) {
  const auto file = readFile(bytes, "file");
  return file ? "" : file.error().message();
}

/// The same bytes, but with these extents in place of the first such ones.
std::vector<std::byte> withExtents(std::vector<std::byte> bytes, std::span<const int64_t> old,
                                   std::span<const int64_t> extents) {
  const auto found = std::ranges::search(bytes, std::as_bytes(old));
  EXPECT_FALSE(found.empty());
  std::ranges::copy(std::as_bytes(extents), found.begin());
  return bytes;
}

TEST(Cvimodel, FilesComeBackAsTheSameBytes) {
  for (const cv18xx::Chip &chip : cv18xx::allChips()) {
    const std::vector<std::byte> bytes = exampleFile(chip.name);
    const auto file = readFile(bytes, "file");
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->chip, chip.name);
    EXPECT_TRUE(file->hasRightHash);
    ASSERT_EQ(file->weights.size(), 1u);
    EXPECT_EQ(file->weights[0].name, "w");
    EXPECT_EQ(*encodeFile(*file, "file"), bytes);
    const auto compiled = toCompiled(*file, "file");
    ASSERT_TRUE(compiled) << compiled.error().message();
    EXPECT_EQ(*encodeFile(*fromCompiled(*compiled, "file"), "file"), bytes);
  }
}

/// The vendor's runtime reads four extents of each tensor.
TEST(Cvimodel, MoreThanFourDimensionsAreFourInTheFile) {
  auto model = cv18xx::conformance::exampleModel(*cv18xx::findChip("cv181x"));
  model::TensorInfo &input = model.nets[0].stages[0].inputs[0];
  const std::vector<uint64_t> shape = {1, 1, 3, 2, 2, 5};
  input.shape = shape;
  const std::vector<std::byte> bytes = *encodeFile(*fromCompiled(model, "example"), "example");
  const auto file = readFile(bytes, "file");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(toCompiled(*file, "file")->nets[0].stages[0].inputs[0].shape, shape);
  EXPECT_EQ(*encodeFile(*file, "file"), bytes);
  // 1, 1, 3 and 20, then 2, 2, 5 beside it.
  const int64_t dims[] = {1, 1, 3, 20}, last[] = {2, 2, 5};
  const auto holds = [&](std::span<const int64_t> wanted) {
    const auto pattern = std::as_bytes(wanted);
    return !std::ranges::search(bytes, pattern).empty();
  };
  EXPECT_TRUE(holds(dims));
  EXPECT_TRUE(holds(last));
  const int64_t other[] = {3, 2, 5};
  EXPECT_THAT(messageOf(withExtents(bytes, last, other)),
              HasSubstr("a dimension of 20 made of others; expected their product"));
  // Nothing is multiplied behind an extent below 0.
  const int64_t huge[] = {-1, int64_t{1} << 62, 4};
  EXPECT_THAT(messageOf(withExtents(bytes, last, huge)),
              HasSubstr("a dimension of 20 made of others; expected their product"));
}

TEST(Cvimodel, ShapesThatNoTensorHasAreRefused) {
  const std::vector<std::byte> bytes = exampleFile("cv181x");
  const int64_t dims[] = {1, 5, 3, 4}, many[] = {int64_t{1} << 32, int64_t{1} << 32, 3, 4};
  const int64_t negative[] = {1, -5, 3, 4}, none[] = {int64_t{1} << 32, int64_t{1} << 32, 0, 4};
  EXPECT_THAT(messageOf(withExtents(bytes, dims, many)),
              HasSubstr("of more elements than 64 bits count; expected fewer"));
  EXPECT_THAT(messageOf(withExtents(bytes, dims, negative)),
              HasSubstr("with a negative extent; expected 0 and more"));
  EXPECT_THAT(messageOf(withExtents(bytes, dims, none)), Not(HasSubstr("64 bits")));
}

/// Runs the example's file of a chip a few times; the first thing that is wrong.
std::string runExample(std::string_view chip, int numRuns) {
  const std::vector<std::byte> bytes = exampleFile(chip);
  auto compiled = toCompiled(*readFile(bytes, "file"), "file");
  if (!compiled)
    return compiled.error().message();
  const auto loaded = runtime::LoadedModel::create(std::move(*compiled), "file");
  if (!loaded)
    return loaded.error().message();
  auto session = runtime::Session::create(*loaded, {0, 0}, 1);
  if (!session)
    return session.error().message();
  Tensor input(DataType::I8, Shape({1, 5, 3, 4}));
  const auto values = input.mutableData<int8_t>();
  for (int run = 0; run < numRuns; ++run) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int8_t>(i * 5 - 128 + static_cast<size_t>(run));
    if (!(*session)->setInput(0, input))
      return "the input is not taken";
    if (const auto done = (*session)->run({}); !done)
      return done.error().message();
    const auto output = (*session)->output(0);
    if (!output)
      return output.error().message();
    for (size_t i = 0; i < values.size(); ++i) {
      const int sum = values[i] * cv18xx::conformance::exampleWeight(i) + 4;
      if (output->data<int8_t>()[i] != std::clamp(sum >> 3, -128, 127))
        return "element " + std::to_string(i) + " of run " + std::to_string(run);
    }
  }
  return "";
}

TEST(Cvimodel, FilesRunOnTheSimulatedChips) {
  for (const cv18xx::Chip &chip : cv18xx::allChips())
    EXPECT_EQ(runExample(chip.name, 1), "") << chip.name;
}

/// Adds 1.5 to a ramp on a chip of another family.
std::string runAddition(int numRuns) {
  const auto loaded = runtime::LoadedModel::create(
      bmodel::toCompiled(runtime::addModel(), "add.bmodel"), "add.bmodel");
  if (!loaded)
    return loaded.error().message();
  auto session = runtime::Session::create(*loaded, {}, 1);
  if (!session)
    return session.error().message();
  for (int run = 0; run < numRuns; ++run) {
    Tensor input(DataType::F32, Shape({1, 3, 4, 5}));
    float next = static_cast<float>(run);
    for (float &value : input.mutableData<float>())
      value = next++;
    if (!(*session)->setInput(0, input) || !(*session)->run())
      return "a run fails";
    const auto output = (*session)->output(0);
    if (!output)
      return output.error().message();
    for (size_t i = 0; i < 60; ++i)
      if (output->data<float>()[i] != static_cast<float>(run) + static_cast<float>(i) + 1.5F)
        return "element " + std::to_string(i) + " of run " + std::to_string(run);
  }
  return "";
}

TEST(Cvimodel, SeveralChipsRunBesideEachOther) {
  constexpr int kRuns = 20;
  const std::span<const cv18xx::Chip> chips = cv18xx::allChips();
  std::vector<std::string> wrong(chips.size() + 1, "not run");
  std::vector<std::thread> threads;
  threads.emplace_back([&] { wrong.back() = runAddition(kRuns); });
  for (size_t i = 0; i < chips.size(); ++i)
    threads.emplace_back([&, i] { wrong[i] = runExample(chips[i].name, kRuns); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(wrong, testing::Each(""));
}

TEST(Cvimodel, TimesHaveThreeSets) {
  const std::vector<std::byte> bytes = exampleFile("cv181x");
  const auto loaded =
      runtime::LoadedModel::create(*toCompiled(*readFile(bytes, "file"), "file"), "file");
  const auto timing = (*loaded)->timing({0, 0});
  ASSERT_TRUE(timing) << timing.error().message();
  ASSERT_EQ(timing->sets.size(), 3u);
  EXPECT_EQ(timing->engines[0].commands.size(), 1u);
  EXPECT_EQ(timing->engines[1].commands.size(), 3u);
  // Two loads, the product and the store wait for each other. A product of 5 channels is one step:
  // 2.5 + 3 cycles, then 26 + 12; by the vendor's set 4.5 + 1. The loads of 60 and 60 bytes and the
  // store are a granule each.
  EXPECT_EQ(timing->sets[1].spans[0][0].cycles, (5 + 38) * 2);
  EXPECT_EQ(timing->sets[0].spans[0][0].cycles, 61);
  EXPECT_EQ(timing->sets[0].spans[1][0].cycles, 319);
  EXPECT_EQ(timing->sets[0].spans[1][0].start, 400'000);
  EXPECT_EQ(timing->sets[0].spans[1][2].start, 400'700);
  EXPECT_EQ(timing->globalBytes, 3 * 64);
}

TEST(Cvimodel, DamagedFilesAreRefused) {
  const std::vector<std::byte> bytes = exampleFile("cv180x");
  EXPECT_EQ(messageOf(bytes), "");
  EXPECT_THAT(messageOf({bytes.begin(), bytes.begin() + 20}), HasSubstr("no .cvimodel file"));
  EXPECT_THAT(messageOf({bytes.begin(), bytes.end() - 1}), HasSubstr("an end within"));
  std::vector<std::byte> damaged = bytes;
  damaged[12] = std::byte{2};
  EXPECT_THAT(messageOf(damaged), HasSubstr("version 2.4; expected version 1"));
  damaged = bytes;
  damaged[10] = std::byte{1};
  EXPECT_THAT(messageOf(damaged), HasSubstr("bytes of tables; expected at most"));
  damaged = bytes;
  damaged[48] = std::byte{0xFF};
  EXPECT_THAT(messageOf(damaged), HasSubstr("damaged tables"));
}

/// The example with an input of such pictures, in a file and back.
Expected<model::TensorInfo> throughFile(std::string_view chip, const model::PictureInfo &picture,
                                        std::vector<uint64_t> shape, cvimodel::Tensor *inFile) {
  auto model = cv18xx::conformance::exampleModel(*cv18xx::findChip(chip));
  model::Stage &stage = model.nets[0].stages[0];
  stage.inputs[0].setType(DataType::U8);
  stage.inputs[0].shape = std::move(shape);
  stage.inputs[0].picture = picture;
  const auto file = fromCompiled(model, "pictures");
  if (!file)
    return tl::unexpected(file.error());
  const auto bytes = *encodeFile(*file, "pictures");
  const auto read = readFile(bytes, "pictures");
  if (!read)
    return tl::unexpected(read.error());
  *inFile = *read->programs[0].find(read->programs[0].inputs[0]);
  EXPECT_EQ(*encodeFile(*read, "pictures"), bytes);
  return toCompiled(*read, "pictures")->nets[0].stages[0].inputs[0];
}

TEST(Cvimodel, PicturesAreInTheVendorsFields) {
  model::PictureInfo picture = {.format = PictureFormat::BgrPacked,
                                .height = 5,
                                .width = 4,
                                .alignment = {},
                                .isVideoRange = false,
                                .keepsAspectRatio = true,
                                .isAtTopLeft = true,
                                .fillsFrame = true,
                                .padValue = 9};
  const std::string_view chip = "cv181x";
  cvimodel::Tensor inFile;
  auto back = throughFile(chip, picture, {1, 5, 4, 3}, &inFile);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->picture, picture);
  EXPECT_THAT(inFile.shape, testing::ElementsAre(1, 5, 4, 3));
  // Frames are stated by their pixels; by each chip's alignments they count bytes.
  const auto frames = [&](std::string_view ofChip, PictureFormat format,
                          std::vector<uint64_t> shape) {
    picture.format = format;
    picture.height = 4;
    picture.width = 6;
    picture.alignment = cvimodel::frameAlignment(ofChip);
    back = throughFile(ofChip, picture, shape, &inFile);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->picture, picture);
    EXPECT_EQ(back->shape, shape);
  };
  frames(chip, PictureFormat::RgbPlanar, {1, 3, 1, 256});
  EXPECT_THAT(inFile.shape, testing::ElementsAre(1, 3, 4, 6));
  frames(chip, PictureFormat::BgrPacked, {1, 1, 4, 64});
  EXPECT_THAT(inFile.shape, testing::ElementsAre(1, 3, 4, 6));
  frames(chip, PictureFormat::YuvNv12, {1, 1, 1, 384});
  EXPECT_THAT(inFile.shape, testing::ElementsAre(1, 3, 4, 6));
  frames(chip, PictureFormat::Yuv420Planar, {1, 1, 1, 512 + 256});
  frames("cv183x", PictureFormat::Yuv420Planar, {1, 1, 1, 3 * 4096});
  frames("cv183x", PictureFormat::Grayscale, {1, 1, 4, 32});
  picture.alignment = {16, 16};
  EXPECT_THAT(throughFile(chip, picture, {1, 1, 4, 16}, &inFile).error().message(),
              HasSubstr("aligned to 16 and 16; expected those of cv181x"));
}

TEST(Cvimodel, RoutinesOfTheHostAreKnownOrRefusedByName) {
  const std::vector<std::byte> bytes = exampleFile("cv181x");
  cvimodel::File file = *readFile(bytes, "file");
  cvimodel::Program &program = file.programs[0];
  cvimodel::Tensor real = program.tensors[0];
  real.name = "real";
  real.type = DataType::F32;
  real.address += 0x1000;
  program.tensors.push_back(real);
  program.tensors[0].scale = 0.5f;
  program.inputs = {"real"};
  program.routines.insert(program.routines.begin(), {true, {"real"}, {"x"}, "quant"});
  const auto known = toCompiled(file, "file");
  ASSERT_TRUE(known) << known.error().message();
  EXPECT_FALSE(known->nets[0].stages[0].refusal);
  const auto loaded = runtime::LoadedModel::create(*known, "file");
  auto session = runtime::Session::create(*loaded, {0, 0}, 1);
  ASSERT_TRUE(session) << session.error().message();
  Tensor input(DataType::F32, Shape({1, 5, 3, 4}));
  std::ranges::fill(input.mutableData<float>(), 0.0f);
  // Ties go to the even number; 100 saturates.
  input.mutableData<float>()[0] = 1.25f;
  input.mutableData<float>()[1] = 1.75f;
  input.mutableData<float>()[2] = 100.0f;
  ASSERT_TRUE((*session)->setInput(0, input));
  ASSERT_TRUE((*session)->run({}));
  const auto output = (*session)->output(0);
  const int quantized[] = {2, 4, 127};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(
        output->data<int8_t>()[i],
        std::clamp((quantized[i] * cv18xx::conformance::exampleWeight(i) + 4) >> 3, -128, 127));
  program.routines[0].name = "nonMaximum";
  const auto unknown = toCompiled(file, "file");
  ASSERT_TRUE(unknown);
  ASSERT_TRUE(unknown->nets[0].stages[0].refusal);
  EXPECT_THAT(unknown->nets[0].stages[0].refusal->message(),
              HasSubstr("a routine 'nonMaximum' for the host; expected quant or dequant"));
  program.routines[0].inputs = {"nobody"};
  EXPECT_FALSE(toCompiled(file, "file"));
}

} // namespace
