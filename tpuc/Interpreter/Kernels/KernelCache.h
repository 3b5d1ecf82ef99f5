//===- KernelCache.h - What a kernel keeps from run to run ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_KERNELCACHE_H
#define TPUC_INTERPRETER_KERNELS_KERNELCACHE_H

#include <memory>
#include <mutex>

namespace tpuc::kernels {

/// What the kernel of one op keeps between runs: packed weights, compiled primitives. The owner of
/// the op's evaluation holds one for each op whose weights are constant; the kernel alone knows
/// what is inside. Thread safe: several samples may run at once.
class KernelCache {
public:
  /// The state kept last, if it is a `State` for which `fits(state)` holds; else what `make()`
  /// returns, a `std::shared_ptr<State>`, which is kept from now on unless it is null. One op must
  /// use one `State` type only.
  template <typename State, typename Fits, typename Make>
  std::shared_ptr<State> get(Fits &&fits, Make &&make) {
    std::lock_guard lock(mutex);
    auto kept = std::static_pointer_cast<State>(state);
    if (kept && fits(*kept))
      return kept;
    std::shared_ptr<State> made = make();
    if (made)
      state = made;
    return made;
  }

private:
  std::mutex mutex;
  std::shared_ptr<void> state;
};

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_KERNELCACHE_H
