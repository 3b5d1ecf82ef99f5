//===- SkylineSearch.h - Search over a skyline ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Search for an allocation below a given height, built from the ground up over a skyline.
//
// The time axis is cut into sections at the starts and ends of lifetimes; each section has a floor:
// no buffer still to place can lie lower there. The search looks at a valley of the skyline and
// asks which buffer covers a certain section of it right on the floor: each that fits, or none, in
// which case the floor rises to the next height at which one can lie. The answers exclude each
// other, and together they hold every allocation in which no buffer can sink, so a search that runs
// to its end proves that the height cannot be had. Where the buffers that are left no longer share
// a section, the parts are independent and searched one by one.
//
// Sources of the ideas: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
// Hardware-Accelerated Machine Learning" (ASPLOS 2023) for canonical solutions, inference on
// sections, decomposition and the orders; Korf, "Optimal Rectangle Packing" for deciding the
// occupant of a cell; tables of failed states are the transposition tables of game search.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ALLOCATOR_SKYLINESEARCH_H
#define TPUC_SUPPORT_ALLOCATOR_SKYLINESEARCH_H

#include "tpuc/Support/Allocator/ItemSet.h"
#include "tpuc/Support/Allocator/StateTable.h"

namespace tpuc::alloc {

/// Which section of the skyline is decided next. "Valley" rules look at all valleys, "lowest" ones
/// only at the lowest floor.
enum class SectionRule {
  /// The fewest buffers fit, then the lower floor.
  ValleyFewest,
  /// The least space to waste, then the lower floor.
  ValleyTightest,
  /// The narrowest valley, then the least space to waste.
  ValleyNarrowest,
  LowestFewest,
  LowestTightest,
  /// The section where the first buffer in order fits.
  LowestRanked,
};

/// What a buffer is measured by when buffers are put in order, largest first.
enum class OrderKey {
  /// The largest load of a section it lives in.
  Load,
  /// Length of life.
  Width,
  Size,
  /// Width * size.
  Area,
};

struct SearchStrategy {
  SectionRule section = SectionRule::ValleyFewest;
  std::vector<OrderKey> order;
  /// 0: the order as it is. Otherwise each measure but the load is varied by up to a tenth, in a
  /// way that depends on this number only.
  uint64_t variation = 0;
};

/// The search's own heuristics; without any of them it still is complete.
struct SearchHeuristics {
  /// Floors rise to the lowest offset that a buffer still to place can have there.
  bool inferFloors = true;
  /// Independent parts are searched one by one.
  bool decompose = true;
  /// States that failed are remembered, across strategies.
  bool rememberFailures = true;
  /// Of buffers with the same life, size and constraints only one is tried.
  bool skipTwins = true;
};

class SkylineSearch {
public:
  enum class Outcome {
    Found,
    /// Searched to the end: nothing fits (only where isExact()).
    Impossible,
    OutOfWork
  };

  /// Items are taken as rectangles over their whole lives and none may overlap another.
  SkylineSearch(const ItemSet &set, const SearchHeuristics &heuristics);

  /// Whether the items are rectangles that may not overlap, so that Impossible means what it says.
  bool isExact() const { return exact; }
  /// Looks for an allocation of at most this height within `workLimit` units of work from now.
  Outcome run(int64_t capacity, const SearchStrategy &strategy, uint64_t workLimit);
  /// One offset per item, after run has found an allocation.
  const std::vector<int64_t> &offsets() const { return itemOffsets; }
  /// About the work of one walk down to an allocation without a wrong turn, a few times over: less
  /// makes no sense as a limit.
  uint64_t workOfDescent() const { return memberships * rectangles.size(); }
  /// Units of work so far: buffers and sections looked at, some nanoseconds each; the same on every
  /// machine.
  uint64_t work() const { return workDone; }

private:
  struct Rectangle {
    size_t item = 0;
    int first = 0; // sections [first, end)
    int end = 0;
    int64_t size = 0;
    int64_t width = 0;  // in time
    int64_t load = 0;   // the largest of its sections
    bool isFree = true; // any offset will do
    /// The same for twins.
    uint64_t code = 0;
  };
  struct Section {
    int64_t floor = 0;
    /// Bytes still to place.
    int64_t remaining = 0;
    /// A buffer still to place that can lie on the floor: while it can, the floor need not be
    /// looked at.
    int witness = -1;
    /// Buffers still to place that live in the section before, too.
    int crossing = 0;
    /// Words of `members` that are not empty.
    int firstWord = 0;
    int endWord = 0;
    bool isQueued = false;
    bool isInValley = false;
  };
  enum class Step : uint8_t { Floor, Lowest, Placed };
  struct TrailEntry {
    Step step;
    int index;
    int witness;
    int64_t value;
  };

  void cutIntoSections();
  void codeTwins();
  void order(const SearchStrategy &strategy);
  template <typename F> void forEachMember(int section, F visit) const;
  int64_t roundUp(int rectangle, int64_t offset) const;

  void queue(int section);
  bool raiseLowest(int rectangle, int64_t offset);
  void raiseFloor(int section, int64_t floor);
  bool updateSection(int section);
  bool propagate();
  void place(int rectangle);
  void undo(size_t mark);

  bool solve(int begin, int end, int depth);
  bool solvePart(int begin, int end, int depth);
  bool branch(int begin, int end, int section, int depth);
  bool branchOnNone(int begin, int end, int section, size_t firstCandidate, size_t endCandidate,
                    int depth);
  uint64_t codeOfState(int begin, int end);
  void markValleys(int begin, int end);
  int chooseSection(int begin, int end) const;

  const ItemSet *set;
  SearchHeuristics heuristics;
  bool exact = true;
  std::vector<Rectangle> rectangles;
  std::vector<Section> sections;
  /// A row of bits per section: which rectangles live there.
  std::vector<uint64_t> members;
  size_t words = 0;
  /// Pairs of a section and a rectangle that lives there.
  uint64_t memberships = 0;
  std::vector<uint64_t> unplaced;
  /// The lowest offset that each rectangle can still have.
  std::vector<int64_t> lowest;
  std::vector<int> rank;
  std::vector<TrailEntry> trail;
  std::vector<int> pending;
  /// Candidates of all levels of the search, one after the other.
  std::vector<int> candidates;
  std::vector<uint64_t> seenWords;
  StateTable failures;
  std::vector<int64_t> itemOffsets;

  int64_t capacity = 0;
  SectionRule rule = SectionRule::ValleyFewest;
  mutable uint64_t workDone = 0;
  uint64_t workEnd = 0;
  bool aborted = false;
};

} // namespace tpuc::alloc

#endif // TPUC_SUPPORT_ALLOCATOR_SKYLINESEARCH_H
