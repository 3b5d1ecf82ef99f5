//===- IntegerRanges.cpp - What integer attributes may be -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IntegerRanges.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Sizes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The rank of the operand that `range` counts dimensions of, where it is known.
static std::optional<int64_t> rankFor(Operation *op, const IntegerRange &range) {
  if (range.axisOf < 0 || static_cast<unsigned>(range.axisOf) >= op->getNumOperands())
    return std::nullopt;
  auto type =
      dyn_cast<RankedTensorType>(op->getOperand(static_cast<unsigned>(range.axisOf)).getType());
  return type ? std::optional(type.getRank()) : std::nullopt;
}

static LogicalResult verifyInteger(Operation *op, const IntegerRange &range, int64_t value,
                                   bool isEntry) {
  if (std::optional<int64_t> rank = rankFor(op, range)) {
    const int64_t least = -(*rank + range.more);
    const int64_t most = *rank + range.behind - 1;
    if (value >= least && value <= most)
      return success();
    return op->emitOpError(isEntry ? StringRef("axis") : StringRef(range.attribute))
           << ' ' << value << " does not exist; expected " << least << " to " << most;
  }
  // The lowest integer, for which TableGen has no literal, is in the ranges that hold all others.
  const bool isFree = range.most == Count::kMost;
  if (isFree || (value >= range.least && value <= range.most))
    return success();
  InFlightDiagnostic error = op->emitOpError(range.attribute)
                             << (isEntry ? " has an entry " : " is ") << value << "; expected ";
  constexpr int64_t kFew = 100;
  if (range.most < range.least + kFew)
    return error << range.least << (range.most == range.least + 1 ? " or " : " to ") << range.most;
  return value < range.least ? error << "at least " << range.least
                             : error << "at most " << range.most;
}

LogicalResult tpuc::top::verifyIntegers(Operation *op, ArrayRef<IntegerRange> ranges) {
  for (const IntegerRange &range : ranges) {
    Attribute attribute = op->getAttr(range.attribute);
    if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute)) {
      if (failed(verifyInteger(op, range, integer.getInt(), /*isEntry=*/false)))
        return failure();
      continue;
    }
    auto array = dyn_cast_or_null<ArrayAttr>(attribute);
    if (!array)
      continue;
    for (auto integer : array.getAsRange<IntegerAttr>())
      if (failed(verifyInteger(op, range, integer.getInt(), /*isEntry=*/true)))
        return failure();
  }
  return success();
}

LogicalResult tpuc::top::verifySize(Operation *op, unsigned index, Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return success();
  // Elements that tensors cannot hold are refused elsewhere.
  const DataType element = storageDataType(ranked).value_or(DataType::F64);
  Expected<void> checked = checkTensorSize(ranked.getShape(), element);
  if (checked)
    return success();
  return op->emitOpError("result #")
         << index << ' ' << checked.error().found << "; expected " << checked.error().expected;
}

LogicalResult tpuc::top::verifySizes(Operation *op) {
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(verifySize(op, static_cast<unsigned>(index), type)))
      return failure();
  return success();
}
