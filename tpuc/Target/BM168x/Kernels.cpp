//===- Kernels.cpp - Loops over rows, per instruction set -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Kernels.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tpuc::bm168x {

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
#ifdef __x86_64__
  if (level >= SimdLevel::Avx512)
    return avx512::kKernels;
  if (level >= SimdLevel::Avx2)
    return avx2::kKernels;
#endif
  return generic::kKernels;
}

namespace {

#if defined(__x86_64__)
/// All exceptions masked, round to nearest, flush-to-zero and denormals-are-zero.
constexpr unsigned kFlushing = 0x1f80 | 0x8000 | 0x0040;

unsigned controlRegister() { return _mm_getcsr(); }
void setControlRegister(unsigned value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
/// Round to nearest; FZ flushes denormal operands and results of f32 and f64.
constexpr unsigned kFlushing = 1U << 24;

unsigned controlRegister() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return static_cast<unsigned>(value);
}
void setControlRegister(unsigned value) {
  __asm__ volatile("msr fpcr, %0" : : "r"(static_cast<uint64_t>(value)));
}
#else
#error "ScopedFlush has no code for this processor"
#endif

} // namespace

ScopedFlush::ScopedFlush() : saved(controlRegister()) { setControlRegister(kFlushing); }
ScopedFlush::~ScopedFlush() { setControlRegister(saved); }

} // namespace tpuc::bm168x
