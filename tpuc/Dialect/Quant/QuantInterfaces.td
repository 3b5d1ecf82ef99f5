//===- QuantInterfaces.td - What an op says about its quantized forms -*- tablegen -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTINTERFACES
#define TPUC_DIALECT_QUANT_QUANTINTERFACES

include "mlir/IR/OpBase.td"

def QuantizableOpInterface : OpInterface<"QuantizableOpInterface"> {
  let cppNamespace = "::tpuc::quant";
  let description = [{
    An op that computes the same function on floats and on quantized values, and therefore may be
    computed on floats where nothing computes it on integers: `--quant-fallback` then surrounds it
    with `quant.dcast` and `quant.qcast`. Implemented by the op or attached from outside.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the op, with the types that it has, will be computed on integers. Asked only when an
      operand or result is of type `!quant.uniform`.
    }], "bool", "hasIntegerForm", (ins), [{}], [{ return false; }]>
  ];
}

#endif // TPUC_DIALECT_QUANT_QUANTINTERFACES
