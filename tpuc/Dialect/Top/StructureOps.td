//===- StructureOps.td - What a network is made of besides its layers -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_STRUCTUREOPS
#define TPUC_DIALECT_TOP_STRUCTUREOPS

include "tpuc/Dialect/Top/TopBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Top_NoneOp : Top_Op<"None", [Pure]> {
  let summary = "An operand that is left out";
  let description = [{
    Stands where an optional operand of another op has no tensor.

    Example:

    ```mlir
    %0 = "top.None"() : () -> none
    ```
  }];
  let results = (outs NoneType:$result);
}

def Top_WeightOp : Top_Op<"Weight", [Pure]> {
  let summary = "A constant tensor of the network";
  let description = [{
    The tensor that the module's weight file (`module.weight_file`, an npz) holds under the name in
    the op's location. The elements are mapped when they are needed, not held in the IR.

    Example:

    ```mlir
    %0 = "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("filter")
    ```
  }];
  let results = (outs AnyRankedTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_STRUCTUREOPS
