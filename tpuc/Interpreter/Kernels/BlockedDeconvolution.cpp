//===- BlockedDeconvolution.cpp - Transposed convolutions on blocks ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Output pixel y of one dimension adds up the taps k for which y + pad - k * dilation is a multiple
// of the stride, each with the input pixel at the quotient. Those are the same for all pixels with
// one remainder y % stride: so many ordinary convolutions, each of which writes every stride-th
// pixel.
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

/// A position of the kernel, and how far the input pixel lies behind the quotient y / stride.
struct Tap {
  int64_t position;
  int64_t shift;
};

/// The taps along dimension `axis` for output pixels with one remainder.
std::vector<Tap> tapsFor(const PlaneWindow &window, size_t axis, int64_t remainder) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < window.kernel[axis]; ++k) {
    const int64_t distance = remainder + window.pads[axis] - k * window.dilations[axis];
    if (distance % window.strides[axis] == 0)
      taps.push_back({k, distance / window.strides[axis]});
  }
  return taps;
}

/// The output pixels with one remainder in each dimension.
struct Phase {
  std::vector<Tap> down, across;
  PackedWeights weights; ///< Taps row by row.

  int64_t taps() const { return static_cast<int64_t>(down.size() * across.size()); }
};

class PhasedDeconvolution : public CompiledKernel {
public:
  PhasedDeconvolution(const Shape &input, const Shape &output, const Tensor &filter,
                      const Tensor *bias, const ConvParams &params)
      : in(input), out(output), window(params.window), zeros(kBlock, 0.0F),
        offsets(paddedBias(bias, out.channels)) {
    const float *factors = filter.data<float>().data();
    const int64_t positions = window.kernel[0] * window.kernel[1];
    for (int64_t row = 0; row < window.strides[0]; ++row)
      for (int64_t column = 0; column < window.strides[1]; ++column) {
        std::vector<Tap> down = tapsFor(window, 0, row);
        std::vector<Tap> across = tapsFor(window, 1, column);
        const auto wide = static_cast<int64_t>(across.size());
        PackedWeights weights(
            out.channels, static_cast<int64_t>(down.size()) * wide, in.channels,
            [&](int64_t channel, int64_t tap, int64_t term) {
              const int64_t position =
                  down[static_cast<size_t>(tap / wide)].position * window.kernel[1] +
                  across[static_cast<size_t>(tap % wide)].position;
              return factors[(term * out.channels + channel) * positions + position];
            });
        phases.push_back({std::move(down), std::move(across), std::move(weights)});
      }
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const int64_t cost = out.width * phases.front().taps() * in.channels * out.blocks;
    threads.parallelFor(out.batch * out.height, grainFor(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        runRow(operands, result, clamp, rest, i / out.height, i % out.height);
    });
  }

private:
  /// Taps [tap, tapEnd) of a phase, and of their terms blocks [block, blockEnd).
  struct Chunk {
    int64_t tap, tapEnd, block, blockEnd;
  };

  void runRow(std::span<const float *const> operands, float *result, const Clamp &clamp,
              const std::vector<PostOp> &rest, int64_t sample, int64_t y) const {
    const float *from = operands[0] + in.at(sample, 0);
    for (int64_t column = 0; column < std::min(window.strides[1], out.width); ++column) {
      const Phase &phase =
          phases[static_cast<size_t>(y % window.strides[0] * window.strides[1] + column)];
      for (const ColumnGroup &group : phase.weights.columnGroups())
        runPhase(phase, group, from, y / window.strides[0], column, clamp,
                 result + out.at(sample, group.firstBlock) + y * out.width * kBlock);
    }
    for (int64_t block = 0; !rest.empty() && block < out.blocks; ++block) {
      const int64_t at = out.at(sample, block) + y * out.width * kBlock;
      applyPostOps(rest, operands, {at, sample, block}, result + at, out.width * kBlock);
    }
  }

  /// Every stride-th pixel from `column` on of an output row, `to`, over input row `row`.
  void runPhase(const Phase &phase, const ColumnGroup &group, const float *from, int64_t row,
                int64_t column, const Clamp &clamp, float *to) const {
    const int64_t most = chunkBlocks(group.blocks);
    // Either several whole taps, or a part of one.
    const int64_t tapsAtOnce = std::clamp<int64_t>(most / in.blocks, 1, kMaxTaps);
    const int64_t parts = (in.blocks + most - 1) / most;
    const int64_t part = (in.blocks + parts - 1) / parts;
    for (int64_t tap = 0; tap < phase.taps(); tap += tapsAtOnce)
      for (int64_t at = 0; at < in.blocks; at += part)
        runChunk(
            phase, group,
            {tap, std::min(tap + tapsAtOnce, phase.taps()), at, std::min(at + part, in.blocks)},
            from, row, column, clamp, to);
  }

  void runChunk(const Phase &phase, const ColumnGroup &group, const Chunk &chunk, const float *from,
                int64_t row, int64_t column, const Clamp &clamp, float *to) const {
    const SimdKernels &simd = simdKernels();
    const bool isFirst = chunk.tap == 0 && chunk.block == 0;
    const bool isLast = chunk.tapEnd == phase.taps() && chunk.blockEnd == in.blocks;
    std::array<const float *, kMaxTaps * kMaxTile> sources;
    std::array<int64_t, kMaxTaps * kMaxTile> steps;
    std::array<float *, kMaxTile> outputs;
    TileArgs args{.sources = sources.data(),
                  .steps = steps.data(),
                  .stepsPerTap = 0,
                  .taps = chunk.tapEnd - chunk.tap,
                  .blocks = chunk.blockEnd - chunk.block,
                  .lastTerms =
                      chunk.blockEnd == in.blocks ? in.channels - (in.blocks - 1) * kBlock : kBlock,
                  .weights = phase.weights.at(group, chunk.tap, chunk.block * kBlock),
                  .bias = isFirst ? offsets.data() + group.firstBlock * kBlock : nullptr,
                  .outputs = outputs.data(),
                  .outputStep = out.pixels * kBlock,
                  .lastColumns = kBlock,
                  .clamp = isLast && clamp.isOn,
                  .low = clamp.low,
                  .high = clamp.high};
    const float *start = from + chunk.block * in.pixels * kBlock;
    const int64_t pixels = (out.width - column + window.strides[1] - 1) / window.strides[1];
    for (int64_t x = 0; x < pixels; x += args.stepsPerTap) {
      args.stepsPerTap = tileOf(simd, group.blocks, pixels - x);
      for (int64_t p = 0; p < args.stepsPerTap; ++p)
        outputs[static_cast<size_t>(p)] = to + ((x + p) * window.strides[1] + column) * kBlock;
      lookUp(phase, chunk, start, row, x, args.stepsPerTap, sources.data(), steps.data());
      simd.tile[static_cast<size_t>(group.blocks - 1)][static_cast<size_t>(args.stepsPerTap - 1)](
          args);
    }
  }

  /// Where the taps of `size` pixels from `x` on lie; those outside of the input read zeros.
  void lookUp(const Phase &phase, const Chunk &chunk, const float *from, int64_t row, int64_t x,
              int64_t size, const float **sources, int64_t *steps) const {
    const auto wide = static_cast<int64_t>(phase.across.size());
    for (int64_t tap = chunk.tap; tap < chunk.tapEnd; ++tap) {
      const int64_t atY = row + phase.down[static_cast<size_t>(tap / wide)].shift;
      const int64_t left = x + phase.across[static_cast<size_t>(tap % wide)].shift;
      const bool isRow = atY >= 0 && atY < in.height;
      for (int64_t atX = left; atX < left + size; ++atX) {
        const bool isInside = isRow && atX >= 0 && atX < in.width;
        *sources++ = isInside ? from + (atY * in.width + atX) * kBlock : zeros.data();
        *steps++ = isInside ? in.pixels * kBlock : 0;
      }
    }
  }

  BlockedDims in, out;
  PlaneWindow window;
  std::vector<float> zeros;
  std::vector<float> offsets;
  std::vector<Phase> phases;
};

/// Windows side by side whose results, all channels and taps of a pixel, fill no more than a block:
/// one product, the columns of which are spread over a plain result.
class NarrowDeconvolution : public CompiledKernel {
public:
  NarrowDeconvolution(const Shape &input, const Shape &output, const Tensor &filter,
                      const Tensor *bias, const ConvParams &params)
      : in(input), out(output), window(params.window), taps(window.kernel[0] * window.kernel[1]),
        weights(out.channels * taps, 1, in.channels,
                [&, factors = filter.data<float>().data()](int64_t column, int64_t, int64_t term) {
                  return factors[term * out.channels * taps + column];
                }),
        offsets(kBlock, 0.0F) {
    for (int64_t column = 0; bias && column < out.channels * taps; ++column)
      offsets[static_cast<size_t>(column)] =
          bias->data<float>()[static_cast<size_t>(column / taps)];
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const int64_t cost = in.width * in.channels * kBlock;
    threads.parallelFor(in.batch * in.height, grainFor(cost), [&](int64_t begin, int64_t end) {
      const AlignedFloats row(in.width * kBlock);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t sample = i / in.height;
        const int64_t y = i % in.height;
        multiply(operands[0] + in.at(sample, 0) + y * in.width * kBlock, clamp, row.data());
        for (int64_t line = 0; line < out.channels * window.kernel[0]; ++line) {
          const int64_t first = ((sample * out.channels + line / window.kernel[0]) * out.height +
                                 y * window.kernel[0] + line % window.kernel[0]) *
                                out.width;
          spread(row.data() + line * window.kernel[1], result + first);
          applyPostOps(rest, operands, {first}, result + first, out.width);
        }
      }
    });
  }

private:
  /// All columns of the pixels of an input row.
  void multiply(const float *from, const Clamp &clamp, float *row) const {
    const SimdKernels &simd = simdKernels();
    std::array<const float *, kMaxTile> sources;
    std::array<int64_t, kMaxTile> steps;
    steps.fill(in.pixels * kBlock);
    std::array<float *, kMaxTile> outputs;
    TileArgs args{.sources = sources.data(),
                  .steps = steps.data(),
                  .stepsPerTap = 0,
                  .taps = 1,
                  .blocks = in.blocks,
                  .lastTerms = in.channels - (in.blocks - 1) * kBlock,
                  .weights = weights.at(weights.columnGroups().front(), 0, 0),
                  .bias = offsets.data(),
                  .outputs = outputs.data(),
                  .outputStep = kBlock,
                  .lastColumns = kBlock,
                  .clamp = clamp.isOn,
                  .low = clamp.low,
                  .high = clamp.high};
    for (int64_t x = 0; x < in.width;) {
      const int64_t size = tileOf(simd, 1, in.width - x);
      for (int64_t p = 0; p < size; ++p) {
        sources[static_cast<size_t>(p)] = from + (x + p) * kBlock;
        outputs[static_cast<size_t>(p)] = row + (x + p) * kBlock;
      }
      args.repeats = (in.width - x) / size;
      args.sourceAdvance = size * kBlock;
      args.outputAdvance = size * kBlock;
      simd.tile[0][static_cast<size_t>(size - 1)](args);
      x += size * args.repeats;
    }
  }

  /// The neighbouring taps of each pixel become neighbouring pixels.
  void spread(const float *columns, float *line) const {
    for (int64_t x = 0; x < in.width; ++x)
      for (int64_t tap = 0; tap < window.kernel[1]; ++tap)
        line[x * window.kernel[1] + tap] = columns[x * kBlock + tap];
  }

  BlockedDims in, out;
  PlaneWindow window;
  int64_t taps;
  PackedWeights weights;
  std::vector<float> offsets;
};

} // namespace

bool kernels::givesPlainResult(const Shape &input, const Shape &output, const ConvParams &params) {
  const WindowParams &window = params.window;
  int64_t columns = output[1];
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    columns *= window.kernel[axis];
    if (window.kernel[axis] != window.strides[axis] || window.padsBegin[axis] != 0 ||
        output[axis + 2] != input[axis + 2] * window.strides[axis] || window.dilations[axis] != 1)
      return false;
  }
  return columns <= kBlock;
}

bool kernels::isBlockedDeconvolution(const Shape &input, const Shape &output,
                                     const ConvParams &params) {
  if ((input.rank() != 3 && input.rank() != 4) || params.group != 1)
    return false;
  if (givesPlainResult(input, output, params))
    return true;
  // Most of a block would be empty: products with all taps in one are less work.
  if (output[1] < kBlock / 2)
    return false;
  const PlaneWindow window(params.window);
  for (size_t axis = 0; axis < 2; ++axis)
    for (int64_t remainder = 0; remainder < window.strides[axis]; ++remainder)
      if (tapsFor(window, axis, remainder).empty())
        return false;
  return true;
}

std::unique_ptr<CompiledKernel> kernels::makeDeconvolution(const Shape &input, const Shape &output,
                                                           const Tensor &filter, const Tensor *bias,
                                                           const ConvParams &params) {
  if (givesPlainResult(input, output, params))
    return std::make_unique<NarrowDeconvolution>(input, output, filter, bias, params);
  return std::make_unique<PhasedDeconvolution>(input, output, filter, bias, params);
}
