//===- QuantSchemeTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/SchemeHint.h"
#include "unittests/Target/FindTarget.h"

#include <gmock/gmock.h>

#include <string>

using namespace tpuc;
using testing::ElementsAre;

namespace {

// Schemes that no chip offers and that have no row.
constexpr QuantScheme kW4A8 = {DataType::I4, DataType::I8, DataType::I32, Granularity::PerChannel};
constexpr QuantScheme kW8A16 = {DataType::I8, DataType::I16, DataType::I64,
                                Granularity::PerChannel};
constexpr QuantScheme kW8F16 = {DataType::I8, DataType::F16, DataType::F32,
                                Granularity::PerChannel};

std::string schemeError(const TargetInfo &chip, const QuantScheme &scheme) {
  const auto result = checkScheme(chip, scheme);
  EXPECT_EQ(result.has_value(), hasScheme(chip, scheme));
  return result ? "" : result.error().message();
}

TEST(QuantScheme, HintsHaveTheSameDigits) {
  EXPECT_EQ(schemeHint("FP16"), "; did you mean 'F16'?");
  EXPECT_EQ(schemeHint("fp32"), "; did you mean 'F32'?");
  EXPECT_EQ(schemeHint("BFP16"), "; did you mean 'BF16'?");
  EXPECT_EQ(schemeHint("UINT8"), "; did you mean 'INT8'?");
  EXPECT_EQ(schemeHint("INT4"), "");
  EXPECT_EQ(schemeHint("F8"), "");
  EXPECT_EQ(schemeHint(""), "");
}

} // namespace

TEST(QuantScheme, NamesRoundTrip) {
  for (const NamedScheme &row : kNamedSchemes) {
    EXPECT_EQ(parseScheme(row.name, row.scheme.zeroPoint), row.scheme) << row.mode;
    EXPECT_EQ(schemeName(row.scheme), row.name);
    EXPECT_EQ(modeName(row.scheme), row.mode);
  }
  EXPECT_EQ(parseScheme("bf16"), schemes::kBF16);
  EXPECT_EQ(parseScheme("Int8"), schemes::kInt8);
  EXPECT_EQ(parseScheme("INT"), std::nullopt);
  EXPECT_EQ(parseScheme(""), std::nullopt);
  EXPECT_EQ(parseScheme("W4A8"), std::nullopt);
  EXPECT_THAT(schemeNames(), ElementsAre("F32", "F16", "BF16", "INT8", "INT16"));
  EXPECT_EQ(schemeChoices(), "F32, F16, BF16, INT8 or INT16");
}

TEST(QuantScheme, ModesAreThoseOfFiles) {
  EXPECT_EQ(modeName(schemes::kF32), "f32");
  EXPECT_EQ(modeName(schemes::kInt8), "int8_sym");
  EXPECT_EQ(modeName(schemes::kInt8Asymmetric), "int8_asym");
  EXPECT_EQ(modeName(kW4A8), "w4a8_sym");
}

TEST(QuantScheme, SchemesWithoutARowAreNamedByTheirBits) {
  EXPECT_EQ(schemeName(kW4A8), "W4A8");
  EXPECT_EQ(schemeName(kW8A16), "W8A16");
  QuantScheme perTensor = schemes::kInt8;
  perTensor.granularity = Granularity::PerTensor;
  EXPECT_EQ(schemeName(perTensor), "W8A8");
}

// A zero point that floats cannot have is for whoever asked for it to refuse.
TEST(QuantScheme, FloatsHaveTheirNameWithAnyZeroPoint) {
  const std::optional<QuantScheme> scheme = parseScheme("F16", /*zeroPoint=*/true);
  ASSERT_TRUE(scheme);
  EXPECT_TRUE(scheme->zeroPoint);
  EXPECT_EQ(schemeName(*scheme), "F16");
  EXPECT_EQ(modeName(*scheme), "f16");
}

TEST(QuantScheme, IntegersAreQuantized) {
  for (const QuantScheme &scheme : {schemes::kF32, schemes::kF16, schemes::kBF16, kW8F16})
    EXPECT_FALSE(scheme.isQuantized()) << schemeName(scheme);
  for (const QuantScheme &scheme : {schemes::kInt8, schemes::kInt8Asymmetric, kW4A8, kW8A16})
    EXPECT_TRUE(scheme.isQuantized()) << schemeName(scheme);
  EXPECT_EQ(floatScheme(DataType::F32), schemes::kF32);
  EXPECT_EQ(floatScheme(DataType::F16), schemes::kF16);
  EXPECT_EQ(floatScheme(DataType::BF16), schemes::kBF16);
}

// The table of chips and choices of --quantize.
TEST(QuantScheme, RefusalsNameWhatExists) {
  EXPECT_EQ(schemeError(target("bm1684x"), schemes::kF16), "");
  EXPECT_EQ(schemeError(target("bm1684"), schemes::kF32), "");
  EXPECT_EQ(schemeError(target("bm1684"), schemes::kF16),
            "--chip bm1684: F16 does not exist; expected F32 or INT8");
  EXPECT_EQ(schemeError(target("bm1684"), schemes::kBF16),
            "--chip bm1684: BF16 does not exist; expected F32 or INT8");
  for (std::string name : {"cv183x", "cv182x", "cv181x", "cv180x"}) {
    EXPECT_EQ(schemeError(target(name), schemes::kF16),
              "--chip " + name + ": F16 does not exist; expected BF16 or INT8");
    EXPECT_EQ(schemeError(target(name), schemes::kF32),
              "--chip " + name + ": F32 does not exist; expected BF16 or INT8");
    EXPECT_EQ(schemeError(target(name), schemes::kBF16), "");
    EXPECT_EQ(schemeError(target(name), schemes::kInt8), "");
    EXPECT_EQ(schemeError(target(name), schemes::kInt8Asymmetric),
              "--chip " + name + ": asymmetric INT8 does not exist; expected symmetric INT8");
  }
  // INT16 has no form in the tpu dialect: chips that have it compile whole networks.
  for (const NamedScheme &row : kNamedSchemes)
    EXPECT_EQ(schemeError(target("null"), row.scheme).empty(), row.name != "INT16") << row.name;
}

TEST(QuantScheme, RefusalsOfSchemesThatNobodyHas) {
  EXPECT_EQ(schemeError(target("bm1684x"), kW4A8),
            "--chip bm1684x: W4A8 does not exist; expected F32, F16, BF16 or INT8");
  EXPECT_EQ(schemeError(target("cv183x"), kW8A16),
            "--chip cv183x: W8A16 does not exist; expected BF16 or INT8");
}

TEST(QuantScheme, RefusalListsThree) {
  TargetInfo chip = target("null");
  chip.schemes.erase(schemes::kBF16);
  EXPECT_EQ(schemeError(chip, schemes::kBF16),
            "--chip null: BF16 does not exist; expected F32, F16 or INT8");
  chip.schemes = {schemes::kF32};
  EXPECT_EQ(schemeError(chip, schemes::kInt8), "--chip null: INT8 does not exist; expected F32");
}

TEST(QuantScheme, SetsHoldNamedSchemes) {
  constexpr SchemeSet kSome = {schemes::kF16, schemes::kInt8Asymmetric};
  static_assert(kSome.contains(schemes::kF16) && !kSome.contains(schemes::kInt8));
  SchemeSet set = kSome;
  set.erase(schemes::kF16);
  EXPECT_FALSE(set.contains(schemes::kF16));
  set.erase(schemes::kInt8Asymmetric);
  EXPECT_TRUE(set.empty());
  set.insert(kW4A8);
  EXPECT_FALSE(set.contains(kW4A8));
}

TEST(QuantScheme, TypesSayWhatTheyHold) {
  EXPECT_EQ(numLevels(DataType::I4), 8);
  EXPECT_EQ(numLevels(DataType::I8), 128);
  EXPECT_EQ(numLevels(DataType::U8), 128);
  EXPECT_EQ(numLevels(DataType::I16), 32768);
  EXPECT_EQ(numSteps(DataType::I4), 15);
  EXPECT_EQ(numSteps(DataType::I8), 255);
  EXPECT_EQ(numSteps(DataType::U16), 65535);
  EXPECT_EQ(maxSum(DataType::I32), 1073741824.0);
  EXPECT_EQ(maxSum(DataType::I64), 0x1p62);
  EXPECT_EQ(unsignedType(DataType::I4), DataType::U4);
  EXPECT_EQ(unsignedType(DataType::U16), DataType::U16);
  EXPECT_EQ(signedType(DataType::U8), DataType::I8);
  EXPECT_EQ(signedType(DataType::I16), DataType::I16);
  EXPECT_EQ(significantBits(DataType::F32), 24u);
  EXPECT_EQ(significantBits(DataType::F16), 11u);
  EXPECT_EQ(significantBits(DataType::BF16), significantBits(DataType::I8));
}
