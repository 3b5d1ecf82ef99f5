//===- StripFuncQuantTypes.cpp - Function signatures without quantized types ------ -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantOps.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"

namespace tpuc::quant {
#define GEN_PASS_DEF_STRIPFUNCQUANTTYPES
#include "tpuc/Dialect/Quant/Transforms/Passes.h.inc"
} // namespace tpuc::quant

using namespace mlir;
using namespace tpuc::quant;

namespace {

/// Walks `root`, but not into symbol tables below it: their functions are not top-level ones.
void walkTopLevel(Operation *root, llvm::function_ref<void(Operation *)> visit) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root && op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::skip();
    visit(op);
    return WalkResult::advance();
  });
}

struct StripFuncQuantTypesPass
    : tpuc::quant::impl::StripFuncQuantTypesBase<StripFuncQuantTypesPass> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    addUniformTypeStripping(replacer);
    auto strip = [&](Type type) { return replacer.replace(type); };

    // Function types name the signatures that are about to change: every value of such a type
    // changes with them, wherever it flows.
    walkTopLevel(getOperation(), [&](Operation *op) {
      for (Value result : op->getResults())
        retypeFunctionValue(result, strip);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            retypeFunctionValue(argument, strip);
    });
    walkTopLevel(getOperation(), [&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        stripSignature(function, strip);
      } else if (isa<func::ReturnOp>(op)) {
        if (isa<func::FuncOp>(op->getParentOp()))
          stripOperands(op, strip);
      } else if (isa<func::CallOp, func::CallIndirectOp>(op)) {
        stripOperands(op, strip);
        stripResults(op, strip);
      }
    });
  }

private:
  using Strip = llvm::function_ref<Type(Type)>;

  static void retypeFunctionValue(Value value, Strip strip) {
    if (isa<FunctionType>(value.getType()))
      value.setType(strip(value.getType()));
  }

  /// `value` as a value of type `type`; the two are the same up to stripping.
  static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
    auto isCastable = [](Type candidate) {
      return isa<UniformType, IntegerType, TensorType>(candidate) &&
             isa<UniformType, IntegerType>(getElementTypeOrSelf(candidate));
    };
    if (isCastable(value.getType()) && isCastable(type))
      return builder.create<StorageCastOp>(loc, type, value);
    return builder.create<UnrealizedConversionCastOp>(loc, type, value).getResult(0);
  }

  /// Gives `value` its stripped type, and its users what they had.
  static void stripValue(OpBuilder &builder, Value value, Strip strip) {
    const Type original = value.getType();
    const Type stripped = strip(original);
    if (stripped == original)
      return;
    value.setType(stripped);
    Value restored = convert(builder, value.getLoc(), value, original);
    value.replaceAllUsesExcept(restored, restored.getDefiningOp());
  }

  static void stripSignature(func::FuncOp function, Strip strip) {
    function.setFunctionType(cast<FunctionType>(strip(function.getFunctionType())));
    if (function.isExternal())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (Value argument : function.getArguments())
      stripValue(builder, argument, strip);
  }

  static void stripOperands(Operation *op, Strip strip) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      const Type stripped = strip(operand.get().getType());
      if (stripped != operand.get().getType())
        operand.set(convert(builder, op->getLoc(), operand.get(), stripped));
    }
  }

  static void stripResults(Operation *op, Strip strip) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      stripValue(builder, result, strip);
  }
};

} // namespace
