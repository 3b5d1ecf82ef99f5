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

/// A network that takes this many times the cycles by estimated groups is not searched.
inline constexpr double kCloseEnough = 1.1;

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

/// Which networks are worth a search: those that may become faster than the one that was made. What
/// the search brought that one says how much it may bring others, but in networks of few commands,
/// whose search takes no time. None is in which computation alone takes longer.
class Prospects {
public:
  /// `measureQuickly`: the network that was made, with groups by estimate. Without it no network
  /// takes long.
  Prospects(const ModelFileReport &made,
            const std::function<Expected<MeasuredNetwork>()> &measureQuickly)
      : made(made), measureQuickly(measureQuickly) {}

  /// Whether a search takes long.
  bool isLong() const;
  /// Whether what the search brought limits what it may bring others.
  bool isLimited() const;
  /// `quick`: another one with groups by estimate. It is searched if it takes less than `close`
  /// times the cycles, and perhaps less than that where that is limited.
  Expected<bool> mayBeFaster(const ModelFileReport &quick, double close = kCloseEnough);

private:
  const ModelFileReport &made;
  const std::function<Expected<MeasuredNetwork>()> &measureQuickly;
  std::optional<double> limit;
};

struct FasterLayersRequest {
  /// The network, and what it takes as it is.
  mlir::ModuleOp top;
  const MeasuredNetwork &made;
  /// Layers that stay as they are, and those that do unless all others are in these wider floats.
  std::set<std::string> fixed = {}, needed = {};
  /// The network with these layers in wider floats (LoweringOptions::fasterInF16 and fasterInF32).
  /// Groups are by estimate only if `isQuick`.
  std::function<Expected<MeasuredNetwork>(const std::vector<std::string> &layers, bool isQuick)>
      measure;
  /// The network as it is with groups by estimate. If there is one, what the search brings it says
  /// how much it may bring others, and others that cannot become faster are not searched.
  std::function<Expected<MeasuredNetwork>()> measureQuickly = nullptr;
  /// Nothing is compared with what is found: it may be measured with groups by estimate.
  bool isLast = false;
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
/// The network is measured as it is and with all layers in wider floats. From the cycles of each
/// layer, and of a cast for each tensor between layers of different types, a division into
/// stretches is estimated: no single layer that changes sides makes the sum smaller. In networks
/// that are quickly made it is also estimated as if casts took less. What takes the
/// fewest cycles by the timing model of the whole file is taken: the network as it is, divided so,
/// or with all layers in wider floats, those that are needed otherwise included if they make it
/// slower. If nothing is faster, and this is not the last question,
/// what takes fewer cycles only without the conservative parameters is given: still wider floats
/// may mend that. Errors: those of `measure`.
Expected<FasterLayers> fasterLayers(const FasterLayersRequest &request);

} // namespace tpuc

#endif // TPUC_DRIVER_FASTERLAYERS_H
