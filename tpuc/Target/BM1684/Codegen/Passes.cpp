//===- Passes.cpp - What only the BM1684 gains by -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/Passes.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Target/BM1684/Codegen/ChipPass.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Commands take input channels in fours.
constexpr int64_t kFewChannels = 4;

RankedTensorType pictureType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getRank() == 4 ? type : RankedTensorType();
}

/// The cast of an input of the network to what `op` reads, if only `op` reads it and the chip does
/// that.
tpu::CastOp castOfInput(tpu::ConvOp op, const Backend &backend) {
  auto cast = op.getInput().getDefiningOp<tpu::CastOp>();
  const bool isOwn = cast && cast->hasOneUse() &&
                     cast.getInput().getDefiningOp<top::InputOp>() != nullptr &&
                     backend.placeOf(cast);
  return isOwn ? cast : tpu::CastOp();
}

std::optional<top::Window> windowOf(tpu::ConvOp op) {
  Expected<top::Window> window = top::convolutionWindow(
      top::windowSpec(op), OpMaker::dimsOf(op.getInput()), OpMaker::dimsOf(op.getFilter()));
  return window ? std::optional(std::move(*window)) : std::nullopt;
}

bool hasRowsAsChannels(tpu::ConvOp op, const Backend &backend) {
  if (!pictureType(op.getInput()) || !pictureType(op.getFilter()) || !pictureType(op.getOutput()) ||
      !tpu::isQuantized(op.getInput()) || !tpu::isQuantized(op.getOutput()) ||
      tpu::zeroPointOf(op.getInput()) != 0 || op.getGroup() != 1 || op.getPadValue() ||
      op.getPadValues() || !op.getFilter().getDefiningOp<top::WeightOp>())
    return false;
  if (!castOfInput(op, backend) && !op.getInput().getDefiningOp<top::InputOp>())
    return false;
  const auto isAll = [](std::optional<ArrayAttr> attribute, int64_t wanted) {
    return !attribute ||
           llvm::all_of(top::toInts(*attribute), [&](int64_t each) { return each == wanted; });
  };
  const std::optional<top::Window> window = windowOf(op);
  return window && window->kernel[0] > 1 && isAll(op.getDilations(), 1) &&
         isAll(op.getInserts(), 0) && OpMaker::dimsOf(op.getInput())[1] <= kFewChannels;
}

/// filter[m, k * C + c, 0, x] = the filter's [m, c, k, x].
tpuc::Tensor stackedFilter(const tpuc::Tensor &filter) {
  const auto dims = filter.shape().dims();
  tpuc::Tensor stacked(filter.type(), Shape{dims[0], dims[2] * dims[1], 1, dims[3]});
  const auto from = filter.data<int8_t>();
  auto to = stacked.mutableData<int8_t>();
  size_t at = 0;
  for (int64_t m = 0; m < dims[0]; ++m)
    for (int64_t k = 0; k < dims[2]; ++k)
      for (int64_t c = 0; c < dims[1]; ++c)
        for (int64_t x = 0; x < dims[3]; ++x)
          to[at++] = from[static_cast<size_t>(((m * dims[1] + c) * dims[2] + k) * dims[3] + x)];
  return stacked;
}

/// Whether the rows of `stacked` are cast, and not those of `picture`: what is moved decides, 4
/// bytes of each float, or also a byte that is stored and loaded as often as it is stacked.
bool castsStackedRows(ArrayRef<int64_t> picture, ArrayRef<int64_t> stacked) {
  constexpr int64_t kFloat = 4, kByte = 1;
  const int64_t once = ShapedType::getNumElements(picture);
  const int64_t often = ShapedType::getNumElements(stacked);
  return kFloat * often <= (kFloat + kByte) * once + kByte * often;
}

Expected<void> rowsToChannels(tpu::ConvOp op, const Backend &backend) {
  const std::optional<top::Window> window = windowOf(op);
  const std::optional<tpuc::Tensor> filter = OpMaker::constantOf(op.getFilter());
  if (!window || !filter || filter->type() != DataType::I8)
    return {};
  OpMaker maker(op, backend);
  OpBuilder &builder = maker.builder;
  const auto nameOf = [&](Operation *of) {
    return NameLoc::get(builder.getStringAttr(layerName(of) + "_windows"));
  };
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const SmallVector<int64_t> stacked = {dims[0], window->kernel[0] * dims[1],
                                        OpMaker::dimsOf(op.getOutput())[2], dims[3]};
  tpu::CastOp cast = castOfInput(op, backend);
  if (!castsStackedRows(dims, stacked))
    cast = {};
  const Value source = cast ? cast.getInput() : op.getInput();
  Value rows =
      builder.create<tpu::PackRowsOp>(nameOf(op), OpMaker::typeOf(source).clone(stacked), source,
                                      window->kernel[0], window->strides[0], window->padsBegin[0]);
  if (cast) {
    Operation *clone = builder.clone(*cast);
    clone->setOperand(0, rows);
    clone->getResult(0).setType(OpMaker::typeOf(op.getInput()).clone(stacked));
    clone->setLoc(nameOf(cast));
    rows = clone->getResult(0);
  }
  const Value weight = maker.weight(stackedFilter(*filter), "stacked", op.getFilter());
  Operation *made = builder.clone(*op);
  made->setOperand(0, rows);
  made->setOperand(1, weight);
  made->setAttr("kernel_shape", builder.getI64ArrayAttr({1, window->kernel[1]}));
  made->setAttr("strides", builder.getI64ArrayAttr({1, window->strides[1]}));
  made->setAttr("pads", builder.getI64ArrayAttr({0, window->padsBegin[1], 0, window->padsEnd[1]}));
  made->setAttr("auto_pad", builder.getStringAttr("NOTSET"));
  op->replaceAllUsesWith(made->getResults());
  op->erase();
  if (cast && cast->use_empty())
    cast->erase();
  return {};
}

struct RowsToChannels : ChipPass<RowsToChannels> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RowsToChannels)

  StringRef getArgument() const override { return "rows-to-channels"; }
  StringRef getDescription() const override {
    return "Give first convolutions of integers more channels";
  }
  static Expected<void> rewrite(ModuleOp module, const Backend &backend) {
    return rewriteOps<tpu::ConvOp>(module, backend, hasRowsAsChannels, rowsToChannels);
  }
};

} // namespace

ArrayRef<OptionalPass> ownPasses() {
  static constexpr OptionalPass kPasses[] = {
      {Stage::Divide, createLongProductsToConv},
      {Stage::Refine, []() -> std::unique_ptr<Pass> { return std::make_unique<RowsToChannels>(); }},
  };
  return kPasses;
}

} // namespace tpuc::bm1684::backend
