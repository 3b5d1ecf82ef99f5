//===- IntegerSimd.cpp - Inner loops over integers, per instruction set ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerSimd.h"

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

const IntegerSimd &integerSimd(SimdLevel level) {
#ifdef __x86_64__
  if (level >= SimdLevel::Avx512Vnni)
    return integer_vnni::kKernels;
  if (level >= SimdLevel::Avx512)
    return integer_avx512::kKernels;
  if (level >= SimdLevel::Avx2)
    return integer_avx2::kKernels;
#endif
  return integer_generic::kKernels;
}

} // namespace tpuc::kernels
