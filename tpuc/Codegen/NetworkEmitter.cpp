//===- NetworkEmitter.cpp - The commands of a network in their order ------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkEmitter.h"
#include "tpuc/Codegen/GroupInfo.h"
#include "tpuc/Codegen/Joins.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/ModelContents.h"
#include "tpuc/Codegen/NetworkSchedule.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// A tensor that a group keeps in local memory, and its slices.
struct Layer;
struct Held {
  Operation *op = nullptr;
  GroupInfo info;
  /// Of each slice of the group: how many others were in its place before.
  SmallVector<int64_t> versions;
  /// The concatenation that it is part of, and as which operand.
  const Layer *container = nullptr;
  unsigned part = 0;

  bool isNew(size_t slice) const { return slice == 0 || versions[slice] != versions[slice - 1]; }
};

/// A layer of a group, and where its operands come from.
struct Layer : Held {
  SliceModel model;
  /// Null for operands that are not loaded.
  SmallVector<const Held *> operands;
  bool isJoin = false;
};

/// A load of a group, for which operand of which layer.
struct Load : Held {
  const Layer *reader = nullptr;
  unsigned operand = 0;
};

struct Store {
  Operation *op = nullptr;
  Value output;
  const Layer *maker = nullptr;
  int64_t step = 0;
};

/// A group, read from its attributes.
class Group {
public:
  Group(tpu::GroupOp op, const Backend &backend) : op(op), backend(backend) {}

  Expected<void> read();
  int64_t period() const { return static_cast<int64_t>(layers.size()); }
  size_t numSlices() const { return numbers.size(); }

  LocalSlice at(const Held &held, size_t slice) const;
  Expected<SlicedOp> sliced(const Layer &layer, size_t slice) const;
  Expected<SlicedOp> sliced(const Load &load, size_t slice) const;

  tpu::GroupOp op;
  std::vector<std::unique_ptr<Load>> loads;
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<Store> stores;

private:
  Expected<void> readMember(Operation *member);
  Expected<void> connect(Layer &layer, Company company);
  void setVersions(Held &held) const;

  const Backend &backend;
  SmallVector<SectionCounts> numbers;
  llvm::DenseMap<Value, Held *> holders;
};

Expected<void> Group::readMember(Operation *member) {
  if (isa<tpu::UnpackOp>(member)) {
    holders[member->getResult(0)] = holders.lookup(member->getOperand(0));
    return {};
  }
  Expected<GroupInfo> info = GroupInfo::of(member);
  if (!info)
    return propagate(info);
  if (auto store = dyn_cast<tpu::StoreOp>(member)) {
    auto *maker = static_cast<Layer *>(holders.lookup(store.getInput()));
    if (!maker || isa<tpu::LoadOp>(maker->op))
      return wrong(member, "stores no layer of its group");
    if (!addressOf(store.getOutput().getType()))
      return wrong(member, "stores a tensor without an address", "--address-assign first");
    stores.push_back({store, store.getOutput(), maker, info->step});
    return {};
  }
  if (isa<tpu::LoadOp>(member)) {
    if (!addressOf(member->getOperand(0).getType()))
      return wrong(member, "loads a tensor without an address", "--address-assign first");
    loads.push_back(std::make_unique<Load>());
    loads.back()->op = member;
    loads.back()->info = std::move(*info);
    holders[member->getResult(0)] = loads.back().get();
    return {};
  }
  layers.push_back(std::make_unique<Layer>());
  layers.back()->op = member;
  layers.back()->info = std::move(*info);
  holders[member->getResult(0)] = layers.back().get();
  return {};
}

Expected<void> Group::connect(Layer &layer, Company company) {
  layer.isJoin = isJoin(layer.op, backend);
  Expected<SliceModel> model = layer.isJoin ? joinModel(layer.op) : sliceModel(layer.op, company);
  if (!model)
    return wrong(layer.op, model.error().message());
  layer.model = std::move(*model);
  for (OpOperand &operand : layer.op->getOpOperands()) {
    Held *held = holders.lookup(operand.get());
    layer.operands.push_back(held);
    if (!held && backend.isLoaded(operand))
      return wrong(layer.op, "reads a tensor that its group does not load");
    if (held && isa<tpu::LoadOp>(held->op) && !static_cast<Load *>(held)->reader) {
      static_cast<Load *>(held)->reader = &layer;
      static_cast<Load *>(held)->operand = operand.getOperandNumber();
    }
    if (!layer.isJoin)
      continue;
    if (held->container)
      return wrong(layer.op, "joins what another concatenation joins");
    held->container = &layer;
    held->part = operand.getOperandNumber();
  }
  return {};
}

/// Loads keep a slice that does not change; what is computed is computed again.
void Group::setVersions(Held &held) const {
  std::optional<Slice> last;
  int64_t version = -1;
  for (const SectionCounts &number : numbers) {
    const Slice slice = sliceAt(held.info.sections, number);
    if (last != slice || !isa<tpu::LoadOp>(held.op))
      ++version;
    last = slice;
    held.versions.push_back(version);
  }
}

Expected<void> Group::read() {
  for (Operation &member : op.getBody().front().without_terminator())
    if (Expected<void> done = readMember(&member); !done)
      return done;
  if (layers.empty())
    return wrong(op, "has no layer");
  SmallVector<Operation *> ops;
  for (const auto &layer : layers)
    ops.push_back(layer->op);
  for (const auto &layer : layers)
    if (Expected<void> done = connect(*layer, companyOf(ops)); !done)
      return done;
  SectionCounts counts{1, 1, 1, 1, 1};
  for (const auto &layer : layers)
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      counts[axis] =
          std::max(counts[axis], static_cast<unsigned>(layer->info.sections[axis].size()));
  numbers = sliceNumbers(counts);
  for (const auto &layer : layers)
    setVersions(*layer);
  for (const auto &load : loads) {
    if (!load->reader)
      return wrong(load->op, "loads what no layer reads");
    setVersions(*load);
  }
  return {};
}

LocalSlice Group::at(const Held &held, size_t slice) const {
  LocalSlice local{sliceAt(held.info.sections, numbers[slice]),
                   held.info.address(held.versions[slice])};
  if (const Layer *join = held.container) {
    const LocalSlice whole = at(*join, slice);
    local.address =
        whole.address + joinOffset(join->op, join->model, held.part, whole.slice, backend);
  }
  return local;
}

bool contains(const Slice &outer, const Slice &inner) {
  return llvm::all_of(llvm::zip_equal(outer, inner), [](auto pair) {
    auto [out, in] = pair;
    return out.begin <= in.begin && in.end() <= out.end();
  });
}

/// Where a slice of a pooled constant begins: behind the channels before it.
int64_t pooledAddress(const Backend &backend, const Layer &layer, unsigned index,
                      const GroupInfo &info, const Slice &slice) {
  if (slice[kAxisC].begin == 0)
    return info.outAddress;
  Slice before = slice;
  before[kAxisC] = {0, slice[kAxisC].begin};
  return info.outAddress + backend.localBytes(layer.op, layer.model, index, before);
}

Expected<SlicedOp> Group::sliced(const Layer &layer, size_t slice) const {
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
    made.operands.push_back(local);
  }
  return made;
}

Expected<SlicedOp> Group::sliced(const Load &load, size_t slice) const {
  SlicedOp made{.op = load.reader->op, .model = &load.reader->model, .operands = {}, .result = {}};
  made.operands.resize(load.reader->operands.size());
  made.operands[load.operand] = at(load, slice);
  return made;
}

/// Something that happens at a time. Of one time loads come first, then what is computed or moved,
/// then stores, then what is complete.
struct Event {
  int64_t time = 0;
  enum Kind : uint8_t { Loads, Computes, Stores, Completes } kind = Loads;
  std::function<Expected<void>()> emit;
};

/// What stands on the line of time units, and when it really begins.
struct Placed {
  int64_t start = 0, period = 1, slices = 1;
  int64_t time = 0;
};

class NetworkEmitter {
public:
  NetworkEmitter(func::FuncOp main, const Backend &backend, Emitter &emitter)
      : main(main), backend(backend), emitter(emitter) {}

  Expected<void> run();

private:
  Expected<void> readItems();
  Expected<void> loadPool();
  void addGroup(Group &group, const Placed &placed);
  void add(int64_t time, Event::Kind kind, std::function<Expected<void>()> emit) {
    events.push_back({time, kind, std::move(emit)});
  }
  int64_t timeOf(int64_t unit) const;

  func::FuncOp main;
  const Backend &backend;
  Emitter &emitter;
  std::vector<std::pair<Operation *, std::unique_ptr<Group>>> items;
  std::vector<Placed> line;
  std::vector<Event> events;
  llvm::DenseMap<Value, int64_t> complete;
};

/// The time of a unit: of a group's last slice, or behind it.
int64_t NetworkEmitter::timeOf(int64_t unit) const {
  const Placed *before = nullptr;
  for (const Placed &placed : line)
    if (placed.start <= unit)
      before = &placed;
  if (!before)
    return unit;
  return before->time + (before->slices - 1) * before->period + unit - before->start;
}

Expected<void> NetworkEmitter::readItems() {
  for (Operation &op : main.front().without_terminator()) {
    if (!isLayer(&op))
      continue;
    auto group = dyn_cast<tpu::GroupOp>(op);
    if (!group) {
      Expected<Place> place = backend.placeOf(&op);
      if (!place)
        return wrong(&op, place.error().message());
      if (*place == Place::Local)
        return wrong(&op, "is in no group", "--layer-group first");
      items.emplace_back(&op, nullptr);
      if (*place == Place::Alias)
        continue;
    } else {
      items.emplace_back(&op, std::make_unique<Group>(group, backend));
      if (Expected<void> read = items.back().second->read(); !read)
        return read;
    }
    auto start = op.getAttrOfType<IntegerAttr>(kTime);
    Placed placed;
    if (const Group *made = items.back().second.get()) {
      placed.period = made->period();
      placed.slices = static_cast<int64_t>(made->numSlices());
    }
    const int64_t end = line.empty() ? 0 : line.back().start + line.back().period;
    if (!start || start.getInt() < end)
      return wrong(&op, Twine("has no ") + kTime + " behind what is in front",
                   "what --layer-group writes");
    placed.start = start.getInt();
    placed.time = line.empty() ? placed.start
                               : line.back().time + line.back().slices * line.back().period +
                                     placed.start - end;
    line.push_back(placed);
  }
  return {};
}

Expected<void> NetworkEmitter::loadPool() {
  auto module = main->getParentOfType<ModuleOp>();
  const auto number = [&](StringRef name) {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : int64_t{0};
  };
  if (number(kPoolBytes) == 0)
    return {};
  return emitter.loadPool(number(kPoolAddress), number(kPoolLocal), number(kPoolBytes));
}

void NetworkEmitter::addGroup(Group &group, const Placed &placed) {
  const auto timeAt = [&](size_t slice, int64_t step) {
    return slice == 0 && step < 0
               ? timeOf(placed.start + step)
               : placed.time + static_cast<int64_t>(slice) * placed.period + step;
  };
  for (size_t slice = 0; slice < group.numSlices(); ++slice) {
    for (const auto &load : group.loads)
      if (load->isNew(slice) && load->info.pooled == 0)
        add(timeAt(slice, load->info.step), Event::Loads, [&, slice]() -> Expected<void> {
          Expected<SlicedOp> sliced = group.sliced(*load, slice);
          emitter.beginLayer(load->reader->op);
          return emitter.load(*sliced, load->operand,
                              *addressOf(load->op->getOperand(0).getType()));
        });
    for (const auto &layer : group.layers)
      add(timeAt(slice, layer->info.step), Event::Computes, [&, slice]() -> Expected<void> {
        Expected<SlicedOp> sliced = group.sliced(*layer, slice);
        if (!sliced)
          return propagate(sliced);
        if (layer->isJoin)
          return {};
        emitter.beginLayer(layer->op);
        return emitter.compute(*sliced);
      });
    for (const Store &store : group.stores)
      add(timeAt(slice, store.step), Event::Stores, [&, slice]() -> Expected<void> {
        Expected<SlicedOp> sliced = group.sliced(*store.maker, slice);
        if (!sliced)
          return propagate(sliced);
        emitter.beginLayer(store.maker->op);
        return emitter.store(*sliced, *addressOf(store.output.getType()));
      });
  }
  Operation *yield = group.op.getBody().front().getTerminator();
  for (const Store &store : group.stores) {
    const int64_t time = timeAt(group.numSlices() - 1, store.step);
    for (auto [yielded, result] : llvm::zip_equal(yield->getOperands(), group.op.getResults()))
      if (yielded == store.output)
        complete[result] = time;
    add(time, Event::Completes, [this, op = store.op]() -> Expected<void> {
      emitter.endLayer(op);
      return {};
    });
  }
}

Expected<void> NetworkEmitter::run() {
  if (Expected<void> read = readItems(); !read)
    return read;
  const Placed *next = line.data();
  for (auto &[op, group] : items) {
    const auto end = [this, op = op]() -> Expected<void> {
      emitter.endLayer(op);
      return {};
    };
    if (group) {
      addGroup(*group, *next++);
      continue;
    }
    if (Expected<Place> place = backend.placeOf(op); *place == Place::Alias) {
      const int64_t time = complete.lookup(op->getOperand(0));
      for (Value result : op->getResults())
        complete[result] = time;
      add(time, Event::Completes, end);
      continue;
    }
    const int64_t time = (next++)->time;
    for (Value result : op->getResults())
      complete[result] = time;
    add(time, Event::Computes, [this, op = op] {
      emitter.beginLayer(op);
      return emitter.move(op);
    });
    add(time, Event::Completes, end);
  }
  llvm::stable_sort(events, [](const Event &a, const Event &b) {
    return std::pair(a.time, a.kind) < std::pair(b.time, b.kind);
  });
  if (Expected<void> loaded = loadPool(); !loaded)
    return loaded;
  for (const Event &event : events)
    if (Expected<void> emitted = event.emit(); !emitted)
      return emitted;
  return {};
}

} // namespace

Expected<void> codegen::emitNetwork(func::FuncOp main, const Backend &backend, Emitter &emitter) {
  return NetworkEmitter(main, backend, emitter).run();
}
