//===- TargetInfo.cpp - BM1684X -------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// [V] was verified on the vendor's functional model, [R] read in public sources, [T] measured on
// the vendor's timing estimate; nothing here was measured on silicon.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/TargetInfo.h"

#include "tpuc/Target/BM1684X/Kernels/Windows.h"
#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

namespace tpuc::BM1684X {

namespace {

// 4-bit integers have a type code, too, but no command was ever run with it, so they are left out.
constexpr DataTypeSet kTypes = {DataType::F32, DataType::F16, DataType::BF16,
                                DataType::I8,  DataType::U8,  DataType::I16,
                                DataType::U16, DataType::I32, DataType::U32};

constexpr TargetInfo makeTarget() {
  TargetInfo t;
  t.name = "bm1684x";
  t.vendor = "Sophgo";
  t.family = "BM168x";
  t.summary = "Server chip with 64 lanes, all four precisions and a requantization command.";
  t.schemes = {schemes::kF32, schemes::kF16, schemes::kBF16, schemes::kInt8,
               schemes::kInt8Asymmetric};

  // [V] CONV leaves int32 sums, a saturating add brings the int32 bias in, RQ scales: 32-bit
  // multiplier, shift and zero point per channel, all seven rounding modes. The vendor takes
  // half-up in RQ and in the shifts of element-wise commands; so do we, for equal results.
  t.requant.strategy = RequantStrategy::OwnCommand;
  t.requant.perChannel = true;
  t.requant.multiplierBits = 32;
  t.requant.roundings = {RoundingMode::HalfToEven, RoundingMode::HalfAwayFromZero,
                         RoundingMode::TowardZero, RoundingMode::Down,
                         RoundingMode::Up,         RoundingMode::HalfUp,
                         RoundingMode::HalfDown};
  t.requant.rounding = RoundingMode::HalfUp;
  // [V] A doubling high product in front of RQ.
  t.requant.canRoundTwice = true;
  t.requant.shiftRounding = RoundingMode::HalfUp;
  t.requant.biasType = DataType::I32;
  // [V] Sums are float32 and rounded to nearest even at each addition; the products of one block of
  // 16-bit input channels are first truncated against the largest of them.
  t.floatSumRounding = RoundingMode::HalfToEven;

  // [V] sizes, id width; [R] clocks of the profile, extents (16-bit fields).
  // The 96-byte DMA command is the only one that the loader accepts, but for the 16-byte END.
  t.engines = {{.name = "TIU",
                .role = EngineRole::Compute,
                .types = kTypes,
                .clockHz = 1'000'000'000,
                .minCommandBytes = 16,
                .maxCommandBytes = 128,
                .commandIdBits = 20,
                .maxExtent = {65535, 65535, 65535, 65535}},
               {.name = "DMA",
                .role = EngineRole::Transfer,
                .types = kTypes,
                .clockHz = 1'000'000'000,
                .minCommandBytes = 16,
                .maxCommandBytes = 96,
                .commandIdBits = 20,
                .maxExtent = {65535, 65535, 65535, 65535}}};
  t.stream = {.isShared = false, .headerBytes = 0, .hasEndCommand = true, .paddingBytes = 128};
  // [V] Widths of the command's fields: strides 1 to 15, pads 0 to 15, dilation - 1 and inserted
  // zeros 0 to 15.
  t.window = {.maxStrideH = 15, .maxStrideW = 15, .maxPad = 15, .maxDilation = 16, .maxInsert = 15};

  // [V] L2: the usable part of it.
  t.memory = {.spaces = {{.name = "local", .lanes = 64, .align = 64, .bytes = 256 << 10}},
              .banks = 16,
              .bankBytes = 16 << 10,
              .localBase = 0x0800'0000,
              .staticBase = 0x0900'0000,
              .staticBytes = 16 << 10,
              .sharedBase = 0x1000'0000,
              .sharedBytes = 0x1F'B000};
  t.global.addressing = GlobalAddressing::Absolute;
  t.global.base = 0x1'0000'0000;
  t.global.modelBase = 0x1'0000'0000;
  t.global.alignment = 0x1000;      // [R]
  t.global.transferAlignment = 512; // [R]

  t.layout.strideUnit = StrideUnit::Element;
  t.layout.operandAddressing = OperandAddressing::LocalOffset;
  t.layout.convWeightOrder = ConvWeightOrder::ChannelBlocks;
  t.layout.convChannelBlock8 = 64;
  t.layout.convChannelBlock16 = 32;
  t.layout.convChannelBlock32 = 1;

  // [T]
  t.peakMacs = {.f32 = 1024, .f16 = 8192, .bf16 = 8192, .int8 = 16384};
  t.timing = TimingInfo{.conv8 = {.pixels = 4, .channels = 64},
                        .conv16 = {.pixels = 4, .channels = 32},
                        .conv32 = {.pixels = 16, .channels = 1},
                        .requantElementsPerCycle = 16,
                        .stridedPoolFactor = 3,
                        .inPlaceFactor = 2,
                        .globalToLocal = 58,
                        .localToGlobal = 44,
                        .globalToGlobal = 28,
                        .localToLocal = 28,
                        .transferDivisor = 1.073741824,
                        .matrixTransposeFactor = 0.75,
                        .linearBytesPerCycle = 64,
                        .linearLocalBytesPerCycle = 32,
                        .minBurstBytes = 256,
                        .memoryChannels = 4,
                        .channelInterleaveBytes = 4096,
                        // 100 % of the estimate's DDR usage is 64 GiB/s.
                        .peakGlobalBytesPerCycle = 64 * 1.073741824,
                        .repeatedRowsAreFree = true};
  // Assumed, not measured (docs/bm1684x-timing.md): loads and stores share one path at the rate of
  // the slower direction, of which a copy inside global memory takes twice as much.
  t.conservativeTiming = t.timing;
  t.conservativeTiming->globalToLocal = 44;
  t.conservativeTiming->globalToGlobal = 22;
  t.conservativeTiming->linearBytesPerCycle = 22;
  t.conservativeTiming->linearLocalBytesPerCycle = 22;
  t.conservativeTiming->computeStartCycles = 50;
  t.conservativeTiming->transferStartCycles = 50;
  t.conservativeTiming->memoryLatencyCycles = 200;
  t.conservativeTiming->repeatedRowsAreFree = false;
  t.container = "bmodel";
  t.containerChip = "BM1684X";
  t.hasCodeGenerator = true;
  return t;
}

constexpr std::array kTargets = {makeTarget()};

// The machine and the kernels repeat figures, as constants of their own are quicker to read.
constexpr const MemoryInfo &kMemory = kTargets.front().memory;
constexpr const MemorySpace &kTiles = kTargets.front().tiles();
static_assert(kTiles.lanes == bm1684x::kLanes);
static_assert(kTiles.align == bm1684x::kEuBytes);
static_assert(kTiles.bytes == bm1684x::kLaneBytes);
static_assert(kMemory.bankBytes == bm1684x::kBankBytes);
static_assert(kMemory.localBase == bm1684x::kLocalBase);
static_assert(kMemory.staticBase == bm1684x::kStaticBase);
static_assert(kMemory.staticBytes == bm1684x::kStaticBytes);
static_assert(kMemory.sharedBase == bm1684x::kL2Base);
static_assert(kMemory.sharedBytes == bm1684x::kL2Bytes);
static_assert(kTargets.front().global.base == bm1684x::kGlobalBase);
constexpr const WindowLimits &kWindow = kTargets.front().window;
static_assert(kWindow.maxStrideH == bm1684x::kMostStride);
static_assert(kWindow.maxStrideW == bm1684x::kMostStride);
static_assert(kWindow.maxPad == bm1684x::kMostPad);
static_assert(kWindow.maxDilation == bm1684x::kMostDilation);
static_assert(kWindow.maxInsert == bm1684x::kMostInsert);

} // namespace

std::span<const TargetInfo> describeTargets() { return kTargets; }

} // namespace tpuc::BM1684X
