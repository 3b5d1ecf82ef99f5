//===- tpuc-caffe.cpp - The Caffe front end by itself ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// For tests, and for whoever wants to see what the front end alone makes of a network:
//   tpuc-caffe net.prototxt [net.caffemodel]   the imported module
//   tpuc-caffe --support-matrix                the page docs/caffe-layers.md
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Frontend/Caffe/CaffeImport.h"
#include "tpuc/Support/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace tpuc;
using namespace tpuc::caffe;

namespace {

constexpr std::string_view kToolName = "tpuc-caffe";

Expected<void> run(const ImportOptions &options, const std::string &path,
                   const std::string &weights) {
  Expected<CaffeModel> model = CaffeModel::open(path, weights);
  if (!model)
    return propagate(model);
  for (const std::string &note : model->notes())
    reportNote(kToolName, note);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importCaffe(context, *model, options);
  if (!module)
    return propagate(module);
  (*module)->print(llvm::outs(), mlir::OpPrintingFlags().enableDebugInfo());
  return {};
}

Expected<int> importModel(std::span<const std::string> arguments) {
  ImportOptions options;
  std::string path;
  std::string weights;
  bool matrix = false;
  int numThreads = 1;
  CommandLine cli(std::string(kToolName), "Imports a Caffe network and prints the module.");
  cli.positional("MODEL", path, "The .prototxt file.").optional();
  cli.positional("WEIGHTS", weights, "The .caffemodel file.").optional();
  cli.option("--input_shapes", options.inputShapes, "A shape for each input.");
  cli.option("--custom_shapes", options.customShapes,
             "The shapes of tensors that Python layers make.");
  cli.option("--output_names", options.outputNames, "The tensors at which the network is cut.");
  cli.flag("--support-matrix", matrix, "Print the layers that can be imported, and end.");
  cli.numThreads(numThreads);
  cli.action([&]() -> Expected<int> {
    if (matrix) {
      llvm::outs() << supportMatrix();
      return 0;
    }
    if (path.empty())
      return makeError("MODEL", "is missing", "a .prototxt file");
    if (Expected<void> done = run(options, path, weights); !done)
      return propagate(done);
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, importModel); }
