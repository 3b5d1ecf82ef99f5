//===- TimingTiu.cpp - Cycles of computing commands -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Operands.h"
#include "tpuc/Target/BM1684X/Machine/TimingCost.h"

#include <algorithm>

namespace tpuc::bm1684x::detail {

namespace {

/// Which operand addresses an arithmetic command compares with the address of its result: writing
/// in place takes twice as long.
unsigned numComparedOperands(unsigned sub) {
  switch (sub) {
  case 1:  // not
  case 6:  // logic shift
  case 14: // cast
  case 21: // arithmetic shift
  case 22: // rotating shift
  case 26: // abs
    return 1;
  case 12: // div
  case 17: // clamp
  case 18: // mac
  case 19: // copy
  case 24: // segments by EU
  case 25: // segments by lane
  case 28: // copy with broadcast
  case 29: // first one
  case 30: // first zero
    return 0;
  default:
    return 2;
  }
}

/// Reads a command and evaluates the formulas.
struct TiuCost {
  const Command &command;
  const TimingInfo &timing;
  bool isKnown = true;

  int64_t get(Field field) const { return static_cast<int64_t>(command.get(field)); }
  /// Extents that a short form leaves out are 1.
  int64_t extent(Field field) const { return command.has(field) ? get(field) : 1; }
  int64_t n() const { return extent(Field::Res0N); }
  int64_t c() const { return extent(Field::Res0C); }
  int64_t h() const { return extent(Field::Res0H); }
  int64_t w() const { return extent(Field::Res0W); }

  /// Elements of a type that a lane computes per cycle.
  int64_t elements(Field prec) {
    unsigned bytes = precBytes(command.as<Prec>(prec));
    isKnown &= bytes != 0;
    return kEuBytes / std::max(bytes, 1u);
  }
  /// Rounds of 64 lanes that `channels` take from the lane of the result's address.
  int64_t slices(int64_t channels) const {
    return ceilDiv(get(Field::Res0Addr) / kLaneBytes + channels, kLanes);
  }
  /// The time of one pass over the result.
  int64_t pass(int64_t perCycle) const {
    return product({n(), slices(c()), ceilDiv(h() * w(), perCycle)});
  }
  /// Twice when the first operand and the result begin in the same bank of the same lane.
  int64_t bankFactor() const {
    return get(Field::Opd0Addr) / kBankBytes == get(Field::Res0Addr) / kBankBytes
               ? timing.inPlaceFactor
               : 1;
  }

  const ConvThroughput &throughput(Field prec) {
    unsigned bytes = precBytes(command.as<Prec>(prec));
    isKnown &= bytes != 0;
    return bytes <= 1 ? timing.conv8 : bytes == 2 ? timing.conv16 : timing.conv32;
  }
  void countMacs(CommandCost &cost, int64_t macs, Field prec) {
    const ConvThroughput &peak = throughput(prec);
    cost.macs = macs;
    cost.macCycles = static_cast<double>(macs) / (double{kLanes} * peak.pixels * peak.channels);
  }

  CommandCost conv();
  CommandCost poolDepthwise();
  CommandCost matMul();
  CommandCost matMul2();
  int64_t strideFactor(Field heightStride, Field widthStride, int64_t perCycle) const;
  CommandCost arith();
  CommandCost transpose();
  CommandCost scatterGather();
  CommandCost sfu();
};

CommandCost TiuCost::conv() {
  const ConvThroughput &rate = throughput(Field::Opd0Prec);
  int64_t kernel = get(Field::Opd1H) * get(Field::Opd1W);
  int64_t inputs = get(Field::Opd0C);
  CommandCost cost{.kind = "CONV"};
  cost.cycles = product({n(), ceilDiv(c(), kLanes), ceilDiv(h() * w(), rate.pixels),
                         ceilDiv(inputs, rate.channels), kernel});
  countMacs(cost, product({n(), c(), h(), w(), inputs, kernel}), Field::Opd0Prec);
  return cost;
}

CommandCost TiuCost::poolDepthwise() {
  int64_t perCycle = std::min(elements(Field::Opd0Prec), elements(Field::Res0Prec));
  int64_t kernelH = get(Field::Opd1H);
  int64_t kernelW = get(Field::Opd1W);
  int64_t pixels = kernelH == 1 ? h() * ceilDiv(w(), perCycle) : ceilDiv(h() * w(), perCycle);
  bool isStrided = get(Field::ResOpYStr) > 1 && get(Field::ResOpXStr) > 1;
  CommandCost cost{.kind = "PorD"};
  cost.cycles = product(
      {n(), slices(c()), pixels, kernelH, kernelW, isStrided ? timing.stridedPoolFactor : 1});
  unsigned sub = command.operation().sub;
  if (sub == 0 || sub == 2 || sub == 5)
    countMacs(cost, product({n(), c(), h(), w(), kernelH, kernelW}), Field::Opd0Prec);
  return cost;
}

CommandCost TiuCost::matMul() {
  int64_t columns =
      (std::max<int64_t>(get(Field::Opd0C), 1) - 1) * get(Field::Opd0W) + get(Field::Opd1W);
  int64_t rows = get(Field::Opd0N);
  int64_t inner = columns;
  if (get(Field::LeftTran) != 0)
    std::swap(rows, inner);
  bool hasBias = command.as<Prec>(Field::Opd0Prec) == Prec::F32 && get(Field::Opd2Const) == 0;
  int64_t extra = (hasBias ? 1 : 0) + (get(Field::ResAdd) != 0 ? 1 : 0);
  CommandCost cost{.kind = "MM"};
  cost.cycles =
      product({rows, slices(c()), ceilDiv(w(), elements(Field::Opd0Prec)), inner + extra});
  countMacs(cost, product({rows, c(), w(), inner}), Field::Opd0Prec);
  return cost;
}

CommandCost TiuCost::matMul2() {
  // Wider types than 16 bits do not exist here; the vendor's formula takes them for 16 bits.
  const ConvThroughput &rate =
      precBytes(command.as<Prec>(Field::Opd0Prec)) == 1 ? timing.conv8 : timing.conv16;
  isKnown &= precBytes(command.as<Prec>(Field::Opd0Prec)) != 0;
  int64_t inner = get(command.operation().sub == 4 ? Field::Opd1C : Field::Opd1W);
  CommandCost cost{.kind = "MM2"};
  cost.cycles =
      product({ceilDiv(c(), kLanes), ceilDiv(w(), rate.pixels), ceilDiv(inner, rate.channels)});
  countMacs(cost, product({c(), w(), inner}), Field::Opd0Prec);
  return cost;
}

/// How many times longer an operand with these strides takes than one whose elements are packed.
int64_t TiuCost::strideFactor(Field heightStride, Field widthStride, int64_t perCycle) const {
  int64_t strideH = get(heightStride);
  int64_t strideW = get(widthStride);
  if (strideW > 1)
    return std::min(strideW, perCycle);
  if (strideH == 0)
    return 1;
  int64_t lines = strideH - w() < perCycle && strideH % perCycle != 0
                      ? ceilDiv(h() * strideH, perCycle)
                      : h() * ceilDiv(strideH % perCycle + w(), perCycle);
  int64_t packed = ceilDiv(h() * w(), perCycle);
  return packed == 0 ? 1 : lines / packed;
}

CommandCost TiuCost::arith() {
  unsigned sub = command.operation().sub;
  bool hasTwo = get(Field::OpdNum) > 1;
  int64_t perCycle = elements(Field::Res0Prec);
  if (command.has(Field::Opd0Prec))
    perCycle = std::min(perCycle, elements(Field::Opd0Prec));
  if (hasTwo)
    perCycle = std::min(perCycle, elements(Field::Opd1Prec));
  auto factor = [&](Field layout, Field heightStride, Field widthStride) {
    return get(layout) == 0 ? 1 : strideFactor(heightStride, widthStride, perCycle);
  };
  int64_t result = factor(Field::Res0Str, Field::Res0HStr, Field::Res0WStr);
  int64_t first = factor(Field::Opd0Str, Field::Opd0HStr, Field::Opd0WStr);
  int64_t second = hasTwo ? factor(Field::Opd1Str, Field::Opd1HStr, Field::Opd1WStr) : 1;
  bool bothStrided = get(Field::Opd0Str) != 0 && hasTwo && get(Field::Opd1Str) != 0;
  int64_t stride = std::max(result, bothStrided ? first + second : std::max(first, second));
  CommandCost cost{.kind = "AR"};
  if (sub == 12) {
    // A division iterates; the field holds the number of iterations - 1.
    int64_t iterations = get(Field::Round) + 1;
    cost.cycles = product({pass(perCycle), std::max(8 * iterations + 7, stride)});
    return cost;
  }
  auto isInPlace = [&](Field constant, Field address) {
    return get(constant) == 0 && get(address) == get(Field::Res0Addr);
  };
  unsigned numCompared = numComparedOperands(sub);
  bool inPlace = (numCompared > 0 && isInPlace(Field::Opd0Const, Field::Opd0Addr)) ||
                 (numCompared > 1 && isInPlace(Field::Opd1Const, Field::Opd1Addr));
  cost.cycles =
      product({pass(perCycle), std::max<int64_t>(1, stride), inPlace ? timing.inPlaceFactor : 1});
  return cost;
}

CommandCost TiuCost::transpose() {
  int64_t perCycle = elements(Field::Res0Prec);
  int64_t line = ceilDiv(h() * w(), perCycle);
  switch (command.operation().sub) {
  case 0:
    return {.kind = "TRANS", .cycles = product({n(), h(), ceilDiv(get(Field::Opd0W), perCycle)})};
  case 1:
    return {.kind = "TRANS", .cycles = product({n(), h(), ceilDiv(get(Field::Opd0C), perCycle)})};
  case 2: // One channel after the other.
    return {.kind = "LANE_COPY", .cycles = product({n(), c(), slices(c()), line, bankFactor()})};
  case 3:
    return {.kind = "LANE_BC", .cycles = product({n(), slices(c()), line, bankFactor()})};
  case 4:
    return {.kind = "STATIC_BC", .cycles = ceilDiv(w(), perCycle)};
  default:
    return {.kind = "DISTRIBUTE_BC", .cycles = ceilDiv(c(), perCycle)};
  }
}

CommandCost TiuCost::scatterGather() {
  unsigned sub = command.operation().sub;
  if (sub >= 17) {
    int64_t indices = ceilDiv(h(), elements(Field::Res0Prec));
    return {.kind = "SGL", .cycles = product({2, n(), slices(c()), indices, w()})};
  }
  bool countsChannels = sub == 0 || sub == 1 || sub == 3 || sub == 4;
  int64_t indices = countsChannels ? get(Field::Opd1C) : std::max<int64_t>(get(Field::Opd1W), 1);
  int64_t steps = product({n(), slices(c()), indices});
  CommandCost cost{.kind = "SG", .cycles = steps};
  switch (sub) {
  case 2:
    cost.cycles = 1;
    break;
  case 7:
    cost.cycles = std::max<int64_t>(1, steps / 4);
    break;
  case 13:
  case 14:
  case 16:
    cost.cycles = product({steps, 3}) / 2;
    break;
  case 15:
    cost.cycles = product({steps, 3});
    break;
  default:
    break;
  }
  return cost;
}

CommandCost TiuCost::sfu() {
  unsigned sub = command.operation().sub;
  int64_t perCycle = elements(sub == 15 ? Field::Opd0Prec : Field::Res0Prec);
  int64_t passes = sub == 15 ? 1 : sub == 17 ? 30 : get(Field::Opd1N);
  return {.kind = "SFU", .cycles = product({pass(perCycle), passes})};
}

CommandCost costOf(TiuCost &cost) {
  switch (cost.command.operation().opcode) {
  case tiu::kConv:
    return cost.conv();
  case tiu::kPorD:
    return cost.poolDepthwise();
  case tiu::kMatMul:
    return cost.command.operation().sub < 4 ? cost.matMul() : cost.matMul2();
  case tiu::kArith:
    return cost.arith();
  case tiu::kRequant:
    return {.kind = "RQDQ",
            .cycles = product({cost.pass(cost.timing.requantElementsPerCycle), cost.bankFactor()})};
  case tiu::kTranspose:
    return cost.transpose();
  case tiu::kScatterGather:
    return cost.scatterGather();
  case tiu::kSfu:
    return cost.sfu();
  case tiu::kLinear:
    return {.kind = "FUSED_LINEAR", .cycles = cost.pass(cost.elements(Field::Res0Prec))};
  case tiu::kCompare:
    return {.kind = "FUSED_CMP", .cycles = product({2, cost.pass(cost.elements(Field::Opd0Prec))})};
  case tiu::kVector:
    return {.kind = "VC",
            .cycles =
                cost.pass(std::min({cost.elements(Field::Opd0Prec), cost.elements(Field::Opd1Prec),
                                    cost.elements(Field::Res0Prec)}))};
  default:
    cost.isKnown = false;
    return {};
  }
}

} // namespace

std::optional<CommandCost> tiuCost(const Command &command, const TimingInfo &timing) {
  if (command.operation().opcode == tiu::kSys)
    return CommandCost{.kind = "SYS"};
  TiuCost formulas{command, timing};
  CommandCost cost = costOf(formulas);
  if (!formulas.isKnown)
    return std::nullopt;
  cost.cycles += timing.computeStartCycles;
  return cost;
}

} // namespace tpuc::bm1684x::detail
