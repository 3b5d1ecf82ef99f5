//===- DeviceDriver.h - Machines that run compiled networks -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime asks of a chip. Everything else in this folder works for any of them. A folder
// tpuc/Target/<Chip>/Runtime/ implements these classes, defines
// `const DeviceDriver &tpuc::runtime::driver<Chip>()` and calls `tpuc_add_device_driver`; CMake
// writes the list.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICEDRIVER_H
#define RUNTIME_DEVICEDRIVER_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Model/TimingResult.h"
#include "tpuc/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::runtime {

/// One command of a run.
struct CommandEvent {
  /// Indices into `Stage::subNets`, `SubNet::groups` and `CommandGroup::streams`.
  uint32_t subNet = 0, group = 0, stream = 0;
  /// Number in its stream, from 0.
  uint32_t index = 0;
  std::string_view operation;
};

struct RunHooks {
  std::function<void(const CommandEvent &event)> before, after;
};

/// A simulated device with the program of one stage: its memories and threads. Not for two threads
/// at once.
class Device {
public:
  virtual ~Device() = default;
  /// The bytes of the stage's activations at a device address; empty unless all of them are there.
  virtual std::span<std::byte> contextBytes(uint64_t address, uint64_t size) = 0;
  /// Runs the commands of a sub-net, an index into `Stage::subNets`. Errors: what only the data can
  /// show, such as an index out of range.
  virtual Expected<void> run(uint32_t subNet, const RunHooks &hooks) = 0;
};

/// The checked and decoded commands of one stage; for any number of devices and threads. Needs the
/// memory that the `Stage` it was made from points to.
class Program {
public:
  virtual ~Program() = default;
  /// `numThreads` 0: all cores.
  virtual Expected<std::unique_ptr<Device>> createDevice(unsigned numThreads) const = 0;
};

class DeviceDriver {
public:
  virtual ~DeviceDriver() = default;
  /// As in `CompiledModel::chip`.
  virtual std::string_view name() const = 0;
  /// Each stream of a group as text, a line per command. Errors name `where` and the command: one
  /// that does not decode, or not to the same bytes again.
  virtual Expected<std::vector<std::vector<std::string>>>
  disassemble(const model::CommandGroup &group, const std::string &where) const = 0;
  /// The program of the sub-nets that the chip computes. Errors name `where`: commands that are not
  /// legal.
  virtual Expected<std::shared_ptr<const Program>> load(const model::Stage &stage,
                                                        const std::string &where) const = 0;
  /// What one run of a stage of `model` takes; nothing is run for it. Does not need that `load`
  /// knows what the commands compute. Errors name `where`: commands that are not legal, or of which
  /// nobody knows the time; chips without a timing model.
  virtual Expected<model::TimingResult> time(const model::CompiledModel &model,
                                             const model::Stage &stage,
                                             const std::string &where) const;
};

using DeviceDrivers = std::span<const DeviceDriver *const>;

/// All of them, in the order of the chips' folders. The library TpucTargetDrivers defines it.
DeviceDrivers deviceDrivers();

/// The driver of the chip of that name. The error names `where` and the chips that there are.
Expected<const DeviceDriver *> findDriver(std::string_view chip, const std::string &where,
                                          DeviceDrivers among);

} // namespace tpuc::runtime

#endif // RUNTIME_DEVICEDRIVER_H
