//===- Repair.cpp - The fewest layers that are to be more precise --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/Repair.h"

#include <algorithm>

using namespace tpuc;

namespace {

using Layers = std::vector<std::string>;

class RepairSearch {
public:
  RepairSearch(const RepairCandidate &candidate, int maxCandidates)
      : candidate(candidate), candidatesLeft(maxCandidates) {}

  Expected<Layers> run(std::span<const std::string> ranked);

private:
  /// Not good once there are no candidates left.
  Expected<bool> isGood(std::span<const std::string> layers);
  Expected<size_t> shortestPrefix(std::span<const std::string> ranked);
  Expected<Layers> thinOut(Layers layers);

  const RepairCandidate &candidate;
  int candidatesLeft;
};

Expected<bool> RepairSearch::isGood(std::span<const std::string> layers) {
  if (candidatesLeft == 0)
    return false;
  --candidatesLeft;
  return candidate(layers);
}

/// All of `ranked` are known to be good.
Expected<size_t> RepairSearch::shortestPrefix(std::span<const std::string> ranked) {
  size_t bad = 0;
  size_t good = ranked.size();
  for (size_t count = 1; count < good; count *= 2) {
    Expected<bool> tried = isGood(ranked.first(count));
    if (!tried)
      return propagate(tried);
    (*tried ? good : bad) = count;
  }
  while (good - bad > 1) {
    const size_t middle = bad + (good - bad) / 2;
    Expected<bool> tried = isGood(ranked.first(middle));
    if (!tried)
      return propagate(tried);
    (*tried ? good : bad) = middle;
  }
  return good;
}

/// Leaves out parts of half the size, of a quarter, and so on, those that matter least first.
Expected<Layers> RepairSearch::thinOut(Layers layers) {
  for (size_t part = layers.size() / 2; part > 0; part /= 2)
    for (size_t end = layers.size(); end >= part && layers.size() > part; end -= part) {
      Layers rest = layers;
      rest.erase(rest.begin() + std::ptrdiff_t(end - part), rest.begin() + std::ptrdiff_t(end));
      Expected<bool> tried = isGood(rest);
      if (!tried)
        return propagate(tried);
      if (*tried)
        layers = std::move(rest);
    }
  return layers;
}

Expected<Layers> RepairSearch::run(std::span<const std::string> ranked) {
  Expected<bool> all = isGood(ranked);
  if (!all)
    return propagate(all);
  if (!*all)
    return Layers();
  Expected<size_t> count = shortestPrefix(ranked);
  if (!count)
    return propagate(count);
  return thinOut(Layers(ranked.begin(), ranked.begin() + std::ptrdiff_t(*count)));
}

} // namespace

Expected<std::vector<std::string>> tpuc::findRepair(std::span<const std::string> ranked,
                                                    const RepairCandidate &candidate,
                                                    int maxCandidates) {
  return RepairSearch(candidate, maxCandidates).run(ranked);
}
