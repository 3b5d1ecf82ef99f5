//===- AttentionOps.td - Attention and what goes with it -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_ATTENTIONOPS
#define TPUC_DIALECT_TOP_ATTENTIONOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_ScaleDotProductAttentionOp : Top_ComputeOp<"ScaleDotProductAttention",
    [Top_ReadsElementTypes]> {
  let summary = "Weighted means of values, by how well keys fit queries";
  let description = [{
    For each sample b, query head h and query i, with g = h / (Hq / Hk), the head of keys and values
    that h shares:

        score[j] = cap(sqrt(scale) * query[b, h, i] . sqrt(scale) * key[b, g, j]) + bias[b, h, i, j]
        output[b, h, i] = sum over j of softmax(score)[j] * value[b, g, j]

    `query` is [B, Hq, Q, D], `key` [B, Hk, K, D], `value` [B, Hk, K, E] and the output [B, Hq, Q,
    E]; with `q_num_heads` and `kv_num_heads` the operands are [B, Q, Hq * D], [B, K, Hk * D] and
    [B, K, Hk * E] and the output [B, Q, Hq * E]. Keys and values follow `past_key` [B, Hk, P, D] and
    `past_value`, if these are there, to make `present_key` and `present_value` of T = P + K rows.

    `scale` is 1 / sqrt(D) if it is left out; cap(x) is softcap * tanh(x / softcap), or x where
    `softcap` is 0. The bias is 0, or -inf where key j is hidden from query i:
    - by a `mask` of booleans, which broadcasts to [B, Hq, Q, T], where it is false or, shorter than
      T, ends; one of numbers is added instead, and hides what is beyond its end;
    - with `is_causal` where j > i + p; with `left_window` or `right_window`, where j < i + p -
      left_window or j > i + p + right_window, unless that one is negative;
    - where j >= lengths[b], for `lengths` [B].

    The place p of the first query is P, or lengths[b] - Q, or 0 if there is neither. Where all keys
    are hidden the softmax is 0. It is computed in `softmax_type`, else in the type of the operands;
    every step is rounded to that type. `scores` is, by `scores_mode`, the product (0), what the cap
    makes of it (1), that with the bias (2), or the softmax (3).

    Example:

    ```mlir
    %1, %2, %3, %4 = "top.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {is_causal = true} : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, none, none, none, none) -> (tensor<2x4x8x16xf32>, none, none, none)
    ```
  }];
  let arguments = (ins AnyTensor:$query,
                       AnyTensor:$key,
                       AnyTensor:$value,
                       Top_OptionalTensor:$mask,
                       Top_OptionalTensor:$past_key,
                       Top_OptionalTensor:$past_value,
                       Top_OptionalTensor:$lengths,
                       Top_AtLeast<OptionalAttr<I64Attr>, 1>:$q_num_heads,
                       Top_AtLeast<OptionalAttr<I64Attr>, 1>:$kv_num_heads,
                       OptionalAttr<F64Attr>:$scale,
                       Top_False:$is_causal,
                       Top_DefaultF64<"0.0">:$softcap,
                       Top_AtLeast<Top_DefaultI64<-1>, -1>:$left_window,
                       Top_AtLeast<Top_DefaultI64<-1>, -1>:$right_window,
                       OptionalAttr<TypeAttr>:$softmax_type,
                       Top_Between<Top_DefaultI64<0>, 0, 3>:$scores_mode);
  let results = (outs AnyTensor:$output,
                      Top_OptionalTensor:$present_key,
                      Top_OptionalTensor:$present_value,
                      Top_OptionalTensor:$scores);
  let hasVerifier = 1;
}

def Top_RopeOp : Top_ComputeOp<"Rope"> {
  let summary = "Turns pairs of elements by the angle of their position";
  let description = [{
    Of the D elements of each head at position s, the first R are pairs (x1, x2) that become (c * x1
    - s * x2, s * x1 + c * x2); the others stay. Pair d is the elements d and d + R/2, or 2d and 2d +
    1 with `interleaved`. R is `rotary_dim`, or D if that is 0.

    `input` is [B, H, S, D], or [B, S, H * D] with `num_heads`. `cos` and `sin` are [B, S, R/2], or
    [1, S, R/2] for all samples, or [M, R/2] of which `positions` [B, S] names the rows.

    Example:

    ```mlir
    %1 = "top.Rope"(%0, %cos, %sin, %none) : (tensor<2x4x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, none) -> tensor<2x4x3x8xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$cos,
                       AnyTensor:$sin,
                       Top_OptionalTensor:$positions,
                       Top_False:$interleaved,
                       Top_AtLeast<Top_DefaultI64<0>, 0>:$num_heads,
                       Top_AtLeast<Top_DefaultI64<0>, 0>:$rotary_dim);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_LinearAttentionOp : Top_ComputeOp<"LinearAttention"> {
  let summary = "Attention as a recurrence over a state, without a softmax";
  let description = [{
    For each sample and head of keys, the state S, [D, E], goes through the steps t:

        S = exp(decay_t) * S            with `update_rule` "gated" and "gated_delta"
        v = beta_t * (value_t - S^T key_t)   with "delta" and "gated_delta", else value_t
        S = S + key_t v^T
        output_t = scale * S^T query_t       for each head of queries that shares it

    `query` is [B, T, Hq * D], `key` [B, T, Hk * D], `value` [B, T, Hk * E] and the output [B, T, Hq
    * E]; `past_state`, which S begins as (else as 0), and `present_state`, which it ends as, are [B,
    Hk, D, E]. `decay` is [B, T, Hk * D] or [B, T, Hk], `beta` [B, T, Hk] or [B, T, 1]. A `scale` of
    0 stands for 1 / sqrt(D).

    Example:

    ```mlir
    %1, %2 = "top.LinearAttention"(%q, %k, %v, %none, %none, %none) {q_num_heads = 2 : i64, kv_num_heads = 2 : i64, update_rule = "linear"} : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, none, none, none) -> (tensor<1x3x8xf32>, tensor<1x2x4x4xf32>)
    ```
  }];
  let arguments = (ins AnyTensor:$query,
                       AnyTensor:$key,
                       AnyTensor:$value,
                       Top_OptionalTensor:$past_state,
                       Top_OptionalTensor:$decay,
                       Top_OptionalTensor:$beta,
                       Top_AtLeast<I64Attr, 1>:$q_num_heads,
                       Top_AtLeast<I64Attr, 1>:$kv_num_heads,
                       DefaultValuedStrAttr<StrAttr, "gated_delta">:$update_rule,
                       Top_DefaultF64<"0.0">:$scale);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$present_state);
  let hasVerifier = 1;
}

def Top_CausalConvOp : Top_ComputeOp<"CausalConv"> {
  let summary = "Depthwise convolution over the past along a sequence";
  let description = [{
    With p the K - 1 columns of `past_state` (0 if it is left out), then those of the input:

        output[n, c, t] = act(bias[c] + sum over k of filter[c, 0, k] * p[n, c, t + k])

    `present_state` is the last K - 1 columns of p. `activation` is "none" or "silu", which is x / (1
    + e^-x).

    Example:

    ```mlir
    %1, %2 = "top.CausalConv"(%0, %filter, %none, %none) {activation = "silu"} : (tensor<2x3x8xf32>, tensor<3x1x4xf32>, none, none) -> (tensor<2x3x8xf32>, tensor<2x3x3xf32>)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$past_state,
                       DefaultValuedStrAttr<StrAttr, "none">:$activation);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$present_state);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_ATTENTIONOPS
