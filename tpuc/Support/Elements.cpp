//===- Elements.cpp - Elements of a tensor of any type, a block at a time -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Elements.h"

#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tpuc {

namespace {

template <typename From, typename To>
void loadPlain(const std::byte *bytes, int64_t first, std::span<To> values) {
  bytes += first * static_cast<int64_t>(sizeof(From));
  for (size_t i = 0; i < values.size(); ++i) {
    From element;
    std::memcpy(&element, bytes + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(element);
  }
}

/// The elements from `first` on as a tensor of their own, shared.
Tensor slice(const Tensor &tensor, int64_t first, size_t count) {
  const std::byte *start = tensor.rawBytes().data() + byteSize(tensor.type(), first);
  return Tensor::borrow(tensor.type(), Shape{static_cast<int64_t>(count)}, start, nullptr);
}

template <typename To>
void loadConverted(const Tensor &tensor, int64_t first, std::span<To> values, DataType to) {
  Tensor converted = convert(slice(tensor, first, values.size()), to);
  if (to == DataType::F64)
    loadPlain<double>(converted.rawBytes().data(), 0, values);
  else
    loadPlain<int8_t>(converted.rawBytes().data(), 0, values);
}

/// False for types that need a conversion of their own.
template <typename To> bool loadNative(const Tensor &tensor, int64_t first, std::span<To> values) {
  const std::byte *bytes = tensor.rawBytes().data();
  switch (tensor.type()) {
  case DataType::F64:
    loadPlain<double>(bytes, first, values);
    return true;
  case DataType::F32:
    loadPlain<float>(bytes, first, values);
    return true;
  case DataType::I8:
    loadPlain<int8_t>(bytes, first, values);
    return true;
  case DataType::U8:
    loadPlain<uint8_t>(bytes, first, values);
    return true;
  case DataType::I16:
    loadPlain<int16_t>(bytes, first, values);
    return true;
  case DataType::U16:
    loadPlain<uint16_t>(bytes, first, values);
    return true;
  case DataType::I32:
    loadPlain<int32_t>(bytes, first, values);
    return true;
  case DataType::U32:
    loadPlain<uint32_t>(bytes, first, values);
    return true;
  case DataType::I64:
    loadPlain<int64_t>(bytes, first, values);
    return true;
  case DataType::U64:
    loadPlain<uint64_t>(bytes, first, values);
    return true;
  case DataType::Bool:
    loadPlain<uint8_t>(bytes, first, values);
    for (To &value : values)
      value = static_cast<To>(value != 0);
    return true;
  default:
    return false;
  }
}

} // namespace

void loadElements(const Tensor &tensor, int64_t first, std::span<double> values) {
  if (!values.empty() && !loadNative(tensor, first, values))
    loadConverted(tensor, first, values, DataType::F64);
}

void loadElements(const Tensor &tensor, int64_t first, std::span<WideInteger> values) {
  assert(!isFloat(tensor.type()));
  // What is not native is a 4-bit integer, which i8 holds.
  if (!values.empty() && !loadNative(tensor, first, values))
    loadConverted(tensor, first, values, DataType::I8);
}

std::string wideIntegerText(WideInteger value) {
  bool negative = value < 0;
  std::string digits;
  do {
    int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative)
    digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string elementText(const Tensor &tensor, int64_t index) {
  // Two elements, as 4-bit types can only be loaded from an even one.
  int64_t first = index - index % 2;
  auto count = static_cast<size_t>(index - first + 1);
  if (tensor.type() == DataType::Bool || !isFloat(tensor.type())) {
    std::array<WideInteger, 2> values{};
    loadElements(tensor, first, std::span(values).first(count));
    WideInteger value = values[count - 1];
    if (tensor.type() == DataType::Bool)
      return value != 0 ? "true" : "false";
    return wideIntegerText(value);
  }
  std::array<double, 2> values{};
  loadElements(tensor, first, std::span(values).first(count));
  double value = values[count - 1];
  // Shortest digits of the type itself; f32 serves the narrower floats, which it holds exactly.
  if (tensor.type() == DataType::F64)
    return fmt::format("{}", value);
  return fmt::format("{}", static_cast<float>(value));
}

} // namespace tpuc
