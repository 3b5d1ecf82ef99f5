//===- QuantWorkflow.cpp - The fallback, the final check, and the whole pipeline -- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantInterfaces.h"
#include "tpuc/Dialect/Quant/QuantOps.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace tpuc::quant {
#define GEN_PASS_DEF_QUANTFALLBACK
#define GEN_PASS_DEF_VERIFYQUANTLOWERED
#define GEN_PASS_REGISTRATION
#include "tpuc/Dialect/Quant/Transforms/Passes.h.inc"
} // namespace tpuc::quant

using namespace mlir;
using namespace tpuc::quant;

namespace {

bool isUniform(Type type) { return isa<UniformType>(getElementTypeOrSelf(type)); }

/// `type`, a scalar or tensor of type !quant.uniform, with its expressed type instead.
Type toExpressedType(Type type) {
  const Type expressed = cast<UniformType>(getElementTypeOrSelf(type)).getExpressedType();
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.clone(expressed);
  return expressed;
}

/// op(q) -> qcast(op'(dcast(q)))
void computeOnFloats(Operation *op) {
  OpBuilder builder(op);
  Operation *onFloats = builder.clone(*op);
  builder.setInsertionPoint(onFloats);
  for (OpOperand &operand : onFloats->getOpOperands())
    if (isUniform(operand.get().getType()))
      operand.set(builder.create<DequantizeCastOp>(
          op->getLoc(), toExpressedType(operand.get().getType()), operand.get()));
  builder.setInsertionPoint(op);
  for (auto [original, result] : llvm::zip_equal(op->getResults(), onFloats->getResults())) {
    const Type type = original.getType();
    Value replacement = result;
    if (isUniform(type)) {
      result.setType(toExpressedType(type));
      replacement = builder.create<QuantizeCastOp>(op->getLoc(), type, result);
    }
    original.replaceAllUsesWith(replacement);
  }
  op->erase();
}

struct QuantFallbackPass : tpuc::quant::impl::QuantFallbackBase<QuantFallbackPass> {
  void runOnOperation() override {
    llvm::SmallVector<Operation *> ops;
    getOperation()->walk([&](QuantizableOpInterface op) {
      const bool quantized = llvm::any_of(op->getOperandTypes(), isUniform) ||
                             llvm::any_of(op->getResultTypes(), isUniform);
      if (quantized && !op.hasIntegerForm())
        ops.push_back(op);
    });
    llvm::for_each(ops, computeOnFloats);
  }
};

struct VerifyQuantLoweredPass : tpuc::quant::impl::VerifyQuantLoweredBase<VerifyQuantLoweredPass> {
  void runOnOperation() override {
    Type found;
    AttrTypeWalker finder;
    finder.addWalk([&](UniformType type) {
      found = type;
      return WalkResult::interrupt();
    });
    auto mentionsUniform = [&](Operation *op) {
      auto inTypes = [&](TypeRange types) {
        return llvm::any_of(types, [&](Type type) { return finder.walk(type).wasInterrupted(); });
      };
      if (inTypes(op->getOperandTypes()) || inTypes(op->getResultTypes()) ||
          finder.walk(op->getAttrDictionary()).wasInterrupted())
        return true;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (inTypes(block.getArgumentTypes()))
            return true;
      return false;
    };
    // A cast is left because of the op on its other side: that one is reported, if there is any.
    llvm::SmallVector<std::pair<Operation *, Type>> casts;
    bool failed = false;
    auto report = [&](Operation *op, Type type) {
      op->emitOpError("still has the type ")
          << type << "; expected an integer form of it, or the fallback to floats";
      failed = true;
    };
    getOperation()->walk([&](Operation *op) {
      if (!mentionsUniform(op))
        return;
      if (isa<StorageCastOp>(op))
        casts.emplace_back(op, found);
      else
        report(op, found);
    });
    if (!failed)
      for (auto [op, type] : casts)
        report(op, type);
    if (failed)
      signalPassFailure();
  }
};

} // namespace

void tpuc::quant::buildQuantWorkflow(OpPassManager &manager, const QuantWorkflowOptions &options,
                                     llvm::function_ref<void(OpPassManager &)> convertOps) {
  if (options.fallback)
    manager.addPass(createQuantFallback());
  if (convertOps)
    convertOps(manager);
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLowerQuantOps({options.saturate}));
  manager.addPass(createStripFuncQuantTypes());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createVerifyQuantLowered());
}

void tpuc::quant::registerQuantTransforms() {
  registerQuantPasses();
  PassPipelineRegistration<QuantWorkflowOptions>(
      "quant-workflow", "From ops on quantized values to a module without quantized types",
      [](OpPassManager &manager, const QuantWorkflowOptions &options) {
        buildQuantWorkflow(manager, options);
      });
}
