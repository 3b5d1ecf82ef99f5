//===- GenerateTiu.cpp - Random commands of the TIU -----------------------===//
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

constexpr Prec kFloats[] = {Prec::F32, Prec::F16, Prec::BF16};
constexpr Prec kInts[] = {Prec::I8, Prec::I16, Prec::I32};

Command make(unsigned opcode, unsigned sub) {
  Command command = Command::make(*findCommandOp(Engine::Tiu, opcode, sub));
  command.set(Field::CmdId, 1);
  return command;
}

void setResultShape(Command &command, Random &random, int64_t maxC = 80) {
  command.set(Field::Res0N, u(random.range(1, 3))).set(Field::Res0C, u(random.range(1, maxC)));
  command.set(Field::Res0H, u(random.range(1, 7))).set(Field::Res0W, u(random.range(1, 40)));
}

Kind floatKind(Random &random) { return random.chance(4) ? Kind::Special : Kind::Float; }
Kind valueKind(Random &random, Prec prec) {
  return isFloatPrec(prec) ? floatKind(random) : Kind::Bits;
}

/// One of the layouts of an element-wise operand; true when the operand is an immediate.
bool setLayout(Command &command, Random &random, Field mode, Field n, Field c, Field h, Field w,
               bool mayBroadcast) {
  auto value = [&](Field field) { return static_cast<int64_t>(command.get(field)); };
  Extents shape = resultShape(command);
  switch (random.range(0, mayBroadcast ? 5 : 3)) {
  case 0:
  case 1:
    return false;
  case 2:
    command.set(mode, 1);
    return false;
  case 3: {
    // Rows apart, channels apart.
    int64_t width = shape[3] + random.range(0, 3);
    int64_t plane = shape[2] * width + random.range(0, 5);
    command.set(mode, 3).set(w, 1).set(h, u(width)).set(c, u(plane));
    command.set(n, u(plane * ceilDiv(63 + shape[1], kLanes)));
    return false;
  }
  case 4:
    command.set(mode, 2);
    return false;
  default:
    // Broadcast along some dimensions.
    command.set(mode, 3).set(n, random.chance(2) ? 0 : u(shape[2] * shape[3] * 3));
    command.set(c, u(random.chance(2) ? shape[2] * shape[3] : 1));
    command.set(h, random.chance(2) ? 0 : u(shape[3])).set(w, random.chance(3) ? 0 : 1);
    (void)value;
    return random.chance(2);
  }
}

struct ArithTypes {
  Prec result, a, b;
};

void setArithOperands(Command &command, Random &random, ArithTypes types, unsigned count) {
  command.set(Field::Res0Prec, types.result).set(Field::Opd0Prec, types.a);
  command.set(Field::Opd1Prec, count > 1 ? types.b : types.a).set(Field::OpdNum, count);
  setLayout(command, random, Field::Res0Str, Field::Res0NStr, Field::Res0CStr, Field::Res0HStr,
            Field::Res0WStr, false);
  setLayout(command, random, Field::Opd0Str, Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr,
            Field::Opd0WStr, command.operation().sub != 28);
  if (count > 1 && setLayout(command, random, Field::Opd1Str, Field::Opd1NStr, Field::Opd1CStr,
                             Field::Opd1HStr, Field::Opd1WStr, true)) {
    command.set(Field::Opd1Const, 1);
    command.set(Field::Opd1Addr, isFloatPrec(types.b) ? types.b == Prec::F32   ? 0x40200000u
                                                        : types.b == Prec::F16 ? 0x3e80u
                                                                               : 0x4051u
                                                      : static_cast<uint32_t>(random.next()));
  }
}

Case arithCase(Random &random, unsigned sub, ArithTypes types, unsigned count, bool isSigned,
               bool otherSigned) {
  Case one{make(tiu::kArith, sub), {}};
  setResultShape(one.command, random);
  setArithOperands(one.command, random, types, count);
  one.command.set(Field::Opd0Sign, isSigned).set(Field::Opd1Sign, otherSigned);
  one.command.set(Field::Round, u(random.range(0, 6)));
  one.fills = {fill(random, Role::Opd0, valueKind(random, types.a)),
               fill(random, Role::Opd1, valueKind(random, types.b)),
               fill(random, Role::Res0, Kind::Bits)};
  return one;
}

void addArith(std::vector<Recipe> &recipes) {
  auto add = [&](unsigned sub, ArithTypes types, auto make) {
    recipes.push_back({fmt::format("{} {} {} {}", findCommandOp(Engine::Tiu, 3, sub)->name,
                                   precName(types.result), precName(types.a), precName(types.b)),
                       make});
  };
  // Integers, with and without a shift.
  for (unsigned sub : {0u, 2u, 3u, 15u, 16u, 20u})
    for (Prec a : kInts)
      for (Prec b : kInts)
        for (Prec result : kInts) {
          ArithTypes types{result, a, b};
          // A product of two unsigned words does not fit in what the vendor computes with.
          bool isWide = (sub == 0 || sub == 20) && a == Prec::I32 && b == Prec::I32;
          add(sub, types, [=](Random &random) {
            bool s0 = isWide || random.chance(2);
            bool s1 = isWide || random.chance(2);
            bool shifts = random.chance(2);
            Case one = arithCase(random, sub, types, shifts ? 3 : 2, s0, s1);
            if (shifts) {
              one.command.set(Field::Opd2Prec, Prec::I8).set(Field::Opd2Sign, 1);
              if (random.chance(2))
                one.command.set(Field::Opd2Const, 1)
                    .set(Field::Opd2Addr, static_cast<uint8_t>(random.range(-12, 3)));
              one.fills.push_back(fill(random, Role::Opd2, Kind::Small, 8));
            }
            return finish(one, random);
          });
        }
  for (unsigned sub : {4u, 5u, 7u, 8u, 9u})
    for (Prec prec : kInts)
      add(sub, {prec, prec, prec}, [=](Random &random) {
        bool isSigned = random.chance(2);
        return finish(arithCase(random, sub, {prec, prec, prec}, 2, isSigned, isSigned), random);
      });
  for (unsigned sub : {6u, 21u})
    for (Prec prec : kInts)
      add(sub, {prec, prec, Prec::I8}, [=](Random &random) {
        Case one = arithCase(random, sub, {prec, prec, Prec::I8}, 2, random.chance(2), true);
        one.fills[1] = fill(random, Role::Opd1, Kind::Small, precBytes(prec) * 8 - 1);
        if (one.command.get(Field::Opd1Const) != 0)
          one.command.set(Field::Opd1Addr, static_cast<uint8_t>(random.range(-7, 7)));
        return finish(one, random);
      });
  // Floats.
  for (unsigned sub : {0u, 2u, 3u, 4u, 5u, 27u})
    for (Prec prec : kFloats)
      add(sub, {prec, prec, prec}, [=](Random &random) {
        return finish(arithCase(random, sub, {prec, prec, prec}, 2, true, true), random);
      });
  add(12, {Prec::F32, Prec::F32, Prec::F32}, [](Random &random) {
    Case one = arithCase(random, 12, {Prec::F32, Prec::F32, Prec::F32}, 2, true, true);
    one.command.set(Field::Round, u(random.range(0, 3)));
    one.fills[0].kind = one.fills[1].kind = Kind::Float;
    return finish(one, random);
  });
  // Selections: the chosen value is an immediate. Equal operands are made likely.
  for (unsigned sub : {10u, 11u, 13u})
    for (Prec prec : kAllPrecs)
      for (Prec result : kAllPrecs)
        if (precBytes(result) <= precBytes(prec))
          add(sub, {result, prec, prec}, [=](Random &random) {
            const bool isSigned = isFloatPrec(prec) || random.chance(2);
            Case one = arithCase(random, sub, {result, prec, prec}, 3, isSigned, isSigned);
            one.command.set(Field::Opd2Prec, result).set(Field::Opd2Const, random.chance(2));
            one.command.set(Field::Opd2Addr, u(random.range(0, 0xffff)));
            if (random.chance(2))
              one.fills[1].seed = one.fills[0].seed;
            return finish(one, random);
          });
  for (Prec prec : kInts)
    add(22, {prec, prec, Prec::I8}, [=](Random &random) {
      Case one = arithCase(random, 22, {prec, prec, Prec::I8}, 2, random.chance(2), true);
      one.fills[1] = fill(random, Role::Opd1, Kind::Small, precBytes(prec) * 8 - 1);
      if (one.command.get(Field::Opd1Const) != 0)
        one.command.set(Field::Opd1Addr, static_cast<uint8_t>(random.range(-7, 7)));
      return finish(one, random);
    });
  for (Prec prec : {Prec::I16, Prec::I32})
    add(23, {prec, prec, prec}, [=](Random &random) {
      return finish(arithCase(random, 23, {prec, prec, prec}, 2, true, true), random);
    });
  for (Prec a : {Prec::I8, Prec::I16})
    for (Prec b : {Prec::I8, Prec::I16})
      for (Prec result : {Prec::I16, Prec::I32})
        add(18, {result, a, b}, [=](Random &random) {
          Case one = arithCase(random, 18, {result, a, b}, 3, random.chance(2), random.chance(2));
          one.command.set(Field::Opd2Prec, Prec::I8).set(Field::Opd2Const, 1);
          one.command.set(Field::Opd2Addr, u(random.range(0, 46) | random.range(0, 20) << 8));
          return finish(one, random);
        });
  for (Prec prec : kFloats)
    add(18, {prec, prec, prec}, [=](Random &random) {
      const unsigned count = random.chance(2) ? 2 : 3;
      Case one = arithCase(random, 18, {prec, prec, prec}, count, true, true);
      if (count == 3)
        one.command.set(Field::Opd2Prec, Prec::I8)
            .set(Field::Opd2Const, 1)
            .set(Field::Opd2Addr, u(random.range(0, 0xffff)));
      one.fills.back() = fill(random, Role::Res0, floatKind(random));
      return finish(one, random);
    });
  // One operand.
  for (unsigned sub : {1u, 19u, 26u, 28u, 29u, 30u})
    for (Prec prec : kAllPrecs) {
      bool isInt = !isFloatPrec(prec);
      if (isInt ? sub == 28 : sub == 1 || sub >= 29)
        continue;
      add(sub, {prec, prec, prec}, [=](Random &random) {
        return finish(
            arithCase(random, sub, {prec, prec, prec}, 1, !isInt || random.chance(2), false),
            random);
      });
    }
}

void addCasts(std::vector<Recipe> &recipes) {
  for (Prec from : kAllPrecs)
    for (Prec to : kAllPrecs) {
      bool bothShortFloats =
          isFloatPrec(from) && isFloatPrec(to) && from != Prec::F32 && to != Prec::F32;
      if (bothShortFloats)
        continue;
      recipes.push_back(
          {fmt::format("ar.cast {} {}", precName(from), precName(to)), [=](Random &random) {
             Case one = arithCase(random, 14, {to, from, from}, 1, random.chance(2), false);
             bool toAnyMode = isFloatPrec(to) && from != to;
             one.command.set(Field::Round, u(random.range(0, toAnyMode ? 6 : 4)));
             one.command.set(Field::Opd2Sign, random.chance(2));
             one.fills[0] = isFloatPrec(from) ? fill(random, Role::Opd0, floatKind(random), 10)
                                              : fill(random, Role::Opd0, Kind::Bits);
             return finish(one, random);
           }});
    }
}

void addRequants(std::vector<Recipe> &recipes) {
  struct Types {
    unsigned sub;
    Prec result, from;
  };
  for (Types types :
       {Types{0, Prec::I8, Prec::I32}, {0, Prec::I16, Prec::I32}, {0, Prec::I8, Prec::I16},
        {0, Prec::I16, Prec::I16},     {0, Prec::I32, Prec::I32}, {0, Prec::I32, Prec::I16},
        {1, Prec::I32, Prec::I32},     {1, Prec::I32, Prec::I16}, {4, Prec::I8, Prec::I8},
        {4, Prec::I8, Prec::I16},      {1, Prec::I8, Prec::I32},  {1, Prec::I16, Prec::I32},
        {1, Prec::I8, Prec::I16},      {1, Prec::I16, Prec::I16}, {3, Prec::F32, Prec::I8},
        {3, Prec::F32, Prec::I16},     {4, Prec::I16, Prec::I8},  {4, Prec::I32, Prec::I8},
        {4, Prec::I32, Prec::I16},     {4, Prec::I16, Prec::I16}})
    recipes.push_back(
        {fmt::format("{} {} {}", findCommandOp(Engine::Tiu, tiu::kRequant, types.sub)->name,
                     precName(types.result), precName(types.from)),
         [=](Random &random) {
           Case one{make(tiu::kRequant, types.sub), {}};
           setResultShape(one.command, random);
           one.command.set(Field::Res0Prec, types.result).set(Field::Opd0Prec, types.from);
           one.command.set(Field::Opd0Sign, random.chance(2))
               .set(Field::Opd2Sign, random.chance(2));
           int64_t mode = types.sub == 0   ? random.range(0, 4) << 3 | random.range(0, 6)
                          : types.sub == 3 ? 0
                                           : random.range(0, 6);
           one.command.set(Field::Round, u(mode));
           if (random.chance(3)) {
             one.command.set(Field::Opd1Const, 1);
             uint32_t zero = static_cast<uint32_t>(random.range(-50, 50)) & 0xffff;
             auto multiplier = static_cast<uint32_t>(random.range(-(1 << 30), 1 << 30));
             auto shift = static_cast<uint32_t>(random.range(-40, -10)) & 0xff;
             uint32_t first = types.sub == 0   ? 0x3c23d70a
                              : types.sub == 1 ? multiplier
                              : types.sub == 3
                                  ? zero
                                  : zero | static_cast<uint32_t>(random.range(-12, 3)) << 16;
             uint32_t second = types.sub == 0   ? 0x40900000
                               : types.sub == 1 ? shift | zero << 16
                               : types.sub == 3 ? 0x3dcccccd
                                                : static_cast<uint32_t>(random.range(-1000, 1000));
             one.command.set(Field::Opd1Addr, first).set(Field::Opd2Addr, second);
           }
           one.fills = {fill(random, Role::Opd0,
                             types.from == Prec::I32 && random.chance(2) ? Kind::Small : Kind::Bits,
                             1 << 20),
                        fill(random, Role::Opd1, Kind::Requant, types.sub),
                        fill(random, Role::Res0, Kind::Bits)};
           return finish(one, random);
         }});
}

void addSeries(std::vector<Recipe> &recipes) {
  for (Prec prec : kFloats) {
    for (unsigned sub : {12u, 13u})
      recipes.push_back({fmt::format("sfu {} {}", sub, precName(prec)), [=](Random &random) {
                           Case one{make(tiu::kSfu, sub), {}};
                           setResultShape(one.command, random);
                           one.command.set(Field::Res0Prec, prec).set(Field::Opd0Prec, prec);
                           one.command.set(Field::Opd1N, u(random.range(2, 32)));
                           one.fills = {fill(random, Role::Opd0, Kind::Float),
                                        fill(random, Role::Opd1, Kind::Float),
                                        fill(random, Role::Res0, Kind::Bits)};
                           return finish(one, random);
                         }});
    for (unsigned sub : {1u, 20u, 21u})
      recipes.push_back(
          {fmt::format("lin {} {}", sub, precName(prec)), [=](Random &random) {
             Case one{make(tiu::kLinear, sub), {}};
             setResultShape(one.command, random);
             one.command.set(Field::Res0Prec, prec);
             uint32_t half = prec == Prec::F32 ? 0x3f000001 : prec == Prec::F16 ? 0x3801 : 0x3f01;
             one.command.set(Field::Opd1Addr, half).set(Field::Opd2Addr, half);
             one.command.set(Field::Opd1Const, random.chance(3));
             one.command.set(Field::Opd2Const, random.chance(3));
             Kind kind = floatKind(random);
             one.fills = {fill(random, Role::Opd0, kind), fill(random, Role::Opd1, kind),
                          fill(random, Role::Opd2, kind), fill(random, Role::Res0, Kind::Bits)};
             return finish(one, random);
           }});
  }
  for (Prec prec : kFloats)
    for (const bool isFloat : {true, false}) {
      const Prec result = isFloat ? prec : prec == Prec::F32 ? Prec::I32 : Prec::I16;
      recipes.push_back(
          {fmt::format("sfu.normalize {} {}", precName(result), precName(prec)),
           [=](Random &random) {
             Case one{make(tiu::kSfu, 15), {}};
             setResultShape(one.command, random);
             one.command.set(Field::Res0Prec, result).set(Field::Opd0Prec, prec);
             one.fills = {fill(random, Role::Opd0, random.chance(2) ? Kind::Bits : Kind::Special),
                          fill(random, Role::Res0, Kind::Bits)};
             return finish(one, random);
           }});
    }
  recipes.push_back({"sfu.rsqrt", [](Random &random) {
                       Case one{make(tiu::kSfu, 17), {}};
                       setResultShape(one.command, random);
                       one.command.set(Field::Res0Prec, Prec::F32).set(Field::Opd0Prec, Prec::F32);
                       one.command.set(Field::Round, u(random.range(0, 3)));
                       one.fills = {random.chance(2) ? fill(random, Role::Opd0, Kind::Positive, 20)
                                                     : fill(random, Role::Opd0, floatKind(random)),
                                    fill(random, Role::Res0, Kind::Bits)};
                       return finish(one, random);
                     }});
}

void addCompares(std::vector<Recipe> &recipes) {
  for (unsigned sub = 22; sub <= 26; ++sub)
    for (Prec compared : kAllPrecs)
      for (Prec chosen : kAllPrecs)
        recipes.push_back(
            {fmt::format("{} {} {}", findCommandOp(Engine::Tiu, tiu::kCompare, sub)->name,
                         precName(compared), precName(chosen)),
             [=](Random &random) {
               Case one{make(tiu::kCompare, sub), {}};
               setResultShape(one.command, random);
               one.command.set(Field::Opd0Prec, compared).set(Field::Opd2Prec, chosen);
               one.command.set(Field::Opd0Sign, random.chance(2));
               auto immediate = [&](Field flag, Field address, Prec prec) {
                 if (!random.chance(5))
                   return;
                 one.command.set(flag, 1);
                 one.command.set(address, prec == Prec::F32   ? 0x3f800000u
                                          : isFloatPrec(prec) ? 0x3f80u
                                                              : 5u);
               };
               immediate(Field::Opd1Const, Field::Opd1Addr, compared);
               immediate(Field::Opd2Const, Field::Opd2Addr, chosen);
               immediate(Field::Opd3Const, Field::Opd3Addr, chosen);
               Fill same = isFloatPrec(compared) ? fill(random, Role::Opd0, floatKind(random), 0)
                                                 : fill(random, Role::Opd0, Kind::Small, 3);
               Fill other = same;
               other.role = Role::Opd1;
               other.seed += random.chance(2) ? 1 : 0;
               one.fills = {same,
                            other,
                            fill(random, Role::Opd2, valueKind(random, chosen)),
                            fill(random, Role::Opd3, valueKind(random, chosen)),
                            fill(random, Role::Res0, Kind::Bits),
                            fill(random, Role::Res1, Kind::Bits)};
               return finish(one, random);
             }});
}

void addVectors(std::vector<Recipe> &recipes) {
  auto add = [&](unsigned sub, Prec result, Prec a, Prec b) {
    recipes.push_back(
        {fmt::format("{} {} {} {}", findCommandOp(Engine::Tiu, tiu::kVector, sub)->name,
                     precName(result), precName(a), precName(b)),
         [=](Random &random) {
           Case one{make(tiu::kVector, sub), {}};
           bool isSigned = random.chance(2);
           one.command.set(Field::Opd0Sign, isSigned);
           bool sameSign = isFloatPrec(a) || sub == 4 || sub == 5 || (sub >= 7 && sub <= 9);
           one.command.set(Field::Opd1Sign, sameSign ? isSigned : random.chance(2));
           one.command.set(Field::Res0Prec, result).set(Field::Opd0Prec, a).set(Field::Opd1Prec, b);
           int64_t width = random.range(1, 20);
           one.command.set(Field::Res0C, u(random.range(1, 80)))
               .set(Field::Res0W, u(random.range(1, 40)));
           one.command.set(Field::Opd0C, u(random.range(1, 3))).set(Field::Opd0W, u(width));
           one.command.set(Field::Opd1W, u(random.range(1, width)));
           one.fills = {fill(random, Role::Opd0, isFloatPrec(a) ? Kind::Float : Kind::Bits),
                        fill(random, Role::Opd1, isFloatPrec(b) ? Kind::Float : Kind::Bits),
                        fill(random, Role::Res0, Kind::Bits)};
           return finish(one, random);
         }});
  };
  for (unsigned sub : {0u, 2u, 3u, 4u, 5u})
    for (Prec prec : kFloats)
      add(sub, prec, prec, prec);
  for (unsigned sub : {0u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 20u})
    for (Prec prec : {Prec::I8, Prec::I16})
      for (Prec result : {Prec::I8, Prec::I16, Prec::I32})
        if (sub < 4 || sub >= 15 || result == prec)
          add(sub, result, prec, prec);
}

void addTransposes(std::vector<Recipe> &recipes) {
  for (unsigned sub = 0; sub <= 5; ++sub)
    for (Prec prec : kAllPrecs)
      recipes.push_back(
          {fmt::format("{} {}", findCommandOp(Engine::Tiu, tiu::kTranspose, sub)->name,
                       precName(prec)),
           [=](Random &random) {
             Case one{make(tiu::kTranspose, sub), {}};
             Command &command = one.command;
             command.set(Field::Res0Prec, prec);
             setResultShape(command, random, sub == 3 ? 50 : 80);
             if (sub >= 4)
               command.set(Field::Res0N, 1).set(Field::Res0H, 1);
             if (sub == 5)
               command.set(Field::Res0W, 1);
             command.set(Field::Opd0C, command.get(Field::Res0C));
             command.set(Field::Opd0W, command.get(Field::Res0W));
             if (sub <= 1)
               command.set(Field::Opd0C, command.get(Field::Res0W))
                   .set(Field::Opd0W, command.get(Field::Res0C));
             if (sub == 3)
               command.set(Field::Opd0C, 1);
             if (sub >= 4)
               command.set(Field::Opd0Addr, kStaticBase + 64 * u(random.range(0, 30)));
             one.fills = {fill(random, Role::Opd0, Kind::Bits),
                          fill(random, Role::Res0, Kind::Bits)};
             if (sub >= 4)
               one.fills.erase(one.fills.begin());
             if (sub == 3) {
               // Broadcasts must not pass the last lane.
               one = finish(one, random);
               int64_t most = kLanes - static_cast<int64_t>(command.get(Field::Res0C));
               auto lane = static_cast<uint64_t>(random.range(0, most));
               uint64_t inLane = one.command.get(Field::Res0Addr) % kLaneBytes;
               one.command.set(Field::Res0Addr, lane * kLaneBytes + inLane);
               return one;
             }
             return finish(one, random, sub == 2);
           }});
  for (unsigned sub : {24u, 25u})
    recipes.push_back({sub == 24 ? "seg.eu" : "seg.lane", [=](Random &random) {
                         Case one{make(tiu::kArith, sub), {}};
                         one.command.set(Field::Res0C, u(random.range(1, sub == 24 ? 80 : 300)));
                         one.command.set(Field::Res0W, u(random.range(1, sub == 24 ? 300 : 1)));
                         one.command.set(Field::Res0Prec, random.pick(kInts));
                         one.fills = {fill(random, Role::Res0, Kind::Bits)};
                         placeLocal(one, random, false);
                         return one;
                       }});
}

struct CompactionTypes {
  unsigned sub;
  Prec result, data, mask;
};

Case rowCompactionCase(Random &random, CompactionTypes types) {
  const bool isSelect = types.sub == 8 || types.sub == 15;
  Case one{make(tiu::kScatterGather, types.sub), {}};
  Command &command = one.command;
  const uint64_t width = u(random.range(1, 60));
  command.set(Field::Res0N, u(random.range(1, 3))).set(Field::Res0C, u(random.range(1, 80)));
  command.set(Field::Res0H, 1).set(Field::Res0W, width);
  command.set(Field::Opd0H, 1).set(Field::Opd0W, width);
  command.set(Field::Opd1C, command.get(Field::Res0C)).set(Field::Opd1W, width);
  command.set(Field::Res0Prec, types.result).set(Field::Opd0Prec, types.data);
  command.set(Field::Opd1Prec, types.mask);
  if (isSelect)
    one.fills = {fill(random, Role::Opd0, Kind::Bits), fill(random, Role::Opd1, Kind::Small, 1)};
  else
    one.fills = {fill(random, Role::Opd0, Kind::Small, 1)};
  one.fills.push_back(fill(random, Role::Res0, Kind::Bits));
  one.fills.push_back(fill(random, Role::Res1, Kind::Bits));
  return finish(one, random);
}

void addRowCompactions(std::vector<Recipe> &recipes) {
  const auto add = [&](CompactionTypes types) {
    recipes.push_back(
        {fmt::format("{} {} {} {}",
                     findCommandOp(Engine::Tiu, tiu::kScatterGather, types.sub)->name,
                     precName(types.result), precName(types.data), precName(types.mask)),
         [=](Random &random) { return rowCompactionCase(random, types); }});
  };
  for (Prec prec : kAllPrecs)
    for (Prec mask : kInts)
      for (unsigned sub : {8u, 15u})
        add({sub, prec, prec, mask});
  for (Prec prec : kInts)
    for (Prec result : {Prec::I16, Prec::I32})
      for (unsigned sub : {9u, 16u})
        add({sub, result, prec, Prec::I8});
}

void addGathers(std::vector<Recipe> &recipes) {
  for (unsigned sub : {0u, 1u, 3u, 5u, 6u, 13u, 14u})
    for (Prec prec : kAllPrecs)
      for (Prec index : {Prec::I8, Prec::I16}) {
        if (sub == 1 && index == Prec::I8)
          continue;
        recipes.push_back(
            {fmt::format("{} {} {}", findCommandOp(Engine::Tiu, tiu::kScatterGather, sub)->name,
                         precName(prec), precName(index)),
             [=](Random &random) {
               Case one{make(tiu::kScatterGather, sub), {}};
               Command &command = one.command;
               bool isScatter = sub == 3 || sub == 6 || sub == 14;
               // The vendor's model refuses a single index of sub-opcode 14.
               int64_t count = random.range(sub == 14 ? 2 : 1, 30);
               int64_t table = random.range(30, 60);
               command.set(Field::Res0N, u(random.range(1, 2)))
                   .set(Field::Res0C, u(random.range(1, 80)));
               command.set(Field::Res0H, 1).set(Field::Res0W, u(isScatter ? table : count));
               command.set(Field::Opd0H, 1).set(Field::Opd0W, u(isScatter ? count : table));
               command.set(Field::Opd1Prec, index)
                   .set(Field::Res0Prec, prec)
                   .set(Field::Opd0Prec, prec);
               Fill indices = fill(random, Role::Opd1, isScatter ? Kind::Distinct : Kind::Index,
                                   static_cast<uint32_t>(table));
               if (sub == 1) {
                 int64_t height = random.range(1, 6);
                 command.set(Field::Opd0H, u(height));
                 indices = fill(random, Role::Opd1, Kind::Pairs,
                                static_cast<uint32_t>(table | height << 16));
               }
               if (sub <= 3) {
                 command.set(Field::Opd1C, u(count)).set(Field::Opd1W, 1);
               } else {
                 command.set(Field::Opd1C, command.get(Field::Res0C)).set(Field::Opd1W, u(count));
                 if (!isScatter && random.chance(2))
                   command.set(Field::Opd0Str, 4);
               }
               one.fills = {fill(random, Role::Opd0, Kind::Bits), indices,
                            fill(random, Role::Res0, Kind::Bits)};
               return finish(one, random);
             }});
      }
}

} // namespace

void addTiuRecipes(std::vector<Recipe> &recipes) {
  addArith(recipes);
  addCasts(recipes);
  addRequants(recipes);
  addSeries(recipes);
  addCompares(recipes);
  addVectors(recipes);
  addTransposes(recipes);
  addGathers(recipes);
  addRowCompactions(recipes);
}

} // namespace tpuc::bm1684x::conformance::detail
