//===- ProgramReader.cpp - Words to blocks --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

#include <fmt/format.h>

namespace tpuc::dnnweaver {

using mc::Command;

namespace {

/// Levels of one nest and how many strides of each address have come.
struct NestReader {
  Levels levels;
  std::array<size_t, 4> numStrides = {};

  void addStride(unsigned which, uint32_t stride) {
    const size_t at = numStrides[which]++;
    if (at < levels.size())
      levels[at].strides[which] = stride;
  }
};

class Reader {
public:
  Reader(const Parameters &machine, std::span<const Command> commands, const std::string &where)
      : machine(machine), commands(commands), where(where) {}
  Expected<std::vector<Block>> read();

private:
  std::string here() const { return fmt::format("{}: word {}", where, at); }
  tl::unexpected<Error> fail(std::string found, std::string expected) const {
    return makeError(here(), std::move(found), std::move(expected));
  }
  Expected<void> readArray(const Command &command);
  Expected<void> readArrayStride(const Command &command);
  Expected<void> readAlu(const Command &command);
  Expected<void> readAluStride(const Command &command);
  Expected<void> addLevel(NestReader &nest, const Command &command);
  Expected<void> addWalk(NestReader &nest, uint32_t stride);
  Expected<void> finish(const NestReader &nest, std::initializer_list<unsigned> strides,
                        Levels &levels, std::string_view name) const;
  Expected<void> finishBlock();
  void setPart(uint64_t &address, const Command &command) const {
    const unsigned shift = command.get(Field::Part) != 0 ? 21 : 0;
    const uint64_t value = command.get(Field::High) << 16 | command.get(Field::Imm);
    address = (address & ~(uint64_t{0x1FFFFF} << shift)) | value << shift;
  }

  const Parameters &machine;
  std::span<const Command> commands;
  const std::string &where;
  size_t at = 0;

  /// What has been read of the current block.
  struct State {
    Block block;
    NestReader tiles, array, aluRead, aluStore, aluCopy, aluRepeat, aluLoad0, aluLoad1, aluTiles;
    std::array<NestReader, kNumBuffers> walks;
    NestReader storeWalk;
    /// The loop of a walk that strides follow.
    const Command *walkLoop = nullptr;
    std::array<bool, kNumBuffers> hasLoad = {};
    bool hasStore = false;
    bool hasAlu = false;
    bool isAluEnded = false;
    uint32_t high = 0;
  } now;
};

Expected<void> Reader::addLevel(NestReader &nest, const Command &command) {
  if (nest.levels.size() == kMaxLevels)
    return fail("one loop more", fmt::format("at most {} within each other", kMaxLevels));
  nest.levels.push_back({.trips = static_cast<uint32_t>(command.get(Field::Imm)) + 1});
  return {};
}

Expected<void> Reader::readArrayStride(const Command &command) {
  const uint64_t group = command.get(Field::Loop);
  const auto buffer = static_cast<unsigned>(command.get(Field::Buffer));
  const uint64_t access = command.get(Field::Access);
  const uint32_t stride = now.high << 16 | static_cast<uint32_t>(command.get(Field::Imm));
  now.high = 0;
  if (group == kTileGroup) {
    // Loads and stores of a tile have one address; the machine reads the first of the two.
    if (access % 2 == 0)
      now.tiles.addStride(buffer, stride);
    return {};
  }
  if (group == kArrayGroup) {
    if (stride > 0xFFFF)
      return fail(fmt::format("a stride of {} words in a buffer", stride), "at most 65535");
    if (access == 2)
      now.array.addStride(buffer, stride);
    else if (access == 3 && buffer == index(Buffer::Output)) {
      const size_t level = now.array.levels.size();
      if (level == 0 || now.array.levels[level - 1].strides[buffer] != stride)
        return fail("a stride of the output buffer's writes", "the one of its reads before it");
    } else {
      return fail("a stride of the array", "reads, or writes of the output buffer");
    }
    return {};
  }
  if (group != buffer + 1)
    return fail(fmt::format("a stride of the {} buffer in group {}", kBufferNames[buffer], group),
                fmt::format("group {}, {} or {}", kArrayGroup, buffer + 1, kTileGroup));
  // A loop belongs to the walks whose strides follow it.
  if (access == 0)
    return addWalk(now.walks[buffer], stride);
  if (access == 1 && buffer == index(Buffer::Output))
    return addWalk(now.storeWalk, stride);
  return fail(fmt::format("a stride of the {} buffer's walk", kBufferNames[buffer]),
              "a load, or a store of the output buffer");
}

Expected<void> Reader::addWalk(NestReader &nest, uint32_t stride) {
  if (!now.walkLoop)
    return fail("a stride of a walk without a loop before it", "a loop of its group");
  if (Expected<void> done = addLevel(nest, *now.walkLoop); !done)
    return done;
  nest.addStride(0, stride);
  return {};
}

Expected<void> Reader::readArray(const Command &command) {
  const auto imm = static_cast<uint32_t>(command.get(Field::Imm));
  const auto buffer = static_cast<unsigned>(command.get(Field::Buffer));
  switch (static_cast<Op>(command.operation().opcode)) {
  case Op::Load:
    now.block.request[buffer] = imm;
    now.hasLoad[buffer] = true;
    if (imm == 0)
      return fail("a load of no words", "at least 1");
    return {};
  case Op::Store:
    if (buffer != index(Buffer::Output) || imm != now.block.request[buffer])
      return fail("a store", "the output buffer, and as many words as its load before it has");
    now.hasStore = true;
    return {};
  case Op::StrideHigh:
    now.high = imm;
    return {};
  case Op::Stride:
    return readArrayStride(command);
  case Op::Loop: {
    const uint64_t group = command.get(Field::Loop);
    now.walkLoop = nullptr;
    if (group == kTileGroup)
      return addLevel(now.tiles, command);
    if (group == kArrayGroup)
      return addLevel(now.array, command);
    if (group <= kNumBuffers) {
      now.walkLoop = &command;
      return {};
    }
    return fail(fmt::format("a loop of group {}", group), "0 to 4, or 16");
  }
  case Op::Base:
    setPart(now.block.base[buffer], command);
    return {};
  case Op::Mode: {
    if (!now.block.pairs)
      now.block.pairs.emplace();
    PairMode &pairs = *now.block.pairs;
    uint64_t *const distances[] = {&pairs.input, &pairs.store, &pairs.weight, &pairs.bias,
                                   &pairs.copy};
    setPart(*distances[buffer], command);
    pairs.ofKernels = pairs.ofKernels || buffer == index(Buffer::Weight);
    return {};
  }
  case Op::AluBegin:
    if (now.hasAlu)
      return fail("a second ALU block", "one in each block");
    now.hasAlu = true;
    return {};
  default: // setup, read and write have no effect in the machine
    return {};
  }
}

Expected<void> Reader::readAluStride(const Command &command) {
  const auto stage = static_cast<AluStage>(command.get(Field::Stage));
  const uint64_t stream = command.get(Field::Stream);
  const uint32_t stride = now.high << 16 | static_cast<uint32_t>(command.get(Field::Imm));
  now.high = 0;
  // The public machine does not look at the bits that name the second stream.
  const bool isCopy = machine.hasCopies && stream == kCopyStream;
  switch (stage) {
  case AluStage::Read:
    now.aluRead.addStride(0, stride);
    break;
  case AluStage::Store:
    if (isCopy && !now.aluCopy.levels.empty())
      now.aluCopy.addStride(0, stride);
    else
      now.aluStore.addStride(isCopy ? kCopyStride : kStoreStride, stride);
    break;
  case AluStage::Load0:
    now.aluLoad0.addStride(0, stride);
    break;
  case AluStage::Load1:
    now.aluLoad1.addStride(0, stride);
    break;
  case AluStage::Repeat:
    if (!machine.hasCopies)
      return fail("a loop that repeats stores", "a machine that has copies");
    now.aluRepeat.addStride(isCopy ? kCopyStride : kStoreStride, stride);
    break;
  case AluStage::TileStore:
    now.aluTiles.addStride(isCopy ? kTileCopy : kTileStore, stride);
    break;
  case AluStage::TileLoad0:
    now.aluTiles.addStride(kTileLoad0, stride);
    break;
  case AluStage::TileLoad1:
    now.aluTiles.addStride(kTileLoad1, stride);
    break;
  }
  return {};
}

Expected<void> Reader::readAlu(const Command &command) {
  const auto imm = static_cast<uint32_t>(command.get(Field::Imm));
  if (now.isAluEnded)
    return fail("an ALU word behind the end of the ALU block", "alu.end as the last one");
  AluBlock &alu = now.block.alu;
  switch (static_cast<Op>(command.operation().opcode)) {
  case Op::Load:
    // The stream that is loaded stands where other words have the second stream.
    if (const uint64_t stream = command.get(Field::Stream); stream == 2)
      alu.hasLoad0 = true;
    else if (stream == 3)
      alu.hasLoad1 = true;
    else
      return fail(fmt::format("a load of stream {}", stream), "2 or 3");
    return {};
  case Op::StrideHigh:
    now.high = imm;
    return {};
  case Op::Stride:
    return readAluStride(command);
  case Op::Loop:
    switch (static_cast<AluStage>(command.get(Field::Stage))) {
    case AluStage::Read:
      return addLevel(now.aluRead, command);
    case AluStage::Store:
      return addLevel(machine.hasCopies && command.get(Field::Stream) == kCopyStream ? now.aluCopy
                                                                                     : now.aluStore,
                      command);
    case AluStage::Load0:
      return addLevel(now.aluLoad0, command);
    case AluStage::Load1:
      return addLevel(now.aluLoad1, command);
    case AluStage::Repeat:
      return addLevel(now.aluRepeat, command);
    case AluStage::TileStore:
      return addLevel(now.aluTiles, command);
    default:
      return fail("a loop of tiles that are loaded", "tile.store, which has all strides of tiles");
    }
  case Op::End:
    alu.repeats = imm + 1;
    now.isAluEnded = true;
    return {};
  case Op::Base:
    switch (command.get(Field::Stream)) {
    case 0: // not read by the machine
      return {};
    case 1:
      setPart(alu.store, command);
      return {};
    case 2:
      setPart(alu.load0, command);
      return {};
    case 3:
      setPart(alu.load1, command);
      return {};
    case 4:
      if (!machine.hasCopies)
        break;
      alu.hasCopy = true;
      setPart(alu.copy, command);
      return {};
    }
    return fail(fmt::format("a base of stream {}", command.get(Field::Stream)),
                machine.hasCopies ? "0 to 4" : "0 to 3");
  default: {
    if (alu.ops.size() == machine.aluWords)
      return fail("one ALU operation more", fmt::format("at most {}", machine.aluWords));
    const bool isImmediate = command.get(Field::IsImmediate) != 0;
    alu.ops.push_back({.function = command.as<AluFunction>(Field::Function),
                       .target = static_cast<uint8_t>(command.get(Field::Target)),
                       .source0 = static_cast<uint8_t>(command.get(Field::Source0)),
                       .source1 = static_cast<uint8_t>(command.get(Field::Source1)),
                       .isImmediate = isImmediate,
                       .immediate = static_cast<int16_t>(isImmediate ? imm : 0)});
    return {};
  }
  }
}

Expected<void> Reader::finish(const NestReader &nest, std::initializer_list<unsigned> strides,
                              Levels &levels, std::string_view name) const {
  if (nest.levels.empty())
    return fail(fmt::format("no loop of {}", name), "at least one, of one trip");
  for (const unsigned which : strides)
    if (nest.numStrides[which] != nest.levels.size())
      return fail(fmt::format("{} strides for {} loops of {}", nest.numStrides[which],
                              nest.levels.size(), name),
                  "one stride of each address for each loop");
  levels = nest.levels;
  return {};
}

Expected<void> Reader::finishBlock() {
  if (!now.hasAlu || !now.isAluEnded || now.block.alu.ops.empty())
    return fail("a block without ALU operations", "an ALU block, which stores the sums");
  if (Expected<void> done = finish(now.tiles, {0, 1, 2, 3}, now.block.tiles, "tiles"); !done)
    return done;
  if (Expected<void> done = finish(now.array, {0, 1, 2, 3}, now.block.array, "the array"); !done)
    return done;
  for (unsigned i = 0; i < kNumBuffers; ++i) {
    if (!now.hasLoad[i] || (i == index(Buffer::Output) && !now.hasStore))
      return fail(fmt::format("no load or store of the {} buffer", kBufferNames[i]), "one");
    Expected<void> done = finish(now.walks[i], {0}, now.block.walks[i],
                                 fmt::format("the {} buffer's walk", kBufferNames[i]));
    if (!done)
      return done;
  }
  if (Expected<void> done = finish(now.storeWalk, {0}, now.block.storeWalk, "the stores of sums");
      !done)
    return done;
  AluBlock &alu = now.block.alu;
  if (Expected<void> done = finish(now.aluRead, {0}, alu.read, "the ALU's reads"); !done)
    return done;
  if (!now.aluCopy.levels.empty() && !alu.hasCopy)
    return fail("loops of the second store stream without its base", "both");
  const bool repeatsStores = alu.hasCopy && now.aluCopy.levels.empty();
  Expected<void> done = repeatsStores ? finish(now.aluStore, {0, 1}, alu.stores, "the ALU's stores")
                                      : finish(now.aluStore, {0}, alu.stores, "the ALU's stores");
  if (!done)
    return done;
  if (!now.aluCopy.levels.empty())
    if (done = finish(now.aluCopy, {0}, alu.copies, "the second store stream"); !done)
      return done;
  if (!now.aluRepeat.levels.empty())
    if (done = repeatsStores ? finish(now.aluRepeat, {0, 1}, alu.repeat, "repeated stores")
                             : finish(now.aluRepeat, {0}, alu.repeat, "repeated stores");
        !done)
      return done;
  if (alu.hasLoad0)
    if (done = finish(now.aluLoad0, {0}, alu.loads0, "the ALU's first load"); !done)
      return done;
  if (alu.hasLoad1)
    if (done = finish(now.aluLoad1, {0}, alu.loads1, "the ALU's second load"); !done)
      return done;
  return alu.hasCopy ? finish(now.aluTiles, {0, 1, 2, 3}, alu.tiles, "the ALU's tiles")
                     : finish(now.aluTiles, {0, 1, 2}, alu.tiles, "the ALU's tiles");
}

Expected<std::vector<Block>> Reader::read() {
  std::vector<Block> blocks;
  bool isLast = false;
  for (at = 0; at < commands.size(); ++at) {
    const Command &command = commands[at];
    if (isLast)
      return fail("a word behind the last block", "nothing");
    if (command.engine() == mc::EngineId(Engine::Alu)) {
      if (Expected<void> done = readAlu(command); !done)
        return propagate(done);
      continue;
    }
    if (static_cast<Op>(command.operation().opcode) != Op::End) {
      if (Expected<void> done = readArray(command); !done)
        return propagate(done);
      continue;
    }
    if (Expected<void> done = finishBlock(); !done)
      return propagate(done);
    isLast = command.get(Field::Imm) % 2 != 0;
    blocks.push_back(std::move(now.block));
    now = {};
  }
  if (!isLast)
    return makeError(where, "no last block", "an end with an odd immediate");
  return blocks;
}

} // namespace

Expected<std::vector<Block>> readProgram(const Parameters &machine, std::span<const uint32_t> words,
                                         const std::string &where) {
  if (words.size() > machine.programWords)
    return makeError(where, fmt::format("{} instructions", words.size()),
                     fmt::format("at most {}", machine.programWords));
  Expected<std::vector<Command>> commands = decodeWords(machine.isa, words, where);
  if (!commands)
    return propagate(commands);
  return Reader(machine, *commands, where).read();
}

} // namespace tpuc::dnnweaver
