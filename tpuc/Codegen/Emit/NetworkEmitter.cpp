//===- NetworkEmitter.cpp - The commands of a network in their order ------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Emit/NetworkEmitter.h"
#include "tpuc/Codegen/Emit/ModelContents.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/TiledGroup.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

#include <map>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Something that happens at a time. Of one time loads come first, those of the pool last among
/// them, then what is unpacked, computed or moved, and packed, then stores, parts of
/// concatenations, and what is complete.
struct Event {
  int64_t time = 0;
  enum Kind : uint8_t {
    Loads,
    LoadsPool,
    Unpacks,
    Computes,
    Packs,
    Stores,
    Concats,
    Completes
  } kind = Loads;
  std::function<Expected<void>()> emit;
};

/// What stands on the line of time units, and when it really begins.
struct Placed {
  int64_t start = 0, period = 1, tiles = 1;
  int64_t time = 0;

  int64_t end() const { return start + period; }
};

/// An op that moves data or lies where its operand does, or a group.
struct Item {
  Operation *op = nullptr;
  std::unique_ptr<TiledGroup> group = nullptr;
  bool isAlias = false;
};

/// Emits one sub-network.
class NetworkEmitter {
public:
  NetworkEmitter(const Backend &backend, Emitter &emitter) : backend(backend), emitter(emitter) {}

  /// What runs, in order: ops and their attributes, or plans.
  Expected<void> read(ArrayRef<Operation *> layers, PoolSite site);
  void take(ArrayRef<ScheduleItem> planned, ArrayRef<int64_t> units, const PoolPlace &poolPlace);
  Expected<void> run();

private:
  void place(const Item &item, int64_t start);
  void addGroup(const TiledGroup &group, const Placed &placed);
  void addPool();
  void endGroup(tpu::GroupOp op, const TiledGroup &group, const Placed &placed);
  void add(int64_t time, Event::Kind kind, std::function<Expected<void>()> emit) {
    events.push_back({time, kind, std::move(emit)});
  }
  int64_t timeAt(const Placed &placed, size_t tile, int64_t step) const;
  int64_t timeOf(int64_t unit) const;

  const Backend &backend;
  Emitter &emitter;
  std::vector<Item> items;
  std::vector<Placed> line;
  std::vector<Event> events;
  llvm::DenseMap<Value, int64_t> complete;
  PoolSite pool;
  SmallVector<int64_t> poolUnits;
  /// The memory space of the pool: that of all that is resident.
  unsigned poolSpace = kTileSpace;
  /// What first needs each piece of the pool.
  std::map<size_t, const Placed *> needed;
};

/// The time of a unit: of a group's last tile, or behind it.
int64_t NetworkEmitter::timeOf(int64_t unit) const {
  const auto behind = std::ranges::upper_bound(line, unit, {}, &Placed::start);
  if (behind == line.begin())
    return unit;
  const Placed &before = *std::prev(behind);
  return before.time + (before.tiles - 1) * before.period + unit - before.start;
}

/// Puts an item behind those before.
void NetworkEmitter::place(const Item &item, int64_t start) {
  Placed placed;
  placed.start = start;
  if (item.group) {
    placed.period = item.group->period();
    placed.tiles = static_cast<int64_t>(item.group->numTiles());
  }
  placed.time = line.empty() ? start
                             : line.back().time + line.back().tiles * line.back().period + start -
                                   line.back().end();
  line.push_back(placed);
}

Expected<void> NetworkEmitter::read(ArrayRef<Operation *> layers, PoolSite site) {
  pool = std::move(site);
  for (Operation *op : layers) {
    Item item{.op = op};
    if (auto group = dyn_cast<tpu::GroupOp>(op)) {
      Expected<std::unique_ptr<TiledGroup>> made = TiledGroup::read(group, backend);
      if (!made)
        return propagate(made);
      item.group = std::move(*made);
    } else {
      Expected<Place> place = backend.placeOf(op);
      if (!place)
        return wrong(op, place.error().message());
      if (*place == Place::Local)
        return wrong(op, "is in no group", "--layer-group first");
      item.isAlias = *place == Place::Alias;
    }
    if (!item.isAlias) {
      auto scheduled = dyn_cast<tpu::ScheduledInterface>(op);
      const IntegerAttr start = scheduled ? scheduled.getTimeAttr() : IntegerAttr();
      if (!start || start.getInt() < (line.empty() ? 0 : line.back().end()))
        return wrong(op, Twine("has no ") + tpu::kTime + " behind what is in front",
                     "what --layer-group writes");
      place(item, start.getInt());
      if (ArrayAttr units = scheduled.getPoolTimesAttr())
        poolUnits = top::toInts(units);
    }
    items.push_back(std::move(item));
  }
  if (!line.empty() && poolUnits.size() != pool.rows.ends.size())
    return makeError("module",
                     Twine(tpu::kPoolTimes).str() + " of " + std::to_string(poolUnits.size()) +
                         " of " + std::to_string(pool.rows.ends.size()) + " pieces of the pool",
                     "what --layer-group writes");
  return {};
}

void NetworkEmitter::take(ArrayRef<ScheduleItem> planned, ArrayRef<int64_t> units,
                          const PoolPlace &poolPlace) {
  poolUnits.assign(units.begin(), units.end());
  pool = {.global = static_cast<int64_t>(backend.info().global.modelBase),
          .local = poolPlace.address,
          .rows = poolPlace.pool.rows};
  for (const ScheduleItem &each : planned) {
    Item item{.op = each.move};
    if (each.group)
      item.group = TiledGroup::take(*each.group, poolPlace, backend);
    place(item, each.start);
    items.push_back(std::move(item));
  }
}

int64_t NetworkEmitter::timeAt(const Placed &placed, size_t tile, int64_t step) const {
  return tile == 0 && step < 0 ? timeOf(placed.start + step)
                               : placed.time + static_cast<int64_t>(tile) * placed.period + step;
}

void NetworkEmitter::addGroup(const TiledGroup &group, const Placed &placed) {
  for (const auto &load : group.loads)
    if (load->info.resident != 0) {
      poolSpace = load->user->model.layoutOf(load->operand).space;
      needed.try_emplace(pool.rows.pieceAt(load->info.outAddress - pool.local), &placed);
    }
  for (size_t tile = 0; tile < group.numTiles(); ++tile) {
    for (const auto &load : group.loads) {
      if (!load->isNew(tile) || load->info.resident != 0)
        continue;
      add(timeAt(placed, tile, tile == 0 ? load->info.firstStep : load->info.step), Event::Loads,
          [&, tile] {
            emitter.beginLayer(load->user->op);
            return emitter.load(group.sliced(*load, tile), load->operand,
                                *addressOf(load->source.getType()));
          });
      add(timeAt(placed, tile, load->user->info.step), Event::Unpacks, [&, tile] {
        emitter.beginLayer(load->user->op);
        return emitter.unpack(group.sliced(*load, tile), load->operand);
      });
    }
    for (const auto &layer : group.layers)
      add(timeAt(placed, tile, layer->info.step), Event::Computes, [&, tile]() -> Expected<void> {
        Expected<TiledOp> tiled = group.sliced(*layer, tile);
        if (!tiled)
          return propagate(tiled);
        emitter.beginLayer(layer->op);
        return emitter.compute(*tiled);
      });
    for (const auto &layer : group.layers)
      for (auto [index, step] : llvm::enumerate(layer->info.partSteps))
        if (step != GroupInfo::kAtOnce)
          add(timeAt(placed, tile, step), Event::Concats,
              [&, tile, operand = static_cast<unsigned>(index)]() -> Expected<void> {
                Expected<TiledOp> part = group.tiledPart(*layer, operand, tile);
                if (!part)
                  return propagate(part);
                emitter.beginLayer(layer->op);
                return emitter.compute(*part);
              });
    for (const TiledGroup::Store &store : group.stores) {
      add(timeAt(placed, tile, store.producer->info.step), Event::Packs,
          [&, tile]() -> Expected<void> {
            Expected<TiledOp> tiled = group.sliced(store, tile);
            if (!tiled)
              return propagate(tiled);
            emitter.beginLayer(store.producer->op);
            return emitter.pack(*tiled);
          });
      add(timeAt(placed, tile, store.step), Event::Stores, [&, tile]() -> Expected<void> {
        Expected<TiledOp> tiled = group.sliced(store, tile);
        if (!tiled)
          return propagate(tiled);
        emitter.beginLayer(store.producer->op);
        return emitter.store(*tiled, *addressOf(store.target.getType()));
      });
    }
  }
}

/// Pieces of the pool come when the schedule says, in front of the first tile of what needs them.
void NetworkEmitter::addPool() {
  for (auto [number, placed] : needed) {
    const PoolRows::Piece piece = pool.rows.piece(number);
    const int64_t global =
        pool.global + pool.rows.globalOffset(piece.begin, int64_t{backend.info().tiles().lanes});
    add(timeAt(*placed, 0, poolUnits[number] - placed->start), Event::LoadsPool,
        [this, piece, global] {
          return emitter.loadPool(poolSpace, global, pool.local + piece.begin,
                                  piece.end - piece.begin);
        });
  }
}

/// When the results of a group are complete.
void NetworkEmitter::endGroup(tpu::GroupOp op, const TiledGroup &group, const Placed &placed) {
  Operation *yield = op.getBody().front().getTerminator();
  for (const TiledGroup::Store &store : group.stores) {
    const int64_t time = timeAt(placed, group.numTiles() - 1, store.step);
    for (auto [yielded, result] : llvm::zip_equal(yield->getOperands(), op.getResults()))
      if (yielded == store.target)
        complete[result] = time;
    add(time, Event::Completes, [this, made = store.op]() -> Expected<void> {
      emitter.endLayer(made);
      return {};
    });
  }
}

Expected<void> NetworkEmitter::run() {
  const Placed *next = line.data();
  for (const Item &item : items) {
    Operation *op = item.op;
    if (item.group) {
      addGroup(*item.group, *next);
      if (op)
        endGroup(cast<tpu::GroupOp>(op), *item.group, *next);
      ++next;
      continue;
    }
    const int64_t time = item.isAlias ? complete.lookup(op->getOperand(0)) : (next++)->time;
    for (Value result : op->getResults())
      complete[result] = time;
    if (!item.isAlias)
      add(time, Event::Computes, [this, op] {
        emitter.beginLayer(op);
        return emitter.move(op);
      });
    add(time, Event::Completes, [this, op]() -> Expected<void> {
      emitter.endLayer(op);
      return {};
    });
  }
  addPool();
  llvm::stable_sort(events, [](const Event &a, const Event &b) {
    return std::pair(a.time, a.kind) < std::pair(b.time, b.kind);
  });
  for (const Event &event : events)
    if (Expected<void> emitted = event.emit(); !emitted)
      return emitted;
  return {};
}

} // namespace

Expected<void> codegen::emitNetwork(func::FuncOp main, const Backend &backend, Emitter &emitter) {
  for (const SubNet &subNet : subNetsOf(main.front())) {
    if (subNet.isCpu)
      continue;
    NetworkEmitter network(backend, emitter);
    if (Expected<void> read =
            network.read(subNet.layers, poolOf(main->getParentOfType<ModuleOp>()));
        !read)
      return read;
    if (Expected<void> emitted = network.run(); !emitted)
      return emitted;
    if (Expected<void> ended = emitter.endSubNet(); !ended)
      return ended;
  }
  return {};
}

Expected<void> codegen::emitPlanned(ArrayRef<ScheduleItem> items, ArrayRef<int64_t> poolUnits,
                                    const PoolPlace &pool, const Backend &backend,
                                    Emitter &emitter) {
  NetworkEmitter network(backend, emitter);
  network.take(items, poolUnits, pool);
  if (Expected<void> emitted = network.run(); !emitted)
    return emitted;
  return emitter.endSubNet();
}
