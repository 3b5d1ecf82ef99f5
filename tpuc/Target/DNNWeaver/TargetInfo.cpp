//===- TargetInfo.cpp - Systolic arrays of FPGAs --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Two arrays of 32 x 32 elements: that of the public hardware description, and its extension in a
// patent. Sizes of buffers and clocks are those of Machine/Parameters.cpp, which a test compares.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Target.h"

namespace tpuc::DNNWeaver {

namespace {

/// What the two do not share.
struct Variant {
  std::string_view name, summary;
  SchemeSet schemes;
  DataTypeSet types;
  uint64_t clockHz;
  RoundingMode rounding;
  /// For each tag.
  uint32_t inputWords, sumWords, weightWords, biasWords;
};

constexpr TargetInfo makeTarget(const Variant &variant) {
  TargetInfo t;
  t.name = variant.name;
  t.vendor = "DNNWeaver";
  t.family = "DNNWeaver";
  t.summary = variant.summary;
  t.schemes = variant.schemes;

  t.requant.strategy = RequantStrategy::OwnCommand;
  t.requant.multiplierBits = 16;
  t.requant.roundings = {variant.rounding};
  t.requant.rounding = variant.rounding;
  t.requant.shiftRounding = variant.rounding;
  t.requant.biasType = DataType::I32;

  // Loops have at most 2^16 trips; programs at most 4096 words.
  const EngineInfo array = {.name = "array",
                            .role = EngineRole::Compute,
                            .types = variant.types,
                            .clockHz = variant.clockHz,
                            .minCommandBytes = 4,
                            .maxCommandBytes = 4,
                            .commandIdBits = 12,
                            .maxExtent = {1, 65536, 65536, 65536}};
  t.engines = {array, array};
  t.engines[1].name = "ports";
  t.engines[1].role = EngineRole::Transfer;
  t.stream = {.isShared = true, .headerBytes = 4, .hasEndCommand = true, .paddingBytes = 1};
  t.window = {
      .maxStrideH = 65535, .maxStrideW = 65535, .maxPad = 65535, .maxDilation = 1, .maxInsert = 0};

  // Of one tag: rows of the array for activations, its columns for sums and biases.
  t.memory = {
      .spaces = {{.name = "input", .lanes = 32, .align = 4, .bytes = variant.inputWords * 2},
                 {.name = "output", .lanes = 32, .align = 8, .bytes = variant.sumWords * 8},
                 {.name = "weight", .lanes = 1024, .align = 4, .bytes = variant.weightWords * 2},
                 {.name = "bias", .lanes = 32, .align = 4, .bytes = variant.biasWords * 4}},
      .banks = 1,
      .bankBytes = variant.inputWords * 2,
      .localBase = std::nullopt,
      .staticBase = std::nullopt,
      .staticBytes = std::nullopt,
      .sharedBase = std::nullopt,
      .sharedBytes = std::nullopt};
  t.global.mostBytes = uint64_t{4} << 30;
  t.global.alignment = 4096;
  t.layout.convWeightOrder = ConvWeightOrder::KernelFirst;
  t.layout.convChannelBlock8 = 32;
  t.layout.convChannelBlock16 = 32;
  t.container = "tpum";
  t.containerChip = "DNNWeaver";
  t.hasCodeGenerator = true;
  return t;
}

constexpr std::array kTargets = {
    makeTarget({.name = "dnnweaver",
                .summary = "FPGA's systolic array of a patent: 32 x 32, INT8 pairs, INT16.",
                .schemes = {schemes::kInt8, schemes::kInt8Asymmetric, schemes::kInt16,
                            schemes::kInt16Asymmetric},
                .types = {DataType::I8, DataType::I16, DataType::I32},
                .clockHz = 100'000'000,
                .rounding = RoundingMode::HalfAwayFromZero,
                .inputWords = 1536,
                .sumWords = 1024,
                .weightWords = 32,
                .biasWords = 256}),
    makeTarget({.name = "dnnweaver_v2",
                .summary = "FPGA's systolic array with public hardware: 32 x 32, INT16.",
                .schemes = {schemes::kInt16},
                .types = {DataType::I16, DataType::I32},
                .clockHz = 150'000'000,
                .rounding = RoundingMode::Down,
                .inputWords = 512,
                .sumWords = 512,
                .weightWords = 128,
                .biasWords = 512}),
};

} // namespace

std::span<const TargetInfo> describeTargets() { return kTargets; }

} // namespace tpuc::DNNWeaver
