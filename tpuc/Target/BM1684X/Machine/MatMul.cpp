//===- MatMul.cpp - Matrix products (MM, MM2) -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"
#include "tpuc/Target/BM168x/Gemm.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684x {

using bm168x::BlockSums;
using bm168x::ColumnTile;
using bm168x::FloatSums;
using bm168x::IntSums;
using bm168x::storeSums;

namespace {

/// A matrix in local memory, by the place of its element (row, column).
struct Matrix {
  Source source;
  Located at;
  /// MM: columns in chunks of `width` on the channels of image `row`. MM2: rows are channels.
  bool isChunked = false;
  bool isTransposed = false;
  int64_t width = 1;

  uint8_t *element(int64_t row, int64_t column) const {
    if (isTransposed)
      std::swap(row, column);
    return isChunked ? at.at(row, column / width, 0, column % width) : at.at(0, row, 0, column);
  }
  /// Elements that follow each other from column `column` of a row.
  int64_t contiguous(int64_t column, int64_t count) const {
    if (isTransposed || !source.view)
      return 1;
    return isChunked ? std::min(count, width - column % width) : count;
  }
};

struct MatMulPlan {
  Matrix left, right, result;
  int64_t rows, columns, inner;
  /// Bias (f32) or zero point of the right matrix (8 bits), see `extraAt`.
  Source extra;
  enum class Extra : uint8_t { PerColumn, PerRow, PerColumnChunk } extraKind;
  std::optional<View> old;
  int shift;
  unsigned mode;
  /// MM 2 and 3: what becomes of the sums of 8-bit integers.
  enum class Requant : uint8_t { None, Shift, ReluShift } requant;
  bool resultSigned;
};

template <typename T>
void loadColumns(const Kernels &k, const Matrix &matrix, int64_t row, int64_t first, int64_t count,
                 T *out) {
  for (int64_t i = 0; i < count;) {
    int64_t piece = matrix.contiguous(first + i, count - i);
    load(k, matrix.source, matrix.element(row, first + i), piece, out + i);
    i += piece;
  }
}

template <typename SumsT> struct MatMulJob {
  Exec &exec;
  const MatMulPlan &plan;
  SumsT sums{};
  int64_t batches = 1, rows, columns, numSegments;
  std::vector<typename SumsT::Weight> weights;
  Matrix left, right, result;
  Located extra;
  std::optional<Located> old;
  Snapshot snapshots[4];

  MatMulJob(Exec &exec, const MatMulPlan &plan)
      : exec(exec), plan(plan), rows(plan.rows), columns(plan.columns),
        numSegments(ceilDiv(plan.inner, SumsT::kDepth)), left(plan.left), right(plan.right),
        result(plan.result) {
    const View &target = *plan.result.source.view;
    auto take = [&](size_t i, const Source &source) {
      return snapshots[i].take(exec, source, mustCopyAlways(target, source));
    };
    left.at = take(0, left.source);
    right.at = take(1, right.source);
    extra = take(2, plan.extra);
    result.at = locateLocal(exec, target);
    if (plan.old) {
      Source source;
      source.view = plan.old;
      old = snapshots[3].take(exec, source, mustCopyFor(target, source));
    }
  }

  int64_t depth(int64_t segment) const {
    return std::min(SumsT::kDepth, plan.inner - segment * SumsT::kDepth);
  }
  ColumnTile prepare(const ColumnTile &tile) const { return tile; }

  template <typename T> void packWeights(const auto &convert) {
    int64_t stride = numSegments * SumsT::kDepth;
    weights.assign(static_cast<size_t>(rows * stride), 0);
    overIndices(exec, rows, stride, [&](int64_t begin, int64_t end) {
      ScopedFlush flush;
      std::vector<T> raw(static_cast<size_t>(plan.inner));
      for (int64_t row = begin; row < end; ++row) {
        loadColumns(exec.kernels, left, row, 0, plan.inner, raw.data());
        for (int64_t k = 0; k < plan.inner; ++k)
          weights[static_cast<size_t>(row * stride + k)] =
              convert(raw[static_cast<size_t>(k)], row);
      }
    });
  }

  /// The tile's columns of one row of the right matrix, zeros beyond.
  template <typename T> void rightRow(const ColumnTile &tile, int64_t k, T *out) const {
    loadColumns(exec.kernels, right, k, tile.first, tile.count, out);
    std::fill(out + tile.count, out + kTile, T(0));
  }

  /// Calls `body(at, first, count)` for the pieces of a result row that follow each other.
  void overResult(const ColumnTile &tile, int64_t row, const Matrix &matrix,
                  const auto &body) const {
    for (int64_t i = 0; i < tile.count;) {
      int64_t piece = matrix.contiguous(tile.first + i, tile.count - i);
      body(matrix.element(row, tile.first + i), i, piece);
      i += piece;
    }
  }
  Matrix oldMatrix() const {
    Matrix matrix = result;
    matrix.at = *old;
    return matrix;
  }
};

template <typename SumsT> struct FloatMatMul : MatMulJob<SumsT> {
  using Base = MatMulJob<SumsT>;
  FloatMatMul(Exec &exec, const MatMulPlan &plan) : Base(exec, plan) {
    this->template packWeights<float>([](float value, int64_t) { return value; });
    if constexpr (SumsT::kNumSums > 1)
      this->sums.startsOdd = !plan.old;
  }
  void fill(const ColumnTile &tile, int64_t segment, float *x) const {
    for (int64_t k = 0; k < this->depth(segment); ++k)
      this->rightRow(tile, segment * SumsT::kDepth + k, x + k * kTile);
  }
  void start(const ColumnTile &tile, int64_t row, float *sum, float *odd) const {
    std::fill_n(sum, kTile, 0.0f);
    if (odd)
      std::fill_n(odd, kTile, 0.0f);
    const Kernels &k = this->exec.kernels;
    if (this->old)
      this->overResult(tile, row, this->oldMatrix(),
                       [&](const uint8_t *at, int64_t first, int64_t count) {
                         k.loadFloat(Prec::F32, at, 1, count, (odd ? odd : sum) + first);
                       });
    const MatMulPlan &plan = this->plan;
    if (plan.extraKind != MatMulPlan::Extra::PerColumnChunk)
      return;
    for (int64_t i = 0; i < tile.count; ++i) {
      int64_t column = tile.first + i;
      int64_t width = plan.result.width;
      k.loadFloat(Prec::F32, this->extra.at(0, column / width, 0, column % width), 1, 1, sum + i);
    }
  }
  void finish(const ColumnTile &tile, int64_t row, const float *sum) const {
    this->overResult(tile, row, this->result, [&](uint8_t *at, int64_t first, int64_t count) {
      storeSums(this->exec.kernels, this->plan.result.source.prec, at, count, sum + first);
    });
  }
};

struct IntMatMul : MatMulJob<IntSums> {
  IntMatMul(Exec &exec, const MatMulPlan &plan) : MatMulJob(exec, plan) {
    bool isPerRow = plan.extraKind == MatMulPlan::Extra::PerRow;
    packWeights<int32_t>([&](int32_t value, int64_t row) {
      int32_t zero = 0;
      if (isPerRow)
        load(exec.kernels, plan.extra, extra.channel(0, row), 1, &zero);
      return static_cast<int16_t>(value - zero);
    });
  }
  /// The zero points of a row of the tile. Each element of the right matrix takes that of its own
  /// lane: the one of its row in NN, of its column in NT.
  void subtractZeros(const ColumnTile &tile, int64_t k, int32_t *values) const {
    if (plan.extraKind != MatMulPlan::Extra::PerColumn)
      return;
    bool isNN = !plan.right.isTransposed;
    for (int64_t i = 0; i < tile.count; ++i) {
      int64_t column = tile.first + i;
      int32_t zero;
      load(exec.kernels, plan.extra, extra.at(0, (isNN ? k : column) % kLanes, 0, column), 1,
           &zero);
      values[i] -= zero;
    }
  }
  void fill(const ColumnTile &tile, int64_t segment, int16_t *x) const {
    alignas(64) int32_t a[kTile], b[kTile];
    int64_t count = depth(segment);
    for (int64_t k = 0; k < count; k += 2) {
      int64_t row = segment * IntSums::kDepth + k;
      rightRow(tile, row, a);
      subtractZeros(tile, row, a);
      if (k + 1 < count) {
        rightRow(tile, row + 1, b);
        subtractZeros(tile, row + 1, b);
      } else
        std::fill_n(b, kTile, 0);
      for (int64_t i = 0; i < kTile; ++i) {
        x[k * kTile + 2 * i] = static_cast<int16_t>(a[i]);
        x[k * kTile + 2 * i + 1] = static_cast<int16_t>(b[i]);
      }
    }
  }
  void start(const ColumnTile &tile, int64_t row, int32_t *sum, int32_t *) const {
    std::fill_n(sum, kTile, 0);
    if (old)
      overResult(tile, row, oldMatrix(), [&](const uint8_t *at, int64_t first, int64_t count) {
        exec.kernels.loadInt32(Prec::I32, true, at, 1, count, sum + first);
      });
  }
  void finish(const ColumnTile &tile, int64_t row, const int32_t *sum) const {
    if (plan.requant != MatMulPlan::Requant::None)
      return finishRequant(tile, row, sum);
    overResult(tile, row, result, [&](uint8_t *at, int64_t first, int64_t count) {
      exec.kernels.storeInt32(plan.result.source.prec, true, false, at, 1, count, sum + first);
    });
  }
  /// saturate((sum + bias) >> shift), half up; after a relu the result has no sign.
  void finishRequant(const ColumnTile &tile, int64_t row, const int32_t *sum) const {
    constexpr unsigned kHalfUp = 5;
    alignas(64) int64_t values[kTile];
    const int64_t width = plan.result.width;
    for (int64_t i = 0; i < tile.count; ++i) {
      const int64_t column = tile.first + i;
      int32_t bias;
      load(exec.kernels, plan.extra, extra.at(0, column / width, 0, column % width), 1, &bias);
      values[i] = int64_t{sum[i]} + bias;
      if (plan.requant == MatMulPlan::Requant::ReluShift)
        values[i] = std::max<int64_t>(values[i], 0);
    }
    exec.kernels.shiftInt64(tile.count, values, -plan.shift, kHalfUp);
    overResult(tile, row, result, [&](uint8_t *at, int64_t first, int64_t count) {
      exec.kernels.storeInt64(plan.result.source.prec, plan.resultSigned, true, at, 1, count,
                              values + first);
    });
  }
};

template <typename Job> Step matMulStep(const MatMulPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    ScopedFlush flush;
    Job job(exec, plan);
    bm168x::runGemm(exec.pool, exec.kernels, job);
    return std::nullopt;
  };
}

/// 32-bit integers: exact sums of 64 bits, shifted, saturated.
Step wideStep(const MatMulPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot snapshots[3];
    const View &target = *plan.result.source.view;
    Matrix left = plan.left;
    Matrix right = plan.right;
    Matrix result = plan.result;
    left.at = snapshots[0].take(exec, left.source, mustCopyAlways(target, left.source));
    right.at = snapshots[1].take(exec, right.source, mustCopyAlways(target, right.source));
    result.at = locateLocal(exec, target);
    const Kernels &k = exec.kernels;
    int shift = plan.shift;
    if (plan.extra.view)
      shift = signedByte(*locate(exec, plan.extra).at(0, 0, 0, 0));
    auto value = [&](const Matrix &matrix, int64_t row, int64_t column) {
      int64_t element;
      k.loadInt64(matrix.source.prec, matrix.source.isSigned, matrix.element(row, column), 1, 1,
                  &element);
      return static_cast<uint64_t>(element);
    };
    overIndices(exec, plan.rows, plan.columns * plan.inner * 8, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t column = 0; column < plan.columns; ++column) {
          uint64_t sum = 0;
          for (int64_t i = 0; i < plan.inner; ++i)
            sum += value(left, row, i) * value(right, i, column);
          auto total = static_cast<int64_t>(sum);
          k.shiftInt64(1, &total, shift, plan.mode);
          k.storeInt64(result.source.prec, true, true, result.element(row, column), 1, 1, &total);
        }
    });
    return std::nullopt;
  };
}

/// MM 2 and 3, whose sums of 8-bit integers get a bias, a relu and a shift.
Expected<Step> prepareRequantMatMul(const Decoded &decoded, MatMulPlan plan) {
  const Prec prec = decoded.prec(Field::Opd0Prec);
  const Prec to = plan.result.source.prec;
  if (prec != Prec::I8 || isFloatPrec(to) || to == Prec::I32)
    return decoded.unsupported("other types than i8 to i8 or i16");
  if (decoded.flag(Field::ResAdd))
    return decoded.unsupported("accumulation with a requantization");
  // Five bits count; when these are zero and others are not, nothing is left of the sum.
  constexpr int kShifts = 32, kNothingLeft = 62;
  const int shift = static_cast<int>(decoded.get(Field::Opd3Addr) >> 8 & 0xFF);
  const bool hasRelu = decoded.sub() == 3;
  plan.requant = hasRelu ? MatMulPlan::Requant::ReluShift : MatMulPlan::Requant::Shift;
  plan.extraKind = MatMulPlan::Extra::PerColumnChunk;
  plan.extra =
      sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::I16, decoded.flag(Field::Opd2Sign));
  plan.shift = shift > 0 && shift % kShifts == 0 ? kNothingLeft : shift % kShifts;
  plan.resultSigned =
      !hasRelu && (plan.left.source.isSigned || plan.right.source.isSigned || plan.extra.isSigned);
  return matMulStep<IntMatMul>(plan);
}

} // namespace

Expected<Step> prepareMatMul2(const Decoded &decoded) {
  MatMulPlan plan{};
  unsigned sub = decoded.sub();
  Prec prec = decoded.prec(Field::Opd0Prec);
  const View &result = decoded.result();
  bool leftSigned = decoded.flag(Field::Opd0Sign);
  bool rightSigned = decoded.flag(Field::Opd1Sign);
  Matrix a{sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, leftSigned), {}};
  Matrix b{sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, rightSigned), {}};
  plan.result.source = {result, 0, result.prec, true};
  plan.rows = result.shape[1];
  plan.columns = result.shape[3];
  auto rightC = static_cast<int64_t>(decoded.get(Field::Opd1C));
  auto rightW = static_cast<int64_t>(decoded.get(Field::Opd1W));
  plan.inner = sub == 4 ? rightC : rightW;
  if ((sub == 4 ? rightW : rightC) != (sub == 6 ? plan.rows : plan.columns))
    return decoded.unsupported("a result of another size than its operands have");
  // TT writes the transposed product, which is right times left, row by row.
  bool isSwapped = sub == 6;
  plan.left = isSwapped ? b : a;
  plan.right = isSwapped ? a : b;
  plan.right.isTransposed = sub == 5;
  plan.extra = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, prec, rightSigned);
  plan.extraKind = isSwapped ? MatMulPlan::Extra::PerRow : MatMulPlan::Extra::PerColumn;
  if (decoded.flag(Field::ResAdd)) {
    const View *old = decoded.operands.find(Role::Res1);
    plan.old = old ? *old : result;
  }
  if (prec == Prec::I8) {
    if (result.prec != Prec::I32)
      return decoded.unsupported("a result of less than 32 bits");
    return matMulStep<IntMatMul>(plan);
  }
  if ((prec != Prec::F16 && prec != Prec::BF16) ||
      (result.prec != prec && result.prec != Prec::F32))
    return decoded.unsupported("other types than i8, f16 and bf16");
  plan.extra = Source{};
  return matMulStep<FloatMatMul<BlockSums>>(plan);
}

Expected<Step> prepareMatMul(const Decoded &decoded) {
  MatMulPlan plan{};
  Prec prec = decoded.prec(Field::Opd0Prec);
  const View &result = decoded.result();
  plan.left.source =
      sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, decoded.flag(Field::Opd0Sign));
  plan.left.isChunked = true;
  plan.left.isTransposed = decoded.flag(Field::LeftTran);
  // A constant has no chunks, whatever the fields say.
  if (plan.left.source.view) {
    plan.left.width = plan.left.source.view->shape[3];
    const auto lastChunk = static_cast<int64_t>(decoded.get(Field::Opd1W));
    if (lastChunk < 1 || lastChunk > plan.left.width)
      return decoded.unsupported(
          fmt::format("a last chunk of {} columns in chunks of {}", lastChunk, plan.left.width));
  }
  plan.right.source =
      sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, decoded.flag(Field::Opd1Sign));
  plan.right.isChunked = true;
  plan.right.width = result.shape[3];
  plan.result.source = {result, 0, result.prec, true};
  plan.result.isChunked = true;
  plan.result.width = result.shape[3];
  plan.rows = result.shape[0];
  plan.columns = result.shape[1] * result.shape[3];
  plan.inner = decoded.operands.find(Role::Opd1)->shape[0];
  plan.shift = signedByte(decoded.get(Field::Opd2Addr));
  plan.mode = static_cast<unsigned>(decoded.get(Field::Round)) & 7;
  if (decoded.sub() != 1)
    return prepareRequantMatMul(decoded, plan);
  bool adds = decoded.flag(Field::ResAdd);
  if (prec == Prec::F32) {
    if (result.prec != Prec::F32)
      return decoded.unsupported("a result of another type");
    plan.extra = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::F32, true);
    plan.extraKind = MatMulPlan::Extra::PerColumnChunk;
    if (adds)
      plan.old = result;
    return matMulStep<FloatMatMul<FloatSums>>(plan);
  }
  if (result.prec != Prec::I32 || plan.mode > 6)
    return decoded.unsupported("a result of less than 32 bits, or rounding mode 7");
  if (adds)
    return decoded.unsupported("accumulation of integers");
  if (prec == Prec::I32) {
    plan.extra = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::I8, true);
    return wideStep(plan);
  }
  if (prec != Prec::I8)
    return decoded.unsupported("16-bit types");
  plan.extraKind = MatMulPlan::Extra::PerColumnChunk;
  return matMulStep<IntMatMul>(plan);
}

} // namespace tpuc::bm1684x
