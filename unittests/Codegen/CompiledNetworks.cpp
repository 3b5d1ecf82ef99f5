//===- CompiledNetworks.cpp -----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Codegen/CompiledNetworks.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Driver/ModelFileCheck.h"
#include "tpuc/Driver/RoundingNoise.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Support/Compare.h"
#include "tpuc/Target/Null/Codegen/NullRun.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <cmath>

namespace tpuc::codegen {

static std::vector<std::string> chipsWithBackend(bool hasF32) {
  std::vector<std::string> chips;
  for (const TargetInfo *target : knownTargets())
    if (hasScheme(*target, schemes::kF32) == hasF32 && backendOf(*target))
      chips.emplace_back(target->name);
  return chips;
}

std::vector<std::string> compiledChips() { return chipsWithBackend(true); }
std::vector<std::string> compiledChipsWithoutF32() { return chipsWithBackend(false); }

std::vector<Mode> compiledModes(const std::string &chip) {
  std::vector<Mode> modes;
  const SchemeSet schemes = backendOf(**lookupTarget(chip))->schemes();
  for (const Mode &mode : kModes)
    if (schemes.contains(mode.scheme))
      modes.push_back(mode);
  return modes;
}

CompiledNetworks::CompiledNetworks() : context(mlir::MLIRContext::Threading::DISABLED) {
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect, quant::QuantDialect,
                      tpu::TpuDialect>();
  registerEvaluators(context);
}

/// Gives every tensor its shape and the range that it has, if that is finite.
void CompiledNetworks::calibrate(mlir::ModuleOp module, const TensorMap &inputs) {
  auto interpreter = Interpreter::create(module, {.numThreads = 1, .keepAll = true});
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  Expected<TensorMap> tensors = (*interpreter)->run(inputs);
  ASSERT_TRUE(tensors) << tensors.error().message();
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  for (mlir::Operation &op : main.front().without_terminator()) {
    if (mlir::isa<top::WeightOp, top::NoneOp>(op))
      continue;
    const Tensor &tensor = tensors->at(layerName(&op));
    if (tensor.type() != DataType::F32) {
      op.getResult(0).setType(tensorType(&context, tensor.type(), tensor.shape()));
      continue;
    }
    auto [least, most] = std::ranges::minmax(tensor.data<float>());
    if (!std::isfinite(least) || !std::isfinite(most)) {
      op.getResult(0).setType(tensorType(&context, tensor.type(), tensor.shape()));
      continue;
    }
    const auto element = quant::CalibratedQuantizedType::get(
        mlir::Float32Type::get(&context),
        {1.02 * std::min(least, 0.0F) - 1e-3, 1.02 * std::max(most, 0.0F) + 1e-3});
    op.getResult(0).setType(mlir::RankedTensorType::get(
        {tensor.shape().dims().data(), tensor.shape().rank()}, element));
    if (auto input = mlir::dyn_cast<top::InputOp>(op))
      input.getInput().setType(input.getOutput().getType());
  }
  main.setType(mlir::FunctionType::get(&context, main.front().getArgumentTypes(),
                                       main.front().getTerminator()->getOperandTypes()));
}

void CompiledNetworks::transform(mlir::ModuleOp module,
                                 llvm::function_ref<void(mlir::OpPassManager &)> add) {
  mlir::PassManager passes(&context);
  add(passes);
  ASSERT_TRUE(mlir::succeeded(passes.run(module)));
}

/// Runs the model file that is written for the chip.
void CompiledNetworks::checkFile(mlir::ModuleOp compiled, mlir::ModuleOp lowered,
                                 const Sketch &sketch, const Compilation &compilation) {
  const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = fmt::format("compiled_{}_{}", test->name(), compilation.mode.name);
  std::ranges::replace(name, '/', '_');
  const std::string path = testing::TempDir() + name + ".model";
  Expected<OutputFile> file = writeModelFile(compiled, path);
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE(file->finish());
  Expected<ModelFileReport> report = checkModelFile({.path = file->temporaryPath(),
                                                     .lowered = lowered,
                                                     .inputs = sketch.inputs,
                                                     .numThreads = 1});
  ASSERT_TRUE(report) << report.error().message() << sketch.text();
  ASSERT_TRUE(report->comparison);
  SCOPED_TRACE(sketch.text() + report->comparison->table());
  EXPECT_TRUE(report->comparison->passes());
  for (const ComparisonReport::Entry &entry : report->comparison->entries())
    EXPECT_TRUE(!compilation.isExact || entry.comparison.isEqual);
}

/// Runs the commands themselves, where there is no file. What memory holds before does not matter.
void CompiledNetworks::checkCommands(mlir::ModuleOp compiled, mlir::ModuleOp lowered,
                                     const Sketch &sketch, const Compilation &compilation) {
  // Each op by itself, as the machine computes them.
  auto interpreter = Interpreter::create(lowered, {.numThreads = 1, .keepAll = true});
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  Expected<TensorMap> wanted = (*interpreter)->run(sketch.inputs);
  ASSERT_TRUE(wanted) << wanted.error().message();
  for (const std::byte poison : {std::byte{0xFF}, std::byte{0x55}}) {
    Expected<TensorMap> outputs = Null::runCompiled(compiled, sketch.inputs, poison);
    ASSERT_TRUE(outputs) << outputs.error().message() << sketch.text();
    ASSERT_EQ(outputs->size(), (*interpreter)->outputs().size());
    for (const auto &[name, tensor] : *outputs) {
      const TensorComparison comparison = compareTensors(tensor, wanted->at(name));
      if (!comparison.isEqual) {
        Expected<RoundingNoise> noise =
            RoundingNoise::measure(lowered, sketch.inputs, {{name, wanted->at(name)}}, 1);
        ASSERT_TRUE(noise) << noise.error().message();
        EXPECT_EQ(comparison.failure(noise->tolerance(name)), "") << sketch.text();
      }
      EXPECT_TRUE(!compilation.isExact || comparison.isEqual)
          << comparison.maxDifferenceText << sketch.text();
    }
  }
}

void CompiledNetworks::check(const Sketch &sketch, const Compilation &compilation) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(sketch.text(), &context);
  ASSERT_TRUE(module) << sketch.text();
  auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
  for (const auto &[name, tensor] : sketch.weights)
    (*store)->set(name, tensor);
  ASSERT_NO_FATAL_FAILURE(calibrate(*module, sketch.inputs));
  const Mode &mode = compilation.mode;
  ASSERT_NO_FATAL_FAILURE(transform(*module, [&](mlir::OpPassManager &passes) {
    // Strict: the layers under test stay in the mode's integers, whatever they would lose in them.
    const bool hasF32 = hasScheme(**lookupTarget(compilation.chip), schemes::kF32);
    addLowering(passes, {.chip = compilation.chip,
                         .scheme = mode.scheme,
                         .strict = true,
                         .quantInput = !hasF32,
                         .quantOutput = !hasF32});
  }));
  mlir::OwningOpRef<mlir::ModuleOp> compiled(module->clone());
  Expected<std::unique_ptr<codegen::Backend>> backend = codegen::backendOf(*compiled);
  ASSERT_TRUE(backend) << backend.error().message();
  ASSERT_NO_FATAL_FAILURE(transform(*compiled, [&](mlir::OpPassManager &passes) {
    codegen::addCodegen(passes, **backend,
                        {.opt = compilation.opt, .without = compilation.without});
  })) << sketch.text();
  // What the host computes would be right, too.
  compiled->walk([&](mlir::Operation *op) {
    EXPECT_TRUE(compilation.needsHost || !op->hasAttr("subnet_reason"))
        << layerName(op) << sketch.text();
  });
  const TargetInfo &target = **lookupTarget(compilation.chip);
  if (target.container.empty())
    checkCommands(*compiled, *module, sketch, compilation);
  else
    checkFile(*compiled, *module, sketch, compilation);
}

} // namespace tpuc::codegen
