//===- LinearAttention.cpp - Recurrences that stand in for attention ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Attention.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// An operand in f32; null stays null.
struct Floats {
  Tensor tensor;
  const float *data = nullptr;
  int64_t last = 0; ///< The last extent.

  explicit Floats(const Tensor *from) {
    if (!from)
      return;
    tensor = convert(*from, DataType::F32);
    data = tensor.data<float>().data();
    last = tensor.shape()[tensor.shape().rank() - 1];
  }
};

/// One call of `linearAttention`.
class LinearAttention {
public:
  LinearAttention(const LinearAttentionTensors &tensors, int64_t queryHeads, int64_t keyHeads,
                  double scale)
      : query(tensors.query), key(tensors.key), value(tensors.value), decay(tensors.decay),
        beta(tensors.beta), keyHeads(keyHeads), shared(queryHeads / keyHeads),
        steps(tensors.query->shape()[1]), size(query.last / queryHeads),
        valueSize(value.last / keyHeads),
        scale(static_cast<float>(scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : scale)) {}

  int64_t costPerHead() const { return steps * size * valueSize * (shared + 4); }

  /// Takes `state` [D, E] of head `head` of sample `batch` through all steps.
  void run(int64_t batch, int64_t head, float *state, float *output) const {
    std::vector<float> update(valueSize);
    for (int64_t t = 0; t < steps; ++t) {
      int64_t row = batch * steps + t;
      const float *k = key.data + row * key.last + head * size;
      const float *v = value.data + row * value.last + head * valueSize;
      fade(state, row, head);
      std::copy_n(v, valueSize, update.begin());
      if (beta.data) {
        for (int64_t d = 0; d < size; ++d)
          for (int64_t e = 0; e < valueSize; ++e)
            update[e] -= k[d] * state[d * valueSize + e];
        float rate = beta.data[row * beta.last + (beta.last == 1 ? 0 : head)];
        for (float &each : update)
          each *= rate;
      }
      for (int64_t d = 0; d < size; ++d)
        for (int64_t e = 0; e < valueSize; ++e)
          state[d * valueSize + e] += k[d] * update[e];
      for (int64_t i = 0; i < shared; ++i)
        read(state, row, head * shared + i, output);
    }
  }

private:
  /// Multiplies the state by the exponentials of the decay.
  void fade(float *state, int64_t row, int64_t head) const {
    if (!decay.data)
      return;
    bool isPerHead = decay.last == keyHeads;
    for (int64_t d = 0; d < size; ++d) {
      float factor = std::exp(decay.data[row * decay.last + (isPerHead ? head : head * size + d)]);
      for (int64_t e = 0; e < valueSize; ++e)
        state[d * valueSize + e] *= factor;
    }
  }

  void read(const float *state, int64_t row, int64_t queryHead, float *output) const {
    const float *q = query.data + row * query.last + queryHead * size;
    float *to = output + (row * keyHeads * shared + queryHead) * valueSize;
    std::fill_n(to, valueSize, 0.0F);
    for (int64_t d = 0; d < size; ++d)
      for (int64_t e = 0; e < valueSize; ++e)
        to[e] += q[d] * state[d * valueSize + e];
    for (int64_t e = 0; e < valueSize; ++e)
      to[e] *= scale;
  }

  Floats query, key, value, decay, beta;
  int64_t keyHeads, shared, steps, size, valueSize;
  float scale;
};

} // namespace

void kernels::linearAttention(const LinearAttentionTensors &tensors, int64_t queryHeads,
                              int64_t keyHeads, double scale, Tensor &output, Tensor *presentState,
                              ThreadPool &threads) {
  LinearAttention call(tensors, queryHeads, keyHeads, scale);
  int64_t batches = tensors.query->shape()[0];
  int64_t size = tensors.query->shape()[2] / queryHeads;
  int64_t valueSize = tensors.value->shape()[2] / keyHeads;
  Tensor states(DataType::F32, {batches, keyHeads, size, valueSize});
  if (tensors.pastState)
    store(*tensors.pastState, states);
  Tensor result(DataType::F32, output.shape());
  float *state = states.mutableData<float>().data();
  float *to = result.mutableData<float>().data();
  threads.parallelFor(
      batches * keyHeads, grainFor(call.costPerHead()), [&](int64_t begin, int64_t end) {
        for (int64_t head = begin; head < end; ++head)
          call.run(head / keyHeads, head % keyHeads, state + head * size * valueSize, to);
      });
  store(result, output);
  if (presentState)
    store(states, *presentState);
}

void kernels::causalConv(const Tensor &input, const Tensor &filter, const Tensor *bias,
                         const Tensor *pastState, bool silu, Tensor &output, Tensor *presentState,
                         ThreadPool &threads) {
  int64_t channels = input.shape()[1];
  int64_t steps = input.shape()[2];
  int64_t kernel = filter.shape()[2];
  int64_t kept = kernel - 1;
  Floats from(&input), weights(&filter), summands(bias), past(pastState);
  Tensor result(DataType::F32, output.shape());
  Tensor states(DataType::F32, {input.shape()[0], channels, kept});
  float *to = result.mutableData<float>().data();
  float *state = states.mutableData<float>().data();
  auto runRow = [&](int64_t row) {
    std::vector<float> padded(kept + steps);
    if (past.data)
      std::copy_n(past.data + row * kept, kept, padded.begin());
    std::copy_n(from.data + row * steps, steps, padded.begin() + kept);
    int64_t channel = row % channels;
    for (int64_t t = 0; t < steps; ++t) {
      float sum = 0;
      for (int64_t k = 0; k < kernel; ++k)
        sum += weights.data[channel * kernel + k] * padded[t + k];
      to[row * steps + t] = summands.data ? sum + summands.data[channel] : sum;
    }
    std::copy_n(padded.end() - kept, kept, state + row * kept);
  };
  threads.parallelFor(input.shape()[0] * channels, grainFor(2 * kernel * steps),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t row = begin; row < end; ++row)
                          runRow(row);
                      });
  if (silu)
    for (float &value : result.mutableData<float>())
      value /= 1 + std::exp(-value);
  store(result, output);
  if (presentState)
    store(states, *presentState);
}
