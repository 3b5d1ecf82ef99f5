//===- QuantizedRowsTest.cpp - Norms, softmaxes, attention on integers-----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels have the bits of the interpreter.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Interpreter/Kernels/IntegerNorm.h"
#include "tpuc/Support/BitExactMath.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

Tensor randomStored(DataType type, const Shape &shape, unsigned seed) {
  const bool hasSign = type == DataType::I8;
  return randomNumbers(type, shape, seed, hasSign ? -128 : 0, hasSign ? 127 : 255);
}

struct NormCase {
  Extents shape;
  DataType type = DataType::I8;
  bool hasGamma = true, hasBeta = true;
};

void expectStoredNorm(const NormCase &c) {
  SCOPED_TRACE(testing::Message() << c.shape[3] << ' ' << dataTypeName(c.type));
  const Shape shape{std::span(c.shape)};
  const Tensor input = randomStored(c.type, shape, 1);
  const Tensor gamma = randomNumbers(DataType::F32, {1, 1, 1, c.shape[3]}, 2, -2, 2);
  const Tensor beta = randomNumbers(DataType::F32, {1, 1, 1, c.shape[3]}, 3);
  Bench bench;
  const auto everyLane = [&](const Tensor &row) {
    const LocalTensor local = bench.local(DataType::F32, {1, 64, 1, c.shape[3]});
    expectOk(emitLoadToLanes(bench.builder, bench.put(row), local));
    return local;
  };
  QuantizedNormalization norm;
  norm.input = bench.load(input);
  norm.output = bench.local(DataType::F32, c.shape);
  norm.scale = 0.037;
  norm.epsilon = 1e-5;
  if (c.hasGamma)
    norm.gamma = everyLane(gamma);
  if (c.hasBeta)
    norm.beta = everyLane(beta);
  norm.scratch = bench.scratch(quantizedNormalizationScratch(norm));
  expectOk(emitQuantizedNormalization(bench.builder, norm));
  const GlobalTensor stored = bench.store(norm.output);
  bench.run();
  Tensor wanted(DataType::F32, shape);
  ThreadPool threads(1);
  kernels::integerLayerNorm(input, norm.scale, c.hasGamma ? &gamma : nullptr,
                            c.hasBeta ? &beta : nullptr, 3, norm.epsilon, wanted, threads);
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedRows, Norms) {
  expectStoredNorm({{1, 197, 1, 192}});
  expectStoredNorm({{3, 7, 1, 120}, DataType::U8});
  expectStoredNorm({{1, 65, 1, steps::kLongestNorm}, DataType::I8, true, false});
  expectStoredNorm({{2, 5, 1, 37}, DataType::I8, false, true});
  expectStoredNorm({{2, 5, 1, 1}, DataType::I8, false, false});
}

void expectStoredSoftmax(const Extents &shape, DataType type, const StoredAs &outputAs) {
  SCOPED_TRACE(testing::Message() << shape[3] << ' ' << dataTypeName(type));
  const Tensor input = randomNumbers(DataType::F32, Shape(std::span(shape)), 1, -20, 20);
  Bench bench;
  QuantizedSoftmax softmax{.input = bench.load(input),
                           .output = bench.local(type, shape),
                           .beta = 0.7,
                           .outputAs = outputAs,
                           .scratch = {}};
  softmax.scratch = bench.scratch(quantizedSoftmaxScratch(softmax));
  expectOk(emitQuantizedSoftmax(bench.builder, softmax));
  const GlobalTensor stored = bench.store(softmax.output);
  bench.run();
  Tensor wanted(type, Shape(std::span(shape)));
  ThreadPool threads(1);
  kernels::integerSoftmax(input, softmax.beta, {outputAs.scale, outputAs.zeroPoint}, wanted,
                          threads);
  expectSame(bench.get(stored), wanted);
}

TEST(QuantizedRows, Softmaxes) {
  expectStoredSoftmax({1, 40, 8, 40}, DataType::I8, {1.0 / 255, -128});
  expectStoredSoftmax({2, 70, 1, 197}, DataType::I8, {1.0 / 127, 0});
  expectStoredSoftmax({1, 3, 1, 1000}, DataType::U8, {0.5 / 255, 0});
  expectStoredSoftmax({1, 2, 1, steps::kLongestSoftmax}, DataType::I8, {0.001, -100});
}

struct StoredAttentionCase {
  int64_t samples, rows, keys, heads, keyHeads, width, valueWidth;
  int32_t queryZero = 0;
};

void expectStoredAttention(const StoredAttentionCase &c, DataType valueType) {
  SCOPED_TRACE(testing::Message() << c.rows << ' ' << dataTypeName(valueType));
  const DataType type = DataType::I8;
  const Tensor query = randomStored(type, {c.samples, c.rows, 1, c.heads * c.width}, 1);
  const Tensor key = randomStored(type, {c.samples, c.keys, 1, c.keyHeads * c.width}, 2);
  const Tensor value =
      randomStored(valueType, {c.samples, c.keys, 1, c.keyHeads * c.valueWidth}, 3);
  const Extents shape{c.samples, c.rows, 1, c.heads * c.valueWidth};
  Bench bench;
  QuantizedAttention attention;
  attention.query = bench.load(query);
  attention.key = bench.load(key);
  attention.value = bench.load(value);
  attention.output = bench.local(type, shape);
  attention.heads = c.heads;
  attention.keyHeads = c.keyHeads;
  attention.queryAs = {0.011, c.queryZero};
  attention.keyAs = {0.013, -5};
  attention.valueAs = {0.02, 9};
  attention.outputAs = {0.015, -3};
  attention.scale = 0.25;
  attention.scratch = bench.scratch(quantizedAttentionScratch(attention));
  expectOk(emitQuantizedAttention(bench.builder, attention));
  const GlobalTensor stored = bench.store(attention.output);
  bench.run();
  const auto asRows = [](const Tensor &tensor) {
    return tensor.reshaped({tensor.shape()[0], tensor.shape()[1], tensor.shape()[3]});
  };
  const auto params = [](const StoredAs &as) { return QuantParams{as.scale, as.zeroPoint}; };
  Tensor wanted(type, {c.samples, c.rows, c.heads * c.valueWidth});
  ThreadPool threads(1);
  kernels::integerAttention(asRows(query), asRows(key), asRows(value),
                            {.query = params(attention.queryAs),
                             .key = params(attention.keyAs),
                             .value = params(attention.valueAs),
                             .output = params(attention.outputAs),
                             .queryHeads = c.heads,
                             .keyHeads = c.keyHeads,
                             .scale = attention.scale},
                            wanted, threads);
  expectSame(bench.get(stored), wanted.reshaped(Shape(std::span(shape))));
}

TEST(QuantizedRows, Attention) {
  expectStoredAttention({1, 197, 197, 3, 3, 64, 64}, DataType::I8);
  // Fewer queries than keys, heads that fill no line, a zero point of the queries.
  expectStoredAttention({2, 5, 90, 4, 4, 20, 12, -7}, DataType::U8);
  // Successive heads share keys; not all fit at once.
  expectStoredAttention({1, 130, 197, 6, 2, 32, 32, 128 - 1}, DataType::I8);
  // Samples of one head, of which not all fit at once.
  expectStoredAttention({7, 70, 197, 1, 1, 20, 12}, DataType::I8);
  // Weights of fewer bits.
  expectStoredAttention({1, 3, 1500, 2, 2, 16, 16}, DataType::I8);
}

TEST(QuantizedRows, RefusesByName) {
  const auto messageOf = [](const Expected<uint32_t> &needed) {
    return needed ? "accepted" : needed.error().message();
  };
  QuantizedNormalization norm;
  norm.input = localTensor(DataType::I8, {1, 4, 1, steps::kLongestNorm + 1});
  norm.output = localTensor(DataType::F32, norm.input.shape);
  EXPECT_THAT(messageOf(quantizedNormalizationScratch(norm)), HasSubstr("rows of at most 1024"));
  QuantizedSoftmax softmax;
  softmax.input = localTensor(DataType::F32, {1, 4, 1, steps::kLongestSoftmax + 1});
  softmax.output = localTensor(DataType::I8, softmax.input.shape);
  EXPECT_THAT(messageOf(quantizedSoftmaxScratch(softmax)), HasSubstr("rows of at most 4096"));
  QuantizedAttention attention;
  attention.query = attention.output = localTensor(DataType::I8, {1, 4, 1, 16});
  attention.key = attention.value =
      localTensor(DataType::I8, {1, steps::kLongestSoftmax + 1, 1, 16});
  EXPECT_THAT(messageOf(quantizedAttentionScratch(attention)), HasSubstr("at most 4096"));
  attention.value.type = DataType::F16;
  EXPECT_THAT(messageOf(quantizedAttentionScratch(attention)), HasSubstr("f16"));
}

} // namespace
