//===- Order.h - Ids, and the order of engines ---------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each engine carries out its commands in their order. A command begins when its predecessor has
// ended, and so have the commands of other engines whose ids it waits for. Nothing else is ordered.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_COMMON_ORDER_H
#define TPUC_TARGET_COMMON_ORDER_H

#include "tpuc/Target/Common/Command.h"

#include <functional>

namespace tpuc::mc {

/// One command of a program: an engine and an index among that engine's commands.
struct ScheduledCommand {
  EngineId engine;
  uint32_t index;

  friend bool operator==(const ScheduledCommand &, const ScheduledCommand &) = default;
};

/// The commands of each engine, in the order of the table's engines.
using Queues = std::span<const std::span<const Command>>;

/// An order for a machine that does one command at a time: each time the first engine whose next
/// command may begin. Errors name `where`: ids that do not count from 1, ids of commands that do
/// not exist, commands that wait for each other.
Expected<std::vector<ScheduledCommand>> serialOrder(const CommandTable &table, Queues queues,
                                                    const std::string &where);

/// Checks a stream that all engines share, in which commands are handed to their engines in order:
/// ids count from 1 for each engine, and no command waits for one behind it. Errors name `where`.
std::optional<Error> checkSharedStream(std::span<const Command> commands, const std::string &where);

/// The commands of a shared stream by engine.
std::vector<std::vector<Command>> splitByEngine(const CommandTable &table,
                                                std::span<const Command> commands);

/// What is known to have ended when a command begins: for each engine, how many of its commands.
using Progress = std::vector<uint32_t>;

/// For each engine the progress at each of its commands. Errors: see `serialOrder`.
Expected<std::vector<std::vector<Progress>>> progressOf(const CommandTable &table, Queues queues,
                                                        const std::string &where);

/// Bytes that a command reads or writes: [first, last) of a memory, in those lanes of it whose bits
/// are set.
struct Access {
  uint32_t memory = 0;
  uint64_t first = 0;
  uint64_t last = 0;
  bool isWrite = false;
  uint64_t lanes = ~uint64_t{0};
};

/// Two commands of different engines that touch the same bytes, at least one of them writing, and
/// that no id puts in order: the result depends on which is first.
struct Hazard {
  ScheduledCommand one, other;
};

/// The first hazard in serial order, if any. `accessesOf` gives what a command touches. Errors: see
/// `serialOrder`.
Expected<std::optional<Hazard>>
findHazard(const CommandTable &table, Queues queues,
           const std::function<std::vector<Access>(const Command &)> &accessesOf,
           const std::string &where);

} // namespace tpuc::mc

#endif // TPUC_TARGET_COMMON_ORDER_H
