//===- Sfu.cpp - Series, roots and linear forms (SFU, LIN) ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <bit>
#include <cstring>

namespace tpuc::bm1684x {

namespace {

constexpr unsigned kTaylorX4 = 12, kTaylor = 13, kNormalize = 15, kRsqrt = 17;
constexpr unsigned kLinMac = 1, kLinSquareSum = 20;

struct SfuPlan {
  View result;
  Source x, table;
  int64_t terms;
  unsigned iterations;
};

/// Horner's scheme over a table that every lane holds; every step is rounded to the type.
Step taylorStep(const SfuPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot input;
    Snapshot coefficients;
    std::array<Located, 3> tensors = {
        locateLocal(exec, plan.result), input.take(exec, plan.x, mustCopyFor(plan.result, plan.x)),
        coefficients.take(exec, plan.table, mustCopyAlways(plan.result, plan.table))};
    tensors[2].view.stride = {0, 0, 0, 0};
    const Kernels &k = exec.kernels;
    forEachRow(exec, plan.result.shape, tensors, [&](const Rows<3> &row) {
      alignas(64) float x[kRow], acc[kRow], c[kRow];
      k.loadFloat(plan.x.prec, row.at[1], row.stride[1], row.count, x);
      unsigned bytes = precBytes(plan.table.prec);
      auto load = [&](int64_t term, float *out) {
        k.loadFloat(plan.table.prec, row.at[2] + term * bytes, 0, row.count, out);
      };
      load(plan.terms - 1, acc);
      for (int64_t term = plan.terms - 2; term >= 0; --term) {
        load(term, c);
        k.mulAddFloat(plan.x.prec, row.count, acc, x, c, acc);
      }
      k.storeFloat(plan.result.prec, row.at[0], row.stride[0], row.count, acc);
    });
    return std::nullopt;
  };
}

Step rsqrtStep(const SfuPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot input;
    std::array<Located, 2> tensors = {locateLocal(exec, plan.result),
                                      input.take(exec, plan.x, mustCopyFor(plan.result, plan.x))};
    forEachRow(exec, plan.result.shape, tensors, [&](const Rows<2> &row) {
      alignas(64) float x[kRow];
      exec.kernels.loadFloat(Prec::F32, row.at[1], row.stride[1], row.count, x);
      for (int64_t i = 0; i < row.count; ++i) {
        // The first guess is made of the bits, which keep their sign; denormals are not flushed.
        int32_t bits;
        std::memcpy(&bits, row.at[1] + i * row.stride[1] * int64_t(sizeof(bits)), sizeof(bits));
        auto y = std::bit_cast<float>(0x5f3759dfu - static_cast<uint32_t>(bits >> 1));
        float half = x[i] * 0.5f;
        for (unsigned step = 0; step <= plan.iterations; ++step)
          y = y * (1.5f - half * y * y);
        x[i] = y;
      }
      exec.kernels.storeFloat(Prec::F32, row.at[0], row.stride[0], row.count, x);
    });
    return std::nullopt;
  };
}

/// How the parts of a float type lie in its bits. A positive number whose mantissa reaches
/// `roundsUp`, about 4/3, is nearer to the next power of two.
struct FloatBits {
  unsigned mantissa;
  uint32_t sign;
  uint32_t roundsUp;
};
constexpr FloatBits floatBits(Prec prec) {
  return prec == Prec::F32   ? FloatBits{23, 0x80000000, 0x2aaaac}
         : prec == Prec::F16 ? FloatBits{10, 0x8000, 342}
                             : FloatBits{7, 0x8000, 44};
}

/// The power of two next to x, toward zero where x is negative; as an integer its biased exponent.
Step normalizeStep(const SfuPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot input;
    std::array<Located, 2> tensors = {locateLocal(exec, plan.result),
                                      input.take(exec, plan.x, mustCopyFor(plan.result, plan.x))};
    const FloatBits format = floatBits(plan.x.prec);
    const unsigned bytes = precBytes(plan.x.prec);
    const bool isFloat = isFloatPrec(plan.result.prec);
    forEachRow(exec, plan.result.shape, tensors, [&](const Rows<2> &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        uint32_t x = 0;
        std::memcpy(&x, row.at[1] + i * row.stride[1] * bytes, bytes);
        const uint32_t sign = x & format.sign;
        const uint32_t magnitude = x & (format.sign - 1);
        uint32_t exponent = magnitude >> format.mantissa;
        const uint32_t rest = magnitude & ((1u << format.mantissa) - 1);
        exponent += sign == 0 && rest >= format.roundsUp ? 1 : 0;
        // Beyond the largest exponent the bits wrap to zero.
        const uint32_t power = (exponent << format.mantissa & (format.sign - 1)) | sign;
        const uint32_t bits = isFloat ? power : exponent;
        std::memcpy(row.at[0] + i * row.stride[0] * bytes, &bits, bytes);
      }
    });
    return std::nullopt;
  };
}

struct LinearPlan {
  unsigned sub;
  View result;
  Source x, a, b;
};

Step linearStep(const LinearPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot snapshots[3];
    auto take = [&](size_t i, const Source &source) {
      return snapshots[i].take(exec, source, mustCopyFor(plan.result, source));
    };
    std::array<Located, 4> tensors = {locateLocal(exec, plan.result), take(0, plan.x),
                                      take(1, plan.a), take(2, plan.b)};
    const Kernels &k = exec.kernels;
    Prec prec = plan.result.prec;
    forEachRow(exec, plan.result.shape, tensors, [&](const Rows<4> &row) {
      alignas(64) float x[kRow], a[kRow], b[kRow];
      k.loadFloat(prec, row.at[1], row.stride[1], row.count, x);
      k.loadFloat(prec, row.at[2], row.stride[2], row.count, a);
      if (plan.sub == kLinMac) {
        k.loadFloat(prec, row.at[3], row.stride[3], row.count, b);
        k.mulAddFloat(prec, row.count, x, a, b, x);
      } else {
        k.arithFloat(plan.sub == kLinSquareSum ? RowOp::Add : RowOp::Sub, row.count, x, a, x);
        k.roundFloat(prec, row.count, x);
        k.arithFloat(RowOp::Mul, row.count, x, x, x);
      }
      k.storeFloat(prec, row.at[0], row.stride[0], row.count, x);
    });
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareSfu(const Decoded &decoded) {
  SfuPlan plan{};
  plan.result = decoded.result();
  Prec prec = decoded.prec(Field::Opd0Prec);
  plan.x = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, true);
  plan.table = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, true);
  plan.terms = static_cast<int64_t>(decoded.get(Field::Opd1N));
  plan.iterations = static_cast<unsigned>(decoded.get(Field::Round)) & 3;
  const Prec integer = prec == Prec::F32 ? Prec::I32 : Prec::I16;
  if (isFloatPrec(prec) && decoded.sub() == kNormalize && plan.result.prec == integer)
    return normalizeStep(plan);
  if (!isFloatPrec(prec) || plan.result.prec != prec)
    return decoded.unsupported("types other than one float type");
  switch (decoded.sub()) {
  case kTaylorX4:
  case kTaylor:
    if (plan.terms < 1)
      return decoded.unsupported("a table of no coefficients");
    return taylorStep(plan);
  case kNormalize:
    return normalizeStep(plan);
  case kRsqrt:
    if (prec != Prec::F32)
      return decoded.unsupported("a root in 16 bits");
    return rsqrtStep(plan);
  default:
    return decoded.unsupported("the operation");
  }
}

Expected<Step> prepareLinear(const Decoded &decoded) {
  LinearPlan plan{};
  plan.sub = decoded.sub();
  plan.result = decoded.result();
  Prec prec = plan.result.prec;
  if (!isFloatPrec(prec))
    return decoded.unsupported("integers");
  plan.x = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, true);
  plan.a = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, prec, true);
  plan.b = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, prec, true);
  for (Source *source : {&plan.a, &plan.b})
    if (source->view)
      source->view->stride = {0, source->view->stride[1], 0, 0};
  return linearStep(plan);
}

} // namespace tpuc::bm1684x
