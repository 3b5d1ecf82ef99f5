//===- LayerCycles.cpp - What each layer of a network takes -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/LayerCycles.h"
#include "tpuc/Codegen/Decompose/RefusedLayers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"

#include <algorithm>

using namespace mlir;
using namespace tpuc;

std::set<std::string> tpuc::layerNames(func::FuncOp main) {
  std::set<std::string> names;
  for (Operation &op : main.front().without_terminator())
    if (!op.hasTrait<traits::Structural>())
      names.insert(layerName(&op));
  return names;
}

LayerCycles::LayerCycles(func::FuncOp main, const ModelFileReport *file) {
  if (!file)
    return;
  const std::set<std::string> names = layerNames(main);
  for (const ModelFileReport::Layer &layer : file->layers) {
    const int64_t cycles = std::max(layer.computeCycles, layer.transferCycles);
    all += cycles;
    if (std::optional<std::string> name = codegen::wholeOf(layer.name, names)) {
      sums[*name] += cycles;
      computeSums[*name] += layer.computeCycles;
    }
  }
}

static int64_t sumOf(const std::map<std::string, int64_t> &sums, Operation *op) {
  auto found = sums.find(layerName(op));
  return found == sums.end() ? 0 : found->second;
}

int64_t LayerCycles::of(Operation *op) const { return sumOf(sums, op); }

int64_t LayerCycles::computeOf(Operation *op) const { return sumOf(computeSums, op); }
