//===- Replay.cpp - A whole model on both machines, command by command ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: bm1684-replay libcmodel_bm1684.so MODEL.bmodel [INPUT.npz]
//
// Runs the first stage of the first net of a .bmodel file on our machine and, one command behind,
// on the vendor's functional model. After each command all of local memory and of the activations
// are compared. A command whose bytes differ is shown, and the vendor's bytes are taken over, so
// that every command is judged by itself. Status 1 when any command differed.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/BothMachines.h"
#include "tpuc/Support/ThreadPool.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace tpuc;
using namespace tpuc::bm1684;
using namespace tpuc::bm1684::conformance;

namespace {

class Replay {
public:
  Replay(OurMachine &ours, Vendor vendor) : ours(ours), vendor(vendor) {}

  Expected<void> run();
  /// Whether no command differed.
  bool printSummary() const;

private:
  void step(const PreparedCommand &prepared);
  bool compare(std::span<uint8_t> ours, uint8_t *theirs, const char *what);

  OurMachine &ours;
  Vendor vendor;
  struct Count {
    unsigned commands = 0, differing = 0;
  };
  std::map<std::string, Count> counts;
};

bool Replay::compare(std::span<uint8_t> ours, uint8_t *theirs, const char *what) {
  if (std::memcmp(ours.data(), theirs, ours.size()) == 0)
    return true;
  size_t count = 0;
  size_t first = ours.size();
  for (size_t i = 0; i < ours.size(); ++i)
    if (ours[i] != theirs[i]) {
      first = std::min(first, i);
      ++count;
    }
  const size_t word = first / 4 * 4;
  fmt::print("  {}: {} bytes differ, first at 0x{:X}: 0x{:08X}, vendor 0x{:08X}\n", what, count,
             first, *reinterpret_cast<const uint32_t *>(&ours[word]),
             *reinterpret_cast<const uint32_t *>(&theirs[word]));
  std::copy_n(theirs, ours.size(), ours.data());
  return false;
}

void Replay::step(const PreparedCommand &prepared) {
  execute(vendor, prepared.command);
  Count &count = counts[std::string(prepared.command.operation().name)];
  ++count.commands;
  const bool sameLocal = compare(ours.memory.local(), vendor.local(), "local memory");
  const bool sameL2 = compare(ours.memory.l2(), vendor.l2(), "L2");
  const bool sameContext = compare(ours.context, vendorContext(vendor, ours), "activations");
  if (sameLocal && sameContext && sameL2)
    return;
  ++count.differing;
  fmt::print("    {}\n", disassemble(prepared.command));
}

Expected<void> Replay::run() {
  ThreadPool pool;
  for (const Program &program : ours.programs)
    if (auto ok = program.run(ours.memory, pool,
                              [&](const PreparedCommand &prepared, bool isDone) {
                                if (isDone)
                                  step(prepared);
                              });
        !ok)
      return ok;
  return {};
}

bool Replay::printSummary() const {
  bool isSame = true;
  for (const auto &[name, count] : counts) {
    fmt::print("{:<24} {:>7} commands {:>7} differ\n", name, count.commands, count.differing);
    isSame = isSame && count.differing == 0;
  }
  return isSame;
}

Expected<bool> replay(std::span<char *> arguments) {
  if (arguments.size() < 3 || arguments.size() > 4)
    return makeError("usage", "bm1684-replay LIBRARY MODEL.bmodel [INPUT.npz]");
  std::optional<NpzReader> npz;
  if (arguments.size() == 4) {
    auto opened = NpzReader::open(arguments[3]);
    if (!opened)
      return propagate(opened);
    npz.emplace(std::move(*opened));
  }
  const auto ours = prepareModel(arguments[2], npz ? &*npz : nullptr);
  if (!ours)
    return tl::unexpected(ours.error());
  const auto vendor = loadVendor(arguments[1], **ours);
  if (!vendor)
    return tl::unexpected(vendor.error());
  Replay both(**ours, *vendor);
  if (auto ok = both.run(); !ok)
    return propagate(ok);
  return both.printSummary();
}

} // namespace

int main(int argc, char **argv) {
  const auto isSame = replay({argv, static_cast<size_t>(argc)});
  if (!isSame) {
    fmt::print(stderr, "bm1684-replay: error: {}\n", isSame.error().message());
    return 1;
  }
  return *isSame ? 0 : 1;
}
