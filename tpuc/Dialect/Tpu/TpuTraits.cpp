//===- TpuTraits.cpp - What ops of the tpu dialect have in common -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/TpuTraits.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/MirroredOp.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Requant.h"
#include "tpuc/Support/Rounding.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;

/// Whether devices store tensors of `type` in the ways that ops compute with.
static bool isStored(Type type) {
  const Type element = getElementTypeOrSelf(type);
  if (auto quantized = dyn_cast<quant::UniformQuantizedType>(element))
    return quantized.getStorage().width == 8;
  return isa<NoneType>(type) || element.isIntOrFloat();
}

LogicalResult tpu::verifyStoredTypes(Operation *op) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes())))
    if (!isStored(type))
      return op->emitOpError() << "has a value of type " << type
                               << "; expected floats, integers or !quant.uniform ones of 8 bits";
  return success();
}

LogicalResult tpu::verifyMirrored(Operation *op) {
  if (failed(verifyStoredTypes(op)))
    return failure();
  // The other op lives for the check only, outside of any block.
  std::optional<OperationName> name = mirrorOf(op->getName());
  assert(name && "a mirrored op has one of the same name");
  OperationState state(op->getLoc(), *name, op->getOperands(), op->getResultTypes(),
                       op->getAttrs());
  Operation *mirrored = Operation::create(state);
  const LogicalResult verified = name->verifyInvariants(mirrored);
  mirrored->destroy();
  return verified;
}

/// The integers of the attribute `name`, an array or one; none if it is left out.
static std::optional<SmallVector<int64_t>> integers(Operation *op, StringRef name) {
  if (auto single = op->getAttrOfType<IntegerAttr>(name))
    return SmallVector<int64_t>{single.getInt()};
  auto array = op->getAttrOfType<ArrayAttr>(name);
  if (!array)
    return std::nullopt;
  return llvm::map_to_vector(array.getAsRange<IntegerAttr>(),
                             [](IntegerAttr value) { return value.getInt(); });
}

static LogicalResult verifyWithin(Operation *op, StringRef name, int64_t low, int64_t high) {
  for (int64_t value : integers(op, name).value_or(SmallVector<int64_t>()))
    if (value < low || value > high)
      return op->emitOpError() << name << " holds " << value << "; expected " << low << " to "
                               << high;
  return success();
}

/// How a requantization scales; MultiplierShift where nothing else is stated.
static FailureOr<RequantMode> requantMode(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  if (!mode)
    return RequantMode::MultiplierShift;
  if (std::optional<RequantMode> parsed = parseRequantMode(mode.getValue()))
    return *parsed;
  return op->emitOpError()
         << "quant_mode is '" << mode.getValue()
         << "'; expected MultiplierShift, OnlyShift, TFLite, TFLite_LShift or QDM";
}

/// Multipliers and shifts within what the interpreter and devices hold, modes that there are.
static LogicalResult verifyFactors(Operation *op) {
  FailureOr<RequantMode> mode = requantMode(op);
  if (failed(mode))
    return failure();
  constexpr std::numeric_limits<int32_t> k32;
  if (failed(verifyWithin(op, "multiplier", k32.min(), k32.max())) ||
      failed(verifyWithin(op, "offset", k32.min(), k32.max())) ||
      failed(verifyWithin(op, "rshift", *mode == RequantMode::QDM ? 0 : -31, 63)))
    return failure();
  if (auto rounding = op->getAttrOfType<StringAttr>("round_mode");
      rounding && !parseRoundingMode(rounding.getValue()))
    return op->emitOpError() << "round_mode is '" << rounding.getValue()
                             << "'; expected HalfToEven, HalfAwayFromZero, TowardsZero, Down, Up, "
                                "HalfUp or HalfDown";
  return success();
}

/// Scales that make floats of the sums of integers.
static LogicalResult verifyDequantization(Operation *op) {
  auto scales = op->getAttrOfType<ArrayAttr>("dequant_scale");
  if (!scales)
    return success();
  if (op->hasAttr("multiplier"))
    return op->emitOpError("has both dequant_scale and multiplier; expected one of them");
  if (!tpu::isQuantized(op->getOperand(0)) ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
    return op->emitOpError() << "has dequant_scale, but makes " << op->getResult(0).getType()
                             << " of " << op->getOperand(0).getType()
                             << "; expected floats of quantized values";
  if (scales.empty())
    return op->emitOpError("has no entry in dequant_scale; expected at least 1");
  for (auto scale : scales.getAsRange<FloatAttr>())
    if (!std::isfinite(scale.getValueAsDouble()))
      return op->emitOpError() << "dequant_scale holds " << scale.getValueAsDouble()
                               << "; expected finite numbers";
  return success();
}

LogicalResult tpu::verifyRequantization(Operation *op) {
  if (failed(verifyDequantization(op)))
    return failure();
  const auto multipliers = integers(op, "multiplier");
  const auto shifts = integers(op, "rshift");
  if (multipliers.has_value() != shifts.has_value())
    return op->emitOpError("has only one of multiplier and rshift; expected both or none");
  if (multipliers && !isQuantized(op->getResult(0)))
    return op->emitOpError("gives no quantized values; expected no multiplier and rshift");
  if (multipliers && (multipliers->empty() || multipliers->size() != shifts->size()))
    return op->emitOpError() << "has " << multipliers->size() << " multipliers and "
                             << shifts->size() << " shifts; expected equally many, at least 1";
  return verifyFactors(op);
}

/// A sum whose factors are those of its types.
static LogicalResult verifyFixedSum(Operation *op, StringRef mode) {
  if (parseRequantMode(mode) != RequantMode::TFLite)
    return op->emitOpError() << "quant_mode is '" << mode << "'; expected TFLite, or none";
  if (op->hasAttr("multiplier") || op->hasAttr("offset") || op->hasAttr("rshift") ||
      op->hasAttr("coeff"))
    return op->emitOpError("has factors beside quant_mode; expected those of its types alone");
  if (op->getNumOperands() != 2 || !tpu::isQuantized(op->getOperand(0)) ||
      !tpu::isQuantized(op->getOperand(1)) || !tpu::isQuantized(op->getResult(0)))
    return op->emitOpError("has quant_mode; expected two quantized operands and such a result");
  return success();
}

LogicalResult tpu::verifyCombination(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  if (mode && !isa<tpu::MulOp>(op))
    return verifyFixedSum(op, mode.getValue());
  const auto multipliers = integers(op, "multiplier");
  const bool isSum = isa_and_nonnull<ArrayAttr>(op->getAttr("multiplier"));
  if (isSum && !isQuantized(op->getResult(0)))
    return op->emitOpError("gives no quantized values; expected no multiplier and rshift");
  if (isSum && !op->hasAttr("rshift"))
    return op->emitOpError("has only one of multiplier and rshift; expected both or none");
  if (isSum && multipliers->size() != op->getNumOperands())
    return op->emitOpError() << "has " << multipliers->size() << " multipliers; expected "
                             << op->getNumOperands() << ", one for each operand";
  return verifyFactors(op);
}
