//===- Thresholds.h - Where a tensor is clipped for 8 bits ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_THRESHOLDS_H
#define TPUC_CALIBRATION_THRESHOLDS_H

#include "tpuc/Calibration/Statistics.h"

#include <array>
#include <optional>
#include <string_view>

namespace tpuc {

/// How the threshold T of a symmetric 8-bit tensor (scale T / 128, values -128 to 127) follows from
/// the distribution of its magnitudes. Formulas: docs/calibration.md.
enum class ThresholdMethod : uint8_t { Kl, Max, Percentile, Mse, Cosine, AciqGauss, AciqLaplace };

/// As options spell them, in the order of the enum.
inline constexpr std::array<std::string_view, 7> kThresholdMethodNames = {
    "kl", "max", "percentile", "mse", "cosine", "aciq_gauss", "aciq_laplace"};

std::string_view thresholdMethodName(ThresholdMethod method);
std::optional<ThresholdMethod> parseThresholdMethod(std::string_view name);

/// Histograms have a multiple of this many bins: the magnitudes that 8 bits can tell apart.
inline constexpr int64_t kNumLevels = 128;

/// The threshold of `histogram` by `method`: above 0, at most absMax; 1 where all values are 0. The
/// number of bins must be a multiple of kNumLevels.
double findThreshold(const Histogram &histogram, ThresholdMethod method);

/// The sum of squared errors of rounding and clipping all counted values by `threshold`.
double roundingError(const Histogram &histogram, double threshold);

/// Each element rounded to the nearest value that the threshold's scale can hold, and back.
/// `values` and `result` have the same size; NaN becomes the lowest value.
void fakeQuantize(std::span<const float> values, double threshold, std::span<float> result);

} // namespace tpuc

#endif // TPUC_CALIBRATION_THRESHOLDS_H
