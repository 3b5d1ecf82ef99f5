//===- Main.cpp - Turns a trained network into a Top module ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/PreprocessArguments.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Driver/ModelTransform.h"
#include "tpuc/Frontend/Formats.h"
#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Transforms/Passes.h"

#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

using namespace tpuc;

namespace {

constexpr std::string_view kToolName = "model_transform";

std::string bytesText(int64_t bytes) { return fmt::format("{:.1f} MB", double(bytes) / 1e6); }

void print(const ModelTransformOptions &options, const ModelTransformSummary &summary) {
  const bool isCounted = summary.flops < std::numeric_limits<int64_t>::max();
  std::string flops = isCounted ? fmt::format("{:.3f} GFLOPs", double(summary.flops) / 1e9)
                                : "more operations than 63 bits count";
  fmt::print("{}: {}, {}, {} of weights\n", options.mlir, counted(summary.numOps, "op"),
             summary.hasOpenShapes ? "open shapes" : flops, bytesText(summary.weightBytes));
  if (!summary.report)
    return;
  const ComparisonReport &report = *summary.report;
  if (!summary.note.empty())
    reportNote(kToolName, summary.note + "; compared with " + summary.reference + " instead");
  if (const ComparisonReport::Entry *worst = report.worst())
    fmt::print("compared with {}: {}, {} below tolerance; least alike '{}', cosine {}, euclid {}\n",
               summary.reference, counted(std::ssize(report.entries()), "tensor"),
               report.numFailed(), worst->name, similarityText(worst->comparison.cosine),
               similarityText(worst->comparison.euclid));
}

/// Options of other compilers.
void declareOthers(CommandLine &cli) {
  const std::string open =
      "dimensions that neither the network nor --input_shapes states stay open";
  cli.unavailable("--dynamic", false, open);
  cli.unavailable("--dynamic_shape_input_names", true, open);
  cli.unavailable("--not_inference", false, "without --test_input nothing is run");
  cli.unavailable("--onnx_sim", true, "--disable_patterns leaves optimizations out");
  for (const char *name :
       {"--model_extern", "--preprocess_list", "--yuv_type", "--shape_influencing_input_names",
        "--op_custom_shape", "--path_yaml", "--patterns_count", "--replace_topk_indices"})
    cli.unavailable(name, true);
  cli.unavailable("--enable_maskrcnn", false);
  cli.withoutEffect("--cache_skip", false, "each run compares anew");
  cli.withoutEffect("--debug", false, "there are no intermediate files to keep");
  cli.withoutEffect("--dump_final_opt", true, "the module is the optimized network");
}

Expected<int> transform(std::span<const std::string> arguments) {
  ModelTransformOptions options;
  PreprocessArguments preprocess;
  std::string json;
  int numThreads = 0;
  int64_t maxPixels = kMaxPixels;
  CommandLine cli(std::string(kToolName), "Turns a trained network into a Top module.");
  cli.option("--model_def", options.modelDef, "The network: " + knownFormats() + ".")
      .label("FILE")
      .required();
  cli.option("--model_data", options.modelData,
             "The weights of a network whose format has them apart, such as a .caffemodel file.")
      .label("FILE");
  cli.option("--mlir", options.mlir,
             "The module to write; the other files, named after the model, come beside it.")
      .label("FILE.mlir")
      .required();
  cli.option("--model_name", options.modelName, "What the files are named after.")
      .shownDefault("the name of the file");
  cli.option("--input_shapes", options.inputShapes,
             "A shape for each input, such as [[1,3,224,224],[10]].")
      .shownDefault("as in the network");
  cli.option("--input_types", options.inputTypes,
             "An element type for each input, such as float32,int64.")
      .shownDefault("as in the network");
  cli.option("--output_names", options.outputNames,
             "The tensors at which the network is cut; they become its outputs.")
      .shownDefault("its own");
  cli.option("--custom_shapes", options.customShapes,
             "The shapes of tensors that operators of yours make, such as Python layers of Caffe.");
  cli.flag(
      "--hybrid", options.hybrid,
      "Beside weights of 8-bit integers (dynamic range), round floats to 8 bits at run time, as "
      "LiteRT's hybrid kernels do, in place of widening the weights.");
  preprocess.declare(cli);
  const std::string boxes = "Boxes";
  cli.option("--add_postprocess", options.addPostprocess,
             "Have the network give the objects that its heads see, as this detector means them: "
             "[1,1,keep,7] with picture, class, score, centre x, centre y, width, height.")
      .choices(detectorNames())
      .group(boxes);
  cli.option(
         "--postprocess_options", options.postprocessOptions,
         "What is known of these heads, as JSON or key=value,key=value: score_threshold (0.25), "
         "nms_threshold (0.45), keep (200), top_k, agnostic, multi_label, classes, num_classes, "
         "anchors, picture and letterbox for boxes in pixels of the picture, and others.")
      .label("OPTIONS")
      .group(boxes);
  const std::string validation = "Validation";
  cli.option("--test_input", options.testInput,
             "Run the network on this: an .npz with an array for each input, or for each input a "
             "picture or an .npy file. Without it, there is no validation.")
      .group(validation);
  cli.option("--test_result", options.testResult, "Where every tensor goes that was computed.")
      .label("FILE.npz")
      .shownDefault("NAME_top_outputs.npz")
      .group(validation);
  cli.option("--test_reference", options.testReference,
             "What the tensors should be. Without it the runtime of the network's format computes "
             "that, where python3 has it, else the network before optimization.")
      .label("FILE.npz")
      .group(validation);
  cli.option("--python", options.python,
             "The Python that is asked for that runtime, such as ONNX Runtime or OpenCV.")
      .label("FILE")
      .shownDefault("python3 on the path, or .venv of the source tree")
      .group(validation);
  cli.option("--tolerance", options.validation.tolerance,
             "The least cosine and euclidean similarity of a tensor.")
      .group(validation);
  cli.option("--excepts", options.validation.excepts, "Tensors that are not compared.")
      .group(validation);
  cli.option("--disable_patterns", options.disabledPatterns, "Optimizations to leave out.")
      .choices(fusionNames());
  cli.maxPixels(maxPixels).group(validation);
  cli.json(json);
  cli.numThreads(numThreads);
  declareOthers(cli);
  cli.action([&]() -> Expected<int> {
    limitPictures(maxPixels);
    options.preprocess = preprocess.read();
    options.report = json;
    options.validation.numThreads = static_cast<unsigned>(numThreads);
    Expected<ModelTransformSummary> summary = transformModel(options);
    if (!summary)
      return propagate(summary);
    for (const std::string &note : summary->modelNotes)
      reportNote(kToolName, note);
    if (!summary->inputNote.empty())
      reportNote(kToolName, summary->inputNote);
    if (!summary->headsNote.empty())
      reportNote(kToolName, summary->headsNote);
    if (json != "-")
      print(options, *summary);
    if (!json.empty())
      if (auto written = writeFileOrStdout(json, summary->toJson().dump(2) + "\n"); !written)
        return propagate(written);
    if (!summary->report || summary->report->passes())
      return 0;
    return makeError(options.mlir, summary->report->failureMessage());
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, transform); }
