//===- ContainerTest.cpp - Reading and writing .bmodel files --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExampleModel.h"
#include "tpuc/Model/Bmodel/Header.h"
#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Sha256.h"
#include "tpuc/Model/Bmodel/Writer.h"
#include "unittests/Support/Sanitized.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <bmodel_generated.h>
#include <cmath>
#include <fmt/format.h>
#include <functional>

using namespace tpuc;
using namespace tpuc::bmodel;
using testing::HasSubstr;

namespace {

std::vector<std::byte> encodedFile(const Model &model) {
  auto file = encodeModel(model, "test");
  EXPECT_TRUE(file) << file.error().message();
  return file.value_or(std::vector<std::byte>{});
}

/// A copy of exactly the size, so that a sanitizer sees the first byte that is read beyond it.
Expected<Model> decoded(Bytes file) {
  auto copy = std::make_shared<std::vector<std::byte>>(file.begin(), file.end());
  copy->shrink_to_fit();
  const Bytes bytes = *copy;
  return readModel(bytes, std::move(copy), "m.bmodel");
}

std::string contents(Bytes bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(Container, RoundTripKeepsEveryField) {
  const Model model = exampleModel();
  const std::vector<std::byte> file = encodedFile(model);
  const auto read = decoded(file);
  ASSERT_TRUE(read) << read.error().message();
  // Everything that is written depends on everything that was read.
  EXPECT_EQ(encodedFile(*read), file);

  EXPECT_EQ(read->chip, "BM1684X");
  EXPECT_EQ(read->time, "noon");
  EXPECT_EQ(read->contextSize, 4096);
  EXPECT_EQ(contents(read->firmware->data), contents(model.firmware->data));
  EXPECT_EQ(contents(read->cpuLibrary->data), contents(model.cpuLibrary->data));
  EXPECT_EQ(contents(read->backend), contents(model.backend));
  EXPECT_EQ(read->debug, model.debug);
  ASSERT_EQ(read->nets.size(), 2);
  const Stage &stage = read->nets[0].stages.at(1);
  EXPECT_EQ(stage.inputs, model.nets[0].stages[1].inputs);
  EXPECT_EQ(stage.outputs, model.nets[0].stages[1].outputs);
  EXPECT_EQ(contents(stage.subNets.at(0).groups.at(0).dma),
            contents(model.nets[0].stages[1].groups[0].dma));
  EXPECT_EQ(contents(stage.coefficients->data),
            contents(model.nets[0].stages[1].coefficients->data));
  ASSERT_TRUE(stage.coefficients->sha256);
  EXPECT_EQ(stage.coefficients->locations.at(1).name, "conv1_bias");

  const Stage &tail = read->nets[1].stages.at(0);
  EXPECT_EQ(tail.inputs, model.nets[1].stages[0].inputs);
  EXPECT_TRUE(tail.isDynamic);
  EXPECT_EQ(contents(tail.dynamicIr), contents(model.nets[1].stages[0].dynamicIr));
  EXPECT_EQ(contents(tail.statistics), contents(model.nets[1].stages[0].statistics));
  EXPECT_EQ(tail.dynamicStages.at(0).widthLow, 4);
  EXPECT_EQ(tail.dynamicCombinedOffset, 7);
  EXPECT_EQ(tail.subNets.at(1).cpu.at(0).constants.at(0).name, "anchors");
  EXPECT_EQ(tail.subNets.at(2).merge, model.nets[1].stages[0].subNets[2].merge);
  EXPECT_EQ(tail.subNets.at(3).switchInfo->branches, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(contents(tail.subNets.at(3).cores.at(0).cdma.at(1)),
            contents(model.nets[1].stages[0].subNets[3].cores[0].cdma[1]));
  EXPECT_EQ(read->nets[1].cascade->mainName, "main");
}

TEST(Container, SameBytesOnEveryRun) {
  EXPECT_EQ(encodedFile(exampleModel()), encodedFile(exampleModel()));
}

// The slots and bytes that the vendor's runtime reads, stated without the generated code.
TEST(Container, LayoutOfTheFile) {
  const std::vector<std::byte> file = encodedFile(exampleModel());
  const auto word = [&](size_t at) {
    uint32_t value;
    std::memcpy(&value, file.data() + at, 4);
    return value;
  };
  EXPECT_EQ(word(0), 0xFF55AAEE);
  EXPECT_EQ(word(4), 64);
  EXPECT_EQ(word(8) % 64, 0);
  EXPECT_EQ(64 + word(8) + word(12), file.size());
  EXPECT_EQ(std::memcmp(file.data() + 20, "TPDI", 4), 0);
  // The blob's size has 64 bits, as the vendor's runtime reads it.
  EXPECT_EQ(word(16), 0);
  for (size_t at = 44; at < 64; at += 4)
    EXPECT_EQ(word(at), 0);

  // The field `slot` of a table, as the FlatBuffers format defines it.
  const auto field = [&](size_t table, size_t slot) {
    const size_t vtable = table - static_cast<int32_t>(word(table));
    return table + (word(vtable + 4 + 2 * slot) & 0xFFFF);
  };
  const auto follow = [&](size_t at) { return at + word(at); };
  const size_t model = follow(64);
  const size_t chip = follow(field(model, 3));
  EXPECT_EQ(contents(Bytes(file).subspan(chip + 4, word(chip))), "BM1684X");
  const size_t nets = follow(field(model, 4));
  EXPECT_EQ(word(nets), 2);
  const size_t net = follow(nets + 4);
  const size_t stage = follow(follow(field(net, 3)) + 4);
  const size_t input = follow(follow(field(stage, 0)) + 4);
  EXPECT_EQ(word(field(input, 1)), 2); // int8
  EXPECT_EQ(word(field(input, 4)), 60);
  EXPECT_EQ(static_cast<int32_t>(word(field(input, 10))), -3);
  const size_t coefficients = follow(field(stage, 4));
  const size_t start = 64 + word(8) + word(field(coefficients, 2));
  EXPECT_EQ(contents(Bytes(file).subspan(start, 300)),
            contents(exampleModel().nets[0].stages[0].coefficients->data));
  EXPECT_EQ(start % 64, 0);
  // The group of the stage and that of its sub-net are one table.
  const size_t group = follow(follow(field(stage, 8)) + 4);
  const size_t subNet = follow(follow(field(stage, 12)) + 4);
  EXPECT_EQ(follow(follow(field(subNet, 1)) + 4), group);
  EXPECT_EQ(word(field(group, 0)), 5);
  EXPECT_EQ(word(field(group, 4)), 256);
}

TEST(Container, EqualCoefficientsAreStoredOnce) {
  Model model = exampleModel();
  const size_t shared = encodedFile(model).size();
  // The same contents elsewhere in memory, as when two files are combined.
  std::vector<std::byte> copy(300);
  std::ranges::copy(model.nets[0].stages[0].coefficients->data, copy.begin());
  model.nets[0].stages[1].coefficients->data = copy;
  EXPECT_EQ(encodedFile(model).size(), shared);
  copy[0] = std::byte{77};
  EXPECT_EQ(encodedFile(model).size(), shared + kBlobAlignment);
}

TEST(Container, FilesWithoutDebugInformationHaveZerosThere) {
  Model model = exampleModel();
  model.debug = {};
  const std::vector<std::byte> file = encodedFile(model);
  EXPECT_TRUE(std::all_of(file.begin() + 16, file.begin() + 64,
                          [](std::byte byte) { return byte == std::byte{}; }));
  EXPECT_TRUE(decoded(file));
}

TEST(Container, Sha256OfALengthThatIsCut) {
  // 512 MiB of zeros, whose length in bits is 0 in 32 bits: ctypes of Python and libcrypto gave
  // this.
  const std::vector<std::byte> zeros(size_t{1} << 29);
  const auto digest = sha256(zeros, "test");
  ASSERT_TRUE(digest);
  std::array<std::byte, kSha256Bytes> cut;
  const std::string_view text = "754b83b4865fa21349b7a1a1bc520b291ecf800364771dfe3838f8a550ac151c";
  for (size_t i = 0; i < cut.size(); ++i)
    cut[i] = static_cast<std::byte>(std::stoi(std::string(text.substr(2 * i, 2)), nullptr, 16));
  EXPECT_TRUE(isSha256Of(cut, *digest, zeros));
  EXPECT_TRUE(isSha256Of(*digest, *digest, zeros));
  EXPECT_FALSE(isSha256Of(cut, *digest, std::span(zeros).first(100)));
  cut[7] ^= std::byte{1};
  EXPECT_FALSE(isSha256Of(cut, *digest, zeros));
}

TEST(Container, Sha256) {
  // FIPS 180-4, the example "abc".
  const auto digest = sha256(std::as_bytes(std::span("abc", 3)), "test");
  ASSERT_TRUE(digest);
  std::string text;
  for (const std::byte byte : *digest)
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  EXPECT_EQ(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Container, DataTypes) {
  for (const DataType type : kAllDataTypes)
    EXPECT_EQ(dataTypeOfCode(codeOfDataType(type)), type);
  EXPECT_EQ(dataTypeOfCode(8), DataType::BF16);
  EXPECT_EQ(dataTypeOfCode(11), std::nullopt);
  EXPECT_EQ(dataTypeOfCode(255), std::nullopt);
  // F32 under the number of our own types, and behind the last of them.
  EXPECT_EQ(dataTypeOfCode(257), std::nullopt);
  EXPECT_EQ(dataTypeOfCode(256 + kAllDataTypes.size()), std::nullopt);
  EXPECT_EQ(codeOfDataType(DataType::F64), 256);
  EXPECT_EQ(codeOfDataType(DataType::Bool), 274);
  EXPECT_EQ(typeCodeName(8), "bf16");
  EXPECT_EQ(typeCodeName(12), "type 12");
}

TEST(Container, LayerOfCommand) {
  const std::vector<LayerRun> runs = {{2, 7}, {5, 3}};
  EXPECT_EQ(model::layerOfCommand(runs, 1), std::nullopt);
  EXPECT_EQ(model::layerOfCommand(runs, 2), 7);
  EXPECT_EQ(model::layerOfCommand(runs, 4), 7);
  EXPECT_EQ(model::layerOfCommand(runs, 1000), 3);
  EXPECT_EQ(model::layerOfCommand({}, 0), std::nullopt);
}

TEST(Container, EveryFlippedByteIsAnErrorOrAModel) {
  const std::vector<std::byte> file = encodedFile(exampleModel());
  const auto whole = decoded(file);
  const Bytes weights = whole->nets[0].stages[0].coefficients->data;
  const std::vector<std::byte> weightCopy(weights.begin(), weights.end());
  const size_t weightStart =
      std::search(file.begin(), file.end(), weightCopy.begin(), weightCopy.end()) - file.begin();
  size_t refused = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    // Padding is the same everywhere; one byte of it does.
    if (at > 64 && file[at] == std::byte{} && at % 4096 > 1024)
      continue;
    constexpr std::array kMasks = {0x01U, 0x80U, 0xFFU};
    for (const unsigned mask : kMasks) {
      if (kIsSanitized && mask != kMasks[at % kMasks.size()])
        continue;
      std::vector<std::byte> damaged = file;
      damaged[at] ^= std::byte(mask);
      const auto read = decoded(damaged);
      if (!read) {
        ++refused;
        EXPECT_FALSE(read.error().found.empty());
      } else {
        EXPECT_TRUE(encodeModel(*read, "again")) << "byte " << at;
      }
      const bool mustFail = at < 20 || (at >= weightStart && at < weightStart + 300);
      EXPECT_TRUE(!mustFail || !read) << "byte " << at;
    }
  }
  EXPECT_GT(refused, kIsSanitized ? 300 : 1000);
}

TEST(Container, EveryTruncationIsAnError) {
  const std::vector<std::byte> file = encodedFile(exampleModel());
  constexpr size_t kStep = kIsSanitized ? 3 : 1;
  for (size_t size = 0; size < file.size(); size += kStep)
    ASSERT_FALSE(decoded(Bytes(file).first(size))) << size;
  // And so it is when the header agrees with the size.
  for (size_t size = sizeof(Header); size < file.size(); size += kStep) {
    std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    Header header;
    std::memcpy(&header, cut.data(), sizeof(header));
    const size_t tables = std::min<size_t>(header.tableBytes, size - sizeof(header));
    header.tableBytes = static_cast<uint32_t>(tables);
    header.setBlobBytes(size - sizeof(header) - tables);
    std::memcpy(cut.data(), &header, sizeof(header));
    // Only the padding at the very end can go without being missed.
    if (const auto read = decoded(cut))
      ASSERT_GT(size, file.size() - kBlobAlignment);
  }
}

TEST(Container, ReadsFromAnyAddress) {
  const std::vector<std::byte> file = encodedFile(exampleModel());
  auto shifted = std::make_shared<std::vector<std::byte>>(file.size() + 1);
  std::ranges::copy(file, shifted->begin() + 1);
  const auto read = readModel(Bytes(*shifted).subspan(1), shifted, "shifted");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(encodedFile(*read), file);
}

/// A file around a FlatBuffer, without a blob.
std::vector<std::byte> fileAround(flatbuffers::FlatBufferBuilder &builder) {
  Header header;
  header.tableBytes = builder.GetSize();
  std::vector<std::byte> file(sizeof(header) + builder.GetSize());
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), builder.GetBufferPointer(), builder.GetSize());
  return file;
}

// One table, string or vector named very often makes a small file stand for a large model.
TEST(Container, AmplificationIsRefused) {
  {
    flatbuffers::FlatBufferBuilder builder;
    const auto tensor = fb::CreateTensor(builder, builder.CreateString("x"));
    const auto inputs = builder.CreateVector(std::vector(2000, tensor));
    const auto stage = fb::CreateStage(builder, inputs);
    const auto stages = builder.CreateVector(std::vector(2000, stage));
    const auto net = fb::CreateNet(builder, builder.CreateString("n"), 0, 0, stages);
    const auto nets = builder.CreateVector(std::vector(2000, net));
    builder.Finish(fb::CreateModel(builder, 0, 0, 0, builder.CreateString("c"), nets));
    const auto read = decoded(fileAround(builder));
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message(), HasSubstr("tables of the file are damaged"));
  }
  {
    flatbuffers::FlatBufferBuilder builder;
    const auto name = builder.CreateString(std::string(20000, 'x'));
    std::vector<flatbuffers::Offset<fb::Net>> nets;
    nets.reserve(2000);
    for (int i = 0; i < 2000; ++i)
      nets.push_back(fb::CreateNet(builder, name));
    const auto netVector = builder.CreateVector(nets);
    builder.Finish(fb::CreateModel(builder, 0, 0, 0, builder.CreateString("c"), netVector));
    const auto read = decoded(fileAround(builder));
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message(), HasSubstr("over and over"));
  }
}

struct DamagedFile {
  std::string name;
  std::function<void(Model &)> damage;
  std::string message;
};

class Refused : public testing::TestWithParam<DamagedFile> {};

TEST_P(Refused, ByTheWriter) {
  Model model = exampleModel();
  GetParam().damage(model);
  const auto file = encodeModel(model, "m.bmodel");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message(), HasSubstr(GetParam().message));
}

Stage &first(Model &model) { return model.nets[0].stages[0]; }

INSTANTIATE_TEST_SUITE_P(
    Container, Refused,
    testing::Values(
        DamagedFile{"NoChip", [](Model &m) { m.chip.clear(); }, "names no chip"},
        DamagedFile{"NoNet", [](Model &m) { m.nets.clear(); }, "holds no net"},
        DamagedFile{"NoNetName", [](Model &m) { m.nets[0].name.clear(); }, "net without a name"},
        DamagedFile{"NetsOfOneName", [](Model &m) { m.nets[1].name = "main"; },
                    "two nets of the name 'main'"},
        DamagedFile{"NoStage", [](Model &m) { m.nets[0].stages.clear(); }, "'main' has no stage"},
        DamagedFile{"NoInput", [](Model &m) { first(m).inputs.clear(); }, "no input"},
        DamagedFile{"TensorsOfOneName",
                    [](Model &m) { first(m).inputs.push_back(first(m).inputs[0]); },
                    "net 'main', stage 0: two tensors of the name 'image'"},
        DamagedFile{"NoShape", [](Model &m) { first(m).inputs[0].shapes.clear(); },
                    "image: no shape"},
        DamagedFile{"Rank9",
                    [](Model &m) { first(m).inputs[0].shapes[0] = std::vector<uint64_t>(9, 1); },
                    "image"},
        DamagedFile{"HugeExtent", [](Model &m) { first(m).inputs[0].shapes[0][0] = UINT64_MAX; },
                    "an extent of 18446744073709551615"},
        DamagedFile{"Overflow",
                    [](Model &m) { first(m).inputs[0].shapes[0] = {1U << 31U, 1U << 31U, 8}; },
                    "image"},
        DamagedFile{"ShapeLargerThanSize", [](Model &m) { first(m).inputs[0].shapes[0][0] = 2; },
                    "60 bytes for [2, 3, 4, 5] of i8; expected 120"},
        DamagedFile{"OutsideOfContext", [](Model &m) { first(m).inputs[0].address = 0x100000000; },
                    "60 bytes at 0x100000000; expected a place in the 4096 bytes at 0x100001000"},
        DamagedFile{"AddressWraps", [](Model &m) { first(m).inputs[0].address = UINT64_MAX; },
                    "beyond the end of the address space"},
        DamagedFile{"ContextWraps", [](Model &m) { first(m).contextAddress = UINT64_MAX; },
                    "beyond the end of the address space"},
        DamagedFile{"ScaleNaN", [](Model &m) { first(m).inputs[0].scale = std::nanf(""); },
                    "a scale that is no number"},
        DamagedFile{"WeightOutside",
                    [](Model &m) { first(m).coefficients->locations[1].size = 101; },
                    "weight 'conv1_bias' has 101 bytes at 200; expected it within 300 bytes"},
        DamagedFile{"WrongSum", [](Model &m) { first(m).coefficients->sha256.emplace(); },
                    "do not have the SHA-256"},
        DamagedFile{"SubNetsOfOneId", [](Model &m) { m.nets[1].stages[0].subNets[2].id = 1; },
                    "two sub-nets of the number 1"},
        DamagedFile{"NextUnknown", [](Model &m) { first(m).subNets[0].next = {4}; },
                    "followed by sub-net 4"},
        DamagedFile{"NoCommands", [](Model &m) { first(m).subNets[0].groups.clear(); },
                    "sub-net 0: no commands"},
        DamagedFile{"NoCommandCount", [](Model &m) { first(m).subNets[0].groups[0].numTiu = 0; },
                    "0 TIU commands in 256 bytes"},
        DamagedFile{"DebugLayer", [](Model &m) { m.debug.groups[0].tiu[1].layer = 2; },
                    "does not exist"},
        DamagedFile{"DebugCommand", [](Model &m) { m.debug.groups[0].tiu[1].first = 5; },
                    "does not exist"},
        DamagedFile{"DebugOrder", [](Model &m) { m.debug.groups[0].tiu[1].first = 0; },
                    "out of order"},
        DamagedFile{"DebugGroup", [](Model &m) { m.debug.groups[0].group.stage = 2; },
                    "commands that do not exist"},
        DamagedFile{"DebugTensorCommand", [](Model &m) { m.debug.tensors[0].afterDma = 5; },
                    "'conv1_out' is made by a command that does not exist"},
        DamagedFile{"DebugTensorPlace", [](Model &m) { m.debug.tensors[0].address = 0; },
                    "conv1_out: a place at 0x0"}),
    [](const auto &info) { return info.param.name; });

TEST(Container, BadFiles) {
  const auto message = [](std::string_view text) {
    const auto read = decoded(std::as_bytes(std::span(text)));
    return read ? std::string() : read.error().message();
  };
  EXPECT_EQ(message(""), "m.bmodel: a file of 0 bytes; expected a .bmodel file, which has 64 at "
                         "least");
  EXPECT_THAT(message(std::string(64, 'a')), HasSubstr("the file begins with 0x61616161"));
  EXPECT_EQ(readModel("/nonexistent/m.bmodel").error().where, "/nonexistent/m.bmodel");
  EXPECT_FALSE(hasMagic(Bytes{}));
  EXPECT_TRUE(hasMagic(encodedFile(exampleModel())));
}

} // namespace
