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

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

using namespace tpuc;

namespace {

/// Half of what 32 bits hold: room for what rounding adds.
constexpr double kMaxSum = 1 << 30;

class WeightQuantizer {
public:
  WeightQuantizer(const Tensor &filter, const Tensor *bias, const ChannelOrder &order,
                  const ProductScales &scales)
      : filter(filter.data<float>()), bias(bias), order(order), scales(scales),
        result{Tensor(DataType::I8, filter.shape()), std::nullopt, {}} {}

  QuantizedWeights run();

private:
  template <typename T>
  std::span<const T> runFrom(std::span<const T> elements, int64_t first) const {
    return elements.subspan(static_cast<size_t>(first), static_cast<size_t>(order.inner));
  }
  /// Calls `visit(first, channel)` for all runs. What has been read of a long filter leaves memory:
  /// it is a file's, as large as all integers of the network.
  template <typename Visit> void forEachRun(Visit visit) const {
    int64_t begin = 0;
    order.forEachRun([&](int64_t first, int64_t channel) {
      visit(first, channel);
      release(begin, first + order.inner);
    });
  }
  void release(int64_t &begin, int64_t end) const {
    constexpr int64_t kElements = int64_t{1} << 22;
    if (end - begin < kElements)
      return;
    releaseMapped(std::as_bytes(
        filter.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))));
    begin = end;
  }
  void findScales();
  double biasOf(int64_t channel) const {
    if (!bias)
      return 0;
    const auto values = bias->data<float>();
    return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }
  void roundFilter();
  void roundByCovariances();
  std::vector<double> addedByRounding() const;
  void roundBias();

  std::span<const float> filter;
  const Tensor *bias;
  const ChannelOrder &order;
  const ProductScales &scales;
  std::vector<double> filterScales;
  QuantizedWeights result;
};

/// The scales that are given, or those of the largest magnitudes; larger where sums demand it.
void WeightQuantizer::findScales() {
  const auto count = static_cast<size_t>(order.numChannels());
  std::vector<double> most(count, 0);
  std::vector<double> sums(count, 0);
  forEachRun([&](int64_t first, int64_t channel) {
    double largest = most[static_cast<size_t>(channel)];
    double sum = sums[static_cast<size_t>(channel)];
    for (float element : runFrom(filter, first)) {
      const double magnitude = std::abs(double(element));
      largest = std::max(largest, magnitude);
      sum += magnitude;
    }
    most[static_cast<size_t>(channel)] = largest;
    sums[static_cast<size_t>(channel)] = sum;
  });
  filterScales.assign(count, 1);
  for (size_t c = 0; c < count; ++c) {
    if (!scales.filter.empty())
      filterScales[c] = scales.filter[scales.filter.size() == 1 ? 0 : c];
    else if (most[c] > 0)
      filterScales[c] = most[c] / 127;
    // |sum| <= sum of |w| / scale * maxInput + |bias| / (input scale * scale).
    const double total =
        sums[c] * double(scales.maxInput) + std::abs(biasOf(int64_t(c))) / scales.input;
    const double smallest = std::abs(biasOf(int64_t(c))) / scales.input / double(scales.maxBias);
    if (scales.filter.empty())
      filterScales[c] = std::max({filterScales[c], total / kMaxSum, smallest});
  }
  if (!scales.sharesShift)
    return;
  // One power of two for all channels, so that no integer is above 127.
  double largest = 0;
  for (size_t c = 0; c < count; ++c)
    largest = std::max(largest, most[c] > 0 ? filterScales[c] : 0.0);
  const double wanted = largest > 0 ? scales.input * largest / scales.output : 1;
  const double shared = std::exp2(std::ceil(std::log2(wanted)));
  filterScales.assign(count, shared * scales.output / scales.input);
}

/// Rounds `numbers` to the nearest integers, but for those that must go the other way for the sum
/// to be that of the numbers, rounded.
static void roundKeepingSum(std::span<const double> numbers, std::span<double> rounded,
                            std::vector<size_t> &order) {
  double missing = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    rounded[i] = std::round(numbers[i]);
    missing += numbers[i] - rounded[i];
  }
  const double step = missing < 0 ? -1 : 1;
  // A sum that is off by just one half is as close as can be.
  const double others = std::ceil(std::abs(missing) - 0.5);
  // Not where a number is none.
  if (!(others > 0))
    return;
  const auto count = static_cast<size_t>(others);
  // What is left of each, a rest from -1/2 to 1/2, says which are closest: those of whole classes
  // of rests, and of the class that is not taken whole the closest ones.
  constexpr size_t kClasses = 256;
  const auto restOf = [&](size_t i) { return step * (numbers[i] - rounded[i]); };
  const auto classOf = [&](size_t i) {
    return static_cast<size_t>(std::clamp((restOf(i) + 0.5) * kClasses, 0.0, kClasses - 1.0));
  };
  std::array<size_t, kClasses> sizes = {};
  for (size_t i = 0; i < numbers.size(); ++i)
    ++sizes[classOf(i)];
  size_t last = kClasses - 1;
  size_t before = 0;
  while (before + sizes[last] < count)
    before += sizes[last--];
  order.clear();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t own = classOf(i);
    if (own == last)
      order.push_back(i);
    else if (own > last)
      rounded[i] += step;
  }
  const auto isCloser = [&](size_t a, size_t b) {
    return restOf(a) != restOf(b) ? restOf(a) > restOf(b) : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count - before);
  std::nth_element(order.begin(), end - 1, order.end(), isCloser);
  for (auto place = order.begin(); place != end; ++place)
    rounded[*place] += step;
}

void WeightQuantizer::roundFilter() {
  auto stored = result.filter.mutableData<int8_t>();
  const int64_t count = order.perChannel();
  const int64_t size = order.taps > 1 ? order.taps : count;
  std::vector<double> numbers(static_cast<size_t>(size));
  std::vector<double> rounded(numbers.size());
  std::vector<size_t> scratch;
  int64_t begin = 0;
  for (int64_t channel = 0; channel < order.numChannels(); ++channel) {
    for (int64_t first = 0; first < count; first += size) {
      const double scale = filterScales[static_cast<size_t>(channel)];
      for (int64_t i = 0; i < size; ++i)
        numbers[static_cast<size_t>(i)] =
            double(filter[static_cast<size_t>(order.elementOf(channel, first + i))]) / scale;
      roundKeepingSum(numbers, rounded, scratch);
      for (int64_t i = 0; i < size; ++i)
        stored[static_cast<size_t>(order.elementOf(channel, first + i))] =
            static_cast<int8_t>(std::clamp(rounded[static_cast<size_t>(i)], -128.0, 127.0));
    }
    if (order.outer == 1)
      release(begin, (channel + 1) * count);
  }
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

/// With errors e of the elements, what is added to a sum has the variance of e' L L' e, the squares
/// of the elements of L' e. Those of the channels that vary most are rounded first; each takes its
/// own element of L' e as close to 0 as can be.
void WeightQuantizer::roundByCovariances() {
  // Of the mean variance: what keeps channels that hardly vary from being anything.
  constexpr double kDamping = 0.01;
  const auto size = static_cast<size_t>(order.perChannel());
  const auto covariance = [&](size_t c, size_t d) {
    return double(scales.covariances[c >= d ? pairIndex(c, d) : pairIndex(d, c)]);
  };
  double damping = 0;
  for (size_t c = 0; c < size; ++c)
    damping += kDamping / double(size) * covariance(c, c);
  std::vector<size_t> places(size);
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places,
                           [&](size_t a, size_t b) { return covariance(a, a) < covariance(b, b); });
  // No channel varies at all: any matrix does.
  const double least = damping > 0 ? damping : 1;
  const std::vector<double> factor = transposedFactor(size, least, [&](size_t row, size_t column) {
    return covariance(places[row], places[column]) + (row == column ? least : 0.0);
  });
  // Several channels at a time, so that their sums need not wait for each other.
  constexpr int64_t kTogether = 8;
  using Numbers = std::array<double, kTogether>;
  auto stored = result.filter.mutableData<int8_t>();
  std::vector<Numbers> errors(size);
  for (int64_t first = 0; first < order.numChannels(); first += kTogether) {
    const auto count = static_cast<size_t>(std::min(kTogether, order.numChannels() - first));
    for (size_t i = size; i-- > 0;) {
      const double *column = &factor[i * size];
      Numbers added = {};
      for (size_t k = i + 1; k < size; ++k)
        for (size_t c = 0; c < added.size(); ++c)
          added[c] += column[k] * errors[k][c];
      for (size_t c = 0; c < count; ++c) {
        const int64_t channel = first + static_cast<int64_t>(c);
        const auto element =
            static_cast<size_t>(order.elementOf(channel, static_cast<int64_t>(places[i])));
        const double number = double(filter[element]) / filterScales[static_cast<size_t>(channel)];
        const double rounded = std::clamp(std::round(number - added[c] / column[i]), -128.0, 127.0);
        errors[i][c] = rounded - number;
        stored[element] = static_cast<int8_t>(rounded);
      }
    }
  }
}

/// What each output channel gets on the average because its filter is rounded, in units of its sum.
std::vector<double> WeightQuantizer::addedByRounding() const {
  std::vector<double> added(filterScales.size(), 0);
  const auto stored = result.filter.data<int8_t>();
  if (scales.means.empty())
    return added;
  forEachRun([&](int64_t first, int64_t channel) {
    const double scale = filterScales[static_cast<size_t>(channel)];
    const float *mean = &scales.means[static_cast<size_t>(first) % scales.means.size()];
    double sum = added[static_cast<size_t>(channel)];
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(first + order.inner);
         ++i, ++mean)
      sum += (double(stored[i]) - double(filter[i]) / scale) * double(*mean) / scales.input;
    added[static_cast<size_t>(channel)] = sum;
  });
  return added;
}

void WeightQuantizer::roundBias() {
  const bool addsZero = scales.foldsZero && scales.inputZero != 0;
  if (!bias && !addsZero && scales.means.empty())
    return;
  const std::vector<double> added = addedByRounding();
  std::vector<double> sums(filterScales.size(), 0);
  const auto stored = result.filter.data<int8_t>();
  order.forEachRun([&](int64_t first, int64_t channel) {
    for (int8_t element : runFrom(stored, first))
      sums[static_cast<size_t>(channel)] += element;
  });
  const int64_t count = order.numChannels();
  result.bias.emplace(DataType::I32, Shape{count});
  auto rounded = result.bias->mutableData<int32_t>();
  for (size_t c = 0; c < rounded.size(); ++c) {
    double value = std::round(biasOf(int64_t(c)) / (scales.input * filterScales[c]) - added[c]);
    if (addsZero)
      value -= double(scales.inputZero) * sums[c];
    rounded[c] =
        static_cast<int32_t>(std::clamp(value, -double(scales.maxBias), double(scales.maxBias)));
  }
}

QuantizedWeights WeightQuantizer::run() {
  findScales();
  if (scales.covariances.empty())
    roundFilter();
  else
    roundByCovariances();
  roundBias();
  for (double scale : filterScales)
    result.factors.push_back(scales.input * scale / scales.output);
  return std::move(result);
}

} // namespace

QuantizedWeights tpuc::quantizeWeights(const Tensor &filter, const Tensor *bias,
                                       const ChannelOrder &order, const ProductScales &scales) {
  return WeightQuantizer(filter, bias, order, scales).run();
}

/// The places of `numbers`, those of larger exponents first.
static void orderByExponent(std::span<const float> numbers, std::vector<uint32_t> &places) {
  constexpr size_t kExponents = 256;
  const auto keyOf = [](float number) {
    return kExponents - 1 - ((std::bit_cast<uint32_t>(number) >> 23) & (kExponents - 1));
  };
  std::array<uint32_t, kExponents + 1> begins = {};
  for (float number : numbers)
    ++begins[keyOf(number) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  places.resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    places[begins[keyOf(numbers[i])]++] = static_cast<uint32_t>(i);
}

Tensor tpuc::roundFilter(const Tensor &filter, const ChannelOrder &order, DataType to) {
  assert(to == DataType::F16 || to == DataType::BF16);
  const auto round = to == DataType::F16 ? kernels::roundF16 : kernels::roundBF16;
  const auto from = filter.data<float>();
  const int64_t count = order.perChannel();
  const int64_t size = order.taps > 1 ? order.taps : count;
  std::vector<float> group(static_cast<size_t>(size));
  std::vector<uint32_t> places;
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
    for (int64_t channel = begin; channel < end; ++channel)
      for (int64_t first = 0; first < count; first += size) {
        for (int64_t i = 0; i < size; ++i)
          group[static_cast<size_t>(i)] =
              from[static_cast<size_t>(order.elementOf(channel, first + i))];
        orderByExponent(group, places);
        double left = 0;
        for (uint32_t place : places) {
          const double wanted = double(group[place]) + left;
          const float nearest = round(static_cast<float>(wanted));
          left = std::isfinite(nearest) ? wanted - double(nearest) : 0.0;
          stored[static_cast<size_t>(order.elementOf(channel, first + place) - base)] = nearest;
        }
      }
    const Tensor narrow = convert(part, to);
    next = std::ranges::copy(narrow.rawBytes(), next).out;
    releaseMapped(filter.rawBytes().subspan(static_cast<size_t>(base) * sizeof(float),
                                            part.rawBytes().size()));
  }
  return rounded;
}
