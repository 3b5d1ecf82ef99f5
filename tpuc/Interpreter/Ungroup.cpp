//===- Ungroup.cpp - What grouped modules compute, without the groups --------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ungroup.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tpuc;

static Shape shapeOf(ArrayRef<int64_t> dims) { return Shape(std::span(dims.data(), dims.size())); }

/// What a packed weight holds.
static Tensor unpacked(tpu::UnpackOp op, const Tensor &packed) {
  ThreadPool threads(1);
  const SmallVector<int64_t> blocks = top::toInts(op.getBlocks());
  const SmallVector<int64_t> order = top::toInts(op.getOrder());
  SmallVector<int64_t> transposed;
  for (int64_t source : order)
    transposed.push_back(blocks[static_cast<size_t>(source)]);
  Tensor plain(packed.type(), shapeOf(transposed));
  // What stands behind all blocks are parameters.
  kernels::permute(
      Tensor::borrow(packed.type(), shapeOf(blocks), packed.rawBytes().data(), nullptr),
      std::span(order.data(), order.size()), plain, threads);
  const auto type = cast<RankedTensorType>(op.getOutput().getType());
  std::vector<kernels::AxisSource> kept;
  for (int64_t extent : type.getShape())
    kept.push_back(kernels::padSource(extent, 0, 0, kernels::PadMode::Constant));
  Tensor output(packed.type(), shapeOf(type.getShape()));
  kernels::remap(plain.reshaped(shapeOf(top::toInts(op.getPadded()))), kept, nullptr, output,
                 threads);
  return output;
}

/// Makes the weight that `op` stands for one by itself, under the name that `op` has.
static void unpack(tpu::UnpackOp op, ModuleOp module) {
  Value source = op.getInput();
  auto weight = source.getDefiningOp<top::WeightOp>();
  auto *dialect = op->getContext()->getLoadedDialect<top::TopDialect>();
  auto store = dialect->weights(module);
  if (!weight || !store)
    return;
  const std::string name = layerName(op);
  if (!(*store)->contains(name)) {
    Expected<Tensor> packed = weight.read();
    if (!packed)
      return;
    (*store)->set(name, unpacked(op, *packed));
  }
  OpBuilder builder(op);
  auto plain =
      builder.create<top::WeightOp>(NameLoc::get(builder.getStringAttr(name)),
                                    cast<RankedTensorType>(op.getOutput().getType()), ArrayAttr());
  op.getOutput().replaceAllUsesWith(plain.getOutput());
  op.erase();
  if (weight->use_empty())
    weight.erase();
}

/// Puts the ops of a body in the place of the group.
static void inlineBody(tpu::GroupOp group) {
  Block &body = group.getBody().front();
  Operation *yield = body.getTerminator();
  group->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  group->getBlock()->getOperations().splice(Block::iterator(group), body.getOperations());
  group.erase();
}

/// Types without addresses.
static void dropAddresses(ModuleOp module) {
  const auto drop = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.getEncoding())
      value.setType(RankedTensorType::get(type.getShape(), type.getElementType()));
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), drop);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), drop);
  });
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      top::updateFunctionType(function);
}

void tpuc::ungroup(ModuleOp module) {
  module.walk([](tpu::GroupOp group) { inlineBody(group); });
  module.walk([](Operation *op) {
    if (!isa<tpu::LoadOp, tpu::StoreOp>(op))
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
  SmallVector<tpu::UnpackOp> packed;
  module.walk([&](tpu::UnpackOp op) { packed.push_back(op); });
  for (tpu::UnpackOp op : packed)
    unpack(op, module);
  dropAddresses(module);
}
