//===- Program.h - Blocks of instructions --------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a list of blocks, each with one convolution and what the ALU does with its sums. A
// block has loops only: over tiles, over the words of a tile in DDR, over what the array reads, and
// over what the ALU reads and stores. Every address is a base and the strides of its loops.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_PROGRAM_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_PROGRAM_H

#include "tpuc/Target/DNNWeaver/Machine/Isa.h"

#include <vector>

namespace tpuc::dnnweaver {

/// One loop: 1 to 65536 trips, and what each of its iterations adds to up to four addresses.
struct Level {
  uint32_t trips = 1;
  std::array<uint32_t, 4> strides = {};

  friend bool operator==(const Level &, const Level &) = default;
};

/// Loops within each other, the innermost first.
using Levels = std::vector<Level>;

/// The iterations of `levels`, saturating at 2^63.
uint64_t tripsOf(const Levels &levels);

/// Goes through the iterations of a nest. All strides count from zero.
class Iteration {
public:
  explicit Iteration(const Levels &levels) : levels(&levels), counts(levels.size()) {}
  /// What to add to the base of the address that has stride number `which`.
  uint64_t offset(size_t which) const { return sums[which]; }
  uint32_t count(size_t level) const { return counts[level]; }
  /// The next iteration; the level that advanced, those below it having begun again, or the number
  /// of levels at the end.
  size_t next();

private:
  const Levels *levels;
  std::vector<uint32_t> counts;
  std::array<uint64_t, 4> sums = {};
};

/// Places in `Level::strides` of the ALU's loops.
enum StoreStride : uint8_t { kStoreStride, kCopyStride };
enum TileStride : uint8_t { kTileStore, kTileLoad0, kTileLoad1, kTileCopy };
struct AluOp {
  AluFunction function = AluFunction::Move;
  uint8_t target = 0;
  uint8_t source0 = 0;
  /// A register or stream, unless `isImmediate`.
  uint8_t source1 = 0;
  bool isImmediate = false;
  int16_t immediate = 0;

  friend bool operator==(const AluOp &, const AluOp &) = default;
};

/// What the ALU does with each finished tile of sums.
struct AluBlock {
  /// Byte addresses of the first words. `copy` is the second stream of stores.
  uint64_t store = 0, load0 = 0, load1 = 0, copy = 0;
  bool hasLoad0 = false, hasLoad1 = false, hasCopy = false;
  /// Words of the output buffer, in the order in which operations take them.
  Levels read;
  /// Words of M elements in DDR, in the order in which results come.
  Levels stores;
  /// The same of the second stream, where it has loops of its own: it then takes what operations
  /// hand to it alone. Without them it stores what the first one stores.
  Levels copies;
  /// Places in which each result is stored, for up-sampling; words as above. Empty for one place.
  Levels repeat;
  Levels loads0, loads1;
  /// Bytes between the tiles, in the order in which tiles are finished.
  Levels tiles;
  /// Carried out `repeats` times for a tile.
  std::vector<AluOp> ops;
  uint32_t repeats = 1;

  friend bool operator==(const AluBlock &, const AluBlock &) = default;
};

/// Two int8 products at once: distances in bytes between the two. Either two inputs share a weight,
/// such as those of two rows, or the weights of two kernels share an input.
struct PairMode {
  uint64_t input = 0;
  uint64_t store = 0;
  uint64_t copy = 0;
  /// Between the weights and biases of both kernels.
  bool ofKernels = false;
  uint64_t weight = 0;
  uint64_t bias = 0;

  friend bool operator==(const PairMode &, const PairMode &) = default;
};

/// Words that both streams store of one tile.
uint64_t storedWords(const AluBlock &alu);

struct Block {
  /// Byte addresses of 42 bits, in the order of `Buffer`, as all arrays here.
  std::array<uint64_t, kNumBuffers> base = {};
  std::optional<PairMode> pairs;
  /// Bytes from tile to tile for each buffer.
  Levels tiles;
  /// Bytes to the words of one tile in DDR, which are loaded. Sums that begin with the bias need
  /// not be loaded, so that one word is enough for the output buffer.
  std::array<Levels, kNumBuffers> walks;
  /// The same for the sums of a tile that go back to DDR.
  Levels storeWalk;
  /// Words that each step of a walk moves.
  std::array<uint32_t, kNumBuffers> request = {1, 1, 1, 1};
  /// Words of the buffers, for each step of the array.
  Levels array;
  AluBlock alu;

  friend bool operator==(const Block &, const Block &) = default;
};

/// How many places in DDR a word of a buffer comes from.
unsigned placesOf(const Block &block, Buffer buffer);

inline constexpr unsigned kAddressBits = 42;
inline constexpr unsigned kMaxLevels = 32;
/// More tiles than any block needs; the simulators go through all of them.
inline constexpr uint64_t kMaxTiles = uint64_t{1} << 24;

/// The blocks of a program. Errors name `where` and the word: programs that are too long or do not
/// end, loops without strides, strides without loops, groups without loops, too many loops.
Expected<std::vector<Block>> readProgram(const Parameters &machine, std::span<const uint32_t> words,
                                         const std::string &where);

/// The inverse; the words of each block follow each other. Errors: values that the words cannot
/// hold, or more words than the machine has place for.
Expected<std::vector<uint32_t>>
writeProgram(const Parameters &machine, std::span<const Block> blocks, const std::string &where);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_PROGRAM_H
