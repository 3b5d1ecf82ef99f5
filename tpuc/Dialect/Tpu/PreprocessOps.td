//===- PreprocessOps.td - Pictures as inputs -*- tablegen -*- ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_PREPROCESSOPS
#define TPUC_DIALECT_TPU_PREPROCESSOPS

include "tpuc/Dialect/Top/PreprocessOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

def Tpu_PreprocessOp : Tpu_MirroredOp<Top_PreprocessOp>;

def Tpu_ScaleLutOp : Tpu_Op<"ScaleLut", !listconcat([Pure],
                                                   Tpu_LayerInterfaces)> {
  let summary = "A function of 8-bit integers for each channel by its table";
  let description = [{
    Each element of `input` [N, C, ...] is replaced by an entry of row c of `table` (C rows of 256
    integers), c being its channel: entry q of a stored q of unsigned integers, entry q + 256 of a
    signed q below 0. This is how a picture of bytes is normalized and quantized at once.

    Example:

    ```mlir
    %1 = "tpu.ScaleLut"(%0, %table) : (tensor<1x3x8x8x!quant.uniform<u8:f32, 1.0>>, tensor<3x256xi8>) -> tensor<1x3x8x8x!quant.uniform<i8:f32, 0.02>>
    ```
  }];
  let arguments = !con((ins AnyTensor:$input, AnyRankedTensor:$table), Tpu_LayerFacts);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TPU_PREPROCESSOPS
