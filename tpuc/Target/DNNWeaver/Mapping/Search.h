//===- Search.h - The fastest mapping of a layer -------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks at all tiles that divide the layer and fit into the buffers, and for each at all orders of
// the loops over tiles. The price is the cycle simulator's. A bound that no order can beat comes
// first, and tiles are tried by their bounds, so that most are never priced; the result is that of
// pricing all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MAPPING_SEARCH_H
#define TPUC_TARGET_DNNWEAVER_MAPPING_SEARCH_H

#include "tpuc/Target/DNNWeaver/Mapping/Emit.h"

#include <map>

namespace tpuc::dnnweaver {

struct SearchOptions {
  /// Without bounds every tile that fits is priced.
  bool usesBounds = true;
  /// All 720 orders of the loops over words instead of the best of those that may be it.
  bool triesWordOrders = false;
};

struct SearchResult {
  Mapping mapping;
  uint64_t cycles = 0;
  /// Tiles that divide the layer, those of them that fit, those that were priced, and prices.
  uint64_t numTiles = 0, numFitting = 0, numPriced = 0, numPrices = 0;
};

/// The mapping of the fewest cycles; of several the first by tile, words and order. Loops over
/// inputs lie within the other loops over tiles that move the sums, so that these stay in their
/// buffer. Errors name `where`: no tile fits, with the buffer that the smallest one overfills.
Expected<SearchResult> searchMapping(const Parameters &machine, const ConvLayer &layer,
                                     const Placement &placement, const AluRecipe &recipe,
                                     const std::string &where, const SearchOptions &options = {});

/// A mapping without a search, as the patent states it for its first layer: tiles of at most 8 x 8
/// results, wider where weights must stay longer, of one word of inputs and one of outputs. The
/// array goes over columns and rows first. Layers that do not fit so are searched for. Errors: see
/// `searchMapping`.
Expected<SearchResult> plainMapping(const Parameters &machine, const ConvLayer &layer,
                                    const Placement &placement, const AluRecipe &recipe,
                                    const std::string &where);

/// Results of searches by all that they depend on.
class MappingCache {
public:
  /// What `searchMapping` gives, searched for once.
  Expected<SearchResult> find(const Parameters &machine, const ConvLayer &layer,
                              const Placement &placement, const AluRecipe &recipe,
                              const std::string &where);
  /// Whether to search; without that it is `plainMapping`.
  bool searches = true;
  size_t size() const { return results.size(); }

private:
  std::map<std::vector<uint64_t>, SearchResult> results;
};

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MAPPING_SEARCH_H
