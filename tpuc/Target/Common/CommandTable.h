//===- CommandTable.h - The commands of a chip, as data ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip describes its commands by one constant of the type `CommandTable`: engines, fields, forms
// with the places of their fields, operations, streams. Encoding, decoding, the text form, the
// checks and the order of engines read nothing else. Bit 0 is the least significant bit of byte 0.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_COMMON_COMMANDTABLE_H
#define TPUC_TARGET_COMMON_COMMANDTABLE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace tpuc::mc {

/// The place of a field, form or engine in its table. The enumerations of a chip convert to it.
template <typename Tag> class Number {
public:
  constexpr Number() = default;
  constexpr explicit Number(size_t index) : value(static_cast<uint8_t>(index)) {}
  template <typename Enum>
    requires std::is_enum_v<Enum>
  constexpr Number(Enum value) : value(static_cast<uint8_t>(value)) {}
  template <typename Enum>
    requires std::is_enum_v<Enum>
  constexpr explicit operator Enum() const {
    return static_cast<Enum>(value);
  }

  constexpr size_t index() const { return value; }
  friend constexpr bool operator==(Number, Number) = default;

private:
  uint8_t value = 0;
};
using FieldId = Number<struct FieldTag>;
using FormId = Number<struct FormTag>;
using EngineId = Number<struct EngineTag>;

/// No field, form or engine has this place.
inline constexpr uint8_t kNone = 255;

/// Some bits that follow each other, at most 64.
struct Bits {
  uint16_t lsb = 0;
  uint8_t width = 0;

  constexpr uint64_t mask() const {
    return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  }
  /// Their value in a word whose bit 0 is theirs.
  constexpr uint64_t of(uint64_t word) const { return word >> lsb & mask(); }
  friend constexpr bool operator==(const Bits &, const Bits &) = default;
};

enum class FieldStyle : uint8_t { Decimal, Hex };

/// What every form that has the field shares.
// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct FieldInfo {
  FieldId id;
  std::string_view name;
  /// How the text form writes values that have no name.
  FieldStyle style = FieldStyle::Decimal;
  /// What the field holds when nothing is said about it, cut to its width. The text form leaves it
  /// out then.
  uint64_t preset = 0;
  /// The names of the values from 0 on, for the text form.
  std::span<const std::string_view> names = {};
};

/// Where a field lies in a form.
// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct FieldSpec {
  FieldId field;
  uint16_t lsb;
  uint8_t width;

  constexpr Bits bits() const { return {lsb, width}; }
};

/// A layout of bits, of 4 to 128 bytes.
// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct FormInfo {
  FormId id;
  std::string_view name;
  EngineId engine;
  uint8_t bytes;
  std::span<const FieldSpec> fields;
};

/// The field that holds the id of another engine's command, which must have ended before.
struct Wait {
  FieldId field;
  EngineId engine;
};

/// A field that lies at the same place in all forms of an engine that have it.
struct HeadField {
  FieldId field;
  Bits bits;
};

struct EngineInfo {
  std::string_view name;
  /// What each command has at least. What tells commands apart is in the first eight of them.
  uint8_t headBytes;
  HeadField opcode;
  std::optional<HeadField> sub = {};
  /// The flag that tells the two forms of an operation apart, and its name in errors.
  std::optional<HeadField> flag = {};
  std::string_view flagName = {};
  /// The command's own id. Ids count from 1; without them the engine is never waited for.
  std::optional<FieldId> id = {};
  std::span<const Wait> waits = {};
};

/// Which value of the engine's flag an operation's form has.
enum class FlagRule : uint8_t { Any, Set, Clear };

struct CommandTable;

/// One operation of an engine, identified by opcode and sub-opcode.
// In the order in which the tables are written.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct OpInfo {
  const CommandTable *table;
  EngineId engine;
  uint16_t opcode;
  uint16_t sub;
  std::string_view name;
  /// Its usual form, which has the flag `rule`.
  FormId form;
  FlagRule rule = FlagRule::Any;
  /// The form with the other flag, if there is one.
  std::optional<FormId> otherForm = {};
  /// Whether it is the last command of a stream.
  bool endsStream = false;
  /// The next commands of the stream are another engine's: `count` and `more` of them.
  struct Handover {
    EngineId engine;
    FieldId count;
    uint32_t more;
  };
  std::optional<Handover> handover = {};
};

/// Fields that the text form writes as one item, such as `res0=[n1 c64 h56 w56]`.
struct FieldGroup {
  std::string_view name;
  /// Concatenated groups are one number, the first member its low part: `src_addr=0x100000000`.
  bool concatenated;
  struct Member {
    FieldId field;
    std::string_view tag; ///< One letter; none in concatenated groups.
  };
  std::span<const Member> members;
};

/// The legal values of a field, where the width allows others.
struct FieldLimit {
  FieldId field;
  uint64_t least;
  uint64_t most;
  /// The limit holds for commands with these opcodes: bit i for opcode i.
  uint32_t opcodes = ~0u;
  /// What an error says is expected; empty for the range.
  std::string_view expected = {};
};

/// Bytes before each command of a stream, at most 8, which say whose it is.
struct HeaderInfo {
  uint8_t bytes;
  /// All bits but those of the engine and of the length.
  uint64_t constant;
  Bits engine;
  /// What stands in `engine`, for each engine of the stream.
  std::span<const uint8_t> codes;
  /// The bytes of the command without the header; no bits where the header does not say it.
  Bits length = {};
};

/// A sequence of commands as it lies in memory. In a stream of several engines each command has a
/// header, or commands of the first engine hand over to others (`OpInfo::handover`).
struct StreamInfo {
  std::string_view name;
  std::span<const EngineId> engines;
  /// Whether an end command closes it. Behind that are zeros up to a multiple of `alignment` bytes.
  bool hasEnd = false;
  uint32_t alignment = 1;
  std::optional<HeaderInfo> header = {};
};

struct CommandTable {
  std::span<const EngineInfo> engines;
  std::span<const FieldInfo> fields;
  std::span<const FormInfo> forms;
  std::span<const OpInfo> ops;
  std::span<const FieldGroup> groups;
  std::span<const FieldLimit> limits;
  std::span<const StreamInfo> streams;
  /// Made by `indexFields` and `indexOps`; opcodes are below `numOpcodes`, sub-opcodes below
  /// `numSubs`.
  std::span<const uint8_t> fieldIndex;
  std::span<const uint16_t> opIndex;
  uint16_t numOpcodes;
  uint16_t numSubs;

  const EngineInfo &engine(EngineId id) const { return engines[id.index()]; }
  const FieldInfo &field(FieldId id) const { return fields[id.index()]; }
  const FormInfo &form(FormId id) const { return forms[id.index()]; }
  /// For each field its place among the fields of the form, kNone where the form lacks it.
  const uint8_t *places(FormId id) const { return &fieldIndex[id.index() * fields.size()]; }
};

/// The place of `field` in `form`, or null where the form lacks it.
inline const FieldSpec *findField(const CommandTable &table, FormId form, FieldId field) {
  const uint8_t place = table.places(form)[field.index()];
  return place == kNone ? nullptr : &table.form(form).fields[place];
}

inline constexpr uint16_t kNoOp = 0xFFFF;

/// Null when the engine has no such operation.
inline const OpInfo *findOp(const CommandTable &table, EngineId engine, unsigned opcode,
                            unsigned sub) {
  if (opcode >= table.numOpcodes || sub >= table.numSubs)
    return nullptr;
  const uint16_t index =
      table.opIndex[(engine.index() * table.numOpcodes + opcode) * table.numSubs + sub];
  return index == kNoOp ? nullptr : &table.ops[index];
}
const OpInfo *findOp(const CommandTable &table, std::string_view name);

/// What a field of `width` bits holds when nothing is said about it.
constexpr uint64_t presetOf(const FieldInfo &field, unsigned width) {
  return field.preset & Bits{0, static_cast<uint8_t>(width)}.mask();
}

/// Values for `CommandTable::fieldIndex`.
template <size_t NumForms, size_t NumFields>
constexpr std::array<uint8_t, NumForms * NumFields> indexFields(std::span<const FormInfo> forms) {
  std::array<uint8_t, NumForms * NumFields> index{};
  index.fill(kNone);
  for (size_t form = 0; form < NumForms; ++form)
    for (size_t i = 0; i < forms[form].fields.size(); ++i)
      index[form * NumFields + forms[form].fields[i].field.index()] = static_cast<uint8_t>(i);
  return index;
}

/// Values for `CommandTable::opIndex`.
template <size_t NumEngines, size_t NumOpcodes, size_t NumSubs>
constexpr std::array<uint16_t, NumEngines * NumOpcodes * NumSubs>
indexOps(std::span<const OpInfo> ops) {
  std::array<uint16_t, NumEngines * NumOpcodes * NumSubs> index{};
  index.fill(kNoOp);
  for (size_t i = 0; i < ops.size(); ++i)
    index[(ops[i].engine.index() * NumOpcodes + ops[i].opcode) * NumSubs + ops[i].sub] =
        static_cast<uint16_t>(i);
  return index;
}

namespace detail {

constexpr bool isAt(const FieldSpec &spec, const HeadField &head) {
  return spec.field != head.field || spec.bits() == head.bits;
}

/// See `problemOf`, for one form.
constexpr std::string_view formProblem(const CommandTable &table, const FormInfo &form) {
  if (form.engine.index() >= table.engines.size())
    return "a form of no engine";
  const EngineInfo &engine = table.engines[form.engine.index()];
  if (form.bytes > 128 || form.bytes < engine.headBytes)
    return "a form of too few or too many bytes";
  bool used[1024] = {};
  bool seen[256] = {};
  for (const FieldSpec &spec : form.fields) {
    if (spec.field.index() >= table.fields.size())
      return "a field that the table lacks";
    if (spec.width == 0 || spec.width > 64 || spec.lsb + spec.width > form.bytes * 8u)
      return "a field outside of its form";
    if (seen[spec.field.index()])
      return "a field twice in a form";
    seen[spec.field.index()] = true;
    for (unsigned bit = spec.lsb; bit < unsigned{spec.lsb} + spec.width; ++bit) {
      if (used[bit])
        return "two fields on one bit";
      used[bit] = true;
    }
    if (!isAt(spec, engine.opcode) || (engine.sub && !isAt(spec, *engine.sub)) ||
        (engine.flag && !isAt(spec, *engine.flag)))
      return "an opcode, sub-opcode or flag at another place than its engine says";
  }
  if (!seen[engine.opcode.field.index()] || (engine.sub && !seen[engine.sub->field.index()]))
    return "a form without opcode or sub-opcode";
  return {};
}

constexpr std::string_view opProblem(const CommandTable &table, const OpInfo &op) {
  if (op.form.index() >= table.forms.size() ||
      (op.otherForm && op.otherForm->index() >= table.forms.size()))
    return "an operation with a form that the table lacks";
  if (table.forms[op.form.index()].engine != op.engine ||
      (op.otherForm && table.forms[op.otherForm->index()].engine != op.engine))
    return "an operation with a form of another engine";
  const EngineInfo &engine = table.engines[op.engine.index()];
  if (op.opcode > engine.opcode.bits.mask() || op.sub > (engine.sub ? engine.sub->bits.mask() : 0))
    return "an operation whose opcode has too many bits";
  if ((op.otherForm || op.rule != FlagRule::Any) && !engine.flag)
    return "two forms without a flag";
  if (op.otherForm && op.rule == FlagRule::Any)
    return "two forms with the same flag";
  return {};
}

} // namespace detail

/// What is wrong with a table, or nothing: fields that overlap or leave their form, operations that
/// decoding could not tell apart. Chips assert that there is nothing.
constexpr std::string_view problemOf(const CommandTable &table) {
  if (table.fields.size() >= kNone || table.forms.size() >= kNone ||
      table.fieldIndex.size() != table.fields.size() * table.forms.size() ||
      table.opIndex.size() != table.engines.size() * table.numOpcodes * table.numSubs)
    return "tables of sizes that do not agree";
  for (size_t i = 0; i < table.fields.size(); ++i)
    if (table.fields[i].id.index() != i)
      return "fields in another order than their numbers";
  for (size_t i = 0; i < table.forms.size(); ++i)
    if (table.forms[i].id.index() != i)
      return "forms in another order than their numbers";
  for (const EngineInfo &engine : table.engines) {
    constexpr size_t kHeadBits = 64;
    const Bits last[] = {engine.opcode.bits, engine.sub ? engine.sub->bits : Bits{},
                         engine.flag ? engine.flag->bits : Bits{}};
    for (const Bits &bits : last)
      if (bits.lsb + bits.width > kHeadBits || bits.lsb + bits.width > engine.headBytes * 8u)
        return "an engine whose head is too short";
  }
  for (const FormInfo &form : table.forms)
    if (const std::string_view problem = detail::formProblem(table, form); !problem.empty())
      return problem;
  for (size_t i = 0; i < table.ops.size(); ++i) {
    const OpInfo &op = table.ops[i];
    if (const std::string_view problem = detail::opProblem(table, op); !problem.empty())
      return problem;
    if (table.opIndex[(op.engine.index() * table.numOpcodes + op.opcode) * table.numSubs +
                      op.sub] != i)
      return "two operations with the same opcodes";
  }
  for (const StreamInfo &stream : table.streams)
    if (stream.engines.empty() || stream.alignment == 0 ||
        (stream.header && (stream.header->bytes == 0 || stream.header->bytes > 8 ||
                           stream.header->codes.size() != stream.engines.size())))
      return "a stream without engines, or without a code for each";
  return {};
}

} // namespace tpuc::mc

#endif // TPUC_TARGET_COMMON_COMMANDTABLE_H
