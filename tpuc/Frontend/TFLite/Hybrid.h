//===- Hybrid.h - Products of integers with floats ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What LiteRT's hybrid kernels compute: floats are rounded to 8 bits row by row, multiplied with
// weights of 8-bit integers, summed in i32, and scaled.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_HYBRID_H
#define TPUC_FRONTEND_TFLITE_HYBRID_H

#include "tpuc/Frontend/TFLite/TFLiteLayer.h"

namespace tpuc::tflite {

/// Weights as constants: i8 [elements, outputs], and a scale for each output.
struct HybridWeights {
  mlir::Value integers, scales;
};

/// The weights [outputs, elements] at `indices`, one below the other; none where the layer has
/// failed. They are hybrid (`isHybrid`) and have as many columns. Constants are named after `name`.
std::optional<HybridWeights> hybridWeights(TFLiteLayer &layer, llvm::StringRef name,
                                           llvm::ArrayRef<unsigned> indices);

/// value [..., elements] * weights [..., outputs] + bias, where that is given. Each row of
/// `value` has a scale of its own, and a zero point unless it is `symmetric`. Ops are named after
/// `name`.
mlir::Value hybridProduct(TFLiteLayer &layer, llvm::StringRef name, mlir::Value value,
                          const HybridWeights &weights, mlir::Value bias, bool symmetric);

/// The convolution of `value` [N, C, ...] with `filter`, i8 in the dialect's order, of which each
/// output has one of `scales`. `attributes` are those of the window. Each batch item is a row.
mlir::Value hybridConvolution(TFLiteLayer &layer, mlir::Value value, Tensor filter,
                              llvm::ArrayRef<float> scales, const Attrs &attributes,
                              bool symmetric);

/// The transposed convolution in the same way, with a zero point for each batch item. Sums are of
/// floats that are whole numbers, and are exact below 2^24.
mlir::Value hybridDeconvolution(TFLiteLayer &layer, mlir::Value value, const Tensor &filter,
                                llvm::ArrayRef<float> scales, const Attrs &attributes);

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_HYBRID_H
