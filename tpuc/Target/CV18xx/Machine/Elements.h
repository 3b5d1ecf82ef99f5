//===- Elements.h - Values of operands, read and written --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_ELEMENTS_H
#define TPUC_TARGET_CV18XX_MACHINE_ELEMENTS_H

#include "tpuc/Target/CV18xx/Machine/Simulator.h"

namespace tpuc::cv18xx {

/// The values of an operand in the order n, c, h, w. Planes are put together, low bytes first; a
/// signed value is extended.
std::vector<int32_t> readIntegers(Memory &memory, const Planes &planes, bool isSigned);
/// What becomes of numbers too small for float32's normal form: those of operands are 0, those of
/// sums count until something has been added.
enum class Small : uint8_t { Flushed, Kept };
/// BF16 values; of two planes, float32 whose upper halves are in the first.
std::vector<float> readFloats(Memory &memory, const Planes &planes, Small small = Small::Flushed);

/// The low bytes of the values, one for each plane.
void writeIntegers(Memory &memory, const Planes &planes, std::span<const int32_t> values);
/// Rounded to BF16; two planes hold all of a float32.
void writeFloats(Memory &memory, const Planes &planes, std::span<const float> values);
/// The bits of BF16 values.
void writeBits(Memory &memory, const View &view, std::span<const uint16_t> values);
std::vector<uint16_t> readBits(Memory &memory, const View &view);

/// An immediate as the command's type has it.
int32_t integerImmediate(const Operand &operand);
float floatImmediate(const Operand &operand);

/// Multiplier and shift of one channel, and what is added before.
struct ChannelParameters {
  int32_t bias = 0;
  uint32_t multiplier = 1;
  unsigned shift = 0;
};
/// Packed parameters of the channels, or the int16 biases, or the biases of 0.
std::vector<ChannelParameters> readChannels(Memory &memory, const TiuCommand &command,
                                            const Planes &planes, uint32_t channels);

/// The last steps of an integer result that has no packed parameters: multiplier or shift, relu,
/// saturation. `sum` has wrapped at 32 bits.
int32_t finishInteger(const TiuCommand &command, int32_t sum);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_ELEMENTS_H
