//===- GenerateGdma.cpp - Random commands of the GDMA ---------------------===//
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

Command make(unsigned opcode, unsigned sub, Prec prec) {
  Command command = Command::make(*findCommandOp(Engine::Gdma, opcode, sub));
  command.set(Field::CmdId, 1).set(Field::SrcPrec, prec);
  return command;
}

void setSizes(Command &command, bool isSource, const Extents &shape) {
  constexpr Field kSrc[] = {Field::SrcNsize, Field::SrcCsize, Field::SrcHsize, Field::SrcWsize};
  constexpr Field kDst[] = {Field::DstNsize, Field::DstCsize, Field::DstHsize, Field::DstWsize};
  for (size_t i = 0; i < 4; ++i)
    command.set(isSource ? kSrc[i] : kDst[i], u(shape[i]));
}

void setStrides(Command &command, bool isSource, const Extents &stride) {
  constexpr Field kSrc[] = {Field::SrcNstride, Field::SrcCstride, Field::SrcHstride,
                            Field::SrcWstride};
  constexpr Field kDst[] = {Field::DstNstride, Field::DstCstride, Field::DstHstride,
                            Field::DstWstride};
  for (size_t i = 0; i < 4; ++i)
    command.set(isSource ? kSrc[i] : kDst[i], u(stride[i]));
}

/// Where a side lies: sources in the first half of a memory, results in the second.
uint64_t place(Random &random, bool isLocal, bool isSource, unsigned bytes, int64_t lane) {
  uint64_t shift = bytes * u(random.range(0, 100));
  if (!isLocal)
    return kGlobalBase + (isSource ? 0x1000 : 0x200000) + shift;
  return kLocalBase + u(lane) * kLaneBytes + (isSource ? 0 : kLaneBytes / 2) + shift;
}

void setAddress(Command &command, bool isSource, uint64_t address) {
  command.set(isSource ? Field::SrcAddrL32 : Field::DstAddrL32, address & 0xffffffff);
  command.set(isSource ? Field::SrcAddrH8 : Field::DstAddrH8, address >> 32);
}

/// Strides of a tensor without overlap, with gaps.
Extents spacedStrides(Random &random, bool isLocal, const Extents &shape, int64_t lane,
                      bool mayStep) {
  int64_t w = mayStep && random.chance(4) ? random.range(2, 3) : 1;
  int64_t h = shape[3] * w + random.range(0, 3);
  int64_t c = shape[2] * h + random.range(0, 7);
  int64_t slots = isLocal ? ceilDiv(lane + shape[1], kLanes) : shape[1];
  return {slots * c + random.range(0, 9), c, h, w};
}

struct Sides {
  bool from, to;
};
constexpr Sides kSides[] = {{false, true}, {true, false}, {true, true}, {false, false}};

Extents resultShapeOf(unsigned opcode, unsigned sub, const Extents &shape) {
  if (opcode == gdma::kCwTranspose || sub == 2 || sub == 4)
    return {shape[0], shape[3], shape[2], shape[1]};
  if (sub == 1)
    return {shape[1], shape[0], shape[2], shape[3]};
  return shape;
}

Case tensorCase(Random &random, unsigned opcode, unsigned sub, Prec prec, Sides sides) {
  Case one{make(opcode, sub, prec), {}};
  Command &command = one.command;
  Extents shape = {random.range(1, 3), random.range(1, 80), random.range(1, 5),
                   random.range(1, 40)};
  bool isCopy = opcode == gdma::kTensor && sub == 0;
  bool isBroadcast = opcode == gdma::kTensor && sub == 3;
  int64_t fromLane = sides.from && random.chance(2) ? random.range(0, 63) : 0;
  int64_t toLane = sides.to && random.chance(2) ? random.range(0, 63) : 0;
  if (isBroadcast) {
    shape[1] = 1;
    toLane = random.range(0, 20);
  }
  Extents target = resultShapeOf(opcode, sub, shape);
  if (isBroadcast)
    target[1] = random.range(1, kLanes - toLane);
  bool isReshape = isCopy && random.chance(5);
  if (isReshape)
    std::swap(target[2], target[random.chance(2) ? 3 : 1]);
  bool isFill = isCopy && random.chance(5);
  command.set(Field::NchwCopy, !isBroadcast && !isReshape);
  setSizes(command, true, shape);
  setSizes(command, false, target);
  command.set(Field::StrideEnable, !random.chance(4));
  setStrides(command, true, spacedStrides(random, sides.from, shape, fromLane, isCopy));
  setStrides(command, false, spacedStrides(random, sides.to, target, toLane, isCopy));
  // A source that is broadcast along a dimension.
  if (isCopy && !isReshape && random.chance(6))
    command.set(random.chance(2) ? Field::SrcHstride : Field::SrcNstride, 0);
  setAddress(command, true, place(random, sides.from, true, precBytes(prec), fromLane));
  setAddress(command, false, place(random, sides.to, false, precBytes(prec), toLane));
  if (isFill) {
    command.set(Field::FillConstantEn, 1).set(Field::ConstantValue, random.next() >> 32);
    // A copy of a constant has no source.
    if (isCopy && command.get(Field::NchwCopy) == 0 && random.chance(2)) {
      setSizes(command, true, {0, 0, 0, 0});
      setAddress(command, true, random.next() & 0xffffffffff);
    }
  }
  if (isCopy && sides.to && random.chance(4))
    command.set(Field::LanesL32, random.next() >> 32).set(Field::LanesH32, random.next() >> 32);
  one.fills = {fill(random, Role::Opd0, Kind::Bits), fill(random, Role::Res0, Kind::Bits)};
  return one;
}

Case generalCase(Random &random, unsigned sub, Prec prec, Sides sides) {
  Case one{make(gdma::kGeneral, sub, prec), {}};
  Command &command = one.command;
  command.set(Field::SrcCstride, u(random.range(1, 3000)));
  int64_t toLane = random.range(0, 20);
  if (sub == 1)
    command.set(Field::DstCsize, u(random.range(1, kLanes - toLane)));
  setAddress(command, true, place(random, sides.from, true, precBytes(prec), 3));
  setAddress(command, false, place(random, sides.to, false, precBytes(prec), toLane));
  if (random.chance(4))
    command.set(Field::FillConstantEn, 1).set(Field::ConstantValue, random.next() >> 32);
  one.fills = {fill(random, Role::Opd0, Kind::Bits), fill(random, Role::Res0, Kind::Bits)};
  return one;
}

Case matrixCase(Random &random, unsigned sub, Prec prec, bool toLocal) {
  Case one{make(gdma::kMatrix, sub, prec), {}};
  Command &command = one.command;
  int64_t rows = random.range(1, 20);
  int64_t columns = random.range(1, 200);
  int64_t width = random.range(1, 32);
  int64_t lane = random.chance(2) ? random.range(0, 63) : 0;
  Extents local = {rows, ceilDiv(columns, width), 1, width};
  Extents global = {0, 0, sub == 0 ? rows : columns, sub == 0 ? columns : rows};
  Extents stride = layoutStrides(Layout::Aligned, local, precBytes(prec), u(lane) * kLaneBytes);
  command.set(Field::StrideEnable, 1);
  setSizes(command, toLocal, global);
  setSizes(command, !toLocal, local);
  setStrides(command, toLocal, {0, 0, global[3] + random.range(0, 6), 0});
  setStrides(command, !toLocal, {stride[0], stride[1], 0, 0});
  setAddress(command, true, place(random, !toLocal, true, precBytes(prec), lane));
  setAddress(command, false, place(random, toLocal, false, precBytes(prec), lane));
  one.fills = {fill(random, Role::Opd0, Kind::Bits), fill(random, Role::Res0, Kind::Bits)};
  return one;
}

/// Rows by index, with strides or one after the other; tables, indices and results anywhere.
Case indexedCase(Random &random, bool isGather, Prec prec, Sides sides) {
  Case one{make(isGather ? gdma::kGather : gdma::kScatter, 0, prec), {}};
  Command &command = one.command;
  const int64_t c = random.range(1, 12);
  const int64_t w = random.range(1, 40);
  const int64_t count = random.range(1, 20);
  const int64_t table = random.range(20, 50);
  const int64_t from = isGather ? table : count;
  const int64_t to = isGather ? count : table;
  const int64_t indexC = random.chance(2) ? 1 : c;
  const bool isIndexLocal = random.chance(3);
  const bool hasStrides = random.chance(2);
  command.set(Field::StrideEnable, hasStrides).set(Field::ConstantValue, random.next() >> 32);
  command.set(Field::SrcCsize, u(c)).set(Field::SrcHsize, u(from)).set(Field::SrcWsize, u(w));
  command.set(Field::DstHsize, u(to));
  // The target's channels and columns are not looked at.
  if (random.chance(2))
    command.set(Field::DstCsize, u(c)).set(Field::DstWsize, u(w));
  else if (random.chance(2))
    command.set(Field::DstCsize, u(random.range(0, 99)))
        .set(Field::DstWsize, u(random.range(0, 99)));
  const auto strides = [&](Field cField, Field hField, const Extents &shape, unsigned bytes,
                           bool isLocal, int64_t lane) {
    if (!hasStrides)
      return;
    const int64_t extra = isLocal ? 0 : random.range(0, 3);
    const Extents stride = isLocal
                               ? layoutStrides(Layout::Aligned, shape, bytes, u(lane) * kLaneBytes)
                               : Extents{0, shape[2] * (shape[3] + extra), shape[3] + extra, 1};
    command.set(cField, u(stride[1])).set(hField, u(stride[2]));
  };
  const auto laneOf = [&](bool isLocal) { return isLocal ? random.range(0, 63) : 0; };
  const int64_t fromLane = laneOf(sides.from);
  const int64_t toLane = laneOf(sides.to);
  const int64_t indexLane = laneOf(isIndexLocal);
  strides(Field::SrcCstride, Field::SrcHstride, {1, c, from, w}, precBytes(prec), sides.from,
          fromLane);
  strides(Field::DstCstride, Field::DstHstride, {1, c, to, w}, precBytes(prec), sides.to, toLane);
  strides(Field::IndexCstride, Field::IndexHstride, {1, indexC, count, 1}, 4, isIndexLocal,
          indexLane);
  command.set(Field::IndexCsize, u(indexC)).set(Field::IndexHsize, u(count));
  setAddress(command, true, place(random, sides.from, true, precBytes(prec), fromLane));
  setAddress(command, false, place(random, sides.to, false, precBytes(prec), toLane));
  const uint64_t index = isIndexLocal ? kLocalBase + kLaneBytes * 3 / 4 + u(indexLane) * kLaneBytes
                                      : kGlobalBase + 0x300000;
  command.set(Field::IndexAddrL32, index & 0xffffffff).set(Field::IndexAddrH8, index >> 32);
  one.fills = {fill(random, Role::Opd0, Kind::Bits),
               fill(random, Role::Opd1, isGather ? Kind::Index : Kind::Distinct,
                    static_cast<uint32_t>(isGather && random.chance(3) ? table + 5 : table)),
               fill(random, Role::Res0, Kind::Bits)};
  return one;
}

/// Masked selection and indices of what is not zero, into global memory.
Case compactionCase(Random &random, bool isSelect, Prec prec, Prec other, bool isLocal) {
  Case one{make(isSelect ? gdma::kSelect : gdma::kNonzero, 0, prec), {}};
  Command &command = one.command;
  const Extents shape = {random.range(1, 3), random.range(1, 70), random.range(1, 5),
                         random.range(1, 20)};
  const int64_t lane = isLocal ? random.range(0, 63) : 0;
  setSizes(command, true, shape);
  setSizes(command, false, shape);
  setAddress(command, true, place(random, isLocal, true, precBytes(prec), lane));
  setAddress(command, false, place(random, false, false, 4, 0));
  // Floats have a zero now and then, of either sign among special values.
  const auto chooser = [&](Role role, Prec type) {
    return isFloatPrec(type) ? fill(random, role, Kind::Special)
                             : fill(random, role, Kind::Small, 1);
  };
  if (isSelect) {
    const uint64_t mask =
        isLocal ? kLocalBase + kLaneBytes / 2 + u(lane) * kLaneBytes : kGlobalBase + 0x100000;
    command.set(Field::MaskPrec, other);
    command.set(Field::MaskAddrL32, mask & 0xffffffff).set(Field::MaskAddrH8, mask >> 32);
    one.fills = {fill(random, Role::Opd0, Kind::Bits), chooser(Role::Opd1, other)};
  } else {
    command.set(Field::IndexPrec, other).set(Field::DstNstride, u(random.range(0, 1000)));
    one.fills = {chooser(Role::Opd0, prec)};
  }
  one.fills.push_back(fill(random, Role::Res0, Kind::Bits));
  return one;
}

std::string sidesName(Sides sides) {
  return fmt::format("{}{}", sides.from ? "l" : "g", sides.to ? "l" : "g");
}

} // namespace

void addGdmaRecipes(std::vector<Recipe> &recipes) {
  for (Prec prec : kAllPrecs) {
    for (Sides sides : kSides) {
      auto add = [&](unsigned opcode, unsigned sub) {
        recipes.push_back(
            {fmt::format("{} {} {}", findCommandOp(Engine::Gdma, opcode, sub)->name, precName(prec),
                         sidesName(sides)),
             [=](Random &random) { return tensorCase(random, opcode, sub, prec, sides); }});
      };
      add(gdma::kTensor, 0);
      add(gdma::kTensor, 0);
      add(gdma::kTensor, 1);
      add(gdma::kCwTranspose, 0);
      if (sides.from && !sides.to)
        add(gdma::kTensor, 2);
      if (!sides.from && sides.to)
        add(gdma::kTensor, 4);
      if (sides.to)
        add(gdma::kTensor, 3);
      for (unsigned sub : {0u, 1u})
        if (sub == 0 || sides.to)
          recipes.push_back(
              {fmt::format("dma.general {} {} {}", sub, precName(prec), sidesName(sides)),
               [=](Random &random) { return generalCase(random, sub, prec, sides); }});
    }
    for (bool toLocal : {false, true})
      for (unsigned sub : {0u, 1u})
        recipes.push_back({fmt::format("dma.matrix {} {} {}", sub, precName(prec), toLocal),
                           [=](Random &random) { return matrixCase(random, sub, prec, toLocal); }});
    for (bool isLocal : {false, true}) {
      for (Prec other : kAllPrecs)
        recipes.push_back(
            {fmt::format("dma.select {} {} {}", precName(prec), precName(other), isLocal),
             [=](Random &random) { return compactionCase(random, true, prec, other, isLocal); }});
      for (Prec index : {Prec::I8, Prec::I16, Prec::I32})
        recipes.push_back(
            {fmt::format("dma.nonzero {} {} {}", precName(prec), precName(index), isLocal),
             [=](Random &random) { return compactionCase(random, false, prec, index, isLocal); }});
    }
    for (bool isGather : {false, true})
      for (Sides sides : kSides)
        recipes.push_back(
            {fmt::format("dma.{} {} {}", isGather ? "gather" : "scatter", precName(prec),
                         sidesName(sides)),
             [=](Random &random) { return indexedCase(random, isGather, prec, sides); }});
  }
}

} // namespace tpuc::bm1684x::conformance::detail
