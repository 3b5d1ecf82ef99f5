//===- EngineClocksTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/EngineClocks.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

using namespace tpuc;
using namespace tpuc::codegen;
using namespace tpuc::Null;

namespace {

constexpr LocalRange kRead = {0, 0, 64, false}, kWritten = {0, 0, 64, true};
constexpr LocalRange kElsewhere = {0, 64, 128, true}, kOtherSpace = {1, 0, 64, true};

int64_t endOf(std::initializer_list<std::pair<EngineRole, LocalRange>> commands) {
  EngineClocks clocks;
  for (const auto &[engine, range] : commands)
    clocks.add(engine, 100, {&range, 1});
  return clocks.end();
}

TEST(EngineClocks, WaitForDataAndForRoom) {
  // Read behind written, written behind read, written twice.
  EXPECT_EQ(endOf({{EngineRole::Transfer, kWritten}, {EngineRole::Compute, kRead}}), 200);
  EXPECT_EQ(endOf({{EngineRole::Compute, kRead}, {EngineRole::Transfer, kWritten}}), 200);
  EXPECT_EQ(endOf({{EngineRole::Compute, kWritten}, {EngineRole::Transfer, kWritten}}), 200);
}

TEST(EngineClocks, SideBySideOtherwise) {
  EXPECT_EQ(endOf({{EngineRole::Transfer, kElsewhere}, {EngineRole::Compute, kRead}}), 100);
  EXPECT_EQ(endOf({{EngineRole::Transfer, kRead}, {EngineRole::Compute, kRead}}), 100);
  EXPECT_EQ(endOf({{EngineRole::Transfer, kOtherSpace}, {EngineRole::Compute, kRead}}), 100);
  // An engine takes its own commands one by one.
  EXPECT_EQ(endOf({{EngineRole::Compute, kRead}, {EngineRole::Compute, kElsewhere}}), 200);
}

TEST(EngineClocks, NothingOverlapsAJoin) {
  EngineClocks clocks;
  clocks.add(EngineRole::Transfer, 100, {&kWritten, 1});
  clocks.join();
  clocks.add(EngineRole::Compute, 100, {&kElsewhere, 1});
  EXPECT_EQ(clocks.end(), 200);
}

/// A tile that is loaded, computed and stored: nothing is left to do at the same time.
TEST(EngineClocks, OneTileTakesAllItsCycles) {
  Network network(R"(
    func.func @main(%0: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
      %1 = "tpu.Relu"(%0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("relu")
      return %1 : tensor<1x4x8x8xf32>
    })");
  std::unique_ptr<Backend> backend = backendOf(**lookupTarget("null"));
  mlir::Operation *op = network.layer("relu");
  Expected<TileModel> model = backend->modelOf(op);
  ASSERT_TRUE(model) << model.error().message();
  Tile whole;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    whole[axis] = {0, model->result[axis]};
  TiledOp tiled{.op = op, .model = &*model};
  tiled.operands.push_back({.tile = whole, .address = 0});
  tiled.result = {.tile = whole, .address = 4096};
  const auto emit = [&](Emitter &emitter) -> Expected<void> {
    if (Expected<void> done = emitter.load(tiled, 0, 0); !done)
      return done;
    if (Expected<void> done = emitter.compute(tiled); !done)
      return done;
    return emitter.store(tiled, 0);
  };
  Expected<Cost> all = backend->cost(emit);
  Expected<llvm::SmallVector<int64_t>> run = backend->runCycles(emit);
  ASSERT_TRUE(all && run);
  EXPECT_EQ(run->front(), all->sum());
}

} // namespace
