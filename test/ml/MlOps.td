//===- MlOps.td - The RFC's hypothetical ml dialect, for tests -*- tablegen -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TEST_ML_MLOPS
#define TPUC_TEST_ML_MLOPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Pass/PassBase.td"
include "tpuc/Dialect/Quant/QuantInterfaces.td"

def Ml_Dialect : Dialect {
  let name = "ml";
  let cppNamespace = "::tpuc::test::ml";
  let summary = "Element-wise ops on floats and quantized values";
}

class Ml_BinaryOp<string mnemonic, list<Trait> methods = [
    DeclareOpInterfaceMethods<QuantizableOpInterface>]>
    : Op<Ml_Dialect, mnemonic, !listconcat([Pure], methods)> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
}

// The sum of values of one per-layer type has an integer form; nothing else has.
def Ml_AddOp : Ml_BinaryOp<"add",
    [DeclareOpInterfaceMethods<QuantizableOpInterface, ["hasIntegerForm"]>]>;
def Ml_MulOp : Ml_BinaryOp<"mul">;
def Ml_DivOp : Ml_BinaryOp<"div">;
def Ml_ModOp : Ml_BinaryOp<"mod">;

def ConvertMlToArith : Pass<"convert-ml-to-arith"> {
  let summary = "Convert ml ops on floats, and those with an integer form, to arith";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tpuc::quant::QuantDialect"];
}

#endif // TPUC_TEST_ML_MLOPS
