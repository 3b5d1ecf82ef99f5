//===- OpTraits.h - What is known of ops of both dialects -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about what ops mean, as traits: `op->hasTrait<traits::ViewLike>()`. OpTraits.td gives them
// to ops of the top dialect, from which their mirrored ops in the tpu dialect have them.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_OPTRAITS_H
#define TPUC_DIALECT_TOP_OPTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace tpuc::traits {

/// What a network is made of besides its layers: weights, inputs, operands that are left out.
template <typename Op> struct Structural : mlir::OpTrait::TraitBase<Op, Structural> {};

/// Of these, what is the same in every run: weights, and operands that are left out.
template <typename Op> struct Parameter : mlir::OpTrait::TraitBase<Op, Parameter> {};

/// The result has the elements of the first operand in their order, in other dimensions.
template <typename Op> struct ViewLike : mlir::OpTrait::TraitBase<Op, ViewLike> {};

/// Each element of the result is computed from those in the same place of the operands, which are
/// broadcast.
template <typename Op> struct Pointwise : mlir::OpTrait::TraitBase<Op, Pointwise> {};

/// Each element of the results is one of the operands' elements, whatever the attributes.
template <typename Op> struct MovesElements : mlir::OpTrait::TraitBase<Op, MovesElements> {};

/// A sum of products of the first operand and the second, and a bias as the third.
template <typename Op> struct Product : mlir::OpTrait::TraitBase<Op, Product> {};

/// No element of the result is below 0, whatever the operands and attributes.
template <typename Op> struct NonNegative : mlir::OpTrait::TraitBase<Op, NonNegative> {};

/// No element of the results is below 0 where none of the first operand is. Attributes may make
/// exceptions: padding, interpolation that overshoots, a logarithm of a sum.
template <typename Op> struct KeepsSign : mlir::OpTrait::TraitBase<Op, KeepsSign> {};

/// The same where no element of any operand is below 0. Coefficients make exceptions.
template <typename Op> struct KeepsCommonSign : mlir::OpTrait::TraitBase<Op, KeepsCommonSign> {};

/// 16 bits would make coordinates, indices, counts or sums too coarse.
template <typename Op> struct ComputesInF32 : mlir::OpTrait::TraitBase<Op, ComputesInF32> {};

/// The result depends on the element types of operands or results, not on the values alone, or is
/// rounded between steps.
template <typename Op>
struct ReadsElementTypes : mlir::OpTrait::TraitBase<Op, ReadsElementTypes> {};

/// A function of one number that a table of 256 entries holds well. Attributes may make exceptions.
template <typename Op> struct Tabulated : mlir::OpTrait::TraitBase<Op, Tabulated> {};

/// A pointwise function of one operand that follows layers. Nothing but its attributes tells it
/// from others of its kind, so two of them may become one.
template <typename Op>
struct FusibleActivation : mlir::OpTrait::TraitBase<Op, FusibleActivation> {};

} // namespace tpuc::traits

#endif // TPUC_DIALECT_TOP_OPTRAITS_H
