//===- CommandBuilder.h - Collecting the commands of both engines -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_COMMANDBUILDER_H
#define TPUC_TARGET_BM168X_COMMANDBUILDER_H

#include "tpuc/Target/BM168x/Memory.h"
#include "tpuc/Target/BM168x/Views.h"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tpuc::bm168x {

/// The commands of a group, with their end commands if the chip has any, and the layer of each. A
/// group runs when the one before it has ended; its ids begin anew.
struct CommandStreams {
  std::vector<mc::Command> tiu;
  std::vector<mc::Command> gdma;
  /// For each command of `tiu` and `gdma` an index into `layers`; the end commands belong to the
  /// last layer. Groups of one builder count layers alike, and the last one of them has all names.
  std::vector<uint32_t> tiuLayers;
  std::vector<uint32_t> gdmaLayers;
  std::vector<std::string> layers;
};

/// A place among the commands of an engine: behind `count` of them in a group, counted from 0.
struct CommandPlace {
  uint32_t group = 0, count = 0;

  friend bool operator==(const CommandPlace &, const CommandPlace &) = default;
};

/// Who used the bytes of the memories on the chip last: for one engine, the ids of the last command
/// that wrote and that read each byte of any lane, or of the memory that all lanes share.
class AccessMap {
public:
  struct Ids {
    uint32_t writer = 0;
    uint32_t reader = 0;

    friend bool operator==(const Ids &, const Ids &) = default;
  };

  /// The latest ids of any of the bytes [first, last), of which there are some.
  Ids latest(uint32_t first, uint32_t last) const;
  /// Command `id` uses the bytes [first, last).
  void record(uint32_t first, uint32_t last, uint32_t id, bool isWritten, bool isRead);

private:
  /// Bytes from `first` to where the next interval begins.
  struct Interval {
    uint32_t first = 0;
    Ids ids = {};
  };
  size_t numberAt(uint32_t byte) const;

  /// In their order; the first one begins at 0.
  std::vector<Interval> intervals{{}};
  /// What `record` puts together.
  std::vector<Interval> made;
};

/// Whether the builder finds out for which commands of the other engine each one waits. Where
/// commands are only counted, that takes most of the time.
enum class Waits : bool { None, Set };

/// What the builder asks of a chip.
struct BuilderChip {
  LocalMemory lanes;
  /// The operands of a command, or an error that names `where`.
  Expected<OperandList> (*operandsOf)(const mc::Command &command, const std::string &where);
  /// What closes the stream of each engine, if anything does; its id is set by the builder.
  std::array<std::optional<mc::Command>, kNumEngines> ends;
  /// As many as ids can name on an engine, without the end command: of one group.
  size_t mostCommands;
  /// The memory beside the lanes that one engine writes for the other one, if there is any.
  std::optional<ChipMemory> shared = std::nullopt;
};

/// Takes commands of both engines in program order and gives them ids and waits. A command waits
/// for the other engine's last command that writes what it reads or writes, or reads what it
/// writes, unless an earlier command of its engine waited for that one or a later one. Both engines
/// work in order, so only local memory and `BuilderChip::shared` can bring a conflict: of the other
/// memories, the TIU writes none, and reads only what is never overwritten. Bytes are compared lane
/// by lane alike, whichever lanes a tensor uses. Where the ids of an engine are used up, a group of
/// commands ends and another one begins.
class CommandBuilder {
public:
  explicit CommandBuilder(const BuilderChip &chip, Waits waits = Waits::Set)
      : chip(&chip), waits(waits) {}

  /// The following commands belong to this layer. A name may come again.
  void beginLayer(std::string_view name);
  /// The layer that began last; "" before the first.
  const std::string &layer() const { return layerNames[currentLayer]; }

  /// Appends a command; its id and wait are set here.
  void add(mc::Command command);
  /// Whether `words` still stand from `address` on in every lane: `keep` said so, and no command
  /// has written there since.
  bool holds(uint32_t address, std::span<const uint32_t> words) const;
  /// The commands so far leave `words` from `address` on in every lane.
  void keep(uint32_t address, std::span<const uint32_t> words);
  /// Makes `finish` fail with an error that names the current layer, unless it does so already.
  void fail(std::string found, std::string expected);

  /// Of the group that is not full yet.
  size_t numCommands(Engine engine) const { return queue(engine).commands.size(); }
  /// Of both engines, in all groups.
  size_t numCommands() const;
  /// Behind the last command of an engine; none if it has none.
  std::optional<CommandPlace> placeBehind(Engine engine) const;

  /// Adds the end commands and hands everything over, at least one group; the builder is as new
  /// afterwards. Errors name the layer: a command that the machine does not allow (an operand that
  /// leaves its lane).
  Expected<std::vector<CommandStreams>> finishGroups();
  /// The same for one group. Errors: as there; more commands on an engine than ids can name.
  Expected<CommandStreams> finish();

private:
  struct Queue {
    std::vector<mc::Command> commands;
    std::vector<uint32_t> layers;
    AccessMap accesses;
    /// The latest id of the other engine that a command of this queue waits for.
    uint32_t awaited = 0;
  };

  Queue &queue(Engine engine) { return queues[static_cast<size_t>(engine)]; }
  const Queue &queue(Engine engine) const { return queues[static_cast<size_t>(engine)]; }
  std::optional<LaneBytes> bytesOf(const View &view) const;
  uint32_t neededWait(const OperandList &operands, Engine engine) const;
  void setWait(mc::Command &command, const OperandList &operands, uint32_t id);
  void addEnd(Engine engine);
  void endGroup();
  void forget(const LaneBytes &written);

  const BuilderChip *chip;
  Waits waits;
  /// Those that are full.
  std::vector<CommandStreams> groups;
  std::array<Queue, kNumEngines> queues;
  /// What lanes are known to hold, by the address. A new group finds it as it was.
  std::map<uint32_t, std::vector<uint32_t>> kept;
  std::vector<std::string> layerNames{""};
  std::unordered_map<std::string, uint32_t> layerIndices{{"", 0}};
  uint32_t currentLayer = 0;
  std::optional<Error> firstError;
};

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_COMMANDBUILDER_H
