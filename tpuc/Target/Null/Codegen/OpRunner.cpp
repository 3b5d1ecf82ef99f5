//===- OpRunner.cpp - Ops one by one --------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/OpRunner.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Top/WeightStore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <cstring>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

/// Under which name a context knows the constants of the op that is being made a network.
static constexpr llvm::StringLiteral kWeightFile = "constants of one op";

static Type withoutAddress(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? RankedTensorType::get(tensor.getShape(), tensor.getElementType()) : type;
}

static bool isWeight(Value value) { return isConstantValue(value); }

static bool areEqual(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() && a.shape() == b.shape() &&
         std::memcmp(a.rawBytes().data(), b.rawBytes().data(), a.rawBytes().size()) == 0;
}

OpRunner::OpRunner() = default;
OpRunner::~OpRunner() = default;

Expected<void> OpRunner::make(Known &made, Operation *op,
                              const std::vector<std::optional<Tensor>> &operands) {
  MLIRContext *context = op->getContext();
  const auto store = std::make_shared<top::WeightStore>();
  context->getLoadedDialect<top::TopDialect>()->setWeights(kWeightFile, store);
  OpBuilder builder(context);
  made.interpreter.reset();
  made.constants.clear();
  made.module = ModuleOp::create(op->getLoc());
  (*made.module)->setAttr("module.weight_file", builder.getStringAttr(kWeightFile));
  builder.setInsertionPointToStart(made.module->getBody());
  SmallVector<Type> arguments;
  for (Value operand : op->getOperands())
    if (!isa<NoneType>(operand.getType()) && !isWeight(operand))
      arguments.push_back(withoutAddress(operand.getType()));
  SmallVector<Type> results;
  for (Type type : op->getResultTypes())
    if (!isa<NoneType>(type))
      results.push_back(withoutAddress(type));
  auto main = builder.create<func::FuncOp>(op->getLoc(), "main",
                                           builder.getFunctionType(arguments, results));
  Block *body = main.addEntryBlock();
  builder.setInsertionPointToStart(body);
  unsigned argument = 0;
  SmallVector<Value> values;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    if (isa<NoneType>(operand.getType())) {
      values.push_back(builder.create<top::NoneOp>(op->getLoc(), operand.getType()));
    } else if (isWeight(operand)) {
      const std::string name = "constant" + std::to_string(index);
      made.constants.push_back(operands[index]->clone());
      store->set(name, made.constants.back());
      values.push_back(builder.create<top::WeightOp>(NameLoc::get(builder.getStringAttr(name)),
                                                     withoutAddress(operand.getType()),
                                                     ArrayAttr()));
    } else {
      values.push_back(body->getArgument(argument++));
    }
  }
  Operation *clone = builder.clone(*op);
  clone->setOperands(values);
  SmallVector<Value> given;
  for (Value result : clone->getResults()) {
    result.setType(withoutAddress(result.getType()));
    if (!isa<NoneType>(result.getType()))
      given.push_back(result);
  }
  builder.create<func::ReturnOp>(op->getLoc(), given);
  auto interpreter = Interpreter::create(*made.module, {.numThreads = 1});
  if (!interpreter)
    return propagate(interpreter);
  made.interpreter = std::move(*interpreter);
  return {};
}

Expected<std::vector<std::optional<Tensor>>>
OpRunner::run(Operation *op, const std::vector<std::optional<Tensor>> &operands) {
  std::vector<Tensor> inputs;
  std::vector<Tensor> constants;
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), operands))
    if (tensor)
      (isWeight(operand) ? constants : inputs).push_back(*tensor);
  std::unique_ptr<Known> &entry = known[op];
  if (!entry || !std::ranges::equal(entry->constants, constants, areEqual)) {
    entry = std::make_unique<Known>();
    if (Expected<void> done = make(*entry, op, operands); !done)
      return propagate(done);
  }
  Expected<TensorMap> made = entry->interpreter->run(inputs);
  if (!made)
    return propagate(made);
  std::vector<std::optional<Tensor>> results(op->getNumResults());
  const std::vector<TensorInfo> &outputs = entry->interpreter->outputs();
  size_t next = 0;
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    if (!isa<NoneType>(result.getType()))
      tensor = made->at(outputs[next++].name);
  return results;
}

} // namespace tpuc::Null
