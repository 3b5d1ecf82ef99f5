//===- FusionsBench.cpp - Networks with each pattern on and off ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bench-fusions model.onnx@1x3x48x320
//
// Runs the network as it was imported, optimized, and optimized without each of the patterns that
// applied, on the same random input. Prints how often each applied, the number of ops, the time and
// the similarity of the outputs with the imported network's. Fails where one is below 0.9999.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxImport.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Compare.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <fmt/format.h>
#include <random>

using namespace tpuc;

namespace {

constexpr double kLeastCosine = 0.9999;
constexpr int kRuns = 5;

struct Outcome {
  TensorMap outputs;
  FusionCounts counts;
  std::map<std::string, int64_t> ops;
  /// Of the best run.
  double milliseconds = 0;
};

/// Uniform in [0, 1) for floats, 0 to 99 for integers; the same for the same index.
Tensor randomTensor(const TensorInfo &info, unsigned seed) {
  Tensor wide(isFloat(info.dataType) ? DataType::F64 : DataType::I64,
              Shape(std::span(info.type.getShape().data(), info.type.getShape().size())));
  std::mt19937 engine(seed);
  for (int64_t index = 0; index < wide.numElements(); ++index) {
    if (isFloat(info.dataType))
      wide.mutableData<double>()[index] = static_cast<double>(engine() % 10007) / 10007;
    else
      wide.mutableData<int64_t>()[index] = static_cast<int64_t>(engine() % 100);
  }
  return convert(wide, info.dataType);
}

Expected<std::vector<Tensor>> makeInputs(const Interpreter &interpreter) {
  std::vector<Tensor> tensors;
  for (const TensorInfo &info : interpreter.inputs()) {
    if (!info.type.hasRank() || !info.type.hasStaticShape())
      return makeError("input '" + info.name + "'", "is dynamic", "MODEL@SHAPE,...");
    tensors.push_back(randomTensor(info, static_cast<unsigned>(tensors.size())));
  }
  return tensors;
}

/// Imports and runs the model; optimized without `disabled` unless that is none.
Expected<Outcome> run(const onnx::OnnxImportOptions &options,
                      const std::optional<std::vector<std::string>> &disabled) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
  registerEvaluators(context);
  auto module = onnx::importOnnx(context, options);
  if (!module)
    return propagate(module);
  Outcome outcome;
  if (disabled) {
    mlir::PassManager manager(&context);
    addTopOptimization(manager, *disabled, &outcome.counts);
    if (mlir::failed(manager.run(**module)))
      return makeError(options.path, "a pass fails");
  }
  (*module)->walk([&](mlir::Operation *op) { ++outcome.ops[op->getName().getStringRef().str()]; });
  auto interpreter =
      Interpreter::create(**module, {.numThreads = 1, .keepAll = false, .probe = nullptr});
  if (!interpreter)
    return propagate(interpreter);
  Expected<std::vector<Tensor>> inputs = makeInputs(**interpreter);
  if (!inputs)
    return propagate(inputs);
  outcome.milliseconds = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRuns; ++round) {
    auto start = std::chrono::steady_clock::now();
    auto outputs = (*interpreter)->run(*inputs);
    if (!outputs)
      return propagate(outputs);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    outcome.milliseconds = std::min(outcome.milliseconds, time.count());
    outcome.outputs = std::move(*outputs);
  }
  return outcome;
}

int64_t numLayers(const Outcome &outcome) {
  int64_t total = 0;
  for (const auto &[name, count] : outcome.ops)
    if (name.starts_with("top.") && name != "top.Weight" && name != "top.None")
      total += count;
  return total;
}

/// Prints a line; whether all outputs are similar to those of `reference`.
bool report(const std::string &title, const Outcome &outcome, const Outcome &reference) {
  double cosine = 1;
  double difference = 0;
  bool isComparable = true;
  for (const auto &[name, tensor] : reference.outputs) {
    auto found = outcome.outputs.find(name);
    if (found == outcome.outputs.end()) {
      llvm::outs() << "  output '" << name << "' is gone\n";
      return false;
    }
    TensorComparison result = compareTensors(found->second, tensor);
    isComparable &= result.isComparable() && result.nonFiniteMismatches == 0;
    cosine = std::min(cosine, result.cosine);
    difference = std::max(difference, result.maxDifference);
  }
  llvm::outs() << fmt::format("  {:<32} {:>5} ops {:>10.2f} ms  cos {:.8f}  max |d| {:.2e}\n",
                              title, numLayers(outcome), outcome.milliseconds, cosine, difference);
  return isComparable && cosine >= kLeastCosine;
}

Expected<bool> bench(llvm::StringRef argument) {
  auto [path, shapes] = argument.split('@');
  onnx::OnnxImportOptions options;
  options.path = path.str();
  llvm::SmallVector<llvm::StringRef> texts;
  shapes.split(texts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef text : texts) {
    llvm::SmallVector<llvm::StringRef> extents;
    text.split(extents, 'x');
    options.inputShapes.emplace_back();
    for (llvm::StringRef extent : extents)
      if (extent.getAsInteger(10, options.inputShapes.back().emplace_back()))
        return makeError(argument.str(), "'" + extent.str() + "' is no number");
  }
  Expected<Outcome> imported = run(options, std::nullopt);
  if (!imported)
    return propagate(imported);
  Expected<Outcome> optimized = run(options, std::vector<std::string>());
  if (!optimized)
    return propagate(optimized);
  llvm::outs() << options.path << "\n";
  bool isRight = report("imported", *imported, *imported);
  isRight &= report("optimized", *optimized, *imported);
  for (const auto &[name, count] : optimized->counts) {
    Expected<Outcome> without = run(options, std::vector<std::string>{name});
    if (!without)
      return propagate(without);
    isRight &= report(fmt::format("without {} ({})", name, count), *without, *imported);
  }
  llvm::outs() << "  left:";
  for (const auto &[name, count] : optimized->ops)
    if (llvm::StringRef(name).starts_with("top.") && name != "top.Weight" && name != "top.None")
      llvm::outs() << " " << llvm::StringRef(name).rsplit('.').second << " " << count;
  llvm::outs() << "\n";
  return isRight;
}

} // namespace

int main(int argc, char **argv) {
  bool isRight = true;
  for (int index = 1; index < argc; ++index) {
    Expected<bool> done = bench(argv[index]);
    if (!done)
      llvm::errs() << "bench-fusions: " << done.error().message() << "\n";
    isRight &= done && *done;
  }
  return isRight ? 0 : 1;
}
