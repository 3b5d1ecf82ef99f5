//===- StoredIntegers.cpp - Tensors that say how a source stores them -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/StoredIntegers.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/SourceIntegers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tpuc;

/// The types that `op` quantizes to or dequantizes from.
template <typename Op> static quant::UniformQuantizedType storedTypeOf(Op op, Value integers) {
  return top::storedType(op->getOperand(1), op->getOperand(2), integers.getType(), /*mostBits=*/16);
}

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

static bool isTerminator(Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); }

namespace {

class StoredIntegers {
public:
  explicit StoredIntegers(func::FuncOp main) : main(main), builder(main.getContext()) {}

  bool run();

private:
  Operation *copy(Operation *op, Value source, Type type);
  void take(top::QuantizeLinearOp op);
  void takeInput(top::InputOp input);
  void cancel(top::DequantizeLinearOp op);
  void move(Operation *op);
  void giveOutputs();
  void eraseDead();

  func::FuncOp main;
  OpBuilder builder;
  /// The numbers that integers store, of their types.
  llvm::DenseMap<Value, Value> numbers;
  /// What takes over the name of a quantization when nobody reads that any more.
  SmallVector<std::pair<Operation *, Operation *>> heirs;
  bool hasStored = false;
};

/// `source` as `type`, in the place and with the name of `op`.
Operation *StoredIntegers::copy(Operation *op, Value source, Type type) {
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), top::CopyOp::getOperationName(), source, type);
  return builder.create(state);
}

/// `op` gives the integers that store its operand.
void StoredIntegers::take(top::QuantizeLinearOp op) {
  quant::UniformQuantizedType type = storedTypeOf(op, op.getOutput());
  Value source = op->getOperand(0);
  Operation *maker = source.getDefiningOp();
  if (!type)
    return;
  if (elementOf(source) == type) {
    numbers[op.getOutput()] = source;
    return;
  }
  auto tensor = cast<TensorType>(source.getType());
  if (!maker || isa<top::WeightOp, top::InputOp>(maker) || !source.hasOneUse() ||
      !elementOf(source).isF32())
    maker = copy(op, source, tensor.clone(type));
  else
    source.setType(tensor.clone(type));
  numbers[op.getOutput()] = isa<top::CopyOp>(maker) ? maker->getResult(0) : source;
  if (maker->getNumResults() == 1)
    heirs.emplace_back(op, maker);
}

/// The quantization by which `integers` are first read, moved or as they are; null if they are not.
static top::DequantizeLinearOp firstReader(Value integers) {
  for (OpOperand &use : integers.getUses()) {
    if (use.getOperandNumber() != 0)
      continue;
    Operation *user = use.getOwner();
    if (auto reader = dyn_cast<top::DequantizeLinearOp>(user))
      return reader;
    if (user->hasTrait<traits::MovesElements>() && user->getNumResults() == 1)
      if (top::DequantizeLinearOp reader = firstReader(user->getResult(0)))
        return reader;
  }
  return {};
}

/// An input that is read as numbers has these.
void StoredIntegers::takeInput(top::InputOp input) {
  top::DequantizeLinearOp op = firstReader(input.getOutput());
  quant::UniformQuantizedType type =
      op ? storedTypeOf(op, input.getOutput()) : quant::UniformQuantizedType();
  if (!type)
    return;
  auto integers = cast<TensorType>(input.getOutput().getType());
  input.getOutput().setType(integers.clone(type));
  input.getInput().setType(cast<TensorType>(input.getOutput().getType()));
  builder.setInsertionPointAfter(input);
  for (Value parameter : {op->getOperand(1), op->getOperand(2)})
    if (Operation *maker = parameter.getDefiningOp())
      maker->moveAfter(input);
  OperationState state(op.getLoc(), top::QuantizeLinearOp::getOperationName(),
                       {input.getOutput(), op->getOperand(1), op->getOperand(2)}, integers);
  Operation *stored = builder.create(state);
  input.getOutput().replaceAllUsesExcept(stored->getResult(0), stored);
  numbers[stored->getResult(0)] = input.getOutput();
  hasStored = true;
}

/// The numbers of what was just quantized are what was quantized.
void StoredIntegers::cancel(top::DequantizeLinearOp op) {
  Value source = numbers.lookup(op->getOperand(0));
  if (!source || elementOf(source) != storedTypeOf(op, op->getOperand(0)))
    return;
  hasStored = true;
  // What the network gives are floats, as the source has them.
  if (llvm::any_of(op->getUsers(), isTerminator))
    op.getOutput().replaceUsesWithIf(
        copy(op, source, op.getOutput().getType())->getResult(0),
        [](OpOperand &operand) { return isTerminator(operand.getOwner()); });
  op.getOutput().replaceAllUsesWith(source);
}

/// What moves the integers of numbers moves the numbers.
void StoredIntegers::move(Operation *op) {
  Value source = op->getNumOperands() > 0 ? numbers.lookup(op->getOperand(0)) : Value();
  const auto isOther = [&](Value value) {
    return top::isPresent(value) && numbers.contains(value);
  };
  if (!source || op->getNumResults() != 1 || op->getNumRegions() > 0 ||
      llvm::any_of(op->getOperands().drop_front(), isOther) ||
      elementOf(op->getResult(0)) != elementOf(op->getOperand(0)))
    return;
  builder.setInsertionPoint(op);
  Operation *moved = builder.clone(*op);
  moved->setOperand(0, source);
  moved->getResult(0).setType(
      cast<TensorType>(op->getResult(0).getType()).clone(elementOf(source)));
  numbers[op->getResult(0)] = moved->getResult(0);
}

/// Outputs that are stored integers are given as numbers that are stored so.
void StoredIntegers::giveOutputs() {
  for (OpOperand &operand : main.front().getTerminator()->getOpOperands())
    if (Value source = numbers.lookup(operand.get())) {
      operand.set(source);
      hasStored = true;
    }
}

void StoredIntegers::eraseDead() {
  SmallVector<Operation *> ops =
      llvm::map_to_vector(main.front().without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops)) {
    if (!isOpTriviallyDead(op) || isa<top::InputOp>(op))
      continue;
    for (auto &[named, heir] : heirs) {
      if (named == op && heir)
        heir->setLoc(op->getLoc());
      if (named == op || heir == op)
        named = heir = nullptr;
    }
    op->erase();
  }
}

bool StoredIntegers::run() {
  for (auto input : llvm::to_vector(main.front().getOps<top::InputOp>()))
    takeInput(input);
  for (Operation &each : main.front().without_terminator()) {
    if (auto op = dyn_cast<top::QuantizeLinearOp>(each))
      take(op);
    else if (auto op = dyn_cast<top::DequantizeLinearOp>(each))
      cancel(op);
    else if (each.hasTrait<traits::MovesElements>())
      move(&each);
  }
  giveOutputs();
  eraseDead();
  top::updateFunctionType(main);
  return hasStored;
}

} // namespace

bool tpuc::takeStoredIntegers(func::FuncOp main) { return StoredIntegers(main).run(); }
