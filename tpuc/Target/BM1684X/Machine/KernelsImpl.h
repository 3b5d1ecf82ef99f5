//===- KernelsImpl.h - The text of the kernels ---------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included once per instruction set by Kernels<Level>.cpp, which defines TPUC_KERNEL_SPACE (the
// namespace), TPUC_KERNEL_LEVEL (0, 1, 2) and TPUC_KERNEL_NAME, and switches the target on around
// this file. Everything here is static or inlined: no code for a larger instruction set can reach
// another translation unit.
//
//===----------------------------------------------------------------------===//

namespace tpuc::bm1684x::TPUC_KERNEL_SPACE {

namespace {

#define TPUC_INLINE static inline __attribute__((always_inline))

typedef float FloatV __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t IntV __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t UintV __attribute__((vector_size(64), aligned(4), may_alias));

TPUC_INLINE uint32_t bitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }
TPUC_INLINE float floatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

//===--- Conversions ------------------------------------------------------===//

TPUC_INLINE float flushed(uint32_t bits) {
  return floatOf((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

TPUC_INLINE float halfToFloat(uint16_t half) {
  uint32_t sign = (half & 0x8000u) << 16;
  uint32_t magnitude = (half & 0x7fffu) << 13;
  uint32_t normal = magnitude + ((127 - 15) << 23);
  uint32_t special = magnitude | 0x7f800000u;
  uint32_t small = bitsOf(static_cast<float>(static_cast<int32_t>(half & 0x3ffu)) * 0x1p-24f);
  uint32_t exponent = half & 0x7c00u;
  uint32_t bits = exponent == 0 ? small : exponent == 0x7c00u ? special : normal;
  return floatOf(bits | sign);
}

TPUC_INLINE uint16_t floatToHalf(float value) {
  uint32_t bits = bitsOf(value);
  uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t small = bitsOf(floatOf(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13;
  uint32_t half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00u : half;
  return static_cast<uint16_t>(magnitude > 0x7f800000u ? 0x7fffu : half | sign);
}

TPUC_INLINE uint16_t floatToBrain(float value) {
  uint32_t bits = bitsOf(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}

TPUC_INLINE void halvesToFloats(const uint16_t *in, int64_t count, float *out) {
  int64_t i = 0;
#if TPUC_KERNEL_LEVEL >= 1
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i))));
#endif
  for (; i < count; ++i)
    out[i] = halfToFloat(in[i]);
}

TPUC_INLINE void floatsToHalves(const float *in, int64_t count, uint16_t *out) {
  int64_t i = 0;
#if TPUC_KERNEL_LEVEL >= 1
  for (; i + 8 <= count; i += 8) {
    __m256 values = _mm256_loadu_ps(in + i);
    __m128i halves = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    __m128i nan16 = _mm_packs_epi32(_mm256_castsi256_si128(nan), _mm256_extracti128_si256(nan, 1));
    halves = _mm_blendv_epi8(halves, _mm_set1_epi16(0x7fff), nan16);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i), halves);
  }
#endif
  for (; i < count; ++i)
    out[i] = floatToHalf(in[i]);
}

template <typename T> TPUC_INLINE T loadAt(const uint8_t *src, int64_t index) {
  T value;
  __builtin_memcpy(&value, src + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <typename T> TPUC_INLINE void storeAt(uint8_t *dst, int64_t index, T value) {
  __builtin_memcpy(dst + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

void loadFloat(Prec prec, const uint8_t *src, int64_t stride, int64_t count, float *out) {
  if (stride == 0 && count > 1) {
    loadFloat(prec, src, 1, 1, out);
    float first = out[0];
    for (int64_t i = 1; i < count; ++i)
      out[i] = first;
    return;
  }
  if (prec == Prec::F32) {
    if (stride == 1)
      for (int64_t i = 0; i < count; ++i)
        out[i] = flushed(loadAt<uint32_t>(src, i));
    else
      for (int64_t i = 0; i < count; ++i)
        out[i] = flushed(loadAt<uint32_t>(src, i * stride));
  } else if (prec == Prec::BF16) {
    if (stride == 1)
      for (int64_t i = 0; i < count; ++i)
        out[i] = flushed(static_cast<uint32_t>(loadAt<uint16_t>(src, i)) << 16);
    else
      for (int64_t i = 0; i < count; ++i)
        out[i] = flushed(static_cast<uint32_t>(loadAt<uint16_t>(src, i * stride)) << 16);
  } else {
    if (stride == 1)
      return halvesToFloats(reinterpret_cast<const uint16_t *>(src), count, out);
    for (int64_t i = 0; i < count; ++i)
      out[i] = halfToFloat(loadAt<uint16_t>(src, i * stride));
  }
}

void storeFloat(Prec prec, uint8_t *dst, int64_t stride, int64_t count, const float *in) {
  if (prec == Prec::F32) {
    if (stride == 1)
      __builtin_memcpy(dst, in, static_cast<size_t>(count) * 4);
    else
      for (int64_t i = 0; i < count; ++i)
        storeAt(dst, i * stride, in[i]);
  } else if (prec == Prec::BF16) {
    if (stride == 1)
      for (int64_t i = 0; i < count; ++i)
        storeAt(dst, i, floatToBrain(in[i]));
    else
      for (int64_t i = 0; i < count; ++i)
        storeAt(dst, i * stride, floatToBrain(in[i]));
  } else {
    if (stride == 1)
      return floatsToHalves(in, count, reinterpret_cast<uint16_t *>(dst));
    for (int64_t i = 0; i < count; ++i)
      storeAt(dst, i * stride, floatToHalf(in[i]));
  }
}

TPUC_INLINE void roundRow(Prec prec, int64_t count, float *values) {
  if (prec == Prec::BF16) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = flushed(static_cast<uint32_t>(floatToBrain(values[i])) << 16);
  } else if (prec == Prec::F16) {
    int64_t i = 0;
#if TPUC_KERNEL_LEVEL >= 1
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(values + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(values + i),
                                                                   _MM_FROUND_TO_NEAREST_INT)));
#endif
    for (; i < count; ++i)
      values[i] = halfToFloat(floatToHalf(values[i]));
  }
}

void roundFloat(Prec prec, int64_t count, float *values) { roundRow(prec, count, values); }

//===--- Element-wise -----------------------------------------------------===//

void arithFloat(RowOp op, int64_t count, const float *a, const float *b, float *out) {
  switch (op) {
  case RowOp::Mul:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] * b[i];
    return;
  case RowOp::Add:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] + b[i];
    return;
  case RowOp::Sub:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] - b[i];
    return;
  case RowOp::Max:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] > b[i] ? a[i] : b[i];
    return;
  case RowOp::Min:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] >= b[i] ? b[i] : a[i];
    return;
  case RowOp::AbsDiff:
    for (int64_t i = 0; i < count; ++i) {
      out[i] = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    }
    return;
  default:
    __builtin_unreachable();
  }
}

void mulAddFloat(Prec prec, int64_t count, const float *a, const float *b, const float *c,
                 float *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = a[i] * b[i];
  roundRow(prec, count, out);
  for (int64_t i = 0; i < count; ++i)
    out[i] += c[i];
  roundRow(prec, count, out);
}

void macFloat(Prec prec, int64_t count, const float *x, int64_t stride, float w, float *acc) {
  constexpr int64_t kChunk = 256;
  float products[kChunk];
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = count - begin < kChunk ? count - begin : kChunk;
    const float *from = x + begin * stride;
    if (stride == 1)
      for (int64_t i = 0; i < size; ++i)
        products[i] = from[i] * w;
    else
      for (int64_t i = 0; i < size; ++i)
        products[i] = from[i * stride] * w;
    roundRow(prec, size, products);
    for (int64_t i = 0; i < size; ++i)
      acc[begin + i] += products[i];
    roundRow(prec, size, acc + begin);
  }
}

void maxFloat(int64_t count, const float *x, int64_t stride, float *acc) {
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      acc[i] = x[i] > acc[i] ? x[i] : acc[i];
  else
    for (int64_t i = 0; i < count; ++i)
      acc[i] = x[i * stride] > acc[i] ? x[i * stride] : acc[i];
}

template <typename From, typename T>
TPUC_INLINE void loadIntsAs(const uint8_t *src, int64_t stride, int64_t count, T *out) {
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(loadAt<From>(src, i));
  else
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(loadAt<From>(src, i * stride));
}

template <typename T>
TPUC_INLINE void loadInts(Prec prec, bool isSigned, const uint8_t *src, int64_t stride,
                          int64_t count, T *out) {
  switch (prec) {
  case Prec::I8:
    return isSigned ? loadIntsAs<int8_t>(src, stride, count, out)
                    : loadIntsAs<uint8_t>(src, stride, count, out);
  case Prec::I16:
    return isSigned ? loadIntsAs<int16_t>(src, stride, count, out)
                    : loadIntsAs<uint16_t>(src, stride, count, out);
  default:
    return isSigned ? loadIntsAs<int32_t>(src, stride, count, out)
                    : loadIntsAs<uint32_t>(src, stride, count, out);
  }
}

void loadInt32(Prec prec, bool isSigned, const uint8_t *src, int64_t stride, int64_t count,
               int32_t *out) {
  loadInts(prec, isSigned, src, stride, count, out);
}
void loadInt64(Prec prec, bool isSigned, const uint8_t *src, int64_t stride, int64_t count,
               int64_t *out) {
  loadInts(prec, isSigned, src, stride, count, out);
}

template <typename To, typename T>
TPUC_INLINE void storeIntsAs(bool saturates, uint8_t *dst, int64_t stride, int64_t count,
                             const T *in) {
  constexpr bool kIsSigned = To(-1) < To(0);
  constexpr int kBits = sizeof(To) * 8;
  // Without effect where T is no wider than the result.
  constexpr int64_t kMin = kIsSigned ? -(int64_t{1} << (kBits - 1)) : 0;
  constexpr int64_t kMax = (int64_t{1} << (kIsSigned ? kBits - 1 : kBits)) - 1;
  constexpr T kLow =
      sizeof(T) > sizeof(To) || !kIsSigned ? static_cast<T>(kMin) : T(1) << (sizeof(T) * 8 - 1);
  constexpr T kHigh =
      sizeof(T) > sizeof(To) ? static_cast<T>(kMax) : ~(T(1) << (sizeof(T) * 8 - 1));
  if (saturates && stride == 1)
    for (int64_t i = 0; i < count; ++i) {
      T value = in[i] < kLow ? kLow : in[i];
      storeAt(dst, i, static_cast<To>(value > kHigh ? kHigh : value));
    }
  else if (saturates)
    for (int64_t i = 0; i < count; ++i) {
      T value = in[i] < kLow ? kLow : in[i];
      storeAt(dst, i * stride, static_cast<To>(value > kHigh ? kHigh : value));
    }
  else if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      storeAt(dst, i, static_cast<To>(in[i]));
  else
    for (int64_t i = 0; i < count; ++i)
      storeAt(dst, i * stride, static_cast<To>(in[i]));
}

template <typename T>
TPUC_INLINE void storeInts(Prec prec, bool isSigned, bool saturates, uint8_t *dst, int64_t stride,
                           int64_t count, const T *in) {
  switch (prec) {
  case Prec::I8:
    return isSigned ? storeIntsAs<int8_t>(saturates, dst, stride, count, in)
                    : storeIntsAs<uint8_t>(saturates, dst, stride, count, in);
  case Prec::I16:
    return isSigned ? storeIntsAs<int16_t>(saturates, dst, stride, count, in)
                    : storeIntsAs<uint16_t>(saturates, dst, stride, count, in);
  default:
    return isSigned ? storeIntsAs<int32_t>(saturates, dst, stride, count, in)
                    : storeIntsAs<uint32_t>(saturates, dst, stride, count, in);
  }
}

void storeInt32(Prec prec, bool isSigned, bool saturates, uint8_t *dst, int64_t stride,
                int64_t count, const int32_t *in) {
  storeInts(prec, isSigned, saturates, dst, stride, count, in);
}
void storeInt64(Prec prec, bool isSigned, bool saturates, uint8_t *dst, int64_t stride,
                int64_t count, const int64_t *in) {
  storeInts(prec, isSigned, saturates, dst, stride, count, in);
}

template <typename T, typename U>
TPUC_INLINE void arithInts(RowOp op, int64_t count, const T *a, const T *b, T *out) {
  switch (op) {
  case RowOp::Mul:
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(static_cast<U>(a[i]) * static_cast<U>(b[i]));
    return;
  case RowOp::Add:
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(static_cast<U>(a[i]) + static_cast<U>(b[i]));
    return;
  case RowOp::Sub:
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(static_cast<U>(a[i]) - static_cast<U>(b[i]));
    return;
  case RowOp::Max:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] > b[i] ? a[i] : b[i];
    return;
  case RowOp::Min:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] < b[i] ? a[i] : b[i];
    return;
  case RowOp::And:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] & b[i];
    return;
  case RowOp::Or:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] | b[i];
    return;
  case RowOp::Xor:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] ^ b[i];
    return;
  case RowOp::AbsDiff:
    for (int64_t i = 0; i < count; ++i)
      out[i] = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return;
  }
}

void arithInt32(RowOp op, int64_t count, const int32_t *a, const int32_t *b, int32_t *out) {
  arithInts<int32_t, uint32_t>(op, count, a, b, out);
}
void arithInt64(RowOp op, int64_t count, const int64_t *a, const int64_t *b, int64_t *out) {
  arithInts<int64_t, uint64_t>(op, count, a, b, out);
}

/// floor(v / 2^shift) plus one where the mode rounds up; 1 <= shift < bits of T.
template <typename T, unsigned Mode>
TPUC_INLINE void shiftRightRow(int64_t count, T *values, int shift) {
  const T mask = static_cast<T>((T(1) << (shift - 1) << 1) - 1);
  const T half = T(1) << (shift - 1);
  for (int64_t i = 0; i < count; ++i) {
    T value = values[i];
    T floor = value >> shift;
    T rest = value & mask;
    T up;
    if constexpr (Mode == 0)
      up = static_cast<T>((rest > half) | ((rest == half) & ((floor & 1) != 0)));
    else if constexpr (Mode == 1)
      up = static_cast<T>((rest > half) | ((rest == half) & (value >= 0)));
    else if constexpr (Mode == 2)
      up = static_cast<T>((rest != 0) & (value < 0));
    else if constexpr (Mode == 3)
      up = 0;
    else if constexpr (Mode == 4)
      up = static_cast<T>(rest != 0);
    else if constexpr (Mode == 5)
      up = value >> (shift - 1) & 1;
    else
      up = static_cast<T>(rest > half);
    values[i] = floor + up;
  }
}

template <typename T, typename U>
TPUC_INLINE void shiftInts(int64_t count, T *values, int shift, unsigned mode) {
  constexpr int kBits = sizeof(T) * 8;
  if (shift == 0)
    return;
  if (shift > 0) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = shift >= kBits ? 0 : static_cast<T>(static_cast<U>(values[i]) << shift);
    return;
  }
  int amount = -shift;
  if (amount > kBits - 2) {
    // Less than a half of the last place, whatever the value.
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<T>((values[i] > 0) - (values[i] < 0));
    amount = 2;
  }
  switch (mode) {
  case 0:
    return shiftRightRow<T, 0>(count, values, amount);
  case 1:
    return shiftRightRow<T, 1>(count, values, amount);
  case 2:
    return shiftRightRow<T, 2>(count, values, amount);
  case 3:
    return shiftRightRow<T, 3>(count, values, amount);
  case 4:
    return shiftRightRow<T, 4>(count, values, amount);
  case 5:
    return shiftRightRow<T, 5>(count, values, amount);
  default:
    return shiftRightRow<T, 6>(count, values, amount);
  }
}

void shiftInt32(int64_t count, int32_t *values, int shift, unsigned mode) {
  shiftInts<int32_t, uint32_t>(count, values, shift, mode);
}
void shiftInt64(int64_t count, int64_t *values, int shift, unsigned mode) {
  shiftInts<int64_t, uint64_t>(count, values, shift, mode);
}

void macInt32(int64_t count, const int32_t *x, int64_t stride, int32_t w, int32_t *acc) {
  auto factor = static_cast<uint32_t>(w);
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      acc[i] = static_cast<int32_t>(static_cast<uint32_t>(acc[i]) +
                                    static_cast<uint32_t>(x[i]) * factor);
  else
    for (int64_t i = 0; i < count; ++i)
      acc[i] = static_cast<int32_t>(static_cast<uint32_t>(acc[i]) +
                                    static_cast<uint32_t>(x[i * stride]) * factor);
}

void maxInt32(int64_t count, const int32_t *x, int64_t stride, int32_t *acc) {
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      acc[i] = x[i] > acc[i] ? x[i] : acc[i];
  else
    for (int64_t i = 0; i < count; ++i)
      acc[i] = x[i * stride] > acc[i] ? x[i * stride] : acc[i];
}

void scaleInt64(int64_t count, const int32_t *x, int64_t before, int64_t factor, int64_t *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = (x[i] - before) * factor;
}

//===--- Matrix products --------------------------------------------------===//

TPUC_INLINE const FloatV &loadV(const float *p) { return *reinterpret_cast<const FloatV *>(p); }
TPUC_INLINE void storeV(float *p, const FloatV &v) { *reinterpret_cast<FloatV *>(p) = v; }

template <int Rows, int Vectors>
TPUC_INLINE void gemmFloatTile(int64_t depth, const float *w, int64_t wStride, const float *x,
                               float *first, float *second) {
  FloatV a[Rows][Vectors], b[Rows][Vectors];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) {
      a[r][v] = loadV(first + r * kTile + v * kVector);
      b[r][v] = loadV(second + r * kTile + v * kVector);
    }
  int64_t k = 0;
  for (; k + 2 <= depth; k += 2) {
    FloatV x0[Vectors], x1[Vectors];
    for (int v = 0; v < Vectors; ++v) {
      x0[v] = loadV(x + k * kTile + v * kVector);
      x1[v] = loadV(x + (k + 1) * kTile + v * kVector);
    }
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v) {
        a[r][v] += x0[v] * w[r * wStride + k];
        b[r][v] += x1[v] * w[r * wStride + k + 1];
      }
  }
  if (k < depth)
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v)
        a[r][v] += loadV(x + k * kTile + v * kVector) * w[r * wStride + k];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) {
      storeV(first + r * kTile + v * kVector, a[r][v]);
      storeV(second + r * kTile + v * kVector, b[r][v]);
    }
}

#if TPUC_KERNEL_LEVEL >= 2
constexpr int kGemmRows = 4;
#else
constexpr int kGemmRows = 1;
#endif

void gemmFloat(int64_t rows, int64_t depth, int64_t vectors, const float *w, int64_t wStride,
               const float *x, bool oddFirst, float *even, float *odd) {
  float *first = oddFirst ? odd : even;
  float *second = oddFirst ? even : odd;
  int64_t r = 0;
  for (; r + kGemmRows <= rows; r += kGemmRows) {
    int64_t v = 0;
    for (; v + 2 <= vectors; v += 2)
      gemmFloatTile<kGemmRows, 2>(depth, w + r * wStride, wStride, x + v * kVector,
                                  first + r * kTile + v * kVector,
                                  second + r * kTile + v * kVector);
    for (; v < vectors; ++v)
      gemmFloatTile<kGemmRows, 1>(depth, w + r * wStride, wStride, x + v * kVector,
                                  first + r * kTile + v * kVector,
                                  second + r * kTile + v * kVector);
  }
  for (; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      gemmFloatTile<1, 1>(depth, w + r * wStride, wStride, x + v * kVector,
                          first + r * kTile + v * kVector, second + r * kTile + v * kVector);
}

/// One element's block sum where f32 products do not do: in f64, where they are exact.
__attribute__((noinline)) float blockSumExact(int64_t depth, const float *w, const float *x) {
  double largest = 0;
  double special = 0;
  bool isSpecial = false;
  for (int64_t k = 0; k < depth; ++k) {
    double product = static_cast<double>(w[k]) * static_cast<double>(x[k * kTile]);
    double magnitude = __builtin_fabs(product);
    if (!(magnitude <= 0x1.fffffffffffffp1023)) {
      special = isSpecial ? special + product : product;
      isSpecial = true;
    } else if (magnitude > largest) {
      largest = magnitude;
    }
  }
  if (isSpecial)
    return static_cast<float>(special);
  if (largest == 0)
    return 0;
  int exponent = static_cast<int>(__builtin_bit_cast(uint64_t, largest) >> 52) - 1023;
  auto power = [](int e) {
    return __builtin_bit_cast(double, static_cast<uint64_t>(e + 1023) << 52);
  };
  int64_t sum = 0;
  for (int64_t k = 0; k < depth; ++k)
    sum += static_cast<int64_t>(static_cast<double>(w[k]) * static_cast<double>(x[k * kTile]) *
                                power(24 - exponent));
  return static_cast<float>(static_cast<double>(sum) * power(exponent - 24));
}

/// Biased exponent below which f32 products may have lost bits that count.
constexpr int32_t kLeastExponent = 27;

template <int Rows>
TPUC_INLINE void gemmBlockTile(int64_t depth, const float *w, int64_t wStride, const float *x,
                               bool mayUnderflow, float *sums) {
  IntV most[Rows];
  for (int r = 0; r < Rows; ++r)
    most[r] = IntV{};
  for (int64_t k = 0; k < depth; ++k) {
    FloatV xs = loadV(x + k * kTile);
    for (int r = 0; r < Rows; ++r) {
      IntV magnitude = reinterpret_cast<IntV>(xs * w[r * wStride + k]) & 0x7fffffff;
      most[r] = magnitude > most[r] ? magnitude : most[r];
    }
  }
  FloatV scale[Rows], unit[Rows];
  bool isPlain[Rows];
  for (int r = 0; r < Rows; ++r) {
    IntV exponent = most[r] >> 23;
    IntV special = exponent > 254;
    if (mayUnderflow)
      special |= exponent < kLeastExponent;
    // All at once: is any lane special?
    int32_t any = 0;
    for (int i = 0; i < kVector; ++i)
      any |= special[i];
    isPlain[r] = any == 0;
    exponent = exponent < kLeastExponent ? exponent * 0 + kLeastExponent : exponent;
    scale[r] = reinterpret_cast<FloatV>((278 - exponent) << 23);
    unit[r] = reinterpret_cast<FloatV>((exponent - 24) << 23);
  }
  IntV sum[Rows];
  for (int r = 0; r < Rows; ++r)
    sum[r] = IntV{};
  for (int64_t k = 0; k < depth; ++k) {
    FloatV xs = loadV(x + k * kTile);
    for (int r = 0; r < Rows; ++r)
      sum[r] += __builtin_convertvector(xs * w[r * wStride + k] * scale[r], IntV);
  }
  for (int r = 0; r < Rows; ++r) {
    float *out = sums + r * kTile;
    if (__builtin_expect(isPlain[r], true)) {
      storeV(out, loadV(out) + __builtin_convertvector(sum[r], FloatV) * unit[r]);
      continue;
    }
    for (int i = 0; i < kVector; ++i)
      out[i] += blockSumExact(depth, w + r * wStride, x + i);
  }
}

void gemmBlock(int64_t rows, int64_t depth, int64_t vectors, const float *w, int64_t wStride,
               const float *x, bool mayUnderflow, float *sums) {
  int64_t r = 0;
  for (; r + kGemmRows <= rows; r += kGemmRows)
    for (int64_t v = 0; v < vectors; ++v)
      gemmBlockTile<kGemmRows>(depth, w + r * wStride, wStride, x + v * kVector, mayUnderflow,
                               sums + r * kTile + v * kVector);
  for (; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      gemmBlockTile<1>(depth, w + r * wStride, wStride, x + v * kVector, mayUnderflow,
                       sums + r * kTile + v * kVector);
}

#if TPUC_KERNEL_LEVEL == 2
typedef __m512i PairV;
TPUC_INLINE PairV loadPairs(const void *p) { return _mm512_loadu_si512(p); }
TPUC_INLINE void storePairs(void *p, PairV v) { _mm512_storeu_si512(p, v); }
TPUC_INLINE PairV splat(int32_t v) { return _mm512_set1_epi32(v); }
TPUC_INLINE PairV madd(PairV sum, PairV a, PairV b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
#elif TPUC_KERNEL_LEVEL == 1
typedef __m256i PairV;
TPUC_INLINE PairV loadPairs(const void *p) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(p));
}
TPUC_INLINE void storePairs(void *p, PairV v) { _mm256_storeu_si256(static_cast<__m256i *>(p), v); }
TPUC_INLINE PairV splat(int32_t v) { return _mm256_set1_epi32(v); }
TPUC_INLINE PairV madd(PairV sum, PairV a, PairV b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
#else
typedef __m128i PairV;
TPUC_INLINE PairV loadPairs(const void *p) {
  return _mm_loadu_si128(static_cast<const __m128i *>(p));
}
TPUC_INLINE void storePairs(void *p, PairV v) { _mm_storeu_si128(static_cast<__m128i *>(p), v); }
TPUC_INLINE PairV splat(int32_t v) { return _mm_set1_epi32(v); }
TPUC_INLINE PairV madd(PairV sum, PairV a, PairV b) {
  return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
#endif

void interleave(bool isSigned, const uint8_t *a, const uint8_t *b, int16_t *out) {
  if (isSigned)
    for (int64_t i = 0; i < kTile; ++i) {
      out[2 * i] = static_cast<int8_t>(a[i]);
      out[2 * i + 1] = static_cast<int8_t>(b[i]);
    }
  else
    for (int64_t i = 0; i < kTile; ++i) {
      out[2 * i] = a[i];
      out[2 * i + 1] = b[i];
    }
}

template <int Rows, int Vectors>
TPUC_INLINE void gemmIntTile(int64_t pairs, const int16_t *w, int64_t wStride, const int16_t *x,
                             int32_t *sums) {
  constexpr int kLanes = sizeof(PairV) / 4;
  PairV acc[Rows][Vectors];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      acc[r][v] = loadPairs(sums + r * kTile + v * kLanes);
  for (int64_t k = 0; k < pairs; ++k) {
    PairV xs[Vectors];
    for (int v = 0; v < Vectors; ++v)
      xs[v] = loadPairs(x + (k * kTile + v * kLanes) * 2);
    for (int r = 0; r < Rows; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, w + (r * wStride + k) * 2, 4);
      PairV ws = splat(pair);
      for (int v = 0; v < Vectors; ++v)
        acc[r][v] = madd(acc[r][v], xs[v], ws);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      storePairs(sums + r * kTile + v * kLanes, acc[r][v]);
}

void gemmInt(int64_t rows, int64_t pairs, int64_t vectors, const int16_t *w, int64_t wStride,
             const int16_t *x, int32_t *sums) {
  constexpr int64_t kLanes = sizeof(PairV) / 4;
  int64_t columns = vectors * kVector;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    int64_t v = 0;
    for (; v + 2 * kLanes <= columns; v += 2 * kLanes)
      gemmIntTile<4, 2>(pairs, w + r * wStride * 2, wStride, x + v * 2, sums + r * kTile + v);
    for (; v < columns; v += kLanes)
      gemmIntTile<4, 1>(pairs, w + r * wStride * 2, wStride, x + v * 2, sums + r * kTile + v);
  }
  for (; r < rows; ++r)
    for (int64_t v = 0; v < columns; v += kLanes)
      gemmIntTile<1, 1>(pairs, w + r * wStride * 2, wStride, x + v * 2, sums + r * kTile + v);
}

#undef TPUC_INLINE

} // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    TPUC_KERNEL_NAME, loadFloat,  storeFloat, roundFloat, arithFloat, mulAddFloat,
    macFloat,         maxFloat,   loadInt32,  loadInt64,  storeInt32, storeInt64,
    arithInt32,       arithInt64, shiftInt32, shiftInt64, macInt32,   maxInt32,
    scaleInt64,       gemmFloat,  gemmBlock,  interleave, gemmInt,
};

} // namespace tpuc::bm1684x::TPUC_KERNEL_SPACE
