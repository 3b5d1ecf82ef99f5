//===- GroupCandidates.cpp - Groups that the timing simulator prefers -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Emit/NetworkEmitter.h"
#include "tpuc/Codegen/Group/GroupChooser.h"
#include "tpuc/Codegen/Place/AddressAssign.h"

#include <chrono>
#include <thread>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// The percent of local memory for which groups are chosen as well as for all of it.
static constexpr int64_t kSmaller = 90;

static bool isWeighed(ArrayRef<SubNetGroups> parts) {
  return llvm::any_of(parts, [](const SubNetGroups &part) { return part.fastest.has_value(); });
}

static bool isCrowded(ArrayRef<SubNetGroups> parts) {
  return llvm::any_of(parts, [](const SubNetGroups &part) { return part.isCrowded; });
}

namespace tpuc::codegen {

/// Shares a time limit between searches that follow each other: each may take an equal part of what
/// those before have left.
class SearchTime {
public:
  SearchTime(std::chrono::seconds limit, size_t searches)
      : isLimited(limit.count() > 0), end(std::chrono::steady_clock::now() + limit),
        left(static_cast<int64_t>(searches)) {}

  /// For the next search; 0: no limit.
  std::chrono::milliseconds next() {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const std::chrono::milliseconds share = rest / std::max<int64_t>(left--, 1);
    return isLimited ? std::max(share, std::chrono::milliseconds(1)) : std::chrono::milliseconds(0);
  }

private:
  bool isLimited;
  std::chrono::steady_clock::time_point end;
  int64_t left;
};

} // namespace tpuc::codegen

/// Other groups than those planned: the fastest, and where memory is crowded or a search may set
/// out from them those for a smaller one, too.
std::vector<Parts> GroupChooser::othersOf(ArrayRef<SubNetGroups> parts, int64_t percent) const {
  std::vector<Parts> made;
  const auto addFastest = [&](ArrayRef<SubNetGroups> of) {
    if (!isWeighed(of))
      return true;
    std::optional<Parts> fastest = fastestOf(of);
    if (fastest)
      made.push_back(std::move(*fastest));
    return fastest.has_value();
  };
  const bool isEnough = addFastest(parts) && !isCrowded(parts);
  if (isEnough || percent <= kSmaller)
    return made;
  if (Expected<Parts> smaller = plan(kSmaller)) {
    addFastest(*smaller);
    made.push_back(std::move(*smaller));
  }
  return made;
}

/// Fills in what a run of all sub-networks takes, the ratio apart; tensors have addresses.
Expected<void> GroupChooser::weigh(Candidate &candidate) const {
  candidate.runs.clear();
  for (const SubNetGroups &part : candidate.parts) {
    NetworkCandidate::Result &run = candidate.runs.emplace_back();
    Expected<SmallVector<int64_t>> cycles = backend.runCycles([&](Emitter &emitter) {
      Expected<void> emitted = emitPlanned(part.items, part.poolUnits, place, backend, emitter);
      run.commands = emitter.numCommands();
      return emitted;
    });
    if (!cycles)
      return propagate(cycles);
    run.cycles = std::move(*cycles);
  }
  return sumUp(candidate);
}

/// What all sub-networks take whose runs are known.
Expected<void> GroupChooser::sumUp(Candidate &candidate) const {
  candidate.cycles.clear();
  SmallVector<const GroupPlan *> planned;
  for (auto [part, run] : llvm::zip_equal(candidate.parts, candidate.runs)) {
    candidate.cycles.resize(run.cycles.size());
    for (auto [sum, own] : llvm::zip_equal(candidate.cycles, run.cycles))
      sum += own;
    for (const GroupPlan &group : part.groups)
      planned.push_back(&group);
  }
  Expected<int64_t> bytes = plannedBytes(main, planned, backend);
  if (!bytes)
    return propagate(bytes);
  candidate.cost.bytes = *bytes;
  return {};
}

/// Candidates with what they take: at first the one that needs the least memory of those that are
/// about as fast as the fastest, then from fast to slow.
Expected<std::vector<GroupChooser::Candidate>>
GroupChooser::weighed(std::vector<Parts> candidates) const {
  std::vector<Candidate> made;
  for (Parts &parts : candidates)
    made.push_back({.parts = std::move(parts)});
  std::vector<Expected<void>> done(made.size());
  threads.parallelFor(std::ssize(made), 1, [&](int64_t begin, int64_t end) {
    for (auto number = static_cast<size_t>(begin); number < static_cast<size_t>(end); ++number)
      done[number] = weigh(made[number]);
  });
  for (Expected<void> &each : done)
    if (!each)
      return propagate(each);
  for (Candidate &each : made)
    each.cost.ratio = meanRatio(each.cycles, made.front().cycles);
  std::ranges::stable_sort(made, {}, [](const Candidate &each) { return each.cost.ratio; });
  std::vector<RunCost> costs;
  for (const Candidate &each : made)
    costs.push_back(each.cost);
  const auto best = made.begin() + static_cast<std::ptrdiff_t>(leastMemory(costs));
  std::rotate(made.begin(), best, std::next(best));
  return made;
}

/// `run`: that of the part before, and then that of what is found.
Expected<void> GroupChooser::search(SubNetGroups &part, NetworkCandidate::Result &run,
                                    SearchTime &time, Progress *progress, ThreadPool &own) const {
  const NetworkCandidate candidate(main, part.subNet.layers, place, backend, options.heuristics);
  SmallVector<const GroupPlan *> planned;
  for (const GroupPlan &group : part.groups)
    planned.push_back(&group);
  Expected<int64_t> bytes = plannedBytes(main, planned, backend);
  if (!bytes)
    return propagate(bytes);
  run.fill = part.fill;
  run.bytes = *bytes;
  FoundGroups found = searchGroups(
      *part.table, {part.partition, std::move(run)}, candidate,
      {.isThorough = options.opt == 3, .time = time.next(), .progress = progress}, own);
  run = std::move(found.run);
  part.mostFill = run.fill;
  if (found.partition == part.partition)
    return {};
  if (Expected<void> taken = take(part, std::move(found.partition)); !taken)
    return taken;
  return schedule(part);
}

Expected<void> GroupChooser::searchFrom(Candidate &start, SearchTime &time, Progress *progress,
                                        ThreadPool &own) const {
  for (auto [part, run] : llvm::zip_equal(start.parts, start.runs))
    if (Expected<void> done = search(part, run, time, progress, own); !done)
      return done;
  return sumUp(start);
}

/// Side by side where there are threads for that: each has its share of them, and all of the time.
Expected<void> GroupChooser::searchFrom(std::vector<Candidate> &starts) const {
  const std::chrono::seconds limit(options.seconds);
  const size_t numParts = starts.front().parts.size();
  std::unique_ptr<Progress> progress;
  if (options.opt == 3)
    progress = std::make_unique<Progress>("searching groups", 0);
  if (starts.size() == 1 || threads.numThreads() < starts.size()) {
    SearchTime time(limit, starts.size() * numParts);
    for (Candidate &start : starts)
      if (Expected<void> done = searchFrom(start, time, progress.get(), threads); !done)
        return done;
    return {};
  }
  std::vector<Expected<void>> done(starts.size());
  const auto run = [&](size_t number) {
    ThreadPool own(threads.numThreads() / static_cast<unsigned>(starts.size()));
    SearchTime time(limit, numParts);
    done[number] = searchFrom(starts[number], time, progress.get(), own);
  };
  {
    std::vector<std::jthread> others;
    for (size_t number = 1; number < starts.size(); ++number)
      others.emplace_back(run, number);
    run(0);
  }
  for (const Expected<void> &each : done)
    if (!each)
      return each;
  return {};
}

/// The best of what is found from the first start, and from others that need no more memory: one
/// for each size of local memory, as those have other groups to choose from. By no set of
/// parameters it takes more cycles than the first start.
Expected<GroupChooser::Candidate> GroupChooser::searched(std::vector<Candidate> starts) const {
  const std::vector<int64_t> reference = starts.front().cycles;
  const int64_t mostBytes = starts.front().cost.bytes;
  llvm::SmallDenseSet<const GroupTable *> tables;
  llvm::erase_if(starts, [&](const Candidate &start) {
    return start.cost.bytes > mostBytes || !tables.insert(start.parts.front().table.get()).second;
  });
  if (Expected<void> done = searchFrom(starts); !done)
    return propagate(done);
  Candidate *best = nullptr;
  for (Candidate &start : starts) {
    start.cost.ratio = meanRatio(start.cycles, reference);
    const bool isAllowed =
        start.cost.bytes <= mostBytes && isNowhereSlower(start.cycles, reference);
    if (!best || (isAllowed && start.cost.ratio < best->cost.ratio))
      best = &start;
  }
  return std::move(*best);
}

/// `others` where they need no more memory, take fewer cycles and by no set of parameters more;
/// else those of `best`.
GroupChooser::Candidate GroupChooser::betterOf(Candidate best, std::optional<Parts> others) const {
  if (!others)
    return best;
  Candidate other{.parts = std::move(*others)};
  const bool isBetter = weigh(other) && other.cost.bytes <= best.cost.bytes &&
                        isNowhereSlower(other.cycles, best.cycles) &&
                        meanRatio(other.cycles, best.cycles) < 1;
  return isBetter ? std::move(other) : std::move(best);
}

/// The same groups with loads in the order that the timing simulator prefers.
GroupChooser::Candidate GroupChooser::withBestOrder(Candidate best) const {
  for (LoadOrder order : {LoadOrder::BehindUrgent, LoadOrder::EachBehindUrgent}) {
    std::optional<Parts> others = inOrder(order, best.parts);
    best = betterOf(std::move(best), std::move(others));
  }
  return best;
}

/// The simulator is asked about commands, which need addresses.
Expected<Parts> GroupChooser::preferred(Parts planned, int64_t percent,
                                        std::optional<Parts> divided) const {
  std::vector<Parts> candidates = othersOf(planned, percent);
  if (divided)
    candidates.push_back(std::move(*divided));
  std::optional<Parts> lessWork =
      options.heuristics.leastWork ? withLeastWork(planned) : std::nullopt;
  if (planned.empty() || (candidates.empty() && !lessWork && options.opt == 1))
    return planned;
  candidates.insert(candidates.begin(), std::move(planned));
  if (Expected<void> assigned = assignTrialAddresses(main, backend); !assigned)
    return propagate(assigned);
  Expected<std::vector<Candidate>> starts = weighed(std::move(candidates));
  Expected<Candidate> chosen;
  if (starts) {
    // A search sets out from what is taken without one, so that it finds nothing slower.
    Candidate &first = starts->front();
    first = betterOf(std::move(first), std::move(lessWork));
    chosen = options.opt == 1 ? std::move(first) : searched(std::move(*starts));
  } else {
    chosen = propagate(starts);
  }
  if (chosen && options.heuristics.urgentTransfers)
    chosen = withBestOrder(std::move(*chosen));
  dropAddresses(main);
  if (!chosen)
    return propagate(chosen);
  return std::move(chosen->parts);
}
