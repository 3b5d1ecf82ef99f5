//===- TargetInfo.cpp - CV183x, CV182x, CV181x, CV180x --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One table for the four chips, which differ in lanes, clock, start of global memory and the layout
// of the TIU descriptor. [V] was verified on the vendor's functional model, [R] read in public
// sources; nothing here was measured on silicon.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Target.h"

namespace tpuc::CV18xx {

namespace {

// Wider values are planes of these: int16 two, int32 four, float32 two of BF16. [V] A result has a
// sign where an operand has one, as filters do; so the TIU's integers have signs.
constexpr DataTypeSet kTypes = {DataType::I8, DataType::BF16};
constexpr DataTypeSet kMovedTypes = {DataType::I8, DataType::U8, DataType::BF16};

/// What the four chips do not share.
struct Variant {
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::string_view summary;
  uint32_t lanes;
  uint64_t tiuHz;          ///< [R] the vendor's cycle model.
  uint64_t globalBase;     ///< [V]
  uint32_t maxStride;      ///< [V] 4- or 5-bit field.
  PictureAlignment frames; ///< [V] Those of the vendor's runtime.
};

constexpr TargetInfo makeTarget(const Variant &variant) {
  TargetInfo t;
  t.name = variant.name;
  t.aliases = variant.aliases;
  t.vendor = "Sophgo";
  t.family = "CV18xx";
  t.summary = variant.summary;
  t.schemes = {schemes::kBF16, schemes::kInt8};

  // [V] The convolution adds an int32 bias (wrapping), multiplies and shifts, from 9 packed bytes
  // per channel: sum * multiplier / 2^31 rounded half up, then / 2^shift half away from zero. No
  // zero point, so only the symmetric kind exists. Plain shifts round half up.
  t.requant.strategy = RequantStrategy::InConvolution;
  t.requant.perChannel = true;
  t.requant.multiplierBits = 32;
  t.requant.roundings = {RoundingMode::HalfUp};
  t.requant.rounding = RoundingMode::HalfUp;
  t.requant.firstShiftBits = 31;
  // [V] Sums of two tensors multiply each by a number of 8 bits.
  t.requant.sumMultiplierBits = 8;
  t.requant.shiftRounding = RoundingMode::HalfUp;
  t.requant.biasType = DataType::I32;
  // [V] Sums of BF16 products are float32 and truncate at each addition, the bias's too.
  t.floatSumRounding = RoundingMode::TowardZero;

  // [V] 12-bit extents in the TIU, 16-bit in the DMA engine, whose clock is not known.
  t.engines = {{.name = "TIU",
                .role = EngineRole::Compute,
                .types = kTypes,
                .clockHz = variant.tiuHz,
                .minCommandBytes = 112,
                .maxCommandBytes = 112,
                .commandIdBits = 16,
                .maxExtent = {4095, 4095, 4095, 4095}},
               {.name = "DMA",
                .role = EngineRole::Transfer,
                .types = kMovedTypes,
                .clockHz = std::nullopt,
                .minCommandBytes = 64,
                .maxCommandBytes = 64,
                .commandIdBits = 16,
                .maxExtent = {65535, 65535, 65535, 65535}}};
  t.stream = {.isShared = true, .headerBytes = 8, .hasEndCommand = false, .paddingBytes = 1};
  // [V] As the functional model accepts them.
  t.window = {.maxStrideH = variant.maxStride,
              .maxStrideW = variant.maxStride,
              .maxPad = 15,
              .maxDilation = 15,
              .maxInsert = 14};

  // [V] Commands see local memory by its offset; no other memory on the chip is known.
  t.memory = {.spaces = {{.name = "local", .lanes = variant.lanes, .align = 16, .bytes = 32 << 10}},
              .banks = 8,
              .bankBytes = 4 << 10,
              .localBase = std::nullopt,
              .staticBase = std::nullopt,
              .staticBytes = std::nullopt,
              .sharedBase = std::nullopt,
              .sharedBytes = std::nullopt};
  // [V] Base registers are chosen by the tag. The alignment of areas, size and bandwidth are not
  // known (the cycle model has a memory of 1886 MHz [R], without the width of its bus).
  t.global.addressing = GlobalAddressing::TaggedBase;
  t.global.tagShift = 40;
  t.global.base = variant.globalBase;
  t.global.modelBase = variant.globalBase;

  // [V] The second and third operand have 16 address bits, so they begin in lane 0 (or 1). The
  // vendor pads odd input channels to 2 when it switches double_conv on, which changes no result.
  t.layout.strideUnit = StrideUnit::Byte;
  t.layout.operandAddressing = OperandAddressing::LocalOffset;
  t.layout.secondOperandAddressBits = 16;
  t.layout.wideIntegers = WideIntegers::BytePlanes;
  t.layout.convWeightOrder = ConvWeightOrder::KernelFirst;
  t.layout.convChannelBlock8 = 1;
  t.layout.convChannelBlock16 = 1;
  t.layout.convChannelBlock32 = 0;

  // Peak rates are not known. The times of Machine/Timing.cpp are those of the public cycle model,
  // with parameters that others fitted to one board.
  t.frames = variant.frames;
  t.container = "cvimodel";
  // The header names the chip; one driver serves all.
  t.containerChip = t.family;
  t.hasCodeGenerator = true;
  return t;
}

constexpr std::array<std::string_view, 1> kAliases183x = {"bm1880v2"};
constexpr std::array<std::string_view, 1> kAliases182x = {"bm1822"};
constexpr std::array<std::string_view, 1> kAliases181x = {"mars"};
constexpr std::array<std::string_view, 1> kAliases180x = {"phobos"};

constexpr std::array kTargets = {
    makeTarget({.name = "cv183x",
                .aliases = kAliases183x,
                .summary = "Vision chip with 32 lanes, BF16 and INT8; no minimum pooling.",
                .lanes = 32,
                .tiuHz = 650'000'000,
                .globalBase = 0x1'0000'0000,
                .maxStride = 15,
                .frames = {32, 4096}}),
    makeTarget({.name = "cv182x",
                .aliases = kAliases182x,
                .summary = "Vision chip with 8 lanes, BF16 and INT8, at 750 MHz.",
                .lanes = 8,
                .tiuHz = 750'000'000,
                .globalBase = 0,
                .maxStride = 31,
                .frames = {64, 64}}),
    makeTarget({.name = "cv181x",
                .aliases = kAliases181x,
                .summary = "Vision chip with 8 lanes, BF16 and INT8, at 500 MHz.",
                .lanes = 8,
                .tiuHz = 500'000'000,
                .globalBase = 0,
                .maxStride = 31,
                .frames = {64, 64}}),
    makeTarget({.name = "cv180x",
                .aliases = kAliases180x,
                .summary = "Vision chip with 2 lanes, BF16 and INT8.",
                .lanes = 2,
                .tiuHz = 500'000'000,
                .globalBase = 0,
                .maxStride = 31,
                .frames = {64, 64}})};

} // namespace

std::span<const TargetInfo> describeTargets() { return kTargets; }

} // namespace tpuc::CV18xx
