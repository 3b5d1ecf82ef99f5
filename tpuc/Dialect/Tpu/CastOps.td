//===- CastOps.td - Changes of the element type -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_CASTOPS
#define TPUC_DIALECT_TPU_CASTOPS

include "tpuc/Dialect/Tpu/TpuBase.td"

def Tpu_CastOp : Tpu_Op<"Cast", !listconcat(
    [Pure, SameOperandsAndResultShape, Top_Pointwise, Tpu_PixelRowInterface,
     Tpu_StoredRowsInterface], Tpu_LayerInterfaces)> {
  let summary = "Stores a tensor in another type";
  let description = [{
    Each element is the number that the input element means, as the output type stores it. A stored
    integer q of scale S and zero point Z means `f32(q - Z) * f32(S)`, rounded to f32. Numbers become

    * floats by rounding to the nearest, ties to even, infinite beyond the range;
    * a `!quant.uniform` type by `saturate(round(f32(x) * f32(1 / S)) + Z)`: the product is rounded
      to f32, then to an integer, halves away from zero; NaN becomes Z;
    * plain integers by cutting off the fraction and saturating, NaN becomes 0; plain integers by
      their low bits.

    Example:

    ```mlir
    %1 = "tpu.Cast"(%0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16> loc("data_f16")
    ```
  }];
  let arguments = !con((ins AnyTensor:$input), Tpu_PixelRowFacts, Tpu_StoredRowsFacts,
                       Tpu_LayerFacts);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tpu_RoundToOp : Tpu_Op<"RoundTo", [Pure, AllTypesMatch<["input", "output"]>, Top_Pointwise]> {
  let summary = "Rounds elements to what another type can hold";
  let description = [{
    Each f32 element as `type` (f16 or bf16) would store it: to the nearest, ties to even, beyond
    its range infinite. The interpreter computes 16-bit networks in f32 with these.

    Example:

    ```mlir
    %1 = "tpu.RoundTo"(%0) {type = f16} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input, TypeAttr:$type);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Tpu_RequantIntOp : Tpu_Op<"RequantInt", !listconcat(
    [Pure, SameOperandsAndResultShape, Tpu_RequantTrait, Top_Pointwise, Tpu_StoredRowsInterface],
    Tpu_LayerInterfaces)> {
  let summary = "Stored integers in another scale";
  let description = [{
    `input` less its zero point is requantized. With several multipliers and shifts, entry c serves
    channel c (dimension 1). An input of a plain integer type has the zero point 0.

    Example:

    ```mlir
    %1 = "tpu.RequantInt"(%0) {multiplier = [1073741824], rshift = [31]} : (tensor<1x3x8x8x!quant.uniform<i8:f32, 0.1>>) -> tensor<1x3x8x8x!quant.uniform<i8:f32, 0.2>>
    ```
  }];
  let arguments = !con((ins AnyTensor:$input), Tpu_Requantization, Tpu_StoredRowsFacts,
                       Tpu_LayerFacts);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tpu_LutOp : Tpu_Op<"Lut", !listconcat([Pure, Top_Pointwise, Tpu_StoredRowsInterface],
                                         Tpu_LayerInterfaces)> {
  let summary = "A function of 8-bit integers by its table";
  let description = [{
    Each element is the entry of `table` (256 integers) for the stored input: entry q of an unsigned
    one, entry q + 256 for a signed q below 0, as the stored byte counts.

    A device may compute the entries instead of looking them up. `steps` has ten numbers for each
    step of that:

        operation, left, right, constant, chosen, shift, rounding, addend, addend shift, type

    `left`, `right` and `addend` name values: 0 is the input, i the result of the i-th step. A
    `right` of -1 is `constant`, an `addend` of -1 is none. The chip says what its operations,
    roundings and types are.

    Example:

    ```mlir
    %1 = "tpu.Lut"(%0, %table) : (tensor<1x3x8x8x!quant.uniform<i8:f32, 0.1>>, tensor<256xi8>) -> tensor<1x3x8x8x!quant.uniform<i8:f32, 0.2>>
    ```
  }];
  let arguments = !con((ins AnyTensor:$input,
                            AnyRankedTensor:$table,
                            OptionalAttr<I64ArrayAttr>:$steps),
                       Tpu_StoredRowsFacts, Tpu_LayerFacts);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TPU_CASTOPS
