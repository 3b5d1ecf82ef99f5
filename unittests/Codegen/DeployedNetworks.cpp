//===- DeployedNetworks.cpp - Networks as model_deploy compiles them ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Transforms/Passes.h"
#include "unittests/Codegen/CompiledNetworks.h"
#include "unittests/Support/TempFolder.h"

#include "mlir/Parser/Parser.h"
#include <fstream>

namespace tpuc::codegen {

/// The calibration table of a module with ranges.
static std::string tableOf(mlir::ModuleOp module) {
  std::string table;
  module.walk([&](mlir::Operation *op) {
    for (auto [name, result] : llvm::zip(tensorNames(op), op->getResults()))
      if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(result.getType()))
        if (auto type = mlir::dyn_cast<quant::CalibratedQuantizedType>(tensor.getElementType()))
          table += fmt::format("{} {} {} {}\n", name,
                               std::max(std::abs(type.getMin()), std::abs(type.getMax())),
                               type.getMin(), type.getMax());
  });
  return table;
}

void CompiledNetworks::deploy(const Sketch &sketch, const Compilation &compilation) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(sketch.text(), &context);
  ASSERT_TRUE(module) << sketch.text();
  auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
  for (const auto &[name, tensor] : sketch.weights)
    (*store)->set(name, tensor);
  ASSERT_NO_FATAL_FAILURE(transform(
      *module, [](mlir::OpPassManager &passes) { addTopOptimization(passes, {}, nullptr); }));
  mlir::OwningOpRef<mlir::ModuleOp> ranges(module->clone());
  ASSERT_NO_FATAL_FAILURE(calibrate(*ranges, sketch.inputs));

  const TempFolder folder;
  ModelDeployOptions options;
  options.mlir = folder.path("net.mlir");
  options.model = folder.path("net.model");
  std::ofstream(folder.path("net.cali")) << tableOf(*ranges);
  const mlir::StringAttr weights = mlir::StringAttr::get(&context, "net_weight.npz");
  context.getLoadedDialect<top::TopDialect>()->setWeights(weights.getValue(), *store);
  (*module)->setAttr("module.name", mlir::StringAttr::get(&context, "net"));
  (*module)->setAttr("module.state", mlir::StringAttr::get(&context, "TOP_F32"));
  (*module)->setAttr("module.weight_file", weights);
  Expected<std::vector<OutputFile>> written = writeModule(*module, options.mlir);
  ASSERT_TRUE(written) << written.error().message();
  for (OutputFile &file : *written)
    ASSERT_TRUE(file.commit());
  options.testInput = {folder.path("in.npz")};
  Expected<NpzWriter> npz = NpzWriter::create(options.testInput.front());
  ASSERT_TRUE(npz);
  for (const auto &[name, tensor] : sketch.inputs)
    ASSERT_TRUE(npz->add(name, tensor));
  ASSERT_TRUE(npz->close());
  options.lowering = {.chip = compilation.chip,
                      .scheme = compilation.mode.scheme,
                      .calibrationTable = folder.path("net.cali"),
                      .strict = compilation.isStrict};
  options.numThreads = 1;
  options.codegen.opt = compilation.opt;
  Expected<ModelDeploySummary> summary = deployModel(options);
  ASSERT_TRUE(summary) << summary.error().message() << "\n" << sketch.text();
  ASSERT_TRUE(summary->modelFile) << sketch.text();
  ASSERT_TRUE(summary->modelFile->comparison);
  SCOPED_TRACE(summary->modelFile->comparison->table() + sketch.text());
  EXPECT_TRUE(compilation.decides || summary->modelFile->comparison->passes());
  for (const ComparisonReport::Entry &entry : summary->modelFile->comparison->entries())
    EXPECT_GE(entry.comparison.cosine, 0.999);
}

} // namespace tpuc::codegen
