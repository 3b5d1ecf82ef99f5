//===- ModulePlugin.cpp - Runs modules and models on the interpreter ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_runner/ModelBackend.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Transforms/Passes.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::modelrunner;

namespace {

class ModuleRun {
public:
  ModuleRun(const Request &request, NetworkKind kind) : request(request), kind(kind) {}
  Expected<void> run();

private:
  Expected<void> checkRequest() const;
  Expected<void> load();
  Expected<void> loadSource();
  Expected<NamedTensors> readSampleAs(const Sample &sample, bool expressed);
  Expected<void> readInputs(const Sample &sample);
  Expected<void> makeInterpreter();
  Expected<void> runOnce(const Sample &sample);
  Expected<void> runSamples();
  Expected<void> runTimed();

  const Request &request;
  NetworkKind kind;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TensorMap inputs;
  std::string note;
  std::unique_ptr<Interpreter> interpreter;
};

Expected<void> ModuleRun::checkRequest() const {
  const bool isSource = kind == NetworkKind::Source;
  const std::pair<const char *, bool> ofModelFiles[] = {
      {"--net", !request.net.empty()},
      {"--out_fixed", request.outFixed && isSource},
      {"--profile", request.profile},
      {"--profile_host", request.profileHost},
      {"--trace", !request.trace.empty()}};
  for (auto [option, given] : ofModelFiles)
    if (given)
      return makeError(option, "is of no use for " + request.model, "a model file of a chip");
  return {};
}

Expected<void> ModuleRun::loadSource() {
  Expected<const Frontend *> frontend = frontendOfContents(request.model);
  if (!frontend)
    return propagate(frontend);
  if (Expected<void> checked = checkWeights((*frontend)->format(), "--weight", request.weights);
      !checked)
    return checked;
  if (Expected<void> checked = checkHybrid((*frontend)->format(), request.hybrid); !checked)
    return checked;
  Expected<std::unique_ptr<SourceModel>> model =
      (*frontend)->open({request.model, request.weights});
  if (!model)
    return propagate(model);
  ImportOptions options;
  options.hybrid = request.hybrid;
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> imported = (*model)->import(*context, options);
  if (!imported)
    return propagate(imported);
  module = std::move(*imported);
  if (auto checked = checkFiles(request, (*model)->otherFiles()); !checked)
    return checked;
  // Where every tensor is asked for, none may be fused away.
  if (request.dumpAllTensors)
    return {};
  return runPasses(*module, [](mlir::OpPassManager &manager) { addTopOptimization(manager); });
}

Expected<void> ModuleRun::load() {
  if (kind == NetworkKind::Source)
    return loadSource();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> read =
      readModule(*context, request.model, request.allowOutside);
  if (!read)
    return propagate(read);
  module = std::move(*read);
  const std::string weights[] = {weightFileOf(*module, request.model)};
  return checkFiles(request, weights);
}

Expected<NamedTensors> ModuleRun::readSampleAs(const Sample &sample, bool expressed) {
  Expected<std::vector<InputSpec>> specs = networkInputs(*module, expressed);
  if (!specs)
    return propagate(specs);
  if (Expected<void> taken = takePictures(request.preprocess, *specs); !taken)
    return propagate(taken);
  return readSample(sample.files, *specs, &note);
}

Expected<void> ModuleRun::readInputs(const Sample &sample) {
  limitPictures(request.maxPixels);
  note.clear();
  Expected<NamedTensors> tensors = readSampleAs(sample, /*expressed=*/true);
  // Quantized inputs may also be given as the integers that are stored.
  if (!tensors)
    if (Expected<NamedTensors> stored = readSampleAs(sample, /*expressed=*/false); stored)
      tensors = std::move(stored);
  if (!tensors)
    return propagate(tensors);
  if (!note.empty())
    reportNote(kToolName, note);
  inputs = TensorMap(tensors->begin(), tensors->end());
  return {};
}

Expected<void> ModuleRun::makeInterpreter() {
  InterpreterOptions options;
  options.numThreads = static_cast<unsigned>(request.numThreads);
  options.keepAll = request.dumpAllTensors;
  options.expressed = !request.outFixed;
  Expected<std::unique_ptr<Interpreter>> made = Interpreter::create(*module, options);
  if (!made)
    return propagate(made);
  interpreter = std::move(*made);
  return {};
}

Expected<void> ModuleRun::runOnce(const Sample &sample) {
  Expected<NpzWriter> writer = NpzWriter::create(sample.output);
  if (!writer)
    return propagate(writer);
  Expected<TensorMap> results = interpreter->run(inputs);
  if (!results)
    return propagate(results);
  // The outputs in their order, then what else there is.
  for (const TensorInfo &info : interpreter->outputs())
    if (auto found = results->find(info.name); found != results->end()) {
      if (auto added = writer->add(info.name, found->second); !added)
        return added;
      results->erase(found);
    }
  for (const auto &[name, tensor] : *results)
    if (auto added = writer->add(name, tensor); !added)
      return added;
  return writer->close();
}

Expected<void> ModuleRun::runSamples() {
  for (const Sample &sample : request.samples) {
    if (auto read = readInputs(sample); !read)
      return read;
    if (!interpreter)
      if (auto made = makeInterpreter(); !made)
        return made;
    if (auto done = runOnce(sample); !done)
      return done;
  }
  return {};
}

Expected<void> ModuleRun::runTimed() {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int run = 0; run < request.timedRuns; ++run) {
    Clock::time_point start = Clock::now();
    if (Expected<TensorMap> results = interpreter->run(inputs); !results)
      return propagate(results);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  if (times.empty())
    return {};
  std::ranges::sort(times);
  double median = times[times.size() / 2];
  if (request.json != "-")
    fmt::print("{}: {:.3f} ms per inference (median of {}, least {:.3f}), {} threads\n",
               request.model, median, times.size(), times.front(), request.numThreads);
  if (request.json.empty())
    return {};
  nlohmann::ordered_json json = {{"model", request.model},
                                 {"runs", times.size()},
                                 {"median_ms", median},
                                 {"least_ms", times.front()},
                                 {"threads", request.numThreads}};
  return writeFileOrStdout(request.json, json.dump(2) + "\n");
}

Expected<void> ModuleRun::run() {
  Expected<void> (ModuleRun::*const steps[])() = {&ModuleRun::load, &ModuleRun::runSamples,
                                                  &ModuleRun::runTimed};
  if (auto checked = checkRequest(); !checked)
    return checked;
  for (auto step : steps)
    if (auto done = (this->*step)(); !done)
      return done;
  return {};
}

} // namespace

extern "C" [[gnu::visibility("default")]] void
tpucRunModule(const Request &request, NetworkKind kind, Expected<void> &result) {
  result = ModuleRun(request, kind).run();
}
