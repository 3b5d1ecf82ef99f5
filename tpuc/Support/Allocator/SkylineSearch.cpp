//===- SkylineSearch.cpp - Search over a skyline --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/SkylineSearch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

/// Deeper than this the search gives up rather than risk the stack.
constexpr int kMaxDepth = 8000;

/// A bijection of 64 bits that lets every bit of the input reach every bit of the output (the
/// finalizer of MurmurHash3).
uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

} // namespace

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

SkylineSearch::SkylineSearch(const ItemSet &items, const SearchHeuristics &chosen)
    : set(&items), heuristics(chosen), exact(!items.hasOverlapGroups()) {
  itemOffsets.assign(set->items().size(), 0);
  for (size_t i = 0; i < set->items().size(); ++i) {
    const Item &item = set->items()[i];
    if (item.extent == 0) {
      itemOffsets[i] = set->nextOffset(i, 0);
      continue;
    }
    exact &= item.isRectangle;
    Rectangle rectangle;
    rectangle.item = i;
    rectangle.size = item.extent;
    rectangle.width = item.upper - item.lower;
    rectangle.isFree = item.modulus == 1 && item.bankParts.empty() && !item.fixedOffset;
    rectangles.push_back(rectangle);
  }
  std::sort(rectangles.begin(), rectangles.end(), [&](const Rectangle &a, const Rectangle &b) {
    int64_t lowerA = set->items()[a.item].lower;
    int64_t lowerB = set->items()[b.item].lower;
    return std::pair(lowerA, a.item) < std::pair(lowerB, b.item);
  });
  cutIntoSections();
  codeTwins();
}

void SkylineSearch::cutIntoSections() {
  std::vector<int64_t> times;
  for (const Rectangle &rectangle : rectangles) {
    times.push_back(set->items()[rectangle.item].lower);
    times.push_back(set->items()[rectangle.item].upper);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto sectionAt = [&](int64_t time) {
    return static_cast<int>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  words = (rectangles.size() + 63) / 64;
  sections.resize(times.empty() ? 0 : times.size() - 1);
  members.assign(sections.size() * words, 0);
  unplaced.assign(words, 0);
  lowest.assign(rectangles.size(), 0);
  for (Section &section : sections)
    section.firstWord = static_cast<int>(words);
  for (size_t i = 0; i < rectangles.size(); ++i) {
    Rectangle &rectangle = rectangles[i];
    rectangle.first = sectionAt(set->items()[rectangle.item].lower);
    rectangle.end = sectionAt(set->items()[rectangle.item].upper);
    lowest[i] = roundUp(static_cast<int>(i), 0);
    unplaced[i / 64] |= uint64_t(1) << (i % 64);
    memberships += rectangle.end - rectangle.first;
    for (int s = rectangle.first; s < rectangle.end; ++s) {
      members[s * words + i / 64] |= uint64_t(1) << (i % 64);
      Section &section = sections[s];
      section.remaining += rectangle.size;
      section.crossing += s > rectangle.first;
      section.firstWord = std::min(section.firstWord, static_cast<int>(i / 64));
      section.endWord = static_cast<int>(i / 64 + 1);
    }
  }
  for (Rectangle &rectangle : rectangles)
    for (int s = rectangle.first; s < rectangle.end; ++s)
      rectangle.load = std::max(rectangle.load, sections[s].remaining);
}

void SkylineSearch::codeTwins() {
  // Only rectangles without constraints of their own are told to be twins.
  std::map<std::tuple<int, int, int64_t>, size_t> firstOfKind;
  for (size_t i = 0; i < rectangles.size(); ++i) {
    Rectangle &rectangle = rectangles[i];
    size_t kind = i;
    if (rectangle.isFree)
      kind = firstOfKind.try_emplace({rectangle.first, rectangle.end, rectangle.size}, i)
                 .first->second;
    rectangle.code = scramble(0x9e3779b97f4a7c15ULL + kind);
  }
}

void SkylineSearch::order(const SearchStrategy &strategy) {
  size_t count = rectangles.size();
  using Measures = std::array<double, 4>;
  std::vector<Measures> measures(count);
  for (size_t i = 0; i < count; ++i) {
    const Rectangle &rectangle = rectangles[i];
    double factor = 1;
    if (strategy.variation != 0)
      factor += static_cast<double>(scramble(strategy.variation * count + i) % 1024) / 10240 - 0.05;
    auto width = static_cast<double>(rectangle.width) * factor;
    auto size = static_cast<double>(rectangle.size);
    for (size_t k = 0; k < std::min(strategy.order.size(), measures[i].size()); ++k)
      switch (strategy.order[k]) {
      case OrderKey::Load:
        measures[i][k] = static_cast<double>(rectangle.load);
        break;
      case OrderKey::Width:
        measures[i][k] = width;
        break;
      case OrderKey::Size:
        measures[i][k] = size * factor;
        break;
      case OrderKey::Area:
        measures[i][k] = width * size;
        break;
      }
  }
  std::vector<int> sorted(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](int a, int b) {
    return measures[a] != measures[b] ? measures[a] > measures[b] : a < b;
  });
  rank.resize(count);
  for (size_t i = 0; i < count; ++i)
    rank[sorted[i]] = static_cast<int>(i);
}

template <typename F> void SkylineSearch::forEachMember(int section, F visit) const {
  const uint64_t *row = &members[section * words];
  for (int word = sections[section].firstWord; word < sections[section].endWord; ++word)
    for (uint64_t bits = row[word] & unplaced[word]; bits != 0; bits &= bits - 1)
      visit(word * 64 + std::countr_zero(bits));
}

int64_t SkylineSearch::roundUp(int rectangle, int64_t offset) const {
  return rectangles[rectangle].isFree ? offset
                                      : set->nextOffset(rectangles[rectangle].item, offset);
}

//===----------------------------------------------------------------------===//
// Consequences
//===----------------------------------------------------------------------===//

void SkylineSearch::queue(int section) {
  if (!sections[section].isQueued) {
    sections[section].isQueued = true;
    pending.push_back(section);
  }
}

void SkylineSearch::raiseFloor(int section, int64_t floor) {
  trail.push_back({Step::Floor, section, sections[section].witness, sections[section].floor});
  sections[section].floor = floor;
}

/// False where the rectangle no longer fits below the capacity.
bool SkylineSearch::raiseLowest(int index, int64_t offset) {
  const Rectangle &rectangle = rectangles[index];
  offset = roundUp(index, offset);
  trail.push_back({Step::Lowest, index, 0, lowest[index]});
  lowest[index] = offset;
  workDone += rectangle.end - rectangle.first;
  for (int s = rectangle.first; s < rectangle.end; ++s)
    if (sections[s].witness == index)
      queue(s);
  return offset <= capacity - rectangle.size;
}

/// False where the section cannot hold what it has to.
bool SkylineSearch::updateSection(int index) {
  Section &section = sections[index];
  int64_t least = INT64_MAX;
  int witness = -1;
  bool someTooLow = false;
  forEachMember(index, [&](int rectangle) {
    ++workDone;
    someTooLow |= lowest[rectangle] < section.floor;
    if (lowest[rectangle] < least) {
      least = lowest[rectangle];
      witness = rectangle;
    }
  });
  if (witness < 0)
    return true;
  if (heuristics.inferFloors && least > section.floor)
    raiseFloor(index, least);
  else if (section.witness != witness)
    trail.push_back({Step::Floor, index, section.witness, section.floor});
  section.witness = witness;
  if (section.floor > capacity - section.remaining)
    return false;
  if (!someTooLow)
    return true;
  bool fits = true;
  forEachMember(index, [&](int rectangle) {
    ++workDone;
    if (lowest[rectangle] < section.floor)
      fits &= raiseLowest(rectangle, section.floor);
  });
  queue(index);
  return fits;
}

bool SkylineSearch::propagate() {
  bool fits = true;
  while (fits && !pending.empty()) {
    int section = pending.back();
    pending.pop_back();
    sections[section].isQueued = false;
    fits = updateSection(section);
  }
  for (int section : pending)
    sections[section].isQueued = false;
  pending.clear();
  return fits;
}

void SkylineSearch::place(int index) {
  const Rectangle &rectangle = rectangles[index];
  itemOffsets[rectangle.item] = lowest[index];
  unplaced[index / 64] &= ~(uint64_t(1) << (index % 64));
  trail.push_back({Step::Placed, index, 0, 0});
  for (int s = rectangle.first; s < rectangle.end; ++s) {
    sections[s].remaining -= rectangle.size;
    sections[s].crossing -= s > rectangle.first;
    raiseFloor(s, lowest[index] + rectangle.size);
    queue(s);
  }
}

void SkylineSearch::undo(size_t mark) {
  for (; trail.size() > mark; trail.pop_back()) {
    const TrailEntry &entry = trail.back();
    switch (entry.step) {
    case Step::Floor:
      sections[entry.index].floor = entry.value;
      sections[entry.index].witness = entry.witness;
      break;
    case Step::Lowest:
      lowest[entry.index] = entry.value;
      break;
    case Step::Placed: {
      const Rectangle &rectangle = rectangles[entry.index];
      unplaced[entry.index / 64] |= uint64_t(1) << (entry.index % 64);
      for (int s = rectangle.first; s < rectangle.end; ++s) {
        sections[s].remaining += rectangle.size;
        sections[s].crossing += s > rectangle.first;
      }
    }
    }
  }
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

SkylineSearch::Outcome SkylineSearch::run(int64_t height, const SearchStrategy &strategy,
                                          uint64_t workLimit) {
  undo(0);
  capacity = height;
  rule = strategy.section;
  workEnd = workDone + workLimit;
  aborted = false;
  candidates.clear();
  order(strategy);
  for (size_t s = 0; s < sections.size(); ++s)
    queue(static_cast<int>(s));
  bool found = propagate() && solve(0, static_cast<int>(sections.size()), 0);
  if (found)
    return Outcome::Found;
  return aborted ? Outcome::OutOfWork : Outcome::Impossible;
}

/// Finds the independent parts of [begin, end) that still have something to place, narrow ones
/// first: they fail soonest.
bool SkylineSearch::solve(int begin, int end, int depth) {
  std::vector<std::pair<int, int>> parts;
  for (int s = begin; s < end; ++s) {
    if (sections[s].remaining == 0)
      continue;
    bool joined = !parts.empty() && parts.back().second == s && sections[s].crossing > 0;
    if (joined || (!heuristics.decompose && !parts.empty()))
      parts.back().second = s + 1;
    else
      parts.emplace_back(s, s + 1);
  }
  std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) {
    return std::pair(a.second - a.first, a.first) < std::pair(b.second - b.first, b.first);
  });
  return std::all_of(parts.begin(), parts.end(),
                     [&](const auto &part) { return solvePart(part.first, part.second, depth); });
}

bool SkylineSearch::solvePart(int begin, int end, int depth) {
  workDone += end - begin;
  aborted = workDone >= workEnd || depth >= kMaxDepth;
  if (aborted)
    return false;
  uint64_t code = 0;
  if (heuristics.rememberFailures) {
    code = codeOfState(begin, end);
    if (failures.contains(code, capacity))
      return false;
  }
  markValleys(begin, end);
  if (branch(begin, end, chooseSection(begin, end), depth))
    return true;
  if (heuristics.rememberFailures && !aborted)
    failures.insert(code, capacity);
  return false;
}

/// Two states of one code have the same floors and the same (or twins of the same) buffers to
/// place. What is known of lowest offsets beyond the floors follows from the latter.
uint64_t SkylineSearch::codeOfState(int begin, int end) {
  uint64_t code = 0;
  seenWords.assign(words, 0);
  for (int s = begin; s < end; ++s) {
    const Section &section = sections[s];
    code += scramble(scramble(section.floor) + s);
    for (int word = section.firstWord; word < section.endWord; ++word)
      seenWords[word] |= members[s * words + word] & unplaced[word];
  }
  for (size_t word = 0; word < words; ++word)
    for (uint64_t bits = seenWords[word]; bits != 0; bits &= bits - 1)
      code += rectangles[word * 64 + std::countr_zero(bits)].code;
  return code;
}

/// A valley is a run of sections of one floor with higher ones, finished ones or the part's ends on
/// both sides: what covers any of it right on its floor leaves no gap below.
void SkylineSearch::markValleys(int begin, int end) {
  auto levelOf = [&](int s) {
    bool isWall = s < begin || s >= end || sections[s].remaining == 0;
    return isWall ? INT64_MAX : sections[s].floor;
  };
  for (int first = begin; first < end;) {
    int64_t level = levelOf(first);
    int last = first + 1;
    while (last < end && levelOf(last) == level)
      ++last;
    bool isValley = level != INT64_MAX && levelOf(first - 1) > level && levelOf(last) > level;
    for (int s = first; s < last; ++s)
      sections[s].isInValley = isValley;
    first = last;
  }
}

int SkylineSearch::chooseSection(int begin, int end) const {
  int64_t lowestFloor = INT64_MAX;
  for (int s = begin; s < end; ++s)
    if (sections[s].isInValley)
      lowestFloor = std::min(lowestFloor, sections[s].floor);
  bool onlyLowest = rule == SectionRule::LowestFewest || rule == SectionRule::LowestTightest ||
                    rule == SectionRule::LowestRanked;
  int best = -1, width = 0;
  std::pair<int64_t, int64_t> bestKey{INT64_MAX, INT64_MAX};
  for (int s = begin; s < end; ++s) {
    const Section &section = sections[s];
    if (!section.isInValley || (onlyLowest && section.floor != lowestFloor))
      continue;
    int64_t slack = capacity - section.floor - section.remaining;
    std::pair<int64_t, int64_t> key{slack, section.floor};
    if (rule == SectionRule::ValleyFewest || rule == SectionRule::LowestFewest) {
      key.first = slack > 0 ? 1 : 0;
      forEachMember(s, [&](int r) { key.first += lowest[r] == section.floor; });
    } else if (rule == SectionRule::ValleyNarrowest) {
      bool isStart = s == begin || !sections[s - 1].isInValley;
      if (isStart)
        for (width = 1; s + width < end && sections[s + width].isInValley;)
          ++width;
      key = {width, slack};
    } else if (rule == SectionRule::LowestRanked) {
      key = {INT64_MAX, 0};
      forEachMember(s, [&](int r) {
        if (lowest[r] == section.floor)
          key.first = std::min<int64_t>(key.first, rank[r]);
      });
    }
    if (best < 0 || key < bestKey) {
      best = s;
      bestKey = key;
    }
  }
  return best;
}

bool SkylineSearch::branch(int begin, int end, int section, int depth) {
  int64_t floor = sections[section].floor;
  size_t first = candidates.size();
  forEachMember(section, [&](int rectangle) {
    if (lowest[rectangle] == floor)
      candidates.push_back(rectangle);
  });
  size_t last = candidates.size();
  std::sort(candidates.begin() + first, candidates.end(),
            [&](int a, int b) { return rank[a] < rank[b]; });
  size_t mark = trail.size();
  bool found = false;
  for (size_t i = first; i < last && !found && !aborted; ++i) {
    int rectangle = candidates[i];
    auto isTwin = [&](int other) { return rectangles[other].code == rectangles[rectangle].code; };
    if (heuristics.skipTwins &&
        std::any_of(candidates.begin() + first, candidates.begin() + i, isTwin))
      continue;
    place(rectangle);
    found = propagate() && solve(begin, end, depth + 1);
    if (!found)
      undo(mark);
  }
  if (!found && !aborted) {
    found = branchOnNone(begin, end, section, first, last, depth);
    if (!found)
      undo(mark);
  }
  candidates.resize(first);
  return found;
}

/// None of the candidates covers the section right on its floor. The lowest buffer there then is
/// one that cannot lie on the floor anyway, or a candidate on top of a buffer that is still to
/// place, does not live in this section, but shares another with it.
bool SkylineSearch::branchOnNone(int begin, int end, int section, size_t firstCandidate,
                                 size_t endCandidate, int depth) {
  int64_t floor = sections[section].floor;
  int64_t limit = capacity - sections[section].remaining;
  if (floor >= limit)
    return false;
  int64_t next = INT64_MAX;
  forEachMember(section, [&](int rectangle) {
    if (lowest[rectangle] > floor)
      next = std::min(next, lowest[rectangle]);
  });
  for (size_t i = firstCandidate; i < endCandidate; ++i) {
    const Rectangle &candidate = rectangles[candidates[i]];
    if (set->items()[candidate.item].fixedOffset)
      return false;
    for (int s = candidate.first; s < candidate.end; ++s)
      forEachMember(s, [&](int support) {
        ++workDone;
        const Rectangle &below = rectangles[support];
        if (below.end <= section || section < below.first)
          next = std::min(next, lowest[support] + below.size);
      });
  }
  if (next > limit)
    return false;
  raiseFloor(section, next);
  queue(section);
  return propagate() && solve(begin, end, depth + 1);
}
