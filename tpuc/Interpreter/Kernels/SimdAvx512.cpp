//===- SimdAvx512.cpp - Inner loops for AVX-512 ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifdef __x86_64__

#include "tpuc/Interpreter/Kernels/Simd.h"
#include "tpuc/Interpreter/Kernels/VectorMath.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#define TPUC_SIMD_SPACE avx512
#define TPUC_SIMD_LEVEL 2
#define TPUC_SIMD_NAME "AVX-512"

#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))),                   \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#endif
#include "tpuc/Interpreter/Kernels/SimdImpl.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
