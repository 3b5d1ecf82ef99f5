//===- GroupPlan.cpp - Layers that run together in local memory ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Codegen/Group/GroupDraft.h"
#include "tpuc/Codegen/Schedule/GroupSteps.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

int64_t GroupPlan::numTiles() const {
  int64_t count = 1;
  for (unsigned axisTiles : counts)
    count *= axisTiles;
  return count;
}

int64_t GroupPlan::computeCycles() const {
  return numTiles() * std::accumulate(cycles.begin(), cycles.end(), int64_t{0});
}

int64_t GroupPlan::transferCycles() const {
  int64_t sum = 0;
  for (const GroupTensor &tensor : tensors)
    if (tensor.isLoaded() || tensor.isStored)
      sum += tensor.cycles * (tensor.isLoaded() ? tensor.numVersions : numTiles());
  for (const PartMove &move : moves)
    sum += move.cycles;
  return sum;
}

TiledOp GroupPlan::tiledOp(unsigned layer, const TileCounts &number) const {
  const TileModel &model = *models[layer];
  const GroupTensor &result = tensors[results[layer]];
  const Tile output = tileAt(result.axisTiles, number);
  TiledOp tiled{.op = layers[layer],
                .model = &model,
                .operands = {},
                .result = {output, result.address},
                // Layers are measured one after the other.
                .scratchAddress = layer < scratchAddresses.size() ? scratchAddresses[layer] : 0,
                .scratchBytes = layer < scratchBytes.size() ? scratchBytes[layer] : 0};
  for (auto [index, operand] : llvm::enumerate(model.operands)) {
    LocalTile local;
    const int tensor = operands[layer][index];
    if (operand.isPresent)
      local.tile = operand.slice(output);
    if (tensor >= 0) {
      const GroupTensor &held = tensors[static_cast<size_t>(tensor)];
      local.address = held.address;
      if (const Tile all = tileAt(held.axisTiles, number); all != local.tile && !held.isResident)
        local.held = all;
    }
    tiled.operands.push_back(local);
  }
  for (const PartMove &move : moves)
    if (move.layer == layer)
      tiled.operands[move.operand].isInPlace = true;
  return tiled;
}

unsigned GroupPlan::carrierIndex(const GroupTensor &tensor) const {
  return tensor.producer ? layers[*tensor.producer]->getNumOperands()
                         : tensor.users.front().operand;
}

TiledOp GroupPlan::carrier(const GroupTensor &tensor, const TileCounts &number) const {
  const unsigned layer = tensor.producer ? *tensor.producer : tensor.users.front().layer;
  TiledOp tiled = tiledOp(layer, number);
  if (!tensor.producer)
    tiled.operands[carrierIndex(tensor)] = {tileAt(tensor.axisTiles, number), tensor.address};
  return tiled;
}

void GroupPlan::mergeLifetimes() {
  if (llvm::none_of(tensors, [](const GroupTensor &tensor) { return tensor.container; }))
    return;
  // Makers stand in front of what contains their results.
  for (unsigned result : results) {
    for (const GroupTensor &part : tensors)
      if (part.container == result) {
        tensors[result].firstStep = std::min(tensors[result].firstStep, part.firstStep);
        tensors[result].lastStep = std::max(tensors[result].lastStep, part.lastStep);
      }
  }
  for (unsigned result : llvm::reverse(results))
    for (GroupTensor &part : tensors)
      if (part.container == result) {
        part.firstStep = tensors[result].firstStep;
        part.lastStep = tensors[result].lastStep;
      }
}

void GroupPlanner::appendHeuristics(SmallVectorImpl<uint64_t> &words) const {
  words.push_back(heuristics.overlap ? 1 : 0);
}

Expected<std::shared_ptr<const TileModel>> GroupPlanner::model(Operation *op, TileLayout layout) {
  const std::pair key(kindOf(op), static_cast<unsigned>(layout));
  if (const auto known = models.find(key))
    return *known;
  Expected<TileModel> made = layout != TileLayout::Flat && isInPlaceConcat(op, backend)
                                 ? inPlaceConcatModel(op, backend)
                                 : backend.modelOf(op, layout);
  if (!made)
    return propagate(made);
  return models.add(key, std::make_shared<const TileModel>(std::move(*made)));
}

SmallVector<TileLayout> GroupPlanner::tileLayoutsOf(ArrayRef<Operation *> layers) {
  return codegen::tileLayoutsOf(layers, [&](Operation *op) {
    const int64_t kind = kindOf(op);
    if (const std::optional<bool> known = areFree.find(kind))
      return *known;
    return areFree.add(kind, takesAnyOrder(op, backend.info()));
  });
}

/// That of every chip, and where steps cost less on this one others with more of them.
Expected<std::shared_ptr<const std::vector<LayerTiles>>> GroupPlanner::tilingsOf(Operation *layer) {
  SmallVector<uint64_t> words = {static_cast<uint64_t>(kindOf(layer))};
  for (unsigned space = 0; space < kMostSpaces; ++space)
    words.push_back(static_cast<uint64_t>(capacity[space]));
  const KnownCosts::Key key = KnownCosts::keyOf(words);
  auto &tilings = backend.known()->tilings;
  if (const auto known = tilings.find(key))
    return *known;
  std::vector<LayerTiles> made;
  SmallVector<TilingCosts> all = {{}};
  if (const int64_t stepBytes = backend.stepBytes(); stepBytes != kStepBytes)
    for (const TileOrder order : {TileOrder::ChannelsOutermost, TileOrder::ChannelsInnermost})
      for (const bool mustOverlap : {false, true})
        all.append({{stepBytes, true, order, mustOverlap}, {stepBytes, false, order, mustOverlap}});
  for (const TilingCosts &costs : all) {
    Expected<Tiling> one = planTiling(layer, backend, capacity, costs);
    if (one)
      made.emplace_back(*one);
    else if (!costs.mustOverlap)
      return propagate(one);
  }
  made.shrink_to_fit();
  return tilings.add(key, std::make_shared<const std::vector<LayerTiles>>(std::move(made)));
}

/// Whether a plan takes clearly less time than another and moves hardly more: where memory is
/// faster than the timing parameters say, that would not pay. What is computed in no more time may
/// take a little less, and move more where computing hides that.
static bool isClearlyBetter(const GroupPlan &plan, const GroupPlan &other) {
  constexpr double kClearly = 0.9, kLittle = 0.97, kHardly = 1.1, kNoMore = 1.01, kHidden = 0.8;
  const auto isBelow = [](int64_t one, double part, int64_t another) {
    return static_cast<double>(one) <= part * static_cast<double>(another);
  };
  const int64_t compute = plan.computeCycles(), transfers = plan.transferCycles();
  const bool computesNoMore = isBelow(compute, kNoMore, other.computeCycles());
  return isBelow(plan.estimate, computesNoMore ? kLittle : kClearly, other.estimate) &&
         (isBelow(transfers, kHardly, other.transferCycles()) ||
          (computesNoMore && isBelow(transfers, kHidden, compute)));
}

Expected<GroupPlan> GroupPlanner::alone(Operation *layer) {
  if (const auto known = singles.find(layer))
    return **known;
  GroupDraft connected(*this, layer);
  Expected<std::shared_ptr<const std::vector<LayerTiles>>> choices = tilingsOf(layer);
  if (!choices)
    return propagate(choices);
  if (Expected<void> done = connected.connect(TileLayout::Flat); !done)
    return propagate(done);
  std::shared_ptr<const GroupPlan> best;
  Expected<void> problem;
  for (const LayerTiles &tiles : **choices) {
    GroupDraft draft = connected;
    draft.takeTilings(tiles);
    Expected<void> done = draft.measure();
    if (done)
      done = planSteps(draft.plan, capacity, heuristics.overlap);
    if (!done)
      problem = done;
    else if (!best || isClearlyBetter(draft.plan, *best))
      best = std::make_shared<const GroupPlan>(std::move(draft.plan));
  }
  if (!best)
    return propagate(problem);
  return *singles.add(layer, best);
}

Expected<GroupPlan> GroupPlanner::together(ArrayRef<Operation *> layers, const TileCounts &counts) {
  GroupDraft draft(*this, layers);
  if (Expected<void> connected = draft.connect(tileLayoutsOf(layers)); !connected)
    return propagate(connected);
  if (Expected<void> cut = draft.cut(counts); !cut)
    return propagate(cut);
  if (Expected<void> measured = draft.measure(); !measured)
    return propagate(measured);
  if (Expected<void> fits = planSteps(draft.plan, capacity, heuristics.overlap); !fits)
    return propagate(fits);
  return std::move(draft.plan);
}

/// Along what layers in layout are tiled besides n: pictures along h, matrices along their rows,
/// and what is in any order along what each lane has of it.
static unsigned tileAxis(ArrayRef<TileLayout> layouts) {
  if (llvm::all_of(layouts, [](TileLayout layout) { return layout == TileLayout::Flat; }))
    return kAxisW;
  return llvm::is_contained(layouts, TileLayout::Matrix) ? kAxisC : kAxisH;
}

/// The parts that `total` tiles make, n first, then along `second`.
static std::optional<TileCounts> countsFor(const GroupPlan &plan, unsigned second,
                                           const Backend &backend, int64_t total) {
  const std::array<unsigned, 2> axes{kAxisN, second};
  std::array<int64_t, 2> most;
  most.fill(std::numeric_limits<int64_t>::max());
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isStored)
      for (auto [limit, axis] : llvm::zip_equal(most, axes)) {
        const int64_t unit = backend.tileUnit(plan.layers[*tensor.producer], axis);
        const int64_t extent = plan.models[*tensor.producer]->result[axis];
        limit = std::min(limit, static_cast<int64_t>(llvm::divideCeil(extent, unit)));
      }
  TileCounts counts{1, 1, 1, 1, 1};
  const int64_t first = std::min(most[0], total);
  const auto rest = static_cast<int64_t>(llvm::divideCeil(total, first));
  if (rest > most[1])
    return std::nullopt;
  counts[kAxisN] = static_cast<unsigned>(first);
  counts[second] = static_cast<unsigned>(rest);
  return counts;
}

/// A connected group in `counts` parts.
Expected<std::shared_ptr<const GroupPlan>> GroupPlanner::tileInto(const TileCounts &counts,
                                                                  const GroupDraft &connected,
                                                                  SuffixCache &tails,
                                                                  CapacityRange &range) {
  if (auto known = tails.impossible.find(counts); known != tails.impossible.end()) {
    range.narrowTo(known->second.range);
    return tl::unexpected<Error>(known->second.reason);
  }
  GroupDraft draft = connected;
  std::shared_ptr<const GroupPlan> &tail = tails.plans[counts];
  Expected<void> done = draft.cut(counts, tail.get());
  if (done)
    done = draft.measure(tail.get());
  range.narrowTo(draft.plan.range);
  if (draft.isHopeless)
    tails.impossible.emplace(counts, SuffixCache::Impossible{done.error(), draft.plan.range});
  if (!done)
    return propagate(done);
  auto plan = std::make_shared<GroupPlan>(std::move(draft.plan));
  tail = plan;
  if (Expected<void> fits = planSteps(*plan, capacity, heuristics.overlap, &range); !fits)
    return propagate(fits);
  return plan;
}

/// Whether each layer makes a part of its channels in each part of a group, so that nothing is
/// computed twice.
static bool areApart(const GroupPlan &plan) {
  return llvm::all_of(plan.results, [&](unsigned result) {
    return plan.tensors[result].axisTiles[kAxisC].size() == plan.counts[kAxisC];
  });
}

/// Short groups whose layers each need only the channels of their own part of what is made in the
/// group, such as a convolution and the sum behind it.
void GroupPlanner::addChannelCuts(const GroupDraft &connected, SuffixCache &tails,
                                  CapacityRange &range,
                                  std::vector<std::shared_ptr<const GroupPlan>> &cuts) {
  constexpr size_t kMostLayers = 4;
  // More parts are more commands.
  constexpr double kClearly = 0.95;
  if (!backend.tilesChannelsOfGroups() || connected.plan.layers.size() > kMostLayers ||
      connected.plan.layers.size() == 1)
    return;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const std::shared_ptr<const GroupPlan> &plan : cuts)
    least = std::min(least, plan->estimate);
  for (const unsigned channels : {2, 4, 8}) {
    TileCounts counts{1, 1, 1, 1, 1};
    counts[kAxisC] = channels;
    GroupDraft draft = connected;
    if (!draft.cut(counts) || !areApart(draft.plan))
      return;
    unsigned worse = 0;
    for (const int64_t rows : {1, 2, 3, 4, 6, 8, 11, 16, 22, 32}) {
      const std::optional<TileCounts> along = countsFor(connected.plan, kAxisH, backend, rows);
      if (!along || worse == 2)
        break;
      counts = *along;
      counts[kAxisC] = channels;
      Expected<std::shared_ptr<const GroupPlan>> plan = tileInto(counts, connected, tails, range);
      if (!plan)
        continue;
      if (static_cast<double>((*plan)->estimate) > kClearly * static_cast<double>(least)) {
        ++worse;
        continue;
      }
      least = (*plan)->estimate;
      cuts.push_back(std::move(*plan));
    }
  }
}

Expected<std::vector<std::shared_ptr<const GroupPlan>>>
GroupPlanner::cuts(ArrayRef<Operation *> layers, int64_t fewest, SuffixCache *known,
                   CapacityRange *asked) {
  CapacityRange unused;
  CapacityRange &range = asked ? *asked : unused;
  SmallVector<TileLayout> layouts = tileLayoutsOf(layers);
  const unsigned second = layers.size() == 1 ? unsigned{kAxisH} : tileAxis(layouts);
  SuffixCache own;
  SuffixCache &tails = known ? *known : own;
  const size_t shared = std::min(layouts.size(), tails.layouts.size());
  if (ArrayRef(layouts).take_back(shared) != ArrayRef(tails.layouts).take_back(shared))
    tails = {};
  tails.layouts = layouts;
  GroupDraft connected(*this, layers);
  if (Expected<void> done = connected.connect(layouts); !done)
    return propagate(done);
  std::vector<std::shared_ptr<const GroupPlan>> cuts;
  Error failure;
  // Finer tiles than the first ones that fit seldom help: they only shorten what is not
  // overlapped. Rows that fit whole are never tiled, as that loads their weights again.
  const bool areRows = second == kAxisC;
  int64_t least = std::numeric_limits<int64_t>::max();
  unsigned worse = 0;
  for (int64_t total : {1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64}) {
    const std::optional<TileCounts> counts = countsFor(connected.plan, second, backend, total);
    if (!counts || worse == 2 || (!cuts.empty() && areRows))
      break;
    if (3 * total < 2 * fewest)
      continue;
    Expected<std::shared_ptr<const GroupPlan>> plan = tileInto(*counts, connected, tails, range);
    if (!plan) {
      failure = plan.error();
      continue;
    }
    worse += least <= (*plan)->estimate ? 1 : 0;
    least = std::min(least, (*plan)->estimate);
    cuts.push_back(std::move(*plan));
  }
  if (second == kAxisH)
    addChannelCuts(connected, tails, range, cuts);
  if (cuts.empty())
    return tl::unexpected<Error>(std::move(failure));
  return cuts;
}
