//===- Float.cpp - Conversions between floating-point formats -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Float.h"
#include "tpuc/Support/SimdLevel.h"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tpuc {

namespace {

// One loop for every set of instructions it is compiled for: inlined into functions that differ in
// their target attribute.
template <typename From, typename To, typename Convert>
[[gnu::always_inline]] inline void convertAll(const From *from, To *to, size_t count,
                                              Convert convert) {
  for (size_t i = 0; i < count; ++i)
    to[i] = convert(from[i]);
}

void f32ToF16Plain(const float *from, uint16_t *to, size_t count) {
  convertAll(from, to, count, [](float value) { return f32ToF16(value); });
}

void f16ToF32Plain(const uint16_t *from, float *to, size_t count) {
  convertAll(from, to, count, [](uint16_t bits) { return f16ToF32(bits); });
}

void f32ToBF16Plain(const float *from, uint16_t *to, size_t count) {
  convertAll(from, to, count, [](float value) { return f32ToBF16(value); });
}

void bf16ToF32Plain(const uint16_t *from, float *to, size_t count) {
  convertAll(from, to, count, [](uint16_t bits) { return bf16ToF32(bits); });
}

#ifdef __x86_64__

[[gnu::target("avx,f16c")]] void f32ToF16F16C(const float *from, uint16_t *to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  f32ToF16Plain(from + i, to + i, count - i);
}

[[gnu::target("avx,f16c")]] void f16ToF32F16C(const uint16_t *from, float *to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i))));
  f16ToF32Plain(from + i, to + i, count - i);
}

[[gnu::target("avx2")]] void f32ToBF16Avx2(const float *from, uint16_t *to, size_t count) {
  convertAll(from, to, count,
             [](float value) __attribute__((always_inline)) { return f32ToBF16(value); });
}

[[gnu::target("avx2")]] void bf16ToF32Avx2(const uint16_t *from, float *to, size_t count) {
  convertAll(from, to, count,
             [](uint16_t bits) __attribute__((always_inline)) { return bf16ToF32(bits); });
}

bool hasAvx2() { return bestSimdLevel() >= SimdLevel::Avx2; }

#endif

template <DataType Type> void decodeAll(const std::byte *from, std::span<double> to) {
  using Bits = FloatBits<Type>;
  if constexpr (sizeof(Bits) == 1) {
    static constexpr auto kValues = [] {
      std::array<double, 256> values{};
      for (size_t code = 0; code < values.size(); ++code)
        values[code] = decodeToDouble<Type>(static_cast<uint8_t>(code));
      return values;
    }();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = kValues[loadElement<uint8_t>(from, i)];
  } else {
    for (size_t i = 0; i < to.size(); ++i) {
      if constexpr (sizeof(Bits) == 2)
        to[i] = static_cast<double>(decodeFloat<Type>(loadElement<Bits>(from, i)));
      else
        to[i] = decodeToDouble<Type>(loadElement<Bits>(from, i));
    }
  }
}

template <DataType Type>
void encodeAll(std::span<const double> from, std::byte *to, RoundingMode mode, Overflow overflow) {
  if (mode != RoundingMode::HalfToEven || overflow != Overflow::Infinity) {
    for (size_t i = 0; i < from.size(); ++i)
      storeElement(to, i, encodeFloat<Type>(from[i], mode, overflow));
    return;
  }
  // The common case, with constants that the compiler specializes it for.
  for (size_t i = 0; i < from.size(); ++i) {
    if constexpr (Type == DataType::F32)
      storeElement(to, i, static_cast<float>(from[i]));
    else
      storeElement(to, i, encodeFloat<Type>(from[i]));
  }
}

} // namespace

void f32ToF16(std::span<const float> from, std::span<uint16_t> to) {
  assert(from.size() == to.size());
#ifdef __x86_64__
  if (hasAvx2())
    return f32ToF16F16C(from.data(), to.data(), from.size());
#endif
  f32ToF16Plain(from.data(), to.data(), from.size());
}

void f16ToF32(std::span<const uint16_t> from, std::span<float> to) {
  assert(from.size() == to.size());
#ifdef __x86_64__
  if (hasAvx2())
    return f16ToF32F16C(from.data(), to.data(), from.size());
#endif
  f16ToF32Plain(from.data(), to.data(), from.size());
}

void f32ToBF16(std::span<const float> from, std::span<uint16_t> to) {
  assert(from.size() == to.size());
#ifdef __x86_64__
  if (hasAvx2())
    return f32ToBF16Avx2(from.data(), to.data(), from.size());
#endif
  f32ToBF16Plain(from.data(), to.data(), from.size());
}

void bf16ToF32(std::span<const uint16_t> from, std::span<float> to) {
  assert(from.size() == to.size());
#ifdef __x86_64__
  if (hasAvx2())
    return bf16ToF32Avx2(from.data(), to.data(), from.size());
#endif
  bf16ToF32Plain(from.data(), to.data(), from.size());
}

void decodeFloats(DataType type, const std::byte *from, std::span<double> to) {
  switch (type) {
  case DataType::F64:
    return decodeAll<DataType::F64>(from, to);
  case DataType::F32:
    return decodeAll<DataType::F32>(from, to);
  case DataType::F16:
    return decodeAll<DataType::F16>(from, to);
  case DataType::BF16:
    return decodeAll<DataType::BF16>(from, to);
  case DataType::F8E4M3FN:
    return decodeAll<DataType::F8E4M3FN>(from, to);
  case DataType::F8E5M2:
    return decodeAll<DataType::F8E5M2>(from, to);
  case DataType::F8E4M3FNUZ:
    return decodeAll<DataType::F8E4M3FNUZ>(from, to);
  case DataType::F8E5M2FNUZ:
    return decodeAll<DataType::F8E5M2FNUZ>(from, to);
  default:
    assert(false && "not a floating-point type");
  }
}

void encodeFloats(DataType type, std::span<const double> from, std::byte *to, RoundingMode mode,
                  Overflow overflow) {
  switch (type) {
  case DataType::F64:
    return encodeAll<DataType::F64>(from, to, mode, overflow);
  case DataType::F32:
    return encodeAll<DataType::F32>(from, to, mode, overflow);
  case DataType::F16:
    return encodeAll<DataType::F16>(from, to, mode, overflow);
  case DataType::BF16:
    return encodeAll<DataType::BF16>(from, to, mode, overflow);
  case DataType::F8E4M3FN:
    return encodeAll<DataType::F8E4M3FN>(from, to, mode, overflow);
  case DataType::F8E5M2:
    return encodeAll<DataType::F8E5M2>(from, to, mode, overflow);
  case DataType::F8E4M3FNUZ:
    return encodeAll<DataType::F8E4M3FNUZ>(from, to, mode, overflow);
  case DataType::F8E5M2FNUZ:
    return encodeAll<DataType::F8E5M2FNUZ>(from, to, mode, overflow);
  default:
    assert(false && "not a floating-point type");
  }
}

} // namespace tpuc
