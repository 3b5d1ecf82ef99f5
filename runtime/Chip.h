//===- Chip.h - Machines that run the commands of a model file --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime asks of a chip. Everything else in this folder works for any of them; a further
// chip implements these three classes and joins the list in Chip.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHIP_H
#define RUNTIME_CHIP_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Support/Error.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::runtime {

enum class Engine : uint8_t { Tiu, Dma };

/// One command of a run.
struct CommandEvent {
  /// Indices into `Stage::subNets` and `SubNet::groups`.
  uint32_t subNet = 0, group = 0;
  Engine engine = Engine::Tiu;
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
  /// The bytes of the stage's context at a device address; empty unless all of them are there.
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

/// The name of the layer that a command belongs to; empty where nobody knows.
using LayerNames =
    std::function<std::string_view(uint32_t subNet, uint32_t group, Engine engine, uint32_t index)>;

/// What the chip's timing model says about a run. There are two sets of parameters: the chip
/// vendor's own, and one that charges what that one leaves out.
struct TimeEstimate {
  double seconds = 0, conservativeSeconds = 0;
  /// The rest is said of the vendor's set. Shares of the time in which the engines are busy, and
  /// in which the multipliers, all of them working, would have done all products: 0 to 1.
  double computeBusy = 0, transferBusy = 0, macUtilisation = 0;
  /// Bytes that leave and enter global memory; a copy inside it counts as both.
  uint64_t bytesRead = 0, bytesWritten = 0;
};

/// The time line of one run of a stage; nothing is run for it.
class TimeLine {
public:
  virtual ~TimeLine() = default;
  virtual TimeEstimate estimate() const = 0;
  /// For chrome://tracing and ui.perfetto.dev.
  virtual std::string trace() const = 0;
  /// A line per command.
  virtual std::string csv() const = 0;
  /// The totals, and the time of each kind of command and of each layer, for a terminal.
  virtual std::string summary() const = 0;
  virtual nlohmann::ordered_json json() const = 0;
};

/// Both streams of a command group as text, a line per command.
struct Listing {
  std::vector<std::string> tiu, dma;
};

class Chip {
public:
  virtual ~Chip() = default;
  /// As in `bmodel::Model::chip`.
  virtual std::string_view name() const = 0;
  /// Errors name `where` and the command: one that does not decode, or not to the same bytes again.
  virtual Expected<Listing> disassemble(const bmodel::CommandGroup &group,
                                        const std::string &where) const = 0;
  /// `path` are the sub-nets to run, in order: indices into `stage.subNets`, static TPU ones all.
  virtual Expected<std::shared_ptr<const Program>> load(const bmodel::Stage &stage,
                                                        std::span<const uint32_t> path,
                                                        const std::string &where) const = 0;
  /// Does not need that `load` knows what the commands compute. Errors name `where`: commands that
  /// are not legal, or of which nobody knows the time; chips without a timing model.
  virtual Expected<std::unique_ptr<const TimeLine>> time(const bmodel::Stage &stage,
                                                         std::span<const uint32_t> path,
                                                         const LayerNames &layers,
                                                         const std::string &where) const;
};

/// The chip of that name. The error names `where` and the chips that there are.
Expected<const Chip *> findChip(std::string_view name, const std::string &where);

} // namespace tpuc::runtime

#endif // RUNTIME_CHIP_H
