//===- FasterLayers.h - Layers that are faster in wider floats ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_FASTERLAYERS_H
#define TPUC_DRIVER_FASTERLAYERS_H

#include "tpuc/Driver/ModelFileCheck.h"

#include <functional>
#include <set>

namespace tpuc {

/// What a model file of a network would take.
struct MeasuredNetwork {
  ModelFileReport file;
  /// Layers that the host computes.
  int64_t hostLayers = 0;
  /// What a cast takes for each element, as its casts do.
  double castCycles = 0;

  /// Whether this takes fewer cycles than `other`, not more by the conservative parameters, and no
  /// more of the host.
  bool isFasterThan(const MeasuredNetwork &other) const {
    return takesFewerCyclesThan(other) && file.conservativeCycles <= other.file.conservativeCycles;
  }
  /// The same but for the conservative parameters.
  bool takesFewerCyclesThan(const MeasuredNetwork &other) const {
    return file.cycles < other.file.cycles && hostLayers <= other.hostLayers;
  }
};

struct FasterLayersRequest {
  /// The network, and what it takes as it is.
  mlir::ModuleOp top;
  const MeasuredNetwork &made;
  /// Layers that stay as they are, and those that do unless all others are in these wider floats.
  std::set<std::string> fixed = {}, needed = {};
  /// The network with these layers in wider floats (LoweringOptions::fasterInF16 and fasterInF32).
  /// Groups are by estimate, as those of `made`.
  std::function<Expected<MeasuredNetwork>(const std::vector<std::string> &layers)> measure;
  /// The layers that compute in fewer cycles in wider floats are tried together, too.
  bool triesLighter = false;
};

/// The cycles that a cast takes for each element, as the casts of a lowered network take by `file`.
double castCyclesOf(mlir::ModuleOp lowered, const ModelFileReport &file);

/// Layers that are to be in wider floats, and what the network takes then.
struct FasterLayers {
  std::vector<std::string> names;
  MeasuredNetwork network;
};

/// The layers that are to be in wider floats, so that the network takes fewer cycles; none if it
/// takes the fewest as it is.
///
/// The network is measured with all layers in wider floats. From the cycles of each layer, and of a
/// cast for each tensor between layers of different types, a division into stretches is estimated:
/// no single layer that changes sides makes the sum smaller. Unless
/// that takes far more cycles than the fastest, or the network is long in the making, one is also
/// estimated as if casts took less.
/// What takes the fewest cycles by the timing model of the whole file is taken: the network as it
/// is, divided so, or with all layers in wider floats, those that are needed otherwise included.
/// If nothing is faster by both sets of parameters, what takes fewer cycles without the
/// conservative ones is given: a search, or still wider floats, may mend that. Errors: those of
/// `measure`.
Expected<FasterLayers> fasterLayers(const FasterLayersRequest &request);

} // namespace tpuc

#endif // TPUC_DRIVER_FASTERLAYERS_H
