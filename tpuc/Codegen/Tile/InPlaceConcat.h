//===- InPlaceConcat.h - Concatenations in local memory --------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_INPLACECONCAT_H
#define TPUC_CODEGEN_TILE_INPLACECONCAT_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::codegen {

/// Whether `op` is a concatenation of channels that a group may contain, in tiles of one image
/// each: of pictures, or of one dimension behind the channels. By itself it is a move in global
/// memory.
bool isInPlaceConcat(mlir::Operation *op, const Backend &backend);

/// Whether operand `index` of `concat` lies where the chip would put its channels of the result, if
/// it is made or loaded there. Others are moved to their lanes by the kernel of the concat.
bool liesInPlace(mlir::Operation *concat, unsigned index, const Backend &backend);

/// The model of a concatenation of the channels of its operands, with their layout.
Expected<TileModel> inPlaceConcatModel(mlir::Operation *op, const Backend &backend);

/// The channels of `concat` in front of those of operand `index`.
int64_t channelsBefore(mlir::Operation *concat, unsigned index);

/// Bytes from the place of the tile `result` of `concat` to that of its operand `index`.
int64_t concatOffset(mlir::Operation *concat, const TileModel &model, unsigned index,
                     const Tile &result);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_INPLACECONCAT_H
