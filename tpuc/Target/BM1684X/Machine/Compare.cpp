//===- Compare.cpp - Compare and select (CMP), vector by vector (VC) ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <cstring>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kGtAndSelect = 22, kSelectWhereGt = 23, kSelectWhereEq = 24, kLtAndSelect = 25;

struct ComparePlan {
  unsigned sub;
  View result;
  std::optional<View> second;
  std::array<Source, 4> inputs;
};

/// Whether the comparison holds, for each element of a row. Equality is that of the bits, and
/// "less" is "not greater or equal" where the bits differ, so a NaN is less than any other value.
void compareRow(const Kernels &k, const ComparePlan &plan, const Rows<6> &row, bool *takes) {
  const Source &a = plan.inputs[0];
  const Source &b = plan.inputs[1];
  alignas(64) int64_t x[kRow], y[kRow];
  bool greater[kRow], less[kRow];
  Prec bits = a.prec == Prec::F32 ? Prec::I32 : precBytes(a.prec) == 2 ? Prec::I16 : a.prec;
  k.loadInt64(bits, a.isSigned, row.at[2], row.stride[2], row.count, x);
  k.loadInt64(bits, b.isSigned, row.at[3], row.stride[3], row.count, y);
  if (isFloatPrec(a.prec)) {
    alignas(64) float u[kRow], v[kRow];
    k.loadFloat(a.prec, row.at[2], row.stride[2], row.count, u);
    k.loadFloat(b.prec, row.at[3], row.stride[3], row.count, v);
    for (int64_t i = 0; i < row.count; ++i) {
      greater[i] = u[i] > v[i];
      less[i] = !(u[i] >= v[i]) && x[i] != y[i];
    }
  } else {
    for (int64_t i = 0; i < row.count; ++i) {
      greater[i] = x[i] > y[i];
      less[i] = x[i] < y[i];
    }
  }
  bool isGreater = plan.sub == kGtAndSelect || plan.sub == kSelectWhereGt;
  for (int64_t i = 0; i < row.count; ++i)
    takes[i] = isGreater ? greater[i] : plan.sub == kSelectWhereEq ? x[i] == y[i] : less[i];
}

/// Row `to` gets, element by element, a copy from row `yes` or row `no`.
void chooseRow(const Rows<6> &row, const bool *takes, size_t to, size_t yes, size_t no,
               unsigned bytes) {
  for (int64_t i = 0; i < row.count; ++i) {
    size_t from = takes[i] ? yes : no;
    std::memcpy(row.at[to] + i * row.stride[to] * bytes,
                row.at[from] + i * row.stride[from] * bytes, bytes);
  }
}

/// Denormals of f32 and bf16 become zeros.
void flushRow(const Rows<6> &row, size_t to, Prec prec) {
  unsigned bytes = precBytes(prec);
  uint32_t exponent = prec == Prec::F32 ? 0x7f800000 : 0x7f80;
  for (int64_t i = 0; i < row.count; ++i) {
    uint8_t *at = row.at[to] + i * row.stride[to] * bytes;
    uint32_t bits = 0;
    std::memcpy(&bits, at, bytes);
    if ((bits & exponent) == 0)
      bits &= prec == Prec::F32 ? 0x80000000 : 0x8000;
    std::memcpy(at, &bits, bytes);
  }
}

Step compareStep(const ComparePlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot snapshots[4];
    std::array<Located, 6> tensors;
    tensors[0] = locateLocal(exec, plan.result);
    tensors[1] = locateLocal(exec, plan.second.value_or(plan.result));
    for (size_t i = 0; i < 4; ++i) {
      const Source &source = plan.inputs[i];
      // With two results even an equal place is overwritten too early.
      bool mustCopy = mustCopyFor(plan.result, source) ||
                      (plan.second && (mustCopyAlways(*plan.second, source) ||
                                       mustCopyAlways(plan.result, source)));
      tensors[2 + i] = snapshots[i].take(exec, source, mustCopy);
    }
    unsigned compared = precBytes(plan.inputs[0].prec);
    unsigned chosen = precBytes(plan.inputs[2].prec);
    forEachRow(exec, plan.result.shape, tensors, [&](const Rows<6> &row) {
      bool takes[kRow];
      compareRow(exec.kernels, plan, row, takes);
      if (plan.second) {
        chooseRow(row, takes, 0, 2, 3, compared);
        if (plan.result.prec == Prec::F32 || plan.result.prec == Prec::BF16)
          flushRow(row, 0, plan.result.prec);
        chooseRow(row, takes, 1, 4, 5, chosen);
      } else {
        chooseRow(row, takes, 0, 4, 5, chosen);
      }
    });
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareCompare(const Decoded &decoded) {
  ComparePlan plan{};
  plan.sub = decoded.sub();
  plan.result = decoded.result();
  if (plan.sub == kGtAndSelect || plan.sub == kLtAndSelect)
    plan.second = *decoded.operands.find(Role::Res1);
  bool isSigned = decoded.flag(Field::Opd0Sign);
  Prec compared = decoded.prec(Field::Opd0Prec);
  Prec chosen = decoded.prec(Field::Opd2Prec);
  plan.inputs = {sourceOf(decoded, Role::Opd0, Field::Opd0Addr, compared, isSigned),
                 sourceOf(decoded, Role::Opd1, Field::Opd1Addr, compared, isSigned),
                 sourceOf(decoded, Role::Opd2, Field::Opd2Addr, chosen, isSigned),
                 sourceOf(decoded, Role::Opd3, Field::Opd3Addr, chosen, isSigned)};
  return compareStep(plan);
}

namespace {

struct VectorPlan {
  RowOp op;
  bool saturates;
  bool resultSigned;
  View result;
  Source a, b;
  int64_t chunkWidth;
};

void vectorRow(const Kernels &k, const VectorPlan &plan, const uint8_t *a, const uint8_t *b,
               uint8_t *out, int64_t count) {
  if (isFloatPrec(plan.a.prec)) {
    alignas(64) float x[kRow], y[kRow];
    k.loadFloat(plan.a.prec, a, 0, count, x);
    k.loadFloat(plan.b.prec, b, 1, count, y);
    k.arithFloat(plan.op, count, x, y, x);
    return k.storeFloat(plan.result.prec, out, 1, count, x);
  }
  alignas(64) int64_t x[kRow], y[kRow];
  k.loadInt64(plan.a.prec, plan.a.isSigned, a, 0, count, x);
  k.loadInt64(plan.b.prec, plan.b.isSigned, b, 1, count, y);
  k.arithInt64(plan.op, count, x, y, x);
  k.storeInt64(plan.result.prec, plan.resultSigned, plan.saturates, out, 1, count, x);
}

/// res[i,c,0,w] = a[i] op b[c,w]
Step vectorStep(const VectorPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot snapshots[2];
    Located result = locateLocal(exec, plan.result);
    Located a = snapshots[0].take(exec, plan.a, mustCopyAlways(plan.result, plan.a));
    Located b = snapshots[1].take(exec, plan.b, mustCopyAlways(plan.result, plan.b));
    const Extents &shape = plan.result.shape;
    overIndices(exec, shape[1], shape[0] * shape[3], [&](int64_t begin, int64_t end) {
      ScopedFlush flush;
      for (int64_t c = begin; c < end; ++c)
        for (int64_t i = 0; i < shape[0]; ++i) {
          const uint8_t *one = a.at(0, i / plan.chunkWidth, 0, i % plan.chunkWidth);
          for (int64_t w = 0; w < shape[3]; w += kRow)
            vectorRow(exec.kernels, plan, one, b.at(0, c, 0, w), result.at(i, c, 0, w),
                      std::min(kRow, shape[3] - w));
        }
    });
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareVector(const Decoded &decoded) {
  VectorPlan plan{};
  unsigned sub = decoded.sub();
  constexpr struct {
    unsigned sub;
    RowOp op;
  } kOps[] = {{0, RowOp::Mul},  {2, RowOp::Add},  {3, RowOp::Sub}, {4, RowOp::Max},
              {5, RowOp::Min},  {7, RowOp::And},  {8, RowOp::Or},  {9, RowOp::Xor},
              {15, RowOp::Add}, {16, RowOp::Sub}, {20, RowOp::Mul}};
  const auto *found = std::ranges::find(kOps, sub, [](const auto &entry) { return entry.sub; });
  if (found == std::end(kOps))
    return decoded.unsupported("the operation");
  plan.op = found->op;
  plan.saturates = sub == 15 || sub == 16 || sub == 20;
  plan.result = decoded.result();
  plan.a = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, decoded.prec(Field::Opd0Prec),
                    decoded.flag(Field::Opd0Sign));
  plan.b = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, decoded.prec(Field::Opd1Prec),
                    decoded.flag(Field::Opd1Sign));
  plan.resultSigned = plan.a.isSigned || plan.b.isSigned || plan.op == RowOp::Sub;
  plan.chunkWidth = static_cast<int64_t>(decoded.get(Field::Opd0W));
  // The elements of the first operand lie in lines of so many.
  const int64_t last = plan.result.shape[0] - 1;
  if (plan.chunkWidth < 1 ||
      (plan.a.view && (last / plan.chunkWidth >= plan.a.view->shape[1] ||
                       std::min(last, plan.chunkWidth - 1) >= plan.a.view->shape[3])))
    return decoded.unsupported("fewer elements in the first operand than results");
  bool isFloat = isFloatPrec(plan.a.prec);
  if (isFloat != isFloatPrec(plan.b.prec) || isFloat != isFloatPrec(plan.result.prec) ||
      (isFloat && (plan.a.prec != plan.b.prec || plan.a.prec != plan.result.prec)))
    return decoded.unsupported("floats of different types");
  if (isFloat && (plan.saturates || (sub >= 7 && sub <= 9)))
    return decoded.unsupported("float operands");
  return vectorStep(plan);
}

} // namespace tpuc::bm1684x
