//===- Command.h - One command: bits and fields --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_COMMON_COMMAND_H
#define TPUC_TARGET_COMMON_COMMAND_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/Common/CommandTable.h"

#include <array>
#include <cassert>
#include <cstring>
#include <string>
#include <vector>

namespace tpuc::mc {

/// A command in memory: its operation, its form and its bits, read and written by field. Bits that
/// belong to no field are kept as they were decoded, so encoding gives back the same bytes.
class Command {
public:
  static constexpr size_t kMaxBytes = 128;

  /// A command of `op` in its usual form, every field at its preset value.
  static Command make(const OpInfo &op) { return Command(op, op.form); }
  /// The same in a given form, which must be one of the operation's two.
  static Command make(const OpInfo &op, FormId form) { return Command(op, form); }

  const OpInfo &operation() const { return *op; }
  const CommandTable &table() const { return *op->table; }
  EngineId engine() const { return op->engine; }
  const EngineInfo &engineInfo() const { return table().engine(op->engine); }
  FormId form() const { return formId; }
  const FormInfo &info() const { return *formInfo; }

  bool has(FieldId field) const { return places[field.index()] != kNone; }
  /// The place of the field, or null where the form lacks it.
  const FieldSpec *find(FieldId field) const {
    const uint8_t place = places[field.index()];
    return place == kNone ? nullptr : &formInfo->fields[place];
  }
  /// The field's value; 0 where the form lacks it.
  uint64_t get(FieldId field) const {
    const FieldSpec *spec = find(field);
    return spec ? bitsAt(spec->lsb, spec->width) : 0;
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  Enum as(FieldId field) const {
    return static_cast<Enum>(get(field));
  }
  /// A number in two fields, 32 bits in the first of them.
  uint64_t address(FieldId low, FieldId high) const { return get(low) | get(high) << 32; }
  /// The form must have the field, and the value must fit.
  Command &set(FieldId field, uint64_t value) {
    [[maybe_unused]] const bool done = trySet(field, value);
    assert(done && "the form lacks the field, or the value does not fit");
    return *this;
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  Command &set(FieldId field, Enum value) {
    return set(field, static_cast<uint64_t>(value));
  }
  /// False, and nothing changed, when the form lacks the field or the value does not fit.
  bool trySet(FieldId field, uint64_t value);

  /// 0 where commands of this form have none.
  uint32_t id() const {
    const std::optional<FieldId> &field = engineInfo().id;
    return field ? static_cast<uint32_t>(get(*field)) : 0;
  }
  /// The id of another engine's command that this one waits for, 0 for none: that of the engine's
  /// wait number `wait`.
  uint32_t dependency(size_t wait = 0) const {
    const std::span<const Wait> waits = engineInfo().waits;
    return wait < waits.size() ? static_cast<uint32_t>(get(waits[wait].field)) : 0;
  }
  bool isEnd() const { return op->endsStream; }

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
  std::span<const uint8_t> encoded() const { return {raw.data(), formInfo->bytes}; }

  friend bool operator==(const Command &a, const Command &b) {
    return a.op == b.op && a.formInfo == b.formInfo && a.raw == b.raw;
  }

private:
  Command(const OpInfo &op, FormId form);
  friend Expected<Command> decode(const CommandTable &table, EngineId engine,
                                  std::span<const uint8_t> bytes, const std::string &where);

  const OpInfo *op;
  const FormInfo *formInfo;
  const uint8_t *places;
  FormId formId;
  // Eight bytes more than the longest form, so that a whole word can be read at its last bits.
  std::array<uint8_t, kMaxBytes + 8> raw{};
};

/// The command of `engine` that `bytes` begin with. Errors name `where`: opcodes that the table
/// lacks, a flag that no form of the operation has, too few bytes.
Expected<Command> decode(const CommandTable &table, EngineId engine, std::span<const uint8_t> bytes,
                         const std::string &where);

/// One line of text: operation, form where it is not the usual one, id, awaited id, then every
/// field that is not at its preset:
///   conv #7 <-3 opd0_sign=1 res0_prec=i32 res0=[n1 c64 h56 w56] ...
/// Where an engine may wait for several others, the awaited one is named: `<-DMA:3`. Bits outside
/// of the fields are written as bits[lsb:width]=0x....
std::string disassemble(const Command &command);

/// The inverse of `disassemble`; items may stand in any order, missing ones have their presets.
/// Errors name `where` and the item.
Expected<Command> assemble(const CommandTable &table, std::string_view line,
                           const std::string &where);

} // namespace tpuc::mc

#endif // TPUC_TARGET_COMMON_COMMAND_H
