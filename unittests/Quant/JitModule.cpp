//===- JitModule.cpp - A lowered module, compiled and callable ---------------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Quant/JitModule.h"

#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Support/SimdLevel.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/ShapeToStandard/ShapeToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/RequestCWrappers.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Shape/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Shape/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <bit>
#include <cstdlib>

using namespace mlir;

namespace tpuc::test {

namespace {

void registerDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, func::FuncDialect, quant::QuantDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  shape::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void buildPipeline(PassManager &manager, bool saturate) {
  manager.addPass(quant::createLowerQuantOps({saturate}));
  manager.addPass(quant::createStripFuncQuantTypes());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(quant::createVerifyQuantLowered());
  manager.addNestedPass<func::FuncOp>(createShapeToShapeLowering());
  manager.addPass(createConvertShapeToStandardPass());
  manager.addPass(createConvertElementwiseToLinalgPass());
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createConvertSCFToCFPass());
  manager.addNestedPass<func::FuncOp>(arith::createArithExpandOpsPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addNestedPass<func::FuncOp>(LLVM::createRequestCWrappersPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

} // namespace

namespace {

// What compiled code calls on processors without such instructions. The libraries of the system
// have only some of them. Every function rounds once. A call of std::bit_cast, without optimization
// and with address sanitizer, converts its result with the very functions that are defined here.
__bf16 f32ToBrain(float value) { return __builtin_bit_cast(__bf16, f32ToBF16(value)); }
__bf16 f64ToBrain(double value) {
  return __builtin_bit_cast(__bf16, encodeFloat<DataType::BF16>(value));
}
_Float16 f32ToHalf(float value) { return __builtin_bit_cast(_Float16, f32ToF16(value)); }
_Float16 f64ToHalf(double value) {
  return __builtin_bit_cast(_Float16, encodeFloat<DataType::F16>(value));
}
float halfToF32(_Float16 value) { return f16ToF32(__builtin_bit_cast(uint16_t, value)); }

llvm::orc::SymbolMap conversionSymbols(llvm::orc::MangleAndInterner intern) {
  llvm::orc::SymbolMap symbols;
  const auto add = [&](llvm::StringRef name, auto *function) {
    symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                             llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("__truncsfbf2", f32ToBrain);
  add("__truncdfbf2", f64ToBrain);
  add("__truncsfhf2", f32ToHalf);
  add("__truncdfhf2", f64ToHalf);
  add("__extendhfsf2", halfToF32);
  return symbols;
}

/// Code for this processor, or for the lower level that bestSimdLevel says.
std::unique_ptr<llvm::TargetMachine> targetMachine() {
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) {
    llvm::consumeError(host.takeError());
    return nullptr;
  }
  const SimdLevel level = bestSimdLevel();
  if (level != processorSimdLevel()) {
    host->setCPU(level >= SimdLevel::Avx512 ? "x86-64-v4"
                 : level == SimdLevel::Avx2 ? "x86-64-v3"
                                            : "x86-64");
    host->getFeatures() = llvm::SubtargetFeatures();
  }
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto machine = host->createTargetMachine();
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return nullptr;
  }
  return std::move(*machine);
}

} // namespace

std::unique_ptr<JitModule> JitModule::compile(llvm::StringRef source, bool saturate) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();

  auto result = std::make_unique<JitModule>();
  DialectRegistry registry;
  registerDialects(registry);
  result->context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  result->context->loadAllAvailableDialects();
  result->module = parseSourceString<ModuleOp>(source, result->context.get());
  if (!result->module)
    return nullptr;
  PassManager manager(result->context.get());
  buildPipeline(manager, saturate);
  if (failed(manager.run(*result->module)))
    return nullptr;
  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::None;
  auto engine = ExecutionEngine::create(*result->module, options, targetMachine());
  if (!engine) {
    llvm::errs() << llvm::toString(engine.takeError()) << "\n";
    return nullptr;
  }
  (*engine)->registerSymbols(conversionSymbols);
  result->engine = std::move(*engine);
  return result;
}

std::vector<uint8_t> JitModule::call(llvm::StringRef function, std::vector<uint8_t> input,
                                     size_t numElements, size_t resultElementBytes) {
  // The element type does not matter to the descriptors; the buffer is this call's own, because
  // element-wise ops may write their result into their operand.
  const auto size = static_cast<int64_t>(numElements);
  StridedMemRefType<uint8_t, 1> argument{input.data(), input.data(), 0, {size}, {1}};
  StridedMemRefType<uint8_t, 1> output{};
  StridedMemRefType<uint8_t, 1> *argumentPointer = &argument;
  StridedMemRefType<uint8_t, 1> *outputPointer = &output;
  const std::string name = ("_mlir_ciface_" + function).str();
  void *arguments[] = {&outputPointer, &argumentPointer};
  if (llvm::Error error = engine->invokePacked(name, arguments)) {
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
    return {};
  }
  if (output.sizes[0] != size)
    return {};
  std::vector<uint8_t> bytes(output.data + output.offset * resultElementBytes,
                             output.data + (output.offset + size) * resultElementBytes);
  if (output.basePtr != input.data())
    std::free(output.basePtr);
  return bytes;
}

} // namespace tpuc::test
