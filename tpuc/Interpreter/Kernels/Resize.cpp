//===- Resize.cpp - Resampling of tensors ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Resize.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/ResizeTaps.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// The point of the input for output position `x`.
double sourcePoint(const ResizeParams &params, size_t axis, int64_t in, int64_t out, int64_t x) {
  double scale = params.scales[axis];
  auto input = static_cast<double>(in);
  auto at = static_cast<double>(x);
  // ONNX takes the extent before it is rounded.
  double output = scale * input;
  switch (params.coordinates) {
  case CoordinateMode::AlignCorners:
    return output == 1 ? 0 : at * (input - 1) / (output - 1);
  case CoordinateMode::Asymmetric:
    return at / scale;
  case CoordinateMode::TfCropAndResize: {
    double begin = params.roiBegin[axis];
    double span = (params.roiEnd[axis] - begin) * (input - 1);
    return begin * (input - 1) + (output == 1 ? span / 2 : at * span / (output - 1));
  }
  case CoordinateMode::PytorchHalfPixel:
    return output == 1 ? -0.5 : (at + 0.5) / scale - 0.5;
  case CoordinateMode::HalfPixel:
    return (at + 0.5) / scale - 0.5;
  case CoordinateMode::HalfPixelSymmetric: {
    double adjustment = static_cast<double>(out) / output;
    return input / 2 * (1 - adjustment) + (at + 0.5) / scale - 0.5;
  }
  }
  return 0;
}

double nearestPoint(NearestMode mode, double point) {
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    return std::ceil(point - 0.5);
  case NearestMode::RoundPreferCeil:
    return std::floor(point + 0.5);
  case NearestMode::Floor:
    return std::floor(point);
  case NearestMode::Ceil:
    return std::ceil(point);
  }
  return 0;
}

/// Keys' cubic convolution kernel with parameter `a`, or the triangle.
double kernelAt(ResampleMode mode, double a, double distance) {
  double x = std::abs(distance);
  if (mode == ResampleMode::Linear)
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

} // namespace

Taps kernels::tapsAlong(const ResizeParams &params, size_t axis, int64_t in, int64_t out) {
  Taps taps;
  double shrink = params.antialias ? std::min(params.scales[axis], 1.0) : 1.0;
  int64_t radius = params.mode == ResampleMode::Linear ? 1 : 2;
  // Taps first .. 1 - first around the last pixel before the point.
  auto first = static_cast<int64_t>(std::floor(-static_cast<double>(radius) / shrink)) + 1;
  bool isNearest = params.mode == ResampleMode::Nearest;
  taps.perOutput = isNearest ? 1 : 2 - 2 * first;
  auto clamped = [&](double point) {
    return static_cast<int64_t>(std::clamp(point, 0.0, static_cast<double>(in - 1)));
  };
  for (int64_t x = 0; x < out; ++x) {
    double point = sourcePoint(params, axis, in, out, x);
    if (params.coordinates == CoordinateMode::TfCropAndResize)
      taps.outside.push_back(!(point >= 0 && point <= static_cast<double>(in - 1)));
    if (isNearest) {
      taps.positions.push_back(clamped(nearestPoint(params.nearest, point)));
      taps.weights.push_back(1);
      continue;
    }
    double base = std::ceil(point) - 1;
    double sum = 0;
    size_t start = taps.weights.size();
    for (int64_t i = first; i < first + taps.perOutput; ++i) {
      double position = base + static_cast<double>(i);
      bool isOutside = position < 0 || position > static_cast<double>(in - 1);
      double weight = params.excludeOutside && isOutside
                          ? 0
                          : kernelAt(params.mode, params.cubicA, (position - point) * shrink);
      taps.positions.push_back(clamped(position));
      taps.weights.push_back(weight);
      sum += weight;
    }
    if (params.antialias || params.excludeOutside)
      for (size_t i = start; i < taps.weights.size(); ++i)
        taps.weights[i] /= sum;
  }
  return taps;
}

namespace {

struct Extents {
  int64_t outer = 1, in, out, inner = 1;
  Extents(const Shape &shape, size_t axis, int64_t out) : in(shape[axis]), out(out) {
    for (size_t i = 0; i < shape.rank(); ++i)
      if (i != axis)
        (i < axis ? outer : inner) *= shape[i];
  }
};

/// [outer, in, inner] to [outer, out, inner].
template <typename T>
void resample(const Extents &e, const Taps &taps, const T *from, T *to, ThreadPool &threads) {
  threads.parallelFor(e.outer * e.out, grainFor(2 * taps.perOutput * e.inner),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t row = begin; row < end; ++row) {
                          const T *block = from + row / e.out * e.in * e.inner;
                          T *result = to + row * e.inner;
                          std::fill_n(result, e.inner, T(0));
                          int64_t tap = row % e.out * taps.perOutput;
                          for (int64_t k = tap; k < tap + taps.perOutput; ++k) {
                            const T *source = block + taps.positions[k] * e.inner;
                            auto weight = static_cast<T>(taps.weights[k]);
                            for (int64_t i = 0; i < e.inner; ++i)
                              result[i] += weight * source[i];
                          }
                        }
                      });
}

/// The same for one tap of weight 1 and elements of any type of `size` bytes.
void copyNearest(const Extents &e, const Taps &taps, size_t size, const std::byte *from,
                 std::byte *to, ThreadPool &threads) {
  int64_t bytes = e.inner * static_cast<int64_t>(size);
  threads.parallelFor(e.outer * e.out, grainFor(bytes), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      std::memcpy(to + row * bytes,
                  from + (row / e.out * e.in + taps.positions[row % e.out]) * bytes,
                  static_cast<size_t>(bytes));
  });
}

/// Puts `value` wherever one of the axes is outside of the region.
void extrapolate(const std::vector<Taps> &taps, double value, Tensor &output) {
  Tensor scalar = convert(Tensor::of<double>(Shape(), {value}), output.type());
  size_t size = bitWidth(output.type()) / 8;
  const Shape &shape = output.shape();
  std::byte *to = output.mutableBytes().data();
  for (int64_t i = 0; i < output.numElements(); ++i) {
    int64_t rest = i;
    bool isOutside = false;
    for (size_t axis = shape.rank(); axis-- > 0;) {
      isOutside = isOutside || (!taps[axis].outside.empty() &&
                                taps[axis].outside[static_cast<size_t>(rest % shape[axis])]);
      rest /= shape[axis];
    }
    if (isOutside)
      std::memcpy(to + static_cast<size_t>(i) * size, scalar.rawBytes().data(), size);
  }
}

} // namespace

void kernels::resize(const Tensor &input, const ResizeParams &params, Tensor &output,
                     ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  bool isNearest = params.mode == ResampleMode::Nearest;
  // Integers are averaged in f64.
  DataType type = isNearest               ? input.type()
                  : isFloat(input.type()) ? computeType(input.type())
                                          : DataType::F64;
  Tensor current = convert(input, type);
  std::vector<Taps> taps(input.shape().rank());
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    int64_t out = output.shape()[axis];
    bool stays = params.scales[axis] == 1 && out == current.shape()[axis] &&
                 params.coordinates != CoordinateMode::TfCropAndResize;
    if (stays)
      continue;
    taps[axis] = tapsAlong(params, axis, current.shape()[axis], out);
    Extents extents(current.shape(), axis, out);
    Shape shape = current.shape();
    shape[axis] = out;
    Tensor next(type, shape);
    if (isNearest)
      copyNearest(extents, taps[axis], bitWidth(type) / 8, current.rawBytes().data(),
                  next.mutableBytes().data(), threads);
    else
      dispatchCompute(type, [&](auto zero) {
        using T = decltype(zero);
        resample(extents, taps[axis], current.data<T>().data(), next.mutableData<T>().data(),
                 threads);
      });
    current = next;
  }
  Tensor result = convert(current, output.type());
  std::memcpy(output.mutableBytes().data(), result.rawBytes().data(), output.mutableBytes().size());
  if (params.coordinates == CoordinateMode::TfCropAndResize)
    extrapolate(taps, params.extrapolation, output);
}

void kernels::upsample(const Tensor &input, int64_t scaleH, int64_t scaleW, bool doRelu,
                       double reluLimit, Tensor &output, ThreadPool &threads) {
  ResizeParams params;
  params.coordinates = CoordinateMode::Asymmetric;
  params.nearest = NearestMode::Floor;
  params.scales = {1, 1, static_cast<double>(scaleH), static_cast<double>(scaleW)};
  resize(input, params, output, threads);
  if (!doRelu)
    return;
  Tensor wide = toCompute(output, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    auto from = wide.data<T>();
    auto to = result.mutableData<T>();
    for (size_t i = 0; i < from.size(); ++i)
      to[i] = relu(from[i], reluLimit);
  });
}

namespace {

/// `x` mirrored at `low` and `high` until it lies between them.
template <typename T> T reflect(T x, T low, T high) {
  T range = high - low;
  if (!(range > 0))
    return low;
  T distance = x < low ? low - x : x > high ? x - high : T(0);
  if (distance == 0)
    return x;
  T turns = std::floor(distance / range);
  T rest = distance - turns * range;
  bool isEven = std::fmod(turns, T(2)) == 0;
  return (x < low) == isEven ? low + rest : high - rest;
}

/// The taps of one sample along one axis.
template <typename T> struct AxisTaps {
  int64_t count = 0;
  std::array<int64_t, 4> positions{}; ///< Negative: 0, outside of the input.
  std::array<T, 4> weights{};

  AxisTaps(T coordinate, int64_t extent, ResampleMode mode, GridPadding padding,
           bool alignCorners) {
    auto size = static_cast<T>(extent);
    T low = alignCorners ? T(0) : T(-0.5);
    T high = alignCorners ? size - 1 : size - T(0.5);
    T x = alignCorners ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
    if (!std::isfinite(x))
      x = T(-2); // Such a point lies nowhere.
    if (mode == ResampleMode::Nearest)
      x = std::nearbyint(x);
    if (x < low || x > high) {
      // As PyTorch and ONNX Runtime have it, a cubic kernel stays where it is and its taps move.
      if (padding == GridPadding::Border && mode != ResampleMode::Cubic)
        x = std::clamp(x, T(0), size - 1);
      else if (padding == GridPadding::Reflection)
        x = reflect(x, low, high);
    }
    // Beyond this all taps are outside, and larger numbers may not fit an integer.
    x = std::clamp(x, T(-8), size + 8);
    T base = mode == ResampleMode::Nearest ? x : std::floor(x);
    int64_t first = mode == ResampleMode::Cubic ? -1 : 0;
    count = mode == ResampleMode::Nearest ? 1 : mode == ResampleMode::Linear ? 2 : 4;
    for (int64_t i = 0; i < count; ++i) {
      T position = base + static_cast<T>(first + i);
      weights[i] = mode == ResampleMode::Nearest
                       ? T(1)
                       : static_cast<T>(kernelAt(mode, -0.75, static_cast<double>(position - x)));
      if (padding == GridPadding::Border)
        position = std::clamp(position, T(0), size - 1);
      else if (padding == GridPadding::Reflection)
        position = std::trunc(reflect(position, low, high));
      bool isInside = position >= 0 && position <= size - 1;
      positions[i] = isInside ? static_cast<int64_t>(position) : -1;
    }
  }
};

template <typename T>
void sampleGrid(const Tensor &input, const Tensor &grid, ResampleMode mode, GridPadding padding,
                bool alignCorners, Tensor &output, ThreadPool &threads) {
  const Shape &shape = input.shape();
  size_t spatial = shape.rank() - 2;
  int64_t channels = shape[1];
  int64_t inSize = 1;
  int64_t outSize = 1;
  for (size_t axis = 0; axis < spatial; ++axis) {
    inSize *= shape[axis + 2];
    outSize *= output.shape()[axis + 2];
  }
  const T *from = input.data<T>().data();
  const T *points = grid.data<T>().data();
  T *to = output.mutableData<T>().data();
  threads.parallelFor(shape[0] * outSize, grainFor(16 * channels), [&](int64_t begin, int64_t end) {
    for (int64_t point = begin; point < end; ++point) {
      // Missing axes in front are one pixel wide.
      std::array<std::optional<AxisTaps<T>>, 3> taps;
      for (size_t axis = 0; axis < spatial; ++axis)
        taps[3 - spatial + axis].emplace(points[(point + 1) * spatial - 1 - axis], shape[axis + 2],
                                         mode, padding, alignCorners);
      std::vector<std::pair<int64_t, T>> all = {{0, T(1)}};
      for (size_t axis = 0; axis < spatial; ++axis) {
        const AxisTaps<T> &along = *taps[3 - spatial + axis];
        std::vector<std::pair<int64_t, T>> longer;
        for (auto [position, weight] : all)
          for (int64_t i = 0; i < along.count; ++i)
            if (along.positions[i] >= 0)
              longer.emplace_back(position * shape[axis + 2] + along.positions[i],
                                  weight * along.weights[i]);
        all = std::move(longer);
      }
      int64_t n = point / outSize;
      for (int64_t c = 0; c < channels; ++c) {
        T sum = 0;
        for (auto [position, weight] : all)
          sum += weight * from[(n * channels + c) * inSize + position];
        to[(n * channels + c) * outSize + point % outSize] = sum;
      }
    }
  });
}

} // namespace

void kernels::gridSample(const Tensor &input, const Tensor &grid, ResampleMode mode,
                         GridPadding padding, bool alignCorners, Tensor &output,
                         ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  // Integers are averaged in f64.
  DataType type = isFloat(input.type()) ? computeType(input.type()) : DataType::F64;
  Tensor source = convert(input, type);
  Tensor points = convert(grid, type);
  Tensor result = type == output.type() ? output : Tensor(type, output.shape());
  dispatchCompute(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      sampleGrid<T>(source, points, mode, padding, alignCorners, result, threads);
  });
  if (type != output.type())
    std::memcpy(output.mutableBytes().data(), convert(result, output.type()).rawBytes().data(),
                output.mutableBytes().size());
}

void kernels::affineGrid(const Tensor &theta, bool alignCorners, Tensor &output,
                         ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  Tensor maps = toCompute(theta, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const Shape &shape = output.shape();
      size_t rank = shape.rank() - 2;
      int64_t points = output.numElements() / static_cast<int64_t>(rank);
      int64_t perSample = points / shape[0];
      const T *from = maps.data<T>().data();
      T *to = result.mutableData<T>().data();
      threads.parallelFor(points, grainFor(32), [&](int64_t begin, int64_t end) {
        for (int64_t point = begin; point < end; ++point) {
          // The last axis comes first, and 1 at the end.
          std::array<T, 4> at{};
          at[rank] = 1;
          int64_t rest = point % perSample;
          for (size_t axis = 0; axis < rank; ++axis) {
            int64_t extent = shape[rank - axis];
            auto size = static_cast<T>(extent);
            auto position = static_cast<T>(rest % extent);
            rest /= extent;
            at[axis] = alignCorners ? (extent == 1 ? T(0) : 2 * position / (size - 1) - 1)
                                    : (2 * position + 1) / size - 1;
          }
          const T *map = from + point / perSample * static_cast<int64_t>(rank * (rank + 1));
          for (size_t row = 0; row < rank; ++row) {
            T sum = 0;
            for (size_t i = 0; i <= rank; ++i)
              sum += map[row * (rank + 1) + i] * at[i];
            to[point * static_cast<int64_t>(rank) + static_cast<int64_t>(row)] = sum;
          }
        }
      });
    }
  });
}
