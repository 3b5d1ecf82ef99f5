//===- Cast.cpp - Conversion between types (AR cast) ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Float.h"
#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <cmath>
#include <cstring>

namespace tpuc::bm1684x {

namespace {

struct CastPlan {
  View result;
  Source source;
  bool resultSigned;
  unsigned mode;
};

template <typename Body> Step castStep(CastPlan plan, Body body) {
  return [plan, body](Exec &exec) -> std::optional<Error> {
    Snapshot snapshot;
    std::array<Located, 2> tensors = {
        locateLocal(exec, plan.result),
        snapshot.take(exec, plan.source, mustCopyFor(plan.result, plan.source))};
    forEachRow(exec, plan.result.shape, tensors,
               [&](const Rows<2> &row) { body(exec.kernels, plan, row); });
    return std::nullopt;
  };
}

/// To an integral value in one of the modes 0 to 4.
double toIntegral(double value, unsigned mode) {
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

/// The values of a row, whose denormals are not zero here: rounded up they are 1. Any number
/// between 0 and 1/2 does for them.
void widen(const CastPlan &plan, const Rows<2> &row, const float *values, double *out) {
  for (int64_t i = 0; i < row.count; ++i)
    out[i] = values[i];
  if (plan.source.prec == Prec::F16)
    return;
  unsigned bytes = precBytes(plan.source.prec);
  for (int64_t i = 0; i < row.count; ++i) {
    if (values[i] != 0)
      continue;
    uint32_t bits = 0;
    std::memcpy(&bits, row.at[1] + i * row.stride[1] * bytes, bytes);
    bits <<= 32 - bytes * 8;
    if (bits << 1 != 0)
      out[i] = bits >> 31 != 0 ? -0.25 : 0.25;
  }
}

void intToInt(const Kernels &k, const CastPlan &plan, const Rows<2> &row) {
  alignas(64) int64_t values[kRow];
  k.loadInt64(plan.source.prec, plan.source.isSigned, row.at[1], row.stride[1], row.count, values);
  k.storeInt64(plan.result.prec, plan.resultSigned, true, row.at[0], row.stride[0], row.count,
               values);
}

void floatToInt(const Kernels &k, const CastPlan &plan, const Rows<2> &row) {
  alignas(64) float values[kRow];
  alignas(64) int64_t integers[kRow];
  k.loadFloat(plan.source.prec, row.at[1], row.stride[1], row.count, values);
  alignas(64) double wide[kRow];
  widen(plan, row, values, wide);
  // Beyond these all results are saturated.
  constexpr double kBound = 8e9;
  for (int64_t i = 0; i < row.count; ++i) {
    double value = wide[i];
    value = value != value ? 0 : std::min(std::max(value, -kBound), kBound);
    integers[i] = static_cast<int64_t>(toIntegral(value, plan.mode));
  }
  k.storeInt64(plan.result.prec, plan.resultSigned, true, row.at[0], row.stride[0], row.count,
               integers);
}

/// f32 to 16 bits in a mode other than to nearest even. Here code 5 takes ties away from zero and
/// code 6 toward zero. Directed modes stop at the largest finite f16 only for numbers with its
/// largest exponent; beyond, every mode gives infinity.
template <DataType Type> uint16_t narrow(float value, unsigned mode) {
  if (value != value)
    return 0x7fff;
  bool isNegative = std::signbit(value);
  constexpr float kBeyondF16 = 0x1p16F;
  if (Type == DataType::F16 && std::fabs(value) >= kBeyondF16)
    return isNegative ? 0xfc00 : 0x7c00;
  RoundingMode rounding = mode == 5   ? RoundingMode::HalfAwayFromZero
                          : mode == 6 ? (isNegative ? RoundingMode::HalfUp : RoundingMode::HalfDown)
                                      : static_cast<RoundingMode>(mode);
  return encodeFloat<Type>(value, rounding);
}

/// f32 to the type of the result in the command's mode.
void storeRounded(const Kernels &k, const CastPlan &plan, const Rows<2> &row, const float *values) {
  Prec to = plan.result.prec;
  if (to == Prec::F32 || plan.mode == 0)
    return k.storeFloat(to, row.at[0], row.stride[0], row.count, values);
  for (int64_t i = 0; i < row.count; ++i) {
    uint16_t bits = to == Prec::F16 ? narrow<DataType::F16>(values[i], plan.mode)
                                    : narrow<DataType::BF16>(values[i], plan.mode);
    std::memcpy(row.at[0] + i * row.stride[0] * 2, &bits, 2);
  }
}

/// Integers of 32 bits, which are rounded once. Their modes are those of RoundingMode, 5 and 6 too.
template <DataType Type>
void storeIntegers(const CastPlan &plan, const Rows<2> &row, const int64_t *integers) {
  for (int64_t i = 0; i < row.count; ++i) {
    const auto bits = encodeInteger<Type>(integers[i], static_cast<RoundingMode>(plan.mode));
    std::memcpy(row.at[0] + i * row.stride[0] * static_cast<int64_t>(sizeof(bits)), &bits,
                sizeof(bits));
  }
}

void intToFloat(const Kernels &k, const CastPlan &plan, const Rows<2> &row) {
  alignas(64) int64_t integers[kRow];
  k.loadInt64(plan.source.prec, plan.source.isSigned, row.at[1], row.stride[1], row.count,
              integers);
  const Prec to = plan.result.prec;
  // Shorter ones are f32 first, which holds them.
  if (precBytes(plan.source.prec) < 4 || (to == Prec::F32 && plan.mode == 0)) {
    alignas(64) float values[kRow];
    for (int64_t i = 0; i < row.count; ++i)
      values[i] = static_cast<float>(integers[i]);
    return storeRounded(k, plan, row, values);
  }
  if (to == Prec::F32)
    return storeIntegers<DataType::F32>(plan, row, integers);
  if (to == Prec::F16)
    return storeIntegers<DataType::F16>(plan, row, integers);
  storeIntegers<DataType::BF16>(plan, row, integers);
}

void floatToFloat(const Kernels &k, const CastPlan &plan, const Rows<2> &row) {
  alignas(64) float values[kRow];
  k.loadFloat(plan.source.prec, row.at[1], row.stride[1], row.count, values);
  if (plan.result.prec == plan.source.prec) {
    alignas(64) double wide[kRow];
    widen(plan, row, values, wide);
    for (int64_t i = 0; i < row.count; ++i)
      values[i] = static_cast<float>(toIntegral(wide[i], plan.mode));
    return k.storeFloat(plan.result.prec, row.at[0], row.stride[0], row.count, values);
  }
  storeRounded(k, plan, row, values);
}

/// bf16 is the upper half of f32: not even denormals are flushed.
void widenBrain(const Kernels &, const CastPlan &, const Rows<2> &row) {
  for (int64_t i = 0; i < row.count; ++i) {
    uint16_t upper;
    std::memcpy(&upper, row.at[1] + i * row.stride[1] * 2, 2);
    uint32_t bits = static_cast<uint32_t>(upper) << 16;
    std::memcpy(row.at[0] + i * row.stride[0] * 4, &bits, 4);
  }
}

} // namespace

Expected<Step> prepareCast(const Decoded &decoded) {
  CastPlan plan{};
  plan.result = decoded.result();
  plan.source = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, decoded.prec(Field::Opd0Prec),
                         decoded.flag(Field::Opd0Sign));
  plan.resultSigned = decoded.flag(Field::Opd2Sign);
  plan.mode = static_cast<unsigned>(decoded.get(Field::Round)) & 7;
  bool fromFloat = isFloatPrec(plan.source.prec);
  bool toFloat = isFloatPrec(plan.result.prec);
  if (!fromFloat && !toFloat)
    return castStep(plan, intToInt);
  if (plan.mode > 6)
    return decoded.unsupported("rounding mode 7");
  if (!fromFloat)
    return castStep(plan, intToFloat);
  bool sameType = plan.source.prec == plan.result.prec;
  if (plan.mode > 4 && (!toFloat || sameType))
    return decoded.unsupported("rounding modes 5 and 6 to an integer");
  if (!toFloat)
    return castStep(plan, floatToInt);
  if (!sameType && plan.source.prec != Prec::F32 && plan.result.prec != Prec::F32)
    return decoded.unsupported("a conversion between f16 and bf16");
  if (plan.source.prec == Prec::BF16 && plan.result.prec == Prec::F32)
    return castStep(plan, widenBrain);
  return castStep(plan, floatToFloat);
}

} // namespace tpuc::bm1684x
