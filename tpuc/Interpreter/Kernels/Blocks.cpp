//===- Blocks.cpp - Elements of any type in few C++ types ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Blocks.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tpuc::kernels {

namespace {

template <typename To, typename From> To toWork(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return toInteger<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

template <typename From, typename T>
void loadAs(const Tensor &tensor, int64_t first, std::span<T> to) {
  const From *from = tensor.data<From>().data() + first;
  if constexpr (std::is_same_v<From, T>)
    std::copy_n(from, to.size(), to.begin());
  else
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = toWork<T>(from[i]);
}

template <typename T, typename Nibble>
void loadNibbles(const Tensor &tensor, int64_t first, std::span<T> to) {
  assert(first % 2 == 0);
  const auto *raw = reinterpret_cast<const uint8_t *>(tensor.rawBytes().data()) + first / 2;
  std::array<Nibble, kBlockElements> values;
  for (size_t start = 0; start < to.size(); start += values.size()) {
    const size_t size = std::min(values.size(), to.size() - start);
    unpack4(std::span(raw + start / 2, (size + 1) / 2), std::span(values.data(), size));
    for (size_t i = 0; i < size; ++i)
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number here.
      to[start + i] = static_cast<T>(values[i]);
  }
}

/// All values of an 8-bit float.
template <DataType Type> constexpr std::array<float, 256> decodeTable() {
  std::array<float, 256> table{};
  for (size_t code = 0; code < table.size(); ++code)
    table[code] = decodeFloat<Type>(static_cast<uint8_t>(code));
  return table;
}

template <DataType Type, typename T>
void loadTable(const Tensor &tensor, int64_t first, std::span<T> to) {
  static constexpr std::array<float, 256> kTable = decodeTable<Type>();
  const uint8_t *from = tensor.data<uint8_t>().data() + first;
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = toWork<T>(kTable[from[i]]);
}

/// Halves: through a block of floats.
template <typename T, auto decode>
void loadHalves(const Tensor &tensor, int64_t first, std::span<T> to) {
  const std::span<const uint16_t> from =
      tensor.data<uint16_t>().subspan(static_cast<size_t>(first), to.size());
  if constexpr (std::is_same_v<T, float>) {
    decode(from, to);
  } else {
    for (size_t i = 0; i < to.size(); ++i) {
      std::array<float, 1> value;
      decode(from.subspan(i, 1), value);
      to[i] = toWork<T>(value[0]);
    }
  }
}

void decodeF16(std::span<const uint16_t> from, std::span<float> to) { f16ToF32(from, to); }
void decodeBF16(std::span<const uint16_t> from, std::span<float> to) { bf16ToF32(from, to); }

/// Narrowed modulo 2^n if an integer becomes one, else truncated and saturated.
template <typename To, typename T> To toStored(T value) {
  if constexpr (std::is_floating_point_v<T> && std::is_integral_v<To>)
    return toInteger<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

template <typename To, typename T>
void storeAs(std::span<const T> from, Tensor &tensor, int64_t first) {
  To *to = tensor.mutableData<To>().data() + first;
  if constexpr (std::is_same_v<To, T>)
    std::copy(from.begin(), from.end(), to);
  else
    for (size_t i = 0; i < from.size(); ++i)
      to[i] = toStored<To>(from[i]);
}

template <DataType Type, typename T>
void storeFloats(std::span<const T> from, Tensor &tensor, int64_t first) {
  auto *to = tensor.mutableData<FloatBits<Type>>().data() + first;
  for (size_t i = 0; i < from.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      to[i] = encodeFloat<Type>(static_cast<double>(from[i]));
    else
      to[i] = encodeInteger<Type>(from[i]);
  }
}

template <typename T> void storeNibbles(std::span<const T> from, Tensor &tensor, int64_t first) {
  assert(first % 2 == 0);
  auto *raw = reinterpret_cast<uint8_t *>(tensor.mutableBytes().data()) + first / 2;
  const IntegerRange range = integerRange(tensor.type());
  std::array<uint8_t, kBlockElements> values;
  for (size_t start = 0; start < from.size(); start += values.size()) {
    const size_t size = std::min(values.size(), from.size() - start);
    for (size_t i = 0; i < size; ++i) {
      if constexpr (std::is_floating_point_v<T>)
        values[i] = static_cast<uint8_t>(
            std::clamp<int64_t>(toInteger<int64_t>(static_cast<double>(from[start + i])),
                                range.lowest, static_cast<int64_t>(range.highest)));
      else
        values[i] = static_cast<uint8_t>(from[start + i]);
    }
    pack4(std::span<const uint8_t>(values.data(), size),
          std::span(raw + start / 2, (size + 1) / 2));
  }
}

} // namespace

DataType workingType(DataType type) {
  if (isFloat(type))
    return type == DataType::F64 ? DataType::F64 : DataType::F32;
  return type == DataType::U64 ? DataType::U64 : DataType::I64;
}

template <Working T> void loadBlock(const Tensor &tensor, int64_t first, std::span<T> to) {
  switch (tensor.type()) {
  case DataType::F64:
    return loadAs<double>(tensor, first, to);
  case DataType::F32:
    return loadAs<float>(tensor, first, to);
  case DataType::F16:
    return loadHalves<T, decodeF16>(tensor, first, to);
  case DataType::BF16:
    return loadHalves<T, decodeBF16>(tensor, first, to);
  case DataType::F8E4M3FN:
    return loadTable<DataType::F8E4M3FN>(tensor, first, to);
  case DataType::F8E5M2:
    return loadTable<DataType::F8E5M2>(tensor, first, to);
  case DataType::F8E4M3FNUZ:
    return loadTable<DataType::F8E4M3FNUZ>(tensor, first, to);
  case DataType::F8E5M2FNUZ:
    return loadTable<DataType::F8E5M2FNUZ>(tensor, first, to);
  case DataType::I4:
    return loadNibbles<T, int8_t>(tensor, first, to);
  case DataType::U4:
    return loadNibbles<T, uint8_t>(tensor, first, to);
  case DataType::I8:
    return loadAs<int8_t>(tensor, first, to);
  case DataType::U8:
    return loadAs<uint8_t>(tensor, first, to);
  case DataType::I16:
    return loadAs<int16_t>(tensor, first, to);
  case DataType::U16:
    return loadAs<uint16_t>(tensor, first, to);
  case DataType::I32:
    return loadAs<int32_t>(tensor, first, to);
  case DataType::U32:
    return loadAs<uint32_t>(tensor, first, to);
  case DataType::I64:
    return loadAs<int64_t>(tensor, first, to);
  case DataType::U64:
    return loadAs<uint64_t>(tensor, first, to);
  case DataType::Bool: {
    const uint8_t *from = tensor.data<uint8_t>().data() + first;
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<T>(from[i] != 0);
    return;
  }
  }
}

template <Working T> void storeBlock(std::span<const T> from, Tensor &tensor, int64_t first) {
  switch (tensor.type()) {
  case DataType::F64:
    return storeAs<double>(from, tensor, first);
  case DataType::F32:
    return storeAs<float>(from, tensor, first);
  case DataType::F16:
    if constexpr (std::is_same_v<T, float>)
      return f32ToF16(
          from, tensor.mutableData<uint16_t>().subspan(static_cast<size_t>(first), from.size()));
    else
      return storeFloats<DataType::F16>(from, tensor, first);
  case DataType::BF16:
    if constexpr (std::is_same_v<T, float>)
      return f32ToBF16(
          from, tensor.mutableData<uint16_t>().subspan(static_cast<size_t>(first), from.size()));
    else
      return storeFloats<DataType::BF16>(from, tensor, first);
  case DataType::F8E4M3FN:
    return storeFloats<DataType::F8E4M3FN>(from, tensor, first);
  case DataType::F8E5M2:
    return storeFloats<DataType::F8E5M2>(from, tensor, first);
  case DataType::F8E4M3FNUZ:
    return storeFloats<DataType::F8E4M3FNUZ>(from, tensor, first);
  case DataType::F8E5M2FNUZ:
    return storeFloats<DataType::F8E5M2FNUZ>(from, tensor, first);
  case DataType::I4:
  case DataType::U4:
    return storeNibbles(from, tensor, first);
  case DataType::I8:
    return storeAs<int8_t>(from, tensor, first);
  case DataType::U8:
    return storeAs<uint8_t>(from, tensor, first);
  case DataType::I16:
    return storeAs<int16_t>(from, tensor, first);
  case DataType::U16:
    return storeAs<uint16_t>(from, tensor, first);
  case DataType::I32:
    return storeAs<int32_t>(from, tensor, first);
  case DataType::U32:
    return storeAs<uint32_t>(from, tensor, first);
  case DataType::I64:
    return storeAs<int64_t>(from, tensor, first);
  case DataType::U64:
    return storeAs<uint64_t>(from, tensor, first);
  case DataType::Bool: {
    uint8_t *to = tensor.mutableData<uint8_t>().data() + first;
    for (size_t i = 0; i < from.size(); ++i)
      to[i] = from[i] != T(0) ? 1 : 0;
    return;
  }
  }
}

template <Working T> Tensor toWorking(const Tensor &tensor) {
  if (tensor.type() == dataTypeOf<T>())
    return tensor;
  Tensor result(dataTypeOf<T>(), tensor.shape());
  loadBlock<T>(tensor, 0, result.template mutableData<T>());
  return result;
}

template void loadBlock(const Tensor &, int64_t, std::span<float>);
template void loadBlock(const Tensor &, int64_t, std::span<double>);
template void loadBlock(const Tensor &, int64_t, std::span<int64_t>);
template void loadBlock(const Tensor &, int64_t, std::span<uint64_t>);
template void storeBlock(std::span<const float>, Tensor &, int64_t);
template void storeBlock(std::span<const double>, Tensor &, int64_t);
template void storeBlock(std::span<const int64_t>, Tensor &, int64_t);
template void storeBlock(std::span<const uint64_t>, Tensor &, int64_t);
template Tensor toWorking<float>(const Tensor &);
template Tensor toWorking<double>(const Tensor &);
template Tensor toWorking<int64_t>(const Tensor &);
template Tensor toWorking<uint64_t>(const Tensor &);

} // namespace tpuc::kernels
