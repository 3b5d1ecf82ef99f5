//===- Kernels.cpp - Loops over rows, per instruction set -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Kernels.h"

#include <immintrin.h>

namespace tpuc::bm1684x {

namespace generic {
extern const Kernels kKernels;
} // namespace generic
namespace avx2 {
extern const Kernels kKernels;
} // namespace avx2
namespace avx512 {
extern const Kernels kKernels;
} // namespace avx512

const Kernels &kernelsFor(SimdLevel level) {
  switch (level) {
  case SimdLevel::Avx512:
    return avx512::kKernels;
  case SimdLevel::Avx2:
    return avx2::kKernels;
  case SimdLevel::Generic:
    break;
  }
  return generic::kKernels;
}

namespace {
/// All exceptions masked, round to nearest, flush-to-zero and denormals-are-zero.
constexpr unsigned kFlushingMxcsr = 0x1f80 | 0x8000 | 0x0040;
} // namespace

ScopedFlush::ScopedFlush() : saved(_mm_getcsr()) { _mm_setcsr(kFlushingMxcsr); }
ScopedFlush::~ScopedFlush() { _mm_setcsr(saved); }

} // namespace tpuc::bm1684x
