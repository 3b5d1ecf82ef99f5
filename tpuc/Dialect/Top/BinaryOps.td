//===- BinaryOps.td - Element by element, several operands -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_BINARYOPS
#define TPUC_DIALECT_TOP_BINARYOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_AddOp : Top_ComputeOp<"Add"> {
  let summary = "Sum of tensors, each with a coefficient";
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       OptionalAttr<F64ArrayAttr>:$coeff);
  let results = (outs AnyTensor:$output);
}

def Top_SubOp : Top_ComputeOp<"Sub"> {
  let summary = "Difference of tensors";
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       OptionalAttr<F64ArrayAttr>:$coeff);
  let results = (outs AnyTensor:$output);
}

def Top_MulOp : Top_ComputeOp<"Mul"> {
  let summary = "Product of tensors";
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_DefaultI64<1>:$multiplier,
                       Top_DefaultI64<0>:$rshift);
  let results = (outs AnyTensor:$output);
}

def Top_DivOp : Top_ComputeOp<"Div"> {
  let summary = "Quotient of tensors";
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_DefaultI64<1>:$multiplier,
                       Top_DefaultI64<0>:$rshift);
  let results = (outs AnyTensor:$output);
}

def Top_MinOp : Top_ComputeOp<"Min"> {
  let summary = "Smallest of tensors";
  let arguments = (ins Variadic<AnyTensor>:$inputs);
  let results = (outs AnyTensor:$output);
}

def Top_MaxOp : Top_ComputeOp<"Max"> {
  let summary = "Largest of tensors";
  let arguments = (ins Variadic<AnyTensor>:$inputs);
  let results = (outs AnyTensor:$output);
}

def Top_MeanOp : Top_ComputeOp<"Mean"> {
  let summary = "Mean of tensors";
  let arguments = (ins Variadic<AnyTensor>:$inputs);
  let results = (outs AnyTensor:$output);
}

def Top_PowOp : Top_ComputeOp<"Pow"> {
  let summary = "Power of tensors";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$exponent);
  let results = (outs AnyTensor:$output);
}

def Top_ModOp : Top_ComputeOp<"Mod"> {
  let summary = "Remainder of a division";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$divisor,
                       Top_False:$fmod);
  let results = (outs AnyTensor:$output);
}

def Top_AddConstOp : Top_ComputeOp<"AddConst"> {
  let summary = "Adds a constant";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_SubConstOp : Top_ComputeOp<"SubConst"> {
  let summary = "Subtracts a constant, or from it";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_False:$is_reverse);
  let results = (outs AnyTensor:$output);
}

def Top_MulConstOp : Top_ComputeOp<"MulConst"> {
  let summary = "Multiplies with a constant";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_DivConstOp : Top_ComputeOp<"DivConst"> {
  let summary = "Divides by a constant, or it";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit,
                       Top_False:$is_reverse);
  let results = (outs AnyTensor:$output);
}

def Top_MinConstOp : Top_ComputeOp<"MinConst"> {
  let summary = "Smaller of an element and a constant";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_MaxConstOp : Top_ComputeOp<"MaxConst"> {
  let summary = "Larger of an element and a constant";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_PowConstOp : Top_ComputeOp<"PowConst"> {
  let summary = "Raises to a constant power";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_Pow2Op : Top_ComputeOp<"Pow2"> {
  let summary = "Raises a constant to the power of an element";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val);
  let results = (outs AnyTensor:$output);
}

def Top_CompareOp : Top_ComputeOp<"Compare"> {
  let summary = "Compares tensors";
  let arguments = (ins AnyTensor:$lhs,
                       AnyTensor:$rhs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
}

def Top_CompareConstOp : Top_ComputeOp<"CompareConst"> {
  let summary = "Compares with a constant";
  let arguments = (ins AnyTensor:$input,
                       F64Attr:$const_val,
                       StrAttr:$mode,
                       Top_False:$inversed);
  let results = (outs AnyTensor:$output);
}

def Top_LogicalBinaryOp : Top_ComputeOp<"LogicalBinary"> {
  let summary = "And, or, exclusive or of booleans";
  let arguments = (ins AnyTensor:$lhs,
                       AnyTensor:$rhs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
}

def Top_BitwiseBinaryOp : Top_ComputeOp<"BitwiseBinary"> {
  let summary = "And, or, exclusive or of integers bit by bit";
  let arguments = (ins AnyTensor:$lhs,
                       AnyTensor:$rhs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
}

def Top_BitShiftOp : Top_ComputeOp<"BitShift"> {
  let summary = "Shifts unsigned integers";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$amount,
                       StrAttr:$direction);
  let results = (outs AnyTensor:$output);
}

def Top_WhereOp : Top_ComputeOp<"Where"> {
  let summary = "Chooses between two tensors by a condition";
  let arguments = (ins AnyTensor:$cond,
                       AnyTensor:$x,
                       AnyTensor:$y);
  let results = (outs AnyTensor:$output);
}

def Top_PReluOp : Top_ComputeOp<"PRelu"> {
  let summary = "Leaky ReLU with a learned slope";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$slope);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_BINARYOPS
