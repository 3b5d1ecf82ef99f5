//===- GenerateTiu.cpp - Random legal commands of the TIU -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Generate.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"

#include <algorithm>

namespace tpuc::cv18xx::conformance::detail {

namespace {

/// Places of the operands, far enough from each other for all cases.
constexpr uint32_t kOpd0At = 0, kOpd1At = 0x2000, kOpd2At = 0x5000, kRes0At = 0x6000;

bool half(Random &random) { return random.oneIn(2); }

/// Any lane at times; the other operands begin in lane 0.
uint32_t somewhere(const Chip &chip, Random &random, uint32_t offset) {
  return random.oneIn(4) ? from(random, 0, chip.lanes - 1) * kLaneBytes + offset : offset;
}

/// Where a second or third operand begins, so that it is in the lane of the result.
uint64_t beside(uint32_t result, uint32_t offset) { return (result & kLaneBytes) | offset; }

uint16_t randomBf16(Random &random) {
  return static_cast<uint16_t>((random.next() & 0x80FF) | (0x3E80 + (random.below(4) << 7)));
}

/// A power of two at times: it leaves halves, which show how they are rounded.
uint32_t multiplierFor(Random &random) {
  return random.oneIn(3) ? 1u << 30 : from(random, 1u << 30, (1u << 31) - 1);
}

/// Shifts that leave something of the sums, and at times any.
uint32_t shiftFor(Random &random) { return from(random, 0, random.oneIn(4) ? 31 : 12); }

struct Window {
  Extents in, out;
  uint32_t kernelH, kernelW;
  bool isDilated;
};

/// Input, kernel, pads, strides, and at times dilation and inserted values.
Window makeWindow(const Chip &chip, Random &random, Maker &maker, bool perChannel, bool dilates,
                  bool mayInsert) {
  const uint32_t n = from(random, 1, 2);
  const uint32_t channels = perChannel ? from(random, 1, 2 * chip.lanes + 1) : from(random, 1, 9);
  const uint32_t h = from(random, 1, 6);
  const uint32_t w = from(random, 1, 9);
  const bool inserts = mayInsert && random.oneIn(3);
  const uint32_t insY = inserts ? from(random, 0, 2) : 0;
  const uint32_t insX = inserts ? from(random, 0, 2) : 0;
  const uint32_t lastY = from(random, 0, insY);
  const uint32_t lastX = from(random, 0, insX);
  uint32_t pads[4];
  for (uint32_t &pad : pads)
    pad = from(random, 0, 2);
  const uint32_t tall = (h - 1) * (insY + 1) + 1 + lastY + pads[0] + pads[1];
  const uint32_t wide = (w - 1) * (insX + 1) + 1 + lastX + pads[2] + pads[3];
  uint32_t dilY = dilates && random.oneIn(3) ? from(random, 2, 3) : 1;
  uint32_t dilX = dilates && random.oneIn(3) ? from(random, 2, 3) : 1;
  uint32_t kernelH = from(random, 1, 3);
  uint32_t kernelW = from(random, 1, 3);
  while ((kernelH - 1) * dilY + 1 > tall) {
    kernelH = std::max(kernelH - 1, 1u);
    dilY = 1;
  }
  while ((kernelW - 1) * dilX + 1 > wide) {
    kernelW = std::max(kernelW - 1, 1u);
    dilX = 1;
  }
  const uint32_t strideY = from(random, 1, 3);
  const uint32_t strideX = from(random, 1, 3);
  const Extents out = {n, channels, (tall - (kernelH - 1) * dilY - 1) / strideY + 1,
                       (wide - (kernelW - 1) * dilX - 1) / strideX + 1};
  maker.set(Field::InsY, insY).set(Field::InsX, insX);
  maker.set(Field::InsYLast, lastY).set(Field::InsXLast, lastX);
  maker.set(Field::PadTop, pads[0]).set(Field::PadBottom, pads[1]);
  maker.set(Field::PadLeft, pads[2]).set(Field::PadRight, pads[3]);
  maker.set(Field::DilY, dilY - 1).set(Field::DilX, dilX - 1);
  maker.set(Field::StrideY, strideY).set(Field::StrideX, strideX);
  maker.set(Field::Opd1H, kernelH).set(Field::Opd1W, kernelW);
  maker.shape(Field::Opd0N, {n, channels, h, w});
  return {{n, channels, h, w}, out, kernelH, kernelW, dilY != 1 || dilX != 1};
}

/// The sign of an integer result, from those of the operands.
void setSigns(Maker &maker, bool opd0, bool opd1, bool opd2, unsigned numOperands) {
  const bool result = opd0 || (numOperands >= 2 && opd1) || (numOperands == 3 && opd2);
  maker.set(Field::Opd0Sign, opd0).set(Field::Opd1Sign, opd1).set(Field::Opd2Sign, opd2);
  maker.set(Field::Res0Sign, result).set(Field::ShiftSigned, result);
  if (!result)
    maker.set(Field::Relu, 0);
}

void setFloat(Maker &maker) {
  maker.set(Field::Kind, 1);
  for (const Field field : {Field::Res0Sign, Field::Opd0Sign, Field::Opd1Sign, Field::Opd2Sign})
    maker.set(field, 1);
}

/// Bias or packed parameters of a window command's channels.
void setParameters(const Chip &chip, Random &random, Maker &maker, uint32_t channels, bool isBf16,
                   unsigned numOperands) {
  const auto result = static_cast<uint32_t>(maker.command().get(Field::Res0Addr));
  const uint32_t slots = (channels + chip.lanes - 1) / chip.lanes;
  maker.set(Field::Opd2N, 1).set(Field::Opd2C, channels).set(Field::Opd2H, 1);
  maker.set(Field::Opd2W, 1).set(Field::Opd2Addr, beside(result, kOpd2At));
  maker.set(Field::Opd2Layout, static_cast<uint64_t>(Layout::PerChannel));
  maker.set(Field::Operands, numOperands);
  if (isBf16)
    maker.set(Field::Opd2Narrow, 0).set(Field::Opd2StrB, slots * 2);
  else if (random.oneIn(3))
    maker.set(Field::Shift, shiftFor(random)).set(Field::Opd2Narrow, 0).set(Field::Opd2StrB, slots);
  else
    maker.set(Field::Requant, 1);
}

} // namespace

Command makeConv(const Chip &chip, Random &random, bool isBf16) {
  Maker maker(chip, "conv");
  const Window window = makeWindow(chip, random, maker, false, true, true);
  const uint32_t channels = from(random, 1, 2 * chip.lanes + 1);
  const uint32_t bytes = isBf16 ? 2 : 1;
  const Extents out = {window.out[0], channels, window.out[2], window.out[3]};
  const View result = viewOf(chip, somewhere(chip, random, kRes0At), out, bytes, Layout::Aligned);
  const uint32_t at = result.lane * kLaneBytes + result.offset;
  maker.set(Field::Opd0Addr, somewhere(chip, random, kOpd0At));
  maker.set(Field::Opd1Addr, beside(at, kOpd1At)).set(Field::Res0Addr, at);
  maker.shape(Field::Res0N, out).strides(Field::Res0StrN, result);
  maker.set(Field::Res0StrB, out[0] * result.strides[0]);
  maker.set(Field::Res0Layout, static_cast<uint64_t>(Layout::Strides));
  maker.set(Field::Opd1Layout, static_cast<uint64_t>(Layout::Compact));
  maker.set(Field::Opd1N, window.in[1]).set(Field::Opd1C, channels);
  const unsigned partial = random.oneIn(4) ? from(random, 1, 3) : 0;
  const bool stores = (partial & 2) != 0;
  const unsigned numOperands = stores ? 2 : from(random, 2, 3);
  maker.set(Field::Partial, partial).set(Field::Relu, !stores && half(random) ? 1 : 0);
  if (stores)
    maker.set(Field::Operands, 2);
  else
    setParameters(chip, random, maker, channels, isBf16, numOperands);
  if (random.oneIn(8))
    maker.set(Field::Opd1Const, 1)
        .set(Field::Opd1Addr, isBf16 ? randomBf16(random) : from(random, 0, 255));
  if (isBf16) {
    setFloat(maker);
    return maker.command();
  }
  maker.set(Field::InsValue, from(random, 0, 127));
  const bool packs = maker.command().get(Field::Requant) != 0;
  setSigns(maker, half(random), half(random), packs || numOperands == 2 || half(random),
           numOperands);
  if (window.in[1] % 2 == 0 && window.in[1] >= 4 && maker.command().get(Field::Opd1Addr) % 2 == 0 &&
      half(random))
    maker.set(Field::Double, 1);
  return maker.command();
}

Command makePool(const Chip &chip, Random &random, bool isBf16) {
  constexpr std::string_view kNames[] = {"pool.max", "pool.avg", "depthwise", "depthwise",
                                         "pool.min"};
  const auto choice = kNames[random.below(chip.is183x ? 4 : 5)];
  const bool isDepthwise = choice == "depthwise";
  const bool isAverage = choice == "pool.avg";
  Maker maker(chip, choice);
  Window window = makeWindow(chip, random, maker, true, isDepthwise, isDepthwise || isAverage);
  if (!isDepthwise && !isAverage)
    for (const size_t axis : {2, 3})
      window.out[axis] = from(random, std::max(window.out[axis] - 1, 1u), window.out[axis]);
  const uint32_t bytes = isBf16 ? 2 : 1;
  const bool isSigned = half(random);
  // A lane makes its channels of its own input.
  const uint32_t lane = somewhere(chip, random, 0);
  const View in = viewOf(chip, lane + kOpd0At, window.in, bytes, Layout::Aligned);
  const View out = viewOf(chip, lane + kRes0At, window.out, bytes, Layout::Aligned);
  maker.set(Field::Opd0Addr, in.lane * kLaneBytes + in.offset)
      .set(Field::Opd1Addr, beside(lane, kOpd1At));
  maker.set(Field::Res0Addr, out.lane * kLaneBytes + out.offset).shape(Field::Res0N, window.out);
  maker.set(Field::Opd1N, 1).set(Field::Opd1C, isAverage ? 1 : window.in[1]);
  maker.set(Field::Operands, isDepthwise || isAverage ? 2 : 1);
  if (isBf16)
    setFloat(maker);
  else
    setSigns(maker, isSigned, !isAverage, true, isDepthwise ? 2 : 1);
  if (isAverage) {
    maker.set(Field::Opd1Const, 1)
        .set(Field::Opd1Addr, isBf16 ? randomBf16(random) : from(random, 0, 255));
    maker.set(Field::Shift, isBf16 ? 0 : shiftFor(random)).set(Field::Opd1Sign, 0);
  }
  if (isDepthwise) {
    maker.strides(Field::Opd0StrN, in).strides(Field::Res0StrN, out);
    maker.set(Field::Opd0Layout, static_cast<uint64_t>(Layout::Strides));
    maker.set(Field::Res0Layout, static_cast<uint64_t>(Layout::Strides));
    maker.set(Field::Relu, random.below(2));
    setParameters(chip, random, maker, window.in[1], isBf16, from(random, 2, 3));
    // With multipliers, all chips but one take dilated integers as others.
    if (window.isDilated && !isBf16 && !chip.is183x)
      maker.set(Field::Requant, 0)
          .set(Field::Opd2Narrow, 0)
          .set(Field::Opd2StrB, (window.in[1] + chip.lanes - 1) / chip.lanes);
  }
  constexpr std::array kBeside = {Field::InsX,     Field::InsY,    Field::InsXLast,
                                  Field::InsYLast, Field::PadTop,  Field::PadBottom,
                                  Field::PadLeft,  Field::PadRight};
  const Command made = maker.command();
  const bool readsOthers =
      std::ranges::any_of(kBeside, [&](Field field) { return made.get(field) != 0; });
  if (!isBf16)
    maker.set(Field::InsValue, from(random, 0, 127));
  else if ((!isDepthwise && !isAverage) || !readsOthers)
    maker.set(chip.is183x ? Field::InsValueFp : Field::InsValue, randomBf16(random));
  return maker.command();
}

Command makeMatrix(const Chip &chip, Random &random, bool isBf16) {
  Maker maker(chip, "matmul");
  const uint32_t rows = from(random, 1, 5);
  const uint32_t inner = from(random, 1, 40);
  const uint32_t columns = from(random, 1, 40);
  const auto pieceOf = [&](uint32_t count) {
    const uint32_t least = (count + 2 * chip.lanes - 1) / (2 * chip.lanes);
    return std::min(std::max(from(random, 1, 16), least), count);
  };
  const uint32_t left = pieceOf(inner);
  const uint32_t right = pieceOf(columns);
  const uint32_t leftPieces = (inner + left - 1) / left;
  const uint32_t pieces = (columns + right - 1) / right;
  const Extents out = {rows, pieces, 1, right};
  const View result = viewOf(chip, kRes0At, out, isBf16 ? 2 : 1, Layout::Aligned);
  maker.set(Field::Opd0Addr, kOpd0At).set(Field::Opd1Addr, kOpd1At).set(Field::Opd2Addr, kOpd2At);
  maker.set(Field::Res0Addr, kRes0At).shape(Field::Res0N, out);
  maker.shape(Field::Opd0N, {rows, leftPieces, 1, left});
  maker.shape(Field::Opd1N, {inner, pieces, 1, inner - left * (leftPieces - 1)});
  maker.shape(Field::Opd2N, {1, pieces, 1, right}).set(Field::Opd2Narrow, 0);
  maker.set(Field::Res0StrB, rows * result.strides[0]);
  const unsigned partial = random.oneIn(4) ? from(random, 1, 3) : 0;
  const bool stores = (partial & 2) != 0;
  const unsigned numOperands = stores ? 2 : from(random, 2, 3);
  maker.set(Field::Partial, partial).set(Field::Operands, numOperands);
  maker.set(Field::Relu, !stores && half(random) ? 1 : 0);
  if (isBf16) {
    setFloat(maker);
    return maker.command();
  }
  if (!stores)
    maker.set(Field::Shift, shiftFor(random));
  if (partial == 0 && random.oneIn(3)) {
    maker.set(Field::Requant, 1);
    maker.set(Field::Multiplier, multiplierFor(random));
  } else if (partial == 0 && random.oneIn(3)) {
    maker.set(Field::Res0Narrow, 0).set(Field::Relu, 0);
    maker.set(Field::Accumulate, random.below(2)).set(Field::LeftShift, shiftFor(random));
  }
  setSigns(maker, half(random), half(random), numOperands == 2 || half(random), numOperands);
  return maker.command();
}

Command makeElementwise(const Chip &chip, Random &random, bool isBf16) {
  constexpr std::string_view kNames[] = {"mul",  "mac",   "add", "sub", "max", "min",
                                         "copy", "shift", "and", "or",  "xor", "ge"};
  constexpr size_t kFloats = 7;
  size_t choice = random.below(isBf16 ? kFloats + 1 : std::size(kNames));
  if (isBf16 && choice == kFloats)
    choice = std::size(kNames) - 1;
  if (chip.is183x && choice == std::size(kNames) - 1)
    choice = 0;
  const std::string_view name = kNames[choice];
  Maker maker(chip, name);
  const bool isBitwise = name == "and" || name == "or" || name == "xor";
  const bool isCopy = name == "copy";
  const bool isShift = name == "shift";
  const bool isWide = name == "add" || name == "sub" || isShift;
  const bool isRounded = name == "mul" || name == "mac" || name == "add" || name == "sub";
  const Extents shape = {from(random, 1, 2), from(random, 1, 2 * chip.lanes + 1),
                         from(random, 1, 4), from(random, 1, 9)};
  const uint32_t bytes = isBf16 ? 2 : 1;
  const uint32_t lane = somewhere(chip, random, 0);
  const View view = viewOf(chip, lane, shape, bytes, Layout::Aligned);
  maker.set(Field::Operands, isCopy ? 1 : 2).set(Field::Accumulate, name == "mac" ? 1 : 0);
  maker.set(Field::Opd0Addr, lane).set(Field::Opd1Addr, beside(lane, 0x6000));
  maker.set(Field::Res0Addr, lane + 0x4000);
  for (const Field first : {Field::Res0N, Field::Opd0N, Field::Opd1N, Field::Opd2N})
    maker.shape(first, shape);
  for (const Field first : {Field::Res0StrN, Field::Opd0StrN, Field::Opd1StrN})
    maker.strides(first, view);
  for (const Field layout :
       {Field::Res0Layout, Field::Opd0Layout, Field::Opd1Layout, Field::Opd2Layout})
    maker.set(layout, static_cast<uint64_t>(Layout::Strides));
  if (isBf16) {
    setFloat(maker);
    maker.set(Field::Relu, isRounded ? random.below(2) : 0);
  } else {
    const bool isSigned = isShift || name == "sub" || (!isBitwise && !isCopy && half(random));
    setSigns(maker, isSigned, isSigned || isCopy, true, isCopy ? 1 : 2);
    maker.set(Field::Res0StrB, 0x1000).set(Field::Opd0StrB, 0x1000).set(Field::Opd1StrB, 0x1000);
    if (isWide)
      maker.set(Field::Opd0Narrow, 0).set(Field::Opd1Narrow, isShift ? 1 : 0);
    if (isShift)
      maker.set(Field::Res0Narrow, 0).set(Field::Round, 0);
    if (isRounded) {
      const bool isNarrow = half(random);
      maker.set(Field::Shift, shiftFor(random)).set(Field::Res0Narrow, isNarrow);
      maker.set(Field::Relu, isNarrow && isSigned ? random.below(2) : 0);
    }
    if (name == "mul" && random.oneIn(3))
      maker.set(Field::Requant, 1)
          .set(Field::Res0Narrow, 1)
          .set(Field::Multiplier, multiplierFor(random));
    if (name == "mac")
      maker.set(Field::LeftShift, shiftFor(random));
  }
  if (isShift)
    maker.set(Field::Opd1Const, 1)
        .set(Field::Opd1Addr, static_cast<uint8_t>(from(random, 0, 32) - 16));
  else if (!isCopy && !isBitwise && random.oneIn(3))
    maker.set(Field::Opd1Const, 1)
        .set(Field::Opd1Addr,
             isBf16 ? randomBf16(random) : from(random, 0, isWide ? 0xFFFF : 0xFF));
  else if (!isCopy && random.oneIn(5))
    maker.set(Field::Opd1StrH, 0).set(Field::Opd1StrW, 0);
  return maker.command();
}

Command makeLookup(const Chip &chip, Random &random, bool isBf16) {
  Maker maker(chip, "lookup");
  const Extents shape = {from(random, 1, 2), from(random, 1, 2 * chip.lanes + 1),
                         from(random, 1, 4), from(random, 1, 9)};
  maker.set(Field::Lookup, 1).set(Field::Operands, 2).set(Field::Kind, isBf16);
  maker.set(Field::Opd0Addr, 0).set(Field::Opd1Addr, 0x6000).set(Field::Res0Addr, 0x4000);
  maker.shape(Field::Res0N, shape).shape(Field::Opd0N, shape);
  maker.shape(Field::Opd1N, {1, chip.lanes, isBf16 ? 32u : 16u, isBf16 ? 8u : 16u});
  maker.set(Field::ShiftSigned, 0).set(Field::Opd1Sign, 0);
  if (isBf16)
    setFloat(maker);
  else
    maker.set(Field::Opd2Narrow, random.below(2));
  return maker.command();
}

} // namespace tpuc::cv18xx::conformance::detail
