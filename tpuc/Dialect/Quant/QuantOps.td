//===- QuantOps.td - The casts of the quant dialect -*- tablegen -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTOPS
#define TPUC_DIALECT_QUANT_QUANTOPS

include "tpuc/Dialect/Quant/QuantBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Quant_CastOp<string mnemonic> : Op<Quant_Dialect, mnemonic, [Pure]> {
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Quant_DequantizeCastOp : Quant_CastOp<"dcast"> {
  let summary = "Dequantize: from a quantized value to the float it expresses";
  let description = [{
    ```
    stored = reinterpret(input, storage)
    result = (float(stored) - float(zeroPoint)) * scale
    ```

    Every step is rounded to the expressed type. Per axis, each element uses the scale and zero
    point of its channel.

    The verifier requires that

    1. `input` is a scalar or tensor of type `!quant.uniform`;
    2. the result is a floating-point scalar or tensor;
    3. the result's float type is the expressed type of the input;
    4. both are scalars, both ranked tensors of the same shape (static and dynamic sizes alike),
       or both unranked tensors;
    5. a per-axis type obeys the integrity rules of the dialect.

    Canonicalization: `dcast(qcast(x))` is `x` if the types agree. The rounding of the pair is
    lost on purpose: the value that was quantized is the better one.

    Example:

    ```mlir
    func.func @dcast(%s: !quant.uniform<i8:f32, 2.0>, %r: tensor<?x!quant.uniform<i8:f32, 2.0>>,
                     %u: tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>) {
      %0 = quant.dcast %s : !quant.uniform<i8:f32, 2.0> to f32
      %1 = quant.dcast %r : tensor<?x!quant.uniform<i8:f32, 2.0>> to tensor<?xf32>
      %2 = quant.dcast %u : tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>> to tensor<*xf32>
      return
    }
    ```
  }];
  let arguments = (ins Quant_UniformValue:$input);
  let results = (outs Quant_FloatValue:$result);
}

def Quant_QuantizeCastOp : Quant_CastOp<"qcast"> {
  let summary = "Quantize: from a float to a quantized value";
  let description = [{
    ```
    stored  = integer(input / scale + float(zeroPoint))
    clamped = min(max(stored, storageMin), storageMax)
    result  = reinterpret(clamped, quantized)
    ```

    The division and the sum are rounded to the expressed type. `integer` rounds toward zero; what
    it makes of NaN and of numbers outside the storage type (not: outside the storage bounds) is
    undefined. `--lower-quant-ops=saturate` defines both: see the pass. Per axis, each element uses
    the scale and zero point of its channel.

    The verifier requires that

    1. `input` is a floating-point scalar or tensor;
    2. the result is a scalar or tensor of type `!quant.uniform`;
    3. the input's float type is the expressed type of the result;
    4. both are scalars, both ranked tensors of the same shape (static and dynamic sizes alike),
       or both unranked tensors;
    5. a per-axis type obeys the integrity rules of the dialect.

    Canonicalization: `qcast(dcast(x))` is `x` if the types agree.

    Example:

    ```mlir
    func.func @qcast(%s: f32, %r: tensor<?xf32>, %u: tensor<*xf32>) {
      %0 = quant.qcast %s : f32 to !quant.uniform<i8:f32, 2.0>
      %1 = quant.qcast %r : tensor<?xf32> to tensor<?x!quant.uniform<i8:f32, 2.0>>
      %2 = quant.qcast %u : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>
      return
    }
    ```
  }];
  let arguments = (ins Quant_FloatValue:$input);
  let results = (outs Quant_UniformValue:$result);
}

def Quant_StorageCastOp : Quant_CastOp<"scast"> {
  let summary = "Reinterpret: between a quantized value and its storage integer";
  let description = [{
    The bits stay as they are, and no pass lowers the op: it holds the IR together between passes
    that take quantized types away at different places, and pairs of it cancel in the end. That is
    `builtin.unrealized_conversion_cast`, restricted to these types.

    The verifier requires that

    1. `input` and result are scalars or tensors of a signless integer or `!quant.uniform` type;
    2. one of them is an integer, the other quantized;
    3. both are scalars, both ranked tensors of the same shape (static and dynamic sizes alike),
       or both unranked tensors;
    4. the integer is as wide as the storage type;
    5. a per-axis type obeys the integrity rules of the dialect.

    Canonicalization: `scast(scast(x))` is `x` if the types agree.

    Example:

    ```mlir
    func.func @scast(%s: !quant.uniform<i8:f32, 2.0>, %r: tensor<?x!quant.uniform<u8:f32, 2.0>>,
                     %u: tensor<*xi8>) {
      %0 = quant.scast %s : !quant.uniform<i8:f32, 2.0> to i8
      %1 = quant.scast %r : tensor<?x!quant.uniform<u8:f32, 2.0>> to tensor<?xi8>
      %2 = quant.scast %u : tensor<*xi8> to tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0}>>
      return
    }
    ```
  }];
  let arguments = (ins Quant_StorageValue:$input);
  let results = (outs Quant_StorageValue:$result);
}

#endif // TPUC_DIALECT_QUANT_QUANTOPS
