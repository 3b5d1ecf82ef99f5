//===- SimdLevel.h - Which vector instructions the processor has -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_SIMDLEVEL_H
#define TPUC_SUPPORT_SIMDLEVEL_H

#include <cstdint>

namespace tpuc {

/// The sets of instructions that kernels are compiled for.
enum class SimdLevel : uint8_t {
  Generic,
  Avx2,   ///< With FMA and F16C.
  Avx512, ///< F, BW, DQ and VL.
};

/// The best that this processor has.
SimdLevel bestSimdLevel();

} // namespace tpuc

#endif // TPUC_SUPPORT_SIMDLEVEL_H
