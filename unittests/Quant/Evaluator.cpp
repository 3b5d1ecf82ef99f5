//===- Evaluator.cpp - The RFC's pseudo-code, element by element -------------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Quant/Evaluator.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"

#include <algorithm>

using llvm::APFloat;

namespace tpuc::test {

namespace {

constexpr auto kNearest = APFloat::rmNearestTiesToEven;

APFloat convertIntToFloat(int64_t value, const llvm::fltSemantics &semantics) {
  APFloat result(semantics);
  result.convertFromAPInt(llvm::APInt(64, value, /*isSigned=*/true), /*IsSigned=*/true, kNearest);
  return result;
}

APFloat toSemantics(double value, const llvm::fltSemantics &semantics) {
  APFloat result(value);
  bool losesInfo = false;
  result.convert(semantics, kNearest, &losesInfo);
  return result;
}

/// The integer that `value`, rounded, is; nothing if it does not fit the storage type.
std::optional<int64_t> convertFloatToInt(const APFloat &value, const QuantParams &params,
                                         llvm::RoundingMode rounding) {
  llvm::APSInt result(params.width, /*isUnsigned=*/!params.isSigned);
  bool isExact = false;
  if (value.convertToInteger(result, rounding, &isExact) & APFloat::opInvalidOp)
    return std::nullopt;
  return result.getExtValue();
}

} // namespace

APFloat dequantize(int64_t stored, const QuantParams &params) {
  APFloat value = convertIntToFloat(stored, *params.expressed);
  value.subtract(convertIntToFloat(params.zeroPoint, *params.expressed), kNearest);
  value.multiply(toSemantics(params.scale, *params.expressed), kNearest);
  return value;
}

std::optional<int64_t> quantize(const APFloat &value, const QuantParams &params) {
  APFloat stored = value;
  stored.divide(toSemantics(params.scale, *params.expressed), kNearest);
  stored.add(convertIntToFloat(params.zeroPoint, *params.expressed), kNearest);
  const auto integer = convertFloatToInt(stored, params, APFloat::rmTowardZero);
  if (!integer)
    return std::nullopt;
  return std::min(std::max(*integer, params.storageMin), params.storageMax);
}

int64_t quantizeSaturating(const APFloat &value, const QuantParams &params) {
  APFloat scaled = value;
  scaled.divide(toSemantics(params.scale, *params.expressed), kNearest);
  if (scaled.isNaN())
    return std::clamp(params.zeroPoint, params.storageMin, params.storageMax);
  // 128 bits hold the rounded quotient exactly unless it is beyond every bound.
  llvm::APSInt rounded(128, /*isUnsigned=*/false);
  bool isExact = false;
  if (scaled.convertToInteger(rounded, kNearest, &isExact) & APFloat::opInvalidOp)
    return scaled.isNegative() ? params.storageMin : params.storageMax;
  const llvm::APInt sum = rounded + llvm::APInt(128, params.zeroPoint, /*isSigned=*/true);
  if (sum.slt(llvm::APInt(128, params.storageMin, /*isSigned=*/true)))
    return params.storageMin;
  if (sum.sgt(llvm::APInt(128, params.storageMax, /*isSigned=*/true)))
    return params.storageMax;
  return sum.getSExtValue();
}

} // namespace tpuc::test
