//===- PackedMatMul.cpp - Products with packed matrices ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/PackedMatMul.h"
#include "tpuc/Interpreter/Kernels/PackedWeights.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/TileLoop.h"

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// A group of columns of a packed right matrix, and what the product does besides.
struct PackedGroup {
  const float *factors; ///< [terms][blocks][16].
  ColumnGroup columns;
  const float *bias; ///< Of all columns, padded.
};

/// Rows [first, last) of `left` times one group of columns.
void multiplyRows(const float *left, const PackedGroup &group, int64_t first, int64_t last,
                  int64_t terms, int64_t columns, const Clamp &clamp, float *result) {
  const SimdKernels &simd = simdKernels();
  const int64_t blocks = group.columns.blocks;
  const int64_t termBlocks = (terms + kBlock - 1) / kBlock;
  const int64_t most = chunkBlocks(blocks);
  const int64_t chunks = (termBlocks + most - 1) / most;
  const int64_t chunk = (termBlocks + chunks - 1) / chunks;
  const int64_t firstColumn = group.columns.firstBlock * kBlock;
  std::array<const float *, kMaxTile> sources;
  std::array<int64_t, kMaxTile> steps;
  steps.fill(kBlock);
  std::array<float *, kMaxTile> outputs;
  for (int64_t at = 0; at < termBlocks; at += chunk) {
    const int64_t end = std::min(at + chunk, termBlocks);
    const TileArgs args{.sources = sources.data(),
                        .steps = steps.data(),
                        .stepsPerTap = 0,
                        .taps = 1,
                        .blocks = end - at,
                        .lastTerms = std::min(terms - (end - 1) * kBlock, kBlock),
                        .weights = group.factors + at * kBlock * blocks * kBlock,
                        .bias = at == 0 ? group.bias + firstColumn : nullptr,
                        .outputs = outputs.data(),
                        .outputStep = kBlock,
                        .lastColumns =
                            std::min(columns - firstColumn - (blocks - 1) * kBlock, kBlock),
                        .clamp = end == termBlocks && clamp.isOn,
                        .low = clamp.low,
                        .high = clamp.high};
    for (int64_t row = first; row < last;) {
      const int64_t size = tileOf(simd, blocks, last - row);
      for (int64_t p = 0; p < size; ++p) {
        sources[static_cast<size_t>(p)] = left + (row + p) * terms + at * kBlock;
        outputs[static_cast<size_t>(p)] = result + (row + p) * columns + firstColumn;
      }
      simd.tile[static_cast<size_t>(blocks - 1)][static_cast<size_t>(size - 1)](args);
      row += size;
    }
  }
}

class MatMul : public CompiledKernel {
public:
  MatMul(int64_t rows, int64_t terms, int64_t columns, const Tensor &right, bool transposeRight,
         const Tensor *bias)
      : rows(rows), terms(terms), columns(columns), offsets(paddedBias(bias, columns)),
        weights(columns, 1, terms,
                [from = right.data<float>().data(), rowStep = transposeRight ? 1 : columns,
                 columnStep = transposeRight ? terms : 1](int64_t column, int64_t, int64_t term) {
                  return from[term * rowStep + column * columnStep];
                }),
        strip(stripOf(rows, terms * weights.columnGroups().front().blocks * kBlock, 24, 192)) {}

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const auto groups = static_cast<int64_t>(weights.columnGroups().size());
    const int64_t strips = (rows + strip - 1) / strip;
    const int64_t cost = strip * terms * kBlock / 16;
    threads.parallelFor(strips * groups, grainFor(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const ColumnGroup &group = weights.columnGroups()[static_cast<size_t>(i % groups)];
        const int64_t first = i / groups * strip;
        const int64_t last = std::min(first + strip, rows);
        multiplyRows(operands[0], {weights.at(group, 0, 0), group, offsets.data()}, first, last,
                     terms, columns, clamp, result);
        const int64_t column = group.firstBlock * kBlock;
        const int64_t width = std::min(group.blocks * kBlock, columns - column);
        for (int64_t row = first; !rest.empty() && row < last; ++row)
          applyPostOps(rest, operands, {row * columns + column}, result + row * columns + column,
                       width);
      }
    });
  }

private:
  int64_t rows, terms, columns;
  std::vector<float> offsets;
  PackedWeights weights;
  int64_t strip;
};

/// One group of a matrix as tiles read it.
void packGroup(const float *from, const BatchedProduct &product, const ColumnGroup &group,
               float *to) {
  const int64_t width = group.blocks * kBlock;
  const int64_t first = group.firstBlock * kBlock;
  const int64_t present = std::min(width, product.columns - first);
  if (product.transposeRight) {
    const SimdKernels &simd = simdKernels();
    const int64_t whole = product.terms / kBlock * kBlock;
    for (int64_t i = 0; i < width; i += kBlock)
      for (int64_t term = 0; term < whole; term += kBlock)
        simd.transpose(from + (first + i) * product.terms + term, product.terms,
                       std::clamp<int64_t>(present - i, 0, kBlock), to + term * width + i, width,
                       kBlock);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t term = whole; term < product.terms; ++term)
        to[term * width + i] = i < present ? from[(first + i) * product.terms + term] : 0.0F;
    return;
  }
  for (int64_t term = 0; term < product.terms; ++term, to += width) {
    std::copy_n(from + term * product.columns + first, present, to);
    std::fill_n(to + present, width - present, 0.0F);
  }
}

} // namespace

std::unique_ptr<CompiledKernel> kernels::makeMatMul(int64_t rows, int64_t terms, int64_t columns,
                                                    const Tensor &right, bool transposeRight,
                                                    const Tensor *bias) {
  return std::make_unique<MatMul>(rows, terms, columns, right, transposeRight, bias);
}

void kernels::multiplyBatch(const BatchedProduct &product, float *result, ThreadPool &threads) {
  const int64_t blocks = (product.columns + kBlock - 1) / kBlock;
  const std::vector<ColumnGroup> groups = groupColumns(blocks, simdKernels().maxBlocks);
  const auto groupCount = static_cast<int64_t>(groups.size());
  const int64_t packedSize = blocks * kBlock * product.terms;
  const AlignedFloats packed(product.count * packedSize);
  const auto room = [&](int64_t index, const ColumnGroup &group) {
    return packed.data() + index * packedSize + group.firstBlock * kBlock * product.terms;
  };
  threads.parallelFor(product.count * groupCount, grainFor(packedSize / groupCount),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const ColumnGroup &group = groups[static_cast<size_t>(i % groupCount)];
                          packGroup(product.right(i / groupCount), product, group,
                                    room(i / groupCount, group));
                        }
                      });
  const std::vector<float> zeros(static_cast<size_t>(blocks * kBlock), 0.0F);
  const Clamp none({});
  const int64_t strip = stripOf(product.rows, product.terms * product.columns, 24, 192);
  const int64_t strips = (product.rows + strip - 1) / strip;
  threads.parallelFor(
      product.count * strips, grainFor(strip * product.terms * product.columns / 16),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t index = i / strips;
          const int64_t first = i % strips * strip;
          const int64_t last = std::min(first + strip, product.rows);
          for (const ColumnGroup &group : groups)
            multiplyRows(product.left(index), {room(index, group), group, zeros.data()}, first,
                         last, product.terms, product.columns, none,
                         result + index * product.rows * product.columns);
        }
      });
}
