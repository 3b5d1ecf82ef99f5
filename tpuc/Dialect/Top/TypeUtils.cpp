//===- TypeUtils.cpp - Element types of the IR and of tensors -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

/// The type in which the values of a quantized type are stored.
static Type storageOf(Type type) {
  if (auto calibrated = dyn_cast<quant::CalibratedQuantizedType>(type))
    return calibrated.getExpressedType();
  auto uniform = dyn_cast<quant::UniformType>(type);
  if (!uniform)
    return type;
  const quant::StorageSpec storage = uniform.getStorage();
  return IntegerType::get(type.getContext(), storage.width,
                          storage.isSigned ? IntegerType::Signless : IntegerType::Unsigned);
}

std::optional<DataType> tpuc::storageDataType(Type type) {
  type = storageOf(getElementTypeOrSelf(type));
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return DataType::Bool;
    case 4:
      return isUnsigned ? DataType::U4 : DataType::I4;
    case 8:
      return isUnsigned ? DataType::U8 : DataType::I8;
    case 16:
      return isUnsigned ? DataType::U16 : DataType::I16;
    case 32:
      return isUnsigned ? DataType::U32 : DataType::I32;
    case 64:
      return isUnsigned ? DataType::U64 : DataType::I64;
    default:
      return std::nullopt;
    }
  }
  if (type.isF64())
    return DataType::F64;
  if (type.isF32())
    return DataType::F32;
  if (type.isF16())
    return DataType::F16;
  if (type.isBF16())
    return DataType::BF16;
  if (type.isFloat8E4M3FN())
    return DataType::F8E4M3FN;
  if (type.isFloat8E5M2())
    return DataType::F8E5M2;
  if (type.isFloat8E4M3FNUZ())
    return DataType::F8E4M3FNUZ;
  if (type.isFloat8E5M2FNUZ())
    return DataType::F8E5M2FNUZ;
  return std::nullopt;
}

Type tpuc::elementType(MLIRContext *context, DataType type) {
  switch (type) {
  case DataType::F64:
    return Float64Type::get(context);
  case DataType::F32:
    return Float32Type::get(context);
  case DataType::F16:
    return Float16Type::get(context);
  case DataType::BF16:
    return BFloat16Type::get(context);
  case DataType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DataType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DataType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DataType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DataType::Bool:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, bitWidth(type),
                            isSigned(type) ? IntegerType::Signless : IntegerType::Unsigned);
  }
}

RankedTensorType tpuc::tensorType(MLIRContext *context, DataType type, const Shape &shape) {
  return RankedTensorType::get(shape.vec(), elementType(context, type));
}

std::vector<double> tpuc::toDoubles(std::optional<ArrayAttr> attribute) {
  std::vector<double> values;
  if (attribute)
    for (auto value : attribute->getAsRange<FloatAttr>())
      values.push_back(value.getValueAsDouble());
  return values;
}
