//===- OpChecks.cpp - What verifiers of several ops share -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Sizes.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult tpuc::top::verifyForms(Operation *op, StringRef name, Value operand, Forms forms) {
  bool asOperand = isPresent(operand);
  bool asAttribute = op->hasAttr(name);
  if (asOperand && asAttribute)
    return op->emitOpError("has '")
           << name << "' as an operand and as an attribute; expected one of them";
  if (forms == Forms::One && !asOperand && !asAttribute)
    return op->emitOpError("has no '") << name << "'; expected an operand or an attribute";
  return success();
}

LogicalResult tpuc::top::verifyIndexType(Operation *op, StringRef name, Value value) {
  if (!isPresent(value))
    return success();
  std::optional<DataType> type = storageDataType(value.getType());
  if (type == DataType::I32 || type == DataType::U32 || type == DataType::I64)
    return success();
  return op->emitOpError("operand '")
         << name << "' has type " << value.getType() << "; expected elements i32, ui32 or i64";
}

LogicalResult tpuc::top::verifySameElements(Operation *op, ValueRange values) {
  // Calibrated and quantized elements differ from tensor to tensor.
  auto isBuiltin = [](Type type) { return isa<BuiltinDialect>(type.getDialect()); };
  // Beside 16 bits, of which the result is, f32 constants are not rounded.
  auto isNarrow = [](Type type) { return type.isF16() || type.isBF16(); };
  if (Type result = op->getNumResults() == 1 ? elementTypeOf(op->getResult(0)) : Type();
      result && isNarrow(result) &&
      llvm::any_of(values, [&](Value value) { return elementTypeOf(value) == result; }) &&
      llvm::all_of(values, [&](Value value) {
        return elementTypeOf(value) == result || elementTypeOf(value).isF32();
      }))
    return success();
  Type first = elementTypeOf(values.front());
  for (Value value : values.drop_front()) {
    Type other = elementTypeOf(value);
    if (storageDataType(other) != storageDataType(first) && isBuiltin(first) && isBuiltin(other))
      return op->emitOpError("operands have element types ")
             << first << " and " << other << "; expected one type";
  }
  return success();
}

LogicalResult tpuc::top::verifyChoice(Operation *op, StringRef name, StringRef found,
                                      ArrayRef<StringRef> allowed) {
  if (llvm::is_contained(allowed, found))
    return success();
  InFlightDiagnostic error = op->emitOpError("attribute '")
                             << name << "' is '" << found << "'; expected ";
  llvm::interleaveComma(allowed, error);
  return error;
}

LogicalResult tpuc::top::verifyRank(Operation *op, StringRef name, Value value, int64_t rank) {
  std::optional<Dims> dims = isPresent(value) ? dimsOf(value) : std::nullopt;
  if (!dims || static_cast<int64_t>(dims->size()) == rank)
    return success();
  return op->emitOpError("operand '")
         << name << "' has type " << value.getType() << "; expected rank " << rank;
}

std::optional<int64_t> tpuc::top::vectorLength(Value value) {
  if (!isPresent(value))
    return std::nullopt;
  std::optional<Dims> dims = dimsOf(value);
  if (!dims || dims->size() != 1 || dims->front() == kDynamic)
    return std::nullopt;
  return dims->front();
}

FailureOr<std::optional<int64_t>> tpuc::top::numDimensions(Operation *op, StringRef name,
                                                           Value value) {
  std::optional<int64_t> count = vectorLength(value);
  if (!count || *count <= static_cast<int64_t>(Shape::kMaxRank))
    return count;
  op->emitOpError("operand '") << name << "' has " << *count << " numbers; expected at most "
                               << static_cast<int64_t>(Shape::kMaxRank)
                               << ", one for each dimension";
  return failure();
}

bool tpuc::top::mergeExtent(int64_t &extent, int64_t other) {
  if (extent == kDynamic)
    extent = other;
  return other == kDynamic || extent == other;
}

int64_t tpuc::top::productOf(ArrayRef<int64_t> dims) {
  if (llvm::is_contained(dims, 0))
    return 0;
  if (llvm::is_contained(dims, kDynamic))
    return kDynamic;
  return elementsOf(dims);
}

FailureOr<Dims> tpuc::top::normalizeAxes(Operation *op, ArrayRef<int64_t> axes, int64_t rank) {
  Dims result;
  for (int64_t each : axes) {
    FailureOr<int64_t> axis = normalizeAxis(op, each, rank);
    if (failed(axis))
      return failure();
    if (llvm::is_contained(result, *axis)) {
      op->emitOpError("names axis ") << each << " twice";
      return failure();
    }
    result.push_back(*axis);
  }
  return result;
}
