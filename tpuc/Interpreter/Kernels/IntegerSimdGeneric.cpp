//===- IntegerSimdGeneric.cpp - Inner loops over integers for any processor --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerSimd.h"

#include <cstring>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define TPUC_SIMD_SPACE integer_generic
#define TPUC_SIMD_LEVEL 0
#define TPUC_SIMD_NAME "any processor"

#include "tpuc/Interpreter/Kernels/IntegerSimdImpl.inc"
