//===- ElementwiseBase.td - What element-wise ops share -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_ELEMENTWISEBASE
#define TPUC_DIALECT_TOP_ELEMENTWISEBASE

include "tpuc/Dialect/Top/TopBase.td"

/// Element types of other dialects stand for numbers of some kind: calibrated or quantized ones.
defvar Top_IsForeign = CPred<"$_self.getDialect().getNamespace() != \"builtin\"">;

def Top_FloatElement : Type<Or<[CPred<"::llvm::isa<::mlir::FloatType>($_self)">, Top_IsForeign]>,
                            "floating-point">;
def Top_IntegerElement
    : Type<Or<[CPred<"::llvm::isa<::mlir::IntegerType>($_self) && !$_self.isInteger(1)">,
               Top_IsForeign]>, "integer">;
def Top_BoolElement : Type<CPred<"$_self.isInteger(1)">, "bool (i1)">;
def Top_NumberElement
    : Type<Or<[Top_FloatElement.predicate, Top_IntegerElement.predicate]>, "number">;

def Top_FloatTensor : TensorOf<[Top_FloatElement]>;
def Top_IntegerTensor : TensorOf<[Top_IntegerElement]>;
def Top_BoolTensor : TensorOf<[Top_BoolElement]>;
def Top_NumberTensor : TensorOf<[Top_NumberElement]>;
def Top_BitsTensor : TensorOf<[Top_IntegerElement, Top_BoolElement]>;

/// How the result of an element-wise op follows from its operands: see ElementwiseShape.h.
class Top_ElementwiseOp<string mnemonic, string inference, list<Trait> traits = []>
    : Top_ComputeOp<mnemonic, !listconcat([Top_Pointwise], traits)> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferShape() {
      return ::tpuc::top::}] # inference # [{(*this);
    }
    int64_t $cppClass::flops() { return ::tpuc::top::elementwiseFlops(*this); }
  }];
}

#endif // TPUC_DIALECT_TOP_ELEMENTWISEBASE
