//===- tpuc-onnx.cpp - The ONNX front end by itself -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests, and for whoever wants to see what the front end alone makes of a model:
//   tpuc-onnx m.onnx                      the imported module
//   tpuc-onnx --opt-onnx=FILE m.onnx      FILE and FILE.prototxt, cut to the outputs
//   tpuc-onnx --support-matrix            the page docs/onnx-operators.md
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Frontend/Onnx/OnnxImport.h"
#include "tpuc/Frontend/Onnx/OnnxWriter.h"
#include "tpuc/Support/RunFiles.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace tpuc;
using namespace tpuc::onnx;

namespace {

constexpr std::string_view kToolName = "tpuc-onnx";

Expected<void> run(const OnnxImportOptions &options, const std::string &optimized) {
  Expected<OnnxModel> model = OnnxModel::open(options.path);
  if (!model)
    return propagate(model);
  if (!optimized.empty()) {
    auto files =
        writeOptimizedOnnx(*model, options.outputNames, optimized, nullptr, options.inputShapes);
    if (!files)
      return propagate(files);
    RunFiles runFiles;
    runFiles.reads("MODEL", options.path);
    runFiles.reads("MODEL", model->externalFiles());
    for (const OutputFile &file : *files)
      if (Expected<void> checked = runFiles.checkWrites(file.path()); !checked)
        return checked;
    return commitAll(std::move(*files));
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importOnnx(context, *model, options);
  if (!module)
    return propagate(module);
  (*module)->print(llvm::outs(), mlir::OpPrintingFlags().enableDebugInfo());
  return {};
}

Expected<int> importModel(std::span<const std::string> arguments) {
  OnnxImportOptions options;
  std::string optimized;
  bool matrix = false;
  int numThreads = 1;
  CommandLine cli(std::string(kToolName), "Imports an ONNX model and prints the module.");
  cli.positional("MODEL", options.path, "The .onnx file.").optional();
  cli.option("--input_shapes", options.inputShapes, "A shape for each input.");
  cli.option("--input_types", options.inputTypes, "An element type for each input.");
  cli.option("--output_names", options.outputNames, "The tensors at which the network is cut.");
  cli.option("--opt-onnx", optimized, "Write the model, cut to its outputs, instead.")
      .label("FILE");
  cli.flag("--support-matrix", matrix, "Print the operators that can be imported, and end.");
  cli.numThreads(numThreads);
  cli.action([&]() -> Expected<int> {
    if (matrix) {
      llvm::outs() << supportMatrix();
      return 0;
    }
    if (options.path.empty())
      return makeError("MODEL", "is missing", "an .onnx file");
    if (Expected<void> done = run(options, optimized); !done)
      return propagate(done);
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, importModel); }
