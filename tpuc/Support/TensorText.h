//===- TensorText.h - Tensors as a user reads them --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_TENSORTEXT_H
#define TPUC_SUPPORT_TENSORTEXT_H

#include "tpuc/Support/Tensor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tpuc {

struct TensorTextOptions {
  /// Above this number of elements only the first and last `edgeItems` of each axis are shown.
  int64_t threshold = 1000;
  int64_t edgeItems = 3;
  /// Digits after the point, 0 to 17. Trailing zeros that all shown elements have are dropped.
  int precision = 6;
  size_t lineWidth = 100;
};

/// Writes the elements to `sink`, line by line, in nested brackets as numpy prints arrays:
///   [[ 1.5  2.25]
///    [nan  -3   ]]
/// Shown floats share their number of digits; they are written with an exponent when the largest
/// magnitude is 1e8 and more or below 1e-4.
void printTensor(const Tensor &tensor, const TensorTextOptions &options,
                 const std::function<void(std::string_view)> &sink);

/// The same as one string, without a line break at the end.
std::string tensorText(const Tensor &tensor, const TensorTextOptions &options = {});

/// What a tensor holds. NaN and infinities are counted and enter nothing else; without any other
/// element the figures are 0.
struct TensorStatistics {
  double min = 0;
  double max = 0;
  double mean = 0;
  double standardDeviation = 0; ///< Of the population, not of a sample.
  int64_t zeros = 0;
  int64_t nans = 0;
  int64_t infinities = 0;
};

/// One pass, a block at a time; mean and deviation by the updating formula of Chan, Golub and
/// LeVeque (1979).
TensorStatistics tensorStatistics(const Tensor &tensor);

} // namespace tpuc

#endif // TPUC_SUPPORT_TENSORTEXT_H
