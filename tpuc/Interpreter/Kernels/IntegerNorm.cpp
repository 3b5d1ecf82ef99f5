//===- IntegerNorm.cpp - Norms, softmaxes and attention on integers --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerNorm.h"
#include "tpuc/Interpreter/Kernels/AttentionParts.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Support/BitExactMath.h"

#include <algorithm>
#include <numbers>
#include <vector>

using namespace tpuc;

/// Calls `function` with a number of the type in which 8-bit integers are stored.
template <typename Function> static void withByte(DataType type, Function function) {
  if (type == DataType::I8)
    function(int8_t());
  else
    function(uint8_t());
}

/// The integers of 8 bits as 32-bit ones.
static std::vector<int32_t> widened(const Tensor &tensor) {
  std::vector<int32_t> values(static_cast<size_t>(tensor.numElements()));
  withByte(tensor.type(),
           [&]<typename T>(T) { std::ranges::copy(tensor.data<T>(), values.begin()); });
  return values;
}

//===--- Norm -------------------------------------------------------------===//

namespace {

/// What all rows of a norm share; null: no weights, no bias.
struct NormRow {
  int64_t length;
  const float *weights, *biases;
  float epsilon; ///< In units of the stored integers.
};

template <typename T> void normalizeRow(const NormRow &norm, const T *in, float *out) {
  const float share = static_cast<float>(1.0 / static_cast<double>(norm.length));
  int32_t sum = 0;
  for (int64_t i = 0; i < norm.length; ++i)
    sum += in[i];
  // The distances from a whole number near the mean are exact, and so is the sum of their squares.
  const auto middle = static_cast<int32_t>(std::nearbyint(static_cast<float>(sum) * share));
  int32_t squares = 0;
  for (int64_t i = 0; i < norm.length; ++i)
    squares += (in[i] - middle) * (in[i] - middle);
  const auto rest = static_cast<float>(sum - middle * static_cast<int32_t>(norm.length));
  const float offset = rest * share;
  const float variance = (static_cast<float>(squares) - rest * offset) * share + norm.epsilon;
  const float factor = steps::reciprocalRoot(variance);
  const float shift = offset * factor;
  for (int64_t i = 0; i < norm.length; ++i)
    out[i] = static_cast<float>(in[i] - middle) * factor - shift;
  for (int64_t i = 0; norm.weights && i < norm.length; ++i)
    out[i] *= norm.weights[i];
  for (int64_t i = 0; norm.biases && i < norm.length; ++i)
    out[i] += norm.biases[i];
}

} // namespace

void kernels::integerLayerNorm(const Tensor &input, double scale, const Tensor *weight,
                               const Tensor *bias, size_t axis, double epsilon, Tensor &output,
                               ThreadPool &threads) {
  int64_t length = 1;
  for (size_t i = axis; i < input.shape().rank(); ++i)
    length *= input.shape()[i];
  if (output.numElements() == 0)
    return;
  const NormRow norm{.length = length,
                     .weights = weight ? weight->data<float>().data() : nullptr,
                     .biases = bias ? bias->data<float>().data() : nullptr,
                     .epsilon = static_cast<float>(epsilon / (scale * scale))};
  float *out = output.mutableData<float>().data();
  withByte(input.type(), [&]<typename T>(T) {
    const T *in = input.data<T>().data();
    threads.parallelFor(output.numElements() / length, grainFor(8 * length),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t row = begin; row < end; ++row)
                            normalizeRow(norm, in + row * length, out + row * length);
                        });
  });
}

//===--- Softmax ----------------------------------------------------------===//

/// Replaces scores by their weights, whole numbers. `factor` is of the scores and of log2(e).
static void weighRow(std::span<float> scores, float factor) {
  const int bits = steps::weightBits(std::ssize(scores));
  const float most = *std::ranges::max_element(scores);
  for (float &score : scores)
    score = steps::weightOf((score - most) * factor, bits);
}

/// The factor by which differences of scores become exponents of two.
static float exponentFactor(double scale) {
  return static_cast<float>(scale * std::numbers::log2e);
}

void kernels::integerSoftmax(const Tensor &input, double beta, const QuantParams &params,
                             Tensor &output, ThreadPool &threads) {
  const int64_t length = input.shape()[input.shape().rank() - 1];
  if (output.numElements() == 0)
    return;
  Tensor shares = input.clone();
  float *rows = shares.mutableData<float>().data();
  const float factor = exponentFactor(beta);
  threads.parallelFor(
      input.numElements() / length, grainFor(20 * length), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const std::span<float> row(rows + i * length, static_cast<size_t>(length));
          weighRow(row, factor);
          float sum = 0;
          for (float weight : row)
            sum += weight;
          const float share = steps::reciprocal(sum);
          for (float &weight : row)
            weight *= share;
        }
      });
  quantizeStored(shares, params, integerRange(output.type()), output, threads);
}

//===--- Attention --------------------------------------------------------===//

namespace {

/// One head of an attention on integers.
struct Head {
  const int32_t *query, *key, *value;
  int64_t queryStep, keyStep, valueStep; ///< From row to row.
  int64_t keys, width, valueWidth;
  int32_t queryZero, keyZero;
  float factor;
};

/// The means of the stored values for query `row`.
void attendRow(const Head &head, int64_t row, std::vector<float> &weights,
               std::vector<int32_t> &sums, float *means) {
  const int32_t *query = head.query + row * head.queryStep;
  for (int64_t j = 0; j < head.keys; ++j) {
    const int32_t *key = head.key + j * head.keyStep;
    int32_t score = 0;
    for (int64_t d = 0; d < head.width; ++d)
      score += (query[d] - head.queryZero) * (key[d] - head.keyZero);
    weights[static_cast<size_t>(j)] = static_cast<float>(score);
  }
  weighRow(weights, head.factor);
  std::ranges::fill(sums, 0);
  int32_t total = 0;
  for (int64_t j = 0; j < head.keys; ++j) {
    const auto weight = static_cast<int32_t>(weights[static_cast<size_t>(j)]);
    const int32_t *value = head.value + j * head.valueStep;
    total += weight;
    for (int64_t e = 0; e < head.valueWidth; ++e)
      sums[static_cast<size_t>(e)] += weight * value[e];
  }
  const float share = steps::reciprocal(static_cast<float>(total));
  for (int64_t e = 0; e < head.valueWidth; ++e)
    means[e] = static_cast<float>(sums[static_cast<size_t>(e)]) * share;
}

} // namespace

void kernels::integerAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                               const IntegerAttentionParams &params, Tensor &output,
                               ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const HeadLayout queries(query.shape(), params.queryHeads);
  const HeadLayout keys(key.shape(), params.keyHeads);
  const HeadLayout values(value.shape(), params.keyHeads);
  const HeadLayout results(output.shape(), params.queryHeads);
  const std::vector<int32_t> wideQuery = widened(query);
  const std::vector<int32_t> wideKey = widened(key);
  const std::vector<int32_t> wideValue = widened(value);
  Tensor means(DataType::F32, output.shape());
  float *to = means.mutableData<float>().data();
  const float factor = exponentFactor(params.scale * params.query.scale * params.key.scale);
  const auto attendHead = [&](int64_t index) {
    const int64_t batch = index / queries.heads;
    const int64_t head = index % queries.heads;
    const int64_t shared = head / (queries.heads / keys.heads);
    const Head operands{.query = wideQuery.data() + queries.begin(batch, head),
                        .key = wideKey.data() + keys.begin(batch, shared),
                        .value = wideValue.data() + values.begin(batch, shared),
                        .queryStep = queries.rowStep(),
                        .keyStep = keys.rowStep(),
                        .valueStep = values.rowStep(),
                        .keys = keys.rows,
                        .width = queries.size,
                        .valueWidth = values.size,
                        .queryZero = static_cast<int32_t>(params.query.zeroPoint),
                        .keyZero = static_cast<int32_t>(params.key.zeroPoint),
                        .factor = factor};
    std::vector<float> weights(static_cast<size_t>(keys.rows));
    std::vector<int32_t> sums(static_cast<size_t>(values.size));
    for (int64_t row = 0; row < queries.rows; ++row)
      attendRow(operands, row, weights, sums,
                to + results.begin(batch, head) + row * results.rowStep());
  };
  threads.parallelFor(query.shape()[0] * queries.heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index)
      attendHead(index);
  });
  // What a mean of stored integers stands for, in units of the result.
  const double ratio = params.value.scale / params.output.scale;
  const auto scale = static_cast<float>(ratio);
  const auto constant = static_cast<float>(static_cast<double>(params.output.zeroPoint) -
                                           static_cast<double>(params.value.zeroPoint) * ratio);
  for (float &mean : means.mutableData<float>())
    mean = mean * scale + constant;
  quantizeStored(means, {1, 0}, integerRange(output.type()), output, threads);
}
