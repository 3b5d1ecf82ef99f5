//===- SimdGeneric.cpp - Inner loops for any processor ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Simd.h"
#include "tpuc/Interpreter/Kernels/VectorMath.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#define TPUC_SIMD_SPACE generic
#define TPUC_SIMD_LEVEL 0
#define TPUC_SIMD_NAME "any processor"

#include "tpuc/Interpreter/Kernels/SimdImpl.inc"
