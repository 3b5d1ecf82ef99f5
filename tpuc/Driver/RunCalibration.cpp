//===- RunCalibration.cpp - From samples to a calibration table -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/RunCalibration.h"
#include "tpuc/Calibration/Dataset.h"
#include "tpuc/Calibration/ForeignNames.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/WideFloats.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/RunFiles.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>

using namespace tpuc;

static Expected<void> checkOptions(const RunCalibrationOptions &options) {
  if (options.dataset.empty() == options.dataList.empty())
    return makeError("--dataset and --data_list", options.dataset.empty() ? "neither" : "both",
                     "one of them");
  const CalibrationOptions &calibration = options.calibration;
  const int64_t levels = numHistogramLevels(calibration.scheme.activation);
  if (calibration.numBins % levels != 0)
    return makeError("--histogram_bin_num", std::to_string(calibration.numBins),
                     fmt::format("a multiple of {}", levels));
  if (!calibration.method && calibration.tuneNum == 0)
    return makeError("--tune_num", "0", "samples on which 'auto' can choose");
  return {};
}

/// None of the files to write is one of those to read.
static Expected<void> checkFiles(const RunCalibrationOptions &options, mlir::ModuleOp module,
                                 const std::vector<SampleFiles> &samples) {
  RunFiles files;
  files.reads("MLIR", options.mlir);
  files.reads("MLIR", weightFileOf(module, options.mlir));
  files.reads("--data_list", options.dataList);
  files.reads("--names", options.names);
  for (const SampleFiles &sample : samples)
    files.reads(options.dataList.empty() ? "--dataset" : "--data_list", sample);
  files.writes("--calibration_table", options.table);
  if (options.names.empty())
    files.writes("--calibration_table", channelFile(options.table));
  files.writes("--json", options.report);
  return files.check();
}

/// The first inputNum samples.
static Expected<std::vector<SampleFiles>> listSamples(const RunCalibrationOptions &options) {
  Expected<std::vector<SampleFiles>> samples =
      options.dataList.empty() ? listFolder(options.dataset) : readDataList(options.dataList);
  if (samples && options.inputNum > 0 && options.inputNum < std::ssize(*samples))
    samples->resize(static_cast<size_t>(options.inputNum));
  return samples;
}

/// The first note about a sample; several threads read them.
struct SampleNote {
  std::once_flag written;
  std::string text;
};

static SampleSource makeSource(const std::vector<SampleFiles> &samples,
                               const std::vector<InputSpec> &inputs, SampleNote &first) {
  SampleSource source;
  source.count = std::ssize(samples);
  source.name = [&samples](int64_t sample) {
    return sampleName(samples[static_cast<size_t>(sample)]);
  };
  source.read = [&](int64_t sample) -> Expected<TensorMap> {
    std::string note;
    Expected<NamedTensors> tensors =
        readSample(samples[static_cast<size_t>(sample)], inputs, &note);
    if (!note.empty())
      std::call_once(first.written, [&] { first.text = std::move(note); });
    if (!tensors)
      return propagate(tensors);
    return TensorMap(tensors->begin(), tensors->end());
  };
  return source;
}

/// How many samples were used beyond the statistics.
static int64_t numTuned(const CalibrationOptions &options, int64_t numSamples) {
  const bool isTuned = !options.method || *options.method == ThresholdMethod::Kl;
  return isTuned ? std::min(options.tuneNum, numSamples) : 0;
}

static CalibrationTable makeTable(const RunCalibrationSummary &summary, int64_t numBins) {
  CalibrationTable table;
  table.numBins = numBins;
  table.numSamples = summary.numSamples;
  table.numTuned = summary.numTuned;
  for (const CalibratedTensor &tensor : summary.tensors)
    table.entries.push_back(
        {tensor.name, tensor.threshold, tensor.range.min(), tensor.range.max(), 0});
  return table;
}

/// The figures of the channels that products read, as a file beside the table `path`, whose text is
/// `text`.
static Expected<OutputFile> makeChannels(const RunCalibrationSummary &summary,
                                         const std::string &text, const std::string &path) {
  Expected<NpzWriter> writer = NpzWriter::create(channelFile(path));
  if (!writer)
    return propagate(writer);
  // The numbers as whoever reads the table sees them.
  Expected<CalibrationTable> table = CalibrationTable::parse(text, path);
  if (!table)
    return propagate(table);
  if (Expected<void> added = writer->add(kTableDigest, tableDigest(*table)); !added)
    return propagate(added);
  for (const CalibratedTensor &tensor : summary.tensors) {
    const ChannelFigures &channels = tensor.channels;
    if (channels.means.empty())
      continue;
    Tensor rows(DataType::F32, Shape{3, std::ssize(channels.means)});
    auto at = rows.mutableData<float>().begin();
    for (const std::vector<float> *row : {&channels.means, &channels.lowest, &channels.highest})
      at = std::ranges::copy(*row, at).out;
    if (Expected<void> added = writer->add(tensor.name, rows); !added)
      return propagate(added);
    if (channels.covariances.empty())
      continue;
    Tensor pairs(DataType::F32, Shape{std::ssize(channels.covariances)});
    std::ranges::copy(channels.covariances, pairs.mutableData<float>().begin());
    if (Expected<void> added = writer->add(covariancesName(tensor.name), pairs); !added)
      return propagate(added);
  }
  return writer->finish();
}

/// The types of all tensors by their names, as a module states them.
static std::unordered_map<std::string, std::string> typesOf(mlir::ModuleOp module) {
  std::unordered_map<std::string, std::string> types;
  module.walk([&](mlir::Operation *op) {
    for (auto [name, result] : llvm::zip(tensorNames(op), op->getResults())) {
      std::string type;
      llvm::raw_string_ostream(type) << result.getType();
      types.emplace(name, std::move(type));
    }
  });
  return types;
}

Expected<RunCalibrationSummary> tpuc::runCalibration(const RunCalibrationOptions &options) {
  if (Expected<void> checked = checkOptions(options); !checked)
    return propagate(checked);
  const std::unique_ptr<mlir::MLIRContext> context = makeContext();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      readModule(*context, options.mlir, options.allowOutside);
  if (!module)
    return propagate(module);
  if (Expected<void> checked = checkIsTop(**module, options.mlir); !checked)
    return propagate(checked);
  std::vector<ForeignTensor> foreign;
  if (!options.names.empty()) {
    // A file that cannot be read is told before the work begins.
    Expected<std::vector<ForeignTensor>> read = readForeignNames(options.names);
    if (!read)
      return propagate(read);
    foreign = std::move(*read);
  }
  if (Expected<void> widened = widenFloats(**module, /*withDoubles=*/true, options.mlir); !widened)
    return propagate(widened);
  Expected<std::vector<InputSpec>> inputs = networkInputs(**module);
  if (!inputs)
    return makeError(options.mlir + ": " + inputs.error().where, inputs.error().found,
                     inputs.error().expected);
  Expected<std::vector<SampleFiles>> samples = listSamples(options);
  if (!samples)
    return propagate(samples);
  if (Expected<void> checked = checkFiles(options, **module, *samples); !checked)
    return propagate(checked);
  Expected<OutputFile> file = OutputFile::create(options.table);
  if (!file)
    return propagate(file);
  SampleNote sampleNote;
  Expected<std::unique_ptr<SampleRunner>> runner =
      SampleRunner::create(**module, makeSource(*samples, *inputs, sampleNote), options.numThreads);
  if (!runner)
    return makeError(options.mlir + ": " + runner.error().where, runner.error().found,
                     runner.error().expected);
  RunCalibrationSummary summary;
  summary.numSamples = std::ssize(*samples);
  summary.numTuned = numTuned(options.calibration, summary.numSamples);
  if (summary.numSamples < options.inputNum)
    summary.note =
        fmt::format("--input_num {}: there {} {}, {}", options.inputNum,
                    summary.numSamples == 1 ? "is" : "are", counted(summary.numSamples, "sample"),
                    summary.numSamples == 1 ? "which is used" : "all of which are used");
  Expected<std::vector<CalibratedTensor>> tensors =
      calibrate(**module, **runner, options.calibration);
  if (!tensors)
    return propagate(tensors);
  summary.tensors = std::move(*tensors);
  if (summary.note.empty())
    summary.note = sampleNote.text;
  CalibrationTable table = makeTable(summary, options.calibration.numBins);
  if (!foreign.empty()) {
    Expected<std::string> note = renameEntries(table, foreign, typesOf(**module), options.names);
    if (!note)
      return propagate(note);
    if (!note->empty())
      summary.note += (summary.note.empty() ? "" : "; ") + options.names + ": " + *note;
  }
  const std::string text = table.text(std::chrono::system_clock::now());
  if (Expected<void> written = file->write(text); !written)
    return propagate(written);
  std::vector<OutputFile> files;
  files.push_back(std::move(*file));
  if (foreign.empty()) {
    Expected<OutputFile> channels = makeChannels(summary, text, options.table);
    if (!channels)
      return propagate(channels);
    files.push_back(std::move(*channels));
  }
  if (Expected<void> committed = commitAll(std::move(files)); !committed)
    return propagate(committed);
  return summary;
}

nlohmann::json RunCalibrationSummary::toJson() const {
  nlohmann::json json = {{"samples", numSamples}, {"tuned", numTuned}};
  if (!note.empty())
    json["note"] = note;
  nlohmann::json &list = json["tensors"] = nlohmann::json::array();
  for (const CalibratedTensor &tensor : tensors)
    list.push_back({{"name", tensor.name},
                    {"threshold", tensor.threshold},
                    {"min", tensor.range.min()},
                    {"max", tensor.range.max()},
                    {"method", thresholdMethodName(tensor.method)},
                    {"infinities", tensor.range.numInfinite()}});
  return json;
}
