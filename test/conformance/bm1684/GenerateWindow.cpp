//===- GenerateWindow.cpp - Random convolutions and pools -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Generate.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm1684::conformance::detail {

namespace {

struct WindowOptions {
  bool dilates = true, inserts = true;
  int64_t maxKernel = 4;
};

/// Sizes of image, kernel and result that fit each other.
void setWindow(Command &command, Random &random, const WindowOptions &options) {
  const auto axis = [&](Field image, Field kernel, Field result, Field stride, Field dilation,
                        Field insert, Field low, Field high, int64_t most) {
    const int64_t size = random.range(1, most);
    const int64_t ins = options.inserts && random.chance(4) ? random.range(1, 3) : 0;
    const int64_t before = random.range(0, 3), after = random.range(0, 3);
    const int64_t padded = (size - 1) * (ins + 1) + 1 + before + after;
    int64_t taps = random.range(1, std::min(options.maxKernel, padded));
    int64_t holes = options.dilates && random.chance(3) ? random.range(1, 2) : 0;
    if ((taps - 1) * (holes + 1) + 1 > padded)
      holes = 0;
    const int64_t step = random.range(1, random.chance(8) ? 15 : 3);
    command.set(image, u(size)).set(kernel, u(taps)).set(stride, u(step));
    command.set(dilation, u(holes)).set(insert, u(ins)).set(low, u(before)).set(high, u(after));
    command.set(result, u((padded - (taps - 1) * (holes + 1) - 1) / step + 1));
  };
  axis(Field::Opd0H, Field::Opd1H, Field::Res0H, Field::ResOpYStr, Field::Opd1YIns0,
       Field::Opd0YIns0, Field::Opd0UpPad, Field::Opd0DnPad, 8);
  axis(Field::Opd0W, Field::Opd1W, Field::Res0W, Field::ResOpXStr, Field::Opd1XIns0,
       Field::Opd0XIns0, Field::Opd0LfPad, Field::Opd0RtPad, 14);
}

void setTypes(Command &command, Random &random, Prec prec, Prec result) {
  const bool isInt = prec == Prec::I8;
  command.set(Field::Res0Prec, result).set(Field::Opd0Prec, prec).set(Field::Opd1Prec, prec);
  command.set(Field::Opd2Prec, isInt ? Prec::I16 : Prec::F32);
  if (!isInt)
    return;
  for (const Field field : {Field::Opd0Sign, Field::Opd1Sign, Field::Opd2Sign})
    command.set(field, random.chance(2));
  command.set(Field::RightShift, u(random.range(0, 12)));
}

void addFills(Case &one, Random &random, Prec prec) {
  const bool isInt = prec == Prec::I8;
  const auto spread = static_cast<uint32_t>(random.range(0, 10));
  const Kind kind = isInt ? Kind::Bits : random.chance(6) ? Kind::Special : Kind::Float;
  one.fills = {fill(random, Role::Opd0, kind, spread), fill(random, Role::Opd1, kind, spread),
               fill(random, Role::Opd2, isInt ? Kind::Bits : Kind::Float, spread),
               fill(random, Role::Res0, isInt ? Kind::Bits : Kind::Float)};
}

Case convCase(Random &random, Prec prec, Prec result) {
  Case one{make(tiu::kConv, 0), {}};
  Command &command = one.command;
  setWindow(command, random, {});
  setTypes(command, random, prec, result);
  command.set(Field::Res0N, u(random.range(1, 6))).set(Field::Res0C, u(random.range(1, 130)));
  const int64_t channels = random.range(1, random.chance(3) ? 80 : 12);
  command.set(Field::Opd0C, u(channels)).set(Field::OpdNum, u(random.range(2, 3)));
  command.set(Field::Relu, random.chance(2)).set(Field::KernelRotate, random.chance(4));
  command.set(Field::ResAdd, prec == Prec::F32 && random.chance(3));
  const int64_t groups = ceilDiv(channels, prec == Prec::F32 ? 2 : 4);
  const auto taps = [&](Field field) { return static_cast<int64_t>(command.get(field)); };
  const int64_t row = groups + (random.chance(4) ? random.range(0, 2) : 0);
  // Groups of channels follow each other, or the positions of the kernel do.
  const int64_t positions = taps(Field::Opd1W) * taps(Field::Opd1H);
  const bool isGroupFirst = random.chance(4);
  command.set(Field::Opd1Str, 3).set(Field::Opd1NStr, isGroupFirst ? u(positions + 1) : 1);
  command.set(Field::Opd1WStr, isGroupFirst ? 1 : u(row));
  command.set(Field::Opd1HStr, isGroupFirst ? u(taps(Field::Opd1W)) : u(row * taps(Field::Opd1W)));
  command.set(Field::Opd1CStr, u(isGroupFirst ? groups * (positions + 1) : row * positions));
  command.set(Field::Opd2Str, prec == Prec::F32 ? 2 : 1);
  if (random.chance(4)) {
    // Rows apart.
    const int64_t width = taps(Field::Opd0W) + random.range(0, 3);
    const int64_t plane = taps(Field::Opd0H) * width + random.range(0, 5);
    command.set(Field::Opd0Str, 3).set(Field::Opd0WStr, 1).set(Field::Opd0HStr, u(width));
    command.set(Field::Opd0CStr, u(plane)).set(Field::Opd0NStr, u(plane * 3));
  }
  addFills(one, random, prec);
  return placed(std::move(one), random);
}

Case winogradCase(Random &random) {
  Case one{make(tiu::kConv, 0), {}};
  Command &command = one.command;
  setTypes(command, random, Prec::I8, Prec::I8);
  command.set(Field::Winograd, 1).set(Field::Opd1H, 4).set(Field::Opd1W, 4);
  for (const auto &[image, result, low, high] :
       {std::tuple{Field::Opd0H, Field::Res0H, Field::Opd0UpPad, Field::Opd0DnPad},
        {Field::Opd0W, Field::Res0W, Field::Opd0LfPad, Field::Opd0RtPad}}) {
    const int64_t size = random.range(3, 12), before = random.range(0, 2),
                  after = random.range(0, 2);
    command.set(image, u(size)).set(low, u(before)).set(high, u(after));
    command.set(result, u(size + before + after - 2));
  }
  command.set(Field::Res0N, 4 * u(random.range(1, 2)));
  command.set(Field::Res0C, u(random.range(1, 130))).set(Field::Opd0C, u(random.range(1, 70)));
  command.set(Field::OpdNum, u(random.range(2, 3))).set(Field::Relu, random.chance(2));
  command.set(Field::Opd1Str, 1);
  addFills(one, random, Prec::I8);
  return placed(std::move(one), random);
}

enum class PoolKind : uint8_t { Depthwise, Average, Max };

Case poolCase(Random &random, PoolKind which, Prec prec, Prec result) {
  const bool isMax = which == PoolKind::Max;
  Case one{make(tiu::kPorD, isMax ? sub::kMaxPool : sub::kDepthwise), {}};
  Command &command = one.command;
  const bool isInt = prec == Prec::I8;
  // The vendor's own maximum of floats reads other elements where zeros are inserted.
  WindowOptions options{.dilates = !isMax, .inserts = !isMax || isInt};
  if (which == PoolKind::Average && random.chance(3))
    options.maxKernel = 24;
  setWindow(command, random, options);
  setTypes(command, random, prec, result);
  command.set(Field::Res0N, u(random.range(1, 6))).set(Field::Res0C, u(random.range(1, 130)));
  command.set(Field::OpdNum, isMax ? 1 : u(random.range(2, 3))).set(Field::Relu, random.chance(2));
  if (isMax)
    command.set(Field::RightShift, 0);
  if (which == PoolKind::Average) {
    command.set(Field::Opd1Const, 1);
    constexpr uint32_t kFactors[] = {0x3f800000, 0x3e800000, 0xbf400000, 0x3de38e39};
    command.set(Field::Opd1Addr, isInt ? u(random.range(0, 255)) : random.pick(kFactors));
  }
  const uint64_t factor = command.get(Field::Opd1Addr);
  addFills(one, random, prec);
  one = placed(std::move(one), random);
  if (which == PoolKind::Average)
    one.command.set(Field::Opd1Addr, factor);
  return one;
}

} // namespace

void addWindowRecipes(std::vector<Recipe> &recipes) {
  for (const auto &[prec, result] :
       {std::pair{Prec::F32, Prec::F32}, {Prec::I8, Prec::I8}, {Prec::I8, Prec::I16}}) {
    const std::string types = fmt::format(" {} {}", precName(prec), precName(result));
    recipes.push_back({"conv" + types, [=, prec = prec, result = result](Random &random) {
                         return convCase(random, prec, result);
                       }});
    recipes.push_back({"depthwise" + types, [=, prec = prec, result = result](Random &random) {
                         return poolCase(random, PoolKind::Depthwise, prec, result);
                       }});
    if (result == Prec::I16)
      continue;
    recipes.push_back({"average" + types, [=, prec = prec](Random &random) {
                         return poolCase(random, PoolKind::Average, prec, prec);
                       }});
    recipes.push_back({"max" + types, [=, prec = prec](Random &random) {
                         return poolCase(random, PoolKind::Max, prec, prec);
                       }});
  }
  recipes.push_back({"winograd", winogradCase});
}

} // namespace tpuc::bm1684::conformance::detail
