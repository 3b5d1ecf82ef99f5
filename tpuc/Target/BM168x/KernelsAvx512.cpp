//===- KernelsAvx512.cpp - The kernels for AVX-512 ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifdef __x86_64__

#include "tpuc/Target/BM168x/Kernels.h"

#include <cstddef>
#include <immintrin.h>

#define TPUC_KERNEL_SPACE avx512
#define TPUC_KERNEL_LEVEL 2
#define TPUC_KERNEL_NAME "AVX-512"

#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")
#endif
#include "tpuc/Target/BM168x/KernelsImpl.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
