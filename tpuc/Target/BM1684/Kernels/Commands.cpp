//===- Commands.cpp - Commands of the BM1684 over tensors -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Commands.h"

#include <fmt/format.h>

namespace tpuc::bm1684 {

namespace {

const bm168x::BuilderChip &builderChip() {
  // The ids of a command have 16 bits, and 0 is none. No command ends a stream.
  static const bm168x::BuilderChip chip{
      kLocalMemory, &operandsOf, {}, (1 << 16) - 2, bm168x::ChipMemory{kL2Base, kL2Bytes}};
  return chip;
}

struct OperandFields {
  Field address, prec, layout;
  std::array<Field, 4> stride;
};
constexpr OperandFields kRes0{Field::Res0Addr,
                              Field::Res0Prec,
                              Field::Res0Str,
                              {Field::Res0NStr, Field::Res0CStr, Field::Res0HStr, Field::Res0WStr}};
constexpr OperandFields kOpd0{Field::Opd0Addr,
                              Field::Opd0Prec,
                              Field::Opd0Str,
                              {Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr, Field::Opd0WStr}};
constexpr OperandFields kOpd1{Field::Opd1Addr,
                              Field::Opd1Prec,
                              Field::Opd1Str,
                              {Field::Opd1NStr, Field::Opd1CStr, Field::Opd1HStr, Field::Opd1WStr}};

void setTensor(Builder &builder, Command &command, const OperandFields &fields,
               const LocalTensor &tensor) {
  command.set(fields.address, tensor.commandAddress()).set(fields.prec, tensor.prec());
  if (tensor.isRegular()) {
    command.set(fields.layout, static_cast<uint64_t>(Layout::Aligned));
    return;
  }
  command.set(fields.layout, static_cast<uint64_t>(Layout::Explicit));
  const Extents strides = tensor.strides();
  const Extents steps = {ceilDiv(tensor.shape[0], tensor.items()),
                         ceilDiv(tensor.startLane + tensor.shape[1], kLanes), tensor.shape[2],
                         tensor.shape[3]};
  // An axis of one element or slot needs no stride, and it may be too long for its field.
  for (size_t axis = 0; axis < 4; ++axis)
    setField(builder, command, fields.stride[axis], steps[axis] == 1 ? 1 : strides[axis]);
}

void setTerm(Builder &builder, Command &command, const OperandFields &fields, Field isConstant,
             Field sign, const Term &term) {
  if (const auto *tensor = std::get_if<LocalTensor>(&term)) {
    setTensor(builder, command, fields, *tensor);
    command.set(sign, isSigned(tensor->type));
    return;
  }
  const auto &value = std::get<Immediate>(term);
  command.set(isConstant, 1).set(fields.address, value.bits);
  command.set(fields.prec, *precOf(value.type)).set(sign, isSigned(value.type));
}

/// Batch items that share a word of a term.
int64_t itemsOf(const Term &term) {
  const auto *tensor = std::get_if<LocalTensor>(&term);
  return tensor ? tensor->items() : 1;
}

/// Calls `body` with terms cut alike, so that commands can hold their channels. Words stay whole.
template <typename... Terms>
void inPieces(const Extents &shape, const auto &body, const Terms &...terms) {
  if (shape[1] <= kMostChannels)
    return body(terms...);
  const int64_t items = std::max({itemsOf(terms)...});
  for (int64_t n = 0; n < shape[0]; n += items)
    for (int64_t c = 0; c < shape[1]; c += kMostChannels) {
      const auto part = [&](const Term &term) -> Term {
        const auto *tensor = std::get_if<LocalTensor>(&term);
        return tensor ? Term(tensor->slice(0, n, std::min(items, shape[0] - n))
                                 .slice(1, c, std::min(kMostChannels, shape[1] - c)))
                      : term;
      };
      body(part(terms)...);
    }
}

const LocalTensor &tensorOf(const Term &term) { return std::get<LocalTensor>(term); }

bool isRegular(const Term &term) {
  const auto *tensor = std::get_if<LocalTensor>(&term);
  return !tensor || (tensor->type == DataType::F32 && tensor->isRegular());
}

/// What scalar operations take, too.
bool isSumOrProduct(ArithOp op) {
  return op == ArithOp::Mul || op == ArithOp::Add || op == ArithOp::Sub;
}

Command arithCommand(Builder &builder, unsigned opcode, ArithOp op, const LocalTensor &output,
                     const Term &a, const Term *b) {
  Command command = tiuCommand(opcode, static_cast<unsigned>(op));
  setResult(builder, command, output);
  setTerm(builder, command, kOpd0, Field::Opd0Const, Field::Opd0Sign, a);
  if (b)
    setTerm(builder, command, kOpd1, Field::Opd1Const, Field::Opd1Sign, *b);
  command.set(Field::OpdNum, b ? 2 : 1);
  return command;
}

} // namespace

Builder::Builder(bm168x::Waits waits) : CommandBuilder(builderChip(), waits) {}

void setField(Builder &builder, Command &command, Field field, int64_t value) {
  if (value < 0 || !command.trySet(field, static_cast<uint64_t>(value)))
    builder.fail(fmt::format("{} {}={}", command.operation().name, bm168x::fieldName(field), value),
                 "a value that the command can hold");
}

void setFields(Builder &builder, Command &command,
               std::initializer_list<std::pair<Field, int64_t>> values) {
  for (auto [field, value] : values)
    setField(builder, command, field, value);
}

Command tiuCommand(unsigned opcode, unsigned sub) {
  Command command = Command::make(*mc::findOp(kCommandTable, Engine::Tiu, opcode, sub));
  for (const Field field :
       {Field::ResOpXStr, Field::ResOpYStr, Field::Opd0Sign, Field::Opd1Sign, Field::Opd2Sign,
        Field::Opd0N,     Field::Opd0C,     Field::Opd0H,    Field::Opd0W,    Field::Opd1N,
        Field::Opd1C,     Field::Opd1H,     Field::Opd1W,    Field::Res0NStr, Field::Res0CStr,
        Field::Res0HStr,  Field::Res0WStr,  Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr,
        Field::Opd0WStr,  Field::Opd1NStr,  Field::Opd1CStr, Field::Opd1HStr, Field::Opd1WStr,
        Field::Opd2NStr,  Field::Opd2CStr,  Field::Opd2HStr, Field::Opd2WStr})
    command.set(field, 1);
  for (const Field field : {Field::Res0Addr, Field::Opd0Addr, Field::Opd1Addr, Field::Opd2Addr,
                            Field::Res1Addr, Field::Opd3Addr})
    command.set(field, kLocalBase);
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec, Field::Opd2Prec})
    command.set(field, Prec::F32);
  command.set(Field::Opd2Str, static_cast<uint64_t>(Layout::PerChannel)).set(Field::OpdNum, 2);
  return command;
}

void setResult(Builder &builder, Command &command, const LocalTensor &output) {
  setFields(builder, command,
            {{Field::Res0N, output.shape[0]},
             {Field::Res0C, output.shape[1]},
             {Field::Res0H, output.shape[2]},
             {Field::Res0W, output.shape[3]}});
  setTensor(builder, command, kRes0, output);
}

void setInput(Builder &builder, Command &command, const LocalTensor &input) {
  setTensor(builder, command, kOpd0, input);
  command.set(Field::Opd0Sign, isSigned(input.type));
}

void addArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
              const Term &b) {
  const bool isScalar = isSumOrProduct(op) && isRegular(output) && isRegular(a) && isRegular(b);
  const unsigned opcode = isScalar ? tiu::kScalar : tiu::kArith;
  inPieces(
      output.shape,
      [&](const Term &to, const Term &left, const Term &right) {
        builder.add(arithCommand(builder, opcode, op, tensorOf(to), left, &right));
      },
      Term(output), a, b);
}

void addIntegers(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
                 const Term &b, const IntegerShifts &shifts) {
  inPieces(
      output.shape,
      [&](const Term &to, const Term &left, const Term &right) {
        Command command = arithCommand(builder, tiu::kArith, op, tensorOf(to), left, &right);
        command.set(Field::ShiftTyp, 1);
        setFields(builder, command,
                  {{Field::RightShift, shifts.right}, {Field::LeftShift, shifts.left}});
        builder.add(command);
      },
      Term(output), a, b);
}

void addRepeatedItem(Builder &builder, const LocalTensor &output, const LocalTensor &input) {
  const Term zero = immediate(output.type, 0);
  inPieces(
      output.shape,
      [&](const Term &to, const Term &from) {
        Command command =
            arithCommand(builder, tiu::kArith, ArithOp::Or, tensorOf(to), from, &zero);
        command.set(Field::Opd0Neq1, 1);
        builder.add(command);
      },
      Term(output), Term(input));
}

void addTableLookup(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                    uint32_t table) {
  constexpr int64_t kRows = 256 / kEuWords;
  inPieces(
      output.shape,
      [&](const Term &to, const Term &from) {
        Command command = tiuCommand(tiu::kLut, 0);
        setResult(builder, command, tensorOf(to));
        setInput(builder, command, tensorOf(from));
        // Indices have this name, whatever the words hold.
        command.set(Field::Opd0Prec, Prec::F32).set(Field::Opd1Addr, table);
        command.set(Field::Opd1H, kRows);
        builder.add(command);
      },
      Term(output), Term(input));
}

void addSelect(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
               const Term &b, const Immediate &chosen) {
  inPieces(
      output.shape,
      [&](const Term &to, const Term &left, const Term &right) {
        Command command = arithCommand(builder, tiu::kArith, op, tensorOf(to), left, &right);
        command.set(Field::OpdNum, 3).set(Field::Opd2Const, 1).set(Field::Opd2Addr, chosen.bits);
        builder.add(command);
      },
      Term(output), a, b);
}

void addCopy(Builder &builder, const LocalTensor &output, const Term &input) {
  inPieces(
      output.shape,
      [&](const Term &to, const Term &from) {
        builder.add(arithCommand(builder, tiu::kArith, ArithOp::Copy, tensorOf(to), from, nullptr));
      },
      Term(output), input);
}

void addCompareSelect(Builder &builder, const LocalTensor &output, const Term &a, const Term &b,
                      const Term &c, const Term &d) {
  inPieces(
      output.shape,
      [&](const Term &to, const auto &...terms) {
        Command command = tiuCommand(tiu::kCompare, sub::kSelect);
        setResult(builder, command, tensorOf(to));
        command.set(Field::Res0Addr, kLocalBase);
        command.set(Field::Res1Addr, tensorOf(to).commandAddress());
        constexpr std::pair<Field, Field> kFields[] = {{Field::Opd0Addr, Field::Opd0Const},
                                                       {Field::Opd1Addr, Field::Opd1Const},
                                                       {Field::Opd2Addr, Field::Opd2Const},
                                                       {Field::Opd3Addr, Field::Opd3Const}};
        const auto *fields = kFields;
        const auto set = [&](const Term &term) {
          const auto &[address, isConstant] = *fields++;
          if (const auto *tensor = std::get_if<LocalTensor>(&term))
            command.set(address, tensor->commandAddress());
          else
            command.set(isConstant, 1).set(address, std::get<Immediate>(term).bits);
        };
        (set(terms), ...);
        builder.add(command);
      },
      Term(output), a, b, c, d);
}

void addLinear(Builder &builder, const LocalTensor &output, const LocalTensor &input, double factor,
               double addend) {
  if (factor != 1)
    addArith(builder, ArithOp::Mul, output, input, number(factor));
  if (addend != 0 || factor == 1)
    addArith(builder, ArithOp::Add, output, factor == 1 ? input : output, number(addend));
}

void addSfu(Builder &builder, SfuOp op, const LocalTensor &output, const LocalTensor &input) {
  inPieces(
      output.shape,
      [&](const Term &to, const Term &from) {
        Command command = tiuCommand(tiu::kSfu, static_cast<unsigned>(op));
        setResult(builder, command, tensorOf(to));
        setInput(builder, command, tensorOf(from));
        builder.add(command);
      },
      Term(output), Term(input));
}

} // namespace tpuc::bm1684
