//===- TiledGroup.cpp - A group tile by tile --------------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/TiledGroup.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Expected<void> TiledGroup::readMember(Operation *member) {
  if (isa<tpu::UnpackOp>(member)) {
    holders[member->getResult(0)] = holders.lookup(member->getOperand(0));
    return {};
  }
  Expected<GroupInfo> info = GroupInfo::of(member);
  if (!info)
    return propagate(info);
  if (auto store = dyn_cast<tpu::StoreOp>(member)) {
    Held *producer = holders.lookup(store.getInput());
    if (!producer || producer->isLoaded)
      return wrong(member, "stores no layer of its group");
    if (!addressOf(store.getOutput().getType()))
      return wrong(member, "stores a tensor without an address", "--address-assign first");
    stores.push_back({store, store.getOutput(), static_cast<Layer *>(producer), info->step});
    return {};
  }
  if (auto load = dyn_cast<tpu::LoadOp>(member)) {
    if (!addressOf(load.getInput().getType()))
      return wrong(member, "loads a tensor without an address", "--address-assign first");
    loads.push_back(std::make_unique<Load>());
    loads.back()->source = load.getInput();
    loads.back()->info = std::move(*info);
    loads.back()->isLoaded = true;
    Operation *source = load.getInput().getDefiningOp();
    loads.back()->isConstant = source && isConstant(source);
    holders[load.getOutput()] = loads.back().get();
    return {};
  }
  layers.push_back(std::make_unique<Layer>());
  layers.back()->op = member;
  layers.back()->info = std::move(*info);
  holders[givenResult(member)] = layers.back().get();
  return {};
}

/// The first user of a load is the one that it is loaded for; what a concatenation joins lies in
/// its result.
void TiledGroup::connectOperand(Layer &layer, unsigned index, Held *held) {
  layer.operands.push_back(held);
  if (!held)
    return;
  if (held->isLoaded && !static_cast<Load *>(held)->user) {
    static_cast<Load *>(held)->user = &layer;
    static_cast<Load *>(held)->operand = index;
  }
  if (layer.isInPlaceConcat && liesInPlace(layer.op, index, backend)) {
    held->container = &layer;
    held->part = index;
  }
}

Expected<void> TiledGroup::connect(Layer &layer, TileLayout layout) {
  layer.isInPlaceConcat = isInPlaceConcat(layer.op, backend);
  Expected<TileModel> model = layer.isInPlaceConcat ? inPlaceConcatModel(layer.op, backend)
                                                    : backend.modelOf(layer.op, layout);
  if (!model)
    return wrong(layer.op, model.error().message());
  layer.model = std::move(*model);
  for (OpOperand &operand : layer.op->getOpOperands()) {
    Held *held = holders.lookup(operand.get());
    if (!held && layer.model.layoutOf(operand.getOperandNumber()).isLoaded)
      return wrong(layer.op, "reads a tensor that its group does not load");
    if (layer.isInPlaceConcat && held->container &&
        liesInPlace(layer.op, operand.getOperandNumber(), backend))
      return wrong(layer.op, "joins what another concatenation joins");
    connectOperand(layer, operand.getOperandNumber(), held);
  }
  return {};
}

/// Loads keep a tile that does not change; what is computed is computed again.
void TiledGroup::setVersions(Held &held) const {
  std::optional<Tile> last;
  int64_t version = -1;
  for (const TileCounts &number : numbers) {
    const Tile tile = tileAt(held.info.axisTiles, number);
    if (last != tile || !held.isLoaded)
      ++version;
    last = tile;
    held.versions.push_back(version);
  }
}

void TiledGroup::countTiles() {
  TileCounts counts{1, 1, 1, 1, 1};
  for (const auto &layer : layers)
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      counts[axis] =
          std::max(counts[axis], static_cast<unsigned>(layer->info.axisTiles[axis].size()));
  numbers = tileNumbers(counts, layers.front()->info.order);
  for (const auto &layer : layers)
    setVersions(*layer);
  for (const auto &load : loads)
    setVersions(*load);
}

Expected<std::unique_ptr<TiledGroup>> TiledGroup::read(tpu::GroupOp op, const Backend &backend) {
  std::unique_ptr<TiledGroup> group(new TiledGroup(backend));
  for (Operation &member : op.getBody().front().without_terminator())
    if (Expected<void> done = group->readMember(&member); !done)
      return propagate(done);
  if (group->layers.empty())
    return wrong(op, "has no layer");
  SmallVector<Operation *> ops;
  for (const auto &layer : group->layers)
    ops.push_back(layer->op);
  const SmallVector<TileLayout> layouts =
      tileLayoutsOf(ops, [&](Operation *each) { return takesAnyOrder(each, backend.info()); });
  for (auto [layer, layout] : llvm::zip_equal(group->layers, layouts))
    if (Expected<void> done = group->connect(*layer, layout); !done)
      return propagate(done);
  for (const auto &load : group->loads)
    if (!load->user)
      return wrong(op, "loads what no layer reads");
  for (const auto &layer : group->layers)
    if (layer->isInPlaceConcat && llvm::any_of(layer->info.axisTiles[kAxisN],
                                               [](const Range &images) { return images.size > 1; }))
      return wrong(layer->op, "joins channels of several images in one tile");
  group->countTiles();
  return group;
}

std::unique_ptr<TiledGroup> TiledGroup::take(const GroupPlan &plan, const PoolPlace &pool,
                                             const Backend &backend) {
  std::unique_ptr<TiledGroup> group(new TiledGroup(backend));
  std::vector<Held *> held(plan.tensors.size());
  const auto numberOf = [&](const GroupTensor &tensor) {
    return static_cast<size_t>(&tensor - plan.tensors.data());
  };
  for (const GroupTensor *tensor : loadsInOrder(plan)) {
    group->loads.push_back(std::make_unique<Load>());
    Load &load = *group->loads.back();
    load.info = loadInfo(plan, *tensor, pool);
    load.isLoaded = true;
    load.isConstant = tensor->isConstant;
    load.source = loadedValue(plan, *tensor);
    held[numberOf(*tensor)] = &load;
  }
  for (auto [index, op] : llvm::enumerate(plan.layers)) {
    group->layers.push_back(std::make_unique<Layer>());
    Layer &layer = *group->layers.back();
    layer.op = op;
    layer.info = layerInfo(plan, static_cast<unsigned>(index));
    layer.model = *plan.models[index];
    layer.isInPlaceConcat = isInPlaceConcat(op, backend);
    for (auto [operand, tensor] : llvm::enumerate(plan.operands[index]))
      group->connectOperand(layer, static_cast<unsigned>(operand),
                            tensor < 0 ? nullptr : held[static_cast<size_t>(tensor)]);
    held[plan.results[index]] = &layer;
  }
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isStored)
      group->stores.push_back({.target = tensor.value,
                               .producer = group->layers[*tensor.producer].get(),
                               .step = tensor.transferStep});
  group->countTiles();
  return group;
}

LocalTile TiledGroup::at(const Held &held, size_t tile) const {
  LocalTile local{tileAt(held.info.axisTiles, numbers[tile]),
                  held.info.address(held.versions[tile])};
  if (const Layer *concat = held.container) {
    const LocalTile whole = at(*concat, tile);
    local.address = whole.address + concatOffset(concat->op, concat->model, held.part, whole.tile);
  }
  return local;
}

static bool contains(const Tile &outer, const Tile &inner) {
  return llvm::all_of(llvm::zip_equal(outer, inner), [](auto pair) {
    auto [out, in] = pair;
    return out.begin <= in.begin && in.end() <= out.end();
  });
}

/// Where a tile of a resident constant begins: behind the channels before it.
static int64_t residentAddress(const TiledGroup::Layer &layer, unsigned index,
                               const GroupInfo &info, const Tile &tile) {
  if (tile[kAxisC].begin == 0)
    return info.outAddress;
  Tile before = tile;
  before[kAxisC] = {0, tile[kAxisC].begin};
  return info.outAddress + layer.model.localBytes(index, before);
}

Expected<TiledOp> TiledGroup::sliced(const Layer &layer, size_t tile) const {
  TiledOp made{.op = layer.op,
               .model = &layer.model,
               .operands = {},
               .result = at(layer, tile),
               .scratchAddress = layer.info.scratchAddress,
               .scratchBytes = layer.info.scratchBytes};
  for (auto [position, held] : llvm::enumerate(layer.operands)) {
    const auto index = static_cast<unsigned>(position);
    LocalTile local;
    if (layer.model.operands[position].isPresent)
      local.tile = layer.model.operands[position].slice(made.result.tile);
    if (held && held->info.resident != 0) {
      local.address = residentAddress(layer, index, held->info, local.tile);
    } else if (held) {
      const LocalTile all = at(*held, tile);
      if (!contains(all.tile, local.tile))
        return wrong(layer.op, "reads more than a slice of operand " + Twine(index) + " holds");
      local.address = all.address;
      if (all.tile != local.tile)
        local.held = all.tile;
    }
    if (!layer.info.partSteps.empty())
      local.isInPlace = layer.info.partSteps[position] != GroupInfo::kAtOnce;
    made.operands.push_back(local);
  }
  return made;
}

Expected<TiledOp> TiledGroup::tiledPart(const Layer &concat, unsigned operand, size_t tile) const {
  Expected<TiledOp> made = sliced(concat, tile);
  if (made)
    for (auto [index, local] : llvm::enumerate(made->operands))
      local.isInPlace = index != operand;
  return made;
}

TiledOp TiledGroup::sliced(const Load &load, size_t tile) const {
  TiledOp made{.op = load.user->op, .model = &load.user->model, .operands = {}, .result = {}};
  made.operands.resize(load.user->operands.size());
  LocalTile &local = made.operands[load.operand];
  local = at(load, tile);
  if (!load.container && !load.isConstant)
    local.room =
        roomBehind(local.address, load.user->model, load.operand, local.tile, backend.info());
  return made;
}

Expected<TiledOp> TiledGroup::sliced(const Store &store, size_t tile) const {
  const Layer &layer = *store.producer;
  Expected<TiledOp> made = sliced(layer, tile);
  if (made && !layer.container)
    made->result.room = roomBehind(made->result.address, layer.model, layer.op->getNumOperands(),
                                   made->result.tile, backend.info());
  return made;
}
