//===- AttentionTest.cpp - Attention over rows-----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Attention.h"
#include "tpuc/Interpreter/Kernels/Attention.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct AttentionCase {
  int64_t samples, rows, keys, heads, keyHeads, width, valueWidth;
};

/// Rows [n,rows,1,w] as the interpreter has them.
Tensor asRows(const Tensor &tensor) {
  return tensor.reshaped({tensor.shape()[0], tensor.shape()[1], tensor.shape()[3]});
}

void expectAttention(const AttentionCase &c, DataType type) {
  SCOPED_TRACE(dataTypeName(type));
  Tensor query = randomNumbers(type, {c.samples, c.rows, 1, c.heads * c.width}, 1, -2, 2);
  Tensor key = randomNumbers(type, {c.samples, c.keys, 1, c.keyHeads * c.width}, 2, -2, 2);
  Tensor value = randomNumbers(type, {c.samples, c.keys, 1, c.keyHeads * c.valueWidth}, 3);
  Bench bench;
  Attention attention;
  attention.query = bench.load(query);
  attention.key = bench.load(key);
  attention.value = bench.load(value);
  attention.output = bench.local(type, {c.samples, c.rows, 1, c.heads * c.valueWidth});
  attention.heads = c.heads;
  attention.keyHeads = c.keyHeads;
  attention.scale = 0.25;
  attention.scratch = bench.scratch(attentionScratch(attention));
  expectOk(emitAttention(bench.builder, attention));
  GlobalTensor stored = bench.store(attention.output);
  bench.run();
  Tensor rows = asRows(query);
  Tensor keys = asRows(key);
  Tensor values = asRows(value);
  Tensor wanted(type, {c.samples, c.rows, c.heads * c.valueWidth});
  ThreadPool threads(1);
  kernels::AttentionParams params;
  params.queryHeads = c.heads;
  params.keyHeads = c.keyHeads;
  params.scale = attention.scale;
  kernels::attention({&rows, &keys, &values, nullptr, nullptr, nullptr, nullptr}, params,
                     {&wanted, nullptr, nullptr, nullptr}, threads);
  expectClose(bench.get(stored), wanted.reshaped({c.samples, c.rows, 1, c.heads * c.valueWidth}));
}

TEST(Attention, EveryType) {
  for (DataType type : kFloatTypes) {
    expectAttention({1, 70, 70, 3, 3, 64, 64}, type);
    // Fewer queries than keys, and heads that fill no line.
    expectAttention({2, 5, 90, 4, 4, 20, 12}, type);
    // Successive heads share keys; not all fit at once.
    expectAttention({1, 130, 197, 6, 2, 32, 32}, type);
    // Samples of one head, of which not all fit at once.
    expectAttention({7, 70, 197, 1, 1, 20, 12}, type);
  }
}

TEST(Attention, RefusesByName) {
  Attention attention;
  attention.query = attention.output = localTensor(DataType::F16, {1, 4, 1, 24});
  attention.key = attention.value = localTensor(DataType::F16, {1, 9, 1, 16});
  attention.heads = 3;
  attention.keyHeads = 2;
  auto message = [&] {
    Expected<uint32_t> needed = attentionScratch(attention);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(), HasSubstr("3 and 2 heads of [1,4,1,24]"));
  attention.keyHeads = 1;
  attention.key = attention.value = localTensor(DataType::F16, {1, 9, 1, 8});
  EXPECT_EQ(message(), "accepted");
  attention.value.type = DataType::F32;
  EXPECT_THAT(message(), HasSubstr("a tensor of f32"));
}

} // namespace
