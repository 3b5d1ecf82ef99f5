//===- PictureInputTest.cpp - Inputs that take pictures -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddModel.h"
#include "runtime/Session.h"
#include "tpuc/Model/Bmodel/Check.h"
#include "tpuc/Model/Bmodel/Combine.h"
#include "tpuc/Model/Bmodel/Compiled.h"
#include "tpuc/Model/Bmodel/Dump.h"
#include "unittests/Support/TempFolder.h"

#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::runtime;
using testing::HasSubstr;

namespace {

/// Every field is another than without it.
constexpr model::PictureInfo kNv12 = {.format = PictureFormat::YuvNv12,
                                      .height = 4,
                                      .width = 6,
                                      .alignment = {8, 32},
                                      .isVideoRange = false,
                                      .keepsAspectRatio = true,
                                      .isAtTopLeft = true,
                                      .fillsFrame = true,
                                      .padValue = 114};

/// A model whose input takes such pictures: 32 bytes of Y, 16 of U and V, a gap of 16.
model::CompiledModel pictureModel(const model::PictureInfo &picture,
                                  const std::vector<uint64_t> &shape) {
  model::CompiledModel made = bmodel::toCompiled(addModel("pictures"), "m");
  model::TensorInfo &input = made.nets[0].stages[0].inputs[0];
  input.setType(DataType::U8);
  input.shape = shape;
  input.picture = picture;
  made.nets[0].stages[0].subNets[0].inputs[0] = input;
  return made;
}

TEST(PictureInput, FilesKeepIt) {
  const TempFolder folder;
  for (const char *name : {"bmodel", "tpum"}) {
    const model::Container *container = model::findContainer(name, model::containers());
    ASSERT_NE(container, nullptr) << name;
    const std::string path = folder.path("m");
    auto file = container->write(pictureModel(kNv12, {1, 1, 1, 64}), path);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_TRUE(file->commit());
    const auto read = container->read(*model::ModelFile::open(path));
    ASSERT_TRUE(read) << read.error().message();
    const model::TensorInfo &input = read->nets[0].stages[0].inputs[0];
    EXPECT_EQ(input.picture, kNv12) << name;
    EXPECT_EQ(model::formatInput(input), "[1, 1, 1, 64] (YUV_NV12 pictures, 4 rows of 6 pixels)");
    EXPECT_FALSE(read->nets[0].stages[0].outputs[0].picture);
  }
}

TEST(PictureInput, ModelsThatAreJoinedKeepTheirs) {
  bmodel::Model gray = *bmodel::fromCompiled(
      pictureModel({.format = PictureFormat::Grayscale, .height = 4, .width = 5, .alignment = {}},
                   {1, 1, 4, 5}),
      "gray");
  gray.nets[0].name = "gray";
  const bmodel::Model nv12 = *bmodel::fromCompiled(pictureModel(kNv12, {1, 1, 1, 64}), "pictures");
  const std::vector<bmodel::Model> models = {addModel(), gray, nv12};
  const std::vector<std::string> names = {"add", "gray", "nv12"};
  const auto joined = bmodel::combine(models, names);
  ASSERT_TRUE(joined) << joined.error().message();
  const model::CompiledModel compiled = bmodel::toCompiled(*joined, "joined");
  EXPECT_FALSE(compiled.nets[0].stages[0].inputs[0].picture);
  EXPECT_EQ(compiled.nets[1].stages[0].inputs[0].picture->format, PictureFormat::Grayscale);
  EXPECT_EQ(compiled.nets[2].stages[0].inputs[0].picture, kNv12);
  EXPECT_EQ(
      bmodel::toCompiled(bmodel::extract(*joined, 2, 0), "m").nets[0].stages[0].inputs[0].picture,
      kNv12);
  EXPECT_THAT(bmodel::formatInfo(*joined),
              HasSubstr("[1, 1, 4, 5] u8, GRAYSCALE pictures, 4 rows"));
  EXPECT_EQ(bmodel::toJson(*joined)["debug"]["pictures"][1]["pad_value"], 114);
}

TEST(PictureInput, FilesThatLieAreRefused) {
  const auto fault = [](const std::function<void(model::PictureInfo &)> &change) {
    model::PictureInfo picture = kNv12;
    change(picture);
    const auto made = bmodel::fromCompiled(pictureModel(picture, {1, 1, 1, 64}), "m");
    const auto checked = bmodel::checkModel(*made, "m");
    return checked ? std::string() : checked.error().message();
  };
  EXPECT_EQ(fault([](model::PictureInfo &) {}), "");
  EXPECT_THAT(
      fault([](model::PictureInfo &picture) { picture.height = 6; }),
      HasSubstr("m: 'x', u8 [1, 1, 1, 64]; expected bytes of YUV_NV12 pictures, 6 rows of 6"));
  EXPECT_THAT(fault([](model::PictureInfo &picture) { picture.format = PictureFormat::YuvNv21; }),
              "");
  EXPECT_NE(fault([](model::PictureInfo &picture) { picture.width = 5; }), "");
  EXPECT_NE(fault([](model::PictureInfo &picture) { picture.width = -6; }), "");
  EXPECT_NE(fault([](model::PictureInfo &picture) { picture.alignment.plane = 0; }), "");
  EXPECT_NE(fault([](model::PictureInfo &picture) { picture.alignment.row = int64_t{1} << 62; }),
            "");
  EXPECT_NE(fault([](model::PictureInfo &picture) { picture.format = PictureFormat::RgbPacked; }),
            "");
  bmodel::Model model = addModel();
  model.debug.pictures = {{0, 0, 1, kNv12}};
  EXPECT_THAT(bmodel::checkModel(model, "m").error().message(),
              HasSubstr("pictures for an input that does not exist"));
}

/// What the caller's planes are, as memory of the device.
TEST(PictureInput, PlanesAreCopiedWithTheirGaps) {
  const auto loaded = LoadedModel::create(pictureModel(kNv12, {1, 1, 1, 64}), "m");
  ASSERT_TRUE(loaded) << loaded.error().message();
  auto session = Session::create(*loaded, {}, 1);
  ASSERT_TRUE(session) << session.error().message();
  std::vector<std::byte> luma(7 * 3 + 6), chroma(9 + 6);
  for (size_t i = 0; i < luma.size(); ++i)
    luma[i] = static_cast<std::byte>(i + 1);
  for (size_t i = 0; i < chroma.size(); ++i)
    chroma[i] = static_cast<std::byte>(i + 100);
  PictureView view{.format = PictureFormat::YuvNv12,
                   .height = 4,
                   .width = 6,
                   .planes = {luma.data(), chroma.data()},
                   .strides = {7, 9}};
  const auto set = (*session)->setInputPictures(0, {&view, 1});
  ASSERT_TRUE(set) << set.error().message();
  ASSERT_TRUE((*session)->run());
  const auto stored = (*session)->read((*session)->stage().inputs[0]);
  ASSERT_TRUE(stored) << stored.error().message();
  std::vector<uint8_t> expected(64);
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 6; ++x)
      expected[y * 8 + x] = static_cast<uint8_t>(y * 7 + x + 1);
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 6; ++x)
      expected[32 + y * 8 + x] = static_cast<uint8_t>(y * 9 + x + 100);
  EXPECT_THAT(stored->data<uint8_t>(), testing::ElementsAreArray(expected));

  const auto fault = [&](const PictureView &given, size_t count = 1) {
    const std::vector<PictureView> all(count, given);
    return (*session)->setInputPictures(0, all).error().message();
  };
  PictureView other = view;
  other.width = 8;
  EXPECT_EQ(fault(other), "m: net 'pictures', stage 0: x: YUV_NV12 pictures, 4 rows of 8 pixels; "
                          "expected YUV_NV12 pictures, 4 rows of 6 pixels");
  other = view;
  other.format = PictureFormat::YuvNv21;
  EXPECT_THAT(fault(other), HasSubstr("YUV_NV21 pictures"));
  other = view;
  other.planes[1] = nullptr;
  EXPECT_THAT(fault(other), HasSubstr("no plane 1; expected 2 rows of 6 bytes"));
  other = view;
  other.strides[0] = 5;
  EXPECT_THAT(fault(other), HasSubstr("a stride of 5 in plane 0; expected 4 rows of 6 bytes"));
  EXPECT_THAT(fault(view, 2), HasSubstr("2 pictures; expected 1"));
  auto plain =
      Session::create(*LoadedModel::create(bmodel::toCompiled(addModel(), "m"), "m"), {}, 1);
  EXPECT_THAT((*plain)->setInputPictures(0, {&view, 1}).error().message(),
              HasSubstr("x: takes no pictures; expected a file"));
}

} // namespace
