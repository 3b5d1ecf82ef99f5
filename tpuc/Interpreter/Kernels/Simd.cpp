//===- Simd.cpp - Inner loops, per instruction set ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Simd.h"

namespace tpuc::kernels {

namespace generic {
extern const SimdKernels kKernels;
} // namespace generic
namespace avx2 {
extern const SimdKernels kKernels;
} // namespace avx2
namespace avx512 {
extern const SimdKernels kKernels;
} // namespace avx512

const SimdKernels &simdKernels(SimdLevel level) {
#ifdef __x86_64__
  if (level >= SimdLevel::Avx512)
    return avx512::kKernels;
  if (level >= SimdLevel::Avx2)
    return avx2::kKernels;
#endif
  return generic::kKernels;
}

bool hasUnaryRow(UnaryOp op) {
  return simdKernels(SimdLevel::Generic).unaryRow(op, 0, 0, nullptr, nullptr, 0);
}

} // namespace tpuc::kernels
