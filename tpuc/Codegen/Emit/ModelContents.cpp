//===- ModelContents.cpp - What a model file says besides commands ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Emit/ModelContents.h"
#include "tpuc/Codegen/Emit/CpuForm.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
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
  Expected<model::CompiledModel> read();

private:
  Expected<int64_t> number(StringRef name);
  Expected<void> readWeights();
  Expected<void> place(top::WeightOp weight, int64_t address);
  Expected<model::TensorInfo> tensor(Value value, std::string name);
  Expected<model::TensorInfo> tensor(Value value);
  Expected<void> readSubNets(Block &block);
  Expected<model::SubNet> readSubNet(const SubNet &subNet, Block &block);

  ModuleOp module;
  const TargetInfo &target;
  model::Stage stage;
  /// The weights as they lie from the address of `tile` on, padding between them included.
  std::vector<std::byte> weights;
  model::Section axisTile;
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
  axisTile.address = static_cast<uint64_t>(*address);
  weights.resize(static_cast<size_t>(*size));
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
  const auto lanes = int64_t{target.tiles().lanes};
  const auto size = static_cast<int64_t>(weights.size());
  int64_t offset = address - static_cast<int64_t>(axisTile.address);
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
    axisTile.locations.push_back(
        {weight.name(), static_cast<uint64_t>(offset), static_cast<uint64_t>(read->byteSize())});
  auto bytes = read->rawBytes();
  // What is copied leaves memory, so that a weight is there once.
  constexpr size_t kBlock = size_t(4) << 20;
  for (int64_t lane = 0; lane < rows; ++lane, offset += step) {
    auto rest = bytes.subspan(static_cast<size_t>(lane * row), static_cast<size_t>(row));
    for (auto to = weights.begin() + offset; !rest.empty();) {
      const auto block = rest.first(std::min(rest.size(), kBlock));
      to = llvm::copy(block, to);
      releaseMapped(block);
      rest = rest.subspan(block.size());
    }
  }
  return {};
}

Expected<model::TensorInfo> ContentsReader::tensor(Value value, std::string name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<int64_t> address = addressOf(value.getType());
  if (outputOnHost(value))
    address = static_cast<int64_t>(stage.activationAddress);
  if (!type || !address)
    return makeError("tensor '" + name + "'", "has no address", "--address-assign first");
  std::optional<DataType> element = storageDataType(type);
  if (!element)
    return makeError("tensor '" + name + "'", "has a type that model files cannot state");
  model::TensorInfo info;
  info.name = std::move(name);
  info.setType(*element);
  info.address = static_cast<uint64_t>(*address);
  info.isOnHost = !type.hasStaticShape();
  for (int64_t extent : type.getShape())
    info.shape.push_back(ShapedType::isDynamic(extent) ? 0 : static_cast<uint64_t>(extent));
  if (auto quantized = tpu::quantizedType(type)) {
    const QuantParams params = tpu::paramsOf(quantized);
    info.scale = static_cast<float>(params.scale);
    info.zeroPoint = static_cast<int32_t>(params.zeroPoint);
  }
  return info;
}

/// What `--fuse_preprocess` noted at an input that takes the bytes of pictures.
std::optional<model::PictureInfo> pictureOf(BlockArgument argument) {
  for (Operation *user : argument.getUsers()) {
    auto input = dyn_cast<top::InputOp>(user);
    const auto name =
        input ? input->getAttrOfType<StringAttr>("customization_format") : StringAttr();
    const std::optional<PictureFormat> format =
        name ? parsePictureFormat(std::string_view(name.getValue())) : std::nullopt;
    const ArrayRef<int64_t> dims = cast<RankedTensorType>(argument.getType()).getShape();
    const std::optional<PictureFrame> frame = input ? top::frameOf(input) : std::nullopt;
    if (!format)
      continue;
    const Expected<PictureExtents> extents = pictureExtents(*format, dims, frame);
    if (!extents)
      continue;
    const auto range = input->getAttrOfType<BoolAttr>("video_range");
    return model::PictureInfo{.format = *format,
                              .height = extents->height,
                              .width = extents->width,
                              .alignment = frame ? frame->alignment : PictureAlignment(),
                              .isVideoRange = !range || range.getValue(),
                              .keepsAspectRatio = input.getKeepAspectRatio().value_or(false),
                              .isAtTopLeft = input.getPadType().value_or("center") == "normal",
                              .fillsFrame = input.getKeepRatioMode().value_or("letterbox") ==
                                            "short_side_scale",
                              .padValue = static_cast<uint8_t>(input.getPadValue().value_or(0))};
  }
  return std::nullopt;
}

/// A tensor under the name that it has in the network.
Expected<model::TensorInfo> ContentsReader::tensor(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return tensor(value, tensorNames(result.getOwner())[result.getResultNumber()]);
  const auto argument = cast<BlockArgument>(value);
  for (Operation *user : argument.getUsers())
    if (isa<top::InputOp>(user))
      return tensor(value, layerName(user));
  return tensor(value, "input_" + std::to_string(argument.getArgNumber()));
}

/// What a sub-network reads that it does not make, and what others read of it.
Expected<model::SubNet> ContentsReader::readSubNet(const SubNet &subNet, Block &block) {
  model::SubNet made;
  llvm::SetVector<Value> inputs, outputs;
  const llvm::DenseSet<Operation *> members(subNet.layers.begin(), subNet.layers.end());
  for (Operation *layer : subNet.layers) {
    for (Value operand : layer->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!isa<NoneType>(operand.getType()) && !members.contains(producer) &&
          !(producer && isConstant(producer)))
        inputs.insert(operand);
    }
    for (Value result : layer->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(block.findAncestorOpInBlock(*user));
          }))
        outputs.insert(result);
  }
  for (auto [values, list] : {std::pair(&inputs, &made.inputs), {&outputs, &made.outputs}})
    for (Value value : *values) {
      Expected<model::TensorInfo> info = tensor(value);
      if (!info)
        return propagate(info);
      list->push_back(std::move(*info));
    }
  if (subNet.isCpu) {
    Expected<cpu::Program> program = cpuProgramOf(subNet.layers);
    if (!program)
      return propagate(program);
    made.host.push_back(std::move(*program));
  }
  return made;
}

Expected<void> ContentsReader::readSubNets(Block &block) {
  for (const SubNet &subNet : subNetsOf(block)) {
    Expected<model::SubNet> made = readSubNet(subNet, block);
    if (!made)
      return propagate(made);
    const auto number = static_cast<uint32_t>(stage.subNets.size());
    made->id = static_cast<int32_t>(number);
    stage.order.push_back(number);
    stage.subNets.push_back(std::move(*made));
  }
  // The whole network names its tensors as its callers do.
  if (stage.subNets.size() == 1) {
    stage.subNets.front().inputs = stage.inputs;
    stage.subNets.front().outputs = stage.outputs;
  }
  return {};
}

Expected<model::CompiledModel> ContentsReader::read() {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Expected<int64_t> neurons = number("module.neuron_addr");
  Expected<int64_t> bytes = number("module.neuron_size");
  if (!neurons)
    return propagate(neurons);
  if (!bytes)
    return propagate(bytes);
  stage.activationAddress = static_cast<uint64_t>(*neurons);
  stage.activationBytes = static_cast<uint64_t>(*bytes);
  for (BlockArgument argument : main.getArguments()) {
    Expected<model::TensorInfo> input = tensor(argument);
    if (!input)
      return propagate(input);
    // What numbers of an input are multiplied with; 1 for floats.
    input->scale = 1 / input->scale;
    if (input->type == DataType::U8)
      input->picture = pictureOf(argument);
    stage.inputs.push_back(std::move(*input));
  }
  for (Value value : main.front().getTerminator()->getOperands()) {
    auto result = dyn_cast<OpResult>(value);
    Expected<model::TensorInfo> output =
        tensor(value, result ? tensorNames(result.getOwner())[result.getResultNumber()]
                             : "output_" + std::to_string(stage.outputs.size()));
    if (!output)
      return propagate(output);
    stage.outputs.push_back(std::move(*output));
  }
  if (Expected<void> read = readWeights(); !read)
    return propagate(read);
  if (Expected<void> read = readSubNets(main.front()); !read)
    return propagate(read);
  model::CompiledModel model;
  model.chip = std::string(target.containerChip);
  if (!weights.empty()) {
    auto kept = std::make_shared<std::vector<std::byte>>(std::move(weights));
    axisTile.data = *kept;
    model.owners.push_back(std::move(kept));
    stage.constants.push_back(std::move(axisTile));
  }
  auto name = module->getAttrOfType<StringAttr>("module.name");
  model::Net &net = model.nets.emplace_back();
  net.name = name ? name.getValue().str() : "main";
  net.stages.push_back(std::move(stage));
  return model;
}

} // namespace

PoolSite codegen::poolOf(ModuleOp module) {
  PoolSite site;
  MLIRContext *context = module->getContext();
  if (IntegerAttr global = top::ModuleDialect::PoolAddrAttrHelper(context).getAttr(module))
    site.global = global.getInt();
  if (IntegerAttr local = top::ModuleDialect::PoolLocalAttrHelper(context).getAttr(module))
    site.local = local.getInt();
  if (ArrayAttr pieces = top::ModuleDialect::PoolPiecesAttrHelper(context).getAttr(module))
    site.rows.ends = top::toInts(pieces);
  return site;
}

Expected<model::CompiledModel> codegen::readModelContents(ModuleOp module,
                                                          const TargetInfo &target) {
  return ContentsReader(module, target).read();
}
