//===- Driver.h - What tests see of a simulated chip ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_RUNTIME_DRIVER_H
#define TPUC_TARGET_CV18XX_RUNTIME_DRIVER_H

#include "runtime/DeviceDriver.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"

namespace tpuc::runtime::cv18xx {

/// What the devices of `driver` are.
class SimulatedDevice : public Device {
public:
  /// Both memories and the base registers, which hooks may look at between two commands.
  virtual tpuc::cv18xx::Memory &machineMemory() = 0;
};

const DeviceDriver &driver();

/// The chip of a group of commands, and its commands. Errors name `where`: other engines, commands
/// that do not decode, or not to the same bytes again.
Expected<const tpuc::cv18xx::Chip *> chipOf(const model::CommandGroup &group,
                                            const std::string &where);
Expected<std::vector<tpuc::cv18xx::Command>> commandsOf(const tpuc::cv18xx::Chip &chip,
                                                        const model::CommandGroup &group,
                                                        const std::string &where);

} // namespace tpuc::runtime::cv18xx

#endif // TPUC_TARGET_CV18XX_RUNTIME_DRIVER_H
