//===- QuantizedWeights.h - Filters as integers, one scale for each output channel ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_QUANTIZEDWEIGHTS_H
#define TPUC_CONVERSION_TOPTOTPU_QUANTIZEDWEIGHTS_H

#include "tpuc/Support/Requant.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Target/QuantScheme.h"

#include <optional>
#include <span>
#include <vector>

namespace tpuc {

/// The attributes of a top op that say what is known of the input channels of its product: their
/// means, smallest and largest numbers.
inline constexpr const char *kInputMeans = "calibration.input_means";
inline constexpr const char *kInputLowest = "calibration.input_lowest";
inline constexpr const char *kInputHighest = "calibration.input_highest";
inline constexpr const char *kChannelFigures[] = {kInputMeans, kInputLowest, kInputHighest};
/// The covariances of the channels that a filter of one tap meets, as ChannelFigures has them.
inline constexpr const char *kInputCovariances = "calibration.input_covariances";
inline constexpr const char *kInputFigures[] = {kInputMeans, kInputLowest, kInputHighest,
                                                kInputCovariances};

/// How the elements of a filter belong to output channels: element i to channelOf(i).
struct ChannelOrder {
  /// Elements of one channel that lie together, channels in a run of them, and runs in a group;
  /// the channels of group g follow those of group g - 1.
  int64_t inner = 1;
  int64_t channels = 1;
  int64_t outer = 1;
  int64_t groups = 1;
  /// Elements that lie together and meet neighbouring elements of one input channel: the taps of a
  /// window. They divide `inner`.
  int64_t taps = 1;

  int64_t numChannels() const { return channels * groups; }
  int64_t channelOf(int64_t element) const {
    const int64_t group = element / (inner * channels * outer);
    return group * channels + element / inner % channels;
  }
  int64_t perChannel() const { return inner * outer; }
  /// Where element `index` of those of `channel` is.
  int64_t elementOf(int64_t channel, int64_t index) const {
    if (outer == 1)
      return channel * inner + index;
    const int64_t run = channel / channels * outer + index / inner;
    return (run * channels + channel % channels) * inner + index % inner;
  }
};

/// What the products of a layer are summed and scaled with.
struct ProductScales {
  /// The integers of inputs, filter and sums.
  QuantScheme scheme = schemes::kInt8;
  double input = 1;
  int64_t inputZero = 0;
  /// The largest magnitude of an input less its zero point; none: that of any input of the scheme.
  std::optional<int64_t> maxInput = {};
  double output = 1;
  /// The largest magnitude of a bias; none: that of a sum, which leaves room for the products.
  std::optional<int64_t> maxBias = {};
  /// Whether the bias takes up -inputZero * sum of the channel's integers.
  bool foldsZero = true;
  /// Whether rounding the filter keeps sums; else each element becomes the nearest integer.
  bool keepsSums = true;
  /// Scales of the filter that are given, one or one for each channel; empty: to be found.
  std::vector<double> filter;
  /// For each element of the filter the mean of what it is multiplied with, or for those of the
  /// first channels where those of all others repeat them; empty: not known.
  std::vector<float> means = {};
  /// The covariances of what the elements of an output channel are multiplied with, those of
  /// (0, 0), (1, 0), (1, 1), (2, 0), ...; empty: not known. With means only.
  std::vector<float> covariances = {};
  /// What sums can be multiplied with is less, where that has an end: the scale of a filter of
  /// zeros alone, whose bias counts, is then small enough.
  std::optional<double> mostFactor = std::nullopt;
  /// The filter's integers hold the whole scaling but a shift, which all channels share (chips
  /// without multipliers).
  bool sharesShift = false;
  /// Output channels that share it: so many from each multiple of it on; none: all.
  std::optional<int64_t> shiftChannels = std::nullopt;
  /// Whether channels that are no more than these may have two shifts (shiftEnds).
  bool mayShiftTwice = false;
};

/// Where channels that share a shift end, of those that need filters of these steps: `together`
/// have one. Where these are all, and two shifts would make the mean square of the steps that
/// channels get four times smaller, the channels before and behind one place have one each, if
/// `mayShiftTwice`.
std::vector<size_t> shiftEnds(std::span<const double> steps, size_t together, bool mayShiftTwice);

struct QuantizedWeights {
  Tensor filter;              ///< Of the scheme's weights: i8.
  std::optional<Tensor> bias; ///< Of the scheme's accumulator: i32.
  /// input * filter / output for each channel.
  std::vector<double> factors;
};

/// Rounds a filter (f32) and a bias (f32 or f64, may be null) to the scheme's integers: the filter
/// of channel c by its largest magnitude over the largest integer, which is 127 in 8 bits, the bias
/// by input scale * filter scale. A channel whose sums could leave the accumulator, or whose bias
/// is too large, gets a larger scale. Channels of zeros have a scale of 1, or less where
/// `mostFactor` asks for it. Per tensor, the largest of these scales is that of all channels.
///
/// Rounding keeps sums: those of the taps that meet one input channel, or where there is one tap
/// only, those of the whole output channel, are off by at most half an integer. The elements
/// closest to the next integer go there. What the filter does to the mean of its input, which is
/// most of what it sees behind a ReLU or in smooth pictures, is kept that way. Where the means of
/// the inputs are known, the bias takes up what rounding the filter adds on the average. Where
/// their covariances are known, too, what rounding an element adds to a sum is taken out as far as
/// possible by the elements that are rounded after it (GPTQ, arXiv 2210.17323), in place of keeping
/// sums. Without `keepsSums`, all that is left out.
QuantizedWeights quantizeWeights(const Tensor &filter, const Tensor *bias,
                                 const ChannelOrder &order, const ProductScales &scales);

/// Rounds a filter (f32) to `to`, f16 or bf16, so that the same sums are kept: each element takes
/// over what the rounding of those before it has left, larger magnitudes first.
Tensor roundFilter(const Tensor &filter, const ChannelOrder &order, DataType to);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_QUANTIZEDWEIGHTS_H
