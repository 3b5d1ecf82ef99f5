//===- IntegerRequantizer.h - Requantization of rows, as kernels use it ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERREQUANTIZER_H
#define TPUC_INTERPRETER_KERNELS_INTEGERREQUANTIZER_H

#include "tpuc/Interpreter/Kernels/IntegerRequant.h"
#include "tpuc/Interpreter/Kernels/IntegerSimd.h"

#include <span>

namespace tpuc::kernels {

/// Turns rows of accumulators into bytes. The parameters must outlive it.
class Requantizer {
public:
  Requantizer(const RequantParams &params, const IntegerSimd &simd);

  /// All with the factor of `channel`.
  void row(const int32_t *sums, int64_t count, int64_t channel, uint8_t *to) const;
  /// Row r with the factor of channel first + r.
  void rows(const RequantRows &rows, int64_t first) const;
  /// Element i with the factor of channel first + i.
  void lanes(const int32_t *sums, int64_t count, int64_t first, uint8_t *to) const;

private:
  const RequantParams &params;
  const IntegerSimd &simd;
  RequantBounds bounds{};
  bool isFast;
  bool isWide; ///< Not all factors are narrow.
};

/// The bytes of a tensor of i8 or u8 from element `first` on, read as number - zero.
ByteRow byteRow(const Tensor &tensor, int64_t first, int32_t zero);
/// What makes an unsigned number of the bytes of `type`, i8 or u8: 0x80 or 0.
uint8_t flipOf(DataType type);
/// The bytes of `tensor`.
const uint8_t *bytesOf(const Tensor &tensor);
uint8_t *bytesOf(Tensor &tensor);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERREQUANTIZER_H
