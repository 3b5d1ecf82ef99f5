//===- BothMachines.h - A model on our machine and the vendor's - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684_BOTHMACHINES_H
#define TEST_CONFORMANCE_BM1684_BOTHMACHINES_H

#include "runtime/Session.h"
#include "test/conformance/bm1684/Vendor.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Target/BM1684/Machine/Simulator.h"

namespace tpuc::bm1684::conformance {

/// The first stage of the first net of a .bmodel file, ready to run on our machine.
struct OurMachine {
  std::shared_ptr<const runtime::LoadedModel> model;
  /// One per command group.
  std::vector<Program> programs;
  /// The activations, with the inputs in their places.
  std::vector<uint8_t> context;
  Memory memory;

  const model::Stage &stage() const { return model->stage({0, 0}); }
};

/// Inputs come from `npz`, or are random values between -1 and 1 where it is null. Errors: what
/// the model file or one of its commands is refused for.
Expected<std::unique_ptr<OurMachine>> prepareModel(const std::string &path, const NpzReader *npz);

/// The vendor's machine with the same contents of all memories. `library`: Vendor.h.
Expected<Vendor> loadVendor(const std::string &library, OurMachine &ours);
/// Where the activations are there.
uint8_t *vendorContext(Vendor &vendor, const OurMachine &ours);

/// One command on the vendor's machine, which computes with denormals flushed; the calling thread
/// keeps its own mode.
void execute(Vendor &vendor, const Command &command);

} // namespace tpuc::bm1684::conformance

#endif // TEST_CONFORMANCE_BM1684_BOTHMACHINES_H
