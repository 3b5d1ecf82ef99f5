//===- QuantBench.cpp - Time per op of the quant dialect's passes ------------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Modules of 1,000, 10,000 and 100,000 ops (with --smoke: 100, 200 and 400): functions of quantized
// arguments and results that call each other, each with a chain of casts and float additions over
// per-layer and per-axis types.
// Prints µs of processor time per op for each step (the best of several runs), and how much more an
// op costs in the larger modules: linear time is a ratio near 1.

#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace mlir;

namespace {

constexpr size_t kOpsPerFunction = 100;

/// A function of about `opsPerFunction` ops: rounds of two dcasts, an addition, a qcast, a call and
/// a pair of scasts.
std::string functionText(size_t number, size_t opsPerFunction) {
  const char *type = number % 2 ? "tensor<4x3x!quant.uniform<i8:f32:1, {0.1, 0.2:3, 0.3}>>"
                                : "tensor<4x3x!quant.uniform<u8<1:250>:f32, 0.5:7>>";
  std::string text = llvm::formatv("func.func @f{0}(%x: {1}, %y: {1}) -> {1} {{\n", number, type);
  std::string previous = "%x";
  size_t value = 0;
  auto define = [&](const std::string &op) {
    text += llvm::formatv("  %v{0} = {1}\n", value, op);
    return "%v" + std::to_string(value++);
  };
  for (size_t ops = 0; ops + 7 <= opsPerFunction; ops += 7) {
    const auto a =
        define(llvm::formatv("quant.dcast {0} : {1} to tensor<4x3xf32>", previous, type));
    const auto b = define(llvm::formatv("quant.dcast %y : {0} to tensor<4x3xf32>", type));
    const auto sum = define(llvm::formatv("arith.addf {0}, {1} : tensor<4x3xf32>", a, b));
    const auto q = define(llvm::formatv("quant.qcast {0} : tensor<4x3xf32> to {1}", sum, type));
    const auto callee = number >= 2 ? number - 2 : number;
    const auto called =
        define(llvm::formatv("call @f{0}({1}, %y) : ({2}, {2}) -> {2}", callee, q, type));
    const auto stored =
        define(llvm::formatv("quant.scast {0} : {1} to tensor<4x3xi8>", called, type));
    previous = define(llvm::formatv("quant.scast {0} : tensor<4x3xi8> to {1}", stored, type));
  }
  return text + llvm::formatv("  return {0} : {1}\n}\n", previous, type).str();
}

std::string moduleText(size_t numOps) {
  std::string text;
  for (size_t i = 0; i < numOps / kOpsPerFunction; ++i)
    text += functionText(i, kOpsPerFunction);
  return text;
}

/// One function with all ops in one block.
std::string blockText(size_t numOps) { return functionText(0, numOps); }

/// Processor time: other programs do not count.
double microseconds(llvm::function_ref<void()> work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) * 1e6 / CLOCKS_PER_SEC;
}

using Times = std::vector<std::pair<std::string, double>>;

/// The time of each step, in µs per op of the input.
Times measureOnce(const std::string &text) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, tpuc::quant::QuantDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Times times;
  OwningOpRef<ModuleOp> module;
  times.emplace_back("parse",
                     microseconds([&] { module = parseSourceString<ModuleOp>(text, &context); }));
  if (!module)
    return {};
  double numOps = 0;
  module->walk([&](Operation *) { ++numOps; });
  const std::pair<std::string, std::function<std::unique_ptr<Pass>()>> steps[] = {
      {"canonicalize", [] { return createCanonicalizerPass(); }},
      {"cse", [] { return createCSEPass(); }},
      {"lower-quant-ops", [] { return tpuc::quant::createLowerQuantOps(); }},
      {"strip-func-quant-types", [] { return tpuc::quant::createStripFuncQuantTypes(); }},
      {"canonicalize again", [] { return createCanonicalizerPass(); }}};
  for (const auto &[name, create] : steps) {
    PassManager manager(&context);
    manager.enableVerifier(false);
    manager.addPass(create());
    bool ok = true;
    times.emplace_back(name, microseconds([&] { ok = succeeded(manager.run(*module)); }));
    if (!ok)
      return {};
  }
  for (auto &[name, time] : times)
    time /= numOps;
  return times;
}

/// The best of `numRuns` runs for each step, and their sum.
Times measure(const std::string &text, size_t numRuns) {
  Times best = measureOnce(text);
  for (size_t run = 1; run < numRuns && !best.empty(); ++run) {
    const Times times = measureOnce(text);
    for (size_t step = 0; step < best.size(); ++step)
      best[step].second = std::min(best[step].second, times[step].second);
  }
  double total = 0;
  for (const auto &[name, time] : best)
    total += time;
  if (!best.empty())
    best.emplace_back("all", total);
  return best;
}

/// How many ops the small, the medium and the large module have.
struct Sizes {
  size_t small, medium, large;
};

/// Prints the table of modules of these sizes.
bool report(const char *title, const Sizes &sizes, llvm::function_ref<std::string(size_t)> textOf) {
  std::map<size_t, Times> results;
  for (size_t numOps : {sizes.small, sizes.medium, sizes.large}) {
    results[numOps] = measure(textOf(numOps), /*numRuns=*/numOps > 10000 ? 3 : 10);
    if (results[numOps].empty())
      return false;
  }
  llvm::outs() << title << "\n"
               << llvm::formatv("{0,-24}{1,10}{2,10}{3,10}{4,16}{5,16}\n", "us per op", sizes.small,
                                sizes.medium, sizes.large, "medium / small", "large / medium");
  for (size_t step = 0; step < results[sizes.small].size(); ++step) {
    const double small = results[sizes.small][step].second;
    const double medium = results[sizes.medium][step].second;
    const double large = results[sizes.large][step].second;
    llvm::outs() << llvm::formatv("{0,-24}{1,10:f2}{2,10:f2}{3,10:f2}{4,16:f2}{5,16:f2}\n",
                                  results[sizes.small][step].first, small, medium, large,
                                  medium / small, large / medium);
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  const bool isSmoke = argc == 2 && llvm::StringRef(argv[1]) == "--smoke";
  if (argc > 1 && !isSmoke) {
    llvm::errs() << "usage: quant [--smoke]\n";
    return 2;
  }
  const Sizes sizes = isSmoke ? Sizes{100, 200, 400} : Sizes{1000, 10000, 100000};
  const bool ok = report("Functions of 100 ops that call each other", sizes, moduleText) &&
                  report("One function, one block", sizes, blockText);
  if (!ok)
    llvm::errs() << "bench/quant: a module does not parse or a pass fails\n";
  return ok ? 0 : 1;
}
