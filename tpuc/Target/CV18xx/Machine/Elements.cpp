//===- Elements.cpp - Values of operands, read and written ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Elements.h"

#include "tpuc/Target/CV18xx/Machine/Numbers.h"

#include <cstring>

namespace tpuc::cv18xx {

namespace {

/// Calls `visit(pointer, index)` for each element of a view, in the order n, c, h, w.
template <typename F> void forEach(Memory &memory, const View &view, F visit) {
  size_t index = 0;
  for (uint32_t n = 0; n < view.shape[0]; ++n)
    for (uint32_t c = 0; c < view.shape[1]; ++c)
      for (uint32_t h = 0; h < view.shape[2]; ++h) {
        uint8_t *row = memory.at(view, n, c, h);
        for (uint32_t w = 0; w < view.shape[3]; ++w, row += view.strides[3])
          visit(row, index++);
      }
}

uint16_t load16(const uint8_t *bytes) { return static_cast<uint16_t>(bytes[0] | bytes[1] << 8); }
void store16(uint8_t *bytes, uint32_t value) {
  bytes[0] = static_cast<uint8_t>(value);
  bytes[1] = static_cast<uint8_t>(value >> 8);
}

int32_t extended(uint32_t value, unsigned bits, bool isSigned) {
  if (bits >= 32)
    return static_cast<int32_t>(value);
  return isSigned ? static_cast<int32_t>(value << (32 - bits)) >> (32 - bits)
                  : static_cast<int32_t>(value);
}

} // namespace

std::vector<int32_t> readIntegers(Memory &memory, const Planes &planes, bool isSigned) {
  std::vector<int32_t> values(planes.count == 0 ? 0 : planes.view.count());
  for (uint32_t plane = 0; plane < planes.count; ++plane)
    forEach(memory, planes.plane(plane), [&](const uint8_t *at, size_t i) {
      values[i] |= static_cast<int32_t>(uint32_t{*at} << 8 * plane);
    });
  for (int32_t &value : values)
    value = extended(static_cast<uint32_t>(value), 8 * planes.count, isSigned);
  return values;
}

std::vector<float> readFloats(Memory &memory, const Planes &planes, Small small) {
  std::vector<uint32_t> bits(planes.count == 0 ? 0 : planes.view.count());
  for (uint32_t plane = 0; plane < planes.count; ++plane)
    forEach(memory, planes.plane(plane), [&](const uint8_t *at, size_t i) {
      bits[i] |= uint32_t{load16(at)} << (plane == 0 ? 16 : 0);
    });
  std::vector<float> values(bits.size());
  for (size_t i = 0; i < bits.size(); ++i)
    values[i] = std::bit_cast<float>(bits[i]);
  if (small == Small::Flushed)
    std::ranges::transform(values, values.begin(), flushed);
  return values;
}

std::vector<uint16_t> readBits(Memory &memory, const View &view) {
  std::vector<uint16_t> values(view.count());
  forEach(memory, view, [&](const uint8_t *at, size_t i) { values[i] = load16(at); });
  return values;
}

void writeIntegers(Memory &memory, const Planes &planes, std::span<const int32_t> values) {
  for (uint32_t plane = 0; plane < planes.count; ++plane)
    forEach(memory, planes.plane(plane), [&](uint8_t *at, size_t i) {
      *at = static_cast<uint8_t>(static_cast<uint32_t>(values[i]) >> 8 * plane);
    });
}

void writeFloats(Memory &memory, const Planes &planes, std::span<const float> values) {
  if (planes.count == 1)
    return forEach(memory, planes.view,
                   [&](uint8_t *at, size_t i) { store16(at, toBf16(values[i])); });
  for (uint32_t plane = 0; plane < planes.count; ++plane)
    forEach(memory, planes.plane(plane), [&](uint8_t *at, size_t i) {
      // What is no number is the largest one.
      const uint32_t bits =
          std::isfinite(values[i]) ? std::bit_cast<uint32_t>(values[i]) : 0x7F7FFFFF;
      store16(at, bits >> (plane == 0 ? 16 : 0));
    });
}

void writeBits(Memory &memory, const View &view, std::span<const uint16_t> values) {
  forEach(memory, view, [&](uint8_t *at, size_t i) { store16(at, values[i]); });
}

int32_t integerImmediate(const Operand &operand) {
  return extended(operand.address & (operand.isNarrow ? 0xFFu : 0xFFFFu), operand.isNarrow ? 8 : 16,
                  operand.isSigned);
}

float floatImmediate(const Operand &operand) {
  return fromBf16(static_cast<uint16_t>(operand.address));
}

std::vector<ChannelParameters> readChannels(Memory &memory, const TiuCommand &command,
                                            const Planes &planes, uint32_t channels) {
  std::vector<ChannelParameters> made(channels);
  if (planes.count == 0)
    return made;
  if (!command.hasRequant) {
    const std::vector<int32_t> biases = readIntegers(memory, planes, command.opd2.isSigned);
    for (uint32_t c = 0; c < channels; ++c)
      made[c].bias = biases[c];
    return made;
  }
  const bool hasBias = command.numOperands == 3;
  for (uint32_t c = 0; c < channels; ++c) {
    const uint8_t *record = memory.at(planes.view, 0, c, 0);
    if (hasBias)
      std::memcpy(&made[c].bias, record, 4);
    std::memcpy(&made[c].multiplier, record + (hasBias ? 4 : 0), 4);
    made[c].shift = record[hasBias ? 8 : 4];
  }
  return made;
}

int32_t finishInteger(const TiuCommand &command, int32_t sum) {
  int64_t value =
      command.hasRequant
          ? requantize(sum, command.multiplier, command.shift)
          : int64_t{shiftRight(sum, command.shift, command.roundsUp, command.res0.isSigned)};
  // The subtraction has no relu.
  const bool isSubtraction = command.type == tiu::kElementwise && command.function == Function::Sub;
  if (command.hasRelu && !isSubtraction)
    value = std::max<int64_t>(value, 0);
  return static_cast<int32_t>(
      saturate(value, command.res0.isNarrow ? 8 : 16, command.res0.isSigned));
}

} // namespace tpuc::cv18xx
