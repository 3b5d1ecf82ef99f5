//===- TopInterfaces.td - What every op of the top dialect can say of itself -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_TOPINTERFACES
#define TPUC_DIALECT_TOP_TOPINTERFACES

include "mlir/IR/OpBase.td"

def Top_InferShapeInterface : OpInterface<"InferShapeInterface"> {
  let cppNamespace = "::tpuc::top";
  let description = [{
    The types of an op's results, from the types of its operands and its attributes.
  }];
  let methods = [InterfaceMethod<[{
      Sets the types of the results: element type and shape, as exact as the operands allow.
      Extents that depend on values are dynamic; a rank that does makes the type unranked.
      Attributes that are derived (explicit pads from `auto_pad`) are set on the way.
      Emits an error that names the layer, what was found and what was expected, when the operands
      do not fit.
    }], "::llvm::LogicalResult", "inferShape">];
}

def Top_FlopsInterface : OpInterface<"FlopsInterface"> {
  let cppNamespace = "::tpuc::top";
  let description = [{
    How much an op computes: a multiplication and an addition count 1 each, a bias 1 per output
    (TPU-MLIR manual, figure 16.5).
  }];
  let methods = [InterfaceMethod<[{
      The operations of one run, 0 where a shape that matters is dynamic.
    }], "int64_t", "flops">];
}

def Top_IntegerFormInterface : OpInterface<"IntegerFormInterface"> {
  let cppNamespace = "::tpuc::top";
  let description = [{
    How an op is computed on stored integers. Ops without this interface have no such form, unless
    a table stands for them (the trait Tabulated).
  }];
  let methods = [InterfaceMethod<[{
      The form that the op has with its operands and attributes; None where these allow none.
    }], "::tpuc::IntegerForm", "integerForm", (ins), "", [{
      return ::tpuc::top::formOfMover($_op);
    }]>, InterfaceMethod<[{
      The tensors of numbers that the form reads as stored integers: no weights that it packs, no
      indices or shapes.
    }], "::llvm::SmallVector<::mlir::OpOperand *>", "integerOperands", (ins), "", [{
      return ::tpuc::top::firstOperand($_op);
    }]>];
}

#endif // TPUC_DIALECT_TOP_TOPINTERFACES
