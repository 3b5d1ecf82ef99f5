//===- Blocked.cpp - Movement and pooling of blocks of 16 channels -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/BlockedGeometry.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;

int64_t kernels::blocksOf(int64_t channels) { return (channels + kBlock - 1) / kBlock; }

Shape kernels::blockedShape(const Shape &shape) {
  std::vector<int64_t> dims = shape.vec();
  dims[1] = blocksOf(dims[1]);
  dims.push_back(kBlock);
  return Shape(dims);
}

namespace {

/// Pixels that go through a reordering at once.
constexpr int64_t kPixelTile = 64;

/// Between the layouts, block by block.
class Reorder : public CompiledKernel {
public:
  Reorder(const Shape &shape, bool toBlocks) : dims(shape), toBlocks(toBlocks) {}

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const int64_t tiles = (dims.pixels + kPixelTile - 1) / kPixelTile;
    threads.parallelFor(dims.batch * dims.blocks * tiles, grainFor(2 * kPixelTile * kBlock),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t first = i % tiles * kPixelTile;
                            moveTile(operands[0], result, i / tiles, first,
                                     std::min(first + kPixelTile, dims.pixels));
                          }
                        });
  }

private:
  void moveTile(const float *from, float *to, int64_t index, int64_t first, int64_t last) const {
    const int64_t block = index % dims.blocks;
    const int64_t sample = index / dims.blocks;
    const int64_t channels = std::min(kBlock, dims.channels - block * kBlock);
    const int64_t plain = (sample * dims.channels + block * kBlock) * dims.pixels;
    const int64_t blocked = dims.at(sample, block);
    const SimdKernels &simd = simdKernels();
    for (; first + kBlock <= last; first += kBlock)
      if (toBlocks)
        simd.transpose(from + plain + first, dims.pixels, channels, to + blocked + first * kBlock,
                       kBlock, kBlock);
      else
        simd.transpose(from + blocked + first * kBlock, kBlock, kBlock, to + plain + first,
                       dims.pixels, channels);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t plane = plain + c * dims.pixels;
      if (toBlocks)
        for (int64_t pixel = first; pixel < last; ++pixel)
          to[blocked + pixel * kBlock + c] = from[plane + pixel];
      else
        for (int64_t pixel = first; pixel < last; ++pixel)
          to[plane + pixel] = from[blocked + pixel * kBlock + c];
    }
    for (int64_t c = channels; toBlocks && c < kBlock; ++c)
      for (int64_t pixel = first; pixel < last; ++pixel)
        to[blocked + pixel * kBlock + c] = 0;
  }

  BlockedDims dims;
  bool toBlocks;
};

class Elementwise : public CompiledKernel {
public:
  /// Rows of `rowLength` elements, `rowsPerSample` of them in a sample.
  Elementwise(int64_t count, int64_t rowLength, int64_t rowsPerSample)
      : count(count), rowLength(rowLength), rowsPerSample(rowsPerSample) {}

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    constexpr int64_t kPiece = 4096;
    const int64_t pieces = (rowLength + kPiece - 1) / kPiece;
    const int64_t cost = std::min(rowLength, kPiece) * static_cast<int64_t>(postOps.size());
    threads.parallelFor(
        count / rowLength * pieces, grainFor(cost), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i / pieces;
            const int64_t inRow = i % pieces * kPiece;
            const int64_t first = row * rowLength + inRow;
            applyPostOps(postOps, operands, {first, row / rowsPerSample, row % rowsPerSample},
                         operands[0] + first, result + first, std::min(kPiece, rowLength - inRow));
          }
        });
  }

private:
  int64_t count, rowLength, rowsPerSample;
};

/// Channels from several tensors. Blocks of the result that are no block of an operand are put
/// together from runs of channels.
class Concat : public CompiledKernel {
public:
  explicit Concat(const std::vector<Shape> &shapes) : out(joined(shapes)) {
    int64_t channel = 0;
    for (size_t operand = 0; operand < shapes.size(); ++operand) {
      sources.emplace_back(shapes[operand]);
      for (int64_t own = 0; own < sources.back().channels;) {
        // As far as neither block ends.
        const int64_t run = std::min(
            {sources.back().channels - own, kBlock - own % kBlock, kBlock - channel % kBlock});
        runs.push_back({operand, own, channel, run});
        own += run;
        channel += run;
      }
    }
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    constexpr int64_t kPiece = 256;
    const int64_t pieces = (out.pixels + kPiece - 1) / kPiece;
    threads.parallelFor(out.batch * pieces, grainFor(out.blocks * kBlock * kPiece),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t first = i % pieces * kPiece;
                            copyPixels(operands, result, i / pieces, first,
                                       std::min(first + kPiece, out.pixels));
                          }
                        });
  }

private:
  struct Run {
    size_t operand;
    int64_t from, to, count; ///< Channels.
  };

  static Shape joined(const std::vector<Shape> &shapes) {
    Shape shape = shapes.front();
    for (size_t i = 1; i < shapes.size(); ++i)
      shape[1] += shapes[i][1];
    return shape;
  }

  void copyPixels(std::span<const float *const> operands, float *result, int64_t sample,
                  int64_t first, int64_t last) const {
    for (const Run &run : runs) {
      const float *from = operands[run.operand] +
                          sources[run.operand].at(sample, run.from / kBlock) + run.from % kBlock +
                          first * kBlock;
      float *to = result + out.at(sample, run.to / kBlock) + run.to % kBlock + first * kBlock;
      if (run.count == kBlock) {
        std::copy_n(from, (last - first) * kBlock, to);
        continue;
      }
      for (int64_t pixel = first; pixel < last; ++pixel, from += kBlock, to += kBlock)
        if (run.count == kBlock / 2)
          std::copy_n(from, kBlock / 2, to);
        else
          std::copy_n(from, run.count, to);
    }
    for (int64_t block = 0; !postOps.empty() && block < out.blocks; ++block) {
      const int64_t at = out.at(sample, block) + first * kBlock;
      applyPostOps(postOps, operands, {at, sample, block}, result + at, (last - first) * kBlock);
    }
  }

  BlockedDims out;
  std::vector<BlockedDims> sources;
  std::vector<Run> runs;
};

/// Rows of a window over blocks of channels.
class Pool : public CompiledKernel {
public:
  enum class Kind : uint8_t { Maximum, Average, AverageWithPadding };
  Pool(const Shape &input, const Shape &output, const WindowParams &params, Kind kind)
      : in(input), out(output), window(params), kind(kind),
        counts{countsOf(0, params), countsOf(1, params)} {}

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const SimdKernels &simd = simdKernels();
    const int64_t cost = out.width * window.kernel[0] * window.kernel[1];
    threads.parallelFor(out.batch * out.blocks * out.height, grainFor(2 * cost),
                        [&](int64_t begin, int64_t end) {
                          std::vector<const float *> rows(static_cast<size_t>(window.kernel[0]));
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t plane = i / out.height;
                            runRow(simd, operands, result, rows, plane / out.blocks,
                                   plane % out.blocks, i % out.height);
                          }
                        });
  }

private:
  /// How many taps count at each position along an axis.
  std::vector<float> countsOf(size_t axis, const WindowParams &params) const {
    const int64_t positions = axis == 0 ? out.height : out.width;
    const int64_t extent = axis == 0 ? in.height : in.width;
    const bool isPadded = kind == Kind::AverageWithPadding;
    const bool isLine = params.kernel.size() == 1;
    const int64_t end = isLine ? (axis == 0 ? 0 : params.padsEnd[0]) : params.padsEnd[axis];
    std::vector<float> result;
    for (int64_t position = 0; position < positions; ++position) {
      int64_t count = 0;
      for (int64_t k = 0; k < window.kernel[axis]; ++k) {
        const int64_t at =
            position * window.strides[axis] + k * window.dilations[axis] - window.pads[axis];
        count += isPadded ? (at < extent + end ? 1 : 0) : (at >= 0 && at < extent ? 1 : 0);
      }
      result.push_back(static_cast<float>(count));
    }
    return result;
  }

  void runRow(const SimdKernels &simd, std::span<const float *const> operands, float *result,
              std::span<const float *> rows, int64_t sample, int64_t block, int64_t y) const {
    const int64_t first = out.at(sample, block) + y * out.width * kBlock;
    const WindowRowArgs args =
        window.row(in, out, operands[0] + in.at(sample, block), y, rows, result + first);
    if (kind == Kind::Maximum) {
      simd.maximumRow(args);
    } else {
      simd.sumRow(args);
      for (int64_t x = 0; x < out.width; ++x) {
        const float count = counts[0][static_cast<size_t>(y)] * counts[1][static_cast<size_t>(x)];
        float *pixel = args.output + x * kBlock;
        for (int64_t c = 0; c < kBlock; ++c)
          pixel[c] /= count;
      }
    }
    applyPostOps(postOps, operands, {first, sample, block}, args.output, out.width * kBlock);
  }

  BlockedDims in, out;
  PlaneWindow window;
  Kind kind;
  std::array<std::vector<float>, 2> counts;
};

class GlobalAverage : public CompiledKernel {
public:
  explicit GlobalAverage(const Shape &input) : in(input) {}

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const SimdKernels &simd = simdKernels();
    threads.parallelFor(in.batch * in.blocks, grainFor(2 * in.pixels),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            float *mean = result + i * kBlock;
                            simd.meanPixels(operands[0] + i * in.pixels * kBlock, in.pixels, mean);
                            applyPostOps(postOps, operands,
                                         {i * kBlock, i / in.blocks, i % in.blocks}, mean, kBlock);
                          }
                        });
  }

private:
  BlockedDims in;
};

class Upsample : public CompiledKernel {
public:
  Upsample(const Shape &input, int64_t scaleH, int64_t scaleW)
      : in(input), scaleH(scaleH), scaleW(scaleW) {}

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const int64_t width = in.width * scaleW * kBlock;
    threads.parallelFor(in.batch * in.blocks * in.height, grainFor(width * scaleH / 4),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const float *from = operands[0] + i * in.width * kBlock;
                            const int64_t first = i * scaleH * width;
                            float *to = result + first;
                            for (int64_t x = 0; x < in.width * scaleW; ++x)
                              std::copy_n(from + x / scaleW * kBlock, kBlock, to + x * kBlock);
                            for (int64_t y = 1; y < scaleH; ++y)
                              std::copy_n(to, width, to + y * width);
                            const int64_t plane = i / in.height;
                            applyPostOps(postOps, operands,
                                         {first, plane / in.blocks, plane % in.blocks}, to,
                                         width * scaleH);
                          }
                        });
  }

private:
  BlockedDims in;
  int64_t scaleH, scaleW;
};

} // namespace

std::unique_ptr<CompiledKernel> kernels::makeToBlocked(const Shape &shape) {
  return std::make_unique<Reorder>(shape, true);
}

std::unique_ptr<CompiledKernel> kernels::makeFromBlocked(const Shape &shape) {
  return std::make_unique<Reorder>(shape, false);
}

std::unique_ptr<CompiledKernel> kernels::makeElementwise(const Shape &blocks, bool isBlocked) {
  const int64_t count = blocks.numElements();
  if (!isBlocked)
    return std::make_unique<Elementwise>(count, count, 1);
  return std::make_unique<Elementwise>(count, count / (blocks[0] * blocks[1]), blocks[1]);
}

std::unique_ptr<CompiledKernel> kernels::makeConcat(const std::vector<Shape> &shapes) {
  return std::make_unique<Concat>(shapes);
}

std::unique_ptr<CompiledKernel> kernels::makeMaxPool(const Shape &input, const Shape &output,
                                                     const WindowParams &window) {
  return std::make_unique<Pool>(input, output, window, Pool::Kind::Maximum);
}

std::unique_ptr<CompiledKernel> kernels::makeAveragePool(const Shape &input, const Shape &output,
                                                         const WindowParams &window,
                                                         bool countPadding) {
  return std::make_unique<Pool>(
      input, output, window, countPadding ? Pool::Kind::AverageWithPadding : Pool::Kind::Average);
}

std::unique_ptr<CompiledKernel> kernels::makeGlobalAverage(const Shape &input) {
  return std::make_unique<GlobalAverage>(input);
}

std::unique_ptr<CompiledKernel> kernels::makeUpsample(const Shape &input, int64_t scaleH,
                                                      int64_t scaleW) {
  return std::make_unique<Upsample>(input, scaleH, scaleW);
}
