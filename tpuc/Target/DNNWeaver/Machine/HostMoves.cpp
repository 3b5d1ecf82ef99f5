//===- HostMoves.cpp - What the host does around a run -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/HostMoves.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace tpuc::dnnweaver {

namespace {

constexpr std::array<std::string_view, 2> kSets = {"public", "patent"};
constexpr size_t kWords = kHostMoveBytes / 8;

std::array<uint64_t, kWords> wordsOf(const HostMove &move) {
  return {static_cast<uint64_t>(move.kind),
          move.bytes,
          move.from,
          move.to,
          move.counts[0],
          move.counts[1],
          move.counts[2],
          move.fromStrides[0],
          move.fromStrides[1] | move.fromStrides[2] << 32,
          move.toStrides[0],
          move.toStrides[1] | move.toStrides[2] << 32,
          0};
}

Expected<HostMove> moveOf(const std::array<uint64_t, kWords> &words, const std::string &where) {
  if (words[0] > static_cast<uint64_t>(HostMove::Kind::Move) || words[1] < 1 || words[1] > 2 ||
      words.back() != 0)
    return makeError(
        where, fmt::format("a record of kind {} for elements of {} bytes", words[0], words[1]),
        "kind 0, 1 or 2 and elements of 1 or 2 bytes");
  HostMove move;
  move.kind = static_cast<HostMove::Kind>(words[0]);
  move.bytes = static_cast<unsigned>(words[1]);
  move.from = words[2];
  move.to = words[3];
  move.counts = {words[4], words[5], words[6]};
  move.fromStrides = {words[7], words[8] & 0xFFFFFFFF, words[8] >> 32};
  move.toStrides = {words[9], words[10] & 0xFFFFFFFF, words[10] >> 32};
  return move;
}

/// The end of what a walk touches from `begin` on; none where that is no number of 64 bits.
std::optional<uint64_t> endOf(uint64_t begin, const std::array<uint64_t, 3> &counts,
                              const std::array<uint64_t, 3> &strides, unsigned bytes) {
  uint64_t end = begin;
  for (size_t i = 0; i < counts.size(); ++i) {
    uint64_t length = 0;
    if (__builtin_mul_overflow(counts[i] - 1, strides[i], &length) ||
        __builtin_add_overflow(end, length, &end))
      return std::nullopt;
  }
  return __builtin_add_overflow(end, bytes, &end) ? std::nullopt : std::optional(end);
}

} // namespace

HostMove machineMove(const Parameters &machine) {
  HostMove move;
  move.kind = HostMove::Kind::Machine;
  move.from = machine.isa == IsaKind::Public ? 0 : 1;
  move.to = machine.rows;
  move.counts = {machine.columns, 1, 1};
  return move;
}

Expected<Parameters> machineOf(const HostMove &move, const std::string &where) {
  if (move.from >= kSets.size() || move.to > 128 || move.counts[0] > 128)
    return makeError(where, fmt::format("machine {}", move.from), "0 or 1, with at most 128 rows");
  Expected<Parameters> set = parametersNamed(kSets[move.from], where);
  return set ? withArray(*set, static_cast<unsigned>(move.to),
                         static_cast<unsigned>(move.counts[0]), where)
             : set;
}

std::vector<std::byte> encodeMoves(std::span<const HostMove> moves) {
  std::vector<std::byte> bytes;
  bytes.reserve(moves.size() * kHostMoveBytes);
  for (const HostMove &move : moves)
    for (const uint64_t word : wordsOf(move))
      for (unsigned i = 0; i < 8; ++i)
        bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
  return bytes;
}

Expected<std::vector<HostMove>> decodeMoves(std::span<const std::byte> bytes,
                                            const std::string &where) {
  if (bytes.size() % kHostMoveBytes != 0)
    return makeError(where, fmt::format("{} bytes of records for the host", bytes.size()),
                     fmt::format("a multiple of {}", kHostMoveBytes));
  std::vector<HostMove> moves;
  for (size_t at = 0; at < bytes.size(); at += kHostMoveBytes) {
    std::array<uint64_t, kWords> words = {};
    for (size_t i = 0; i < kHostMoveBytes; ++i)
      words[i / 8] |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * (i % 8));
    Expected<HostMove> move =
        moveOf(words, fmt::format("{}: record {}", where, at / kHostMoveBytes));
    if (!move)
      return propagate(move);
    moves.push_back(*move);
  }
  return moves;
}

std::string moveText(const HostMove &move) {
  switch (move.kind) {
  case HostMove::Kind::Machine:
    return fmt::format("machine {} {}x{}", move.from < kSets.size() ? kSets[move.from] : "?",
                       move.to, move.counts[0]);
  case HostMove::Kind::Fill:
    return fmt::format("fill {} x {} bytes at {:#x} with {}", move.counts[0], move.bytes, move.to,
                       static_cast<int64_t>(move.from));
  case HostMove::Kind::Move:
    return fmt::format("move {}x{}x{} of {} bytes from {:#x} by {},{},{} to {:#x} by {},{},{}",
                       move.counts[0], move.counts[1], move.counts[2], move.bytes, move.from,
                       move.fromStrides[0], move.fromStrides[1], move.fromStrides[2], move.to,
                       move.toStrides[0], move.toStrides[1], move.toStrides[2]);
  }
  return {};
}

Expected<void> runMove(const HostMove &move, std::span<uint8_t> memory, const std::string &where) {
  if (move.kind == HostMove::Kind::Machine)
    return {};
  uint64_t elements = 1;
  for (const uint64_t count : move.counts) {
    if (count == 0 || count > kMostMoved / elements)
      return makeError(where, "no elements, or more than 2^32", "fewer");
    elements *= count;
  }
  const bool isFill = move.kind == HostMove::Kind::Fill;
  const auto toEnd = isFill ? endOf(move.to, move.counts, {move.bytes, 0, 0}, move.bytes)
                            : endOf(move.to, move.counts, move.toStrides, move.bytes);
  const auto fromEnd = isFill ? std::optional<uint64_t>(0)
                              : endOf(move.from, move.counts, move.fromStrides, move.bytes);
  if (!toEnd || *toEnd > memory.size() || !fromEnd || *fromEnd > memory.size())
    return makeError(where, fmt::format("bytes outside of memory: {}", moveText(move)),
                     fmt::format("below {:#x}", memory.size()));
  if (isFill) {
    for (uint64_t i = 0; i < move.counts[0]; ++i)
      std::memcpy(&memory[move.to + i * move.bytes], &move.from, move.bytes);
    return {};
  }
  for (uint64_t a = 0; a < move.counts[0]; ++a)
    for (uint64_t b = 0; b < move.counts[1]; ++b)
      for (uint64_t c = 0; c < move.counts[2]; ++c)
        std::memmove(&memory[move.to + a * move.toStrides[0] + b * move.toStrides[1] +
                             c * move.toStrides[2]],
                     &memory[move.from + a * move.fromStrides[0] + b * move.fromStrides[1] +
                             c * move.fromStrides[2]],
                     move.bytes);
  return {};
}

} // namespace tpuc::dnnweaver
