//===- TimingTiu.cpp - Cycles of computing commands -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Operands.h"
#include "tpuc/Target/BM1684/Machine/Timing.h"

#include <algorithm>
#include <cmath>

namespace tpuc::bm1684::detail {

namespace {

using bm168x::product;

/// Cycles of an int8 convolution per tap and group of four input channels: by groups (1 to 16 and
/// more), then by the smaller stride (1 to 10 and more).
constexpr float kTapCycles[16][10] = {
    {6.82F, 7.89F, 9.56F, 9.94F, 11.27F, 12.04F, 7.31F, 13.78F, 14.18F, 15.62F},
    {3.91F, 4.43F, 5.26F, 5.43F, 6.07F, 6.51F, 5.11F, 7.36F, 7.56F, 8.3F},
    {1.55F, 3.29F, 3.84F, 3.95F, 4.38F, 4.67F, 3.98F, 5.24F, 5.37F, 5.84F},
    {1.3F, 1.35F, 3.12F, 3.21F, 3.53F, 3.75F, 3.4F, 4.18F, 4.28F, 4.63F},
    {1.15F, 1.2F, 1.34F, 2.77F, 3.02F, 3.2F, 3.04F, 3.54F, 3.62F, 3.9F},
    {1.05F, 1.09F, 1.21F, 1.24F, 1.23F, 2.83F, 2.74F, 3.11F, 3.18F, 3.42F},
    {1.0F, 1.03F, 1.12F, 1.14F, 1.15F, 1.28F, 2.5F, 2.81F, 2.87F, 3.07F},
    {1.0F, 1.0F, 1.05F, 1.07F, 1.09F, 1.19F, 1.22F, 2.59F, 2.64F, 2.81F},
    {1.0F, 1.0F, 1.01F, 1.02F, 1.04F, 1.13F, 1.16F, 1.22F, 2.42F, 2.61F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.01F, 1.07F, 1.1F, 1.15F, 1.19F, 2.45F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.03F, 1.05F, 1.1F, 1.13F, 2.24F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.02F, 1.05F, 1.09F, 1.14F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.02F, 1.05F, 1.09F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.01F, 1.06F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.02F},
    {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F}};

/// Products that the array does per cycle.
constexpr double kPeakFloat = 2048, kPeakInt = 16384;

/// The whole part of an estimate in single precision, within what 64 bits hold.
int64_t wholeOf(float cycles) {
  constexpr float kMost = 1e18F;
  return cycles < kMost ? static_cast<int64_t>(cycles) : bm168x::kMostProduct;
}

/// Reads a command and evaluates the formulas.
struct TiuCost {
  const Command &command;

  int64_t get(Field field) const { return static_cast<int64_t>(command.get(field)); }
  bool isFloatInput() const { return isFloat(command); }
  int64_t n() const { return get(Field::Res0N); }
  int64_t c() const { return get(Field::Res0C); }
  int64_t h() const { return get(Field::Res0H); }
  int64_t w() const { return get(Field::Res0W); }
  bool hasBias() const { return get(Field::OpdNum) == 3; }
  int64_t taps() const { return product({get(Field::Opd1H), get(Field::Opd1W)}); }

  /// Rounds of 64 lanes that the channels take from the lane of the result.
  int64_t slices(Field address) const {
    const uint64_t at = command.get(address);
    const auto lane = static_cast<int64_t>((at - kLocalBase) / kLaneBytes % (uint64_t{1} << 13));
    return ceilDiv(lane + c(), kLanes);
  }
  /// Steps of a pass over the result, of `elements` pixels each.
  int64_t pass(int64_t batches, int64_t elements = 16, Field address = Field::Res0Addr) const {
    return product({batches, slices(address), ceilDiv(h() * w(), elements)});
  }
  void countMacs(CommandCost &cost, int64_t macs) const {
    cost.macs = macs;
    cost.macCycles = static_cast<double>(macs) / (isFloatInput() ? kPeakFloat : kPeakInt);
  }

  std::string_view kindOf(std::string_view ofFloats, std::string_view ofInts) const {
    return isFloatInput() ? ofFloats : ofInts;
  }

  int64_t floatConv() const;
  int64_t intConv() const;
  int64_t winograd() const;
  CommandCost conv() const;
  CommandCost poolOrDepthwise() const;
  CommandCost matMul() const;
  CommandCost arith() const;
  int64_t narrowFactor(bool toBytes, bool fromBytes) const;
  std::optional<CommandCost> sfu() const;
};

int64_t TiuCost::floatConv() const {
  const int64_t inputs = get(Field::Opd0C), stride = get(Field::ResOpXStr);
  const int64_t lanes = std::max<int64_t>(std::min<int64_t>(inputs, kLanes), 1);
  const float factor =
      stride >= lanes ? static_cast<float>(stride + 1) / static_cast<float>(lanes) : 1.0F;
  const float steps = static_cast<float>(product({ceilDiv(inputs, 2), taps()})) * factor;
  const double perPixel = double{steps} * (inputs == 3 ? 2.5 : 1.0) + (hasBias() ? 2.0 : 0.0) + 3.0;
  return wholeOf(static_cast<float>(perPixel * static_cast<double>(pass(n()))));
}

int64_t TiuCost::intConv() const {
  const int64_t groups = std::max<int64_t>(ceilDiv(get(Field::Opd0C), 4), 1);
  const int64_t stride =
      std::clamp<int64_t>(std::min(get(Field::ResOpYStr), get(Field::ResOpXStr)), 1, 10);
  const float tap = kTapCycles[std::min<int64_t>(groups, 16) - 1][stride - 1];
  const float perPixel =
      static_cast<float>(product({groups, taps()})) * tap + (hasBias() ? 2.0F : 0.0F) + 8.0F;
  return wholeOf(perPixel * static_cast<float>(pass(ceilDiv(n(), 4))));
}

int64_t TiuCost::winograd() const {
  const int64_t inputs = get(Field::Opd0C);
  const int64_t blocks = product({ceilDiv(h(), 2), ceilDiv(w(), 2)});
  const int64_t rounds = slices(Field::Res0Addr);
  if (isFloatInput())
    return product({n(), rounds, blocks, inputs + (hasBias() ? 13 : 6)}) / 2;
  return product({ceilDiv(n(), 4), rounds, blocks,
                  ceilDiv(inputs, 4) + (inputs == 3 ? 4 : 0) + 11 - (hasBias() ? 1 : 0)});
}

CommandCost TiuCost::conv() const {
  const bool isWinograd = get(Field::Winograd) != 0;
  CommandCost cost{.kind = isWinograd ? kindOf("WINOGRAD_FP32", "WINOGRAD_FIX8B")
                                      : kindOf("CONV_FP32", "CONV_FIX8B")};
  cost.cycles = isWinograd ? winograd() : isFloatInput() ? floatConv() : intConv();
  countMacs(cost, product({n(), c(), h(), w(), get(Field::Opd0C), isWinograd ? 9 : taps()}));
  return cost;
}

CommandCost TiuCost::poolOrDepthwise() const {
  const bool isMax = command.operation().sub == sub::kMaxPool;
  const bool isPool = isMax || get(Field::Opd1Const) != 0;
  const int64_t perTap = get(Field::ResOpXStr) + 1;
  CommandCost cost{.kind = isPool ? kindOf("POOLING_FP32", "POOLING_FIX8B")
                                  : kindOf("DEPTHWISE_FP32", "DEPTHWISE_FIX8B")};
  if (isFloatInput())
    cost.cycles =
        product({pass(n()), product({taps(), perTap}) - get(Field::Opd1H) + (isMax ? 0 : 5)});
  else
    cost.cycles = product({pass(n(), 64), product({taps(), perTap}) + (isMax ? -1 : 1)});
  if (!isMax)
    countMacs(cost, product({n(), c(), h(), w(), taps()}));
  return cost;
}

CommandCost TiuCost::matMul() const {
  CommandCost cost{.kind = kindOf("FC_FP32", "FC_FIX8B")};
  int64_t depth = leftColumns(command);
  if (get(Field::LeftTran) != 0) {
    const int64_t width = std::max<int64_t>(get(Field::Opd0W), 1);
    const int64_t rest = get(Field::Opd0N) % width;
    depth = (get(Field::Opd0C) - 1) * width + (rest == 0 ? width : rest);
  }
  const int64_t extra = (hasBias() ? 2 : 0) + (get(Field::ResAdd) != 0 ? 2 : 0);
  const bool isWide = isFloatInput();
  cost.cycles = product({get(Field::Opd0N), slices(Field::Res0Addr), ceilDiv(w(), isWide ? 16 : 64),
                         depth + (isWide ? 6 : 5) + extra});
  countMacs(cost, product({get(Field::Opd0N), depth, c(), w()}));
  return cost;
}

/// Of arithmetic on 8 or 16 bits.
int64_t TiuCost::narrowFactor(bool toBytes, bool fromBytes) const {
  const bool isWide = !toBytes && !fromBytes;
  switch (command.operation().sub) {
  case sub::kMul:
    return toBytes ? 3 : 2;
  case sub::kMac:
    return 4;
  case sub::kAdd:
    return toBytes && !fromBytes ? 4 : isWide ? 3 : 2;
  case sub::kSub:
    return toBytes && !fromBytes ? 3 : isWide ? 3 : 2;
  case sub::kMax:
    return isWide ? 3 : 1;
  case sub::kShift:
    return 3;
  default:
    return isWide ? 2 : 1;
  }
}

CommandCost TiuCost::arith() const {
  const unsigned which = command.operation().sub;
  const Prec to = command.as<Prec>(Field::Res0Prec), from = command.as<Prec>(Field::Opd0Prec);
  const auto isWord = [](Prec prec) { return prec == Prec::F32 || prec == Prec::I32; };
  if ((isWord(to) && isWord(from)) || which == sub::kCopy)
    return {.kind = "TENSOR_ARITH",
            .cycles = product({pass(n()), which == sub::kMac    ? 5
                                          : which == sub::kDiv  ? 30
                                          : which == sub::kCopy ? 1
                                                                : 2})};
  return {.kind = "TENSARITH_FIX8B",
          .cycles =
              product({pass(ceilDiv(n(), 4)), narrowFactor(to == Prec::I8, from == Prec::I8)})};
}

std::optional<CommandCost> TiuCost::sfu() const {
  const unsigned which = command.operation().sub;
  const int64_t factor = which == sub::kTaylor  ? 4 * get(Field::Opd1N) + 2
                         : which == sub::kRsqrt ? 27
                                                : 1;
  return CommandCost{.kind = "MD_SFU", .cycles = product({pass(n()), factor})};
}

} // namespace

std::optional<CommandCost> tiuCost(const Command &command) {
  const TiuCost cost{command};
  switch (command.operation().opcode) {
  case tiu::kConv:
    return cost.conv();
  case tiu::kPorD:
    return cost.poolOrDepthwise();
  case tiu::kMatMul:
    return cost.matMul();
  case tiu::kArith:
    return cost.arith();
  case tiu::kLut:
    return CommandCost{.kind = "TABLE_LOOKUP", .cycles = product({cost.pass(cost.n()), 24})};
  case tiu::kScalar:
    return CommandCost{
        .kind = "MD_SCALAR",
        .cycles = product({cost.pass(cost.n()), command.operation().sub == sub::kDiv ? 30 : 1})};
  case tiu::kSfu:
    return cost.sfu();
  case tiu::kLinear:
    return CommandCost{.kind = "MD_LINEAR", .cycles = product({cost.pass(cost.n()), 4})};
  case tiu::kCompare:
    // Operations that choose write a second result.
    return CommandCost{.kind = "MD_CMP",
                       .cycles = product({cost.pass(cost.n(), 16, Field::Res1Addr),
                                          (command.operation().sub & 2) != 0 ? 2 : 1})};
  default:
    return std::nullopt;
  }
}

} // namespace tpuc::bm1684::detail
