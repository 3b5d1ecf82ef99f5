//===- TopBase.td - The top dialect and what its ops share -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_TOPBASE
#define TPUC_DIALECT_TOP_TOPBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Top_Dialect : Dialect {
  let name = "top";
  let cppNamespace = "::tpuc::top";
  let summary = "A trained network as its framework means it, without a chip";
  let description = [{
    Top ops state what a network computes, in the terms of the frameworks that it came from.
    Their names, attributes and textual form are those of the TPU-MLIR manual, chapter 13:
    the generic form, attributes in braces, and the name of the tensor that an op makes as its
    location.

    ```mlir
    %0 = "top.None"() : () -> none
    %1 = "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("filter")
    ```

    Values are ranked or unranked tensors of any element type: plain, `!quant.calibrated` after
    calibration, or `!quant.uniform` for networks that were quantized in training. An operand that
    is left out is the result of a `top.None`.
  }];
  // The manual's form: attributes in {...}, not in <{...}>.
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    /// Registers the ops of one family; each family's generated code calls it.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }
  }];
}

class Top_Op<string mnemonic, list<Trait> traits = []> : Op<Top_Dialect, mnemonic, traits>;

/// An operand that may be left out.
def Top_OptionalTensor : AnyTypeOf<[AnyTensor, NoneType]>;

#endif // TPUC_DIALECT_TOP_TOPBASE
