//===- CustomOps.td - Ops that users define -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_CUSTOMOPS
#define TPUC_DIALECT_TOP_CUSTOMOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_CustomOp : Top_Op<"Custom", [
    Pure, Top_ComputesInF32, DeclareOpInterfaceMethods<Top_InferShapeInterface>]> {
  let summary = "An operator that a user defines";
  let description = [{
    What `name` means stands in a library of operators. `params` are its parameters: numbers,
    booleans, texts, arrays and dictionaries of them. `param_order` has their names in the order in
    which the user gave them, since a library takes them in that order.

    `output_shapes` has an array of extents for each result. The results have the element type of
    the first input, or f32 where there is no input.

    Nothing here can compute the op without its library: interpreter and code generation name it
    and stop.

    Example:

    ```mlir
    %0 = "top.Custom"(%a) {name = "absadd", output_shapes = [[2, 3]], param_order = ["b_val"], params = {b_val = 1.2 : f64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$params,
                       OptionalAttr<StrArrayAttr>:$param_order,
                       ArrayAttr:$output_shapes);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_CUSTOMOPS
