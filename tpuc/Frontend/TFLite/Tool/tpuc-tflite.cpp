//===- tpuc-tflite.cpp - The TFLite front end by itself ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// For tests, and for whoever wants to see what the front end alone makes of a network:
//   tpuc-tflite net.tflite          the imported module
//   tpuc-tflite --support-matrix    the page docs/tflite-operators.md
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Frontend/TFLite/TFLiteImport.h"
#include "tpuc/Support/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace tpuc;
using namespace tpuc::tflite;

namespace {

constexpr std::string_view kToolName = "tpuc-tflite";

Expected<void> run(const ImportOptions &options, const std::string &path) {
  Expected<TFLiteModel> model = TFLiteModel::open(path);
  if (!model)
    return propagate(model);
  for (const std::string &note : model->notes())
    reportNote(kToolName, note);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importTFLite(context, *model, options);
  if (!module)
    return propagate(module);
  (*module)->print(llvm::outs(), mlir::OpPrintingFlags().enableDebugInfo());
  return {};
}

Expected<int> importModel(std::span<const std::string> arguments) {
  ImportOptions options;
  std::string path;
  bool matrix = false;
  int numThreads = 1;
  CommandLine cli(std::string(kToolName), "Imports a TFLite model and prints the module.");
  cli.positional("MODEL", path, "The .tflite file.").optional();
  cli.option("--input_shapes", options.inputShapes, "A shape for each input.");
  cli.option("--output_names", options.outputNames, "The tensors at which the network is cut.");
  cli.flag("--support-matrix", matrix, "Print the ops that can be imported, and end.");
  cli.numThreads(numThreads);
  cli.action([&]() -> Expected<int> {
    if (matrix) {
      llvm::outs() << supportMatrix();
      return 0;
    }
    if (path.empty())
      return makeError("MODEL", "is missing", "a .tflite file");
    if (Expected<void> done = run(options, path); !done)
      return propagate(done);
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, importModel); }
