//===- OpTraits.td - What is known of ops of both dialects -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes ask an op for its traits instead of comparing it with lists of ops. A trait of an op of
// the top dialect is one of its mirrored op in the tpu dialect, too (see Tpu_MirroredOp).
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_OPTRAITS
#define TPUC_DIALECT_TOP_OPTRAITS

include "mlir/IR/OpBase.td"
include "tpuc/Dialect/Top/TopInterfaces.td"

/// A fact about what an op means, which holds on stored values as well. OpTraits.h says what each
/// of them promises.
class Top_OpTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::tpuc::traits";
}

// The form of the result.
def Top_Structural : Top_OpTrait<"Structural">;
def Top_Parameter : Top_OpTrait<"Parameter">;
def Top_ViewLike : Top_OpTrait<"ViewLike">;
def Top_Pointwise : Top_OpTrait<"Pointwise">;
def Top_MovesElements : Top_OpTrait<"MovesElements">;
def Top_Product : Top_OpTrait<"Product">;

// The elements of the result.
def Top_NonNegative : Top_OpTrait<"NonNegative">;
def Top_KeepsSign : Top_OpTrait<"KeepsSign">;
def Top_KeepsCommonSign : Top_OpTrait<"KeepsCommonSign">;

// Number formats.
def Top_ComputesInF32 : Top_OpTrait<"ComputesInF32">;
def Top_ReadsElementTypes : Top_OpTrait<"ReadsElementTypes">;
def Top_Tabulated : Top_OpTrait<"Tabulated">;

// Rewriting.
def Top_FusibleActivation : Top_OpTrait<"FusibleActivation">;

/// Forms on stored integers: an op that moves elements of its first operand, one that says itself
/// what its form is, and one that says of which operands it reads stored integers, too.
defvar Top_MovesIntegers = Top_IntegerFormInterface;
defvar Top_ComputesIntegers = DeclareOpInterfaceMethods<Top_IntegerFormInterface, ["integerForm"]>;
defvar Top_CombinesIntegers =
    DeclareOpInterfaceMethods<Top_IntegerFormInterface, ["integerForm", "integerOperands"]>;

#endif // TPUC_DIALECT_TOP_OPTRAITS
