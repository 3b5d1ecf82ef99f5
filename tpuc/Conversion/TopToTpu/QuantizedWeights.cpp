//===- QuantizedWeights.cpp - Filters as integers, one scale for each output channel ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Calibration/ChannelStatistics.h"

#include "tpuc/Interpreter/Kernels/VectorMath.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/SideBySide.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

using namespace tpuc;

namespace {

/// Channels that are rounded at a time where their elements lie side by side, so many of which fill
/// a line of the cache, and where the sums of one would have to wait for each other.
constexpr size_t kTogether = 16;

/// std::round without a call, so that loops over it are vectorized: adding 2^52 rounds to even.
[[gnu::always_inline]] inline double roundAway(double number) {
  constexpr double kInteger = 0x1p52;
  const double magnitude = std::abs(number);
  const double even = (magnitude + kInteger) - kInteger;
  const double nearest = even + (magnitude - even == 0.5 ? 1.0 : 0.0);
  return std::copysign(magnitude < kInteger ? nearest : magnitude, number);
}

class WeightQuantizer {
public:
  WeightQuantizer(const Tensor &filter, const Tensor *bias, const ChannelOrder &order,
                  const ProductScales &scales)
      : filter(filter.data<float>()), bias(bias), order(order), scales(scales),
        size(static_cast<size_t>(order.perChannel())),
        together(order.outer == 1 && scales.covariances.empty() ? 1 : kTogether),
        lowest(double(integerRange(scales.scheme.weight).lowest)),
        highest(double(integerRange(scales.scheme.weight).highest)),
        most(maxSum(scales.scheme.accumulator)),
        maxBias(scales.maxBias ? double(*scales.maxBias) : most), numbers(together * size),
        integers(together * size),
        result{Tensor(scales.scheme.weight, filter.shape()), std::nullopt, {}} {}

  QuantizedWeights run();

private:
  using Elements = std::span<const float>;
  /// What one channel is divided by its scale, and the integers in place of that.
  struct Row {
    std::span<double> numbers, integers;
  };

  template <typename Visit> void forEachBlock(Visit visit) const;
  template <typename Visit> void forEachRun(int64_t first, size_t count, Visit visit) const;
  std::vector<Elements> channelsOf(Elements all, int64_t first, size_t count,
                                   std::vector<float> &scratch) const;
  bool addsZero() const { return scales.foldsZero && scales.inputZero != 0; }
  double biasOf(int64_t channel) const {
    if (!bias)
      return 0;
    const size_t index = bias->numElements() == 1 ? 0 : static_cast<size_t>(channel);
    return bias->type() == DataType::F64 ? bias->data<double>()[index]
                                         : double(bias->data<float>()[index]);
  }
  double scaleOf(int64_t channel, double largest, Elements elements) const;
  std::vector<double> leastScales() const;
  void shareScales();
  double sharedScale(double largest) const;
  void roundBlock(int64_t first, std::span<const Elements> channels);
  Row divided(size_t row, Elements elements, double scale);
  void keepSums(const Row &row);
  void factorCovariances();
  void roundByCovariances(std::span<const Row> rows) const;
  void store(int64_t first, std::span<const Row> rows);
  template <typename T>
  void storeAs(std::span<T> stored, int64_t first, std::span<const Row> rows) const;
  void roundBias(int64_t channel, const Row &row, Elements meansOfChannel);

  std::span<const float> filter;
  const Tensor *bias;
  const ChannelOrder &order;
  const ProductScales &scales;
  size_t size;            ///< Elements of a channel.
  size_t together;        ///< Channels that are rounded at a time.
  double lowest, highest; ///< Integers of the filter.
  double most;            ///< What sums may reach.
  double maxBias;
  // Of these channels, one after the other.
  std::vector<double> numbers;
  std::vector<double> integers;
  std::vector<float> means;
  std::vector<size_t> scratch;
  std::vector<double> filterScales;
  /// The integers of 4 bits before they are packed; empty for other types.
  std::vector<int8_t> unpacked;
  /// The order in which elements are rounded by covariances, the last first, and the factor of the
  /// covariances in that order.
  std::vector<size_t> places;
  std::vector<double> factor;
  QuantizedWeights result;
};

/// Calls `visit(c, index, element)` for the runs of `count` channels from `first` on, as they lie
/// in the filter: what channel first + c has from `index` on, the filter has from `element` on.
template <typename Visit>
void WeightQuantizer::forEachRun(int64_t first, size_t count, Visit visit) const {
  std::array<size_t, kTogether> elements = {};
  for (size_t c = 0; c < count; ++c)
    elements[c] = static_cast<size_t>(order.elementOf(first + static_cast<int64_t>(c), 0));
  for (size_t index = 0; index < size; index += static_cast<size_t>(order.inner))
    for (size_t c = 0; c < count; ++c) {
      visit(c, index, elements[c]);
      elements[c] += static_cast<size_t>(order.channels * order.inner);
    }
}

/// The numbers of `count` channels from `first` on, those of each together: in place, or in
/// `scratch`. `all` has one for each element of the filter, or of the first channels.
std::vector<WeightQuantizer::Elements>
WeightQuantizer::channelsOf(Elements all, int64_t first, size_t count,
                            std::vector<float> &scratch) const {
  const auto placeOf = [&](size_t element) {
    return element < all.size() || all.empty() ? element : element % all.size();
  };
  std::vector<Elements> channels;
  if (order.outer == 1) {
    for (size_t c = 0; c < count; ++c)
      channels.push_back(all.subspan(placeOf((static_cast<size_t>(first) + c) * size), size));
    return channels;
  }
  scratch.resize(count * size);
  for (size_t c = 0; c < count; ++c)
    channels.push_back(std::span(scratch).subspan(c * size, size));
  const auto inner = static_cast<size_t>(order.inner);
  forEachRun(first, count, [&](size_t c, size_t index, size_t element) {
    const size_t place = placeOf(element);
    const float *from = &all[place];
    float *to = &scratch[c * size + index];
    for (size_t i = 0; i < inner; ++i)
      to[i] = from[i];
  });
  return channels;
}

/// Calls `visit(first, channels)` for all channels, some at a time. What has been read of a long
/// filter leaves memory: it is a file's, as large as all integers of the network.
template <typename Visit> void WeightQuantizer::forEachBlock(Visit visit) const {
  constexpr size_t kElements = size_t{1} << 22;
  std::vector<float> gathered;
  size_t released = 0;
  const auto count = static_cast<size_t>(order.numChannels());
  for (size_t first = 0; first < count; first += together) {
    const size_t end = std::min(first + together, count);
    visit(static_cast<int64_t>(first),
          channelsOf(filter, static_cast<int64_t>(first), end - first, gathered));
    if (order.outer == 1 && end * size - released >= kElements) {
      releaseMapped(std::as_bytes(filter.subspan(released, end * size - released)));
      released = end * size;
    }
  }
}

/// The largest magnitude; NaNs do not count.
double largestOf(std::span<const float> elements) {
  const auto magnitude = [&](size_t i) { return std::abs(elements[i]); };
  return double(foldSideBySide(elements.size(), 0.0F, magnitude,
                               [](float a, float b) { return b > a ? b : a; }));
}

/// The scale that is given, or that of the largest magnitude; larger where sums demand it.
double WeightQuantizer::scaleOf(int64_t channel, double largest, Elements elements) const {
  if (!scales.filter.empty())
    return scales.filter[scales.filter.size() == 1 ? 0 : static_cast<size_t>(channel)];
  const double inputs = std::abs(biasOf(channel)) / scales.input;
  // Of zeros alone any scale does; with this one a bias is within 1/512 of a step.
  constexpr double kSteps = 256;
  const double ofZeros =
      scales.mostFactor ? std::min(1.0, *scales.mostFactor * scales.output / scales.input / kSteps)
                        : 1.0;
  const double scale = std::max(largest > 0 ? largest / highest : ofZeros, inputs / maxBias);
  const auto maxInput = double(scales.maxInput.value_or(numSteps(scales.scheme.activation)));
  // |sum| <= sum of |w| / scale * maxInput + |bias| / (input scale * scale).
  const auto demandOf = [&](double sum) { return (sum * maxInput + inputs) / most; };
  // The sum need not be known where even one of twice as many of the largest would not do harm.
  if (demandOf(2 * double(elements.size()) * largest) <= scale)
    return scale;
  double sum = 0;
  for (float element : elements)
    sum += std::abs(double(element));
  return std::max(scale, demandOf(sum));
}

/// The scale that each channel needs; 0 where the filter has zeros only.
std::vector<double> WeightQuantizer::leastScales() const {
  std::vector<double> least;
  forEachBlock([&](int64_t first, std::span<const Elements> channels) {
    for (const Elements &elements : channels) {
      const double largest = largestOf(elements);
      least.push_back(largest > 0 ? scaleOf(first, largest, elements) : 0);
      ++first;
    }
  });
  return least;
}

/// The scale of channels of which one needs `largest`: this, or where only a shift follows a power
/// of two of all scaling, so that no integer is beyond the largest of the type.
double WeightQuantizer::sharedScale(double largest) const {
  if (!scales.sharesShift)
    return largest > 0 ? largest : 1;
  const double wanted = largest > 0 ? scales.input * largest / scales.output : 1;
  return std::exp2(std::ceil(std::log2(wanted))) * scales.output / scales.input;
}

/// One scale for all channels, or for those that share a shift.
void WeightQuantizer::shareScales() {
  const std::vector<double> least = leastScales();
  const auto together = static_cast<size_t>(scales.shiftChannels.value_or(order.numChannels()));
  size_t first = 0;
  for (const size_t end : shiftEnds(least, together, scales.mayShiftTwice)) {
    const auto part = std::span(least).subspan(first, end - first);
    filterScales.insert(filterScales.end(), part.size(), sharedScale(std::ranges::max(part)));
    first = end;
  }
}

/// Rounds `numbers` to the nearest integers, but for those that must go the other way for the sum
/// to be that of the numbers, rounded.
void roundKeepingSum(std::span<const double> numbers, std::span<double> rounded,
                     std::vector<size_t> &order) {
  for (size_t i = 0; i < numbers.size(); ++i)
    rounded[i] = roundAway(numbers[i]);
  const double missing =
      sumSideBySide(numbers.size(), [&](size_t i) { return numbers[i] - rounded[i]; });
  const double step = missing < 0 ? -1 : 1;
  // A sum that is off by just one half is as close as can be.
  const double others = std::ceil(std::abs(missing) - 0.5);
  // Not where a number is none.
  if (!(others > 0))
    return;
  const auto count = static_cast<size_t>(others);
  const auto restOf = [&](size_t i) { return step * (numbers[i] - rounded[i]); };
  constexpr size_t kFew = 32;
  if (numbers.size() <= kFew && count < numbers.size()) {
    std::array<double, kFew> rests;
    for (size_t i = 0; i < numbers.size(); ++i)
      rests[i] = restOf(i);
    for (size_t found = 0; found < count; ++found) {
      const auto closest = std::ranges::max_element(rests.begin(), rests.begin() + numbers.size());
      rounded[static_cast<size_t>(closest - rests.begin())] += step;
      *closest = -1;
    }
    return;
  }
  // What is left of each, a rest from -1/2 to 1/2, says which are closest. Rests are spread evenly
  // for the most part: twice as many as needed are within this of 1/2.
  double within = 2 * others / double(numbers.size());
  order.resize(numbers.size());
  size_t found = 0;
  do {
    found = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      order[found] = i;
      found += restOf(i) >= 0.5 - within ? 1 : 0;
    }
    within *= 2;
  } while (found < count);
  const auto isCloser = [&](size_t a, size_t b) {
    return restOf(a) != restOf(b) ? restOf(a) > restOf(b) : a < b;
  };
  const auto candidates = std::span(order).first(found);
  const auto chosen = candidates.first(count);
  std::ranges::nth_element(candidates, chosen.end() - 1, isCloser);
  for (size_t place : chosen)
    rounded[place] += step;
}

WeightQuantizer::Row WeightQuantizer::divided(size_t row, Elements elements, double scale) {
  const Row made = {std::span(numbers).subspan(row * size, size),
                    std::span(integers).subspan(row * size, size)};
  for (size_t i = 0; i < size; ++i)
    made.numbers[i] = double(elements[i]) / scale;
  return made;
}

void WeightQuantizer::keepSums(const Row &row) {
  if (!scales.keepsSums) {
    for (size_t i = 0; i < size; ++i)
      row.integers[i] = roundAway(row.numbers[i]);
    return;
  }
  const size_t step = order.taps > 1 ? static_cast<size_t>(order.taps) : size;
  for (size_t first = 0; first < size; first += step)
    roundKeepingSum(row.numbers.subspan(first, step), row.integers.subspan(first, step), scratch);
}

/// The Cholesky factor L of a symmetric matrix, of which `at(row, column)` are the elements on and
/// below the diagonal; transposed, so that a column of L lies together. `least` is the least that a
/// diagonal element of a matrix of covariances leaves; those of others, which files may hold, do
/// not matter.
template <typename Elements>
static std::vector<double> transposedFactor(size_t size, double least, Elements at) {
  std::vector<double> factor(size * size, 0);
  for (size_t column = 0; column < size; ++column) {
    double *own = &factor[column * size];
    for (size_t row = column; row < size; ++row)
      own[row] = at(row, column);
    for (size_t before = 0; before < column; ++before) {
      const double *other = &factor[before * size];
      for (size_t row = column; row < size; ++row)
        own[row] -= other[column] * other[row];
    }
    const double root = std::sqrt(std::max(own[column], least));
    for (size_t row = column; row < size; ++row)
      own[row] /= root;
  }
  return factor;
}

/// The factor of the covariances of the elements, those that vary least first.
void WeightQuantizer::factorCovariances() {
  // Of the mean variance: what keeps channels that hardly vary from being anything.
  constexpr double kDamping = 0.01;
  const auto covariance = [&](size_t c, size_t d) {
    return double(scales.covariances[c >= d ? pairIndex(c, d) : pairIndex(d, c)]);
  };
  double damping = 0;
  for (size_t c = 0; c < size; ++c)
    damping += kDamping / double(size) * covariance(c, c);
  places.resize(size);
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places,
                           [&](size_t a, size_t b) { return covariance(a, a) < covariance(b, b); });
  // No channel varies at all: any matrix does.
  const double least = damping > 0 ? damping : 1;
  factor = transposedFactor(size, least, [&](size_t row, size_t column) {
    return covariance(places[row], places[column]) + (row == column ? least : 0.0);
  });
}

/// With errors e of the elements, what is added to a sum has the variance of e' L L' e, the squares
/// of the elements of L' e. Those of the channels that vary most are rounded first; each takes its
/// own element of L' e as close to 0 as can be. Several rows at a time, so that their sums need not
/// wait for each other.
void WeightQuantizer::roundByCovariances(std::span<const Row> rows) const {
  const double least = lowest, greatest = highest;
  std::vector<std::array<double, kTogether>> errors(size);
  for (size_t i = size; i-- > 0;) {
    const double *column = &factor[i * size];
    std::array<double, kTogether> added = {};
    for (size_t k = i + 1; k < size; ++k)
      for (size_t c = 0; c < added.size(); ++c)
        added[c] += column[k] * errors[k][c];
    for (size_t c = 0; c < rows.size(); ++c) {
      const double number = rows[c].numbers[places[i]];
      const double rounded = std::clamp(std::round(number - added[c] / column[i]), least, greatest);
      errors[i][c] = rounded - number;
      rows[c].integers[places[i]] = rounded;
    }
  }
}

/// What of the range is nearest to `value`; 0 for what is no number, which no integer stands for.
static double limited(double value, double least, double greatest) {
  return std::isnan(value) ? 0 : std::clamp(value, least, greatest);
}

/// The bias of a channel, which takes up what its filter gets on the average because it is rounded.
void WeightQuantizer::roundBias(int64_t channel, const Row &row, Elements meansOfChannel) {
  const auto c = static_cast<size_t>(channel);
  double value = biasOf(channel) / (scales.input * filterScales[c]);
  if (!meansOfChannel.empty())
    value -= sumSideBySide(size,
                           [&](size_t i) {
                             return (row.integers[i] - row.numbers[i]) * double(meansOfChannel[i]);
                           }) /
             scales.input;
  value = std::round(value);
  if (addsZero())
    value -=
        double(scales.inputZero) * sumSideBySide(size, [&](size_t i) { return row.integers[i]; });
  value = limited(value, -maxBias, maxBias);
  if (result.bias->type() == DataType::I32)
    result.bias->mutableData<int32_t>()[c] = static_cast<int32_t>(value);
  else
    result.bias->mutableData<int64_t>()[c] = static_cast<int64_t>(value);
}

/// Puts the integers of rows where the filter has its elements.
template <typename T>
void WeightQuantizer::storeAs(std::span<T> stored, int64_t first, std::span<const Row> rows) const {
  const auto inner = static_cast<size_t>(order.inner);
  forEachRun(first, rows.size(), [&](size_t c, size_t index, size_t element) {
    const double *from = &rows[c].integers[index];
    T *to = &stored[element];
    for (size_t i = 0; i < inner; ++i)
      to[i] = static_cast<T>(static_cast<int32_t>(from[i]));
  });
}

/// Limits the integers of rows to those of the type and stores them.
void WeightQuantizer::store(int64_t first, std::span<const Row> rows) {
  // Copies, which no integer can be.
  const double least = lowest, greatest = highest;
  for (const Row &row : rows)
    for (double &integer : row.integers)
      integer = limited(integer, least, greatest);
  if (bitWidth(result.filter.type()) == 16)
    storeAs(result.filter.mutableData<int16_t>(), first, rows);
  else if (!unpacked.empty())
    storeAs(std::span(unpacked), first, rows);
  else
    storeAs(result.filter.mutableData<int8_t>(), first, rows);
}

void WeightQuantizer::roundBlock(int64_t first, std::span<const Elements> channels) {
  std::vector<Row> rows;
  for (const Elements &elements : channels) {
    const double scale = filterScales[static_cast<size_t>(first) + rows.size()];
    rows.push_back(divided(rows.size(), elements, scale));
  }
  if (scales.covariances.empty())
    std::ranges::for_each(rows, [&](const Row &row) { keepSums(row); });
  else
    roundByCovariances(rows);
  store(first, rows);
  if (!result.bias)
    return;
  const std::vector<Elements> meansOfRows =
      scales.means.empty() || !scales.keepsSums
          ? std::vector<Elements>(rows.size())
          : channelsOf(scales.means, first, rows.size(), means);
  for (size_t c = 0; c < rows.size(); ++c)
    roundBias(first + static_cast<int64_t>(c), rows[c], meansOfRows[c]);
}

QuantizedWeights WeightQuantizer::run() {
  const bool isShared = scales.sharesShift || (scales.filter.empty() &&
                                               scales.scheme.granularity == Granularity::PerTensor);
  if (isShared)
    shareScales();
  if (bias || addsZero() || !scales.means.empty())
    result.bias.emplace(scales.scheme.accumulator, Shape{order.numChannels()});
  if (bitWidth(scales.scheme.weight) == 4)
    unpacked.resize(filter.size());
  if (!scales.covariances.empty())
    factorCovariances();
  forEachBlock([&](int64_t first, std::span<const Elements> channels) {
    if (!isShared)
      for (size_t c = 0; c < channels.size(); ++c)
        filterScales.push_back(
            scaleOf(first + static_cast<int64_t>(c), largestOf(channels[c]), channels[c]));
    roundBlock(first, channels);
  });
  if (!unpacked.empty()) {
    const auto bytes = result.filter.mutableBytes();
    pack4(unpacked, {reinterpret_cast<uint8_t *>(bytes.data()), bytes.size()});
  }
  for (double scale : filterScales)
    result.factors.push_back(scales.input * scale / scales.output);
  return std::move(result);
}

} // namespace

std::vector<size_t> tpuc::shiftEnds(std::span<const double> steps, size_t together,
                                    bool mayShiftTwice) {
  // What a second command has to be worth.
  constexpr double kLeastSplitGain = 4;
  std::vector<size_t> ends;
  for (size_t end = together; end < steps.size(); end += together)
    ends.push_back(end);
  if (ends.empty() && mayShiftTwice && !steps.empty()) {
    const auto squares = [&](size_t first, size_t end) {
      const double largest = std::ranges::max(steps.subspan(first, end - first));
      return double(end - first) * largest * largest;
    };
    double least = squares(0, steps.size()) / kLeastSplitGain;
    for (size_t place = 1; place < steps.size(); ++place)
      if (const double both = squares(0, place) + squares(place, steps.size()); both < least) {
        least = both;
        ends = {place};
      }
  }
  if (!steps.empty())
    ends.push_back(steps.size());
  return ends;
}

QuantizedWeights tpuc::quantizeWeights(const Tensor &filter, const Tensor *bias,
                                       const ChannelOrder &order, const ProductScales &scales) {
  return WeightQuantizer(filter, bias, order, scales).run();
}

namespace {

/// Neighbouring elements of a channel, whose sum is kept.
struct SummedGroup {
  int64_t channel = 0;
  int64_t first = 0;
  std::vector<float> elements;
  /// The order in which they are rounded.
  std::vector<uint32_t> places;
};

/// Groups that are rounded side by side: each element waits for those before it.
constexpr size_t kGroups = 4;

} // namespace

/// Puts larger exponents first, and neighbours of one exponent in their order.
static void orderByExponent(SummedGroup &group) {
  constexpr size_t kExponents = 256;
  constexpr size_t kFew = 32;
  const auto keyOf = [&](size_t i) {
    return kExponents - 1 - ((std::bit_cast<uint32_t>(group.elements[i]) >> 23) & (kExponents - 1));
  };
  const size_t count = group.elements.size();
  if (count <= kFew) {
    for (size_t i = 0; i < count; ++i) {
      size_t place = i;
      for (; place > 0 && keyOf(group.places[place - 1]) > keyOf(i); --place)
        group.places[place] = group.places[place - 1];
      group.places[place] = static_cast<uint32_t>(i);
    }
    return;
  }
  std::array<uint32_t, kExponents + 1> begins = {};
  for (size_t i = 0; i < count; ++i)
    ++begins[keyOf(i) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  for (size_t i = 0; i < count; ++i)
    group.places[begins[keyOf(i)]++] = static_cast<uint32_t>(i);
}

/// Rounds the elements of all groups, which have as many each.
template <float (*kRound)(float)>
static void roundInOrder(std::array<SummedGroup, kGroups> &groups) {
  std::array<double, kGroups> left = {};
  for (size_t i = 0; i < groups[0].elements.size(); ++i)
    for (size_t g = 0; g < kGroups; ++g) {
      float &element = groups[g].elements[groups[g].places[i]];
      const double wanted = double(element) + left[g];
      element = kRound(static_cast<float>(wanted));
      left[g] = std::isfinite(element) ? wanted - double(element) : 0.0;
    }
}

Tensor tpuc::roundFilter(const Tensor &filter, const ChannelOrder &order, DataType to) {
  assert(to == DataType::F16 || to == DataType::BF16);
  const auto round =
      to == DataType::F16 ? roundInOrder<kernels::roundF16> : roundInOrder<kernels::roundBF16>;
  const auto from = filter.data<float>();
  const int64_t count = order.perChannel();
  const int64_t size = order.taps > 1 ? order.taps : count;
  std::array<SummedGroup, kGroups> groups;
  for (SummedGroup &group : groups) {
    group.elements.resize(static_cast<size_t>(size));
    group.places.resize(group.elements.size());
  }
  // Channels whose elements lie together are rounded a part at a time, so that long filters are not
  // in memory in several types.
  constexpr int64_t kElements = int64_t{1} << 20;
  const int64_t step = order.outer > 1
                           ? order.numChannels()
                           : std::max<int64_t>(kElements / std::max<int64_t>(count, 1), 1);
  Tensor rounded(to, filter.shape());
  std::byte *next = rounded.mutableBytes().data();
  for (int64_t begin = 0; begin < order.numChannels(); begin += step) {
    const int64_t end = std::min(begin + step, order.numChannels());
    const int64_t base = begin * count;
    Tensor part(DataType::F32, {(end - begin) * count});
    auto stored = part.mutableData<float>();
    size_t read = 0;
    // Where fewer are left than are rounded side by side, the others are rounded for nothing.
    const auto finish = [&] {
      round(groups);
      for (const SummedGroup &group : std::span(groups).first(std::exchange(read, 0)))
        for (int64_t i = 0; i < size; ++i)
          stored[static_cast<size_t>(order.elementOf(group.channel, group.first + i) - base)] =
              group.elements[static_cast<size_t>(i)];
    };
    for (int64_t channel = begin; channel < end; ++channel)
      for (int64_t first = 0; first < count; first += size) {
        SummedGroup &group = groups[read++];
        group.channel = channel;
        group.first = first;
        for (int64_t i = 0; i < size; ++i)
          group.elements[static_cast<size_t>(i)] =
              from[static_cast<size_t>(order.elementOf(channel, first + i))];
        orderByExponent(group);
        if (read == kGroups)
          finish();
      }
    finish();
    const Tensor narrow = convert(part, to);
    next = std::ranges::copy(narrow.rawBytes(), next).out;
    releaseMapped(filter.rawBytes().subspan(static_cast<size_t>(base) * sizeof(float),
                                            part.rawBytes().size()));
  }
  return rounded;
}
