//===- tpuc-onnx.cpp - The ONNX front end by itself ------------------------===//
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

#include "tpuc/Frontend/Onnx/OnnxImport.h"
#include "tpuc/Frontend/Onnx/OnnxWriter.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

Expected<std::vector<std::vector<int64_t>>> parseShapes(const std::string &text) {
  auto wrong =
      makeError("--input_shapes", "'" + text + "' is no list of shapes", "[[1,3,8,8],[2]]");
  std::vector<std::vector<int64_t>> shapes;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return wrong;
  }
  const llvm::json::Array *list = value->getAsArray();
  for (size_t index = 0; list && index < list->size(); ++index) {
    const llvm::json::Array *dims = (*list)[index].getAsArray();
    shapes.emplace_back();
    for (size_t axis = 0; dims && axis < dims->size(); ++axis) {
      std::optional<int64_t> extent = (*dims)[axis].getAsInteger();
      if (!extent)
        return wrong;
      shapes.back().push_back(*extent);
    }
    if (!dims)
      return wrong;
  }
  if (!list)
    return wrong;
  return shapes;
}

Expected<void> run(const OnnxImportOptions &options, const std::string &optimized) {
  Expected<OnnxModel> model = OnnxModel::open(options.path);
  if (!model)
    return propagate(model);
  if (!optimized.empty()) {
    auto files = writeOptimizedOnnx(*model, options.outputNames, optimized, nullptr);
    return files ? commitAll(std::move(*files)) : propagate(files);
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importOnnx(context, *model, options);
  if (!module)
    return propagate(module);
  mlir::OpPrintingFlags flags;
  (*module)->print(llvm::outs(), flags.enableDebugInfo());
  return {};
}

} // namespace

int main(int argc, char **argv) {
  cl::OptionCategory category("tpuc-onnx");
  cl::opt<std::string> path(cl::Positional, cl::desc("model.onnx"), cl::cat(category));
  cl::opt<std::string> shapes("input_shapes", cl::desc("shapes of the inputs"), cl::cat(category));
  cl::list<std::string> types("input_types", cl::CommaSeparated,
                              cl::desc("element types of the inputs"), cl::cat(category));
  cl::list<std::string> outputs("output_names", cl::CommaSeparated,
                                cl::desc("tensors to cut the network at"), cl::cat(category));
  cl::opt<std::string> optimized("opt-onnx", cl::desc("write the model, cut and folded"),
                                 cl::cat(category));
  cl::opt<bool> matrix("support-matrix", cl::desc("print the operators that can be imported"),
                       cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Imports an ONNX model and prints the module\n");
  if (matrix) {
    llvm::outs() << supportMatrix();
    return 0;
  }
  OnnxImportOptions options;
  options.path = path;
  options.inputTypes.assign(types.begin(), types.end());
  options.outputNames.assign(outputs.begin(), outputs.end());
  Expected<void> done = {};
  if (!shapes.empty()) {
    auto parsed = parseShapes(shapes);
    if (parsed)
      options.inputShapes = *parsed;
    else
      done = propagate(parsed);
  }
  if (done)
    done = run(options, optimized);
  if (done)
    return 0;
  llvm::errs() << "error: " << done.error().message() << "\n";
  return 1;
}
