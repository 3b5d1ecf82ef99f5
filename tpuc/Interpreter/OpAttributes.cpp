//===- OpAttributes.cpp - Attributes without MLIR -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/OpAttributes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Convert.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tpuc;

/// A number as a tensor of its type.
template <typename T>
static std::optional<ops::Attribute> typedNumber(T value, std::optional<DataType> type) {
  if (!type)
    return std::nullopt;
  ConvertOptions wrap;
  wrap.integerOverflow = IntegerOverflow::Wrap;
  return convert(Tensor::of<T>({}, {value}), *type, wrap);
}

static std::optional<ops::Attribute> integerAttribute(IntegerAttr attribute) {
  const Type type = attribute.getType();
  if (type.isSignlessInteger(64) || type.isIndex())
    return attribute.getInt();
  // The low bits are the same for either sign.
  return typedNumber(attribute.getValue().sext(64).getSExtValue(), storageDataType(type));
}

/// A list of one kind; an empty one is of integers.
static std::optional<ops::Attribute> listAttribute(ArrayAttr attribute) {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  for (Attribute each : attribute)
    if (auto integer = dyn_cast<IntegerAttr>(each))
      integers.push_back(integer.getInt());
    else if (auto real = dyn_cast<FloatAttr>(each))
      reals.push_back(real.getValueAsDouble());
    else if (auto text = dyn_cast<StringAttr>(each))
      texts.push_back(text.str());
  if (integers.size() == attribute.size())
    return integers;
  if (reals.size() == attribute.size())
    return reals;
  if (texts.size() == attribute.size())
    return texts;
  return std::nullopt;
}

std::optional<ops::Attribute> tpuc::opAttribute(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integerAttribute(integer);
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    if (real.getType().isF64())
      return real.getValueAsDouble();
    return typedNumber(real.getValueAsDouble(), storageDataType(real.getType()));
  }
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.str();
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return listAttribute(list);
  if (auto type = dyn_cast<TypeAttr>(attribute))
    if (std::optional<DataType> stored = storageDataType(type.getValue()))
      return *stored;
  return std::nullopt;
}
