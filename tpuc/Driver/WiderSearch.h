//===- WiderSearch.h - Networks that are faster in wider floats -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_WIDERSEARCH_H
#define TPUC_DRIVER_WIDERSEARCH_H

#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Driver/FasterLayers.h"
#include "tpuc/Target/Target.h"

namespace tpuc {

struct WiderSearchRequest {
  mlir::ModuleOp top;
  const TargetInfo &target;
  /// How the network was lowered.
  const LoweringOptions &lowering;
  /// What it takes so, if that is known: its groups are searched.
  std::optional<MeasuredNetwork> made = std::nullopt;
  /// Layers that stay as they are, and those that do unless all are in the narrower of the wider
  /// floats.
  std::set<std::string> kept = {}, needed = {};
  /// The network lowered so; with groups by estimate only if `isQuick`.
  std::function<Expected<MeasuredNetwork>(const LoweringOptions &, bool isQuick)> measure;
  /// Whether single layers are tried, too.
  bool mayDivide = true;
};

/// How to lower a network so that it takes fewer cycles with layers in wider floats; none where it
/// takes the fewest as it is.
///
/// Layers of a network on integers are tried in F16. Where any are, in a network of 16 bits, and on
/// chips without F16, they are tried in F32 (fasterLayers). What is found so takes no more by the
/// conservative parameters. Then the whole network in the next wider floats is divided in the same
/// way, as if the user had asked for these, and is taken where it takes fewer cycles by the
/// parameters of the vendor. So a network never takes more cycles than in wider floats, but for
/// those that are never close: their products or weights alone take longer, or with groups by
/// estimate they take a tenth longer, or compute for as long. What cannot be compiled is not
/// faster.
///
/// All of that is compared with groups by estimate. Only of what comes out are groups searched, and
/// of what the search may make faster than that. What it brought the one says how much it may bring
/// the other.
std::optional<LoweringOptions> searchWiderFloats(const WiderSearchRequest &request);

} // namespace tpuc

#endif // TPUC_DRIVER_WIDERSEARCH_H
