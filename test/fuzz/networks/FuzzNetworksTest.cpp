//===- FuzzNetworksTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/Mutations.h"
#include "test/fuzz/networks/Seeds.h"

#include <gtest/gtest.h>
#include <set>

using namespace tpuc;
using namespace tpuc::fuzz;

namespace {

std::vector<Seed> allSeeds() {
  Expected<std::vector<Seed>> seeds = readSeeds(std::vector<std::string>{TPUC_NETWORK_SEEDS});
  EXPECT_TRUE(seeds) << (seeds ? "" : seeds.error().message());
  return seeds ? *seeds : std::vector<Seed>();
}

TEST(Mutations, AreTheSameForTheSameSeed) {
  for (const Seed &seed : allSeeds()) {
    proto::Model one = seed.model, two = seed.model;
    const std::vector<std::string> operators = {"Relu", "Conv"};
    EXPECT_EQ(mutate(one, operators, 5).text, mutate(two, operators, 5).text) << seed.name;
    EXPECT_EQ(one.SerializeAsString(), two.SerializeAsString()) << seed.name;
  }
}

TEST(Mutations, ChangeWhatTheySay) {
  for (const Seed &seed : allSeeds())
    for (uint64_t number = 0; number < 20; ++number) {
      proto::Model changed = seed.model;
      const Change change = mutate(changed, {}, number);
      EXPECT_EQ(change.text.empty(), change.kind.empty());
      // A number may be what it was.
      if (change.text.empty())
        EXPECT_EQ(changed.SerializeAsString(), seed.model.SerializeAsString()) << seed.name;
    }
}

TEST(Mutations, ReachEveryPartOfANetwork) {
  std::vector<Seed> seeds = allSeeds();
  std::vector<proto::Model> models;
  for (const Seed &seed : seeds)
    models.push_back(seed.model);
  const std::vector<std::string> operators = operatorsOf(models);
  EXPECT_GT(operators.size(), 150U);
  std::set<std::string> reached;
  for (const Seed &seed : seeds)
    for (uint64_t number = 0; number < 40; ++number) {
      proto::Model changed = seed.model;
      const std::string what = mutate(changed, operators, number).text;
      for (const char *part :
           {"constant:", "shape:", "type:", " becomes ", " twice", " lacks ", "of version",
            " is left out", " once more", "output ", " is empty", "NaN", "nan", " makes "})
        if (what.find(part) != std::string::npos)
          reached.insert(part);
    }
  EXPECT_GE(reached.size(), 13U);
}

TEST(Seeds, FilesThatAreNoneAreNamed) {
  Expected<std::vector<Seed>> seeds = readSeeds(std::vector<std::string>{"/nowhere/seeds.txt"});
  ASSERT_FALSE(seeds);
  EXPECT_EQ(seeds.error().where, "/nowhere/seeds.txt");
}

} // namespace
