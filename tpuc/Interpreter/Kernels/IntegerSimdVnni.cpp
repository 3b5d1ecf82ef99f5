//===- IntegerSimdVnni.cpp - Inner loops over integers for AVX-512 with VNNI --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifdef __x86_64__

#include "tpuc/Interpreter/Kernels/IntegerSimd.h"

#include <cstring>
#include <immintrin.h>
#include <utility>

#define TPUC_SIMD_SPACE integer_vnni
#define TPUC_SIMD_LEVEL 3
#define TPUC_SIMD_NAME "AVX-512 with VNNI"

#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512vbmi,avx2"))),      \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512vbmi,avx2")
#endif
#include "tpuc/Interpreter/Kernels/IntegerSimdImpl.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
