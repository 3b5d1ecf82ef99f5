//===- Program.cpp - A function as steps over numbered tensors --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Program.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Support/Allocator/Allocator.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tpuc;

std::string Step::kind() const {
  if (isReorder)
    return isPlain ? "from blocks" : "to blocks";
  return op->getName().getStringRef().str();
}

Expected<Program> Program::make(Region &body) {
  Program program;
  if (Expected<void> added = program.addRegion(body); !added)
    return propagate(added);
  return program;
}

unsigned Program::addSlot() {
  constants.emplace_back();
  ranges.emplace_back();
  return static_cast<unsigned>(constants.size()) - 1;
}

unsigned Program::addSlot(Value value) { return slots[value] = addSlot(); }

void Program::forEachRead(const Step &step,
                          llvm::function_ref<void(unsigned slot)> function) const {
  llvm::for_each(step.operands, function);
  if (step.kernel)
    return;
  for (Region &region : step.op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        function(slotOf(operand));
    });
}

/// The slots that a step fills.
static llvm::iota_range<unsigned> resultSlots(const Step &step) {
  const unsigned count = step.kernel ? 1 : step.op->getNumResults();
  return llvm::seq(step.firstResult, step.firstResult + count);
}

void Program::planLives() {
  for (auto &[region, block] : blocks) {
    llvm::DenseSet<unsigned> own(block.arguments.begin(), block.arguments.end());
    for (const Step &step : block.steps)
      own.insert(resultSlots(step).begin(), resultSlots(step).end());
    llvm::DenseSet<unsigned> met(block.yielded.begin(), block.yielded.end());
    // From the end: the first step that is met is the last one to read.
    for (Step &step : llvm::reverse(block.steps)) {
      step.dead.clear();
      const auto read = [&](unsigned slot) {
        if (own.contains(slot) && met.insert(slot).second)
          step.dead.push_back(slot);
      };
      forEachRead(step, read);
      llvm::for_each(resultSlots(step), read);
    }
  }
}

Expected<void> Program::addRegion(Region &region) {
  if (!llvm::hasSingleElement(region))
    return makeError("module", "a function or a branch has several blocks or none", "one block");
  Block &body = region.front();
  BlockProgram program;
  for (BlockArgument argument : body.getArguments())
    program.arguments.push_back(addSlot(argument));
  for (Operation &op : body.without_terminator()) {
    for (Value result : op.getResults())
      addSlot(result);
    if (auto weight = dyn_cast<top::WeightOp>(op)) {
      Expected<Tensor> tensor = weight.read();
      if (!tensor)
        return propagate(tensor);
      constants[slots[weight.getOutput()]] = std::move(*tensor);
    } else if (!isa<top::NoneOp>(op)) {
      if (Expected<void> added = addStep(program, op); !added)
        return added;
    }
  }
  for (Value value : body.getTerminator()->getOperands())
    program.yielded.push_back(slots[value]);
  blocks[&region] = std::move(program);
  return {};
}

Expected<void> Program::addStep(BlockProgram &block, Operation &op) {
  Step step;
  step.op = &op;
  step.evaluator = dyn_cast<EvaluateInterface>(op);
  if (!step.evaluator && !isa<top::InputOp>(op))
    return makeError("layer '" + layerName(&op) + "'",
                     "the interpreter cannot compute " + op.getName().getStringRef().str());
  for (Value operand : op.getOperands())
    step.operands.push_back(slots[operand]);
  step.names = tensorNames(&op);
  step.cache = std::make_unique<kernels::KernelCache>();
  if (op.getNumResults() > 0)
    step.firstResult = slots[op.getResult(0)];
  block.steps.push_back(std::move(step));
  for (Region &region : op.getRegions())
    if (Expected<void> added = addRegion(region); !added)
      return added;
  return {};
}

/// Whether result 0 is another view of operand 0.
static bool isView(const Step &step) {
  if (step.kernel)
    return false;
  if (auto cast = dyn_cast<tpu::CastOp>(step.op))
    return cast.getInput().getType() == cast.getOutput().getType();
  return isa<top::InputOp>(step.op) || step.op->hasTrait<traits::ViewLike>();
}

/// The bytes of result `index` if its extents are static; 0 if they are not.
static Expected<int64_t> staticBytes(const Step &step, unsigned index) {
  if (step.kernel)
    return step.shape.numElements() * static_cast<int64_t>(sizeof(float));
  auto type = dyn_cast<RankedTensorType>(step.op->getResult(index).getType());
  if (!type || !type.hasStaticShape() || type.getRank() > int64_t(Shape::kMaxRank))
    return 0;
  std::optional<DataType> element = storageDataType(type);
  if (!element)
    return 0;
  Expected<int64_t> count = checkedNumElements(type.getShape(), *element, layerName(step.op));
  if (!count)
    return propagate(count);
  return byteSize(*element, *count);
}

Expected<void> Program::planMemory(Region &body) {
  const BlockProgram &block = blocks.find(&body)->second;
  // The slots that share elements count as one, made by the first of them.
  llvm::DenseMap<unsigned, unsigned> rootOf;
  llvm::MapVector<unsigned, Life> lives;
  int64_t time = 0;
  for (const Step &step : block.steps) {
    ++time;
    forEachRead(step, [&](unsigned slot) {
      if (auto root = rootOf.find(slot); root != rootOf.end())
        lives[root->second].upper = time + 1;
    });
    for (unsigned slot : resultSlots(step)) {
      if (isView(step)) {
        if (auto root = rootOf.find(step.operands[0]); root != rootOf.end())
          rootOf[slot] = root->second;
        continue;
      }
      Expected<int64_t> bytes = staticBytes(step, slot - step.firstResult);
      if (!bytes)
        return propagate(bytes);
      rootOf[slot] = slot;
      lives[slot] = {time, time + 1, *bytes};
    }
  }
  // What is yielded lives longer than the memory.
  for (unsigned slot : block.yielded)
    if (auto root = rootOf.find(slot); root != rootOf.end())
      lives[root->second].bytes = 0;
  return place(lives);
}

Expected<void> Program::place(const llvm::MapVector<unsigned, Life> &lives) {
  alloc::AllocationProblem problem;
  llvm::SmallVector<unsigned> planned;
  int64_t sum = 0;
  for (const auto &[slot, life] : lives) {
    if (life.bytes == 0)
      continue;
    planned.push_back(slot);
    ranges[slot].bytes = life.bytes;
    sum += life.bytes;
    problem.buffers.push_back({"", life.lower, life.upper, life.bytes, 64, std::nullopt, false});
  }
  // A first good plan is enough: memory is cheaper here than time.
  alloc::AllocatorOptions options;
  options.workLimit = 0;
  options.tolerance = sum / 64;
  Expected<alloc::Allocation> allocation = alloc::allocate(problem, options);
  if (!allocation)
    return propagate(allocation);
  for (auto [slot, offset] : llvm::zip_equal(planned, allocation->offsets))
    ranges[slot].offset = offset;
  plannedBytes = allocation->height;
  return {};
}
