//===- Vlc.cpp - Compressed values of the DMA engine ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace tpuc::cv18xx {

namespace {

constexpr unsigned kSymbols = 16, kMostRice = 5, kMostUnary = 47, kStored = 7, kHeaderBytes = 16;
constexpr unsigned kStoredBits = 8 * kSymbols;

uint64_t alignUp(uint64_t value) { return (value + 15) / 16 * 16; }
uint64_t blocksOf(uint64_t count) { return (count + kSymbols - 1) / kSymbols; }

/// 0, -1, 1, -2, 2 ... become 0, 1, 2, 3, 4 ...
int fold(int value) { return value < 0 ? -2 * value - 1 : 2 * value; }

using Table = std::array<uint8_t, 256>;

/// The symbol of each byte. Both sides move towards zero by their bias; what falls off comes back
/// at the far end.
Table integerSymbols(const VlcParameters &parameters) {
  Table table;
  for (int i = 0; i < 256; ++i) {
    const int value = i < 128 ? i : i - 256;
    int distance = 0;
    if (value > 0)
      distance =
          value > parameters.bias0 ? value - parameters.bias0 : value - parameters.bias0 + 127;
    else if (value < 0)
      distance =
          -value > parameters.bias1 ? value + parameters.bias1 : value + parameters.bias1 - 128;
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(parameters.isSigned ? fold(distance) : i);
  }
  return table;
}

/// The symbol of each exponent: folded as far as there are values on both sides.
Table exponentSymbols(const VlcParameters &parameters) {
  const int bias = parameters.bias0;
  const int guard = parameters.zeroGuard ? 1 : 0;
  Table table;
  for (int i = 0; i < 256; ++i) {
    int symbol = 0;
    if (bias <= 128)
      symbol = i < 2 * bias ? fold(i - bias) + guard : i;
    else
      symbol = (i > 2 * bias - 256 ? fold(i - bias) : 255 - i) + guard;
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(symbol);
  }
  if (parameters.zeroGuard)
    table[0] = 0;
  return table;
}

Table symbolTable(const VlcParameters &parameters) {
  return parameters.isBf16 ? exponentSymbols(parameters) : integerSymbols(parameters);
}

Table inverseOf(const Table &table) {
  Table inverse{};
  for (unsigned i = 256; i-- > 0;)
    inverse[table[i]] = static_cast<uint8_t>(i);
  return inverse;
}

class BitWriter {
public:
  void put(uint32_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i, ++at) {
      if (at / 8 == bytes.size())
        bytes.push_back(0);
      bytes[at / 8] = static_cast<uint8_t>(bytes[at / 8] | (value >> i & 1) << at % 8);
    }
  }
  std::vector<uint8_t> bytes;

private:
  uint64_t at = 0;
};

class BitReader {
public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes(bytes) {}
  /// Zeros behind the end.
  uint32_t get(unsigned width) {
    uint32_t value = 0;
    for (unsigned i = 0; i < width; ++i, ++at)
      if (at / 8 < bytes.size())
        value |= (uint32_t{bytes[at / 8]} >> at % 8 & 1) << i;
    return value;
  }
  uint64_t position() const { return at; }

private:
  std::span<const uint8_t> bytes;
  uint64_t at = 0;
};

struct Block {
  std::array<uint8_t, kSymbols> plain{}, symbols{}, tails{};
  unsigned rice = 0, unary = 0;
  bool isStored = false;
};

unsigned unaryBits(const Block &block, unsigned rice) {
  unsigned bits = kSymbols;
  for (const uint8_t symbol : block.symbols)
    bits += symbol >> rice;
  return bits;
}

/// The parameter with the fewest bits, the smallest of them, or none.
void chooseRice(Block &block, bool zeroGuard) {
  unsigned best = ~0u;
  for (unsigned rice = 0; rice <= kMostRice; ++rice) {
    const unsigned unary = unaryBits(block, rice);
    const unsigned bits = 16 * rice + unary + (zeroGuard && rice != 0 ? 4 : 0);
    if (unary > kMostUnary || bits >= best)
      continue;
    best = bits;
    block.rice = rice;
    block.unary = unary;
  }
  block.isStored = best > kStoredBits;
}

void writeBlock(BitWriter &out, const Block &block, const VlcParameters &parameters) {
  if (block.isStored) {
    for (const uint8_t symbol : block.symbols)
      out.put(symbol, 8);
  } else {
    for (unsigned plane = 0; plane < block.rice; ++plane)
      for (const uint8_t symbol : block.symbols)
        out.put(symbol >> plane & 1u, 1);
    if (parameters.zeroGuard && block.rice != 0)
      out.put(static_cast<uint32_t>(std::ranges::count(block.symbols, 0)), 4);
    for (const uint8_t symbol : block.symbols) {
      out.put(0, symbol >> block.rice);
      out.put(1, 1);
    }
  }
  if (parameters.isBf16)
    for (size_t i = 0; i < kSymbols; ++i)
      if (block.plain[i] != 0 || !parameters.zeroGuard)
        out.put(block.tails[i], 8);
}

void writeHeader(std::vector<uint8_t> &out, uint64_t payload, const VlcParameters &parameters) {
  const uint64_t word = payload | uint64_t{parameters.isSigned} << 28 |
                        uint64_t{parameters.isBf16} << 29 | uint64_t{parameters.bias0} << 32 |
                        uint64_t{parameters.bias1 & 0x7Fu} << 40 |
                        uint64_t{parameters.zeroGuard} << 47;
  for (unsigned i = 0; i < 8; ++i)
    out[i] = static_cast<uint8_t>(word >> 8 * i);
}

VlcParameters readHeader(std::span<const uint8_t> bytes) {
  return {.isSigned = (bytes[3] & 0x10) != 0,
          .isBf16 = (bytes[3] & 0x20) != 0,
          .bias0 = bytes[4],
          .bias1 = static_cast<uint8_t>(bytes[5] & 0x7F),
          .zeroGuard = (bytes[5] & 0x80) != 0};
}

/// The symbols of a block that the map describes by `code`. False: no code.
bool readSymbols(BitReader &in, Block &block, uint8_t code, bool zeroGuard) {
  block.rice = code >> 5;
  if (block.rice == kStored) {
    for (uint8_t &symbol : block.symbols)
      symbol = static_cast<uint8_t>(in.get(8));
    return true;
  }
  if (block.rice > kMostRice)
    return false;
  for (unsigned plane = 0; plane < block.rice; ++plane)
    for (uint8_t &symbol : block.symbols)
      symbol = static_cast<uint8_t>(symbol | in.get(1) << plane);
  if (zeroGuard && block.rice != 0)
    in.get(4);
  unsigned left = (code & 31) + kSymbols;
  for (uint8_t &symbol : block.symbols) {
    unsigned zeros = 0;
    while (left > 0 && in.get(1) == 0) {
      ++zeros;
      --left;
    }
    if (left == 0)
      return false;
    --left;
    symbol = static_cast<uint8_t>(symbol | zeros << block.rice);
  }
  return left == 0;
}

} // namespace

VlcParameters estimateVlc(std::span<const uint16_t> values, bool isBf16, bool isSigned) {
  VlcParameters made{.isSigned = isSigned && !isBf16, .isBf16 = isBf16};
  if (isBf16) {
    uint64_t sum = 0;
    uint64_t count = 0;
    for (const uint16_t value : values)
      if (const unsigned exponent = value >> 7 & 0xFFu; exponent != 0) {
        sum += exponent;
        ++count;
      }
    // The mean is one of float32.
    const float mean = count == 0 ? 127 : static_cast<float>(sum) / static_cast<float>(count);
    made.bias0 = static_cast<uint8_t>(static_cast<double>(mean) + 0.5);
    made.zeroGuard = count != values.size();
    return made;
  }
  if (!isSigned)
    return made;
  int positive = 0;
  int negative = 0;
  for (const uint16_t value : values) {
    const int number = static_cast<int8_t>(value & 0xFF);
    if (number > 0 && (positive == 0 || number < positive))
      positive = number;
    if (number < 0 && (negative == 0 || -number < negative))
      negative = -number;
  }
  made.bias0 = static_cast<uint8_t>(std::max(positive - 1, 0));
  made.bias1 = static_cast<uint8_t>(std::max(negative - 1, 0));
  return made;
}

uint64_t vlcBound(uint64_t count, bool isBf16) {
  const uint64_t blocks = blocksOf(count);
  return kHeaderBytes + alignUp(blocks) + blocks * (isBf16 ? 32 : 16);
}

std::vector<uint8_t> encodeVlc(std::span<const uint16_t> values, const VlcParameters &parameters) {
  const Table table = symbolTable(parameters);
  const uint64_t blocks = blocksOf(values.size());
  std::vector<uint8_t> out(kHeaderBytes + alignUp(blocks));
  BitWriter payload;
  for (uint64_t i = 0; i < blocks; ++i) {
    Block block;
    for (size_t j = 0; j < kSymbols; ++j) {
      const size_t at = i * kSymbols + j;
      const uint16_t value = at < values.size() ? values[at] : 0;
      block.plain[j] = static_cast<uint8_t>(parameters.isBf16 ? value >> 7 : value);
      block.symbols[j] = table[block.plain[j]];
      block.tails[j] = static_cast<uint8_t>((value >> 8 & 0x80) | (value & 0x7F));
    }
    chooseRice(block, parameters.zeroGuard);
    out[kHeaderBytes + i] = static_cast<uint8_t>(
        block.isStored ? kStored << 5 : block.rice << 5 | ((block.unary - kSymbols) & 31));
    writeBlock(payload, block, parameters);
  }
  payload.bytes.resize(alignUp(payload.bytes.size()));
  writeHeader(out, payload.bytes.size(), parameters);
  out.insert(out.end(), payload.bytes.begin(), payload.bytes.end());
  return out;
}

Expected<VlcStream> decodeVlc(std::span<const uint8_t> bytes, uint64_t count,
                              const std::string &where) {
  const uint64_t blocks = blocksOf(count);
  const uint64_t begin = kHeaderBytes + alignUp(blocks);
  if (bytes.size() < begin)
    return makeError(where, fmt::format("{} bytes of a compressed stream", bytes.size()),
                     fmt::format("{} before its payload", begin));
  VlcStream made;
  made.parameters = readHeader(bytes);
  const uint64_t payload = bytes[0] | uint64_t{bytes[1]} << 8 | uint64_t{bytes[2]} << 16;
  const uint64_t bound = vlcBound(count, made.parameters.isBf16) - begin;
  if (payload > bound + 16)
    return makeError(where, fmt::format("a compressed stream of {} bytes", payload),
                     fmt::format("at most {}", bound));
  if (bytes.size() - begin < payload)
    return makeError(where, fmt::format("{} bytes of a compressed stream", bytes.size() - begin),
                     fmt::format("the {} that it states", payload));
  made.bytes = begin + payload;
  const Table plain = inverseOf(symbolTable(made.parameters));
  BitReader in(bytes.subspan(begin, payload));
  made.values.reserve(count);
  for (uint64_t i = 0; i < blocks; ++i) {
    Block block;
    if (!readSymbols(in, block, bytes[kHeaderBytes + i], made.parameters.zeroGuard))
      return makeError(where, fmt::format("block {} of a compressed stream", i),
                       "16 codes of the length that the map states");
    for (size_t j = 0; j < kSymbols; ++j) {
      const uint8_t value = plain[block.symbols[j]];
      uint32_t bits = value;
      if (made.parameters.isBf16) {
        const uint32_t tail = value != 0 || !made.parameters.zeroGuard ? in.get(8) : 0;
        bits = (tail & 0x80) << 8 | bits << 7 | (tail & 0x7F);
      }
      if (made.values.size() < count)
        made.values.push_back(static_cast<uint16_t>(bits));
    }
  }
  // The last block of BF16 values is short where its filler is left out.
  if (in.position() > payload * 8 + 8 * kSymbols)
    return makeError(where, fmt::format("{} bits of blocks", in.position()),
                     fmt::format("at most the {} of the payload", payload * 8));
  return made;
}

} // namespace tpuc::cv18xx
