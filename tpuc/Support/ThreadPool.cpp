//===- ThreadPool.cpp - A fixed set of threads --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace tpuc {

unsigned availableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  return std::max(std::thread::hardware_concurrency(), 1u);
}

namespace {

/// One parallelFor under way. Threads take pieces from `next` until there are none.
struct Loop {
  const std::function<void(int64_t, int64_t)> *body;
  int64_t count;
  int64_t grain;
  int64_t pieces;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};

  /// Whether any piece was left to take.
  bool work() {
    bool any = false;
    for (int64_t piece; (piece = next.fetch_add(1)) < pieces; any = true) {
      (*body)(piece *grain, std::min(count, (piece + 1) * grain));
      done.fetch_add(1);
    }
    return any;
  }
};

/// Looks for some 20 microseconds whether `condition` still holds: loops follow each other quickly,
/// and a thread that sleeps takes longer to come back.
template <typename Condition> void spinWhile(Condition &&condition) {
  constexpr auto kPatience = std::chrono::microseconds(20);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (condition() && std::chrono::steady_clock::now() < end)
    for (int i = 0; i < 8; ++i)
      __builtin_ia32_pause();
}

/// Whether this thread is inside a piece: loops that it meets there run in it.
thread_local bool insideLoop = false;

} // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable finished;
  std::deque<std::shared_ptr<Loop>> loops;
  bool stop = false;
  std::vector<std::thread> threads;

  /// Loops begun so far.
  std::atomic<uint64_t> begun{0};
  /// Each thread has a processor to itself: waiting on it takes nothing from the others.
  bool maySpin = false;

  void serve() {
    insideLoop = true;
    uint64_t seen = 0;
    while (true) {
      if (maySpin)
        spinWhile([&] { return begun.load(std::memory_order_relaxed) == seen; });
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stop || !loops.empty(); });
      seen = begun.load(std::memory_order_relaxed);
      if (stop)
        return;
      std::shared_ptr<Loop> loop = loops.front();
      lock.unlock();
      loop->work();
      lock.lock();
      // Nothing is left to take from it; whoever comes first drops it.
      if (!loops.empty() && loops.front() == loop)
        loops.pop_front();
      if (loop->done.load() == loop->pieces)
        finished.notify_all();
    }
  }
};

ThreadPool::ThreadPool(unsigned numThreads) : state(std::make_unique<State>()) {
  if (numThreads == 0)
    numThreads = availableProcessors();
  state->maySpin = numThreads <= availableProcessors();
  for (unsigned i = 1; i < numThreads; ++i)
    state->threads.emplace_back([s = state.get()] { s->serve(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state->mutex);
    state->stop = true;
  }
  state->wake.notify_all();
  for (std::thread &thread : state->threads)
    thread.join();
}

unsigned ThreadPool::numThreads() const { return static_cast<unsigned>(state->threads.size()) + 1; }

void ThreadPool::parallelFor(int64_t count, int64_t grain,
                             const std::function<void(int64_t, int64_t)> &body) {
  assert(grain > 0);
  if (count <= 0)
    return;
  auto loop = std::make_shared<Loop>();
  loop->body = &body;
  loop->count = count;
  loop->grain = grain;
  loop->pieces = (count - 1) / grain + 1;
  if (insideLoop || state->threads.empty() || loop->pieces == 1) {
    loop->work();
    return;
  }
  {
    std::lock_guard lock(state->mutex);
    state->loops.push_back(loop);
    state->begun.fetch_add(1, std::memory_order_relaxed);
  }
  state->wake.notify_all();
  insideLoop = true;
  loop->work();
  insideLoop = false;
  if (state->maySpin)
    spinWhile([&] { return loop->done.load() < loop->pieces; });
  std::unique_lock lock(state->mutex);
  state->finished.wait(lock, [&] { return loop->done.load() == loop->pieces; });
  std::erase(state->loops, loop);
}

} // namespace tpuc
