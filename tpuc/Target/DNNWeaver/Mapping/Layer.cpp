//===- Layer.cpp - A convolution, its tiles and its loops -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Mapping/Layer.h"

#include <algorithm>

namespace tpuc::dnnweaver {

std::array<uint32_t, kNumTileLoops> tileTrips(const ConvLayer &layer, const Mapping &mapping) {
  return {layer.result.h / mapping.tile.h, layer.result.w / mapping.tile.w,
          layer.inWords / mapping.inWords, layer.outWords / mapping.outWords};
}

std::array<uint32_t, kNumWordLoops> wordTrips(const ConvLayer &layer, const Mapping &mapping) {
  const Extent sums = layer.sumsOf(mapping.tile);
  return {mapping.inWords,          layer.kernel.w,           layer.kernel.h,
          sums.w - layer.poolPad.w, sums.h - layer.poolPad.h, mapping.outWords};
}

std::array<uint64_t, kNumBuffers> tileWords(const ConvLayer &layer, const Mapping &mapping) {
  const Extent sums = layer.sumsOf(mapping.tile);
  const Extent input = layer.inputOf({sums.h - layer.poolPad.h, sums.w - layer.poolPad.w});
  return {input.area() * mapping.inWords, sums.area() * mapping.outWords,
          layer.kernel.area() * mapping.inWords * mapping.outWords, mapping.outWords};
}

std::array<WordLoop, kNumWordLoops> bestWordOrder(const Parameters &machine, const ConvLayer &layer,
                                                  const Mapping &mapping) {
  const std::array<uint32_t, kNumWordLoops> trips = wordTrips(layer, mapping);
  const auto tripsOfLoop = [&](WordLoop loop) { return trips[static_cast<size_t>(loop)]; };
  // Each entry is one loop, or two that become one.
  struct Entry {
    uint64_t trips;
    bool isSpatial;
    std::vector<WordLoop> loops;
  };
  std::vector<Entry> entries;
  if (mapping.collapses)
    entries.push_back(
        {uint64_t{tripsOfLoop(WordLoop::Inputs)} * tripsOfLoop(WordLoop::KernelColumns),
         false,
         {WordLoop::Inputs, WordLoop::KernelColumns}});
  else
    for (const WordLoop loop : {WordLoop::Inputs, WordLoop::KernelColumns})
      entries.push_back({tripsOfLoop(loop), false, {loop}});
  for (const WordLoop loop :
       {WordLoop::KernelRows, WordLoop::Columns, WordLoop::Rows, WordLoop::Outputs})
    entries.push_back(
        {tripsOfLoop(loop), loop == WordLoop::Columns || loop == WordLoop::Rows, {loop}});
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry &a, const Entry &b) {
    if (machine.weightsByRow && a.isSpatial != b.isSpatial)
      return a.isSpatial;
    return a.trips > b.trips;
  });
  std::array<WordLoop, kNumWordLoops> order{};
  size_t at = 0;
  for (const Entry &entry : entries)
    for (const WordLoop loop : entry.loops)
      order[at++] = loop;
  return order;
}

} // namespace tpuc::dnnweaver
