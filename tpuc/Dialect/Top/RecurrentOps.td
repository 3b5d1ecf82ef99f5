//===- RecurrentOps.td - Recurrent cells -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_RECURRENTOPS
#define TPUC_DIALECT_TOP_RECURRENTOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_LSTMOp : Top_ComputeOp<"LSTM"> {
  let summary = "Long short-term memory";
  let description = [{
    `input` is [S, N, I] for S steps of N samples, `filter` [D, G*H, I], `recurrence` [D, G*H, H]
    and `bias` [D, 2*G*H] (of the filter, then of the recurrence) for D directions and hidden size
    H, with G = 4 gates i o f c; `sequence_lens` [N], `initial_h` [D, N, H]. With `batch_first`
    these are [N, S, I] and [N, D, H]. Y is [S, D, N, H] (batch first: [N, S, D, H]) and 0 beyond
    the length of a sequence, Y_h [D, N, H] the last state. A reversed direction begins at the end
    of each sequence. `activations` names the functions of each direction, with parameters taken in
    order from `activation_alpha` and `activation_beta`; what they are applied to is limited to
    -clip .. clip.

        i = f(X Wi + H Ri + Pi * C + bi)    f = f(X Wf + H Rf + Pf * C + bf), or 1 - i with input_forget
        C' = f * C + i * g(X Wc + H Rc + bc)
        H' = f(X Wo + H Ro + Po * C' + bo) * h(C')

    `peephole` is [D, 3*H] for i o f, `initial_c` and Y_c are like `initial_h`. f g h are Sigmoid,
    Tanh and Tanh unless `activations` says otherwise.

    Example:

    ```mlir
    %1, %2, %3 = "top.LSTM"(%0, %w, %r, %b, %none, %none, %none, %none) {hidden_size = 4 : i64} : (tensor<5x1x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none, none, none, none) -> (tensor<5x1x1x4xf32>, none, none)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$sequence_lens,
                       Top_OptionalTensor:$initial_h,
                       Top_OptionalTensor:$initial_c,
                       Top_OptionalTensor:$peephole,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction,
                       Top_AtLeast<I64Attr, 1>:$hidden_size,
                       Top_False:$batch_first,
                       OptionalAttr<StrArrayAttr>:$activations,
                       OptionalAttr<F64ArrayAttr>:$activation_alpha,
                       OptionalAttr<F64ArrayAttr>:$activation_beta,
                       OptionalAttr<F64Attr>:$clip,
                       Top_False:$input_forget);
  let results = (outs Top_OptionalTensor:$Y, Top_OptionalTensor:$Y_h, Top_OptionalTensor:$Y_c);
  let hasVerifier = 1;
}

def Top_GRUOp : Top_ComputeOp<"GRU"> {
  let summary = "Gated recurrent unit";
  let description = [{
    `input` is [S, N, I] for S steps of N samples, `filter` [D, G*H, I], `recurrence` [D, G*H, H]
    and `bias` [D, 2*G*H] (of the filter, then of the recurrence) for D directions and hidden size
    H, with G = 3 gates z r h; `sequence_lens` [N], `initial_h` [D, N, H]. With `batch_first` these
    are [N, S, I] and [N, D, H]. Y is [S, D, N, H] (batch first: [N, S, D, H]) and 0 beyond the
    length of a sequence, Y_h [D, N, H] the last state. A reversed direction begins at the end of
    each sequence. `activations` names the functions of each direction, with parameters taken in
    order from `activation_alpha` and `activation_beta`; what they are applied to is limited to
    -clip .. clip.

        z = f(X Wz + H Rz + bz)    r = f(X Wr + H Rr + br)
        h = g(X Wh + (r * H) Rh + bh), with linear_before_reset g(X Wh + r * (H Rh + Rbh) + Wbh)
        H' = (1 - z) * h + z * H

    f g are Sigmoid and Tanh unless `activations` says otherwise.

    Example:

    ```mlir
    %1, %2 = "top.GRU"(%0, %w, %r, %b, %none, %none) {hidden_size = 4 : i64} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>, none, none) -> (tensor<5x1x1x4xf32>, none)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$sequence_lens,
                       Top_OptionalTensor:$initial_h,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction,
                       Top_AtLeast<I64Attr, 1>:$hidden_size,
                       Top_False:$batch_first,
                       OptionalAttr<StrArrayAttr>:$activations,
                       OptionalAttr<F64ArrayAttr>:$activation_alpha,
                       OptionalAttr<F64ArrayAttr>:$activation_beta,
                       OptionalAttr<F64Attr>:$clip,
                       Top_False:$linear_before_reset);
  let results = (outs Top_OptionalTensor:$Y, Top_OptionalTensor:$Y_h);
  let hasVerifier = 1;
}

def Top_RNNOp : Top_ComputeOp<"RNN"> {
  let summary = "Simple recurrent cell";
  let description = [{
    `input` is [S, N, I] for S steps of N samples, `filter` [D, G*H, I], `recurrence` [D, G*H, H]
    and `bias` [D, 2*G*H] (of the filter, then of the recurrence) for D directions and hidden size
    H, with G = 1; `sequence_lens` [N], `initial_h` [D, N, H]. With `batch_first` these are [N, S,
    I] and [N, D, H]. Y is [S, D, N, H] (batch first: [N, S, D, H]) and 0 beyond the length of a
    sequence, Y_h [D, N, H] the last state. A reversed direction begins at the end of each sequence.
    `activations` names the functions of each direction, with parameters taken in order from
    `activation_alpha` and `activation_beta`; what they are applied to is limited to -clip .. clip.

        H' = f(X W + H R + b)

    f is Tanh unless `activations` says otherwise.

    Example:

    ```mlir
    %1, %2 = "top.RNN"(%0, %w, %r, %b, %none, %none) {hidden_size = 4 : i64} : (tensor<5x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x8xf32>, none, none) -> (tensor<5x1x1x4xf32>, none)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$sequence_lens,
                       Top_OptionalTensor:$initial_h,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction,
                       Top_AtLeast<I64Attr, 1>:$hidden_size,
                       Top_False:$batch_first,
                       OptionalAttr<StrArrayAttr>:$activations,
                       OptionalAttr<F64ArrayAttr>:$activation_alpha,
                       OptionalAttr<F64ArrayAttr>:$activation_beta,
                       OptionalAttr<F64Attr>:$clip);
  let results = (outs Top_OptionalTensor:$Y, Top_OptionalTensor:$Y_h);
  let hasVerifier = 1;
}

def Top_LSTMIntegerOp : Top_ComputeOp<"LSTMInteger"> {
  let summary = "LSTM cell of 8-bit integers whose gates have 16 bits";
  let description = [{
    `input` is i8 [S, N, I] for S steps of N samples (`batch_first`: [N, S, I]), `filter` i8 [G*U, I] and
    `recurrence` i8 [G*U, O] for U units, O outputs and G gates i f c o, or f c o, where `i = 1 - f`;
    `bias` and `projection_bias` are i32 [G*U] and [O], `peephole` i16 [(G-1)*U] for all gates but c,
    `norm` i16 [G*U], `projection` i8 [O, U]. The content is 0 at first, the output its zero point.
    `m(x, a)` scales by a multiplier of 31 bits for a, rounded half up behind 31 bits, and half away from
    zero behind the shift. Gates are in units of 2^-12, and are cut off to 16 bits behind each sum:

        gate = m(W (input - input_zero_point) + bias, input_factors)
             + m(R (output - output_zero_point), recurrent_factors) + m(P * content, peephole_factors)
        content = round(s(f) * content / 2^15) + round(s(i) * t(c) / 2^(15 + content_bits))
        hidden = m(s(o) * t(content), hidden_factor) + hidden_zero_point
        output = m(V (hidden - hidden_zero_point) + projection_bias, projection_factor) + output_zero_point

    s and t are gemmlowp's `logistic` and `tanh` of 16 bits. The content stands for
    `content * 2^(content_bits - 15)`, and is cut off at `content_limit`; projected outputs are cut off at
    `output_limit`, less than 1 for none. Without a projection, `hidden` is the output. With `norm`, the
    bias is left out above, and `gate = m(round((g * norm + bias) / 2^10), 2^12 * norm_scales)` with
    `g = 2^10 * (gate - mean) / deviation`. The inverse root comes from five steps of Newton's method; a
    variance of less than 1 counts as `10000 * norm_scales`, or 1. The output gate sees the new content.
    Peepholes are counted by outputs: of the samples of a step, alone where they come first, the first O
    cells for each have one, that of their place modulo O. So has LiteRT's kernel it.

    Example:

    ```mlir
    %1 = "top.LSTMInteger"(%0, %w, %r, %b, %none, %none, %none, %none)
             {input_factors = [0.5, 0.5, 0.5, 0.5], recurrent_factors = [0.5, 0.5, 0.5, 0.5],
              hidden_factor = 1.0e-7 : f64, content_bits = 4 : i64} :
             (tensor<5x1x3xi8>, tensor<16x3xi8>, tensor<16x4xi8>, tensor<16xi32>, none, none, none, none)
             -> tensor<5x1x4xi8> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       AnyTensor:$bias,
                       Top_OptionalTensor:$peephole,
                       Top_OptionalTensor:$norm,
                       Top_OptionalTensor:$projection,
                       Top_OptionalTensor:$projection_bias,
                       Top_False:$batch_first,
                       F64ArrayAttr:$input_factors,
                       F64ArrayAttr:$recurrent_factors,
                       OptionalAttr<F64ArrayAttr>:$peephole_factors,
                       OptionalAttr<F64ArrayAttr>:$norm_scales,
                       F64Attr:$hidden_factor,
                       Top_DefaultF64<"1.0">:$projection_factor,
                       Top_Between<Top_DefaultI64<0>, -128, 127>:$input_zero_point,
                       Top_Between<Top_DefaultI64<0>, -128, 127>:$hidden_zero_point,
                       Top_Between<Top_DefaultI64<0>, -128, 127>:$output_zero_point,
                       Top_Between<I64Attr, 0, 6>:$content_bits,
                       Top_Between<Top_DefaultI64<0>, -32768, 32767>:$content_limit,
                       Top_Between<Top_DefaultI64<0>, -128, 127>:$output_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_RECURRENTOPS
