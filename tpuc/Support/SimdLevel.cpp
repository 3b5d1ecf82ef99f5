//===- SimdLevel.cpp - Which vector instructions the processor has --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/SimdLevel.h"

namespace tpuc {

SimdLevel bestSimdLevel() {
  bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("f16c");
  if (hasAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return SimdLevel::Avx512;
  return hasAvx2 ? SimdLevel::Avx2 : SimdLevel::Generic;
}

} // namespace tpuc
