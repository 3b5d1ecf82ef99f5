//===- NetworkGroups.cpp - The groups of a whole network ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/NetworkGroups.h"
#include "tpuc/Codegen/Group/GroupChooser.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Those of several groups that need the least global memory may take as many times the cycles of
/// the fastest.
constexpr double kSlower = 1.01;

/// More threads would need more memory (each has plans before it) than they save time.
constexpr unsigned kMostThreads = 4;

/// The sub-networks of the chip and their layers, without groups.
Expected<Parts> bareParts(func::FuncOp main, const GroupOptions &options, const Backend &backend) {
  const bool withConcats =
      options.heuristics.inPlaceConcat && (options.opt != 0 || !options.file.empty());
  Parts parts;
  for (SubNet &subNet : subNetsOf(main.front())) {
    if (subNet.isCpu)
      continue;
    Expected<std::vector<Operation *>> layers = localLayers(subNet.layers, backend, withConcats);
    if (!layers)
      return propagate(layers);
    parts.push_back({.subNet = std::move(subNet), .layers = std::move(*layers)});
  }
  return parts;
}

/// While it lives, several threads may read the ops of a context, and make types and attributes.
class SharedContext {
public:
  SharedContext(func::FuncOp main, bool isShared)
      : context(*main.getContext()), isChanged(isShared && !context.isMultithreadingEnabled()) {
    if (isChanged)
      context.enableMultithreading();
    // Asking for the order of two ops numbers them, if they are not.
    main.front().recomputeOpOrder();
  }
  SharedContext(const SharedContext &) = delete;
  SharedContext &operator=(const SharedContext &) = delete;
  ~SharedContext() {
    if (isChanged)
      context.disableMultithreading();
  }

private:
  MLIRContext &context;
  bool isChanged;
};

} // namespace

/// Groups are scheduled for one engine that computes and one that moves data, which both work in
/// order.
static Expected<void> checkEngines(const TargetInfo &target) {
  const bool areInOrder =
      llvm::all_of(target.engines, [](const EngineInfo &engine) { return engine.inOrder; });
  if (target.engines.size() == 2 && areInOrder)
    return {};
  return makeError("target " + std::string(target.name),
                   std::to_string(target.engines.size()) + " engines" +
                       (areInOrder ? "" : ", not all of them in order"),
                   "one that computes and one that moves data, both in order");
}

size_t codegen::leastMemory(ArrayRef<RunCost> runs) {
  double most = std::numeric_limits<double>::infinity();
  for (const RunCost &run : runs)
    most = std::min(most, run.ratio * kSlower);
  const RunCost *best = nullptr;
  for (const RunCost &run : runs)
    if (run.ratio <= most && (!best || run.bytes < best->bytes))
      best = &run;
  return static_cast<size_t>(best - runs.begin());
}

Expected<NetworkGroups> codegen::chooseGroups(func::FuncOp main, const GroupOptions &options,
                                              const Backend &backend) {
  if (Expected<void> checked = checkEngines(backend.info()); !checked)
    return propagate(checked);
  Expected<Parts> bare = bareParts(main, options, backend);
  if (!bare)
    return propagate(bare);
  const bool isChosen = options.opt > 0 && options.file.empty();
  const unsigned numThreads = options.numThreads ? options.numThreads : availableProcessors();
  ThreadPool threads(isChosen ? std::min(numThreads, kMostThreads) : 1);
  const SharedContext shared(main, threads.numThreads() > 1);
  std::optional<Error> failure;
  SmallVector<ResidentConstants> pools(1);
  if (options.heuristics.residentConstants)
    if (ResidentConstants all = residentConstants(layersOf(*bare), backend); all.rows.bytes() != 0)
      pools.insert(pools.begin(), std::move(all));
  const auto placeOf = [&](const ResidentConstants &pool) {
    return PoolPlace{.pool = pool,
                     .address =
                         Footprint::capacityOf(backend.info())[pool.space] - pool.rows.bytes()};
  };
  const auto networkOf = [](Parts parts, const PoolPlace &place) {
    return NetworkGroups{
        .parts = std::move(parts), .pool = place.pool, .poolAddress = place.address};
  };
  // A time limit stops a search wherever it is.
  const bool mayBeKnown = isChosen && options.seconds == 0;
  const KnownCosts::Key key = mayBeKnown ? networkKey(main, options, backend) : KnownCosts::Key();
  auto &chosenBefore = backend.known()->groups;
  if (const auto known = mayBeKnown ? chosenBefore.find(key) : std::nullopt) {
    const PoolPlace place = placeOf(pools[(*known)->pool]);
    const GroupChooser chooser(main, *bare, place, options, backend, threads);
    if (Expected<Parts> parts = chooser.again(**known))
      return networkOf(std::move(*parts), place);
  }
  constexpr int kAll = 100;
  for (const auto &[number, pool] : llvm::enumerate(pools)) {
    const PoolPlace place = placeOf(pool);
    const GroupChooser chooser(main, *bare, place, options, backend, threads);
    std::optional<Parts> divided;
    Expected<Parts> parts;
    int64_t percent = 0;
    for (const int each : {kAll, 97, 94, 90, 75, 50}) {
      percent = each;
      parts = chooser.plan(percent, isChosen && percent == kAll ? &divided : nullptr);
      if (parts)
        break;
      if (!failure)
        failure = parts.error();
    }
    if (!parts && divided) {
      parts = std::move(*std::exchange(divided, std::nullopt));
      percent = kAll;
    }
    if (!parts)
      continue;
    if (isChosen)
      parts = chooser.preferred(std::move(*parts), percent, std::move(divided));
    if (!parts)
      return propagate(parts);
    if (mayBeKnown)
      chosenBefore.add(key, std::make_shared<const KnownGroups>(knownOf(*parts, number)));
    return networkOf(std::move(*parts), place);
  }
  return tl::unexpected<Error>(*failure);
}
