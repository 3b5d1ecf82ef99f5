//===- Replay.h - Golden vectors on a simulated chip ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_BM168X_REPLAY_H
#define UNITTESTS_BM168X_REPLAY_H

#include "test/conformance/bm168x/Case.h"
#include "tpuc/Target/BM168x/Program.h"
#include "unittests/Support/GoldenVectors.h"
#include "unittests/Support/Sanitized.h"

#include <gtest/gtest.h>

namespace tpuc::bm168x {

/// Replays the vectors that the vendor's functional model left, of which there must be `least`, on
/// `machine` with `threads` threads; under a sanitizer those of the third `part` of three. A
/// machine has `memory`, `at`, `table()` and `prepare(command, where)`.
template <typename Machine>
void replayVectors(Machine &machine, const std::string &path, size_t least, SimdLevel level,
                   unsigned threads, size_t part) {
  const std::vector<GoldenVector> vectors = readGoldenVectors(path);
  ASSERT_GE(vectors.size(), least);
  ThreadPool pool(threads);
  const size_t first = kIsSanitized ? part : 0;
  const size_t step = kIsSanitized ? 3 : 1;
  int numFailed = 0;
  for (size_t i = first; i < vectors.size() && numFailed < 5; i += step) {
    auto one = conformance::parseCase(Machine::table(), vectors[i].text, "vectors.txt");
    ASSERT_TRUE(one) << one.error().message();
    auto prepared = Machine::prepare(one->command, "vectors.txt");
    ASSERT_TRUE(prepared) << prepared.error().message();
    conformance::fillOperands(*one, prepared->operands, machine.at);
    ExecOn exec{machine.memory, pool, kernelsFor(level)};
    std::optional<Error> error = prepared->step(exec);
    ASSERT_FALSE(error) << error->message();
    const bool same = conformance::hashResults(prepared->operands, machine.at) == vectors[i].hash;
    EXPECT_TRUE(same) << vectors[i].text;
    numFailed += same ? 0 : 1;
  }
}

} // namespace tpuc::bm168x

#endif // UNITTESTS_BM168X_REPLAY_H
