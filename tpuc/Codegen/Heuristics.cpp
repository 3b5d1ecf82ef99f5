//===- Heuristics.cpp - What can be left out ------------------------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Heuristics.h"
#include "tpuc/Codegen/Aliases.h"
#include "tpuc/Codegen/Backend.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tpuc;
using namespace tpuc::codegen;

static constexpr std::pair<llvm::StringLiteral, bool Heuristics::*> kHeuristics[] = {
    {"fold-head-reshapes", &Heuristics::foldHeadReshapes},
    {"join-convolutions", &Heuristics::joinConvolutions},
    {"split-convolutions", &Heuristics::splitConvolutions},
    {"op-reorder", &Heuristics::opReorder},
    {"hoist-outputs", &Heuristics::hoistOutputs},
    {"narrow-concat", &Heuristics::narrowConcat},
    {"column-gather", &Heuristics::columnGather},
    {"fold-depths", &Heuristics::foldDepths},
    {"late-permutes", &Heuristics::latePermutes},
    {"resident-constants", &Heuristics::residentConstants},
    {"in-place-concat", &Heuristics::inPlaceConcat},
    {"early-constants", &Heuristics::earlyConstants},
    {"overlap", &Heuristics::overlap},
    {"least-work", &Heuristics::leastWork},
    {"urgent-transfers", &Heuristics::urgentTransfers}};

Expected<Heuristics> Heuristics::without(llvm::ArrayRef<std::string> names,
                                         const Backend &backend) {
  Heuristics heuristics;
  std::vector<std::string> known;
  for (const auto &[name, member] : kHeuristics)
    known.emplace_back(name);
  for (const OptionalPass &pass : backend.optionalPasses())
    known.push_back(pass.create()->getArgument().str());
  for (const std::string &given : names) {
    const std::string name(currentName(given));
    if (!llvm::is_contained(known, name))
      return makeError("without", "'" + name + "'", "some of " + llvm::join(known, ", "));
    for (const auto &[own, member] : kHeuristics)
      if (own == llvm::StringRef(name))
        heuristics.*member = false;
  }
  return heuristics;
}
