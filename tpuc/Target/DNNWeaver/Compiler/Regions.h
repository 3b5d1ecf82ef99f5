//===- Regions.h - Where feature maps lie -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_REGIONS_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_REGIONS_H

#include "tpuc/Target/DNNWeaver/Compiler/Integers.h"
#include "tpuc/Target/DNNWeaver/Compiler/Passes.h"
#include "tpuc/Target/DNNWeaver/Mapping/Emit.h"

namespace tpuc::dnnweaver {

/// Memory of one map, or of several that a concatenation or slices join: NHWC with a halo.
struct Region {
  Extent size;
  /// With those that fill up words.
  unsigned channels = 0;
  Pads halo;
  /// What halo and unused channels hold.
  int32_t fill = 0;
  uint64_t address = 0, bytes = 0;
  uint64_t pixelBytes = 0, rowBytes = 0;
};

/// Where a map lies in a region: the place of each of its channels, and its first row and column.
struct Storage {
  unsigned region = 0;
  std::vector<unsigned> channels;
  unsigned top = 0, left = 0;
};

struct Regions {
  std::vector<Region> regions;
  /// By the numbers of maps.
  std::vector<Storage> maps;
  unsigned elementBytes = 1;

  const Region &of(unsigned map) const { return regions[maps[map].region]; }
  /// The image that begins `pads` before the map, at channel `channel` of its region.
  Image image(unsigned map, const Pads &pads, unsigned channel) const;
};

/// Gives all maps that passes read or write a place. Channels that are written together begin at
/// multiples of `words`.
Regions placeMaps(const Network &network, std::span<const Pass> passes,
                  std::span<const Scale> scales, const IntegerKind &kind, unsigned words,
                  PageAllocator &memory);

/// Whether the regions are what passes need: no two overlap, no parts of one are written twice,
/// halos hold what readers expect. Errors name the map.
Expected<void> checkRegions(const Network &network, std::span<const Pass> passes,
                            std::span<const Scale> scales, const IntegerKind &kind,
                            const Regions &regions);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_REGIONS_H
