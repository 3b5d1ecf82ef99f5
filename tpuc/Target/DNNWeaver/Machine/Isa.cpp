//===- Isa.cpp - The instruction words ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Isa.h"

#include "tpuc/Target/Common/Check.h"
#include "tpuc/Target/Common/Stream.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::dnnweaver {

using namespace mc;

namespace {

constexpr EngineInfo kEngines[] = {
    {.name = "array", .headBytes = 4, .opcode = {Field::Opcode, {28, 4}}},
    {.name = "alu", .headBytes = 4, .opcode = {Field::Opcode, {28, 4}}},
};

constexpr std::string_view kBuffers[] = {"input", "output", "weight", "bias"};
constexpr std::string_view kAccesses[] = {"load", "store", "read", "write"};
constexpr std::string_view kStages[] = {"read",   "store",      "load0",      "load1",
                                        "repeat", "tile.store", "tile.load0", "tile.load1"};
constexpr std::string_view kSources[] = {"r0", "r1", "r2",     "r3",    "r4",   "r5",
                                         "r6", "r7", "output", "load0", "load1"};
constexpr std::string_view kTargets[] = {"r0", "r1", "r2", "r3",    "r4",
                                         "r5", "r6", "r7", "store", "copy"};

constexpr FieldInfo kFields[] = {
    {.id = Field::Opcode, .name = "opcode"},
    {.id = Field::Spec, .name = "spec"},
    {.id = Field::Loop, .name = "group"},
    {.id = Field::Imm, .name = "imm"},
    {.id = Field::Buffer, .name = "buffer", .names = kBuffers},
    {.id = Field::Size, .name = "size"},
    {.id = Field::Access, .name = "access", .names = kAccesses},
    {.id = Field::Part, .name = "part"},
    {.id = Field::High, .name = "high"},
    {.id = Field::Stage, .name = "stage", .names = kStages},
    {.id = Field::Stream, .name = "stream"},
    {.id = Field::Function, .name = "fn", .names = kAluFunctionNames},
    {.id = Field::IsImmediate, .name = "immediate"},
    {.id = Field::Source0, .name = "src0", .names = kSources},
    {.id = Field::Source1, .name = "src1", .names = kSources},
    {.id = Field::Target, .name = "dst", .names = kTargets},
    {.id = Field::Unused, .name = "unused"},
};

constexpr FieldSpec kPlain[] = {
    {Field::Imm, 0, 16}, {Field::Loop, 16, 5}, {Field::Spec, 21, 7}, {Field::Opcode, 28, 4}};
constexpr FieldSpec kBuf[] = {{Field::Imm, 0, 16},    {Field::Loop, 16, 5},
                              {Field::Size, 21, 3},   {Field::Buffer, 24, 3},
                              {Field::Unused, 27, 1}, {Field::Opcode, 28, 4}};
constexpr FieldSpec kAddr[] = {{Field::Imm, 0, 16},    {Field::Loop, 16, 5},
                               {Field::Access, 21, 3}, {Field::Buffer, 24, 3},
                               {Field::Unused, 27, 1}, {Field::Opcode, 28, 4}};
constexpr FieldSpec kBase[] = {{Field::Imm, 0, 16},    {Field::High, 16, 5},
                               {Field::Part, 21, 3},   {Field::Buffer, 24, 3},
                               {Field::Unused, 27, 1}, {Field::Opcode, 28, 4}};
constexpr FieldSpec kAluLoop[] = {{Field::Imm, 0, 16},    {Field::Loop, 16, 5},
                                  {Field::Stage, 21, 3},  {Field::Stream, 24, 3},
                                  {Field::Unused, 27, 1}, {Field::Opcode, 28, 4}};
constexpr FieldSpec kAluBase[] = {{Field::Imm, 0, 16},    {Field::High, 16, 5},
                                  {Field::Part, 21, 3},   {Field::Stream, 24, 3},
                                  {Field::Unused, 27, 1}, {Field::Opcode, 28, 4}};
constexpr FieldSpec kAluR[] = {{Field::Target, 0, 4},    {Field::Source0, 4, 4},
                               {Field::Source1, 8, 4},   {Field::Unused, 12, 12},
                               {Field::Function, 24, 3}, {Field::IsImmediate, 27, 1},
                               {Field::Opcode, 28, 4}};
constexpr FieldSpec kAluI[] = {{Field::Target, 0, 4},       {Field::Source0, 4, 4},
                               {Field::Imm, 8, 16},         {Field::Function, 24, 3},
                               {Field::IsImmediate, 27, 1}, {Field::Opcode, 28, 4}};
constexpr FormInfo kForms[] = {
    {Form::Plain, "plain", Engine::Array, 4, kPlain},
    {Form::Buf, "buffer", Engine::Array, 4, kBuf},
    {Form::Addr, "stride", Engine::Array, 4, kAddr},
    {Form::Base, "base", Engine::Array, 4, kBase},
    {Form::AluPlain, "alu.plain", Engine::Alu, 4, kPlain},
    {Form::AluLoop, "alu.loop", Engine::Alu, 4, kAluLoop},
    {Form::AluBase, "alu.base", Engine::Alu, 4, kAluBase},
    {Form::AluR, "alu.register", Engine::Alu, 4, kAluR},
    {Form::AluI, "alu.immediate", Engine::Alu, 4, kAluI},
};

extern const CommandTable kPublicTable, kPatentTable;

constexpr OpInfo op(const CommandTable &table, Engine engine, Op opcode, std::string_view name,
                    Form form) {
  return {.table = &table,
          .engine = engine,
          .opcode = static_cast<uint16_t>(opcode),
          .sub = 0,
          .name = name,
          .form = form};
}
constexpr OpInfo aluBegin(const CommandTable &table) {
  OpInfo info = op(table, Engine::Array, Op::AluBegin, "alu.begin", Form::Plain);
  info.handover = OpInfo::Handover{Engine::Alu, Field::Imm, 1};
  return info;
}

template <bool IsPatent> constexpr auto makeOps(const CommandTable &table) {
  std::array<OpInfo, IsPatent ? 20 : 19> ops = {
      op(table, Engine::Array, Op::Setup, "setup", Form::Plain),
      op(table, Engine::Array, Op::Load, "load", Form::Buf),
      op(table, Engine::Array, Op::Store, "store", Form::Buf),
      op(table, Engine::Array, Op::Read, "read", Form::Buf),
      op(table, Engine::Array, Op::Write, "write", Form::Buf),
      op(table, Engine::Array, Op::StrideHigh, "stride.high", Form::Addr),
      op(table, Engine::Array, Op::Stride, "stride", Form::Addr),
      op(table, Engine::Array, Op::Loop, "loop", Form::Plain),
      op(table, Engine::Array, Op::End, "end", Form::Plain),
      op(table, Engine::Array, Op::Base, "base", Form::Base),
      aluBegin(table),
      op(table, Engine::Alu, Op::Load, "alu.load", Form::AluLoop),
      op(table, Engine::Alu, Op::StrideHigh, "alu.stride.high", Form::AluLoop),
      op(table, Engine::Alu, Op::Stride, "alu.stride", Form::AluLoop),
      op(table, Engine::Alu, Op::Loop, "alu.loop", Form::AluLoop),
      op(table, Engine::Alu, Op::End, "alu.end", Form::AluPlain),
      op(table, Engine::Alu, Op::Base, "alu.base", Form::AluBase),
      op(table, Engine::Alu, Op::AluRegister, "alu.r", Form::AluR),
      op(table, Engine::Alu, Op::AluImmediate, "alu.i", Form::AluI),
  };
  if constexpr (IsPatent)
    ops[19] = op(table, Engine::Array, Op::Mode, "mode", Form::Base);
  return ops;
}

constexpr uint32_t only(Op opcode) { return 1u << static_cast<unsigned>(opcode); }
constexpr uint32_t kAddressed = only(Op::Load) | only(Op::Store) | only(Op::Read) |
                                only(Op::Write) | only(Op::Stride) | only(Op::StrideHigh) |
                                only(Op::Base);

template <bool IsPatent> constexpr auto makeLimits() {
  return std::array<FieldLimit, 11>{{
      {.field = Field::Unused, .least = 0, .most = 0},
      {.field = Field::Buffer, .least = 0, .most = 3, .opcodes = kAddressed},
      {.field = Field::Buffer,
       .least = 0,
       .most = 4,
       .opcodes = only(Op::Mode),
       .expected = "a buffer or the second store"},
      {.field = Field::Access, .least = 0, .most = 3},
      {.field = Field::Part, .least = 0, .most = 1},
      {.field = Field::Stage,
       .least = 0,
       .most = 7,
       .opcodes = only(Op::Loop) | only(Op::Stride) | only(Op::StrideHigh)},
      {.field = Field::Source0, .least = 0, .most = kFromLoad1},
      {.field = Field::Source1, .least = 0, .most = kFromLoad1},
      {.field = Field::Target, .least = 0, .most = IsPatent ? kToCopy : kToStore},
      {.field = Field::IsImmediate, .least = 0, .most = 0, .opcodes = only(Op::AluRegister)},
      {.field = Field::IsImmediate, .least = 1, .most = 1, .opcodes = only(Op::AluImmediate)},
  }};
}

constexpr EngineId kStreamEngines[] = {Engine::Array, Engine::Alu};
constexpr StreamInfo kStreams[] = {{.name = "program", .engines = kStreamEngines}};
constexpr auto kFieldIndex = indexFields<std::size(kForms), std::size(kFields)>(kForms);

constexpr auto kPublicOps = makeOps<false>(kPublicTable);
constexpr auto kPatentOps = makeOps<true>(kPatentTable);
constexpr auto kPublicLimits = makeLimits<false>();
constexpr auto kPatentLimits = makeLimits<true>();
constexpr auto kPublicIndex = indexOps<2, 16, 1>(kPublicOps);
constexpr auto kPatentIndex = indexOps<2, 16, 1>(kPatentOps);

constexpr CommandTable table(std::span<const OpInfo> ops, std::span<const FieldLimit> limits,
                             std::span<const uint16_t> opIndex) {
  return {.engines = kEngines,
          .fields = kFields,
          .forms = kForms,
          .ops = ops,
          .groups = {},
          .limits = limits,
          .streams = kStreams,
          .fieldIndex = kFieldIndex,
          .opIndex = opIndex,
          .numOpcodes = 16,
          .numSubs = 1};
}
constexpr CommandTable kPublicTable = table(kPublicOps, kPublicLimits, kPublicIndex);
constexpr CommandTable kPatentTable = table(kPatentOps, kPatentLimits, kPatentIndex);
static_assert(problemOf(kPublicTable).empty());
static_assert(problemOf(kPatentTable).empty());

} // namespace

const CommandTable &isa(IsaKind kind) {
  return kind == IsaKind::Public ? kPublicTable : kPatentTable;
}

Expected<std::vector<Command>> decodeWords(IsaKind kind, std::span<const uint32_t> words,
                                           const std::string &where) {
  std::vector<uint8_t> bytes(words.size() * 4);
  if (!words.empty())
    std::memcpy(bytes.data(), words.data(), bytes.size());
  Expected<std::vector<Command>> commands = parseStream(isa(kind), kStreams[0], bytes, where);
  if (!commands)
    return propagate(commands);
  for (size_t i = 0; i < commands->size(); ++i)
    if (std::optional<Error> error =
            checkFields((*commands)[i], fmt::format("{}: word {}", where, i)))
      return tl::unexpected<Error>(std::move(*error));
  return commands;
}

std::vector<uint32_t> encodeWords(std::span<const Command> commands) {
  std::vector<uint32_t> words(commands.size());
  for (size_t i = 0; i < commands.size(); ++i)
    std::memcpy(&words[i], commands[i].encoded().data(), 4);
  return words;
}

std::string disassembleWords(std::span<const Command> commands) {
  std::string text;
  for (const Command &command : commands)
    text += disassemble(command) + "\n";
  return text;
}

Expected<std::vector<Command>> assembleWords(IsaKind kind, std::string_view text,
                                             const std::string &where) {
  std::vector<Command> commands;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    item = item.substr(0, item.find(';'));
    if (item.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    const std::string here = fmt::format("{}:{}", where, line);
    Expected<Command> command = assemble(isa(kind), item, here);
    if (!command)
      return propagate(command);
    if (std::optional<Error> error = checkFields(*command, here))
      return tl::unexpected<Error>(std::move(*error));
    commands.push_back(*command);
  }
  return commands;
}

} // namespace tpuc::dnnweaver
