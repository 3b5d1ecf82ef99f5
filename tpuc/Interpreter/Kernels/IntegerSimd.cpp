//===- IntegerSimd.cpp - Inner loops over integers, per instruction set ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerSimd.h"
#include "tpuc/Support/SimdLevel.h"

namespace tpuc::kernels {

namespace integer_generic {
extern const IntegerSimd kKernels;
} // namespace integer_generic
namespace integer_avx2 {
extern const IntegerSimd kKernels;
} // namespace integer_avx2
namespace integer_avx512 {
extern const IntegerSimd kKernels;
} // namespace integer_avx512
namespace integer_vnni {
extern const IntegerSimd kKernels;
} // namespace integer_vnni

IntegerLevel bestIntegerLevel() {
  switch (bestSimdLevel()) {
  case SimdLevel::Generic:
    return IntegerLevel::Generic;
  case SimdLevel::Avx2:
    return IntegerLevel::Avx2;
  case SimdLevel::Avx512:
    break;
  }
  const bool hasVnni = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi");
  return hasVnni ? IntegerLevel::Avx512Vnni : IntegerLevel::Avx512;
}

const IntegerSimd &integerSimd(IntegerLevel level) {
  switch (level) {
  case IntegerLevel::Avx512Vnni:
    return integer_vnni::kKernels;
  case IntegerLevel::Avx512:
    return integer_avx512::kKernels;
  case IntegerLevel::Avx2:
    return integer_avx2::kKernels;
  case IntegerLevel::Generic:
    break;
  }
  return integer_generic::kKernels;
}

} // namespace tpuc::kernels
