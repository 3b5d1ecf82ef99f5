//===- LayerGroup.cpp - Layers in slices that fit local memory ----------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/AddressAssign.h"
#include "tpuc/Codegen/ConstantPool.h"
#include "tpuc/Codegen/GroupFile.h"
#include "tpuc/Codegen/GroupMemory.h"
#include "tpuc/Codegen/GroupSearch.h"
#include "tpuc/Codegen/Heuristics.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/ModelContents.h"
#include "tpuc/Codegen/NetworkEmitter.h"
#include "tpuc/Codegen/NetworkSchedule.h"
#include "tpuc/Codegen/NetworkSearch.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/PlanInfo.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Interpreter/Evaluate.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_LAYERGROUP
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Makes the ops of a group from its plan.
class GroupBuilder {
public:
  GroupBuilder(const GroupPlan &plan, const PoolPlace &pool, const Backend &backend)
      : plan(plan), pool(pool), backend(backend) {}

  tpu::GroupOp build();

private:
  void set(Operation *op, GroupInfo info);
  tpu::GroupOp createGroup();
  void addLoads(OpBuilder &builder);
  Value load(OpBuilder &builder, const GroupTensor &tensor);

  const GroupPlan &plan;
  const PoolPlace &pool;
  const Backend &backend;
  int64_t nextId = 0;
};

void GroupBuilder::set(Operation *op, GroupInfo info) {
  info.id = nextId++;
  op->setAttr(kGroupInfo, info.attribute(op->getContext()));
}

/// A group in the place of its last layer, which reads and gives what its layers do together.
tpu::GroupOp GroupBuilder::createGroup() {
  OpBuilder builder(plan.layers.back());
  SmallVector<Value> inputs;
  SmallVector<Location> names;
  SmallVector<Type> types;
  for (const GroupTensor &tensor : plan.tensors) {
    if (!tensor.maker && !tensor.isConstant) {
      const Value input = loadedValue(plan, tensor);
      if (!llvm::is_contained(inputs, input))
        inputs.push_back(input);
    }
    if (!tensor.isStored)
      continue;
    types.push_back(tensor.value.getType());
    names.push_back(tensor.value.getLoc());
  }
  const Location loc = names.size() == 1 ? names.front() : builder.getFusedLoc(names);
  return builder.create<tpu::GroupOp>(loc, types, inputs);
}

/// A load of a tensor, packed where it is a constant, and what it means.
Value GroupBuilder::load(OpBuilder &builder, const GroupTensor &tensor) {
  const GroupTensor::Reader &reader = tensor.readers.front();
  auto unpack =
      plan.layers[reader.layer]->getOperand(reader.operand).getDefiningOp<tpu::UnpackOp>();
  const Value source = loadedValue(plan, tensor);
  auto made = builder.create<tpu::LoadOp>(source.getLoc(), source.getType(), source);
  set(made, loadInfo(plan, tensor, pool, backend));
  if (!unpack)
    return made.getOutput();
  return builder
      .create<tpu::UnpackOp>(unpack.getLoc(), unpack.getOutput().getType(), made.getOutput(),
                             unpack.getBlocks(), unpack.getOrder(), unpack.getPadded())
      .getOutput();
}

void GroupBuilder::addLoads(OpBuilder &builder) {
  for (const GroupTensor *tensor : loadsInOrder(plan)) {
    Value made = load(builder, *tensor);
    for (const GroupTensor::Reader &reader : tensor->readers)
      plan.layers[reader.layer]->setOperand(reader.operand, made);
  }
}

tpu::GroupOp GroupBuilder::build() {
  tpu::GroupOp group = createGroup();
  Block &body = group.getBody().emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  unsigned number = 0;
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isStored)
      Value(tensor.value).replaceUsesWithIf(group.getResult(number++), [&](OpOperand &use) {
        return !llvm::is_contained(plan.layers, use.getOwner());
      });
  addLoads(builder);
  for (auto [index, layer] : llvm::enumerate(plan.layers)) {
    layer->moveBefore(&body, body.end());
    set(layer, layerInfo(plan, static_cast<unsigned>(index), backend));
  }
  builder.setInsertionPointToEnd(&body);
  SmallVector<Value> stored;
  for (const GroupTensor &tensor : plan.tensors) {
    if (!tensor.isStored)
      continue;
    auto store =
        builder.create<tpu::StoreOp>(tensor.value.getLoc(), tensor.value.getType(), tensor.value);
    set(store, storeInfo(plan, tensor, backend));
    stored.push_back(store.getOutput());
  }
  builder.create<tpu::YieldOp>(group.getLoc(), stored);
  return group;
}

struct LayerGroupPass : codegen::impl::LayerGroupBase<LayerGroupPass> {
  using Base::Base;

  /// The groups of one sub-network, and when they run.
  struct Part {
    SubNet subNet = {};
    std::vector<Operation *> layers = {};
    std::vector<GroupPlan> groups = {};
    /// Those that take the fewest estimated cycles, where others were chosen for less memory.
    std::optional<std::vector<GroupPlan>> fastest = std::nullopt;
    std::vector<ScheduleItem> items = {};
    bool isCrowded = false;
    /// Percent of the memory that the schedule tries to fill.
    int64_t mostFill = kMostFill;
  };

  /// The percent of local memory for which groups are chosen as well as for all of it.
  static constexpr int64_t kSmaller = 90;

  Heuristics heuristics;

  Expected<std::vector<GroupPlan>> choose(Part &part, GroupPlanner &planner, const PoolPlace &place,
                                          const Backend &backend) {
    if (opt == 0)
      return separateGroups(part.layers, planner);
    GroupTable table(part.layers, planner, backend);
    if (Expected<void> filled = table.fill(); !filled)
      return propagate(filled);
    if (opt > 1)
      return search(part, table, place, backend);
    const Division best = table.best({});
    const Division smaller = withLessMemory(part.subNet.layers, table, best, backend);
    if (smaller != best) {
      Expected<std::vector<GroupPlan>> plans = table.plans(best);
      if (!plans)
        return plans;
      part.fastest = std::move(*plans);
    }
    return table.plans(smaller);
  }

  /// Groups that the timing simulator prefers. It is asked about commands, which need addresses.
  Expected<std::vector<GroupPlan>> search(Part &part, GroupTable &table, const PoolPlace &place,
                                          const Backend &backend) {
    Expected<func::FuncOp> main = top::mainFunction(getOperation());
    if (!main)
      return propagate(main);
    if (Expected<void> assigned = assignTrialAddresses(*main, backend); !assigned)
      return propagate(assigned);
    const NetworkTrial trial(part.subNet.layers, place, backend, heuristics);
    Expected<FoundGroups> found =
        searchGroups(table, trial, {.isThorough = opt == 3, .time = std::chrono::seconds(seconds)});
    dropAddresses(*main);
    if (!found)
      return propagate(found);
    part.mostFill = found->fill;
    return table.plans(found->division);
  }

  /// The groups of the file, each for the sub-network that its layers are in.
  Expected<void> load(std::vector<Part> &parts, ArrayRef<Operation *> layers, GroupPlanner &planner,
                      const Backend &backend) {
    Expected<std::vector<GroupPlan>> groups = readGroups(loadGroups, layers, planner, backend);
    if (!groups)
      return propagate(groups);
    for (Part &part : parts)
      part.groups.clear();
    for (GroupPlan &group : *groups)
      for (Part &part : parts) {
        const auto isHere = [&](Operation *layer) {
          return llvm::is_contained(part.layers, layer);
        };
        if (!isHere(group.layers.front()))
          continue;
        if (!llvm::all_of(group.layers, isHere))
          return makeError(loadGroups, "the group of '" + layerName(group.layers.front()) +
                                           "' is in several sub-networks");
        part.groups.push_back(std::move(group));
        break;
      }
    return {};
  }

  Expected<void> save(ArrayRef<Part> parts) {
    if (saveGroups.empty())
      return {};
    std::vector<GroupPlan> all;
    for (const Part &part : parts)
      llvm::append_range(all, part.groups);
    Expected<OutputFile> file = writeGroups(all, saveGroups);
    return file ? file->commit() : propagate(file);
  }

  /// Groups, their times and places, in `percent` of the memory.
  Expected<void> plan(std::vector<Part> &parts, ArrayRef<Operation *> layers,
                      const PoolPlace &place, const Backend &backend, int64_t percent) {
    const int64_t capacity = place.address;
    GroupPlanner planner(backend, capacity * percent / 100, place.pool.operands, heuristics);
    if (!loadGroups.empty())
      if (Expected<void> loaded = load(parts, layers, planner, backend); !loaded)
        return loaded;
    for (Part &part : parts) {
      if (loadGroups.empty()) {
        Expected<std::vector<GroupPlan>> groups = choose(part, planner, place, backend);
        if (!groups)
          return propagate(groups);
        part.groups = std::move(*groups);
      }
      Expected<void> scheduled = schedule(part, place, backend);
      if (!scheduled && part.fastest) {
        part.groups = std::move(*part.fastest);
        part.fastest.reset();
        scheduled = schedule(part, place, backend);
      }
      if (!scheduled)
        return scheduled;
    }
    return {};
  }

  /// When the groups of a part run.
  Expected<void> schedule(Part &part, const PoolPlace &place, const Backend &backend) {
    Expected<NetworkSchedule> made = scheduleNetwork(part.subNet.layers, part.groups, backend,
                                                     place.address, heuristics, part.mostFill);
    if (!made)
      return propagate(made);
    part.items = std::move(made->items);
    part.isCrowded = made->isCrowded;
    return {};
  }

  /// The cycles of a run of all sub-networks, by each set of parameters; tensors have addresses.
  Expected<SmallVector<int64_t>> cyclesOf(ArrayRef<Part> parts, const PoolPlace &place,
                                          const Backend &backend) {
    SmallVector<int64_t> sums;
    for (const Part &part : parts) {
      Expected<SmallVector<int64_t>> cycles = backend.runCycles(
          [&](Emitter &emitter) { return emitPlanned(part.items, place, backend, emitter); });
      if (!cycles)
        return cycles;
      sums.resize(cycles->size());
      for (auto [sum, own] : llvm::zip_equal(sums, *cycles))
        sum += own;
    }
    return sums;
  }

  /// The cycles of `others` divided by those of `parts`, in the mean over the sets of parameters.
  Expected<double> ratioOf(ArrayRef<Part> others, ArrayRef<Part> parts, const PoolPlace &place,
                           const Backend &backend) {
    Expected<func::FuncOp> main = top::mainFunction(getOperation());
    if (!main)
      return propagate(main);
    if (Expected<void> assigned = assignTrialAddresses(*main, backend); !assigned)
      return propagate(assigned);
    Expected<SmallVector<int64_t>> before = cyclesOf(parts, place, backend);
    Expected<SmallVector<int64_t>> after = cyclesOf(others, place, backend);
    dropAddresses(*main);
    if (!before || !after)
      return propagate(before ? after : before);
    double sum = 0;
    for (auto [old, own] : llvm::zip_equal(*before, *after))
      sum += static_cast<double>(own) / static_cast<double>(old);
    return sum / static_cast<double>(before->size());
  }

  /// The parts with their fastest groups; none where those do not find their places.
  std::optional<std::vector<Part>> fastestOf(ArrayRef<Part> parts, const PoolPlace &place,
                                             const Backend &backend) {
    std::vector<Part> others;
    for (const Part &part : parts)
      others.push_back({.subNet = part.subNet,
                        .layers = part.layers,
                        .groups = part.fastest ? *part.fastest : part.groups});
    // What is scheduled points to the groups, so they stay where they are.
    for (Part &other : others)
      if (!schedule(other, place, backend))
        return std::nullopt;
    return others;
  }

  static bool isWeighed(ArrayRef<Part> parts) {
    return llvm::any_of(parts, [](const Part &part) { return part.fastest.has_value(); });
  }

  /// Other groups than those planned: the fastest, and where memory is crowded those for nine
  /// tenths of it, too.
  std::vector<std::vector<Part>> othersOf(ArrayRef<Part> parts, ArrayRef<Operation *> layers,
                                          const PoolPlace &place, const Backend &backend) {
    std::vector<std::vector<Part>> made;
    const auto addFastest = [&](ArrayRef<Part> of) {
      std::optional<std::vector<Part>> fastest;
      if (isWeighed(of))
        fastest = fastestOf(of, place, backend);
      if (fastest)
        made.push_back(std::move(*fastest));
      return fastest || !isWeighed(of);
    };
    if (addFastest(parts) && llvm::none_of(parts, [](const Part &part) { return part.isCrowded; }))
      return made;
    std::vector<Part> smaller;
    for (const Part &part : parts)
      smaller.push_back({.subNet = part.subNet, .layers = part.layers});
    if (plan(smaller, layers, place, backend, kSmaller)) {
      addFastest(smaller);
      made.push_back(std::move(smaller));
    }
    return made;
  }

  /// Takes the groups that the timing simulator prefers; those that need less global memory may
  /// take a percent more cycles. The estimates of groups do not know what runs beside their
  /// neighbours.
  Expected<void> preferFastest(std::vector<Part> &parts, ArrayRef<Operation *> layers,
                               const PoolPlace &place, const Backend &backend) {
    constexpr double kMost = 1.01;
    const auto worth = [](ArrayRef<Part> of) { return isWeighed(of) ? kMost : 1; };
    double least = 1 / worth(parts);
    std::vector<Part> best;
    for (std::vector<Part> &others : othersOf(parts, layers, place, backend)) {
      Expected<double> ratio = ratioOf(others, parts, place, backend);
      if (!ratio)
        return propagate(ratio);
      if (*ratio / worth(others) >= least)
        continue;
      least = *ratio / worth(others);
      best = std::move(others);
    }
    if (!best.empty())
      parts = std::move(best);
    return {};
  }

  /// Where what the groups need does not find its place, the groups are chosen again for a smaller
  /// memory; at last nothing is kept for the whole network.
  Expected<void> group(Block &block, const Backend &backend) {
    std::vector<Part> parts;
    std::vector<Operation *> all;
    for (SubNet &subNet : subNetsOf(block)) {
      if (subNet.isCpu)
        continue;
      Expected<std::vector<Operation *>> layers =
          localLayers(subNet.layers, backend,
                      /*withJoins=*/heuristics.joins && (opt != 0 || !loadGroups.empty()));
      if (!layers)
        return propagate(layers);
      llvm::append_range(all, *layers);
      parts.push_back({.subNet = std::move(subNet), .layers = std::move(*layers)});
    }
    std::optional<Error> failure;
    const ConstantPool shortOnes =
        heuristics.constantPool ? poolConstants(all, backend) : ConstantPool();
    for (const ConstantPool &pool : {shortOnes, ConstantPool()}) {
      const PoolPlace place = {
          .pool = pool, .address = int64_t{backend.info().memory.localBytesPerLane} - pool.bytes};
      for (int64_t percent : {100, 90, 75, 50}) {
        Expected<void> planned = plan(parts, all, place, backend, percent);
        if (planned) {
          if (opt == 1 && percent == 100 && loadGroups.empty())
            if (Expected<void> done = preferFastest(parts, all, place, backend); !done)
              return done;
          if (Expected<void> saved = save(parts); !saved)
            return saved;
          for (const Part &part : parts)
            build(part, place, backend);
          return {};
        }
        if (!failure)
          failure = planned.error();
      }
    }
    return tl::unexpected<Error>(*failure);
  }

  void build(const Part &part, const PoolPlace &place, const Backend &backend) {
    Builder builder(&getContext());
    const auto mark = [](Operation *from, Operation *to) {
      for (StringRef name : {kSubNetId, kSubNetMode})
        if (Attribute value = from->getAttr(name))
          to->setAttr(name, value);
    };
    for (const ScheduleItem &item : part.items) {
      Operation *op = item.move;
      if (item.group) {
        op = GroupBuilder(*item.group, place, backend).build();
        mark(item.group->layers.front(), op);
      }
      op->setAttr(kTime, builder.getI64IntegerAttr(item.start));
    }
    if (place.pool.bytes == 0)
      return;
    getOperation()->setAttr(kPoolLocal, builder.getI64IntegerAttr(place.address));
    getOperation()->setAttr(kPoolBytes, builder.getI64IntegerAttr(place.pool.bytes));
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    if (opt < 0 || opt > 3)
      return module.emitError() << "--layer-group: opt=" << opt.getValue() << "; expected 0 to 3";
    if (seconds < 0 || (seconds > 0 && opt != 3))
      return module.emitError() << "--layer-group: seconds=" << seconds.getValue()
                                << "; expected 0, or with opt=3 a time limit";
    Expected<Heuristics> chosen = Heuristics::without(without);
    if (!chosen)
      return module.emitError() << "--layer-group: " << chosen.error().message();
    heuristics = *chosen;
    std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return failure();
    Expected<func::FuncOp> network = top::mainFunction(module);
    if (!network)
      return module.emitError(network.error().message());
    func::FuncOp main = *network;
    if (Expected<void> grouped = group(main.front(), *backend); !grouped)
      return module.emitError(grouped.error().message());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
      if (isConstant(&op) && op.use_empty())
        op.erase();
    module->setAttr("module.state", StringAttr::get(&getContext(), "TPU_GROUPED"));
    return success();
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace
