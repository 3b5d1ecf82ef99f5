//===- Builder.cpp - Collecting the commands of both engines---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm1684x {

AccessMap::Ids AccessMap::latest(uint32_t first, uint32_t last) const {
  Ids found;
  for (auto it = std::prev(intervals.upper_bound(first)); it != intervals.end() && it->first < last;
       ++it) {
    found.writer = std::max(found.writer, it->second.writer);
    found.reader = std::max(found.reader, it->second.reader);
  }
  return found;
}

void AccessMap::split(uint32_t at) {
  auto before = std::prev(intervals.upper_bound(at));
  if (before->first != at)
    intervals.emplace_hint(std::next(before), at, before->second);
}

void AccessMap::record(uint32_t first, uint32_t last, uint32_t id, bool isWritten, bool isRead) {
  if (first >= last)
    return;
  split(first);
  split(last);
  for (auto it = intervals.find(first); it != intervals.end() && it->first < last;) {
    if (isWritten)
      it->second.writer = id;
    if (isRead)
      it->second.reader = id;
    // Neighbours with the same past are one again.
    bool repeats = it != intervals.begin() && std::prev(it)->second.writer == it->second.writer &&
                   std::prev(it)->second.reader == it->second.reader;
    it = repeats ? intervals.erase(it) : std::next(it);
  }
}

namespace {

struct LaneBytes {
  uint32_t first;
  uint32_t last;
};

/// The bytes of the lanes that an operand touches; none in other memories.
std::optional<LaneBytes> laneBytesOf(const View &view) {
  auto length = static_cast<uint32_t>(touchedBytes(view).last);
  if (view.isLocal) {
    auto first = static_cast<uint32_t>(view.address % kLaneBytes);
    return LaneBytes{first, std::min(first + length, kLaneBytes)};
  }
  // A linear block of local memory may run from one lane into the next.
  if (view.address < kLocalBase || view.address >= kLocalBase + kLocalBytes)
    return std::nullopt;
  auto first = static_cast<uint32_t>(view.address % kLaneBytes);
  if (first + length <= kLaneBytes)
    return LaneBytes{first, first + length};
  return LaneBytes{0, kLaneBytes};
}

/// The ids of a command have 20 bits, and 0 is none.
constexpr size_t kMostCommands = (1 << 20) - 2;

} // namespace

void Builder::beginLayer(std::string_view name) {
  auto [found, isNew] =
      layerIndices.try_emplace(std::string(name), static_cast<uint32_t>(layerNames.size()));
  if (isNew)
    layerNames.emplace_back(name);
  currentLayer = found->second;
}

void Builder::fail(std::string found, std::string expected) {
  if (!firstError)
    firstError = Error{layer(), std::move(found), std::move(expected)};
}

uint32_t Builder::neededWait(const OperandList &operands, Engine engine) const {
  Engine other = engine == Engine::Tiu ? Engine::Gdma : Engine::Tiu;
  uint32_t wait = 0;
  for (const Operand &operand : operands.all()) {
    std::optional<LaneBytes> bytes = laneBytesOf(operand.view);
    if (!bytes)
      continue;
    AccessMap::Ids ids = queue(other).accesses.latest(bytes->first, bytes->last);
    wait = std::max(wait, ids.writer);
    if (operand.isWritten)
      wait = std::max(wait, ids.reader);
  }
  return wait;
}

void Builder::add(Command command) {
  if (firstError)
    return;
  const auto engine = static_cast<Engine>(command.engine());
  Queue &own = queue(engine);
  if (own.commands.size() >= kMostCommands)
    return fail(fmt::format("{} commands on one engine", own.commands.size() + 1),
                fmt::format("{} at most", kMostCommands));
  auto id = static_cast<uint32_t>(own.commands.size() + 1);
  command.set(Field::CmdId, id);
  Expected<OperandList> operands = operandsOf(command, layer());
  if (!operands) {
    firstError = operands.error();
    return;
  }
  if ((firstError = checkOperands(*operands, layer())))
    return;
  uint32_t wait = neededWait(*operands, engine);
  // The engine works in order: what was awaited once is over.
  command.set(Field::CmdIdDep, wait > own.awaited ? wait : 0);
  own.awaited = std::max(own.awaited, wait);
  for (const Operand &operand : operands->all())
    if (std::optional<LaneBytes> bytes = laneBytesOf(operand.view))
      own.accesses.record(bytes->first, bytes->last, id, operand.isWritten,
                          !operand.isWritten || operand.isRead);
  own.commands.push_back(command);
  own.layers.push_back(currentLayer);
}

void Builder::addEnd(Engine engine, const CommandOp &operation) {
  Queue &own = queue(engine);
  Command end = Command::make(operation);
  end.set(Field::CmdId, own.commands.size() + 1);
  // The end of the TIU's stream has an id only.
  if (engine == Engine::Tiu)
    end.set(Field::CmdIdEn, 0);
  own.commands.push_back(end);
  own.layers.push_back(currentLayer);
}

Expected<CommandStreams> Builder::finish() {
  addEnd(Engine::Tiu, *findCommandOp(Engine::Tiu, tiu::kSys, tiu::kSysEnd));
  addEnd(Engine::Gdma, *findCommandOp(Engine::Gdma, gdma::kSys, 0));
  std::optional<Error> error = std::move(firstError);
  CommandStreams streams{std::move(queue(Engine::Tiu).commands),
                         std::move(queue(Engine::Gdma).commands),
                         std::move(queue(Engine::Tiu).layers),
                         std::move(queue(Engine::Gdma).layers), std::move(layerNames)};
  *this = Builder();
  if (error)
    return tl::unexpected<Error>(std::move(*error));
  return streams;
}

} // namespace tpuc::bm1684x
