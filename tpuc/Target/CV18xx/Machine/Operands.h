//===- Operands.h - What a command works on ---------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_OPERANDS_H
#define TPUC_TARGET_CV18XX_MACHINE_OPERANDS_H

#include "tpuc/Target/CV18xx/Machine/Commands.h"

namespace tpuc::cv18xx {

using Extents = std::array<uint32_t, 4>;

/// Channels, rows and columns of the input and the result of a window.
inline constexpr uint32_t kMostWindowExtent = 4095 - 32;

/// Elements in local memory. Channel c lies in lane (lane + c) mod lanes, and there in the slot
/// (lane + c) div lanes. Strides are bytes: of n, of slots, of h, of w.
struct View {
  uint32_t lane = 0, offset = 0;
  Extents shape = {1, 1, 1, 1};
  std::array<uint64_t, 4> strides = {};
  uint32_t bytes = 1;

  uint64_t count() const { return uint64_t{shape[0]} * shape[1] * shape[2] * shape[3]; }
};

/// The view of a shape at an address, in one of the layouts that have no strides of their own.
View viewOf(const Chip &chip, uint32_t address, const Extents &shape, uint32_t bytes,
            Layout layout);

/// An operand of a TIU command, both layouts of the command alike.
struct Operand {
  uint32_t address = 0; ///< Or the immediate.
  Extents shape = {};
  std::array<uint32_t, 4> strides = {};
  uint32_t planeStride = 0; ///< Bytes from one plane of a wide value to the next.
  Layout layout = Layout::Aligned;
  bool isSigned = false, isNarrow = true, isConst = false;
};

/// A TIU command with its fields by name. `function` is that of its type.
struct TiuCommand {
  unsigned type = 0;
  PoolFunction pool = PoolFunction::Max;
  Function function = Function::Mul;
  unsigned numOperands = 0;
  bool isBf16 = false, hasRequant = false, hasRelu = false, accumulates = false, isDouble = false;
  bool addsPartial = false, storesPartial = false;
  unsigned shift = 0, leftShift = 0;
  bool roundsUp = true, shiftSigned = true;
  uint32_t multiplier = 0;
  uint16_t insertValue = 0;
  uint32_t insertY = 0, insertX = 0, insertLastY = 0, insertLastX = 0;
  uint32_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;
  uint32_t strideY = 1, strideX = 1, dilationY = 1, dilationX = 1;
  Operand res0, opd0, opd1, opd2;

  uint32_t elementBytes() const { return isBf16 ? 2 : 1; }
  /// The extents of the input with what is inserted and padded.
  uint64_t paddedHeight() const {
    return uint64_t{opd0.shape[2] - 1} * (insertY + 1) + 1 + insertLastY + padTop + padBottom;
  }
  uint64_t paddedWidth() const {
    return uint64_t{opd0.shape[3] - 1} * (insertX + 1) + 1 + insertLastX + padLeft + padRight;
  }
};

/// What a transposing move exchanges. Packed pixels have their 3 or 4 channels side by side: a
/// row's values lie that many bytes apart.
enum class Transpose : uint8_t { NC = 0, Packed3 = 1, Packed4 = 2, CW = 3 };

/// A command of the DMA engine. A side is global memory (with base register) or local memory.
struct DmaCommand {
  Direction direction = Direction::Load;
  Move move = Move::Copy;
  bool isGeneral = false, isMatrix = false, isCompressed = false;
  Transpose transpose = Transpose::NC;
  bool srcBf16 = false, dstBf16 = false, int8Signed = false, truncates = false;
  bool lutIndex = false, lutBase = false;
  uint16_t value = 0;
  struct Side {
    bool isLocal = false;
    unsigned base = 0;
    uint64_t address = 0;
    Extents shape = {};
    uint64_t strideN = 0, strideC = 0, strideH = 0;
    uint32_t bytes = 1;
    uint32_t step = 1; ///< Bytes from one value of a row to the next.
  };
  Side src, dst;
  bool compressSigned = false, zeroGuard = false;
  uint8_t bias0 = 0, bias1 = 0;
};

TiuCommand readTiu(const Chip &chip, const Command &command);
DmaCommand readDma(const Chip &chip, const Command &command);

/// The bytes from its address on that a side in global memory touches, at most 2^64 - 1. 0 for
/// compressed values, whose stream says it.
uint64_t globalBytes(const DmaCommand &command, const DmaCommand::Side &side);

/// An operand in local memory: `count` planes of the same view, `stride` bytes apart. No planes:
/// the command has no such operand, or an immediate.
struct Planes {
  View view;
  uint32_t count = 0;
  uint32_t stride = 0;

  View plane(uint32_t index) const;
};

/// What a TIU command works on. Values of 16 bits are two planes, low bytes first; int32 four;
/// float32 the upper halves, then the lower ones. Packed parameters of channels are 9 or 5 bytes.
struct TiuViews {
  Planes opd0, opd1, opd2, res0;
  bool readsResult = false;
};
TiuViews viewsOf(const Chip &chip, const TiuCommand &command);

/// What one command's own bits can show: values of fields, rules that the chip's functional model
/// asserts, operands that leave local memory, and what the model computes otherwise than the fields
/// say: dilated pools and integer depthwise convolutions, values inserted into maxima. Errors name
/// `where`.
std::optional<Error> checkCommand(const Chip &chip, const Command &command,
                                  const std::string &where);

/// The parts of a stream, each of which begins when the one before has ended: ids have 16 bits, so
/// a long stream begins to count anew.
std::vector<std::span<const Command>> partsOf(std::span<const Command> commands);

/// All of a stream: each command, then ids and the order of each part (mc::checkSharedStream).
/// Errors name `where` and the command.
std::optional<Error> checkStream(const Chip &chip, std::span<const Command> commands,
                                 const std::string &where);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_OPERANDS_H
