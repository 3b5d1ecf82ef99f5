//===- CommandTable.h - Every command of the BM1684X -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of the chip's commands: which forms there are, where each field lies, which values
// it may take, which operations exist. Encoding, decoding, the text form, the checks and both
// simulators read it. Bit 0 is the least significant bit of byte 0.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_COMMANDTABLE_H
#define TPUC_TARGET_BM1684X_MACHINE_COMMANDTABLE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tpuc::bm1684x {

/// The chip's two in-order engines: computing and moving data.
enum class Engine : uint8_t { Tiu, Gdma };

/// The element types that commands know, under their codes in the precision fields.
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

/// Layouts of bits. Long is the one 1024-bit layout that all computing classes share; the Dma...
/// forms have 96 bytes (what the loader of the chip takes), DmaShort... are smaller, DmaSys is the
/// end of the GDMA stream.
enum class Form : uint8_t {
  Long,
  Conv,
  PorD,
  MatMul,
  MatMul2,
  Arith,
  Segment,
  Requant,
  Transpose,
  ScatterGather,
  ScatterGatherLine,
  LinearArith,
  Sfu,
  Linear,
  Compare,
  Vector,
  Sys,
  SysWrite,
  DmaTensor,
  DmaGather,
  DmaSelect,
  DmaNonzero,
  DmaSys,
  DmaShortMatrix,
  DmaShortGeneral,
  DmaShortNonzero,
  DmaShortSelect,
};
inline constexpr size_t kNumForms = static_cast<size_t>(Form::DmaShortSelect) + 1;

/// All fields of all forms. `fieldName` gives the chip's own names, with these differences: opcode
/// and sub_opcode name the same thing for both engines, `round` is what the register file calls
/// opd2_n_str (it holds the rounding mode, or iterations - 1), and `DmaTensor`'s addresses are
/// called src_addr_l32, src_addr_h8 and so on.
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
  RegValue
};
inline constexpr size_t kNumFields = static_cast<size_t>(Field::RegValue) + 1;

std::string_view fieldName(Field field);

/// Where a field lies in a form.
// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct FieldSpec {
  Field field;
  uint16_t lsb;
  uint8_t width;
};

// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct FormInfo {
  Form form;
  std::string_view name;
  Engine engine;
  uint8_t bytes;
  std::span<const FieldSpec> fields;
};
const FormInfo &formInfo(Form form);

/// The place of `field` in `form`, or null where the form lacks it.
const FieldSpec *findField(Form form, Field field);

/// The largest legal value of a field where that is less than its width allows (precisions, stride
/// modes, ...); all smaller values are legal, too.
uint64_t maxLegalValue(Field field, unsigned width);
/// The smallest legal value: 1 for the strides of windows, else 0.
uint64_t minLegalValue(Field field);
/// What a field holds when nothing is said about it: cmd_id_en 1, the masks of lanes all ones, the
/// short flag as the form says (see `Command::make`), else 0. The text form leaves these out.
uint64_t defaultValue(Field field, unsigned width);

/// How the text form writes the values of a field.
enum class FieldStyle : uint8_t { Decimal, Hex, Prec };
FieldStyle fieldStyle(Field field);

/// Fields that the text form writes as one item, such as `res0=[n1 c64 h56 w56]`.
struct FieldGroup {
  std::string_view name;
  /// Concatenated groups are one number, the first member its low part: `src_addr=0x100000000`.
  bool concatenated;
  struct Member {
    Field field;
    std::string_view tag;
  };
  std::span<const Member> members;
};
std::span<const FieldGroup> fieldGroups();

/// One operation of an engine, identified by opcode and sub-opcode.
// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct CommandOp {
  Engine engine;
  uint8_t opcode;
  uint8_t sub;
  std::string_view name;
  /// The form with the fewest bits on the TIU, the 96-byte form on the GDMA (16 for its end).
  Form form;
  /// The other form, if there is one: Long on the TIU, DmaShort... on the GDMA.
  std::optional<Form> otherForm;
};
std::span<const CommandOp> allCommandOps();
/// Null when the engine has no such operation.
const CommandOp *findCommandOp(Engine engine, unsigned opcode, unsigned sub);
const CommandOp *findCommandOp(std::string_view name);

/// Opcodes, bits 41..44 of a TIU command.
namespace tiu {
inline constexpr unsigned kConv = 0, kPorD = 1, kMatMul = 2, kArith = 3, kRequant = 4,
                          kTranspose = 5, kScatterGather = 6, kLar = 7, kSfu = 9, kLinear = 10,
                          kLarAlt = 12, kCompare = 13, kVector = 14, kSys = 15;
inline constexpr unsigned kSysEnd = 31;
} // namespace tiu
/// Opcodes, bits 32..35 of a GDMA command.
namespace gdma {
inline constexpr unsigned kTensor = 0, kMatrix = 1, kSelect = 2, kGeneral = 3, kCwTranspose = 4,
                          kNonzero = 5, kSys = 6, kGather = 7, kScatter = 8;
} // namespace gdma

/// The chip's memories.
inline constexpr unsigned kLanes = 64;
inline constexpr uint32_t kLaneBytes = 256 << 10;
inline constexpr uint32_t kBankBytes = 16 << 10;
inline constexpr uint32_t kLocalBytes = kLanes * kLaneBytes;
/// Bytes that one lane computes at a time; aligned layouts start channels at multiples of it.
inline constexpr unsigned kEuBytes = 64;
inline constexpr uint64_t kLocalBase = 0x0800'0000;
inline constexpr uint64_t kStaticBase = 0x0900'0000;
inline constexpr uint32_t kStaticBytes = 16 << 10;
inline constexpr uint64_t kL2Base = 0x1000'0000;
inline constexpr uint32_t kL2Bytes = 0x1F'B000;
inline constexpr uint64_t kGlobalBase = 0x1'0000'0000;

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_COMMANDTABLE_H
