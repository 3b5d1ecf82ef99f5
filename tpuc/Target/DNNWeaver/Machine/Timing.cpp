//===- Timing.cpp - How long a program takes ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Timing.h"

#include "tpuc/Target/DNNWeaver/Machine/TileOrder.h"

#include <algorithm>

namespace tpuc::dnnweaver {

namespace {

// Registers and states on the way of the public hardware description.

/// Beats of one burst.
constexpr uint64_t kBurstBeats = 256;
/// A request passes four states of the read address channel, each further burst of it two more.
constexpr uint64_t kRequestStates = 4;
constexpr uint64_t kBurstStates = 2;
/// Bursts whose data have not come yet.
constexpr uint64_t kOutstandingBursts = 30;
/// From a tag being given to the first address, and from the last beat to the tag being ready.
constexpr uint64_t kLoadBegin = 8;
constexpr uint64_t kLoadEnd = 4;
/// From all buffers being ready to the array's loops, and from their end to the tags' next state.
constexpr uint64_t kComputeBegin = 1;
constexpr uint64_t kComputeEnd = 2;
/// From a tag's last use to its being free.
constexpr uint64_t kTagFree = 2;
/// A tile is requested, and its addresses are compared with those before it.
constexpr uint64_t kTagRequest = 2;
/// From the request of a tile to what it says of sums being seen, rounded up.
constexpr uint64_t kReuseRequest = 8;
/// From the end of the array to its sums being in the output buffer, beside the rows it has.
constexpr uint64_t kDrain = 3;
/// The ALU's begin where it loads something itself, and waiting until its stores are accepted.
constexpr uint64_t kAluLoadBegin = 11;
constexpr uint64_t kAluStoreEnd = 14;
/// Words of sums that wait for the ALU, which has a queue of them.
constexpr uint64_t kAluQueue = 10;
/// What a store of one word costs besides its beats.
constexpr uint64_t kStoreStates = 3;
/// Starting the decoder, and the last states of a block.
constexpr uint64_t kBlockStates = 4;

uint64_t divideUp(uint64_t number, uint64_t by) { return (number + by - 1) / by; }

uint64_t loadCycles(const Parameters &machine, const Levels &walk, uint64_t requestBytes) {
  const uint64_t requests = tripsOf(walk);
  const uint64_t beats = std::max<uint64_t>(1, divideUp(requestBytes, machine.portBytes));
  const uint64_t bursts = divideUp(beats, kBurstBeats);
  const uint64_t address = kRequestStates + kBurstStates * (bursts - 1);
  // The read channel has one state between bursts.
  const uint64_t data = beats + bursts;
  const uint64_t wait = divideUp(bursts * (machine.readLatency + data), kOutstandingBursts);
  return kLoadBegin + walk.size() + (requests - 1) * std::max({address, data, wait}) + address +
         machine.readLatency + data + kLoadEnd;
}

void setAluCycles(const Parameters &machine, const Block &block, TileCycles &cycles) {
  const AluBlock &alu = block.alu;
  // A word of sums comes through a port as narrow as that of the DDR.
  const uint64_t beats =
      std::max<uint64_t>(1, machine.wordBytes(Buffer::Output) / machine.portBytes);
  const uint64_t words = tripsOf(alu.read);
  // Loops go on while the beats of a word come.
  const uint64_t read = words * beats;
  const uint64_t halves = block.pairs ? 2 : 1;
  const uint64_t ops = uint64_t{alu.repeats} * alu.ops.size() * halves;
  const uint64_t storeBeats = std::max<uint64_t>(
      1, divideUp(machine.columns * (block.pairs ? 1 : machine.dataBits / 8), machine.portBytes));
  const uint64_t store =
      storedWords(alu) * halves * std::max(kRequestStates, storeBeats + kStoreStates);
  const uint64_t work = std::max({read, ops, store});
  const uint64_t begin = alu.hasLoad0 || alu.hasLoad1 ? kAluLoadBegin : 0;
  cycles.alu = begin + work;
  const uint64_t ahead = std::min(words, kAluQueue) * work / words;
  cycles.aluReads = std::max(begin + read, work - ahead);
}

/// When the things of a block happen.
class BlockClock {
public:
  BlockClock(const Parameters &machine, const Block &block, std::vector<Interval> *intervals)
      : machine(machine), block(block), cycles(tileCycles(machine, block)), intervals(intervals) {}
  uint64_t run(uint64_t begin);
  bool needsPriming() const { return isLate; }

private:
  struct Tags {
    /// When the tag before the current one is free, and when the current one is loaded.
    uint64_t otherFree = 0;
    uint64_t loaded = 0;
    uint64_t loadEnd = 0;
  };
  void note(Interval::Unit unit, uint64_t begin, uint64_t end, uint64_t tile) const {
    if (intervals)
      intervals->push_back({unit, begin, end, tile});
  }
  /// The current tag of `buffer` is given up at `time`; when it will be free.
  uint64_t release(Buffer buffer, uint64_t time, uint64_t tile);

  const Parameters &machine;
  const Block &block;
  TileCycles cycles;
  std::vector<Interval> *intervals;
  std::array<Tags, kNumBuffers> tags;
  uint64_t computeEnd = 0;
  uint64_t storeEnd = 0;
  bool toAlu = false;
  /// Of both tags of sums, whether a tile was added to them.
  std::array<bool, 2> primed = {};
  unsigned sumsTag = 1;
  bool isLate = false;
};

uint64_t BlockClock::release(Buffer buffer, uint64_t time, uint64_t tile) {
  const uint64_t done = std::max(time, computeEnd);
  if (buffer != Buffer::Output)
    return done + kTagFree;
  // Sums leave the last row of the array when its loops have long ended.
  const uint64_t drained = done + machine.rows + kDrain;
  const uint64_t begin = std::max(drained, storeEnd + (toAlu ? kAluStoreEnd : 0));
  storeEnd = begin + (toAlu ? cycles.alu : cycles.store);
  note(toAlu ? Interval::Unit::Alu : Interval::Unit::Store, begin, storeEnd, tile);
  return begin + (toAlu ? cycles.aluReads : cycles.store) + kTagFree;
}

uint64_t BlockClock::run(uint64_t begin) {
  TileOrder tiles(block);
  Iteration at(block.tiles);
  uint64_t request = begin;
  uint64_t tile = 0;
  uint64_t sumsAt = 0;
  computeEnd = storeEnd = begin;
  bool isFirst = true;
  while (true) {
    for (const Tags &tag : tags)
      request = std::max(request, tag.otherFree);
    request += kTagRequest;
    uint64_t ready = computeEnd;
    const uint64_t address = tiles.address()[index(Buffer::Output)];
    for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Weight, Buffer::Bias}) {
      const unsigned i = index(buffer);
      Tags &tag = tags[i];
      if (tiles.isNew(buffer)) {
        if (!isFirst)
          tag.otherFree = release(buffer, request, tile - 1);
        uint64_t from = std::max(request, tag.loadEnd);
        // Sums that are still on their way to DDR are waited for.
        if (buffer == Buffer::Output && !isFirst && address == sumsAt)
          from = std::max(from, storeEnd);
        tag.loadEnd = tag.loaded = from + cycles.load[i];
        note(static_cast<Interval::Unit>(i), from, tag.loadEnd, tile);
      }
      ready = std::max(ready, tag.loaded);
    }
    if (tiles.isNew(Buffer::Output)) {
      sumsTag = 1 - sumsTag;
    } else {
      isLate = isLate || (!primed[sumsTag] && request + kReuseRequest >= computeEnd);
      primed[sumsTag] = true;
    }
    computeEnd = ready + kComputeBegin + cycles.compute + kComputeEnd;
    note(Interval::Unit::Array, ready, computeEnd, tile);
    toAlu = tiles.isFinished();
    sumsAt = address;
    isFirst = false;
    ++tile;
    const size_t level = at.next();
    if (!tiles.next())
      break;
    request += 1 + machine.loopSwitchCycles * level;
  }
  uint64_t end = request;
  for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Weight, Buffer::Bias})
    end = std::max(end, release(buffer, request, tile - 1));
  return std::max(end, storeEnd) + kAluStoreEnd;
}

} // namespace

uint64_t nestCycles(const Parameters &machine, const Levels &levels) {
  uint64_t cycles = std::max<uint64_t>(1, levels.size() - 1) + (levels.size() - 1);
  uint64_t trips = 1;
  for (size_t level = levels.size(); level-- > 0;) {
    trips *= levels[level].trips;
    cycles += level == 0 ? trips : machine.loopSwitchCycles * (trips - 1);
  }
  return cycles;
}

TileCycles tileCycles(const Parameters &machine, const Block &block) {
  TileCycles cycles;
  const bool pairs = block.pairs.has_value();
  for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Weight, Buffer::Bias}) {
    const unsigned i = index(buffer);
    cycles.load[i] =
        loadCycles(machine, block.walks[i],
                   block.request[i] * machine.wordBytes(buffer, pairs) * placesOf(block, buffer));
  }
  cycles.compute = nestCycles(machine, block.array);
  setAluCycles(machine, block, cycles);
  const uint64_t sums = block.request[index(Buffer::Output)] * machine.wordBytes(Buffer::Output);
  cycles.store = 2 * kLoadBegin +
                 tripsOf(block.storeWalk) *
                     std::max(kRequestStates, divideUp(sums, machine.portBytes) + kStoreStates);
  return cycles;
}

BlockCycles blockCycles(const Parameters &machine, const Block &block,
                        std::vector<Interval> *intervals) {
  BlockCycles result;
  const Expected<std::vector<uint32_t>> words = writeProgram(machine, {&block, 1}, "");
  result.decode = words ? words->size() : 0;
  result.tiles = tripsOf(block.tiles);
  result.compute = result.tiles * tileCycles(machine, block).compute;
  BlockClock clock(machine, block, intervals);
  result.total = clock.run(result.decode + kBlockStates) + kBlockStates;
  result.needsPriming = clock.needsPriming();
  return result;
}

} // namespace tpuc::dnnweaver
