//===- NullMachine.cpp - The machine of null ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullMachine.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Target/Null/Codegen/NullLayout.h"

#include <cstring>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

static Shape shapeOf(Type type) {
  const ArrayRef<int64_t> dims = cast<RankedTensorType>(type).getShape();
  return Shape(std::span(dims.data(), dims.size()));
}

static Tensor poisoned(Type type, std::byte poison) {
  Tensor tensor(*storageDataType(type), shapeOf(type));
  std::memset(tensor.mutableBytes().data(), static_cast<int>(poison), tensor.mutableBytes().size());
  return tensor;
}

/// The weight that a value is, packed or loaded.
static top::WeightOp weightOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<tpu::UnpackOp, tpu::LoadOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<top::WeightOp>(op);
}

NullMachine::NullMachine(const TargetInfo &target, std::span<const AddressRegion> regions,
                         std::byte poison)
    : target(target), poison(poison) {
  for (const MemorySpace &space : target.memory.spaces)
    spaces.emplace_back(size_t{space.lanes} * space.bytes, poison);
  for (const AddressRegion &region : regions)
    memories[region.base >> target.global.tagShift] = {
        region.base, std::vector<std::byte>(static_cast<size_t>(region.bytes), poison)};
}

Expected<std::byte *> NullMachine::global(int64_t address, int64_t bytes, Access access) {
  const int64_t tag = address >> target.global.tagShift;
  const auto found = memories.find(tag);
  if (found == memories.end())
    return makeError("", fmt::format("tag {} of global memory", tag), "one that the network has");
  auto &[base, memory] = found->second;
  if (address < base || address + bytes > base + std::ssize(memory))
    return makeError("", fmt::format("{} bytes at {:#x} in global memory", bytes, address),
                     fmt::format("{:#x} to {:#x}", base, base + std::ssize(memory)));
  if (access == Access::Write &&
      (tag == tagOf(GlobalUse::Weights) || tag == tagOf(GlobalUse::Inputs)))
    return makeError("", fmt::format("a result at {:#x} in global memory", address),
                     "neither weights nor inputs");
  return memory.data() + (address - base);
}

Expected<void> NullMachine::checkLocal(unsigned space, int64_t address, int64_t bytes) const {
  const MemorySpace &memory = target.memory.spaces[space];
  if (address >= 0 && bytes >= 0 && address + bytes <= int64_t{memory.bytes})
    return {};
  return makeError("",
                   fmt::format("{} bytes at {} in the memory of {}", bytes, address, memory.name),
                   fmt::format("at most {}", memory.bytes));
}

Expected<Tensor> NullMachine::read(int64_t address, DataType type, const Shape &shape) {
  Tensor tensor(type, shape);
  Expected<std::byte *> from = global(address, tensor.byteSize(), Access::Read);
  if (!from)
    return propagate(from);
  std::memcpy(tensor.mutableBytes().data(), *from, tensor.mutableBytes().size());
  return tensor;
}

Expected<void> NullMachine::write(int64_t address, std::span<const std::byte> bytes,
                                  Access access) {
  Expected<std::byte *> to = global(address, std::ssize(bytes), access);
  if (!to)
    return propagate(to);
  std::memcpy(*to, bytes.data(), bytes.size());
  return {};
}

/// Copies elements between a tile in the lanes and a tensor in row-major order.
Expected<void> NullMachine::transfer(const TiledOp &tiled, unsigned index, const LocalTile &tile,
                                     std::byte *global, bool isLoad) {
  const TensorLayout &tensor = layoutOf(*tiled.model).operand(index);
  const LaneLayout layout(target, tensor, tile.held ? *tile.held : tile.tile);
  const unsigned space = tensor.space;
  if (Expected<void> checked = checkLocal(space, tile.address, layout.bytes()); !checked)
    return checked;
  const ElementOrder &order = tensor.order;
  const int64_t bytes = layout.elementBytes;
  const Range row = tile.tile[kAxisW];
  forEachRow(tile.tile, [&](int64_t n, int64_t c, int64_t d, int64_t h) {
    std::byte *at =
        local(space, layout.lane(c), tile.address + layout.offset(n, c, d, h, row.begin));
    for (int64_t w = row.begin; w < row.end(); ++w, at += bytes) {
      std::byte *element = global + order.at(n, c, d, h, w) * bytes;
      std::memcpy(isLoad ? at : element, isLoad ? element : at, static_cast<size_t>(bytes));
    }
  });
  return {};
}

/// Rows of each lane that stand lane after lane.
Expected<void> NullMachine::loadPacked(const Command &command, int64_t rowBytes) {
  const TiledOp &tiled = command.tiled;
  const LocalTile &tile = tiled.operands[command.operand];
  const LaneLayout layout(target, layoutOf(*tiled.model).operand(command.operand), tile.tile);
  if (Expected<void> checked = checkLocal(kWeightSpace, tile.address, layout.bytes()); !checked)
    return checked;
  const int64_t first = tile.tile[kAxisC].begin / layout.lanes * layout.channelBytes;
  Expected<std::byte *> from = global(command.global, rowBytes * layout.lanes, Access::Read);
  if (!from)
    return propagate(from);
  for (int64_t lane = 0; lane < layout.lanes; ++lane)
    std::memcpy(local(kWeightSpace, lane, tile.address), *from + lane * rowBytes + first,
                static_cast<size_t>(layout.bytes()));
  return {};
}

Expected<void> NullMachine::load(const Command &command) {
  const TiledOp &tiled = command.tiled;
  const Value operand = tiled.op->getOperand(command.operand);
  if (auto unpack = operand.getDefiningOp<tpu::UnpackOp>())
    return loadPacked(command, globalBytes(unpack.getInput().getType()) / target.tiles().lanes);
  Expected<std::byte *> from = global(command.global, globalBytes(operand.getType()), Access::Read);
  if (!from)
    return propagate(from);
  return transfer(tiled, command.operand, tiled.operands[command.operand], *from,
                  /*isLoad=*/true);
}

Expected<void> NullMachine::store(const Command &command) {
  const TiledOp &tiled = command.tiled;
  Expected<std::byte *> to =
      global(command.global, globalBytes(givenResult(tiled.op).getType()), Access::Write);
  if (!to)
    return propagate(to);
  return transfer(tiled, tiled.op->getNumOperands(), tiled.result, *to, /*isLoad=*/false);
}

Expected<void> NullMachine::loadPool(const Command &command) {
  if (Expected<void> checked = checkLocal(command.space, command.local, command.bytes); !checked)
    return checked;
  const auto count = int64_t{target.memory.spaces[command.space].lanes};
  Expected<std::byte *> from = global(command.global, command.bytes * count, Access::Read);
  if (!from)
    return propagate(from);
  for (int64_t lane = 0; lane < count; ++lane)
    std::memcpy(local(command.space, lane, command.local), *from + lane * command.bytes,
                static_cast<size_t>(command.bytes));
  return {};
}

/// The whole operand, of which only the tile is known.
Expected<std::optional<Tensor>> NullMachine::operandOf(const TiledOp &tiled, unsigned index) {
  const Value value = tiled.op->getOperand(index);
  if (isa<NoneType>(value.getType()))
    return std::optional<Tensor>();
  if (!tiled.model->operands[index].isPresent) {
    // Part of the command.
    top::WeightOp weight = weightOf(value);
    if (!weight)
      return makeError("", fmt::format("operand {} that is not loaded", index), "a constant");
    Expected<Tensor> read = weight.read();
    if (!read)
      return propagate(read);
    return std::optional(*read);
  }
  Tensor whole = poisoned(value.getType(), poison);
  if (Expected<void> copied = transfer(tiled, index, tiled.operands[index],
                                       whole.mutableBytes().data(), /*isLoad=*/false);
      !copied)
    return propagate(copied);
  return std::optional(whole);
}

/// Brings the parts of a concatenation to their lanes that do not lie there.
Expected<void> NullMachine::join(const TiledOp &tiled) {
  const NullLayout &layout = layoutOf(*tiled.model);
  const LaneLayout to(target, layout.operand(tiled.op->getNumOperands()), tiled.result.tile);
  for (auto [index, part] : llvm::enumerate(tiled.operands)) {
    const int64_t before = channelsBefore(tiled.op, static_cast<unsigned>(index));
    if (before % target.tiles().lanes == 0 || part.isInPlace)
      continue;
    const LaneLayout from(target, layout.operand(static_cast<unsigned>(index)),
                          part.held ? *part.held : part.tile);
    for (auto [address, bytes] :
         {std::pair(part.address, from.bytes()), {tiled.result.address, to.bytes()}})
      if (Expected<void> checked = checkLocal(kTileSpace, address, bytes); !checked)
        return checked;
    const Range row = part.tile[kAxisW];
    forEachRow(part.tile, [&](int64_t n, int64_t c, int64_t d, int64_t h) {
      std::memcpy(
          local(kTileSpace, to.lane(before + c),
                tiled.result.address + to.offset(n, before + c, d, h, row.begin)),
          local(kTileSpace, from.lane(c), part.address + from.offset(n, c, d, h, row.begin)),
          static_cast<size_t>(row.size * to.elementBytes));
    });
  }
  return {};
}

Expected<void> NullMachine::compute(const Command &command) {
  const TiledOp &tiled = command.tiled;
  Operation *op = tiled.op;
  if (isa<tpu::ConcatOp>(op))
    return join(tiled);
  std::vector<std::optional<Tensor>> operands;
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    Expected<std::optional<Tensor>> operand = operandOf(tiled, index);
    if (!operand)
      return propagate(operand);
    operands.push_back(std::move(*operand));
  }
  // Whatever else lies there is lost.
  if (Expected<void> checked = checkLocal(kTileSpace, tiled.scratchAddress, tiled.scratchBytes);
      !checked)
    return checked;
  for (int64_t lane = 0; lane < int64_t{target.tiles().lanes}; ++lane)
    std::memset(local(kTileSpace, lane, tiled.scratchAddress), static_cast<int>(poison),
                static_cast<size_t>(tiled.scratchBytes));
  Expected<std::vector<std::optional<Tensor>>> results = runner.run(op, operands);
  if (!results)
    return propagate(results);
  std::optional<Tensor> &result = (*results)[cast<OpResult>(givenResult(op)).getResultNumber()];
  Tensor whole = result->isWritable() ? *result : result->clone();
  return transfer(tiled, op->getNumOperands(), tiled.result, whole.mutableBytes().data(),
                  /*isLoad=*/true);
}

Expected<void> NullMachine::move(Operation *op) {
  std::vector<std::optional<Tensor>> operands(op->getNumOperands());
  for (auto [value, operand] : llvm::zip_equal(op->getOperands(), operands)) {
    if (isa<NoneType>(value.getType()))
      continue;
    const std::optional<int64_t> address = addressOf(value.getType());
    if (!address)
      return makeError("", "a tensor without an address", "--address-assign first");
    Expected<Tensor> tensor =
        read(*address, *storageDataType(value.getType()), shapeOf(value.getType()));
    if (!tensor)
      return propagate(tensor);
    operand = *tensor;
  }
  Expected<std::vector<std::optional<Tensor>>> results = runner.run(op, operands);
  if (!results)
    return propagate(results);
  for (auto [value, result] : llvm::zip_equal(op->getResults(), *results))
    if (std::optional<int64_t> address = addressOf(value.getType()); result && address)
      if (Expected<void> written = write(*address, result->rawBytes(), Access::Write); !written)
        return written;
  return {};
}

Expected<void> NullMachine::execute(const Command &command) {
  switch (command.kind) {
  case Command::Kind::Load:
    return load(command);
  case Command::Kind::Compute:
    return compute(command);
  case Command::Kind::Store:
    return store(command);
  case Command::Kind::LoadPool:
    return loadPool(command);
  case Command::Kind::Move:
    return move(command.op);
  }
  return {};
}

Expected<void> NullMachine::run(const Stream &stream) {
  for (const Command &command : stream) {
    Operation *op = command.op ? command.op : command.tiled.op;
    Expected<void> done = execute(command);
    if (!done && done.error().where.empty())
      done.error().where = op ? "layer '" + layerName(op) + "'" : "the pool of constants";
    if (!done)
      return done;
  }
  return {};
}

} // namespace tpuc::Null
