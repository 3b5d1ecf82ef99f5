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
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tpu_CastOp : Tpu_Op<"Cast", [Pure, SameOperandsAndResultShape]> {
  let summary = "Stores a tensor in another type";
  let description = [{
    Each element is the value that the input element means, as the output type stores it: floats
    are rounded to the nearest (ties to even), and a `!quant.uniform` type of scale S and zero
    point Z stores saturate(round(x / S) + Z).

    Example:

    ```mlir
    %1 = "tpu.Cast"(%0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16> loc("data_f16")
    ```
  }];
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TPU_CASTOPS
