//===- TpuTraits.cpp - What ops of the tpu dialect have in common -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/TpuTraits.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/Twin.h"
#include "tpuc/Support/Requant.h"
#include "tpuc/Support/Rounding.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

static LogicalResult verifyStored(Operation *op, Type type) {
  if (isa<NoneType>(type) || !isa<quant::CalibratedQuantizedType>(getElementTypeOrSelf(type)))
    return success();
  return op->emitOpError("has a value of type ")
         << type << "; expected one in which a device stores numbers";
}

LogicalResult tpu::verifyTwin(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (failed(verifyStored(op, type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyStored(op, type)))
      return failure();
  // The other op lives for the check only, outside of any block.
  std::optional<OperationName> name = twinOf(op->getName());
  assert(name && "a twin has one of the same name");
  OperationState state(op->getLoc(), *name, op->getOperands(), op->getResultTypes(),
                       op->getAttrs());
  Operation *twin = Operation::create(state);
  const LogicalResult verified = name->verifyInvariants(twin);
  twin->destroy();
  return verified;
}

/// The integers of the attribute `name`, or none if it is left out.
static std::optional<SmallVector<int64_t>> integers(Operation *op, StringRef name) {
  auto array = op->getAttrOfType<ArrayAttr>(name);
  if (!array)
    return std::nullopt;
  return llvm::map_to_vector(array.getAsRange<IntegerAttr>(),
                             [](IntegerAttr value) { return value.getInt(); });
}

static LogicalResult verifyWithin(Operation *op, StringRef name, ArrayRef<int64_t> values,
                                  int64_t low, int64_t high) {
  for (int64_t value : values)
    if (value < low || value > high)
      return op->emitOpError() << name << " holds " << value << "; expected " << low << " to "
                               << high;
  return success();
}

LogicalResult tpu::verifyRequantization(Operation *op) {
  const auto multipliers = integers(op, "multiplier");
  const auto shifts = integers(op, "rshift");
  if (multipliers.has_value() != shifts.has_value())
    return op->emitOpError("has only one of multiplier and rshift; expected both or none");
  if (multipliers) {
    if (!isQuantized(op->getResult(0)))
      return op->emitOpError("gives no quantized values; expected no multiplier and rshift");
    if (multipliers->empty() || multipliers->size() != shifts->size())
      return op->emitOpError() << "has " << multipliers->size() << " multipliers and "
                               << shifts->size() << " shifts; expected equally many, at least 1";
    if (failed(verifyWithin(op, "multiplier", *multipliers, std::numeric_limits<int32_t>::min(),
                            std::numeric_limits<int32_t>::max())) ||
        failed(verifyWithin(op, "rshift", *shifts, -31, 63)))
      return failure();
  }
  if (auto mode = op->getAttrOfType<StringAttr>("quant_mode");
      mode && !parseRequantMode(mode.getValue()))
    return op->emitOpError() << "quant_mode is '" << mode.getValue()
                             << "'; expected MultiplierShift, OnlyShift, TFLite, TFLite_LShift or "
                                "QDM";
  if (auto mode = op->getAttrOfType<StringAttr>("round_mode");
      mode && !parseRoundingMode(mode.getValue()))
    return op->emitOpError() << "round_mode is '" << mode.getValue()
                             << "'; expected HalfToEven, HalfAwayFromZero, TowardsZero, Down, Up, "
                                "HalfUp or HalfDown";
  return success();
}
