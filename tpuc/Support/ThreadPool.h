//===- ThreadPool.h - A fixed set of threads ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_THREADPOOL_H
#define TPUC_SUPPORT_THREADPOOL_H

#include <cstdint>
#include <functional>
#include <memory>

namespace tpuc {

/// A fixed set of threads that share loops. The calling thread takes part, so a pool of one thread
/// starts none. Several threads may call `parallelFor` at once; a loop inside a loop runs in the
/// thread that reaches it.
class ThreadPool {
public:
  /// `numThreads` in all, the caller among them; 0: as many as the process may run on.
  explicit ThreadPool(unsigned numThreads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned numThreads() const;

  /// Calls `body(begin, end)` for pieces that cover [0, count), each of `grain` iterations (the
  /// last one may be shorter). The pieces depend on `count` and `grain` alone, never on the number
  /// of threads, so a body that combines values within its piece gives the same bits on any
  /// machine. `grain` must be positive. `body` must not throw.
  void parallelFor(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end)> &body);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The processors that this process may run on, at least 1.
unsigned availableProcessors();

} // namespace tpuc

#endif // TPUC_SUPPORT_THREADPOOL_H
