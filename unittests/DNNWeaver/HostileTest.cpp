//===- HostileTest.cpp - Programs that nobody would write -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerCase.h"
#include "tpuc/Target/DNNWeaver/Machine/HostMoves.h"
#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"

#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

/// A program with bits, words and fields changed runs to its end or is refused: nothing outside of
/// memory is touched, which the sanitizers see, and every error is one line.
TEST(DNNWeaverHostile, ChangedProgramsRunOrAreRefused) {
  unsigned numRun = 0, numRefused = 0;
  for (const std::string_view name : {"public", "patent"}) {
    Parameters machine = *withArray(*parametersNamed(name, ""), 16, 16, "");
    machine.weightsByRow = false;
    std::mt19937 random(7);
    for (unsigned round = 0; round < 400; ++round) {
      const ConvLayer layer{.result = {2, 2},
                            .kernel = {2, 2},
                            .pool = {2, 2},
                            .poolStride = {2, 2},
                            .inWords = 2,
                            .outWords = 2,
                            .pairs = machine.hasPairs && round % 2 == 1};
      LayerCase layerCase = makeCase(machine, layer, random);
      const Expected<Block> block =
          emitBlock(machine, layer, {.tile = {1, 2}}, layerCase.placement, layerCase.recipe(), "p");
      ASSERT_TRUE(block) << block.error().message();
      std::vector<uint32_t> words = *writeProgram(machine, {&*block, 1}, "p");
      for (unsigned k = 0; k <= round % 3; ++k)
        words[random() % words.size()] ^= 1u << random() % 32;
      const Expected<std::vector<Block>> blocks = readProgram(machine, words, "p");
      Expected<void> done;
      if (!blocks)
        done = tl::unexpected<Error>(blocks.error());
      else
        done = runBlocks(machine, *blocks, layerCase.memory, "p", {.steps = 20000});
      ++(done ? numRun : numRefused);
      if (!done)
        EXPECT_EQ(done.error().message().find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(numRun, 100u);
  EXPECT_GT(numRefused, 100u);
}

TEST(DNNWeaverHostile, RecordsOfTheHost) {
  std::vector<uint8_t> memory(4096);
  HostMove move;
  move.kind = HostMove::Kind::Move;
  const auto error = [&] {
    const Expected<void> done = runMove(move, memory, "m");
    return done ? std::string() : done.error().message();
  };
  EXPECT_EQ(error(), "");
  // A product of counts that has no 64 bits.
  move.counts = {uint64_t{1} << 32, uint64_t{1} << 32, 1};
  EXPECT_EQ(error(), "m: no elements, or more than 2^32; expected fewer");
  move.counts = {1, 0, 1};
  EXPECT_EQ(error(), "m: no elements, or more than 2^32; expected fewer");
  move.counts = {2, 1, 1};
  move.toStrides = {~uint64_t{0}, 0, 0};
  EXPECT_NE(error(), "");
  move.toStrides = {4095, 0, 0};
  EXPECT_EQ(error(), "");
  move.bytes = 2;
  EXPECT_NE(error(), "");
  const std::vector<std::byte> bytes = encodeMoves({{move}});
  ASSERT_TRUE(decodeMoves(bytes, "m"));
  EXPECT_TRUE(decodeMoves(bytes, "m")->front() == move);
  EXPECT_FALSE(decodeMoves(std::span(bytes).first(95), "m"));
}

} // namespace
