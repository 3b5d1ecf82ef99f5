//===- Driver.cpp - The BM1684 as a device --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Simulator.h"
#include "tpuc/Target/BM1684/Machine/Timing.h"
#include "tpuc/Target/BM168x/FamilyDriver.h"

namespace tpuc::runtime {

namespace {

struct BM1684 {
  static constexpr std::string_view kName = "BM1684";
  static const mc::CommandTable &table() { return bm1684::kCommandTable; }

  using Program = bm1684::Program;
  using PreparedCommand = bm1684::PreparedCommand;
  using Memory = bm1684::Memory;

  using TimingReports = bm1684::TimingReports;
  static Expected<TimingReports> simulateTimings(std::span<const mc::Command> tiu,
                                                 std::span<const mc::Command> gdma,
                                                 const std::string &where) {
    return bm1684::simulateTimings(tiu, gdma, where);
  }
  static model::TimingResult timingResult(const TimingReports &reports,
                                          const bm168x::CommandLayers &layers) {
    return bm1684::timingResult(reports, layers);
  }
};

} // namespace

const DeviceDriver &driverBM1684();
const DeviceDriver &driverBM1684() {
  static const bm168x::FamilyDriver<BM1684> driver;
  return driver;
}

} // namespace tpuc::runtime
