//===- Command.h - One command: bits and fields --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_COMMAND_H
#define TPUC_TARGET_BM1684X_MACHINE_COMMAND_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

#include <array>
#include <cassert>
#include <cstring>
#include <string>
#include <vector>

namespace tpuc::bm1684x {

/// A command in memory: its operation, its form and its bits, read and written by field. Bits that
/// belong to no field are kept as they were decoded, so encoding gives back the same bytes.
class Command {
public:
  static constexpr size_t kMaxBytes = 128;

  /// A command of `operation` in its usual form (short on the TIU, 96 bytes on the GDMA), every
  /// field at its `defaultValue`.
  static Command make(const CommandOp &operation) { return Command(operation, operation.form); }
  /// The same in a given form, which must be one of the operation's two.
  static Command make(const CommandOp &operation, Form form) { return Command(operation, form); }

  const CommandOp &operation() const { return *op; }
  Engine engine() const { return op->engine; }
  Form form() const { return formValue; }
  const FormInfo &info() const { return formInfo(formValue); }

  bool has(Field field) const { return findField(formValue, field) != nullptr; }
  /// The field's value; 0 where the form lacks it.
  uint64_t get(Field field) const {
    const FieldSpec *spec = findField(formValue, field);
    return spec ? bitsAt(spec->lsb, spec->width) : 0;
  }
  Prec prec(Field field) const { return static_cast<Prec>(get(field)); }
  /// The form must have the field, and the value must fit.
  Command &set(Field field, uint64_t value) {
    [[maybe_unused]] bool done = trySet(field, value);
    assert(done && "the form lacks the field, or the value does not fit");
    return *this;
  }
  Command &set(Field field, Prec prec) { return set(field, static_cast<uint64_t>(prec)); }
  /// False, and nothing changed, when the form lacks the field or the value does not fit.
  bool trySet(Field field, uint64_t value);

  uint32_t id() const { return static_cast<uint32_t>(get(Field::CmdId)); }
  /// The id of the other engine's command that this one waits for; 0 for none.
  uint32_t dependency() const { return static_cast<uint32_t>(get(Field::CmdIdDep)); }
  bool isEnd() const;
  /// 40-bit addresses of GDMA commands.
  uint64_t address(Field low, Field high) const { return get(low) | get(high) << 32; }

  /// Any 1 to 64 bits from `lsb`, whatever fields they belong to.
  uint64_t bitsAt(unsigned lsb, unsigned width) const {
    uint64_t word;
    std::memcpy(&word, raw.data() + lsb / 8, 8);
    word >>= lsb % 8;
    if (lsb % 8 + width > 64)
      word |= static_cast<uint64_t>(raw[lsb / 8 + 8]) << (64 - lsb % 8);
    return width >= 64 ? word : word & ((uint64_t{1} << width) - 1);
  }
  void setBitsAt(unsigned lsb, unsigned width, uint64_t value);

  /// The command as the chip reads it.
  std::span<const uint8_t> encoded() const { return {raw.data(), info().bytes}; }

  friend bool operator==(const Command &a, const Command &b) {
    return a.op == b.op && a.formValue == b.formValue && a.raw == b.raw;
  }

private:
  Command(const CommandOp &operation, Form form);
  friend Expected<Command> decode(Engine engine, std::span<const uint8_t> bytes,
                                  const std::string &where);

  const CommandOp *op;
  Form formValue;
  // Eight bytes more than the longest form, so that a whole word can be read at its last bits.
  std::array<uint8_t, kMaxBytes + 8> raw{};
};

/// The command that `bytes` begin with. Errors name `where`: an opcode or sub-opcode that the table
/// lacks, a form that the operation does not have, too few bytes.
Expected<Command> decode(Engine engine, std::span<const uint8_t> bytes, const std::string &where);

/// One line of text: operation, form where it is not the usual one, id, awaited id, then every
/// field that is not at its default:
///   conv.normal #7 <-3 opd0_sign=1 res0_prec=i32 res0=[n1 c64 h56 w56] pad=[u1 d1 l1 r1] ...
/// Bits outside of the fields are written as bits[lsb:width]=0x....
std::string disassemble(const Command &command);

/// The inverse of `disassemble`; items may stand in any order, missing ones have their defaults.
/// Errors name `where` and the item.
Expected<Command> assemble(std::string_view line, const std::string &where);

/// A whole stream: all commands including the end command, which must be there, then zeros up to a
/// multiple of 128 bytes. Errors name `where` and the command's index and offset.
Expected<std::vector<Command>> parseStream(Engine engine, std::span<const uint8_t> bytes,
                                           const std::string &where);

/// The inverse of `parseStream`.
std::vector<uint8_t> encodeStream(std::span<const Command> commands);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_COMMAND_H
