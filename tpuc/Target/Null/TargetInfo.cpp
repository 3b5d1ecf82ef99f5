//===- TargetInfo.cpp - A chip that does not exist ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A target for tests: every precision, every kind of quantization, round numbers. It is small, so
// that small networks already need tiling, and its figures are chosen, not measured. Constants of
// channels have a memory space of their own, and global addresses have tags, because other chips
// have neither. Its machine runs op by op (Codegen/NullMachine.h); there is no file for it.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Target.h"

namespace tpuc::Null {

namespace {

constexpr DataTypeSet kTypes = {DataType::F32, DataType::F16, DataType::BF16,
                                DataType::I8,  DataType::U8,  DataType::I16,
                                DataType::U16, DataType::I32, DataType::U32};

constexpr TargetInfo makeTarget() {
  TargetInfo t;
  t.name = "null";
  t.vendor = "tpuc";
  t.family = "null";
  t.summary = "No chip: compiles for a machine without files, for tests.";
  t.schemes = {schemes::kF32, schemes::kF16, schemes::kBF16, schemes::kInt8,
               schemes::kInt8Asymmetric};

  t.requant.strategy = RequantStrategy::OwnCommand;
  t.requant.perChannel = true;
  t.requant.multiplierBits = 32;
  t.requant.roundings = {RoundingMode::HalfUp, RoundingMode::HalfAwayFromZero};
  t.requant.rounding = RoundingMode::HalfUp;
  t.requant.shiftRounding = RoundingMode::HalfUp;
  t.requant.biasType = DataType::I32;
  t.floatSumRounding = RoundingMode::HalfToEven;

  const EngineInfo computer = {.name = "computer",
                               .role = EngineRole::Compute,
                               .types = kTypes,
                               .clockHz = 1'000'000'000,
                               .minCommandBytes = 64,
                               .maxCommandBytes = 64,
                               .commandIdBits = 32,
                               .maxExtent = {65535, 65535, 65535, 65535}};
  t.engines = {computer, computer};
  t.engines[1].name = "mover";
  t.engines[1].role = EngineRole::Transfer;
  t.stream = {.isShared = false, .headerBytes = 0, .hasEndCommand = false, .paddingBytes = 1};
  t.window = {.maxStrideH = 31, .maxStrideW = 31, .maxPad = 15, .maxDilation = 16, .maxInsert = 15};

  t.memory = {.spaces = {{.name = "tiles", .lanes = 4, .align = 16, .bytes = 16 << 10},
                         {.name = "weights", .lanes = 4, .align = 8, .bytes = 8 << 10}},
              .banks = 4,
              .bankBytes = 4 << 10,
              .localBase = std::nullopt,
              .staticBase = std::nullopt,
              .staticBytes = std::nullopt,
              .sharedBase = std::nullopt,
              .sharedBytes = std::nullopt};
  t.global.addressing = GlobalAddressing::TaggedBase;
  t.global.tagShift = 40;
  t.global.alignment = 64;
  t.global.transferAlignment = 64;

  t.layout.convWeightOrder = ConvWeightOrder::KernelFirst;
  t.layout.convChannelBlock8 = 1;
  t.layout.convChannelBlock16 = 1;
  t.layout.convChannelBlock32 = 1;

  t.peakMacs = {.f32 = 16, .f16 = 32, .bf16 = 32, .int8 = 64};
  t.timing = TimingInfo{.conv8 = {.pixels = 16, .channels = 1},
                        .conv16 = {.pixels = 8, .channels = 1},
                        .conv32 = {.pixels = 4, .channels = 1},
                        .requantElementsPerCycle = 4,
                        .stridedPoolFactor = 1,
                        .inPlaceFactor = 1,
                        .globalToLocal = 16,
                        .localToGlobal = 16,
                        .globalToGlobal = 8,
                        .localToLocal = 16,
                        .transferDivisor = 1,
                        .matrixTransposeFactor = 1,
                        .linearBytesPerCycle = 16,
                        .linearLocalBytesPerCycle = 16,
                        .minBurstBytes = 16,
                        .memoryChannels = 1,
                        .channelInterleaveBytes = 4096,
                        .peakGlobalBytesPerCycle = 16,
                        .computeStartCycles = 8,
                        .transferStartCycles = 8,
                        .memoryLatencyCycles = 32};
  return t;
}

constexpr std::array kTargets = {makeTarget()};

} // namespace

std::span<const TargetInfo> describeTargets() { return kTargets; }

} // namespace tpuc::Null
