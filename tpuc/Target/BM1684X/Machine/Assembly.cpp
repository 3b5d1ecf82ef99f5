//===- Assembly.cpp - The text form of commands ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Command.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

/// Bits that no field covers, as 64-bit words per form.
constexpr size_t kWords = Command::kMaxBytes / 8;

std::array<uint64_t, kWords> uncoveredBits(const FormInfo &info) {
  std::array<uint64_t, kWords> words{};
  for (unsigned bit = 0; bit < info.bytes * 8u; ++bit)
    words[bit / 64] |= uint64_t{1} << bit % 64;
  for (const FieldSpec &spec : info.fields)
    for (unsigned bit = spec.lsb; bit < spec.lsb + spec.width; ++bit)
      words[bit / 64] &= ~(uint64_t{1} << bit % 64);
  return words;
}

const FieldGroup *groupOf(Field field) {
  for (const FieldGroup &group : fieldGroups())
    for (const FieldGroup::Member &member : group.members)
      if (member.field == field)
        return &group;
  return nullptr;
}

/// Fields that the first words of the line carry.
bool isInHead(Field field) {
  return field == Field::CmdShort || field == Field::Opcode || field == Field::SubOpcode ||
         field == Field::CmdId || field == Field::CmdIdDep;
}

std::string valueText(Field field, uint64_t value) {
  switch (fieldStyle(field)) {
  case FieldStyle::Prec:
    if (value <= static_cast<uint64_t>(Prec::I4))
      return std::string(precName(static_cast<Prec>(value)));
    break;
  case FieldStyle::Hex:
    return fmt::format("{:#x}", value);
  case FieldStyle::Decimal:
    break;
  }
  return fmt::format("{}", value);
}

void appendGroup(std::string &out, const Command &command, const FieldGroup &group) {
  bool isDefault = true;
  uint64_t whole = 0;
  unsigned shift = 0;
  std::string inner;
  for (const FieldGroup::Member &member : group.members) {
    const FieldSpec *spec = findField(command.form(), member.field);
    if (!spec)
      continue;
    uint64_t value = command.get(member.field);
    isDefault &= value == defaultValue(member.field, spec->width);
    if (group.concatenated) {
      whole |= value << shift;
      shift += spec->width;
    }
    inner += fmt::format("{}{}{}", inner.empty() ? "" : " ", member.tag, value);
  }
  if (isDefault)
    return;
  if (group.concatenated)
    out += fmt::format(" {}={:#x}", group.name, whole);
  else
    out += fmt::format(" {}=[{}]", group.name, inner);
}

std::string_view formSuffix(const CommandOp &operation, Form form) {
  if (form == operation.form)
    return "";
  return operation.engine == Engine::Tiu ? ".long" : ".short";
}

} // namespace

std::string disassemble(const Command &command) {
  std::string out(command.operation().name);
  out += formSuffix(command.operation(), command.form());
  if (command.has(Field::CmdId))
    out += fmt::format(" #{}", command.id());
  if (command.dependency() != 0)
    out += fmt::format(" <-{}", command.dependency());
  std::vector<const FieldGroup *> seen;
  for (const FieldSpec &spec : command.info().fields) {
    if (isInHead(spec.field))
      continue;
    if (const FieldGroup *group = groupOf(spec.field)) {
      if (std::ranges::find(seen, group) == seen.end()) {
        seen.push_back(group);
        appendGroup(out, command, *group);
      }
      continue;
    }
    uint64_t value = command.get(spec.field);
    if (value != defaultValue(spec.field, spec.width))
      out += fmt::format(" {}={}", fieldName(spec.field), valueText(spec.field, value));
  }
  std::array<uint64_t, kWords> uncovered = uncoveredBits(command.info());
  for (unsigned bit = 0; bit < command.info().bytes * 8u; bit += 64) {
    uint64_t stray = command.bitsAt(bit, 64) & uncovered[bit / 64];
    if (stray != 0)
      out += fmt::format(" bits[{}:64]={:#x}", bit, stray);
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

std::optional<uint64_t> parseValue(Field field, std::string_view text) {
  if (fieldStyle(field) == FieldStyle::Prec)
    for (unsigned code = 0; code <= static_cast<unsigned>(Prec::I4); ++code)
      if (precName(static_cast<Prec>(code)) == text)
        return code;
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
Expected<Command> parseHead(std::string_view name, const std::string &where) {
  if (const CommandOp *operation = findCommandOp(name))
    return Command::make(*operation);
  size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    const CommandOp *operation = findCommandOp(name.substr(0, dot));
    if (operation && operation->otherForm &&
        name.substr(dot) == formSuffix(*operation, *operation->otherForm))
      return Command::make(*operation, *operation->otherForm);
  }
  return makeError(where, fmt::format("'{}'", name), "the name of an operation");
}

using MaybeError = std::optional<Error>;

MaybeError itemError(const std::string &where, std::string_view item, std::string expected) {
  return Error{where, fmt::format("'{}'", item), std::move(expected)};
}

MaybeError setField(Command &command, Field field, std::string_view text, std::string_view item,
                    const std::string &where) {
  const FieldSpec *spec = findField(command.form(), field);
  if (!spec)
    return itemError(where, item, fmt::format("a field of the form '{}'", command.info().name));
  std::optional<uint64_t> value = parseValue(field, text);
  if (!value || !command.trySet(field, *value))
    return itemError(where, item, fmt::format("a number of {} bits", spec->width));
  return std::nullopt;
}

MaybeError setGroup(Command &command, const FieldGroup &group, std::string_view text,
                    std::string_view item, const std::string &where) {
  if (group.concatenated) {
    std::optional<uint64_t> value = parseNumber(text);
    if (!value)
      return itemError(where, item, "a number");
    for (const FieldGroup::Member &member : group.members) {
      const FieldSpec *spec = findField(command.form(), member.field);
      if (!spec)
        return itemError(where, item, fmt::format("a field of the form '{}'", command.info().name));
      command.set(member.field, *value & ((uint64_t{1} << spec->width) - 1));
      *value >>= spec->width;
    }
    return *value == 0 ? std::nullopt : itemError(where, item, "a smaller number");
  }
  if (text.size() < 2 || text.front() != '[' || text.back() != ']')
    return itemError(where, item, "values in brackets");
  text = text.substr(1, text.size() - 2);
  for (std::string_view part = nextItem(text); !part.empty(); part = nextItem(text)) {
    auto member = std::ranges::find(group.members, part.substr(0, 1), &FieldGroup::Member::tag);
    if (member == group.members.end())
      return itemError(where, item, "a letter and a number for each dimension");
    if (MaybeError error = setField(command, member->field, part.substr(1), item, where))
      return error;
  }
  return std::nullopt;
}

/// bits[lsb:width]=value
MaybeError setRawBits(Command &command, std::string_view item, const std::string &where) {
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
  return itemError(where, item, "bits[lsb:width]=value inside of the command");
}

MaybeError setItem(Command &command, std::string_view item, const std::string &where) {
  if (item.starts_with('#'))
    return setField(command, Field::CmdId, item.substr(1), item, where);
  if (item.starts_with("<-"))
    return setField(command, Field::CmdIdDep, item.substr(2), item, where);
  if (item.starts_with("bits["))
    return setRawBits(command, item, where);
  size_t equals = item.find('=');
  if (equals == std::string_view::npos)
    return itemError(where, item, "name=value");
  std::string_view name = item.substr(0, equals);
  std::string_view text = item.substr(equals + 1);
  for (const FieldGroup &group : fieldGroups())
    if (group.name == name)
      return setGroup(command, group, text, item, where);
  for (const FieldSpec &spec : command.info().fields)
    if (!isInHead(spec.field) && fieldName(spec.field) == name)
      return setField(command, spec.field, text, item, where);
  return itemError(where, item, fmt::format("a field of the form '{}'", command.info().name));
}

} // namespace

Expected<Command> assemble(std::string_view line, const std::string &where) {
  Expected<Command> command = parseHead(nextItem(line), where);
  if (!command)
    return command;
  for (std::string_view item = nextItem(line); !item.empty(); item = nextItem(line))
    if (MaybeError error = setItem(*command, item, where))
      return tl::unexpected<Error>(std::move(*error));
  return command;
}

} // namespace tpuc::bm1684x
