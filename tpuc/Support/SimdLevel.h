//===- SimdLevel.h - Which vector instructions are used ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that asks the processor what it has. Everything that is compiled for several sets
// of instructions chooses by bestSimdLevel. See docs/processors.md.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_SIMDLEVEL_H
#define TPUC_SUPPORT_SIMDLEVEL_H

#include "tpuc/Support/Error.h"

#include <cstdint>
#include <string_view>

namespace tpuc {

/// The sets of instructions that kernels are compiled for. Each level has what the former have.
enum class SimdLevel : uint8_t {
  Generic,    ///< What every processor has: SSE2 on x86-64.
  Avx2,       ///< With FMA and F16C.
  Avx512,     ///< F, BW, DQ and VL.
  Avx512Vnni, ///< With VBMI.
  Avx512Bf16, ///< No kernel of its own; what is compiled at run time may use it.
};
inline constexpr SimdLevel kSimdLevels[] = {SimdLevel::Generic, SimdLevel::Avx2, SimdLevel::Avx512,
                                            SimdLevel::Avx512Vnni, SimdLevel::Avx512Bf16};

/// The name of a level as TPUC_CPU spells it: "x86-64" ("generic" on other processors), "avx2",
/// "avx512", "avx512_vnni", "avx512_bf16".
std::string_view simdLevelName(SimdLevel level);

/// The level to use on a processor that has `processor` when TPUC_CPU holds `limit`, a name of a
/// level: the lower of both. A null or empty `limit` is none. An Error if it names no level.
Expected<SimdLevel> limitedSimdLevel(SimdLevel processor, const char *limit);

/// The highest level that this processor has.
SimdLevel processorSimdLevel();

/// The level that everything uses: the processor's, limited by the environment variable TPUC_CPU
/// as it was at the first call. A TPUC_CPU that names no level is no limit; see checkSimdLevel.
SimdLevel bestSimdLevel();

/// The Error that programs report at their start if TPUC_CPU names no level.
Expected<void> checkSimdLevel();

} // namespace tpuc

#endif // TPUC_SUPPORT_SIMDLEVEL_H
