//===- SmallIsa.h - Command tables of chips that do not exist -- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_TARGET_COMMON_SMALLISA_H
#define UNITTESTS_TARGET_COMMON_SMALLISA_H

#include "tpuc/Target/Common/Command.h"

#include <random>

namespace tpuc::smallisa {

enum class Engine : uint8_t { Mac, Dma };
enum class Form : uint8_t { Mac, MacSync, Dma, DmaShort };
enum class Field : uint8_t {
  Opcode,
  Sub,
  Flag,
  Id,
  Wait,
  Type,
  Relu,
  Stride,
  C,
  W,
  Addr,
  Length,
  Src,
  DstLow,
  DstHigh,
};

/// Two engines in one ordered stream with headers. Commands have 64 or 32 bits; those of Mac by
/// their operation, those of Dma by a flag. Each engine waits for ids of the other one.
extern const mc::CommandTable kOrdered;
inline const mc::StreamInfo &orderedStream() { return kOrdered.streams.front(); }

enum class WordField : uint8_t { Opcode, Spec, Loop, Immediate, Function, Source, Target };

/// Words of 32 bits without ids. A command of the first engine says how many words behind it are
/// the second one's.
extern const mc::CommandTable kWords;

enum class ThreeField : uint8_t { Opcode, Id, WaitA, WaitB, Address };

/// Three engines with a stream each, any of which waits for both others.
extern const mc::CommandTable kThree;

/// The operation of this name, which the table must have.
inline const mc::OpInfo &opOf(const mc::CommandTable &table, std::string_view name) {
  return *mc::findOp(table, name);
}

/// A command with random bits in all fields that do not say which command it is.
mc::Command randomCommand(const mc::OpInfo &op, mc::FormId form, std::mt19937_64 &random);
/// The same for an operation and form at random.
mc::Command randomCommand(const mc::CommandTable &table, std::mt19937_64 &random);

} // namespace tpuc::smallisa

#endif // UNITTESTS_TARGET_COMMON_SMALLISA_H
