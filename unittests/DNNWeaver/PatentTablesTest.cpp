//===- PatentTablesTest.cpp - What the patent's tables determine ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Mapping/Reference.h"
#include "tpuc/Target/DNNWeaver/Mapping/Search.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

/// The immediates of the loops of a group, the innermost first.
std::vector<uint64_t> loopsOf(const std::vector<mc::Command> &commands, uint64_t group) {
  std::vector<uint64_t> loops;
  for (const mc::Command &command : commands)
    if (command.engine() == mc::EngineId(Engine::Array) &&
        command.operation().opcode == static_cast<unsigned>(Op::Loop) &&
        command.get(Field::Loop) == group)
      loops.push_back(command.get(Field::Imm));
  return loops;
}

/// Paragraphs 0361 to 0364: 480 x 352 in int8, of which the first layer leaves 240 x 176. Its rows
/// are halved, and its tiles have 8 x 8 results, so the loops over tiles have 11 and 30 trips.
TEST(DNNWeaverPatent, TheFirstLayerHasElevenTimesThirtyTiles) {
  const Parameters machine = *parametersNamed("patent", "");
  const ConvLayer layer{
      .result = {88, 240}, .kernel = {3, 3}, .stride = {2, 2}, .inWords = 1, .pairs = true};
  const Placement placement = placeAlone(machine, layer);
  Mapping mapping{.tile = {8, 8}};
  mapping.wordOrder = bestWordOrder(machine, layer, mapping);
  const Expected<Block> block =
      emitBlock(machine, layer, mapping, placement, patentRecipe(100, 20, 3277, 0), "conv0");
  ASSERT_TRUE(block) << block.error().message();
  const Expected<void> checked = checkBlock(machine, *block, "conv0");
  ASSERT_TRUE(checked) << checked.error().message();
  const Expected<std::vector<uint32_t>> words = writeProgram(machine, {&*block, 1}, "conv0");
  ASSERT_TRUE(words);
  const Expected<std::vector<mc::Command>> commands = decodeWords(machine.isa, *words, "conv0");
  ASSERT_TRUE(commands);
  EXPECT_EQ(loopsOf(*commands, kTileGroup), (std::vector<uint64_t>{29, 10}));
  // Two words for each base address and for the distance, and six loops of the array at most, of
  // which those of one trip are left out.
  const auto wordsOf = [&](Op op, Buffer buffer) {
    return std::ranges::count_if(*commands, [&](const mc::Command &command) {
      return command.engine() == mc::EngineId(Engine::Array) &&
             command.operation().opcode == static_cast<unsigned>(op) &&
             command.get(Field::Buffer) == index(buffer);
    });
  };
  for (const Buffer buffer : {Buffer::Input, Buffer::Weight, Buffer::Bias})
    EXPECT_EQ(wordsOf(Op::Base, buffer), 2);
  EXPECT_EQ(wordsOf(Op::Mode, Buffer::Input), 2);
  EXPECT_EQ(loopsOf(*commands, kArrayGroup), (std::vector<uint64_t>{7, 7, 2, 2}));
  // The mode words hold the distance of the halves: 88 rows of results, 2 rows of inputs each.
  ASSERT_TRUE(block->pairs);
  EXPECT_EQ(block->pairs->input, 88u * 2 * placement.input.rowBytes);
}

/// Table 5.2: two parts of 64 channels in a region of 128. The table prints 88 x 120 pixels, which
/// is the size before the pool of 2 x 2.
TEST(DNNWeaverPatent, PartsOfARegionHaveTheAddressesAndStridesOfTheWhole) {
  const Parameters machine = *parametersNamed("patent", "");
  const ConvLayer layer{.result = {22, 60},
                        .kernel = {3, 3},
                        .pool = {2, 2},
                        .poolStride = {2, 2},
                        .inWords = 2,
                        .outWords = 2,
                        .pairs = true};
  Placement placement = placeAlone(machine, layer);
  for (const unsigned part : {0u, 1u}) {
    placement.output = {
        .address = 0x41157800 + 0x40 * part, .pixelBytes = 128, .rowBytes = 60 * 128};
    const Expected<Block> block =
        emitBlock(machine, layer, {.tile = {11, 2}, .inWords = 1, .outWords = 1}, placement,
                  patentRecipe(100, 20, 3277, 0), "conv");
    ASSERT_TRUE(block) << block.error().message();
    EXPECT_EQ(block->alu.store, part == 0 ? 0x41157800u : 0x41157840u);
    // Strides in words of 32 channels: 64 of its own and 64 of the other part lie between pixels.
    EXPECT_EQ(block->alu.stores,
              (Levels{{.trips = 2, .strides = {4}}, {.trips = 11, .strides = {240}}}));
    // In bytes, for tiles of two columns, of eleven rows, and of 32 channels.
    EXPECT_EQ(block->alu.tiles, (Levels{{.trips = 30, .strides = {2 * 128}},
                                        {.trips = 2, .strides = {11 * 60 * 128}},
                                        {.trips = 2, .strides = {32}}}));
  }
}

} // namespace
