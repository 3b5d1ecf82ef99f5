//===- DNNWeaverBench.cpp - Cycles of YOLOv2-tiny -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cycles of the nine layers of YOLOv2-tiny at 416 x 416 on a 32 x 32 array, as ratios to what the
// public hardware description took for the same loops. Then the mappings that the search finds, as
// ratios to the steps that the array needs at least, and the patent's machine in int16 and int8.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Timing.h"
#include "tpuc/Target/DNNWeaver/Mapping/Reference.h"
#include "tpuc/Target/DNNWeaver/Mapping/Search.h"

#include <ctime>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

constexpr ReferenceOrder kOrders[] = {ReferenceOrder::AsCompiled, ReferenceOrder::Collapsed,
                                      ReferenceOrder::Reordered};

/// Steps of the array without anything else.
uint64_t stepsOf(const ConvLayer &layer) {
  const Extent sums = layer.sumsOf(layer.result);
  return uint64_t{sums.h - layer.poolPad.h} * (sums.w - layer.poolPad.w) * layer.kernel.area() *
         layer.inWords * layer.outWords;
}

/// What the hardware description took for all layers.
uint64_t referenceTotal(ReferenceOrder order) {
  uint64_t cycles = 0;
  for (const ReferenceLayer &layer : referenceLayers())
    cycles += referenceCycles(layer, order);
  return cycles;
}

bool printClock(const Parameters &machine) {
  fmt::print("cycles of the hardware description, and of the simulator divided by them\n");
  fmt::print("{:<8}{:>20}{:>22}{:>20}\n", "layer", "as compiled", "collapsed", "reordered");
  std::array<uint64_t, 3> sums = {}, measured = {};
  for (const ReferenceLayer &layer : referenceLayers()) {
    fmt::print("{:<8}", layer.name);
    for (size_t i = 0; i < 3; ++i) {
      const Expected<Block> block = referenceBlock(machine, layer, kOrders[i]);
      if (!block)
        return false;
      const uint64_t cycles = blockCycles(machine, *block).total;
      const uint64_t expected = referenceCycles(layer, kOrders[i]);
      fmt::print("{:>12}{:>8.4f}", expected,
                 static_cast<double>(cycles) / static_cast<double>(expected));
      sums[i] += cycles;
      measured[i] += expected;
    }
    fmt::print("\n");
  }
  fmt::print("{:<8}", "total");
  for (size_t i = 0; i < 3; ++i)
    fmt::print("{:>12}{:>8.4f}", measured[i],
               static_cast<double>(sums[i]) / static_cast<double>(measured[i]));
  fmt::print("\n\n");
  return true;
}

struct Found {
  uint64_t cycles = 0, steps = 0, tiles = 0, fitting = 0, prices = 0;
};

Found search(const Parameters &machine, bool pairs, bool usesBounds, bool prints) {
  Found sum;
  for (const ReferenceLayer &reference : referenceLayers()) {
    ConvLayer layer = reference.layer;
    layer.pairs = pairs;
    // The halves of an odd number of rows share one row.
    if (pairs)
      layer.result.h = (layer.result.h + 1) / 2;
    if (layer.poolPad.h > 0 && machine.isa == IsaKind::Patent)
      layer.poolPad = {0, 0};
    const AluRecipe recipe = machine.isa == IsaKind::Public ? publicRecipe(12, 100, 7, 3277)
                                                            : patentRecipe(100, 20, 3277, 5);
    const Expected<SearchResult> found =
        searchMapping(machine, layer, placeAlone(machine, layer), recipe,
                      std::string(reference.name), {.usesBounds = usesBounds});
    if (!found) {
      fmt::print("{}\n", found.error().message());
      continue;
    }
    const Mapping &mapping = found->mapping;
    if (prints)
      fmt::print("{:<8}{:>10}{:>8.3f}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}\n", reference.name,
                 found->cycles,
                 static_cast<double>(found->cycles) / static_cast<double>(stepsOf(layer)),
                 fmt::format("{}x{}", mapping.tile.h, mapping.tile.w), mapping.inWords,
                 mapping.outWords, found->numTiles, found->numFitting, found->numPrices);
    sum.cycles += found->cycles;
    sum.steps += stepsOf(layer);
    sum.tiles += found->numTiles;
    sum.fitting += found->numFitting;
    sum.prices += found->numPrices;
  }
  return sum;
}

void printSearch(const Parameters &machine) {
  fmt::print("mappings of the set '{}', and their cycles divided by the array's steps\n",
             machine.name);
  fmt::print("{:<8}{:>10}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}\n", "layer", "cycles", "ratio",
             "tile", "inputs", "outputs", "tiles", "fit", "priced");
  std::clock_t start = std::clock();
  const Found found = search(machine, false, true, true);
  const double bounded = static_cast<double>(std::clock() - start);
  start = std::clock();
  const Found all = search(machine, false, false, false);
  const double unbounded = static_cast<double>(std::clock() - start);
  fmt::print("{:<8}{:>10}{:>8.3f}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}\n", "total", found.cycles,
             static_cast<double>(found.cycles) / static_cast<double>(found.steps), "", "", "",
             found.tiles, found.fitting, found.prices);
  fmt::print("{:.1f} frames/s at {} MHz; all {} prices give {} cycles and take {:.1f} times as "
             "long\n\n",
             1e6 * machine.megahertz / static_cast<double>(found.cycles), machine.megahertz,
             all.prices, all.cycles, unbounded / bounded);
}

} // namespace

int main() {
  const Parameters machine = *parametersNamed("public", "");
  if (!printClock(machine))
    return 1;
  printSearch(machine);
  const uint64_t searched = search(machine, false, true, false).cycles;
  const uint64_t given = referenceTotal(ReferenceOrder::Reordered);
  fmt::print(
      "the public compiler's tiles with the best order of loops took {} cycles, {:.3f} times "
      "as many\n",
      given, static_cast<double>(given) / static_cast<double>(searched));
  const Parameters patent = *parametersNamed("patent", "");
  const uint64_t words = search(patent, false, true, false).cycles;
  const uint64_t bytes = search(patent, true, true, false).cycles;
  fmt::print("the set '{}': {} cycles in int16, {} in int8, {:.2f} times fewer\n", patent.name,
             words, bytes, static_cast<double>(words) / static_cast<double>(bytes));
  return 0;
}
