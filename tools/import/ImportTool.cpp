//===- ImportTool.cpp - A front end by itself, as a program ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/import/ImportTool.h"

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/RunFiles.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace tpuc;

namespace {

/// What the user asked of the program.
struct Request {
  SourceFiles files;
  ImportOptions options;
  /// Where to write the model in its own format; empty: the module is printed instead.
  std::string optimized;
  bool matrix = false;
  int numThreads = 1;
};

/// `The .onnx file.` for `an .onnx file`.
std::string fileHelp(std::string_view description) {
  return "The " + std::string(description.substr(description.find(' ') + 1)) + ".";
}

Expected<void> writeModel(const SourceModel &model, const Request &request) {
  auto files = model.writeOptimized(request.optimized, request.options, nullptr);
  if (!files)
    return propagate(files);
  RunFiles runFiles;
  runFiles.reads("MODEL", request.files.model);
  runFiles.reads("MODEL", model.otherFiles());
  for (const OutputFile &file : *files)
    if (Expected<void> checked = runFiles.checkWrites(file.path()); !checked)
      return checked;
  return commitAll(std::move(*files));
}

Expected<void> importModel(const ImportTool &tool, const Request &request) {
  auto model = tool.frontend.open(request.files);
  if (!model)
    return propagate(model);
  for (const std::string &note : (*model)->notes())
    reportNote(tool.name, note);
  if (!request.optimized.empty())
    return writeModel(**model, request);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = (*model)->import(context, request.options);
  if (!module)
    return propagate(module);
  (*module)->print(llvm::outs(), mlir::OpPrintingFlags().enableDebugInfo());
  return {};
}

void declareOptions(CommandLine &cli, const ImportTool &tool, Request &request) {
  const SourceFormat &format = tool.frontend.format();
  cli.positional("MODEL", request.files.model, fileHelp(format.description)).optional();
  if (!format.weights.empty())
    cli.positional("WEIGHTS", request.files.weights, fileHelp(format.weights)).optional();
  cli.option("--input_shapes", request.options.inputShapes, "A shape for each input.");
  if (tool.takesTypes)
    cli.option("--input_types", request.options.inputTypes, "An element type for each input.");
  if (tool.takesCustomShapes)
    cli.option("--custom_shapes", request.options.customShapes,
               "The shapes of tensors that Python layers make.");
  if (format.hasHybrid)
    cli.flag("--hybrid", request.options.hybrid,
             "Beside weights of 8-bit integers, round floats to 8 bits at run time.");
  cli.option("--output_names", request.options.outputNames,
             "The tensors at which the network is cut.");
  if (!tool.writeOption.empty())
    cli.option(tool.writeOption, request.optimized, "Write the model, cut to its outputs, instead.")
        .label("FILE");
  cli.flag("--support-matrix", request.matrix,
           "Print the " + std::string(tool.kinds) + " that can be imported, and end.");
  cli.numThreads(request.numThreads);
}

} // namespace

int tpuc::runImportTool(int argc, char **argv, const ImportTool &tool) {
  auto body = [&tool](std::span<const std::string> arguments) {
    Request request;
    CommandLine cli(std::string(tool.name), std::string(tool.summary));
    declareOptions(cli, tool, request);
    cli.action([&]() -> Expected<int> {
      if (request.matrix) {
        llvm::outs() << tool.supportMatrix();
        return 0;
      }
      if (request.files.model.empty())
        return makeError("MODEL", "is missing", std::string(tool.frontend.format().description));
      if (Expected<void> done = importModel(tool, request); !done)
        return propagate(done);
      return 0;
    });
    return cli.run(arguments);
  };
  return runTool(argc, argv, tool.name, body);
}
