//===- FamilyDriver.cpp - The device driver of a chip of the family -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/FamilyDriver.h"

#include "tpuc/Target/Common/Stream.h"

#include <algorithm>

namespace tpuc::bm168x {

namespace {

/// The commands of a stream, which are as many as the file says.
Expected<std::vector<mc::Command>> parseStream(const mc::CommandTable &table,
                                               const mc::StreamInfo &info,
                                               const model::Stream &stream,
                                               const std::string &where) {
  if (stream.code.empty())
    return std::vector<mc::Command>();
  auto parsed = mc::parseStream(table, info, octets(stream.code), where);
  if (!parsed)
    return propagate(parsed);
  if (parsed->size() != stream.numCommands)
    return makeError(where, fmt::format("{} {} commands", parsed->size(), stream.engine),
                     fmt::format("{}, which the file states", stream.numCommands));
  return std::move(*parsed);
}

/// Each command as text from which the same bits come back.
Expected<void> addLines(const mc::CommandTable &table, std::span<const mc::Command> commands,
                        const std::string &where, std::vector<std::string> &lines) {
  for (const mc::Command &command : commands) {
    std::string line = mc::disassemble(command);
    const auto again = mc::assemble(table, line, where);
    if (!again)
      return tl::unexpected(again.error());
    if (!std::ranges::equal(again->encoded(), command.encoded()))
      return makeError(where, fmt::format("'{}' gives other bits than it came from", line));
    lines.push_back(std::move(line));
  }
  return {};
}

} // namespace

Expected<GroupStreams> parseGroup(const mc::CommandTable &table, const model::CommandGroup &group,
                                  const std::string &where) {
  const mc::StreamInfo &tiu = table.streams[0], &dma = table.streams[1];
  GroupStreams streams;
  for (uint32_t i = 0; i < group.streams.size(); ++i) {
    const model::Stream &stream = group.streams[i];
    const bool isTiu = stream.engine == tiu.name;
    if (!isTiu && stream.engine != dma.name)
      return makeError(where, fmt::format("commands for an engine {}", stream.engine),
                       fmt::format("{} or {}", tiu.name, dma.name));
    auto parsed = parseStream(table, isTiu ? tiu : dma, stream, where);
    if (!parsed)
      return propagate(parsed);
    (isTiu ? streams.tiu : streams.dma) = std::move(*parsed);
    (isTiu ? streams.tiuStream : streams.dmaStream) = i;
  }
  return streams;
}

Expected<std::vector<std::vector<std::string>>> listGroup(const mc::CommandTable &table,
                                                          const model::CommandGroup &group,
                                                          const std::string &where) {
  const auto streams = parseGroup(table, group, where);
  if (!streams)
    return tl::unexpected(streams.error());
  std::vector<std::vector<std::string>> listing(group.streams.size());
  for (uint32_t i = 0; i < group.streams.size(); ++i) {
    const bool isTiu = group.streams[i].engine == table.streams[0].name;
    if (auto ok = addLines(table, isTiu ? streams->tiu : streams->dma, where, listing[i]); !ok)
      return propagate(ok);
  }
  return listing;
}

} // namespace tpuc::bm168x
