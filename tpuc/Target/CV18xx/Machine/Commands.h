//===- Commands.h - The commands of the CV18xx chips -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four chips, two tables: the TIU of the cv183x has a layout of its own, all else is the same. A
// command is 112 bytes for the TIU (tensor computing unit), 64 for the DMA engine. Both engines
// share one stream, in which eight bytes before each command say whose it is. The field names of
// the text form say what a field does; the widths stand in Commands.cpp. The lookup of the cv183x
// has a flag of its own, `lookup=1`.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_COMMANDS_H
#define TPUC_TARGET_CV18XX_MACHINE_COMMANDS_H

#include "tpuc/Target/Common/Command.h"

namespace tpuc::cv18xx {

using mc::Command;

enum class Engine : uint8_t { Tiu, Dma };
enum class Form : uint8_t { Tiu, Dma };

enum class Field : uint8_t {
  En,
  End,
  IdEn,
  Keep,
  Interrupt,
  Type,
  Function,
  Operands,
  Shift,
  LeftShift,
  ShiftSigned,
  Round,
  Kind,
  Requant,
  Id,
  Wait,
  Multiplier,
  Res0Sign,
  Opd0Sign,
  Opd1Sign,
  Opd2Sign,
  Res0Narrow,
  Opd0Narrow,
  Opd1Narrow,
  Opd2Narrow,
  Partial,
  Double,
  LeftTransposed,
  FpRound,
  Relu,
  ReluValue,
  PreExeType,
  Accumulate,
  Group0,
  InsX,
  InsY,
  InsXLast,
  InsYLast,
  DilX,
  DilY,
  InsValue,
  PadTop,
  PadBottom,
  PadLeft,
  PadRight,
  Res0N,
  Res0C,
  Res0H,
  Res0W,
  StrideX,
  StrideY,
  PreExe,
  Group1,
  Res0Addr,
  Opd0Addr,
  Opd1Addr,
  Opd2Addr,
  Opd0Const,
  Opd1Const,
  Opd2Const,
  SameStrides,
  Res0Layout,
  Opd0Layout,
  Opd1Layout,
  Opd2Layout,
  Opd0N,
  Opd0C,
  Group2,
  Opd0H,
  Opd0W,
  Opd1N,
  Opd1C,
  Opd1H,
  Opd1W,
  Opd2N,
  Opd2C,
  Opd2H,
  Opd2W,
  Group3,
  Layer,
  Res0StrN,
  Res0StrC,
  Res0StrH,
  Res0StrW,
  Res0StrB,
  Opd0StrN,
  Group4,
  Opd0StrC,
  Opd0StrH,
  Opd0StrW,
  Opd0StrB,
  Opd1StrN,
  Opd1StrC,
  Opd1StrH,
  Group5,
  Opd1StrW,
  Opd1StrB,
  Opd2StrN,
  Opd2StrC,
  Opd2StrH,
  Opd2StrW,
  Opd2StrB,
  Group6,
  Mdsum,
  Lookup,
  InsValueFp,
  Valid,
  Compressed,
  Last,
  Barrier,
  CheckBf16,
  Direction,
  General,
  TransposeMode,
  Parallel,
  Outstanding,
  DstKind,
  SrcKind,
  CompressSigned,
  Matrix,
  Int8Signed,
  ZeroGuard,
  Truncate,
  WaitDma,
  WaitSdma,
  Value,
  SrcBase,
  LutIndex,
  DstBase,
  LutBase,
  DstStrH,
  DstStrCLow,
  DstStrN,
  SrcStrH,
  SrcStrCLow,
  SrcStrN,
  DstC,
  SrcC,
  DstW,
  DstH,
  SrcW,
  SrcH,
  DstAddrLow,
  SrcAddrLow,
  SrcN,
  DstAddrHigh,
  SrcAddrHigh,
  SrcStrCHigh,
  DstStrCHigh,
  Bias0,
  Bias1
};

/// Values of Field::Type.
namespace tiu {
inline constexpr unsigned kConv = 0, kPool = 1, kMatrix = 2, kElementwise = 3;
} // namespace tiu
/// Values of Field::Function of a window command.
enum class PoolFunction : uint8_t { Max, Average, Depthwise, Min };
/// Values of Field::Function of an elementwise command.
enum class Function : uint8_t {
  Mul,
  Mac,
  Add,
  Sub,
  Max,
  Min,
  Shift,
  And,
  Or,
  Xor,
  Copy,
  GreaterEqual,
  Lookup
};
/// Values of Field::Direction: DDR is global memory, lanes are local memory.
enum class Direction : uint8_t { Load, Store, Global, Local };
/// Values of Field::Function of the DMA engine.
enum class Move : uint8_t { Copy = 0, Transpose = 1, Fill = 4 };
/// How an operand lies in its lanes: Field::Res0Layout and so on.
enum class Layout : uint8_t { Aligned, Compact, PerChannel, Strides };

/// What the four chips do not share.
struct Chip {
  std::string_view name;
  uint32_t lanes;
  uint8_t magic; ///< The first byte before each command.
  bool is183x;   ///< Its own TIU layout, no minimum, no comparison.
  uint64_t globalBase;
  uint32_t version; ///< As the functional model names the chip.
};

inline constexpr uint32_t kLaneBytes = 32 << 10;
inline constexpr uint32_t kEuBytes = 16;
inline constexpr uint32_t kNumBases = 8;

std::span<const Chip> allChips();
/// Null where there is no chip of that name.
const Chip *findChip(std::string_view name);

const mc::CommandTable &commandTable(const Chip &chip);
const mc::StreamInfo &streamOf(const Chip &chip);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_COMMANDS_H
