//===- Search.cpp - The fastest mapping of a layer ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Mapping/Search.h"

#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Machine/Timing.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::dnnweaver {

namespace {

std::vector<unsigned> divisorsOf(unsigned number) {
  std::vector<unsigned> divisors;
  for (unsigned d = 1; d <= number; ++d)
    if (number % d == 0)
      divisors.push_back(d);
  return divisors;
}

class Searcher {
public:
  Searcher(const Parameters &machine, const ConvLayer &layer, const Placement &placement,
           const AluRecipe &recipe, const std::string &where, const SearchOptions &options)
      : machine(machine), layer(layer), placement(placement), recipe(recipe), where(where),
        options(options) {}
  Expected<SearchResult> run();
  Expected<SearchResult> plain();

private:
  /// A tile, and cycles that it takes at least.
  struct Candidate {
    Mapping mapping;
    uint64_t bound = 0;
  };
  Expected<void> collect();
  bool fits(const Mapping &mapping) const;
  Expected<void> addCandidate(Mapping mapping);
  std::vector<std::array<TileLoop, kNumTileLoops>> tileOrders(const Mapping &mapping) const;
  uint64_t boundOf(const Mapping &mapping, const Block &block) const;
  Expected<void> price(const Candidate &candidate);
  Expected<void> priceOrders(Mapping mapping);
  tl::unexpected<Error> nothingFits() const;

  const Parameters &machine;
  const ConvLayer &layer;
  const Placement &placement;
  const AluRecipe &recipe;
  const std::string &where;
  const SearchOptions &options;
  std::vector<Candidate> candidates;
  SearchResult best;
  bool hasBest = false;
};

bool Searcher::fits(const Mapping &mapping) const {
  const std::array<uint64_t, kNumBuffers> words = tileWords(layer, mapping);
  for (unsigned i = 0; i < kNumBuffers; ++i)
    if (words[i] > machine.words[i])
      return false;
  // Weights by row must stay while rows and columns pass, which are innermost then.
  const Extent sums = layer.sumsOf(mapping.tile);
  return !machine.weightsByRow ||
         uint64_t{sums.h - layer.poolPad.h} * (sums.w - layer.poolPad.w) * layer.repeats >=
             machine.rows;
}

Expected<void> Searcher::addCandidate(Mapping mapping) {
  ++best.numTiles;
  if (!fits(mapping))
    return {};
  mapping.wordOrder = bestWordOrder(machine, layer, mapping);
  mapping.tileOrder = tileOrders(mapping).front();
  const Expected<Block> block = emitBlock(machine, layer, mapping, placement, recipe, where);
  if (!block)
    return tl::unexpected<Error>(block.error());
  if (!checkBlock(machine, *block, where))
    return {};
  ++best.numFitting;
  candidates.push_back({mapping, boundOf(mapping, *block)});
  return {};
}

Expected<void> Searcher::collect() {
  const bool isWhole = layer.poolPad.h + layer.poolPad.w > 0 || layer.repeats > 1;
  for (const unsigned h : divisorsOf(layer.result.h))
    for (const unsigned w : divisorsOf(layer.result.w)) {
      if (isWhole && Extent{h, w} != layer.result)
        continue;
      for (const unsigned in : divisorsOf(layer.inWords))
        for (const unsigned out : divisorsOf(layer.outWords))
          if (Expected<void> done = addCandidate({.tile = {h, w}, .inWords = in, .outWords = out});
              !done)
            return done;
    }
  return {};
}

/// Orders that differ in loops of more than one trip, with those over inputs within the others. The
/// loops of one trip come last.
std::vector<std::array<TileLoop, kNumTileLoops>>
Searcher::tileOrders(const Mapping &mapping) const {
  const std::array<uint32_t, kNumTileLoops> trips = tileTrips(layer, mapping);
  std::vector<TileLoop> moving, still;
  for (const TileLoop loop : {TileLoop::Rows, TileLoop::Columns, TileLoop::Outputs})
    (trips[static_cast<size_t>(loop)] > 1 ? moving : still).push_back(loop);
  std::vector<std::array<TileLoop, kNumTileLoops>> orders;
  std::sort(moving.begin(), moving.end());
  do {
    std::array<TileLoop, kNumTileLoops> order{};
    size_t at = 0;
    order[at++] = TileLoop::Inputs;
    for (const TileLoop loop : moving)
      order[at++] = loop;
    for (const TileLoop loop : still)
      order[at++] = loop;
    orders.push_back(order);
  } while (std::next_permutation(moving.begin(), moving.end()));
  return orders;
}

/// What each unit has to do at least, whatever the order: the array all tiles, the ALU those that
/// are finished, the ports every tile once.
uint64_t Searcher::boundOf(const Mapping &mapping, const Block &block) const {
  const TileCycles cycles = tileCycles(machine, block);
  const std::array<uint32_t, kNumTileLoops> trips = tileTrips(layer, mapping);
  const uint64_t places = uint64_t{trips[0]} * trips[1];
  const uint64_t ins = trips[2];
  const uint64_t outs = trips[3];
  return std::max({places * ins * outs * cycles.compute, places * outs * cycles.alu,
                   places * ins * cycles.load[index(Buffer::Input)],
                   ins * outs * cycles.load[index(Buffer::Weight)],
                   places * outs * cycles.load[index(Buffer::Output)]});
}

Expected<void> Searcher::priceOrders(Mapping mapping) {
  for (const std::array<TileLoop, kNumTileLoops> &order : tileOrders(mapping)) {
    mapping.tileOrder = order;
    const Expected<Block> block = emitBlock(machine, layer, mapping, placement, recipe, where);
    if (!block)
      return tl::unexpected<Error>(block.error());
    if (!checkBlock(machine, *block, where))
      continue;
    const uint64_t cycles = blockCycles(machine, *block).total;
    ++best.numPrices;
    if (!hasBest || cycles < best.cycles) {
      best.mapping = mapping;
      best.cycles = cycles;
      hasBest = true;
    }
  }
  return {};
}

Expected<void> Searcher::price(const Candidate &candidate) {
  ++best.numPriced;
  if (!options.triesWordOrders)
    return priceOrders(candidate.mapping);
  Mapping mapping = candidate.mapping;
  std::sort(mapping.wordOrder.begin(), mapping.wordOrder.end());
  do
    if (Expected<void> done = priceOrders(mapping); !done)
      return done;
  while (std::next_permutation(mapping.wordOrder.begin(), mapping.wordOrder.end()));
  return {};
}

Expected<SearchResult> Searcher::run() {
  if (Expected<void> done = collect(); !done)
    return propagate(done);
  if (options.usesBounds)
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate &a, const Candidate &b) { return a.bound < b.bound; });
  for (const Candidate &candidate : candidates) {
    if (options.usesBounds && hasBest && candidate.bound >= best.cycles)
      break;
    if (Expected<void> done = price(candidate); !done)
      return propagate(done);
  }
  return hasBest ? Expected<SearchResult>(best) : nothingFits();
}

/// The largest divisor of `number` that is at most `most`.
unsigned divisorUpTo(unsigned number, unsigned most) {
  unsigned largest = 1;
  for (const unsigned divisor : divisorsOf(number))
    largest = divisor <= most ? divisor : largest;
  return largest;
}

Expected<SearchResult> Searcher::plain() {
  constexpr unsigned kSide = 8;
  Mapping mapping{.tile = {divisorUpTo(layer.result.h, kSide), divisorUpTo(layer.result.w, kSide)}};
  if (layer.poolPad.h + layer.poolPad.w > 0 || layer.repeats > 1)
    mapping.tile = layer.result;
  const auto widen = [&](unsigned &side, unsigned whole) {
    for (const unsigned divisor : divisorsOf(whole)) {
      const Extent sums = layer.sumsOf(mapping.tile);
      if (!machine.weightsByRow || sums.area() >= machine.rows)
        return;
      side = std::max(side, divisor);
    }
  };
  widen(mapping.tile.w, layer.result.w);
  widen(mapping.tile.h, layer.result.h);
  if (machine.weightsByRow)
    mapping.wordOrder = {WordLoop::Columns, WordLoop::Rows,          WordLoop::Inputs,
                         WordLoop::Outputs, WordLoop::KernelColumns, WordLoop::KernelRows};
  if (!fits(mapping))
    return run();
  mapping.tileOrder = tileOrders(mapping).front();
  const Expected<Block> block = emitBlock(machine, layer, mapping, placement, recipe, where);
  if (!block)
    return tl::unexpected<Error>(block.error());
  if (!checkBlock(machine, *block, where))
    return run();
  return SearchResult{.mapping = mapping, .cycles = blockCycles(machine, *block).total};
}

tl::unexpected<Error> Searcher::nothingFits() const {
  // Say what the smallest tile lacks.
  Mapping smallest{.tile = {1, 1}, .inWords = 1, .outWords = 1};
  if (layer.poolPad.h + layer.poolPad.w > 0 || layer.repeats > 1)
    smallest.tile = layer.result;
  const std::array<uint64_t, kNumBuffers> words = tileWords(layer, smallest);
  for (const Buffer buffer : {Buffer::Input, Buffer::Weight, Buffer::Output, Buffer::Bias})
    if (const unsigned i = index(buffer); words[i] > machine.words[i])
      return makeError(
          where,
          fmt::format("{} bytes of the {} buffer for the smallest tile",
                      words[i] * machine.wordBytes(buffer, layer.pairs), kBufferNames[i]),
          fmt::format("at most {}", machine.words[i] * machine.wordBytes(buffer, layer.pairs)));
  return makeError(
      where, fmt::format("no tile of {} x {} results fits", layer.result.h, layer.result.w),
      machine.weightsByRow ? fmt::format("{} places of a tile, while weights arrive", machine.rows)
                           : "a tile");
}

} // namespace

Expected<SearchResult> searchMapping(const Parameters &machine, const ConvLayer &layer,
                                     const Placement &placement, const AluRecipe &recipe,
                                     const std::string &where, const SearchOptions &options) {
  return Searcher(machine, layer, placement, recipe, where, options).run();
}

Expected<SearchResult> plainMapping(const Parameters &machine, const ConvLayer &layer,
                                    const Placement &placement, const AluRecipe &recipe,
                                    const std::string &where) {
  return Searcher(machine, layer, placement, recipe, where, {}).plain();
}

Expected<SearchResult> MappingCache::find(const Parameters &machine, const ConvLayer &layer,
                                          const Placement &placement, const AluRecipe &recipe,
                                          const std::string &where) {
  std::vector<uint64_t> key = {static_cast<uint64_t>(machine.isa),
                               machine.rows,
                               machine.columns,
                               machine.dataBits,
                               machine.aluBits,
                               machine.weightsByRow,
                               machine.portBytes,
                               machine.readLatency,
                               machine.loopSwitchCycles,
                               machine.programWords};
  key.insert(key.end(), machine.words.begin(), machine.words.end());
  for (const Extent &extent :
       {layer.result, layer.kernel, layer.stride, layer.pool, layer.poolStride, layer.poolPad})
    key.insert(key.end(), {extent.h, extent.w});
  key.insert(key.end(),
             {layer.inWords, layer.outWords, layer.pairs, layer.repeats, layer.pairsKernels});
  // Of addresses only what they are multiples of matters.
  constexpr uint64_t kAlignment = 4096;
  const Image *images[] = {&placement.input, &placement.sums, &placement.output,
                           placement.copy ? &*placement.copy : nullptr};
  for (const Image *image : images) {
    key.push_back(image != nullptr);
    if (image)
      key.insert(key.end(), {image->address % kAlignment, image->pixelBytes, image->rowBytes});
  }
  key.insert(key.end(),
             {placement.weight % kAlignment, placement.bias % kAlignment, placement.upsamples,
              placement.copiesUnpooled, placement.pairs ? placement.pairs->input : 0,
              placement.pairs ? placement.pairs->bias % kAlignment : 0});
  // Of operations what they read and write.
  for (const std::vector<AluOp> *ops : {&recipe.first, &recipe.then, &recipe.last}) {
    key.push_back(ops->size());
    for (const AluOp &op : *ops)
      key.push_back(uint64_t{static_cast<uint8_t>(op.function)} << 32 | uint64_t{op.target} << 24 |
                    uint64_t{op.source0} << 16 | uint64_t{op.source1} << 8 |
                    uint64_t{op.isImmediate});
  }
  if (const auto found = results.find(key); found != results.end())
    return found->second;
  Expected<SearchResult> result = searches ? searchMapping(machine, layer, placement, recipe, where)
                                           : plainMapping(machine, layer, placement, recipe, where);
  if (result)
    results.emplace(std::move(key), *result);
  return result;
}

} // namespace tpuc::dnnweaver
