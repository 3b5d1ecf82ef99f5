//===- Thresholds.h - Where a tensor is clipped for integers ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_THRESHOLDS_H
#define TPUC_CALIBRATION_THRESHOLDS_H

#include "tpuc/Calibration/Statistics.h"
#include "tpuc/Support/DataType.h"

#include <array>
#include <optional>
#include <string_view>

namespace tpuc {

/// How the threshold T of a symmetric tensor (scale T / numLevels, in 8 bits T / 128 for the values
/// -128 to 127) follows from the distribution of its magnitudes. Formulas: docs/calibration.md.
enum class ThresholdMethod : uint8_t { Kl, Max, Percentile, Mse, Cosine, AciqGauss, AciqLaplace };

/// As options spell them, in the order of the enum.
inline constexpr std::array<std::string_view, 7> kThresholdMethodNames = {
    "kl", "max", "percentile", "mse", "cosine", "aciq_gauss", "aciq_laplace"};

std::string_view thresholdMethodName(ThresholdMethod method);
std::optional<ThresholdMethod> parseThresholdMethod(std::string_view name);

// `type` is the signed integer type of activations, of 2 to 16 bits, wherever it stands below.

/// Histograms have a multiple of this many bins: the magnitudes that `type` can tell apart, 128 in
/// 8 bits, but no more than 2048, which is as finely as Kl compares distributions.
int64_t numHistogramLevels(DataType type);

/// The threshold of `histogram` by `method`: above 0, at most absMax; 1 where all values are 0. The
/// number of bins must be a multiple of numHistogramLevels.
double findThreshold(const Histogram &histogram, ThresholdMethod method,
                     DataType type = DataType::I8);

/// The sum of squared errors of rounding and clipping all counted values by `threshold`.
double roundingError(const Histogram &histogram, double threshold, DataType type = DataType::I8);

/// Each element rounded to the nearest value that the threshold's scale can hold, and back.
/// `values` and `result` have the same size; NaN becomes the lowest value.
void fakeQuantize(std::span<const float> values, double threshold, std::span<float> result,
                  DataType type = DataType::I8);

/// The factor of AciqGauss (times the standard deviation) and AciqLaplace (times the mean
/// magnitude): where the expected squared error of integers of `type` is least. `method` is one of
/// the two.
double aciqFactor(ThresholdMethod method, DataType type);

} // namespace tpuc

#endif // TPUC_CALIBRATION_THRESHOLDS_H
