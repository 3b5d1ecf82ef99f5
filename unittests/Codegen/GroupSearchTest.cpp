//===- GroupSearchTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupSearch.h"
#include "tpuc/Codegen/Group/OpKinds.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

#include <set>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Layers that follow each other, named l0, l1, ...: 'm' is a pool, 'a' an activation, and 's' adds
/// the result two layers in front.
std::string chain(llvm::StringRef layers, const std::string &type) {
  std::string text = "!x = tensor<" + type + "xf32>\nfunc.func @main(%0: !x) -> !x {\n";
  for (size_t index = 0; index < layers.size(); ++index) {
    const std::string input = "%" + std::to_string(index);
    text += "%" + std::to_string(index + 1) + " = ";
    if (layers[index] == 'm')
      text += "\"tpu.MaxPool\"(" + input +
              ") {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x";
    else if (layers[index] == 's')
      text += "\"tpu.Add\"(" + input + ", %" + std::to_string(index - 1) + ") : (!x, !x) -> !x";
    else
      text += "\"tpu.Abs\"(" + input + ") : (!x) -> !x";
    text += " loc(\"l" + std::to_string(index) + "\")\n";
  }
  return text + "return %" + std::to_string(layers.size()) + " : !x\n}";
}

class GroupSearch {
public:
  GroupSearch(llvm::StringRef kinds, const std::string &type, int64_t capacity)
      : network(chain(kinds, type)), backend(backendOf(**lookupTarget("bm1684x"))),
        planner(*backend, capacity, {}) {
    for (mlir::Operation &op : network.main().front().without_terminator())
      layers.push_back(&op);
    table.emplace(layers, planner, *backend);
    EXPECT_TRUE(table->fill(threads));
  }

  int64_t estimate(const Partition &partition) {
    int64_t sum = 0;
    for (const GroupChoice &choice : partition)
      sum += table->estimateOf(choice);
    return sum;
  }
  /// The least estimate of a group, which a planner of its own makes.
  std::optional<int64_t> alone(size_t first, size_t count) {
    GroupPlanner own(*backend, capacity(), {});
    const llvm::ArrayRef<mlir::Operation *> group = llvm::ArrayRef(layers).slice(first, count);
    if (count == 1) {
      Expected<GroupPlan> plan = own.alone(group.front());
      return plan ? std::optional(plan->estimate) : std::nullopt;
    }
    auto cuts = own.cuts(group);
    if (!cuts)
      return std::nullopt;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const auto &plan : *cuts)
      least = std::min(least, plan->estimate);
    return least;
  }
  /// The least sum of estimates over all ways to divide the layers from `first` on.
  int64_t exhaustive(size_t first = 0) {
    if (first == layers.size())
      return 0;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t count = 1; first + count <= layers.size(); ++count)
      if (const std::optional<int64_t> own = alone(first, count))
        least = std::min(least, *own + exhaustive(first + count));
    return least;
  }

  static int64_t capacity() { return 256 * 1024; }

  Network network;
  std::unique_ptr<Backend> backend;
  GroupPlanner planner;
  ThreadPool threads{2};
  std::vector<mlir::Operation *> layers;
  std::optional<GroupTable> table;
};

TEST(GroupSearchTest, TheBestIsThatOfAllPartitions) {
  for (const char *layers : {"mamsam", "aaamma", "mmsmsm"}) {
    GroupSearch search(layers, "1x64x64x64", GroupSearch::capacity());
    EXPECT_EQ(search.estimate(search.table->best({})), search.exhaustive()) << layers;
  }
}

TEST(GroupSearchTest, EqualGroupsHaveTheEstimatesOfTheirOwn) {
  // Groups that begin elsewhere are equal but for what others read of them.
  GroupSearch search("amsamsamsams", "1x64x64x64", GroupSearch::capacity());
  unsigned looked = 0;
  for (unsigned first = 0; first < search.layers.size(); ++first)
    for (unsigned count = 1; first + count <= search.layers.size(); ++count) {
      const std::vector<GroupTable::Option> options = search.table->known(first, count);
      if (options.empty())
        continue;
      ++looked;
      EXPECT_EQ(options.front().choice.first, first);
      EXPECT_EQ(options.front().estimate, search.alone(first, count)) << first << ' ' << count;
    }
  EXPECT_GT(looked, 40U);
}

TEST(GroupSearchTest, GroupsGetLongerThanTheWindow) {
  constexpr unsigned kLayers = 3 * GroupTable::kWindow + 7;
  GroupSearch search(std::string(kLayers, 'a'), "1x64x8x8", GroupSearch::capacity());
  const Partition best = search.table->best({});
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best.front().count, kLayers);
  EXPECT_EQ(search.estimate(best), search.alone(0, kLayers));
}

TEST(GroupSearchTest, GroupsHaveAtMostSoManyLayers) {
  constexpr unsigned kLayers = GroupTable::kMostLayers + GroupTable::kWindow;
  GroupSearch search(std::string(kLayers, 'a'), "1x64x4x4", GroupSearch::capacity());
  const Partition best = search.table->best({});
  EXPECT_LE(best.size(), 3U);
  for (const GroupChoice &choice : best)
    EXPECT_LE(choice.count, GroupTable::kMostLayers);
}

TEST(OpKindsTest, NamesAttributesTypesAndMakersCount) {
  Network network(R"(
  !x = tensor<1x64x8x8xf32>
  func.func @main(%0: !x) -> (!x, !x, !x, !x, !x, !x) {
    %1 = "tpu.Abs"(%0) : (!x) -> !x loc("a")
    %2 = "tpu.Abs"(%0) : (!x) -> !x loc("b")
    %3 = "tpu.Abs"(%1) : (!x) -> !x loc("c")
    %4 = "tpu.Add"(%1, %2) : (!x, !x) -> !x loc("sum")
    %5 = "tpu.Add"(%1, %1) : (!x, !x) -> !x loc("twice")
    %6 = "tpu.MaxPool"(%0) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("p")
    %7 = "tpu.MaxPool"(%0) {kernel_shape = [5, 5], strides = [1, 1], pads = [2, 2, 2, 2]} : (!x) -> !x loc("q")
    return %2, %3, %4, %5, %6, %7 : !x, !x, !x, !x, !x, !x
  })");
  OpKinds kinds;
  const auto kind = [&](const char *name) { return kinds.of(network.layer(name)); };
  EXPECT_EQ(kind("a"), kind("b"));
  EXPECT_NE(kind("a"), kind("c"));
  EXPECT_NE(kind("sum"), kind("twice"));
  EXPECT_NE(kind("p"), kind("q"));
  EXPECT_EQ(kind("b"), kinds.ofChanging(network.layer("b")));
}

/// An op with an attribute.
std::string withAttribute(const std::string &value) {
  return "!x = tensor<1x64x8x8xf32>\nfunc.func @main(%0: !x) -> !x {\n"
         "%1 = \"tpu.Abs\"(%0) {\"test.note\" = " +
         value + "} : (!x) -> !x loc(\"a\")\nreturn %1 : !x\n}";
}

TEST(OpKindsTest, WhatAttributesAndTypesSayCounts) {
  const auto numbers = std::make_shared<KindNumbers>();
  std::set<int64_t> known;
  for (const char *value : {"1 : i32",
                            "1 : i64",
                            "2 : i64",
                            "true",
                            "1.0 : f32",
                            "1.0 : f64",
                            "1.5 : f64",
                            "\"1\"",
                            "\"\"",
                            "[]",
                            "[1, 2]",
                            "[2, 1]",
                            "[[1], 2]",
                            "[\"1\", \"2\"]",
                            "[\"12\"]",
                            "array<i64: 1, 2>",
                            "array<i64: 1>",
                            "array<i32: 1, 0, 2, 0>",
                            "array<f32: 1.0>",
                            "{a = 1}",
                            "{b = 1}",
                            "{a = {b = 1}}",
                            "i32",
                            "si32",
                            "f32",
                            "tensor<4xf32>",
                            "tensor<1x4xf32>",
                            "tensor<4xsi8>",
                            "unit",
                            "dense<1> : tensor<2xi32>",
                            "dense<2> : tensor<2xi32>"}) {
    // Each in a context of its own.
    Network network(withAttribute(value));
    Network same(withAttribute(value));
    const int64_t kind = OpKinds(numbers).of(network.layer("a"));
    EXPECT_EQ(kind, OpKinds(numbers).of(same.layer("a"))) << value;
    EXPECT_TRUE(known.insert(kind).second) << value;
  }
}

constexpr const char *kTwoPools = R"(
  !x = tensor<1x64x8x8xf32>
  module attributes {module.chip = "bm1684x"} {
    func.func @main(%0: !x) -> !x {
      %1 = "tpu.MaxPool"(%0) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("p")
      %2 = "tpu.MaxPool"(%0) {kernel_shape = [5, 5], strides = [1, 1], pads = [2, 2, 2, 2]} : (!x) -> !x loc("q")
      return %2 : !x
    }
  })";

TEST(OpKindsTest, KindsAreTheSameInAllContexts) {
  Network network(kTwoPools);
  Network other(kTwoPools);
  const auto numbers = std::make_shared<KindNumbers>();
  OpKinds kinds(numbers);
  OpKinds others(numbers);
  EXPECT_EQ(kinds.of(network.layer("p")), others.of(other.layer("p")));
  EXPECT_NE(kinds.of(network.layer("p")), others.of(other.layer("q")));
  EXPECT_EQ(kinds.of(network.layer("q")), others.of(other.layer("q")));
}

TEST(KnownCostsTest, NetworksThatAreComparedShareThem) {
  Network network(kTwoPools);
  Network other(kTwoPools);
  const auto knownOf = [](Network &each) {
    return (*backendOf(each.main()->getParentOfType<mlir::ModuleOp>()))->known();
  };
  EXPECT_EQ(knownOf(network), knownOf(network));
  EXPECT_NE(knownOf(network), knownOf(other));
  shareKnownCosts(*network.main().getContext(), *other.main().getContext());
  EXPECT_EQ(knownOf(network), knownOf(other));
}

TEST(KnownCostsTest, GroupsOfAKindAreLookedAtOnceInAsMuchMemory) {
  Network network(chain("mam", "1x64x64x64"));
  Network other(chain("mam", "1x64x64x64"));
  const auto backend = backendOf(**lookupTarget("bm1684x"));
  // The ways to tile the layers [1, 3) of a network.
  const auto waysOf = [&](Network &each, int64_t capacity) {
    std::vector<mlir::Operation *> layers;
    for (mlir::Operation &op : each.main().front().without_terminator())
      layers.push_back(&op);
    GroupPlanner planner(*backend, capacity, {});
    GroupTable table(layers, planner, *backend);
    return table.options(1, 2);
  };
  const int64_t all = Footprint::capacityOf(backend->info())[kTileSpace];
  const std::vector<GroupTable::Option> ways = waysOf(network, all);
  ASSERT_FALSE(ways.empty());
  // Answers about their tiles are not asked for again.
  backend->known()->works.clear();
  const std::vector<GroupTable::Option> others = waysOf(other, all);
  ASSERT_EQ(others.size(), ways.size());
  for (auto [one, another] : llvm::zip_equal(ways, others)) {
    EXPECT_EQ(one.choice, another.choice);
    EXPECT_EQ(one.estimate, another.estimate);
  }
  EXPECT_TRUE(backend->known()->works.isEmpty());
  // Nothing that was compared with the capacity is in between.
  waysOf(other, all - 64);
  EXPECT_TRUE(backend->known()->works.isEmpty());
  waysOf(other, all / 32);
  EXPECT_FALSE(backend->known()->works.isEmpty());
}

TEST(KnownCostsTest, GroupsAreTheSameInAllMemoryThatMakesNoDifference) {
  const std::string text = chain("mamsaammasam", "2x64x96x64");
  const auto shared = backendOf(**lookupTarget("bm1684x"));
  for (const int64_t capacity :
       {262144, 262000, 261120, 250000, 240000, 131072, 131000, 65536, 200000, 262144}) {
    const auto own = backendOf(**lookupTarget("bm1684x"));
    const auto optionsWith = [&](const Backend &backend) {
      Network network(text);
      std::vector<mlir::Operation *> layers;
      for (mlir::Operation &op : network.main().front().without_terminator())
        layers.push_back(&op);
      GroupPlanner planner(backend, capacity, {});
      GroupTable table(layers, planner, backend);
      ThreadPool threads(1);
      EXPECT_TRUE(table.fill(threads));
      std::vector<std::tuple<GroupChoice, int64_t, int64_t, int64_t>> all;
      for (unsigned first = 0; first < layers.size(); ++first)
        for (unsigned count = 2; first + count <= layers.size(); ++count)
          for (const GroupTable::Option &option : table.known(first, count))
            all.emplace_back(option.choice, option.estimate, option.compute, option.transfers);
      return all;
    };
    EXPECT_EQ(optionsWith(*shared), optionsWith(*own)) << capacity;
  }
}

} // namespace
