//===- Fields.h - The fields of commands of the family -------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chips of the family have two in-order engines, 64 lanes, and commands with the same fields.
// Where these lie, how long a command is and which operations there are differs by chip.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_FIELDS_H
#define TPUC_TARGET_BM168X_FIELDS_H

#include "tpuc/Target/Common/CommandTable.h"

namespace tpuc::bm168x {

/// The two in-order engines: computing and moving data.
enum class Engine : uint8_t { Tiu, Gdma };
inline constexpr size_t kNumEngines = 2;

/// The element types that commands know, under their codes in the precision fields. A chip may lack
/// some of them.
enum class Prec : uint8_t { I8 = 0, F16 = 1, F32 = 2, I16 = 3, I32 = 4, BF16 = 5, I4 = 6 };

/// Bytes of one element; 0 for the 4-bit type (two elements per byte) and for code 7.
constexpr unsigned precBytes(Prec prec) {
  constexpr uint8_t kBytes[] = {1, 2, 4, 2, 4, 2, 0, 0};
  return kBytes[static_cast<unsigned>(prec) & 7];
}
constexpr bool isFloatPrec(Prec prec) {
  return prec == Prec::F16 || prec == Prec::F32 || prec == Prec::BF16;
}
/// i8 f16 f32 i16 i32 bf16 i4; "?" for code 7.
std::string_view precName(Prec prec);

/// All fields of all forms, with the names that the register files give them. There are these
/// differences: opcode and sub_opcode name the same thing for both engines, `round` is what the
/// register file calls opd2_n_str (it holds the rounding mode, or iterations - 1), and the
/// addresses of transfers are called src_addr_l32, src_addr_h8 and so on. `opd2_n_str` is the field
/// of that name on the chips that hold nothing else in it.
enum class Field : uint8_t {
  CmdShort,
  CmdId,
  CmdIdDep,
  Opcode,
  SubOpcode,
  EuHalfEn,
  OpdNum,
  PadMode,
  CmdIdEn,
  PwrStep,
  IntrEn,
  ResAdd,
  Relu,
  LeftTran,
  KernelRotate,
  Opd0Sign,
  Opd1Sign,
  Opd2Sign,
  Res0Prec,
  Opd0Prec,
  Opd1Prec,
  Opd2Prec,
  Opd0Const,
  Opd1Const,
  Opd2Const,
  Res0Str,
  Opd0Str,
  Opd1Str,
  Opd2Str,
  ResAddSign,
  Opd3Const,
  Opd0XIns0,
  Opd0YIns0,
  Opd1XIns0,
  Opd1YIns0,
  Opd0UpPad,
  Opd0DnPad,
  Opd0LfPad,
  Opd0RtPad,
  ResOpXStr,
  ResOpYStr,
  Res0HShift,
  Res0WShift,
  Opd0HShift,
  Opd0WShift,
  Opd1HShift,
  Opd1WShift,
  LaneMask,
  Res0N,
  Res0C,
  Res0H,
  Res0W,
  Opd0N,
  Opd0C,
  Opd0H,
  Opd0W,
  Opd1N,
  Opd1C,
  Opd1H,
  Opd1W,
  Res0NStr,
  Res0CStr,
  Opd0NStr,
  Opd0CStr,
  Opd1NStr,
  Opd1CStr,
  Round,
  Opd2CStr,
  Res0Addr,
  Opd0Addr,
  Opd1Addr,
  Opd2Addr,
  Res0HStr,
  Res0WStr,
  Opd0HStr,
  Opd0WStr,
  Opd1HStr,
  Opd1WStr,
  Opd2HStr,
  Opd2WStr,
  Res1Addr,
  Opd3Addr,
  StartTid,
  CmdIdEng1,
  CmdIdEng2,
  CmdIdEng3,
  StrideEnable,
  NchwCopy,
  DecompressEnable,
  FillConstantEn,
  SrcPrec,
  ConstantValue,
  SrcNstride,
  SrcCstride,
  SrcHstride,
  SrcWstride,
  DstNstride,
  DstCstride,
  DstHstride,
  DstWstride,
  SrcNsize,
  SrcCsize,
  SrcHsize,
  SrcWsize,
  DstNsize,
  DstCsize,
  DstHsize,
  DstWsize,
  SrcAddrL32,
  SrcAddrH8,
  DstAddrL32,
  DstAddrH8,
  LanesL32,
  LanesH32,
  IndexCstride,
  IndexHstride,
  IndexCsize,
  IndexHsize,
  IndexAddrL32,
  IndexAddrH8,
  IndexPrec,
  MaskPrec,
  MaskAddrL32,
  MaskAddrH8,
  RegValid,
  RegIndex,
  RegValue,
  CmdEn,
  CmdEnd,
  CmdKeep,
  RightShift,
  LeftShift,
  ShiftTyp,
  Winograd,
  Opd0Neq1,
  Opd1Neq1,
  Opd2NStr,
  PioEnable,
  DesType,
  ChainEnd,
  BarrierEnable,
  Direction,
  AccWriteEnable,
  CommonMode,
  PrefetchDisable,
  HoldDesValue,
  SrcFormat,
  DstFormat,
  ChwCopy,
  LrnShiftNum,
  LrnShiftDir,
  SrcHshift,
  SrcWshift,
  DstHshift,
  DstWshift,
  SingleStep,
  DebugMode
};
inline constexpr size_t kNumFields = static_cast<size_t>(Field::DebugMode) + 1;

std::string_view fieldName(mc::FieldId field);

/// Each engine's commands name the one of the other engine that must have ended before.
inline constexpr mc::Wait kTiuWaits[] = {{Field::CmdIdDep, Engine::Gdma}};
inline constexpr mc::Wait kGdmaWaits[] = {{Field::CmdIdDep, Engine::Tiu}};

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_FIELDS_H
