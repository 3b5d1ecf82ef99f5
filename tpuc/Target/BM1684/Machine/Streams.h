//===- Streams.h - The names of the command streams ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_STREAMS_H
#define TPUC_TARGET_BM1684_MACHINE_STREAMS_H

#include <string_view>

namespace tpuc::bm1684 {

/// The two engines' streams in a compiled network (`model::Stream::engine`).
inline constexpr std::string_view kTiuStream = "TIU", kDmaStream = "DMA";

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_STREAMS_H
