//===- NetworkSearch.cpp - Groups chosen by the timing simulator ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/NetworkSearch.h"
#include "tpuc/Codegen/Schedule/NetworkSchedule.h"

#include "llvm/Support/xxhash.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// How many networks a short search tries after those that are best by some weights, and a thorough
/// one at the most. In networks of many layers or commands each takes long, and a short search
/// tries fewer.
constexpr int64_t kShortTrials = 60, kLeastTrials = 2, kMostTrials = 20'000, kLeastWeights = 1;
constexpr int64_t kFewCommands = 6'000;
/// So many changes in a row that bring nothing end a round.
constexpr int64_t kShortPatience = 16, kPatience = 200;
/// Places are looked for less long than for groups that are taken: those that cost much seldom pay.
constexpr uint64_t kTrialWork = 1'000'000;
/// From so many partitions a thorough search sets out.
constexpr size_t kStarts = 3;
/// A change is estimated together with so many groups on each side, whose transfers run beside it;
/// with all of them in networks of few layers.
constexpr size_t kBeside = 5;
constexpr unsigned kFewLayers = 384;

/// What partitions are chosen by besides the estimates of single groups. Engines work side by side
/// across groups, so the busier one may count for more than a group by itself shows.
constexpr GroupWeights kWeights[] = {
    {0.5, 0.25, 0.25}, {0.5, 0.4, 0.1}, {0.5, 0.1, 0.4}, {0.5, 0.5, 0}, {0.5, 0, 0.5},
    {0, 0.5, 0.5},     {0, 0.65, 0.35}, {0, 0.35, 0.65}, {0, 0.9, 0.1}, {0, 0.1, 0.9}};

/// Groups in the place of those that hold the layers [first, end).
struct GroupChange {
  unsigned first = 0, end = 0;
  Partition groups = {};
};

class NetworkSearcher {
public:
  NetworkSearcher(GroupTable &table, const NetworkCandidate &candidate, const SearchEffort &effort,
                  ThreadPool &threads)
      : table(table), candidate(candidate), effort(effort), threads(threads) {}

  FoundGroups run(FoundGroups known);

private:
  bool isOver() const;
  bool isLong() const { return table.numLayers() > kFewLayers; }
  int64_t shortened(int64_t count, int64_t least) const;
  double relative(const FoundGroups &found) const;
  bool isAllowed(const FoundGroups &found) const;
  bool isBetter(const FoundGroups &found, const FoundGroups &than) const;
  std::shared_ptr<const GroupPlan> planOf(const GroupChoice &choice);
  bool isPossible(ArrayRef<GroupChoice> groups);
  std::vector<GroupPlan> plansOf(ArrayRef<GroupChoice> groups);
  std::optional<int64_t> estimateOf(ArrayRef<GroupChoice> stretch);
  std::optional<int64_t> addedBy(const GroupChange &change, const Partition &partition);
  void runAhead(ArrayRef<Partition> partitions);
  std::vector<Partition> nextOf(const Partition &partition, ArrayRef<GroupChange> changes,
                                int64_t most);
  std::optional<FoundGroups> attempt(const Partition &partition);
  void improve(FoundGroups &best);
  std::vector<GroupChange> changesOf(const Partition &partition);
  std::vector<GroupChange> rankedChanges(const Partition &partition);
  void addChanges(const Partition &partition, size_t number, std::vector<GroupChange> &changes);
  void addPairs(unsigned first, unsigned middle, unsigned end, std::vector<GroupChange> &changes);

  GroupTable &table;
  const NetworkCandidate &candidate;
  SearchEffort effort;
  ThreadPool &threads;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  int64_t trialsLeft = kShortTrials;
  /// Of the groups that the search begins with.
  int64_t numCommands = 0;
  /// The cycles of the groups that the search begins with, the global memory that they need, and
  /// how full local memory is made. Others would seldom find places in a fuller one, and the
  /// allocator would look for them for long.
  SmallVector<int64_t> reference;
  NetworkCandidate::Limits limits = {};
  std::set<Partition> tried;
  /// What came of partitions that were not tried yet: none where there is no room.
  std::map<Partition, std::optional<FoundGroups>> ahead;
  /// Null: not possible.
  SharedMap<std::map<GroupChoice, std::shared_ptr<const GroupPlan>>> planned;
  /// What groups that follow each other take, by a hash of them; none if that is not possible.
  SharedMap<llvm::DenseMap<std::pair<uint64_t, uint64_t>, std::optional<int64_t>>> estimates;
};

bool NetworkSearcher::isOver() const {
  return trialsLeft <= 0 ||
         (effort.time.count() > 0 && std::chrono::steady_clock::now() - begin > effort.time);
}

/// How many of `count` trials a search makes: thorough ones all, short ones fewer the longer each
/// takes, but `least`. In long networks each change matters less, too.
int64_t NetworkSearcher::shortened(int64_t count, int64_t least) const {
  if (effort.isThorough)
    return count;
  const auto share = [](int64_t few, int64_t number) {
    return number > few ? static_cast<double>(few) / static_cast<double>(number) : 1.0;
  };
  const double ofLayers = share(kFewLayers, table.numLayers());
  const double ofCommands = share(kFewCommands, numCommands);
  const double most = static_cast<double>(count) *
                      std::min(ofLayers * ofLayers * ofLayers, ofCommands * ofCommands);
  return std::max(least, static_cast<int64_t>(most));
}

/// The mean over all sets of parameters; 1 is what the search began with.
double NetworkSearcher::relative(const FoundGroups &found) const {
  return meanRatio(found.run.cycles, reference);
}

/// Whether no set of parameters says that it takes longer than what the search began with.
bool NetworkSearcher::isAllowed(const FoundGroups &found) const {
  return isNowhereSlower(found.run.cycles, reference);
}

bool NetworkSearcher::isBetter(const FoundGroups &found, const FoundGroups &than) const {
  return isAllowed(found) && found.run.cycles.front() <= than.run.cycles.front() &&
         relative(found) < relative(than);
}

std::shared_ptr<const GroupPlan> NetworkSearcher::planOf(const GroupChoice &choice) {
  if (const auto known = planned.find(choice))
    return *known;
  std::shared_ptr<const GroupPlan> made;
  if (Expected<GroupPlan> plan = table.plan(choice))
    made = std::make_shared<const GroupPlan>(std::move(*plan));
  return planned.add(choice, std::move(made));
}

bool NetworkSearcher::isPossible(ArrayRef<GroupChoice> groups) {
  return llvm::all_of(groups, [&](const GroupChoice &choice) {
    return (choice.isAlone && table.isFree(choice.first)) || planOf(choice);
  });
}

std::vector<GroupPlan> NetworkSearcher::plansOf(ArrayRef<GroupChoice> groups) {
  std::vector<GroupPlan> plans;
  for (const GroupChoice &choice : groups)
    if (!choice.isAlone || !table.isFree(choice.first))
      plans.push_back(*planOf(choice));
  return plans;
}

/// What groups that follow each other take by the estimate of the schedule.
std::optional<int64_t> NetworkSearcher::estimateOf(ArrayRef<GroupChoice> stretch) {
  SmallVector<unsigned, 256> words;
  for (const GroupChoice &choice : stretch) {
    words.append({choice.first, choice.count, choice.isAlone ? 1U : 0U});
    words.append(choice.counts.begin(), choice.counts.end());
  }
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(words.data()), words.size() * sizeof(words[0])});
  const std::pair key(hash.low64, hash.high64);
  if (const auto known = estimates.find(key))
    return *known;
  const bool isAll =
      !stretch.empty() && stretch.front().first == 0 && stretch.back().end() == table.numLayers();
  std::optional<int64_t> made;
  if (isPossible(stretch)) {
    std::vector<std::shared_ptr<const GroupPlan>> plans;
    SmallVector<const GroupPlan *> groups;
    for (const GroupChoice &choice : stretch)
      if (!choice.isAlone || !table.isFree(choice.first))
        groups.push_back(plans.emplace_back(planOf(choice)).get());
    if (Expected<int64_t> cycles = candidate.estimate(groups, isAll))
      made = *cycles;
  }
  return estimates.add(key, made);
}

/// Runs partitions side by side, those that are possible and were not yet. `attempt` says what came
/// of them.
void NetworkSearcher::runAhead(ArrayRef<Partition> partitions) {
  struct Run {
    const Partition &partition;
    std::optional<FoundGroups> &found;
  };
  std::vector<Run> runs;
  for (const Partition &partition : partitions)
    if (!tried.contains(partition) && !ahead.contains(partition) && isPossible(partition))
      runs.push_back({partition, ahead[partition]});
  threads.parallelFor(static_cast<int64_t>(runs.size()), 1, [&](int64_t begin, int64_t end) {
    for (Run &run : llvm::MutableArrayRef(runs).slice(begin, end - begin)) {
      if (Expected<NetworkCandidate::Result> result = candidate.run(plansOf(run.partition), limits))
        run.found = FoundGroups{run.partition, std::move(*result)};
      if (effort.progress)
        effort.progress->advance();
    }
  });
}

/// What came of a partition that was run ahead. None if it has been tried before, is not possible,
/// or there is no room: in global memory what the search began with.
std::optional<FoundGroups> NetworkSearcher::attempt(const Partition &partition) {
  if (!tried.insert(partition).second)
    return std::nullopt;
  auto run = ahead.extract(partition);
  if (run.empty())
    return std::nullopt;
  --trialsLeft;
  return std::move(run.mapped());
}

/// Groups with a change; none if the layers are in other ones by now.
std::optional<Partition> changed(ArrayRef<GroupChoice> groups, const GroupChange &change) {
  Partition made;
  bool begins = false;
  bool ends = false;
  for (const GroupChoice &group : groups) {
    if (group.first == change.first) {
      begins = true;
      llvm::append_range(made, change.groups);
    }
    ends |= group.end() == change.end;
    if (group.end() <= change.first || group.first >= change.end)
      made.push_back(group);
  }
  if (!begins || !ends || ArrayRef(made) == groups)
    return std::nullopt;
  return made;
}

/// Both groups, each tiled in the ways with the least estimates.
void NetworkSearcher::addPairs(unsigned first, unsigned middle, unsigned end,
                               std::vector<GroupChange> &changes) {
  constexpr size_t kWays = 2;
  // In long networks there are enough groups that have been looked at.
  const auto optionsOf = [&](unsigned begin, unsigned behind) {
    return isLong() && !effort.isThorough ? table.known(begin, behind - begin)
                                          : table.options(begin, behind - begin);
  };
  const std::vector<GroupTable::Option> front = optionsOf(first, middle);
  const std::vector<GroupTable::Option> back = optionsOf(middle, end);
  for (const GroupTable::Option &one : ArrayRef(front).take_front(kWays))
    for (const GroupTable::Option &other : ArrayRef(back).take_front(kWays))
      changes.push_back({.first = first, .end = end, .groups = {one.choice, other.choice}});
}

/// What may become of a group and those behind it: other tilings, two groups, one with its
/// neighbours, another border.
void NetworkSearcher::addChanges(const Partition &partition, size_t number,
                                 std::vector<GroupChange> &changes) {
  constexpr size_t kCuts = 6, kJoined = 3;
  constexpr unsigned kReach = 4;
  const GroupChoice &group = partition[number];
  const auto addWhole = [&](unsigned end, size_t most) {
    const std::vector<GroupTable::Option> options = table.options(group.first, end - group.first);
    for (const GroupTable::Option &option : ArrayRef(options).take_front(most))
      changes.push_back({.first = group.first, .end = end, .groups = {option.choice}});
  };
  addWhole(group.end(), kCuts);
  for (const GroupChoice &cut : table.retilings(group))
    changes.push_back({.first = group.first, .end = group.end(), .groups = {cut}});
  // Of long groups, some borders stand for those beside them.
  const unsigned step = group.count / (GroupTable::kWindow + 1) + 1;
  for (unsigned middle = group.first + 1; middle < group.end(); middle += step)
    addPairs(group.first, middle, group.end(), changes);
  if (number + 2 < partition.size())
    addWhole(partition[number + 2].end(), kJoined);
  if (number + 1 == partition.size())
    return;
  const GroupChoice &next = partition[number + 1];
  addWhole(next.end(), kJoined);
  for (unsigned reach = 1; reach <= kReach; ++reach) {
    if (reach < group.count)
      addPairs(group.first, next.first - reach, next.end(), changes);
    if (reach < next.count)
      addPairs(group.first, next.first + reach, next.end(), changes);
  }
}

std::vector<GroupChange> NetworkSearcher::changesOf(const Partition &partition) {
  std::vector<std::vector<GroupChange>> changes(partition.size());
  threads.parallelFor(static_cast<int64_t>(changes.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto number = static_cast<size_t>(begin); number < static_cast<size_t>(end); ++number)
      addChanges(partition, number, changes[number]);
  });
  std::vector<GroupChange> all;
  for (std::vector<GroupChange> &each : changes)
    std::ranges::move(each, std::back_inserter(all));
  return all;
}

/// How many cycles a change adds by estimate to the groups that it stands between.
std::optional<int64_t> NetworkSearcher::addedBy(const GroupChange &change,
                                                const Partition &partition) {
  ArrayRef<GroupChoice> stretch = partition;
  if (isLong()) {
    const auto begin = static_cast<size_t>(
        std::ranges::lower_bound(partition, change.first, {}, &GroupChoice::first) -
        partition.begin());
    size_t end = begin;
    while (end < partition.size() && partition[end].first < change.end)
      ++end;
    const size_t first = begin - std::min(begin, kBeside);
    stretch = stretch.slice(first, std::min(end + kBeside, partition.size()) - first);
  }
  const std::optional<Partition> made = changed(stretch, change);
  const std::optional<int64_t> with = made ? estimateOf(*made) : std::nullopt;
  const std::optional<int64_t> without = with ? estimateOf(stretch) : std::nullopt;
  return without ? std::optional(*with - *without) : std::nullopt;
}

/// All changes, those first with which the network takes least by estimate.
std::vector<GroupChange> NetworkSearcher::rankedChanges(const Partition &partition) {
  std::vector<GroupChange> changes = changesOf(partition);
  std::vector<std::optional<int64_t>> added(changes.size());
  constexpr int64_t kGrain = 4;
  threads.parallelFor(
      static_cast<int64_t>(changes.size()), kGrain, [&](int64_t begin, int64_t end) {
        for (auto number = static_cast<size_t>(begin); number < static_cast<size_t>(end); ++number)
          added[number] = addedBy(changes[number], partition);
      });
  // Few of the changes are tried; the plans of all would fill the memory.
  planned.clear();
  std::vector<std::pair<int64_t, GroupChange>> ranked;
  for (auto [cycles, change] : llvm::zip_equal(added, changes)) {
    if (!cycles)
      continue;
    const std::optional<Partition> made = changed(partition, change);
    if (made && !tried.contains(*made))
      ranked.emplace_back(*cycles, std::move(change));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int64_t, GroupChange>::first);
  std::vector<GroupChange> order;
  for (auto &[cycles, change] : ranked)
    order.push_back(std::move(change));
  return order;
}

/// The partition with one of `changes` each: the first ones that are possible and were not tried.
std::vector<Partition> NetworkSearcher::nextOf(const Partition &partition,
                                               ArrayRef<GroupChange> changes, int64_t most) {
  std::vector<Partition> next;
  for (const GroupChange &change : changes) {
    if (std::ssize(next) >= most)
      break;
    std::optional<Partition> made = changed(partition, change);
    if (made && !tried.contains(*made) && isPossible(*made))
      next.push_back(std::move(*made));
  }
  return next;
}

/// Rounds of changes, each of which goes on with what the one before has left, until a round brings
/// nothing. Threads that are free run changes that would come next if none of those before were
/// taken: the more have failed, the more they run, so that little is run in vain.
void NetworkSearcher::improve(FoundGroups &best) {
  const int64_t patience = effort.isThorough ? kPatience : kShortPatience;
  for (bool isOn = true; isOn && !isOver();) {
    isOn = false;
    int64_t failures = 0;
    const std::vector<GroupChange> changes = rankedChanges(best.partition);
    for (ArrayRef<GroupChange> left = changes; !left.empty() && !isOver() && failures < patience;
         left = left.drop_front()) {
      const std::optional<Partition> made = changed(best.partition, left.front());
      if (made && !ahead.contains(*made))
        runAhead(nextOf(best.partition, left,
                        std::min({int64_t{threads.numThreads()}, failures + 1, trialsLeft,
                                  patience - failures})));
      std::optional<FoundGroups> found = made ? attempt(*made) : std::nullopt;
      if (!found || !isBetter(*found, best)) {
        ++failures;
        continue;
      }
      best = std::move(*found);
      failures = 0;
      isOn = true;
    }
  }
}

FoundGroups NetworkSearcher::run(FoundGroups known) {
  reference = known.run.cycles;
  numCommands = known.run.commands;
  limits = {.fill = known.run.fill, .work = kTrialWork, .bytes = known.run.bytes};
  tried.insert(known.partition);
  std::vector<FoundGroups> starts = {std::move(known)};
  std::vector<Partition> others = {table.best({})};
  for (const GroupWeights &weights : ArrayRef(kWeights).take_front(
           static_cast<size_t>(shortened(std::size(kWeights), kLeastWeights))))
    others.push_back(table.best(weights));
  runAhead(others);
  for (const Partition &other : others) {
    std::optional<FoundGroups> found = attempt(other);
    if (found && isAllowed(*found))
      starts.push_back(std::move(*found));
  }
  std::ranges::stable_sort(starts, {}, [&](const FoundGroups &found) { return relative(found); });
  trialsLeft = effort.isThorough ? kMostTrials : shortened(kShortTrials, kLeastTrials);
  FoundGroups best = starts.front();
  for (FoundGroups &start :
       llvm::MutableArrayRef(starts).take_front(effort.isThorough ? kStarts : 1)) {
    improve(start);
    if (isBetter(start, best))
      best = std::move(start);
  }
  return best;
}

} // namespace

FoundGroups codegen::searchGroups(GroupTable &table, FoundGroups known,
                                  const NetworkCandidate &candidate, const SearchEffort &effort,
                                  ThreadPool &threads) {
  return NetworkSearcher(table, candidate, effort, threads).run(std::move(known));
}
