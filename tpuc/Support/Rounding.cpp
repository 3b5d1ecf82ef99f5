//===- Rounding.cpp - Rounding and saturation of integers -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Rounding.h"

namespace tpuc {

std::string_view roundingModeName(RoundingMode mode) {
  switch (mode) {
  case RoundingMode::HalfToEven:
    return "HalfToEven";
  case RoundingMode::HalfAwayFromZero:
    return "HalfAwayFromZero";
  case RoundingMode::TowardZero:
    return "TowardsZero";
  case RoundingMode::Down:
    return "Down";
  case RoundingMode::Up:
    return "Up";
  case RoundingMode::HalfUp:
    return "HalfUp";
  case RoundingMode::HalfDown:
    return "HalfDown";
  }
  return "";
}

std::optional<RoundingMode> parseRoundingMode(std::string_view name) {
  for (RoundingMode mode : kAllRoundingModes)
    if (roundingModeName(mode) == name)
      return mode;
  if (name == "TowardZero")
    return RoundingMode::TowardZero;
  return std::nullopt;
}

IntegerRange integerRange(DataType type) {
  if (type == DataType::Bool)
    return {0, 1};
  assert(isInteger(type));
  return integerRange(bitWidth(type), isSigned(type));
}

} // namespace tpuc
