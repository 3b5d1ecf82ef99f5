//===- AddressAssign.cpp - Where tensors are in global memory ----------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Codegen/Emit/ModelContents.h"
#include "tpuc/Codegen/Group/GroupInfo.h"
#include "tpuc/Codegen/Group/GroupTimes.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_ADDRESSASSIGN
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// A function's tensors between its ops, and when each is needed.
class Neurons {
public:
  /// `planned`: groups whose layers are still by themselves.
  Neurons(func::FuncOp main, const Backend &backend, ArrayRef<const GroupPlan *> planned = {})
      : block(main.front()), backend(backend) {
    for (const GroupPlan *plan : planned)
      for (Operation *layer : plan->layers)
        plans[layer] = plan;
    collect();
    containParts();
  }

  /// Adds all tensors to `plan`, each at a multiple of at least `alignment` bytes.
  void addTo(AddressPlan &plan, int64_t alignment = 1);
  /// Gives them the addresses that the plan has found.
  void assign(const AddressPlan &plan) const;

private:
  /// The tensor whose memory `value` lies in, from its beginning on.
  Value root(Value value) const;
  /// Whether what an op makes lies in its operand.
  bool isAlias(Operation *op) const;
  void contain(Value inner, Value outer, int64_t offset);
  void containParts();
  void need(Value value, int64_t time);
  int64_t needForGroup(const GroupTimes &times, int64_t begin);
  int64_t needFor(Operation &op, int64_t begin);
  void collect();

  Block &block;
  const Backend &backend;
  llvm::DenseMap<Operation *, const GroupPlan *> plans;
  /// Asked once for each op.
  mutable llvm::DenseMap<Operation *, bool> aliases;
  struct Life {
    int64_t lower, upper;
  };
  llvm::MapVector<Value, Life> lives;
  /// Where a tensor is a part of another one: parts of concatenations, splits and tiles.
  struct Inside {
    Value outer;
    int64_t offset;
  };
  llvm::MapVector<Value, Inside> containers;
  /// The numbers of the tensors in the plan.
  llvm::DenseMap<Value, size_t> numbers;
};

Value Neurons::root(Value value) const {
  for (Operation *op = value.getDefiningOp(); op && isAlias(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

bool Neurons::isAlias(Operation *op) const {
  const auto [entry, isNew] = aliases.try_emplace(op, false);
  if (isNew && !isOnCpu(op) && !isa<tpu::GroupOp>(op)) {
    Expected<Place> place = isa<top::InputOp>(op) ? Place::Alias : backend.placeOf(op);
    entry->second = place && *place == Place::Alias;
  }
  return entry->second;
}

void Neurons::need(Value value, int64_t time) {
  if (isa<NoneType>(value.getType()) || staysOnHost(value) ||
      (value.getDefiningOp() && isConstant(value.getDefiningOp())))
    return;
  const Value owner = root(value);
  auto [entry, isNew] = lives.insert({owner, {time, time + 1}});
  entry->second.upper = std::max(entry->second.upper, time + 1);
}

/// What a group loads is needed until its last tile is loaded, what it stores from its first tile
/// on: a result may take the place of an operand that nobody else reads, if all of that is loaded
/// before.
int64_t Neurons::needForGroup(const GroupTimes &times, int64_t begin) {
  for (const GroupTimes::Transfer &transfer : times.transfers()) {
    if (transfer.isStored)
      need(transfer.value, begin + 2 * transfer.first + 1);
    need(transfer.value, begin + 2 * transfer.last + (transfer.isStored ? 1 : 0));
  }
  return 2 * std::max<int64_t>(times.count(), 1);
}

/// An op takes two times, in which it reads and in which what it makes is there; a group two for
/// each time of its transfers: first it loads, then it stores. The times that it takes.
int64_t Neurons::needFor(Operation &op, int64_t begin) {
  // Groups that are planned stand where their last layer does.
  if (const GroupPlan *plan = plans.lookup(&op))
    return plan->layers.back() == &op ? needForGroup(GroupTimes::of(*plan), begin) : 0;
  if (auto group = dyn_cast<tpu::GroupOp>(op))
    if (Expected<GroupTimes> times = GroupTimes::of(group))
      return needForGroup(*times, begin);
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == &block)
        need(operand, begin + 1);
  });
  for (Value result : op.getResults()) {
    need(result, begin);
    need(result, begin + 1);
  }
  return 2;
}

/// Inputs are there from the start, outputs to the end.
void Neurons::collect() {
  for (Value argument : block.getArguments())
    need(argument, 0);
  int64_t time = 1;
  for (Operation &op : block.without_terminator())
    if (!isConstant(&op))
      time += needFor(op, time);
  for (Value value : block.getTerminator()->getOperands())
    need(value, time);
}

/// The first element of a slice whose elements follow each other in its input; none for others.
static std::optional<int64_t> contiguousStart(tpu::SliceOp op) {
  const ArrayRef<int64_t> from = cast<RankedTensorType>(op.getInput().getType()).getShape();
  const ArrayRef<int64_t> to = cast<RankedTensorType>(op.getOutput().getType()).getShape();
  const auto offsets = top::intsOf(op.getOffset(), op.getOffsetTensor());
  const auto steps = top::intsOf(op.getSteps(), op.getStepsTensor());
  auto axes = top::intsOf(op.getAxes(), op.getAxesTensor());
  const bool areComputed = (!steps && !isa<NoneType>(op.getStepsTensor().getType())) ||
                           (!axes && !isa<NoneType>(op.getAxesTensor().getType()));
  if (!offsets || areComputed || (steps && llvm::any_of(*steps, [](int64_t s) { return s != 1; })))
    return std::nullopt;
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(offsets->size())));
  const auto *cut = std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first;
  const auto dim = cut - from.begin();
  // One dimension is cut, and nothing is repeated in front of it.
  if (from.size() != to.size() || cut == from.end() ||
      from.drop_front(dim + 1) != to.drop_front(dim + 1) ||
      llvm::any_of(from.take_front(dim), [](int64_t extent) { return extent != 1; }))
    return std::nullopt;
  for (auto [axis, offset] : llvm::zip_equal(*axes, *offsets))
    if (axis + (axis < 0 ? std::ssize(from) : 0) == dim)
      return std::clamp<int64_t>(offset < 0 ? offset + *cut : offset, 0, *cut - to[dim]) *
             ShapedType::getNumElements(from.drop_front(dim + 1));
  return std::nullopt;
}

/// The bytes of a tensor in global memory: rows that its only reader leaves out are not stored.
static int64_t storedBytes(Value value) {
  auto rows =
      value.hasOneUse() ? dyn_cast<tpu::UnpackRowsOp>(*value.user_begin()) : tpu::UnpackRowsOp();
  return globalBytes(rows ? rows.getOutput().getType() : value.getType());
}

/// Puts `inner` at `offset` bytes of `outer`, unless one of them is an input, or `inner` is a part
/// of something else. A tensor that is a part of itself is none.
void Neurons::contain(Value inner, Value outer, int64_t offset) {
  const Value part = root(inner);
  const Value whole = root(outer);
  if (!lives.contains(part) || !lives.contains(whole) || isa<BlockArgument>(part) ||
      storedBytes(part) != globalBytes(inner.getType()) || containers.contains(part))
    return;
  for (Value value = whole; value; value = containers.lookup(value).outer)
    if (value == part)
      return;
  containers.insert({part, {whole, offset}});
}

/// The parts of what moves without being turned or spread: where nothing is repeated in front of
/// the axis, they are contiguous.
void Neurons::containParts() {
  const auto dimsOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  const auto isOuterMost = [&](Value value, int64_t axis) {
    const ArrayRef<int64_t> dims = dimsOf(value);
    axis += axis < 0 ? static_cast<int64_t>(dims.size()) : 0;
    return llvm::all_of(dims.take_front(static_cast<size_t>(axis)),
                        [](int64_t extent) { return extent == 1; });
  };
  for (Operation &op : block.without_terminator()) {
    if (isOnCpu(&op) || plans.contains(&op))
      continue;
    int64_t offset = 0;
    if (auto concat = dyn_cast<tpu::ConcatOp>(op)) {
      if (!isOuterMost(concat.getOutput(), concat.getAxis()) || concat.getDoRelu())
        continue;
      for (Value input : concat.getInputs()) {
        contain(input, concat.getOutput(), offset);
        offset += globalBytes(input.getType());
      }
    } else if (auto split = dyn_cast<tpu::SplitOp>(op)) {
      if (!isOuterMost(split.getInput(), split.getAxis()))
        continue;
      for (Value output : split.getOutputs()) {
        contain(output, split.getInput(), offset);
        offset += globalBytes(output.getType());
      }
    } else if (auto slice = dyn_cast<tpu::SliceOp>(op)) {
      const std::optional<int64_t> start = contiguousStart(slice);
      const auto part = cast<RankedTensorType>(slice.getOutput().getType());
      if (start)
        contain(slice.getOutput(), slice.getInput(),
                *start * (globalBytes(part) / part.getNumElements()));
    }
  }
}

void Neurons::addTo(AddressPlan &plan, int64_t alignment) {
  llvm::DenseSet<Value> outputs;
  for (Value value : block.getTerminator()->getOperands())
    outputs.insert(root(value));
  for (const auto &[value, life] : lives) {
    numbers[value] = plan.tensors.size();
    plan.tensors.push_back({.use = isa<BlockArgument>(value) ? GlobalUse::Inputs
                                   : outputs.contains(value) ? GlobalUse::Outputs
                                                             : GlobalUse::Neurons,
                            .bytes = storedBytes(value),
                            .lower = life.lower,
                            .upper = life.upper,
                            .alignment = alignment});
  }
  for (const auto &[part, inside] : containers)
    plan.parts.push_back({.tensor = numbers.lookup(part),
                          .container = numbers.lookup(inside.outer),
                          .offset = inside.offset});
}

void Neurons::assign(const AddressPlan &plan) const {
  const auto place = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto found = numbers.find(root(value));
    if (type && found != numbers.end())
      value.setType(withAddress(type, plan.tensors[found->second].address));
  };
  // The owners last: `root` does not look at types.
  for (Value argument : block.getArguments())
    place(argument);
  for (Operation &op : block.without_terminator()) {
    if (isConstant(&op))
      continue;
    for (Value result : op.getResults())
      place(result);
    if (auto group = dyn_cast<tpu::GroupOp>(op)) {
      Operation *yield = group.getBody().front().getTerminator();
      for (auto [stored, result] : llvm::zip_equal(yield->getOperands(), group.getResults()))
        stored.setType(result.getType());
    }
  }
}

/// The constants of a function in global memory: one for each name, behind the resident ones.
class Weights {
public:
  Weights(func::FuncOp main, const PoolSite &pool, int64_t lanes)
      : main(main), pool(pool), lanes(lanes) {}

  void addTo(AddressPlan &plan);
  void assign(const AddressPlan &plan);
  /// Where the pool begins; 0 where there is none.
  int64_t poolAddress(const AddressPlan &plan) const {
    return poolNumber ? plan.tensors[*poolNumber].address : 0;
  }

private:
  void addPool(AddressPlan &plan);

  func::FuncOp main;
  const PoolSite &pool;
  int64_t lanes;
  std::optional<size_t> poolNumber;
  /// By name: how far from the begin of the pool, or which tensor of the plan.
  llvm::StringMap<int64_t> resident;
  llvm::StringMap<size_t> numbers;
};

/// Resident weights stand piece after piece, in each row after row, one for each lane.
void Weights::addPool(AddressPlan &plan) {
  if (pool.rows.bytes() == 0)
    return;
  poolNumber = plan.tensors.size();
  plan.tensors.push_back({.use = GlobalUse::Weights, .bytes = pool.rows.bytes() * lanes});
  main.walk([&](tpu::LoadOp load) {
    Expected<GroupInfo> info = GroupInfo::of(load);
    auto weight = load.getInput().getDefiningOp<top::WeightOp>();
    if (weight && info && info->resident != 0)
      resident.try_emplace(weight.name(),
                           pool.rows.globalOffset(info->outAddress - pool.local, lanes));
  });
}

void Weights::addTo(AddressPlan &plan) {
  addPool(plan);
  main.walk([&](top::WeightOp weight) {
    if (!resident.contains(weight.name()) &&
        numbers.try_emplace(weight.name(), plan.tensors.size()).second)
      plan.tensors.push_back(
          {.use = GlobalUse::Weights, .bytes = globalBytes(weight.getOutput().getType())});
  });
}

void Weights::assign(const AddressPlan &plan) {
  main.walk([&](top::WeightOp weight) {
    const auto offset = resident.find(weight.name());
    const int64_t address = offset != resident.end()
                                ? poolAddress(plan) + offset->second
                                : plan.tensors[numbers.lookup(weight.name())].address;
    auto type = cast<RankedTensorType>(weight.getOutput().getType());
    weight.getOutput().setType(withAddress(type, address));
  });
}

/// What the attributes of a module call the regions.
constexpr std::pair<GlobalUse, StringLiteral> kRegionNames[] = {{GlobalUse::Weights, "coeff"},
                                                                {GlobalUse::Neurons, "neuron"},
                                                                {GlobalUse::Inputs, "input"},
                                                                {GlobalUse::Outputs, "output"}};

std::string addressName(StringRef region) { return ("module." + region + "_addr").str(); }
std::string sizeName(StringRef region) { return ("module." + region + "_size").str(); }

struct AddressAssignPass : codegen::impl::AddressAssignBase<AddressAssignPass> {
  using Base::Base;

  /// Says where regions are: those of weights and neurons always, others where they are apart.
  void setRegions(const AddressPlan &plan, int64_t alignment) {
    const size_t neurons = plan.regionOf[static_cast<size_t>(GlobalUse::Neurons)];
    Builder builder(&getContext());
    for (const auto &[use, name] : kRegionNames) {
      if (use != GlobalUse::Neurons && plan.regionOf[static_cast<size_t>(use)] == neurons)
        continue;
      const AddressRegion &region = plan.region(use);
      const auto size = static_cast<int64_t>(llvm::alignTo(region.bytes, alignment));
      getOperation()->setAttr(addressName(name), builder.getI64IntegerAttr(region.base));
      getOperation()->setAttr(sizeName(name), builder.getI64IntegerAttr(size));
    }
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return failure();
    Expected<func::FuncOp> network = top::mainFunction(module);
    if (!network)
      return module.emitError(network.error().message());
    func::FuncOp main = *network;
    const TargetInfo &target = backend->info();
    const PoolSite pool = poolOf(module);
    Weights weights(main, pool, int64_t{target.tiles().lanes});
    Neurons neurons(main, *backend);
    AddressPlan plan;
    if (isQuick)
      plan.work = 0;
    weights.addTo(plan);
    neurons.addTo(plan);
    if (Expected<void> placed = backend->assignAddresses(plan); !placed)
      return module.emitError(placed.error().message());
    weights.assign(plan);
    neurons.assign(plan);
    if (pool.rows.bytes() != 0)
      top::ModuleDialect::PoolAddrAttrHelper(&getContext())
          .setAttr(module, Builder(&getContext()).getI64IntegerAttr(weights.poolAddress(plan)));
    top::updateFunctionType(main);
    setRegions(plan, target.global.alignment.value_or(1));
    setPhase(module, Phase::Address);
    return success();
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace

Expected<void> codegen::assignTrialAddresses(func::FuncOp main, const Backend &backend) {
  AddressPlan plan{.work = 0};
  std::vector<top::WeightOp> weights;
  main.walk([&](top::WeightOp weight) {
    weights.push_back(weight);
    plan.tensors.push_back(
        {.use = GlobalUse::Weights, .bytes = globalBytes(weight.getOutput().getType())});
  });
  Neurons neurons(main, backend);
  neurons.addTo(plan, backend.info().global.alignment.value_or(1));
  if (Expected<void> placed = backend.assignAddresses(plan); !placed)
    return placed;
  for (auto [number, weight] : llvm::enumerate(weights)) {
    auto type = cast<RankedTensorType>(weight.getOutput().getType());
    weight.getOutput().setType(withAddress(type, plan.tensors[number].address));
  }
  neurons.assign(plan);
  return {};
}

Expected<int64_t> codegen::plannedBytes(func::FuncOp main, ArrayRef<const GroupPlan *> planned,
                                        const Backend &backend) {
  AddressPlan plan{.work = 0};
  Neurons(main, backend, planned).addTo(plan);
  if (Expected<void> placed = backend.assignAddresses(plan); !placed)
    return propagate(placed);
  return plan.bytes();
}

std::vector<AddressRegion> codegen::addressRegions(ModuleOp module) {
  std::vector<AddressRegion> regions;
  for (const auto &[use, name] : kRegionNames) {
    auto base = module->getAttrOfType<IntegerAttr>(addressName(name));
    auto size = module->getAttrOfType<IntegerAttr>(sizeName(name));
    if (base && size)
      regions.push_back({.base = base.getInt(), .bytes = size.getInt()});
  }
  return regions;
}

void codegen::dropAddresses(func::FuncOp main) {
  const auto drop = [](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      value.setType(RankedTensorType::get(type.getShape(), type.getElementType()));
  };
  llvm::for_each(main.getArguments(), drop);
  main.walk([&](Operation *op) { llvm::for_each(op->getResults(), drop); });
}
