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
  /// Runs all commands. Errors: what only the data can show, such as an index out of range.
  virtual Expected<void> run(const RunHooks &hooks) = 0;
};

/// The checked and decoded commands of one stage; for any number of devices and threads. Needs the
/// memory that the `Stage` it was made from points to.
class Program {
public:
  virtual ~Program() = default;
  /// `numThreads` 0: all cores.
  virtual Expected<std::unique_ptr<Device>> createDevice(unsigned numThreads) const = 0;
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
};

/// The chip of that name. The error names `where` and the chips that there are.
Expected<const Chip *> findChip(std::string_view name, const std::string &where);

} // namespace tpuc::runtime

#endif // RUNTIME_CHIP_H
