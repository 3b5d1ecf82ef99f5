//===- Program.cpp - Blocks to words --------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

#include <bit>
#include <fmt/format.h>
#include <limits>

namespace tpuc::dnnweaver {

using mc::Command;

uint64_t tripsOf(const Levels &levels) {
  uint64_t trips = 1;
  for (const Level &level : levels)
    if (__builtin_mul_overflow(trips, uint64_t{level.trips}, &trips))
      return uint64_t{1} << 63;
  return trips;
}

uint64_t storedWords(const AluBlock &alu) {
  const uint64_t first = tripsOf(alu.stores) * tripsOf(alu.repeat);
  if (!alu.copies.empty())
    return first + tripsOf(alu.copies);
  return alu.hasCopy ? 2 * first : first;
}

unsigned placesOf(const Block &block, Buffer buffer) {
  if (!block.pairs || buffer == Buffer::Output)
    return 1;
  return block.pairs->ofKernels == (buffer != Buffer::Input) ? 2 : 1;
}

size_t Iteration::next() {
  for (size_t level = 0; level < levels->size(); ++level) {
    const Level &at = (*levels)[level];
    if (++counts[level] < at.trips) {
      for (size_t which = 0; which < sums.size(); ++which)
        sums[which] += at.strides[which];
      return level;
    }
    for (size_t which = 0; which < sums.size(); ++which)
      sums[which] -= uint64_t{at.strides[which]} * (at.trips - 1);
    counts[level] = 0;
  }
  return levels->size();
}

namespace {

class Writer {
public:
  Writer(const Parameters &machine, const std::string &where) : machine(machine), where(where) {}
  Expected<std::vector<uint32_t>> write(std::span<const Block> blocks);

private:
  Command make(Engine engine, Op op) const {
    return Command::make(*mc::findOp(isa(machine.isa), engine, static_cast<unsigned>(op), 0));
  }
  Command &add(const Command &command) { return commands.emplace_back(command); }
  /// Sets a field, or notes that the value has no place in it.
  void set(Command &command, Field field, uint64_t value) {
    if (!command.trySet(field, value) && !error)
      error = Error{where, fmt::format("{} in {}", value, command.operation().name),
                    "a value that its field can hold"};
  }
  void addBase(Op op, Engine engine, Field which, unsigned number, uint64_t address);
  void addLoop(uint64_t group, const Level &level);
  void addStride(uint64_t group, Buffer buffer, unsigned access, uint32_t stride);
  void addAluLoop(AluStage stage, const Level &level, unsigned stream = 0);
  void addAluStride(AluStage stage, unsigned stream, uint32_t stride);
  void addAluNest(AluStage stage, const Levels &levels, bool hasCopy);
  void addAlu(const AluBlock &alu);
  void addBlock(const Block &block, bool isLast);

  const Parameters &machine;
  const std::string &where;
  std::vector<Command> commands;
  std::optional<Error> error;
};

void Writer::addBase(Op op, Engine engine, Field which, unsigned number, uint64_t address) {
  for (unsigned part = 0; part < 2; ++part) {
    Command &command = add(make(engine, op));
    const uint64_t value = part == 0 ? address & 0x1FFFFF : address >> 21;
    set(command, which, number);
    set(command, Field::Part, part);
    set(command, Field::High, value >> 16);
    set(command, Field::Imm, value & 0xFFFF);
  }
}

void Writer::addLoop(uint64_t group, const Level &level) {
  Command &command = add(make(Engine::Array, Op::Loop));
  set(command, Field::Loop, group);
  set(command, Field::Imm, uint64_t{level.trips} - 1);
}

void Writer::addStride(uint64_t group, Buffer buffer, unsigned access, uint32_t stride) {
  for (const Op op : {Op::StrideHigh, Op::Stride}) {
    if (op == Op::StrideHigh && stride < 1u << 16)
      continue;
    Command &command = add(make(Engine::Array, op));
    set(command, Field::Loop, group);
    set(command, Field::Buffer, index(buffer));
    set(command, Field::Access, access);
    set(command, Field::Imm, op == Op::StrideHigh ? stride >> 16 : stride & 0xFFFF);
  }
}

void Writer::addAluLoop(AluStage stage, const Level &level, unsigned stream) {
  Command &command = add(make(Engine::Alu, Op::Loop));
  set(command, Field::Stage, static_cast<uint64_t>(stage));
  set(command, Field::Stream, stream);
  set(command, Field::Imm, uint64_t{level.trips} - 1);
}

void Writer::addAluStride(AluStage stage, unsigned stream, uint32_t stride) {
  for (const Op op : {Op::StrideHigh, Op::Stride}) {
    if (op == Op::StrideHigh && stride < 1u << 16)
      continue;
    Command &command = add(make(Engine::Alu, op));
    set(command, Field::Stage, static_cast<uint64_t>(stage));
    set(command, Field::Stream, stream);
    set(command, Field::Imm, op == Op::StrideHigh ? stride >> 16 : stride & 0xFFFF);
  }
}

void Writer::addAluNest(AluStage stage, const Levels &levels, bool hasCopy) {
  for (const Level &level : levels) {
    addAluLoop(stage, level);
    addAluStride(stage, 0, level.strides[kStoreStride]);
    if (hasCopy)
      addAluStride(stage, kCopyStream, level.strides[kCopyStride]);
  }
}

void Writer::addAlu(const AluBlock &alu) {
  const size_t begin = commands.size();
  add(make(Engine::Array, Op::AluBegin));
  addBase(Op::Base, Engine::Alu, Field::Stream, 1, alu.store);
  if (alu.hasCopy)
    addBase(Op::Base, Engine::Alu, Field::Stream, 4, alu.copy);
  if (alu.hasLoad0)
    addBase(Op::Base, Engine::Alu, Field::Stream, 2, alu.load0);
  if (alu.hasLoad1)
    addBase(Op::Base, Engine::Alu, Field::Stream, 3, alu.load1);
  addAluNest(AluStage::Read, alu.read, false);
  for (const unsigned stream : {2u, 3u})
    if (stream == 2 ? alu.hasLoad0 : alu.hasLoad1)
      set(add(make(Engine::Alu, Op::Load)), Field::Stream, stream);
  for (const Level &level : alu.tiles) {
    addAluLoop(AluStage::TileStore, level);
    addAluStride(AluStage::TileStore, 0, level.strides[kTileStore]);
    if (alu.hasCopy)
      addAluStride(AluStage::TileStore, kCopyStream, level.strides[kTileCopy]);
    addAluStride(AluStage::TileLoad0, 0, level.strides[kTileLoad0]);
    addAluStride(AluStage::TileLoad1, 0, level.strides[kTileLoad1]);
  }
  addAluNest(AluStage::Store, alu.stores, alu.hasCopy && alu.copies.empty());
  for (const Level &level : alu.copies) {
    addAluLoop(AluStage::Store, level, kCopyStream);
    addAluStride(AluStage::Store, kCopyStream, level.strides[0]);
  }
  addAluNest(AluStage::Repeat, alu.repeat, alu.hasCopy && alu.copies.empty());
  if (alu.hasLoad0)
    addAluNest(AluStage::Load0, alu.loads0, false);
  if (alu.hasLoad1)
    addAluNest(AluStage::Load1, alu.loads1, false);
  for (const AluOp &op : alu.ops) {
    Command &command = add(make(Engine::Alu, op.isImmediate ? Op::AluImmediate : Op::AluRegister));
    set(command, Field::Function, static_cast<uint64_t>(op.function));
    set(command, Field::IsImmediate, op.isImmediate);
    set(command, Field::Target, op.target);
    set(command, Field::Source0, op.source0);
    if (op.isImmediate)
      set(command, Field::Imm, static_cast<uint16_t>(op.immediate));
    else
      set(command, Field::Source1, op.source1);
  }
  set(add(make(Engine::Alu, Op::End)), Field::Imm, uint64_t{alu.repeats} - 1);
  // The words behind the first one, less one.
  set(commands[begin], Field::Imm, commands.size() - begin - 2);
}

void Writer::addBlock(const Block &block, bool isLast) {
  Command &setup = add(make(Engine::Array, Op::Setup));
  const uint64_t bits = std::bit_width(block.pairs ? 8u : machine.dataBits) - 1;
  set(setup, Field::Spec, bits << 3 | bits);
  constexpr Buffer kBuffers[] = {Buffer::Input, Buffer::Output, Buffer::Weight, Buffer::Bias};
  for (const Buffer buffer : kBuffers)
    addBase(Op::Base, Engine::Array, Field::Buffer, index(buffer), block.base[index(buffer)]);
  if (block.pairs) {
    if (block.pairs->ofKernels) {
      addBase(Op::Mode, Engine::Array, Field::Buffer, index(Buffer::Weight), block.pairs->weight);
      addBase(Op::Mode, Engine::Array, Field::Buffer, index(Buffer::Bias), block.pairs->bias);
    } else {
      addBase(Op::Mode, Engine::Array, Field::Buffer, index(Buffer::Input), block.pairs->input);
    }
    addBase(Op::Mode, Engine::Array, Field::Buffer, index(Buffer::Output), block.pairs->store);
    if (block.alu.hasCopy)
      addBase(Op::Mode, Engine::Array, Field::Buffer, 4, block.pairs->copy);
  }
  for (const Level &level : block.tiles) {
    addLoop(kTileGroup, level);
    for (const Buffer buffer : kBuffers)
      addStride(kTileGroup, buffer, 0, level.strides[index(buffer)]);
  }
  for (const Buffer buffer : kBuffers) {
    const unsigned i = index(buffer);
    for (const Op op : {Op::Load, Op::Store}) {
      if (op == Op::Store && buffer != Buffer::Output)
        continue;
      Command &command = add(make(Engine::Array, op));
      set(command, Field::Buffer, i);
      set(command, Field::Loop, i + 1);
      set(command, Field::Imm, block.request[i]);
    }
    // Loops that load and store the same words are one.
    const bool isShared = buffer == Buffer::Output && block.walks[i] == block.storeWalk;
    for (const Level &level : block.walks[i]) {
      addLoop(i + 1, level);
      addStride(i + 1, buffer, 0, level.strides[0]);
      if (isShared)
        addStride(i + 1, buffer, 1, level.strides[0]);
    }
    if (buffer == Buffer::Output && !isShared)
      for (const Level &level : block.storeWalk) {
        addLoop(i + 1, level);
        addStride(i + 1, buffer, 1, level.strides[0]);
      }
  }
  for (const Level &level : block.array) {
    addLoop(kArrayGroup, level);
    for (const Buffer buffer : kBuffers) {
      addStride(kArrayGroup, buffer, 2, level.strides[index(buffer)]);
      if (buffer == Buffer::Output)
        addStride(kArrayGroup, buffer, 3, level.strides[index(buffer)]);
    }
  }
  addAlu(block.alu);
  set(add(make(Engine::Array, Op::End)), Field::Imm, isLast ? 1 : 0);
}

Expected<std::vector<uint32_t>> Writer::write(std::span<const Block> blocks) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].pairs && !machine.hasPairs)
      return makeError(where, "a block with pairs of int8", "a machine that has them");
    if ((blocks[i].alu.hasCopy || !blocks[i].alu.repeat.empty()) && !machine.hasCopies)
      return makeError(where, "a block with copies or repeated stores", "a machine that has them");
    addBlock(blocks[i], i + 1 == blocks.size());
  }
  if (error)
    return tl::unexpected<Error>(std::move(*error));
  if (commands.size() > machine.programWords)
    return makeError(where, fmt::format("{} instructions", commands.size()),
                     fmt::format("at most {}", machine.programWords));
  return encodeWords(commands);
}

} // namespace

Expected<std::vector<uint32_t>>
writeProgram(const Parameters &machine, std::span<const Block> blocks, const std::string &where) {
  return Writer(machine, where).write(blocks);
}

} // namespace tpuc::dnnweaver
