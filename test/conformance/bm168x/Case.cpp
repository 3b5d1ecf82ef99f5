//===- Case.cpp - One command and what it works on, reproducibly ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm168x/Case.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace tpuc::bm168x::conformance {

uint64_t Random::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

namespace {

constexpr std::string_view kKindNames[] = {"bits",     "small",   "index",   "distinct", "float",
                                           "positive", "special", "requant", "pairs"};

/// Bits of a float: sign, biased exponent, mantissa in the format of `prec`.
uint32_t packFloat(Prec prec, bool negative, int exponent, uint32_t mantissa) {
  int mantissaBits = prec == Prec::F32 ? 23 : prec == Prec::F16 ? 10 : 7;
  int bias = prec == Prec::F16 ? 15 : 127;
  int most = prec == Prec::F16 ? 30 : 254;
  int biased = std::clamp(exponent + bias, 1, most);
  uint32_t sign = static_cast<uint32_t>(negative) << (prec == Prec::F32 ? 31 : 15);
  return sign | static_cast<uint32_t>(biased) << mantissaBits |
         (mantissa & ((1u << mantissaBits) - 1));
}

uint32_t randomFloat(Random &random, Prec prec, Kind kind, uint32_t limit) {
  if (!isFloatPrec(prec))
    return static_cast<uint32_t>(random.next());
  int64_t spread = 4 + limit;
  auto exponent = static_cast<int>(random.range(-spread, spread));
  bool negative = kind != Kind::Positive && random.chance(2);
  uint32_t bits = packFloat(prec, negative, exponent, static_cast<uint32_t>(random.next()));
  if (kind != Kind::Positive && random.chance(16))
    bits = 0;
  if (kind == Kind::Special && random.chance(8)) {
    uint32_t infinity = prec == Prec::F32 ? 0x7f800000 : prec == Prec::F16 ? 0x7c00 : 0x7f80;
    uint32_t sign = prec == Prec::F32 ? 0x80000000 : 0x8000;
    const uint32_t kinds[] = {infinity, infinity | sign, infinity | 1, 1, sign | 3,
                              sign,     infinity - 1};
    bits = random.pick(kinds);
  }
  return bits;
}

/// Columns of the parameters that requantizations read; `limit` is the sub-opcode.
uint32_t requantWord(Random &random, uint32_t sub, int64_t column) {
  auto small = [&](int64_t low, int64_t high) {
    return static_cast<uint32_t>(random.range(low, high));
  };
  switch (sub) {
  case 0:
    return column == 0
               ? packFloat(Prec::F32, random.chance(8), static_cast<int>(random.range(-20, -2)),
                           static_cast<uint32_t>(random.next()))
               : packFloat(Prec::F32, random.chance(2), static_cast<int>(random.range(-2, 6)),
                           static_cast<uint32_t>(random.next()));
  case 1:
    return column == 0   ? small(-(1 << 30), 1 << 30)
           : column == 1 ? small(-45, -10)
                         : small(-50, 50);
  case 3:
    return column == 0
               ? small(-100, 100)
               : packFloat(Prec::F32, random.chance(4), static_cast<int>(random.range(-8, 8)),
                           static_cast<uint32_t>(random.next()));
  default:
    return column == 0 ? small(-100, 100) : column == 1 ? small(-1000, 1000) : small(-12, 3);
  }
}

uint32_t randomElement(Random &random, const Fill &fill, Prec prec, int64_t w) {
  switch (fill.kind) {
  case Kind::Bits:
    return static_cast<uint32_t>(random.next());
  case Kind::Small:
    return static_cast<uint32_t>(
        random.range(-static_cast<int64_t>(fill.limit), static_cast<int64_t>(fill.limit)));
  case Kind::Index:
    return static_cast<uint32_t>(random.next() % fill.limit);
  case Kind::Pairs:
    return static_cast<uint32_t>(random.next() % (w == 0 ? fill.limit & 0xffff : fill.limit >> 16));
  case Kind::Requant:
    return requantWord(random, fill.limit, w);
  default:
    return randomFloat(random, prec, fill.kind, fill.limit);
  }
}

void fillView(const Fill &fill, const View &view, const ElementAt &at) {
  Random random(fill.seed);
  std::vector<uint32_t> distinct;
  for (int64_t n = 0; n < view.shape[0]; ++n)
    for (int64_t c = 0; c < view.shape[1]; ++c)
      for (int64_t h = 0; h < view.shape[2]; ++h)
        for (int64_t w = 0; w < view.shape[3]; ++w) {
          uint32_t bits;
          if (fill.kind == Kind::Distinct) {
            // One permutation along the innermost dimension that has more than one element.
            bool alongW = view.shape[3] > 1;
            bool alongH = !alongW && view.shape[2] > 1;
            int64_t index = alongW ? w : alongH ? h : c;
            if (index == 0) {
              distinct.resize(fill.limit);
              std::iota(distinct.begin(), distinct.end(), 0u);
              for (size_t k = distinct.size(); k > 1; --k)
                std::swap(distinct[k - 1], distinct[random.next() % k]);
            }
            bits = distinct[static_cast<size_t>(index) % distinct.size()];
          } else {
            bits = randomElement(random, fill, view.prec, w);
          }
          std::memcpy(at(view, n, c, h, w), &bits, view.bytes());
        }
}

} // namespace

void fillOperands(const Case &one, const OperandList &operands, const ElementAt &at) {
  for (const Fill &fill : one.fills)
    for (const Operand &operand : operands.all())
      if (operand.role == fill.role)
        fillView(fill, operand.view, at);
}

uint64_t hashResults(const OperandList &operands, const ElementAt &at) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const Operand &operand : operands.all()) {
    if (!operand.isWritten)
      continue;
    const View &view = operand.view;
    for (int64_t n = 0; n < view.shape[0]; ++n)
      for (int64_t c = 0; c < view.shape[1]; ++c)
        for (int64_t h = 0; h < view.shape[2]; ++h)
          for (int64_t w = 0; w < view.shape[3]; ++w) {
            uint32_t bits = 0;
            std::memcpy(&bits, at(view, n, c, h, w), view.bytes());
            if (view.prec == Prec::F32 && (bits & 0x7fffffff) > 0x7f800000)
              bits = 0x7fc00000;
            hash = (hash ^ bits) * 0x100000001b3;
          }
  }
  return hash;
}

ElementAt elementsOf(const LocalMemory &lanes, uint8_t *local,
                     std::function<uint8_t *(uint64_t address)> absolute) {
  return [lanes, local, absolute = std::move(absolute)](const View &view, int64_t n, int64_t c,
                                                        int64_t h, int64_t w) {
    int64_t offset = n * view.stride[0] + h * view.stride[2] + w * view.stride[3];
    if (!view.isLocal)
      return absolute(view.address) + (offset + c * view.stride[1]) * view.bytes();
    int64_t at = startLane(lanes, view.address) + c;
    offset = (offset + at / kLanes * view.stride[1]) * view.bytes();
    return local + at % kLanes * lanes.laneBytes + view.address % lanes.laneBytes + offset;
  };
}

std::string caseText(const Case &one) {
  std::string text = mc::disassemble(one.command);
  for (const Fill &fill : one.fills)
    text += fmt::format(" | {} {} {} {}", roleName(fill.role),
                        kKindNames[static_cast<size_t>(fill.kind)], fill.seed, fill.limit);
  return text;
}

namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(by);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + by.size());
  }
}

std::optional<Fill> parseFill(std::string_view text) {
  std::vector<std::string_view> words = split(text, " ");
  if (words.size() != 4)
    return std::nullopt;
  Fill fill{};
  const auto *kind = std::ranges::find(kKindNames, words[1]);
  bool found = kind != std::end(kKindNames);
  for (Role role : {Role::Res0, Role::Res1, Role::Opd0, Role::Opd1, Role::Opd2, Role::Opd3})
    if (roleName(role) == words[0])
      fill.role = role;
  fill.kind = static_cast<Kind>(kind - kKindNames);
  std::from_chars(words[2].data(), words[2].data() + words[2].size(), fill.seed);
  std::from_chars(words[3].data(), words[3].data() + words[3].size(), fill.limit);
  return found ? std::optional(fill) : std::nullopt;
}

} // namespace

Expected<Case> parseCase(const mc::CommandTable &table, std::string_view text,
                         const std::string &where) {
  std::vector<std::string_view> parts = split(text, " | ");
  Expected<mc::Command> command = mc::assemble(table, parts[0], where);
  if (!command)
    return propagate(command);
  Case one{*command, {}};
  for (std::string_view part : std::span(parts).subspan(1)) {
    std::optional<Fill> fill = parseFill(part);
    if (!fill)
      return makeError(where, fmt::format("'{}'", part), "role, kind, seed and limit");
    one.fills.push_back(*fill);
  }
  return one;
}

} // namespace tpuc::bm168x::conformance
