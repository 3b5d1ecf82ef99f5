//===- SimulatorTest.cpp - Layers against formulas ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "LayerCase.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

Parameters smallMachine(std::string_view name) {
  Parameters machine = *withArray(*parametersNamed(name, ""), 16, 16, "");
  return machine;
}

unsigned divisorOf(unsigned number, std::mt19937 &random) {
  std::vector<unsigned> divisors;
  for (unsigned d = 1; d <= number; ++d)
    if (number % d == 0)
      divisors.push_back(d);
  return divisors[random() % divisors.size()];
}

ConvLayer randomLayer(const Parameters &machine, std::mt19937 &random) {
  const auto draw = [&](unsigned least, unsigned most) {
    return least + static_cast<unsigned>(random() % (most - least + 1));
  };
  ConvLayer layer;
  layer.result = {draw(1, 6), draw(1, 6)};
  layer.kernel = {draw(1, 3), draw(1, 3)};
  layer.stride = {draw(1, 2), draw(1, 2)};
  if (draw(0, 1) != 0) {
    layer.pool = {2, 2};
    layer.poolStride = {2, 2};
  }
  layer.inWords = draw(1, 4);
  layer.outWords = draw(1, 3);
  layer.pairs = machine.hasPairs && draw(0, 1) != 0;
  return layer;
}

Mapping randomMapping(const Parameters &machine, const ConvLayer &layer, std::mt19937 &random) {
  Mapping mapping;
  mapping.tile = {divisorOf(layer.result.h, random), divisorOf(layer.result.w, random)};
  mapping.inWords = divisorOf(layer.inWords, random);
  mapping.outWords = divisorOf(layer.outWords, random);
  mapping.collapses = random() % 2 != 0;
  mapping.mergesRequests = random() % 2 != 0;
  mapping.skipsSums = random() % 2 != 0;
  std::shuffle(mapping.tileOrder.begin(), mapping.tileOrder.end(), random);
  if (machine.weightsByRow)
    mapping.wordOrder = bestWordOrder(machine, layer, mapping);
  else
    std::shuffle(mapping.wordOrder.begin(), mapping.wordOrder.end(), random);
  return mapping;
}

/// The sums that a layer leaves in DDR are no result.
void hideSums(const LayerCase &layerCase, std::vector<uint8_t> &memory) {
  const Image &sums = layerCase.placement.sums;
  const Extent extent = layerCase.layer.sumsOf(layerCase.layer.result);
  std::fill_n(memory.begin() + static_cast<ptrdiff_t>(sums.address), sums.rowBytes * extent.h, 0);
}

void runRandomLayers(const Parameters &machine, unsigned count, unsigned seed) {
  std::mt19937 random(seed);
  unsigned numRun = 0, numSeveralTiles = 0;
  while (numRun < count) {
    const ConvLayer layer = randomLayer(machine, random);
    LayerCase layerCase = makeCase(machine, layer, random, random() % 2 == 0 ? 0 : machine.columns);
    const Mapping mapping = randomMapping(machine, layer, random);
    const Expected<Block> block =
        emitBlock(machine, layer, mapping, layerCase.placement, layerCase.recipe(), "layer");
    ASSERT_TRUE(block) << block.error().message();
    if (!checkBlock(machine, *block, "layer"))
      continue; // a tile that is too large, or weights that change too early
    const Expected<std::vector<uint32_t>> words = writeProgram(machine, {&*block, 1}, "layer");
    ASSERT_TRUE(words) << words.error().message();
    const Expected<std::vector<Block>> read = readProgram(machine, *words, "layer");
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(read->size(), 1u);
    ASSERT_TRUE(read->front() == *block) << "run " << numRun;
    std::vector<uint8_t> expected = layerCase.expected();
    const Expected<void> done = runBlocks(machine, *read, layerCase.memory, "layer");
    ASSERT_TRUE(done) << done.error().message();
    hideSums(layerCase, expected);
    hideSums(layerCase, layerCase.memory);
    ASSERT_TRUE(expected == layerCase.memory)
        << "run " << numRun << ": " << layer.result.h << "x" << layer.result.w << " kernel "
        << layer.kernel.h << "x" << layer.kernel.w << " words " << layer.inWords << " "
        << layer.outWords << " pairs " << layer.pairs << " at "
        << std::mismatch(expected.begin(), expected.end(), layerCase.memory.begin()).first -
               expected.begin();
    ++numRun;
    numSeveralTiles += tripsOf(block->tiles) > 1 ? 1 : 0;
  }
  EXPECT_GT(numSeveralTiles, count / 2);
}

TEST(DNNWeaverSimulator, PublicLayersAreTheFormulas) {
  runRandomLayers(smallMachine("public"), 60, 1);
}

TEST(DNNWeaverSimulator, PatentLayersAreTheFormulas) {
  Parameters machine = smallMachine("patent");
  // Small layers keep their weights for a few steps only; see WeightsMustStay.
  machine.weightsByRow = false;
  runRandomLayers(machine, 60, 2);
}

TEST(DNNWeaverSimulator, PatentLayersWithWeightsByRow) {
  runRandomLayers(smallMachine("patent"), 15, 3);
}

TEST(DNNWeaverSimulator, NoSquareArray) {
  runRandomLayers(*withArray(*parametersNamed("public", ""), 16, 32, ""), 15, 4);
  runRandomLayers(*withArray(*parametersNamed("public", ""), 32, 16, ""), 15, 5);
}

TEST(DNNWeaverSimulator, WeightsMustStay) {
  const Parameters machine = smallMachine("patent");
  std::mt19937 random(1);
  const ConvLayer layer{.result = {3, 5}, .kernel = {3, 3}};
  const LayerCase layerCase = makeCase(machine, layer, random);
  Mapping mapping{.tile = layer.result};
  mapping.wordOrder = bestWordOrder(machine, layer, mapping);
  const Expected<Block> block =
      emitBlock(machine, layer, mapping, layerCase.placement, layerCase.recipe(), "conv1");
  ASSERT_TRUE(block);
  const Expected<void> done = checkBlock(machine, *block, "conv1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "conv1: weights that stay for 15 steps; expected at least 16, in which a set arrives");
}

TEST(DNNWeaverSimulator, TilesThatDoNotFitAreNamed) {
  const Parameters machine = *parametersNamed("public", "");
  std::mt19937 random(1);
  const ConvLayer layer{.result = {26, 26}, .kernel = {3, 3}};
  const LayerCase layerCase = makeCase(machine, layer, random);
  const Expected<Block> block = emitBlock(machine, layer, {.tile = layer.result},
                                          layerCase.placement, layerCase.recipe(), "conv1");
  ASSERT_TRUE(block);
  const Expected<void> done = checkBlock(machine, *block, "conv1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "conv1: a tile of 784 words in the input buffer; expected at most 512");
}

} // namespace
