//===- GenerateWindow.cpp - Random convolutions, poolings and matrix products -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684x/Generate.h"

#include <fmt/format.h>

namespace tpuc::bm1684x::conformance::detail {

namespace {

Kind valuesOf(Prec prec) { return isFloatPrec(prec) ? Kind::Float : Kind::Bits; }

/// The same for factors whose products are summed: at times infinities and NaNs are among them.
Kind factorsOf(Random &random, Prec prec) {
  return isFloatPrec(prec) && random.chance(6) ? Kind::Special : valuesOf(prec);
}

/// How far the exponents of factors spread: at times so far that products leave the range of f32.
uint32_t spreadOf(Random &random, Prec prec) {
  constexpr uint32_t kSpreads[] = {0, 0, 0, 0, 0, 3, 3, 62};
  return isFloatPrec(prec) ? random.pick(kSpreads) : 0;
}

/// Sizes, strides, padding, dilation, insertion; the result's size follows.
void setWindow(Command &command, Random &random) {
  int64_t result[2];
  constexpr Field kImage[] = {Field::Opd0H, Field::Opd0W};
  constexpr Field kKernel[] = {Field::Opd1H, Field::Opd1W};
  constexpr Field kStride[] = {Field::ResOpYStr, Field::ResOpXStr};
  constexpr Field kDilation[] = {Field::Opd1YIns0, Field::Opd1XIns0};
  constexpr Field kInsert[] = {Field::Opd0YIns0, Field::Opd0XIns0};
  constexpr Field kLow[] = {Field::Opd0UpPad, Field::Opd0LfPad};
  constexpr Field kHigh[] = {Field::Opd0DnPad, Field::Opd0RtPad};
  for (int axis = 0; axis < 2; ++axis) {
    int64_t image = random.range(3, 14);
    int64_t kernel = random.range(1, random.chance(4) ? 5 : 3);
    int64_t stride = random.range(1, 3);
    int64_t dilation = random.chance(3) ? random.range(1, 2) : 0;
    int64_t insert = random.chance(4) ? random.range(1, 2) : 0;
    int64_t low = random.range(0, 2);
    int64_t high = random.range(0, 2);
    int64_t covered = (kernel - 1) * (dilation + 1) + 1;
    int64_t padded = (image - 1) * (insert + 1) + 1 + low + high;
    if (padded < covered) {
      dilation = 0;
      covered = kernel = 1;
    }
    result[axis] = (padded - covered) / stride + 1;
    command.set(kImage[axis], u(image)).set(kKernel[axis], u(kernel)).set(kStride[axis], u(stride));
    command.set(kDilation[axis], u(dilation)).set(kInsert[axis], u(insert));
    command.set(kLow[axis], u(low)).set(kHigh[axis], u(high));
  }
  command.set(Field::Res0H, u(result[0])).set(Field::Res0W, u(result[1]));
  command.set(Field::PadMode, random.chance(3) ? u(random.range(1, 3)) : 0);
  command.set(Field::KernelRotate, random.chance(4));
}

uint32_t someFloat(Random &random, Prec prec) {
  constexpr uint32_t kF32[] = {0, 0x3fc00000, 0xbf400000};
  constexpr uint32_t kF16[] = {0, 0x3e00, 0xba00};
  constexpr uint32_t kBf16[] = {0, 0x3fc0, 0xbf40};
  return prec == Prec::F32   ? random.pick(kF32)
         : prec == Prec::F16 ? random.pick(kF16)
                             : random.pick(kBf16);
}

Case convCase(Random &random, Prec prec, Prec result, unsigned sub) {
  Case one{Command::make(*findCommandOp(Engine::Tiu, tiu::kConv, sub)), {}};
  Command &command = one.command;
  bool isFloat = isFloatPrec(prec);
  setWindow(command, random);
  command.set(Field::CmdId, 1).set(Field::Opd0Prec, prec).set(Field::Res0Prec, result);
  command.set(Field::Res0N, u(random.range(1, 2))).set(Field::Res0C, u(random.range(1, 80)));
  command.set(Field::Opd0C, u(random.range(1, prec == Prec::F32 ? 12 : 80)));
  command.set(Field::Opd0Sign, isFloat || random.chance(2))
      .set(Field::Opd1Sign, isFloat || random.chance(2));
  command.set(Field::Opd2Sign, isFloat || random.chance(2));
  if (random.chance(4)) {
    // Explicit strides: rows apart.
    int64_t width = static_cast<int64_t>(command.get(Field::Opd0W)) + random.range(0, 3);
    int64_t plane = static_cast<int64_t>(command.get(Field::Opd0H)) * width + random.range(0, 5);
    command.set(Field::Opd0Str, 3).set(Field::Opd0WStr, 1).set(Field::Opd0HStr, u(width));
    command.set(Field::Opd0CStr, u(plane)).set(Field::Opd0NStr, u(plane * 3));
  }
  uint32_t limit = spreadOf(random, prec);
  one.fills = {fill(random, Role::Opd0, factorsOf(random, prec), limit),
               fill(random, Role::Opd1, factorsOf(random, prec), limit),
               fill(random, Role::Opd2, isFloat ? Kind::Float : Kind::Bits, limit),
               fill(random, Role::Opd3, valuesOf(prec)), fill(random, Role::Res0, Kind::Bits)};
  command.set(Field::Opd1Const, random.chance(8));
  if (command.get(Field::Opd1Const) != 0)
    command.set(Field::Opd1Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
  command.set(Field::Opd2Const, random.chance(2));
  // No zero point at times: then the sums of unsigned numbers have no sign.
  if (command.get(Field::Opd2Const) != 0 && !random.chance(4))
    command.set(Field::Opd2Addr, isFloat ? someFloat(random, Prec::F32)
                                         : u(random.range(0, sub == 0 ? 255 : 65535)));
  command.set(Field::Opd3Const, sub != 0 || !random.chance(3));
  if (sub != 0 && !isFloat) {
    command.set(Field::Opd3Addr, u(random.range(0, 20))).set(Field::PadMode, 0);
  } else if (command.get(Field::Opd3Const) != 0) {
    command.set(Field::Opd3Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
    command.set(Field::Res1Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
  }
  if (random.chance(3)) {
    command.set(Field::ResAdd, 1);
    Role old = isFloat && result != Prec::F32 ? Role::Res1 : Role::Res0;
    if (isFloat)
      one.fills.back() = fill(random, old, Kind::Float, 4);
  }
  return one;
}

void addConvs(std::vector<Recipe> &recipes) {
  struct Types {
    Prec prec, result;
    unsigned sub;
  };
  for (Types types : {Types{Prec::I8, Prec::I32, 0},
                      {Prec::I8, Prec::I16, 0},
                      {Prec::I8, Prec::I8, 0},
                      {Prec::I8, Prec::I8, 1},
                      {Prec::I8, Prec::I16, 1},
                      {Prec::I8, Prec::I32, 1},
                      {Prec::I8, Prec::I8, 2},
                      {Prec::I8, Prec::I16, 2},
                      {Prec::I8, Prec::I32, 2},
                      {Prec::F32, Prec::F32, 0},
                      {Prec::F16, Prec::F16, 0},
                      {Prec::F16, Prec::F32, 0},
                      {Prec::BF16, Prec::BF16, 0},
                      {Prec::BF16, Prec::F32, 0}})
    for (int repeat = 0; repeat < 12; ++repeat)
      recipes.push_back(
          {fmt::format("{} {} {}", findCommandOp(Engine::Tiu, tiu::kConv, types.sub)->name,
                       precName(types.prec), precName(types.result)),
           [=](Random &random) {
             return finish(convCase(random, types.prec, types.result, types.sub), random);
           }});
}

Case poolCase(Random &random, unsigned sub, Prec prec, Prec result) {
  Case one{Command::make(*findCommandOp(Engine::Tiu, tiu::kPorD, sub)), {}};
  Command &command = one.command;
  bool isFloat = isFloatPrec(prec);
  setWindow(command, random);
  command.set(Field::CmdId, 1).set(Field::Opd0Prec, prec).set(Field::Res0Prec, result);
  command.set(Field::Res0N, u(random.range(1, 2))).set(Field::Res0C, u(random.range(1, 80)));
  bool isSigned = isFloat || random.chance(2);
  command.set(Field::Opd0Sign, isSigned)
      .set(Field::Opd1Sign, isFloat || (sub == 4 ? isSigned : random.chance(2)));
  command.set(Field::Opd2Sign, isFloat || random.chance(2));
  command.set(Field::Opd3Const, !random.chance(4));
  bool isDepthwise = sub == 0 || sub == 2;
  if (command.get(Field::Opd3Const) != 0)
    command.set(Field::Opd3Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
  if (sub == 1) {
    command.set(Field::Opd1Const, 1).set(Field::Opd2Const, 1);
    command.set(Field::Opd1Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
  }
  if (isDepthwise) {
    command.set(Field::Opd1Const, random.chance(6));
    if (command.get(Field::Opd1Const) != 0)
      command.set(Field::Opd1Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
    command.set(Field::Opd2Const, random.chance(2));
    if (command.get(Field::Opd2Const) != 0)
      command.set(Field::Opd2Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 100000)));
    command.set(Field::Round, u(random.range(0, 6)));
    if (!isFloat)
      command.set(Field::Res1Addr, u(random.range(0, 14)) << 8);
  }
  if (sub == 4)
    command.set(Field::Opd1Const, 1).set(Field::Opd2Const, 1);
  one.fills = {fill(random, Role::Opd0, valuesOf(prec)), fill(random, Role::Opd1, valuesOf(prec)),
               fill(random, Role::Opd2, isFloat ? Kind::Float : Kind::Small, isFloat ? 0 : 100000),
               fill(random, Role::Opd3, valuesOf(prec)), fill(random, Role::Res0, Kind::Bits)};
  return one;
}

void addPools(std::vector<Recipe> &recipes) {
  auto add = [&](unsigned sub, Prec prec, Prec result, int repeats) {
    for (int repeat = 0; repeat < repeats; ++repeat)
      recipes.push_back(
          {fmt::format("{} {} {}", findCommandOp(Engine::Tiu, tiu::kPorD, sub)->name,
                       precName(prec), precName(result)),
           [=](Random &random) { return finish(poolCase(random, sub, prec, result), random); }});
  };
  for (Prec prec : {Prec::F32, Prec::F16, Prec::BF16})
    for (unsigned sub : {0u, 1u, 4u})
      add(sub, prec, prec, 6);
  add(4, Prec::I8, Prec::I8, 6);
  for (Prec result : {Prec::I8, Prec::I16, Prec::I32})
    for (unsigned sub : {0u, 1u, 2u})
      add(sub, Prec::I8, result, 6);
}

Case matMul2Case(Random &random, unsigned sub, Prec prec, Prec result) {
  Case one{Command::make(*findCommandOp(Engine::Tiu, tiu::kMatMul, sub)), {}};
  Command &command = one.command;
  bool isFloat = isFloatPrec(prec);
  int64_t m = random.range(1, 80);
  int64_t k = random.range(1, 100);
  int64_t n = random.range(1, 100);
  bool isTT = sub == 6;
  command.set(Field::CmdId, 1).set(Field::Opd0Prec, prec).set(Field::Res0Prec, result);
  command.set(Field::Res0C, u(isTT ? n : m)).set(Field::Res0W, u(isTT ? m : n));
  command.set(Field::Opd1C, u(sub == 4 ? k : n)).set(Field::Opd1W, u(sub == 4 ? n : k));
  command.set(Field::Opd0Sign, isFloat || random.chance(2))
      .set(Field::Opd1Sign, isFloat || random.chance(2));
  command.set(Field::Opd2Const, isFloat || random.chance(2))
      .set(Field::Opd2Addr, isFloat ? 0 : u(random.range(0, 255)));
  uint32_t limit = spreadOf(random, prec);
  one.fills = {fill(random, Role::Opd0, factorsOf(random, prec), limit),
               fill(random, Role::Opd1, factorsOf(random, prec), limit),
               fill(random, Role::Opd2, Kind::Bits), fill(random, Role::Res0, Kind::Bits)};
  if (random.chance(3)) {
    command.set(Field::ResAdd, 1);
    if (isFloat)
      one.fills.back() =
          fill(random, result == Prec::F32 ? Role::Res0 : Role::Res1, Kind::Float, 4);
  }
  return one;
}

Case matMulCase(Random &random, unsigned sub, Prec prec) {
  Case one{Command::make(*findCommandOp(Engine::Tiu, tiu::kMatMul, sub)), {}};
  Command &command = one.command;
  bool isFloat = prec == Prec::F32;
  bool isRequant = sub != 1;
  int64_t width = random.range(1, 20);
  int64_t chunks = random.range(1, 5);
  command.set(Field::CmdId, 1)
      .set(Field::Opd0Prec, prec)
      .set(Field::Res0Prec, isFloat ? Prec::F32 : Prec::I32);
  command.set(Field::LeftTran, random.chance(2)).set(Field::Opd0N, u(random.range(1, 30)));
  command.set(Field::Opd0C, u(chunks))
      .set(Field::Opd0W, u(width))
      .set(Field::Opd1W, u(random.range(1, width)));
  command.set(Field::Res0C, u(random.range(1, 5))).set(Field::Res0W, u(random.range(1, 40)));
  command.set(Field::Opd0Sign, isFloat || random.chance(2))
      .set(Field::Opd1Sign, isFloat || random.chance(2));
  command.set(Field::Opd2Sign, !isRequant || random.chance(2));
  bool hasBias = (isFloat || isRequant) && random.chance(2);
  // Products of 8-bit integers have no addend, wherever it would be.
  command.set(Field::Opd2Const, !hasBias && (prec != Prec::I8 || random.chance(2)));
  if (isRequant) {
    command.set(Field::Res0Prec, random.chance(2) ? Prec::I8 : Prec::I16);
    command.set(Field::Opd3Addr, u(random.range(0, 0xffff)))
        .set(Field::Round, u(random.range(0, 6)));
    if (!hasBias)
      command.set(Field::Opd2Const, 1).set(Field::Opd2Addr, u(random.range(0, 0xffff)));
  }
  if (prec == Prec::I32) {
    command.set(Field::Opd2Addr, static_cast<uint8_t>(random.range(-20, 0)));
    command.set(Field::Round, u(random.range(0, 6)));
    command.set(Field::Opd0Sign, 1).set(Field::Opd1Sign, 1);
  }
  one.fills = {
      fill(random, Role::Opd0, prec == Prec::I32 ? Kind::Small : valuesOf(prec), 100000 * !isFloat),
      fill(random, Role::Opd1, prec == Prec::I32 ? Kind::Small : valuesOf(prec), 100000 * !isFloat),
      fill(random, Role::Opd2, isFloat ? Kind::Float : Kind::Bits),
      fill(random, Role::Res0, Kind::Bits)};
  if (random.chance(8)) {
    command.set(Field::Opd0Const, 1);
    command.set(Field::Opd0Addr, isFloat ? someFloat(random, prec) : u(random.range(0, 255)));
  }
  if (isFloat && random.chance(3)) {
    command.set(Field::ResAdd, 1);
    one.fills.back().kind = Kind::Float;
  }
  return one;
}

void addMatMuls(std::vector<Recipe> &recipes) {
  struct Types {
    Prec prec, result;
  };
  for (Types types : {Types{Prec::I8, Prec::I32},
                      {Prec::F16, Prec::F32},
                      {Prec::F16, Prec::F16},
                      {Prec::BF16, Prec::F32},
                      {Prec::BF16, Prec::BF16}})
    for (unsigned sub : {4u, 5u, 6u})
      for (int repeat = 0; repeat < 6; ++repeat)
        recipes.push_back(
            {fmt::format("{} {} {}", findCommandOp(Engine::Tiu, tiu::kMatMul, sub)->name,
                         precName(types.prec), precName(types.result)),
             [=](Random &random) {
               return finish(matMul2Case(random, sub, types.prec, types.result), random);
             }});
  auto addMatMul = [&](unsigned sub, Prec prec) {
    for (int repeat = 0; repeat < 8; ++repeat)
      recipes.push_back(
          {fmt::format("{} {}", findCommandOp(Engine::Tiu, tiu::kMatMul, sub)->name,
                       precName(prec)),
           [=](Random &random) { return finish(matMulCase(random, sub, prec), random); }});
  };
  for (Prec prec : {Prec::F32, Prec::I8, Prec::I32})
    addMatMul(1, prec);
  addMatMul(2, Prec::I8);
  addMatMul(3, Prec::I8);
}

} // namespace

void addWindowRecipes(std::vector<Recipe> &recipes) {
  addConvs(recipes);
  addPools(recipes);
  addMatMuls(recipes);
}

} // namespace tpuc::bm1684x::conformance::detail
