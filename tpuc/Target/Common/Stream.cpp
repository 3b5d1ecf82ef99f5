//===- Stream.cpp - Commands as they lie in memory ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Common/Stream.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::mc {

namespace {

/// Reads one command after the other.
class StreamParser {
public:
  StreamParser(const CommandTable &table, const StreamInfo &stream, std::span<const uint8_t> bytes,
               const std::string &where)
      : table(table), stream(stream), bytes(bytes), where(where),
        announced(stream.engines.front()) {}
  Expected<std::vector<Command>> parse();

private:
  struct Next {
    EngineId engine;
    std::optional<uint64_t> length;
  };
  std::string here() const {
    return fmt::format("{}: command {} at byte {}", where, commands.size(), at);
  }
  bool isAtEnd() const {
    return stream.hasEnd ? !commands.empty() && commands.back().isEnd() : at == bytes.size();
  }
  Expected<Next> readHeader();
  Expected<void> readCommand();
  Expected<void> checkEnd() const;

  const CommandTable &table;
  const StreamInfo &stream;
  std::span<const uint8_t> bytes;
  const std::string &where;
  std::vector<Command> commands;
  size_t at = 0;
  /// The next `numAnnounced` commands are of the engine `announced`.
  EngineId announced;
  uint64_t numAnnounced = 0;
};

/// Whose the next command is, by the bytes before it or by those that announced it.
Expected<StreamParser::Next> StreamParser::readHeader() {
  if (!stream.header)
    return Next{numAnnounced > 0 ? announced : stream.engines.front(), std::nullopt};
  const HeaderInfo &info = *stream.header;
  if (bytes.size() - at < info.bytes)
    return makeError(here(), fmt::format("{} bytes left", bytes.size() - at),
                     fmt::format("the {} bytes of a header", info.bytes));
  uint64_t header = 0;
  std::memcpy(&header, bytes.data() + at, info.bytes);
  const uint64_t constant =
      header & ~(info.engine.mask() << info.engine.lsb) & ~(info.length.mask() << info.length.lsb);
  if (constant != info.constant)
    return makeError(here(), fmt::format("a header of {:#x}", header),
                     fmt::format("{:#x} beside engine and length", info.constant));
  const auto code = std::ranges::find(info.codes, info.engine.of(header));
  if (code == info.codes.end())
    return makeError(here(), fmt::format("engine {}", info.engine.of(header)),
                     "an engine of the stream");
  Next next{stream.engines[static_cast<size_t>(code - info.codes.begin())], std::nullopt};
  if (info.length.width != 0)
    next.length = info.length.of(header);
  at += info.bytes;
  return next;
}

Expected<void> StreamParser::readCommand() {
  const std::string place = here();
  Expected<Next> next = readHeader();
  if (!next)
    return propagate(next);
  Expected<Command> command = decode(table, next->engine, bytes.subspan(at), place);
  if (!command)
    return propagate(command);
  const size_t size = command->info().bytes;
  if (next->length && *next->length != size)
    return makeError(place, fmt::format("a header for {} bytes", *next->length),
                     fmt::format("the {} bytes of {}", size, command->operation().name));
  at += size;
  if (numAnnounced > 0)
    --numAnnounced;
  if (const auto &handover = command->operation().handover) {
    announced = handover->engine;
    numAnnounced = command->get(handover->count) + handover->more;
  }
  commands.push_back(*command);
  return {};
}

/// What must stand behind the last command.
Expected<void> StreamParser::checkEnd() const {
  if (numAnnounced > 0)
    return makeError(
        here(), "the end of the stream",
        fmt::format("{} more commands of {}", numAnnounced, table.engine(announced).name));
  const std::span<const uint8_t> padding = bytes.subspan(at);
  if (!stream.hasEnd)
    return {};
  const size_t expected = (stream.alignment - at % stream.alignment) % stream.alignment;
  if (padding.size() != expected)
    return makeError(fmt::format("{}: byte {}", where, at),
                     fmt::format("{} bytes after the end command", padding.size()),
                     fmt::format("{}, up to a multiple of {}", expected, stream.alignment));
  const auto stray = std::ranges::find_if(padding, [](uint8_t byte) { return byte != 0; });
  if (stray != padding.end())
    return makeError(fmt::format("{}: byte {}", where, at + (stray - padding.begin())),
                     fmt::format("{:#x} after the end command", *stray), "zeros");
  return {};
}

Expected<std::vector<Command>> StreamParser::parse() {
  while (!isAtEnd()) {
    if (at == bytes.size())
      return makeError(here(), "the end of the stream", "an end command");
    if (Expected<void> read = readCommand(); !read)
      return propagate(read);
  }
  if (Expected<void> good = checkEnd(); !good)
    return propagate(good);
  return std::move(commands);
}

} // namespace

Expected<std::vector<Command>> parseStream(const CommandTable &table, const StreamInfo &stream,
                                           std::span<const uint8_t> bytes,
                                           const std::string &where) {
  return StreamParser(table, stream, bytes, where).parse();
}

std::vector<uint8_t> encodeStream(const StreamInfo &stream, std::span<const Command> commands) {
  std::vector<uint8_t> bytes;
  for (const Command &command : commands) {
    const std::span<const uint8_t> one = command.encoded();
    if (stream.header) {
      const HeaderInfo &info = *stream.header;
      const auto engine = std::ranges::find(stream.engines, command.engine());
      assert(engine != stream.engines.end() && "a command of an engine of the stream");
      const uint64_t code = info.codes[static_cast<size_t>(engine - stream.engines.begin())];
      uint64_t header = info.constant | code << info.engine.lsb;
      if (info.length.width != 0)
        header |= static_cast<uint64_t>(one.size()) << info.length.lsb;
      uint8_t raw[sizeof header];
      std::memcpy(raw, &header, sizeof header);
      bytes.insert(bytes.end(), raw, raw + info.bytes);
    }
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  bytes.resize((bytes.size() + stream.alignment - 1) / stream.alignment * stream.alignment);
  return bytes;
}

} // namespace tpuc::mc
