//===- ConvolutionFloat.cpp - f32 convolutions of any form ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two ways. What the kernels on blocks of channels know runs through them, between copies into the
// blocked layout and back. The rest are products of matrices: a convolution is its filter times the
// pixels under each tap; a transposed one is its filter times the input, whose products are then
// added up where windows overlap.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/ConvolutionFloat.h"
#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Interpreter/Kernels/PackedMatMul.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// A kernel on blocks for fixed shapes, with copies where its operand or result is plain.
struct BlockedForm {
  std::unique_ptr<CompiledKernel> toBlocks, kernel, fromBlocks;
  int64_t inputSize, outputSize; ///< In blocks.

  void run(const float *from, float *to, ThreadPool &threads) const {
    const AlignedFloats input(toBlocks ? inputSize : 0);
    const AlignedFloats output(fromBlocks ? outputSize : 0);
    if (toBlocks)
      toBlocks->run({&from, 1}, input.data(), threads);
    const float *operand = toBlocks ? input.data() : from;
    kernel->run({&operand, 1}, fromBlocks ? output.data() : to, threads);
    operand = output.data();
    if (fromBlocks)
      fromBlocks->run({&operand, 1}, to, threads);
  }
};

/// What is kept for a constant filter: the form that serves the shapes.
struct Prepared {
  Shape input, output;
  std::optional<BlockedForm> blocked;
  /// The filter of a transposed convolution without such a form: [group][outputs, taps][inputs].
  std::vector<float> turned;
};

std::optional<BlockedForm> blockedForm(bool transposed, const Shape &input, const Shape &output,
                                       const Tensor &filter, const Tensor *bias,
                                       const ConvParams &params) {
  const bool isKnown = transposed ? isBlockedDeconvolution(input, output, params)
                                  : isBlockedConvolution(input, filter.shape(), params);
  if (!isKnown)
    return std::nullopt;
  BlockedForm form;
  if (transposed || !takesPlainInput(input, filter.shape(), params))
    form.toBlocks = makeToBlocked(input);
  if (!transposed || !givesPlainResult(input, output, params))
    form.fromBlocks = makeFromBlocked(output);
  form.kernel = transposed ? makeDeconvolution(input, output, filter, bias, params)
                           : makeConvolution(input, output, filter, bias, params);
  if (params.doRelu) {
    PostOp clip;
    clip.kind = PostOp::Kind::Clip;
    clip.a = 0;
    clip.b = params.reluLimit < 0 ? std::numeric_limits<float>::infinity()
                                  : static_cast<float>(params.reluLimit);
    form.kernel->postOps.push_back(clip);
  }
  form.inputSize = blockedShape(input).numElements();
  form.outputSize = blockedShape(output).numElements();
  return form;
}

/// The filter [inputs, outputs per group, taps] as one left matrix for each group.
std::vector<float> turnFilter(const Tensor &filter, int64_t groups) {
  const Shape &shape = filter.shape();
  const int64_t perGroup = shape[0] / groups;
  const int64_t rows = filter.numElements() / shape[0];
  std::vector<float> result(static_cast<size_t>(filter.numElements()));
  const auto values = filter.data<float>();
  for (int64_t i = 0; i < filter.numElements(); ++i) {
    const int64_t channel = i / rows;
    const int64_t at = (channel / perGroup * rows + i % rows) * perGroup + channel % perGroup;
    result[static_cast<size_t>(at)] = values[static_cast<size_t>(i)];
  }
  return result;
}

void finish(float *values, int64_t count, const Tensor *bias, int64_t channel,
            const ConvParams &params) {
  const float add = bias ? bias->data<float>()[static_cast<size_t>(channel)] : 0.0F;
  for (int64_t i = 0; i < count; ++i) {
    values[i] += add;
    if (params.doRelu)
      values[i] = relu(values[i], params.reluLimit);
  }
}

/// Pixels [first, first + count) under each tap of `channels` input channels: [channels, taps,
/// count], 0 outside of the input.
void gatherTaps(const Geometry &g, const float *from, int64_t channels, int64_t first,
                int64_t count, float *to) {
  std::fill_n(to, channels * g.kernelSize * count, 0.0F);
  const int64_t width = g.small[2];
  const auto at = [&](size_t axis, int64_t position, int64_t k) {
    return position * g.strides[axis] + k * g.dilations[axis] - g.pads[axis];
  };
  for (int64_t row = first / width; row * width < first + count; ++row)
    for (int64_t tap = 0; tap < g.kernelSize; ++tap) {
      const int64_t k = tap % g.kernel[2];
      const int64_t z = at(0, row / g.small[1], tap / (g.kernel[1] * g.kernel[2]));
      const int64_t y = at(1, row % g.small[1], tap / g.kernel[2] % g.kernel[1]);
      const auto [left, right] = g.inside(2, k);
      const int64_t begin = std::max(row * width + left, first);
      const int64_t end = std::min(row * width + right, first + count);
      if (z < 0 || z >= g.large[0] || y < 0 || y >= g.large[1] || begin >= end)
        continue;
      const float *line = from + (z * g.large[1] + y) * g.large[2] + at(2, begin - row * width, k);
      float *result = to + tap * count + begin - first;
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < end - begin; ++i)
          result[c * g.kernelSize * count + i] = line[c * g.largeSize + i * g.strides[2]];
    }
}

void convolveByProducts(const Tensor &input, const Tensor &filter, const Tensor *bias,
                        const ConvParams &params, Tensor &output, ThreadPool &threads) {
  constexpr int64_t kFloatsAtOnce = 1 << 17;
  const Geometry g = geometryOf(output.shape(), input.shape(), params.window);
  const int64_t perGroup = g.largeChannels / params.group;
  const int64_t outputsPerGroup = g.smallChannels / params.group;
  const int64_t terms = perGroup * g.kernelSize;
  const int64_t strip = std::clamp<int64_t>(kFloatsAtOnce / terms / kBlock * kBlock, kBlock,
                                            std::max(g.smallSize, kBlock));
  const int64_t strips = (g.smallSize + strip - 1) / strip;
  const float *from = input.data<float>().data();
  const float *taps = filter.data<float>().data();
  float *to = output.mutableData<float>().data();
  const auto run = [&](int64_t sample, int64_t group, int64_t first) {
    const int64_t count = std::min(strip, g.smallSize - first);
    const AlignedFloats pixels(terms * count);
    gatherTaps(g, from + (sample * g.largeChannels + group * perGroup) * g.largeSize, perGroup,
               first, count, pixels.data());
    const int64_t channel = group * outputsPerGroup;
    float *result = to + (sample * g.smallChannels + channel) * g.smallSize + first;
    PackedMatrix(pixels.data(), count, terms, count, false)
        .multiply(taps + channel * terms, terms, outputsPerGroup, result, g.smallSize);
    for (int64_t m = 0; m < outputsPerGroup; ++m)
      finish(result + m * g.smallSize, count, bias, channel + m, params);
  };
  threads.parallelFor(g.batch * params.group * strips, grainFor(terms * strip * outputsPerGroup),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i)
                          run(i / (params.group * strips), i / strips % params.group,
                              i % strips * strip);
                      });
}

void deconvolveByProducts(const Tensor &input, const std::vector<float> &turned, const Tensor *bias,
                          const ConvParams &params, Tensor &output, ThreadPool &threads) {
  const Geometry g = geometryOf(input.shape(), output.shape(), params.window);
  const int64_t perGroup = g.smallChannels / params.group;
  const int64_t outputsPerGroup = g.largeChannels / params.group;
  const float *from = input.data<float>().data();
  float *to = output.mutableData<float>().data();
  // One plane of the output after the other; those of a group read the same packed input.
  const auto run = [&](int64_t begin, int64_t end) {
    std::optional<PackedMatrix> packed;
    const AlignedFloats products(g.kernelSize * g.smallSize);
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t number = plane / outputsPerGroup; // Of the group, over all samples.
      if (!packed || plane % outputsPerGroup == 0)
        packed.emplace(from + number * perGroup * g.smallSize, g.smallSize, perGroup, g.smallSize,
                       false);
      const int64_t channel = plane % g.largeChannels;
      packed->multiply(turned.data() + channel * g.kernelSize * perGroup, perGroup, g.kernelSize,
                       products.data(), g.smallSize);
      float *result = to + plane * g.largeSize;
      std::fill_n(result, g.largeSize, 0.0F);
      for (int64_t tap = 0; tap < g.kernelSize; ++tap)
        forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
          const float *row = products.data() + tap * g.smallSize + small;
          for (int64_t i = 0; i < count; ++i)
            result[large + i * g.strides[2]] += row[i];
        });
      finish(result, g.largeSize, bias, channel, params);
    }
  };
  threads.parallelFor(g.batch * g.largeChannels, grainFor(g.kernelSize * g.smallSize * perGroup),
                      run);
}

} // namespace

void kernels::convolveFloats(bool transposed, const Tensor &input, const Tensor &filter,
                             const Tensor *bias, const ConvParams &params, Tensor &output,
                             ThreadPool &threads, KernelCache *cache) {
  KernelCache once;
  const auto prepared =
      (cache ? cache : &once)
          ->get<Prepared>(
              [&](const Prepared &kept) {
                return kept.input == input.shape() && kept.output == output.shape();
              },
              [&] {
                auto made = std::make_shared<Prepared>();
                made->input = input.shape();
                made->output = output.shape();
                made->blocked =
                    blockedForm(transposed, input.shape(), output.shape(), filter, bias, params);
                if (transposed && !made->blocked)
                  made->turned = turnFilter(filter, params.group);
                return made;
              });
  if (prepared->blocked)
    return prepared->blocked->run(input.data<float>().data(), output.mutableData<float>().data(),
                                  threads);
  if (transposed)
    return deconvolveByProducts(input, prepared->turned, bias, params, output, threads);
  convolveByProducts(input, filter, bias, params, output, threads);
}
