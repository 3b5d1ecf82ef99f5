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
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Support/Allocator/Allocator.h"

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
  Neurons(func::FuncOp main, const Backend &backend, int64_t alignment,
          ArrayRef<const GroupPlan *> planned = {})
      : block(main.front()), backend(backend), alignment(alignment) {
    for (const GroupPlan *plan : planned)
      for (Operation *layer : plan->layers)
        plans[layer] = plan;
  }

  /// Offsets for all tensors; their total size. `work` limits the search for a small one.
  Expected<int64_t> allocate(uint64_t work = alloc::AllocatorOptions().workLimit);
  void assign(int64_t base) const;

private:
  /// The tensor whose memory `value` lies in, from its beginning on.
  Value root(Value value) const;
  void contain(Value inner, Value outer, int64_t offset);
  void containParts();
  void need(Value value, int64_t time);
  int64_t needForGroup(const GroupTimes &times, int64_t begin);
  int64_t needFor(Operation &op, int64_t begin);
  void collect();

  Block &block;
  const Backend &backend;
  int64_t alignment;
  llvm::DenseMap<Operation *, const GroupPlan *> plans;
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
  llvm::MapVector<Value, int64_t> offsets;
};

Value Neurons::root(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    Expected<Place> place = Place::Local;
    if (isOnCpu(op))
      break;
    if (isa<top::InputOp>(op))
      place = Place::Alias;
    else if (!isa<tpu::GroupOp>(op))
      place = backend.placeOf(op);
    if (!place || *place != Place::Alias)
      break;
    value = op->getOperand(0);
  }
  return value;
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

/// Puts `inner` at `offset` bytes of `outer`, unless one of them is an input, or `inner` is a part
/// of something else. A tensor that is a part of itself is none.
void Neurons::contain(Value inner, Value outer, int64_t offset) {
  const Value part = root(inner);
  const Value whole = root(outer);
  if (!lives.contains(part) || !lives.contains(whole) || isa<BlockArgument>(part) ||
      globalBytes(part.getType()) != globalBytes(inner.getType()) || containers.contains(part))
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
    }
  }
}

Expected<int64_t> Neurons::allocate(uint64_t work) {
  collect();
  containParts();
  alloc::AllocationProblem problem;
  llvm::DenseMap<Value, size_t> numbers;
  for (const auto &[value, life] : lives) {
    const bool isPart = containers.contains(value);
    alloc::Buffer buffer;
    buffer.lower = life.lower;
    buffer.upper = life.upper;
    buffer.size = globalBytes(value.getType());
    if (!isPart)
      buffer.size =
          static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(buffer.size), alignment));
    buffer.alignment = isPart ? 1 : alignment;
    numbers[value] = problem.buffers.size();
    problem.buffers.push_back(std::move(buffer));
  }
  for (const auto &[part, inside] : containers)
    problem.subBuffers.push_back({.buffer = numbers.lookup(part),
                                  .container = numbers.lookup(inside.outer),
                                  .offset = inside.offset});
  alloc::AllocatorOptions options;
  options.workLimit = work;
  Expected<alloc::Allocation> allocation = alloc::allocate(problem, options);
  if (!allocation)
    return propagate(allocation);
  for (auto [entry, offset] : llvm::zip_equal(lives, allocation->offsets))
    offsets[entry.first] = offset;
  return allocation->height;
}

void Neurons::assign(int64_t base) const {
  const auto place = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto found = offsets.find(root(value));
    if (type && found != offsets.end())
      value.setType(withAddress(type, base + found->second));
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

struct AddressAssignPass : codegen::impl::AddressAssignBase<AddressAssignPass> {
  using Base::Base;

  /// Addresses of the resident weights: piece after piece, in each row after row, one for each
  /// lane. The bytes that the pool takes.
  int64_t assignPool(func::FuncOp main, int64_t base, int64_t lanes, int64_t alignment,
                     llvm::StringMap<int64_t> &addresses) {
    const PoolSite pool = poolOf(getOperation());
    if (pool.rows.bytes() == 0)
      return 0;
    main.walk([&](tpu::LoadOp load) {
      Expected<GroupInfo> info = GroupInfo::of(load);
      auto weight = load.getInput().getDefiningOp<top::WeightOp>();
      if (weight && info && info->resident != 0)
        addresses.try_emplace(weight.name(),
                              base + pool.rows.globalOffset(info->outAddress - pool.local, lanes));
    });
    getOperation()->setAttr(kPoolAddress, Builder(&getContext()).getI64IntegerAttr(base));
    return static_cast<int64_t>(llvm::alignTo(pool.rows.bytes() * lanes, alignment));
  }

  /// Addresses of the weights from `base` on, one for each name; the bytes that they take.
  int64_t assignWeights(func::FuncOp main, int64_t base, int64_t lanes, int64_t alignment) {
    llvm::StringMap<int64_t> addresses;
    int64_t next = base + assignPool(main, base, lanes, alignment, addresses);
    main.walk([&](top::WeightOp weight) {
      auto type = cast<RankedTensorType>(weight.getOutput().getType());
      auto [entry, isNew] = addresses.try_emplace(weight.name(), next);
      if (isNew)
        next = static_cast<int64_t>(llvm::alignTo(next + globalBytes(type), alignment));
      weight.getOutput().setType(withAddress(type, entry->second));
    });
    return next - base;
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
    const GlobalMemoryInfo &global = backend->info().global;
    const int64_t alignment = global.alignment.value_or(1);
    const auto base = static_cast<int64_t>(global.modelBase);
    const int64_t weights =
        assignWeights(main, base, int64_t{backend->info().tiles().lanes}, alignment);
    // Neurons keep rows of the DMA's own alignment apart, not whole pages.
    Neurons neurons(main, *backend, global.transferAlignment.value_or(alignment));
    Expected<int64_t> bytes = neurons.allocate();
    if (!bytes)
      return module.emitError(bytes.error().message());
    neurons.assign(base + weights);
    top::updateFunctionType(main);
    Builder builder(&getContext());
    const std::pair<StringRef, int64_t> facts[] = {
        {"module.coeff_addr", base},
        {"module.coeff_size", weights},
        {"module.neuron_addr", base + weights},
        {"module.neuron_size", static_cast<int64_t>(llvm::alignTo(*bytes, alignment))}};
    for (auto [name, value] : facts)
      module->setAttr(name, builder.getI64IntegerAttr(value));
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
  const GlobalMemoryInfo &global = backend.info().global;
  const auto alignment = global.alignment.value_or(1);
  auto next = static_cast<int64_t>(global.modelBase);
  main.walk([&](top::WeightOp weight) {
    auto type = cast<RankedTensorType>(weight.getOutput().getType());
    weight.getOutput().setType(withAddress(type, next));
    next = static_cast<int64_t>(llvm::alignTo(next + globalBytes(type), alignment));
  });
  Neurons neurons(main, backend, alignment);
  if (Expected<int64_t> bytes = neurons.allocate(/*work=*/0); !bytes)
    return propagate(bytes);
  neurons.assign(next);
  return {};
}

Expected<int64_t> codegen::plannedBytes(func::FuncOp main, ArrayRef<const GroupPlan *> planned,
                                        const Backend &backend) {
  const GlobalMemoryInfo &global = backend.info().global;
  const int64_t alignment = global.alignment.value_or(1);
  Neurons neurons(main, backend, global.transferAlignment.value_or(alignment), planned);
  return neurons.allocate(/*work=*/0);
}

void codegen::dropAddresses(func::FuncOp main) {
  const auto drop = [](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      value.setType(RankedTensorType::get(type.getShape(), type.getElementType()));
  };
  llvm::for_each(main.getArguments(), drop);
  main.walk([&](Operation *op) { llvm::for_each(op->getResults(), drop); });
}
