//===- IntegerMatrix.cpp - Products of 8-bit matrices ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "tpuc/Interpreter/Kernels/IntegerWords.h"
#include "tpuc/Interpreter/Kernels/MatrixBatch.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

#include <algorithm>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Columns of a panel of the right matrix, whose words lie together.
constexpr int64_t kPanel = 3 * kWordLanes;
/// Rows of the left matrix that are packed at once.
constexpr int64_t kLeftRows = 64;

/// How an operand lies in memory: element (row, term) is data[row * rowStep + term * termStep]; the
/// rows of the right operand are its columns.
struct MatrixView {
  const uint8_t *data;
  int64_t rowStep, termStep;
  uint8_t flip;
  int32_t zero;

  MatrixView(const Tensor &tensor, int64_t first, bool hasTermsInRows, int64_t rows, int64_t terms,
             int32_t zero)
      : data(bytesOf(tensor) + first), rowStep(hasTermsInRows ? terms : 1),
        termStep(hasTermsInRows ? 1 : rows), flip(flipOf(tensor.type())), zero(zero + flip) {}

  int32_t at(int64_t row, int64_t term) const {
    return static_cast<uint8_t>(data[row * rowStep + term * termStep] ^ flip) - zero;
  }
};

/// The right matrix: [panels][steps][kPanel] words.
class PackedRight {
public:
  PackedRight(const MatrixView &right, int64_t k, int64_t n, WordKind kind, int32_t leftZero,
              const Tensor *bias, const IntegerSimd &simd)
      : kind(kind), steps(divideUp(k, termsOfWord(kind))), columns(n),
        words(divideUp(n, kPanel) * kPanel * steps),
        offsets(static_cast<size_t>(divideUp(n, kPanel) * kPanel)) {
    for (int64_t step = 0; step < steps; ++step)
      stepOffsets.push_back(step * kPanel);
    if (right.termStep == 1)
      packRows(right, k);
    else
      packColumns(right, k, simd);
    for (int64_t column = 0; column < n; ++column)
      offsets[static_cast<size_t>(column)] =
          bias ? bias->data<int32_t>()[bias->numElements() == 1 ? 0 : static_cast<size_t>(column)]
               : 0;
    if (kind == WordKind::SignedLanes)
      foldZero(right, k, leftZero, simd);
  }

  int64_t panels() const { return divideUp(columns, kPanel); }

  WordKind kind;
  int64_t steps, columns;
  Scratch<uint32_t> words;
  std::vector<int32_t> offsets; ///< What the sum of each column begins with.
  std::vector<int64_t> stepOffsets;

private:
  /// Terms lie together.
  void packRows(const MatrixView &right, int64_t k) {
    const int64_t terms = termsOfWord(kind);
    for (int64_t column = 0; column < columns; ++column) {
      uint32_t *to = words.data() + column / kPanel * kPanel * steps + column % kPanel;
      const uint8_t *from = right.data + column * right.rowStep;
      for (int64_t step = 0; step < steps; ++step, to += kPanel) {
        const int64_t first = step * terms;
        if (kind == WordKind::SignedLanes && first + terms <= k) {
          std::memcpy(to, from + first, sizeof(*to));
          continue;
        }
        std::array<int32_t, 4> values{};
        for (int64_t t = 0; t < std::min(terms, k - first); ++t)
          values[static_cast<size_t>(t)] = right.at(column, first + t);
        *to = wordOf(kind, values);
      }
    }
  }

  /// Columns lie together.
  void packColumns(const MatrixView &right, int64_t k, const IntegerSimd &simd) {
    const int64_t terms = termsOfWord(kind);
    for (int64_t column = 0; column < columns; column += kPanel) {
      uint32_t *to = words.data() + column * steps;
      const int64_t count = std::min(kPanel, columns - column);
      for (int64_t step = 0; step < steps; ++step, to += kPanel) {
        // What is beyond the last term meets factors of 0.
        std::array<const uint8_t *, 4> sources{};
        for (int64_t t = 0; t < terms; ++t)
          sources[static_cast<size_t>(t)] =
              right.data + std::min(step * terms + t, k - 1) * right.termStep + column;
        if (kind == WordKind::Pairs)
          simd.packPairs(sources.data(), 1, right.flip, right.zero, count, to);
        else
          simd.packBytes(sources.data(), 1, 0, count, to);
      }
    }
  }

  /// The left operand comes as unsigned numbers that are `leftZero` too large.
  void foldZero(const MatrixView &right, int64_t k, int32_t leftZero, const IntegerSimd &simd) {
    if (leftZero == 0)
      return;
    if (right.termStep == 1) {
      for (int64_t column = 0; column < columns; ++column) {
        const ByteRow row = {right.data + column * right.rowStep, right.flip, right.zero};
        // Modulo 2^32, as the sums are.
        const auto part =
            static_cast<uint32_t>(leftZero) * static_cast<uint32_t>(simd.sumRow(row, k));
        int32_t &offset = offsets[static_cast<size_t>(column)];
        offset = static_cast<int32_t>(static_cast<uint32_t>(offset) - part);
      }
      return;
    }
    for (int64_t term = 0; term < k; ++term)
      simd.addRow({right.data + term * right.termStep, right.flip, right.zero}, columns, -leftZero,
                  offsets.data());
  }
};

/// Rows [first, first + count) of the left matrix as words; terms beyond the last are 0.
void packLeft(const MatrixView &left, int64_t k, WordKind kind, int64_t first, int64_t count,
              int64_t steps, uint32_t *to) {
  for (int64_t row = first; row < first + count; ++row, to += steps) {
    if (steps > 0)
      to[steps - 1] = 0;
    if (kind == WordKind::Pairs) {
      auto *values = reinterpret_cast<int16_t *>(to);
      for (int64_t term = 0; term < k; ++term)
        values[term] = static_cast<int16_t>(left.at(row, term));
      continue;
    }
    auto *values = reinterpret_cast<uint8_t *>(to);
    const uint8_t *from = left.data + row * left.rowStep;
    if (left.termStep == 1) {
      for (int64_t term = 0; term < k; ++term)
        values[term] = from[term] ^ left.flip;
      continue;
    }
    for (int64_t term = 0; term < k; ++term)
      values[term] = from[term * left.termStep] ^ left.flip;
  }
}

/// Where the results of a tile go: bytes, or accumulators.
struct Results {
  const Requantizer *requantizer;
  bool isPerColumn;
  Tensor &output;
  int64_t columns;

  void store(const int32_t *sums, int64_t row, int64_t rows, int64_t column, int64_t count) const {
    const int64_t at = row * columns + column;
    if (!requantizer) {
      for (int64_t r = 0; r < rows; ++r)
        std::memcpy(output.mutableData<int32_t>().data() + at + r * columns, sums + r * kPanel,
                    static_cast<size_t>(count) * sizeof(int32_t));
      return;
    }
    uint8_t *to = bytesOf(output) + at;
    if (!isPerColumn)
      return requantizer->rows({sums, kPanel, rows, count, to, columns}, 0);
    for (int64_t r = 0; r < rows; ++r)
      requantizer->lanes(sums + r * kPanel, count, column, to + r * columns);
  }
};

/// Rows [row, row + count) of a product, those columns that lie in the given panels.
void multiplyRows(const MatrixView &left, int64_t k, const PackedRight &right, int64_t row,
                  int64_t count, int64_t firstPanel, int64_t lastPanel, int64_t outputRow,
                  const Results &results, const IntegerSimd &simd) {
  const Scratch<uint32_t> factors(std::max<int64_t>(count * right.steps, 1));
  packLeft(left, k, right.kind, row, count, right.steps, factors.data());
  alignas(64) std::array<int32_t, 8 * kPanel> sums;
  const std::vector<TileRows> tiles = tileRows(count, simd.maxRows);
  for (int64_t panel = firstPanel; panel < lastPanel; ++panel) {
    const int64_t column = panel * kPanel;
    const int64_t width = std::min(kPanel, right.columns - column);
    for (const TileRows &tile : tiles) {
      runTiles(simd, right.kind, tile.rows, divideUp(width, kWordLanes),
               {.lanes = right.words.data() + column * right.steps,
                .offsets = right.stepOffsets.data(),
                .steps = right.steps,
                .factors = factors.data() + tile.first * right.steps,
                .factorStep = 1,
                .rowStep = right.steps,
                .rowBias = nullptr,
                .laneBias = right.offsets.data() + column,
                .sums = sums.data(),
                .sumStep = kPanel});
      results.store(sums.data(), outputRow + tile.first, tile.rows, column, width);
    }
  }
}

/// A right matrix that is the same in every run.
struct KeptRight {
  Shape shape;
  PackedRight packed;
};

} // namespace

void kernels::integerMatMul(const Tensor &left, const Tensor &right, const Tensor *bias,
                            const IntegerMatMulParams &params, Tensor &output, ThreadPool &threads,
                            KernelCache *cache) {
  if (output.numElements() == 0)
    return;
  const MatrixProduct product(left.shape(), right.shape(), params.transposeLeft,
                              params.transposeRight);
  const auto [m, n, k] = std::array{product.m, product.n, product.k};
  const IntegerSimd &simd = integerSimd(params.level);
  const bool hasBytes = params.level >= SimdLevel::Avx512Vnni && right.type() == DataType::I8 &&
                        params.rightZero == 0;
  const WordKind kind = hasBytes ? WordKind::SignedLanes : WordKind::Pairs;
  const int32_t leftZero = params.leftZero + flipOf(left.type());
  const auto packRight = [&](int64_t matrix) {
    return PackedRight(
        MatrixView(right, matrix * n * k, product.transposeRight, n, k, params.rightZero), k, n,
        kind, leftZero, bias, simd);
  };
  std::shared_ptr<KeptRight> kept;
  if (cache && product.right.count() == 1)
    kept = cache->get<KeptRight>(
        [&](const KeptRight &found) { return found.shape == right.shape(); },
        [&] { return std::make_shared<KeptRight>(KeptRight{right.shape(), packRight(0)}); });

  std::optional<Requantizer> requantizer;
  if (params.requant)
    requantizer.emplace(*params.requant, simd);
  const Results results{requantizer ? &*requantizer : nullptr,
                        params.requant && params.requant->factors.size() > 1, output, n};
  const int64_t panels = divideUp(n, kPanel);
  // Right matrices are packed once for all rows, one after the other or each in its thread.
  const auto multiplyOne = [&](int64_t index, const PackedRight &packed, ThreadPool *shared) {
    const MatrixView view(left, product.left.matrixFor(index, product.batch) * m * k,
                          !product.transposeLeft, m, k, params.leftZero);
    const int64_t chunks = divideUp(m, kLeftRows);
    const int64_t wanted = shared ? 4 * int64_t(shared->numThreads()) : 1;
    const int64_t parts = std::clamp<int64_t>(divideUp(wanted, chunks), 1, panels);
    const int64_t perPart = divideUp(panels, parts);
    const auto piece = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / parts * kLeftRows;
        const int64_t panel = i % parts * perPart;
        multiplyRows(view, k, packed, row, std::min(kLeftRows, m - row), panel,
                     std::min(panel + perPart, panels), index * m + row, results, simd);
      }
    };
    if (!shared)
      return piece(0, chunks * parts);
    const int64_t cost = std::min(kLeftRows, m) * perPart * kPanel * packed.steps / kWordLanes;
    shared->parallelFor(chunks * parts, grainFor(cost), piece);
  };
  if (product.count == 1) {
    if (kept)
      return multiplyOne(0, kept->packed, &threads);
    return multiplyOne(0, packRight(product.right.matrixFor(0, product.batch)), &threads);
  }
  threads.parallelFor(
      product.count, grainFor(m * n * k / 32 + n * k), [&](int64_t begin, int64_t end) {
        for (int64_t index = begin; index < end; ++index)
          if (kept)
            multiplyOne(index, kept->packed, nullptr);
          else
            multiplyOne(index, packRight(product.right.matrixFor(index, product.batch)), nullptr);
      });
}
