//===- SmallIsa.cpp - Command tables of chips that do not exist -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallIsa.h"

namespace tpuc::smallisa {

using namespace mc;

// Two engines in one stream.

namespace ordered {

constexpr Wait kMacWaits[] = {{Field::Wait, Engine::Dma}};
constexpr Wait kDmaWaits[] = {{Field::Wait, Engine::Mac}};
constexpr EngineInfo kEngines[] = {
    {.name = "MAC",
     .headBytes = 4,
     .opcode = {Field::Opcode, {0, 4}},
     .sub = HeadField{Field::Sub, {4, 2}},
     .id = FieldId(Field::Id),
     .waits = kMacWaits},
    {.name = "DMA",
     .headBytes = 4,
     .opcode = {Field::Opcode, {1, 3}},
     .flag = HeadField{Field::Flag, {0, 1}},
     .flagName = "short flag",
     .id = FieldId(Field::Id),
     .waits = kDmaWaits},
};

constexpr std::string_view kTypes[] = {"i8", "i16", "bf16"};
constexpr FieldInfo kFields[] = {
    {.id = Field::Opcode, .name = "opcode"},
    {.id = Field::Sub, .name = "sub"},
    {.id = Field::Flag, .name = "short"},
    {.id = Field::Id, .name = "id"},
    {.id = Field::Wait, .name = "wait"},
    {.id = Field::Type, .name = "type", .names = kTypes},
    {.id = Field::Relu, .name = "relu"},
    {.id = Field::Stride, .name = "stride", .preset = 1},
    {.id = Field::C, .name = "c"},
    {.id = Field::W, .name = "w"},
    {.id = Field::Addr, .name = "addr", .style = FieldStyle::Hex},
    {.id = Field::Length, .name = "length", .preset = ~uint64_t{0}},
    {.id = Field::Src, .name = "src", .style = FieldStyle::Hex},
    {.id = Field::DstLow, .name = "dst_low"},
    {.id = Field::DstHigh, .name = "dst_high"},
};

// Bits 61 to 63 belong to no field; the address lies across two words.
constexpr FieldSpec kMac[] = {{Field::Opcode, 0, 4}, {Field::Sub, 4, 2},   {Field::Id, 6, 8},
                              {Field::Wait, 14, 6},  {Field::Type, 20, 2}, {Field::Relu, 22, 1},
                              {Field::Addr, 23, 16}, {Field::C, 39, 9},    {Field::W, 48, 9},
                              {Field::Stride, 57, 4}};
constexpr FieldSpec kMacSync[] = {
    {Field::Opcode, 0, 4}, {Field::Sub, 4, 2}, {Field::Id, 6, 8}, {Field::Wait, 14, 6}};
constexpr FieldSpec kDma[] = {{Field::Flag, 0, 1},     {Field::Opcode, 1, 3},
                              {Field::Id, 4, 6},       {Field::Wait, 10, 8},
                              {Field::Length, 18, 14}, {Field::Src, 32, 16},
                              {Field::DstLow, 48, 10}, {Field::DstHigh, 58, 6}};
constexpr FieldSpec kDmaShort[] = {{Field::Flag, 0, 1},
                                   {Field::Opcode, 1, 3},
                                   {Field::Id, 4, 6},
                                   {Field::Wait, 10, 8},
                                   {Field::Src, 18, 12}};
constexpr FormInfo kForms[] = {{Form::Mac, "mac", Engine::Mac, 8, kMac},
                               {Form::MacSync, "sync", Engine::Mac, 4, kMacSync},
                               {Form::Dma, "dma", Engine::Dma, 8, kDma},
                               {Form::DmaShort, "dma.short", Engine::Dma, 4, kDmaShort}};

constexpr OpInfo mac(uint16_t opcode, uint16_t sub, std::string_view name, Form form) {
  return {.table = &kOrdered,
          .engine = Engine::Mac,
          .opcode = opcode,
          .sub = sub,
          .name = name,
          .form = form};
}
constexpr OpInfo dma(uint16_t opcode, std::string_view name, bool hasShort) {
  return {.table = &kOrdered,
          .engine = Engine::Dma,
          .opcode = opcode,
          .sub = 0,
          .name = name,
          .form = Form::Dma,
          .rule = FlagRule::Clear,
          .otherForm = hasShort ? std::optional<FormId>(Form::DmaShort) : std::nullopt};
}
constexpr OpInfo kOps[] = {
    mac(0, 0, "conv", Form::Mac), mac(0, 1, "conv.depthwise", Form::Mac),
    mac(5, 0, "add", Form::Mac),  mac(15, 3, "sync", Form::MacSync),
    dma(0, "load", true),         dma(1, "store", true),
    dma(7, "fill", false),
};

constexpr FieldGroup::Member kSize[] = {{Field::C, "c"}, {Field::W, "w"}};
constexpr FieldGroup::Member kDst[] = {{Field::DstLow, ""}, {Field::DstHigh, ""}};
constexpr FieldGroup kGroups[] = {{"size", false, kSize}, {"dst", true, kDst}};

// Only convolutions (opcode 0) have strides.
constexpr FieldLimit kLimits[] = {
    {.field = Field::Type, .least = 0, .most = 2},
    {.field = Field::Type, .least = 0, .most = 1, .opcodes = 1u << 5, .expected = "integers"},
    {.field = Field::Stride, .least = 1, .most = 8, .opcodes = 1u << 0},
    {.field = Field::C, .least = 1, .most = ~uint64_t{0}},
};

constexpr EngineId kBoth[] = {Engine::Mac, Engine::Dma};
constexpr uint8_t kCodes[] = {0, 2};
constexpr StreamInfo kStreams[] = {
    {.name = "commands",
     .engines = kBoth,
     .header = HeaderInfo{
         .bytes = 6, .constant = 0xA7, .engine = {16, 8}, .codes = kCodes, .length = {8, 8}}}};

constexpr auto kFieldIndex = indexFields<std::size(kForms), std::size(kFields)>(kForms);
constexpr auto kOpIndex = indexOps<std::size(kEngines), 16, 4>(kOps);

} // namespace ordered

constexpr CommandTable kOrdered = {.engines = ordered::kEngines,
                                   .fields = ordered::kFields,
                                   .forms = ordered::kForms,
                                   .ops = ordered::kOps,
                                   .groups = ordered::kGroups,
                                   .limits = ordered::kLimits,
                                   .streams = ordered::kStreams,
                                   .fieldIndex = ordered::kFieldIndex,
                                   .opIndex = ordered::kOpIndex,
                                   .numOpcodes = 16,
                                   .numSubs = 4};
static_assert(problemOf(kOrdered).empty());

// Words of two engines.

namespace words {

constexpr EngineInfo kEngines[] = {
    {.name = "ARRAY", .headBytes = 4, .opcode = {WordField::Opcode, {28, 4}}},
    {.name = "ALU", .headBytes = 4, .opcode = {WordField::Opcode, {28, 4}}},
};
constexpr FieldInfo kFields[] = {{.id = WordField::Opcode, .name = "opcode"},
                                 {.id = WordField::Spec, .name = "spec"},
                                 {.id = WordField::Loop, .name = "loop"},
                                 {.id = WordField::Immediate, .name = "immediate"},
                                 {.id = WordField::Function, .name = "function"},
                                 {.id = WordField::Source, .name = "source"},
                                 {.id = WordField::Target, .name = "target"}};
constexpr FieldSpec kWord[] = {{WordField::Opcode, 28, 4},
                               {WordField::Spec, 21, 7},
                               {WordField::Loop, 16, 5},
                               {WordField::Immediate, 0, 16}};
constexpr FieldSpec kCompute[] = {{WordField::Opcode, 28, 4},
                                  {WordField::Function, 24, 3},
                                  {WordField::Source, 4, 4},
                                  {WordField::Target, 0, 4}};
constexpr FormInfo kForms[] = {{FormId(0), "array", EngineId(0), 4, kWord},
                               {FormId(1), "alu", EngineId(1), 4, kWord},
                               {FormId(2), "compute", EngineId(1), 4, kCompute}};
constexpr OpInfo word(size_t engine, uint16_t opcode, std::string_view name, size_t form) {
  return {.table = &kWords,
          .engine = EngineId(engine),
          .opcode = opcode,
          .sub = 0,
          .name = name,
          .form = FormId(form)};
}
constexpr OpInfo block() {
  OpInfo op = word(0, 10, "alu_block", 0);
  op.handover = OpInfo::Handover{EngineId(1), WordField::Immediate, 1};
  return op;
}
constexpr OpInfo kOps[] = {word(0, 0, "setup", 0), word(0, 7, "loop", 0), block(),
                           word(1, 7, "alu.loop", 1), word(1, 11, "compute", 2)};
constexpr EngineId kBoth[] = {EngineId(0), EngineId(1)};
constexpr StreamInfo kStreams[] = {{.name = "program", .engines = kBoth}};
constexpr auto kFieldIndex = indexFields<std::size(kForms), std::size(kFields)>(kForms);
constexpr auto kOpIndex = indexOps<2, 16, 1>(kOps);

} // namespace words

constexpr CommandTable kWords = {.engines = words::kEngines,
                                 .fields = words::kFields,
                                 .forms = words::kForms,
                                 .ops = words::kOps,
                                 .groups = {},
                                 .limits = {},
                                 .streams = words::kStreams,
                                 .fieldIndex = words::kFieldIndex,
                                 .opIndex = words::kOpIndex,
                                 .numOpcodes = 16,
                                 .numSubs = 1};
static_assert(problemOf(kWords).empty());

// Three engines.

namespace three {

constexpr Wait kWaits[][2] = {{{ThreeField::WaitA, EngineId(1)}, {ThreeField::WaitB, EngineId(2)}},
                              {{ThreeField::WaitA, EngineId(0)}, {ThreeField::WaitB, EngineId(2)}},
                              {{ThreeField::WaitA, EngineId(0)}, {ThreeField::WaitB, EngineId(1)}}};
constexpr EngineInfo engine(std::string_view name, size_t number) {
  return {.name = name,
          .headBytes = 8,
          .opcode = {ThreeField::Opcode, {0, 1}},
          .id = FieldId(ThreeField::Id),
          .waits = kWaits[number]};
}
constexpr EngineInfo kEngines[] = {engine("A", 0), engine("B", 1), engine("C", 2)};
constexpr FieldInfo kFields[] = {{.id = ThreeField::Opcode, .name = "opcode"},
                                 {.id = ThreeField::Id, .name = "id"},
                                 {.id = ThreeField::WaitA, .name = "a"},
                                 {.id = ThreeField::WaitB, .name = "b"},
                                 {.id = ThreeField::Address, .name = "address"}};
constexpr FieldSpec kSpecs[] = {{ThreeField::Opcode, 0, 1},
                                {ThreeField::Id, 8, 8},
                                {ThreeField::WaitA, 16, 8},
                                {ThreeField::WaitB, 24, 8},
                                {ThreeField::Address, 32, 8}};
constexpr FormInfo kForms[] = {{FormId(0), "a", EngineId(0), 8, kSpecs},
                               {FormId(1), "b", EngineId(1), 8, kSpecs},
                               {FormId(2), "c", EngineId(2), 8, kSpecs}};
constexpr OpInfo op(size_t engine, uint16_t opcode, std::string_view name) {
  return {.table = &kThree,
          .engine = EngineId(engine),
          .opcode = opcode,
          .sub = 0,
          .name = name,
          .form = FormId(engine)};
}
constexpr OpInfo kOps[] = {op(0, 0, "a.read"),  op(0, 1, "a.write"), op(1, 0, "b.read"),
                           op(1, 1, "b.write"), op(2, 0, "c.read"),  op(2, 1, "c.write")};
constexpr auto kFieldIndex = indexFields<std::size(kForms), std::size(kFields)>(kForms);
constexpr auto kOpIndex = indexOps<3, 2, 1>(kOps);

} // namespace three

constexpr CommandTable kThree = {.engines = three::kEngines,
                                 .fields = three::kFields,
                                 .forms = three::kForms,
                                 .ops = three::kOps,
                                 .groups = {},
                                 .limits = {},
                                 .streams = {},
                                 .fieldIndex = three::kFieldIndex,
                                 .opIndex = three::kOpIndex,
                                 .numOpcodes = 2,
                                 .numSubs = 1};
static_assert(problemOf(kThree).empty());

Command randomCommand(const OpInfo &op, FormId form, std::mt19937_64 &random) {
  Command command = Command::make(op, form);
  const EngineInfo &engine = command.engineInfo();
  for (const FieldSpec &spec : command.info().fields)
    if (spec.field != engine.opcode.field && !(engine.sub && spec.field == engine.sub->field) &&
        !(engine.flag && spec.field == engine.flag->field))
      command.setBitsAt(spec.lsb, spec.width, random());
  return command;
}

Command randomCommand(const CommandTable &table, std::mt19937_64 &random) {
  const OpInfo &op = table.ops[random() % table.ops.size()];
  return randomCommand(op, op.otherForm && random() % 2 ? *op.otherForm : op.form, random);
}

} // namespace tpuc::smallisa
