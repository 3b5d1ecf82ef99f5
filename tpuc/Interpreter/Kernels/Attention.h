//===- Attention.h - Attention and what goes with it ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_ATTENTION_H
#define TPUC_INTERPRETER_KERNELS_ATTENTION_H

#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <optional>

namespace tpuc::kernels {

// What the ops of AttentionOps.td state. Shapes must fit, as shape inference checks. Null tensors
// are left out.

struct AttentionTensors {
  const Tensor *query, *key, *value, *mask, *pastKey, *pastValue, *lengths;
};
struct AttentionResults {
  Tensor *output, *presentKey, *presentValue, *scores;
};
/// What `AttentionResults::scores` holds.
enum class AttentionScores : uint8_t { Product, Capped, Biased, Softmax };

struct AttentionParams {
  /// 0: the operands have a dimension for the heads.
  int64_t queryHeads = 0, keyHeads = 0;
  std::optional<double> scale = std::nullopt; ///< 1 / sqrt(size of a head) unless given.
  bool isCausal = false;
  double softcap = 0;
  int64_t leftWindow = -1, rightWindow = -1; ///< Negative: no limit.
  std::optional<DataType> softmaxType = std::nullopt;
  AttentionScores scores = AttentionScores::Product;
};

/// ScaleDotProductAttention. Products are added in f32 (f64 for f64); what each step makes of f16
/// and bf16 is rounded to these, as if it were an op of its own.
void attention(const AttentionTensors &tensors, const AttentionParams &params,
               const AttentionResults &results, ThreadPool &threads);

struct RopeParams {
  bool isInterleaved = false;
  int64_t heads = 0;     ///< Of an input [B, S, H * D]; one of [B, H, S, D] says it.
  int64_t rotaryDim = 0; ///< 0: all elements of a head.
};
/// Rope. Computed in f32 (f64 for f64), rounded once. Errors: a position without a row.
Expected<void> rope(const Tensor &input, const Tensor &cos, const Tensor &sin,
                    const Tensor *positions, const RopeParams &params, Tensor &output,
                    ThreadPool &threads);

struct LinearAttentionTensors {
  const Tensor *query, *key, *value, *pastState, *decay, *beta;
};
/// LinearAttention, in f32 throughout; which of decay and beta there are says the rule. A `scale`
/// of 0 stands for 1 / sqrt(size of a head). `presentState` may be null.
void linearAttention(const LinearAttentionTensors &tensors, int64_t queryHeads, int64_t keyHeads,
                     double scale, Tensor &output, Tensor *presentState, ThreadPool &threads);

/// CausalConv, in f32; `silu`: the activation. `presentState` may be null.
void causalConv(const Tensor &input, const Tensor &filter, const Tensor *bias,
                const Tensor *pastState, bool silu, Tensor &output, Tensor *presentState,
                ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_ATTENTION_H
