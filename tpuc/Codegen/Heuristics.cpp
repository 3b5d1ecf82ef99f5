//===- Heuristics.cpp - What can be left out ------------------------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Heuristics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tpuc;
using namespace tpuc::codegen;

static constexpr std::pair<llvm::StringLiteral, bool Heuristics::*> kHeuristics[] = {
    {"attention-rows", &Heuristics::attentionRows},
    {"merge-groups", &Heuristics::mergeGroups},
    {"stack-rows", &Heuristics::stackRows},
    {"table-steps", &Heuristics::tableSteps},
    {"turn-stores", &Heuristics::turnStores},
    {"op-reorder", &Heuristics::opReorder},
    {"early-results", &Heuristics::earlyResults},
    {"constant-pool", &Heuristics::constantPool},
    {"joins", &Heuristics::joins},
    {"early-constants", &Heuristics::earlyConstants},
    {"overlap", &Heuristics::overlap}};

Expected<Heuristics> Heuristics::without(llvm::ArrayRef<std::string> names) {
  Heuristics heuristics;
  for (const std::string &name : names) {
    const auto *found =
        llvm::find_if(kHeuristics, [&](const auto &entry) { return entry.first == name; });
    if (found == std::end(kHeuristics))
      return makeError("without", "'" + name + "'",
                       "some of " + llvm::join(llvm::make_first_range(kHeuristics), ", "));
    heuristics.*found->second = false;
  }
  return heuristics;
}
