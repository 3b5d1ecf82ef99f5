//===- AttentionFloat.cpp - Attention in f32, piece by piece --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/AttentionParts.h"
#include "tpuc/Interpreter/Kernels/PackedMatMul.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <cmath>
#include <optional>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Scores of a piece of the queries: they stay in a core's cache.
constexpr int64_t kScoresAtOnce = 1 << 15;
/// Rows of a piece: whole tiles of every size.
constexpr int64_t kRowsAtLeast = 12;

class FloatAttention {
public:
  FloatAttention(const AttentionTensors &tensors, const AttentionParams &params, Tensor &output)
      : tensors(tensors), params(params), queries(tensors.query->shape(), params.queryHeads),
        keys(tensors.key->shape(), params.keyHeads),
        values(tensors.value->shape(), params.keyHeads), outputs(values),
        batches(tensors.query->shape()[0]),
        mask(tensors.mask, Shape({batches, queries.heads, queries.rows, keys.rows})),
        output(output.mutableData<float>().data()) {
    outputs.heads = queries.heads;
    outputs.rows = queries.rows;
    scale =
        static_cast<float>(params.scale.value_or(1 / std::sqrt(static_cast<double>(queries.size))));
    if (!tensors.lengths)
      return;
    Tensor wide = convert(*tensors.lengths, DataType::I64);
    lengths.assign(wide.data<int64_t>().begin(), wide.data<int64_t>().end());
  }

  void run(ThreadPool &threads) {
    pack(threads);
    const int64_t fitting = std::max(kScoresAtOnce / keys.rows, kRowsAtLeast);
    const int64_t rows = std::min(fitting / kRowsAtLeast * kRowsAtLeast, queries.rows);
    const int64_t pieces = (queries.rows + rows - 1) / rows;
    const int64_t cost = rows * keys.rows * (queries.size + values.size + 20) / 16;
    threads.parallelFor(
        batches * queries.heads * pieces, grainFor(cost), [&](int64_t begin, int64_t end) {
          const AlignedFloats scores(rows * keys.rows);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % pieces * rows;
            attend(i / pieces, first, std::min(first + rows, queries.rows), scores.data());
          }
        });
  }

private:
  void pack(ThreadPool &threads) {
    packedKeys.resize(static_cast<size_t>(batches * keys.heads));
    packedValues.resize(packedKeys.size());
    threads.parallelFor(batches * keys.heads, grainFor(keys.rows * (keys.size + values.size)),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t batch = i / keys.heads;
                            const int64_t head = i % keys.heads;
                            packedKeys[static_cast<size_t>(i)].emplace(
                                tensors.key->data<float>().data() + keys.begin(batch, head),
                                keys.rowStep(), keys.size, keys.rows, true);
                            packedValues[static_cast<size_t>(i)].emplace(
                                tensors.value->data<float>().data() + values.begin(batch, head),
                                values.rowStep(), values.rows, values.size, false);
                          }
                        });
  }

  /// Queries [first, last) of a head; `scores` has room for their scores.
  void attend(int64_t index, int64_t first, int64_t last, float *scores) const {
    const int64_t batch = index / queries.heads;
    const int64_t head = index % queries.heads;
    const auto shared =
        static_cast<size_t>(batch * keys.heads + head / (queries.heads / keys.heads));
    packedKeys[shared]->multiply(tensors.query->data<float>().data() + queries.begin(batch, head) +
                                     first * queries.rowStep(),
                                 queries.rowStep(), last - first, scores, keys.rows);
    for (int64_t query = first; query < last; ++query)
      weigh(batch, head, query, scores + (query - first) * keys.rows);
    packedValues[shared]->multiply(scores, keys.rows, last - first,
                                   output + outputs.begin(batch, head) + first * outputs.rowStep(),
                                   outputs.rowStep());
  }

  /// Products with all keys become weights, in place. The visible keys are neighbours.
  void weigh(int64_t batch, int64_t head, int64_t query, float *row) const {
    const int64_t length = lengths.empty() ? keys.rows : lengths[static_cast<size_t>(batch)];
    const int64_t place = lengths.empty() ? query : length - queries.rows + query;
    int64_t end = std::min(mask.numKeys(keys.rows), length);
    if (params.isCausal)
      end = std::min(end, place + 1);
    if (params.rightWindow >= 0)
      end = std::min(end, place + params.rightWindow + 1);
    const int64_t wanted = params.leftWindow >= 0 ? place - params.leftWindow : 0;
    const int64_t begin = std::clamp<int64_t>(wanted, 0, keys.rows);
    end = std::clamp(end, begin, keys.rows);
    float beta = scale;
    bool isVisible = begin < end;
    if (const float *added = mask.row(batch, head, query)) {
      for (int64_t key = begin; key < end; ++key)
        row[key] = row[key] * scale + added[key];
      beta = 1;
      isVisible = std::any_of(row + begin, row + end, [](float score) {
        return score != -std::numeric_limits<float>::infinity();
      });
    }
    if (!isVisible)
      end = begin;
    std::fill(row, row + begin, 0.0F);
    if (begin < end)
      simdKernels().softmaxRow(row + begin, beta, row + begin, end - begin);
    std::fill(row + end, row + keys.rows, 0.0F);
  }

  const AttentionTensors &tensors;
  const AttentionParams &params;
  HeadLayout queries, keys, values, outputs;
  int64_t batches;
  Mask<float> mask;
  float *output;
  float scale;
  std::vector<int64_t> lengths;
  std::vector<std::optional<PackedMatrix>> packedKeys, packedValues; ///< Of each batch and head.
};

} // namespace

bool kernels::canAttendFloats(const AttentionTensors &tensors, const AttentionParams &params,
                              const AttentionResults &results) {
  return tensors.query->type() == DataType::F32 && !tensors.pastKey && !tensors.pastValue &&
         !results.presentKey && !results.presentValue && !results.scores && params.softcap == 0 &&
         params.softmaxType.value_or(DataType::F32) == DataType::F32 &&
         tensors.query->numElements() > 0 && tensors.key->numElements() > 0 &&
         tensors.value->numElements() > 0;
}

void kernels::attendFloats(const AttentionTensors &tensors, const AttentionParams &params,
                           Tensor &output, ThreadPool &threads) {
  FloatAttention(tensors, params, output).run(threads);
}
