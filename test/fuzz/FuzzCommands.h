//===- FuzzCommands.h - Any bits as commands of a chip -------- -*- C++ -*-===//
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
// Half of the mutations are libFuzzer's own, of bytes. The others give a field of a command another
// value, so that encodings stay legal and only their meaning changes: addresses, shapes, strides,
// types, dependencies.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FUZZCOMMANDS_H
#define TEST_FUZZ_FUZZCOMMANDS_H

#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM168x/Timing.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace tpuc::fuzz {

inline void require(bool condition, const char *what, const mc::Command &command) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s: %s\n", what, mc::disassemble(command).c_str());
  std::abort();
}

/// A machine with 1 MiB of global memory, of which the last quarter cannot be written.
template <typename Chip> struct Machine {
  typename Chip::Memory memory;
  std::vector<uint8_t> global = std::vector<uint8_t>(1 << 20);
  ThreadPool pool{1};

  Machine() {
    const std::span<uint8_t> all = global;
    const size_t writable = global.size() / 4 * 3;
    if (!memory.mapGlobal(Chip::kGlobalBase, all.first(writable)) ||
        !memory.mapGlobalReadOnly(Chip::kGlobalBase + writable, all.subspan(writable)))
      std::abort();
  }
};

/// Whether a command is done in milliseconds, sanitizers included: a cycle is a thousand steps of
/// work for a simulator.
template <typename Chip> bool isShort(const typename Chip::PreparedCommand &prepared) {
  constexpr int64_t kMostCycles = 2'000, kMost = 100'000;
  const auto cost = Chip::costOf(prepared.command);
  if (!cost || cost->cycles > kMostCycles || cost->macs > kMost * 100)
    return false;
  for (const bm168x::Operand &operand : prepared.operands.all()) {
    int64_t count = 1;
    for (const int64_t extent : operand.view.shape)
      if (__builtin_mul_overflow(count, extent, &count) || count > kMost)
        return false;
  }
  return true;
}

template <typename Chip>
void check(const mc::Command &command, std::span<const uint8_t> bytes, Machine<Chip> &machine) {
  require(std::ranges::equal(command.encoded(), bytes.first(command.encoded().size())),
          "decoding keeps all bits", command);
  const auto again = mc::assemble(Chip::table(), mc::disassemble(command), "text");
  require(again && std::ranges::equal(again->encoded(), command.encoded()),
          "text gives the same bits", command);
  const auto prepared = Chip::prepare(command);
  require(!prepared || !Chip::check(command), "what runs passes the checks", command);
  if (prepared && isShort<Chip>(*prepared))
    Chip::run(*prepared, machine.memory, machine.pool);
}

/// A value of few bits, near an end of the field's range, or any; or the one that stands in another
/// field of the command.
inline uint64_t otherValue(const mc::Command &command, const mc::FieldSpec &spec,
                           std::minstd_rand &random) {
  const uint64_t most = spec.bits().mask();
  const uint64_t old = command.get(spec.field);
  switch (random() % 8) {
  case 0:
    return random() % 3 & most;
  case 1:
    return most - (random() % 3 & most);
  case 2:
    return (old + 1) & most;
  case 3:
    return (old - 1) & most;
  case 4:
    return uint64_t{1} << random() % spec.width;
  case 5:
    return old * 2 & most;
  case 6: {
    const auto fields = command.info().fields;
    return command.get(fields[random() % fields.size()].field) & most;
  }
  default:
    return (uint64_t{random()} << 32 | random()) & most;
  }
}

/// The places of all commands that can be decoded, as the test below finds them.
inline std::vector<std::pair<size_t, mc::Command>> commandsOf(const mc::CommandTable &table,
                                                              std::span<const uint8_t> data) {
  std::vector<std::pair<size_t, mc::Command>> found;
  for (size_t at = 0; at + 1 < data.size();) {
    const bm168x::Engine engine = data[at] % 2 == 0 ? bm168x::Engine::Tiu : bm168x::Engine::Gdma;
    ++at;
    const auto command = mc::decode(table, engine, data.subspan(at), "fuzz");
    if (!command)
      continue;
    found.emplace_back(at, *command);
    at += command->encoded().size();
  }
  return found;
}

} // namespace tpuc::fuzz

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace tpuc::fuzz {

/// See LLVMFuzzerCustomMutator.
inline size_t mutateCommands(const mc::CommandTable &table, uint8_t *data, size_t size,
                             size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  auto commands = commandsOf(table, {data, size});
  if (commands.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  auto &[at, command] = commands[random() % commands.size()];
  const auto fields = command.info().fields;
  for (auto count = 1 + random() % 3; count > 0; --count) {
    const mc::FieldSpec &spec = fields[random() % fields.size()];
    // The operation stays, or the form would not fit.
    const mc::EngineInfo &engine = command.engineInfo();
    if (spec.field != engine.opcode.field && !(engine.sub && spec.field == engine.sub->field) &&
        !(engine.flag && spec.field == engine.flag->field))
      (void)command.trySet(spec.field, otherValue(command, spec, random));
  }
  std::ranges::copy(command.encoded(), data + at);
  return size;
}

/// See LLVMFuzzerTestOneInput.
template <typename Chip> int testCommands(const uint8_t *data, size_t size) {
  static Machine<Chip> machine;
  std::vector<mc::Command> tiu;
  std::vector<mc::Command> gdma;
  std::span<const uint8_t> rest(data, size);
  while (rest.size() > 1) {
    const bm168x::Engine engine = rest[0] % 2 == 0 ? bm168x::Engine::Tiu : bm168x::Engine::Gdma;
    rest = rest.subspan(1);
    const auto command = mc::decode(Chip::table(), engine, rest, "fuzz");
    if (!command)
      continue;
    check<Chip>(*command, rest, machine);
    (engine == bm168x::Engine::Tiu ? tiu : gdma).push_back(*command);
    rest = rest.subspan(command->encoded().size());
  }
  const auto program = Chip::Program::create(tiu, gdma, "fuzz");
  const bool isTimed = Chip::canBeTimed(tiu, gdma);
  if (program && isTimed && program->commands().size() != tiu.size() + gdma.size())
    std::abort();
  return 0;
}

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_FUZZCOMMANDS_H
