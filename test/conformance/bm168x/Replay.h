//===- Replay.h - A whole model on both machines, command by command - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM168X_REPLAY_H
#define TEST_CONFORMANCE_BM168X_REPLAY_H

#include "test/conformance/bm168x/BothMachines.h"
#include "tpuc/Support/ThreadPool.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace tpuc::bm168x::conformance {

/// Whether both hold the same. Where not, the first difference is shown, and the vendor's bytes are
/// taken over.
bool compareMemory(const char *what, std::span<uint8_t> ours, const uint8_t *vendor);

/// Runs the first stage of the first net of a .bmodel file on our machine and, one command behind,
/// on the vendor's functional model. After each command the memories of both are compared. A
/// command whose bytes differ is shown, and the vendor's bytes are taken over, so that every
/// command is judged by itself.
template <typename Chip> class Replay {
public:
  explicit Replay(BothMachines<Chip> &both) : both(both) {}

  Expected<void> run() {
    ThreadPool pool;
    return both.run(pool, [&](const typename Chip::PreparedCommand &prepared, bool isDone) {
      if (isDone)
        step(prepared.command);
    });
  }

  /// Whether no command differed.
  bool printSummary() const {
    bool isSame = true;
    for (const auto &[name, count] : counts) {
      fmt::print("{:<24} {:>7} commands {:>7} differ\n", name, count.commands, count.differing);
      isSame = isSame && count.differing == 0;
    }
    return isSame;
  }

private:
  void step(const mc::Command &command) {
    both.executeOnVendor(command);
    Count &count = counts[std::string(command.operation().name)];
    ++count.commands;
    bool isSame = true;
    for (const auto &memory : both.memories())
      isSame = compareMemory(memory.what, memory.ours, memory.vendor) && isSame;
    if (isSame)
      return;
    ++count.differing;
    fmt::print("    {}\n", mc::disassemble(command));
  }

  struct Count {
    unsigned commands = 0, differing = 0;
  };
  BothMachines<Chip> &both;
  std::map<std::string, Count> counts;
};

/// The program `NAME LIBRARY MODEL.bmodel [INPUT.npz]`. The status is 1 when any command differed.
template <typename Chip> int replayMain(const char *name, std::span<char *> arguments) {
  const auto replay = [&]() -> Expected<bool> {
    if (arguments.size() < 3 || arguments.size() > 4)
      return makeError("usage", fmt::format("{} LIBRARY MODEL.bmodel [INPUT.npz]", name));
    std::optional<NpzReader> npz;
    if (arguments.size() == 4) {
      auto opened = NpzReader::open(arguments[3]);
      if (!opened)
        return propagate(opened);
      npz.emplace(std::move(*opened));
    }
    const auto both = BothMachines<Chip>::create(arguments[2], npz ? &*npz : nullptr);
    if (!both)
      return tl::unexpected(both.error());
    if (auto ok = (*both)->loadVendor(arguments[1]); !ok)
      return propagate(ok);
    Replay<Chip> run(**both);
    if (auto ok = run.run(); !ok)
      return propagate(ok);
    return run.printSummary();
  };
  const auto isSame = replay();
  if (!isSame) {
    fmt::print(stderr, "{}: error: {}\n", name, isSame.error().message());
    return 1;
  }
  return *isSame ? 0 : 1;
}

} // namespace tpuc::bm168x::conformance

#endif // TEST_CONFORMANCE_BM168X_REPLAY_H
