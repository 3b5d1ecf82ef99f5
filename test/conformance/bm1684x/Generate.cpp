//===- Generate.cpp - Random legal commands -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684x/Generate.h"

#include <fmt/format.h>

namespace tpuc::bm1684x::conformance {

namespace detail {

namespace {

void copyField(Command &to, Field target, uint64_t value) { to.set(target, value); }

/// Fields that only the long form has follow from those of the short one.
void completeLong(const Command &from, Command &to) {
  auto value = [&](Field field) { return from.get(field); };
  uint64_t prec = value(Field::Opd0Prec);
  auto shapeOf = [&](Field n, Field c, Field h, Field w) {
    copyField(to, n, value(Field::Res0N));
    copyField(to, c, value(Field::Res0C));
    copyField(to, h, value(Field::Res0H));
    copyField(to, w, value(Field::Res0W));
  };
  auto first = [&] { shapeOf(Field::Opd0N, Field::Opd0C, Field::Opd0H, Field::Opd0W); };
  auto second = [&] { shapeOf(Field::Opd1N, Field::Opd1C, Field::Opd1H, Field::Opd1W); };
  switch (from.operation().opcode) {
  case tiu::kConv:
    to.set(Field::Opd1Prec, prec);
    to.set(Field::Opd2Prec, static_cast<Prec>(prec) == Prec::I8 ? Prec::I16 : Prec::F32);
    to.set(Field::Opd0N, value(Field::Res0N)).set(Field::Opd1N, value(Field::Opd0C));
    to.set(Field::Opd1C, value(Field::Res0C)).set(Field::OpdNum, 3);
    return;
  case tiu::kPorD:
    to.set(Field::Opd0N, value(Field::Res0N)).set(Field::Opd0C, value(Field::Res0C));
    to.set(Field::Opd1Prec, prec).set(Field::Opd2Prec, prec);
    return;
  case tiu::kMatMul:
    to.set(Field::Opd1Prec, prec).set(Field::Opd2Prec, prec).set(Field::Res0H, 1);
    if (from.operation().sub >= 4) {
      to.set(Field::Res0N, 1);
      return;
    } else {
      uint64_t rows = value(Field::Opd0N);
      uint64_t columns = (value(Field::Opd0C) - 1) * value(Field::Opd0W) + value(Field::Opd1W);
      bool isTransposed = value(Field::LeftTran) != 0;
      to.set(Field::Res0N, isTransposed ? columns : rows);
      to.set(Field::Opd1N, isTransposed ? rows : columns);
      to.set(Field::Opd0H, 1).set(Field::Opd1H, 1).set(Field::Opd1C, value(Field::Res0C));
    }
    return;
  case tiu::kArith:
    if (from.form() == Form::Arith) {
      first();
      second();
    }
    return;
  case tiu::kRequant:
    first();
    to.set(Field::Opd2Const, value(Field::Opd1Const));
    return;
  case tiu::kTranspose:
    to.set(Field::Opd0N, value(Field::Res0N)).set(Field::Opd0H, value(Field::Res0H));
    to.set(Field::Opd0Prec, value(Field::Res0Prec));
    return;
  case tiu::kLinear:
    for (Field field : {Field::Opd0Prec, Field::Opd1Prec, Field::Opd2Prec})
      to.set(field, value(Field::Res0Prec));
    return;
  case tiu::kCompare:
    to.set(Field::Opd1Prec, prec).set(Field::Res0Prec, prec);
    to.set(Field::Opd1Sign, value(Field::Opd0Sign));
    return;
  case tiu::kVector:
    to.set(Field::Res0N, (value(Field::Opd0C) - 1) * value(Field::Opd0W) + value(Field::Opd1W));
    to.set(Field::Res0H, 1);
    return;
  default:
    return;
  }
}

std::optional<Field> addressField(Role role) {
  switch (role) {
  case Role::Res0:
    return Field::Res0Addr;
  case Role::Res1:
    return Field::Res1Addr;
  case Role::Opd0:
    return Field::Opd0Addr;
  case Role::Opd1:
    return Field::Opd1Addr;
  case Role::Opd2:
    return Field::Opd2Addr;
  case Role::Opd3:
    return Field::Opd3Addr;
  }
  return std::nullopt;
}

} // namespace

Command toLong(const Command &command) {
  Command result = Command::make(command.operation(), Form::Long);
  for (const FieldSpec &spec : command.info().fields)
    if (spec.field != Field::CmdShort && result.has(spec.field))
      result.set(spec.field, command.get(spec.field));
  completeLong(command, result);
  return result;
}

void placeLocal(Case &one, Random &random, bool anyLane) {
  // A lane first: with it the strides, and so the sizes, are known.
  Expected<OperandList> blank = operandsOf(one.command, "case");
  assert(blank && "recipes make legal commands");
  uint64_t common = random.chance(3) ? static_cast<uint64_t>(random.range(0, 63)) : 0;
  auto laneFor = [&]() -> uint64_t {
    return anyLane ? static_cast<uint64_t>(random.range(0, 63)) : common;
  };
  for (const Operand &operand : blank->all())
    if (operand.view.isLocal && !(operand.role == Role::Res1 && !operand.isWritten))
      one.command.set(*addressField(operand.role), laneFor() * kLaneBytes);
  OperandList sized = *operandsOf(one.command, "case");
  uint64_t offset = 64 * static_cast<uint64_t>(random.range(0, 3));
  for (const Operand &operand : sized.all()) {
    // The old value of an accumulation lies where the result does.
    if (!operand.view.isLocal || (operand.role == Role::Res1 && !operand.isWritten))
      continue;
    Field field = *addressField(operand.role);
    one.command.set(field, one.command.get(field) + offset);
    int64_t size = touchedBytes(operand.view).last;
    if (operand.role == Role::Res0)
      size = std::max(size, size * 4 / operand.view.bytes());
    offset = static_cast<uint64_t>(alignUp(static_cast<int64_t>(offset) + size, 64));
    offset += 64 * static_cast<uint64_t>(random.range(0, 2));
  }
  assert(offset <= kLaneBytes && "recipes make cases that fit");
}

Case finish(Case one, Random &random, bool anyLane) {
  placeLocal(one, random, anyLane);
  if (one.command.operation().otherForm && random.chance(3))
    one.command = toLong(one.command);
  return one;
}

} // namespace detail

std::vector<Recipe> allRecipes() {
  std::vector<Recipe> recipes;
  detail::addTiuRecipes(recipes);
  detail::addWindowRecipes(recipes);
  detail::addGdmaRecipes(recipes);
  return recipes;
}

} // namespace tpuc::bm1684x::conformance
