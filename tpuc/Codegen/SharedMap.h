//===- SharedMap.h - What several threads have found out ------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_SHAREDMAP_H
#define TPUC_CODEGEN_SHAREDMAP_H

#include <mutex>
#include <optional>
#include <utility>

namespace tpuc::codegen {

/// Answers that are found out once, in a map of any kind; none is changed. Threads that miss the
/// same answer at once all find it out: it must not matter who does.
template <typename Map> class SharedMap {
public:
  using Value = std::decay_t<decltype(std::declval<Map &>().begin()->second)>;

  /// What is known for `key`.
  std::optional<Value> find(const auto &key) const {
    const std::lock_guard lock(mutex);
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional<Value>(found->second);
  }
  /// Adds an answer, and gives the one that was there first.
  Value add(const auto &key, Value value) {
    const std::lock_guard lock(mutex);
    return map.try_emplace(key, std::move(value)).first->second;
  }
  /// Puts what `make` gives in the place of the answer that it is given, or of none, and gives it.
  Value put(const auto &key, auto &&make) {
    const std::lock_guard lock(mutex);
    Value &value = map[key];
    return value = make(std::move(value));
  }
  /// Whether nothing is known.
  bool isEmpty() const {
    const std::lock_guard lock(mutex);
    return map.empty();
  }
  /// Forgets all answers: those that are asked for again are found out again.
  void clear() {
    const std::lock_guard lock(mutex);
    map.clear();
  }

private:
  mutable std::mutex mutex;
  Map map;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_SHAREDMAP_H
