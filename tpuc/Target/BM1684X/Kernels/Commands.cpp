//===- Commands.cpp - Single commands over local tensors-------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <fmt/format.h>
#include <span>

namespace tpuc::bm1684x {

void setField(Builder &builder, Command &command, Field field, int64_t value) {
  if (value < 0 || !command.trySet(field, static_cast<uint64_t>(value)))
    builder.fail(fmt::format("{} {}={}", command.operation().name, fieldName(field), value),
                 "a value that the command can hold");
}

void setFields(Builder &builder, Command &command,
               std::initializer_list<std::pair<Field, int64_t>> values) {
  for (auto [field, value] : values)
    setField(builder, command, field, value);
}

void setResult(Builder &builder, Command &command, const LocalTensor &output) {
  setFields(builder, command,
            {{Field::Res0N, output.shape[0]},
             {Field::Res0C, output.shape[1]},
             {Field::Res0H, output.shape[2]},
             {Field::Res0W, output.shape[3]},
             {Field::Res0Addr, output.tiuAddress()},
             {Field::Res0Prec, static_cast<int64_t>(output.prec())}});
}

namespace {

Command make(unsigned opcode, unsigned sub) {
  return Command::make(*findCommandOp(Engine::Tiu, opcode, sub));
}

struct ShapeFields {
  Field n, c, h, w;
};
constexpr ShapeFields kRes0Shape{Field::Res0N, Field::Res0C, Field::Res0H, Field::Res0W};

void setExtents(Builder &builder, Command &command, const ShapeFields &fields,
                const Extents &extents) {
  setField(builder, command, fields.n, extents[0]);
  setField(builder, command, fields.c, extents[1]);
  setField(builder, command, fields.h, extents[2]);
  setField(builder, command, fields.w, extents[3]);
}

struct ArithFields {
  Field address, prec, mode;
  ShapeFields strides;
};
constexpr ArithFields kRes0{Field::Res0Addr,
                            Field::Res0Prec,
                            Field::Res0Str,
                            {Field::Res0NStr, Field::Res0CStr, Field::Res0HStr, Field::Res0WStr}};
constexpr ArithFields kOpd0{Field::Opd0Addr,
                            Field::Opd0Prec,
                            Field::Opd0Str,
                            {Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr, Field::Opd0WStr}};
constexpr ArithFields kOpd1{Field::Opd1Addr,
                            Field::Opd1Prec,
                            Field::Opd1Str,
                            {Field::Opd1NStr, Field::Opd1CStr, Field::Opd1HStr, Field::Opd1WStr}};

void setTensor(Builder &builder, Command &command, const ArithFields &fields,
               const LocalTensor &tensor) {
  command.set(fields.address, tensor.tiuAddress()).set(fields.prec, tensor.prec());
  Layout layout = tensor.layout;
  // Regular layouts cost less than the same strides spelled out.
  for (Layout regular : {Layout::Compact, Layout::Aligned})
    if (layout == Layout::Explicit && tensor.liesAs(regular))
      layout = regular;
  if (layout == Layout::Aligned || layout == Layout::Compact || layout == Layout::PerChannel) {
    command.set(fields.mode, static_cast<uint64_t>(layout));
    return;
  }
  command.set(fields.mode, static_cast<uint64_t>(Layout::Explicit));
  // An axis of one element or slot needs no stride, and it may be too long for its field.
  Extents strides = tensor.strides();
  Extents steps = tensor.shape;
  steps[1] = ceilDiv(tensor.startLane + tensor.shape[1], kLanes);
  for (size_t axis = 0; axis < 4; ++axis)
    if (steps[axis] == 1)
      strides[axis] = 0;
  setExtents(builder, command, fields.strides, strides);
}

void setTerm(Builder &builder, Command &command, const ArithFields &fields, Field isConstant,
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

/// AR with the result and the operands that there are; `opd_num` says how many.
Command arithCommand(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
                     const Term *b) {
  Command command = make(tiu::kArith, static_cast<unsigned>(op));
  setExtents(builder, command, kRes0Shape, output.shape);
  setTensor(builder, command, kRes0, output);
  setTerm(builder, command, kOpd0, Field::Opd0Const, Field::Opd0Sign, a);
  if (b)
    setTerm(builder, command, kOpd1, Field::Opd1Const, Field::Opd1Sign, *b);
  command.set(Field::OpdNum, b ? 2 : 1);
  return command;
}

void setThird(Command &command, DataType type, uint32_t bits) {
  command.set(Field::OpdNum, 3).set(Field::Opd2Const, 1).set(Field::Opd2Addr, bits);
  command.set(Field::Opd2Prec, *precOf(type)).set(Field::Opd2Sign, isSigned(type));
}

} // namespace

void addArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a, const Term &b,
              unsigned iterations) {
  Command command = arithCommand(builder, op, output, a, &b);
  if (op == ArithOp::Div)
    command.set(Field::Round, iterations - 1);
  builder.add(command);
}

void addShiftedArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
                     const Term &b, int shift, Rounding rounding) {
  Command command = arithCommand(builder, op, output, a, &b);
  setThird(command, DataType::I8, static_cast<uint32_t>(shift) & 255);
  command.set(Field::Round, static_cast<uint64_t>(rounding));
  builder.add(command);
}

void addMultiplyAdd(Builder &builder, const LocalTensor &sums, const Term &a, const Term &b,
                    int left, int right, Rounding rounding) {
  Command command = arithCommand(builder, ArithOp::MultiplyAdd, sums, a, &b);
  setThird(command, DataType::I16, static_cast<uint32_t>(left | right << 8));
  command.set(Field::Round, static_cast<uint64_t>(rounding));
  builder.add(command);
}

void addMultiplyHigh(Builder &builder, const LocalTensor &output, const Term &a, const Term &b,
                     Rounding rounding) {
  Command command = arithCommand(builder, ArithOp::MulDoublingHigh, output, a, &b);
  command.set(Field::Round, static_cast<uint64_t>(rounding));
  builder.add(command);
}

void addSelect(Builder &builder, ArithOp op, const LocalTensor &output, const Term &a,
               const Term &b, const Immediate &chosen) {
  Command command = arithCommand(builder, op, output, a, &b);
  setThird(command, chosen.type, chosen.bits);
  builder.add(command);
}

void addShift(Builder &builder, ArithOp op, const LocalTensor &output, const LocalTensor &input,
              int left, Rounding rounding) {
  Term amount = Immediate{DataType::I8, static_cast<uint32_t>(left) & 255};
  Command command = arithCommand(builder, op, output, input, &amount);
  command.set(Field::Round, static_cast<uint64_t>(rounding));
  builder.add(command);
}

void addUnaryArith(Builder &builder, ArithOp op, const LocalTensor &output, const Term &input) {
  builder.add(arithCommand(builder, op, output, input, nullptr));
}

void addCast(Builder &builder, const LocalTensor &output, const LocalTensor &input,
             Rounding rounding) {
  Command command = arithCommand(builder, ArithOp::Cast, output, input, nullptr);
  command.set(Field::Opd2Sign, isSigned(output.type));
  command.set(Field::Round, static_cast<uint64_t>(rounding));
  builder.add(command);
}

namespace {

/// What SFU and LIN share: result and first operand.
Command mapCommand(Builder &builder, unsigned opcode, unsigned sub, const LocalTensor &output,
                   const LocalTensor &input) {
  Command command = make(opcode, sub);
  setResult(builder, command, output);
  command.set(Field::Opd0Addr, input.tiuAddress());
  command.trySet(Field::Opd0Prec, static_cast<uint64_t>(input.prec()));
  return command;
}

constexpr unsigned kTaylor = 12, kRsqrt = 17, kMac = 1, kSquaredSum = 20, kLaneCopy = 2,
                   kLaneBroadcast = 3, kColumnsTurned = 0, kChannelsTurned = 1;

} // namespace

void addTaylor(Builder &builder, const LocalTensor &output, const LocalTensor &input,
               uint32_t table, int64_t terms) {
  Command command = mapCommand(builder, tiu::kSfu, kTaylor, output, input);
  command.set(Field::Opd1Addr, output.startLane * kLaneBytes + table);
  setField(builder, command, Field::Opd1N, terms);
  builder.add(command);
}

void addRsqrt(Builder &builder, const LocalTensor &output, const LocalTensor &input,
              unsigned iterations) {
  Command command = mapCommand(builder, tiu::kSfu, kRsqrt, output, input);
  command.set(Field::Round, iterations - 1);
  builder.add(command);
}

void addLinear(Builder &builder, const LocalTensor &output, const LocalTensor &input, double factor,
               double addend) {
  Command command = mapCommand(builder, tiu::kLinear, kMac, output, input);
  command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, immediateBits(input.type, factor));
  command.set(Field::Opd2Const, 1).set(Field::Opd2Addr, immediateBits(input.type, addend));
  builder.add(command);
}

void addChannelLinear(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                      const LocalTensor &factors, const Term &addends) {
  Command command = mapCommand(builder, tiu::kLinear, kMac, output, input);
  command.set(Field::Opd1Addr, factors.tiuAddress());
  if (const auto *tensor = std::get_if<LocalTensor>(&addends))
    command.set(Field::Opd2Addr, tensor->tiuAddress());
  else
    command.set(Field::Opd2Const, 1).set(Field::Opd2Addr, std::get<Immediate>(addends).bits);
  builder.add(command);
}

void addSquaredSum(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                   const LocalTensor &addends) {
  Command command = mapCommand(builder, tiu::kLinear, kSquaredSum, output, input);
  command.set(Field::Opd1Addr, addends.tiuAddress());
  builder.add(command);
}

void addCompareSelect(Builder &builder, CompareOp op, const LocalTensor &output, const Term &a,
                      const Term &b, const Term &c, const Term &d) {
  Command command = make(tiu::kCompare, static_cast<unsigned>(op));
  setExtents(builder, command, kRes0Shape, output.shape);
  command.set(Field::Res0Addr, output.tiuAddress()).set(Field::Opd2Prec, output.prec());
  auto set = [&](Field address, Field isConstant, const Term &term) {
    if (const auto *tensor = std::get_if<LocalTensor>(&term)) {
      command.set(address, tensor->tiuAddress());
      return tensor->type;
    }
    const auto &value = std::get<Immediate>(term);
    command.set(isConstant, 1).set(address, value.bits);
    return value.type;
  };
  DataType compared = set(Field::Opd0Addr, Field::Opd0Const, a);
  set(Field::Opd1Addr, Field::Opd1Const, b);
  set(Field::Opd2Addr, Field::Opd2Const, c);
  set(Field::Opd3Addr, Field::Opd3Const, d);
  command.set(Field::Opd0Prec, *precOf(compared)).set(Field::Opd0Sign, isSigned(compared));
  builder.add(command);
}

/// A command that has the channels and columns of its operand in fields.
static void addBetweenLanes(Builder &builder, unsigned sub, const LocalTensor &output,
                            const LocalTensor &input) {
  Command command = make(tiu::kTranspose, sub);
  setResult(builder, command, output);
  command.set(Field::Opd0Addr, input.tiuAddress());
  setField(builder, command, Field::Opd0C, input.shape[1]);
  setField(builder, command, Field::Opd0W, input.shape[3]);
  builder.add(command);
}

void addLaneBroadcast(Builder &builder, const LocalTensor &output, const LocalTensor &input) {
  addBetweenLanes(builder, kLaneBroadcast, output, input);
}

void addLaneCopy(Builder &builder, const LocalTensor &output, const LocalTensor &input) {
  addBetweenLanes(builder, kLaneCopy, output, input);
}

void addTurned(Builder &builder, const LocalTensor &output, const LocalTensor &input) {
  // Of many rows and columns, the command is taken that counts the longer side: whatever lies in
  // other lanes takes its time.
  const bool countsColumns = input.shape[1] > 1 && input.shape[3] > input.shape[1];
  addBetweenLanes(builder, countsColumns ? kColumnsTurned : kChannelsTurned, output, input);
}

static void addWords(Builder &builder, const std::vector<uint32_t> &words, uint32_t address) {
  if (builder.holds(address, words))
    return;
  for (auto place = address; uint32_t word : words) {
    addUnaryArith(builder, ArithOp::Copy,
                  localTensor(DataType::F32, {1, kLanes, 1, 1}, place, Layout::Compact),
                  Immediate{DataType::F32, word});
    place += 4;
  }
  builder.keep(address, words);
}

void addTable(Builder &builder, std::span<const double> values, uint32_t address) {
  std::vector<uint32_t> words;
  for (double value : values)
    words.push_back(immediate(DataType::F32, value).bits);
  addWords(builder, words, address);
}

void addShortTable(Builder &builder, DataType type, std::span<const double> values,
                   uint32_t address) {
  constexpr unsigned kHalfBits = 16;
  std::vector<uint32_t> words;
  for (size_t i = 0; i + 1 < values.size(); i += 2)
    words.push_back(immediateBits(type, values[i]) | immediateBits(type, values[i + 1])
                                                         << kHalfBits);
  addWords(builder, words, address);
}

LocalTensor repeated(const LocalTensor &tensor, const Extents &shape) {
  LocalTensor result = tensor;
  result.explicitStride = tensor.strides();
  result.layout = Layout::Explicit;
  for (size_t axis = 0; axis < 4; ++axis)
    if (axis != 1 && shape[axis] != tensor.shape[axis]) {
      result.explicitStride[axis] = 0;
      result.shape[axis] = shape[axis];
    }
  return result;
}

LocalTensor repeatedOverLanes(const LocalTensor &tensor, int64_t channels) {
  LocalTensor result = tensor;
  result.explicitStride = tensor.strides();
  result.explicitStride[1] = 0;
  result.layout = Layout::Explicit;
  result.shape[1] = channels;
  return result;
}

} // namespace tpuc::bm1684x
