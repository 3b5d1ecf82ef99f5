//===- Command.cpp - One command: bits and fields -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Common/Command.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::mc {

const OpInfo *findOp(const CommandTable &table, std::string_view name) {
  const auto found = std::ranges::find(table.ops, name, &OpInfo::name);
  return found == table.ops.end() ? nullptr : &*found;
}

bool Command::trySet(FieldId field, uint64_t value) {
  const FieldSpec *spec = find(field);
  if (!spec || (value & ~spec->bits().mask()) != 0)
    return false;
  setBitsAt(spec->lsb, spec->width, value);
  return true;
}

void Command::setBitsAt(unsigned lsb, unsigned width, uint64_t value) {
  const unsigned shift = lsb % 8;
  if (shift + width <= 64) {
    // Most fields lie in the word that begins with their first byte.
    const uint64_t mask = (width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) << shift;
    uint64_t word;
    std::memcpy(&word, raw.data() + lsb / 8, sizeof word);
    word = (word & ~mask) | (value << shift & mask);
    std::memcpy(raw.data() + lsb / 8, &word, sizeof word);
    return;
  }
  for (unsigned bit = 0; bit < width;) {
    unsigned at = lsb + bit;
    unsigned count = std::min(8 - at % 8, width - bit);
    auto mask = static_cast<uint8_t>(((1u << count) - 1) << at % 8);
    auto bits = static_cast<uint8_t>(((value >> bit) << at % 8) & mask);
    raw[at / 8] = static_cast<uint8_t>((raw[at / 8] & ~mask) | bits);
    bit += count;
  }
}

Command::Command(const OpInfo &operation, FormId form)
    : op(&operation), formInfo(&operation.table->form(form)), places(operation.table->places(form)),
      formId(form) {
  assert(form == op->form || (op->otherForm && form == *op->otherForm));
  for (const FieldSpec &spec : formInfo->fields)
    if (const uint64_t preset = presetOf(table().field(spec.field), spec.width); preset != 0)
      setBitsAt(spec.lsb, spec.width, preset);
  const EngineInfo &engine = engineInfo();
  if (engine.flag)
    trySet(engine.flag->field, (op->rule != FlagRule::Clear) == (form == op->form));
  set(engine.opcode.field, op->opcode);
  if (engine.sub)
    set(engine.sub->field, op->sub);
}

namespace {

/// The form that the flag asks for, or none.
std::optional<FormId> decodedForm(const OpInfo &op, bool flag) {
  if (op.rule == FlagRule::Any || flag == (op.rule == FlagRule::Set))
    return op.form;
  return op.otherForm;
}

} // namespace

Expected<Command> decode(const CommandTable &table, EngineId engineId,
                         std::span<const uint8_t> bytes, const std::string &where) {
  const EngineInfo &engine = table.engine(engineId);
  if (bytes.size() < engine.headBytes)
    return makeError(where, fmt::format("{} bytes left", bytes.size()), "a command");
  uint64_t head = 0;
  std::memcpy(&head, bytes.data(), std::min<size_t>(engine.headBytes, sizeof head));
  const auto opcode = static_cast<unsigned>(engine.opcode.bits.of(head));
  const auto sub = static_cast<unsigned>(engine.sub ? engine.sub->bits.of(head) : 0);
  const OpInfo *op = findOp(table, engineId, opcode, sub);
  if (!op)
    return makeError(where,
                     fmt::format("{} opcode {} with sub-opcode {}", engine.name, opcode, sub),
                     "an operation of the command table");
  const bool flag = engine.flag && engine.flag->bits.of(head) != 0;
  const std::optional<FormId> form = decodedForm(*op, flag);
  if (!form)
    return makeError(where,
                     fmt::format("{} with {} {:d}", op->name,
                                 engine.flag ? engine.flagName : std::string_view("flag"), flag),
                     "a form of the command table");
  Command command(*op, *form);
  const size_t size = command.info().bytes;
  if (bytes.size() < size)
    return makeError(where, fmt::format("{} bytes left", bytes.size()),
                     fmt::format("the {} bytes of {}", size, op->name));
  command.raw.fill(0);
  std::copy_n(bytes.begin(), size, command.raw.begin());
  return command;
}

} // namespace tpuc::mc
