//===- Dma.cpp - Moves between and inside the memories --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Numbers.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"
#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::cv18xx {

namespace {

/// Where the elements of one side lie, in the order of the move.
class Mover {
public:
  Mover(Memory &memory, const DmaCommand &command, const std::string &where)
      : memory(memory), command(command), where(where) {}

  Expected<void> run();

private:
  std::span<uint8_t> bytesOf(const DmaCommand::Side &side) {
    return side.isLocal ? memory.local() : memory.global();
  }
  /// The byte that an address of the side is.
  uint64_t begin(const DmaCommand::Side &side) const {
    return side.isLocal ? side.address : memory.bases[side.base] + side.address;
  }
  Expected<void> checkGlobal(const DmaCommand::Side &side, uint64_t bytes);
  Expected<void> checkGlobalShape(const DmaCommand::Side &side);
  Expected<void> linear();
  template <typename F> void forEach(const DmaCommand::Side &side, bool swaps, F visit);
  template <typename F> void forEachOfMatrix(const DmaCommand::Side &side, F visit);
  template <typename F> void visitAll(const DmaCommand::Side &side, bool swaps, F visit) {
    if (command.isMatrix)
      forEachOfMatrix(side, visit);
    else
      forEach(side, swaps, visit);
  }
  Expected<std::vector<uint16_t>> readValues();
  Expected<std::vector<uint16_t>> unpack();
  Expected<void> pack(std::span<const uint16_t> values);
  Expected<uint16_t> converted(uint16_t value) const;

  Memory &memory;
  const DmaCommand &command;
  const std::string &where;
};

Expected<void> Mover::checkGlobal(const DmaCommand::Side &side, uint64_t bytes) {
  const uint64_t size = memory.global().size();
  const uint64_t first = begin(side);
  if (first > size || bytes > size - first)
    return makeError(where, fmt::format("bytes {} to {} of global memory", first, first + bytes),
                     fmt::format("bytes below {}", size));
  return {};
}

Expected<void> Mover::checkGlobalShape(const DmaCommand::Side &side) {
  if (side.isLocal)
    return {};
  return checkGlobal(side, globalBytes(command, side));
}

Expected<void> Mover::linear() {
  const uint64_t size = command.src.strideN;
  for (const DmaCommand::Side *side : {&command.src, &command.dst})
    if (!side->isLocal)
      if (Expected<void> checked = checkGlobal(*side, size); !checked)
        return checked;
  if (size != 0)
    std::memmove(&bytesOf(command.dst)[begin(command.dst)],
                 &bytesOf(command.src)[begin(command.src)], size);
  return {};
}

/// Elements in the order n, c, h, w, or that of the result of a transpose.
template <typename F> void Mover::forEach(const DmaCommand::Side &side, bool swaps, F visit) {
  const std::span<uint8_t> bytes = bytesOf(side);
  const uint64_t first = begin(side);
  const uint32_t lanes = memory.chip().lanes;
  const auto row = [&](uint64_t n, uint64_t c, uint64_t h) {
    if (!side.isLocal)
      return first + n * side.strideN + c * side.strideC + h * side.strideH;
    const uint64_t channel = first / kLaneBytes + c;
    return channel % lanes * kLaneBytes + first % kLaneBytes + n * side.strideN +
           channel / lanes * side.strideC + h * side.strideH;
  };
  const Extents &shape = side.shape;
  if (swaps && command.transpose == Transpose::CW) {
    for (uint32_t n = 0; n < shape[0]; ++n)
      for (uint32_t w = 0; w < shape[3]; ++w)
        for (uint32_t h = 0; h < shape[2]; ++h)
          for (uint32_t c = 0; c < shape[1]; ++c)
            visit(&bytes[row(n, c, h) + uint64_t{w} * side.step]);
    return;
  }
  swaps &= command.transpose == Transpose::NC;
  for (uint32_t i = 0; i < shape[swaps ? 1 : 0]; ++i)
    for (uint32_t j = 0; j < shape[swaps ? 0 : 1]; ++j)
      for (uint32_t h = 0; h < shape[2]; ++h) {
        uint8_t *at = &bytes[swaps ? row(j, i, h) : row(i, j, h)];
        for (uint32_t w = 0; w < shape[3]; ++w)
          visit(at + size_t{w} * side.step);
      }
}

/// Rows and columns of a matrix, whose rows are cut into pieces in local memory.
template <typename F> void Mover::forEachOfMatrix(const DmaCommand::Side &side, F visit) {
  const DmaCommand::Side &whole = command.direction == Direction::Load ? command.src : command.dst;
  const std::span<uint8_t> bytes = bytesOf(side);
  const uint64_t first = begin(side);
  const uint32_t lanes = memory.chip().lanes;
  for (uint64_t row = 0; row < whole.shape[1]; ++row)
    for (uint64_t column = 0; column < whole.shape[3]; ++column) {
      if (!side.isLocal) {
        visit(&bytes[first + row * side.strideC + column * side.bytes]);
        continue;
      }
      const uint64_t channel = first / kLaneBytes + column / side.shape[3];
      visit(&bytes[channel % lanes * kLaneBytes + first % kLaneBytes + row * side.strideN +
                   channel / lanes * side.strideC + column % side.shape[3] * side.bytes]);
    }
}

Expected<std::vector<uint16_t>> Mover::unpack() {
  const Extents &shape = command.src.shape;
  const uint64_t count = command.isMatrix ? uint64_t{shape[1]} * shape[3]
                                          : uint64_t{shape[0]} * shape[1] * shape[2] * shape[3];
  if (Expected<void> checked = checkGlobal(command.src, 16); !checked)
    return propagate(checked);
  Expected<VlcStream> stream = decodeVlc(memory.global().subspan(begin(command.src)), count, where);
  if (!stream)
    return propagate(stream);
  if (stream->parameters.isBf16 != command.srcBf16)
    return makeError(where, stream->parameters.isBf16 ? "compressed BF16" : "compressed integers",
                     command.srcBf16 ? "BF16" : "integers");
  return std::move(stream->values);
}

Expected<std::vector<uint16_t>> Mover::readValues() {
  if (command.isCompressed && command.direction == Direction::Load)
    return unpack();
  if (Expected<void> checked = checkGlobalShape(command.src); !checked)
    return propagate(checked);
  std::vector<uint16_t> values;
  const bool isWide = command.src.bytes == 2;
  visitAll(command.src, command.move == Move::Transpose, [&](const uint8_t *at) {
    values.push_back(static_cast<uint16_t>(at[0] | (isWide ? at[1] << 8 : 0)));
  });
  return values;
}

/// To the nearest (ties to even) or towards zero; what is no number saturates by its sign.
uint16_t toInteger(const Chip &chip, uint16_t bits, bool truncates, bool isSigned) {
  float value = fromBf16(bits);
  if (std::isnan(value))
    value = (bits & 0x8000) != 0 ? -1e9f : 1e9f;
  value = truncates ? std::trunc(value) : std::nearbyint(value);
  if (chip.is183x && std::fabs(value) >= 0x1p64f && (bits & 0x7FFF) != 0x7FFF)
    value = 0;
  const float least = isSigned ? -128.0f : 0.0f;
  const float most = isSigned ? 127.0f : 255.0f;
  return static_cast<uint16_t>(static_cast<int>(std::clamp(value, least, most)) & 0xFF);
}

/// The exponent of 2, and 63 more, in both bytes. A sign is the highest bit; small numbers keep
/// their exponents, and infinite ones have that of 1.
Expected<uint16_t> indexOfTable(uint16_t bits, const std::string &where) {
  const float number = std::fabs(std::bit_cast<float>(uint32_t{bits} << 16));
  if (std::isnan(number))
    return makeError(where, "what is no number as the index of a table", "a number");
  if (number == 0)
    return uint16_t{0};
  const int exponent = std::isinf(number) ? 0 : std::ilogb(number);
  const int index = (exponent + 63 + ((bits & 0x8000) != 0 ? 128 : 0)) & 0xFF;
  return static_cast<uint16_t>(index | index << 8);
}

Expected<uint16_t> Mover::converted(uint16_t value) const {
  if (command.lutBase)
    return static_cast<uint16_t>(value & 0xFF80);
  if (command.lutIndex)
    return indexOfTable(value, where);
  if (!command.srcBf16 && command.dstBf16)
    return toBf16(command.int8Signed ? static_cast<float>(static_cast<int8_t>(value))
                                     : static_cast<float>(value & 0xFF));
  if (command.srcBf16 && !command.dstBf16)
    return toInteger(memory.chip(), value, command.truncates, command.int8Signed);
  return value;
}

Expected<void> Mover::pack(std::span<const uint16_t> values) {
  const std::vector<uint8_t> stream =
      encodeVlc(values, {.isSigned = command.compressSigned && !command.srcBf16,
                         .isBf16 = command.srcBf16,
                         .bias0 = command.bias0,
                         .bias1 = command.bias1,
                         .zeroGuard = command.zeroGuard && command.srcBf16});
  if (Expected<void> checked = checkGlobal(command.dst, stream.size()); !checked)
    return checked;
  std::ranges::copy(stream, memory.global().begin() + static_cast<ptrdiff_t>(begin(command.dst)));
  return {};
}

Expected<void> Mover::run() {
  if (command.isGeneral)
    return linear();
  const bool packs = command.isCompressed && command.direction == Direction::Store;
  if (!packs)
    if (Expected<void> checked = checkGlobalShape(command.dst); !checked)
      return checked;
  const bool isWide = command.dst.bytes == 2;
  const auto write = [&](uint8_t *at, uint16_t value) {
    at[0] = static_cast<uint8_t>(value);
    if (isWide)
      at[1] = static_cast<uint8_t>(value >> 8);
  };
  if (command.move == Move::Fill) {
    forEach(command.dst, false, [&](uint8_t *at) { write(at, command.value); });
    return {};
  }
  Expected<std::vector<uint16_t>> values = readValues();
  if (!values)
    return propagate(values);
  if (packs)
    return pack(*values);
  for (uint16_t &value : *values) {
    const Expected<uint16_t> made = converted(value);
    if (!made)
      return tl::unexpected(made.error());
    value = *made;
  }
  size_t i = 0;
  visitAll(command.dst, false, [&](uint8_t *at) { write(at, (*values)[i++]); });
  return {};
}

} // namespace

uint64_t globalBytes(const DmaCommand &command, const DmaCommand::Side &side) {
  if (side.isLocal || (command.isCompressed && &side == &command.src))
    return 0;
  if (command.isGeneral)
    return command.src.strideN;
  const auto reach = [](uint32_t extent, uint64_t stride) {
    return static_cast<unsigned __int128>(extent == 0 ? 0 : extent - 1) * stride;
  };
  const Extents &shape = side.shape;
  unsigned __int128 end = reach(shape[1], side.strideC) + reach(shape[3], side.step) + side.bytes;
  if (!command.isMatrix)
    end += reach(shape[0], side.strideN) + reach(shape[2], side.strideH);
  return static_cast<uint64_t>(std::min<unsigned __int128>(end, ~uint64_t{0}));
}

Expected<void> runDma(Memory &memory, const DmaCommand &command, const std::string &where) {
  return Mover(memory, command, where).run();
}

} // namespace tpuc::cv18xx
