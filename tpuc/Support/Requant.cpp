//===- Requant.cpp - Scaling integers by multiplier and shift -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Requant.h"

#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace tpuc {

double MultiplierShift::scale() const {
  return std::ldexp(static_cast<double>(multiplier), -rshift);
}

Expected<MultiplierShift> quantizeMultiplier(double scale, const MultiplierLimits &limits,
                                             const std::string &where) {
  assert(limits.maxMultiplier >= 1 && limits.minShift <= limits.maxShift);
  if (!std::isfinite(scale))
    return makeError(where, fmt::format("scale {}", scale), "a finite number");
  if (scale < 0 && !limits.isSigned)
    return makeError(where, fmt::format("scale {}", scale), "0 or more");
  if (scale == 0)
    return MultiplierShift{};

  // scale = f * 2^exponent with |f| in [0.5, 1): with as many bits as maxMultiplier has, f becomes
  // a multiplier of full size; where that is above maxMultiplier (127.6 for 127), one bit less
  // fits.
  int exponent = 0;
  std::frexp(scale, &exponent);
  const int bits = std::bit_width(static_cast<uint32_t>(limits.maxMultiplier));
  auto multiplierAt = [&](int rshift) {
    return toInteger<int64_t>(std::ldexp(scale, rshift), limits.rounding);
  };
  int rshift = std::min(bits - exponent, limits.maxShift);
  int64_t multiplier = multiplierAt(rshift);
  if (std::abs(multiplier) > limits.maxMultiplier)
    multiplier = multiplierAt(--rshift);
  if (rshift < limits.minShift)
    return makeError(where, fmt::format("scale {}", scale),
                     fmt::format("at most {}", std::ldexp(static_cast<double>(limits.maxMultiplier),
                                                          -limits.minShift)));
  return MultiplierShift{static_cast<int32_t>(multiplier), rshift};
}

namespace {

constexpr std::array kAllRequantModes = {RequantMode::MultiplierShift, RequantMode::OnlyShift,
                                         RequantMode::TFLite, RequantMode::TFLite_LShift,
                                         RequantMode::QDM};

} // namespace

std::string_view requantModeName(RequantMode mode) {
  switch (mode) {
  case RequantMode::MultiplierShift:
    return "MultiplierShift";
  case RequantMode::OnlyShift:
    return "OnlyShift";
  case RequantMode::TFLite:
    return "TFLite";
  case RequantMode::TFLite_LShift:
    return "TFLite_LShift";
  case RequantMode::QDM:
    return "QDM";
  }
  return "";
}

std::optional<RequantMode> parseRequantMode(std::string_view name) {
  for (RequantMode mode : kAllRequantModes)
    if (requantModeName(mode) == name)
      return mode;
  return std::nullopt;
}

} // namespace tpuc
