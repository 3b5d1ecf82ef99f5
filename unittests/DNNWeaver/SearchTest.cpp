//===- SearchTest.cpp - Searches against trying everything ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Mapping/Search.h"
#include "LayerCase.h"
#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Machine/Timing.h"
#include "tpuc/Target/DNNWeaver/Mapping/Reference.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

ConvLayer drawLayer(std::mt19937 &random, bool pairs) {
  const auto draw = [&](unsigned least, unsigned most) {
    return least + static_cast<unsigned>(random() % (most - least + 1));
  };
  ConvLayer layer;
  layer.result = {draw(1, 12), draw(1, 12)};
  layer.kernel = {draw(1, 3), draw(1, 3)};
  layer.stride = {draw(1, 2), draw(1, 2)};
  if (draw(0, 1) != 0)
    layer.pool = layer.poolStride = {2, 2};
  layer.inWords = draw(1, 6);
  layer.outWords = draw(1, 6);
  layer.pairs = pairs;
  return layer;
}

AluRecipe recipeOf(const Parameters &machine) {
  return machine.isa == IsaKind::Public ? publicRecipe(12, 100, 7, 3277)
                                        : patentRecipe(100, 20, 3277, 5);
}

TEST(DNNWeaverSearch, FindsWhatTryingEverythingFinds) {
  unsigned numCompared = 0;
  uint64_t withBounds = 0, withoutBounds = 0;
  for (const std::string_view name : {"public", "patent"}) {
    const Parameters machine = *withArray(*parametersNamed(name, ""), 16, 16, "");
    std::mt19937 random(3);
    for (unsigned round = 0; round < (machine.isa == IsaKind::Public ? 3u : 8u); ++round) {
      ConvLayer layer = drawLayer(random, machine.hasPairs && round % 2 != 0);
      // All word orders of all tiles are priced, so that these are few.
      if (machine.isa == IsaKind::Public)
        layer.result = {std::min(layer.result.h, 4u), std::min(layer.result.w, 6u)};
      const Placement placement = placeAlone(machine, layer);
      const AluRecipe recipe = recipeOf(machine);
      const Expected<SearchResult> found =
          searchMapping(machine, layer, placement, recipe, "layer");
      const Expected<SearchResult> all =
          searchMapping(machine, layer, placement, recipe, "layer",
                        {.usesBounds = false, .triesWordOrders = machine.isa == IsaKind::Public});
      ASSERT_EQ(found.has_value(), all.has_value());
      if (!found)
        continue;
      EXPECT_EQ(found->cycles, all->cycles) << name << " " << round;
      EXPECT_EQ(found->numFitting, all->numPriced);
      withBounds += found->numPrices;
      withoutBounds += all->numPrices;
      ++numCompared;
    }
  }
  EXPECT_GT(numCompared, 6u);
  EXPECT_LT(withBounds * 20, withoutBounds);
}

TEST(DNNWeaverSearch, BestWordOrderIsTheBestOfAll) {
  const Parameters machine = *parametersNamed("public", "");
  std::mt19937 random(11);
  for (unsigned round = 0; round < 40; ++round) {
    const ConvLayer layer = drawLayer(random, false);
    Mapping mapping{.tile = layer.result, .inWords = layer.inWords, .outWords = layer.outWords};
    mapping.collapses = round % 3 != 0;
    const auto cyclesOf = [&](const std::array<WordLoop, kNumWordLoops> &order) {
      mapping.wordOrder = order;
      return nestCycles(machine, arrayLevels(layer, mapping));
    };
    std::array<WordLoop, kNumWordLoops> order = mapping.wordOrder;
    std::sort(order.begin(), order.end());
    uint64_t fewest = ~uint64_t{0};
    do
      fewest = std::min(fewest, cyclesOf(order));
    while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(cyclesOf(bestWordOrder(machine, layer, mapping)), fewest) << round;
  }
}

/// The cost of the loops is the published formula, a2 (a1 (a0 + b) + b), up to the begin and the
/// end.
TEST(DNNWeaverSearch, LoopsTakeWhatTheFormulaSays) {
  const Parameters machine = *parametersNamed("public", "");
  EXPECT_EQ(nestCycles(machine, {{.trips = 4}}), 5u);
  EXPECT_NEAR(static_cast<double>(nestCycles(machine, {{.trips = 4}, {.trips = 3}, {.trips = 5}})),
              5 * (3 * (4 + 2) + 2), 3);
}

TEST(DNNWeaverSearch, MappedLayersComputeTheSame) {
  for (const std::string_view name : {"public", "patent"}) {
    const Parameters machine = *withArray(*parametersNamed(name, ""), 16, 16, "");
    std::mt19937 random(5);
    unsigned numRun = 0;
    for (unsigned round = 0; round < 8; ++round) {
      const ConvLayer layer = drawLayer(random, machine.hasPairs && round % 2 != 0);
      LayerCase layerCase = makeCase(machine, layer, random);
      const Expected<SearchResult> found =
          searchMapping(machine, layer, layerCase.placement, layerCase.recipe(), "layer");
      if (!found)
        continue;
      const Expected<Block> block = emitBlock(machine, layer, found->mapping, layerCase.placement,
                                              layerCase.recipe(), "layer");
      ASSERT_TRUE(block) << block.error().message();
      EXPECT_EQ(blockCycles(machine, *block).total, found->cycles);
      std::vector<uint8_t> expected = layerCase.expected();
      ASSERT_TRUE(runBlocks(machine, {&*block, 1}, layerCase.memory, "layer"));
      EXPECT_TRUE(expected == layerCase.memory) << name << " " << round;
      ++numRun;
    }
    EXPECT_GT(numRun, 2u);
  }
}

/// The network that the hardware description took 11.42 M cycles for, as its compiler maps it.
TEST(DNNWeaverSearch, YoloTinyTakesAtMostSixAndAHalfMillionCycles) {
  const Parameters machine = *parametersNamed("public", "");
  uint64_t cycles = 0;
  MappingCache cache;
  for (const ReferenceLayer &layer : referenceLayers())
    for (unsigned again = 0; again < 2; ++again) {
      const Expected<SearchResult> found =
          cache.find(machine, layer.layer, placeAlone(machine, layer.layer), recipeOf(machine),
                     std::string(layer.name));
      ASSERT_TRUE(found) << found.error().message();
      cycles += again == 0 ? found->cycles : 0;
    }
  EXPECT_EQ(cache.size(), referenceLayers().size());
  EXPECT_LE(cycles, 6'500'000u);
}

TEST(DNNWeaverSearch, LayersThatDoNotFitAreRefusedWithTheirBytes) {
  Parameters machine = *parametersNamed("public", "");
  ConvLayer layer{.result = {13, 13}, .kernel = {13, 13}};
  const Expected<SearchResult> found =
      searchMapping(machine, layer, placeAlone(machine, layer), recipeOf(machine), "conv1");
  ASSERT_FALSE(found);
  EXPECT_EQ(
      found.error().message(),
      "conv1: 346112 bytes of the weight buffer for the smallest tile; expected at most 262144");
}

} // namespace
