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

#include "test/conformance/bm1684/Generate.h"
#include "test/conformance/bm1684/L2.h"
#include "test/conformance/bm1684/Vendor.h"
#include "test/conformance/bm168x/Comparison.h"
#include "tpuc/Target/BM1684/Machine/Simulator.h"

#include <cstdlib>
#include <cstring>

using namespace tpuc;
using namespace tpuc::bm1684;
using namespace tpuc::bm1684::conformance;

namespace {

class Machines : public bm168x::conformance::Pair {
public:
  explicit Machines(Vendor vendorModel) : vendor(vendorModel), global(kGlobalSize), pool(1) {
    std::memcpy(memory.local().data(), vendor.local(), kLocalBytes);
    std::memset(vendor.global(), 0, kGlobalSize);
    fillL2(memory.l2());
    fillL2({vendor.l2(), kL2Bytes});
    if (!memory.mapGlobal(kGlobalBase, global))
      std::abort();
    lanes = kLocalMemory;
    ourLocal = memory.local();
    ourGlobal = global;
    theirLocal = {vendor.local(), kLocalBytes};
    theirGlobal = {vendor.global(), kGlobalSize};
    ourAbsolute = [this](uint64_t at) { return global.data() + (at - kGlobalBase); };
    theirAbsolute = [this](uint64_t at) { return vendor.global() + (at - kGlobalBase); };
  }
  Expected<OperandList> prepare(const Command &command) override {
    Expected<PreparedCommand> ready = bm1684::prepare(command, "case");
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

/// Whether L2 begins with the same tables, as far as ours are not left zero.
bool hasSameTables(Vendor &vendor) {
  Memory memory;
  const std::span<const uint8_t> ours = memory.l2();
  for (const auto &[first, last] : {std::pair{0x0, 0xE00}, {0xF00, 0x3800}})
    if (std::memcmp(&ours[kTablesOffset + first], vendor.l2() + kTablesOffset + first,
                    static_cast<size_t>(last - first)) != 0)
      return false;
  return true;
}

Expected<std::unique_ptr<bm168x::conformance::Pair>> loadMachines(const std::string &library) {
  Expected<Vendor> vendor = Vendor::load(library, kGlobalSize);
  if (!vendor)
    return propagate(vendor);
  if (!hasSameTables(*vendor))
    return makeError(library, "other tables in L2");
  return std::make_unique<Machines>(*vendor);
}

} // namespace

int main(int argc, char **argv) {
  return bm168x::conformance::compareMachines(argc, argv,
                                              {&kCommandTable, allRecipes(), loadMachines});
}
