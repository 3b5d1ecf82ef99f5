//===- NullRun.cpp - Runs compiled networks -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullRun.h"
#include "tpuc/Codegen/Backends.h"
#include "tpuc/Codegen/Emit/ModelContents.h"
#include "tpuc/Codegen/Emit/NetworkEmitter.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Target/Null/Codegen/NullMachine.h"

#include "llvm/ADT/DenseMap.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

namespace {

/// One run of a network.
class NetworkRun {
public:
  NetworkRun(NullMachine &machine, func::FuncOp main) : machine(machine), main(main) {}

  Expected<void> fill(const model::Stage &stage, const TensorMap &inputs);
  Expected<void> run(ArrayRef<Stream> streams);
  Expected<TensorMap> outputs(const model::Stage &stage);

private:
  Expected<void> writeConstants(const model::Stage &stage);
  Expected<std::optional<Tensor>> valueOf(Value value);
  Expected<void> runOnHost(Operation *op);

  NullMachine &machine;
  func::FuncOp main;
  /// What has no place in the device's memory.
  llvm::DenseMap<Value, Tensor> onHost;
};

Shape staticShape(RankedTensorType type) {
  return Shape(std::span(type.getShape().data(), type.getShape().size()));
}

Shape shapeOf(const model::TensorInfo &tensor) {
  const std::vector<int64_t> dims(tensor.shape.begin(), tensor.shape.end());
  return Shape(std::span(dims.data(), dims.size()));
}

Expected<void> NetworkRun::writeConstants(const model::Stage &stage) {
  for (const model::Section &axisTile : stage.constants)
    if (Expected<void> written =
            machine.write(static_cast<int64_t>(axisTile.address), axisTile.data);
        !written)
      return written;
  return {};
}

Expected<void> NetworkRun::fill(const model::Stage &stage, const TensorMap &inputs) {
  if (Expected<void> written = writeConstants(stage); !written)
    return written;
  for (const model::TensorInfo &input : stage.inputs) {
    const auto found = inputs.find(input.name);
    const DataType type = *input.type;
    const Shape shape = shapeOf(input);
    if (found == inputs.end())
      return makeError("input '" + input.name + "'", "is missing");
    if (found->second.type() != type || found->second.shape() != shape)
      return makeError(
          "input '" + input.name + "'",
          fmt::format("is {} {}", found->second.shape().str(), dataTypeName(found->second.type())),
          fmt::format("{} {}", shape.str(), dataTypeName(type)));
    if (Expected<void> written =
            machine.write(static_cast<int64_t>(input.address), found->second.rawBytes());
        !written)
      return written;
  }
  return {};
}

Expected<std::optional<Tensor>> NetworkRun::valueOf(Value value) {
  if (isa<NoneType>(value.getType()))
    return std::optional<Tensor>();
  if (const auto found = onHost.find(value); found != onHost.end())
    return std::optional(found->second);
  if (auto weight = value.getDefiningOp<top::WeightOp>()) {
    Expected<Tensor> read = weight.read();
    return read ? Expected<std::optional<Tensor>>(*read) : propagate(read);
  }
  const RankedTensorType type = staticType(value);
  const std::optional<int64_t> address = addressOf(value.getType());
  if (!type || !address)
    return makeError("", "a tensor that is nowhere", "one with an address");
  Expected<Tensor> read = machine.read(*address, *storageDataType(type), staticShape(type));
  return read ? Expected<std::optional<Tensor>>(*read) : propagate(read);
}

Expected<void> NetworkRun::runOnHost(Operation *op) {
  std::vector<std::optional<Tensor>> operands;
  for (Value operand : op->getOperands()) {
    Expected<std::optional<Tensor>> tensor = valueOf(operand);
    if (!tensor)
      return propagate(tensor);
    operands.push_back(std::move(*tensor));
  }
  Expected<std::vector<std::optional<Tensor>>> results = machine.ops().run(op, operands);
  if (!results)
    return propagate(results);
  for (auto [value, result] : llvm::zip_equal(op->getResults(), *results)) {
    if (!result)
      continue;
    onHost[value] = *result;
    if (std::optional<int64_t> address = addressOf(value.getType()))
      if (Expected<void> written = machine.write(*address, result->rawBytes()); !written)
        return written;
  }
  return {};
}

Expected<void> NetworkRun::run(ArrayRef<Stream> streams) {
  for (const SubNet &subNet : subNetsOf(main.front())) {
    if (!subNet.isCpu) {
      if (Expected<void> done = machine.run(streams.front()); !done)
        return done;
      streams = streams.drop_front();
      continue;
    }
    for (Operation *op : subNet.layers) {
      Expected<void> done = runOnHost(op);
      if (!done && done.error().where.empty())
        done.error().where = "layer '" + layerName(op) + "'";
      if (!done)
        return done;
    }
  }
  return {};
}

Expected<TensorMap> NetworkRun::outputs(const model::Stage &stage) {
  TensorMap made;
  for (auto [output, value] :
       llvm::zip_equal(stage.outputs, main.front().getTerminator()->getOperands())) {
    Expected<std::optional<Tensor>> tensor = valueOf(value);
    if (!tensor)
      return propagate(tensor);
    made.insert_or_assign(output.name, std::move(**tensor));
  }
  return made;
}

} // namespace

Expected<TensorMap> runCompiled(ModuleOp compiled, const TensorMap &inputs, std::byte poison) {
  Expected<std::unique_ptr<Backend>> backend = backendOf(compiled);
  if (!backend)
    return propagate(backend);
  const TargetInfo &target = (*backend)->info();
  Expected<func::FuncOp> main = top::mainFunction(compiled);
  if (!main)
    return propagate(main);
  Expected<model::CompiledModel> contents = readModelContents(compiled, target);
  if (!contents)
    return propagate(contents);
  NullEmitter emitter(target);
  if (Expected<void> emitted = emitNetwork(*main, **backend, emitter); !emitted)
    return propagate(emitted);
  const model::Stage &stage = contents->nets.front().stages.front();
  NullMachine machine(target, addressRegions(compiled), poison);
  NetworkRun network(machine, *main);
  if (Expected<void> filled = network.fill(stage, inputs); !filled)
    return propagate(filled);
  if (Expected<void> done = network.run(emitter.streams()); !done)
    return propagate(done);
  return network.outputs(stage);
}

} // namespace tpuc::Null
