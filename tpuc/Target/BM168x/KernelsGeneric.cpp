//===- KernelsGeneric.cpp - The kernels for any processor -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Kernels.h"

#include <cstddef>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define TPUC_KERNEL_SPACE generic
#define TPUC_KERNEL_LEVEL 0
#define TPUC_KERNEL_NAME "any processor"

#include "tpuc/Target/BM168x/KernelsImpl.inc"
