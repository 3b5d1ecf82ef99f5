//===- Assembly.cpp - The text form of commands ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Common/Check.h"
#include "tpuc/Target/Common/Command.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tpuc::mc {

std::string valueText(const FieldInfo &field, uint64_t value) {
  if (value < field.names.size())
    return std::string(field.names[value]);
  return field.style == FieldStyle::Hex ? fmt::format("{:#x}", value) : fmt::format("{}", value);
}

namespace {

/// Bits that no field covers, as 64-bit words per form.
constexpr size_t kWords = Command::kMaxBytes / 8;

std::array<uint64_t, kWords> uncoveredBits(const FormInfo &info) {
  std::array<uint64_t, kWords> words{};
  for (unsigned bit = 0; bit < info.bytes * 8u; ++bit)
    words[bit / 64] |= uint64_t{1} << bit % 64;
  for (const FieldSpec &spec : info.fields)
    for (unsigned bit = spec.lsb; bit < unsigned{spec.lsb} + spec.width; ++bit)
      words[bit / 64] &= ~(uint64_t{1} << bit % 64);
  return words;
}

const FieldGroup *groupOf(const CommandTable &table, FieldId field) {
  for (const FieldGroup &group : table.groups)
    for (const FieldGroup::Member &member : group.members)
      if (member.field == field)
        return &group;
  return nullptr;
}

/// Fields that the first words of the line carry.
bool isInHead(const EngineInfo &engine, FieldId field) {
  return field == engine.opcode.field || (engine.sub && field == engine.sub->field) ||
         (engine.flag && field == engine.flag->field) || (engine.id && field == *engine.id) ||
         std::ranges::find(engine.waits, field, &Wait::field) != engine.waits.end();
}

bool isPreset(const Command &command, const FieldSpec &spec) {
  return command.get(spec.field) == presetOf(command.table().field(spec.field), spec.width);
}

void appendGroup(std::string &out, const Command &command, const FieldGroup &group) {
  bool allPreset = true;
  uint64_t whole = 0;
  unsigned shift = 0;
  std::string inner;
  for (const FieldGroup::Member &member : group.members) {
    const FieldSpec *spec = command.find(member.field);
    if (!spec)
      continue;
    uint64_t value = command.get(member.field);
    allPreset &= isPreset(command, *spec);
    if (group.concatenated) {
      whole |= value << shift;
      shift += spec->width;
    }
    inner += fmt::format("{}{}{}", inner.empty() ? "" : " ", member.tag, value);
  }
  if (allPreset)
    return;
  if (group.concatenated)
    out += fmt::format(" {}={:#x}", group.name, whole);
  else
    out += fmt::format(" {}=[{}]", group.name, inner);
}

std::string_view formSuffix(const OpInfo &op, FormId form) {
  if (form == op.form)
    return "";
  return op.rule == FlagRule::Set ? ".long" : ".short";
}

void appendHead(std::string &out, const Command &command) {
  const EngineInfo &engine = command.engineInfo();
  out += command.operation().name;
  out += formSuffix(command.operation(), command.form());
  if (engine.id && command.has(*engine.id))
    out += fmt::format(" #{}", command.id());
  for (size_t i = 0; i < engine.waits.size(); ++i)
    if (const uint32_t awaited = command.dependency(i); awaited != 0) {
      const EngineInfo &other = command.table().engine(engine.waits[i].engine);
      out += engine.waits.size() > 1 ? fmt::format(" <-{}:{}", other.name, awaited)
                                     : fmt::format(" <-{}", awaited);
    }
}

} // namespace

std::string disassemble(const Command &command) {
  std::string out;
  appendHead(out, command);
  const CommandTable &table = command.table();
  std::vector<const FieldGroup *> seen;
  for (const FieldSpec &spec : command.info().fields) {
    if (isInHead(command.engineInfo(), spec.field))
      continue;
    if (const FieldGroup *group = groupOf(table, spec.field)) {
      if (std::ranges::find(seen, group) == seen.end()) {
        seen.push_back(group);
        appendGroup(out, command, *group);
      }
      continue;
    }
    const FieldInfo &field = table.field(spec.field);
    if (!isPreset(command, spec))
      out += fmt::format(" {}={}", field.name, valueText(field, command.get(spec.field)));
  }
  std::array<uint64_t, kWords> uncovered = uncoveredBits(command.info());
  for (unsigned bit = 0; bit < command.info().bytes * 8u; bit += 64) {
    const unsigned width = std::min(64u, command.info().bytes * 8u - bit);
    uint64_t stray = command.bitsAt(bit, width) & uncovered[bit / 64];
    if (stray != 0)
      out += fmt::format(" bits[{}:{}]={:#x}", bit, width, stray);
  }
  return out;
}

namespace {

std::optional<uint64_t> parseNumber(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (status != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<uint64_t> parseValue(const FieldInfo &field, std::string_view text) {
  const auto name = std::ranges::find(field.names, text);
  if (name != field.names.end())
    return static_cast<uint64_t>(name - field.names.begin());
  return parseNumber(text);
}

/// The text up to the next blank outside of brackets; `line` keeps the rest.
std::string_view nextItem(std::string_view &line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r\n"), line.size()));
  size_t end = 0;
  bool bracketed = false;
  for (; end < line.size(); ++end) {
    char c = line[end];
    bracketed = c == '[' || (bracketed && c != ']');
    if (!bracketed && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
      break;
  }
  std::string_view item = line.substr(0, end);
  line.remove_prefix(end);
  return item;
}

/// `name` with an optional `.long` or `.short`.
Expected<Command> parseHead(const CommandTable &table, std::string_view name,
                            const std::string &where) {
  if (const OpInfo *op = findOp(table, name))
    return Command::make(*op);
  size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    const OpInfo *op = findOp(table, name.substr(0, dot));
    if (op && op->otherForm && name.substr(dot) == formSuffix(*op, *op->otherForm))
      return Command::make(*op, *op->otherForm);
  }
  return makeError(where, fmt::format("'{}'", name), "the name of an operation");
}

using MaybeError = std::optional<Error>;

/// Writes the items of one line into a command.
struct LineReader {
  Command &command;
  const std::string &where;

  MaybeError error(std::string_view item, std::string expected) const {
    return Error{where, fmt::format("'{}'", item), std::move(expected)};
  }
  MaybeError noField(std::string_view item) const {
    return error(item, fmt::format("a field of the form '{}'", command.info().name));
  }
  MaybeError setField(FieldId field, std::string_view text, std::string_view item);
  MaybeError setWait(std::string_view text, std::string_view item);
  MaybeError setConcatenated(const FieldGroup &group, std::string_view text, std::string_view item);
  MaybeError setGroup(const FieldGroup &group, std::string_view text, std::string_view item);
  MaybeError setRawBits(std::string_view item);
  MaybeError setItem(std::string_view item);
};

MaybeError LineReader::setField(FieldId field, std::string_view text, std::string_view item) {
  const FieldSpec *spec = command.find(field);
  if (!spec)
    return noField(item);
  std::optional<uint64_t> value = parseValue(command.table().field(field), text);
  if (!value || !command.trySet(field, *value))
    return error(item, fmt::format("a number of {} bits", spec->width));
  return std::nullopt;
}

/// `3`, or `DMA:3` where there are several engines to wait for.
MaybeError LineReader::setWait(std::string_view text, std::string_view item) {
  const std::span<const Wait> waits = command.engineInfo().waits;
  if (waits.size() == 1)
    return setField(waits.front().field, text, item);
  const std::string_view name = text.substr(0, text.find(':'));
  for (const Wait &wait : waits)
    if (name.size() < text.size() && command.table().engine(wait.engine).name == name)
      return setField(wait.field, text.substr(name.size() + 1), item);
  return error(item, "an engine that this one waits for, ':' and an id");
}

MaybeError LineReader::setConcatenated(const FieldGroup &group, std::string_view text,
                                       std::string_view item) {
  std::optional<uint64_t> value = parseNumber(text);
  if (!value)
    return error(item, "a number");
  for (const FieldGroup::Member &member : group.members) {
    const FieldSpec *spec = command.find(member.field);
    if (!spec)
      return noField(item);
    command.set(member.field, *value & spec->bits().mask());
    *value = spec->width >= 64 ? 0 : *value >> spec->width;
  }
  return *value == 0 ? std::nullopt : error(item, "a smaller number");
}

MaybeError LineReader::setGroup(const FieldGroup &group, std::string_view text,
                                std::string_view item) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']')
    return error(item, "values in brackets");
  text = text.substr(1, text.size() - 2);
  for (std::string_view part = nextItem(text); !part.empty(); part = nextItem(text)) {
    auto member = std::ranges::find(group.members, part.substr(0, 1), &FieldGroup::Member::tag);
    if (member == group.members.end())
      return error(item, "a letter and a number for each dimension");
    if (MaybeError wrong = setField(member->field, part.substr(1), item))
      return wrong;
  }
  return std::nullopt;
}

/// bits[lsb:width]=value
MaybeError LineReader::setRawBits(std::string_view item) {
  size_t colon = item.find(':');
  size_t close = item.find("]=");
  if (colon != std::string_view::npos && close != std::string_view::npos && colon < close) {
    std::optional<uint64_t> lsb = parseNumber(item.substr(5, colon - 5));
    std::optional<uint64_t> width = parseNumber(item.substr(colon + 1, close - colon - 1));
    std::optional<uint64_t> value = parseNumber(item.substr(close + 2));
    uint64_t numBits = command.info().bytes * 8u;
    if (lsb && width && value && *width >= 1 && *width <= 64 && *lsb < numBits &&
        *lsb + *width <= numBits) {
      auto first = static_cast<unsigned>(*lsb);
      auto count = static_cast<unsigned>(*width);
      command.setBitsAt(first, count, command.bitsAt(first, count) | *value);
      return std::nullopt;
    }
  }
  return error(item, "bits[lsb:width]=value inside of the command");
}

MaybeError LineReader::setItem(std::string_view item) {
  const EngineInfo &engine = command.engineInfo();
  if (item.starts_with('#') && engine.id)
    return setField(*engine.id, item.substr(1), item);
  if (item.starts_with("<-") && !engine.waits.empty())
    return setWait(item.substr(2), item);
  if (item.starts_with("bits["))
    return setRawBits(item);
  size_t equals = item.find('=');
  if (equals == std::string_view::npos)
    return error(item, "name=value");
  std::string_view name = item.substr(0, equals);
  std::string_view text = item.substr(equals + 1);
  const CommandTable &table = command.table();
  for (const FieldGroup &group : table.groups)
    if (group.name == name)
      return group.concatenated ? setConcatenated(group, text, item) : setGroup(group, text, item);
  for (const FieldSpec &spec : command.info().fields)
    if (!isInHead(engine, spec.field) && table.field(spec.field).name == name)
      return setField(spec.field, text, item);
  return noField(item);
}

} // namespace

Expected<Command> assemble(const CommandTable &table, std::string_view line,
                           const std::string &where) {
  Expected<Command> command = parseHead(table, nextItem(line), where);
  if (!command)
    return command;
  LineReader reader{*command, where};
  for (std::string_view item = nextItem(line); !item.empty(); item = nextItem(line))
    if (MaybeError error = reader.setItem(item))
      return tl::unexpected<Error>(std::move(*error));
  return command;
}

} // namespace tpuc::mc
