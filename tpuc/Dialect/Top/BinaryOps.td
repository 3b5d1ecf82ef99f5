//===- BinaryOps.td - Element by element, several operands -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_BINARYOPS
#define TPUC_DIALECT_TOP_BINARYOPS

include "tpuc/Dialect/Top/ElementwiseBase.td"

def Top_AddOp : Top_ElementwiseOp<"Add", "inferBroadcast",
    [Top_KeepsCommonSign, Top_CombinesIntegers]> {
  let summary = "Sum of tensors, each with a coefficient";
  let description = [{
    `output = coeff[0] * inputs[0] + coeff[1] * inputs[1] + ...`; without `coeff`, all are 1.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.
    The operands have one element type and are broadcast as numpy does. Integers wrap around.

    Example:

    ```mlir
    %2 = "top.Add"(%0, %1) {do_relu = false} :
         (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       OptionalAttr<F64ArrayAttr>:$coeff);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_SubOp : Top_ElementwiseOp<"Sub", "inferBroadcast", [Top_CombinesIntegers]> {
  let summary = "Difference of tensors";
  let description = [{
    `output = coeff[0] * inputs[0] - coeff[1] * inputs[1] - ...`; without `coeff`, all are 1.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.
    The operands have one element type and are broadcast as numpy does. Integers wrap around.

    Example:

    ```mlir
    %2 = "top.Sub"(%0, %1) {do_relu = false} :
         (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       OptionalAttr<F64ArrayAttr>:$coeff);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MulOp : Top_ElementwiseOp<"Mul", "inferBroadcast",
    [Top_KeepsCommonSign, Top_CombinesIntegers]> {
  let summary = "Product of tensors";
  let description = [{
    `output = inputs[0] * inputs[1] * ... * multiplier / 2^rshift`; integers take no `multiplier`
    and `rshift`.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.
    The operands have one element type and are broadcast as numpy does. Integers wrap around.

    Example:

    ```mlir
    %2 = "top.Mul"(%0, %1) {do_relu = false, multiplier = 1, relu_limit = -1.0 : f64, rshift = 0} :
         (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_I32<Top_DefaultI64<1>>:$multiplier,
                       Top_Between<Top_DefaultI64<0>, -31, 63>:$rshift);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DivOp : Top_ElementwiseOp<"Div", "inferBroadcast"> {
  let summary = "Quotient of tensors";
  let description = [{
    `output = inputs[0] / inputs[1] / ... * multiplier / 2^rshift`; integers take no `multiplier`
    and `rshift`, are truncated, and give 0 where the divisor is 0.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.
    The operands have one element type and are broadcast as numpy does.

    Example:

    ```mlir
    %2 = "top.Div"(%0, %1) {do_relu = false, multiplier = 1, relu_limit = -1.0 : f64, rshift = 0} :
         (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_I32<Top_DefaultI64<1>>:$multiplier,
                       Top_Between<Top_DefaultI64<0>, -31, 63>:$rshift);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MinOp : Top_ElementwiseOp<"Min", "inferBroadcast",
    [Top_MovesElements, Top_CombinesIntegers]> {
  let summary = "Smallest of tensors";
  let description = [{
    `output = min(inputs[0], inputs[1], ...)`, NaN where one is.
    The operands have one element type and are broadcast as numpy does.

    Example:

    ```mlir
    %2 = "top.Min"(%0, %1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MaxOp : Top_ElementwiseOp<"Max", "inferBroadcast",
    [Top_MovesElements, Top_KeepsCommonSign, Top_CombinesIntegers]> {
  let summary = "Largest of tensors";
  let description = [{
    `output = max(inputs[0], inputs[1], ...)`, NaN where one is.
    The operands have one element type and are broadcast as numpy does.

    Example:

    ```mlir
    %2 = "top.Max"(%0, %1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MeanOp : Top_ElementwiseOp<"Mean", "inferBroadcast"> {
  let summary = "Mean of tensors";
  let description = [{
    `output = (inputs[0] + inputs[1] + ...) / n` for n operands; integers are truncated.
    The operands have one element type and are broadcast as numpy does.

    Example:

    ```mlir
    %2 = "top.Mean"(%0, %1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Variadic<Top_NumberTensor>:$inputs);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_PowOp : Top_ElementwiseOp<"Pow", "inferBroadcast"> {
  let summary = "Power of tensors";
  let description = [{
    `output = input ^ exponent`, broadcast, with the element type of `input`; floats become integers
    by truncation. Of integers the result is exact modulo 2^n; a negative exponent truncates: 1, -1
    or 0.

    Example:

    ```mlir
    %2 = "top.Pow"(%0, %1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       Top_NumberTensor:$exponent);
  let results = (outs AnyTensor:$output);
}

def Top_ModOp : Top_ElementwiseOp<"Mod", "inferBroadcast"> {
  let summary = "Remainder of a division";
  let description = [{
    `output = input - divisor * floor(input / divisor)`, which has the sign of `divisor`; with
    `fmod`, `input - divisor * trunc(input / divisor)`, which has the sign of `input`. Integers give
    0 where the divisor is 0.
    The operands have one element type and are broadcast as numpy does.

    Example:

    ```mlir
    %2 = "top.Mod"(%0, %1) {fmod = true} :
         (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       Top_NumberTensor:$divisor,
                       Top_False:$fmod);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_AddConstOp : Top_ElementwiseOp<"AddConst", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Adds a constant";
  let description = [{
    `output = input + const_val`. `const_val` becomes the element type first, truncated for integers.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.

    Example:

    ```mlir
    %1 = "top.AddConst"(%0) {const_val = 2.0 : f64} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_SubConstOp : Top_ElementwiseOp<"SubConst", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Subtracts a constant, or from it";
  let description = [{
    `output = input - const_val`, or `const_val - input` with `is_reverse`.
    `const_val` becomes the element type first, truncated for integers.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.

    Example:

    ```mlir
    %1 = "top.SubConst"(%0) {const_val = 1.0 : f64, is_reverse = true} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_False:$is_reverse);
  let results = (outs AnyTensor:$output);
}

def Top_MulConstOp : Top_ElementwiseOp<"MulConst", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Multiplies with a constant";
  let description = [{
    `output = input * const_val`. `const_val` becomes the element type first, truncated for integers.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.

    Example:

    ```mlir
    %1 = "top.MulConst"(%0) {const_val = 2.0 : f64, do_relu = false, relu_limit = -1.0 : f64} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_DivConstOp : Top_ElementwiseOp<"DivConst", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Divides by a constant, or it";
  let description = [{
    `output = input / const_val`, or `const_val / input` with `is_reverse`. `const_val` becomes the element type first, truncated for integers.
    Integers are truncated, and give 0 where the divisor is 0.
    With `do_relu`, `max(0, ...)` of that, at most `relu_limit` where it is not negative.

    Example:

    ```mlir
    %1 = "top.DivConst"(%0) {const_val = 1.0 : f64, is_reverse = true} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_False:$is_reverse);
  let results = (outs AnyTensor:$output);
}

def Top_MinConstOp : Top_ElementwiseOp<"MinConst", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Smaller of an element and a constant";
  let description = [{
    `output = min(input, const_val)`, NaN stays. `const_val` becomes the element type first, truncated for integers.

    Example:

    ```mlir
    %1 = "top.MinConst"(%0) {const_val = 6.0 : f64} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_MaxConstOp : Top_ElementwiseOp<"MaxConst", "inferLikeFirst", [Top_Tabulated]> {
  let summary = "Larger of an element and a constant";
  let description = [{
    `output = max(input, const_val)`, NaN stays. `const_val` becomes the element type first, truncated for integers.

    Example:

    ```mlir
    %1 = "top.MaxConst"(%0) {const_val = 0.0 : f64} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_PowConstOp : Top_ElementwiseOp<"PowConst", "inferLikeFirst"> {
  let summary = "Raises to a constant power";
  let description = [{
    `output = input ^ const_val`; integers through f64, truncated, unless `const_val` is an integer.

    Example:

    ```mlir
    %1 = "top.PowConst"(%0) {const_val = 2.0 : f64} :
         (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_Pow2Op : Top_ElementwiseOp<"Pow2", "inferLikeFirst"> {
  let summary = "Raises a constant to the power of an element";
  let description = [{
    `output = const_val ^ input`; integers through f64, truncated, unless `const_val` is an integer.

    Example:

    ```mlir
    %1 = "top.Pow2"(%0) {const_val = 2.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_CompareOp : Top_ElementwiseOp<"Compare", "inferComparison", [Top_CombinesIntegers]> {
  let summary = "Compares tensors";
  let description = [{
    `output = lhs mode rhs`, a bool, broadcast. `mode`: "Equal", "NotEqual", "Less", "LessOrEqual",
    "Greater" or "GreaterOrEqual". With NaN all but "NotEqual" are false.

    Example:

    ```mlir
    %2 = "top.Compare"(%0, %1) {mode = "Less"} :
         (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$lhs,
                       AnyTensor:$rhs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_CompareConstOp : Top_ElementwiseOp<"CompareConst", "inferPredicate",
    [Top_ComputesIntegers]> {
  let summary = "Compares with a constant";
  let description = [{
    `output = input mode const_val`, or `const_val mode input` with `inversed`: a bool. `mode` as in
    `top.Compare`.

    Example:

    ```mlir
    %1 = "top.CompareConst"(%0) {const_val = 0.5 : f64, mode = "Greater"} :
         (tensor<2x3xf32>) -> tensor<2x3xi1> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val,
                       StrAttr:$mode,
                       Top_False:$inversed);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_LogicalBinaryOp : Top_ElementwiseOp<"LogicalBinary", "inferBroadcast"> {
  let summary = "And, or, exclusive or of booleans";
  let description = [{
    `output = lhs mode rhs`, broadcast. `mode`: "And", "Or" or "Xor".

    Example:

    ```mlir
    %2 = "top.LogicalBinary"(%0, %1) {mode = "And"} :
         (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1> loc("y")
    ```
  }];
  let arguments = (ins Top_BoolTensor:$lhs,
                       Top_BoolTensor:$rhs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_BitwiseBinaryOp : Top_ElementwiseOp<"BitwiseBinary", "inferBroadcast"> {
  let summary = "And, or, exclusive or of integers bit by bit";
  let description = [{
    `output = lhs mode rhs`. `mode`: "And", "Or" or "Xor".
    The operands have one element type and are broadcast as numpy does.

    Example:

    ```mlir
    %2 = "top.BitwiseBinary"(%0, %1) {mode = "Xor"} :
         (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32> loc("y")
    ```
  }];
  let arguments = (ins Top_BitsTensor:$lhs,
                       Top_BitsTensor:$rhs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_BitShiftOp : Top_ElementwiseOp<"BitShift", "inferBroadcast"> {
  let summary = "Shifts integers";
  let description = [{
    `output = input * 2^amount` modulo 2^n, or `floor(input / 2^amount)`. `direction`: "LEFT" or
    "RIGHT". An amount that is negative, or n or more, counts as n: what is left is 0, or -1 of a
    negative input that is shifted right. The operands have one element type and are broadcast as
    numpy does.

    Example:

    ```mlir
    %2 = "top.BitShift"(%0, %1) {direction = "LEFT"} :
         (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8> loc("y")
    ```
  }];
  let arguments = (ins Top_IntegerTensor:$input,
                       Top_IntegerTensor:$amount,
                       StrAttr:$direction);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_WhereOp : Top_ElementwiseOp<"Where", "inferWhere", [Top_MovesElements]> {
  let summary = "Chooses between two tensors by a condition";
  let description = [{
    `output = cond ? x : y`, broadcast. `x` and `y` have one element type.

    Example:

    ```mlir
    %3 = "top.Where"(%0, %1, %2) : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
         loc("y")
    ```
  }];
  let arguments = (ins Top_BoolTensor:$cond,
                       AnyTensor:$x,
                       AnyTensor:$y);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_PReluOp : Top_ElementwiseOp<"PRelu", "inferPRelu", [Top_ComputesIntegers]> {
  let summary = "Leaky ReLU with a learned slope";
  let description = [{
    `output = input < 0 ? slope * input : input`; `slope` is broadcast to `input`.

    Example:

    ```mlir
    %2 = "top.PRelu"(%0, %1) :
         (tensor<1x2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x4xf32> loc("y")
    ```
  }];
  let arguments = (ins Top_NumberTensor:$input,
                       Top_NumberTensor:$slope);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_BINARYOPS
