//===- Codegen.cpp - The commands of a network, and its file ------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/GroupInfo.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Interpreter/Evaluate.h"

#include "mlir/Pass/PassManager.h"

#include <set>

namespace tpuc::codegen {
#define GEN_PASS_DEF_CODEGEN
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

namespace tpuc::codegen::generated {
#define GEN_PASS_REGISTRATION
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen::generated

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

tl::unexpected<Error> wrong(Operation *op, const Twine &found, const Twine &expected) {
  return makeError("layer '" + layerName(op) + "'", found.str(), expected.str());
}

/// A tensor that a group loads, and for which operand of its layer.
struct Loaded {
  unsigned operand = 0;
  GroupInfo info;
  int64_t global = 0;
  std::optional<Slice> last;
  int64_t version = -1;
};

/// One group: a layer with the tensors that it loads and the one that it stores.
class GroupEmitter {
public:
  GroupEmitter(tpu::GroupOp group, Emitter &emitter) : group(group), emitter(emitter) {}

  Expected<void> emit();

private:
  Expected<void> read();
  Expected<void> readLoads();
  /// The slices of one step, and which of the loads bring something new.
  struct Step {
    SlicedOp sliced;
    SmallVector<unsigned> due;
  };
  Step prepare(const std::array<unsigned, kNumAxes> &step);
  Expected<void> load(const Step &step);
  Expected<void> emitInTurn(ArrayRef<Step> steps);
  Expected<void> emitOverlapping(ArrayRef<Step> steps);

  tpu::GroupOp group;
  Emitter &emitter;
  Operation *layer = nullptr;
  std::optional<SliceModel> model;
  GroupInfo info;
  std::vector<Loaded> loads;
  int64_t stored = 0;
  int64_t numSteps = 0;
};

Expected<void> GroupEmitter::readLoads() {
  for (OpOperand &operand : layer->getOpOperands()) {
    Value value = operand.get();
    if (auto unpack = value.getDefiningOp<tpu::UnpackOp>())
      value = unpack.getInput();
    auto load = value.getDefiningOp<tpu::LoadOp>();
    if (!load)
      continue;
    Expected<GroupInfo> found = GroupInfo::of(load);
    if (!found)
      return propagate(found);
    std::optional<int64_t> address = addressOf(load.getInput().getType());
    if (!address)
      return wrong(load, "loads a tensor without an address", "--address-assign first");
    loads.push_back({operand.getOperandNumber(), std::move(*found), *address, {}, -1});
  }
  return {};
}

Expected<void> GroupEmitter::read() {
  for (Operation &op : group.getBody().front().without_terminator()) {
    if (isa<tpu::LoadOp, tpu::StoreOp, tpu::UnpackOp>(op))
      continue;
    if (layer)
      return wrong(&op, "is the second layer of its group", "one");
    layer = &op;
  }
  if (!layer || group.getNumResults() != 1)
    return wrong(group, "has no layer that is stored", "one");
  Expected<SliceModel> found = sliceModel(layer);
  if (!found)
    return wrong(layer, found.error().message(), "");
  model = std::move(*found);
  Expected<GroupInfo> own = GroupInfo::of(layer);
  if (!own)
    return propagate(own);
  info = std::move(*own);
  std::optional<int64_t> address = addressOf(group.getResult(0).getType());
  if (!address)
    return wrong(group, "stores a tensor without an address", "--address-assign first");
  stored = *address;
  return readLoads();
}

GroupEmitter::Step GroupEmitter::prepare(const std::array<unsigned, kNumAxes> &step) {
  SmallVector<unsigned> due;
  SlicedOp sliced{.op = layer,
                  .model = &*model,
                  .operands = {},
                  .result = {sliceAt(info.sections, step), info.address(numSteps++)},
                  .scratchAddress = info.scratchAddress,
                  .scratchBytes = info.scratchBytes};
  sliced.operands.resize(layer->getNumOperands());
  for (auto [index, load] : llvm::enumerate(loads)) {
    const Slice slice = sliceAt(load.info.sections, step);
    if (load.last != slice) {
      load.last = slice;
      ++load.version;
      due.push_back(static_cast<unsigned>(index));
    }
    sliced.operands[load.operand] = {slice, load.info.address(load.version)};
  }
  return {std::move(sliced), std::move(due)};
}

Expected<void> GroupEmitter::emit() {
  if (Expected<void> known = read(); !known)
    return known;
  emitter.beginLayer(layer);
  std::array<unsigned, kNumAxes> counts{};
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    counts[axis] = static_cast<unsigned>(info.sections[axis].size());
  std::vector<Step> steps;
  for (const auto &step : timeSteps(counts))
    steps.push_back(prepare(step));
  // Where a tensor that changes has one place only, a step is over before the next one begins.
  const bool overlaps =
      (steps.size() == 1 || info.buffers > 1) && llvm::all_of(loads, [](const Loaded &load) {
        return load.version == 0 || load.info.buffers > 1;
      });
  return overlaps ? emitOverlapping(steps) : emitInTurn(steps);
}

Expected<void> GroupEmitter::load(const Step &step) {
  for (unsigned index : step.due)
    if (Expected<void> loaded =
            emitter.load(step.sliced, loads[index].operand, loads[index].global);
        !loaded)
      return loaded;
  return {};
}

Expected<void> GroupEmitter::emitInTurn(ArrayRef<Step> steps) {
  for (const Step &step : steps) {
    if (Expected<void> loaded = load(step); !loaded)
      return loaded;
    if (Expected<void> computed = emitter.compute(step.sliced); !computed)
      return computed;
    if (Expected<void> written = emitter.store(step.sliced, stored); !written)
      return written;
  }
  return {};
}

/// Loads run one step ahead of the computation, stores one behind.
Expected<void> GroupEmitter::emitOverlapping(ArrayRef<Step> steps) {
  for (size_t time = 0; time < steps.size() + 2; ++time) {
    if (time < steps.size())
      if (Expected<void> loaded = load(steps[time]); !loaded)
        return loaded;
    if (time >= 1 && time <= steps.size())
      if (Expected<void> computed = emitter.compute(steps[time - 1].sliced); !computed)
        return computed;
    if (time >= 2)
      if (Expected<void> written = emitter.store(steps[time - 2].sliced, stored); !written)
        return written;
  }
  return {};
}

/// What the model file says besides the commands.
class ContentsReader {
public:
  explicit ContentsReader(ModuleOp module) : module(module) {}
  Expected<ModelContents> read();

private:
  Expected<int64_t> number(StringRef name);
  Expected<void> readWeights();
  Expected<ModelTensor> tensor(Value value, std::string name);

  ModuleOp module;
  ModelContents contents;
};

Expected<int64_t> ContentsReader::number(StringRef name) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  if (!attribute || attribute.getInt() < 0)
    return makeError("module", "has no " + name.str(), "--address-assign first");
  return attribute.getInt();
}

Expected<void> ContentsReader::readWeights() {
  Expected<int64_t> address = number("module.coeff_addr");
  Expected<int64_t> size = number("module.coeff_size");
  if (!address)
    return propagate(address);
  if (!size)
    return propagate(size);
  contents.weightAddress = *address;
  contents.weights.resize(static_cast<size_t>(*size));
  std::set<std::string> seen;
  std::optional<Error> failure;
  module.walk([&](top::WeightOp weight) {
    const std::string name = weight.name();
    std::optional<int64_t> place = addressOf(weight.getOutput().getType());
    if (!place || !seen.insert(name).second)
      return WalkResult::advance();
    Expected<Tensor> read = weight.read();
    if (!read) {
      failure = read.error();
      return WalkResult::interrupt();
    }
    const int64_t offset = *place - *address;
    if (offset < 0 || offset + read->byteSize() > *size) {
      failure = Error{"weight '" + name + "'", "lies outside of the weights", ""};
      return WalkResult::interrupt();
    }
    llvm::copy(read->rawBytes(), contents.weights.begin() + offset);
    contents.weightLocations.push_back({name, offset, read->byteSize()});
    return WalkResult::advance();
  });
  if (failure)
    return tl::unexpected<Error>(*failure);
  return {};
}

Expected<ModelTensor> ContentsReader::tensor(Value value, std::string name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<int64_t> address = addressOf(value.getType());
  if (!type || !address)
    return makeError("tensor '" + name + "'", "has no address", "--address-assign first");
  return ModelTensor{std::move(name), type, *address};
}

Expected<ModelContents> ContentsReader::read() {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Expected<int64_t> neurons = number("module.neuron_addr");
  Expected<int64_t> bytes = number("module.neuron_size");
  if (!neurons)
    return propagate(neurons);
  if (!bytes)
    return propagate(bytes);
  contents.neuronAddress = *neurons;
  contents.neuronBytes = *bytes;
  auto name = module->getAttrOfType<StringAttr>("module.name");
  contents.name = name ? name.getValue().str() : "main";
  for (BlockArgument argument : main.getArguments()) {
    std::string inputName = "input_" + std::to_string(argument.getArgNumber());
    for (Operation *user : argument.getUsers())
      if (isa<top::InputOp>(user))
        inputName = layerName(user);
    Expected<ModelTensor> input = tensor(argument, inputName);
    if (!input)
      return propagate(input);
    contents.inputs.push_back(std::move(*input));
  }
  for (Value value : main.front().getTerminator()->getOperands()) {
    auto result = dyn_cast<OpResult>(value);
    Expected<ModelTensor> output =
        tensor(value, result ? tensorNames(result.getOwner())[result.getResultNumber()]
                             : "output_" + std::to_string(contents.outputs.size()));
    if (!output)
      return propagate(output);
    contents.outputs.push_back(std::move(*output));
  }
  if (Expected<void> weights = readWeights(); !weights)
    return propagate(weights);
  return std::move(contents);
}

Expected<void> emitAll(func::FuncOp main, const Backend &backend, Emitter &emitter) {
  for (Operation &op : main.front().without_terminator()) {
    if (!isLayer(&op))
      continue;
    if (auto group = dyn_cast<tpu::GroupOp>(op)) {
      if (Expected<void> emitted = GroupEmitter(group, emitter).emit(); !emitted)
        return emitted;
      emitter.endLayer(&op);
      continue;
    }
    Expected<Place> place = backend.placeOf(&op);
    if (!place)
      return wrong(&op, place.error().message(), "");
    if (*place == Place::Alias) {
      emitter.endLayer(&op);
      continue;
    }
    if (*place == Place::Local)
      return wrong(&op, "is in no group", "--layer-group first");
    emitter.beginLayer(&op);
    if (Expected<void> moved = emitter.move(&op); !moved)
      return moved;
    emitter.endLayer(&op);
  }
  return {};
}

struct CodegenPass : codegen::impl::CodegenBase<CodegenPass> {
  using Base::Base;
  void runOnOperation() override {
    if (model.empty()) {
      getOperation().emitError("--codegen: no model; expected the file to write");
      return signalPassFailure();
    }
    Expected<OutputFile> file = writeModelFile(getOperation(), model);
    Expected<void> done = file ? file->commit() : propagate(file);
    if (!done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace

Expected<OutputFile> codegen::writeModelFile(ModuleOp module, const std::string &path) {
  Expected<std::unique_ptr<Backend>> backend = backendOf(module);
  if (!backend)
    return propagate(backend);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return makeError("module", "has no function 'main'");
  Expected<ModelContents> contents = ContentsReader(module).read();
  if (!contents)
    return propagate(contents);
  std::unique_ptr<Emitter> emitter = (*backend)->createEmitter();
  if (Expected<void> emitted = emitAll(main, **backend, *emitter); !emitted)
    return propagate(emitted);
  return emitter->finish(*contents, path);
}

void codegen::addCodegen(OpPassManager &manager, int opt) {
  manager.addPass(createDecomposeAttention());
  manager.addPass(createWeightReorder());
  manager.addPass(createSubnetDivide());
  manager.addPass(createOpReorder());
  manager.addPass(createLayerGroup({.opt = opt}));
  manager.addPass(createAddressAssign());
}

void codegen::registerCodegen() { generated::registerTpucCodegenPasses(); }
