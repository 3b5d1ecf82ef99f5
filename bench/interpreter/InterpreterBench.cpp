//===- InterpreterBench.cpp - tpuc's side of the comparison with ONNX Runtime ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports a model, makes an interpreter of it and answers commands on the standard input, one line
// each; compare.py gives the same commands to ONNX Runtime.
//   run          one inference: "ms TIME"
//   save FILE    the outputs of the last one, as "0", "1", ... of an npz: "saved"
//   memory       the most that lay in memory above the idle process: "kb NUMBER"
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxImport.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <iostream>

using namespace tpuc;

namespace {

struct Request {
  std::string model;
  std::string inputs;
  unsigned numThreads = 1;
  int profileRuns = 0;
};

/// The number behind `key` in /proc/self/status, in KiB.
int64_t statusOf(const std::string &key) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (int64_t value = 0; word == key && file >> value)
      return value;
  return 0;
}

/// From here on the peak counts anew.
int64_t resetPeak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return statusOf("VmRSS:");
}

Expected<std::vector<Tensor>> readInputs(const std::string &path) {
  auto reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  std::vector<Tensor> tensors;
  for (const std::string &name : reader->names()) {
    auto tensor = reader->read(name);
    if (!tensor)
      return propagate(tensor);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// The model as `tpuc` runs it: imported, and fused.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
load(mlir::MLIRContext &context, const std::string &path, std::span<const Tensor> inputs) {
  onnx::OnnxImportOptions options;
  options.path = path;
  for (const Tensor &input : inputs)
    options.inputShapes.push_back(input.shape().vec());
  auto module = onnx::importOnnx(context, options);
  if (!module)
    return propagate(module);
  mlir::PassManager manager(&context);
  manager.addPass(createShapeInfer());
  manager.addPass(createTopFuse());
  manager.addPass(createExtraOptimize());
  if (mlir::failed(manager.run(**module)))
    return makeError(path, "a pass failed");
  return module;
}

Expected<void> save(const Interpreter &interpreter, const TensorMap &outputs,
                    const std::string &path) {
  auto writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  size_t number = 0;
  for (const TensorInfo &info : interpreter.outputs())
    if (auto added = writer->add(std::to_string(number++), outputs.at(info.name)); !added)
      return added;
  return writer->close();
}

/// Prints how long each step took, the mean over `runs` runs, and what the ops took together.
Expected<void> profile(mlir::ModuleOp module, const Request &request,
                       std::span<const Tensor> inputs) {
  struct Line {
    std::string name, op;
    double milliseconds = 0;
  };
  std::vector<Line> lines;
  size_t next = 0;
  InterpreterOptions options;
  options.numThreads = request.numThreads;
  options.timer = [&](const std::string &name, const std::string &op, double milliseconds) {
    if (next == lines.size())
      lines.push_back({name, op});
    lines[next++].milliseconds += milliseconds / request.profileRuns;
  };
  auto interpreter = Interpreter::create(module, options);
  if (!interpreter)
    return propagate(interpreter);
  for (int run = -1; run < request.profileRuns; ++run) {
    next = 0;
    if (run == 0)
      lines.clear();
    if (auto results = (*interpreter)->run(inputs); !results)
      return propagate(results);
  }
  std::map<std::string, double> sums;
  for (const Line &line : lines) {
    fmt::print("{:9.4f}  {:16} {}\n", line.milliseconds, line.op, line.name);
    sums[line.op] += line.milliseconds;
  }
  for (const auto &[op, milliseconds] : sums)
    fmt::print("{:9.4f}  all {}\n", milliseconds, op);
  return {};
}

Expected<void> serve(const Request &request) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerEvaluators(context);
  const int64_t idle = resetPeak();
  auto inputs = readInputs(request.inputs);
  if (!inputs)
    return propagate(inputs);
  auto module = load(context, request.model, *inputs);
  if (!module)
    return propagate(module);
  if (request.profileRuns > 0)
    return profile(**module, request, *inputs);
  auto interpreter = Interpreter::create(
      **module,
      {.numThreads = request.numThreads, .keepAll = false, .probe = nullptr, .timer = nullptr});
  if (!interpreter)
    return propagate(interpreter);
  TensorMap outputs;
  for (std::string command; std::cin >> command;) {
    if (command == "run") {
      outputs.clear();
      const auto start = std::chrono::steady_clock::now();
      auto result = (*interpreter)->run(*inputs);
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      if (!result)
        return propagate(result);
      outputs = std::move(*result);
      fmt::print("ms {:.6f}\n", time.count());
    } else if (std::string path; command == "save" && std::cin >> path) {
      if (auto saved = save(**interpreter, outputs, path); !saved)
        return saved;
      fmt::print("saved\n");
    } else if (command == "memory") {
      fmt::print("kb {}\n", statusOf("VmHWM:") - idle);
    } else {
      return makeError("command", "'" + command + "'", "run, save FILE or memory");
    }
    std::fflush(stdout);
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  Request request;
  CLI::App app("Runs a model as often as it is told to; see compare.py.");
  app.add_option("model", request.model, "the .onnx file")->required();
  app.add_option("inputs", request.inputs, "an npz with one tensor per input")->required();
  app.add_option("--threads", request.numThreads, "threads in all");
  app.add_option("--profile", request.profileRuns, "print the time of each step over so many runs");
  CLI11_PARSE(app, argc, argv);
  if (Expected<void> done = serve(request); !done) {
    fmt::print("error: {}\n", done.error().message());
    return 1;
  }
  return 0;
}
