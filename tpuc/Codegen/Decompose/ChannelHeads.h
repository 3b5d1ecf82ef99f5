//===- ChannelHeads.h - Heads that are channels of pictures -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_CHANNELHEADS_H
#define TPUC_CODEGEN_DECOMPOSE_CHANNELHEADS_H

#include "tpuc/Codegen/Decompose/PickedParts.h"

#include <optional>

namespace tpuc::codegen {

/// What a transfer takes for each row of a head, in bytes: shorter ones take as long.
inline constexpr int64_t kLongHeadRow = 256;

/// The channels [B, C, ...] of which several heads [B, H, T, D] are H * D, from `begin` on, turned.
/// None where rows of a head are no short transfers.
std::optional<Picked> channelsOfHeads(mlir::Value heads);

/// Channels [B, C, ...] as rows [B, T, C].
mlir::Value rowsOfChannels(mlir::Value channels);

/// Rows [B, T, C] as channels [B, C, T], by an op of the name `loc`.
mlir::Value channelsOfRows(mlir::Value rows, mlir::Location loc);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_CHANNELHEADS_H
