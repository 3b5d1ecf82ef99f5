//===- CommandBuilder.cpp - Collecting the commands of both engines -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/CommandBuilder.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm168x {

/// The number of the interval that a byte is in.
size_t AccessMap::numberAt(uint32_t byte) const {
  const auto behind = std::ranges::upper_bound(intervals, byte, {}, &Interval::first);
  return static_cast<size_t>(behind - intervals.begin()) - 1;
}

AccessMap::Ids AccessMap::latest(uint32_t first, uint32_t last) const {
  Ids found;
  for (size_t number = numberAt(first); number < intervals.size() && intervals[number].first < last;
       ++number) {
    found.writer = std::max(found.writer, intervals[number].ids.writer);
    found.reader = std::max(found.reader, intervals[number].ids.reader);
  }
  return found;
}

void AccessMap::record(uint32_t first, uint32_t last, uint32_t id, bool isWritten, bool isRead) {
  if (first >= last)
    return;
  const size_t begin = numberAt(first);
  size_t end = begin;
  // What takes the place of [begin, end): what is left in front of the bytes, they, what is behind.
  made.clear();
  if (intervals[begin].first < first)
    made.push_back(intervals[begin]);
  const auto add = [&](const Interval &interval) {
    const Ids *before = !made.empty() ? &made.back().ids
                        : begin != 0  ? &intervals[begin - 1].ids
                                      : nullptr;
    // Neighbours with the same past are one.
    if (!before || *before != interval.ids)
      made.push_back(interval);
  };
  Ids past;
  for (; end < intervals.size() && intervals[end].first < last; ++end) {
    past = intervals[end].ids;
    add({std::max(intervals[end].first, first),
         {isWritten ? id : past.writer, isRead ? id : past.reader}});
  }
  if (end == intervals.size() || intervals[end].first > last)
    made.push_back({last, past});
  const size_t replaced = end - begin;
  const auto at = intervals.begin() + static_cast<std::ptrdiff_t>(begin);
  const size_t common = std::min(replaced, made.size());
  std::copy_n(made.begin(), common, at);
  if (replaced > common)
    intervals.erase(at + static_cast<std::ptrdiff_t>(common),
                    at + static_cast<std::ptrdiff_t>(replaced));
  else
    intervals.insert(at + static_cast<std::ptrdiff_t>(common),
                     made.begin() + static_cast<std::ptrdiff_t>(common), made.end());
}

void CommandBuilder::beginLayer(std::string_view name) {
  if (name == layer())
    return;
  auto [found, isNew] =
      layerIndices.try_emplace(std::string(name), static_cast<uint32_t>(layerNames.size()));
  if (isNew)
    layerNames.emplace_back(name);
  currentLayer = found->second;
}

bool CommandBuilder::holds(uint32_t address, std::span<const uint32_t> words) const {
  const auto found = kept.find(address);
  return found != kept.end() && std::ranges::equal(found->second, words);
}

void CommandBuilder::keep(uint32_t address, std::span<const uint32_t> words) {
  kept[address].assign(words.begin(), words.end());
}

void CommandBuilder::forget(const LaneBytes &written) {
  std::erase_if(kept, [&](const auto &each) {
    const size_t end = each.first + each.second.size() * sizeof(uint32_t);
    return each.first < written.last && written.first < end;
  });
}

void CommandBuilder::fail(std::string found, std::string expected) {
  if (!firstError)
    firstError = Error{layer(), std::move(found), std::move(expected)};
}

/// The bytes whose users are kept in mind: those of a lane, and behind them the shared ones.
std::optional<LaneBytes> CommandBuilder::bytesOf(const View &view) const {
  const std::optional<ChipMemory> &shared = chip->shared;
  if (view.isLocal || !shared || view.address < shared->base ||
      view.address - shared->base >= shared->bytes)
    return laneBytesOf(chip->lanes, view);
  const auto length = static_cast<uint64_t>(touchedBytes(chip->lanes, view).last);
  const uint64_t first = view.address - shared->base;
  const uint64_t last = std::min<uint64_t>(first + length, shared->bytes);
  return LaneBytes{static_cast<uint32_t>(chip->lanes.laneBytes + first),
                   static_cast<uint32_t>(chip->lanes.laneBytes + last)};
}

uint32_t CommandBuilder::neededWait(const OperandList &operands, Engine engine) const {
  Engine other = engine == Engine::Tiu ? Engine::Gdma : Engine::Tiu;
  uint32_t wait = 0;
  for (const Operand &operand : operands.all()) {
    std::optional<LaneBytes> bytes = bytesOf(operand.view);
    if (!bytes)
      continue;
    AccessMap::Ids ids = queue(other).accesses.latest(bytes->first, bytes->last);
    wait = std::max(wait, ids.writer);
    if (operand.isWritten)
      wait = std::max(wait, ids.reader);
  }
  return wait;
}

/// Has command `id` wait for what its operands need, and remembers what it uses.
void CommandBuilder::setWait(mc::Command &command, const OperandList &operands, uint32_t id) {
  const auto engine = static_cast<Engine>(command.engine());
  Queue &own = queue(engine);
  const uint32_t wait = neededWait(operands, engine);
  // The engine works in order: what was awaited once is over.
  command.set(Field::CmdIdDep, wait > own.awaited ? wait : 0);
  own.awaited = std::max(own.awaited, wait);
  for (const Operand &operand : operands.all())
    if (std::optional<LaneBytes> bytes = bytesOf(operand.view))
      own.accesses.record(bytes->first, bytes->last, id, operand.isWritten,
                          !operand.isWritten || operand.isRead);
}

void CommandBuilder::add(mc::Command command) {
  if (firstError)
    return;
  const auto engine = static_cast<Engine>(command.engine());
  Queue &own = queue(engine);
  if (own.commands.size() == chip->mostCommands)
    endGroup();
  auto id = static_cast<uint32_t>(own.commands.size() + 1);
  command.set(Field::CmdId, id);
  Expected<OperandList> operands = chip->operandsOf(command, layer());
  if (!operands) {
    firstError = operands.error();
    return;
  }
  if ((firstError = checkOperands(chip->lanes, *operands, layer())))
    return;
  if (waits == Waits::Set)
    setWait(command, *operands, id);
  if (!kept.empty())
    for (const Operand &operand : operands->all())
      if (operand.isWritten)
        if (std::optional<LaneBytes> bytes = bytesOf(operand.view))
          forget(*bytes);
  own.commands.push_back(command);
  own.layers.push_back(currentLayer);
}

void CommandBuilder::addEnd(Engine engine) {
  const std::optional<mc::Command> &prototype = chip->ends[static_cast<size_t>(engine)];
  if (!prototype)
    return;
  Queue &own = queue(engine);
  mc::Command end = *prototype;
  end.set(Field::CmdId, own.commands.size() + 1);
  own.commands.push_back(end);
  own.layers.push_back(currentLayer);
}

/// What follows waits for all before, so nothing is awaited any more.
void CommandBuilder::endGroup() {
  addEnd(Engine::Tiu);
  addEnd(Engine::Gdma);
  Queue &tiu = queue(Engine::Tiu), &gdma = queue(Engine::Gdma);
  groups.push_back({std::move(tiu.commands),
                    std::move(gdma.commands),
                    std::move(tiu.layers),
                    std::move(gdma.layers),
                    {}});
  queues = {};
}

size_t CommandBuilder::numCommands() const {
  size_t sum = numCommands(Engine::Tiu) + numCommands(Engine::Gdma);
  for (const CommandStreams &group : groups)
    sum += group.tiu.size() + group.gdma.size();
  return sum;
}

std::optional<CommandPlace> CommandBuilder::placeBehind(Engine engine) const {
  const auto place = [](size_t group, size_t count) {
    return CommandPlace{static_cast<uint32_t>(group), static_cast<uint32_t>(count)};
  };
  if (const size_t count = numCommands(engine))
    return place(groups.size(), count);
  for (size_t number = groups.size(); number-- > 0;) {
    const CommandStreams &group = groups[number];
    const size_t ends = chip->ends[static_cast<size_t>(engine)] ? 1 : 0;
    if (const size_t count = (engine == Engine::Tiu ? group.tiu : group.gdma).size(); count > ends)
      return place(number, count - ends);
  }
  return std::nullopt;
}

Expected<std::vector<CommandStreams>> CommandBuilder::finishGroups() {
  endGroup();
  groups.back().layers = std::move(layerNames);
  std::optional<Error> error = std::move(firstError);
  std::vector<CommandStreams> made = std::move(groups);
  *this = CommandBuilder(*chip, waits);
  if (error)
    return tl::unexpected<Error>(std::move(*error));
  return made;
}

Expected<CommandStreams> CommandBuilder::finish() {
  if (!groups.empty())
    fail(fmt::format("more than {} commands on one engine", chip->mostCommands),
         "as many as ids can name");
  Expected<std::vector<CommandStreams>> made = finishGroups();
  if (!made)
    return propagate(made);
  return std::move(made->front());
}

} // namespace tpuc::bm168x
