//===- KnownGroups.cpp - Networks whose groups have been chosen -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/KnownGroups.h"
#include "tpuc/Codegen/Group/WindowCost.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

KnownCosts::Key codegen::networkKey(func::FuncOp main, const GroupOptions &options,
                                    const Backend &backend) {
  OpWindow all;
  for (Operation &op : main.front())
    all.ops.push_back(&op);
  OpKinds kinds(backend.known()->kinds);
  const WindowKey key = windowKey(all, all.ops.front(), kinds);
  SmallVector<uint64_t> words(key.begin(), key.end());
  words.push_back(static_cast<uint64_t>(options.opt));
  const Heuristics &heuristics = options.heuristics;
  for (const bool isUsed :
       {heuristics.residentConstants, heuristics.inPlaceConcat, heuristics.earlyConstants,
        heuristics.overlap, heuristics.leastWork, heuristics.urgentTransfers})
    words.push_back(isUsed ? 1 : 0);
  return KnownCosts::keyOf(words);
}

KnownGroups codegen::knownOf(ArrayRef<SubNetGroups> parts, size_t pool) {
  KnownGroups known{.pool = pool};
  for (const SubNetGroups &part : parts) {
    known.limit = part.planner->limit();
    known.parts.push_back({part.partition, part.fill, part.order});
  }
  return known;
}
