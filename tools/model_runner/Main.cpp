//===- Main.cpp - Runs model files ----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/PreprocessArguments.h"
#include "tools/common/ToolMain.h"
#include "tools/model_runner/ModelBackend.h"
#include "tools/model_runner/Samples.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Preprocess/Picture.h"

#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::modelrunner;

namespace {

/// What is printed or written about one run, not about a set of them.
Expected<void> checkSingle(const Request &request) {
  const std::pair<const char *, bool> ofOne[] = {{"--time", request.timedRuns > 0},
                                                 {"--profile", request.profile},
                                                 {"--profile_host", request.profileHost},
                                                 {"--trace", !request.trace.empty()},
                                                 {"--json", !request.json.empty()}};
  for (auto [option, given] : ofOne)
    if (given)
      return makeError(option, "is of no use with a folder or list of inputs", "one input");
  return {};
}

/// Runs the model on what `given` says.
Expected<int> runOn(const SampleArguments &given, Request &request) {
  auto samples = given.samples();
  if (!samples)
    return propagate(samples);
  request.samples = std::move(*samples);
  if (given.isSet())
    if (auto checked = checkSingle(request); !checked)
      return propagate(checked);
  if (auto checked = checkFiles(request); !checked)
    return propagate(checked);
  auto backend = chooseBackend(request.model);
  if (!backend)
    return propagate(backend);
  if (!request.weights.empty() && *backend != &sourceBackend())
    return makeError("--weight", "is of no use for " + request.model,
                     "a source model that has its weights apart");
  if (request.hybrid && *backend != &sourceBackend())
    return makeError("--hybrid", "is of no use for " + request.model,
                     "a source model with weights of integers beside floats");
  if (given.isSet())
    if (auto made = makeOutputFolder(request.samples); !made)
      return propagate(made);
  if (auto ok = (*backend)->run(request); !ok)
    return propagate(ok);
  return 0;
}

Expected<int> runTheModel(std::span<const std::string> arguments) {
  Request request;
  SampleArguments given;
  PreprocessArguments preprocess;
  CommandLine cli(std::string(kToolName),
                  "Runs a model on arrays and pictures, and writes its outputs to npz files.");
  cli.option("--model", request.model,
             fmt::format("The model: .mlir of any phase, .onnx, {}.",
                         model::extensions(model::containers())))
      .label("FILE")
      .required();
  cli.option("--weight", request.weights,
             "The weights of a source model that has them apart, such as a .caffemodel file.")
      .label("FILE");
  cli.flag("--hybrid", request.hybrid,
           "Of a source model: beside weights of 8-bit integers, round floats to 8 bits at run "
           "time, as model_transform --hybrid does.");
  cli.option("--input", given.input,
             "An npz file with an array for each input, under its name; or for each input a "
             "picture or an .npy file; or a folder of which each file is one sample. Arrays are "
             "converted to the type that the net stores.");
  cli.option("--data_list", given.dataList,
             "Instead of --input: a text file with the files of one sample on each line, with "
             "commas between the files of several inputs.")
      .label("FILE");
  cli.option("--output", given.output,
             "The npz file to write; for a folder or list of inputs the folder, where each sample "
             "has a file of its name.")
      .label("FILE")
      .shownDefault("_output.npz, or the folder _output");
  cli.option("--net", request.net, "Which net to run, where the file holds several.").label("NAME");
  cli.flag("--dump_all_tensors", request.dumpAllTensors,
           "Write the inner tensors as well, where the file names them.");
  cli.flag("--out_fixed", request.outFixed,
           "Give quantized tensors as the integers that are stored, not as numbers.");
  cli.option("--time", request.timedRuns,
             "Run this many times more and print the time of one inference.")
      .label("COUNT")
      .range(1, 1'000'000)
      .shownDefault("no");
  cli.flag("--profile", request.profile,
           "Print how long the chip takes for each kind of command and each layer, by its timing "
           "model.");
  cli.option("--trace", request.trace,
             "Write the time line of the chip's engines, by its timing model, for chrome://tracing "
             "or ui.perfetto.dev.")
      .label("FILE");
  cli.flag("--profile_host", request.profileHost,
           "Print how long the simulation of each kind of command takes on this machine.");
  preprocess.declare(cli);
  preprocess.declareBytes(cli);
  cli.allowOutside(request.allowOutside);
  cli.maxPixels(request.maxPixels);
  cli.json(request.json);
  cli.numThreads(request.numThreads);
  cli.unavailable("--decrypt_lib", true);
  cli.unavailable("--cuda", false);
  cli.withoutEffect("--debug", false, "there are no intermediate files to keep");
  cli.action([&]() -> Expected<int> {
    limitPictures(request.maxPixels);
    request.preprocess = preprocess.read();
    return runOn(given, request);
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, runTheModel); }
