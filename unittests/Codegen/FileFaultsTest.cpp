//===- FileFaultsTest.cpp - Model files that compute something else -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A file is made of a network with a fault and checked against the network without it.

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Top/WeightStore.h"
#include "tpuc/Driver/ModelFileCheck.h"
#include "unittests/Codegen/CompiledNetworks.h"
#include "unittests/Codegen/Sketch.h"
#include "unittests/Support/TempFolder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fstream>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// What is done to a network after it was lowered, and before it is compiled.
struct Fault {
  const char *name;
  std::function<void(mlir::ModuleOp, top::WeightStore &)> apply;
};

mlir::Operation *layer(mlir::ModuleOp module, llvm::StringRef name) {
  mlir::Operation *found = nullptr;
  module->walk([&](mlir::Operation *op) {
    if (layerName(op) == name && !op->hasTrait<traits::Parameter>())
      found = op;
  });
  return found;
}

/// Changes the bytes of the filter of the layer `name`, whose rows are output channels.
void changeFilter(mlir::ModuleOp module, top::WeightStore &store, llvm::StringRef name,
                  llvm::function_ref<void(std::span<std::byte> bytes, size_t row)> change) {
  auto weight = layer(module, name)->getOperand(1).getDefiningOp<top::WeightOp>();
  Tensor filter = store.read(weight.name())->clone();
  const std::span<std::byte> bytes = filter.mutableBytes();
  change(bytes, bytes.size() / static_cast<size_t>(filter.shape()[0]));
  store.set(weight.name(), std::move(filter));
}

void swapRows(std::span<std::byte> bytes, size_t row) {
  std::swap_ranges(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(row),
                   bytes.begin() + static_cast<ptrdiff_t>(row));
}

const Fault kFaults[] = {
    {"None", [](mlir::ModuleOp, top::WeightStore &) {}},
    {"SwappedChannels",
     [](mlir::ModuleOp module, top::WeightStore &store) {
       changeFilter(module, store, "c2", swapRows);
     }},
    {"SwappedChannelsOfAnOutput",
     [](mlir::ModuleOp module, top::WeightStore &store) {
       changeFilter(module, store, "a", swapRows);
     }},
    {"WrongBias",
     [](mlir::ModuleOp module, top::WeightStore &store) {
       auto weight = layer(module, "c2")->getOperand(2).getDefiningOp<top::WeightOp>();
       Tensor bias = store.read(weight.name())->clone();
       std::ranges::fill(bias.mutableBytes(), std::byte{0});
       store.set(weight.name(), std::move(bias));
     }},
    {"WrongConstant",
     [](mlir::ModuleOp module, top::WeightStore &) {
       mlir::Operation *op = layer(module, "l");
       op->setAttr("alpha", mlir::Builder(op).getF64FloatAttr(0.2));
     }},
    {"LostPart",
     [](mlir::ModuleOp module, top::WeightStore &store) {
       changeFilter(module, store, "b", [](std::span<std::byte> bytes, size_t) {
         std::ranges::fill(bytes, std::byte{0});
       });
     }},
    {"LostChannel",
     [](mlir::ModuleOp module, top::WeightStore &store) {
       changeFilter(module, store, "c1", [](std::span<std::byte> bytes, size_t row) {
         std::ranges::fill(bytes.first(row), std::byte{0});
       });
     }},
};

/// Boxes of large numbers and scores of up to 1 in one output.
Sketch drawDetector() {
  Sketch sketch(1);
  sketch.input("x", {1, 3, 20, 20});
  const std::string padded = "kernel_shape = [3, 3], pads = [1, 1, 1, 1]";
  sketch.op("c1", "Conv", {"x", sketch.weight("w1", {16, 3, 3, 3}), "n"}, padded);
  sketch.op("l", "LeakyRelu", {"c1"}, "alpha = 0.1 : f64");
  sketch.op("c2", "Conv", {"l", sketch.weight("w2", {24, 16, 3, 3}), sketch.weight("b2", {24})},
            padded);
  sketch.op("s", "SiLU", {"c2"});
  sketch.op("a", "Conv", {"s", sketch.weight("wa", {8, 24, 1, 1}), "n"}, "kernel_shape = [1, 1]");
  sketch.op("b", "Conv", {"s", sketch.weight("wb", {6, 24, 1, 1}), "n"}, "kernel_shape = [1, 1]");
  sketch.op("scaled", "MulConst", {"b"}, "const_val = 0.01 : f64");
  sketch.op("g", "Sigmoid", {"scaled"});
  sketch.op("r", "Concat", {"a", "g"}, "axis = 1 : i64");
  return sketch;
}

struct Case {
  const char *name;
  QuantScheme scheme;
  /// Lines of a quantize table.
  const char *table;
};

const Case kCases[] = {
    {"F32", schemes::kF32, ""},
    {"F16", schemes::kF16, ""},
    {"BF16", schemes::kBF16, ""},
    {"INT8", schemes::kInt8, "c1 F16\nl F16\nr F32\ng F32\nscaled F32\n"},
    {"INT8Asymmetric", schemes::kInt8Asymmetric, "l F32\nr F16\ng F16\nscaled F16\n"}};

class FileFaultsTest : public CompiledNetworks,
                       public testing::WithParamInterface<std::tuple<Case, size_t>> {
protected:
  TempFolder folder;
};

TEST_P(FileFaultsTest, AreFound) {
  const auto &[mode, index] = GetParam();
  const Fault &fault = kFaults[index];
  const Sketch sketch = drawDetector();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(sketch.text(), &context);
  ASSERT_TRUE(module);
  auto store = *context.getLoadedDialect<top::TopDialect>()->weights(*module);
  for (const auto &[name, tensor] : sketch.weights)
    store->set(name, tensor);
  ASSERT_NO_FATAL_FAILURE(calibrate(*module, sketch.inputs));
  const std::string table = folder.path("table");
  std::ofstream(table) << mode.table;
  const OutputParts parts = outputParts(*module);
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_NO_FATAL_FAILURE(transform(*module, [&](mlir::OpPassManager &passes) {
    addLowering(passes, {.chip = "bm1684x",
                         .scheme = mode.scheme,
                         .quantizeTable = mode.table[0] == '\0' ? "" : table,
                         .strict = true});
  }));
  std::map<std::string, Tensor> weights;
  module->walk([&](top::WeightOp op) { weights[op.name()] = store->read(op.name())->clone(); });
  mlir::OwningOpRef<mlir::ModuleOp> faulty(module->clone());
  fault.apply(*faulty, *store);
  Expected<std::unique_ptr<Backend>> backend = backendOf(*faulty);
  ASSERT_TRUE(backend) << backend.error().message();
  ASSERT_NO_FATAL_FAILURE(transform(
      *faulty, [&](mlir::OpPassManager &passes) { addCodegen(passes, **backend, {.opt = 1}); }));
  Expected<OutputFile> file = writeModelFile(*faulty, folder.path("faulty.model"));
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE(file->finish());
  for (auto &[name, tensor] : weights)
    store->set(name, tensor);
  Expected<ModelFileReport> report = checkModelFile({.path = file->temporaryPath(),
                                                     .lowered = *module,
                                                     .inputs = sketch.inputs,
                                                     .parts = parts,
                                                     .numThreads = 1});
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_TRUE(report->comparison);
  const ComparisonReport::Entry &entry = report->comparison->entries().front();
  EXPECT_EQ(report->comparison->passes(), index == 0)
      << report->comparison->table() << report->comparison->failureMessage();
  // Without an equal output, the message says what was allowed.
  ASSERT_EQ(report->rounding.has_value(), !entry.comparison.isEqual);
  if (!report->rounding)
    return;
  EXPECT_THAT(report->rounding->sentences().front(), testing::HasSubstr("one rounding of each of"));
  // Another run gives the same figures.
  Expected<ModelFileReport> again = checkModelFile({.path = file->temporaryPath(),
                                                    .lowered = *module,
                                                    .inputs = sketch.inputs,
                                                    .parts = parts,
                                                    .numThreads = 2});
  ASSERT_TRUE(again && again->rounding);
  EXPECT_EQ(again->rounding->outputs[0].allowed, report->rounding->outputs[0].allowed);
}

INSTANTIATE_TEST_SUITE_P(Modes, FileFaultsTest,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Range<size_t>(0, std::size(kFaults))),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  kFaults[std::get<1>(info.param)].name;
                         });

} // namespace
