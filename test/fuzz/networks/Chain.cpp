//===- Chain.cpp - A network through all tools ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/Chain.h"

#include "test/fuzz/networks/ModuleSize.h"
#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Driver/ModelTransform.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Driver/RunCalibration.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Target/Target.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <random>
#include <vector>

namespace tpuc::fuzz {

namespace {

constexpr int kSamples = 2;
/// Inputs of more elements are not made.
constexpr int64_t kMostElements = 1 << 20;

/// An output is compared with that of the model file, so that there are two of it.
constexpr int64_t kCopiesOfEqual = 1;
/// Where they differ, there are besides: that of the network as it is, the network's moved by
/// roundings, and a float for what these move.
constexpr int64_t kCopiesOfRounded = 4;

struct Mode {
  const char *name;
  QuantScheme scheme;
};

/// F32, floats of 16 bits and INT8, where the chip has them.
std::vector<Mode> modesOf(const TargetInfo &target) {
  const bool hasF16 = target.schemes.contains(schemes::kF16);
  const Mode all[] = {{"F32", schemes::kF32},
                      hasF16 ? Mode{"F16", schemes::kF16} : Mode{"BF16", schemes::kBF16},
                      {"INT8", schemes::kInt8}};
  std::vector<Mode> modes;
  std::ranges::copy_if(all, std::back_inserter(modes),
                       [&](const Mode &mode) { return target.schemes.contains(mode.scheme); });
  return modes;
}

class Chain {
public:
  Chain(const std::string &folder, const TargetInfo &target, uint64_t seed, const Notes &notes)
      : folder(folder + "/"), chip(target.name), modes(modesOf(target)), seed(seed), notes(notes) {}

  void run() {
    std::filesystem::create_directory(folder + "samples");
    if (!transform())
      return;
    if (!step("inputs", [&] { return writeInputs(); })) {
      // What can be said without a run.
      input.clear();
      deploy(modes.front());
      return;
    }
    if (!step("run", [&] { return interpret(); }))
      return;
    const bool isCalibrated = step("calibrate", [&] { return calibrate(); });
    for (const Mode &mode : modes)
      if (isCalibrated || !mode.scheme.isQuantized())
        deploy(mode);
  }

private:
  /// Whether `work` succeeded.
  template <typename Work> bool step(const std::string &name, Work work) {
    notes.add("begin " + name);
    Expected<void> done = work();
    notes.add(fmt::format("peak {}", peakMemory()));
    if (done) {
      notes.add("passed " + name);
      return true;
    }
    const std::string message = done.error().message();
    const bool isMute = message.find(": ") == std::string::npos;
    notes.add(fmt::format("{} {}: {}", isMute ? "mute" : "refused", name, message));
    return false;
  }

  void compare(const std::string &name, const std::optional<ComparisonReport> &report) {
    if (report && !report->passes())
      notes.add(fmt::format("differs {}: {}", name, report->failureMessage()));
  }

  bool transform() {
    const bool isDone = step("transform", [&]() -> Expected<void> {
      ModelTransformOptions options;
      options.modelDef = folder + "net.onnx";
      options.modelName = "net";
      options.mlir = module;
      options.validation.numThreads = 1;
      options.python = "/nowhere";
      Expected<ModelTransformSummary> summary = transformModel(options);
      return summary ? Expected<void>() : propagate(summary);
    });
    if (isDone)
      noteSize(module);
    return isDone;
  }

  /// Notes what all tensors of the module take, or of the largest one so far: a lowered module has
  /// the same tensors in another type, and casts of them.
  void noteSize(const std::string &path, int64_t copies = 0) {
    largest = std::max(largest, bytesOfTensors(path, copies));
    notes.add(fmt::format("states {}", largest));
  }

  /// Numbers between -2 and 2, or small integers.
  static Tensor randomTensor(const InputSpec &input, std::mt19937_64 &random) {
    const bool isReal = isFloat(input.type);
    Tensor wide(isReal ? DataType::F64 : DataType::I64,
                Shape(std::span(input.dims.data(), input.dims.size())));
    for (int64_t i = 0; i < wide.numElements(); ++i)
      if (isReal)
        wide.mutableData<double>()[static_cast<size_t>(i)] =
            static_cast<double>(random() % 4001) / 1000 - 2;
      else
        wide.mutableData<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(random() % 3);
    return convert(wide, input.type);
  }

  Expected<void> writeInputs() {
    std::unique_ptr<mlir::MLIRContext> context = makeContext();
    auto read = readModule(*context, module);
    if (!read)
      return propagate(read);
    Expected<std::vector<InputSpec>> inputs = networkInputs(**read);
    if (!inputs)
      return propagate(inputs);
    for (const InputSpec &input : *inputs) {
      int64_t left = kMostElements;
      for (int64_t extent : input.dims) {
        if (extent < 0)
          return makeError("input '" + input.name + "'", "has an open shape");
        left = extent == 0 ? left : left / extent;
      }
      if (left == 0)
        return makeError("input '" + input.name + "'", "is too large to be tried");
    }
    std::mt19937_64 random(seed);
    for (int sample = 0; sample < kSamples; ++sample) {
      Expected<NpzWriter> writer =
          NpzWriter::create(fmt::format("{}samples/{}.npz", folder, sample));
      if (!writer)
        return propagate(writer);
      for (const InputSpec &input : *inputs) {
        if (auto added = writer->add(input.name, randomTensor(input, random)); !added)
          return propagate(added);
      }
      if (auto closed = writer->close(); !closed)
        return propagate(closed);
    }
    return {};
  }

  /// The module's outputs, as model_runner computes them.
  Expected<void> interpret() {
    std::unique_ptr<mlir::MLIRContext> context = makeContext();
    auto read = readModule(*context, module);
    if (!read)
      return propagate(read);
    Expected<std::vector<InputSpec>> inputs = networkInputs(**read);
    InterpreterOptions options;
    options.numThreads = 1;
    auto interpreter = Interpreter::create(**read, options);
    if (!inputs || !interpreter)
      return inputs ? propagate(interpreter) : propagate(inputs);
    Expected<NpzReader> sample = NpzReader::open(input);
    if (!sample)
      return propagate(sample);
    std::vector<Tensor> tensors;
    for (const InputSpec &each : *inputs) {
      Expected<Tensor> tensor = sample->read(each.name);
      if (!tensor)
        return propagate(tensor);
      tensors.push_back(convert(*tensor, each.type));
    }
    auto outputs = (*interpreter)->run(tensors);
    return outputs ? Expected<void>() : propagate(outputs);
  }

  Expected<void> calibrate() {
    RunCalibrationOptions options;
    options.mlir = module;
    options.table = table;
    options.dataset = folder + "samples";
    options.numThreads = 1;
    auto summary = runCalibration(options);
    return summary ? Expected<void>() : propagate(summary);
  }

  void deploy(const Mode &mode) {
    const std::string name = fmt::format("deploy {}", mode.name);
    step(name, [&]() -> Expected<void> {
      ModelDeployOptions options;
      options.mlir = module;
      options.model = fmt::format("{}net_{}.model", folder, mode.name);
      options.lowering.chip = chip;
      options.lowering.scheme = mode.scheme;
      if (mode.scheme.isQuantized())
        options.lowering.calibrationTable = table;
      if (!input.empty())
        options.testInput = {input};
      options.numThreads = 1;
      options.codegen.numThreads = 1;
      Expected<ModelDeploySummary> summary = deployModel(options);
      if (!summary)
        return propagate(summary);
      const bool isRounded = summary->modelFile && summary->modelFile->rounding;
      noteSize(summary->lowered, isRounded ? kCopiesOfRounded : kCopiesOfEqual);
      compare(name, summary->report);
      if (summary->modelFile)
        compare("file " + std::string(mode.name), summary->modelFile->comparison);
      return {};
    });
  }

  std::string folder, chip;
  std::vector<Mode> modes;
  uint64_t seed;
  const Notes &notes;
  int64_t largest = 0;
  std::string module = folder + "net.mlir", table = folder + "net.table";
  std::string input = folder + "samples/0.npz";
};

} // namespace

void runChain(const std::string &folder, const TargetInfo &target, uint64_t seed,
              const Notes &notes) {
  Chain(folder, target, seed, notes).run();
}

} // namespace tpuc::fuzz
