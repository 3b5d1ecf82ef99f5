//===- Evaluator.h - The RFC's pseudo-code, element by element ----------*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_QUANT_EVALUATOR_H
#define UNITTESTS_QUANT_EVALUATOR_H

#include "llvm/ADT/APFloat.h"

#include <cstdint>
#include <optional>

namespace tpuc::test {

/// The parameters of a quantized type for one element, as plain numbers: the evaluator shares
/// neither types nor arithmetic with the dialect. Its floats are LLVM's software floats.
struct QuantParams {
  bool isSigned;
  unsigned width;
  int64_t storageMin;
  int64_t storageMax;
  const llvm::fltSemantics *expressed;
  double scale;
  int64_t zeroPoint;
};

/// def dequantize(quantizedValue) of the RFC. `stored` is the value in memory, already extended
/// according to its signedness.
llvm::APFloat dequantize(int64_t stored, const QuantParams &params);

/// def quantize(expressedValue) of the RFC; nothing where convertFloatToInt is undefined.
std::optional<int64_t> quantize(const llvm::APFloat &value, const QuantParams &params);

/// The same with the option saturate: clamp(roundeven(value / scale) + zeroPoint), NaN counting as
/// 0 before the zero point is added. Defined for every value.
int64_t quantizeSaturating(const llvm::APFloat &value, const QuantParams &params);

} // namespace tpuc::test

#endif // UNITTESTS_QUANT_EVALUATOR_H
