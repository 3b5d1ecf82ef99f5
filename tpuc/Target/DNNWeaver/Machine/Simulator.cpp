//===- Simulator.cpp - What a program computes ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"

#include "tpuc/Target/DNNWeaver/Machine/AluUnit.h"
#include "tpuc/Target/DNNWeaver/Machine/TileOrder.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::dnnweaver {

namespace {

/// The words of a nest's largest step, plus one: what `strides[which]` reach.
uint64_t wordsReached(const Levels &levels, size_t which) {
  uint64_t words = 1;
  for (const Level &level : levels)
    words += uint64_t{level.trips - 1} * level.strides[which];
  return words;
}

/// Carries out one block.
class BlockRunner {
public:
  BlockRunner(const Parameters &machine, const Block &block, std::span<uint8_t> memory,
              uint64_t &stepsLeft, std::string where)
      : machine(machine), block(block), memory(memory), stepsLeft(stepsLeft),
        where(std::move(where)), aluTile(block.alu.tiles) {}
  Expected<void> run();

private:
  tl::unexpected<Error> fail(std::string found, std::string expected) const {
    return makeError(where, std::move(found), std::move(expected));
  }
  unsigned dataBytes() const { return block.pairs ? 1 : machine.dataBits / 8; }
  Expected<void> spend(uint64_t steps);
  Expected<uint8_t *> bytesAt(uint64_t address, uint64_t size, std::string_view what);
  Expected<int64_t> elementAt(uint64_t address, unsigned bytes, std::string_view what);
  Expected<void> load(Buffer buffer, uint64_t address);
  Expected<void> loadInput(uint64_t address, uint64_t word);
  void loadBias(const uint8_t *bytes, const uint8_t *second, uint64_t word);
  void loadWeight(const uint8_t *bytes, const uint8_t *second, uint64_t word);
  Expected<void> storeSums(uint64_t address);
  Expected<void> compute(bool addsToSums);
  void addProducts(const int16_t *in, const int16_t *set, int64_t *sum) const;
  Expected<void> finish(uint64_t address, bool toAlu);
  Expected<void> runAlu();
  /// Where the ALU's streams are within a tile.
  struct Walks {
    explicit Walks(const AluBlock &alu)
        : read(alu.read), store(alu.stores), copy(alu.copies), load0(alu.loads0),
          load1(alu.loads1) {}
    Iteration read, store, copy, load0, load1;
  };
  Expected<void> runAluOps(Walks &walks);
  Expected<int64_t *> sourceOf(unsigned source, Walks &walks, std::vector<int64_t> &values);
  Expected<void> push(const std::vector<int64_t> &values, Walks &walks, bool toCopy);
  Expected<void> pushTo(uint64_t address, uint64_t distance, uint64_t words,
                        const std::vector<int64_t> &values);
  Expected<void> pushRepeated(uint64_t address, uint64_t distance, uint64_t words,
                              StoreStride which, const std::vector<int64_t> &values);

  const Parameters &machine;
  const Block &block;
  std::span<uint8_t> memory;
  uint64_t &stepsLeft;
  std::string where;
  /// Activations and weights as the PEs see them; pairs as two bytes of one number.
  std::vector<int16_t> input, weight;
  /// One sum of 64 bits, or two of 32 bits. Biases are kept as the sums that they begin.
  std::vector<int64_t> bias, sums;
  std::array<std::vector<bool>, kNumBuffers> isLoaded;
  /// Of the ALU, for each lane, those of the second of a pair behind the first.
  std::vector<int64_t> registers;
  /// Words that an operation has taken, and what it gives.
  std::vector<int64_t> taken0, taken1, result;
  Iteration aluTile;
  bool isAluDone = false;
};

Expected<void> BlockRunner::spend(uint64_t steps) {
  if (steps > stepsLeft)
    return fail("more steps than are allowed", "a shorter program");
  stepsLeft -= steps;
  return {};
}

Expected<uint8_t *> BlockRunner::bytesAt(uint64_t address, uint64_t size, std::string_view what) {
  if (address > memory.size() || size > memory.size() - address)
    return fail(fmt::format("{} {} bytes at 0x{:x}", what, size, address),
                fmt::format("addresses below 0x{:x}", memory.size()));
  return memory.data() + address;
}

int64_t readElement(const uint8_t *bytes, unsigned size) {
  switch (size) {
  case 1:
    return static_cast<int8_t>(*bytes);
  case 2: {
    int16_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  default: {
    int32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  }
}

Expected<void> BlockRunner::loadInput(uint64_t address, uint64_t word) {
  const unsigned bytes = dataBytes();
  const unsigned rows = machine.rows;
  const Expected<uint8_t *> first =
      bytesAt(address, uint64_t{rows} * bytes, "the input buffer loads");
  if (!first)
    return tl::unexpected<Error>(first.error());
  if (placesOf(block, Buffer::Input) == 1) {
    for (unsigned row = 0; row < rows; ++row)
      input[word * rows + row] = static_cast<int16_t>(readElement(*first + row * bytes, bytes));
    return {};
  }
  const Expected<uint8_t *> second =
      bytesAt(address + block.pairs->input, rows, "the input buffer loads");
  if (!second)
    return tl::unexpected<Error>(second.error());
  for (unsigned row = 0; row < rows; ++row)
    input[word * rows + row] =
        static_cast<int16_t>((*first)[row] | static_cast<unsigned>((*second)[row]) << 8);
  return {};
}

/// Of pairs both sums begin with a bias, with the same one where they are of one kernel.
void BlockRunner::loadBias(const uint8_t *bytes, const uint8_t *second, uint64_t word) {
  for (unsigned m = 0; m < machine.columns; ++m) {
    const int64_t low = readElement(bytes + 4 * m, 4), high = readElement(second + 4 * m, 4);
    bias[word * machine.columns + m] =
        block.pairs
            ? static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | static_cast<uint32_t>(low))
            : low;
  }
}

void BlockRunner::loadWeight(const uint8_t *bytes, const uint8_t *second, uint64_t word) {
  const unsigned count = machine.rows * machine.columns;
  int16_t *to = &weight[word * count];
  const bool isPair = placesOf(block, Buffer::Weight) == 2;
  for (unsigned e = 0; e < count; ++e)
    to[e] = isPair ? static_cast<int16_t>(bytes[e] | static_cast<unsigned>(second[e]) << 8)
                   : static_cast<int16_t>(readElement(bytes + e * dataBytes(), dataBytes()));
}

Expected<void> BlockRunner::load(Buffer buffer, uint64_t address) {
  const unsigned i = index(buffer);
  std::vector<bool> &loaded = isLoaded[i];
  loaded.assign(loaded.size(), false);
  const uint64_t wordBytes = machine.wordBytes(buffer, block.pairs.has_value());
  const unsigned columns = machine.columns;
  const uint64_t distance = !block.pairs || !block.pairs->ofKernels ? 0
                            : buffer == Buffer::Weight              ? block.pairs->weight
                                                                    : block.pairs->bias;
  uint64_t word = 0;
  Iteration walk(block.walks[i]);
  do {
    for (uint32_t k = 0; k < block.request[i]; ++k, ++word) {
      if (Expected<void> done = spend(1); !done)
        return done;
      const uint64_t from = address + walk.offset(0) + k * wordBytes;
      loaded[word] = true;
      if (buffer == Buffer::Input) {
        if (Expected<void> done = loadInput(from, word); !done)
          return done;
        continue;
      }
      const Expected<uint8_t *> bytes =
          bytesAt(from, wordBytes, fmt::format("the {} buffer loads", kBufferNames[i]));
      if (!bytes)
        return tl::unexpected<Error>(bytes.error());
      if (buffer == Buffer::Output) {
        std::memcpy(&sums[word * columns], *bytes, wordBytes);
        continue;
      }
      const Expected<uint8_t *> second =
          bytesAt(from + distance, wordBytes, fmt::format("the {} buffer loads", kBufferNames[i]));
      if (!second)
        return tl::unexpected<Error>(second.error());
      if (buffer == Buffer::Bias)
        loadBias(*bytes, *second, word);
      else
        loadWeight(*bytes, *second, word);
    }
  } while (walk.next() != block.walks[i].size());
  return {};
}

Expected<void> BlockRunner::storeSums(uint64_t address) {
  constexpr unsigned i = index(Buffer::Output);
  const uint64_t wordBytes = machine.wordBytes(Buffer::Output);
  uint64_t word = 0;
  Iteration walk(block.storeWalk);
  do {
    for (uint32_t k = 0; k < block.request[i]; ++k, ++word) {
      if (Expected<void> done = spend(1); !done)
        return done;
      if (!isLoaded[i][word])
        return fail(fmt::format("word {} of the output buffer is stored, but holds no sums", word),
                    "words of this tile");
      const Expected<uint8_t *> bytes =
          bytesAt(address + walk.offset(0) + k * wordBytes, wordBytes, "the output buffer stores");
      if (!bytes)
        return tl::unexpected<Error>(bytes.error());
      std::memcpy(*bytes, &sums[word * machine.columns], wordBytes);
    }
  } while (walk.next() != block.storeWalk.size());
  return {};
}

/// sum[m] += sum over n of in[n] * set[n][m], in 64 bits, or for pairs in two times 32 bits.
void BlockRunner::addProducts(const int16_t *in, const int16_t *set, int64_t *sum) const {
  const unsigned columns = machine.columns;
  if (!block.pairs) {
    for (unsigned row = 0; row < machine.rows; ++row) {
      const int64_t factor = in[row];
      for (unsigned m = 0; m < columns; ++m)
        sum[m] = static_cast<int64_t>(static_cast<uint64_t>(sum[m]) +
                                      static_cast<uint64_t>(factor * set[row * columns + m]));
    }
    return;
  }
  const bool isOfKernels = block.pairs->ofKernels;
  for (unsigned m = 0; m < columns; ++m) {
    auto low = static_cast<uint32_t>(sum[m]);
    auto high = static_cast<uint32_t>(static_cast<uint64_t>(sum[m]) >> 32);
    for (unsigned row = 0; row < machine.rows; ++row) {
      const int16_t of = set[row * columns + m];
      const auto both = static_cast<uint16_t>(isOfKernels ? of : in[row]);
      const PairOfProducts products =
          multiplyPair(packPair(static_cast<int8_t>(both), static_cast<int8_t>(both >> 8)),
                       isOfKernels ? in[row] : of);
      low += static_cast<uint32_t>(products.low);
      high += static_cast<uint32_t>(products.high);
    }
    sum[m] = static_cast<int64_t>(uint64_t{high} << 32 | low);
  }
}

Expected<void> BlockRunner::compute(bool addsToSums) {
  constexpr unsigned out = index(Buffer::Output);
  const unsigned columns = machine.columns;
  std::optional<uint64_t> before;
  // What a step reads is within the buffers, as `checkBlock` found; whether it was loaded depends
  // on the tile.
  Iteration at(block.array);
  do {
    if (Expected<void> done = spend(1); !done)
      return done;
    bool adds = addsToSums || before == at.offset(out);
    for (size_t level = 0; level < block.array.size() && !adds; ++level)
      adds = block.array[level].strides[out] == 0 && at.count(level) > 0;
    before = at.offset(out);
    for (unsigned i = 0; i < kNumBuffers; ++i) {
      const bool isRead = i == out ? adds : i != index(Buffer::Bias) || !adds;
      if (isRead && !isLoaded[i][at.offset(i)])
        return fail(fmt::format("word {} of the {} buffer, which was not loaded", at.offset(i),
                                kBufferNames[i]),
                    "words of this tile");
    }
    int64_t *sum = &sums[at.offset(out) * columns];
    isLoaded[out][at.offset(out)] = true;
    if (!adds)
      std::copy_n(&bias[at.offset(index(Buffer::Bias)) * columns], columns, sum);
    addProducts(&input[at.offset(index(Buffer::Input)) * machine.rows],
                &weight[at.offset(index(Buffer::Weight)) * machine.rows * columns], sum);
  } while (at.next() != block.array.size());
  return {};
}

Expected<int64_t *> BlockRunner::sourceOf(unsigned source, Walks &walks,
                                          std::vector<int64_t> &values) {
  const unsigned columns = machine.columns;
  const unsigned lanes = block.pairs ? 2 * columns : columns;
  if (source < kFromOutput)
    return &registers[source * lanes];
  if (source == kFromOutput) {
    const uint64_t word = walks.read.offset(0);
    if (!isLoaded[index(Buffer::Output)][word])
      return fail(fmt::format("the ALU reads word {} of the output buffer", word),
                  "words that hold sums");
    for (unsigned m = 0; m < columns; ++m) {
      const int64_t sum = sums[word * columns + m];
      values[m] = block.pairs ? static_cast<int32_t>(sum) : sum;
      if (block.pairs)
        values[columns + m] = sum >> 32;
    }
    walks.read.next();
    return values.data();
  }
  const bool isFirst = source == kFromLoad0;
  Iteration &walk = isFirst ? walks.load0 : walks.load1;
  const uint64_t wordBytes = uint64_t{columns} * dataBytes();
  const uint64_t from = (isFirst ? block.alu.load0 + aluTile.offset(kTileLoad0)
                                 : block.alu.load1 + aluTile.offset(kTileLoad1)) +
                        walk.offset(0) * wordBytes;
  const Expected<uint8_t *> bytes = bytesAt(from, wordBytes, "the ALU loads");
  if (!bytes)
    return tl::unexpected<Error>(bytes.error());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    // The upper bits are zeros; only a move or a shift would see them.
    const int64_t value = readElement(*bytes + (lane % columns) * dataBytes(), dataBytes());
    values[lane] = value & ((int64_t{1} << 8 * dataBytes()) - 1);
    if (machine.isa == IsaKind::Patent)
      values[lane] = value;
  }
  walk.next();
  return values.data();
}

/// Stores one word, or both of a pair.
Expected<void> BlockRunner::pushTo(uint64_t address, uint64_t distance, uint64_t words,
                                   const std::vector<int64_t> &values) {
  const unsigned columns = machine.columns;
  const unsigned bytes = dataBytes();
  const uint64_t wordBytes = uint64_t{columns} * bytes;
  for (unsigned half = 0; half < (block.pairs ? 2u : 1u); ++half) {
    const Expected<uint8_t *> place = bytesAt(
        address + words * wordBytes + (half == 1 ? distance : 0), wordBytes, "the ALU stores");
    if (!place)
      return tl::unexpected<Error>(place.error());
    for (unsigned m = 0; m < columns; ++m) {
      const int64_t value = storedValue(machine, values[half * columns + m], 8 * bytes);
      std::memcpy(*place + m * bytes, &value, bytes);
    }
  }
  return spend(1);
}

Expected<void> BlockRunner::pushRepeated(uint64_t address, uint64_t distance, uint64_t words,
                                         StoreStride which, const std::vector<int64_t> &values) {
  Iteration repeat(block.alu.repeat);
  do {
    if (Expected<void> done = pushTo(address, distance, words + repeat.offset(which), values);
        !done)
      return done;
  } while (repeat.next() != block.alu.repeat.size());
  return {};
}

Expected<void> BlockRunner::push(const std::vector<int64_t> &values, Walks &walks, bool toCopy) {
  const AluBlock &alu = block.alu;
  const uint64_t copy = alu.copy + aluTile.offset(kTileCopy);
  const PairMode pairs = block.pairs.value_or(PairMode{});
  if (toCopy) {
    Expected<void> done = pushTo(copy, pairs.copy, walks.copy.offset(0), values);
    walks.copy.next();
    return done;
  }
  Expected<void> done = pushRepeated(alu.store + aluTile.offset(kTileStore), pairs.store,
                                     walks.store.offset(kStoreStride), kStoreStride, values);
  if (done && alu.hasCopy && alu.copies.empty())
    done = pushRepeated(copy, pairs.copy, walks.store.offset(kCopyStride), kCopyStride, values);
  walks.store.next();
  return done;
}

Expected<void> BlockRunner::runAluOps(Walks &walks) {
  const unsigned lanes = block.pairs ? 2 * machine.columns : machine.columns;
  for (const AluOp &op : block.alu.ops) {
    Expected<int64_t *> in0 = sourceOf(op.source0, walks, taken0);
    if (!in0)
      return propagate(in0);
    int64_t *in1 = nullptr;
    if (!op.isImmediate) {
      // A stream that stands in both places gives one word to both.
      const bool isShared = op.source0 >= kFromOutput && op.source1 == op.source0;
      Expected<int64_t *> second = isShared ? in0 : sourceOf(op.source1, walks, taken1);
      if (!second)
        return propagate(second);
      in1 = *second;
    }
    for (unsigned lane = 0; lane < lanes; ++lane)
      result[lane] = computeAlu(machine, op.function, (*in0)[lane], in1 ? in1[lane] : op.immediate);
    if (op.target >= kToStore) {
      if (Expected<void> done = push(result, walks, op.target == kToCopy); !done)
        return done;
    } else {
      std::copy(result.begin(), result.end(), &registers[op.target * lanes]);
    }
  }
  return spend(block.alu.ops.size());
}

Expected<void> BlockRunner::runAlu() {
  if (isAluDone)
    return fail(
        fmt::format("more finished tiles than the ALU's loops have, {}", tripsOf(block.alu.tiles)),
        "as many");
  Walks walks(block.alu);
  for (uint32_t i = 0; i < block.alu.repeats; ++i)
    if (Expected<void> done = runAluOps(walks); !done)
      return done;
  isAluDone = aluTile.next() == block.alu.tiles.size();
  return {};
}

Expected<void> BlockRunner::finish(uint64_t address, bool toAlu) {
  return toAlu ? runAlu() : storeSums(address);
}

Expected<void> BlockRunner::run() {
  const auto words = [&](Buffer buffer) { return size_t{machine.words[index(buffer)]}; };
  input.resize(words(Buffer::Input) * machine.rows);
  weight.resize(words(Buffer::Weight) * machine.rows * machine.columns);
  bias.resize(words(Buffer::Bias) * machine.columns);
  sums.resize(words(Buffer::Output) * machine.columns);
  const size_t lanes = size_t{machine.columns} * (block.pairs ? 2 : 1);
  registers.resize(kFromOutput * lanes);
  for (std::vector<int64_t> *values : {&taken0, &taken1, &result})
    values->resize(lanes);
  for (unsigned i = 0; i < kNumBuffers; ++i)
    isLoaded[i].resize(machine.words[i]);
  TileOrder tiles(block);
  uint64_t sumsAt = 0;
  bool toAlu = false;
  bool isFirst = true;
  do {
    const std::array<uint64_t, kNumBuffers> address = tiles.address();
    if (tiles.isNew(Buffer::Output) && !isFirst)
      if (Expected<void> done = finish(sumsAt, toAlu); !done)
        return done;
    isFirst = false;
    for (const Buffer buffer : {Buffer::Input, Buffer::Weight, Buffer::Output, Buffer::Bias})
      if (tiles.isNew(buffer))
        if (Expected<void> done = load(buffer, address[index(buffer)]); !done)
          return done;
    if (Expected<void> done = compute(tiles.addsToSums()); !done)
      return done;
    sumsAt = address[index(Buffer::Output)];
    toAlu = tiles.isFinished();
  } while (tiles.next());
  if (Expected<void> done = finish(sumsAt, toAlu); !done)
    return done;
  if (!isAluDone)
    return fail(
        fmt::format("fewer finished tiles than the ALU's loops have, {}", tripsOf(block.alu.tiles)),
        "as many");
  return {};
}

/// How many words operations take from a source, or give to the store, in one tile.
uint64_t wordsTaken(const AluBlock &alu, unsigned source) {
  uint64_t count = 0;
  for (const AluOp &op : alu.ops)
    count += takesOf(op, source);
  return count * alu.repeats;
}

Expected<void> checkAlu(const Parameters &machine, const AluBlock &alu, const std::string &where) {
  uint64_t stored = 0, copied = 0;
  for (const AluOp &op : alu.ops) {
    stored += op.target == kToStore ? alu.repeats : 0;
    copied += op.target == kToCopy ? alu.repeats : 0;
  }
  struct Count {
    std::string_view name;
    uint64_t ops, loops;
  };
  const Count counts[] = {
      {"read of the output buffer", wordsTaken(alu, kFromOutput), tripsOf(alu.read)},
      {"stored", stored, tripsOf(alu.stores)},
      {"stored in the second stream", copied, alu.copies.empty() ? 0 : tripsOf(alu.copies)},
      {"of the first load", wordsTaken(alu, kFromLoad0), alu.hasLoad0 ? tripsOf(alu.loads0) : 0},
      {"of the second load", wordsTaken(alu, kFromLoad1), alu.hasLoad1 ? tripsOf(alu.loads1) : 0},
  };
  for (const Count &count : counts)
    if (count.ops != count.loops)
      return makeError(
          where, fmt::format("ALU operations with {} words {} in a tile", count.ops, count.name),
          fmt::format("the {} of the loops", count.loops));
  if (wordsReached(alu.read, 0) > machine.words[index(Buffer::Output)])
    return makeError(
        where,
        fmt::format("the ALU reads {} words of the output buffer", wordsReached(alu.read, 0)),
        fmt::format("at most {}", machine.words[index(Buffer::Output)]));
  return {};
}

/// The fewest steps for which the array keeps a set of weights.
uint64_t stepsOfWeights(const Block &block) {
  uint64_t steps = 1;
  for (const Level &level : block.array) {
    if (level.strides[index(Buffer::Weight)] != 0 && level.trips > 1)
      break;
    steps *= level.trips;
  }
  return steps;
}

} // namespace

Expected<void> checkBlock(const Parameters &machine, const Block &block, const std::string &where) {
  if (tripsOf(block.tiles) > kMaxTiles)
    return makeError(where, fmt::format("{} tiles", tripsOf(block.tiles)),
                     fmt::format("at most {}", kMaxTiles));
  for (unsigned i = 0; i < kNumBuffers; ++i) {
    // Biases of two kernels fill two words.
    const unsigned each = i == index(Buffer::Bias) ? placesOf(block, Buffer::Bias) : 1;
    const uint64_t most = machine.words[i] / each;
    uint64_t words = tripsOf(block.walks[i]);
    if (i == index(Buffer::Output))
      words = std::max(words, tripsOf(block.storeWalk));
    if (__builtin_mul_overflow(words, uint64_t{block.request[i]}, &words) || words > most)
      return makeError(where,
                       fmt::format("a tile of {} words in the {} buffer", words, kBufferNames[i]),
                       fmt::format("at most {}", most));
    if (wordsReached(block.array, i) > most)
      return makeError(where,
                       fmt::format("the array reads {} words of the {} buffer",
                                   wordsReached(block.array, i), kBufferNames[i]),
                       fmt::format("at most {}", most));
  }
  if (machine.weightsByRow && stepsOfWeights(block) < machine.rows)
    return makeError(where, fmt::format("weights that stay for {} steps", stepsOfWeights(block)),
                     fmt::format("at least {}, in which a set arrives", machine.rows));
  return checkAlu(machine, block.alu, where);
}

Expected<void> runBlocks(const Parameters &machine, std::span<const Block> blocks,
                         std::span<uint8_t> memory, const std::string &where,
                         const RunLimits &limits) {
  uint64_t stepsLeft = limits.steps;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string here = fmt::format("{}: block {}", where, i);
    if (Expected<void> done = checkBlock(machine, blocks[i], here); !done)
      return done;
    if (Expected<void> done = BlockRunner(machine, blocks[i], memory, stepsLeft, here).run(); !done)
      return done;
  }
  return {};
}

} // namespace tpuc::dnnweaver
