//===- tpuc-ml-opt.cpp - tpuc-opt with the RFC's ml dialect, for tests --------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantInterfaces.h"
#include "tpuc/Dialect/Quant/QuantOps.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "test/ml/MlDialect.h.inc"
#define GET_OP_CLASSES
#include "test/ml/MlOps.h.inc"

#include "test/ml/MlDialect.cpp.inc"
#define GET_OP_CLASSES
#include "test/ml/MlOps.cpp.inc"

namespace tpuc::test::ml {
#define GEN_PASS_DEF_CONVERTMLTOARITH
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "test/ml/MlPasses.h.inc"
} // namespace tpuc::test::ml

using namespace mlir;
using namespace tpuc::test::ml;
namespace quant = tpuc::quant;

void MlDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "test/ml/MlOps.cpp.inc"
      >();
}

bool AddOp::hasIntegerForm() {
  const Type type = getResult().getType();
  const auto tensor = dyn_cast<RankedTensorType>(type);
  const auto uniform = dyn_cast<quant::UniformQuantizedType>(getElementTypeOrSelf(type));
  return uniform && uniform.getStorage().isSigned && uniform.getStorage().width <= 16 && tensor &&
         tensor.hasStaticShape() && getLhs().getType() == type && getRhs().getType() == type;
}

namespace {

bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// q = clamp(q1 + q2 - zeroPoint), in 32 bits.
Value addIntegers(ImplicitLocOpBuilder &builder, AddOp op) {
  const auto type = cast<RankedTensorType>(op.getResult().getType());
  const auto uniform = cast<quant::UniformQuantizedType>(type.getElementType());
  const Type stored = quant::stripUniformTypes(type);
  const auto wide = RankedTensorType::get(type.getShape(), builder.getI32Type());
  auto constant = [&](int64_t value) {
    return builder.create<arith::ConstantOp>(
        DenseElementsAttr::get(wide, builder.getI32IntegerAttr(static_cast<int32_t>(value))));
  };
  auto widen = [&](Value value) -> Value {
    return builder.create<arith::ExtSIOp>(wide,
                                          builder.create<quant::StorageCastOp>(stored, value));
  };
  Value sum = builder.create<arith::AddIOp>(widen(op.getLhs()), widen(op.getRhs()));
  sum = builder.create<arith::SubIOp>(sum, constant(uniform.getZeroPoint()));
  sum = builder.create<arith::MaxSIOp>(sum, constant(uniform.getStorage().min));
  sum = builder.create<arith::MinSIOp>(sum, constant(uniform.getStorage().max));
  return builder.create<quant::StorageCastOp>(type, builder.create<arith::TruncIOp>(stored, sum));
}

struct ConvertMlToArithPass : tpuc::test::ml::impl::ConvertMlToArithBase<ConvertMlToArithPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      ImplicitLocOpBuilder builder(op->getLoc(), op);
      Value result;
      auto add = dyn_cast<AddOp>(op);
      if (add && add.hasIntegerForm())
        result = addIntegers(builder, add);
      else if (llvm::all_of(op->getOperandTypes(), isFloat) &&
               llvm::all_of(op->getResultTypes(), isFloat))
        result = onFloats(builder, op);
      if (!result)
        return;
      op->replaceAllUsesWith(ValueRange{result});
      op->erase();
    });
  }

  static Value onFloats(ImplicitLocOpBuilder &builder, Operation *op) {
    if (isa<AddOp>(op))
      return builder.create<arith::AddFOp>(op->getOperand(0), op->getOperand(1));
    if (isa<MulOp>(op))
      return builder.create<arith::MulFOp>(op->getOperand(0), op->getOperand(1));
    if (isa<DivOp>(op))
      return builder.create<arith::DivFOp>(op->getOperand(0), op->getOperand(1));
    if (isa<ModOp>(op))
      return builder.create<arith::RemFOp>(op->getOperand(0), op->getOperand(1));
    return {};
  }
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, quant::QuantDialect, MlDialect>();
  registerTransformsPasses();
  quant::registerQuantTransforms();
  registerMlPasses();
  PassPipelineRegistration<quant::QuantWorkflowOptions>(
      "ml-workflow", "--quant-workflow with the conversion of the ml dialect in it",
      [](OpPassManager &manager, const quant::QuantWorkflowOptions &options) {
        quant::buildQuantWorkflow(manager, options, [](OpPassManager &inner) {
          inner.addPass(createConvertMlToArith());
        });
      });
  return failed(MlirOptMain(argc, argv, "tpuc-ml-opt\n", registry));
}
