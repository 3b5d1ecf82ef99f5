//===- NetworkSearch.cpp - Groups chosen by the timing simulator ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkSearch.h"
#include "tpuc/Codegen/NetworkSchedule.h"
#include "tpuc/Support/Progress.h"

#include <map>
#include <set>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// How many networks a short search tries after those that are best by some weights, and a thorough
/// one at the most.
constexpr int64_t kShortTrials = 60, kMostTrials = 20'000;
/// So many changes in a row that bring nothing end a round.
constexpr int64_t kShortPatience = 16, kPatience = 200;
/// From so many divisions a thorough search sets out.
constexpr size_t kStarts = 3;

/// What divisions are chosen by besides the estimates of single groups. Engines work side by side
/// across groups, so the busier one may count for more than a group by itself shows.
constexpr GroupWeights kWeights[] = {
    {0.5, 0.25, 0.25}, {0.5, 0.4, 0.1}, {0.5, 0.1, 0.4}, {0.5, 0.5, 0}, {0.5, 0, 0.5},
    {0, 0.5, 0.5},     {0, 0.65, 0.35}, {0, 0.35, 0.65}, {0, 0.9, 0.1}, {0, 0.1, 0.9}};

/// Groups in the place of those that hold the layers [first, end).
struct GroupChange {
  unsigned first = 0, end = 0;
  Division groups = {};
};

class NetworkSearcher {
public:
  NetworkSearcher(GroupTable &table, const NetworkTrial &trial, const SearchEffort &effort)
      : table(table), trial(trial), effort(effort),
        progress(effort.isThorough ? std::make_unique<Progress>("searching groups", 0) : nullptr) {}

  Expected<FoundGroups> run(const Division &known);

private:
  struct Found {
    Division division;
    SmallVector<int64_t> cycles = {};
    int64_t fill = kMostFill;
  };

  bool isOver() const;
  double relative(const Found &found) const;
  bool isAllowed(const Found &found) const;
  bool isBetter(const Found &found, const Found &than) const;
  std::vector<GroupPlan> plansOf(const Division &division);
  std::optional<Found> attempt(const Division &division);
  void improve(Found &best);
  std::vector<GroupChange> rankedChanges(const Division &division);
  void addChanges(const Division &division, size_t number, std::vector<GroupChange> &changes);
  void addPairs(unsigned first, unsigned middle, unsigned end, std::vector<GroupChange> &changes);

  GroupTable &table;
  const NetworkTrial &trial;
  SearchEffort effort;
  std::unique_ptr<Progress> progress;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  int64_t trialsLeft = kShortTrials;
  /// The cycles of the groups that the search begins with, the global memory that they need, and
  /// how full local memory is made. Others would seldom find places in a fuller one, and the
  /// allocator would look for them for long.
  SmallVector<int64_t> reference;
  NetworkTrial::Limits limits = {};
  std::set<Division> tried;
  /// None: not possible.
  std::map<GroupChoice, std::optional<GroupPlan>> planned;
};

bool NetworkSearcher::isOver() const {
  return trialsLeft <= 0 ||
         (effort.time.count() > 0 && std::chrono::steady_clock::now() - begin > effort.time);
}

/// The mean over all sets of parameters; 1 is what the search began with.
double NetworkSearcher::relative(const Found &found) const {
  return meanRatio(found.cycles, reference);
}

/// Whether no set of parameters says that it takes longer than what the search began with.
bool NetworkSearcher::isAllowed(const Found &found) const {
  return isNowhereSlower(found.cycles, reference);
}

bool NetworkSearcher::isBetter(const Found &found, const Found &than) const {
  return isAllowed(found) && found.cycles.front() <= than.cycles.front() &&
         relative(found) < relative(than);
}

/// Empty if a group is not possible.
std::vector<GroupPlan> NetworkSearcher::plansOf(const Division &division) {
  std::vector<GroupPlan> plans;
  for (const GroupChoice &choice : division) {
    if (choice.isAlone && table.isFree(choice.first))
      continue;
    auto [entry, isNew] = planned.try_emplace(choice);
    if (isNew)
      if (Expected<GroupPlan> plan = table.plan(choice))
        entry->second = std::move(*plan);
    if (!entry->second)
      return {};
    plans.push_back(*entry->second);
  }
  return plans;
}

/// None if it has been tried before, or there is no room: in global memory what the search began
/// with.
std::optional<NetworkSearcher::Found> NetworkSearcher::attempt(const Division &division) {
  if (!tried.insert(division).second)
    return std::nullopt;
  std::vector<GroupPlan> plans = plansOf(division);
  if (plans.empty())
    return std::nullopt;
  --trialsLeft;
  if (progress)
    progress->advance();
  Expected<NetworkTrial::Result> result = trial.run(std::move(plans), limits);
  if (!result)
    return std::nullopt;
  return Found{division, std::move(result->cycles), result->fill};
}

/// The division with a change; none if the layers are in other groups by now.
std::optional<Division> changed(const Division &division, const GroupChange &change) {
  Division made;
  bool begins = false;
  bool ends = false;
  for (const GroupChoice &group : division) {
    if (group.first == change.first) {
      begins = true;
      llvm::append_range(made, change.groups);
    }
    ends |= group.end() == change.end;
    if (group.end() <= change.first || group.first >= change.end)
      made.push_back(group);
  }
  if (!begins || !ends || made == division)
    return std::nullopt;
  return made;
}

/// Both groups, each cut in the ways with the least estimates.
void NetworkSearcher::addPairs(unsigned first, unsigned middle, unsigned end,
                               std::vector<GroupChange> &changes) {
  constexpr size_t kWays = 2;
  // Looking at further groups may move those of the table.
  const std::vector<GroupTable::Option> front = table.options(first, middle - first).vec();
  const std::vector<GroupTable::Option> back = table.options(middle, end - middle).vec();
  for (const GroupTable::Option &one : ArrayRef(front).take_front(kWays))
    for (const GroupTable::Option &other : ArrayRef(back).take_front(kWays))
      changes.push_back({.first = first, .end = end, .groups = {one.choice, other.choice}});
}

/// What may become of a group and those behind it: other cuts, two groups, one with its neighbours,
/// another border.
void NetworkSearcher::addChanges(const Division &division, size_t number,
                                 std::vector<GroupChange> &changes) {
  constexpr size_t kCuts = 6, kJoined = 3;
  constexpr unsigned kReach = 4;
  const GroupChoice &group = division[number];
  const auto addWhole = [&](unsigned end, size_t most) {
    for (const GroupTable::Option &option :
         table.options(group.first, end - group.first).take_front(most))
      changes.push_back({.first = group.first, .end = end, .groups = {option.choice}});
  };
  addWhole(group.end(), kCuts);
  for (const GroupChoice &cut : table.recuts(group))
    changes.push_back({.first = group.first, .end = group.end(), .groups = {cut}});
  for (unsigned middle = group.first + 1; middle < group.end(); ++middle)
    addPairs(group.first, middle, group.end(), changes);
  if (number + 2 < division.size())
    addWhole(division[number + 2].end(), kJoined);
  if (number + 1 == division.size())
    return;
  const GroupChoice &next = division[number + 1];
  addWhole(next.end(), kJoined);
  for (unsigned reach = 1; reach <= kReach; ++reach) {
    if (reach < group.count)
      addPairs(group.first, next.first - reach, next.end(), changes);
    if (reach < next.count)
      addPairs(group.first, next.first + reach, next.end(), changes);
  }
}

/// All changes, those first with which the network takes least by estimate.
std::vector<GroupChange> NetworkSearcher::rankedChanges(const Division &division) {
  std::vector<GroupChange> changes;
  for (size_t number = 0; number < division.size(); ++number)
    addChanges(division, number, changes);
  std::vector<std::pair<int64_t, GroupChange>> ranked;
  for (GroupChange &change : changes) {
    std::optional<Division> made = changed(division, change);
    if (!made || tried.contains(*made))
      continue;
    std::vector<GroupPlan> plans = plansOf(*made);
    if (plans.empty())
      continue;
    if (Expected<int64_t> estimate = trial.estimate(std::move(plans)))
      ranked.emplace_back(*estimate, std::move(change));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int64_t, GroupChange>::first);
  std::vector<GroupChange> order;
  for (auto &[estimate, change] : ranked)
    order.push_back(std::move(change));
  return order;
}

/// Rounds of changes, each of which goes on with what the one before has left, until a round brings
/// nothing.
void NetworkSearcher::improve(Found &best) {
  const int64_t patience = effort.isThorough ? kPatience : kShortPatience;
  for (bool isOn = true; isOn && !isOver();) {
    isOn = false;
    int64_t failures = 0;
    for (const GroupChange &change : rankedChanges(best.division)) {
      if (isOver() || failures == patience)
        break;
      const std::optional<Division> made = changed(best.division, change);
      std::optional<Found> found = made ? attempt(*made) : std::nullopt;
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

Expected<FoundGroups> NetworkSearcher::run(const Division &known) {
  Found first{known};
  Expected<NetworkTrial::Result> result = trial.run(plansOf(known), limits);
  if (!result)
    return propagate(result);
  reference = first.cycles = std::move(result->cycles);
  first.fill = result->fill;
  limits = {.fill = result->fill, .bytes = result->bytes};
  tried.insert(known);
  std::vector<Found> starts = {std::move(first)};
  const auto add = [&](const Division &division) {
    std::optional<Found> found = attempt(division);
    if (found && isAllowed(*found))
      starts.push_back(std::move(*found));
  };
  add(table.best({}));
  for (const GroupWeights &weights : kWeights)
    add(table.best(weights));
  std::ranges::stable_sort(starts, {}, [&](const Found &found) { return relative(found); });
  trialsLeft = effort.isThorough ? kMostTrials : kShortTrials;
  Found best = starts.front();
  for (Found &start : llvm::MutableArrayRef(starts).take_front(effort.isThorough ? kStarts : 1)) {
    improve(start);
    if (isBetter(start, best))
      best = std::move(start);
  }
  return FoundGroups{.division = std::move(best.division), .fill = best.fill};
}

} // namespace

Expected<FoundGroups> codegen::searchGroups(GroupTable &table, const Division &known,
                                            const NetworkTrial &trial, const SearchEffort &effort) {
  return NetworkSearcher(table, trial, effort).run(known);
}
