//===- StackRows.cpp - Convolutions of few channels ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/OpMaker.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/RewriteOps.h"
#include "tpuc/Codegen/SlicePlan.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Interpreter/Evaluate.h"

#include <cstring>

namespace tpuc::codegen {
#define GEN_PASS_DEF_STACKROWS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Whether a convolution of pictures reads windows whose rows follow each other, with a filter that
/// is a constant.
bool hasRows(tpu::ConvOp op) {
  for (Value value : {op.getInput(), op.getFilter(), op.getOutput()})
    if (const RankedTensorType type = staticType(value); !type || type.getRank() != 4)
      return false;
  const auto all = [](std::optional<ArrayAttr> attribute, int64_t value) {
    return !attribute ||
           llvm::all_of(top::toInts(*attribute), [&](int64_t x) { return x == value; });
  };
  return op.getGroup() == 1 && op.getFilter().getDefiningOp<top::WeightOp>() &&
         all(op.getInserts(), 0) && all(op.getDilations(), 1) &&
         OpMaker::dimsOf(op.getFilter())[2] > 1;
}

/// [O, C, H, W] as [O, H * C, 1, W].
Tensor stackedFilter(const Tensor &filter) {
  const Shape &from = filter.shape();
  const auto rowBytes = static_cast<size_t>(byteSize(filter.type(), from[3]));
  Tensor made(filter.type(), {from[0], from[2] * from[1], 1, from[3]});
  std::byte *row = made.mutableBytes().data();
  for (int64_t output = 0; output < from[0]; ++output)
    for (int64_t h = 0; h < from[2]; ++h)
      for (int64_t c = 0; c < from[1]; ++c, row += rowBytes) {
        const int64_t first = ((output * from[1] + c) * from[2] + h) * from[3];
        std::memcpy(row, filter.rawBytes().data() + byteSize(filter.type(), first), rowBytes);
      }
  return made;
}

/// The same elements in the shape of another tensor.
RankedTensorType inShape(Value value, ArrayRef<int64_t> dims) {
  return RankedTensorType::get(dims, cast<RankedTensorType>(value.getType()).getElementType());
}

Expected<void> stackRows(tpu::ConvOp op) {
  Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  if (!window)
    return propagate(window);
  Expected<Tensor> filter = op.getFilter().getDefiningOp<top::WeightOp>().read();
  if (!filter)
    return propagate(filter);
  OpBuilder builder(op);
  const ArrayRef<int64_t> input = OpMaker::dimsOf(op.getInput());
  const ArrayRef<int64_t> output = OpMaker::dimsOf(op.getOutput());
  replaceWeight(op.getFilterMutable(), stackedFilter(*filter), "_stacked");
  const Location name =
      NameLoc::get(builder.getStringAttr(tensorNames(op)[0] + std::string("_rows")));
  Value rows = builder.create<tpu::StackRowsOp>(
      name, inShape(op.getInput(), {input[0], window->kernel[0] * input[1], output[2], input[3]}),
      op.getInput(), window->kernel[0], window->strides[0], window->padsBegin[0]);
  op->setOperand(0, rows);
  op->setAttr("kernel_shape", builder.getI64ArrayAttr({1, window->kernel[1]}));
  op->setAttr("strides", builder.getI64ArrayAttr({1, window->strides[1]}));
  op->setAttr("pads", builder.getI64ArrayAttr({0, window->padsBegin[1], 0, window->padsEnd[1]}));
  op->setAttr("auto_pad", builder.getStringAttr("NOTSET"));
  return {};
}

struct StackRowsPass : codegen::impl::StackRowsBase<StackRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    // What the host computes needs the rows where they are.
    const auto wants = [](tpu::ConvOp op, const Backend &backend) {
      return hasRows(op) && backend.wantsRowsAsChannels(op) && fittingPlaceOf(op, backend);
    };
    const auto stack = [](tpu::ConvOp op, const Backend &) { return stackRows(op); };
    if (failed(rewriteOps<tpu::ConvOp>(getOperation(), wants, stack)))
      signalPassFailure();
  }
};

} // namespace
