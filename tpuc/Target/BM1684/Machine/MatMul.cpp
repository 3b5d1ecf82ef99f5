//===- MatMul.cpp - Matrix products (MM) ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Results.h"
#include "tpuc/Target/BM168x/Gemm.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684 {

using bm168x::ColumnTile;
using bm168x::FloatSums;
using bm168x::IntSums;
using bm168x::kTile;

namespace {

struct MatMulPlan {
  Tensor result;
  Source left, right;
  std::optional<Source> bias, old;
  int64_t rows, depth;
  bool isTransposed;
  int leftShift;
  IntFinish finish;
};

/// A matrix whose columns lie in pieces of `width` on lanes that follow each other.
struct Pieces {
  Located at;
  int64_t width = 1;

  uint8_t *element(int64_t row, int64_t column) const {
    return at.at(row, column / width, 0) + column % width * at.step[3];
  }
};

template <typename SumsT> struct MatMulJob {
  Exec &exec;
  const MatMulPlan &plan;
  SumsT sums{};
  int64_t batches = 1, rows, columns, numSegments;
  std::vector<typename SumsT::Weight> weights;
  Pieces left, right, bias, old, result;
  Snapshot snapshots[4];

  MatMulJob(Exec &exec, const MatMulPlan &plan) : exec(exec), plan(plan) {
    rows = plan.rows;
    columns = plan.result.shape[1] * plan.result.shape[3];
    numSegments = ceilDiv(plan.depth, SumsT::kDepth);
    const auto take = [&](size_t i, const Source &source) {
      return Pieces{snapshots[i].take(exec, source, mustCopyAlways(plan.result, source)),
                    source.tensor ? source.tensor->shape[3] : 1};
    };
    left = take(0, plan.left);
    right = take(1, plan.right);
    if (plan.bias)
      bias = take(2, *plan.bias);
    if (plan.old)
      old = take(3, *plan.old);
    result = {locate(exec, plan.result), plan.result.shape[3]};
  }
  template <typename Convert> void packWeights(const Convert &convert) {
    const int64_t stride = numSegments * SumsT::kDepth;
    weights.assign(static_cast<size_t>(rows * stride), 0);
    overIndices(exec.pool, rows, plan.depth, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t k = 0; k < plan.depth; ++k) {
          const bool isTensor = plan.left.tensor.has_value();
          const uint8_t *at = !isTensor           ? left.at.base
                              : plan.isTransposed ? left.element(k, row)
                                                  : left.element(row, k);
          weights[static_cast<size_t>(row * stride + k)] = convert(at);
        }
    });
  }
  ColumnTile prepare(const ColumnTile &tile) const { return tile; }
  int64_t depth(int64_t segment) const {
    return std::min(SumsT::kDepth, plan.depth - segment * SumsT::kDepth);
  }
  /// Calls `body(first, count)` for the columns of the tile, piece by piece.
  template <typename Body> void overPieces(const ColumnTile &tile, const Body &body) const {
    const int64_t width = result.width;
    for (int64_t first = 0; first < tile.count;) {
      const int64_t count = std::min(tile.count - first, width - (tile.first + first) % width);
      body(first, count);
      first += count;
    }
  }
};

struct FloatMatMul : MatMulJob<FloatSums> {
  FloatMatMul(Exec &exec, const MatMulPlan &plan) : MatMulJob(exec, plan) {
    packWeights([&](const uint8_t *at) {
      float value;
      std::memcpy(&value, at, 4);
      return value;
    });
  }
  void fill(const ColumnTile &tile, int64_t segment, float *x) const {
    for (int64_t k = 0; k < depth(segment); ++k)
      overPieces(tile, [&](int64_t first, int64_t count) {
        std::memcpy(x + k * kTile + first,
                    right.element(segment * FloatSums::kDepth + k, tile.first + first),
                    static_cast<size_t>(count) * 4);
      });
  }
  void start(const ColumnTile &, int64_t, float *a, float *b) const {
    // A single product keeps its sign where it is zero.
    const float zero = plan.depth == 1 ? -0.0f : 0.0f;
    std::fill_n(a, kTile, zero);
    std::fill_n(b, kTile, zero);
  }
  void finish(const ColumnTile &tile, int64_t row, const float *sum) const {
    const Kernels &k = exec.kernels;
    alignas(64) float values[kTile], other[kTile];
    overPieces(tile, [&](int64_t first, int64_t count) {
      const int64_t column = tile.first + first;
      std::copy_n(sum + first, count, values);
      const auto add = [&](const uint8_t *at) {
        k.loadFloat(Prec::F32, at, 1, count, other);
        k.arithFloat(RowOp::Add, count, values, other, values);
      };
      if (plan.bias)
        add(bias.element(0, column));
      if (plan.old)
        add(old.element(row, column));
      k.storeFloat(Prec::F32, result.element(row, column), 1, count, values);
    });
  }
};

struct IntMatMul : MatMulJob<IntSums> {
  IntMatMul(Exec &exec, const MatMulPlan &plan) : MatMulJob(exec, plan) {
    packWeights([&](const uint8_t *at) {
      return static_cast<int16_t>(plan.left.isSigned ? static_cast<int8_t>(*at) : *at);
    });
  }
  void fill(const ColumnTile &tile, int64_t segment, int16_t *x) const {
    const int64_t count = depth(segment);
    alignas(64) uint8_t pair[2][kTile] = {};
    for (int64_t k = 0; k < count; k += 2) {
      if (k + 1 >= count)
        std::memset(pair[1], 0, sizeof pair[1]);
      for (int64_t i = 0; i < std::min<int64_t>(2, count - k); ++i)
        overPieces(tile, [&](int64_t first, int64_t length) {
          std::memcpy(&pair[i][first],
                      right.element(segment * IntSums::kDepth + k + i, tile.first + first),
                      static_cast<size_t>(length));
        });
      exec.kernels.interleave(plan.right.isSigned, pair[0], pair[1], x + k * kTile);
    }
  }
  void start(const ColumnTile &, int64_t, int32_t *sum, int32_t *) const {
    std::fill_n(sum, kTile, 0);
  }
  void finish(const ColumnTile &tile, int64_t row, const int32_t *sum) const {
    const Kernels &k = exec.kernels;
    alignas(64) int32_t values[kTile], added[kTile] = {}, before[kTile] = {};
    overPieces(tile, [&](int64_t first, int64_t count) {
      const int64_t column = tile.first + first;
      if (plan.bias)
        k.loadInt32(Prec::I16, plan.bias->isSigned, bias.element(0, column), 1, count, added);
      if (plan.old)
        k.loadInt32(Prec::I16, plan.old->isSigned, old.element(row, column), 1, count, before);
      for (int64_t i = 0; i < count; ++i)
        values[i] = plan.finish(int64_t{sum[first + i]} + added[i] +
                                (int64_t{before[i]} << plan.leftShift));
      k.storeInt32(plan.result.prec, true, false, result.element(row, column), 1, count, values);
    });
  }
};

template <typename Job> Step matMulStep(const MatMulPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const Job job(exec, plan);
    bm168x::runGemm(exec.pool, exec.kernels, job);
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareMatMul(const Decoded &decoded) {
  MatMulPlan plan{};
  plan.result = decoded.result();
  const Prec prec = decoded.prec(Field::Opd0Prec);
  plan.left = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, decoded.flag(Field::Opd0Sign));
  plan.right = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, decoded.flag(Field::Opd1Sign));
  if (decoded.flag(Field::Opd0Const))
    return decoded.unsupported("a constant matrix");
  plan.rows = plan.result.shape[0];
  plan.depth = decoded.tensors.find(Role::Opd1)->shape[0];
  plan.isTransposed = decoded.flag(Field::LeftTran);
  plan.leftShift = static_cast<int>(decoded.get(Field::LeftShift));
  if (decoded.tensors.find(Role::Opd2))
    plan.bias =
        sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::I16, decoded.flag(Field::Opd2Sign));
  if (decoded.flag(Field::ResAdd)) {
    plan.old =
        Source{.tensor = prec == Prec::F32 ? plan.result : *decoded.tensors.find(Role::Res1)};
    plan.old->isSigned = decoded.flag(Field::ResAddSign);
  }
  constexpr int64_t kMostProducts = int64_t{1} << 38;
  const int64_t columns = plan.result.shape[1] * plan.result.shape[3];
  int64_t products = plan.rows;
  for (const int64_t factor : {plan.depth, columns})
    if (__builtin_mul_overflow(products, factor, &products) || products > kMostProducts)
      return makeError(decoded.where,
                       fmt::format("mm: {} by {} by {}", plan.rows, plan.depth, columns),
                       fmt::format("{} products at most", kMostProducts));
  if (prec == Prec::F32)
    return matMulStep<FloatMatMul>(plan);
  plan.finish = intFinishOf(decoded);
  return matMulStep<IntMatMul>(plan);
}

} // namespace tpuc::bm1684
