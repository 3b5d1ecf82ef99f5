//===- TpuBase.td - The tpu dialect and what its ops share -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_TPUBASE
#define TPUC_DIALECT_TPU_TPUBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Tpu_Dialect : Dialect {
  let name = "tpu";
  let cppNamespace = "::tpuc::tpu";
  let summary = "A network as a device computes it: storage types, no framework";
  let description = [{
    Tpu ops state what a tensor processor computes. Every value has the type in which it is stored
    (f32, f16, bf16, 8- to 32-bit integers or `!quant.uniform`), and every change of type is an op
    of its own.
  }];
  // The manual's form: attributes in {...}, not in <{...}>.
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    /// Registers the ops of one family; each family's generated code calls it.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }
  }];
}

class Tpu_Op<string mnemonic, list<Trait> traits = []> : Op<Tpu_Dialect, mnemonic, traits>;

/// An operand that may be left out.
def Tpu_OptionalTensor : AnyTypeOf<[AnyTensor, NoneType]>;

#endif // TPUC_DIALECT_TPU_TPUBASE
