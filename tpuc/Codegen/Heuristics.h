//===- Heuristics.h - What can be left out ---------------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_HEURISTICS_H
#define TPUC_CODEGEN_HEURISTICS_H

#include "tpuc/Support/Error.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace tpuc::codegen {

class Backend;

/// What saves cycles, and can be left out to see how many.
struct Heuristics {
  /// Whole passes: --fold-head-reshapes, --join-convolutions, --split-convolutions, --op-reorder,
  /// --hoist-outputs.
  bool foldHeadReshapes = true, joinConvolutions = true, splitConvolutions = true, opReorder = true,
       hoistOutputs = true;
  /// Rewrites of --decompose that only save cycles: concatenations of short pieces, and gathers of
  /// constant columns, of many rows in local memory; depths of volumes as channels; permutes behind
  /// what is done to parts.
  bool narrowConcat = true, columnGather = true, foldDepths = true, latePermutes = true;
  /// Short constants stay in local memory (ResidentConstants.h).
  bool residentConstants = true;
  /// Concatenations in groups (InPlaceConcat.h).
  bool inPlaceConcat = true;
  /// Constants are loaded while groups in front run.
  bool earlyConstants = true;
  /// Tiles are loaded and stored while others are computed.
  bool overlap = true;
  /// Groups with the least work of both engines, where the timing simulator prefers them to those
  /// with the least estimates.
  bool leastWork = true;
  /// Long loads come behind transfers that layers wait for, where the timing simulator prefers
  /// that.
  bool urgentTransfers = true;

  /// All but those of these names, among which those of the target's own passes
  /// (`Backend::optionalPasses`) may be. Errors: a name that is none.
  static Expected<Heuristics> without(llvm::ArrayRef<std::string> names, const Backend &backend);
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_HEURISTICS_H
