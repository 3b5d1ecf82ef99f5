//===- Calibrate.h - Thresholds of all tensors of a network from samples -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_CALIBRATE_H
#define TPUC_CALIBRATION_CALIBRATE_H

#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Calibration/SampleRunner.h"
#include "tpuc/Calibration/Thresholds.h"
#include "tpuc/Target/QuantScheme.h"

namespace tpuc {

/// The names of the tensors that a calibration table has a line for, in the order of the ops: all
/// floats that ops of `main` make, the inputs too. Errors: no `main`.
Expected<std::vector<std::string>> calibratedNames(mlir::ModuleOp module);

struct CalibrationOptions {
  /// None: the one of all that disturbs the results of a tensor's readers least.
  std::optional<ThresholdMethod> method = ThresholdMethod::Kl;
  /// A multiple of numHistogramLevels.
  int64_t numBins = 2048;
  /// How many samples thresholds are tuned on (Kl: the first ones) or chosen on (none: half of them
  /// those of extremes, samplesWithExtremes); 0: Kl is not tuned.
  int64_t tuneNum = 10;
  /// The integers that thresholds are found for.
  QuantScheme scheme = schemes::kInt8;
};

/// What was found for one tensor.
struct CalibratedTensor {
  std::string name;
  TensorRange range;
  /// Whose threshold it is; that of Kl may be a tuned one.
  ThresholdMethod method = ThresholdMethod::Kl;
  double threshold = 1;
  /// Of the channels over which a convolution or inner product sums; empty if none reads it.
  ChannelFigures channels = {};
};

/// The smallest and largest number of a tensor and the samples that hold them, the first ones of
/// several.
struct Extremes {
  float lowest = std::numeric_limits<float>::infinity();
  float highest = -std::numeric_limits<float>::infinity();
  int64_t lowestSample = -1;
  int64_t highestSample = -1;

  void add(const TensorRange &range, int64_t sample);
  /// The sample of the largest magnitude.
  int64_t sample() const { return -lowest > highest ? lowestSample : highestSample; }
};

/// The samples on which thresholds are chosen, at most `count` of `numSamples`, in their order. One
/// half are the first; the others are those that hold the largest magnitudes of the most tensors,
/// the first ones of several. What a threshold cuts off is seen there.
std::vector<int64_t> samplesWithExtremes(std::span<const Extremes> tensors, int64_t numSamples,
                                         int64_t count);

/// Two passes over samples, which may be done in parts: results of disjoint ranges of samples
/// combine by `merge` to the same bits. All vectors are in the order of `names`.
class StatisticsPass {
public:
  StatisticsPass(std::vector<std::string> names, SampleRunner &runner);

  /// Errors: as SampleRunner::run; a tensor with NaN.
  /// `channels`, unless null, is told of all tensors.
  Expected<std::vector<TensorRange>> ranges(int64_t begin, int64_t end,
                                            ChannelStatistics *channels = nullptr);
  /// Of the samples that `ranges` was called for.
  std::span<const Extremes> extremes() const { return extremeNumbers; }
  /// `ranges` are those of all samples.
  Expected<std::vector<Histogram>> histograms(std::span<const TensorRange> ranges, int64_t numBins,
                                              int64_t begin, int64_t end);

private:
  std::vector<std::string> names;
  std::map<std::string, size_t> indices;
  std::vector<Extremes> extremeNumbers;
  SampleRunner &runner;
};

/// Calibrates `module`, which `runner` runs, with all samples. Errors: as StatisticsPass.
Expected<std::vector<CalibratedTensor>> calibrate(mlir::ModuleOp module, SampleRunner &runner,
                                                  const CalibrationOptions &options);

} // namespace tpuc

#endif // TPUC_CALIBRATION_CALIBRATE_H
