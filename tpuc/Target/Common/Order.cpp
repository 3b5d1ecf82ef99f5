//===- Order.cpp - Ids, and the order of engines --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Common/Order.h"

#include "tpuc/Target/Common/Check.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::mc {

namespace {

std::optional<Error> checkId(const Command &command, size_t index, const std::string &where) {
  if (!command.engineInfo().id || command.id() == index + 1)
    return std::nullopt;
  return Error{commandName(where, command, index), fmt::format("id {}", command.id()),
               fmt::format("{}: ids count from 1", index + 1)};
}

/// Takes one command after the other from the queues.
class Scheduler {
public:
  Scheduler(const CommandTable &table, Queues queues, const std::string &where)
      : table(table), queues(queues), where(where), done(queues.size()) {}
  Expected<std::vector<ScheduledCommand>> schedule();

private:
  /// The first wait of the engine's next command that has not ended, or null.
  const Wait *openWait(size_t engine) const;
  std::optional<size_t> readyEngine() const;
  Error stuck() const;

  const CommandTable &table;
  Queues queues;
  const std::string &where;
  std::vector<size_t> done;
};

const Wait *Scheduler::openWait(size_t engine) const {
  const Command &command = queues[engine][done[engine]];
  const std::span<const Wait> waits = table.engines[engine].waits;
  for (const Wait &wait : waits)
    if (command.get(wait.field) > done[wait.engine.index()])
      return &wait;
  return nullptr;
}

std::optional<size_t> Scheduler::readyEngine() const {
  for (size_t engine = 0; engine < queues.size(); ++engine)
    if (done[engine] < queues[engine].size() && !openWait(engine))
      return engine;
  return std::nullopt;
}

Error Scheduler::stuck() const {
  std::string first, found;
  for (size_t engine = 0; engine < queues.size(); ++engine) {
    if (done[engine] == queues[engine].size())
      continue;
    const Wait &wait = *openWait(engine);
    const Command &command = queues[engine][done[engine]];
    const std::string awaited =
        fmt::format("{} id {}", table.engine(wait.engine).name, command.get(wait.field));
    if (first.empty()) {
      first = commandName(where, command, done[engine]);
      found = "waits for " + awaited;
    } else {
      found += fmt::format(", and {} command {} for {}", table.engines[engine].name, done[engine],
                           awaited);
    }
  }
  return {first, found, "an id that the other engine reaches"};
}

Expected<std::vector<ScheduledCommand>> Scheduler::schedule() {
  size_t left = 0;
  for (const std::span<const Command> queue : queues) {
    left += queue.size();
    for (size_t i = 0; i < queue.size(); ++i)
      if (std::optional<Error> error = checkId(queue[i], i, where))
        return tl::unexpected<Error>(std::move(*error));
  }
  std::vector<ScheduledCommand> order;
  order.reserve(left);
  for (; left > 0; --left) {
    const std::optional<size_t> engine = readyEngine();
    if (!engine)
      return tl::unexpected<Error>(stuck());
    order.push_back({EngineId(*engine), static_cast<uint32_t>(done[*engine]++)});
  }
  return order;
}

} // namespace

Expected<std::vector<ScheduledCommand>> serialOrder(const CommandTable &table, Queues queues,
                                                    const std::string &where) {
  assert(queues.size() == table.engines.size() && "a queue for each engine");
  return Scheduler(table, queues, where).schedule();
}

std::optional<Error> checkSharedStream(std::span<const Command> commands,
                                       const std::string &where) {
  if (commands.empty())
    return std::nullopt;
  const CommandTable &table = commands.front().table();
  std::vector<size_t> counts(table.engines.size());
  for (const Command &command : commands) {
    size_t &count = counts[command.engine().index()];
    if (std::optional<Error> error = checkId(command, count, where))
      return error;
    for (const Wait &wait : command.engineInfo().waits)
      if (const uint64_t awaited = command.get(wait.field); awaited > counts[wait.engine.index()])
        return Error{commandName(where, command, count),
                     fmt::format("waits for {} id {}", table.engine(wait.engine).name, awaited),
                     fmt::format("an id before it, {} at most", counts[wait.engine.index()])};
    ++count;
  }
  return std::nullopt;
}

std::vector<std::vector<Command>> splitByEngine(const CommandTable &table,
                                                std::span<const Command> commands) {
  std::vector<std::vector<Command>> queues(table.engines.size());
  for (const Command &command : commands)
    queues[command.engine().index()].push_back(command);
  return queues;
}

namespace {

/// The progress at each command, in the given order.
std::vector<std::vector<Progress>> follow(const CommandTable &table, Queues queues,
                                          std::span<const ScheduledCommand> order) {
  std::vector<std::vector<Progress>> result(queues.size());
  const auto merge = [](Progress &into, const Progress &from) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = std::max(into[i], from[i]);
  };
  for (const ScheduledCommand &next : order) {
    std::vector<Progress> &own = result[next.engine.index()];
    Progress progress = own.empty() ? Progress(queues.size()) : own.back();
    progress[next.engine.index()] = next.index;
    const Command &command = queues[next.engine.index()][next.index];
    for (const Wait &wait : table.engine(next.engine).waits)
      if (const auto awaited = static_cast<uint32_t>(command.get(wait.field)); awaited > 0) {
        merge(progress, result[wait.engine.index()][awaited - 1]);
        progress[wait.engine.index()] = std::max(progress[wait.engine.index()], awaited);
      }
    own.push_back(std::move(progress));
  }
  return result;
}

bool conflict(const Access &a, const Access &b) {
  return (a.isWrite || b.isWrite) && a.memory == b.memory && (a.lanes & b.lanes) != 0 &&
         a.first < b.last && b.first < a.last;
}

bool conflict(std::span<const Access> a, std::span<const Access> b) {
  return std::ranges::any_of(a, [&](const Access &one) {
    return std::ranges::any_of(b, [&](const Access &other) { return conflict(one, other); });
  });
}

} // namespace

Expected<std::vector<std::vector<Progress>>> progressOf(const CommandTable &table, Queues queues,
                                                        const std::string &where) {
  Expected<std::vector<ScheduledCommand>> order = serialOrder(table, queues, where);
  if (!order)
    return propagate(order);
  return follow(table, queues, *order);
}

Expected<std::optional<Hazard>>
findHazard(const CommandTable &table, Queues queues,
           const std::function<std::vector<Access>(const Command &)> &accessesOf,
           const std::string &where) {
  Expected<std::vector<ScheduledCommand>> order = serialOrder(table, queues, where);
  if (!order)
    return propagate(order);
  const std::vector<std::vector<Progress>> progress = follow(table, queues, *order);
  std::vector<std::vector<std::vector<Access>>> seen(queues.size());
  for (const ScheduledCommand &next : *order) {
    const size_t engine = next.engine.index();
    const std::vector<Access> own = accessesOf(queues[engine][next.index]);
    const Progress &known = progress[engine][next.index];
    // What came before in serial order and is not known to have ended may run beside this command.
    for (size_t other = 0; other < queues.size(); ++other)
      for (size_t i = known[other]; other != engine && i < seen[other].size(); ++i)
        if (conflict(own, seen[other][i]))
          return Hazard{{EngineId(other), static_cast<uint32_t>(i)}, next};
    seen[engine].push_back(own);
  }
  return std::nullopt;
}

} // namespace tpuc::mc
