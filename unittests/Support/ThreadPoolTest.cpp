//===- ThreadPoolTest.cpp - -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/ThreadPool.h"

#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace tpuc;

TEST(ThreadPool, EveryIterationRunsOnce) {
  for (unsigned threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.numThreads(), threads);
    for (int64_t count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      pool.parallelFor(count, 3, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          hits[static_cast<size_t>(i)]++;
      });
      for (auto &hit : hits)
        EXPECT_EQ(hit, 1);
    }
  }
}

TEST(ThreadPool, PiecesDoNotDependOnTheNumberOfThreads) {
  auto pieces = [](unsigned threads) {
    ThreadPool pool(threads);
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> result;
    pool.parallelFor(100, 7, [&](int64_t begin, int64_t end) {
      std::lock_guard lock(mutex);
      result.insert({begin, end});
    });
    return result;
  };
  EXPECT_EQ(pieces(1), pieces(4));
}

TEST(ThreadPool, NestedAndConcurrentLoopsFinish) {
  ThreadPool pool(3);
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        pool.parallelFor(8, 1, [&](int64_t, int64_t) {
          pool.parallelFor(4, 1, [&](int64_t, int64_t) { total++; });
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 4 * 50 * 8 * 4);
}
