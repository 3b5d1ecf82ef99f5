//===- ShapeInference.cpp - What shape inference of all ops shares -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/IntegerRanges.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Convert.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

bool tpuc::top::isPresent(Value value) { return value && !isa<NoneType>(value.getType()); }

std::optional<Dims> tpuc::top::dimsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  return Dims(type.getShape());
}

Type tpuc::top::elementTypeOf(Value value) { return getElementTypeOrSelf(value.getType()); }

Count tpuc::top::staticElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? elementsOf(type.getShape()) : Count(0);
}

LogicalResult tpuc::top::setResult(Operation *op, unsigned index, Type element,
                                   const shapes::Dims &dims) {
  return setResult(op, index, element, std::optional(Dims(dims.begin(), dims.end())));
}

shapes::Dims tpuc::top::intVector(ArrayAttr attribute) {
  const Dims ints = toInts(attribute);
  return {ints.begin(), ints.end()};
}

std::optional<shapes::Dims> tpuc::top::intVector(std::optional<ArrayAttr> attribute) {
  return attribute ? std::optional(intVector(*attribute)) : std::nullopt;
}

LogicalResult tpuc::top::setResult(Operation *op, unsigned index, Type element,
                                   const std::optional<Dims> &dims) {
  Value result = op->getResult(index);
  if (!dims) {
    if (!isa<RankedTensorType>(result.getType()))
      result.setType(UnrankedTensorType::get(element));
    return success();
  }
  Dims merged = *dims;
  if (std::optional<Dims> known = dimsOf(result)) {
    if (known->size() != merged.size())
      return op->emitOpError("result #")
             << index << " has rank " << known->size() << "; expected " << merged.size();
    for (auto [extent, knownExtent] : llvm::zip_equal(merged, *known)) {
      if (extent == kDynamic)
        extent = knownExtent;
      else if (knownExtent != kDynamic && knownExtent != extent)
        return op->emitOpError("result #")
               << index << " has shape " << dimsText(*known) << "; expected " << dimsText(*dims);
    }
  }
  const RankedTensorType type = RankedTensorType::get(merged, element);
  if (failed(verifySize(op, index, type)))
    return failure();
  result.setType(type);
  return success();
}

FailureOr<std::optional<Dims>> tpuc::top::broadcast(Operation *op, ArrayRef<Value> operands) {
  Dims result;
  for (Value operand : operands) {
    std::optional<Dims> dims = dimsOf(operand);
    if (!dims)
      return std::optional<Dims>();
    if (dims->size() > result.size())
      result.insert(result.begin(), dims->size() - result.size(), 1);
    size_t shift = result.size() - dims->size();
    for (size_t axis = 0; axis < dims->size(); ++axis) {
      int64_t &extent = result[shift + axis];
      int64_t other = (*dims)[axis];
      if (extent == other || other == 1)
        continue;
      if (extent == 1)
        extent = other;
      else if (extent == kDynamic)
        extent = other;
      else if (other != kDynamic) {
        InFlightDiagnostic error = op->emitOpError("operands cannot be broadcast together:");
        for (Value each : operands)
          error << ' ' << each.getType();
        return error;
      }
    }
  }
  return std::optional<Dims>(result);
}

std::optional<Tensor> tpuc::top::constantTensor(Value value) {
  auto weight = value.getDefiningOp<WeightOp>();
  if (!weight)
    return std::nullopt;
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return std::nullopt;
  return *tensor;
}

std::optional<Dims> tpuc::top::constantInts(Value value) {
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor || isFloat(tensor->type()))
    return std::nullopt;
  Tensor wide = convert(*tensor, DataType::I64);
  auto values = wide.data<int64_t>();
  return Dims(values.begin(), values.end());
}

std::optional<Dims> tpuc::top::intsOf(std::optional<ArrayAttr> attribute, Value operand) {
  if (isPresent(operand))
    return constantInts(operand);
  if (attribute)
    return toInts(*attribute);
  return std::nullopt;
}

FailureOr<int64_t> tpuc::top::normalizeAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return op->emitOpError("axis ")
           << axis << " does not exist; expected -" << rank << " to " << rank - 1;
  return axis < 0 ? axis + rank : axis;
}

Dims tpuc::top::toInts(ArrayAttr attribute) {
  Dims result;
  for (Attribute element : attribute)
    result.push_back(cast<IntegerAttr>(element).getInt());
  return result;
}
