//===- LayerErrors.cpp - What each layer of a lowered network adds to the error -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/LayerErrors.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Driver/Validation.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Progress.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace tpuc;

namespace {

std::string nameOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result ? tensorNames(result.getOwner())[result.getResultNumber()] : "";
}

bool isStructure(Operation *op) { return op->hasTrait<traits::Structural>(); }

class LayerMeter {
public:
  LayerMeter(ModuleOp lowered, const std::map<std::string, std::string> &names,
             const NpzReader &reference, unsigned numThreads);

  Expected<void> measureWhole(const TensorMap &inputs);
  Expected<void> measureAlone(const TensorMap &inputs, NpzWriter &dump);

  std::vector<LayerError> layers;

private:
  struct Result {
    size_t layer;
    std::string referenceName;
    /// How the device stores it.
    DataType type;
  };

  void addLayer(Operation &op);
  Expected<Tensor> compare(const Result &result, const Tensor &tensor,
                           TensorComparison LayerError::*figure);

  ModuleOp lowered;
  const std::map<std::string, std::string> &names;
  const NpzReader &reference;
  ThreadPool threads;
  /// By the names of the lowered network.
  std::map<std::string, Result> results;
  /// The names of the reference that a layer has already.
  std::set<std::string> claimed;
  /// The layers that a value comes from.
  llvm::DenseMap<Value, llvm::SetVector<size_t>> makers;
};

LayerMeter::LayerMeter(ModuleOp lowered, const std::map<std::string, std::string> &names,
                       const NpzReader &reference, unsigned numThreads)
    : lowered(lowered), names(names), reference(reference), threads(numThreads) {
  if (auto main = lowered.lookupSymbol<func::FuncOp>("main"))
    for (Operation &op : main.front().without_terminator())
      if (!isStructure(&op))
        addLayer(op);
}

void LayerMeter::addLayer(Operation &op) {
  const size_t layer = layers.size();
  llvm::SetVector<size_t> inputs;
  for (Value operand : op.getOperands())
    if (auto found = makers.find(operand); found != makers.end())
      inputs.insert(found->second.begin(), found->second.end());
  bool isLayer = false;
  for (auto [name, value] : llvm::zip_equal(tensorNames(&op), op.getResults())) {
    auto alias = names.find(name);
    const std::string &wanted = alias == names.end() ? name : alias->second;
    std::optional<DataType> type = storageDataType(value.getType());
    if (!type || !reference.contains(wanted) || !claimed.insert(wanted).second)
      continue;
    if (!isLayer)
      layers.push_back({.name = wanted,
                        .op = op.getName().getStringRef().str(),
                        .type = *type,
                        .whole = {},
                        .alone = {},
                        .effect = {},
                        .tensors = {},
                        .inputs = {inputs.begin(), inputs.end()}});
    layers.back().tensors.push_back(wanted);
    isLayer = true;
    results.emplace(name, Result{layer, wanted, *type});
  }
  if (isLayer) {
    inputs.clear();
    inputs.insert(layer);
  }
  for (Value value : op.getResults())
    makers[value] = inputs;
}

/// Gives the reference's tensor.
Expected<Tensor> LayerMeter::compare(const Result &result, const Tensor &tensor,
                                     TensorComparison LayerError::*figure) {
  Expected<Tensor> expected = reference.read(result.referenceName);
  if (!expected)
    return expected;
  TensorComparison made = compareTensors(tensor, *expected, &threads);
  TensorComparison &kept = layers[result.layer].*figure;
  if (kept.targetShape.rank() == 0 || isLessAlike(made, kept))
    kept = std::move(made);
  return expected;
}

Expected<void> LayerMeter::measureWhole(const TensorMap &inputs) {
  return runNetwork(lowered, inputs, threads.numThreads(),
                    [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
                      auto found = results.find(name);
                      if (found == results.end())
                        return {};
                      Expected<Tensor> read = compare(found->second, tensor, &LayerError::whole);
                      if (!read)
                        return propagate(read);
                      releaseMapped(read->rawBytes());
                      return {};
                    });
}

/// `reference` with the values that `type` has, held as `made` is.
Tensor asStored(const Tensor &reference, DataType type, const Tensor &made) {
  const bool isRounded = isFloat(type) && type != made.type();
  return convert(isRounded ? convert(reference, type) : reference, made.type());
}

Expected<void> LayerMeter::measureAlone(const TensorMap &inputs, NpzWriter &dump) {
  std::set<std::string> written;
  TensorSubstitute substitute = [&](const std::string &name,
                                    const Tensor &tensor) -> Expected<std::optional<Tensor>> {
    auto found = results.find(name);
    if (found == results.end())
      return std::nullopt;
    Expected<Tensor> read = compare(found->second, tensor, &LayerError::alone);
    if (!read)
      return propagate(read);
    // Two ops may make a tensor of one name: the first stands for both.
    if (written.insert(found->second.referenceName).second)
      if (Expected<void> added = dump.add(found->second.referenceName, tensor); !added)
        return propagate(added);
    if (read->numElements() != tensor.numElements())
      return std::nullopt;
    return asStored(*read, found->second.type, tensor).reshaped(tensor.shape());
  };
  return runNetwork(lowered, inputs, threads.numThreads(), nullptr, substitute);
}

} // namespace

std::map<std::string, std::string> tpuc::referenceNames(ModuleOp lowered, ModuleOp top) {
  std::map<std::string, std::string> names;
  auto main = lowered.lookupSymbol<func::FuncOp>("main");
  auto source = top.lookupSymbol<func::FuncOp>("main");
  if (!main || !source)
    return names;
  std::set<std::string> known;
  for (Operation &op : source.front())
    for (std::string &name : tensorNames(&op))
      known.insert(std::move(name));
  const auto addAlias = [&](Value value, const std::string &name) {
    if (std::string own = nameOf(value);
        !own.empty() && known.contains(name) && !known.contains(own))
      names.emplace(std::move(own), name);
  };
  for (auto cast : main.front().getOps<tpu::CastOp>())
    addAlias(cast.getInput(), nameOf(cast.getOutput()));
  for (auto [value, original] : llvm::zip(main.front().getTerminator()->getOperands(),
                                          source.front().getTerminator()->getOperands()))
    addAlias(value, nameOf(original));
  return names;
}

Expected<std::vector<LayerError>>
tpuc::measureLayers(ModuleOp lowered, const TensorMap &inputs,
                    const std::map<std::string, std::string> &names, const NpzReader &reference,
                    NpzWriter &alone, unsigned numThreads) {
  LayerMeter meter(lowered, names, reference, numThreads);
  if (Expected<void> measured = meter.measureWhole(inputs); !measured)
    return propagate(measured);
  if (Expected<void> measured = meter.measureAlone(inputs, alone); !measured)
    return propagate(measured);
  return std::move(meter.layers);
}

/// The least alike of `outputs`; nothing if none of them is in `reference`.
static Expected<std::optional<TensorComparison>>
worstOutput(const TensorMap &outputs, const NpzReader &reference, ThreadPool &threads) {
  std::optional<TensorComparison> worst;
  for (const auto &[name, tensor] : outputs) {
    if (!reference.contains(name))
      continue;
    Expected<Tensor> expected = reference.read(name);
    if (!expected)
      return propagate(expected);
    TensorComparison made = compareTensors(tensor, *expected, &threads);
    if (!worst || isLessAlike(made, *worst))
      worst = std::move(made);
  }
  return worst;
}

Expected<void> tpuc::measureEffects(ModuleOp top, const TensorMap &inputs,
                                    std::span<LayerError *const> layers, const NpzReader &alone,
                                    const NpzReader &reference, unsigned numThreads) {
  const LayerError *current = nullptr;
  InterpreterOptions options;
  options.numThreads = numThreads;
  options.substitute = [&](const std::string &name,
                           const Tensor &tensor) -> Expected<std::optional<Tensor>> {
    if (std::ranges::find(current->tensors, name) == current->tensors.end())
      return std::nullopt;
    Expected<Tensor> made = alone.read(name);
    if (!made)
      return propagate(made);
    if (made->numElements() != tensor.numElements())
      return std::nullopt;
    return convert(*made, tensor.type()).reshaped(tensor.shape());
  };
  Expected<std::unique_ptr<Interpreter>> interpreter = Interpreter::create(top, options);
  if (!interpreter)
    return propagate(interpreter);
  ThreadPool threads(numThreads);
  Progress progress("Measuring what layers do to the outputs", std::ssize(layers));
  for (LayerError *layer : layers) {
    current = layer;
    Expected<TensorMap> outputs = (*interpreter)->run(inputs);
    if (!outputs)
      return propagate(outputs);
    Expected<std::optional<TensorComparison>> worst = worstOutput(*outputs, reference, threads);
    if (!worst)
      return propagate(worst);
    layer->effect = std::move(*worst);
    progress.advance();
  }
  return {};
}

/// By how much a layer's similarity is below that of its worst input.
static double drop(std::span<const LayerError> layers, const LayerError &layer) {
  double input = 1;
  for (size_t index : layer.inputs)
    input = std::min(input, layers[index].whole.euclid);
  return input - layer.whole.euclid;
}

const LayerError *tpuc::findOrigin(std::span<const LayerError> layers, const Tolerance &tolerance) {
  const auto isBelow = [&](const LayerError &layer) { return !layer.whole.passes(tolerance); };
  if (std::ranges::none_of(layers, isBelow))
    return nullptr;
  for (const LayerError &layer : layers)
    if (isBelow(layer) && !layer.alone.passes(tolerance))
      return &layer;
  return &*std::ranges::max_element(layers, {},
                                    [&](const LayerError &layer) { return drop(layers, layer); });
}
