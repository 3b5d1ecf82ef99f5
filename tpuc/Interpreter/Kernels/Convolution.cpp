//===- Convolution.cpp - Convolutions of tensors --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Convolution.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/ConvolutionFloat.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

template <typename T>
void finish(std::span<T> plane, const Tensor *bias, int64_t channel, const ConvParams &params) {
  using Sum = Accumulator<T>;
  Sum add = bias ? static_cast<Sum>(bias->data<T>()[channel]) : Sum(0);
  for (T &value : plane) {
    value = static_cast<T>(static_cast<Sum>(value) + add);
    if (params.doRelu)
      value = relu(value, params.reluLimit);
  }
}

template <typename T>
void convolveLoops(const Tensor &input, const Tensor &filter, const Tensor *bias,
                   const ConvParams &params, Tensor &output, ThreadPool &threads) {
  using Sum = Accumulator<T>;
  Geometry g = geometryOf(output.shape(), input.shape(), params.window);
  const T *from = input.data<T>().data();
  const T *taps = filter.data<T>().data();
  T *to = output.mutableData<T>().data();
  int64_t perGroup = g.largeChannels / params.group;
  int64_t outputsPerGroup = g.smallChannels / params.group;
  int64_t planes = g.batch * g.smallChannels;
  threads.parallelFor(
      planes, grainFor(g.smallSize * perGroup * g.kernelSize), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          int64_t channel = plane % g.smallChannels;
          int64_t first =
              plane / g.smallChannels * g.largeChannels + channel / outputsPerGroup * perGroup;
          T *result = to + plane * g.smallSize;
          std::fill_n(result, g.smallSize, T(0));
          for (int64_t c = 0; c < perGroup; ++c)
            for (int64_t tap = 0; tap < g.kernelSize; ++tap) {
              auto weight = static_cast<Sum>(taps[(channel * perGroup + c) * g.kernelSize + tap]);
              const T *source = from + (first + c) * g.largeSize;
              forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
                for (int64_t i = 0; i < count; ++i)
                  result[small + i] =
                      static_cast<T>(static_cast<Sum>(result[small + i]) +
                                     weight * static_cast<Sum>(source[large + i * g.strides[2]]));
              });
            }
          finish(std::span(result, g.smallSize), bias, channel, params);
        }
      });
}

template <typename T>
void deconvolveLoops(const Tensor &input, const Tensor &filter, const Tensor *bias,
                     const ConvParams &params, Tensor &output, ThreadPool &threads) {
  using Sum = Accumulator<T>;
  Geometry g = geometryOf(input.shape(), output.shape(), params.window);
  const T *from = input.data<T>().data();
  const T *taps = filter.data<T>().data();
  T *to = output.mutableData<T>().data();
  int64_t perGroup = g.smallChannels / params.group;
  int64_t outputsPerGroup = g.largeChannels / params.group;
  int64_t planes = g.batch * g.largeChannels;
  threads.parallelFor(
      planes, grainFor(g.smallSize * perGroup * g.kernelSize), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          int64_t channel = plane % g.largeChannels;
          int64_t inGroup = channel % outputsPerGroup;
          int64_t first = channel / outputsPerGroup * perGroup;
          T *result = to + plane * g.largeSize;
          std::fill_n(result, g.largeSize, T(0));
          for (int64_t c = first; c < first + perGroup; ++c)
            for (int64_t tap = 0; tap < g.kernelSize; ++tap) {
              auto weight =
                  static_cast<Sum>(taps[(c * outputsPerGroup + inGroup) * g.kernelSize + tap]);
              const T *source =
                  from + (plane / g.largeChannels * g.smallChannels + c) * g.smallSize;
              forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
                for (int64_t i = 0; i < count; ++i) {
                  T &sum = result[large + i * g.strides[2]];
                  sum = static_cast<T>(static_cast<Sum>(sum) +
                                       weight * static_cast<Sum>(source[small + i]));
                }
              });
            }
          finish(std::span(result, g.largeSize), bias, channel, params);
        }
      });
}

void runConvolution(bool transposed, const Tensor &input, const Tensor &filter, const Tensor *bias,
                    const ConvParams &params, Tensor &output, ThreadPool &threads,
                    KernelCache *cache) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  Tensor taps = toCompute(filter, output.type());
  Tensor summand = bias ? toCompute(*bias, output.type()) : Tensor();
  const Tensor *added = bias ? &summand : nullptr;
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float>)
      if (source.numElements() > 0 && taps.numElements() > 0)
        return convolveFloats(transposed, source, taps, added, params, result, threads, cache);
    if (transposed)
      deconvolveLoops<T>(source, taps, added, params, result, threads);
    else
      convolveLoops<T>(source, taps, added, params, result, threads);
  });
}

/// `plane` ([height, width]) at (y, x) between its elements, 0 outside.
template <typename T> T bilinear(const T *plane, int64_t height, int64_t width, T y, T x) {
  if (!(y > T(-1) && x > T(-1) && y < static_cast<T>(height) && x < static_cast<T>(width)))
    return T(0);
  auto y0 = static_cast<int64_t>(std::floor(y));
  auto x0 = static_cast<int64_t>(std::floor(x));
  T fy = y - static_cast<T>(y0);
  T fx = x - static_cast<T>(x0);
  auto at = [&](int64_t row, int64_t column) {
    bool isInside = row >= 0 && column >= 0 && row < height && column < width;
    return isInside ? plane[row * width + column] : T(0);
  };
  return (T(1) - fy) * ((T(1) - fx) * at(y0, x0) + fx * at(y0, x0 + 1)) +
         fy * ((T(1) - fx) * at(y0 + 1, x0) + fx * at(y0 + 1, x0 + 1));
}

template <typename T>
void deformLoops(const Tensor &input, const Tensor &filter, const Tensor &offset,
                 const Tensor *bias, const Tensor *mask, const ConvParams &params,
                 int64_t offsetGroup, Tensor &output, ThreadPool &threads) {
  Geometry g = geometryOf(output.shape(), input.shape(), params.window);
  const T *from = input.data<T>().data();
  const T *taps = filter.data<T>().data();
  const T *moves = offset.data<T>().data();
  const T *factors = mask ? mask->data<T>().data() : nullptr;
  T *to = output.mutableData<T>().data();
  int64_t perGroup = g.largeChannels / params.group;
  int64_t outputsPerGroup = g.smallChannels / params.group;
  int64_t perOffset = g.largeChannels / offsetGroup;
  // The samples of one output row, [channels, taps, width], serve all output channels.
  threads.parallelFor(g.batch * g.small[1], 1, [&](int64_t begin, int64_t end) {
    std::vector<T> samples(g.largeChannels * g.kernelSize * g.small[2]);
    for (int64_t row = begin; row < end; ++row) {
      int64_t n = row / g.small[1];
      int64_t oy = row % g.small[1];
      for (int64_t c = 0; c < g.largeChannels; ++c)
        for (int64_t tap = 0; tap < g.kernelSize; ++tap) {
          int64_t field = (n * offsetGroup + c / perOffset) * g.kernelSize + tap;
          for (int64_t ox = 0; ox < g.small[2]; ++ox) {
            int64_t at = oy * g.small[2] + ox;
            int64_t tapRow = tap / g.kernel[2];
            T y = static_cast<T>(oy * g.strides[1] + tapRow * g.dilations[1] - g.pads[1]) +
                  moves[2 * field * g.smallSize + at];
            T x =
                static_cast<T>(ox * g.strides[2] + tap % g.kernel[2] * g.dilations[2] - g.pads[2]) +
                moves[(2 * field + 1) * g.smallSize + at];
            T value = bilinear(from + (n * g.largeChannels + c) * g.largeSize, g.large[1],
                               g.large[2], y, x);
            samples[(c * g.kernelSize + tap) * g.small[2] + ox] =
                factors ? value * factors[field * g.smallSize + at] : value;
          }
        }
      for (int64_t m = 0; m < g.smallChannels; ++m) {
        T *result = to + (n * g.smallChannels + m) * g.smallSize + oy * g.small[2];
        std::fill_n(result, g.small[2], T(0));
        const T *weights = taps + m * perGroup * g.kernelSize;
        const T *source =
            samples.data() + m / outputsPerGroup * perGroup * g.kernelSize * g.small[2];
        for (int64_t k = 0; k < perGroup * g.kernelSize; ++k)
          for (int64_t ox = 0; ox < g.small[2]; ++ox)
            result[ox] += weights[k] * source[k * g.small[2] + ox];
        finish(std::span(result, g.small[2]), bias, m, params);
      }
    }
  });
}

} // namespace

void kernels::convolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                       const ConvParams &params, Tensor &output, ThreadPool &threads,
                       KernelCache *cache) {
  runConvolution(false, input, filter, bias, params, output, threads, cache);
}

void kernels::deconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                         const ConvParams &params, Tensor &output, ThreadPool &threads,
                         KernelCache *cache) {
  runConvolution(true, input, filter, bias, params, output, threads, cache);
}

Tensor kernels::insertZeros(const Tensor &input, const std::vector<int64_t> &inserts) {
  Shape shape = input.shape();
  for (size_t axis = 0; axis < inserts.size(); ++axis)
    shape[axis + 2] += std::max<int64_t>(shape[axis + 2] - 1, 0) * inserts[axis];
  Tensor result(input.type(), shape);
  size_t size = bitWidth(input.type()) / 8;
  Shape strides = shape.strides();
  std::vector<int64_t> index(shape.rank(), 0);
  for (int64_t i = 0; i < input.numElements(); ++i) {
    int64_t at = 0;
    int64_t rest = i;
    for (size_t axis = shape.rank(); axis-- > 0;) {
      int64_t position = rest % input.shape()[axis];
      rest /= input.shape()[axis];
      at += position * strides[axis] * (axis < 2 ? 1 : inserts[axis - 2] + 1);
    }
    std::memcpy(result.mutableBytes().data() + at * size, input.rawBytes().data() + i * size, size);
  }
  return result;
}

void kernels::deformConvolve(const Tensor &input, const Tensor &filter, const Tensor &offset,
                             const Tensor *bias, const Tensor *mask, const ConvParams &params,
                             int64_t offsetGroup, Tensor &output, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  Tensor taps = toCompute(filter, output.type());
  Tensor moves = toCompute(offset, output.type());
  Tensor summand = bias ? toCompute(*bias, output.type()) : Tensor();
  Tensor factors = mask ? toCompute(*mask, output.type()) : Tensor();
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      deformLoops<T>(source, taps, moves, bias ? &summand : nullptr, mask ? &factors : nullptr,
                     params, offsetGroup, result, threads);
  });
}

void kernels::col2Im(const Tensor &input, const WindowParams &window, Tensor &output,
                     ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  Tensor source = toCompute(input, output.type());
  size_t spatial = window.kernel.size();
  std::vector<int64_t> image(output.shape().begin() + 2, output.shape().end());
  std::vector<int64_t> blocks(spatial);
  int64_t kernelSize = 1;
  int64_t imageSize = 1;
  for (size_t axis = 0; axis < spatial; ++axis) {
    kernelSize *= window.kernel[axis];
    imageSize *= image[axis];
  }
  int64_t numBlocks = input.shape()[2];
  for (size_t axis = 0; axis < spatial; ++axis)
    blocks[axis] = (image[axis] + window.padsBegin[axis] + window.padsEnd[axis] -
                    (window.kernel[axis] - 1) * window.dilations[axis] - 1) /
                       window.strides[axis] +
                   1;
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    using Sum = Accumulator<T>;
    const T *from = source.data<T>().data();
    T *to = result.mutableData<T>().data();
    int64_t planes = output.shape()[0] * output.shape()[1];
    threads.parallelFor(planes, grainFor(kernelSize * numBlocks), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        T *sums = to + plane * imageSize;
        std::fill_n(sums, imageSize, T(0));
        for (int64_t i = 0; i < kernelSize * numBlocks; ++i) {
          int64_t tap = i / numBlocks;
          int64_t block = i % numBlocks;
          int64_t at = 0;
          int64_t stride = 1;
          bool isInside = true;
          for (size_t axis = spatial; axis-- > 0;) {
            int64_t position = block % blocks[axis] * window.strides[axis] +
                               tap % window.kernel[axis] * window.dilations[axis] -
                               window.padsBegin[axis];
            block /= blocks[axis];
            tap /= window.kernel[axis];
            isInside = isInside && position >= 0 && position < image[axis];
            at += position * stride;
            stride *= image[axis];
          }
          if (isInside)
            sums[at] = static_cast<T>(static_cast<Sum>(sums[at]) +
                                      static_cast<Sum>(from[plane * kernelSize * numBlocks + i]));
        }
      }
    });
  });
}
