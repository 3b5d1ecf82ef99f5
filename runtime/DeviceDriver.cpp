//===- DeviceDriver.cpp - Machines that run compiled networks -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceDriver.h"

#include <fmt/format.h>

namespace tpuc::runtime {

Expected<const DeviceDriver *> findDriver(std::string_view chip, const std::string &where,
                                          DeviceDrivers among) {
  std::string known;
  for (const DeviceDriver *driver : among) {
    if (driver->name() == chip)
      return driver;
    known += (known.empty() ? "" : ", ") + std::string(driver->name());
  }
  return makeError(where, fmt::format("a model for {}, which this runtime cannot simulate", chip),
                   known);
}

Expected<model::TimingResult> DeviceDriver::time(const model::CompiledModel &, const model::Stage &,
                                                 const std::string &where) const {
  return makeError(where, fmt::format("a model for {}", name()), "a chip with a timing model");
}

} // namespace tpuc::runtime
