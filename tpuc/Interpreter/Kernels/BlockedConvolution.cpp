//===- BlockedConvolution.cpp - Convolutions on blocks of 16 channels ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/BlockedGeometry.h"
#include "tpuc/Interpreter/Kernels/PackedWeights.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/TileLoop.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Any window over blocks of channels.
class GeneralConvolution : public CompiledKernel {
public:
  GeneralConvolution(const Shape &input, const Shape &output, const Tensor &filter,
                     const Tensor *bias, const ConvParams &params)
      : in(input), out(output), window(params.window), groups(params.group),
        termsPerGroup(in.channels / groups), columnsPerGroup(out.channels / groups),
        taps(window.kernel[0] * window.kernel[1]),
        isPointwise(taps == 1 && window.strides[0] == 1 && window.strides[1] == 1 &&
                    in.height == out.height && in.width == out.width),
        zeros(kBlock, 0.0F), offsets(paddedBias(bias, out.channels)) {
    const float *factors = filter.data<float>().data();
    for (int64_t group = 0; group < groups; ++group)
      weights.emplace_back(
          columnsPerGroup, taps, termsPerGroup, [&](int64_t column, int64_t tap, int64_t term) {
            return factors[((group * columnsPerGroup + column) * termsPerGroup + term) * taps +
                           tap];
          });
    groupsOfColumns = static_cast<int64_t>(weights.front().columnGroups().size());
    const int64_t largest = weights.front().columnGroups().front().blocks;
    const int64_t tile = simdKernels().maxPixels[static_cast<size_t>(largest - 1)];
    strip = stripOf(out.pixels, groups * groupsOfColumns, taps * termsPerGroup * largest * kBlock,
                    tile, 384);
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const int64_t strips = (out.pixels + strip - 1) / strip;
    const int64_t perSample = strips * groups * groupsOfColumns;
    const int64_t cost = std::min(strip, out.pixels) * taps * termsPerGroup *
                         weights.front().columnGroups().front().blocks;
    threads.parallelFor(out.batch * perSample, grainFor(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t inSample = i % perSample;
        const int64_t group = inSample % (groups * groupsOfColumns);
        const int64_t first = inSample / (groups * groupsOfColumns) * strip;
        runStrip(operands, result, clamp, rest, i / perSample, group / groupsOfColumns,
                 group % groupsOfColumns, first, std::min(first + strip, out.pixels));
      }
    });
  }

private:
  /// Taps [tap, tapEnd), and of their terms blocks [block, blockEnd).
  struct Chunk {
    int64_t tap, tapEnd, block, blockEnd;
  };

  void runStrip(std::span<const float *const> operands, float *result, const Clamp &clamp,
                const std::vector<PostOp> &rest, int64_t sample, int64_t group, int64_t columns,
                int64_t first, int64_t last) const {
    const PackedWeights &packed = weights[static_cast<size_t>(group)];
    const ColumnGroup &own = packed.columnGroups()[static_cast<size_t>(columns)];
    const int64_t block = group * (columnsPerGroup / kBlock) + own.firstBlock;
    const float *from = operands[0] + in.at(sample, group * (termsPerGroup / kBlock));
    float *to = result + out.at(sample, block);
    const int64_t termBlocks = blocksOf(termsPerGroup);
    const int64_t most = chunkBlocks(own.blocks);
    // Either several whole taps, or a part of one.
    const int64_t tapsAtOnce = std::clamp<int64_t>(most / termBlocks, 1, kMaxTaps);
    const int64_t parts = (termBlocks + most - 1) / most;
    const int64_t part = (termBlocks + parts - 1) / parts;
    for (int64_t tap = 0; tap < taps; tap += tapsAtOnce)
      for (int64_t at = 0; at < termBlocks; at += part)
        runChunk(packed, own, from, to, clamp,
                 {tap, std::min(tap + tapsAtOnce, taps), at, std::min(at + part, termBlocks)},
                 offsets.data() + block * kBlock, first, last);
    for (int64_t i = 0; !rest.empty() && i < own.blocks; ++i) {
      const int64_t at = out.at(sample, block + i) + first * kBlock;
      applyPostOps(rest, operands, {at, sample, block + i}, result + at, (last - first) * kBlock);
    }
  }

  void runChunk(const PackedWeights &packed, const ColumnGroup &own, const float *from, float *to,
                const Clamp &clamp, const Chunk &chunk, const float *bias, int64_t first,
                int64_t last) const {
    const SimdKernels &simd = simdKernels();
    const bool isFirst = chunk.tap == 0 && chunk.block == 0;
    const int64_t termBlocks = blocksOf(termsPerGroup);
    const bool isLast = chunk.tapEnd == taps && chunk.blockEnd == termBlocks;
    std::array<const float *, kMaxTaps * kMaxTile> sources;
    std::array<int64_t, kMaxTaps * kMaxTile> steps;
    std::array<int64_t, kMaxTile> wholeSteps;
    wholeSteps.fill(in.pixels * kBlock);
    std::array<float *, kMaxTile> outputs;
    TileArgs args{.sources = sources.data(),
                  .steps = steps.data(),
                  .stepsPerTap = 0,
                  .taps = chunk.tapEnd - chunk.tap,
                  .blocks = chunk.blockEnd - chunk.block,
                  .lastTerms = chunk.blockEnd == termBlocks
                                   ? termsPerGroup - (termBlocks - 1) * kBlock
                                   : kBlock,
                  .weights = packed.at(own, chunk.tap, chunk.block * kBlock),
                  .bias = isFirst ? bias : nullptr,
                  .outputs = outputs.data(),
                  .outputStep = out.pixels * kBlock,
                  .lastColumns = kBlock,
                  .clamp = isLast && clamp.isOn,
                  .low = clamp.low,
                  .high = clamp.high};
    PrefetchPlan next(args, own.blocks,
                      (last - first) / simd.maxPixels[static_cast<size_t>(own.blocks - 1)]);
    const float *start = from + chunk.block * in.pixels * kBlock;
    for (int64_t pixel = first; pixel < last;) {
      const int64_t size = tileOf(simd, own.blocks, last - pixel);
      for (int64_t p = 0; p < size; ++p)
        outputs[static_cast<size_t>(p)] = to + (pixel + p) * kBlock;
      const int64_t whole = std::min(wholePixels(pixel), last - pixel);
      if (whole >= size) {
        lookUpWhole(start, chunk, pixel, size, sources.data());
        args.steps = wholeSteps.data();
        args.stepsPerTap = 0;
        args.repeats = whole / size;
        args.sourceAdvance = size * window.strides[1] * kBlock;
        args.outputAdvance = size * kBlock;
      } else {
        lookUp(start, chunk, pixel, size, sources.data(), steps.data());
        args.steps = steps.data();
        args.stepsPerTap = size;
        args.repeats = 1;
      }
      next.advance(args);
      simd.tile[static_cast<size_t>(own.blocks - 1)][static_cast<size_t>(size - 1)](args);
      pixel += size * args.repeats;
    }
  }

  /// How many pixels from `pixel` on have all taps in the input, one stride apart.
  int64_t wholePixels(int64_t pixel) const {
    if (isPointwise)
      return out.pixels - pixel;
    const int64_t y = pixel / out.width;
    const int64_t x = pixel % out.width;
    const int64_t top = y * window.strides[0] - window.pads[0];
    const int64_t left = x * window.strides[1] - window.pads[1];
    const int64_t bottom = top + (window.kernel[0] - 1) * window.dilations[0];
    if (top < 0 || left < 0 || bottom >= in.height)
      return 0;
    const int64_t room = in.width - 1 - left - (window.kernel[1] - 1) * window.dilations[1];
    return room < 0 ? 0 : std::min(room / window.strides[1] + 1, out.width - x);
  }

  /// Where the taps of `size` such pixels lie.
  void lookUpWhole(const float *from, const Chunk &chunk, int64_t pixel, int64_t size,
                   const float **sources) const {
    const int64_t top = pixel / out.width * window.strides[0] - window.pads[0];
    const int64_t left = pixel % out.width * window.strides[1] - window.pads[1];
    for (int64_t tap = chunk.tap; tap < chunk.tapEnd; ++tap) {
      const float *base = from + ((top + tap / window.kernel[1] * window.dilations[0]) * in.width +
                                  left + tap % window.kernel[1] * window.dilations[1]) *
                                     kBlock;
      for (int64_t p = 0; p < size; ++p)
        *sources++ = base + p * window.strides[1] * kBlock;
    }
  }

  /// The same for any pixels; taps in the padding read zeros.
  void lookUp(const float *from, const Chunk &chunk, int64_t pixel, int64_t size,
              const float **sources, int64_t *steps) const {
    std::array<int64_t, kMaxTile> tops;
    std::array<int64_t, kMaxTile> lefts;
    int64_t row = pixel / out.width * window.strides[0] - window.pads[0];
    int64_t column = pixel % out.width;
    for (int64_t p = 0; p < size; ++p, ++column) {
      if (column == out.width) {
        column = 0;
        row += window.strides[0];
      }
      tops[static_cast<size_t>(p)] = row;
      lefts[static_cast<size_t>(p)] = column * window.strides[1] - window.pads[1];
    }
    for (int64_t tap = chunk.tap; tap < chunk.tapEnd; ++tap) {
      const int64_t down = tap / window.kernel[1] * window.dilations[0];
      const int64_t across = tap % window.kernel[1] * window.dilations[1];
      for (int64_t p = 0; p < size; ++p) {
        const int64_t atY = tops[static_cast<size_t>(p)] + down;
        const int64_t atX = lefts[static_cast<size_t>(p)] + across;
        const bool isInside = atY >= 0 && atY < in.height && atX >= 0 && atX < in.width;
        *sources++ = isInside ? from + (atY * in.width + atX) * kBlock : zeros.data();
        *steps++ = isInside ? in.pixels * kBlock : 0;
      }
    }
  }

  BlockedDims in, out;
  PlaneWindow window;
  int64_t groups, termsPerGroup, columnsPerGroup, taps;
  /// One tap, no padding, no strides: output pixels lie as input pixels do.
  bool isPointwise;
  std::vector<float> zeros;
  std::vector<float> offsets;
  std::vector<PackedWeights> weights;
  int64_t groupsOfColumns, strip;
};

/// Few plain input channels: a strip of rows is copied with its padding so that the channels of a
/// pixel lie together; a tap is then a row of the kernel with all its channels.
class FirstConvolution : public CompiledKernel {
public:
  FirstConvolution(const Shape &input, const Shape &output, const Tensor &filter,
                   const Tensor *bias, const ConvParams &params)
      : in(input), out(output), window(params.window), rowTerms(window.kernel[1] * in.channels),
        paddedWidth((out.width - 1) * window.strides[1] +
                    (window.kernel[1] - 1) * window.dilations[1] + 1),
        weights(
            out.channels, window.kernel[0], rowTerms,
            [&, factors = filter.data<float>().data()](int64_t column, int64_t tap, int64_t term) {
              return factors[((column * in.channels + term % in.channels) * window.kernel[0] +
                              tap) *
                                 window.kernel[1] +
                             term / in.channels];
            }),
        offsets(paddedBias(bias, out.channels)) {
    strip = stripOf(out.height, 1, out.width * rowTerms * window.kernel[0] * out.blocks * kBlock, 1,
                    std::max<int64_t>(1, 16384 / (paddedWidth * in.channels * window.strides[0])));
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const int64_t strips = (out.height + strip - 1) / strip;
    threads.parallelFor(out.batch * strips, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % strips * strip;
        runStrip(operands, result, clamp, rest, i / strips, first,
                 std::min(first + strip, out.height));
      }
    });
  }

private:
  void runStrip(std::span<const float *const> operands, float *result, const Clamp &clamp,
                const std::vector<PostOp> &rest, int64_t sample, int64_t first,
                int64_t last) const {
    const int64_t rows =
        (last - first - 1) * window.strides[0] + (window.kernel[0] - 1) * window.dilations[0] + 1;
    const int64_t rowSize = paddedWidth * in.channels;
    const AlignedFloats copy(rows * rowSize + kBlock);
    copyRows(operands[0] + sample * in.channels * in.pixels,
             first * window.strides[0] - window.pads[0], rows, copy.data());
    for (const ColumnGroup &group : weights.columnGroups())
      for (int64_t y = first; y < last; ++y)
        runRow(copy.data() + (y - first) * window.strides[0] * rowSize, group, clamp,
               result + out.at(sample, group.firstBlock) + y * out.width * kBlock);
    for (int64_t block = 0; !rest.empty() && block < out.blocks; ++block) {
      const int64_t at = out.at(sample, block) + first * out.width * kBlock;
      applyPostOps(rest, operands, {at, sample, block}, result + at,
                   (last - first) * out.width * kBlock);
    }
  }

  void copyRows(const float *from, int64_t top, int64_t rows, float *to) const {
    for (int64_t row = 0; row < rows; ++row, to += paddedWidth * in.channels) {
      const int64_t y = top + row;
      const int64_t begin = std::min(std::max<int64_t>(window.pads[1], 0), paddedWidth);
      const int64_t end = std::min(in.width + window.pads[1], paddedWidth);
      if (y < 0 || y >= in.height || end <= begin) {
        std::fill_n(to, paddedWidth * in.channels, 0.0F);
        continue;
      }
      std::fill_n(to, begin * in.channels, 0.0F);
      for (int64_t c = 0; c < in.channels; ++c) {
        const float *line = from + c * in.pixels + y * in.width - window.pads[1];
        for (int64_t x = begin; x < end; ++x)
          to[x * in.channels + c] = line[x];
      }
      std::fill_n(to + end * in.channels, (paddedWidth - end) * in.channels, 0.0F);
    }
  }

  void runRow(const float *from, const ColumnGroup &group, const Clamp &clamp, float *to) const {
    const SimdKernels &simd = simdKernels();
    std::array<const float *, kMaxTaps * kMaxTile> sources;
    std::array<int64_t, kMaxTile> steps;
    steps.fill(kBlock);
    std::array<float *, kMaxTile> outputs;
    TileArgs args{.sources = sources.data(),
                  .steps = steps.data(),
                  .stepsPerTap = 0,
                  .taps = window.kernel[0],
                  .blocks = blocksOf(rowTerms),
                  .lastTerms = rowTerms - (blocksOf(rowTerms) - 1) * kBlock,
                  .weights = weights.at(group, 0, 0),
                  .bias = offsets.data() + group.firstBlock * kBlock,
                  .outputs = outputs.data(),
                  .outputStep = out.pixels * kBlock,
                  .lastColumns = kBlock,
                  .clamp = clamp.isOn,
                  .low = clamp.low,
                  .high = clamp.high};
    for (int64_t x = 0; x < out.width;) {
      const int64_t size = tileOf(simd, group.blocks, out.width - x);
      for (int64_t p = 0; p < size; ++p)
        outputs[static_cast<size_t>(p)] = to + (x + p) * kBlock;
      for (int64_t tap = 0; tap < window.kernel[0]; ++tap)
        for (int64_t p = 0; p < size; ++p)
          sources[static_cast<size_t>(tap * size + p)] =
              from + tap * window.dilations[0] * paddedWidth * in.channels +
              (x + p) * window.strides[1] * in.channels;
      args.repeats = (out.width - x) / size;
      args.sourceAdvance = size * window.strides[1] * in.channels;
      args.outputAdvance = size * kBlock;
      simd.tile[static_cast<size_t>(group.blocks - 1)][static_cast<size_t>(size - 1)](args);
      x += size * args.repeats;
    }
  }

  BlockedDims in, out;
  PlaneWindow window;
  int64_t rowTerms, paddedWidth, strip;
  PackedWeights weights;
  std::vector<float> offsets;
};

/// Each channel by itself.
class DepthwiseConvolution : public CompiledKernel {
public:
  DepthwiseConvolution(const Shape &input, const Shape &output, const Tensor &filter,
                       const Tensor *bias, const ConvParams &params)
      : in(input), out(output), window(params.window), taps(window.kernel[0] * window.kernel[1]),
        offsets(paddedBias(bias, out.channels)) {
    weights.assign(static_cast<size_t>(out.blocks * taps * kBlock), 0.0F);
    const float *factors = filter.data<float>().data();
    for (int64_t channel = 0; channel < out.channels; ++channel)
      for (int64_t tap = 0; tap < taps; ++tap)
        weights[static_cast<size_t>((channel / kBlock * taps + tap) * kBlock + channel % kBlock)] =
            factors[channel * taps + tap];
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const int64_t cost = out.width * taps;
    threads.parallelFor(out.batch * out.blocks * out.height, grainFor(2 * cost),
                        [&](int64_t begin, int64_t end) {
                          std::vector<const float *> rows(static_cast<size_t>(window.kernel[0]));
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t plane = i / out.height;
                            runRow(operands, result, clamp, rest, rows, plane / out.blocks,
                                   plane % out.blocks, i % out.height);
                          }
                        });
  }

private:
  void runRow(std::span<const float *const> operands, float *result, const Clamp &clamp,
              const std::vector<PostOp> &rest, std::vector<const float *> &rows, int64_t sample,
              int64_t block, int64_t y) const {
    const int64_t first = out.at(sample, block) + y * out.width * kBlock;
    WindowRowArgs args =
        window.row(in, out, operands[0] + in.at(sample, block), y, rows, result + first);
    args.weights = weights.data() + block * taps * kBlock;
    args.bias = offsets.data() + block * kBlock;
    args.clamp = clamp.isOn;
    args.low = clamp.low;
    args.high = clamp.high;
    simdKernels().depthwiseRow(args);
    applyPostOps(rest, operands, {first, sample, block}, result + first, out.width * kBlock);
  }

  BlockedDims in, out;
  PlaneWindow window;
  int64_t taps;
  std::vector<float> weights, offsets;
};

bool isDepthwise(const Shape &input, const Shape &filter, const ConvParams &params) {
  return params.group > 1 && params.group == input[1] && params.group == filter[0];
}

} // namespace

bool kernels::takesPlainInput(const Shape &input, const Shape &filter, const ConvParams &params) {
  constexpr int64_t kMostChannels = 4;
  return input[1] <= kMostChannels && params.group == 1 && filter.rank() == input.rank();
}

bool kernels::isBlockedConvolution(const Shape &input, const Shape &filter,
                                   const ConvParams &params) {
  if (input.rank() != 3 && input.rank() != 4)
    return false;
  for (int64_t pad : params.window.padsBegin)
    if (pad < 0)
      return false;
  if (takesPlainInput(input, filter, params))
    return params.window.dilations.back() == 1 && params.window.kernel.front() <= kMaxTaps;
  return params.group == 1 || isDepthwise(input, filter, params) ||
         (filter[1] % kBlock == 0 && filter[0] / params.group % kBlock == 0);
}

std::unique_ptr<CompiledKernel> kernels::makeConvolution(const Shape &input, const Shape &output,
                                                         const Tensor &filter, const Tensor *bias,
                                                         const ConvParams &params) {
  if (isDepthwise(input, filter.shape(), params))
    return std::make_unique<DepthwiseConvolution>(input, output, filter, bias, params);
  if (takesPlainInput(input, filter.shape(), params))
    return std::make_unique<FirstConvolution>(input, output, filter, bias, params);
  return std::make_unique<GeneralConvolution>(input, output, filter, bias, params);
}
