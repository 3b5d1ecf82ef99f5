//===- Generate.cpp - Random legal commands -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Generate.h"

#include <cassert>

namespace tpuc::bm1684::conformance {

namespace detail {

Command make(unsigned opcode, unsigned sub) {
  Command command = Command::make(*mc::findOp(kCommandTable, Engine::Tiu, opcode, sub));
  command.set(Field::CmdId, 1).set(Field::OpdNum, 2);
  for (const Field field : {Field::ResOpXStr, Field::ResOpYStr, Field::Opd0Sign, Field::Opd1Sign,
                            Field::Opd2Sign, Field::Opd0N, Field::Opd0C, Field::Opd0H, Field::Opd0W,
                            Field::Opd1N, Field::Opd1C, Field::Opd1H, Field::Opd1W})
    command.set(field, 1);
  for (const Field field : {Field::Res0NStr, Field::Res0CStr, Field::Res0HStr, Field::Res0WStr,
                            Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr, Field::Opd0WStr,
                            Field::Opd1NStr, Field::Opd1CStr, Field::Opd1HStr, Field::Opd1WStr,
                            Field::Opd2NStr, Field::Opd2CStr, Field::Opd2HStr, Field::Opd2WStr})
    command.set(field, 1);
  command.set(Field::Opd2Str, 2);
  for (const Field field : {Field::Res0Addr, Field::Opd0Addr, Field::Opd1Addr, Field::Opd2Addr,
                            Field::Res1Addr, Field::Opd3Addr})
    command.set(field, kLocalBase);
  return command;
}

void setResultShape(Command &command, Random &random, int64_t maxC) {
  command.set(Field::Res0N, u(random.range(1, 6))).set(Field::Res0C, u(random.range(1, maxC)));
  command.set(Field::Res0H, u(random.range(1, 7))).set(Field::Res0W, u(random.range(1, 20)));
}

namespace {

Field addressField(Role role) {
  constexpr Field kFields[] = {Field::Res0Addr, Field::Res1Addr, Field::Opd0Addr,
                               Field::Opd1Addr, Field::Opd2Addr, Field::Opd3Addr};
  return kFields[static_cast<size_t>(role)];
}

/// The old value of an accumulation lies where the result does.
bool isOld(const Command &command, const Operand &operand) {
  return operand.role == Role::Res1 && !operand.isWritten &&
         command.operation().opcode == tiu::kMatMul;
}

} // namespace

Case placed(Case one, Random &random, bool anyLane) {
  if (one.command.engine() == mc::EngineId(Engine::Tiu))
    one.command.set(Field::Opd0Neq1, random.chance(3)).set(Field::Opd1Neq1, random.chance(3));
  // A lane first: with it the strides, and so the sizes, are known.
  const Expected<OperandList> blank = operandsOf(one.command, "case");
  assert(blank && "recipes make legal commands");
  const auto common = u(random.chance(3) ? random.range(0, 63) : 0);
  for (const Operand &operand : blank->all())
    if (operand.view.isLocal && !isOld(one.command, operand))
      one.command.set(addressField(operand.role),
                      kLocalBase + (anyLane ? u(random.range(0, 63)) : common) * kLaneBytes);
  const OperandList sized = *operandsOf(one.command, "case");
  uint64_t offset = 128 * u(random.range(0, 3));
  for (const Operand &operand : sized.all()) {
    if (!operand.view.isLocal || isOld(one.command, operand))
      continue;
    const Field field = addressField(operand.role);
    one.command.set(field, one.command.get(field) + offset);
    const int64_t size = bm168x::touchedBytes(kLocalMemory, operand.view).last;
    offset = u(alignUp(static_cast<int64_t>(offset) + size, 128)) + 128 * u(random.range(0, 2));
  }
  assert(offset <= kLaneBytes && "recipes make cases that fit");
  return one;
}

} // namespace detail

std::vector<Recipe> allRecipes() {
  std::vector<Recipe> recipes;
  detail::addElementwiseRecipes(recipes);
  detail::addWindowRecipes(recipes);
  detail::addGdmaRecipes(recipes);
  return recipes;
}

} // namespace tpuc::bm1684::conformance
