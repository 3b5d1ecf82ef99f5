//===- Driver.cpp - The BM1684X as a device -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "tpuc/Target/BM1684X/Machine/TimingReport.h"
#include "tpuc/Target/BM168x/FamilyDriver.h"

namespace tpuc::runtime {

namespace {

struct BM1684X {
  static constexpr std::string_view kName = "BM1684X";
  static const mc::CommandTable &table() { return bm1684x::kCommandTable; }

  using Program = bm1684x::Program;
  using PreparedCommand = bm1684x::PreparedCommand;
  using Memory = bm1684x::Memory;

  using TimingReports = bm1684x::TimingReports;
  static Expected<TimingReports> simulateTimings(std::span<const mc::Command> tiu,
                                                 std::span<const mc::Command> gdma,
                                                 const std::string &where) {
    return bm1684x::simulateTimings(tiu, gdma, where);
  }
  static model::TimingResult timingResult(const TimingReports &reports,
                                          const bm168x::CommandLayers &layers) {
    return bm1684x::timingResult(reports, layers);
  }
};

} // namespace

const DeviceDriver &driverBM1684X();
const DeviceDriver &driverBM1684X() {
  static const bm168x::FamilyDriver<BM1684X> driver;
  return driver;
}

} // namespace tpuc::runtime
