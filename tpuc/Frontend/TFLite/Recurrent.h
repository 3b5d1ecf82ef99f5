//===- Recurrent.h - What converters of recurrent layers share ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_RECURRENT_H
#define TPUC_FRONTEND_TFLITE_RECURRENT_H

#include "tpuc/Frontend/TFLite/TFLiteLayer.h"

namespace tpuc::tflite {

/// The constants `indices` of `dims` elements each, in f32 and one behind the other, as `shape`;
/// none, and an error of the layer, where one is computed or has another shape.
std::optional<Tensor> joinedConstants(TFLiteLayer &layer, llvm::ArrayRef<unsigned> indices,
                                      const Ints &dims, const Shape &shape, llvm::StringRef what);

/// Whether the sequences `first` and `second` among the inputs have as many steps and samples; an
/// error of the layer where they have not.
bool haveSameSteps(TFLiteLayer &layer, unsigned first, unsigned second);

/// Outputs 0 and 1 as the steps of both directions, or output 0 as both behind each other where
/// they are `merged`.
void putBothDirections(TFLiteLayer &layer, mlir::Value forward, mlir::Value backward, bool merged);

/// `rows` of all steps behind each other along the dimension of steps; of a sequence with the steps
/// first where it is `timeMajor`. Ops are named after `name`.
mlir::Value stacked(TFLiteLayer &layer, llvm::StringRef name, llvm::ArrayRef<mlir::Value> rows,
                    bool timeMajor);

/// How many steps become ops one by one.
inline constexpr int64_t kMostSteps = 4096;

/// A sequence of one direction whose cell may have coupled gates, a projection, norms and limits.
void unrolledLstm(TFLiteLayer &layer);

/// What options say of a cell of integers.
struct IntegerCellOptions {
  /// Of sequences: whether the steps come first.
  bool timeMajor = true;
  /// Whether there is one step, without a dimension for it.
  bool isOneStep = false;
  /// 0: none.
  float cellClip = 0, projectionClip = 0;
};

/// Whether input and filters of an LSTM are 8-bit integers.
bool isIntegerCell(const TFLiteLayer &layer);
/// Such a cell of one direction, as one op in the arithmetic of LiteRT.
void integerLstm(TFLiteLayer &layer, const IntegerCellOptions &options);

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_RECURRENT_H
