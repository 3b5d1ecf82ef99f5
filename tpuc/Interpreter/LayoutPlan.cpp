//===- LayoutPlan.cpp - Which steps are kernels, and which tensors lie in blocks -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/LayoutPlan.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/CompileOps.h"
#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Support/MappedFile.h"

#include "llvm/ADT/STLExtras.h"
#include <list>

using namespace mlir;
using namespace tpuc;

namespace {

class Planner {
public:
  Planner(Program &program, Region &body, bool fuse)
      : program(program), block(program.blocks.find(&body)->second), body(body), fuse(fuse) {}

  void run();

private:
  /// A step to be. One without a kernel stays as it is.
  struct Node {
    Step step;
    CompiledOp compiled;
    /// What the kernel computes.
    Value result;
  };
  using NodeIt = std::list<Node>::iterator;

  void visit(Step &step);
  bool fuseInto(Operation *op);
  void addKernel(Operation *op, CompiledOp compiled);
  /// The slot that holds `value` in a layout, with a step at the end that makes it if there is
  /// none.
  unsigned slotIn(Value value, bool isBlocked);
  void finish();
  /// Drops the constants that no step reads.
  void releaseConstants();

  const Tensor *constant(Value value) const {
    const std::optional<Tensor> &tensor = program.constants[program.slotOf(value)];
    return tensor ? &*tensor : nullptr;
  }

  Program &program;
  BlockProgram &block;
  Region &body;
  bool fuse;
  CompileContext context{[this](Value value) { return blockedSlots.contains(value); },
                         [this](Value value) { return constant(value); }};
  std::list<Node> nodes;
  /// The kernel that makes a value.
  llvm::DenseMap<Value, NodeIt> makers;
  /// Where values are that lie in blocks, and those that lie nowhere else.
  llvm::DenseMap<Value, unsigned> blockedSlots;
  llvm::DenseSet<Value> blockedOnly;
};

void Planner::run() {
  std::vector<Step> steps = std::move(block.steps);
  for (Step &step : steps)
    visit(step);
  for (Value value : body.front().getTerminator()->getOperands())
    slotIn(value, false);
  finish();
  releaseConstants();
}

void Planner::visit(Step &step) {
  if (fuse && fuseInto(step.op))
    return;
  if (std::optional<CompiledOp> compiled = compileOp(step.op, context))
    return addKernel(step.op, std::move(*compiled));
  // The op and its regions read plain tensors.
  step.op->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (blockedOnly.contains(operand))
        slotIn(operand, false);
  });
  nodes.push_back({std::move(step), {}, nullptr});
}

/// An element-wise op goes behind the kernel that makes one of its operands.
bool Planner::fuseInto(Operation *op) {
  for (Value operand : llvm::reverse(op->getOperands())) {
    auto maker = makers.find(operand);
    if (maker == makers.end() || !operand.hasOneUse())
      continue;
    NodeIt node = maker->second;
    if (!appendElementwise(op, operand, node->compiled, context))
      continue;
    for (const KernelOperand &read : node->compiled.operands)
      slotIn(read.value, read.isBlocked);
    // It moves to where all that the op reads is there.
    nodes.splice(nodes.end(), nodes, node);
    Value result = op->getResult(0);
    node->step.op = op;
    node->result = result;
    makers.erase(operand);
    makers[result] = node;
    if (node->compiled.isBlocked) {
      const unsigned slot = blockedSlots.lookup(operand);
      blockedSlots.erase(operand);
      blockedOnly.erase(operand);
      blockedSlots[result] = slot;
      blockedOnly.insert(result);
    }
    return true;
  }
  return false;
}

void Planner::addKernel(Operation *op, CompiledOp compiled) {
  Value result = op->getResult(0);
  for (Value operand : op->getOperands())
    if (const Tensor *packed = constant(operand))
      releaseMapped(packed->rawBytes());
  for (const KernelOperand &read : compiled.operands)
    slotIn(read.value, read.isBlocked);
  const bool isBlocked = compiled.isBlocked;
  Node node;
  node.step.op = op;
  node.compiled = std::move(compiled);
  node.result = result;
  nodes.push_back(std::move(node));
  makers[result] = std::prev(nodes.end());
  if (!isBlocked)
    return;
  blockedSlots[result] = program.addSlot();
  blockedOnly.insert(result);
  if (!fuse)
    slotIn(result, false);
}

unsigned Planner::slotIn(Value value, bool isBlocked) {
  const bool isThere = isBlocked ? blockedSlots.contains(value) : !blockedOnly.contains(value);
  if (!isThere) {
    const Shape shape = *staticShape(value);
    Node node;
    node.step.op = value.getDefiningOp();
    node.step.isReorder = true;
    node.compiled.kernel =
        isBlocked ? kernels::makeToBlocked(shape) : kernels::makeFromBlocked(shape);
    node.compiled.operands = {{value, !isBlocked}};
    node.compiled.isBlocked = isBlocked;
    node.result = value;
    nodes.push_back(std::move(node));
    if (isBlocked)
      blockedSlots[value] = program.addSlot();
    else
      blockedOnly.erase(value);
  }
  return isBlocked ? blockedSlots.lookup(value) : program.slotOf(value);
}

void Planner::finish() {
  for (Node &node : nodes) {
    Step &step = node.step;
    if (CompiledOp &compiled = node.compiled; compiled.kernel) {
      const Shape shape = *staticShape(node.result);
      step.kernel = std::move(compiled.kernel);
      step.shape = compiled.isBlocked ? kernels::blockedShape(shape) : shape;
      step.isPlain = !compiled.isBlocked;
      for (const KernelOperand &read : compiled.operands)
        step.operands.push_back(slotIn(read.value, read.isBlocked));
      step.firstResult = slotIn(node.result, compiled.isBlocked);
      step.names = node.result.getDefiningOp() ? tensorNames(node.result.getDefiningOp())
                                               : llvm::SmallVector<std::string>{"input"};
    }
    block.steps.push_back(std::move(step));
  }
}

void Planner::releaseConstants() {
  llvm::DenseSet<unsigned> read(block.yielded.begin(), block.yielded.end());
  for (const Step &step : block.steps)
    program.forEachRead(step, [&](unsigned slot) { read.insert(slot); });
  // Constants of nested regions are not this block's.
  for (auto weight : body.front().getOps<top::WeightOp>())
    if (unsigned slot = program.slotOf(weight.getOutput()); !read.contains(slot))
      program.constants[slot].reset();
}

} // namespace

void tpuc::planLayouts(Program &program, Region &body, bool fuse) {
  Planner(program, body, fuse).run();
}
