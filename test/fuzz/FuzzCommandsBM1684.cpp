//===- FuzzCommandsBM1684.cpp - Any bits as commands of the BM1684 --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/FuzzCommands.h"
#include "tpuc/Target/BM1684/Machine/Simulator.h"
#include "tpuc/Target/BM1684/Machine/Timing.h"

using namespace tpuc;

namespace {

struct FuzzedBM1684 {
  static constexpr uint64_t kGlobalBase = bm1684::kGlobalBase;
  static const mc::CommandTable &table() { return bm1684::kCommandTable; }

  using Memory = bm1684::Memory;
  using Program = bm1684::Program;
  using PreparedCommand = bm1684::PreparedCommand;

  static Expected<PreparedCommand> prepare(const mc::Command &command) {
    return bm1684::prepare(command, "fuzz");
  }
  static std::optional<Error> check(const mc::Command &command) {
    return bm1684::checkCommand(command, "fuzz");
  }
  static void run(const PreparedCommand &prepared, Memory &memory, ThreadPool &pool) {
    bm1684::Exec exec{memory, pool, bm168x::kernelsFor(bestSimdLevel())};
    (void)prepared.step(exec);
  }
  static Expected<bm168x::CommandCost> costOf(const mc::Command &command) {
    return bm1684::commandCost(command, bm1684::TimingModel::Vendor, "");
  }
  static bool canBeTimed(std::span<const mc::Command> tiu, std::span<const mc::Command> gdma) {
    return bm1684::simulateTimings(tiu, gdma, "fuzz").has_value();
  }
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  return fuzz::mutateCommands(FuzzedBM1684::table(), data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz::testCommands<FuzzedBM1684>(data, size);
}
