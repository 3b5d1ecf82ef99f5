//===- Tiling.h - The tiles of one layer that fit local memory ---*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_TILING_H
#define TPUC_CODEGEN_TILE_TILING_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Group/GroupInfo.h"

namespace tpuc::codegen {

/// How a layer that runs alone is tiled, and where everything lies.
struct Tiling {
  TileModel model;
  /// One for each operand (those that are not loaded have none), and one for the result, which
  /// also holds the scratch of the kernel.
  std::vector<std::optional<GroupInfo>> operands;
  GroupInfo result;
};

/// The tiles of a tiling, without what depends on the op itself: they serve others of its kind.
struct LayerTiles {
  explicit LayerTiles(const Tiling &tiling)
      : result(tiling.result.axisTiles), order(tiling.result.order) {
    operands.reserve(tiling.operands.size());
    for (const std::optional<GroupInfo> &operand : tiling.operands)
      operands.push_back(operand ? operand->axisTiles : Sections());
  }

  Sections result;
  TileOrder order;
  /// Without ranges those of operands that are not loaded.
  std::vector<Sections> operands;
};

/// By what tilings are compared.
struct TilingCosts {
  /// What a step costs, as bytes of each lane.
  int64_t stepBytes = kStepBytes;
  /// Whether what stays for several steps has two places as well; else it waits for its place.
  bool doublesAll = true;
  TileOrder order = TileOrder::ChannelsOutermost;
  /// Whether all that changes from step to step must have two places.
  bool mustOverlap = false;
};

/// Tiles the result of `op` along the axes that its model allows into the parts with the least
/// transfers that fit `capacity`, with two buffers for each tensor that
/// changes from step to step where there is room. Errors (without `where`) say why nothing fits.
Expected<Tiling> planTiling(mlir::Operation *op, const Backend &backend, const Footprint &capacity,
                            const TilingCosts &costs = {});

/// Where `op` is computed, as `Backend::placeOf` says. Errors (without `where`): also that no tile
/// fits local memory.
Expected<Place> fittingPlaceOf(mlir::Operation *op, const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_TILING_H
