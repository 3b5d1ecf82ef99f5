//===- ValidateTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One seeded error per rule: a valid description, one change, and the error that it must give.

#include "tpuc/Target/Registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

using namespace tpuc;
using testing::HasSubstr;

namespace {

using Change = void (*)(TargetInfo &);

struct Seed {
  const char *base;
  Change change;
  const char *found;
};

constexpr std::array<std::string_view, 1> kUpperCase = {"Nil"};
constexpr std::array<std::string_view, 2> kTwice = {"nil", "nil"};
constexpr std::array<std::string_view, 1> kOwnName = {"null"};

void expectEach(std::initializer_list<Seed> seeds) {
  for (const Seed &seed : seeds) {
    SCOPED_TRACE(seed.found);
    TargetInfo target = *lookupTarget(seed.base).value();
    ASSERT_TRUE(validate(target).has_value());
    seed.change(target);
    const auto result = validate(target);
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(result.error().message(), HasSubstr(seed.found));
    EXPECT_THAT(result.error().where, HasSubstr("target"));
    EXPECT_FALSE(result.error().expected.empty());
  }
}

} // namespace

TEST(Validate, Names) {
  expectEach({
      {"null", [](TargetInfo &t) { t.name = ""; }, "name ''"},
      {"null", [](TargetInfo &t) { t.name = "Big"; }, "name 'Big'"},
      {"null", [](TargetInfo &t) { t.aliases = kUpperCase; }, "alias 'Nil'"},
      {"null", [](TargetInfo &t) { t.aliases = kTwice; }, "alias 'nil' twice"},
      {"null", [](TargetInfo &t) { t.aliases = kOwnName; }, "alias 'null' twice"},
      {"null", [](TargetInfo &t) { t.vendor = ""; }, "no vendor, family or summary"},
      {"null", [](TargetInfo &t) { t.family = ""; }, "no vendor, family or summary"},
      {"null", [](TargetInfo &t) { t.summary = ""; }, "no vendor, family or summary"},
  });
}

TEST(Validate, Precisions) {
  expectEach({
      {"null", [](TargetInfo &t) { t.schemes = {}; }, "no precision"},
      {"null", [](TargetInfo &t) { t.engines[0].types.erase(DataType::F16); },
       "engine that does not take f16"},
      {"null", [](TargetInfo &t) { t.engines[1].types.erase(DataType::I8); },
       "engine that does not take i8"},
      {"bm1684", [](TargetInfo &t) { t.layout.convChannelBlock32 = 0; },
       "no channel block for f32"},
      {"null", [](TargetInfo &t) { t.floatSumRounding.reset(); },
       "does not go with the precisions"},
      {"bm1684", [](TargetInfo &t) { t.schemes = {schemes::kInt8}; },
       "does not go with the precisions"},
  });
}

TEST(Validate, Requantization) {
  expectEach({
      {"bm1684", [](TargetInfo &t) { t.schemes = {schemes::kF32}; }, "requantization without INT8"},
      {"null", [](TargetInfo &t) { t.requant.strategy = RequantStrategy::None; },
       "INT8 without a requantization strategy"},
      {"null", [](TargetInfo &t) { t.requant.rounding.reset(); }, "INT8 without rounding"},
      {"null", [](TargetInfo &t) { t.requant.shiftRounding.reset(); }, "INT8 without rounding"},
      {"null", [](TargetInfo &t) { t.requant.biasType.reset(); }, "INT8 without rounding"},
      {"null", [](TargetInfo &t) { t.requant.rounding = RoundingMode::Up; },
       "not among those offered"},
      {"null", [](TargetInfo &t) { t.requant.biasType = DataType::F32; }, "INT8 bias type f32"},
      {"null", [](TargetInfo &t) { t.requant.biasType = DataType::U32; }, "INT8 bias type u32"},
      {"null", [](TargetInfo &t) { t.requant.multiplierBits = 0; }, "multiplier of 0 bits"},
      {"null", [](TargetInfo &t) { t.requant.multiplierBits = 12; }, "multiplier of 12 bits"},
      {"bm1684", [](TargetInfo &t) { t.requant.multiplierBits = 32; }, "multiplier of 32 bits"},
      {"bm1684", [](TargetInfo &t) { t.requant.perChannel = true; }, "per channel with a shared"},
      {"null", [](TargetInfo &t) { t.requant.firstShiftBits = 31; }, "shift in two steps"},
      {"bm1684", [](TargetInfo &t) { t.requant.canRoundTwice = true; }, "two roundings"},
      {"cv181x", [](TargetInfo &t) { t.schemes.insert(schemes::kInt8Asymmetric); },
       "asymmetric INT8 without"},
  });
}

TEST(Validate, Commands) {
  expectEach({
      {"null", [](TargetInfo &t) { t.engines[0].minCommandBytes = 0; },
       "computer: commands of 0 to 64"},
      {"null", [](TargetInfo &t) { t.engines[1].minCommandBytes = 128; },
       "mover: commands of 128 to 64"},
      {"null", [](TargetInfo &t) { t.engines[0].maxCommandBytes = 66; },
       "computer: commands of 64 to 66"},
      {"null", [](TargetInfo &t) { t.engines[0].commandIdBits = 0; },
       "computer: command ids of 0 bits"},
      {"null", [](TargetInfo &t) { t.engines[1].commandIdBits = 33; },
       "mover: command ids of 33 bits"},
      {"null", [](TargetInfo &t) { t.engines[1].maxExtent.h = 0; }, "mover: a largest extent of 0"},
      {"null", [](TargetInfo &t) { t.engines[0].clockHz = 0; }, "computer: a clock of 0 Hz"},
      {"null", [](TargetInfo &t) { t.engines = {}; }, "no engine that computes"},
      {"null", [](TargetInfo &t) { t.engines[1].role = EngineRole::Compute; },
       "none that moves data"},
      {"null", [](TargetInfo &t) { t.engines[1].name = t.engines[0].name; },
       "engine 'computer' twice"},
      {"null", [](TargetInfo &t) { t.engines[1].name = ""; }, "without a name"},
      {"cv181x", [](TargetInfo &t) { t.stream.headerBytes = 0; }, "without headers"},
      {"null", [](TargetInfo &t) { t.stream.paddingBytes = 100; }, "padded to 100 bytes"},
      {"null", [](TargetInfo &t) { t.window.maxStrideW = 0; }, "window stride or dilation of 0"},
      {"null", [](TargetInfo &t) { t.window.maxDilation = 0; }, "window stride or dilation of 0"},
  });
}

TEST(Validate, Memory) {
  expectEach({
      {"null", [](TargetInfo &t) { t.memory.spaces[0].lanes = 0; }, "0 lanes"},
      {"null", [](TargetInfo &t) { t.memory.spaces[0].lanes = 6; }, "6 lanes"},
      {"null", [](TargetInfo &t) { t.memory.spaces[0].align = 24; },
       "tiles: an alignment of 24 bytes"},
      {"null", [](TargetInfo &t) { t.memory.spaces[0].align = 2; }, "an alignment of 2 bytes"},
      {"null", [](TargetInfo &t) { t.memory.spaces[0].bytes = 12000; },
       "tiles: 12000 bytes per lane"},
      {"null", [](TargetInfo &t) { t.memory.spaces[0].align = 1 << 20; }, "16384 bytes per lane"},
      {"null", [](TargetInfo &t) { t.memory.spaces = {}; }, "no memory space"},
      {"null", [](TargetInfo &t) { t.memory.spaces[1].name = "tiles"; },
       "memory space 'tiles' twice"},
      {"null", [](TargetInfo &t) { t.memory.spaces[1].align = 3; },
       "weights: an alignment of 3 bytes"},
      {"null", [](TargetInfo &t) { t.memory.banks = 5; }, "5 banks of 4096 bytes"},
      {"bm1684", [](TargetInfo &t) { t.memory.localBase.reset(); }, "absolute operand addresses"},
      {"bm1684", [](TargetInfo &t) { t.memory.localBase = 0x08000100; },
       "local memory at 0x8000100"},
      {"bm1684x", [](TargetInfo &t) { t.memory.staticBytes.reset(); }, "base or a size alone"},
      {"bm1684x", [](TargetInfo &t) { t.memory.sharedBase.reset(); }, "base or a size alone"},
      {"bm1684x", [](TargetInfo &t) { t.memory.staticBase = 0x08ff0000; },
       "local and static memory overlap"},
      {"bm1684x", [](TargetInfo &t) { t.global.base = 0x10100000; },
       "shared and global memory overlap"},
  });
}

TEST(Validate, GlobalMemory) {
  expectEach({
      {"cv181x", [](TargetInfo &t) { t.global.tagShift = 0; }, "tag shift of 0"},
      {"cv181x", [](TargetInfo &t) { t.global.tagShift = 64; }, "tag shift of 64"},
      {"bm1684x", [](TargetInfo &t) { t.global.tagShift = 40; }, "tag shift of 40"},
      {"null", [](TargetInfo &t) { t.global.alignment = 48; }, "global alignment of 48"},
      {"null", [](TargetInfo &t) { t.global.transferAlignment = 0; }, "global alignment of 0"},
      {"bm1684", [](TargetInfo &t) { t.global.modelBase = 0x1000; }, "models at 0x1000"},
      {"bm1684", [](TargetInfo &t) { t.global.modelBase += 8; }, "models at 0x105100008"},
  });
}

TEST(Validate, Layout) {
  expectEach({
      {"cv181x", [](TargetInfo &t) { t.layout.secondOperandAddressBits = 14; }, "14 address bits"},
      {"null", [](TargetInfo &t) { t.layout.secondOperandAddressBits = 40; }, "40 address bits"},
      {"bm1684", [](TargetInfo &t) { t.layout.int8BatchPerWord = 2; }, "2 int8 and 2 int16"},
      {"null", [](TargetInfo &t) { t.layout.int16BatchPerWord = 2; }, "1 int8 and 2 int16"},
      {"bm1684", [](TargetInfo &t) { t.layout.int8MatrixBatchPerWord = 2; }, "2 int8 matrices"},
      {"bm1684x", [](TargetInfo &t) { t.layout.convChannelBlock8 = 48; }, "48 input channels"},
      {"null", [](TargetInfo &t) { t.layout.wideIntegers = WideIntegers::BytePlanes; },
       "byte planes beside"},
      {"null", [](TargetInfo &t) { t.engines[0].types.erase(DataType::I32); },
       "INT8 bias of type i32"},
  });
}

TEST(Validate, Rates) {
  expectEach({
      {"bm1684", [](TargetInfo &t) { t.peakMacs.f16 = 64; }, "peak rate for F16"},
      {"bm1684", [](TargetInfo &t) { t.peakMacs.int8 = 100; }, "peak of 100 INT8 MACs"},
      {"bm1684", [](TargetInfo &t) { t.peakMacs.f32 = 0; }, "peak of 0 F32 MACs"},
      {"null", [](TargetInfo &t) { t.engines[1].clockHz.reset(); }, "timing without clocks"},
      {"bm1684x", [](TargetInfo &t) { t.timing->conv8.pixels = 8; },
       "INT8 convolutions of 8 pixels"},
      {"bm1684x", [](TargetInfo &t) { t.timing->conv16 = {64, 2}; }, "2 input channels per cycle"},
      {"null", [](TargetInfo &t) { t.timing->globalToLocal = 0; }, "rate of 0"},
      {"null", [](TargetInfo &t) { t.timing->localToGlobal = -1; }, "rate of -1"},
      {"null", [](TargetInfo &t) { t.timing->linearBytesPerCycle = 0; }, "rate of 0"},
      {"null", [](TargetInfo &t) { t.timing->requantElementsPerCycle = 0; }, "rate of 0"},
      {"null", [](TargetInfo &t) { t.timing->transferDivisor = 0.5; }, "timing factor below 1"},
      {"null", [](TargetInfo &t) { t.timing->memoryChannels = 0; }, "timing factor below 1"},
      {"null", [](TargetInfo &t) { t.timing->inPlaceFactor = 0; }, "timing factor below 1"},
  });
}

TEST(Validate, Containers) {
  expectEach({
      {"null", [](TargetInfo &t) { t.containerChip = "NULL"; }, "chip name 'NULL'"},
      {"null", [](TargetInfo &t) { t.frames = {48, 64}; }, "frame buffers of rows of 48"},
      {"bm1684", [](TargetInfo &t) { t.containerChip = ""; }, "chip name ''"},
      {"null", [](TargetInfo &t) { t.hasCodeGenerator = true; }, "generator without a container"},
  });
}
