//===- Isa.h - The instruction words -------------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both sets have words of 32 bits: opcode[31:28] spec[27:21] loop[20:16] immediate[15:0]. Words
// that an `alu.begin` announces are the ALU's, and the same opcodes mean other things there. The
// patent's set has `mode` (opcode 13) and the second store stream besides.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MACHINE_ISA_H
#define TPUC_TARGET_DNNWEAVER_MACHINE_ISA_H

#include "tpuc/Target/Common/Command.h"
#include "tpuc/Target/DNNWeaver/Machine/Parameters.h"

namespace tpuc::dnnweaver {

enum class Engine : uint8_t { Array, Alu };

enum class Field : uint8_t {
  Opcode,
  Spec,        ///< Bits that no other field of the form names.
  Loop,        ///< A group of loops: 16 of tiles, 0 of the array, 1 + buffer of a DDR walk.
  Imm,         ///< 16 bits.
  Buffer,      ///< See enum Buffer; of the ALU: 1 store, 2 and 3 loads, 4 second store.
  Size,        ///< log2 of the bytes of an element, not read by the machine.
  Access,      ///< 0 load, 1 store, 2 read, 3 write.
  Part,        ///< 0 the low, 1 the high half of a number.
  High,        ///< Bits 16 to 20 of a part of an address.
  Stage,       ///< Which loops of the ALU; see AluStage.
  Stream,      ///< 1 for the second store stream.
  Function,    ///< See enum AluFunction.
  IsImmediate, ///< Whether the second source is the immediate.
  Source0,
  Source1,
  Target,
  Unused
};

enum class Form : uint8_t { Plain, Buf, Addr, Base, AluPlain, AluLoop, AluBase, AluR, AluI };

/// Opcodes of both engines.
enum class Op : uint8_t {
  Setup,
  Load,
  Store,
  Read,
  Write,
  StrideHigh,
  Stride,
  Loop,
  End,
  Base,
  AluBegin,
  AluRegister,
  AluImmediate,
  Mode
};

enum class AluFunction : uint8_t { Move, Add, Sub, Mul, MoveHigh, Max, Min, Shift };
inline constexpr std::array<std::string_view, 8> kAluFunctionNames = {
    "move", "add", "sub", "mul", "movehigh", "max", "min", "shift"};

/// What the loops of an ALU block walk over.
enum class AluStage : uint8_t {
  Read,
  Store,
  Load0,
  Load1,
  Repeat,
  TileStore,
  TileLoad0,
  TileLoad1
};

/// Sources 0 to 7 are registers, 8 takes from the output buffer, 9 and 10 from the loads. Targets
/// 0 to 7 are registers, 8 hands to the store; the patent's have 9, the second store by itself.
inline constexpr unsigned kFromOutput = 8;
inline constexpr unsigned kFromLoad0 = 9;
inline constexpr unsigned kFromLoad1 = 10;
inline constexpr unsigned kToStore = 8;
inline constexpr unsigned kToCopy = 9;

/// What loops and strides of the second store stream have in Field::Stream.
inline constexpr unsigned kCopyStream = 1;

inline constexpr unsigned kTileGroup = 16;
inline constexpr unsigned kArrayGroup = 0;

const mc::CommandTable &isa(IsaKind kind);

/// The words of a program as commands. Errors name `where` and the word: what is no instruction of
/// the set, values outside of their ranges, ALU words that are announced and missing.
Expected<std::vector<mc::Command>> decodeWords(IsaKind kind, std::span<const uint32_t> words,
                                               const std::string &where);
std::vector<uint32_t> encodeWords(std::span<const mc::Command> commands);

/// One instruction in each line.
std::string disassembleWords(std::span<const mc::Command> commands);
/// The inverse. Empty lines and what follows a semicolon are skipped. Errors name `where` and line.
Expected<std::vector<mc::Command>> assembleWords(IsaKind kind, std::string_view text,
                                                 const std::string &where);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MACHINE_ISA_H
