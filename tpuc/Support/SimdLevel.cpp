//===- SimdLevel.cpp - Which vector instructions are used -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/SimdLevel.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace tpuc {

namespace {

constexpr const char *kVariable = "TPUC_CPU";

} // namespace

std::string_view simdLevelName(SimdLevel level) {
  switch (level) {
  case SimdLevel::Generic:
#ifdef __x86_64__
    return "x86-64";
#else
    return "generic";
#endif
  case SimdLevel::Avx2:
    return "avx2";
  case SimdLevel::Avx512:
    return "avx512";
  case SimdLevel::Avx512Vnni:
    return "avx512_vnni";
  case SimdLevel::Avx512Bf16:
    return "avx512_bf16";
  }
  return "";
}

Expected<SimdLevel> limitedSimdLevel(SimdLevel processor, const char *limit) {
  if (!limit || !*limit)
    return processor;
  std::string names;
  for (SimdLevel level : kSimdLevels) {
    if (limit == simdLevelName(level))
      return std::min(level, processor);
    names.append(names.empty() ? "" : ", ").append(simdLevelName(level));
  }
  return makeError(kVariable, "unknown processor level '" + std::string(limit) + "'",
                   "one of " + names);
}

SimdLevel processorSimdLevel() {
#ifdef __x86_64__
  const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("f16c");
  if (!hasAvx2)
    return SimdLevel::Generic;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return SimdLevel::Avx2;
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512vbmi"))
    return SimdLevel::Avx512;
  return __builtin_cpu_supports("avx512bf16") ? SimdLevel::Avx512Bf16 : SimdLevel::Avx512Vnni;
#else
  return SimdLevel::Generic;
#endif
}

SimdLevel bestSimdLevel() {
  static const SimdLevel level = [] {
    const SimdLevel processor = processorSimdLevel();
    return limitedSimdLevel(processor, std::getenv(kVariable)).value_or(processor);
  }();
  return level;
}

Expected<void> checkSimdLevel() {
  Expected<SimdLevel> level = limitedSimdLevel(processorSimdLevel(), std::getenv(kVariable));
  if (!level)
    return propagate(level);
  return {};
}

} // namespace tpuc
