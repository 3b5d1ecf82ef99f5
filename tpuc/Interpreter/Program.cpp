//===- Program.cpp - A function as steps over numbered tensors --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Program.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Allocator/Allocator.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tpuc;

Expected<Program> Program::make(Region &body) {
  Program program;
  if (Expected<void> added = program.addRegion(body); !added)
    return propagate(added);
  program.rooms.resize(program.constants.size());
  return program;
}

unsigned Program::addSlot(Value value) {
  auto slot = static_cast<unsigned>(constants.size());
  slots[value] = slot;
  constants.emplace_back();
  return slot;
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

/// The last op of `value`'s block in which it is used, in a nested region perhaps; `op` itself,
/// which makes it, if there is none.
static Operation *lastUse(Value value, Operation *op) {
  Operation *last = op;
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = value.getParentBlock()->findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  return last;
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
  for (Value operand : llvm::SmallPtrSet<Value, 4>(op.operand_begin(), op.operand_end()))
    if (operand.getParentBlock() == op.getBlock() && !operand.getDefiningOp<top::WeightOp>() &&
        lastUse(operand, &op) == &op)
      step.dead.push_back(slots[operand]);
  for (Value result : op.getResults())
    if (result.use_empty())
      step.dead.push_back(slots[result]);
  block.steps.push_back(std::move(step));
  for (Region &region : op.getRegions())
    if (Expected<void> added = addRegion(region); !added)
      return added;
  return {};
}

/// Whether result 0 is another view of operand 0.
static bool isView(Operation *op) {
  return isa<top::InputOp, top::ReshapeOp, top::FlattenOp, top::FlattenTo2DOp, top::SqueezeOp,
             top::UnsqueezeOp>(op);
}

Expected<void> Program::planMemory(Region &region) {
  // The values that share elements count as one, made by the first of them.
  llvm::DenseMap<Value, Value> rootOf;
  struct Life {
    int64_t lower, upper, bytes;
  };
  llvm::MapVector<Value, Life> lives;
  Block &body = region.front();
  int64_t end = 0;
  for (Operation &op : body.without_terminator()) {
    ++end;
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (isView(&op) && rootOf.contains(op.getOperand(0)))
        rootOf[result] = rootOf[op.getOperand(0)];
      else if (type && type.hasStaticShape() && type.getRank() <= int64_t(Shape::kMaxRank) &&
               !isView(&op) && !isa<top::WeightOp>(op)) {
        std::optional<DataType> element = storageDataType(type);
        if (!element)
          continue;
        Expected<int64_t> count = checkedNumElements(type.getShape(), *element, layerName(&op));
        if (!count)
          return propagate(count);
        rootOf[result] = result;
        lives[result] = {end, end + 1, byteSize(*element, *count)};
      }
    }
  }
  int64_t step = 0;
  for (Operation &op : body) {
    ++step;
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        if (auto root = rootOf.find(operand); root != rootOf.end()) {
          Life &life = lives[root->second];
          life.upper = std::max(life.upper, step + 1);
          // What is yielded lives longer than the memory.
          if (&op == body.getTerminator())
            life.bytes = 0;
        }
    });
  }
  alloc::AllocationProblem problem;
  llvm::SmallVector<unsigned> planned;
  int64_t sum = 0;
  for (auto &[value, life] : lives) {
    if (life.bytes == 0)
      continue;
    planned.push_back(slots[value]);
    rooms[slots[value]].bytes = life.bytes;
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
    rooms[slot].offset = offset;
  plannedBytes = allocation->height;
  return {};
}
