//===- Program.h - Commands made ready to run ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the simulators of the family's chips do alike: a command is decoded once into a step, which
// carries it out on any memory, and a program is steps in the order of a serial machine.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_PROGRAM_H
#define TPUC_TARGET_BM168X_PROGRAM_H

#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM168x/Check.h"
#include "tpuc/Target/BM168x/Kernels.h"
#include "tpuc/Target/BM168x/Views.h"
#include "tpuc/Target/Common/Check.h"

#include <functional>
#include <optional>

namespace tpuc::bm168x {

/// What a step works with.
template <typename ChipMemory> struct ExecOn {
  ChipMemory &memory;
  ThreadPool &pool;
  const Kernels &kernels;
};

/// Carries a command out; an error is something that only memory and data could show, such as an
/// address that is not mapped or an index that is out of range.
template <typename ChipMemory>
using StepOn = std::function<std::optional<Error>(ExecOn<ChipMemory> &exec)>;

/// A command made ready to run.
template <typename ChipMemory> struct PreparedOn {
  mc::Command command;
  OperandList operands;
  StepOn<ChipMemory> step;
};

/// The two streams of a command group, checked, decoded and in the order in which a serial machine
/// may carry them out. It holds no memory and may run many times, on several threads at once, on
/// different memories. `prepare(command, where)` decodes a command completely.
template <typename ChipMemory, const mc::CommandTable &table, auto prepare> class ProgramOn {
public:
  using Prepared = PreparedOn<ChipMemory>;

  /// `tiu` and `gdma` may end with their end commands. Errors name `where`.
  static Expected<ProgramOn> create(std::span<const mc::Command> tiu,
                                    std::span<const mc::Command> gdma, const std::string &where) {
    auto order = serialOrder(table, tiu, gdma, where);
    if (!order)
      return propagate(order);
    ProgramOn program;
    program.prepared.reserve(order->size());
    for (const mc::ScheduledCommand scheduled : *order) {
      const bool isTiu = scheduled.engine == mc::EngineId(Engine::Tiu);
      const mc::Command &command = (isTiu ? tiu : gdma)[scheduled.index];
      Expected<Prepared> ready = prepare(command, mc::commandName(where, command, scheduled.index));
      if (!ready)
        return propagate(ready);
      program.prepared.push_back(std::move(*ready));
    }
    return program;
  }

  std::span<const Prepared> commands() const { return prepared; }

  /// Called before (`isDone` false) and after each command.
  using Hook = std::function<void(const Prepared &command, bool isDone)>;

  /// Carries out all commands on `memory` with the threads of `pool`. The bytes do not depend on
  /// their number, nor on the instruction set. Errors: addresses that are not mapped, indices out
  /// of range.
  Expected<void> run(ChipMemory &memory, ThreadPool &pool, const Hook &hook = nullptr,
                     SimdLevel level = bestSimdLevel()) const {
    ExecOn<ChipMemory> exec{memory, pool, kernelsFor(level)};
    for (const Prepared &command : prepared) {
      if (hook)
        hook(command, false);
      if (std::optional<Error> error = command.step(exec))
        return tl::unexpected<Error>(std::move(*error));
      if (hook)
        hook(command, true);
    }
    return {};
  }

private:
  std::vector<Prepared> prepared;
};

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_PROGRAM_H
