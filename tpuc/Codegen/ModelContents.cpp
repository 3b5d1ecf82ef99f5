//===- ModelContents.cpp - What a model file says besides commands ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/ModelContents.h"
#include "tpuc/Codegen/CpuForm.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/MappedFile.h"

#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// What the model file says besides the commands.
class ContentsReader {
public:
  ContentsReader(ModuleOp module, const TargetInfo &target) : module(module), target(target) {}
  Expected<ModelContents> read();

private:
  Expected<int64_t> number(StringRef name);
  Expected<void> readWeights();
  Expected<void> place(top::WeightOp weight, int64_t address);
  Expected<ModelTensor> tensor(Value value, std::string name);
  Expected<ModelTensor> tensor(Value value);
  Expected<void> readParts(Block &block);

  ModuleOp module;
  const TargetInfo &target;
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
    std::optional<int64_t> address = addressOf(weight.getOutput().getType());
    if (!address || !seen.insert(weight.name()).second)
      return WalkResult::advance();
    Expected<void> placed = place(weight, *address);
    if (placed)
      return WalkResult::advance();
    failure = placed.error();
    return WalkResult::interrupt();
  });
  if (failure)
    return tl::unexpected<Error>(*failure);
  return {};
}

/// Copies a weight to where it is in the file: as a whole, or a row for each lane of the pool.
Expected<void> ContentsReader::place(top::WeightOp weight, int64_t address) {
  Expected<Tensor> read = weight.read();
  if (!read)
    return propagate(read);
  const PoolSite pool = poolOf(module);
  const auto lanes = int64_t{target.memory.lanes};
  const auto size = static_cast<int64_t>(contents.weights.size());
  int64_t offset = address - contents.weightAddress;
  int64_t rows = 1;
  int64_t step = 0;
  if (address >= pool.global && address < pool.global + pool.rows.bytes() * lanes) {
    const PoolRows::Piece piece =
        pool.rows.piece(pool.rows.pieceAt((address - pool.global) / lanes));
    rows = read->shape()[0];
    step = piece.end - piece.begin;
  }
  const int64_t row = read->byteSize() / rows;
  if (offset < 0 || offset + (rows - 1) * step + row > size)
    return makeError("weight '" + weight.name() + "'", "lies outside of the weights");
  if (rows == 1)
    contents.weightLocations.push_back({weight.name(), offset, read->byteSize()});
  auto bytes = read->rawBytes();
  // What is copied leaves memory, so that a weight is there once.
  constexpr size_t kBlock = size_t(4) << 20;
  for (int64_t lane = 0; lane < rows; ++lane, offset += step) {
    auto rest = bytes.subspan(static_cast<size_t>(lane * row), static_cast<size_t>(row));
    for (auto to = contents.weights.begin() + offset; !rest.empty();) {
      const auto block = rest.first(std::min(rest.size(), kBlock));
      to = llvm::copy(block, to);
      releaseMapped(block);
      rest = rest.subspan(block.size());
    }
  }
  return {};
}

Expected<ModelTensor> ContentsReader::tensor(Value value, std::string name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<int64_t> address = addressOf(value.getType());
  if (outputOnHost(value))
    address = contents.neuronAddress;
  if (!type || !address)
    return makeError("tensor '" + name + "'", "has no address", "--address-assign first");
  return ModelTensor{std::move(name), type, *address};
}

/// A tensor under the name that it has in the network.
Expected<ModelTensor> ContentsReader::tensor(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return tensor(value, tensorNames(result.getOwner())[result.getResultNumber()]);
  const auto argument = cast<BlockArgument>(value);
  for (Operation *user : argument.getUsers())
    if (isa<top::InputOp>(user))
      return tensor(value, layerName(user));
  return tensor(value, "input_" + std::to_string(argument.getArgNumber()));
}

/// What each sub-network reads that it does not make, and what others read of it.
Expected<void> ContentsReader::readParts(Block &block) {
  for (const SubNet &subNet : subNetsOf(block)) {
    ModelContents::Part part;
    llvm::SetVector<Value> inputs, outputs;
    const llvm::DenseSet<Operation *> members(subNet.layers.begin(), subNet.layers.end());
    for (Operation *layer : subNet.layers) {
      for (Value operand : layer->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (!isa<NoneType>(operand.getType()) && !members.contains(maker) &&
            !(maker && isConstant(maker)))
          inputs.insert(operand);
      }
      for (Value result : layer->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !members.contains(block.findAncestorOpInBlock(*user));
            }))
          outputs.insert(result);
    }
    for (auto [values, list] : {std::pair(&inputs, &part.inputs), {&outputs, &part.outputs}})
      for (Value value : *values) {
        Expected<ModelTensor> made = tensor(value);
        if (!made)
          return propagate(made);
        list->push_back(std::move(*made));
      }
    if (subNet.isCpu) {
      Expected<cpu::Program> program = cpuProgramOf(subNet.layers);
      if (!program)
        return propagate(program);
      part.program = std::move(*program);
    }
    contents.parts.push_back(std::move(part));
  }
  return {};
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
    Expected<ModelTensor> input = tensor(argument);
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
  if (Expected<void> parts = readParts(main.front()); !parts)
    return propagate(parts);
  return std::move(contents);
}

} // namespace

PoolSite codegen::poolOf(ModuleOp module) {
  PoolSite site;
  const auto number = [&](StringRef name) {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : int64_t{0};
  };
  site.global = number(kPoolAddress);
  site.local = number(kPoolLocal);
  if (auto pieces = module->getAttrOfType<ArrayAttr>(kPoolPieces))
    site.rows.ends = top::toInts(pieces);
  return site;
}

Expected<ModelContents> codegen::readModelContents(ModuleOp module, const TargetInfo &target) {
  return ContentsReader(module, target).read();
}
