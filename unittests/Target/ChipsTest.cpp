//===- ChipsTest.cpp ------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the references state about each chip, as numbers.

#include "unittests/Target/FindTarget.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

constexpr SchemeSet kAll = {schemes::kF32, schemes::kF16, schemes::kBF16, schemes::kInt8,
                            schemes::kInt8Asymmetric};

} // namespace

TEST(BM1684X, Facts) {
  const TargetInfo &t = target("bm1684x");
  EXPECT_EQ(t.schemes, kAll);
  EXPECT_EQ(t.requant.strategy, RequantStrategy::OwnCommand);
  EXPECT_EQ(t.requant.multiplierBits, 32u);
  EXPECT_TRUE(t.requant.perChannel);
  EXPECT_EQ(t.requant.roundings.size(), 7);
  EXPECT_EQ(t.requant.rounding, RoundingMode::HalfUp);
  EXPECT_EQ(t.requant.biasType, DataType::I32);
  EXPECT_EQ(t.tiles().lanes, 64u);
  EXPECT_EQ(t.tiles().align, 64u);
  EXPECT_EQ(t.tiles().bytes, 262144u);
  EXPECT_EQ(t.memory.banks, 16u);
  EXPECT_EQ(t.memory.bankBytes, 0x4000u);
  EXPECT_EQ(t.localBytes(), 16u << 20);
  EXPECT_EQ(t.memory.localBase, 0x08000000u);
  EXPECT_EQ(*t.memory.localBase + t.localBytes(), t.memory.staticBase);
  EXPECT_EQ(t.memory.staticBytes, 16384u);
  EXPECT_EQ(t.memory.sharedBase, 0x10000000u);
  EXPECT_EQ(t.memory.sharedBytes, 0x1FB000u);
  EXPECT_EQ(t.global.base, uint64_t{1} << 32);
  EXPECT_EQ(t.global.modelBase, uint64_t{1} << 32);
  EXPECT_EQ(t.global.alignment, 4096u);
  EXPECT_EQ(t.global.transferAlignment, 512u);
  EXPECT_EQ(t.global.addressing, GlobalAddressing::Absolute);
  EXPECT_EQ(t.compute().clockHz, 1000000000u);
  EXPECT_EQ(t.transfer().clockHz, 1000000000u);
  EXPECT_EQ(t.compute().minCommandBytes, 16u);
  EXPECT_EQ(t.compute().maxCommandBytes, 128u);
  EXPECT_EQ(t.transfer().maxCommandBytes, 96u);
  EXPECT_EQ(t.compute().commandIdBits, 20u);
  EXPECT_EQ(t.compute().maxExtent, (Extents{65535, 65535, 65535, 65535}));
  EXPECT_FALSE(t.stream.isShared);
  EXPECT_TRUE(t.stream.hasEndCommand);
  EXPECT_EQ(t.stream.paddingBytes, 128u);
  EXPECT_EQ(t.layout.strideUnit, StrideUnit::Element);
  EXPECT_EQ(t.layout.operandAddressing, OperandAddressing::LocalOffset);
  EXPECT_EQ(t.convChannelBlock(DataType::I8), 64u);
  EXPECT_EQ(t.convChannelBlock(DataType::F16), 32u);
  EXPECT_EQ(t.convChannelBlock(DataType::F32), 1u);
  EXPECT_EQ(t.peakMacs.of(schemes::kF32), 1024u);
  EXPECT_EQ(t.peakMacs.of(schemes::kF16), 8192u);
  EXPECT_EQ(t.peakMacs.of(schemes::kBF16), 8192u);
  EXPECT_EQ(t.peakMacs.of(schemes::kInt8), 16384u);
  ASSERT_TRUE(t.timing);
  EXPECT_NEAR(t.timing->globalToLocal / t.timing->transferDivisor, 54.017, 1e-3);
  EXPECT_NEAR(t.timing->localToGlobal / t.timing->transferDivisor, 40.978, 1e-3);
  EXPECT_NEAR(t.timing->globalToGlobal / t.timing->transferDivisor, 26.077, 1e-3);
  EXPECT_EQ(t.timing->requantElementsPerCycle, 16u);
  EXPECT_EQ(t.timing->minBurstBytes, 256u);
  EXPECT_EQ(t.timing->memoryChannels, 4u);
  EXPECT_EQ(t.container, "bmodel");
  EXPECT_EQ(t.containerChip, "BM1684X");
}

TEST(BM1684, Facts) {
  const TargetInfo &t = target("bm1684");
  EXPECT_EQ(t.schemes, (SchemeSet{schemes::kF32, schemes::kInt8}));
  EXPECT_EQ(t.requant.strategy, RequantStrategy::SharedShift);
  EXPECT_EQ(t.requant.multiplierBits, 0u);
  EXPECT_FALSE(t.requant.perChannel);
  EXPECT_EQ(t.requant.rounding, RoundingMode::HalfUp);
  EXPECT_EQ(t.requant.biasType, DataType::I16);
  EXPECT_EQ(t.tiles().lanes, 64u);
  EXPECT_EQ(t.tiles().align, 128u);
  EXPECT_EQ(t.tiles().bytes, 0x80000u);
  EXPECT_EQ(t.memory.banks, 8u);
  EXPECT_EQ(t.localBytes(), 32u << 20);
  EXPECT_EQ(t.memory.localBase, 0x08000000u);
  EXPECT_EQ(t.memory.sharedBytes, 4u << 20);
  EXPECT_EQ(t.global.base, uint64_t{1} << 32);
  EXPECT_EQ(t.global.modelBase, 0x105100000u);
  EXPECT_EQ(t.peakMacs.of(schemes::kF32), 2048u);
  EXPECT_EQ(t.peakMacs.of(schemes::kInt8), 16384u);
  EXPECT_EQ(t.compute().clockHz, 550000000u);
  EXPECT_EQ(t.compute().minCommandBytes, 128u);
  EXPECT_EQ(t.compute().maxCommandBytes, 128u);
  EXPECT_EQ(t.transfer().minCommandBytes, 128u);
  EXPECT_EQ(t.compute().commandIdBits, 16u);
  EXPECT_EQ(t.compute().maxExtent.c, 4095u);
  EXPECT_EQ(t.compute().maxExtent.w, 65535u);
  EXPECT_FALSE(t.compute().takes(DataType::F16));
  EXPECT_FALSE(t.stream.hasEndCommand);
  EXPECT_FALSE(t.stream.isShared);
  EXPECT_EQ(t.layout.strideUnit, StrideUnit::Word32);
  EXPECT_EQ(t.layout.operandAddressing, OperandAddressing::Absolute);
  EXPECT_EQ(t.layout.int8BatchPerWord, 4u);
  EXPECT_EQ(t.layout.int16BatchPerWord, 2u);
  EXPECT_EQ(t.layout.int8MatrixBatchPerWord, 1u);
  EXPECT_EQ(t.convChannelBlock(DataType::I8), 4u);
  EXPECT_EQ(t.convChannelBlock(DataType::F32), 2u);
  EXPECT_EQ(t.convChannelBlock(DataType::F16), std::nullopt);
  EXPECT_FALSE(t.timing);
  EXPECT_EQ(t.container, "bmodel");
  EXPECT_EQ(t.containerChip, "BM1684");
}

TEST(CV18xx, FactsOfEachChip) {
  struct Expectation {
    std::string_view name, codeName;
    uint32_t lanes;
    uint64_t clockHz, globalBase;
    uint32_t maxStride;
  };
  for (const Expectation &e : {Expectation{"cv183x", "bm1880v2", 32, 650000000, 0x100000000, 15},
                               Expectation{"cv182x", "bm1822", 8, 750000000, 0, 31},
                               Expectation{"cv181x", "mars", 8, 500000000, 0, 31},
                               Expectation{"cv180x", "phobos", 2, 500000000, 0, 31}}) {
    SCOPED_TRACE(e.name);
    const TargetInfo &t = target(e.name);
    EXPECT_EQ(&target(e.codeName), &t);
    EXPECT_EQ(t.tiles().lanes, e.lanes);
    EXPECT_EQ(t.compute().clockHz, e.clockHz);
    EXPECT_EQ(t.global.base, e.globalBase);
    EXPECT_EQ(t.window.maxStrideH, e.maxStride);
    EXPECT_EQ(t.containerChip, "CV18xx");
  }
}

TEST(CV18xx, CommonFacts) {
  for (std::string_view name : {"cv183x", "cv182x", "cv181x", "cv180x"}) {
    SCOPED_TRACE(name);
    const TargetInfo &t = target(name);
    EXPECT_EQ(t.schemes, (SchemeSet{schemes::kBF16, schemes::kInt8}));
    EXPECT_EQ(t.requant.strategy, RequantStrategy::InConvolution);
    EXPECT_EQ(t.requant.multiplierBits, 32u);
    EXPECT_TRUE(t.requant.perChannel);
    EXPECT_EQ(t.requant.rounding, RoundingMode::HalfUp);
    EXPECT_EQ(t.requant.firstShiftBits, 31u);
    EXPECT_EQ(t.requant.sumMultiplierBits, 8u);
    EXPECT_EQ(t.requant.shiftRounding, RoundingMode::HalfUp);
    EXPECT_EQ(t.requant.biasType, DataType::I32);
    EXPECT_EQ(t.floatSumRounding, RoundingMode::TowardZero);
    EXPECT_EQ(t.tiles().align, 16u);
    EXPECT_EQ(t.tiles().bytes, 32768u);
    EXPECT_EQ(t.memory.banks, 8u);
    EXPECT_EQ(t.memory.bankBytes, 4096u);
    EXPECT_EQ(t.compute().maxCommandBytes, 112u);
    EXPECT_EQ(t.transfer().maxCommandBytes, 64u);
    EXPECT_EQ(t.compute().maxExtent, (Extents{4095, 4095, 4095, 4095}));
    EXPECT_EQ(t.window.maxInsert, 14u);
    EXPECT_TRUE(t.stream.isShared);
    EXPECT_EQ(t.stream.headerBytes, 8u);
    EXPECT_EQ(t.global.addressing, GlobalAddressing::TaggedBase);
    EXPECT_EQ(t.global.tagShift, 40u);
    EXPECT_EQ(t.layout.strideUnit, StrideUnit::Byte);
    EXPECT_EQ(t.layout.secondOperandAddressBits, 16u);
    EXPECT_EQ(t.layout.wideIntegers, WideIntegers::BytePlanes);
    EXPECT_FALSE(t.transfer().takes(DataType::F32));
    EXPECT_FALSE(t.transfer().clockHz);
    EXPECT_FALSE(t.timing);
    EXPECT_EQ(t.container, "cvimodel");
  }
}

TEST(Null, HasEverythingButAChip) {
  const TargetInfo &t = target("null");
  EXPECT_EQ(t.schemes, kAll);
  EXPECT_TRUE(t.timing);
  EXPECT_EQ(t.container, "");
  // What other chips lack.
  EXPECT_EQ(t.memory.spaces.size(), 2u);
  EXPECT_EQ(t.global.addressing, GlobalAddressing::TaggedBase);
}

TEST(Chips, CodeGenerators) {
  for (const TargetInfo *t : knownTargets())
    EXPECT_EQ(t->hasCodeGenerator,
              t->family == "BM168x" || t->family == "DNNWeaver" || t->family == "CV18xx")
        << t->name;
}
