//===- FuzzDNNWeaver.cpp - Any words as programs of the array -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte chooses the machine, and whether what follows is the program, or changes words of
// one that works. Words go through their text and back, and are run and timed where they are
// accepted.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Machine/Timing.h"
#include "tpuc/Target/DNNWeaver/Mapping/Reference.h"

#include <cstdlib>
#include <cstring>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

constexpr uint64_t kMemoryBytes = 1 << 18;
constexpr uint64_t kMaxSteps = 3000;
constexpr uint64_t kMaxTimedTiles = 3000;

Parameters machineFor(uint8_t choice) {
  Parameters machine =
      *withArray(*parametersNamed(choice % 2 == 0 ? "public" : "patent", ""), 16, 16, "");
  machine.weightsByRow = false;
  return machine;
}

/// With `copies` the map in front of the pool is stored as well; with `kernels` pairs are of those.
std::vector<uint32_t> workingProgram(const Parameters &machine, bool pairs, bool copies,
                                     bool kernels) {
  const ConvLayer layer{.result = {2, 2},
                        .kernel = {2, 2},
                        .pool = {2, 2},
                        .poolStride = {2, 2},
                        .inWords = 2,
                        .outWords = 2,
                        .pairs = pairs,
                        .pairsKernels = pairs && kernels};
  const AluRecipe recipe = machine.isa == IsaKind::Public ? publicRecipe(12, 100, 7, 3277)
                                                          : patentRecipe(100, 20, 3277, 5);
  Placement placement = placeAlone(machine, layer);
  if (layer.pairsKernels)
    placement.pairs = PairMode{.store = 4096, .ofKernels = true, .weight = 8192, .bias = 512};
  if (copies) {
    placement.copy = placement.output;
    placement.copy->address += kMemoryBytes / 2;
    placement.copiesUnpooled = true;
  }
  const Expected<Block> block =
      emitBlock(machine, layer, {.tile = {1, 2}}, placement, recipe, "fuzz");
  return *writeProgram(machine, {&*block, 1}, "fuzz");
}

void checkText(IsaKind kind, const std::vector<mc::Command> &commands) {
  const Expected<std::vector<mc::Command>> again =
      assembleWords(kind, disassembleWords(commands), "fuzz");
  if (!again || encodeWords(*again) != encodeWords(commands))
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const uint8_t choice = data[0];
  const Parameters machine = machineFor(choice);
  std::vector<uint32_t> words;
  if ((choice & 4) != 0) {
    words.resize((size - 1) / 4);
    if (!words.empty())
      std::memcpy(words.data(), data + 1, words.size() * 4);
  } else {
    words = workingProgram(machine, machine.hasPairs && (choice & 2) != 0,
                           machine.hasCopies && (choice & 8) != 0, (choice & 16) != 0);
    for (size_t at = 1; at + 5 <= size; at += 5) {
      uint32_t change;
      std::memcpy(&change, data + at + 1, 4);
      words[data[at] % words.size()] ^= change;
    }
  }
  if (const Expected<std::vector<mc::Command>> commands = decodeWords(machine.isa, words, "fuzz"))
    checkText(machine.isa, *commands);
  const Expected<std::vector<Block>> blocks = readProgram(machine, words, "fuzz");
  if (!blocks)
    return 0;
  // What was read can be written, unless it takes more words so. That can be read, and written as
  // the same words.
  if (const Expected<std::vector<uint32_t>> written = writeProgram(machine, *blocks, "fuzz")) {
    const Expected<std::vector<Block>> again = readProgram(machine, *written, "fuzz");
    if (!again ||
        writeProgram(machine, *again, "fuzz").value_or(std::vector<uint32_t>()) != *written)
      std::abort();
  }
  std::vector<uint8_t> memory(kMemoryBytes, choice);
  (void)runBlocks(machine, *blocks, memory, "fuzz", {.steps = kMaxSteps});
  for (const Block &block : *blocks)
    if (tripsOf(block.tiles) <= kMaxTimedTiles && checkBlock(machine, block, "fuzz"))
      (void)blockCycles(machine, block);
  return 0;
}
