//===- ByteMutations.cpp - Files with other bytes --------------------------------------------*- C++
//-*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/ByteMutations.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace tpuc::fuzz {

namespace {

/// Bytes that come or go at once.
constexpr size_t kMostBytes = 64;
/// How often a piece is repeated.
constexpr size_t kMostTimes = 300;

constexpr uint64_t kIntegers[] = {
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x100000000,
    0x3F800000,         // 1 as f32
    0x7F800000,         // infinity as f32
    0x7FC00000,         // no number as f32
    0x3FF0000000000000, // 1 as f64
    0x7FF0000000000000, // infinity as f64
    uint64_t(1) << 62,
    std::numeric_limits<int64_t>::max(),
    uint64_t(1) << 63,
    std::numeric_limits<uint64_t>::max(),
};

/// A piece of a file.
struct Piece {
  size_t begin, size;
};

/// Of up to kMostBytes bytes, at least one, of a file that is not empty.
Piece pieceOf(const std::string &bytes, Random &random) {
  const size_t begin = random.below(bytes.size());
  const size_t most = std::min(bytes.size() - begin, size_t(1) << random.below(7));
  return {begin, 1 + random.below(most)};
}

Change flipBit(std::string &bytes, const std::string &, Random &random) {
  const size_t at = random.below(bytes.size());
  const size_t bit = random.below(8);
  bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
  return {fmt::format("bit {} of byte {}", bit, at), "a bit"};
}

Change setByte(std::string &bytes, const std::string &, Random &random) {
  constexpr unsigned char kBytes[] = {0, 1, 0x7F, 0x80, 0xFF, ' ', '\n', '0', '9', '-', '"', '/'};
  const size_t at = random.below(bytes.size());
  const unsigned char byte =
      random.oneIn(2) ? random.of(kBytes) : static_cast<unsigned char>(random.below(256));
  bytes[at] = static_cast<char>(byte);
  return {fmt::format("byte {} = {}", at, byte), "a byte"};
}

/// In the order of either machine.
Change setInteger(std::string &bytes, const std::string &, Random &random) {
  const size_t size = size_t(2) << random.below(3);
  if (bytes.size() < size)
    return {};
  const size_t at = random.below(bytes.size() - size + 1);
  uint64_t value = random.of(kIntegers);
  if (random.oneIn(4)) {
    // Near to what is there, such as one element more.
    std::memcpy(&value, &bytes[at], size);
    value += random.below(17) - 8;
  }
  const bool isSwapped = random.oneIn(4);
  const uint64_t shown = value;
  if (isSwapped)
    value = __builtin_bswap64(value) >> (64 - 8 * size);
  std::memcpy(&bytes[at], &value, size);
  return {fmt::format("bytes {} to {} = {:#x}{}", at, at + size - 1, shown,
                      isSwapped ? ", the highest first" : ""),
          "an integer"};
}

Change removeBytes(std::string &bytes, const std::string &, Random &random) {
  const Piece piece = pieceOf(bytes, random);
  bytes.erase(piece.begin, piece.size);
  return {fmt::format("{} bytes from {} on are gone", piece.size, piece.begin), "bytes less"};
}

Change insertBytes(std::string &bytes, const std::string &, Random &random) {
  const size_t at = random.below(bytes.size() + 1);
  std::string more(1 + random.below(kMostBytes), '\0');
  const bool isNoise = random.oneIn(2);
  for (char &byte : more)
    byte = isNoise ? static_cast<char>(random.below(256)) : '\0';
  bytes.insert(at, more);
  return {fmt::format("{} {} before {}", more.size(), isNoise ? "bytes by chance" : "zeros", at),
          "bytes more"};
}

Change cutOff(std::string &bytes, const std::string &, Random &random) {
  // Often near to the end, where directories and checksums stand.
  const size_t most = random.oneIn(2) ? bytes.size() : std::min(bytes.size(), kMostBytes);
  const size_t size = bytes.size() - 1 - random.below(most);
  bytes.resize(size);
  return {fmt::format("only the first {} bytes", size), "the end"};
}

/// Puts a piece of another file over or between the bytes.
Change splice(std::string &bytes, const std::string &other, Random &random) {
  if (other.empty())
    return {};
  const Piece piece = pieceOf(other, random);
  const size_t at = random.below(bytes.size());
  const bool isOver = random.oneIn(2);
  bytes.replace(at, isOver ? std::min(piece.size, bytes.size() - at) : 0, other, piece.begin,
                piece.size);
  return {fmt::format("{} bytes from {} on of another file {} {}", piece.size, piece.begin,
                      isOver ? "over" : "before", at),
          "bytes of another file"};
}

Change moveBytes(std::string &bytes, const std::string &, Random &random) {
  const Piece piece = pieceOf(bytes, random);
  const std::string moved = bytes.substr(piece.begin, piece.size);
  bytes.erase(piece.begin, piece.size);
  const size_t at = random.below(bytes.size() + 1);
  bytes.insert(at, moved);
  return {fmt::format("{} bytes from {} on before {}", piece.size, piece.begin, at), "bytes moved"};
}

Change repeatBytes(std::string &bytes, const std::string &, Random &random) {
  const Piece piece = pieceOf(bytes, random);
  const size_t times = random.oneIn(8) ? kMostTimes : 1 + random.below(4);
  const std::string once = bytes.substr(piece.begin, piece.size);
  std::string all;
  for (size_t i = 0; i < times; ++i)
    all += once;
  bytes.insert(piece.begin, all);
  return {fmt::format("{} bytes from {} on, {} times more", piece.size, piece.begin, times),
          "bytes repeated"};
}

using Mutation = Change (*)(std::string &bytes, const std::string &other, Random &random);
constexpr Mutation kMutations[] = {flipBit,     flipBit,    setByte,   setByte,
                                   setInteger,  setInteger, cutOff,    removeBytes,
                                   insertBytes, splice,     moveBytes, repeatBytes};

} // namespace

Change mutateBytes(std::string &bytes, const std::string &other, uint64_t seed) {
  static_assert(std::endian::native == std::endian::little);
  Random random(seed);
  if (bytes.empty())
    return insertBytes(bytes, other, random);
  return random.of(kMutations)(bytes, other, random);
}

} // namespace tpuc::fuzz
