//===- Requant.cpp - Requantization and dequantization (RQ, DQ) -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include "tpuc/Support/Float.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kRqFloat = 0, kRqInt = 1, kDqFloat = 3, kDqInt = 4;

struct RequantPlan {
  View result;
  /// What the values saturate to: results of 32 bits hold requantized values of 16.
  Prec range;
  Source source;
  /// One tensor of 32-bit words per channel, or the two words of the command.
  std::optional<View> parameters;
  uint32_t first, second;
  bool resultSigned;
  unsigned round;
};

/// The parameters of a channel, wherever they came from.
struct Parameters {
  int32_t multiplier;
  int shift;
  int32_t zeroPoint;
  float scale;
  float offset;
};

int32_t zeroPointOf(uint32_t word, bool isSigned) {
  return isSigned ? static_cast<int16_t>(word) : static_cast<uint16_t>(word);
}

Parameters parametersOf(unsigned sub, const RequantPlan &plan, const uint8_t *tensor) {
  uint32_t words[3] = {plan.first, plan.second, 0};
  bool fromTensor = plan.parameters.has_value();
  if (fromTensor)
    std::memcpy(words, tensor, static_cast<size_t>(plan.parameters->shape[3]) * 4);
  Parameters p{};
  switch (sub) {
  case kRqFloat:
    p.scale = std::bit_cast<float>(words[0]);
    p.offset = std::bit_cast<float>(words[1]);
    break;
  case kRqInt:
    p.multiplier = static_cast<int32_t>(words[0]);
    p.shift = signedByte(words[1]);
    p.zeroPoint = zeroPointOf(fromTensor ? words[2] : words[1] >> 16, plan.resultSigned);
    break;
  case kDqFloat:
    p.zeroPoint = zeroPointOf(words[0], plan.source.isSigned);
    p.scale = std::bit_cast<float>(words[1]);
    break;
  default:
    p.zeroPoint = zeroPointOf(words[0], plan.source.isSigned);
    p.multiplier = static_cast<int32_t>(words[1]);
    p.shift = fromTensor ? signedByte(words[2]) : static_cast<int16_t>(words[0] >> 16);
    break;
  }
  return p;
}

void storeSaturated(const Kernels &k, const RequantPlan &plan, const Rows<3> &row,
                    int64_t *values) {
  if (plan.range != plan.result.prec) {
    const int64_t low = plan.resultSigned ? INT16_MIN : 0;
    const int64_t high = plan.resultSigned ? INT16_MAX : UINT16_MAX;
    for (int64_t i = 0; i < row.count; ++i)
      values[i] = std::clamp(values[i], low, high);
  }
  k.storeInt64(plan.result.prec, plan.resultSigned, true, row.at[0], row.stride[0], row.count,
               values);
}

/// Rounds to an integral value; all seven modes are defined for magnitudes below 2^51.
double roundTo(double value, unsigned mode) {
  switch (mode) {
  case 0:
    return std::nearbyint(value);
  case 1:
    return std::trunc(value + std::copysign(0.5, value));
  case 2:
    return std::trunc(value);
  case 3:
    return std::floor(value);
  default:
    return std::ceil(value);
  }
}

void rqFloatRow(const Kernels &k, const RequantPlan &plan, const Parameters &p,
                const Rows<3> &row) {
  alignas(64) int64_t values[kRow];
  k.loadInt64(plan.source.prec, plan.source.isSigned, row.at[1], row.stride[1], row.count, values);
  constexpr double kBound = 8e9;
  for (int64_t i = 0; i < row.count; ++i) {
    const uint32_t bits =
        encodeInteger<DataType::F32>(values[i], static_cast<RoundingMode>(plan.round & 7));
    float scaled = std::bit_cast<float>(bits) * p.scale;
    double value = scaled + p.offset;
    value = value != value ? 0 : std::min(std::max(value, -kBound), kBound);
    values[i] = static_cast<int64_t>(roundTo(value, plan.round >> 3));
  }
  storeSaturated(k, plan, row, values);
}

void scaleRow(const Kernels &k, const RequantPlan &plan, const Parameters &p, bool isDequant,
              const Rows<3> &row) {
  alignas(64) int64_t values[kRow];
  alignas(64) int32_t x[kRow];
  int64_t before = isDequant ? p.zeroPoint : 0;
  if (plan.source.prec == Prec::I32) {
    // Unsigned 32-bit values do not fit the narrow buffer.
    k.loadInt64(plan.source.prec, plan.source.isSigned, row.at[1], row.stride[1], row.count,
                values);
    for (int64_t i = 0; i < row.count; ++i)
      values[i] = (values[i] - before) * p.multiplier;
  } else {
    k.loadInt32(plan.source.prec, plan.source.isSigned, row.at[1], row.stride[1], row.count, x);
    k.scaleInt64(row.count, x, before, p.multiplier, values);
  }
  // To the left by the shift's lowest six bits; what leaves the 64 bits of the product is lost.
  constexpr int kLeftMask = 63;
  k.shiftInt64(row.count, values, p.shift > 0 ? p.shift & kLeftMask : p.shift, plan.round & 7);
  if (!isDequant)
    for (int64_t i = 0; i < row.count; ++i)
      values[i] = static_cast<int64_t>(static_cast<uint64_t>(values[i]) +
                                       static_cast<uint64_t>(int64_t{p.zeroPoint}));
  storeSaturated(k, plan, row, values);
}

void dqFloatRow(const Kernels &k, const RequantPlan &plan, const Parameters &p,
                const Rows<3> &row) {
  alignas(64) int32_t x[kRow];
  alignas(64) float values[kRow];
  k.loadInt32(plan.source.prec, plan.source.isSigned, row.at[1], row.stride[1], row.count, x);
  for (int64_t i = 0; i < row.count; ++i)
    values[i] = static_cast<float>(x[i] - p.zeroPoint) * p.scale;
  k.storeFloat(Prec::F32, row.at[0], row.stride[0], row.count, values);
}

template <unsigned Sub> Step requantStep(const RequantPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot input;
    Snapshot parameters;
    Source words;
    words.view = plan.parameters;
    words.prec = Prec::I32;
    std::array<Located, 3> tensors = {
        locateLocal(exec, plan.result),
        input.take(exec, plan.source, mustCopyFor(plan.result, plan.source)),
        parameters.take(exec, words, mustCopyFor(plan.result, words))};
    // All words of a channel are read at its first one.
    tensors[2].view.stride[0] = tensors[2].view.stride[2] = tensors[2].view.stride[3] = 0;
    const Kernels &k = exec.kernels;
    forEachRow(exec, plan.result.shape, tensors, [&](const Rows<3> &row) {
      Parameters p = parametersOf(Sub, plan, row.at[2]);
      if constexpr (Sub == kRqFloat)
        rqFloatRow(k, plan, p, row);
      else if constexpr (Sub == kDqFloat)
        dqFloatRow(k, plan, p, row);
      else
        scaleRow(k, plan, p, Sub == kDqInt, row);
    });
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareRequant(const Decoded &decoded) {
  RequantPlan plan{};
  plan.result = decoded.result();
  plan.source = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, decoded.prec(Field::Opd0Prec),
                         decoded.flag(Field::Opd0Sign));
  // Words of 32 bits are signed whatever the command says.
  plan.source.isSigned |= plan.source.prec == Prec::I32;
  if (const View *view = decoded.operands.find(Role::Opd1))
    plan.parameters = *view;
  plan.first = static_cast<uint32_t>(decoded.get(Field::Opd1Addr));
  plan.second = static_cast<uint32_t>(decoded.get(Field::Opd2Addr));
  plan.round = static_cast<unsigned>(decoded.get(Field::Round)) & 63;
  Prec from = plan.source.prec;
  Prec to = plan.result.prec;
  unsigned sub = decoded.sub();
  const bool isDequant = sub == kDqFloat || sub == kDqInt;
  plan.range = to == Prec::I32 && !isDequant ? Prec::I16 : to;
  plan.resultSigned = decoded.flag(Field::Opd2Sign) || (isDequant && to == Prec::I32);
  if (isFloatPrec(from))
    return decoded.unsupported("a float operand");
  if (sub == kDqFloat) {
    if (to != Prec::F32 || from == Prec::I32)
      return decoded.unsupported("other types than i8 or i16 to f32");
    return requantStep<kDqFloat>(plan);
  }
  if (isFloatPrec(to))
    return decoded.unsupported("a float result");
  if ((sub == kRqInt || sub == kDqInt) && (plan.round & 7) > 6)
    return decoded.unsupported("rounding mode 7");
  switch (sub) {
  case kRqFloat:
    if (from == Prec::I8)
      return decoded.unsupported("an 8-bit operand");
    if (plan.round >> 3 > 4 || (plan.round & 7) > 6)
      return decoded.unsupported("its rounding modes");
    return requantStep<kRqFloat>(plan);
  case kRqInt:
    if (from == Prec::I8)
      return decoded.unsupported("an 8-bit operand");
    return requantStep<kRqInt>(plan);
  case kDqInt:
    if (from == Prec::I32)
      return decoded.unsupported("a 32-bit operand");
    return requantStep<kDqInt>(plan);
  default:
    return decoded.unsupported("the operation");
  }
}

} // namespace tpuc::bm1684x
