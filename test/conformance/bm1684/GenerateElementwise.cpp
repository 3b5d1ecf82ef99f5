//===- GenerateElementwise.cpp - Random element-wise commands and products ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Generate.h"

#include <fmt/format.h>

namespace tpuc::bm1684::conformance::detail {

namespace {

Kind floatKind(Random &random) { return random.chance(4) ? Kind::Special : Kind::Float; }

uint64_t someFloat(Random &random) {
  constexpr uint32_t kValues[] = {0, 0x80000000, 0x3fc00000, 0xbf400000, 0x40490fdb, 0xc2280000};
  return random.pick(kValues);
}

/// Aligned or by the fields: rows apart, channels apart, elements apart or repeated.
void setLayout(Command &command, Random &random, Field mode, const std::array<Field, 4> &fields,
               bool mayRepeat) {
  const Extents shape = resultShape(command);
  if (random.chance(3)) {
    command.set(mode, 0);
    return;
  }
  // All other layouts mean the same.
  command.set(mode, random.chance(4) ? u(random.range(1, 2)) : 3);
  const int64_t element = random.chance(4) ? random.range(1, 3) : 1;
  const int64_t row = shape[3] * element + random.range(0, 3);
  const int64_t plane = shape[2] * row + random.range(0, 5);
  command.set(fields[3], u(element)).set(fields[2], u(row)).set(fields[1], u(plane));
  command.set(fields[0], u(plane * ceilDiv(63 + shape[1], kLanes)));
  if (mayRepeat && random.chance(3))
    for (const Field field : fields)
      if (random.chance(2))
        command.set(field, 0);
}

constexpr std::array<Field, 4> kRes0 = {Field::Res0NStr, Field::Res0CStr, Field::Res0HStr,
                                        Field::Res0WStr};
constexpr std::array<Field, 4> kOpd0 = {Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr,
                                        Field::Opd0WStr};
constexpr std::array<Field, 4> kOpd1 = {Field::Opd1NStr, Field::Opd1CStr, Field::Opd1HStr,
                                        Field::Opd1WStr};

Case arithCase(Random &random, unsigned sub, Prec first, Prec result) {
  Case one{make(tiu::kArith, sub), {}};
  Command &command = one.command;
  const bool isInt = first == Prec::I8 || first == Prec::I16;
  setResultShape(command, random);
  command.set(Field::Res0Prec, result).set(Field::Opd0Prec, first).set(Field::Opd1Prec, first);
  command.set(Field::Opd2Prec, Prec::F32);
  setLayout(command, random, Field::Res0Str, kRes0, false);
  setLayout(command, random, Field::Opd0Str, kOpd0, true);
  setLayout(command, random, Field::Opd1Str, kOpd1, true);
  const bool needsSame = sub == sub::kMax || sub == sub::kMin;
  const bool isSigned = random.chance(2);
  if (isInt || sub == sub::kShift) {
    command.set(Field::Opd0Sign, isSigned);
    command.set(Field::Opd1Sign, needsSame ? isSigned : random.chance(2));
  }
  if (isInt) {
    command.set(Field::RightShift, random.chance(3) ? 0 : u(random.range(0, 20)));
    command.set(Field::LeftShift, sub == sub::kMac ? u(random.range(0, 12)) : 0);
  }
  if (random.chance(2))
    command.set(Field::ShiftTyp, 0);
  if (sub != sub::kCopy && random.chance(3)) {
    command.set(Field::Opd1Const, 1).set(Field::Opd1Str, 0);
    command.set(Field::Opd1Addr, isInt ? u(random.range(0, 65535)) : someFloat(random));
  } else if (sub != sub::kCopy && !(isInt && sub == sub::kShift) && random.chance(4)) {
    command.set(Field::Opd0Const, 1).set(Field::Opd0Str, 0);
    command.set(Field::Opd0Addr, isInt ? u(random.range(0, 65535)) : someFloat(random));
  }
  if (sub == sub::kCopy)
    command.set(Field::OpdNum, 1);
  if (sub == sub::kSelectGt || sub == sub::kSelectEq)
    command.set(Field::Opd2Addr, someFloat(random)).set(Field::Opd2Const, 1);
  if (sub == sub::kShift) {
    // Amounts of a few bits.
    if (command.get(Field::Opd1Const) != 0)
      command.set(Field::Opd1Addr, static_cast<uint32_t>(random.range(-31, 31)));
  }
  const bool onBits = first == Prec::I32 || isInt;
  const uint32_t spread = static_cast<uint32_t>(random.range(0, 30));
  const auto kind = [&] { return onBits ? Kind::Bits : floatKind(random); };
  one.fills = {fill(random, Role::Opd0, kind(), spread), fill(random, Role::Opd1, kind(), spread),
               fill(random, Role::Res0, kind(), 0)};
  one = placed(std::move(one), random);
  // All operands are read before the result is written, wherever it lies.
  const auto replace = [&](Field isConst, Field address) {
    if (one.command.get(isConst) == 0)
      one.command.set(Field::Res0Addr, one.command.get(address));
  };
  if (random.chance(6))
    replace(Field::Opd0Const, Field::Opd0Addr);
  else if (sub != sub::kCopy && random.chance(6))
    replace(Field::Opd1Const, Field::Opd1Addr);
  return one;
}

Case lutCase(Random &random) {
  Case one{make(tiu::kLut, 0), {}};
  setResultShape(one.command, random);
  const int64_t rows = random.chance(2) ? 8 : random.range(1, 40);
  one.command.set(Field::Opd1Addr, u(random.range(0, 0x1000)) * 4).set(Field::Opd1H, u(rows));
  one.command.set(Field::Res0Prec, Prec::F32).set(Field::Opd0Prec, Prec::F32);
  one.fills = {fill(random, Role::Opd0, rows == 8 ? Kind::Bits : Kind::Index,
                    static_cast<uint32_t>(rows * 32))};
  const uint64_t table = one.command.get(Field::Opd1Addr);
  one = placed(std::move(one), random);
  one.command.set(Field::Opd1Addr, table);
  return one;
}

Case scalarCase(Random &random, unsigned sub) {
  Case one{make(tiu::kScalar, sub), {}};
  Command &command = one.command;
  setResultShape(command, random);
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec})
    command.set(field, Prec::F32);
  const int64_t which = random.range(0, 3);
  if (which == 0)
    command.set(Field::Opd0Const, 1).set(Field::Opd0Addr, someFloat(random));
  if (which == 1)
    command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, someFloat(random));
  command.set(Field::ResAdd, random.chance(4));
  const auto spread = static_cast<uint32_t>(random.range(0, 30));
  one.fills = {fill(random, Role::Opd0, floatKind(random), spread),
               fill(random, Role::Opd1, floatKind(random), spread),
               fill(random, Role::Res0, Kind::Float)};
  return placed(std::move(one), random);
}

Case sfuCase(Random &random, unsigned sub) {
  Case one{make(tiu::kSfu, sub), {}};
  Command &command = one.command;
  setResultShape(command, random);
  const bool toInt = sub == sub::kToInt || sub == sub::kExponent;
  command.set(Field::Res0Prec, toInt ? Prec::I32 : Prec::F32).set(Field::Opd0Prec, Prec::F32);
  const uint64_t table = u(random.range(0, 0x1000));
  command.set(Field::Opd1N, u(random.range(1, 40)));
  one.fills = {
      fill(random, Role::Opd0, floatKind(random), static_cast<uint32_t>(random.range(0, 30)))};
  one = placed(std::move(one), random);
  if (sub == sub::kTaylor)
    one.command.set(Field::Opd1Addr, table);
  return one;
}

Case linearCase(Random &random, unsigned sub) {
  Case one{make(tiu::kLinear, sub), {}};
  Command &command = one.command;
  setResultShape(command, random);
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec, Field::Opd2Prec})
    command.set(field, Prec::F32);
  if (random.chance(3))
    command.set(Field::Opd1Const, 1).set(Field::Opd1Addr, someFloat(random));
  if (random.chance(3))
    command.set(Field::Opd2Const, 1).set(Field::Opd2Addr, someFloat(random));
  command.set(Field::ResAdd, random.chance(3));
  const auto spread = static_cast<uint32_t>(random.range(0, 20));
  one.fills = {fill(random, Role::Opd0, floatKind(random), spread),
               fill(random, Role::Opd1, floatKind(random), spread),
               fill(random, Role::Opd2, floatKind(random), spread),
               fill(random, Role::Res0, Kind::Float)};
  return placed(std::move(one), random);
}

Case compareCase(Random &random, unsigned sub) {
  Case one{make(tiu::kCompare, sub), {}};
  Command &command = one.command;
  setResultShape(command, random);
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec, Field::Opd2Prec})
    command.set(field, Prec::F32);
  for (const auto &[isConst, address] : {std::pair{Field::Opd0Const, Field::Opd0Addr},
                                         {Field::Opd1Const, Field::Opd1Addr},
                                         {Field::Opd2Const, Field::Opd2Addr},
                                         {Field::Opd3Const, Field::Opd3Addr}})
    if (random.chance(4))
      command.set(isConst, 1).set(address, someFloat(random));
  for (const Role role : {Role::Opd0, Role::Opd1, Role::Opd2, Role::Opd3})
    one.fills.push_back(fill(random, role, floatKind(random)));
  return placed(std::move(one), random);
}

Case matMulCase(Random &random, Prec prec, Prec result) {
  Case one{make(tiu::kMatMul, 0), {}};
  Command &command = one.command;
  const bool isInt = prec == Prec::I8;
  const bool isTransposed = random.chance(3);
  const int64_t pieces = random.range(1, 70), width = random.range(1, 40);
  const int64_t last = random.range(1, width);
  command.set(Field::Opd0C, u(pieces)).set(Field::Opd0W, u(width)).set(Field::Opd1W, u(last));
  command.set(Field::Opd0N, u(random.range(1, 12))).set(Field::LeftTran, isTransposed);
  if (pieces * width > 600)
    command.set(Field::Opd0C, u(ceilDiv(600, width)));
  const int64_t columns = leftColumns(command);
  command.set(Field::Opd1N, isTransposed ? command.get(Field::Opd0N) : u(columns));
  command.set(Field::Res0N, isTransposed ? u(columns) : command.get(Field::Opd0N));
  command.set(Field::Res0C, u(random.range(1, 70))).set(Field::Res0W, u(random.range(1, 40)));
  command.set(Field::Res0H, 1);
  command.set(Field::Res0Prec, result).set(Field::Opd0Prec, prec).set(Field::Opd1Prec, prec);
  command.set(Field::Opd2Prec, isInt ? Prec::I16 : Prec::F32);
  command.set(Field::OpdNum, u(random.range(2, 3))).set(Field::ResAdd, random.chance(3));
  command.set(Field::Relu, random.chance(2));
  if (isInt) {
    for (const Field field : {Field::Opd0Sign, Field::Opd1Sign, Field::Opd2Sign, Field::ResAddSign})
      command.set(field, random.chance(2));
    command.set(Field::RightShift, u(random.range(0, 14)));
    command.set(Field::LeftShift, command.get(Field::ResAdd) ? u(random.range(0, 8)) : 0);
  }
  const auto spread = static_cast<uint32_t>(random.range(0, 8));
  const Kind kind = isInt ? Kind::Bits : floatKind(random);
  one.fills = {fill(random, Role::Opd0, kind, spread), fill(random, Role::Opd1, kind, spread),
               fill(random, Role::Opd2, isInt ? Kind::Bits : Kind::Float, spread),
               fill(random, Role::Res0, kind), fill(random, Role::Res1, Kind::Bits)};
  return placed(std::move(one), random);
}

constexpr std::pair<std::string_view, unsigned> kArith[] = {
    {"mul", sub::kMul}, {"mac", sub::kMac}, {"add", sub::kAdd},     {"sub", sub::kSub},
    {"max", sub::kMax}, {"min", sub::kMin}, {"shift", sub::kShift}, {"and", sub::kAnd},
    {"or", sub::kOr},   {"xor", sub::kXor}};

void addArith(std::vector<Recipe> &recipes) {
  const auto add = [&](std::string_view name, unsigned which, Prec first, Prec result) {
    recipes.push_back({fmt::format("ar.{} {} {}", name, precName(first), precName(result)),
                       [=](Random &random) { return arithCase(random, which, first, result); }});
  };
  for (const auto &[name, which] : kArith) {
    const bool combines = which == sub::kAnd || which == sub::kOr || which == sub::kXor;
    const bool onBits = combines || which == sub::kShift;
    add(name, which, onBits ? Prec::I32 : Prec::F32, onBits ? Prec::I32 : Prec::F32);
    for (const auto &[first, result] : {std::pair{Prec::I8, Prec::I8},
                                        {Prec::I8, Prec::I16},
                                        {Prec::I16, Prec::I8},
                                        {Prec::I16, Prec::I16}}) {
      const bool isSame = first == result, isWide = first == Prec::I16;
      const bool isKnown = which == sub::kMul                         ? !isWide
                           : which == sub::kMac                       ? !isWide && !isSame
                           : which == sub::kShift                     ? isWide && isSame
                           : which == sub::kAdd || which == sub::kSub ? true
                                                                      : isSame;
      if (isKnown)
        add(name, which, first, result);
    }
  }
  add("select_gt", sub::kSelectGt, Prec::F32, Prec::F32);
  add("select_eq", sub::kSelectEq, Prec::F32, Prec::F32);
  add("div", sub::kDiv, Prec::F32, Prec::F32);
  add("copy", sub::kCopy, Prec::F32, Prec::F32);
}

} // namespace

void addElementwiseRecipes(std::vector<Recipe> &recipes) {
  addArith(recipes);
  recipes.push_back({"lut", lutCase});
  for (const auto &[name, which] :
       {std::pair{"mul", sub::kMul}, {"add", sub::kAdd}, {"sub", sub::kSub}, {"div", sub::kDiv}})
    recipes.push_back({fmt::format("md.{}", name),
                       [which = which](Random &random) { return scalarCase(random, which); }});
  for (unsigned which = sub::kTaylor; which <= sub::kRsqrt; ++which)
    recipes.push_back(
        {fmt::format("sfu {}", which), [=](Random &random) { return sfuCase(random, which); }});
  for (const unsigned which : {sub::kMac, sub::kSquareSum, sub::kSquareDiff})
    recipes.push_back(
        {fmt::format("lin {}", which), [=](Random &random) { return linearCase(random, which); }});
  for (const unsigned which : {sub::kMaxOnly, sub::kSelect, sub::kMaxAndSelect})
    recipes.push_back(
        {fmt::format("cmp {}", which), [=](Random &random) { return compareCase(random, which); }});
  for (const auto &[first, result] :
       {std::pair{Prec::F32, Prec::F32}, {Prec::I8, Prec::I8}, {Prec::I8, Prec::I16}})
    recipes.push_back({fmt::format("mm {} {}", precName(first), precName(result)),
                       [first = first, result = result](Random &random) {
                         return matMulCase(random, first, result);
                       }});
}

} // namespace tpuc::bm1684::conformance::detail
