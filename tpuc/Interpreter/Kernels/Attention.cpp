//===- Attention.cpp - Attention over keys and values ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/AttentionParts.h"
#include "tpuc/Interpreter/Kernels/Gemm.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/RoundedSteps.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// The rows of `past` (may be null), then those of `tensor`, as [B, H, T, D] in type T.
template <typename T>
std::vector<T> joined(const Tensor *past, const Tensor &tensor, const HeadLayout &layout,
                      int64_t batches) {
  Tensor news = convert(tensor, dataTypeOf<T>());
  Tensor olds = past ? convert(*past, dataTypeOf<T>()) : Tensor();
  int64_t pastElements = past ? past->shape()[2] * layout.size : 0;
  std::vector<T> result;
  result.reserve(news.numElements() + batches * layout.heads * pastElements);
  for (int64_t head = 0; head < batches * layout.heads; ++head) {
    if (past) {
      const T *rows = olds.data<T>().data() + head * pastElements;
      result.insert(result.end(), rows, rows + pastElements);
    }
    const T *rows = news.data<T>().data() + layout.begin(head / layout.heads, head % layout.heads);
    for (int64_t row = 0; row < layout.rows; ++row, rows += layout.rowStep())
      result.insert(result.end(), rows, rows + layout.size);
  }
  return result;
}

/// Stores computed elements into a result that may be left out.
template <typename T> void storeInto(const std::vector<T> &values, Tensor *result) {
  if (result)
    store(Tensor::of<T>(result->shape(), std::span<const T>(values)), *result);
}

/// softmaxInSteps of each row of `length`, in S; 0 where all are -inf or `isHidden` says so.
template <typename S, typename T>
void softmaxRows(std::vector<T> &scores, int64_t length, const std::vector<char> &isHidden,
                 DataType type) {
  std::vector<S> row(length);
  for (size_t i = 0; i < isHidden.size(); ++i) {
    T *values = scores.data() + static_cast<int64_t>(i) * length;
    for (int64_t j = 0; j < length; ++j)
      row[j] = rounded(static_cast<S>(values[j]), type);
    bool seesNone = std::ranges::all_of(
        row, [](S value) { return value == -std::numeric_limits<S>::infinity(); });
    if (isHidden[i] || seesNone) {
      std::fill_n(values, length, T(0));
      continue;
    }
    softmaxInSteps(std::span<S>(row), type);
    std::ranges::transform(row, values, [](S value) { return static_cast<T>(value); });
  }
}

/// What scores and weights round to: nothing where the softmax is F32 beside operands of 16 bits.
DataType scoreTypeOf(DataType type, const AttentionParams &params) {
  return params.softmaxType == DataType::F32 && byteSize(type, 1) < byteSize(DataType::F32, 1)
             ? DataType::F32
             : type;
}

/// One call of `attention`, with operands in the compute type T.
template <typename T> class Attention {
public:
  Attention(const AttentionTensors &tensors, const AttentionParams &params,
            const AttentionResults &results)
      : params(params), type(tensors.query->type()), scoreType(scoreTypeOf(type, params)),
        queries(tensors.query->shape(), params.queryHeads),
        keys(tensors.key->shape(), params.keyHeads),
        values(tensors.value->shape(), params.keyHeads), batches(tensors.query->shape()[0]),
        past(tensors.pastKey ? tensors.pastKey->shape()[2] : 0), total(past + keys.rows),
        mask(tensors.mask, Shape({batches, queries.heads, queries.rows, total})),
        query(toCompute(*tensors.query, type)),
        presentKey(joined<T>(tensors.pastKey, *tensors.key, keys, batches)),
        presentValue(joined<T>(tensors.pastValue, *tensors.value, values, batches)) {
    storeInto(presentKey, results.presentKey);
    storeInto(presentValue, results.presentValue);
    double scale = params.scale.value_or(1 / std::sqrt(static_cast<double>(queries.size)));
    factor = rounded(static_cast<T>(std::sqrt(scale)), scoreType);
    step(presentKey, scoreType, [&](T value) { return value * factor; });
    if (tensors.lengths) {
      Tensor wide = convert(*tensors.lengths, DataType::I64);
      lengths.assign(wide.data<int64_t>().begin(), wide.data<int64_t>().end());
    }
    if (results.scores)
      scoresOut.resize(results.scores->numElements());
    output.resize(results.output->numElements());
  }

  void run(ThreadPool &threads) {
    int64_t cost = queries.rows * total * (queries.size + values.size + 20);
    threads.parallelFor(batches * queries.heads, grainFor(cost), [&](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; ++head)
        runHead(head / queries.heads, head % queries.heads);
    });
  }

  void finish(const AttentionResults &results) const {
    storeInto(scoresOut, results.scores);
    storeInto(output, results.output);
  }

private:
  void runHead(int64_t batch, int64_t head) {
    int64_t shared = batch * keys.heads + head / (queries.heads / keys.heads);
    std::vector<T> scaled;
    const T *from = query.template data<T>().data() + queries.begin(batch, head);
    for (int64_t row = 0; row < queries.rows; ++row, from += queries.rowStep())
      scaled.insert(scaled.end(), from, from + queries.size);
    step(scaled, scoreType, [&](T value) { return value * factor; });
    std::vector<T> scores(queries.rows * total);
    RightFactor<T>(true, queries.size, total, presentKey.data() + shared * total * keys.size,
                   keys.size)
        .multiply(queries.rows, scaled.data(), queries.size, scores.data(), total);
    step(scores, scoreType, [](T value) { return value; });
    expose(AttentionScores::Product, scores, batch, head);
    if (params.softcap > 0) {
      auto cap = static_cast<T>(params.softcap);
      step(scores, scoreType, [&](T value) { return value / cap; });
      step(scores, scoreType, [](T value) { return std::tanh(value); });
      step(scores, scoreType, [&](T value) { return value * cap; });
    }
    expose(AttentionScores::Capped, scores, batch, head);
    std::vector<char> isHidden = addBias(scores, batch, head);
    expose(AttentionScores::Biased, scores, batch, head);
    DataType softmaxType = params.softmaxType.value_or(type);
    if (softmaxType == DataType::F64)
      softmaxRows<double>(scores, total, isHidden, softmaxType);
    else
      softmaxRows<float>(scores, total, isHidden, softmaxType);
    step(scores, scoreType, [](T value) { return value; });
    expose(AttentionScores::Softmax, scores, batch, head);
    HeadLayout rows = values;
    rows.heads = queries.heads;
    rows.rows = queries.rows;
    RightFactor<T>(false, total, values.size, presentValue.data() + shared * total * values.size,
                   values.size)
        .multiply(queries.rows, scores.data(), total, output.data() + rows.begin(batch, head),
                  rows.rowStep());
  }

  void expose(AttentionScores stage, const std::vector<T> &scores, int64_t batch, int64_t head) {
    if (stage == params.scores && !scoresOut.empty())
      std::ranges::copy(scores, scoresOut.begin() + (batch * queries.heads + head) *
                                                        static_cast<int64_t>(scores.size()));
  }

  /// Adds the bias of each key; tells which queries see no key at all.
  std::vector<char> addBias(std::vector<T> &scores, int64_t batch, int64_t head) const {
    constexpr T kHidden = -std::numeric_limits<T>::infinity();
    int64_t visible = lengths.empty() ? total : lengths[batch];
    int64_t first = lengths.empty() ? past : lengths[batch] - queries.rows;
    std::vector<char> isHidden(queries.rows);
    for (int64_t i = 0; i < queries.rows; ++i) {
      int64_t place = i + first;
      bool all = true;
      for (int64_t j = 0; j < total; ++j) {
        bool hides = j >= visible || (params.isCausal && j > place) ||
                     (params.leftWindow >= 0 && j < place - params.leftWindow) ||
                     (params.rightWindow >= 0 && j > place + params.rightWindow);
        T bias = hides ? kHidden : mask.at(batch, head, i, j);
        T &score = scores[i * total + j];
        score = rounded(score + bias, scoreType);
        all &= bias == kHidden;
      }
      isHidden[i] = all;
    }
    return isHidden;
  }

  const AttentionParams &params;
  DataType type, scoreType;
  HeadLayout queries, keys, values;
  int64_t batches, past, total;
  Mask<T> mask;
  Tensor query;
  std::vector<T> presentKey, presentValue; ///< Keys are scaled once they are stored.
  T factor = 1;
  std::vector<int64_t> lengths;
  std::vector<T> scoresOut, output;
};

/// Turns the pairs (x[d], x[d + pairs]) of one row.
template <typename T>
void turnHalves(const T *__restrict x, const T *__restrict cos, const T *__restrict sin,
                int64_t pairs, T *__restrict to) {
  for (int64_t d = 0; d < pairs; ++d) {
    to[d] = cos[d] * x[d] - sin[d] * x[d + pairs];
    to[d + pairs] = sin[d] * x[d] + cos[d] * x[d + pairs];
  }
}

/// Turns the pairs (x[2d], x[2d + 1]) of one row.
template <typename T>
void turnNeighbours(const T *__restrict x, const T *__restrict cos, const T *__restrict sin,
                    int64_t pairs, T *__restrict to) {
  for (int64_t d = 0; d < pairs; ++d) {
    to[2 * d] = cos[d] * x[2 * d] - sin[d] * x[2 * d + 1];
    to[2 * d + 1] = sin[d] * x[2 * d] + cos[d] * x[2 * d + 1];
  }
}

} // namespace

void kernels::attention(const AttentionTensors &tensors, const AttentionParams &params,
                        const AttentionResults &results, ThreadPool &threads) {
  if (canAttendFloats(tensors, params, results))
    return attendFloats(tensors, params, *results.output, threads);
  dispatchCompute(computeType(tensors.query->type()), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      Attention<T> call(tensors, params, results);
      call.run(threads);
      call.finish(results);
    }
  });
}

Expected<void> kernels::rope(const Tensor &input, const Tensor &cos, const Tensor &sin,
                             const Tensor *positions, const RopeParams &params, Tensor &output,
                             ThreadPool &threads) {
  if (input.numElements() == 0)
    return {};
  HeadLayout layout(input.shape(), input.shape().rank() == 3 ? params.heads : 0);
  int64_t batches = input.shape()[0];
  int64_t pairs = (params.rotaryDim > 0 ? params.rotaryDim : layout.size) / 2;
  std::vector<int64_t> rows(batches * layout.rows);
  // One sample of angles is for all.
  const int64_t angleRows = cos.shape()[0] == 1 ? layout.rows : batches * layout.rows;
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<int64_t>(i) % angleRows;
  if (positions) {
    Tensor wide = convert(*positions, DataType::I64);
    std::ranges::copy(wide.data<int64_t>(), rows.begin());
    for (int64_t row : rows)
      if (row < 0 || row >= cos.shape()[0])
        return makeError("", "position " + std::to_string(row),
                         "0 to " + std::to_string(cos.shape()[0] - 1));
  }
  Tensor source = toCompute(input, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      Tensor cosines = convert(cos, dataTypeOf<T>());
      Tensor sines = convert(sin, dataTypeOf<T>());
      const T *from = source.data<T>().data();
      const T *cosine = cosines.data<T>().data();
      const T *sine = sines.data<T>().data();
      T *to = result.mutableData<T>().data();
      const auto turn = [&](int64_t task) {
        int64_t batch = task / layout.heads;
        for (int64_t row = 0; row < layout.rows; ++row) {
          int64_t at = layout.begin(batch, task % layout.heads) + row * layout.rowStep();
          int64_t angle = rows[batch * layout.rows + row] * pairs;
          if (params.isInterleaved)
            turnNeighbours(from + at, cosine + angle, sine + angle, pairs, to + at);
          else
            turnHalves(from + at, cosine + angle, sine + angle, pairs, to + at);
          std::copy_n(from + at + 2 * pairs, layout.size - 2 * pairs, to + at + 2 * pairs);
        }
      };
      threads.parallelFor(batches * layout.heads, grainFor(4 * layout.rows * layout.size),
                          [&](int64_t begin, int64_t end) {
                            for (int64_t task = begin; task < end; ++task)
                              turn(task);
                          });
    }
  });
  return {};
}
