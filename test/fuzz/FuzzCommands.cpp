//===- FuzzCommands.cpp - Any bits as commands of the BM1684X -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/FuzzCommands.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "tpuc/Target/BM1684X/Machine/Timing.h"

using namespace tpuc;

namespace {

struct FuzzedBM1684X {
  static constexpr uint64_t kGlobalBase = bm1684x::kGlobalBase;
  static const mc::CommandTable &table() { return bm1684x::kCommandTable; }

  using Memory = bm1684x::Memory;
  using Program = bm1684x::Program;
  using PreparedCommand = bm1684x::PreparedCommand;

  static Expected<PreparedCommand> prepare(const mc::Command &command) {
    return bm1684x::prepare(command, "fuzz");
  }
  static std::optional<Error> check(const mc::Command &command) {
    return bm1684x::checkCommand(command, "fuzz");
  }
  static void run(const PreparedCommand &prepared, Memory &memory, ThreadPool &pool) {
    bm1684x::Exec exec{memory, pool, bm168x::kernelsFor(bestSimdLevel())};
    (void)prepared.step(exec);
  }
  static Expected<bm168x::CommandCost> costOf(const mc::Command &command) {
    return bm1684x::commandCost(command, bm1684x::timingParameters(bm1684x::TimingModel::Vendor),
                                "");
  }
  static bool canBeTimed(std::span<const mc::Command> tiu, std::span<const mc::Command> gdma) {
    return bm1684x::simulateTimings(tiu, gdma, "fuzz").has_value();
  }
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  return fuzz::mutateCommands(FuzzedBM1684X::table(), data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz::testCommands<FuzzedBM1684X>(data, size);
}
