//===- IntegerConvolution.cpp - Convolutions of 8-bit tensors -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/IntegerDepthwise.h"
#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

std::array<int64_t, 3> tapStrides(const Geometry &g) {
  return {g.kernel[1] * g.kernel[2], g.kernel[2], 1};
}

/// One output pixel that takes all of the input: a product of matrices.
bool isInnerProduct(const Geometry &g, int64_t group) {
  bool result = group == 1 && g.smallSize == 1 && g.kernel == g.large;
  for (size_t axis = 0; axis < 3; ++axis)
    result = result && g.pads[axis] == 0 && (g.kernel[axis] == 1 || g.dilations[axis] == 1);
  return result;
}

/// A convolution with its filter packed, in one of the two ways.
struct PackedConvolution {
  std::optional<IntegerDepthwise> depthwise;
  std::optional<IntegerConvolver> convolver;

  PackedConvolution(const Geometry &g, const FilterView &filter, const Tensor *bias,
                    const IntegerConvParams &params, DataType type, int32_t subtracted) {
    if (IntegerDepthwise::isFor(g, params.group, filter.type, params.level))
      depthwise.emplace(g, filter, bias, type, subtracted, params.inputZero, params.level);
    else
      convolver.emplace(g, params.group, filter, bias, type, subtracted, params.inputZero,
                        params.level);
  }

  void run(const Tensor &tensor, const RowFinisher &finisher, Tensor &output,
           ThreadPool &threads) const {
    if (depthwise)
      depthwise->run(tensor, finisher, output, threads);
    else
      convolver->run(tensor, finisher, output, threads);
  }
};

/// What a convolution keeps from run to run.
struct KeptConvolution {
  Shape input;
  std::optional<PackedConvolution> packed; ///< None where it is a product of matrices,
  KernelCache product;                     ///< which keeps its own.
};

} // namespace

void kernels::integerConvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                              const IntegerConvParams &params, Tensor &output, ThreadPool &threads,
                              KernelCache *cache) {
  if (output.numElements() == 0)
    return;
  const Geometry g = geometryOf(output.shape(), input.shape(), params.window);
  const auto make = [&] {
    auto made = std::make_shared<KeptConvolution>();
    made->input = input.shape();
    if (isInnerProduct(g, params.group))
      return made;
    const int64_t perRow = g.largeChannels / params.group * g.kernelSize;
    const FilterView view(filter, g.smallChannels / params.group * perRow, perRow, g.kernelSize,
                          tapStrides(g));
    made->packed.emplace(g, view, bias, params, input.type(), 0);
    return made;
  };
  const std::shared_ptr<KeptConvolution> kept =
      cache ? cache->get<KeptConvolution>(
                  [&](const KeptConvolution &found) { return found.input == input.shape(); }, make)
            : make();
  if (!kept->packed) {
    const int64_t terms = g.largeChannels * g.largeSize;
    Tensor rows = output.reshaped({g.batch, g.smallChannels});
    return integerMatMul(input.reshaped({g.batch, terms}),
                         filter.reshaped({g.smallChannels, terms}), bias,
                         {false, true, 0, 0, params.requant, params.level}, rows, threads,
                         cache ? &kept->product : nullptr);
  }
  std::optional<Requantizer> requantizer;
  if (params.requant)
    requantizer.emplace(*params.requant, integerSimd(params.level));
  kept->packed->run(input, RowFinisher(requantizer ? &*requantizer : nullptr), output, threads);
}

namespace {

/// Along one axis of a transposed convolution: the outputs first, first + stride, ... take every
/// `tapStep`th tap from `firstTap` on, which makes a plain convolution of them once the taps are
/// turned around.
struct PhaseAxis {
  int64_t first, outputs;
  int64_t firstTap, tapStep, taps;
  int64_t dilation, pad;

  PhaseAxis(const Geometry &g, size_t axis, int64_t first) : first(first) {
    const int64_t stride = g.strides[axis];
    const int64_t dilation = g.dilations[axis];
    outputs = (g.large[axis] - first + stride - 1) / stride;
    const int64_t common = std::gcd(stride, dilation);
    tapStep = stride / common;
    this->dilation = dilation / common;
    const int64_t start = first + g.pads[axis];
    firstTap = 0;
    while (firstTap < tapStep && (start - firstTap * dilation) % stride != 0)
      ++firstTap;
    const bool hasTaps = firstTap < std::min(tapStep, g.kernel[axis]);
    taps = hasTaps ? (g.kernel[axis] - 1 - firstTap) / tapStep + 1 : 0;
    const int64_t lastTap = firstTap + (taps - 1) * tapStep;
    pad = hasTaps ? (lastTap * dilation - start) / stride : 0;
  }
};

/// The outputs of a transposed convolution that have the same remainders when divided by the
/// strides.
struct IntegerPhase {
  std::array<PhaseAxis, 3> axes;
  PackedConvolution convolution;
  Shape shape; ///< Of these outputs.
};

/// The convolution of a phase: its small side are the phase's outputs.
Geometry phaseGeometry(const Geometry &g, const std::array<PhaseAxis, 3> &axes) {
  Geometry result = g;
  result.smallChannels = g.largeChannels;
  result.largeChannels = g.smallChannels;
  for (size_t axis = 0; axis < 3; ++axis) {
    result.kernel[axis] = std::max<int64_t>(axes[axis].taps, 1);
    result.strides[axis] = 1;
    result.dilations[axis] = axes[axis].dilation;
    result.pads[axis] = axes[axis].pad;
    result.small[axis] = axes[axis].outputs;
    result.large[axis] = g.small[axis];
  }
  const auto product = [](const std::array<int64_t, 3> &extents) {
    return extents[0] * extents[1] * extents[2];
  };
  result.smallSize = product(result.small);
  result.largeSize = product(result.large);
  result.kernelSize = product(result.kernel);
  return result;
}

FilterView phaseFilter(const Geometry &g, const std::array<PhaseAxis, 3> &axes,
                       const Tensor &filter, int64_t group) {
  const int64_t perChannel = g.largeChannels / group * g.kernelSize;
  FilterView view(filter, g.smallChannels / group * perChannel, g.kernelSize, perChannel,
                  tapStrides(g));
  for (size_t axis = 0; axis < 3; ++axis) {
    const PhaseAxis &own = axes[axis];
    view.isEmpty = view.isEmpty || own.taps == 0;
    view.first += (own.firstTap + (own.taps - 1) * own.tapStep) * view.tapSteps[axis];
    view.tapSteps[axis] *= -own.tapStep;
  }
  return view;
}

std::vector<IntegerPhase> makePhases(const Geometry &g, const Tensor &filter, const Tensor *bias,
                                     const IntegerConvParams &params, DataType input) {
  std::vector<IntegerPhase> phases;
  for (int64_t d = 0; d < std::min(g.strides[0], g.large[0]); ++d)
    for (int64_t h = 0; h < std::min(g.strides[1], g.large[1]); ++h)
      for (int64_t w = 0; w < std::min(g.strides[2], g.large[2]); ++w) {
        const std::array axes = {PhaseAxis(g, 0, d), PhaseAxis(g, 1, h), PhaseAxis(g, 2, w)};
        const Geometry own = phaseGeometry(g, axes);
        phases.push_back(
            {axes,
             PackedConvolution(own, phaseFilter(g, axes, filter, params.group), bias, params, input,
                               params.inputZero),
             Shape{g.batch, g.largeChannels, own.small[0], own.small[1], own.small[2]}});
      }
  return phases;
}

/// Puts the outputs of a phase to their places.
template <typename T>
void scatter(const IntegerPhase &phase, const Geometry &g, const Tensor &from, Tensor &to,
             ThreadPool &threads) {
  const T *source = from.data<T>().data();
  T *target = to.mutableData<T>().data();
  const auto [deep, high, wide] = phase.axes;
  const int64_t rows = deep.outputs * high.outputs;
  threads.parallelFor(g.batch * g.largeChannels * rows, grainFor(wide.outputs),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t row = begin; row < end; ++row) {
                          const int64_t z = deep.first + row % rows / high.outputs * g.strides[0];
                          const int64_t y = high.first + row % high.outputs * g.strides[1];
                          const T *line = source + row * wide.outputs;
                          T *result = target + row / rows * g.largeSize +
                                      (z * g.large[1] + y) * g.large[2] + wide.first;
                          for (int64_t x = 0; x < wide.outputs; ++x)
                            result[x * g.strides[2]] = line[x];
                        }
                      });
}

struct KeptPhases {
  Shape input;
  std::vector<IntegerPhase> phases;
};

} // namespace

void kernels::integerDeconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                                const IntegerConvParams &params, Tensor &output,
                                ThreadPool &threads, KernelCache *cache) {
  if (output.numElements() == 0)
    return;
  const Geometry g = geometryOf(input.shape(), output.shape(), params.window);
  const auto make = [&] {
    return std::make_shared<KeptPhases>(
        KeptPhases{input.shape(), makePhases(g, filter, bias, params, input.type())});
  };
  const std::shared_ptr<KeptPhases> kept =
      cache ? cache->get<KeptPhases>(
                  [&](const KeptPhases &found) { return found.input == input.shape(); }, make)
            : make();
  std::optional<Requantizer> requantizer;
  if (params.requant)
    requantizer.emplace(*params.requant, integerSimd(params.level));
  for (const IntegerPhase &phase : kept->phases) {
    Tensor part(output.type(), phase.shape);
    phase.convolution.run(input, RowFinisher(requantizer ? &*requantizer : nullptr), part, threads);
    if (requantizer)
      scatter<uint8_t>(phase, g, part, output, threads);
    else
      scatter<int32_t>(phase, g, part, output, threads);
  }
}
