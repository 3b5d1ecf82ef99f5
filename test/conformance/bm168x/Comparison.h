//===- Comparison.h - Both machines, command by command ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM168X_COMPARISON_H
#define TEST_CONFORMANCE_BM168X_COMPARISON_H

#include "test/conformance/bm168x/Case.h"

#include <memory>
#include <span>

namespace tpuc::bm168x::conformance {

/// A kind of case: one operation with its precisions chosen.
struct Recipe {
  std::string name;
  std::function<Case(Random &random)> make;
};

inline uint64_t u(int64_t value) { return static_cast<uint64_t>(value); }

/// What operand `role` is filled with, from a seed of its own.
inline Fill fill(Random &random, Role role, Kind kind, uint32_t limit = 0) {
  return {role, kind, random.next() >> 40, limit};
}

/// Our machine and the vendor's functional model, with the same contents of all memories.
class Pair {
public:
  virtual ~Pair() = default;
  /// Makes a command ready to run here. Errors: what it is refused for.
  virtual Expected<OperandList> prepare(const mc::Command &command) = 0;
  /// Runs what was made ready.
  virtual std::optional<Error> runOurs() = 0;
  virtual void runTheirs(const mc::Command &command) = 0;

  LocalMemory lanes{};
  /// As large as each other.
  std::span<uint8_t> ourLocal, theirLocal, ourGlobal, theirGlobal;
  std::function<uint8_t *(uint64_t address)> ourAbsolute, theirAbsolute;
};

/// A chip, for the program below.
struct Tested {
  const mc::CommandTable *table;
  std::vector<Recipe> recipes;
  /// Called in a child process, which the vendor's model may end.
  std::function<Expected<std::unique_ptr<Pair>>(const std::string &library)> load;
};

/// The program that compares them; see Comparison.cpp. Returns its exit status.
int compareMachines(int argc, char **argv, const Tested &tested);

} // namespace tpuc::bm168x::conformance

#endif // TEST_CONFORMANCE_BM168X_COMPARISON_H
