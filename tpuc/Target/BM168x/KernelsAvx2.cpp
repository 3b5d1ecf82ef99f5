//===- KernelsAvx2.cpp - The kernels for AVX2 -----------------------------===//
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

#define TPUC_KERNEL_SPACE avx2
#define TPUC_KERNEL_LEVEL 1
#define TPUC_KERNEL_NAME "AVX2"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#endif
#include "tpuc/Target/BM168x/KernelsImpl.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
