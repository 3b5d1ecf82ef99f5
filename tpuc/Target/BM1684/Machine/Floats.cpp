//===- Floats.cpp - Element-wise functions of floats (MD, SFU, LUT, CMP) --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Divide.h"
#include "tpuc/Target/BM1684/Machine/Exec.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684 {

namespace {

/// Operands of a function: the result, and up to three others.
struct FloatPlan {
  unsigned opcode, sub;
  Tensor result;
  Source a, b, c;
  bool adds;      ///< The result is added to what is there.
  int64_t terms;  ///< Of a series.
  uint64_t table; ///< Where it is in L2.
};

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

/// The exponent that a number has when its mantissa is between 2/3 and 4/3: positive numbers with
/// a larger one count for the next power.
uint32_t nearExponent(uint32_t bits) {
  const bool isAbove = (bits & 0x7fffff) > 0x2aaaab && bits >> 31 == 0;
  return (bits >> 23 & 0xff) + (isAbove ? 1 : 0);
}

/// To an integer toward zero; what is too large becomes the largest of its sign.
uint32_t truncate(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xff;
  if (exponent <= 0x7e)
    return 0;
  if (exponent > 0x9d)
    return bits >> 31 == 0 ? 0x7fffffff : 0x80000000;
  return static_cast<uint32_t>(static_cast<int32_t>(std::bit_cast<float>(bits)));
}

/// The sum of c[i] * x^(i + 1) for `terms` coefficients, by Horner's rule.
float series(float x, int64_t terms, const uint8_t *table) {
  float sum = 0;
  for (int64_t i = terms; i-- > 0;) {
    float coefficient;
    std::memcpy(&coefficient, table + i * 4, 4);
    sum = (i == terms - 1 ? coefficient : sum + coefficient) * x;
  }
  return sum;
}

uint32_t sfu(const FloatPlan &plan, float x, const uint8_t *table) {
  switch (plan.sub) {
  case sub::kTaylor:
    return bitsOf(series(x, plan.terms, table));
  case sub::kToInt:
    return truncate(bitsOf(x));
  case sub::kExponent:
    return nearExponent(bitsOf(x));
  case sub::kPowerOfTwo:
    return (bitsOf(x) & 0x80000000) | (nearExponent(bitsOf(x)) & 0xff) << 23;
  default:
    return bitsOf(reciprocalRoot(x));
  }
}

float scalar(unsigned which, float a, float b) {
  return which == sub::kMul   ? a * b
         : which == sub::kAdd ? a + b
         : which == sub::kSub ? a - b
                              : divide(a, b);
}

float linear(unsigned which, float a, float b, float c) {
  if (which == sub::kMac)
    return a * c + b;
  const float sum = which == sub::kSquareSum ? a + b : a - b;
  return sum * sum;
}

struct FloatRow {
  alignas(64) float a[kRow], b[kRow], c[kRow], old[kRow];
};

void computeRow(const FloatPlan &plan, const uint8_t *table, const Rows<4> &row, FloatRow &values) {
  float *out = values.a;
  for (int64_t i = 0; i < row.count; ++i) {
    const float a = values.a[i], b = values.b[i];
    if (plan.opcode == tiu::kSfu) {
      const uint32_t bits = sfu(plan, a, table);
      std::memcpy(&out[i], &bits, 4);
      continue;
    }
    out[i] =
        plan.opcode == tiu::kScalar ? scalar(plan.sub, a, b) : linear(plan.sub, a, b, values.c[i]);
    if (plan.adds)
      out[i] += values.old[i];
  }
  for (int64_t i = 0; i < row.count; ++i)
    std::memcpy(row.at[0] + i * row.stride[0] * 4, &out[i], 4);
}

std::optional<Error> runFloats(Exec &exec, const FloatPlan &plan) {
  const uint8_t *table = exec.memory.l2().data() + plan.table;
  Snapshot snapshots[3];
  const std::array<Located, 4> operands = {
      locate(exec, plan.result),
      snapshots[0].take(exec, plan.a, mustCopyFor(plan.result, plan.a)),
      snapshots[1].take(exec, plan.b, mustCopyAlways(plan.result, plan.b)),
      snapshots[2].take(exec, plan.c, mustCopyAlways(plan.result, plan.c)),
  };
  forEachRow(exec, plan.result.shape, operands, [&](const Rows<4> &row) {
    FloatRow values;
    const auto load = [&](size_t i, float *to) {
      for (int64_t k = 0; k < row.count; ++k)
        std::memcpy(&to[k], row.at[i] + k * row.stride[i] * 4, 4);
    };
    load(1, values.a);
    load(2, values.b);
    load(3, values.c);
    if (plan.adds)
      load(0, values.old);
    computeRow(plan, table, row, values);
  });
  return std::nullopt;
}

/// `bytes` of L2 from a byte offset that commands round down to words.
Expected<uint64_t> tableAt(const Decoded &decoded, uint64_t bytes) {
  const uint64_t at = decoded.get(Field::Opd1Addr) & ~uint64_t{3};
  if (at > kL2Bytes || bytes > kL2Bytes - at)
    return makeError(decoded.where,
                     fmt::format("{}: a table of {} bytes at {:#x}",
                                 decoded.command.operation().name, bytes, at),
                     fmt::format("one in the {} bytes of L2", kL2Bytes));
  return at;
}

} // namespace

Expected<Step> prepareFloats(const Decoded &decoded) {
  FloatPlan plan{};
  plan.opcode = decoded.command.operation().opcode;
  plan.sub = decoded.sub();
  plan.result = decoded.result();
  plan.a = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, Prec::F32, true);
  if (plan.opcode == tiu::kSfu) {
    plan.terms = static_cast<int64_t>(decoded.get(Field::Opd1N));
    if (plan.sub == sub::kTaylor) {
      auto table = tableAt(decoded, decoded.get(Field::Opd1N) * 4);
      if (!table)
        return propagate(table);
      plan.table = *table;
    }
  } else {
    plan.b = sourceOf(decoded, Role::Opd1, Field::Opd1Addr, Prec::F32, true);
    plan.c = sourceOf(decoded, Role::Opd2, Field::Opd2Addr, Prec::F32, true);
    plan.adds =
        decoded.flag(Field::ResAdd) && (plan.opcode == tiu::kScalar || plan.sub == sub::kMac);
  }
  return Step([plan](Exec &exec) { return runFloats(exec, plan); });
}

Expected<Step> prepareLut(const Decoded &decoded) {
  // The table's length is in rows of 32 words; the index is the low byte of a word.
  const uint64_t words = decoded.get(Field::Opd1H) * 32;
  auto table = tableAt(decoded, words * 4);
  if (!table)
    return propagate(table);
  const Tensor result = decoded.result();
  const Source index = sourceOf(decoded, Role::Opd0, Field::Opd0Addr, Prec::I32, false);
  const std::string where = decoded.where;
  return Step([=, at = *table](Exec &exec) -> std::optional<Error> {
    const uint8_t *entries = exec.memory.l2().data() + at;
    Snapshot snapshot;
    const std::array<Located, 2> operands = {
        locate(exec, result), snapshot.take(exec, index, mustCopyFor(result, index))};
    std::atomic<int64_t> beyond = -1;
    forEachRow(exec, result.shape, operands, [&](const Rows<2> &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        uint32_t k;
        std::memcpy(&k, row.at[1] + i * row.stride[1] * 4, 4);
        k &= 0xff;
        if (k < words)
          std::memcpy(row.at[0] + i * row.stride[0] * 4, entries + k * 4, 4);
        else
          beyond = k;
      }
    });
    if (beyond < 0)
      return std::nullopt;
    return Error{where, fmt::format("index {}", beyond.load()),
                 fmt::format("indices below {}", words)};
  });
}

Expected<Step> prepareCompare(const Decoded &decoded) {
  const auto source = [&](Role role, Field address) {
    return sourceOf(decoded, role, address, Prec::F32, true);
  };
  const Source a = source(Role::Opd0, Field::Opd0Addr), b = source(Role::Opd1, Field::Opd1Addr),
               c = source(Role::Opd2, Field::Opd2Addr), d = source(Role::Opd3, Field::Opd3Addr);
  const Tensor *larger = decoded.tensors.find(Role::Res0);
  const Tensor *chosen = decoded.tensors.find(Role::Res1);
  const std::optional<Tensor> to = larger ? std::optional(*larger) : std::nullopt;
  const std::optional<Tensor> choice = chosen ? std::optional(*chosen) : std::nullopt;
  return Step([=](Exec &exec) -> std::optional<Error> {
    // Results that share bytes with operands are written after all is read.
    const auto mustCopy = [&](const Source &one) {
      return (to && mustCopyFor(*to, one)) || (choice && mustCopyFor(*choice, one)) ||
             (to && choice);
    };
    Snapshot snapshots[4];
    const std::array<Located, 6> operands = {to ? locate(exec, *to) : Located{},
                                             choice ? locate(exec, *choice) : Located{},
                                             snapshots[0].take(exec, a, a.tensor && mustCopy(a)),
                                             snapshots[1].take(exec, b, b.tensor && mustCopy(b)),
                                             snapshots[2].take(exec, c, c.tensor && mustCopy(c)),
                                             snapshots[3].take(exec, d, d.tensor && mustCopy(d))};
    forEachRow(exec, (to ? *to : *choice).shape, operands, [&](const Rows<6> &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        uint32_t bits[4];
        for (size_t k = 0; k < 4; ++k)
          std::memcpy(&bits[k], row.at[k + 2] + i * row.stride[k + 2] * 4, 4);
        const bool isLarger = std::bit_cast<float>(bits[0]) > std::bit_cast<float>(bits[1]);
        if (to) {
          uint32_t larger = bits[isLarger ? 0 : 1];
          if (!choice && (larger & 0x7f800000) == 0)
            larger &= 0x80000000;
          std::memcpy(row.at[0] + i * row.stride[0] * 4, &larger, 4);
        }
        if (choice)
          std::memcpy(row.at[1] + i * row.stride[1] * 4, &bits[isLarger ? 2 : 3], 4);
      }
    });
    return std::nullopt;
  });
}

} // namespace tpuc::bm1684
