//===- GroupSearch.cpp - Which layers run together ----------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupSearch.h"
#include "tpuc/Codegen/Followers.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Expected<std::vector<Operation *>> codegen::localLayers(ArrayRef<Operation *> candidates,
                                                        const Backend &backend, bool withConcats) {
  std::vector<Operation *> layers;
  for (Operation *op : candidates) {
    if (isa<tpu::GroupOp>(op))
      continue;
    Expected<Place> place = backend.placeOf(op);
    if (!place)
      return makeError("layer '" + layerName(op) + "'", place.error().message());
    if (*place == Place::Local || (withConcats && isInPlaceConcat(op, backend)))
      layers.push_back(op);
  }
  return layers;
}

bool codegen::standsTogether(ArrayRef<Operation *> layers) {
  const llvm::DenseSet<Operation *> members(layers.begin(), layers.end());
  for (Operation *layer : layers.drop_back())
    for (Operation *user : layer->getUsers())
      if (!members.contains(user) && user->isBeforeInBlock(layers.back()))
        return false;
  return true;
}

static tl::unexpected<Error> named(Operation *layer, Error error) {
  if (error.where.empty())
    error.where = "layer '" + layerName(layer) + "'";
  return tl::unexpected<Error>(std::move(error));
}

Expected<std::vector<GroupPlan>> codegen::separateGroups(ArrayRef<Operation *> layers,
                                                         GroupPlanner &planner) {
  std::vector<GroupPlan> groups;
  for (Operation *layer : layers) {
    Expected<GroupPlan> group = planner.alone(layer);
    if (!group)
      return named(layer, group.error());
    groups.push_back(std::move(*group));
  }
  return groups;
}

/// How many groups that follow each other may become one, and how often.
static constexpr size_t kMostJoined = 6;
static constexpr unsigned kJoinRounds = 8;

/// How many groups in a row may be impossible before longer ones are given up.
static constexpr unsigned kMaxFailures = 3;

/// Long groups differ little from each other, and take long to plan: beyond the fine length, only
/// those of some lengths are looked at, about six to each doubling of the length. In networks of
/// many layers, they are shorter.
static constexpr size_t kFineLength = 24, kFineLengthOfMany = 10, kMiddleLength = 48;
static constexpr size_t kMiddleStep = 8, kCoarseStep = 16, kCoarseStepOfRows = 12;
static constexpr unsigned kFirstStep = 4, kManyLayers = 896;

size_t GroupTable::fineLength() const {
  return numLayers() > kManyLayers ? kFineLengthOfMany : kFineLength;
}

static bool isPassedOver(ArrayRef<Operation *> members, unsigned first, bool isTail,
                         size_t fineLength) {
  const size_t length = members.size();
  if (length <= fineLength || isTail)
    return false;
  if (first % kFirstStep != 0)
    return true;
  if (tileLayoutOf(members) == TileLayout::Matrix)
    return length % kCoarseStepOfRows != 0;
  return length % (length <= kMiddleLength ? kMiddleStep : kCoarseStep) != 0;
}

static GroupTable::Option optionOf(const GroupPlan &plan, bool isAlone) {
  return {.choice = {.count = static_cast<unsigned>(plan.layers.size()),
                     .isAlone = isAlone,
                     .counts = plan.counts},
          .estimate = plan.estimate,
          .compute = plan.computeCycles(),
          .transfers = plan.transferCycles()};
}

bool GroupTable::isFree(unsigned layer) const { return isInPlaceConcat(layers[layer], backend); }

GroupTable::GroupTable(ArrayRef<Operation *> layers, GroupPlanner &planner, const Backend &backend)
    : layers(layers.vec()), planner(planner), backend(backend) {
  findStandings();
}

void GroupTable::findStandings() {
  llvm::DenseMap<Operation *, unsigned> numberOf;
  llvm::DenseMap<Value, Place> last;
  for (auto [index, layer] : llvm::enumerate(layers)) {
    const auto number = static_cast<unsigned>(index);
    Standing standing = {.kind = planner.kindOf(layer), .lastReader = number};
    for (OpOperand &operand : layer->getOpOperands()) {
      Standing::Operand read = {.isResident = planner.isResident(operand)};
      if (const auto maker = numberOf.find(operand.get().getDefiningOp()); maker != numberOf.end())
        read.maker = maker->second;
      if (const auto before = last.find(operand.get()); before != last.end())
        read.before = before->second;
      last[operand.get()] = {number, operand.getOperandNumber()};
      standing.operands.push_back(read);
    }
    standings.push_back(std::move(standing));
    numberOf[layer] = number;
  }
  for (auto [layer, standing] : llvm::zip_equal(layers, standings)) {
    const Value result = givenResult(layer);
    standing.isRead = result.use_empty();
    for (Operation *user : result.getUsers())
      if (const auto reader = numberOf.find(user); reader != numberOf.end())
        standing.lastReader = std::max(standing.lastReader, reader->second);
      else
        standing.isRead = true;
  }
}

/// Layers of the same kinds make the same groups in as much memory if they read the same ones of
/// each other, and equally often what others make, and if others read the same of them.
KnownCosts::Key GroupTable::shapeOf(unsigned first, unsigned count, int64_t fewest) const {
  enum : uint64_t { kOutside, kSeen, kMade };
  SmallVector<uint64_t, 512> words = {count, static_cast<uint64_t>(fewest)};
  planner.appendHeuristics(words);
  for (unsigned layer = first; layer < first + count; ++layer) {
    const Standing &standing = standings[layer];
    const bool isStored = standing.isRead || standing.lastReader >= first + count;
    words.push_back(static_cast<uint64_t>(standing.kind) << 1 | (isStored ? 1 : 0));
    for (const Standing::Operand &operand : standing.operands) {
      words.push_back(operand.isResident ? 1 : 0);
      if (operand.maker && *operand.maker >= first)
        words.append({kMade, layer - *operand.maker});
      else if (operand.before && operand.before->layer >= first)
        words.append({kSeen, layer - operand.before->layer, operand.before->operand});
      else
        words.push_back(kOutside);
    }
  }
  return KnownCosts::keyOf(words);
}

/// All ways to tile several layers, into about `fewest` parts at least.
std::shared_ptr<const GroupTable::Options> GroupTable::cut(unsigned first, unsigned count,
                                                           int64_t fewest, SuffixCache *tails) {
  const KnownCosts::Key shape = shapeOf(first, count, fewest);
  auto &shapes = backend.known()->options;
  const auto optionsOf = [](const std::shared_ptr<const KnownOptions> &known) {
    return std::shared_ptr<const Options>(known, &known->options);
  };
  for (auto known = shapes.find(shape).value_or(nullptr); known; known = known->others)
    if (known->range.contains(planner.limit()))
      return optionsOf(known);
  CapacityRange range;
  Options made;
  if (auto cuts = planner.cuts(ArrayRef(layers).slice(first, count), fewest, tails, &range)) {
    made.reserve(cuts->size());
    for (const std::shared_ptr<const GroupPlan> &plan : *cuts)
      made.push_back(optionOf(*plan, /*isAlone=*/false));
  }
  llvm::stable_sort(made, [](const Option &a, const Option &b) { return a.estimate < b.estimate; });
  return optionsOf(shapes.put(shape, [&](std::shared_ptr<const KnownOptions> before) {
    return std::make_shared<const KnownOptions>(
        KnownOptions{.range = range, .options = std::move(made), .others = std::move(before)});
  }));
}

Expected<void> GroupTable::fillSingle(unsigned first) {
  const auto add = [&](const Option &option) {
    table.add(Interval(first, 1), std::make_shared<const Options>(Options{option}));
  };
  if (isFree(first)) {
    // By itself, a concatenation moves data or nothing at all.
    add({.choice = {.isAlone = true}});
    return {};
  }
  Expected<GroupPlan> alone = planner.alone(layers[first]);
  if (!alone)
    return named(layers[first], alone.error());
  add(optionOf(*alone, /*isAlone=*/true));
  return {};
}

/// For each layer the number of the first behind an op that reads it and is none of the layers: as
/// long as a group ends in front of that, it stands together as far as this layer goes.
std::vector<unsigned> GroupTable::reaches() const {
  const llvm::DenseSet<Operation *> all(layers.begin(), layers.end());
  std::vector<unsigned> reaches(layers.size(), std::numeric_limits<unsigned>::max());
  for (auto [layer, reach] : llvm::zip_equal(layers, reaches))
    for (Operation *user : layer->getUsers()) {
      if (all.contains(user))
        continue;
      const auto behind = llvm::partition_point(
          layers, [&](Operation *other) { return other->isBeforeInBlock(user); });
      reach = std::min(reach, static_cast<unsigned>(behind - layers.begin()));
    }
  return reaches;
}

/// Looks at the layers [first, end), if it is worth it after those shorter ones that begin alike.
void GroupTable::fillGroup(unsigned first, unsigned end, Front &front, SuffixCache &tails) {
  const ArrayRef<Operation *> members = ArrayRef(layers).slice(first, end - first);
  front.isOver |= front.failures == kMaxFailures || front.reach < end;
  if (front.isOver || isPassedOver(members, first, end == numLayers(), fineLength()))
    return;
  const auto made = cut(first, end - first, front.fewest, &tails);
  front.failures = made->empty() ? front.failures + 1 : 0;
  if (made->empty())
    return;
  front.fewest = std::numeric_limits<int64_t>::max();
  for (const Option &option : *made)
    front.fewest = std::min(front.fewest, option.choice.numParts());
  table.add(Interval(first, end - first), made);
}

/// What is known of a group comes from the one that begins alike and is a layer shorter, and from
/// those that end alike. So threads look at groups with ends that follow each other.
Expected<void> GroupTable::fill(ThreadPool &threads) {
  for (unsigned first = numLayers(); first-- > 0;)
    if (Expected<void> filled = fillSingle(first); !filled)
      return filled;
  std::vector<Front> fronts(numLayers());
  const std::vector<unsigned> reaches = this->reaches();
  Followers ends(numLayers() + 1, numLayers());
  const auto fillEnd = [&](unsigned end) {
    SuffixCache tails;
    const unsigned least = end - std::min(end, kWindow);
    for (unsigned first = end - 1; first-- > least;) {
      if (first + 2 < end)
        ends.await(end - 1, first);
      fronts[first].reach = std::min(fronts[first].reach, reaches[end - 2]);
      if (!fronts[first].isOver)
        fillGroup(first, end, fronts[first], tails);
      ends.leave(end, first);
    }
  };
  // Pieces are taken in order, so whoever waits, waits for one that is under way.
  constexpr unsigned kFirstEnd = 2;
  threads.parallelFor(int64_t{numLayers()} - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number)
      fillEnd(static_cast<unsigned>(number) + kFirstEnd);
  });
  return {};
}

std::shared_ptr<const GroupTable::Options> GroupTable::lookup(unsigned first,
                                                              unsigned count) const {
  return table.find(Interval(first, count)).value_or(nullptr);
}

/// Of a group that may not have been looked at yet.
std::shared_ptr<const GroupTable::Options> GroupTable::lookedAt(unsigned first, unsigned count,
                                                                SuffixCache *tails) {
  if (auto known = lookup(first, count))
    return known;
  auto made = std::make_shared<const Options>();
  if (count <= kMostLayers && standsTogether(ArrayRef(layers).slice(first, count)))
    made = cut(first, count, /*fewest=*/1, tails);
  return table.add(Interval(first, count), std::move(made));
}

/// The options of a group that begins with `first`.
static std::vector<GroupTable::Option>
startingAt(unsigned first, const std::shared_ptr<const std::vector<GroupTable::Option>> &options) {
  std::vector<GroupTable::Option> own;
  if (options)
    own = *options;
  for (GroupTable::Option &option : own)
    option.choice.first = first;
  return own;
}

std::vector<GroupTable::Option> GroupTable::options(unsigned first, unsigned count) {
  return startingAt(first, lookedAt(first, count));
}

std::vector<GroupTable::Option> GroupTable::known(unsigned first, unsigned count) const {
  return startingAt(first, lookup(first, count));
}

int64_t GroupTable::estimateOf(const GroupChoice &choice) const {
  const auto options = lookup(choice.first, choice.count);
  if (!options)
    return 0;
  for (const Option &option : *options)
    if (option.choice.isAlone == choice.isAlone && option.choice.counts == choice.counts)
      return option.estimate;
  return 0;
}

ArrayRef<GroupChoice> GroupTable::retilings(const GroupChoice &group) {
  if (group.count != 1 || isFree(group.first))
    return {};
  if (const auto known = singleTilings.find(group.first))
    return **known;
  std::vector<GroupChoice> made;
  const TileCounts &own = lookedAt(group.first, 1)->front().choice.counts;
  for (const Option &option : startingAt(group.first, cut(group.first, 1)))
    if (option.choice.counts != own)
      made.push_back(option.choice);
  return *singleTilings.add(group.first,
                            std::make_shared<const std::vector<GroupChoice>>(std::move(made)));
}

static double weightOf(const GroupTable::Option &option, const GroupWeights &weights) {
  return weights.estimate * static_cast<double>(option.estimate) +
         weights.compute * static_cast<double>(option.compute) +
         weights.transfers * static_cast<double>(option.transfers);
}

/// The groups with the least weight of the layers [begin, end), each of up to `mostLayers`.
Partition GroupTable::lightest(unsigned begin, unsigned end, unsigned mostLayers,
                               const GroupWeights &weights) const {
  std::vector<double> behind(end + 1, 0);
  std::vector<std::optional<GroupChoice>> chosen(end);
  for (unsigned first = end; first-- > begin;)
    for (unsigned next = first + 1; next <= std::min(end, first + mostLayers); ++next) {
      const auto options = lookup(first, next - first);
      if (!options)
        continue;
      for (const Option &option : *options) {
        const double weight = weightOf(option, weights) + behind[next];
        if (chosen[first] && weight >= behind[first])
          continue;
        behind[first] = weight;
        chosen[first] = option.choice;
        chosen[first]->first = first;
      }
    }
  Partition partition;
  for (unsigned first = begin; first < end; first = chosen[first]->end())
    partition.push_back(*chosen[first]);
  return partition;
}

Partition GroupTable::divided(const GroupChoice &choice) const {
  return lightest(choice.first, choice.end(), std::min((choice.count + 1) / 2, kWindow), {});
}

Partition GroupTable::best(const GroupWeights &weights) {
  Partition partition = lightest(0, numLayers(), kWindow, weights);
  for (unsigned round = 0; round < kJoinRounds; ++round) {
    Partition longer = joined(partition, weights);
    if (longer == partition)
      break;
    partition = std::move(longer);
  }
  return partition;
}

/// The partition with the least weight of those in which each group is one of `partition`, or
/// several that follow each other. Those of few layers have all been looked at before.
Partition GroupTable::joined(Partition partition, const GroupWeights &weights) {
  std::vector<double> behind(partition.size() + 1, 0);
  std::vector<std::pair<GroupChoice, size_t>> chosen(partition.size());
  // Of groups by where they end.
  std::map<size_t, SuffixCache> tails;
  for (size_t number = partition.size(); number-- > 0;) {
    const GroupChoice &own = partition[number];
    chosen[number] = {own, number + 1};
    for (const Option &option : known(own.first, own.count))
      if (option.choice == own)
        behind[number] = weightOf(option, weights) + behind[number + 1];
    const size_t most = std::min(partition.size(), number + kMostJoined);
    tails.erase(tails.upper_bound(most), tails.end());
    for (size_t end = number + 2; end <= most; ++end) {
      const unsigned count = partition[end - 1].end() - own.first;
      if (count <= fineLength())
        continue;
      if (count > kMostLayers)
        break;
      for (const Option &option : startingAt(own.first, lookedAt(own.first, count, &tails[end]))) {
        const double weight = weightOf(option, weights) + behind[end];
        if (weight >= behind[number])
          continue;
        behind[number] = weight;
        chosen[number] = {option.choice, end};
      }
    }
  }
  Partition longer;
  for (size_t number = 0; number < partition.size(); number = chosen[number].second)
    longer.push_back(chosen[number].first);
  return longer;
}

Expected<GroupPlan> GroupTable::plan(const GroupChoice &choice) {
  return choice.isAlone
             ? planner.alone(layers[choice.first])
             : planner.together(ArrayRef(layers).slice(choice.first, choice.count), choice.counts);
}

Expected<std::vector<GroupPlan>> GroupTable::plans(const Partition &partition) {
  std::vector<GroupPlan> groups;
  for (const GroupChoice &choice : partition) {
    if (choice.isAlone && isFree(choice.first))
      continue;
    Expected<GroupPlan> group = plan(choice);
    if (!group)
      return propagate(group);
    groups.push_back(std::move(*group));
  }
  return groups;
}
