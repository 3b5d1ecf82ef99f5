//===- KnownCosts.h - What is known of kinds of layers ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_KNOWNCOSTS_H
#define TPUC_CODEGEN_GROUP_KNOWNCOSTS_H

#include "tpuc/Codegen/CapacityRange.h"
#include "tpuc/Codegen/Group/GroupChoice.h"
#include "tpuc/Codegen/Group/OpKinds.h"
#include "tpuc/Codegen/SharedMap.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>
#include <vector>

namespace tpuc::alloc {
struct Allocation;
} // namespace tpuc::alloc

namespace tpuc::codegen {

/// What the kernel of a tile takes.
struct TileWork {
  int64_t cycles = 0;
  /// Of these, what the engine that moves data works.
  int64_t moveCycles = 0;
  int64_t scratchBytes = 0;
};

struct KnownGroups;
struct LayerTiles;

/// The ways to tile a group, and with which capacities they are these.
struct KnownOptions {
  CapacityRange range;
  std::vector<GroupOption> options;
  /// With other capacities.
  std::shared_ptr<const KnownOptions> others;
};

/// What a chip has said about kinds of layers (OpKinds.h), and what comes of that, by hashes of all
/// that it depends on. So it serves every network that is compiled for the chip: a deployment
/// compares many that differ in some layers only. Several threads may ask at once.
struct KnownCosts {
  /// Of words that say everything.
  using Key = std::pair<uint64_t, uint64_t>;
  static Key keyOf(llvm::ArrayRef<uint64_t> words);

  template <typename Value> using Map = SharedMap<llvm::DenseMap<Key, Value>>;

  const std::shared_ptr<KindNumbers> kinds = std::make_shared<KindNumbers>();
  /// Of tiles (GroupCosts.h). None: the chip refuses them.
  Map<std::optional<TileWork>> works;
  Map<std::optional<int64_t>> transfers;
  Map<int64_t> sizes;
  /// The ways to tile a layer by itself (`GroupPlanner`).
  Map<std::shared_ptr<const std::vector<LayerTiles>>> tilings;
  /// The ways to tile groups (`GroupTable`).
  Map<std::shared_ptr<const KnownOptions>> options;
  /// Where buffers lie in local memory (Place/KnownPlaces.h).
  Map<std::shared_ptr<const alloc::Allocation>> places;
  /// What was chosen for whole networks (KnownGroups.h).
  Map<std::shared_ptr<const KnownGroups>> groups;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_KNOWNCOSTS_H
