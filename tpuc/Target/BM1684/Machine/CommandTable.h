//===- CommandTable.h - Every command of the BM1684 ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of the chip's commands: where each field lies, which values it may take, which
// operations exist. Encoding, decoding, the text form, the checks and both simulators read it. The
// fields themselves are those of the family (tpuc/Target/BM168x).
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_COMMANDTABLE_H
#define TPUC_TARGET_BM1684_MACHINE_COMMANDTABLE_H

#include "tpuc/Target/BM168x/Fields.h"
#include "tpuc/Target/BM168x/LocalMemory.h"
#include "tpuc/Target/Common/CommandTable.h"

namespace tpuc::bm1684 {

using bm168x::Engine;
using bm168x::Field;
using bm168x::kLanes;
using bm168x::Prec;
using bm168x::precBytes;
using bm168x::precName;
using mc::FieldSpec;

/// Each engine has one layout of bits, of 128 bytes.
enum class Form : uint8_t { Tiu, Gdma };
inline constexpr size_t kNumForms = 2;
inline constexpr size_t kCommandBytes = 128;

/// Everything that is said of the commands.
extern const mc::CommandTable kCommandTable;

/// Opcodes, bits 37..40 of a TIU command.
namespace tiu {
inline constexpr unsigned kConv = 0, kPorD = 1, kMatMul = 2, kArith = 3, kMatMul2 = 4, kLut = 6,
                          kSum = 7, kScalar = 8, kSfu = 9, kLinear = 10, kCompare = 13,
                          kVector = 14;
} // namespace tiu
/// Sub-opcodes of the classes for element-wise operations.
namespace sub {
inline constexpr unsigned kMul = 0, kMac = 1, kAdd = 2, kSub = 3, kMax = 4, kMin = 5, kShift = 6,
                          kAnd = 7, kOr = 8, kXor = 9, kSelectGt = 10, kSelectEq = 11, kDiv = 12,
                          kCopy = 19;
/// Of tiu::kPorD; an average is a depthwise convolution with a constant kernel.
inline constexpr unsigned kDepthwise = 1, kMaxPool = 4;
/// Of tiu::kSfu.
inline constexpr unsigned kTaylor = 13, kToInt = 14, kExponent = 15, kPowerOfTwo = 16, kRsqrt = 17;
/// Of tiu::kLinear, beside kMac: the squares of sums and differences.
inline constexpr unsigned kSquareSum = 20, kSquareDiff = 21;
/// Of tiu::kCompare.
inline constexpr unsigned kMaxOnly = 22, kSelect = 23, kMaxAndSelect = 24;
} // namespace sub
/// Opcodes, bits 32..34 of a GDMA command. Sub-opcode 1 means that the memory outside of the lanes
/// holds a matrix.
namespace gdma {
inline constexpr unsigned kCopy = 0, kTranspose = 1, kLrnShift = 2, kFill = 4, kCwTranspose = 5;
} // namespace gdma

/// What a transfer calls the size of its elements.
enum class Format : uint8_t { Bits32 = 0, Bits16 = 1, Bits8 = 3 };
/// Bytes of an element; 0 for codes without a meaning.
constexpr unsigned formatBytes(uint64_t code) {
  return code == 0 ? 4 : code == 1 ? 2 : code == 3 ? 1 : 0;
}

/// Batch items that share a 32-bit word of a tensor in local memory.
constexpr int64_t itemsPerWord(Prec prec) {
  return prec == Prec::I8 ? 4 : prec == Prec::I16 ? 2 : 1;
}

/// The chip's memories.
inline constexpr uint32_t kLaneBytes = 512 << 10;
inline constexpr uint32_t kLocalBytes = kLanes * kLaneBytes;
/// Bytes that one lane computes at a time; aligned layouts start channels at multiples of it.
inline constexpr unsigned kEuBytes = 128;
inline constexpr unsigned kEuWords = kEuBytes / 4;
inline constexpr uint64_t kLocalBase = 0x0800'0000;
inline constexpr bm168x::LocalMemory kLocalMemory = {kLocalBase, kLaneBytes, kEuBytes};
inline constexpr uint64_t kL2Base = 0x1000'0000;
inline constexpr uint32_t kL2Bytes = 4 << 20;
inline constexpr uint64_t kGlobalBase = 0x1'0000'0000;

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_COMMANDTABLE_H
