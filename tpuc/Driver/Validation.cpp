//===- Validation.cpp - A network run against a reference, tensor by tensor -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/Validation.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Driver/DetectionSets.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Suggest.h"
#include "tpuc/Support/TensorText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace tpuc;

namespace {

/// The first names of a list, for messages.
template <typename Names> std::string someOf(const Names &names) {
  constexpr size_t kShown = 8;
  std::vector<std::string> shown;
  for (const std::string &name : names) {
    if (shown.size() == kShown)
      break;
    shown.push_back("'" + name + "'");
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown)
    text += fmt::format(" and {} more", names.size() - kShown);
  return text.empty() ? "none" : text;
}

Expected<void> checkExcepts(const std::vector<std::string> &excepts,
                            const std::set<std::string> &names) {
  std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string &name : excepts)
    if (!names.contains(name)) {
      std::optional<std::string_view> near = closestMatch(name, known);
      return makeError("--excepts", "the network has no tensor '" + name + "'",
                       near ? fmt::format("a tensor of it; did you mean '{}'?", *near)
                            : "tensors of it");
    }
  return {};
}

/// How the tensors of `main` are stored; the interpreter gives some of them as f32.
std::map<std::string, mlir::Type> storedTypes(mlir::ModuleOp module) {
  std::map<std::string, mlir::Type> types;
  if (auto main = module.lookupSymbol<mlir::func::FuncOp>("main"))
    for (mlir::Operation &op : main.getOps())
      for (auto [name, result] : llvm::zip(tensorNames(&op), op.getResults()))
        if (storageDataType(result.getType()))
          types.emplace(name, result.getType());
  return types;
}

/// `tensor` as the numbers that its integers stand for, where they are those of `type`.
Tensor expressed(Tensor tensor, mlir::Type type, ThreadPool &threads) {
  quant::UniformQuantizedType quantized = tpu::quantizedType(type);
  if (!quantized || tensor.type() != storageDataType(type))
    return tensor;
  Tensor numbers(DataType::F32, tensor.shape());
  kernels::dequantizeStored(tensor, tpu::paramsOf(quantized), numbers, threads);
  return numbers;
}

/// What `reference` has for `tensor`. Errors: damage; a deflated array of another size, which might
/// take any amount of memory.
Expected<Tensor> readReference(const NpzReader &reference, const std::string &name,
                               const Tensor &tensor) {
  Expected<NpzEntry> entry = reference.info(name);
  if (!entry)
    return propagate(entry);
  if (entry->compressed && entry->shape.numElements() != tensor.numElements())
    return makeError(fmt::format("{}: '{}'", reference.where(), name),
                     "has the shape " + entry->shape.str(), tensor.shape().str());
  if (Expected<void> verified = reference.verifyView(name); !verified)
    return propagate(verified);
  return reference.read(name);
}

/// `inputs` as the types that the network takes.
TensorMap convertInputs(const Interpreter &interpreter, const TensorMap &inputs) {
  TensorMap converted = inputs;
  for (const TensorInfo &info : interpreter.inputs())
    if (auto found = converted.find(info.name); found != converted.end())
      if (isFloat(info.dataType) && isFloat(found->second.type()))
        found->second = convert(found->second, info.dataType);
  return converted;
}

} // namespace

Expected<void> tpuc::runNetwork(mlir::ModuleOp module, const TensorMap &inputs, unsigned numThreads,
                                const TensorProbe &look, const TensorSubstitute &substitute) {
  std::set<std::string> seen;
  InterpreterOptions options;
  options.numThreads = numThreads;
  options.expressed = true;
  options.substitute = substitute;
  if (look)
    options.probe = [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
      // Ops of a module that somebody has written may share a name.
      return seen.insert(name).second ? look(name, tensor) : Expected<void>();
    };
  Expected<std::unique_ptr<Interpreter>> interpreter = Interpreter::create(module, options);
  if (!interpreter)
    return propagate(interpreter);
  if (Expected<TensorMap> outputs = (*interpreter)->run(convertInputs(**interpreter, inputs));
      !outputs)
    return propagate(outputs);
  return {};
}

Expected<OutputFile> tpuc::dumpTensors(mlir::ModuleOp module, const TensorMap &inputs,
                                       const std::string &path, unsigned numThreads) {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  Expected<void> run =
      runNetwork(module, inputs, numThreads, [&](const std::string &name, const Tensor &tensor) {
        return writer->add(name, tensor);
      });
  if (!run)
    return propagate(run);
  return writer->finish();
}

Expected<void> tpuc::validate(mlir::ModuleOp module, const TensorMap &inputs,
                              const NpzReader &reference, const ValidationOptions &options,
                              ComparisonReport &report, NpzWriter *dump) {
  const std::set<std::string> excepts(options.excepts.begin(), options.excepts.end());
  const std::map<std::string, mlir::Type> stored = storedTypes(module);
  DetectionMatcher detections(module);
  std::set<std::string> names;
  ThreadPool threads(options.numThreads);
  auto compare = [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
    auto alias = options.referenceNames.find(name);
    const std::string &wanted = alias == options.referenceNames.end() ? name : alias->second;
    // A tensor and its cast to another type may both stand for one of the reference.
    if (!names.insert(wanted).second)
      return {};
    if (excepts.contains(wanted)) {
      report.addExcept(wanted);
      return {};
    }
    const bool counts = options.counting.empty() || options.counting.contains(wanted);
    // An input is not a result.
    if (!reference.contains(wanted) || inputs.contains(wanted) || (!counts && options.countingOnly))
      return {};
    Expected<Tensor> expected = readReference(reference, wanted, tensor);
    if (!expected)
      return propagate(expected);
    const auto type = stored.find(name);
    if (type != stored.end())
      *expected = expressed(std::move(*expected), type->second, threads);
    const std::optional<Tensor> matched = detections.matched(name, tensor, *expected);
    TensorComparison made = compareTensors(matched ? *matched : tensor, *expected, &threads);
    if (type != stored.end())
      made.targetType = *storageDataType(type->second);
    report.add(wanted, std::move(made), counts, std::nullopt,
               lostPart(tensor, *expected, options.parts, wanted));
    releaseMapped(expected->rawBytes());
    return {};
  };
  auto look = [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
    if (Expected<void> compared = compare(name, tensor); !compared)
      return compared;
    return dump ? dump->add(name, tensor) : Expected<void>();
  };
  if (Expected<void> run = runNetwork(module, inputs, options.numThreads, look); !run)
    return run;
  if (Expected<void> checked = checkExcepts(options.excepts, names); !checked)
    return checked;
  for (const std::string &name : options.counting)
    if (!reference.contains(name) && !excepts.contains(name))
      report.addMissing(name, ComparisonReport::Side::Reference);
  if (report.numCounting() == 0 && excepts.empty())
    return makeError(reference.where(), "has only " + someOf(reference.names()),
                     "some of the network's tensors " +
                         someOf(options.counting.empty() ? names : options.counting));
  return {};
}
