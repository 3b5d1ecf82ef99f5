//===- dnnweaver-machine.cpp - Runs programs for tests --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: dnnweaver-machine SET ROWS COLUMNS PROGRAM.s MEMORY OUT
//
// Assembles PROGRAM.s for the parameter set, runs it over the bytes of MEMORY, and writes what
// memory holds then. Prints the cycles of all blocks.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Machine/Timing.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Expected<uint64_t> run(char **arguments) {
  const Expected<Parameters> set = parametersNamed(arguments[0], "SET");
  if (!set)
    return tl::unexpected<Error>(set.error());
  Parameters machine = *set;
  const auto rows = static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10));
  const auto columns = static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10));
  Expected<Parameters> sized = withArray(machine, rows, columns, "ROWS, COLUMNS");
  if (!sized)
    return propagate(sized);
  Expected<std::vector<mc::Command>> commands =
      assembleWords(sized->isa, readFile(arguments[3]), arguments[3]);
  if (!commands)
    return propagate(commands);
  Expected<std::vector<Block>> blocks = readProgram(*sized, encodeWords(*commands), arguments[3]);
  if (!blocks)
    return propagate(blocks);
  std::string memory = readFile(arguments[4]);
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(memory.data()), memory.size());
  Expected<void> done = runBlocks(*sized, *blocks, bytes, arguments[3]);
  if (!done)
    return propagate(done);
  std::ofstream(arguments[5], std::ios::binary) << memory;
  uint64_t cycles = 0;
  for (const Block &block : *blocks)
    cycles += blockCycles(*sized, block).total;
  return cycles;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 7) {
    fmt::print(stderr, "usage: dnnweaver-machine SET ROWS COLUMNS PROGRAM.s MEMORY OUT\n");
    return 2;
  }
  const Expected<uint64_t> cycles = run(argv + 1);
  if (!cycles) {
    fmt::print(stderr, "{}\n", cycles.error().message());
    return 1;
  }
  fmt::print("{}\n", *cycles);
  return 0;
}
