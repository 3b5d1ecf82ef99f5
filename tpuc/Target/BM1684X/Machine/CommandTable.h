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
// simulators read it. The fields themselves are those of the family (tpuc/Target/BM168x).
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_COMMANDTABLE_H
#define TPUC_TARGET_BM1684X_MACHINE_COMMANDTABLE_H

#include "tpuc/Target/BM168x/Fields.h"
#include "tpuc/Target/BM168x/LocalMemory.h"
#include "tpuc/Target/Common/CommandTable.h"

namespace tpuc::bm1684x {

using bm168x::Engine;
using bm168x::Field;
using bm168x::fieldName;
using bm168x::isFloatPrec;
using bm168x::Prec;
using bm168x::precBytes;
using bm168x::precName;
using mc::FieldSpec;
using mc::FormInfo;
using CommandOp = mc::OpInfo;

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

/// Everything that is said of the commands.
extern const mc::CommandTable kCommandTable;

const FormInfo &formInfo(mc::FormId form);
std::span<const CommandOp> allCommandOps();
/// Null when the engine has no such operation.
const CommandOp *findCommandOp(mc::EngineId engine, unsigned opcode, unsigned sub);
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
using bm168x::kLanes;
inline constexpr uint32_t kLaneBytes = 256 << 10;
inline constexpr uint32_t kBankBytes = 16 << 10;
inline constexpr uint32_t kLocalBytes = kLanes * kLaneBytes;
/// Bytes that one lane computes at a time; aligned layouts start channels at multiples of it.
inline constexpr unsigned kEuBytes = 64;
inline constexpr uint64_t kLocalBase = 0x0800'0000;
inline constexpr bm168x::LocalMemory kLocalMemory = {kLocalBase, kLaneBytes, kEuBytes};
inline constexpr uint64_t kStaticBase = 0x0900'0000;
inline constexpr uint32_t kStaticBytes = 16 << 10;
inline constexpr uint64_t kL2Base = 0x1000'0000;
inline constexpr uint32_t kL2Bytes = 0x1F'B000;
inline constexpr uint64_t kGlobalBase = 0x1'0000'0000;

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_COMMANDTABLE_H
