//===- StoredType.h - What stored integers stand for ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_STOREDTYPE_H
#define TPUC_DIALECT_TPU_STOREDTYPE_H

#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Support/Quantize.h"

namespace tpuc::tpu {

/// The `!quant.uniform` element type of a tensor; null if it has another.
quant::UniformQuantizedType quantizedType(mlir::Type type);
inline quant::UniformQuantizedType quantizedType(mlir::Value value) {
  return quantizedType(value.getType());
}
inline bool isQuantized(mlir::Value value) { return quantizedType(value) != nullptr; }

/// The zero point of a value; 0 where its type is not quantized.
int64_t zeroPointOf(mlir::Value value);
QuantParams paramsOf(quant::UniformQuantizedType type);
IntegerRange rangeOf(quant::UniformQuantizedType type);

/// Whether `op` is a norm, a softmax or attention on stored integers, which state the steps in
/// which they are computed: their mirrored ops have no such form.
bool hasIntegerFusion(mlir::Operation *op);

/// The least and the greatest stored integer of a tensor.
struct StoredRange {
  int64_t low;
  int64_t high;
};
/// What stored results may be where the op has a ReLU (with an upper limit unless it is negative).
StoredRange reluRange(quant::UniformQuantizedType type, bool doRelu, double limit);

} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_STOREDTYPE_H
