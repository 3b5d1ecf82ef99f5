//===- SlicedGroup.cpp - A group slice by slice --------------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/SlicedGroup.h"
#include "tpuc/Codegen/Joins.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Expected<void> SlicedGroup::readMember(Operation *member) {
  if (isa<tpu::UnpackOp>(member)) {
    holders[member->getResult(0)] = holders.lookup(member->getOperand(0));
    return {};
  }
  Expected<GroupInfo> info = GroupInfo::of(member);
  if (!info)
    return propagate(info);
  if (auto store = dyn_cast<tpu::StoreOp>(member)) {
    Held *maker = holders.lookup(store.getInput());
    if (!maker || maker->isLoaded)
      return wrong(member, "stores no layer of its group");
    if (!addressOf(store.getOutput().getType()))
      return wrong(member, "stores a tensor without an address", "--address-assign first");
    stores.push_back({store, store.getOutput(), static_cast<Layer *>(maker), info->step});
    return {};
  }
  if (auto load = dyn_cast<tpu::LoadOp>(member)) {
    if (!addressOf(load.getInput().getType()))
      return wrong(member, "loads a tensor without an address", "--address-assign first");
    loads.push_back(std::make_unique<Load>());
    loads.back()->source = load.getInput();
    loads.back()->info = std::move(*info);
    loads.back()->isLoaded = true;
    holders[load.getOutput()] = loads.back().get();
    return {};
  }
  layers.push_back(std::make_unique<Layer>());
  layers.back()->op = member;
  layers.back()->info = std::move(*info);
  holders[givenResult(member)] = layers.back().get();
  return {};
}

/// The first reader of a load is the one that it is loaded for; what a concatenation joins lies in
/// its result.
void SlicedGroup::connectOperand(Layer &layer, unsigned index, Held *held) {
  layer.operands.push_back(held);
  if (!held)
    return;
  if (held->isLoaded && !static_cast<Load *>(held)->reader) {
    static_cast<Load *>(held)->reader = &layer;
    static_cast<Load *>(held)->operand = index;
  }
  if (layer.isJoin && liesInJoin(layer.op, index, backend)) {
    held->container = &layer;
    held->part = index;
  }
}

Expected<void> SlicedGroup::connect(Layer &layer, Company company) {
  layer.isJoin = isJoin(layer.op, backend);
  Expected<SliceModel> model =
      layer.isJoin ? joinModel(layer.op) : sliceModel(layer.op, backend.info(), company);
  if (!model)
    return wrong(layer.op, model.error().message());
  layer.model = std::move(*model);
  for (OpOperand &operand : layer.op->getOpOperands()) {
    Held *held = holders.lookup(operand.get());
    if (!held && backend.isLoaded(operand))
      return wrong(layer.op, "reads a tensor that its group does not load");
    if (layer.isJoin && held->container &&
        liesInJoin(layer.op, operand.getOperandNumber(), backend))
      return wrong(layer.op, "joins what another concatenation joins");
    connectOperand(layer, operand.getOperandNumber(), held);
  }
  return {};
}

/// Loads keep a slice that does not change; what is computed is computed again.
void SlicedGroup::setVersions(Held &held) const {
  std::optional<Slice> last;
  int64_t version = -1;
  for (const SectionCounts &number : numbers) {
    const Slice slice = sliceAt(held.info.sections, number);
    if (last != slice || !held.isLoaded)
      ++version;
    last = slice;
    held.versions.push_back(version);
  }
}

void SlicedGroup::countSlices() {
  SectionCounts counts{1, 1, 1, 1, 1};
  for (const auto &layer : layers)
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      counts[axis] =
          std::max(counts[axis], static_cast<unsigned>(layer->info.sections[axis].size()));
  numbers = sliceNumbers(counts);
  for (const auto &layer : layers)
    setVersions(*layer);
  for (const auto &load : loads)
    setVersions(*load);
}

Expected<std::unique_ptr<SlicedGroup>> SlicedGroup::read(tpu::GroupOp op, const Backend &backend) {
  std::unique_ptr<SlicedGroup> group(new SlicedGroup(backend));
  for (Operation &member : op.getBody().front().without_terminator())
    if (Expected<void> done = group->readMember(&member); !done)
      return propagate(done);
  if (group->layers.empty())
    return wrong(op, "has no layer");
  SmallVector<Operation *> ops;
  for (const auto &layer : group->layers)
    ops.push_back(layer->op);
  const SmallVector<Company> companies =
      companiesOf(ops, [&](Operation *each) { return takesAnyOrder(each, backend.info()); });
  for (auto [layer, company] : llvm::zip_equal(group->layers, companies))
    if (Expected<void> done = group->connect(*layer, company); !done)
      return propagate(done);
  for (const auto &load : group->loads)
    if (!load->reader)
      return wrong(op, "loads what no layer reads");
  group->countSlices();
  return group;
}

std::unique_ptr<SlicedGroup> SlicedGroup::take(const GroupPlan &plan, const PoolPlace &pool,
                                               const Backend &backend) {
  std::unique_ptr<SlicedGroup> group(new SlicedGroup(backend));
  std::vector<Held *> held(plan.tensors.size());
  const auto numberOf = [&](const GroupTensor &tensor) {
    return static_cast<size_t>(&tensor - plan.tensors.data());
  };
  for (const GroupTensor *tensor : loadsInOrder(plan)) {
    group->loads.push_back(std::make_unique<Load>());
    Load &load = *group->loads.back();
    load.info = loadInfo(plan, *tensor, pool, backend);
    load.isLoaded = true;
    load.source = loadedValue(plan, *tensor);
    held[numberOf(*tensor)] = &load;
  }
  for (auto [index, op] : llvm::enumerate(plan.layers)) {
    group->layers.push_back(std::make_unique<Layer>());
    Layer &layer = *group->layers.back();
    layer.op = op;
    layer.info = layerInfo(plan, static_cast<unsigned>(index), backend);
    layer.model = *plan.models[index];
    layer.isJoin = isJoin(op, backend);
    for (auto [operand, tensor] : llvm::enumerate(plan.operands[index]))
      group->connectOperand(layer, static_cast<unsigned>(operand),
                            tensor < 0 ? nullptr : held[static_cast<size_t>(tensor)]);
    held[plan.results[index]] = &layer;
  }
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isStored)
      group->stores.push_back({.target = tensor.value,
                               .maker = group->layers[*tensor.maker].get(),
                               .step = tensor.transferStep});
  group->countSlices();
  return group;
}

LocalSlice SlicedGroup::at(const Held &held, size_t slice) const {
  LocalSlice local{sliceAt(held.info.sections, numbers[slice]),
                   held.info.address(held.versions[slice])};
  if (const Layer *join = held.container) {
    const LocalSlice whole = at(*join, slice);
    local.address =
        whole.address + joinOffset(join->op, join->model, held.part, whole.slice, backend);
  }
  return local;
}

static bool contains(const Slice &outer, const Slice &inner) {
  return llvm::all_of(llvm::zip_equal(outer, inner), [](auto pair) {
    auto [out, in] = pair;
    return out.begin <= in.begin && in.end() <= out.end();
  });
}

/// Where a slice of a pooled constant begins: behind the channels before it.
static int64_t pooledAddress(const Backend &backend, const SlicedGroup::Layer &layer,
                             unsigned index, const GroupInfo &info, const Slice &slice) {
  if (slice[kAxisC].begin == 0)
    return info.outAddress;
  Slice before = slice;
  before[kAxisC] = {0, slice[kAxisC].begin};
  return info.outAddress + backend.localBytes(layer.op, layer.model, index, before);
}

Expected<SlicedOp> SlicedGroup::sliced(const Layer &layer, size_t slice) const {
  SlicedOp made{.op = layer.op,
                .model = &layer.model,
                .operands = {},
                .result = at(layer, slice),
                .scratchAddress = layer.info.scratchAddress,
                .scratchBytes = layer.info.scratchBytes};
  for (auto [position, held] : llvm::enumerate(layer.operands)) {
    const auto index = static_cast<unsigned>(position);
    LocalSlice local;
    if (layer.model.operands[position].isPresent)
      local.slice = layer.model.operands[position].slice(made.result.slice);
    if (held && held->info.pooled != 0) {
      local.address = pooledAddress(backend, layer, index, held->info, local.slice);
    } else if (held) {
      const LocalSlice all = at(*held, slice);
      if (!contains(all.slice, local.slice))
        return wrong(layer.op, "reads more than a slice of operand " + Twine(index) + " holds");
      local.address = all.address;
      if (all.slice != local.slice)
        local.held = all.slice;
    }
    if (!layer.info.partSteps.empty())
      local.isPlaced = layer.info.partSteps[position] != GroupInfo::kAtOnce;
    made.operands.push_back(local);
  }
  return made;
}

Expected<SlicedOp> SlicedGroup::slicedPart(const Layer &join, unsigned operand,
                                           size_t slice) const {
  Expected<SlicedOp> made = sliced(join, slice);
  if (made)
    for (auto [index, local] : llvm::enumerate(made->operands))
      local.isPlaced = index != operand;
  return made;
}

SlicedOp SlicedGroup::sliced(const Load &load, size_t slice) const {
  SlicedOp made{.op = load.reader->op, .model = &load.reader->model, .operands = {}, .result = {}};
  made.operands.resize(load.reader->operands.size());
  made.operands[load.operand] = at(load, slice);
  return made;
}
