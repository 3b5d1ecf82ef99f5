//===- Simulator.h - The functional simulator ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_SIMULATOR_H
#define TPUC_TARGET_BM1684_MACHINE_SIMULATOR_H

#include "tpuc/Target/BM1684/Machine/Check.h"
#include "tpuc/Target/BM1684/Machine/Exec.h"

namespace tpuc::bm1684 {

/// A command made ready to run.
struct PreparedCommand {
  Command command;
  OperandList operands;
  Step step;
};

/// Decodes a command completely. Errors name `where`: field values, addresses or sizes that are not
/// legal, forms whose meaning is not known.
Expected<PreparedCommand> prepare(const Command &command, const std::string &where);

/// The two streams of a command group, checked, decoded and in the order in which a serial machine
/// may carry them out. It holds no memory and may run many times, on several threads at once, on
/// different memories.
class Program {
public:
  /// Errors name `where`.
  static Expected<Program> create(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where);

  std::span<const PreparedCommand> commands() const { return prepared; }

  /// Called before (`isDone` false) and after each command.
  using Hook = std::function<void(const PreparedCommand &command, bool isDone)>;

  /// Carries out all commands on `memory` with the threads of `pool`. The bytes do not depend on
  /// their number, nor on the instruction set. Errors: addresses that are not mapped, indices out
  /// of range.
  Expected<void> run(Memory &memory, ThreadPool &pool, const Hook &hook = nullptr,
                     SimdLevel level = bestSimdLevel()) const;

private:
  std::vector<PreparedCommand> prepared;
};

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_SIMULATOR_H
