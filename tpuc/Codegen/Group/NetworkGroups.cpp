//===- NetworkGroups.cpp - The groups of a whole network ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/NetworkGroups.h"
#include "tpuc/Codegen/Emit/NetworkEmitter.h"
#include "tpuc/Codegen/Group/GroupFile.h"
#include "tpuc/Codegen/Group/GroupMemory.h"
#include "tpuc/Codegen/Group/KnownGroups.h"
#include "tpuc/Codegen/Group/NetworkSearch.h"
#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Dialect/Top/Names.h"

#include <chrono>
#include <thread>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

using Parts = std::vector<SubNetGroups>;

/// The percent of local memory for which groups are chosen as well as for all of it.
constexpr int64_t kSmaller = 90;

/// Those of several groups that need the least global memory may take as many times the cycles of
/// the fastest.
constexpr double kSlower = 1.01;

/// Groups with the least work of both engines, however much of it runs side by side.
constexpr GroupWeights kWork = {.estimate = 0, .compute = 0.5, .transfers = 0.5};
/// Networks of more layers have too many groups for these to be worth a second schedule.
constexpr size_t kMostOfLessWork = 384;

/// More threads would need more memory (each has plans before it) than they save time.
constexpr unsigned kMostThreads = 4;

/// Those of all parts that are computed in local memory.
std::vector<Operation *> layersOf(ArrayRef<SubNetGroups> parts) {
  std::vector<Operation *> layers;
  for (const SubNetGroups &part : parts)
    llvm::append_range(layers, part.layers);
  return layers;
}

bool isWeighed(ArrayRef<SubNetGroups> parts) {
  return llvm::any_of(parts, [](const SubNetGroups &part) { return part.fastest.has_value(); });
}

bool isCrowded(ArrayRef<SubNetGroups> parts) {
  return llvm::any_of(parts, [](const SubNetGroups &part) { return part.isCrowded; });
}

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

/// Chooses groups beside what is kept for the whole network.
class GroupChooser {
public:
  GroupChooser(func::FuncOp main, ArrayRef<SubNetGroups> bare, const PoolPlace &place,
               const GroupOptions &options, const Backend &backend, ThreadPool &threads)
      : main(main), bare(bare), place(place), options(options), backend(backend), threads(threads) {
  }

  /// Groups, their times and places, in `percent` of the memory. Where groups do not find their
  /// places, `divided` (if given) gets what comes of dividing them; none if that does not help.
  Expected<Parts> plan(int64_t percent, std::optional<Parts> *divided = nullptr) const;

  /// The groups that were chosen for a network of the same kind. Errors: they do not find their
  /// places.
  Expected<Parts> again(const KnownGroups &known) const;

  /// Takes the groups that the timing simulator prefers among those planned for `percent` of the
  /// memory and `divided` ones, or looks for better ones. The estimates of groups do not know what
  /// runs beside their neighbours.
  Expected<Parts> preferred(Parts planned, int64_t percent, std::optional<Parts> divided) const;

private:
  /// Groups, and what a run takes with them.
  struct Candidate {
    Parts parts;
    /// Of each part: cycles and commands.
    std::vector<NetworkCandidate::Result> runs = {};
    std::vector<int64_t> cycles = {};
    /// Beside those of the first one.
    RunCost cost = {};
  };

  Expected<void> choose(SubNetGroups &part, std::shared_ptr<GroupPlanner> planner) const;
  Expected<void> take(SubNetGroups &part, Partition partition) const;
  Expected<void> takeFastest(SubNetGroups &part) const;
  Expected<void> search(SubNetGroups &part, NetworkCandidate::Result &run, SearchTime &time,
                        Progress *progress, ThreadPool &own) const;
  Expected<void> searchFrom(Candidate &start, SearchTime &time, Progress *progress,
                            ThreadPool &own) const;
  Expected<void> searchFrom(std::vector<Candidate> &starts) const;
  Expected<Parts> searched(std::vector<Candidate> starts) const;
  Expected<void> load(Parts &parts, GroupPlanner &planner) const;
  Expected<void> schedule(SubNetGroups &part, SmallVectorImpl<size_t> *unplaced = nullptr) const;
  Expected<void> scheduleDivided(SubNetGroups &part) const;
  Expected<Parts> scheduled(Parts parts, bool divides) const;
  std::optional<Parts> fastestOf(ArrayRef<SubNetGroups> parts) const;
  std::vector<Parts> othersOf(ArrayRef<SubNetGroups> parts, int64_t percent) const;
  std::optional<Parts> withLeastWork(ArrayRef<SubNetGroups> parts) const;
  std::optional<Parts> inOrder(LoadOrder order, ArrayRef<SubNetGroups> parts) const;
  Expected<Parts> withBestOrder(Parts parts) const;
  Expected<void> weigh(Candidate &candidate) const;
  Expected<void> sumUp(Candidate &candidate) const;
  Candidate betterOf(Candidate best, std::optional<Parts> others) const;
  Expected<std::vector<Candidate>> weighed(std::vector<Parts> candidates) const;

  func::FuncOp main;
  /// The sub-networks and their layers, without groups.
  ArrayRef<SubNetGroups> bare;
  const PoolPlace &place;
  const GroupOptions &options;
  const Backend &backend;
  ThreadPool &threads;
};

/// The groups of the file, each for the sub-network that its layers are in.
Expected<void> GroupChooser::load(Parts &parts, GroupPlanner &planner) const {
  Expected<std::vector<GroupPlan>> groups =
      readGroups(options.file, layersOf(parts), planner, backend);
  if (!groups)
    return propagate(groups);
  for (GroupPlan &group : *groups)
    for (SubNetGroups &part : parts) {
      const auto isHere = [&](Operation *layer) { return llvm::is_contained(part.layers, layer); };
      if (!isHere(group.layers.front()))
        continue;
      if (!llvm::all_of(group.layers, isHere))
        return makeError(options.file, "the group of '" + layerName(group.layers.front()) +
                                           "' is in several sub-networks");
      part.groups.push_back(std::move(group));
      break;
    }
  return {};
}

/// Makes the plans of a partition.
Expected<void> GroupChooser::take(SubNetGroups &part, Partition partition) const {
  Expected<std::vector<GroupPlan>> plans = part.table->plans(partition);
  if (!plans)
    return propagate(plans);
  part.groups = std::move(*plans);
  part.partition = std::move(partition);
  return {};
}

/// The fastest groups by estimate instead of those that need less memory.
Expected<void> GroupChooser::takeFastest(SubNetGroups &part) const {
  if (part.fastest)
    if (Expected<void> taken = take(part, *std::exchange(part.fastest, std::nullopt)); !taken)
      return taken;
  return schedule(part);
}

Expected<void> GroupChooser::choose(SubNetGroups &part,
                                    std::shared_ptr<GroupPlanner> planner) const {
  if (options.opt == 0) {
    Expected<std::vector<GroupPlan>> plans = separateGroups(part.layers, *planner);
    if (!plans)
      return propagate(plans);
    part.groups = std::move(*plans);
    return {};
  }
  part.planner = std::move(planner);
  part.table = std::make_shared<GroupTable>(part.layers, *part.planner, backend);
  if (Expected<void> filled = part.table->fill(threads); !filled)
    return filled;
  Partition best = part.table->best({});
  Partition smaller = withLessMemory(part.subNet.layers, *part.table, best, backend);
  if (smaller != best)
    part.fastest = std::move(best);
  return take(part, std::move(smaller));
}

/// When the groups of a part run.
Expected<void> GroupChooser::schedule(SubNetGroups &part, SmallVectorImpl<size_t> *unplaced) const {
  Expected<NetworkSchedule> made =
      scheduleNetwork(part.subNet.layers, part.groups, backend, place, options.heuristics,
                      part.mostFill, kAllocatorWork, part.order, unplaced);
  if (!made)
    return propagate(made);
  part.items = std::move(made->items);
  part.poolUnits = std::move(made->poolUnits);
  part.fill = made->fill;
  part.isCrowded = made->isCrowded;
  return {};
}

/// Groups of a partition with those divided that `unplaced` names among its plans; all that can be,
/// where none of those can.
static Partition finer(const GroupTable &table, const Partition &partition,
                       ArrayRef<size_t> unplaced) {
  const auto divide = [&](auto &&isInTheWay) {
    Partition made;
    size_t number = 0;
    for (const GroupChoice &choice : partition) {
      const bool hasPlan = !(choice.isAlone && table.isFree(choice.first));
      if (choice.count > 1 && isInTheWay(number))
        llvm::append_range(made, table.divided(choice));
      else
        made.push_back(choice);
      number += hasPlan ? 1 : 0;
    }
    return made;
  };
  Partition made = divide([&](size_t number) { return llvm::is_contained(unplaced, number); });
  return made != partition ? made : divide([](size_t) { return true; });
}

/// Divides groups that stand in the way of others until all find their places: at the latest when
/// each layer is by itself. Errors: even then there is no room.
Expected<void> GroupChooser::scheduleDivided(SubNetGroups &part) const {
  while (true) {
    SmallVector<size_t> unplaced;
    Expected<void> scheduled = schedule(part, &unplaced);
    if (scheduled)
      return scheduled;
    Partition divided = finer(*part.table, part.partition, unplaced);
    if (divided == part.partition)
      return scheduled;
    part.fastest.reset();
    if (Expected<void> taken = take(part, std::move(divided)); !taken)
      return taken;
  }
}

/// The times and places of groups that are chosen.
Expected<Parts> GroupChooser::scheduled(Parts parts, bool divides) const {
  for (SubNetGroups &part : parts) {
    Expected<void> scheduled = divides ? scheduleDivided(part) : schedule(part);
    if (!scheduled && part.fastest)
      scheduled = takeFastest(part);
    if (!scheduled)
      return propagate(scheduled);
  }
  return parts;
}

Expected<Parts> GroupChooser::plan(int64_t percent, std::optional<Parts> *divided) const {
  Parts parts(bare.begin(), bare.end());
  const auto planner =
      std::make_shared<GroupPlanner>(backend, place.capacity(backend.info()).share(percent, 100),
                                     place.pool.operands, options.heuristics);
  if (!options.file.empty())
    if (Expected<void> loaded = load(parts, *planner); !loaded)
      return propagate(loaded);
  if (options.file.empty())
    for (SubNetGroups &part : parts)
      if (Expected<void> chosen = choose(part, planner); !chosen)
        return propagate(chosen);
  Expected<Parts> made = scheduled(parts, /*divides=*/false);
  if (!made && divided)
    if (Expected<Parts> finer = scheduled(std::move(parts), /*divides=*/true))
      *divided = std::move(*finer);
  return made;
}

Expected<Parts> GroupChooser::again(const KnownGroups &known) const {
  Parts parts(bare.begin(), bare.end());
  const auto planner =
      std::make_shared<GroupPlanner>(backend, known.limit, place.pool.operands, options.heuristics);
  for (auto [part, chosen] : llvm::zip_equal(parts, known.parts)) {
    part.planner = planner;
    part.table = std::make_shared<GroupTable>(part.layers, *planner, backend);
    part.mostFill = chosen.fill;
    if (Expected<void> taken = take(part, chosen.partition); !taken)
      return propagate(taken);
    if (Expected<void> done = schedule(part); !done)
      return propagate(done);
  }
  return parts;
}

/// The parts with their fastest groups; none where those do not find their places.
std::optional<Parts> GroupChooser::fastestOf(ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    other.planner = part.planner;
    other.table = part.table;
    other.partition = part.partition;
    other.groups = part.groups;
    other.fastest = part.fastest;
    if (!takeFastest(other))
      return std::nullopt;
  }
  return others;
}

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

/// The groups of `kWork` in the same memory; none where those are the same, do not find their
/// places, or there are many layers.
std::optional<Parts> GroupChooser::withLeastWork(ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  bool isOther = false;
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    if (!part.table || part.layers.size() > kMostOfLessWork)
      return std::nullopt;
    other.planner = part.planner;
    other.table = part.table;
    Partition partition = part.table->best(kWork);
    isOther |= partition != part.partition;
    if (!take(other, std::move(partition)) || !schedule(other))
      return std::nullopt;
  }
  return isOther ? std::optional(std::move(others)) : std::nullopt;
}

/// The same groups with loads in another order; none where they do not find their places.
std::optional<Parts> GroupChooser::inOrder(LoadOrder order, ArrayRef<SubNetGroups> parts) const {
  Parts others(bare.begin(), bare.end());
  for (auto [other, part] : llvm::zip_equal(others, parts)) {
    other.planner = part.planner;
    other.table = part.table;
    other.partition = part.partition;
    other.groups = part.groups;
    other.mostFill = part.mostFill;
    other.order = order;
    if (!schedule(other))
      return std::nullopt;
  }
  return others;
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
Expected<Parts> GroupChooser::searched(std::vector<Candidate> starts) const {
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
  return std::move(best->parts);
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
Expected<Parts> GroupChooser::withBestOrder(Parts parts) const {
  Candidate best{.parts = std::move(parts)};
  if (Expected<void> done = weigh(best); !done)
    return propagate(done);
  for (LoadOrder order : {LoadOrder::BehindUrgent, LoadOrder::EachBehindUrgent}) {
    std::optional<Parts> others = inOrder(order, best.parts);
    best = betterOf(std::move(best), std::move(others));
  }
  return std::move(best.parts);
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
  Expected<Parts> chosen;
  if (starts) {
    // A search sets out from what is taken without one, so that it finds nothing slower.
    Candidate &first = starts->front();
    first = betterOf(std::move(first), std::move(lessWork));
    chosen = options.opt == 1 ? std::move(first.parts) : searched(std::move(*starts));
  } else {
    chosen = propagate(starts);
  }
  if (chosen && options.heuristics.urgentTransfers)
    chosen = withBestOrder(std::move(*chosen));
  dropAddresses(main);
  return chosen;
}

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
