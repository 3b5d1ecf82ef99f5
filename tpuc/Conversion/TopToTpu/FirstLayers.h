//===- FirstLayers.h - First layers that amplify rounding -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_FIRSTLAYERS_H
#define TPUC_CONVERSION_TOPTOTPU_FIRSTLAYERS_H

#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tpuc {

/// First layers have at most this part of a network's multiplications.
inline constexpr double kMostFirstMacs = 0.05;
/// Rounding its input may add at most so many times the error to a result that rounding the result
/// does; root mean squares. Up to `kSlightGain`, floats may spare it if they cost no cycles.
inline constexpr double kMostFirstNoise = 2;

/// The multiplications of a product of known shapes: of each result element, as many as the filter
/// has for its channel or the left operand in a row. 0 of other ops.
double multiplicationsOf(mlir::Operation *op);

/// Why a first layer is on floats.
struct FirstLayer {
  std::string reason;
  /// The first layer that amplifies rounding and that this one is, or is before.
  mlir::Operation *amplifier = nullptr;
  /// How many times the error of rounding the amplifier's result rounding its input adds.
  double noise = 1;
};

/// The layers at the beginning of a network on integers that need floats, and why.
///
/// A layer with large filter elements, such as edges out of smooth pictures, amplifies the rounding
/// of its input and filter. At the beginning this ruins all that follows, and floats cost little
/// there. A layer counts where
/// - it is a convolution or an inner product with a constant filter,
/// - it and all before it have at most `kMostFirstMacs` of the multiplications of the network,
/// - the error that rounding its input in steps s adds to its sums is more than `kMostFirstNoise`
///   times that of rounding its result in steps t: s |w| / t, with the root mean square over output
///   channels of |w|, the Euclidean norm of the channel's filter.
/// All before it is in floats with it, so that nothing is rounded to integers but inputs.
///
/// `typeOf` says how a tensor is stored in integers, null if it is not; `isInteger` whether a layer
/// is on integers and may be on floats.
llvm::MapVector<mlir::Operation *, FirstLayer>
firstLayersInFloats(mlir::func::FuncOp main,
                    llvm::function_ref<quant::UniformQuantizedType(mlir::Value)> typeOf,
                    llvm::function_ref<bool(mlir::Operation *)> isInteger);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_FIRSTLAYERS_H
