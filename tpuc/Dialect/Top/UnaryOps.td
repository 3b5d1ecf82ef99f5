//===- UnaryOps.td - Element by element, one operand -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_UNARYOPS
#define TPUC_DIALECT_TOP_UNARYOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_AbsOp : Top_ComputeOp<"Abs"> {
  let summary = "The absolute value";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ArccosOp : Top_ComputeOp<"Arccos"> {
  let summary = "The inverse cosine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ArccoshOp : Top_ComputeOp<"Arccosh"> {
  let summary = "The inverse hyperbolic cosine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ArcsinOp : Top_ComputeOp<"Arcsin"> {
  let summary = "The inverse sine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ArcsinhOp : Top_ComputeOp<"Arcsinh"> {
  let summary = "The inverse hyperbolic sine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ArctanOp : Top_ComputeOp<"Arctan"> {
  let summary = "The inverse tangent";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ArctanhOp : Top_ComputeOp<"Arctanh"> {
  let summary = "The inverse hyperbolic tangent";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_BitwiseNotOp : Top_ComputeOp<"BitwiseNot"> {
  let summary = "The complement of every bit";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_CeilOp : Top_ComputeOp<"Ceil"> {
  let summary = "The next integer above";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_CosOp : Top_ComputeOp<"Cos"> {
  let summary = "The cosine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_CoshOp : Top_ComputeOp<"Cosh"> {
  let summary = "The hyperbolic cosine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_DetOp : Top_ComputeOp<"Det"> {
  let summary = "The determinant of the innermost matrices";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ErfOp : Top_ComputeOp<"Erf"> {
  let summary = "The error function";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ExpOp : Top_ComputeOp<"Exp"> {
  let summary = "The exponential";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_FloorOp : Top_ComputeOp<"Floor"> {
  let summary = "The next integer below";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_HardSwishOp : Top_ComputeOp<"HardSwish"> {
  let summary = "x * max(0, min(1, x/6 + 1/2))";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_IsNaNOp : Top_ComputeOp<"IsNaN"> {
  let summary = "Whether an element is not a number";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_LogOp : Top_ComputeOp<"Log"> {
  let summary = "The natural logarithm";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_LogicalNotOp : Top_ComputeOp<"LogicalNot"> {
  let summary = "The opposite of a boolean";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_MishOp : Top_ComputeOp<"Mish"> {
  let summary = "x * tanh(ln(1 + exp(x)))";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_NegOp : Top_ComputeOp<"Neg"> {
  let summary = "The negative";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ReciprocalOp : Top_ComputeOp<"Reciprocal"> {
  let summary = "One divided by an element";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_RoundOp : Top_ComputeOp<"Round"> {
  let summary = "The nearest integer, ties to the even one";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_RsqrtOp : Top_ComputeOp<"Rsqrt"> {
  let summary = "One divided by the square root";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SiLUOp : Top_ComputeOp<"SiLU"> {
  let summary = "x / (1 + exp(-x))";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SignOp : Top_ComputeOp<"Sign"> {
  let summary = "-1, 0 or 1";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SinOp : Top_ComputeOp<"Sin"> {
  let summary = "The sine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SinhOp : Top_ComputeOp<"Sinh"> {
  let summary = "The hyperbolic sine";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SoftplusOp : Top_ComputeOp<"Softplus"> {
  let summary = "ln(1 + exp(x))";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SoftsignOp : Top_ComputeOp<"Softsign"> {
  let summary = "x / (1 + |x|)";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_SqrtOp : Top_ComputeOp<"Sqrt"> {
  let summary = "The square root";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_TanOp : Top_ComputeOp<"Tan"> {
  let summary = "The tangent";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_TanhOp : Top_ComputeOp<"Tanh"> {
  let summary = "The hyperbolic tangent";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ReluOp : Top_ComputeOp<"Relu"> {
  let summary = "max(0, x), and at most a limit";
  let arguments = (ins AnyTensor:$input,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_LeakyReluOp : Top_ComputeOp<"LeakyRelu"> {
  let summary = "x, or alpha * x where x is negative";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_EluOp : Top_ComputeOp<"Elu"> {
  let summary = "x, or alpha * (exp(x) - 1) where x is negative";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"1.0">:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_CeluOp : Top_ComputeOp<"Celu"> {
  let summary = "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"1.0">:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_SeluOp : Top_ComputeOp<"Selu"> {
  let summary = "gamma * x, or gamma * alpha * (exp(x) - 1) where x is negative";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"1.6732632423543772">:$alpha,
                       Top_DefaultF64<"1.0507009873554805">:$gamma);
  let results = (outs AnyTensor:$output);
}

def Top_ThresholdedReluOp : Top_ComputeOp<"ThresholdedRelu"> {
  let summary = "x where it is above alpha, else 0";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"1.0">:$alpha);
  let results = (outs AnyTensor:$output);
}

def Top_ShrinkOp : Top_ComputeOp<"Shrink"> {
  let summary = "Moves an element towards zero by a bias, to zero within lambd of it";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"0.0">:$bias,
                       Top_DefaultF64<"0.5">:$lambd);
  let results = (outs AnyTensor:$output);
}

def Top_HardSigmoidOp : Top_ComputeOp<"HardSigmoid"> {
  let summary = "max(0, min(1, alpha * x + beta))";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"0.2">:$alpha,
                       Top_DefaultF64<"0.5">:$beta);
  let results = (outs AnyTensor:$output);
}

def Top_SigmoidOp : Top_ComputeOp<"Sigmoid"> {
  let summary = "scale / (1 + exp(-x)) + bias";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"1.0">:$scale,
                       Top_DefaultF64<"0.0">:$bias,
                       Top_False:$log);
  let results = (outs AnyTensor:$output);
}

def Top_SwishOp : Top_ComputeOp<"Swish"> {
  let summary = "x / (1 + exp(-beta * x))";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultF64<"1.0">:$beta);
  let results = (outs AnyTensor:$output);
}

def Top_GELUOp : Top_ComputeOp<"GELU"> {
  let summary = "x times the normal distribution function of x";
  let arguments = (ins AnyTensor:$input,
                       DefaultValuedStrAttr<StrAttr, "none">:$approx_mode);
  let results = (outs AnyTensor:$output);
}

def Top_IsInfOp : Top_ComputeOp<"IsInf"> {
  let summary = "Whether an element is infinite";
  let arguments = (ins AnyTensor:$input,
                       Top_True:$detect_negative,
                       Top_True:$detect_positive);
  let results = (outs AnyTensor:$output);
}

def Top_ClipOp : Top_ComputeOp<"Clip"> {
  let summary = "Limits elements to a range";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$min,
                       F64Attr:$max);
  let results = (outs AnyTensor:$output);
}

def Top_CastOp : Top_ComputeOp<"Cast"> {
  let summary = "The element in another type";
  let arguments = (ins AnyTensor:$input,
                       TypeAttr:$to,
                       Top_True:$saturate);
  let results = (outs AnyTensor:$output);
}

def Top_CopyOp : Top_ComputeOp<"Copy"> {
  let summary = "The same tensor";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ClipTensorOp : Top_ComputeOp<"ClipTensor"> {
  let summary = "Limits elements to a range that tensors give";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$min,
                       Top_OptionalTensor:$max);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_UNARYOPS
