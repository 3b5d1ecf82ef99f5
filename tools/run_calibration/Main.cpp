//===- Main.cpp - Finds thresholds of a network with samples --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Driver/RunCalibration.h"
#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/OutputFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tpuc;

namespace {

constexpr std::string_view kToolName = "run_calibration";
constexpr std::string_view kAuto = "auto";

std::vector<std::string> methodNames() {
  std::vector<std::string> names(kThresholdMethodNames.begin(), kThresholdMethodNames.end());
  names.emplace_back(kAuto);
  return names;
}

/// Options of other compilers.
void declareOthers(CommandLine &cli) {
  const std::string perChip = "the table holds for every chip";
  cli.withoutEffect("--chip,--processor", true, perChip);
  cli.withoutEffect("--debug", false, "there are no intermediate files to keep");
  cli.withoutEffect("--debug_cmd", true, "there is nothing to debug with it");
  cli.withoutEffect("--debug_log", false, "no log is written");
  for (const char *flag : {"--sq", "--we", "--bc", "--smc", "--kurtosis_analysis",
                           "--part_asymmetric", "--fast", "--cluster"})
    cli.unavailable(flag, false);
  for (const char *name :
       {"--inference_num", "--bc_inference_num", "--expected_cos", "--min_layer_cos", "--fp_type",
        "--post_process", "--global_compare_layers", "--transformer", "--quantize_method_list",
        "--benchmark_method", "--part_quantize", "--custom_operator", "--mix_mode", "--pre_qtable"})
    cli.unavailable(name, true);
  const std::string repair = "model_deploy finds the layers that need another precision";
  cli.unavailable("--search", true, repair);
  cli.unavailable("--max_float_layers", true, repair);
  cli.unavailable("--quantize_table", true, repair);
  cli.unavailable("--tune_list", true, "--tune_num takes them from the samples");
}

Expected<int> run(std::span<const std::string> arguments) {
  RunCalibrationOptions options;
  CalibrationOptions &calibration = options.calibration;
  std::string method(kAuto);
  std::string json;
  int numThreads = 0;
  int64_t maxPixels = kMaxPixels;
  CommandLine cli(std::string(kToolName),
                  "Finds the thresholds with which a network is quantized to 8 bits.");
  cli.positional("MLIR", options.mlir, "The network: a Top module.");
  cli.option("--dataset", options.dataset,
             "A folder of samples: pictures, .npy files, or .npz files with an array per input.")
      .label("FOLDER");
  cli.option("--data_list", options.dataList,
             "Instead of a folder: a text file with the files of one sample on each line, with "
             "commas between the files of several inputs.")
      .label("FILE");
  cli.option("--input_num", options.inputNum, "How many samples to use; 0: all.")
      .range(0, 1'000'000'000)
      .lastCounts();
  cli.option("--calibration_table,-o", options.table, "The calibration table to write.")
      .label("FILE")
      .required();
  cli.option("--names", options.names,
             "Name the tensors as this Top module of TPU-MLIR does, for its model_deploy: 122_Conv "
             "instead of 122.")
      .label("FILE.mlir");
  const std::string how = "How thresholds are found";
  cli.option("--cali_method", method,
             "auto: for each tensor the one that disturbs the ops that read it least.")
      .choices(methodNames())
      .alias("use_kl", "kl")
      .alias("use_max", "max")
      .alias("use_mse", "mse")
      .alias("percentile9999", "percentile")
      .alias("use_percentile9999", "percentile")
      .group(how);
  cli.option("--tune_num", calibration.tuneNum,
             "How many samples kl is tuned on, and auto chooses on (half of them with extremes);"
             " 0: kl is not tuned.")
      .range(0, 1'000'000'000)
      .group(how);
  cli.option("--histogram_bin_num", calibration.numBins,
             "Bins of the histograms: a multiple of 128.")
      .range(128, 1 << 20)
      .group(how);
  cli.allowOutside(options.allowOutside);
  cli.maxPixels(maxPixels);
  cli.json(json);
  cli.numThreads(numThreads);
  declareOthers(cli);
  cli.action([&]() -> Expected<int> {
    limitPictures(maxPixels);
    calibration.method = parseThresholdMethod(method);
    options.numThreads = static_cast<unsigned>(numThreads);
    options.report = json;
    Expected<RunCalibrationSummary> summary = runCalibration(options);
    if (!summary)
      return propagate(summary);
    if (!summary->note.empty())
      reportNote(kToolName, summary->note);
    if (json != "-")
      fmt::print("{}: {}, {}\n", options.table, counted(std::ssize(summary->tensors), "tensor"),
                 counted(summary->numSamples, "sample"));
    if (!json.empty())
      if (auto written = writeFileOrStdout(json, summary->toJson().dump(2) + "\n"); !written)
        return propagate(written);
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, run); }
