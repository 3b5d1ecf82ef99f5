//===- Command.cpp - One command: bits and fields -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Command.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm1684x {

bool Command::trySet(Field field, uint64_t value) {
  const FieldSpec *spec = findField(formValue, field);
  if (!spec || (spec->width < 64 && value >> spec->width != 0))
    return false;
  setBitsAt(spec->lsb, spec->width, value);
  return true;
}

void Command::setBitsAt(unsigned lsb, unsigned width, uint64_t value) {
  for (unsigned bit = 0; bit < width;) {
    unsigned at = lsb + bit;
    unsigned count = std::min(8 - at % 8, width - bit);
    auto mask = static_cast<uint8_t>(((1u << count) - 1) << at % 8);
    auto bits = static_cast<uint8_t>(((value >> bit) << at % 8) & mask);
    raw[at / 8] = static_cast<uint8_t>((raw[at / 8] & ~mask) | bits);
    bit += count;
  }
}

Command::Command(const CommandOp &operation, Form form) : op(&operation), formValue(form) {
  assert(form == operation.form || (operation.otherForm && form == *operation.otherForm));
  for (const FieldSpec &spec : info().fields)
    setBitsAt(spec.lsb, spec.width, defaultValue(spec.field, spec.width));
  bool isShort = operation.engine == Engine::Tiu ? form != Form::Long : info().bytes != 96;
  trySet(Field::CmdShort, isShort);
  set(Field::Opcode, operation.opcode);
  set(Field::SubOpcode, operation.sub);
}

bool Command::isEnd() const {
  return op->engine == Engine::Tiu ? op->opcode == tiu::kSys && op->sub == tiu::kSysEnd
                                   : op->opcode == gdma::kSys && op->sub == 0;
}

namespace {

constexpr size_t kStreamAlign = 128;

/// The form that the short flag asks for, or none.
std::optional<Form> decodedForm(const CommandOp &operation, bool shortFlag) {
  if (operation.engine == Engine::Tiu) {
    bool alwaysShort = !operation.otherForm;
    return alwaysShort || shortFlag ? operation.form : Form::Long;
  }
  if (operation.opcode == gdma::kSys)
    return shortFlag ? std::optional(operation.form) : std::nullopt;
  return shortFlag ? operation.otherForm : std::optional(operation.form);
}

} // namespace

Expected<Command> decode(Engine engine, std::span<const uint8_t> bytes, const std::string &where) {
  // Every form has at least 16 bytes, and what tells the forms apart is in the first eight.
  if (bytes.size() < 16)
    return makeError(where, fmt::format("{} bytes left", bytes.size()), "a command");
  uint64_t head;
  std::memcpy(&head, bytes.data(), 8);
  bool isTiu = engine == Engine::Tiu;
  unsigned opcode = isTiu ? head >> 41 & 15 : head >> 32 & 15;
  unsigned sub = isTiu ? head >> 45 & 31 : head >> 36 & 7;
  const CommandOp *operation = findCommandOp(engine, opcode, sub);
  if (!operation)
    return makeError(
        where, fmt::format("{} opcode {} with sub-opcode {}", isTiu ? "TIU" : "GDMA", opcode, sub),
        "an operation of the command table");
  std::optional<Form> form = decodedForm(*operation, isTiu ? head & 1 : head >> 3 & 1);
  if (!form)
    return makeError(where, fmt::format("{} with short flag {}", operation->name, head >> 3 & 1),
                     "a form of the command table");
  Command command(*operation, *form);
  size_t size = command.info().bytes;
  if (bytes.size() < size)
    return makeError(where, fmt::format("{} bytes left", bytes.size()),
                     fmt::format("the {} bytes of {}", size, operation->name));
  command.raw.fill(0);
  std::copy_n(bytes.begin(), size, command.raw.begin());
  return command;
}

Expected<std::vector<Command>> parseStream(Engine engine, std::span<const uint8_t> bytes,
                                           const std::string &where) {
  std::vector<Command> commands;
  size_t at = 0;
  while (true) {
    std::string here = fmt::format("{}: command {} at byte {}", where, commands.size(), at);
    if (at == bytes.size())
      return makeError(here, "the end of the stream", "an end command");
    Expected<Command> command = decode(engine, bytes.subspan(at), here);
    if (!command)
      return propagate(command);
    at += command->info().bytes;
    commands.push_back(*command);
    if (commands.back().isEnd())
      break;
  }
  std::span<const uint8_t> padding = bytes.subspan(at);
  size_t expected = (kStreamAlign - at % kStreamAlign) % kStreamAlign;
  if (padding.size() != expected)
    return makeError(fmt::format("{}: byte {}", where, at),
                     fmt::format("{} bytes after the end command", padding.size()),
                     fmt::format("{}, up to a multiple of {}", expected, kStreamAlign));
  auto stray = std::ranges::find_if(padding, [](uint8_t byte) { return byte != 0; });
  if (stray != padding.end())
    return makeError(fmt::format("{}: byte {}", where, at + (stray - padding.begin())),
                     fmt::format("{:#x} after the end command", *stray), "zeros");
  return commands;
}

std::vector<uint8_t> encodeStream(std::span<const Command> commands) {
  std::vector<uint8_t> bytes;
  for (const Command &command : commands) {
    std::span<const uint8_t> one = command.encoded();
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  bytes.resize((bytes.size() + kStreamAlign - 1) / kStreamAlign * kStreamAlign);
  return bytes;
}

} // namespace tpuc::bm1684x
