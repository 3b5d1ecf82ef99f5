//===- Calibrate.cpp - Thresholds of all tensors of a network from samples -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Calibrate.h"
#include "tpuc/Calibration/ConsumerErrors.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

using namespace tpuc;

Expected<std::vector<std::string>> tpuc::calibratedNames(mlir::ModuleOp module) {
  Expected<mlir::func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return propagate(main);
  std::vector<std::string> names;
  std::set<std::string> met;
  for (mlir::Operation &op : main->front().without_terminator()) {
    if (op.hasTrait<traits::Parameter>())
      continue;
    for (auto [name, result] : llvm::zip_equal(tensorNames(&op), op.getResults())) {
      const std::optional<DataType> type =
          top::isPresent(result) ? storageDataType(result.getType()) : std::nullopt;
      if (type && isFloat(*type) && met.insert(name).second)
        names.push_back(name);
    }
  }
  return names;
}

//===----------------------------------------------------------------------===//
// The two passes
//===----------------------------------------------------------------------===//

void Extremes::add(const TensorRange &range, int64_t sample) {
  if (range.min() < lowest || (range.min() == lowest && sample < lowestSample)) {
    lowest = range.min();
    lowestSample = sample;
  }
  if (range.max() > highest || (range.max() == highest && sample < highestSample)) {
    highest = range.max();
    highestSample = sample;
  }
}

std::vector<int64_t> tpuc::samplesWithExtremes(std::span<const Extremes> tensors,
                                               int64_t numSamples, int64_t count) {
  count = std::min(count, numSamples);
  std::set<int64_t> chosen;
  for (int64_t sample = 0; sample < (count + 1) / 2; ++sample)
    chosen.insert(sample);
  // How many tensors have their largest magnitude in a sample.
  std::vector<int64_t> held(static_cast<size_t>(numSamples), 0);
  for (const Extremes &tensor : tensors)
    if (const int64_t sample = tensor.sample(); sample >= 0 && sample < numSamples)
      ++held[static_cast<size_t>(sample)];
  while (std::ssize(chosen) < count) {
    int64_t best = -1;
    for (int64_t sample = 0; sample < numSamples; ++sample)
      if (!chosen.contains(sample) &&
          (best < 0 || held[static_cast<size_t>(sample)] > held[static_cast<size_t>(best)]))
        best = sample;
    chosen.insert(best);
  }
  return {chosen.begin(), chosen.end()};
}

StatisticsPass::StatisticsPass(std::vector<std::string> given, SampleRunner &runner)
    : names(std::move(given)), extremeNumbers(names.size()), runner(runner) {
  for (size_t index = 0; index < names.size(); ++index)
    indices.emplace(names[index], index);
}

Expected<std::vector<TensorRange>> StatisticsPass::ranges(int64_t begin, int64_t end,
                                                          ChannelStatistics *channels) {
  std::vector<TensorRange> ranges(names.size());
  std::vector<std::mutex> mutexes(names.size());
  Expected<void> done = runner.run(
      begin, end, "find ranges",
      [&](int64_t sample, const std::string &name, const Tensor &tensor) -> Expected<void> {
        auto found = indices.find(name);
        if (found == indices.end() || !isFloat(tensor.type()))
          return {};
        TensorRange range;
        range.add(FloatElements(tensor).values());
        if (range.numNan() > 0)
          return makeError("layer '" + name + "'", "computes nan", "numbers");
        if (channels)
          channels->add(name, tensor);
        std::lock_guard lock(mutexes[found->second]);
        ranges[found->second].merge(range);
        extremeNumbers[found->second].add(range, sample);
        return {};
      });
  if (!done)
    return propagate(done);
  return ranges;
}

Expected<std::vector<Histogram>> StatisticsPass::histograms(std::span<const TensorRange> ranges,
                                                            int64_t numBins, int64_t begin,
                                                            int64_t end) {
  std::vector<Histogram> histograms;
  for (const TensorRange &range : ranges)
    histograms.emplace_back(range.absMax(), numBins);
  std::vector<std::mutex> mutexes(names.size());
  Expected<void> done =
      runner.run(begin, end, "count values",
                 [&](int64_t, const std::string &name, const Tensor &tensor) -> Expected<void> {
                   auto found = indices.find(name);
                   if (found == indices.end() || !isFloat(tensor.type()))
                     return {};
                   Histogram histogram(ranges[found->second].absMax(), numBins);
                   histogram.add(FloatElements(tensor).values());
                   std::lock_guard lock(mutexes[found->second]);
                   histograms[found->second].merge(histogram);
                   return {};
                 });
  if (!done)
    return propagate(done);
  return histograms;
}

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

namespace {

/// What is tried between the threshold of Kl and the largest magnitude (manual 7.3.2).
std::vector<double> tuneCandidates(double threshold, double absMax) {
  constexpr int kCount = 10;
  std::vector<double> candidates = {threshold};
  for (int i = 1; i < kCount && threshold < absMax; ++i)
    candidates.push_back(threshold + (absMax - threshold) * i / (kCount - 1));
  return candidates;
}

/// The best candidate of each reader, and of these the largest.
size_t chooseTuned(const ConsumerErrors &errors) {
  size_t chosen = 0;
  for (const std::vector<double> &relative : errors.relative) {
    const auto best = std::ranges::min_element(relative);
    chosen = std::max(chosen, static_cast<size_t>(best - relative.begin()));
  }
  return chosen;
}

/// The candidate with the least sum of all readers' errors.
size_t chooseLeast(const ConsumerErrors &errors, size_t numCandidates) {
  std::vector<double> sums(numCandidates);
  for (const std::vector<double> &relative : errors.relative)
    std::ranges::transform(sums, relative, sums.begin(), std::plus<>());
  return static_cast<size_t>(std::ranges::min_element(sums) - sums.begin());
}

class Calibration {
public:
  Calibration(mlir::ModuleOp module, SampleRunner &runner, const CalibrationOptions &options)
      : module(module), runner(runner), options(options) {}

  Expected<std::vector<CalibratedTensor>> run();

private:
  Expected<void> tune();
  Expected<void> choose();
  double thresholdOf(size_t tensor, ThresholdMethod method) const {
    return findThreshold(histograms[tensor], method, options.scheme.activation);
  }
  bool isSpoiling(const Histogram &histogram, double threshold, double leastError) const;

  mlir::ModuleOp module;
  SampleRunner &runner;
  const CalibrationOptions &options;
  std::vector<CalibratedTensor> tensors;
  std::vector<Histogram> histograms;
  std::vector<Extremes> extremes;
};

Expected<std::vector<CalibratedTensor>> Calibration::run() {
  Expected<std::vector<std::string>> names = calibratedNames(module);
  if (!names)
    return propagate(names);
  StatisticsPass pass(*names, runner);
  ChannelStatistics channels(module);
  Expected<std::vector<TensorRange>> ranges = pass.ranges(0, runner.numSamples(), &channels);
  if (!ranges)
    return propagate(ranges);
  extremes.assign(pass.extremes().begin(), pass.extremes().end());
  const ThresholdMethod method = options.method.value_or(ThresholdMethod::Kl);
  for (size_t i = 0; i < names->size(); ++i) {
    const float absMax = (*ranges)[i].absMax();
    tensors.push_back(
        {(*names)[i], (*ranges)[i], method, absMax > 0 ? absMax : 1, channels.of((*names)[i])});
  }
  if (method == ThresholdMethod::Max)
    return std::move(tensors);
  Expected<std::vector<Histogram>> counted =
      pass.histograms(*ranges, options.numBins, 0, runner.numSamples());
  if (!counted)
    return propagate(counted);
  histograms = std::move(*counted);
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i].threshold = thresholdOf(i, method);
  Expected<void> done = {};
  if (!options.method)
    done = choose();
  else if (method == ThresholdMethod::Kl && options.tuneNum > 0)
    done = tune();
  if (!done)
    return propagate(done);
  return std::move(tensors);
}

Expected<void> Calibration::tune() {
  std::vector<ThresholdCandidates> candidates;
  candidates.reserve(tensors.size());
  for (const CalibratedTensor &tensor : tensors)
    candidates.push_back({tensor.name, tuneCandidates(tensor.threshold, tensor.range.absMax())});
  std::vector<int64_t> first(static_cast<size_t>(std::min(options.tuneNum, runner.numSamples())));
  std::iota(first.begin(), first.end(), 0);
  Expected<std::vector<ConsumerErrors>> errors =
      measureConsumers(module, runner, first, candidates, options.scheme);
  if (!errors)
    return propagate(errors);
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i].threshold = candidates[i].thresholds[chooseTuned((*errors)[i])];
  return {};
}

/// Whether a threshold spoils the tensor itself so much that the few samples on which readers are
/// asked cannot speak for it: its values are mostly a background, and what matters is the rest.
bool Calibration::isSpoiling(const Histogram &histogram, double threshold,
                             double leastError) const {
  constexpr double kMostError = 2;
  return roundingError(histogram, threshold, options.scheme.activation) > kMostError * leastError;
}

Expected<void> Calibration::choose() {
  std::vector<ThresholdCandidates> candidates;
  std::vector<std::vector<ThresholdMethod>> methods(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    candidates.push_back({tensors[i].name, {}});
    std::vector<double> &thresholds = candidates.back().thresholds;
    const double leastError = roundingError(histograms[i], thresholdOf(i, ThresholdMethod::Mse),
                                            options.scheme.activation);
    for (size_t index = 0; index < kThresholdMethodNames.size(); ++index) {
      const auto method = static_cast<ThresholdMethod>(index);
      const double threshold = thresholdOf(i, method);
      if (std::ranges::find(thresholds, threshold) != thresholds.end() ||
          (method != ThresholdMethod::Mse && isSpoiling(histograms[i], threshold, leastError)))
        continue;
      thresholds.push_back(threshold);
      methods[i].push_back(method);
    }
  }
  Expected<std::vector<ConsumerErrors>> errors = measureConsumers(
      module, runner, samplesWithExtremes(extremes, runner.numSamples(), options.tuneNum),
      candidates, options.scheme);
  if (!errors)
    return propagate(errors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t chosen = chooseLeast((*errors)[i], candidates[i].thresholds.size());
    tensors[i].threshold = candidates[i].thresholds[chosen];
    tensors[i].method = methods[i][chosen];
  }
  return {};
}

} // namespace

Expected<std::vector<CalibratedTensor>> tpuc::calibrate(mlir::ModuleOp module, SampleRunner &runner,
                                                        const CalibrationOptions &options) {
  return Calibration(module, runner, options).run();
}
