//===- FuzzCommands.cpp - Any bits as commands of the BM1684X -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is a list of commands, each behind a byte whose lowest bit names the engine. A command
// is refused or decoded; what is decoded gives the same bits again, from bytes and from text; what
// is made ready runs within the simulated memories. The list as a whole is a program.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "tpuc/Target/BM1684X/Machine/Timing.h"

#include <cstdio>
#include <cstdlib>

using namespace tpuc;
using namespace tpuc::bm1684x;

namespace {

void require(bool condition, const char *what, const Command &command) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s: %s\n", what, disassemble(command).c_str());
  std::abort();
}

/// A machine with 1 MiB of global memory, of which the last quarter cannot be written.
struct Machine {
  Memory memory;
  std::vector<uint8_t> global = std::vector<uint8_t>(1 << 20);
  ThreadPool pool{1};

  Machine() {
    const std::span<uint8_t> all = global;
    const size_t writable = global.size() / 4 * 3;
    if (!memory.mapGlobal(kGlobalBase, all.first(writable)) ||
        !memory.mapGlobalReadOnly(kGlobalBase + writable, all.subspan(writable)))
      std::abort();
  }
};

/// Whether a command is done in milliseconds, sanitizers included: a cycle is a thousand steps of
/// work for a simulator.
bool isShort(const PreparedCommand &prepared) {
  constexpr int64_t kMostCycles = 2'000, kMost = 100'000;
  const auto cost = commandCost(prepared.command, timingParameters(TimingModel::Vendor), "");
  if (!cost || cost->cycles > kMostCycles || cost->macs > kMost * 100)
    return false;
  for (const Operand &operand : prepared.operands.all()) {
    int64_t count = 1;
    for (const int64_t extent : operand.view.shape)
      if (__builtin_mul_overflow(count, extent, &count) || count > kMost)
        return false;
  }
  return true;
}

void check(const Command &command, std::span<const uint8_t> bytes, Machine &machine) {
  require(std::ranges::equal(command.encoded(), bytes.first(command.encoded().size())),
          "decoding keeps all bits", command);
  const auto again = assemble(disassemble(command), "text");
  require(again && std::ranges::equal(again->encoded(), command.encoded()),
          "text gives the same bits", command);
  const auto prepared = prepare(command, "fuzz");
  require(!prepared || !checkCommand(command, "fuzz"), "what runs passes the checks", command);
  if (!prepared || !isShort(*prepared))
    return;
  Exec exec{machine.memory, machine.pool, kernelsFor(bestSimdLevel())};
  (void)prepared->step(exec);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Machine machine;
  std::vector<Command> tiu;
  std::vector<Command> gdma;
  std::span<const uint8_t> rest(data, size);
  while (rest.size() > 1) {
    const Engine engine = rest[0] % 2 == 0 ? Engine::Tiu : Engine::Gdma;
    rest = rest.subspan(1);
    const auto command = decode(engine, rest, "fuzz");
    if (!command)
      continue;
    check(*command, rest, machine);
    (engine == Engine::Tiu ? tiu : gdma).push_back(*command);
    rest = rest.subspan(command->encoded().size());
  }
  const auto program = Program::create(tiu, gdma, "fuzz");
  const auto times =
      simulateTimings(std::span<const Command>(tiu), std::span<const Command>(gdma), "fuzz");
  if (program && times && program->commands().size() != tiu.size() + gdma.size())
    std::abort();
  return 0;
}
