//===- Streams.h - The names of the command streams -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_STREAMS_H
#define TPUC_TARGET_BM1684X_MACHINE_STREAMS_H

#include <cstdint>
#include <string_view>

namespace tpuc::bm1684x {

/// The two engines' streams in a compiled network (`model::Stream::engine`).
inline constexpr std::string_view kTiuStream = "TIU", kDmaStream = "DMA";
/// The place of the DMA engine's stream in the command groups that the code generator makes.
inline constexpr uint32_t kDmaStreamNumber = 1;

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_STREAMS_H
