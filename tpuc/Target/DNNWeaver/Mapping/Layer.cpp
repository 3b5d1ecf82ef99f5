//===- Layer.cpp - A convolution, its tiles and its loops -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Mapping/Layer.h"

#include "tpuc/Target/DNNWeaver/Machine/Timing.h"

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
  return {input.area() * mapping.inWords, sums.area() * layer.repeats * mapping.outWords,
          layer.kernel.area() * mapping.inWords * mapping.outWords,
          uint64_t{mapping.outWords} * (layer.pairsKernels ? 2 : 1)};
}

namespace {

Level wordLevel(const ConvLayer &layer, const Mapping &mapping, WordLoop loop) {
  Level level{.trips = wordTrips(layer, mapping)[static_cast<size_t>(loop)]};
  const Extent sums = layer.sumsOf(mapping.tile);
  const Extent input = layer.inputOf({sums.h - layer.poolPad.h, sums.w - layer.poolPad.w});
  uint32_t *to = level.strides.data();
  const uint32_t in = mapping.inWords;
  const uint32_t out = mapping.outWords;
  switch (loop) {
  case WordLoop::Inputs:
    to[index(Buffer::Input)] = to[index(Buffer::Weight)] = 1;
    break;
  case WordLoop::KernelColumns:
    to[index(Buffer::Input)] = to[index(Buffer::Weight)] = in;
    break;
  case WordLoop::KernelRows:
    to[index(Buffer::Input)] = input.w * in;
    to[index(Buffer::Weight)] = layer.kernel.w * in;
    break;
  case WordLoop::Columns:
    to[index(Buffer::Input)] = layer.stride.w * in;
    to[index(Buffer::Output)] = out;
    break;
  case WordLoop::Rows:
    to[index(Buffer::Input)] = layer.stride.h * input.w * in;
    to[index(Buffer::Output)] = sums.w * out;
    break;
  case WordLoop::Outputs:
    to[index(Buffer::Weight)] = static_cast<uint32_t>(layer.kernel.area()) * in;
    to[index(Buffer::Output)] = to[index(Buffer::Bias)] = 1;
    break;
  }
  return level;
}

/// Whether `outer` goes on where `inner` ends, in all buffers.
bool continues(const Level &inner, const Level &outer) {
  if (uint64_t{inner.trips} * outer.trips > 65536)
    return false;
  for (unsigned i = 0; i < kNumBuffers; ++i)
    if (outer.strides[i] != uint64_t{inner.trips} * inner.strides[i])
      return false;
  return true;
}

} // namespace

Levels arrayLevels(const ConvLayer &layer, const Mapping &mapping) {
  Levels levels;
  const Extent sums = layer.sumsOf(mapping.tile);
  Level again{.trips = layer.repeats};
  again.strides[index(Buffer::Output)] = static_cast<uint32_t>(sums.area() * mapping.outWords);
  unsigned numPlaces = 0;
  for (const WordLoop loop : mapping.wordOrder) {
    const Level level = wordLevel(layer, mapping, loop);
    const bool isPlace = loop == WordLoop::Columns || loop == WordLoop::Rows;
    numPlaces += isPlace ? 1 : 0;
    const bool isLastPlace = isPlace && numPlaces == 2 && layer.repeats > 1;
    if (level.trips == 1) {
      if (isLastPlace)
        levels.push_back(again);
      continue;
    }
    if (mapping.collapses && !levels.empty() && continues(levels.back(), level))
      levels.back().trips *= level.trips;
    else
      levels.push_back(level);
    if (isLastPlace)
      levels.push_back(again);
  }
  if (levels.empty())
    levels.push_back({});
  return levels;
}

std::array<WordLoop, kNumWordLoops> bestWordOrder(const Parameters &machine, const ConvLayer &layer,
                                                  Mapping mapping) {
  using enum WordLoop;
  const std::array<uint32_t, kNumWordLoops> trips = wordTrips(layer, mapping);
  // Of loops that stay apart, the one of the most trips belongs innermost. So each way to put loops
  // together that may become one is tried with its parts in this order.
  const std::vector<std::vector<WordLoop>> reductions[] = {
      {{Inputs}, {KernelColumns}, {KernelRows}},
      {{Inputs, KernelColumns}, {KernelRows}},
      {{Inputs, KernelColumns, KernelRows}},
      {{Inputs}, {KernelColumns, KernelRows}},
  };
  const std::vector<std::vector<WordLoop>> places[] = {{{Columns}, {Rows}}, {{Columns, Rows}}};
  std::array<WordLoop, kNumWordLoops> best = mapping.wordOrder;
  uint64_t fewest = ~uint64_t{0};
  for (const auto &reduction : reductions)
    for (const auto &place : places) {
      struct Part {
        std::vector<WordLoop> loops;
        bool isPlace;
        uint64_t trips;
      };
      std::vector<Part> parts;
      const auto add = [&](const std::vector<WordLoop> &loops, bool isPlace) {
        uint64_t product = 1;
        for (const WordLoop loop : loops)
          product *= trips[static_cast<size_t>(loop)];
        parts.push_back({loops, isPlace, product});
      };
      for (const auto &loops : reduction)
        add(loops, false);
      for (const auto &loops : place)
        add(loops, true);
      add({Outputs}, false);
      std::stable_sort(parts.begin(), parts.end(), [&](const Part &a, const Part &b) {
        if (machine.weightsByRow && a.isPlace != b.isPlace)
          return a.isPlace;
        return a.trips > b.trips;
      });
      size_t at = 0;
      for (const Part &part : parts)
        for (const WordLoop loop : part.loops)
          mapping.wordOrder[at++] = loop;
      const uint64_t cycles = nestCycles(machine, arrayLevels(layer, mapping));
      if (cycles < fewest) {
        fewest = cycles;
        best = mapping.wordOrder;
      }
    }
  return best;
}

} // namespace tpuc::dnnweaver
