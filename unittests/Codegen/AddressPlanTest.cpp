//===- AddressPlanTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Place/AddressPlan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::codegen;
using testing::ElementsAre;

namespace {

TargetInfo memoryAt(uint64_t base) {
  TargetInfo target;
  target.global = {.base = base, .modelBase = base, .alignment = 256, .transferAlignment = 32};
  return target;
}

std::vector<int64_t> addresses(const AddressPlan &plan) {
  std::vector<int64_t> found;
  for (const AddressPlan::Tensor &tensor : plan.tensors)
    found.push_back(tensor.address);
  return found;
}

AddressPlan::Tensor tensor(GlobalUse use, int64_t bytes, int64_t lower = 0, int64_t upper = 1) {
  return {.use = use, .bytes = bytes, .lower = lower, .upper = upper};
}

TEST(AddressPlan, OneRangeHasWeightsFirst) {
  AddressPlan plan;
  plan.tensors = {tensor(GlobalUse::Inputs, 100, 0, 2), tensor(GlobalUse::Weights, 300),
                  tensor(GlobalUse::Weights, 10), tensor(GlobalUse::Outputs, 40, 3, 4)};
  ASSERT_TRUE(placeInOneRange(plan, memoryAt(0x1000)));
  // The output takes the place of the input, which is not needed any more.
  EXPECT_THAT(addresses(plan), ElementsAre(0x1300, 0x1000, 0x1200, 0x1300));
  EXPECT_EQ(plan.region(GlobalUse::Weights).bytes, 0x300);
  EXPECT_EQ(plan.region(GlobalUse::Neurons).base, 0x1300);
  EXPECT_EQ(plan.region(GlobalUse::Inputs).bytes, 128);
  EXPECT_EQ(plan.bytes(), 0x300 + 128);
}

TEST(AddressPlan, ATensorMayAskForMoreThanItsRegion) {
  AddressPlan plan;
  plan.tensors = {tensor(GlobalUse::Neurons, 10), tensor(GlobalUse::Neurons, 10)};
  plan.tensors[0].alignment = plan.tensors[1].alignment = 4096;
  ASSERT_TRUE(placeInOneRange(plan, memoryAt(0x1000)));
  EXPECT_EQ(plan.bytes(), 2 * 4096);
}

/// Inputs and neurons with bases of their own; the others are with the neurons.
AddressPlan inRegions(std::vector<AddressPlan::Tensor> tensors) {
  AddressPlan plan;
  plan.tensors = std::move(tensors);
  plan.regions = {{.base = 0, .alignment = 16},
                  {.base = int64_t{1} << 40, .alignment = 16},
                  {.base = int64_t{2} << 40, .alignment = 16}};
  plan.regionOf = {0, 1, 2, 1};
  return plan;
}

TEST(AddressPlan, RegionsShareNothing) {
  AddressPlan plan =
      inRegions({tensor(GlobalUse::Inputs, 20, 0, 1), tensor(GlobalUse::Neurons, 8, 2, 3),
                 tensor(GlobalUse::Outputs, 8, 3, 4)});
  for (size_t region = 0; region < plan.regions.size(); ++region)
    ASSERT_TRUE(placeRegion(plan, region));
  EXPECT_THAT(addresses(plan), ElementsAre(int64_t{2} << 40, int64_t{1} << 40, int64_t{1} << 40));
  EXPECT_EQ(plan.regions[1].bytes, 16);
  EXPECT_EQ(plan.regions[2].bytes, 32);
  EXPECT_EQ(plan.regions[0].bytes, 0);
}

TEST(AddressPlan, PartsLieInTheirContainerInTheSameRegionOnly) {
  AddressPlan plan =
      inRegions({tensor(GlobalUse::Neurons, 24, 0, 4), tensor(GlobalUse::Neurons, 8, 0, 1),
                 tensor(GlobalUse::Inputs, 16, 0, 1)});
  plan.parts = {{.tensor = 1, .container = 0, .offset = 8},
                {.tensor = 0, .container = 2, .offset = 4}};
  for (size_t region = 0; region < plan.regions.size(); ++region)
    ASSERT_TRUE(placeRegion(plan, region));
  EXPECT_EQ(plan.tensors[1].address, plan.tensors[0].address + 8);
  EXPECT_EQ(plan.tensors[0].address, int64_t{1} << 40);
  EXPECT_EQ(plan.tensors[2].address, int64_t{2} << 40);
  EXPECT_EQ(plan.regions[1].bytes, 32);
}

} // namespace
