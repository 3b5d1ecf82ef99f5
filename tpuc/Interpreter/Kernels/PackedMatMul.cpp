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
#include "tpuc/Support/MappedFile.h"

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// A group of columns of a packed right matrix, and what the product does besides.
struct PackedGroup {
  const float *factors; ///< [terms][blocks][16].
  ColumnGroup columns;
  const float *bias; ///< Of all columns, padded.
};

/// Rows of the left matrix and of the result, each so many floats apart.
struct Rows {
  const float *left;
  int64_t leftStep;
  float *result;
  int64_t resultStep;
};

/// Rows [first, last) times one group of columns.
void multiplyRows(const Rows &rows, const PackedGroup &group, int64_t first, int64_t last,
                  int64_t terms, int64_t columns, const Clamp &clamp) {
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
    TileArgs args{.sources = sources.data(),
                  .steps = steps.data(),
                  .stepsPerTap = 0,
                  .taps = 1,
                  .blocks = end - at,
                  .lastTerms = std::min(terms - (end - 1) * kBlock, kBlock),
                  .weights = group.factors + at * kBlock * blocks * kBlock,
                  .bias = at == 0 ? group.bias + firstColumn : nullptr,
                  .outputs = outputs.data(),
                  .outputStep = kBlock,
                  .lastColumns = std::min(columns - firstColumn - (blocks - 1) * kBlock, kBlock),
                  .clamp = end == termBlocks && clamp.isOn,
                  .low = clamp.low,
                  .high = clamp.high};
    PrefetchPlan next(args, blocks,
                      (last - first) / simd.maxPixels[static_cast<size_t>(blocks - 1)]);
    for (int64_t row = first; row < last;) {
      const int64_t size = tileOf(simd, blocks, last - row);
      for (int64_t p = 0; p < size; ++p) {
        sources[static_cast<size_t>(p)] = rows.left + (row + p) * rows.leftStep + at * kBlock;
        outputs[static_cast<size_t>(p)] = rows.result + (row + p) * rows.resultStep + firstColumn;
      }
      args.repeats = (last - row) / size;
      args.sourceAdvance = size * rows.leftStep;
      args.outputAdvance = size * rows.resultStep;
      next.advance(args);
      simd.tile[static_cast<size_t>(blocks - 1)][static_cast<size_t>(size - 1)](args);
      row += size * args.repeats;
    }
  }
}

/// A right matrix, [terms, columns] or [columns, terms], whose rows lie `step` floats apart.
struct RightMatrix {
  const float *elements;
  int64_t step;
  int64_t terms, columns;
  bool isTransposed;
};

/// Terms [first, last) of a group of columns as tiles read them; `to` is the group's beginning.
/// `first` must be a multiple of 16.
void packTerms(const RightMatrix &matrix, const ColumnGroup &group, int64_t first, int64_t last,
               float *to) {
  const int64_t width = group.blocks * kBlock;
  const int64_t column = group.firstBlock * kBlock;
  const int64_t present = std::min(width, matrix.columns - column);
  if (!matrix.isTransposed) {
    for (int64_t term = first; term < last; ++term) {
      std::copy_n(matrix.elements + term * matrix.step + column, present, to + term * width);
      std::fill_n(to + term * width + present, width - present, 0.0F);
    }
    return;
  }
  const SimdKernels &simd = simdKernels();
  const int64_t whole = first + (last - first) / kBlock * kBlock;
  const auto rowAt = [&](int64_t i) { return matrix.elements + (column + i) * matrix.step; };
  for (int64_t i = 0; i < width; i += kBlock)
    for (int64_t term = first; term < whole; term += kBlock)
      simd.transpose(rowAt(i) + term, matrix.step, std::clamp<int64_t>(present - i, 0, kBlock),
                     to + term * width + i, width, kBlock);
  for (int64_t i = 0; i < width; ++i)
    for (int64_t term = whole; term < last; ++term)
      to[term * width + i] = i < present ? rowAt(i)[term] : 0.0F;
}

class MatMul : public CompiledKernel {
public:
  MatMul(int64_t rows, const RightMatrix &right, const Tensor *bias)
      : rows(rows), terms(right.terms), columns(right.columns),
        groups(groupColumns((columns + kBlock - 1) / kBlock, simdKernels().maxBlocks)),
        packed((columns + kBlock - 1) / kBlock * kBlock * terms),
        offsets(paddedBias(bias, columns)),
        strip(stripOf(
            rows, static_cast<int64_t>(groups.size()), terms * groups.front().blocks * kBlock,
            simdKernels().maxPixels[static_cast<size_t>(groups.front().blocks - 1)], 384)) {
    pack(right);
  }

  void run(std::span<const float *const> operands, float *result,
           ThreadPool &threads) const override {
    const Clamp clamp(postOps);
    const std::vector<PostOp> rest = clamp.rest(postOps);
    const auto groupCount = static_cast<int64_t>(groups.size());
    const int64_t strips = (rows + strip - 1) / strip;
    const int64_t cost = std::min(strip, rows) * terms * groups.front().blocks;
    threads.parallelFor(strips * groupCount, grainFor(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const ColumnGroup &group = groups[static_cast<size_t>(i % groupCount)];
        const int64_t first = i / groupCount * strip;
        const int64_t last = std::min(first + strip, rows);
        multiplyRows({operands[0], terms, result, columns}, {room(group), group, offsets.data()},
                     first, last, terms, columns, clamp);
        const int64_t column = group.firstBlock * kBlock;
        const int64_t width = std::min(group.blocks * kBlock, columns - column);
        for (int64_t row = first; !rest.empty() && row < last; ++row)
          applyPostOps(rest, operands, {row * columns + column}, result + row * columns + column,
                       width);
      }
    });
  }

private:
  float *room(const ColumnGroup &group) const {
    return packed.data() + group.firstBlock * kBlock * terms;
  }

  /// In the order in which the matrix lies, so that pages of a mapped file need not stay.
  void pack(const RightMatrix &right) {
    constexpr int64_t kTermsAtOnce = 256;
    const auto release = [&](int64_t first, int64_t count) {
      releaseMapped(std::as_bytes(std::span(right.elements + first, static_cast<size_t>(count))));
    };
    if (right.isTransposed)
      for (const ColumnGroup &group : groups) {
        packTerms(right, group, 0, terms, room(group));
        const int64_t first = group.firstBlock * kBlock;
        release(first * terms, std::min(group.blocks * kBlock, columns - first) * terms);
      }
    else
      for (int64_t first = 0; first < terms; first += kTermsAtOnce) {
        const int64_t last = std::min(first + kTermsAtOnce, terms);
        for (const ColumnGroup &group : groups)
          packTerms(right, group, first, last, room(group));
        release(first * columns, (last - first) * columns);
      }
  }

  int64_t rows, terms, columns;
  std::vector<ColumnGroup> groups;
  AlignedFloats packed;
  std::vector<float> offsets;
  int64_t strip;
};

} // namespace

std::unique_ptr<CompiledKernel> kernels::makeMatMul(int64_t rows, int64_t terms, int64_t columns,
                                                    const Tensor &right, bool transposeRight,
                                                    const Tensor *bias) {
  return std::make_unique<MatMul>(rows,
                                  RightMatrix{right.data<float>().data(),
                                              transposeRight ? terms : columns, terms, columns,
                                              transposeRight},
                                  bias);
}

PackedMatrix::PackedMatrix(const float *elements, int64_t step, int64_t terms, int64_t columns,
                           bool isTransposed)
    : terms(terms), columns(columns),
      groups(groupColumns((columns + kBlock - 1) / kBlock, simdKernels().maxBlocks)),
      packed((columns + kBlock - 1) / kBlock * kBlock * terms),
      zeros(static_cast<size_t>((columns + kBlock - 1) / kBlock * kBlock), 0.0F) {
  for (const ColumnGroup &group : groups)
    packTerms({elements, step, terms, columns, isTransposed}, group, 0, terms,
              packed.data() + group.firstBlock * kBlock * terms);
}

void PackedMatrix::multiply(const float *left, int64_t leftStep, int64_t rows, float *result,
                            int64_t resultStep) const {
  const Clamp none({});
  for (const ColumnGroup &group : groups)
    multiplyRows({left, leftStep, result, resultStep},
                 {packed.data() + group.firstBlock * kBlock * terms, group, zeros.data()}, 0, rows,
                 terms, columns, none);
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
                          packTerms({product.right(i / groupCount),
                                     product.transposeRight ? product.terms : product.columns,
                                     product.terms, product.columns, product.transposeRight},
                                    group, 0, product.terms, room(i / groupCount, group));
                        }
                      });
  const std::vector<float> zeros(static_cast<size_t>(blocks * kBlock), 0.0F);
  const Clamp none({});
  const int64_t strip =
      stripOf(product.rows, product.count, product.terms * product.columns,
              simdKernels().maxPixels[static_cast<size_t>(groups[0].blocks - 1)], 384);
  const int64_t strips = (product.rows + strip - 1) / strip;
  threads.parallelFor(
      product.count * strips, grainFor(strip * product.terms * product.columns / 16),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t index = i / strips;
          const int64_t first = i % strips * strip;
          const int64_t last = std::min(first + strip, product.rows);
          for (const ColumnGroup &group : groups)
            multiplyRows({product.left(index), product.terms,
                          result + index * product.rows * product.columns, product.columns},
                         {room(index, group), group, zeros.data()}, first, last, product.terms,
                         product.columns, none);
        }
      });
}
