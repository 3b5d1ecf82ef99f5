//===- SimdAvx2.cpp - Inner loops for AVX2 ----------------------===//
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

#define TPUC_SIMD_SPACE avx2
#define TPUC_SIMD_LEVEL 1
#define TPUC_SIMD_NAME "AVX2"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
#include "tpuc/Interpreter/Kernels/SimdImpl.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
