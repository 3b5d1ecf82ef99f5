//===- TargetInfo.cpp - BM1684 --------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// [V] was verified on the vendor's functional model, [R] read in public sources; nothing here was
// measured on silicon.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/TargetInfo.h"

#include "tpuc/Target/BM1684/Machine/CommandTable.h"

namespace tpuc::BM1684 {

namespace {

// [V] float32 and the integers of 8 and 16 bits; [R] of 32 bits.
constexpr DataTypeSet kTypes = {DataType::F32, DataType::I8,  DataType::U8, DataType::I16,
                                DataType::U16, DataType::I32, DataType::U32};

constexpr TargetInfo makeTarget() {
  TargetInfo t;
  t.name = "bm1684";
  t.vendor = "Sophgo";
  t.family = "BM168x";
  t.summary = "Server chip with 64 lanes, float32 and INT8 with one shift per convolution.";
  t.schemes = {schemes::kF32, schemes::kInt8};

  // [V] An int8 convolution adds an int16 bias and shifts once, half up, for all its channels.
  // There is neither a multiplier nor a zero point, so scales are powers of two times what was
  // folded into the weights, and only the symmetric kind exists.
  t.requant.strategy = RequantStrategy::SharedShift;
  t.requant.perChannel = false;
  t.requant.multiplierBits = 0;
  t.requant.roundings = {RoundingMode::HalfUp};
  t.requant.rounding = RoundingMode::HalfUp;
  // [V] for the shift command; how a multiply-and-accumulate's shift rounds was not written down.
  t.requant.shiftRounding = RoundingMode::Down;
  t.requant.biasType = DataType::I16;
  t.floatSumRounding = RoundingMode::HalfToEven;

  // [V] sizes and the profile's clock. The c extents have 12 bits in the TIU.
  t.engines = {{.name = "TIU",
                .role = EngineRole::Compute,
                .types = kTypes,
                .clockHz = 550'000'000,
                .minCommandBytes = 128,
                .maxCommandBytes = 128,
                .commandIdBits = 16,
                .maxExtent = {65535, 4095, 65535, 65535}},
               {.name = "DMA",
                .role = EngineRole::Transfer,
                .types = kTypes,
                .clockHz = 550'000'000,
                .minCommandBytes = 128,
                .maxCommandBytes = 128,
                .commandIdBits = 16,
                .maxExtent = {65535, 65535, 65535, 65535}}};
  t.stream = {.isShared = false, .headerBytes = 0, .hasEndCommand = false, .paddingBytes = 1};
  // [V] Widths of the command's fields.
  t.window = {.maxStrideH = 15, .maxStrideW = 15, .maxPad = 15, .maxDilation = 16, .maxInsert = 15};

  // [V] but for the banks, [R]. Look-up tables lie in the L2 memory; no static memory is known.
  t.memory = {.spaces = {{.name = "local", .lanes = 64, .align = 128, .bytes = 512 << 10}},
              .banks = 8,
              .bankBytes = 64 << 10,
              .localBase = 0x0800'0000,
              .staticBase = std::nullopt,
              .staticBytes = std::nullopt,
              .sharedBase = 0x1000'0000,
              .sharedBytes = 4 << 20};
  // [V] The compiler's area begins above the runtime's. Transfer alignment, size and bandwidth of
  // the memory are not known.
  t.global.addressing = GlobalAddressing::Absolute;
  t.global.base = 0x1'0000'0000;
  t.global.modelBase = 0x1'0510'0000;
  t.global.alignment = 0x1000;

  // [V] Words of 4 batch items (int8) or 2 (int16); the operands of a matrix product are dense
  // bytes.
  t.layout.strideUnit = StrideUnit::Word32;
  t.layout.operandAddressing = OperandAddressing::Absolute;
  t.layout.int8BatchPerWord = 4;
  t.layout.int16BatchPerWord = 2;
  t.layout.int8MatrixBatchPerWord = 1;
  t.layout.convWeightOrder = ConvWeightOrder::KernelFirst;
  t.layout.convChannelBlock8 = 4;
  t.layout.convChannelBlock16 = 0; // An int16 convolution was never run.
  t.layout.convChannelBlock32 = 2;

  // [V] Of the timing's formulas: 64 lanes of 16 pixels, pairs of channels (F32), or four channels
  // and four images (INT8).
  t.peakMacs.f32 = 2048;
  t.peakMacs.int8 = 16384;

  // The formulas of the timing stand with the machine (Machine/TimingTiu.cpp, TimingGdma.cpp). They
  // have another form than the parameters here, which the cost model of a code generator evaluates.
  t.container = "bmodel";
  t.containerChip = "BM1684";
  t.hasCodeGenerator = true;
  return t;
}

constexpr std::array kTargets = {makeTarget()};

// The machine repeats figures, as constants of its own are quicker to read.
constexpr const MemorySpace &kTiles = kTargets.front().tiles();
static_assert(kTiles.lanes == bm1684::kLanes);
static_assert(kTiles.align == bm1684::kEuBytes);
static_assert(kTiles.bytes == bm1684::kLaneBytes);
static_assert(kTargets.front().memory.localBase == bm1684::kLocalBase);
static_assert(kTargets.front().memory.sharedBase == bm1684::kL2Base);
static_assert(kTargets.front().memory.sharedBytes == bm1684::kL2Bytes);
static_assert(kTargets.front().global.base == bm1684::kGlobalBase);

} // namespace

std::span<const TargetInfo> describeTargets() { return kTargets; }

} // namespace tpuc::BM1684
