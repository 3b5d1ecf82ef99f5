//===- Norm.cpp - Normalization of tensors --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Norm.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/RoundedSteps.h"
#include "tpuc/Interpreter/Kernels/Simd.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// The extents before, of and behind an axis.
struct Axes {
  int64_t outer = 1, size = 1, inner = 1;

  /// `last`: the last of the axes that count as one.
  Axes(const Shape &shape, size_t first, size_t last) {
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      (axis < first ? outer : axis > last ? inner : size) *= shape[axis];
  }
};

/// Channels are axis 1; a vector is a batch of one channel.
Axes channelsOf(const Shape &shape) {
  if (shape.rank() == 1) {
    Axes axes(shape, 0, 0);
    std::swap(axes.outer, axes.size);
    return axes;
  }
  return {shape, 1, 1};
}

/// Runs `body(T(), source, target)` in the compute type of a float output.
template <typename Body> void onFloats(const Tensor &input, Tensor &output, Body &&body) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      body(zero, source.data<T>().data(), result.mutableData<T>().data());
  });
}

/// A parameter in type T; `fill` repeated where there is none. One element is repeated too.
template <typename T> std::vector<T> parameter(const Tensor *tensor, int64_t size, T fill) {
  if (!tensor)
    return std::vector<T>(size, fill);
  Tensor converted = convert(*tensor, dataTypeOf<T>());
  auto values = converted.template data<T>();
  if (values.size() == 1)
    return std::vector<T>(size, values[0]);
  return {values.begin(), values.end()};
}

/// A parameter broadcast to the trailing extents `shape`.
template <typename T>
std::vector<T> trailing(const Tensor *tensor, const Shape &input, size_t axis, T fill) {
  Axes axes(input, axis, input.rank() - 1);
  if (!tensor || tensor->numElements() == 1 || tensor->numElements() == axes.size)
    return parameter<T>(tensor, axes.size, fill);
  Tensor converted = convert(*tensor, dataTypeOf<T>());
  auto values = converted.template data<T>();
  Shape strides = tensor->shape().strides();
  std::vector<T> result(axes.size);
  for (int64_t i = 0; i < axes.size; ++i) {
    int64_t rest = i;
    int64_t at = 0;
    for (size_t back = 1; back <= input.rank() - axis; ++back) {
      int64_t extent = input[input.rank() - back];
      if (back <= strides.rank() && tensor->shape()[strides.rank() - back] != 1)
        at += rest % extent * strides[strides.rank() - back];
      rest /= extent;
    }
    result[i] = values[at];
  }
  return result;
}

/// The sum of `term(i)` in f64: eight partial sums, so that the loop vectorizes, in a fixed order.
template <typename Term> double sumOf(int64_t count, Term &&term) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += static_cast<double>(term(i + lane));
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  for (; i < count; ++i)
    sum += static_cast<double>(term(i));
  return sum;
}

/// Calls `row(first element)` for the rows of `axes`, which are contiguous.
template <typename Row>
void forEachRow(const Axes &axes, int64_t costPerElement, ThreadPool &threads, Row &&row) {
  threads.parallelFor(axes.outer, grainFor(costPerElement * axes.size),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i)
                          row(i * axes.size);
                      });
}

struct Moments {
  double mean, variance;
};

template <typename Value> Moments momentsOf(int64_t count, Value &&value) {
  double mean = sumOf(count, value) / static_cast<double>(count);
  double squares = sumOf(count, [&](int64_t i) {
    double distance = static_cast<double>(value(i)) - mean;
    return distance * distance;
  });
  return {mean, squares / static_cast<double>(count)};
}

/// x * factors[c] + summands[c] for each channel.
template <typename T>
void affine(const Axes &axes, const T *from, const std::vector<T> &factors,
            const std::vector<T> &summands, bool doRelu, double reluLimit, T *to,
            ThreadPool &threads) {
  threads.parallelFor(axes.outer * axes.size, grainFor(2 * axes.inner),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t plane = begin; plane < end; ++plane) {
                          T factor = factors[plane % axes.size];
                          T summand = summands[plane % axes.size];
                          const T *x = from + plane * axes.inner;
                          T *y = to + plane * axes.inner;
                          for (int64_t i = 0; i < axes.inner; ++i)
                            y[i] = x[i] * factor + summand;
                          for (int64_t i = 0; doRelu && i < axes.inner; ++i)
                            y[i] = relu(y[i], reluLimit);
                        }
                      });
}

/// The factor and summand of gamma * (x - mean) / sqrt(variance + epsilon) + beta.
template <typename T>
void fold(double mean, double variance, double epsilon, T gamma, T beta, T &factor, T &summand) {
  double scale = static_cast<double>(gamma) / std::sqrt(variance + epsilon);
  factor = static_cast<T>(scale);
  summand = static_cast<T>(static_cast<double>(beta) - mean * scale);
}

} // namespace

void kernels::scaleChannels(const Tensor &input, const Tensor &scale, const Tensor &bias,
                            bool doRelu, double reluLimit, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes = channelsOf(input.shape());
    affine<T>(axes, from, parameter<T>(&scale, axes.size, 1), parameter<T>(&bias, axes.size, 0),
              doRelu, reluLimit, to, threads);
  });
}

void kernels::batchNorm(const Tensor &input, const Tensor &mean, const Tensor &variance,
                        const Tensor *gamma, const Tensor *beta, double epsilon, bool doRelu,
                        double reluLimit, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes = channelsOf(input.shape());
    auto means = parameter<T>(&mean, axes.size, 0);
    auto variances = parameter<T>(&variance, axes.size, 1);
    auto factors = parameter<T>(gamma, axes.size, 1);
    auto summands = parameter<T>(beta, axes.size, 0);
    for (int64_t c = 0; c < axes.size; ++c)
      fold<T>(means[c], variances[c], epsilon, factors[c], summands[c], factors[c], summands[c]);
    affine<T>(axes, from, factors, summands, doRelu, reluLimit, to, threads);
  });
}

void kernels::batchNormTrain(const Tensor &input, const Tensor &mean, const Tensor &variance,
                             const Tensor *gamma, const Tensor *beta, double epsilon,
                             double momentum, Tensor &output, Tensor &meanOut, Tensor &varianceOut,
                             ThreadPool &threads) {
  Axes axes = channelsOf(input.shape());
  Tensor means(DataType::F64, mean.shape());
  Tensor variances(DataType::F64, variance.shape());
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    auto factors = parameter<T>(gamma, axes.size, 1);
    auto summands = parameter<T>(beta, axes.size, 0);
    double *batchMeans = means.mutableData<double>().data();
    double *batchVariances = variances.mutableData<double>().data();
    threads.parallelFor(axes.size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        Moments moments = momentsOf(axes.outer * axes.inner, [&](int64_t i) {
          return from[(i / axes.inner * axes.size + c) * axes.inner + i % axes.inner];
        });
        batchMeans[c] = moments.mean;
        batchVariances[c] = moments.variance;
        fold<T>(moments.mean, moments.variance, epsilon, factors[c], summands[c], factors[c],
                summands[c]);
      }
    });
    affine<T>(axes, from, factors, summands, false, -1, to, threads);
  });
  auto blend = [&](const Tensor &running, Tensor &batch, Tensor &result) {
    auto values = batch.mutableData<double>();
    auto old = parameter<double>(&running, axes.size, 0);
    for (size_t c = 0; c < values.size(); ++c)
      values[c] = old[c] * momentum + values[c] * (1 - momentum);
    store(batch, result);
  };
  blend(mean, means, meanOut);
  blend(variance, variances, varianceOut);
}

void kernels::layerNorm(const Tensor &input, const Tensor *weight, const Tensor *bias, size_t axis,
                        double epsilon, Tensor &output, Tensor *mean, Tensor *rstd,
                        ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes(input.shape(), axis, input.shape().rank() - 1);
    auto factors = trailing<T>(weight, input.shape(), axis, 1);
    auto summands = trailing<T>(bias, input.shape(), axis, 0);
    float *means = mean ? mean->mutableData<float>().data() : nullptr;
    float *rstds = rstd ? rstd->mutableData<float>().data() : nullptr;
    if constexpr (std::is_same_v<T, float>)
      if (!means && !rstds)
        return forEachRow(axes, 4, threads, [&](int64_t at) {
          simdKernels().layerNormRow(from + at, factors.data(), summands.data(), epsilon, to + at,
                                     axes.size);
        });
    threads.parallelFor(axes.outer, grainFor(8 * axes.size), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T *x = from + row * axes.size;
        T *y = to + row * axes.size;
        Moments moments = momentsOf(axes.size, [&](int64_t i) { return x[i]; });
        double scale = 1 / std::sqrt(moments.variance + epsilon);
        auto middle = static_cast<T>(moments.mean);
        auto factor = static_cast<T>(scale);
        for (int64_t i = 0; i < axes.size; ++i)
          y[i] = (x[i] - middle) * factor * factors[i] + summands[i];
        if (means)
          means[row] = static_cast<float>(moments.mean);
        if (rstds)
          rstds[row] = static_cast<float>(scale);
      }
    });
  });
}

void kernels::rmsNorm(const Tensor &input, const Tensor *gamma, size_t axis, double epsilon,
                      int64_t heads, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes(input.shape(), axis, input.shape().rank() - 1);
    auto factors = trailing<T>(gamma, input.shape(), axis, 1);
    const int64_t size = axes.size / heads;
    threads.parallelFor(axes.outer * heads, grainFor(4 * size), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T *x = from + row * size;
        T *y = to + row * size;
        const int64_t first = row % heads * size;
        double squares = sumOf(size, [&](int64_t i) {
          auto value = static_cast<double>(x[i]);
          return value * value;
        });
        auto factor = static_cast<T>(1 / std::sqrt(squares / static_cast<double>(size) + epsilon));
        for (int64_t i = 0; i < size; ++i)
          y[i] = x[i] * factor * factors[first + i];
      }
    });
  });
}

void kernels::groupNorm(const Tensor &input, const Tensor *weight, const Tensor *bias,
                        int64_t groups, double epsilon, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes = channelsOf(input.shape());
    auto factors = parameter<T>(weight, axes.size, 1);
    auto summands = parameter<T>(bias, axes.size, 0);
    int64_t perGroup = axes.size / groups;
    int64_t size = perGroup * axes.inner;
    threads.parallelFor(axes.outer * groups, grainFor(8 * size), [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        const T *x = from + group * size;
        T *y = to + group * size;
        Moments moments = momentsOf(size, [&](int64_t i) { return x[i]; });
        auto middle = static_cast<T>(moments.mean);
        auto scale = static_cast<T>(1 / std::sqrt(moments.variance + epsilon));
        for (int64_t c = 0; c < perGroup; ++c) {
          int64_t channel = group % groups * perGroup + c;
          for (int64_t i = c * axes.inner; i < (c + 1) * axes.inner; ++i)
            y[i] = (x[i] - middle) * scale * factors[channel] + summands[channel];
        }
      }
    });
  });
}

/// Pixels that lie beside each other, whose channels are added side by side.
static constexpr int64_t kPixelsAtOnce = 32;

/// PixelNorm of `pixels` of them: channel c of pixel p is x[c * axes.inner + p].
template <typename T>
static void normalizePixels(const T *x, const T *factors, const T *summands, const Axes &axes,
                            int64_t pixels, double epsilon, T *y) {
  std::array<double, kPixelsAtOnce> means{};
  std::array<double, kPixelsAtOnce> squares{};
  for (int64_t c = 0; c < axes.size; ++c)
    for (int64_t p = 0; p < pixels; ++p)
      means[p] += static_cast<double>(x[c * axes.inner + p]);
  for (double &mean : means)
    mean /= static_cast<double>(axes.size);
  for (int64_t c = 0; c < axes.size; ++c)
    for (int64_t p = 0; p < pixels; ++p) {
      double distance = static_cast<double>(x[c * axes.inner + p]) - means[p];
      squares[p] += distance * distance;
    }
  std::array<T, kPixelsAtOnce> middles;
  std::array<T, kPixelsAtOnce> scales;
  for (int64_t p = 0; p < pixels; ++p) {
    middles[p] = static_cast<T>(means[p]);
    scales[p] =
        static_cast<T>(1 / std::sqrt(squares[p] / static_cast<double>(axes.size) + epsilon));
  }
  for (int64_t c = 0; c < axes.size; ++c)
    for (int64_t p = 0; p < pixels; ++p)
      y[c * axes.inner + p] =
          (x[c * axes.inner + p] - middles[p]) * scales[p] * factors[c] + summands[c];
}

void kernels::pixelNorm(const Tensor &input, const Tensor *weight, const Tensor *bias,
                        double epsilon, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes = channelsOf(input.shape());
    auto factors = parameter<T>(weight, axes.size, 1);
    auto summands = parameter<T>(bias, axes.size, 0);
    const int64_t strips = (axes.inner + kPixelsAtOnce - 1) / kPixelsAtOnce;
    threads.parallelFor(axes.outer * strips, grainFor(8 * axes.size * kPixelsAtOnce),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            int64_t first = i % strips * kPixelsAtOnce;
                            int64_t at = i / strips * axes.size * axes.inner + first;
                            normalizePixels(from + at, factors.data(), summands.data(), axes,
                                            std::min(kPixelsAtOnce, axes.inner - first), epsilon,
                                            to + at);
                          }
                        });
  });
}

void kernels::normalize(const Tensor &input, size_t axis, int64_t p, Tensor &output,
                        ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes(input.shape(), axis, axis);
    threads.parallelFor(
        axes.outer * axes.inner, grainFor(4 * axes.size), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            int64_t at = row / axes.inner * axes.size * axes.inner + row % axes.inner;
            double sum = sumOf(axes.size, [&](int64_t i) {
              double value = std::abs(static_cast<double>(from[at + i * axes.inner]));
              return p == 1 ? value : value * value;
            });
            auto norm = static_cast<T>(p == 1 ? sum : std::sqrt(sum));
            for (int64_t i = at; i < at + axes.size * axes.inner; i += axes.inner)
              to[i] = norm == 0 ? T(0) : from[i] / norm;
          }
        });
  });
}

void kernels::meanVarianceNorm(const Tensor &input, const std::vector<size_t> &axes, double epsilon,
                               Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    const Shape &shape = input.shape();
    Shape strides = shape.strides();
    // Offsets of the elements of one set, and of the first elements of all sets.
    std::vector<int64_t> members = {0};
    std::vector<int64_t> sets = {0};
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      bool isOver = std::find(axes.begin(), axes.end(), axis) != axes.end();
      std::vector<int64_t> &offsets = isOver ? members : sets;
      std::vector<int64_t> longer;
      longer.reserve(offsets.size() * shape[axis]);
      for (int64_t offset : offsets)
        for (int64_t i = 0; i < shape[axis]; ++i)
          longer.push_back(offset + i * strides[axis]);
      offsets = std::move(longer);
    }
    auto count = static_cast<int64_t>(members.size());
    threads.parallelFor(
        static_cast<int64_t>(sets.size()), grainFor(6 * count), [&](int64_t begin, int64_t end) {
          for (int64_t set = begin; set < end; ++set) {
            const T *x = from + sets[set];
            T *y = to + sets[set];
            Moments moments = momentsOf(count, [&](int64_t i) { return x[members[i]]; });
            auto middle = static_cast<T>(moments.mean);
            auto divisor = static_cast<T>(std::sqrt(moments.variance) + epsilon);
            for (int64_t member : members)
              y[member] = (x[member] - middle) / divisor;
          }
        });
  });
}

void kernels::localResponseNorm(const Tensor &input, int64_t size, double alpha, double beta,
                                double bias, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes = channelsOf(input.shape());
    auto factor = static_cast<T>(alpha / static_cast<double>(size));
    threads.parallelFor(axes.outer * axes.size, grainFor((size + 20) * axes.inner),
                        [&](int64_t begin, int64_t end) {
                          std::vector<T> sums(axes.inner);
                          for (int64_t plane = begin; plane < end; ++plane) {
                            int64_t channel = plane % axes.size;
                            int64_t first = std::max<int64_t>(0, channel - (size - 1) / 2);
                            int64_t last = std::min(axes.size - 1, channel + size / 2);
                            std::fill(sums.begin(), sums.end(), T(0));
                            for (int64_t c = first; c <= last; ++c) {
                              const T *x = from + (plane - channel + c) * axes.inner;
                              for (int64_t i = 0; i < axes.inner; ++i)
                                sums[i] += x[i] * x[i];
                            }
                            for (int64_t i = 0; i < axes.inner; ++i)
                              to[plane * axes.inner + i] =
                                  from[plane * axes.inner + i] /
                                  std::pow(static_cast<T>(bias) + factor * sums[i],
                                           static_cast<T>(beta));
                          }
                        });
  });
}

/// `to` = the sums of the `extent` numbers of `from`, `step` apart, over those from (size-1)/2
/// before to size/2 behind each.
template <typename T>
static void sumAround(const T *from, int64_t extent, int64_t step, int64_t size, T *to) {
  for (int64_t at = 0; at < extent; ++at) {
    T sum = 0;
    const int64_t last = std::min(extent - 1, at + size / 2);
    for (int64_t i = std::max<int64_t>(0, at - (size - 1) / 2); i <= last; ++i)
      sum += from[i * step];
    to[at * step] = sum;
  }
}

void kernels::localResponseNormWithin(const Tensor &input, int64_t size, double alpha, double beta,
                                      double bias, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    const Shape &shape = input.shape();
    const int64_t height = shape[2];
    const int64_t width = shape[3];
    const auto plane = static_cast<size_t>(height * width);
    const auto area = static_cast<double>(size) * static_cast<double>(size);
    const auto factor = static_cast<T>(alpha / area);
    threads.parallelFor(
        shape[0] * shape[1], grainFor((2 * std::min(size, width + height) + 20) * height * width),
        [&](int64_t begin, int64_t end) {
          std::vector<T> squares(plane);
          std::vector<T> rows(plane);
          for (int64_t index = begin; index < end; ++index) {
            const T *x = from + static_cast<size_t>(index) * plane;
            T *y = to + static_cast<size_t>(index) * plane;
            std::transform(x, x + plane, squares.begin(), [](T value) { return value * value; });
            for (int64_t row = 0; row < height; ++row)
              sumAround(squares.data() + row * width, width, 1, size, rows.data() + row * width);
            for (int64_t column = 0; column < width; ++column)
              sumAround(rows.data() + column, height, width, size, squares.data() + column);
            for (size_t i = 0; i < plane; ++i)
              y[i] =
                  x[i] / std::pow(static_cast<T>(bias) + factor * squares[i], static_cast<T>(beta));
          }
        });
  });
}

/// softmax of f16 and bf16 as ONNX defines it: `from` and `to` hold elements of `type` as f32.
static void softmaxRounded(const Axes &axes, float beta, const float *from, float *to,
                           DataType type, ThreadPool &threads) {
  const auto alongAxis = [&](int64_t index, std::vector<float> &row) {
    int64_t at = index / axes.inner * axes.size * axes.inner + index % axes.inner;
    for (int64_t i = 0; i < axes.size; ++i)
      row[i] = rounded(from[at + i * axes.inner] * beta, type);
    softmaxInSteps(std::span<float>(row), type);
    for (int64_t i = 0; i < axes.size; ++i)
      to[at + i * axes.inner] = row[i];
  };
  threads.parallelFor(axes.outer * axes.inner, grainFor(40 * axes.size),
                      [&](int64_t begin, int64_t end) {
                        std::vector<float> row(axes.size);
                        for (int64_t index = begin; index < end; ++index)
                          alongAxis(index, row);
                      });
}

void kernels::softmax(const Tensor &input, size_t axis, double beta, bool log, Tensor &output,
                      ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes(input.shape(), axis, axis);
    auto sharpness = static_cast<T>(beta);
    const bool isRounded = output.type() == DataType::F16 || output.type() == DataType::BF16;
    if constexpr (std::is_same_v<T, float>) {
      if (isRounded && !log)
        return softmaxRounded(axes, sharpness, from, to, output.type(), threads);
      if (axes.inner == 1 && !log)
        return forEachRow(axes, 8, threads, [&](int64_t at) {
          simdKernels().softmaxRow(from + at, sharpness, to + at, axes.size);
        });
    }
    threads.parallelFor(
        axes.outer * axes.inner, grainFor(20 * axes.size), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            int64_t at = row / axes.inner * axes.size * axes.inner + row % axes.inner;
            const T *x = from + at;
            T *y = to + at;
            int64_t step = axes.inner;
            T most = -std::numeric_limits<T>::infinity();
            for (int64_t i = 0; i < axes.size; ++i)
              most = std::max(most, x[i * step] * sharpness);
            for (int64_t i = 0; i < axes.size; ++i) {
              T shifted = x[i * step] * sharpness - most;
              y[i * step] = log ? shifted : std::exp(shifted);
            }
            double sum = sumOf(
                axes.size, [&](int64_t i) { return log ? std::exp(y[i * step]) : y[i * step]; });
            auto last = static_cast<T>(log ? std::log(sum) : 1 / sum);
            for (int64_t i = 0; i < axes.size; ++i)
              y[i * step] = log ? y[i * step] - last : y[i * step] * last;
          }
        });
  });
}

void kernels::hardmax(const Tensor &input, size_t axis, Tensor &output, ThreadPool &threads) {
  onFloats(input, output, [&](auto zero, const auto *from, auto *to) {
    using T = decltype(zero);
    Axes axes(input.shape(), axis, axis);
    threads.parallelFor(
        axes.outer * axes.inner, grainFor(2 * axes.size), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            int64_t at = row / axes.inner * axes.size * axes.inner + row % axes.inner;
            int64_t best = 0;
            for (int64_t i = 0; i < axes.size; ++i) {
              if (from[at + i * axes.inner] > from[at + best * axes.inner])
                best = i;
              to[at + i * axes.inner] = T(0);
            }
            to[at + best * axes.inner] = T(1);
          }
        });
  });
}
