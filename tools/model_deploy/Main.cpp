//===- Main.cpp - Lowers a Top module to what a chip computes -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Preprocess/Picture.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/PictureFormat.h"
#include "tpuc/Target/SchemeHint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace tpuc;

namespace {

constexpr std::string_view kToolName = "model_deploy";
/// Rows of the table, where not every tensor counts.
constexpr size_t kShownTensors = 10;

std::string figures(const TensorComparison &comparison) {
  return fmt::format("cosine {}, euclid {}", similarityText(comparison.cosine),
                     similarityText(comparison.euclid));
}

void printLowering(const ModelDeploySummary &summary) {
  std::vector<std::string> types;
  for (const auto &[type, count] : summary.storage)
    types.push_back(fmt::format("{} {}", count, type));
  fmt::print("{}: {} ({}), {}, {:.1f} MB of weights\n", summary.lowered,
             counted(summary.numOps, "op"), fmt::join(types, ", "),
             counted(summary.numCasts, "cast"), double(summary.weightBytes) / 1e6);
  for (const auto &[what, count] : summary.exceptions)
    fmt::print("  {} in {}: {}\n", count, what.first, what.second);
  if (!summary.floatsByNeed)
    return;
  fmt::print("  floats by need: {}\n", summary.floatsByNeed->text());
  for (const FloatStep &step : summary.floatsByNeed->leftOut)
    fmt::print(
        "  on integers all the same, since it would cost {:.1f} % of the cycles: '{}' ({})\n",
        100 * step.cost, step.name, step.reason);
}

void printComparison(const ModelDeployOptions &options, const ModelDeploySummary &summary) {
  const ComparisonReport &report = *summary.report;
  fmt::print("compared with {}: {}, of which {} count{}; {} below tolerance\n", summary.reference,
             counted(std::ssize(report.entries()), "tensor"), report.numCounting(),
             report.numCounting() == 1 ? "s" : "", report.numFailed());
  fmt::print("{}", options.compareAll ? report.table() : report.worstTable(kShownTensors));
  for (const std::string &name : report.missing(ComparisonReport::Side::Reference))
    reportNote(kToolName, fmt::format("{} has no '{}'", summary.reference, name));
}

void printOrigin(const DeployDiagnosis &diagnosis) {
  const LayerError &origin = *diagnosis.origin;
  fmt::print("first diverging layer: '{}' ({}, {}): {}\n", origin.name, origin.op,
             dataTypeName(origin.type), figures(origin.whole));
  if (diagnosis.originInput)
    fmt::print("  its worst input: {}\n", figures(*diagnosis.originInput));
  fmt::print("  alone, on exact inputs: {}\n", figures(origin.alone));
}

void printDiagnosis(const ModelDeploySummary &summary) {
  const DeployDiagnosis &diagnosis = *summary.diagnosis;
  if (diagnosis.isForeignReference) {
    fmt::print("the network in float is not like {} either: it belongs to another input or "
               "network, or was computed otherwise\n",
               summary.reference);
    return;
  }
  if (diagnosis.origin)
    printOrigin(diagnosis);
  for (const LayerError &layer : diagnosis.worstEffects)
    fmt::print("the error of '{}' ({}, {}) alone leaves the outputs at {}\n", layer.name, layer.op,
               dataTypeName(layer.type), figures(*layer.effect));
  const auto count = std::ssize(diagnosis.repair);
  const std::string mode = schemeName(diagnosis.repairMode);
  if (count == 0 && diagnosis.wholeNetwork)
    fmt::print("no layers by themselves mend it; the whole network in {0} does: --quantize {0}\n",
               schemeName(*diagnosis.wholeNetwork));
  else if (count == 0)
    fmt::print("no layers in another precision of {} mend it\n", summary.chip);
  else if (2 * count > diagnosis.numCandidates)
    fmt::print(
        "only {0} of {1} layers in {2} mend it; another calibration or --quantize {2} may be "
        "better\n",
        count, diagnosis.numCandidates, mode);
  else
    fmt::print("mended by these lines for --quantize_table ({} of {} layers):\n{}\n", count,
               diagnosis.numCandidates, fmt::join(diagnosis.repairLines(), "\n"));
}

/// `numOnHost` layers are in no figure.
void printModelFile(const ModelDeployOptions &options, const ModelFileReport &report,
                    int64_t numOnHost) {
  fmt::print("{}: {:.1f} MB, {:.1f} MB of activations\n", options.model,
             double(report.fileBytes) / 1e6, double(report.neuronBytes) / 1e6);
  const std::string without =
      numOnHost == 0 ? ""
                     : fmt::format(", without the {} of the host", counted(numOnHost, "layer"));
  fmt::print("  {} cycles, {:.3f} ms ({} cycles with the conservative parameters){}\n",
             report.cycles, report.milliseconds, report.conservativeCycles, without);
  fmt::print("  {:.2f} MB read, {:.2f} MB written; busy: compute {:.0f} %, transfers {:.0f} %; "
             "multipliers {:.0f} %\n",
             double(report.bytesRead) / 1e6, double(report.bytesWritten) / 1e6,
             100 * report.computeBusy, 100 * report.transferBusy, 100 * report.macUtilisation);
  for (const ModelFileReport::Layer &layer : report.slowest)
    fmt::print("  {:>10} compute, {:>10} transfer cycles: {}\n", layer.computeCycles,
               layer.transferCycles, layer.name);
  if (report.comparison)
    fmt::print("compared with the lowered network, on the simulator:\n{}",
               report.comparison->worstTable(kShownTensors));
  for (const std::string &remark : report.remarks)
    fmt::print("  {}\n", remark);
  if (report.rounding)
    for (const std::string &sentence : report.rounding->sentences())
      fmt::print("  {}\n", sentence);
}

void print(const ModelDeployOptions &options, const ModelDeploySummary &summary) {
  if (!summary.lowered.empty())
    printLowering(summary);
  for (const std::string &note : summary.notes)
    fmt::print("{}\n", note);
  if (summary.report)
    printComparison(options, summary);
  if (summary.diagnosis)
    printDiagnosis(summary);
  if (summary.modelFile)
    printModelFile(options, *summary.modelFile, std::ssize(summary.cpuLayers));
  if (!summary.cpuLayers.empty())
    fmt::print("{} on the CPU, which the cycles do not count:\n",
               counted(std::ssize(summary.cpuLayers), "layer"));
  for (const ModelDeploySummary::CpuLayer &layer : summary.cpuLayers)
    fmt::print("  {} ({}): {}\n", layer.name, layer.op, layer.reason);
  if (!summary.note.empty())
    fmt::print("{}\n", summary.note);
}

std::string failureMessage(const ModelDeploySummary &summary) {
  std::string text = summary.report->failureMessage();
  if (summary.diagnosis && summary.diagnosis->origin)
    text += fmt::format("; first diverging layer '{}'", summary.diagnosis->origin->name);
  return text;
}

std::string formatNames() { return fmt::format("{}", fmt::join(schemeNames(), ", ")); }

Expected<int> deploy(const ModelDeployOptions &options, const std::string &json) {
  Expected<ModelDeploySummary> summary = deployModel(options);
  if (!summary)
    return propagate(summary);
  if (!summary->inputNote.empty())
    reportNote(kToolName, summary->inputNote);
  if (!summary->tableNote.empty())
    reportNote(kToolName, summary->tableNote);
  if (json != "-")
    print(options, *summary);
  if (!json.empty())
    if (auto written = writeFileOrStdout(json, summary->toJson().dump(2) + "\n"); !written)
      return propagate(written);
  if (summary->modelFile && summary->modelFile->comparison &&
      !summary->modelFile->comparison->passes())
    return makeError(options.model, summary->modelFile->comparison->failureMessage());
  if (!summary->report || summary->report->passes())
    return 0;
  return makeError(summary->lowered.empty() ? options.model : summary->lowered,
                   failureMessage(*summary));
}

/// Options of other compilers.
void declareOthers(CommandLine &cli) {
  for (const char *flag : {"--dynamic", "--q_symmetric", "--quant_output_bf16", "--fazzy_match",
                           "--cuda", "--do_winograd", "--includeWeight", "--matmul_perchannel",
                           "--opt_post_processor", "--enable_maskrcnn"})
    cli.unavailable(flag, false);
  for (const char *name :
       {"--num_device", "--num_core", "--q_group_size", "--quant_input_list", "--quant_output_list",
        "--group_by_cores", "--addr_mode", "--same_addr", "--use_rewriter_config", "--trunc_final",
        "--model_version", "--iomem_set", "--compress_mode", "--gelu_mode", "--time_fixed_subnet",
        "--subnet_params", "--patterns_count", "--layer_group_config",
        "--shape_secs_search_strategy"})
    cli.unavailable(name, true);
  cli.unavailable("--merge_weight", false, "--merge_weight_of names the file itself");
  cli.unavailable("--high_precision", false, "--quantize_table names layers and their precision");
  cli.unavailable("--disable_layer_group", false, "--opt 0 gives each layer a group of its own");
  cli.unavailable("--disable_structure_detect_opt", false, "--without leaves heuristics out");
  cli.withoutEffect("--cache_skip", false, "each run compares anew");
  cli.withoutEffect("--disable_gdma_check", false, "there is no such check");
  cli.withoutEffect("--ignore_f16_overflow", false, "that is so without --avoid_f16_overflow");
  cli.withoutEffect("--io_alone", false, "inputs and outputs have their own addresses");
  cli.withoutEffect("--debug_cmd", true, "there is nothing to debug with it");
  cli.withoutEffect("--log_level", true, "no log is written");
  cli.withoutEffect("--lg_debugger", true, "no log is written");
  cli.withoutEffect("-V", false, "no log is written");
}

Expected<int> run(std::span<const std::string> arguments) {
  ModelDeployOptions options;
  LoweringOptions &lowering = options.lowering;
  std::string quantize;
  bool asymmetric = false;
  std::string json;
  int numThreads = 0;
  int64_t maxPixels = kMaxPixels;
  CommandLine cli(std::string(kToolName),
                  "Lowers a Top module to what a chip computes, and writes its model file.");
  cli.description("Writes NAME_CHIP_MODE_tpu.mlir and its weights to the folder of --model, NAME "
                  "being that of --mlir and MODE f32, f16, bf16, int8_sym or int8_asym, with the "
                  "name of the quantize table behind it; for chips with a code generator also "
                  "NAME_CHIP_MODE_final.mlir and the model file.");
  cli.option("--mlir", options.mlir, "The network: a Top module, as model_transform writes it.")
      .label("FILE.mlir")
      .required();
  cli.option("--quantize", quantize, "What it is to be computed in: " + formatNames() + ".")
      .label("PRECISION")
      .required();
  cli.option("--chip,--processor", lowering.chip,
             "The chip, one of those that tpuc-opt --list-targets shows.")
      .label("NAME")
      .required();
  cli.option("--model", options.model, "The model file to write.").label("FILE").required();
  cli.option("--calibration_table", lowering.calibrationTable,
             "What run_calibration wrote; needed for INT8 and INT16.")
      .label("FILE");
  cli.option("--quantize_table", lowering.quantizeTable,
             "Layers that are to be computed in another precision: a text file with a layer's name "
             "and the precision on each line.")
      .label("FILE");
  cli.flag("--asymmetric", asymmetric, "Integers with zero points.");
  cli.flag("--avoid_f16_overflow", lowering.avoidF16Overflow,
           "Compute in F32 what may leave the range of F16.");
  cli.flag(
      "--strict_int8", lowering.strict,
      "Integers wherever an op has a form on them. Otherwise layers stay in float whose signal 8 "
      "bits would lose; the summary lists them.");
  cli.option(
         "--float_budget", options.floatBudget,
         "By how many percent such layers may lengthen a run, by the chip's timing model, against "
         "--strict_int8. Those that spare the least error for their cycles go to integers until "
         "that is so, but for those that an output would be lost without.")
      .label("PERCENT")
      .range(0, 1e6);
  cli.flag("--fuse_preprocess", options.fusePreprocess,
           "Take pictures of bytes: the network crops, orders the channels and normalizes as its "
           "module says. --test_input is a picture then.");
  cli.option("--customization_format", options.customizationFormat,
             fmt::format("With --fuse_preprocess, how the bytes are ordered: {}.",
                         fmt::join(kPictureFormatNames, ", ")))
      .label("FORMAT")
      .shownDefault("the closest to what the input says");
  cli.flag("--aligned_input", options.alignedInput,
           "With --fuse_preprocess, the picture lies in a frame buffer of the chip's camera or "
           "decoder, whose rows and planes have gaps.");
  cli.option("--fuse_resize", options.fuseResize,
             "With --fuse_preprocess, height and width of pictures that the network itself scales, "
             "and pads where it keeps their aspect ratio.")
      .label("H,W")
      .shownDefault("those of the preprocessing");
  cli.option("--yuv_range", options.yuvRange,
             "Of such bytes that are YUV: video, where Y is from 16 to 235, or full.")
      .label("RANGE");
  cli.flag("--quant_input", lowering.quantInput,
           "Take inputs in the type that they are stored in.");
  cli.flag("--quant_output", lowering.quantOutput,
           "Give outputs in the type that they are stored in.");
  cli.flag("--op_divide", options.codegen.dividesOps,
           "Compute layers on some rows after the other where a run needs less memory so; it may "
           "take longer. Groups of layers are compared for each division.");
  cli.option("--compress", options.compress,
             "Which constants are stored as streams that the chip unpacks, on chips that do: none, "
             "auto for those that are a tenth shorter and load no slower, or all that are not "
             "longer.")
      .label("WHICH")
      .shownDefault("auto");
  cli.option("--merge_weight_of", options.mergeWeight,
             "A model file of the same chip, such as that of another batch size. Its constants "
             "stand in front of those of the network, and equal ones are not stored again: "
             "model_tool --combine makes one file of both.")
      .label("FILE");
  cli.option("--array", options.array,
             "Elements of the array that computes, for chips that can be built in several sizes.")
      .label("ROWSxCOLUMNS")
      .shownDefault("the chip's usual size");
  cli.option(
         "--opt", options.codegen.opt,
         "How layers are grouped: 0 for one in each group, 1 for the groups that take the fewest "
         "cycles by estimate, 2 for those that the chip's timing simulator finds better, 3 for a "
         "long search among them.")
      .label("LEVEL");
  cli.option("--search_seconds", options.codegen.searchSeconds,
             "With --opt 3: stop the search after about so many seconds; 0 for no limit. Only a "
             "search that is not stopped gives the same file in every run.")
      .label("N");
  cli.option("--without", options.codegen.without,
             "Heuristics of the code generator to leave out, to see what they bring: "
             "fold-head-reshapes, join-convolutions, split-convolutions, op-reorder, "
             "hoist-outputs, narrow-concat, column-gather, fold-depths, late-permutes, "
             "resident-constants, in-place-concat, "
             "early-constants, overlap, least-work, urgent-transfers, fold-swap, fold-scale, "
             "resize-by-products, and the chip's own passes: sums-to-conv, merge-groups, "
             "gemv-to-conv, lut-to-arith, pack-rows, transpose-in-groups, "
             "fold-transpose-into-store, "
             "gather-rows, permute-by-transposes.")
      .label("NAMES");
  const std::string validation = "Validation";
  cli.option("--test_input", options.testInput,
             "Run the lowered network on this: an .npz with an array for each input, or for each "
             "input a picture or an .npy file. Without it, there is no validation.")
      .group(validation);
  cli.option("--test_reference", options.testReference,
             "What the tensors should be, as model_transform writes it. Without it the network in "
             "float is run.")
      .label("FILE.npz")
      .group(validation);
  cli.option("--tolerance", options.tolerance,
             "The least cosine and euclidean similarity of an output.")
      .shownDefault("F32 1,1, with --fuse_preprocess 0.9999,0.999; F16 and BF16 0.95,0.85; INT8 "
                    "0.9,0.5")
      .group(validation);
  cli.option("--excepts", options.excepts, "Tensors that are not compared.").group(validation);
  cli.flag("--compare_all", options.compareAll, "Every tensor counts, not only the outputs.")
      .group(validation);
  cli.flag("--skip_validation", options.skipValidation, "Whatever --test_input says.")
      .group(validation);
  cli.flag("--debug", options.debug,
           "Keep the tensors of the lowered network, as NAME_CHIP_MODE_tpu_outputs.npz.")
      .group(validation);
  std::string notGenModel = "--not_gen_model";
  for (const model::Container *container : model::containers())
    notGenModel += fmt::format(",--not_gen_{}", container->name());
  cli.flag(notGenModel, options.notGenModel,
           "End with the lowered network, which needs no code generator for the chip.");
  cli.allowOutside(options.allowOutside);
  cli.maxPixels(maxPixels).group(validation);
  cli.json(json);
  cli.numThreads(numThreads);
  declareOthers(cli);
  cli.action([&]() -> Expected<int> {
    limitPictures(maxPixels);
    std::optional<QuantScheme> scheme = parseScheme(quantize, asymmetric);
    if (!scheme)
      return makeError("--quantize", "'" + quantize + "'" + schemeHint(quantize),
                       "one of " + formatNames());
    lowering.scheme = *scheme;
    options.report = json;
    options.numThreads = options.codegen.numThreads = static_cast<unsigned>(numThreads);
    return deploy(options, json);
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) { return runTool(argc, argv, kToolName, run); }
