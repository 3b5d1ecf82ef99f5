//===- Elements.cpp - Values in the form that a net stores them -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Rounding.h"

#include <bit>
#include <fmt/format.h>

namespace tpuc::runtime {

namespace {

/// Whether integers stand for real numbers: those of 8 bits and fewer, and those of 16 with a scale
/// or a zero point.
bool isFixed(DataType type, float scale, int32_t zeroPoint) {
  return (isInteger(type) && bitWidth(type) <= 8) ||
         (type == DataType::I16 && (scale != 1 || zeroPoint != 0));
}

Tensor quantized(const Tensor &tensor, DataType type, float scale, int32_t zeroPoint) {
  const Tensor real = convert(tensor, DataType::F32);
  Tensor scaled(DataType::F32, real.shape());
  const std::span<const float> from = real.data<float>();
  const std::span<float> to = scaled.mutableData<float>();
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = from[i] * scale + static_cast<float>(zeroPoint);
  ConvertOptions options;
  options.integerRounding = RoundingMode::HalfAwayFromZero;
  return convert(scaled, type, options);
}

Tensor truncatedToBf16(const Tensor &tensor) {
  const Tensor wide = convert(tensor, DataType::F32);
  Tensor result(DataType::BF16, wide.shape());
  const std::span<const float> from = wide.data<float>();
  const std::span<uint16_t> to = result.mutableData<uint16_t>();
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(from[i]) >> 16U);
  return result;
}

/// The first of the 64-bit integers that is another number in a type of fewer bits.
std::optional<int64_t> firstLost(const Tensor &numbers, const Tensor &stored) {
  if (numbers.type() != DataType::I64 || !isInteger(stored.type()))
    return std::nullopt;
  const Tensor back = convert(stored, DataType::I64);
  const auto [lost, other] = std::ranges::mismatch(numbers.data<int64_t>(), back.data<int64_t>());
  if (lost == numbers.data<int64_t>().end())
    return std::nullopt;
  return lost - numbers.data<int64_t>().begin();
}

} // namespace

Expected<Shape> checkedShape(std::span<const uint64_t> shape, DataType type,
                             const std::string &where) {
  // Extents beyond INT64_MAX become negative, which checkedNumElements refuses.
  const std::vector<int64_t> dims(shape.begin(), shape.end());
  if (const auto count = checkedNumElements(dims, type, where); !count)
    return tl::unexpected(count.error());
  return Shape(dims);
}

Expected<Tensor> toStored(const Tensor &tensor, const model::TensorInfo &info,
                          const std::string &where) {
  const auto type = info.knownType(where);
  if (!type)
    return tl::unexpected(type.error());
  const auto storedShape = checkedShape(info.shape, *type, where);
  if (!storedShape)
    return tl::unexpected(storedShape.error());
  if (tensor.numElements() != storedShape->numElements())
    return makeError(where, fmt::format("{} {}", dataTypeName(tensor.type()), tensor.shape().str()),
                     fmt::format("{} {}", dataTypeName(*type), storedShape->str()));
  Tensor shaped = tensor.reshaped(*storedShape);
  if (shaped.type() == *type)
    return shaped;
  if (isFixed(*type, info.scale, info.zeroPoint))
    return quantized(shaped, *type, info.scale, info.zeroPoint);
  if (*type == DataType::BF16)
    return truncatedToBf16(shaped);
  Tensor stored = convert(shaped, *type);
  if (const std::optional<int64_t> lost = firstLost(shaped, stored))
    return makeError(where, fmt::format("element {} is beyond {}", *lost, dataTypeName(*type)),
                     fmt::format("numbers that {} holds", dataTypeName(*type)));
  return stored;
}

Tensor fromStored(const Tensor &stored, float scale, int32_t zeroPoint, bool keepFixed) {
  const DataType type = stored.type();
  if (isInteger(type) && scale == 1 && zeroPoint == 0)
    return stored;
  if (type == DataType::F16 || type == DataType::BF16 || type == DataType::U16)
    return convert(stored, DataType::F32);
  if (!isFixed(type, scale, zeroPoint) || keepFixed)
    return stored;
  Tensor real = convert(stored, DataType::F32);
  if (!real.isWritable())
    real = real.clone();
  for (float &value : real.mutableData<float>())
    value = (value - static_cast<float>(zeroPoint)) * scale;
  return real;
}

} // namespace tpuc::runtime
