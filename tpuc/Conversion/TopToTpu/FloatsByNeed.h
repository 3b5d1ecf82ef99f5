//===- FloatsByNeed.h - Layers whose signal 8 bits would lose ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_FLOATSBYNEED_H
#define TPUC_CONVERSION_TOPTOTPU_FLOATSBYNEED_H

#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tpuc {

/// An operand whose own range covers fewer steps than this of a scale that it shares is lost in it.
inline constexpr double kLeastSteps = 16;

/// How the reason of a layer begins that is on floats because integers would lose its signal.
inline constexpr llvm::StringLiteral kByNeed = "by need: ";

/// The need of products that make outputs, which integers would round once more.
inline constexpr llvm::StringLiteral kGivesOutput = "it gives an output";

/// The step to which the layers belong without which an output would be lost.
inline constexpr llvm::StringLiteral kTailStep = "tail";

/// What a layer needs floats for.
struct FloatNeed {
  std::string reason;
  /// Which layers are on floats together, or not at all: `kTailStep`, or the name of the layer
  /// without which none of them were.
  std::string step;
  /// The error that integers would add, over that of rounding the result in a scale of its own;
  /// of a tail, where nothing is given up for cycles, 1.
  double gain = 1;
  /// Whether its results are places or made of them, which take more bits than 16-bit floats have.
  bool isPlace = false;
};

/// The layers of a network on integers that need floats.
///
/// A layer is at risk where it
/// - joins or adds tensors of which one covers fewer than `kLeastSteps` steps of the result's
/// scale,
/// - sums up constants by weights that a softmax gives (the mean of bins),
/// - adds a constant grid of places.
///
/// Behind the last products of a network (its tail) all that follows a layer at risk is on floats,
/// and all before it that only they read, up to the products, which give floats from their sums.
/// Elsewhere a Concat at risk is on floats by itself where products read it: channels of what
/// is made in floats get scales of their own there. Where its parts can have scales of their own on
/// integers (ScaleParts.h), it is not at risk any more.
///
/// `typeOf` says how a tensor is stored in integers, null if it is not; `isInteger` whether a layer
/// is on integers and may be on floats; `isScaling` whether it was made to scale channels for
/// products (ScaleChannels.h).
llvm::MapVector<mlir::Operation *, FloatNeed>
floatsByNeed(mlir::func::FuncOp main,
             llvm::function_ref<quant::UniformQuantizedType(mlir::Value)> typeOf,
             llvm::function_ref<bool(mlir::Operation *)> isInteger,
             llvm::function_ref<bool(mlir::Operation *)> isScaling);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_FLOATSBYNEED_H
