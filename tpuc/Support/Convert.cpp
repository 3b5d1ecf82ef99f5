//===- Convert.cpp - Tensors from one element type to another -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>

namespace tpuc {

namespace {

// Elements go through blocks of a type that holds every value of the source exactly: double, int64
// or uint64. So there are two times nineteen loops instead of nineteen squared. Blocks are even in
// size: 4-bit elements then start at whole bytes.
constexpr size_t kElementsPerBlock = 512;

template <typename T, typename Wide> void loadAs(const std::byte *raw, std::span<Wide> to) {
  for (size_t i = 0; i < to.size(); ++i)
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number here.
    to[i] = static_cast<Wide>(loadElement<T>(raw, i));
}

template <typename Nibble> void loadNibbles(const std::byte *raw, std::span<int64_t> to) {
  std::array<Nibble, kElementsPerBlock> values;
  unpack4(std::span(reinterpret_cast<const uint8_t *>(raw), (to.size() + 1) / 2),
          std::span(values.data(), to.size()));
  std::copy_n(values.begin(), to.size(), to.begin());
}

void load(DataType type, const std::byte *raw, std::span<int64_t> to) {
  switch (type) {
  case DataType::I4:
    return loadNibbles<int8_t>(raw, to);
  case DataType::U4:
    return loadNibbles<uint8_t>(raw, to);
  case DataType::I8:
    return loadAs<int8_t>(raw, to);
  case DataType::U8:
    return loadAs<uint8_t>(raw, to);
  case DataType::I16:
    return loadAs<int16_t>(raw, to);
  case DataType::U16:
    return loadAs<uint16_t>(raw, to);
  case DataType::I32:
    return loadAs<int32_t>(raw, to);
  case DataType::U32:
    return loadAs<uint32_t>(raw, to);
  case DataType::I64:
    return loadAs<int64_t>(raw, to);
  case DataType::Bool:
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = raw[i] != std::byte(0) ? 1 : 0;
    return;
  default:
    assert(false && "goes through double or uint64");
  }
}

template <typename To> To toIntegerAs(double value, const ConvertOptions &options) {
  return toInteger<To>(value, options.integerRounding);
}

template <typename To, std::integral From>
To toIntegerAs(From value, const ConvertOptions &options) {
  return options.integerOverflow == IntegerOverflow::Wrap ? static_cast<To>(value)
                                                          : saturateCast<To>(value);
}

template <typename To, typename Wide>
void storeAs(std::span<const Wide> from, std::byte *raw, const ConvertOptions &options) {
  if constexpr (std::is_floating_point_v<Wide>) {
    // The common case, with a constant that the compiler specializes it for.
    if (options.integerRounding == RoundingMode::TowardZero) {
      for (size_t i = 0; i < from.size(); ++i)
        storeElement(raw, i, toInteger<To>(from[i], RoundingMode::TowardZero));
      return;
    }
  }
  for (size_t i = 0; i < from.size(); ++i)
    storeElement(raw, i, toIntegerAs<To>(from[i], options));
}

template <typename Wide>
void storeNibbles(std::span<const Wide> from, std::byte *raw, IntegerRange range,
                  const ConvertOptions &options) {
  std::array<uint8_t, kElementsPerBlock> values;
  for (size_t i = 0; i < from.size(); ++i) {
    // A saturated byte saturates to four bits as the value itself would; low bits stay low bits.
    int64_t value = range.lowest < 0 ? int64_t(toIntegerAs<int8_t>(from[i], options))
                                     : int64_t(toIntegerAs<uint8_t>(from[i], options));
    if (std::is_floating_point_v<Wide> || options.integerOverflow == IntegerOverflow::Saturate)
      value = std::clamp(value, range.lowest, static_cast<int64_t>(range.highest));
    values[i] = static_cast<uint8_t>(value);
  }
  pack4(std::span<const uint8_t>(values.data(), from.size()),
        std::span(reinterpret_cast<uint8_t *>(raw), (from.size() + 1) / 2));
}

template <DataType Type, std::integral Wide>
void encodeIntegers(std::span<const Wide> from, std::byte *raw, const ConvertOptions &options) {
  for (size_t i = 0; i < from.size(); ++i)
    storeElement(raw, i,
                 encodeInteger<Type>(from[i], options.floatRounding, options.floatOverflow));
}

template <std::integral Wide>
void encode(DataType type, std::span<const Wide> from, std::byte *raw,
            const ConvertOptions &options) {
  switch (type) {
  case DataType::F64:
    return encodeIntegers<DataType::F64>(from, raw, options);
  case DataType::F32:
    return encodeIntegers<DataType::F32>(from, raw, options);
  case DataType::F16:
    return encodeIntegers<DataType::F16>(from, raw, options);
  case DataType::BF16:
    return encodeIntegers<DataType::BF16>(from, raw, options);
  case DataType::F8E4M3FN:
    return encodeIntegers<DataType::F8E4M3FN>(from, raw, options);
  case DataType::F8E5M2:
    return encodeIntegers<DataType::F8E5M2>(from, raw, options);
  case DataType::F8E4M3FNUZ:
    return encodeIntegers<DataType::F8E4M3FNUZ>(from, raw, options);
  case DataType::F8E5M2FNUZ:
    return encodeIntegers<DataType::F8E5M2FNUZ>(from, raw, options);
  default:
    assert(false && "not a floating-point type");
  }
}

void encode(DataType type, std::span<const double> from, std::byte *raw,
            const ConvertOptions &options) {
  encodeFloats(type, from, raw, options.floatRounding, options.floatOverflow);
}

template <typename Wide>
void store(DataType type, std::span<const Wide> from, std::byte *raw,
           const ConvertOptions &options) {
  switch (type) {
  case DataType::I4:
  case DataType::U4:
    return storeNibbles(from, raw, integerRange(type), options);
  case DataType::I8:
    return storeAs<int8_t>(from, raw, options);
  case DataType::U8:
    return storeAs<uint8_t>(from, raw, options);
  case DataType::I16:
    return storeAs<int16_t>(from, raw, options);
  case DataType::U16:
    return storeAs<uint16_t>(from, raw, options);
  case DataType::I32:
    return storeAs<int32_t>(from, raw, options);
  case DataType::U32:
    return storeAs<uint32_t>(from, raw, options);
  case DataType::I64:
    return storeAs<int64_t>(from, raw, options);
  case DataType::U64:
    return storeAs<uint64_t>(from, raw, options);
  case DataType::Bool:
    for (size_t i = 0; i < from.size(); ++i)
      raw[i] = from[i] != 0 ? std::byte(1) : std::byte(0);
    return;
  default:
    return encode(type, from, raw, options);
  }
}

template <typename Wide, typename Load>
void convertBlocks(const Tensor &from, Tensor &to, const ConvertOptions &options, Load load) {
  const std::byte *source = from.rawBytes().data();
  std::byte *target = to.mutableBytes().data();
  const auto count = static_cast<size_t>(from.numElements());
  std::array<Wide, kElementsPerBlock> block;
  for (size_t start = 0; start < count; start += kElementsPerBlock) {
    const size_t size = std::min(kElementsPerBlock, count - start);
    const std::span<Wide> values(block.data(), size);
    load(source + start * bitWidth(from.type()) / 8, values);
    store<Wide>(to.type(), values, target + start * bitWidth(to.type()) / 8, options);
  }
}

/// The pairs that have loops of their own, under default options. False for the others.
bool convertDirectly(const Tensor &from, Tensor &to) {
  if (reinterpret_cast<uintptr_t>(from.rawBytes().data()) % (bitWidth(from.type()) / 8) != 0)
    return false;
  if (from.type() == DataType::F32 && to.type() == DataType::F16)
    f32ToF16(from.data<float>(), to.mutableData<uint16_t>());
  else if (from.type() == DataType::F32 && to.type() == DataType::BF16)
    f32ToBF16(from.data<float>(), to.mutableData<uint16_t>());
  else if (from.type() == DataType::F16 && to.type() == DataType::F32)
    f16ToF32(from.data<uint16_t>(), to.mutableData<float>());
  else if (from.type() == DataType::BF16 && to.type() == DataType::F32)
    bf16ToF32(from.data<uint16_t>(), to.mutableData<float>());
  else
    return false;
  return true;
}

} // namespace

Tensor convert(const Tensor &tensor, DataType to, const ConvertOptions &options) {
  if (tensor.type() == to)
    return tensor;
  Tensor result(to, tensor.shape());
  if (tensor.numElements() == 0)
    return result;
  const DataType from = tensor.type();
  if (isFloat(from) && isFloat(to) && options.floatRounding == RoundingMode::HalfToEven &&
      options.floatOverflow == Overflow::Infinity && convertDirectly(tensor, result))
    return result;
  if (isFloat(from))
    convertBlocks<double>(
        tensor, result, options,
        [&](const std::byte *raw, std::span<double> values) { decodeFloats(from, raw, values); });
  else if (from == DataType::U64)
    convertBlocks<uint64_t>(tensor, result, options, loadAs<uint64_t, uint64_t>);
  else
    convertBlocks<int64_t>(
        tensor, result, options,
        [&](const std::byte *raw, std::span<int64_t> values) { load(from, raw, values); });
  return result;
}

void pack4(std::span<const uint8_t> from, std::span<uint8_t> to) {
  assert(to.size() == (from.size() + 1) / 2);
  for (size_t i = 0; i < from.size() / 2; ++i)
    to[i] = static_cast<uint8_t>((from[2 * i] & 0x0F) | (from[2 * i + 1] << 4));
  if (from.size() % 2 != 0)
    to.back() = from.back() & 0x0F;
}

void unpack4(std::span<const uint8_t> from, std::span<uint8_t> to) {
  assert(from.size() == (to.size() + 1) / 2);
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<uint8_t>((from[i / 2] >> (i % 2 * 4)) & 0x0F);
}

void unpack4(std::span<const uint8_t> from, std::span<int8_t> to) {
  assert(from.size() == (to.size() + 1) / 2);
  for (size_t i = 0; i < to.size(); ++i) {
    const int nibble = (from[i / 2] >> (i % 2 * 4)) & 0x0F;
    to[i] = static_cast<int8_t>((nibble ^ 8) - 8);
  }
}

} // namespace tpuc
