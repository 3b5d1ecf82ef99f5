//===- ModelFileCheck.cpp - What a new model file takes and computes ------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModelFileCheck.h"
#include "runtime/Session.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Driver/DetectionSets.h"
#include "tpuc/Driver/RoundingNoise.h"
#include "tpuc/Driver/Validation.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Support/Compare.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Counted.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace tpuc;

namespace {

/// How many layers the report names.
constexpr size_t kSlowest = 5;
/// Every bit.
constexpr Tolerance kEqual = {1, 1};

std::vector<ModelFileReport::Layer> layersOf(const model::TimingResult &timing) {
  std::vector<ModelFileReport::Layer> layers;
  for (const model::TimingResult::LayerTime &layer : timing.layers)
    if (!layer.name.empty())
      layers.push_back({layer.name, timing.cyclesOf(layer, /*computing=*/true),
                        timing.cyclesOf(layer, /*computing=*/false)});
  return layers;
}

std::vector<ModelFileReport::Layer> slowestOf(std::vector<ModelFileReport::Layer> layers) {
  const auto key = [](const ModelFileReport::Layer &layer) {
    return std::tuple(-std::max(layer.computeCycles, layer.transferCycles), layer.name);
  };
  llvm::sort(layers, [&](const auto &a, const auto &b) { return key(a) < key(b); });
  layers.resize(std::min(layers.size(), kSlowest));
  return layers;
}

Expected<void> time(const runtime::LoadedModel &model, ModelFileReport &report) {
  const auto timing = model.timing({});
  if (!timing)
    return tl::unexpected(timing.error());
  report.cycles = timing->sets.front().cycles;
  report.conservativeCycles = timing->sets.back().cycles;
  for (const auto &engine : timing->engines)
    report.commands += std::ssize(engine.commands);
  report.milliseconds = timing->seconds() * 1e3;
  report.computeBusy = timing->busy(/*computing=*/true);
  report.transferBusy = timing->busy(/*computing=*/false);
  report.macUtilisation = timing->sets.front().macUtilisation();
  report.bytesRead = timing->bytesRead;
  report.bytesWritten = timing->bytesWritten;
  report.layers = layersOf(*timing);
  report.slowest = slowestOf(report.layers);
  return {};
}

/// Whether integers alone decide `value`, so that whatever computes it gives the same bits.
bool isExact(mlir::Value value, llvm::DenseMap<mlir::Operation *, bool> &known) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op || op->hasTrait<traits::Structural>())
    return true;
  if (auto found = known.find(op); found != known.end())
    return found->second;
  const auto isInteger = [](mlir::Value result) {
    const std::optional<DataType> type = storageDataType(result.getType());
    return type && !isFloat(*type);
  };
  // Floats of sums of integers are two multiplications, each rounded once.
  const bool isProduct =
      op->hasTrait<traits::Product>() && llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
        return !top::isPresent(operand) || isInteger(operand);
      });
  const bool exact =
      (mlir::isa<tpu::CastOp>(op) || isProduct || llvm::all_of(op->getResults(), isInteger)) &&
      llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return isExact(operand, known); });
  known[op] = exact;
  return exact;
}

/// The outputs of the lowered network that are made of integers alone.
std::set<std::string> exactOutputs(mlir::ModuleOp lowered) {
  std::set<std::string> names;
  llvm::DenseMap<mlir::Operation *, bool> known;
  auto main = lowered.lookupSymbol<mlir::func::FuncOp>("main");
  for (mlir::Value value : main.front().getTerminator()->getOperands())
    if (auto result = mlir::dyn_cast<mlir::OpResult>(value); result && isExact(value, known))
      names.insert(tensorNames(result.getOwner())[result.getResultNumber()]);
  return names;
}

/// An output of the file beside the one of that name that the lowered network gives.
struct CheckedOutput {
  std::string name;
  /// Of the file; without elements once it is known to be right.
  Tensor made;
  /// Nothing as long as the lowered network has not given it.
  std::optional<TensorComparison> comparison = std::nullopt;
  /// Whether roundings alone may have made the difference.
  bool mayBeRounded = false;
  std::string fault = {};
  /// How it was compared, where that needs saying.
  std::string remark = {};
  /// Detections of the lowered network that it has not.
  int64_t numLost = 0;
};

/// The numbers that a stored output stands for, as the lowered network gives it.
Tensor numbersOf(Tensor made, const model::TensorInfo &info, int numThreads) {
  if (isFloat(made.type()) || (info.scale == 1 && info.zeroPoint == 0))
    return made;
  Tensor numbers(DataType::F32, made.shape());
  ThreadPool threads(numThreads);
  kernels::dequantizeStored(made, {info.scale, info.zeroPoint}, numbers, threads);
  return numbers;
}

/// Runs the file on `inputs`; the outputs in their order.
Expected<std::vector<CheckedOutput>> fileOutputs(std::shared_ptr<const runtime::LoadedModel> model,
                                                 const ModelFileRequest &request) {
  auto session = runtime::Session::create(std::move(model), {}, request.numThreads);
  if (!session)
    return propagate(session);
  const model::Stage &stage = (*session)->stage();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    auto given = request.inputs.find(stage.inputs[i].name);
    if (given == request.inputs.end())
      return makeError("--test_input", "no tensor '" + stage.inputs[i].name + "'");
    // Rounded as the lowered network has it; the runtime truncates, as the vendors' do.
    const bool isRounded = stage.inputs[i].type == DataType::BF16;
    if (Expected<void> set = (*session)->setInput(
            i, isRounded ? convert(given->second, DataType::BF16) : given->second);
        !set)
      return propagate(set);
  }
  if (Expected<void> run = (*session)->run(); !run)
    return propagate(run);
  std::vector<CheckedOutput> outputs;
  for (size_t i = 0; i < stage.outputs.size(); ++i) {
    Expected<Tensor> made = (*session)->output(i);
    if (!made)
      return propagate(made);
    const model::TensorInfo &info = stage.outputs[i];
    outputs.push_back(
        {.name = info.name, .made = numbersOf(std::move(*made), info, request.numThreads)});
  }
  return outputs;
}

/// What says that the file has lost more detections than roundings do; `byRounding` is what they
/// lose at most.
std::string lostDetections(const CheckedOutput &output, int64_t byRounding) {
  const auto most = static_cast<int64_t>(RoundingNoise::kMargin * static_cast<double>(byRounding));
  return output.numLost <= most
             ? ""
             : fmt::format("it has lost {}, where roundings lose {} at most and {} may be",
                           counted(output.numLost, "detection"), byRounding, most);
}

/// Compares the outputs of the file with those of the lowered network as the interpreter makes
/// them. Beside the file's outputs, only what may differ by roundings is kept.
class OutputCheck {
public:
  OutputCheck(const ModelFileRequest &request, std::vector<CheckedOutput> outputs)
      : request(request), outputs(std::move(outputs)), exact(exactOutputs(request.lowered)),
        detections(request.lowered) {}

  Expected<void> run(ModelFileReport &report);

private:
  Expected<void> runLowered();
  void compare(const std::string &name, const Tensor &expected);
  Expected<void> judgeRounded(ModelFileReport &report);

  const ModelFileRequest &request;
  std::vector<CheckedOutput> outputs;
  /// The outputs that integers alone decide.
  std::set<std::string> exact;
  DetectionMatcher detections;
  /// What the lowered network gives of those that may be rounded.
  TensorMap plain;
  std::optional<RoundingNoise> noise;
};

void OutputCheck::compare(const std::string &name, const Tensor &expected) {
  for (CheckedOutput &output : outputs) {
    if (output.name != name)
      continue;
    if (std::optional<Tensor> moved = detections.matched(name, output.made, expected)) {
      if (const MatchedDetections *matched = detections.find(name)) {
        if (matched->isAnyMoved || matched->numFound < matched->numReference)
          output.remark = matched->sentence(name);
        output.numLost = matched->numLost();
      }
      output.made = convert(*moved, output.made.type());
    }
    output.comparison = compareTensors(output.made, expected);
    output.mayBeRounded = !output.comparison->isEqual && !exact.contains(name);
    if (!output.mayBeRounded) {
      output.made = Tensor();
      continue;
    }
    output.fault = lostPart(output.made, expected, request.parts, name);
    if (!plain.contains(name))
      plain.emplace(name, expected.clone());
  }
}

/// Compares each output that `main` gives.
Expected<void> OutputCheck::runLowered() {
  std::set<std::string> wanted;
  mlir::ModuleOp lowered = request.lowered;
  auto main = lowered.lookupSymbol<mlir::func::FuncOp>("main");
  for (mlir::Value value : main.front().getTerminator()->getOperands()) {
    if (auto weight = value.getDefiningOp<top::WeightOp>()) {
      Expected<Tensor> constant = weight.read();
      if (!constant)
        return propagate(constant);
      compare(layerName(weight), *constant);
    } else if (auto result = mlir::dyn_cast<mlir::OpResult>(value)) {
      wanted.insert(tensorNames(result.getOwner())[result.getResultNumber()]);
    }
  }
  return runNetwork(request.lowered, request.inputs, request.numThreads,
                    [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
                      if (wanted.contains(name))
                        compare(name, tensor);
                      return {};
                    });
}

/// Measures what roundings do where an output differs.
Expected<void> OutputCheck::judgeRounded(ModelFileReport &report) {
  if (plain.empty())
    return {};
  Expected<RoundingNoise> measured =
      RoundingNoise::measure(request.lowered, request.inputs, plain, request.numThreads);
  if (!measured)
    return propagate(measured);
  noise.emplace(std::move(*measured));
  report.rounding.emplace(
      ModelFileReport::Rounding{RoundingNoise::kRuns, noise->numLayers(), /*outputs=*/{}});
  for (CheckedOutput &output : outputs) {
    if (!output.mayBeRounded)
      continue;
    report.rounding->outputs.push_back(
        {output.name, noise->moved(output.name), noise->limit(output.name)});
    if (output.fault.empty())
      output.fault = lostDetections(output, noise->mostLost(output.name));
    if (output.fault.empty())
      output.fault = noise->faultOf(output.name, output.made, request.parts);
    if (output.fault.empty() && noise->limit(output.name) > RoundingNoise::kLargeDifference)
      output.fault = lostSignal(output.made, plain.find(output.name)->second, output.name);
  }
  return {};
}

Expected<void> OutputCheck::run(ModelFileReport &report) {
  if (Expected<void> run = runLowered(); !run)
    return run;
  if (Expected<void> judged = judgeRounded(report); !judged)
    return judged;
  report.comparison.emplace(kEqual);
  for (CheckedOutput &output : outputs) {
    if (!output.remark.empty())
      report.remarks.push_back(output.remark);
    if (!output.comparison)
      report.comparison->addMissing(output.name, ComparisonReport::Side::Reference);
    else if (!output.mayBeRounded)
      report.comparison->add(output.name, std::move(*output.comparison));
    else
      report.comparison->add(output.name, std::move(*output.comparison), /*counts=*/true,
                             noise->tolerance(output.name), std::move(output.fault));
  }
  return {};
}

Expected<void> compare(std::shared_ptr<const runtime::LoadedModel> model,
                       const ModelFileRequest &request, ModelFileReport &report) {
  auto outputs = fileOutputs(std::move(model), request);
  return outputs ? OutputCheck(request, std::move(*outputs)).run(report) : propagate(outputs);
}

} // namespace

Expected<ModelFileReport> tpuc::checkModelFile(const ModelFileRequest &request) {
  auto model = runtime::LoadedModel::load(request.path);
  if (!model)
    return propagate(model);
  ModelFileReport report;
  report.fileBytes = static_cast<int64_t>(std::filesystem::file_size(request.path));
  report.neuronBytes = static_cast<int64_t>((*model)->stage({}).activationBytes);
  if (Expected<void> timed = time(**model, report); !timed)
    return propagate(timed);
  if (!request.inputs.empty())
    if (Expected<void> compared = compare(*model, request, report); !compared)
      return propagate(compared);
  return report;
}

std::vector<std::string> ModelFileReport::Rounding::sentences() const {
  std::vector<std::string> texts;
  for (const Output &output : outputs)
    texts.push_back(fmt::format(
        "'{}' may be off by {:.2g} % of its norm: one rounding of each of {} "
        "moves it by {:.2g} % ({} more runs of the interpreter)",
        output.name, 100 * output.allowed, counted(layers, "layer"), 100 * output.moved, runs));
  return texts;
}

nlohmann::ordered_json ModelFileReport::toJson() const {
  nlohmann::ordered_json json = {{"file_bytes", fileBytes},
                                 {"neuron_bytes", neuronBytes},
                                 {"cycles", cycles},
                                 {"conservative_cycles", conservativeCycles},
                                 {"milliseconds", milliseconds},
                                 {"compute_busy", computeBusy},
                                 {"transfer_busy", transferBusy},
                                 {"mac_utilisation", macUtilisation},
                                 {"bytes_read", bytesRead},
                                 {"bytes_written", bytesWritten},
                                 {"slowest", nlohmann::ordered_json::array()}};
  for (const Layer &layer : slowest)
    json["slowest"].push_back({{"name", layer.name},
                               {"compute_cycles", layer.computeCycles},
                               {"transfer_cycles", layer.transferCycles}});
  json["remarks"] = remarks;
  json["rounding"] = nullptr;
  if (rounding) {
    json["rounding"] = {{"runs", rounding->runs},
                        {"layers", rounding->layers},
                        {"outputs", nlohmann::ordered_json::array()}};
    for (const Rounding::Output &output : rounding->outputs)
      json["rounding"]["outputs"].push_back(
          {{"name", output.name}, {"moved", output.moved}, {"allowed", output.allowed}});
  }
  json["comparison"] = comparison ? comparison->json() : nlohmann::ordered_json();
  return json;
}
