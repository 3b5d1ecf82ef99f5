//===- Lift.cpp - Lowered modules in the ops that the interpreter computes ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Lift.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MirroredOp.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Ungroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

static constexpr StringLiteral kIntermediate = "interpreter.intermediate";

bool tpuc::isIntermediate(Operation *op) { return op->hasAttr(kIntermediate); }

static bool isNarrowFloat(Type type) {
  const Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// The type in which the interpreter holds values of `type`.
static Type widened(Type type) {
  if (!isNarrowFloat(type))
    return type;
  return cast<TensorType>(type).clone(Float32Type::get(type.getContext()));
}

static bool hasRelu(Operation *op) {
  const auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  return relu && relu.getValue();
}

namespace {

class Lifter {
public:
  explicit Lifter(ModuleOp module) : module(module), builder(module.getContext()) {}

  void run();

private:
  void lift(Operation *op);
  void liftCast(tpu::CastOp op);
  void liftMirrored(Operation *op, OperationName name);
  void liftDequantized(Operation *op);
  void liftTyped(Operation *op, OperationName name);
  void liftRegionArguments(Operation *op);
  void liftArguments(func::FuncOp main);
  void liftResults(func::FuncOp main);
  /// `value` as a tensor of `type`; on the way to a tensor of the module unless it `isNamed`.
  top::CastOp castTo(Value value, Type type, Location loc, bool isNamed = false);
  Value roundTo(Value value, Type type, Location loc);
  /// `value`, stored integers that `mirrored` moved, within the ReLU that `mirrored` has; takes it
  /// from it.
  Value limit(Operation *mirrored, Value value, Location loc);

  ModuleOp module;
  OpBuilder builder;
};

void Lifter::run() {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return;
  // What the results are is read off the types before they change.
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  liftArguments(main);
  for (Operation *op : ops) {
    if (auto weight = dyn_cast<top::WeightOp>(op))
      weight.getOutput().setType(cast<RankedTensorType>(widened(weight.getOutput().getType())));
    else if (op->getName().getDialectNamespace() == "tpu")
      lift(op);
  }
  liftResults(main);
}

void Lifter::liftArguments(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    if (!isNarrowFloat(argument.getType()))
      continue;
    Value value = argument;
    for (Operation *user : argument.getUsers())
      if (auto input = dyn_cast<top::InputOp>(user))
        value = input.getOutput();
    builder.setInsertionPointAfterValue(value);
    top::CastOp wide = castTo(value, widened(value.getType()), value.getLoc());
    value.replaceAllUsesExcept(wide.getOutput(), wide);
  }
}

void Lifter::liftResults(func::FuncOp main) {
  Operation *terminator = main.front().getTerminator();
  for (auto [operand, type] :
       llvm::zip_equal(terminator->getOpOperands(), main.getFunctionType().getResults())) {
    if (!isNarrowFloat(type))
      continue;
    builder.setInsertionPoint(terminator);
    Location loc = operand.get().getLoc();
    if (auto result = dyn_cast<OpResult>(operand.get())) {
      Operation *maker = result.getOwner();
      loc = NameLoc::get(builder.getStringAttr(tensorNames(maker)[result.getResultNumber()]));
      if (maker->getNumResults() == 1 && !isa<top::InputOp>(maker))
        maker->setAttr(kIntermediate, builder.getUnitAttr());
    }
    operand.set(castTo(operand.get(), type, loc, /*isNamed=*/true).getOutput());
  }
}

Value Lifter::roundTo(Value value, Type type, Location loc) {
  return builder.create<tpu::RoundToOp>(loc, value.getType(), value,
                                        TypeAttr::get(getElementTypeOrSelf(type)));
}

Value Lifter::limit(Operation *mirrored, Value value, Location loc) {
  const auto limit = mirrored->getAttrOfType<FloatAttr>("relu_limit");
  const tpu::StoredRange range = tpu::reluRange(tpu::quantizedType(value), /*doRelu=*/true,
                                                limit ? limit.getValueAsDouble() : -1);
  mirrored->setAttr("do_relu", builder.getBoolAttr(false));
  return builder
      .create<top::ClipOp>(loc, value.getType(), value, builder.getF64FloatAttr(double(range.low)),
                           builder.getF64FloatAttr(double(range.high)))
      .getOutput();
}

top::CastOp Lifter::castTo(Value value, Type type, Location loc, bool isNamed) {
  auto cast =
      builder.create<top::CastOp>(loc, type, value, TypeAttr::get(getElementTypeOrSelf(type)),
                                  /*saturate=*/builder.getBoolAttr(false),
                                  /*from_bit=*/builder.getI64IntegerAttr(0));
  if (!isNamed)
    cast->setAttr(kIntermediate, builder.getUnitAttr());
  return cast;
}

void Lifter::lift(Operation *op) {
  builder.setInsertionPoint(op);
  if (auto cast = dyn_cast<tpu::CastOp>(op))
    return liftCast(cast);
  if (isa<tpu::PackRowsOp, tpu::UnpackRowsOp, tpu::TransposeOp>(op))
    return op->getResult(0).setType(widened(op->getResult(0).getType()));
  if (tpu::hasIntegerFusion(op)) {
    op->removeAttr("interpreter.operands");
    return;
  }
  liftRegionArguments(op);
  if (op->hasAttr("dequant_scale"))
    return liftDequantized(op);
  const bool isRequantized = op->getNumResults() > 0 && tpu::isQuantized(op->getResult(0)) &&
                             (op->hasAttr("rshift") || op->hasAttr("quant_mode")) &&
                             isa<EvaluateInterface>(op);
  std::optional<OperationName> name = tpu::mirrorOf(op->getName());
  if (!name || isRequantized)
    return;
  if (op->hasTrait<traits::ReadsElementTypes>())
    liftTyped(op, *name);
  else
    liftMirrored(op, *name);
}

void Lifter::liftRegionArguments(Operation *op) {
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(widened(argument.getType()));
}

/// A cast that only widens stays as a view: the tensor that it makes has a name.
void Lifter::liftCast(tpu::CastOp op) {
  const Type type = op.getOutput().getType();
  if (!isNarrowFloat(type))
    return;
  const Type wide = widened(type);
  Value value = op.getInput();
  if (value.getType() != wide) {
    auto cast = builder.create<tpu::CastOp>(op.getLoc(), wide, value);
    cast->setAttr(kIntermediate, builder.getUnitAttr());
    value = cast.getOutput();
  }
  op.getOutput().replaceAllUsesWith(roundTo(value, type, op.getLoc()));
  op.erase();
}

void Lifter::liftMirrored(Operation *op, OperationName name) {
  SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), widened);
  const bool isExact = op->hasTrait<traits::MovesElements>();
  Operation *mirrored = tpu::createMirrored(builder, op, name, op->getOperands(), types);
  for (auto [old, made] : llvm::zip_equal(op->getResults(), mirrored->getResults())) {
    Value value = made;
    const auto loc = NameLoc::get(builder.getStringAttr(tensorNames(op)[old.getResultNumber()]));
    if (isNarrowFloat(old.getType()) && !isExact)
      value = roundTo(value, old.getType(), loc);
    else if (tpu::isQuantized(made) && hasRelu(mirrored))
      value = limit(mirrored, value, loc);
    if (value != made)
      mirrored->setAttr(kIntermediate, builder.getUnitAttr());
    old.replaceAllUsesWith(value);
  }
  op->erase();
}

/// A product of integers stays, and makes f32.
void Lifter::liftDequantized(Operation *op) {
  Value result = op->getResult(0);
  const Type stored = result.getType();
  if (!isNarrowFloat(stored))
    return;
  result.setType(widened(stored));
  builder.setInsertionPointAfter(op);
  Value rounded = roundTo(result, stored, op->getLoc());
  result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
  op->setAttr(kIntermediate, builder.getUnitAttr());
}

void Lifter::liftTyped(Operation *op, OperationName name) {
  SmallVector<Value> operands;
  auto twinOperands = op->getAttrOfType<ArrayAttr>("interpreter.operands");
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Type type = operand.getType();
    if (twinOperands)
      type = cast<TypeAttr>(twinOperands[index]).getValue();
    operands.push_back(operand.getType() == type ? operand
                                                 : castTo(operand, type, op->getLoc()).getOutput());
  }
  Operation *mirrored = tpu::createMirrored(builder, op, name, operands, op->getResultTypes());
  mirrored->removeAttr("interpreter.operands");
  for (auto [old, made] : llvm::zip_equal(op->getResults(), mirrored->getResults())) {
    Value value = made;
    if (isNarrowFloat(old.getType()))
      value = castTo(value, widened(old.getType()), op->getLoc()).getOutput();
    old.replaceAllUsesWith(value);
  }
  op->erase();
}

} // namespace

OwningOpRef<ModuleOp> tpuc::liftDeviceOps(ModuleOp module) {
  bool hasDeviceOps = false;
  module.walk([&](Operation *op) {
    hasDeviceOps |= op->getName().getDialectNamespace() == "tpu";
    return hasDeviceOps ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!hasDeviceOps)
    return {};
  OwningOpRef<ModuleOp> lifted(module.clone());
  ungroup(*lifted);
  // Operands change their types before the ops that read these are reached.
  lifted->walk([&](Operation *op) {
    if (!op->hasTrait<traits::ReadsElementTypes>() || op->getName().getDialectNamespace() != "tpu")
      return;
    SmallVector<Attribute> types;
    for (Type type : op->getOperandTypes())
      types.push_back(TypeAttr::get(type));
    op->setAttr("interpreter.operands", ArrayAttr::get(op->getContext(), types));
  });
  Lifter(*lifted).run();
  return lifted;
}
