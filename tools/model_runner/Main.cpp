//===- Main.cpp - Runs model files ----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tools/model_runner/ModelBackend.h"
#include "tpuc/Model/Container.h"

#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::modelrunner;

namespace {

Expected<int> runTheModel(std::span<const std::string> arguments) {
  Request request;
  CommandLine cli(std::string(kToolName), "Runs a model on the arrays of an npz file.");
  cli.option("--model", request.model,
             fmt::format("The model: .mlir of any phase, .onnx, {}.",
                         model::extensions(model::containers())))
      .label("FILE")
      .required();
  cli.option(
         "--input", request.input,
         "An npz file with an array for each input, under its name; for a module that says how, "
         "also a picture. Arrays are converted to the type that the net stores.")
      .label("FILE")
      .required();
  cli.option("--output", request.output, "The npz file to write.").label("FILE");
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
  cli.allowOutside(request.allowOutside);
  cli.maxPixels(request.maxPixels);
  cli.json(request.json);
  cli.numThreads(request.numThreads);
  cli.unavailable("--weight", true, "it belongs to Caffe models");
  cli.unavailable("--decrypt_lib", true);
  cli.unavailable("--cuda", false);
  cli.withoutEffect("--debug", false, "there are no intermediate files to keep");
  cli.action([&]() -> Expected<int> {
    if (auto checked = checkFiles(request); !checked)
      return tl::unexpected(checked.error());
    const auto backend = chooseBackend(request.model);
    if (!backend)
      return tl::unexpected(backend.error());
    if (auto ok = (*backend)->run(request); !ok)
      return tl::unexpected(ok.error());
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, runTheModel); }
