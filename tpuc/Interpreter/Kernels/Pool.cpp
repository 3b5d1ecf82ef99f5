//===- Pool.cpp - Pooling of tensors --------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Pool.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"

#include <cmath>
#include <limits>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Calls `plane(geometry, input plane, output plane, index)` for all planes.
template <typename T, typename Plane>
void forEachPlane(const Tensor &input, const WindowParams &window, Tensor &output,
                  ThreadPool &threads, Plane &&plane) {
  Geometry g = geometryOf(output.shape(), input.shape(), window);
  const T *from = input.data<T>().data();
  T *to = output.mutableData<T>().data();
  threads.parallelFor(g.batch * g.smallChannels, grainFor(g.smallSize * g.kernelSize),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i)
                          plane(g, from + i * g.largeSize, to + i * g.smallSize, i);
                      });
}

template <typename T> void reluPlane(const PoolParams &params, T *values, int64_t count) {
  if (params.doRelu)
    for (int64_t i = 0; i < count; ++i)
      values[i] = relu(values[i], params.reluLimit);
}

/// `position` among the spatial extents, counted first to last.
int64_t columnMajorIndex(const Geometry &g, int64_t position) {
  int64_t w = position % g.large[2];
  int64_t h = position / g.large[2] % g.large[1];
  int64_t d = position / (g.large[1] * g.large[2]);
  return d + g.large[0] * (h + g.large[1] * w);
}

} // namespace

void kernels::averagePool(const Tensor &input, const PoolParams &params, Tensor &output,
                          ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    Geometry whole = geometryOf(output.shape(), input.shape(), params.window);
    auto inside = tapCounts(whole, params.window, false);
    auto counted = tapCounts(whole, params.window, params.countIncludePad);
    forEachPlane<T>(source, params.window, result, threads,
                    [&](const Geometry &g, const T *from, T *to, int64_t) {
                      std::fill_n(to, g.smallSize, T(0));
                      for (int64_t tap = 0; tap < g.kernelSize; ++tap)
                        forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
                          for (int64_t i = 0; i < count; ++i)
                            to[small + i] += from[large + i * g.strides[2]];
                        });
                      int64_t at = 0;
                      for (int64_t d = 0; d < g.small[0]; ++d)
                        for (int64_t h = 0; h < g.small[1]; ++h)
                          for (int64_t w = 0; w < g.small[2]; ++w, ++at) {
                            int64_t taps = counted[0][d] * counted[1][h] * counted[2][w];
                            int64_t padding = taps - inside[0][d] * inside[1][h] * inside[2][w];
                            to[at] += static_cast<T>(params.padValue) * static_cast<T>(padding);
                            if constexpr (std::is_floating_point_v<T>)
                              to[at] /= static_cast<T>(taps);
                            else
                              to[at] /= std::max<int64_t>(taps, 1);
                          }
                      reluPlane(params, to, g.smallSize);
                    });
  });
}

void kernels::maxPool(const Tensor &input, const PoolParams &params, Tensor &output,
                      Tensor *indices, bool columnMajor, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  int64_t *positions = indices ? indices->mutableData<int64_t>().data() : nullptr;
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    constexpr T kLowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                      : std::numeric_limits<T>::lowest();
    forEachPlane<T>(source, params.window, result, threads,
                    [&](const Geometry &g, const T *from, T *to, int64_t index) {
                      std::fill_n(to, g.smallSize, kLowest);
                      int64_t *where = positions ? positions + index * g.smallSize : nullptr;
                      if (where)
                        std::fill_n(where, g.smallSize, int64_t(-1));
                      for (int64_t tap = 0; tap < g.kernelSize; ++tap)
                        forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
                          for (int64_t i = 0; i < count; ++i) {
                            T value = from[large + i * g.strides[2]];
                            if (where && (value > to[small + i] || where[small + i] < 0))
                              where[small + i] = large + i * g.strides[2];
                            to[small + i] = value > to[small + i] ? value : to[small + i];
                          }
                        });
                      for (int64_t i = 0; where && i < g.smallSize; ++i)
                        where[i] = index * g.largeSize +
                                   (columnMajor ? columnMajorIndex(g, where[i]) : where[i]);
                      reluPlane(params, to, g.smallSize);
                    });
  });
}

void kernels::lpPool(const Tensor &input, const PoolParams &params, int64_t p, Tensor &output,
                     ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      forEachPlane<T>(source, params.window, result, threads,
                      [&](const Geometry &g, const T *from, T *to, int64_t) {
                        std::fill_n(to, g.smallSize, T(0));
                        for (int64_t tap = 0; tap < g.kernelSize; ++tap)
                          forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
                            for (int64_t i = 0; i < count; ++i) {
                              T value = std::abs(from[large + i * g.strides[2]]);
                              to[small + i] += p == 1   ? value
                                               : p == 2 ? value * value
                                                        : std::pow(value, static_cast<T>(p));
                            }
                          });
                        for (int64_t i = 0; i < g.smallSize; ++i)
                          to[i] = p == 1   ? to[i]
                                  : p == 2 ? std::sqrt(to[i])
                                           : std::pow(to[i], T(1) / static_cast<T>(p));
                      });
  });
}

Expected<void> kernels::maxUnpool(const Tensor &input, const Tensor &indices, const Shape &indexed,
                                  Tensor &output) {
  Tensor source = toCompute(input, output.type());
  auto positions = indices.data<int64_t>();
  int64_t size = indexed.numElements();
  for (int64_t position : positions)
    if (position < 0 || position >= size)
      return makeError("", "index " + std::to_string(position),
                       "0 to " + std::to_string(size - 1) + " in a tensor of shape " +
                           indexed.str());
  Shape strides = output.shape().strides();
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    auto from = source.data<T>();
    auto to = result.mutableData<T>();
    std::fill(to.begin(), to.end(), T(0));
    for (size_t i = 0; i < from.size(); ++i) {
      int64_t rest = positions[i];
      int64_t at = 0;
      for (size_t axis = indexed.rank(); axis-- > 0;) {
        at += rest % indexed[axis] * strides[axis];
        rest /= indexed[axis];
      }
      to[at] = from[i];
    }
  });
  return {};
}

namespace {

/// The four neighbours of a sample and their weights; all weights are 0 outside of the image.
template <typename T> struct Sample {
  std::array<int64_t, 4> positions{};
  std::array<T, 4> weights{};

  Sample(T y, T x, int64_t height, int64_t width) {
    if (!(y >= T(-1) && y <= static_cast<T>(height) && x >= T(-1) && x <= static_cast<T>(width)))
      return;
    auto [y0, y1, fy] = neighbours(y, height);
    auto [x0, x1, fx] = neighbours(x, width);
    positions = {y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1};
    weights = {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx};
  }

  static std::tuple<int64_t, int64_t, T> neighbours(T at, int64_t extent) {
    at = std::max(at, T(0));
    auto low = static_cast<int64_t>(at);
    if (low >= extent - 1)
      return {extent - 1, extent - 1, T(0)};
    return {low, low + 1, at - static_cast<T>(low)};
  }
};

/// A region on the image: where its first bin begins, how large bins are, samples per bin.
template <typename T> struct Region {
  T y, x, binHeight, binWidth;
  int64_t samplesY, samplesX;

  Region(const T *roi, const RoiAlignParams &params, int64_t height, int64_t width) {
    auto scale = static_cast<T>(params.spatialScale);
    T shift = params.halfPixel ? T(0.5) : T(0);
    x = roi[0] * scale - shift;
    y = roi[1] * scale - shift;
    T roiWidth = roi[2] * scale - shift - x;
    T roiHeight = roi[3] * scale - shift - y;
    if (!params.halfPixel) {
      roiWidth = std::max(roiWidth, T(1));
      roiHeight = std::max(roiHeight, T(1));
    }
    binHeight = roiHeight / static_cast<T>(height);
    binWidth = roiWidth / static_cast<T>(width);
    samplesY = params.samplingRatio > 0 ? params.samplingRatio : samplesFor(binHeight);
    samplesX = params.samplingRatio > 0 ? params.samplingRatio : samplesFor(binWidth);
  }

  /// A region far larger than any image would take forever.
  static int64_t samplesFor(T bin) {
    constexpr T kMost = 4096;
    return static_cast<int64_t>(std::ceil(std::min(std::max(bin, T(0)), kMost)));
  }
};

template <typename T>
void alignRegion(const Tensor &input, int64_t image, const Region<T> &region, bool isMax,
                 const Shape &shape, T *to) {
  int64_t height = input.shape()[2];
  int64_t width = input.shape()[3];
  const T *from = input.data<T>().data() + image * shape[1] * height * width;
  int64_t bins = shape[2] * shape[3];
  int64_t count = std::max<int64_t>(region.samplesY * region.samplesX, 1);
  for (int64_t bin = 0; bin < bins; ++bin) {
    std::vector<Sample<T>> samples;
    for (int64_t sy = 0; sy < region.samplesY; ++sy)
      for (int64_t sx = 0; sx < region.samplesX; ++sx) {
        int64_t binRow = bin / shape[3];
        auto row = static_cast<T>(binRow);
        auto column = static_cast<T>(bin % shape[3]);
        T y = region.y + row * region.binHeight +
              (static_cast<T>(sy) + T(0.5)) * region.binHeight / static_cast<T>(region.samplesY);
        T x = region.x + column * region.binWidth +
              (static_cast<T>(sx) + T(0.5)) * region.binWidth / static_cast<T>(region.samplesX);
        samples.emplace_back(y, x, height, width);
      }
    for (int64_t c = 0; c < shape[1]; ++c) {
      const T *plane = from + c * height * width;
      T sum = 0;
      T most = samples.empty() ? T(0) : -std::numeric_limits<T>::infinity();
      for (const Sample<T> &sample : samples)
        for (size_t i = 0; i < 4; ++i) {
          T value = sample.weights[i] * plane[sample.positions[i]];
          sum += value;
          most = std::max(most, value);
        }
      to[c * bins + bin] = isMax ? most : sum / static_cast<T>(count);
    }
  }
}

} // namespace

Expected<void> kernels::roiAlign(const Tensor &input, const Tensor &rois,
                                 const Tensor &batchIndices, const RoiAlignParams &params,
                                 Tensor &output, ThreadPool &threads) {
  auto images = batchIndices.data<int64_t>();
  for (int64_t image : images)
    if (image < 0 || image >= input.shape()[0])
      return makeError("", "batch index " + std::to_string(image),
                       "0 to " + std::to_string(input.shape()[0] - 1));
  if (output.numElements() == 0)
    return {};
  if (input.numElements() == 0)
    return makeError("", "input has shape " + input.shape().str(), "extents of at least 1");
  Tensor source = toCompute(input, output.type());
  Tensor regions = toCompute(rois, output.type());
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const Shape &shape = output.shape();
      int64_t size = shape[1] * shape[2] * shape[3];
      T *to = result.mutableData<T>().data();
      threads.parallelFor(shape[0], 1, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r)
          alignRegion<T>(source, images[r],
                         Region<T>(regions.data<T>().data() + 4 * r, params, shape[2], shape[3]),
                         params.isMax, shape, to + r * size);
      });
    }
  });
  return {};
}
