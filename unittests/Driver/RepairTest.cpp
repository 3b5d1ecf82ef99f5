//===- RepairTest.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/Repair.h"

#include <gmock/gmock.h>
#include <set>

using namespace tpuc;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::vector<std::string> numbered(int count) {
  std::vector<std::string> layers;
  for (int i = 0; i < count; ++i)
    layers.push_back(std::to_string(i));
  return layers;
}

/// Good with all of `needed`.
struct Needs {
  std::set<std::string> needed;
  int candidates = 0;

  Expected<std::vector<std::string>> search(int count, int maxCandidates) {
    const RepairCandidate candidate =
        [this](std::span<const std::string> layers) -> Expected<bool> {
      ++candidates;
      const std::set<std::string> given(layers.begin(), layers.end());
      return std::ranges::includes(given, needed);
    };
    return findRepair(numbered(count), candidate, maxCandidates);
  }
};

TEST(Repair, TakesTheFirstAlone) {
  Needs first{{"0"}};
  EXPECT_THAT(*first.search(100, 32), ElementsAre("0"));
  EXPECT_EQ(first.candidates, 2);
}

TEST(Repair, LeavesOutWhatIsNotNeeded) {
  Needs some{{"2", "13", "14"}};
  EXPECT_THAT(*some.search(40, 64), ElementsAre("2", "13", "14"));
}

TEST(Repair, FindsEachSingleLayer) {
  for (int layer = 0; layer < 33; ++layer) {
    Needs one{{std::to_string(layer)}};
    EXPECT_THAT(*one.search(33, 64), ElementsAre(std::to_string(layer)));
  }
}

TEST(Repair, GivesAllWhereAllAreNeeded) {
  const std::vector<std::string> all = numbered(5);
  Needs every{{all.begin(), all.end()}};
  EXPECT_EQ(*every.search(5, 64), all);
}

TEST(Repair, GivesNoneWhereNotEvenAllAreEnough) {
  Needs more{{"nowhere"}};
  EXPECT_THAT(*more.search(20, 32), IsEmpty());
  EXPECT_EQ(more.candidates, 1);
  EXPECT_THAT(*more.search(0, 32), IsEmpty());
}

TEST(Repair, EndsWithAGoodSetWhenTrialsRunOut) {
  Needs some{{"2", "30"}};
  const std::vector<std::string> found = *some.search(40, 8);
  EXPECT_EQ(some.candidates, 8);
  EXPECT_THAT(found, testing::IsSupersetOf({"2", "30"}));
}

TEST(Repair, HandsErrorsOn) {
  int candidates = 0;
  const RepairCandidate candidate = [&](std::span<const std::string>) -> Expected<bool> {
    if (++candidates == 3)
      return makeError("candidate", "fails");
    return candidates == 1;
  };
  const auto found = findRepair(numbered(9), candidate, 32);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message(), "candidate: fails");
}

} // namespace
