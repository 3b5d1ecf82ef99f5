//===- Conformance.cpp - Both machines, command by command ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// conformance LIBRARY [--cases N] [--seed S] [--only TEXT] [--golden FILE --lines N] [--verbose]
//
// Runs random legal commands on the vendor's functional model and on ours from the same memory and
// compares all of local memory, and global memory for transfers. Exit status 1 when any byte
// differs.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684x/Generate.h"
#include "test/conformance/bm1684x/Vendor.h"
#include "test/conformance/bm168x/Comparison.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"

#include <cstdlib>
#include <cstring>

using namespace tpuc;
using namespace tpuc::bm1684x;
using namespace tpuc::bm1684x::conformance;

namespace {

class Machines : public bm168x::conformance::Pair {
public:
  explicit Machines(Vendor vendorModel) : vendor(vendorModel), global(kGlobalSize), pool(1) {
    std::memcpy(memory.local().data(), vendor.local(), kLocalBytes);
    std::memset(vendor.global(), 0, kGlobalSize);
    std::memcpy(vendor.staticMemory(), memory.staticMemory().data(), kStaticBytes);
    if (!memory.mapGlobal(kGlobalBase, global))
      std::abort();
    lanes = kLocalMemory;
    ourLocal = memory.local();
    ourGlobal = global;
    theirLocal = {vendor.local(), kLocalBytes};
    theirGlobal = {vendor.global(), kGlobalSize};
    ourAbsolute = placesOf(ourLocal.data(), ourGlobal.data());
    theirAbsolute = placesOf(theirLocal.data(), theirGlobal.data());
  }
  Expected<OperandList> prepare(const Command &command) override {
    Expected<PreparedCommand> ready = bm1684x::prepare(command, "case");
    if (!ready)
      return propagate(ready);
    step = std::move(ready->step);
    return std::move(ready->operands);
  }
  std::optional<Error> runOurs() override {
    Exec exec{memory, pool, kernelsFor(bestSimdLevel())};
    return step(exec);
  }
  void runTheirs(const Command &command) override { vendor.execute(command); }

private:
  Vendor vendor;
  Memory memory;
  std::vector<uint8_t> global;
  ThreadPool pool{1};
  Step step;
};

Expected<std::unique_ptr<bm168x::conformance::Pair>> loadMachines(const std::string &library) {
  Expected<Vendor> vendor = Vendor::load(library, kGlobalSize);
  if (!vendor)
    return propagate(vendor);
  return std::make_unique<Machines>(*vendor);
}

} // namespace

int main(int argc, char **argv) {
  return bm168x::conformance::compareMachines(argc, argv,
                                              {&kCommandTable, allRecipes(), loadMachines});
}
