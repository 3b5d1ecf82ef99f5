//===- AccuracyBench.cpp - How close lowered networks are to float ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bench-accuracy --mlir cls.mlir --samples photos.npz --modes F16,INT8,INT8_ASYM --table a,b
//
// Lowers an optimized network in each of the modes, the integer ones with each of the calibration
// tables, and runs it, and the network itself, on every sample. Prints for each output the mean and
// the smallest cosine, the mean euclidean similarity, and where rows of scores have their largest
// element in the same place: in how many rows, in how many samples in all rows, and how many lines
// of text read the same. With --decided the smallest cosine of the samples that the network itself
// is sure of is in the report, too.
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/ToolMain.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Compare.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/OutputFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tpuc;

namespace {

struct Options {
  std::string mlir;
  std::string samples;
  std::vector<std::string> modes = {"F32", "F16", "BF16"};
  std::string chip = "bm1684x";
  std::vector<std::string> tables;
  std::string quantizeTable;
  std::string labels;
  std::string json;
  bool layers = false;
  double decided = 0;
  int64_t limit = 0;
  unsigned numThreads = 0;
};

/// What one output of one mode comes to over all samples.
struct Score {
  int64_t samples = 0;
  double cosines = 0;
  double leastCosine = 1;
  /// Samples whose rows all have a score that decides, and the smallest cosine of these.
  int64_t decided = 0;
  double leastDecided = 1;
  double euclids = 0;
  int64_t rows = 0;
  int64_t equalRows = 0;
  int64_t equalSamples = 0;
  int64_t equalLines = 0;
  int64_t right = 0;
  bool isEqual = true;
};

/// Stacked samples: the first axis of each array counts them.
class Samples {
public:
  static Expected<Samples> open(const Options &options, const Interpreter &network) {
    Expected<NpzReader> file = NpzReader::open(options.samples);
    if (!file)
      return propagate(file);
    Samples samples;
    for (const TensorInfo &info : network.inputs()) {
      Expected<Tensor> tensor = file->read(info.name);
      if (!tensor)
        return propagate(tensor);
      samples.count = tensor->shape()[0];
      samples.arrays.push_back(convert(*tensor, info.dataType));
      // One sample at a time: what is dynamic is as in the array, and the batch 1.
      llvm::SmallVector<int64_t> dims(info.type.getShape());
      for (auto [axis, extent] : llvm::enumerate(dims))
        if (mlir::ShapedType::isDynamic(extent))
          extent = axis == 0 || axis >= tensor->shape().rank() ? 1 : tensor->shape()[axis];
      samples.shapes.emplace_back(std::span(dims.data(), dims.size()));
      if (samples.shapes.back().numElements() * samples.count != tensor->numElements())
        return makeError(options.samples, "array " + tensor->shape().str(),
                         "samples of " + samples.shapes.back().str());
      samples.names.push_back(info.name);
    }
    if (options.limit > 0)
      samples.count = std::min(samples.count, options.limit);
    return samples;
  }

  TensorMap operator[](int64_t sample) const {
    TensorMap inputs;
    for (size_t i = 0; i < arrays.size(); ++i) {
      Tensor tensor(arrays[i].type(), shapes[i]);
      const auto from = arrays[i].rawBytes();
      const size_t bytes = tensor.rawBytes().size();
      std::memcpy(tensor.mutableBytes().data(), from.data() + bytes * static_cast<size_t>(sample),
                  bytes);
      inputs.emplace(names[i], std::move(tensor));
    }
    return inputs;
  }

  int64_t count = 0;

private:
  std::vector<std::string> names;
  std::vector<Tensor> arrays;
  std::vector<Shape> shapes;
};

std::vector<int64_t> largestOfRows(const Tensor &tensor) {
  const Shape &shape = tensor.shape();
  const int64_t columns = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  const auto values = tensor.data<float>();
  std::vector<int64_t> places;
  for (auto row = values.begin(); row < values.end(); row += columns)
    places.push_back(std::max_element(row, row + columns) - row);
  return places;
}

/// Whether each row of scores has one of at least `decisive`.
bool isDecided(const Tensor &tensor, double decisive) {
  const std::vector<int64_t> places = largestOfRows(tensor);
  const auto values = tensor.data<float>();
  const size_t columns = places.empty() ? 0 : values.size() / places.size();
  for (size_t row = 0; row < places.size(); ++row)
    if (double(values[row * columns + static_cast<size_t>(places[row])]) < decisive)
      return false;
  return true;
}

/// What is read in a line of text whose rows are steps with a score per character: repetitions
/// count once, and 0 stands for none (CTC).
std::vector<int64_t> readLine(std::vector<int64_t> places) {
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::erase(places, 0);
  return places;
}

void add(Score &score, const Tensor &found, const Tensor &wanted, std::optional<int64_t> label,
         double decisive) {
  const TensorComparison compared = compareTensors(found, wanted);
  ++score.samples;
  if (isDecided(wanted, decisive)) {
    ++score.decided;
    score.leastDecided = std::min(score.leastDecided, compared.cosine);
  }
  score.cosines += compared.cosine;
  score.leastCosine = std::min(score.leastCosine, compared.cosine);
  score.euclids += compared.euclid;
  score.isEqual &= compared.isEqual;
  const std::vector<int64_t> a = largestOfRows(found);
  const std::vector<int64_t> b = largestOfRows(wanted);
  int64_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i)
    equal += a[i] == b[i];
  score.rows += std::ssize(a);
  score.equalRows += equal;
  score.equalSamples += equal == std::ssize(a);
  score.equalLines += readLine(a) == readLine(b);
  score.right += label && a[0] == *label;
}

/// Of all tensors of `main`, in the order of the ops.
std::vector<std::string> namesInOrder(mlir::ModuleOp module) {
  std::vector<std::string> names;
  for (mlir::Operation &op : module.lookupSymbol<mlir::func::FuncOp>("main").getBody().getOps())
    for (std::string &name : tensorNames(&op))
      names.push_back(std::move(name));
  return names;
}

class Bench {
public:
  explicit Bench(const Options &options) : options(options), threads(options.numThreads) {}

  Expected<void> run();

private:
  using Results = std::vector<TensorMap>;
  using Network = std::pair<mlir::OwningOpRef<mlir::ModuleOp>, std::unique_ptr<Interpreter>>;
  Expected<Network> prepare(const std::string &mode, const std::string &table);
  Expected<Results> compute(const Interpreter &network, const Samples &samples);
  Expected<void> measure(const std::string &mode, const std::string &table, const Samples &samples,
                         const Results &wanted);
  void print(const std::string &mode, const std::string &table, const std::string &output,
             const Score &score);
  std::optional<int64_t> label(int64_t sample) const {
    if (!labels)
      return std::nullopt;
    return labels->data<int64_t>()[static_cast<size_t>(sample)];
  }

  const Options &options;
  ThreadPool threads;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::optional<Tensor> labels;
  nlohmann::json report = nlohmann::json::array();
};

Expected<Bench::Network> Bench::prepare(const std::string &mode, const std::string &table) {
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = readModule(*context, options.mlir);
  if (!module)
    return propagate(module);
  if (!mode.empty()) {
    LoweringOptions lowering;
    lowering.chip = options.chip;
    const std::string name = mode.substr(0, mode.find('_'));
    std::optional<QuantScheme> scheme = parseScheme(name, mode.ends_with("_ASYM"));
    if (!scheme)
      return makeError("--modes", "'" + mode + "'", "F32, F16, BF16, INT8 or INT8_ASYM");
    lowering.scheme = *scheme;
    lowering.calibrationTable = table;
    lowering.quantizeTable = options.quantizeTable;
    lowering.floatOutputs = true;
    Expected<void> lowered =
        runPasses(**module, [&](mlir::OpPassManager &passes) { addLowering(passes, lowering); });
    if (!lowered)
      return propagate(lowered);
  }
  InterpreterOptions run;
  run.numThreads = 1;
  run.expressed = true;
  run.keepAll = options.layers;
  Expected<std::unique_ptr<Interpreter>> network = Interpreter::create(**module, run);
  if (!network)
    return propagate(network);
  return Network(std::move(*module), std::move(*network));
}

Expected<Bench::Results> Bench::compute(const Interpreter &network, const Samples &samples) {
  Results results(static_cast<size_t>(samples.count));
  std::vector<std::optional<Error>> errors(results.size());
  threads.parallelFor(samples.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t sample = begin; sample < end; ++sample) {
      const auto index = static_cast<size_t>(sample);
      Expected<TensorMap> outputs = network.run(samples[sample]);
      if (!outputs) {
        errors[index] = outputs.error();
        continue;
      }
      for (auto &[name, tensor] : *outputs)
        results[index].emplace(name, convert(tensor, DataType::F32));
    }
  });
  for (const std::optional<Error> &error : errors)
    if (error)
      return tl::unexpected<Error>(*error);
  return results;
}

void Bench::print(const std::string &mode, const std::string &table, const std::string &output,
                  const Score &score) {
  const auto part = [&](int64_t count, int64_t of) { return 100.0 * double(count) / double(of); };
  const double mean = score.cosines / double(score.samples);
  fmt::print("{:<10} {:<16} {:<28} {:>9.5f} {:>9.5f} {:>8.4f} {:>9.2f} {:>9.2f} {:>9.2f}{}{}\n",
             mode, std::filesystem::path(table).filename().string(), output, mean,
             score.leastCosine, score.euclids / double(score.samples),
             part(score.equalRows, score.rows), part(score.equalSamples, score.samples),
             part(score.equalLines, score.samples),
             labels ? fmt::format(" {:>9.2f}", part(score.right, score.samples)) : "",
             score.isEqual ? "  bit for bit" : "");
  std::fflush(stdout);
  report.push_back({{"mode", mode},
                    {"table", table},
                    {"output", output},
                    {"mean_cos", mean},
                    {"min_cos", score.leastCosine},
                    {"decided_percent", part(score.decided, score.samples)},
                    {"decided_min_cos", score.leastDecided},
                    {"mean_euclid", score.euclids / double(score.samples)},
                    {"rows_percent", part(score.equalRows, score.rows)},
                    {"samples_percent", part(score.equalSamples, score.samples)},
                    {"lines_percent", part(score.equalLines, score.samples)},
                    {"right_percent", part(score.right, score.samples)},
                    {"equal", score.isEqual}});
}

Expected<void> Bench::measure(const std::string &mode, const std::string &table,
                              const Samples &samples, const Results &wanted) {
  Expected<Network> network = prepare(mode, table);
  if (!network)
    return propagate(network);
  Expected<Results> found = compute(*network->second, samples);
  if (!found)
    return propagate(found);
  std::map<std::string, Score> scores;
  for (size_t sample = 0; sample < wanted.size(); ++sample)
    for (const auto &[name, tensor] : wanted[sample])
      if (const auto it = (*found)[sample].find(name); it != (*found)[sample].end())
        add(scores[name], it->second, tensor, label(static_cast<int64_t>(sample)), options.decided);
  for (const std::string &name : namesInOrder(*network->first))
    if (const auto it = scores.find(name); it != scores.end())
      print(mode, table, name, it->second);
  return {};
}

Expected<void> Bench::run() {
  if (!options.labels.empty()) {
    Expected<NpzReader> file = NpzReader::open(options.labels);
    Expected<Tensor> tensor = file ? file->read("labels") : propagate(file);
    if (!tensor)
      return propagate(tensor);
    labels = convert(*tensor, DataType::I64);
  }
  Expected<Network> network = prepare("", "");
  if (!network)
    return propagate(network);
  Expected<Samples> samples = Samples::open(options, *network->second);
  if (!samples)
    return propagate(samples);
  Expected<Results> wanted = compute(*network->second, *samples);
  if (!wanted)
    return propagate(wanted);
  fmt::print("{:<10} {:<16} {:<28} {:>9} {:>9} {:>8} {:>9} {:>9} {:>9}{}\n", "mode", "table",
             fmt::format("output ({} samples)", samples->count), "mean cos", "min cos", "euclid",
             "rows %", "samples %", "lines %", labels ? "   right %" : "");
  const std::vector<std::string> noTable = {""};
  for (const std::string &mode : options.modes)
    for (const std::string &table : mode.starts_with("INT8") ? options.tables : noTable)
      if (Expected<void> measured = measure(mode, table, *samples, *wanted); !measured)
        return measured;
  if (options.json.empty())
    return {};
  return writeFileOrStdout(options.json, report.dump(2) + "\n");
}

Expected<int> benchAccuracy(std::span<const std::string> arguments) {
  Options options;
  int numThreads = 0;
  CommandLine cli("bench-accuracy", "How close lowered networks are to float.");
  cli.option("--mlir", options.mlir, "The optimized network.").required();
  cli.option("--samples", options.samples, "An npz: samples stacked along axis 0.").required();
  cli.option("--modes", options.modes, "F32, F16, BF16, INT8, INT8_ASYM.");
  cli.option("--chip", options.chip, "The chip to lower for.");
  cli.option("--table", options.tables, "Calibration tables for the integer modes.");
  cli.option("--qtable", options.quantizeTable, "Layers in another precision.");
  cli.option("--labels", options.labels, "An npz with 'labels': what is right.");
  cli.flag("--layers", options.layers, "Say it of every tensor, not only of outputs.");
  cli.option(
      "--decided", options.decided,
      "A score from which on a sample is decided: the smallest cosine of these is reported.");
  cli.option("--limit", options.limit, "Samples at most; 0: all.");
  cli.json(options.json);
  cli.numThreads(numThreads);
  cli.action([&]() -> Expected<int> {
    options.numThreads = static_cast<unsigned>(numThreads);
    if (Expected<void> done = Bench(options).run(); !done)
      return propagate(done);
    return 0;
  });
  return cli.run(arguments);
}

} // namespace

int main(int argc, char **argv) {
  return tpuc::runTool(argc, argv, "bench-accuracy", benchAccuracy);
}
