//===- UnaryOps.td - Element by element, one operand -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_UNARYOPS
#define TPUC_DIALECT_TOP_UNARYOPS

include "tpuc/Dialect/Top/ElementwiseBase.td"

/// An op without attributes whose result has the type of its operand.
class Top_UnaryOp<string mnemonic, TypeConstraint operand, string formula, string note = "",
                  list<Trait> traits = []>
    : Top_ElementwiseOp<mnemonic, "inferLikeFirst", traits> {
  let description = "`output = " # formula # "`" # note # [{

    Example:

    ```mlir
    %1 = "top.}] # mnemonic # [{"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins operand:$input);
  let results = (outs AnyTensor:$output);
}

def Top_AbsOp : Top_UnaryOp<"Abs", Top_NumberTensor, "|input|", ". The lowest integer stays as it is.",
    [Top_NonNegative, Top_Tabulated]> {
  let summary = "The absolute value";
}

def Top_ArccosOp : Top_UnaryOp<"Arccos", Top_FloatTensor, "arccos(input)", ", NaN outside [-1, 1]."> {
  let summary = "The inverse cosine";
}

def Top_ArccoshOp : Top_UnaryOp<"Arccosh", Top_FloatTensor, "arccosh(input)", ", NaN below 1."> {
  let summary = "The inverse hyperbolic cosine";
}

def Top_ArcsinOp : Top_UnaryOp<"Arcsin", Top_FloatTensor, "arcsin(input)", ", NaN outside [-1, 1]."> {
  let summary = "The inverse sine";
}

def Top_ArcsinhOp : Top_UnaryOp<"Arcsinh", Top_FloatTensor, "arcsinh(input)", "."> {
  let summary = "The inverse hyperbolic sine";
}

def Top_ArctanOp : Top_UnaryOp<"Arctan", Top_FloatTensor, "arctan(input)", ".", [Top_Tabulated]> {
  let summary = "The inverse tangent";
}

def Top_ArctanhOp : Top_UnaryOp<"Arctanh", Top_FloatTensor, "arctanh(input)", ", NaN outside [-1, 1]."> {
  let summary = "The inverse hyperbolic tangent";
}

def Top_CeilOp : Top_UnaryOp<"Ceil", Top_FloatTensor, "ceil(input)", "."> {
  let summary = "The next integer above";
}

def Top_CosOp : Top_UnaryOp<"Cos", Top_FloatTensor, "cos(input)", ".", [Top_Tabulated]> {
  let summary = "The cosine";
}

def Top_CoshOp : Top_UnaryOp<"Cosh", Top_FloatTensor, "cosh(input)", "."> {
  let summary = "The hyperbolic cosine";
}

def Top_ErfOp : Top_UnaryOp<"Erf", Top_FloatTensor, "2 / sqrt(pi) * integral from 0 to input of exp(-t^2) dt", ".",
    [Top_Tabulated]> {
  let summary = "The error function";
}

def Top_ExpOp : Top_UnaryOp<"Exp", Top_FloatTensor, "e^input", ".", [Top_NonNegative]> {
  let summary = "The exponential";
}

def Top_FloorOp : Top_UnaryOp<"Floor", Top_FloatTensor, "floor(input)", "."> {
  let summary = "The next integer below";
}

def Top_HardSwishOp : Top_UnaryOp<"HardSwish", Top_FloatTensor, "input * max(0, min(1, input / 6 + 1/2))", ".",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "x * max(0, min(1, x/6 + 1/2))";
}

def Top_LogOp : Top_UnaryOp<"Log", Top_FloatTensor, "ln(input)", ", NaN below 0."> {
  let summary = "The natural logarithm";
}

def Top_MishOp : Top_UnaryOp<"Mish", Top_FloatTensor, "input * tanh(ln(1 + e^input))", ".",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "x * tanh(ln(1 + exp(x)))";
}

def Top_NegOp : Top_UnaryOp<"Neg", Top_NumberTensor, "-input", ". The lowest integer stays as it is.",
    [Top_Tabulated]> {
  let summary = "The negative";
}

def Top_ReciprocalOp : Top_UnaryOp<"Reciprocal", Top_FloatTensor, "1 / input", "."> {
  let summary = "One divided by an element";
}

def Top_RoundOp : Top_UnaryOp<"Round", Top_FloatTensor, "round(input)", ": 0.5 becomes 0, 1.5 becomes 2, -2.5 becomes -2."> {
  let summary = "The nearest integer, ties to the even one";
}

def Top_RsqrtOp : Top_UnaryOp<"Rsqrt", Top_FloatTensor, "1 / sqrt(input)", "."> {
  let summary = "One divided by the square root";
}

def Top_SiLUOp : Top_UnaryOp<"SiLU", Top_FloatTensor, "input / (1 + e^-input)", ".",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "x / (1 + exp(-x))";
}

def Top_SignOp : Top_UnaryOp<"Sign", Top_NumberTensor, "1 where input > 0, -1 where input < 0, else input", ".",
    [Top_Tabulated]> {
  let summary = "-1, 0 or 1";
}

def Top_SinOp : Top_UnaryOp<"Sin", Top_FloatTensor, "sin(input)", ".", [Top_Tabulated]> {
  let summary = "The sine";
}

def Top_SinhOp : Top_UnaryOp<"Sinh", Top_FloatTensor, "sinh(input)", "."> {
  let summary = "The hyperbolic sine";
}

def Top_SoftplusOp : Top_UnaryOp<"Softplus", Top_FloatTensor, "ln(1 + e^input)", ".",
    [Top_NonNegative, Top_Tabulated, Top_FusibleActivation]> {
  let summary = "ln(1 + exp(x))";
}

def Top_SoftsignOp : Top_UnaryOp<"Softsign", Top_FloatTensor, "input / (1 + |input|)", ".",
    [Top_Tabulated]> {
  let summary = "x / (1 + |x|)";
}

def Top_SqrtOp : Top_UnaryOp<"Sqrt", Top_FloatTensor, "sqrt(input)", ", NaN below 0.",
    [Top_NonNegative]> {
  let summary = "The square root";
}

def Top_TanOp : Top_UnaryOp<"Tan", Top_FloatTensor, "tan(input)", "."> {
  let summary = "The tangent";
}

def Top_TanhOp : Top_UnaryOp<"Tanh", Top_FloatTensor, "tanh(input)", ".",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "The hyperbolic tangent";
}

def Top_BitwiseNotOp : Top_ElementwiseOp<"BitwiseNot", "inferLikeFirst"> {
  let summary = "The complement of every bit";
  let description = [{
    `output = ~input`

    Example:

    ```mlir
    %1 = "top.BitwiseNot"(%0) : (tensor<4xui8>) -> tensor<4xui8> loc("y")
    ```
  }];
  let arguments = (ins Top_BitsTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_LogicalNotOp : Top_ElementwiseOp<"LogicalNot", "inferLikeFirst"> {
  let summary = "The opposite of a boolean";
  let description = [{
    `output = !input`

    Example:

    ```mlir
    %1 = "top.LogicalNot"(%0) : (tensor<4xi1>) -> tensor<4xi1> loc("y")
    ```
  }];
  let arguments = (ins Top_BoolTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_IsNaNOp : Top_ElementwiseOp<"IsNaN", "inferPredicate"> {
  let summary = "Whether an element is not a number";
  let description = [{
    `output = input != input`

    Example:

    ```mlir
    %1 = "top.IsNaN"(%0) : (tensor<4xf32>) -> tensor<4xi1> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_IsInfOp : Top_ElementwiseOp<"IsInf", "inferPredicate"> {
  let summary = "Whether an element is infinite";
  let description = [{
    `output = input is +inf and detect_positive, or -inf and detect_negative`

    Example:

    ```mlir
    %1 = "top.IsInf"(%0) {detect_negative = false, detect_positive = true} : (tensor<4xf32>) -> tensor<4xi1> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_True:$detect_negative,
                       Top_True:$detect_positive);
  let results = (outs AnyTensor:$output);
}

def Top_ReluOp : Top_ElementwiseOp<"Relu", "inferLikeFirst",
    [Top_NonNegative, Top_Tabulated, Top_FusibleActivation]> {
  let summary = "max(0, x), and at most a limit";
  let description = [{
    `output = max(0, input)`, at most `relu_limit` where that is not negative. NaN stays.

    Example:

    ```mlir
    %1 = "top.Relu"(%0) {relu_limit = 6.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_LeakyReluOp : Top_ElementwiseOp<"LeakyRelu", "inferLikeFirst",
    [Top_FusibleActivation, Top_ComputesIntegers]> {
  let summary = "x, or alpha * x where x is negative";
  let description = [{
    `output = input < 0 ? alpha * input : input`

    Example:

    ```mlir
    %1 = "top.LeakyRelu"(%0) {alpha = 0.01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       F64Attr:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_EluOp : Top_ElementwiseOp<"Elu", "inferLikeFirst", [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "x, or alpha * (exp(x) - 1) where x is negative";
  let description = [{
    `output = input < 0 ? alpha * (e^input - 1) : input`

    Example:

    ```mlir
    %1 = "top.Elu"(%0) {alpha = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"1.0">:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_CeluOp : Top_ElementwiseOp<"Celu", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))";
  let description = [{
    `output = max(0, input) + min(0, alpha * (e^(input / alpha) - 1))`; `alpha` is not 0.

    Example:

    ```mlir
    %1 = "top.Celu"(%0) {alpha = 2.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"1.0">:$alpha);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_SeluOp : Top_ElementwiseOp<"Selu", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "gamma * x, or gamma * alpha * (exp(x) - 1) where x is negative";
  let description = [{
    `output = gamma * (input < 0 ? alpha * (e^input - 1) : input)`

    Example:

    ```mlir
    %1 = "top.Selu"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"1.6732632423543772">:$alpha,
                       Top_DefaultF64<"1.0507009873554805">:$gamma);
  let results = (outs AnyTensor:$output);
}

def Top_ThresholdedReluOp : Top_ElementwiseOp<"ThresholdedRelu", "inferLikeFirst",
    [Top_Tabulated]> {
  let summary = "x where it is above alpha, else 0";
  let description = [{
    `output = input > alpha ? input : 0`

    Example:

    ```mlir
    %1 = "top.ThresholdedRelu"(%0) {alpha = 2.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"1.0">:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_ShrinkOp : Top_ElementwiseOp<"Shrink", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Moves an element towards zero by a bias, to zero within lambd of it";
  let description = [{
    `output = input < -lambd ? input + bias : input > lambd ? input - bias : 0`

    Example:

    ```mlir
    %1 = "top.Shrink"(%0) {bias = 1.5 : f64, lambd = 1.5 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       Top_DefaultF64<"0.0">:$bias,
                       Top_DefaultF64<"0.5">:$lambd);
  let results = (outs AnyTensor:$output);
}

def Top_HardSigmoidOp : Top_ElementwiseOp<"HardSigmoid", "inferLikeFirst",
    [Top_NonNegative, Top_Tabulated, Top_FusibleActivation]> {
  let summary = "max(0, min(1, alpha * x + beta))";
  let description = [{
    `output = max(0, min(1, alpha * input + beta))`

    Example:

    ```mlir
    %1 = "top.HardSigmoid"(%0) {alpha = 0.2 : f64, beta = 0.5 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"0.2">:$alpha,
                       Top_DefaultF64<"0.5">:$beta);
  let results = (outs AnyTensor:$output);
}

def Top_SigmoidOp : Top_ElementwiseOp<"Sigmoid", "inferLikeFirst",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "scale / (1 + exp(-x)) + bias";
  let description = [{
    `output = scale / (1 + e^-input) + bias`, and the natural logarithm of that with `log`.

    Example:

    ```mlir
    %1 = "top.Sigmoid"(%0) {bias = 0.0 : f64, scale = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"1.0">:$scale,
                       Top_DefaultF64<"0.0">:$bias,
                       Top_False:$log);
  let results = (outs AnyTensor:$output);
}

def Top_SwishOp : Top_ElementwiseOp<"Swish", "inferLikeFirst",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "x / (1 + exp(-beta * x))";
  let description = [{
    `output = input / (1 + e^(-beta * input))`

    Example:

    ```mlir
    %1 = "top.Swish"(%0) {beta = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       Top_DefaultF64<"1.0">:$beta);
  let results = (outs AnyTensor:$output);
}

def Top_GELUOp : Top_ElementwiseOp<"GELU", "inferLikeFirst",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "x times the normal distribution function of x";
  let description = [{
    `approx_mode` "none": `output = input / 2 * (1 + erf(input / sqrt(2)))`;
    "tanh": `output = input / 2 * (1 + tanh(sqrt(2 / pi) * (input + 0.044715 * input^3)))`.

    Example:

    ```mlir
    %1 = "top.GELU"(%0) {approx_mode = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input,
                       DefaultValuedStrAttr<StrAttr, "none">:$approx_mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ClipOp : Top_ElementwiseOp<"Clip", "inferLikeFirst",
    [Top_Tabulated, Top_FusibleActivation]> {
  let summary = "Limits elements to a range";
  let description = [{
    `output = min(max(input, min), max)`, so `max` where `min > max`. NaN stays.
    For integers the bounds are the first integers within them.

    Example:

    ```mlir
    %1 = "top.Clip"(%0) {max = 6.0 : f64, min = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$min,
                       F64Attr:$max);
  let results = (outs AnyTensor:$output);
}

def Top_ClipTensorOp : Top_ElementwiseOp<"ClipTensor", "inferLikeFirst"> {
  let summary = "Limits elements to a range that tensors give";
  let description = [{
    `output = min(max(input, min), max)`, so `max` where `min > max`. NaN stays. `min` and `max` hold
    one element of the input's type; none: no bound on that side.

    Example:

    ```mlir
    %1 = "top.ClipTensor"(%0, %min, %none) : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<2x3xf32>
         loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       Top_OptionalTensor:$min,
                       Top_OptionalTensor:$max);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_CopyOp : Top_ComputeOp<"Copy",
    [Top_Pointwise, Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "The same tensor";
  let description = [{
    `output = input`

    Example:

    ```mlir
    %1 = "top.Copy"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_CastOp : Top_ComputeOp<"Cast", [Top_Pointwise, Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "The element in another type";
  let description = [{
    The elements of `input` as type `to`:
    - to a float, rounded to nearest, ties to even; what is too large becomes an infinity, or NaN
      in a type without one. An 8-bit float becomes the largest number instead, of an infinity too,
      with `saturate`;
    - a float to an integer, truncated, the nearest end of the range where it is outside, NaN 0;
      to a 4-bit one, the low bits of the truncated value;
    - an integer to an integer, the low bits from bit `from_bit` on, a multiple of their number: of
      64 bits as two of 32 the low ones from bit 0, the high ones from bit 32;
    - to bool, whether it is not 0; a bool is 0 or 1.

    Example:

    ```mlir
    %1 = "top.Cast"(%0) {to = i64} : (tensor<4xf32>) -> tensor<4xi64> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       TypeAttr:$to,
                       Top_True:$saturate,
                       Top_Between<DefaultValuedAttr<I64Attr, "0">, 0, 56>:$from_bit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_BitCastOp : Top_ComputeOp<"BitCast",
    [Top_Pointwise, Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "The bits of each element as another type";
  let description = [{
    The bits of each element of `input` as an element of type `to`, which has as many bits.

    Example:

    ```mlir
    %1 = "top.BitCast"(%0) {to = i32} : (tensor<4xf32>) -> tensor<4xi32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       TypeAttr:$to);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DetOp : Top_ComputeOp<"Det", [Top_ComputesInF32]> {
  let summary = "The determinant of the innermost matrices";
  let description = [{
    `output[...] = det(input[..., :, :])`: `input` has shape [..., n, n], `output` [...].

    Example:

    ```mlir
    %1 = "top.Det"(%0) : (tensor<5x3x3xf32>) -> tensor<5xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input);
  let results = (outs AnyTensor:$output);
}

/// The ops of this file whose mirrored ops in the tpu dialect have nothing of their own.
defvar Top_PlainUnaryOps = [
    Top_AbsOp, Top_ArccosOp, Top_ArccoshOp, Top_ArcsinOp, Top_ArcsinhOp, Top_ArctanOp,
    Top_ArctanhOp, Top_CeilOp, Top_CosOp, Top_CoshOp, Top_ErfOp, Top_ExpOp, Top_FloorOp,
    Top_HardSwishOp, Top_LogOp, Top_MishOp, Top_NegOp, Top_ReciprocalOp, Top_RoundOp, Top_RsqrtOp,
    Top_SiLUOp, Top_SignOp, Top_SinOp, Top_SinhOp, Top_SoftplusOp, Top_SoftsignOp, Top_SqrtOp,
    Top_TanOp, Top_TanhOp, Top_BitwiseNotOp, Top_LogicalNotOp, Top_IsNaNOp, Top_IsInfOp,
    Top_ReluOp, Top_EluOp, Top_CeluOp, Top_SeluOp, Top_ThresholdedReluOp, Top_ShrinkOp,
    Top_HardSigmoidOp, Top_SigmoidOp, Top_SwishOp, Top_GELUOp, Top_ClipOp, Top_ClipTensorOp,
    Top_CopyOp, Top_BitCastOp, Top_DetOp];

#endif // TPUC_DIALECT_TOP_UNARYOPS
