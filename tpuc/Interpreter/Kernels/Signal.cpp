//===- Signal.cpp - Spectra of signals ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Signal.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

using Complex = std::complex<double>;

/// The transform of a fixed number of elements, by splitting it at its prime factors.
class Transform {
public:
  Transform(int64_t length, bool isInverse) : length(length), roots(length) {
    double turn = (isInverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
    for (int64_t k = 0; k < length; ++k)
      roots[k] = std::polar(1.0, turn * static_cast<double>(k));
    for (int64_t rest = length, factor = 2; rest > 1;) {
      if (factor * factor > rest)
        factor = rest;
      if (rest % factor != 0) {
        ++factor;
        continue;
      }
      factors.push_back(factor);
      rest /= factor;
    }
  }

  /// Transforms `from` into `to`, both of `length` elements.
  void run(const Complex *from, Complex *to) const { run(from, 1, to, length, 0); }

private:
  /// Transforms `count` elements that are `step` apart: `count` is what the factors from `depth` on
  /// make.
  void run(const Complex *from, int64_t step, Complex *to, int64_t count, size_t depth) const {
    if (count == 1) {
      *to = *from;
      return;
    }
    int64_t factor = factors[depth];
    int64_t part = count / factor;
    for (int64_t i = 0; i < factor; ++i)
      run(from + i * step, step * factor, to + i * part, part, depth + 1);
    std::vector<Complex> column(factor);
    for (int64_t k = 0; k < part; ++k) {
      for (int64_t i = 0; i < factor; ++i)
        column[i] = to[i * part + k] * roots[i * k * step % length];
      for (int64_t j = 0; j < factor; ++j) {
        Complex sum = column[0];
        for (int64_t i = 1; i < factor; ++i)
          sum += column[i] * roots[i * j * (length / factor) % length];
        to[j * part + k] = sum;
      }
    }
  }

  int64_t length;
  std::vector<Complex> roots;
  std::vector<int64_t> factors;
};

/// Operations of a transform of `length` elements.
int64_t costOf(int64_t length) {
  return 20 * length * (1 + static_cast<int64_t>(std::log2(static_cast<double>(length))));
}

/// The element at `index` of a signal of numbers of `parts` parts.
Complex load(const double *signal, int64_t index, int64_t parts) {
  return {signal[index * parts], parts == 2 ? signal[index * parts + 1] : 0.0};
}

/// Puts computed numbers into an output, rounded or cut off as its type asks.
void storeDoubles(const Tensor &from, Tensor &to) {
  Tensor converted = convert(from, to.type());
  std::ranges::copy(converted.rawBytes(), to.mutableBytes().begin());
}

} // namespace

void kernels::dft(const Tensor &input, const DftParams &params, Tensor &output,
                  ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const Shape &shape = input.shape();
  int64_t parts = shape[shape.rank() - 1];
  int64_t outParts = output.shape()[shape.rank() - 1];
  int64_t extent = shape[params.axis];
  int64_t outExtent = output.shape()[params.axis];
  int64_t inner = shape.strides()[params.axis] / parts;
  int64_t rows = output.numElements() / (outExtent * outParts);
  Tensor source = convert(input, DataType::F64);
  Tensor result(DataType::F64, output.shape());
  const double *from = source.data<double>().data();
  double *to = result.mutableData<double>().data();
  Transform transform(params.length, params.isInverse);
  double factor = params.isInverse ? 1 / static_cast<double>(params.length) : 1;
  bool isHalf = params.isInverse && params.isOnesided;
  auto runRow = [&](int64_t row, std::vector<Complex> &signal, std::vector<Complex> &spectrum) {
    int64_t begin = row / inner * extent * inner + row % inner;
    std::ranges::fill(signal, Complex(0));
    int64_t count = std::min(isHalf ? params.length / 2 + 1 : params.length, extent);
    for (int64_t n = 0; n < count; ++n)
      signal[n] = load(from, begin + n * inner, parts);
    if (isHalf) {
      // The parts that a real signal cannot have are left out.
      signal[0].imag(0);
      if (params.length % 2 == 0)
        signal[params.length / 2].imag(0);
      for (int64_t n = params.length / 2 + 1; n < params.length; ++n)
        signal[n] = std::conj(signal[params.length - n]);
    }
    transform.run(signal.data(), spectrum.data());
    int64_t target = row / inner * outExtent * inner + row % inner;
    for (int64_t k = 0; k < outExtent; ++k) {
      double *number = to + (target + k * inner) * outParts;
      number[0] = spectrum[k].real() * factor;
      if (outParts == 2)
        number[1] = spectrum[k].imag() * factor;
    }
  };
  threads.parallelFor(rows, grainFor(costOf(params.length)), [&](int64_t begin, int64_t end) {
    std::vector<Complex> signal(params.length);
    std::vector<Complex> spectrum(params.length);
    for (int64_t row = begin; row < end; ++row)
      runRow(row, signal, spectrum);
  });
  storeDoubles(result, output);
}

void kernels::stft(const Tensor &input, int64_t step, int64_t length, const Tensor *window,
                   Tensor &output, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  int64_t samples = input.shape()[1];
  int64_t parts = input.shape()[2];
  int64_t frames = output.shape()[1];
  int64_t bins = output.shape()[2];
  Tensor source = convert(input, DataType::F64);
  Tensor result(DataType::F64, output.shape());
  const double *from = source.data<double>().data();
  double *to = result.mutableData<double>().data();
  std::vector<double> weights(length, 1.0);
  if (window)
    std::ranges::copy(convert(*window, DataType::F64).data<double>(), weights.begin());
  Transform transform(length, false);
  threads.parallelFor(output.shape()[0] * frames, grainFor(costOf(length)),
                      [&](int64_t begin, int64_t end) {
                        std::vector<Complex> signal(length);
                        std::vector<Complex> spectrum(length);
                        for (int64_t frame = begin; frame < end; ++frame) {
                          int64_t first = frame / frames * samples + frame % frames * step;
                          for (int64_t n = 0; n < length; ++n)
                            signal[n] = load(from, first + n, parts) * weights[n];
                          transform.run(signal.data(), spectrum.data());
                          for (int64_t k = 0; k < bins; ++k) {
                            to[(frame * bins + k) * 2] = spectrum[k].real();
                            to[(frame * bins + k) * 2 + 1] = spectrum[k].imag();
                          }
                        }
                      });
  storeDoubles(result, output);
}

void kernels::cosineWindow(const std::vector<double> &coeff, bool isPeriodic, Tensor &output) {
  int64_t size = output.numElements();
  auto period = static_cast<double>(isPeriodic ? size : size - 1);
  Tensor result(DataType::F64, output.shape());
  auto values = result.mutableData<double>();
  for (int64_t n = 0; n < size; ++n) {
    // A symmetric window of one element is its first.
    double turns = period > 0 ? static_cast<double>(n) / period : 0;
    double sum = 0;
    for (size_t k = 0; k < coeff.size(); ++k)
      sum += (k % 2 == 0 ? coeff[k] : -coeff[k]) *
             std::cos(2 * std::numbers::pi * static_cast<double>(k) * turns);
    values[n] = sum;
  }
  storeDoubles(result, output);
}

Expected<void> kernels::melWeightMatrix(const MelParams &params, Tensor &output) {
  if (!(params.rate > 0))
    return makeError("", "sample rate " + std::to_string(params.rate), "more than 0");
  int64_t rows = output.shape()[0];
  int64_t bins = output.shape()[1];
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mel(params.lower);
  double step = (mel(params.upper) - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> points(bins + 2);
  for (size_t i = 0; i < points.size(); ++i) {
    double hertz = 700 * (std::pow(10, (low + static_cast<double>(i) * step) / 2595) - 1);
    double row = std::floor(static_cast<double>(params.length + 1) * hertz / params.rate);
    if (!(row >= 0 && row < static_cast<double>(rows)))
      return makeError("", "a band that reaches " + std::to_string(hertz) + " Hz",
                       "bands within the spectrum, of " + std::to_string(rows) + " rows");
    points[i] = static_cast<int64_t>(row);
  }
  Tensor result(DataType::F64, output.shape());
  auto values = result.mutableData<double>();
  for (int64_t bin = 0; bin < bins; ++bin) {
    int64_t left = points[bin];
    int64_t peak = points[bin + 1];
    int64_t right = points[bin + 2];
    for (int64_t row = left; row < peak; ++row)
      values[row * bins + bin] = static_cast<double>(row - left) / static_cast<double>(peak - left);
    values[peak * bins + bin] = 1;
    for (int64_t row = peak + 1; row < right; ++row)
      values[row * bins + bin] =
          static_cast<double>(right - row) / static_cast<double>(right - peak);
  }
  storeDoubles(result, output);
  return {};
}
