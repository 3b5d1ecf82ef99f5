//===- SourceIntegers.cpp - How a source stores its tensors --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/SourceIntegers.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Convert.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tpuc;

/// The one number of a constant; none where it is another.
static std::optional<double> onlyNumber(Value value) {
  std::optional<Tensor> tensor = top::constantTensor(value);
  if (!tensor || tensor->numElements() != 1)
    return std::nullopt;
  return convert(*tensor, DataType::F64).data<double>()[0];
}

quant::UniformQuantizedType top::storedType(Value scale, Value zeroPoint, Type integer,
                                            unsigned mostBits) {
  const std::optional<double> value = onlyNumber(scale);
  const std::optional<double> zero =
      top::isPresent(zeroPoint) ? onlyNumber(zeroPoint) : std::optional(0.0);
  const std::optional<DataType> type = storageDataType(integer);
  const bool isWide = type == DataType::I16 && mostBits >= 16 && zero == 0.0;
  if (!value || !zero || (type != DataType::I8 && type != DataType::U8 && !isWide))
    return {};
  const auto storage = quant::StorageSpec::full(isSigned(*type), bitWidth(*type));
  const bool isScale = *value >= 0x1p-149 && *value <= std::numeric_limits<float>::max();
  if (!isScale || *zero != std::trunc(*zero) || !(*zero >= static_cast<double>(storage.min)) ||
      !(*zero <= static_cast<double>(storage.max)))
    return {};
  return quant::UniformQuantizedType::get(storage, Float32Type::get(integer.getContext()),
                                          {*value, static_cast<int64_t>(*zero)});
}
