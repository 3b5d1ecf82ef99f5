//===- Case.cpp - One command and the memory it finds ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Case.h"

#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::cv18xx::conformance {

namespace {

constexpr std::string_view kContents[] = {"bits", "floats", "special", "large"};

uint16_t randomFloat(uint64_t bits, Content content) {
  if (content == Content::Special && bits >> 60 == 0)
    return static_cast<uint16_t>(bits);
  if (content == Content::Large && bits >> 59 == 3)
    return static_cast<uint16_t>((bits & 0x807F) | (251 + (bits >> 40) % 5) << 7);
  if (content == Content::Large && bits >> 55 == 42)
    return static_cast<uint16_t>((bits & 0x8000) | 0x7F80);
  if (bits >> 58 == 1)
    return content == Content::Large ? static_cast<uint16_t>(bits & 0x8000) : uint16_t{0};
  const auto exponent = static_cast<uint16_t>(119 + (bits >> 32 & 15) + (bits >> 36 & 1));
  return static_cast<uint16_t>((bits & 0x807F) | exponent << 7);
}

void fill(std::span<uint8_t> bytes, Random &random, Content content) {
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = random.next();
    if (content != Content::Bits)
      for (unsigned j = 0; j < 4; ++j) {
        const uint64_t own = word ^ (word << 7) ^ (uint64_t{j} << 61);
        const uint64_t value = randomFloat(own * 0x9e3779b97f4a7c15u >> 3, content);
        word = (word & ~(uint64_t{0xFFFF} << 16 * j)) | value << 16 * j;
      }
    std::memcpy(&bytes[i], &word, 8);
  }
}

/// Multipliers below 2^31, shifts below 20, biases of 24 bits.
void tameParameters(const Case &one, std::span<uint8_t> local, Random &random) {
  const TiuCommand tiu = readTiu(*one.chip, one.command);
  const TiuViews views = viewsOf(*one.chip, tiu);
  if (!tiu.hasRequant || tiu.type > tiu::kPool || views.opd2.count == 0)
    return;
  Memory layout(*one.chip, {});
  const uint8_t *begin = layout.local().data();
  for (uint32_t c = 0; c < views.opd2.view.shape[1]; ++c) {
    uint8_t *record = &local[static_cast<size_t>(layout.at(views.opd2.view, 0, c, 0) - begin)];
    if (tiu.numOperands == 3) {
      record[3] = (record[2] & 0x80) != 0 ? 0xFF : 0;
      record += 4;
    }
    record[3] &= 0x7F;
    // A power of two leaves halves, which show how they are rounded.
    if (random.oneIn(3)) {
      record[0] = record[1] = record[2] = 0;
      record[3] = 0x40;
    }
    record[4] = static_cast<uint8_t>(random.below(20));
  }
}

void placeStream(const Case &one, std::span<uint8_t> global, Random &random) {
  const DmaCommand dma = readDma(*one.chip, one.command);
  if (!dma.isCompressed || dma.direction != Direction::Load)
    return;
  const Extents &shape = dma.src.shape;
  const uint64_t count = dma.isMatrix ? uint64_t{shape[1]} * shape[3]
                                      : uint64_t{shape[0]} * shape[1] * shape[2] * shape[3];
  // A changed command may ask for more than there is, or elsewhere.
  if (count > kGlobalBytes / 4 || dma.src.address > kGlobalBytes / 4)
    return;
  const bool isSigned = !dma.srcBf16 && dma.int8Signed;
  const unsigned spread = 1 + random.below(8);
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values) {
    const uint64_t bits = random.next();
    value = dma.srcBf16 ? randomFloat(bits, Content::Floats)
                        : static_cast<uint16_t>((bits & ((1u << spread) - 1)) *
                                                ((bits >> 40 & 1) != 0 && isSigned ? 255 : 1)) &
                              0xFF;
  }
  VlcParameters parameters = estimateVlc(values, dma.srcBf16, isSigned);
  if (random.oneIn(2)) {
    parameters.bias0 = static_cast<uint8_t>(dma.srcBf16 ? random.below(256)
                                            : isSigned  ? random.below(128)
                                                        : 0);
    parameters.bias1 = static_cast<uint8_t>(isSigned ? random.below(127) : 0);
    parameters.zeroGuard = dma.srcBf16 && random.oneIn(2);
  }
  const std::vector<uint8_t> stream = encodeVlc(values, parameters);
  if (stream.size() <= global.size() - dma.src.address)
    std::ranges::copy(stream, global.begin() + static_cast<ptrdiff_t>(dma.src.address));
}

} // namespace

void fillMemories(const Case &one, std::span<uint8_t> local, std::span<uint8_t> global) {
  Random random(one.seed);
  fill(local, random, one.content);
  fill(global, random, one.content);
  if (one.command.engine() == Engine::Tiu)
    tameParameters(one, local, random);
  else
    placeStream(one, global, random);
}

uint64_t hashMemories(std::span<const uint8_t> local, std::span<const uint8_t> global) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::span<const uint8_t> memory : {local, global})
    for (size_t i = 0; i + 8 <= memory.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, &memory[i], 8);
      hash = (hash ^ word) * 0x100000001b3;
      hash ^= hash >> 29;
    }
  return hash;
}

Expected<void> runHere(const Case &one, Memory &memory) {
  if (std::optional<Error> error = checkCommand(*one.chip, one.command, "case"))
    return tl::unexpected(std::move(*error));
  return runCommand(memory, one.command, "case");
}

std::string caseText(const Case &one) {
  return fmt::format("{} {} {} {}", one.chip->name, one.seed,
                     kContents[static_cast<size_t>(one.content)], disassemble(one.command));
}

Expected<Case> parseCase(std::string_view text, const std::string &where) {
  const auto word = [&]() {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view made = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return made;
  };
  const std::string_view name = word();
  const Chip *chip = findChip(name);
  if (!chip)
    return makeError(where, fmt::format("chip '{}'", name), "one of the four");
  const std::string_view number = word();
  uint64_t seed = 0;
  std::from_chars(number.data(), number.data() + number.size(), seed);
  const std::string_view content = word();
  const auto *found = std::ranges::find(kContents, content);
  if (found == std::end(kContents))
    return makeError(where, fmt::format("content '{}'", content), "bits, floats, special or large");
  Expected<Command> command = mc::assemble(commandTable(*chip), text, where);
  if (!command)
    return propagate(command);
  return Case{chip, *command, seed, static_cast<Content>(found - std::begin(kContents))};
}

} // namespace tpuc::cv18xx::conformance
