//===- FoldPreprocess.cpp - What first convolutions take over of preprocessing -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Convert.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

namespace tpuc {
#define GEN_PASS_DEF_FOLDPREPROCESS
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

constexpr int64_t kColours = 3;

/// The order of red, green and blue in the bytes; none where there is no order to change.
std::optional<StringRef> orderOfBytes(top::PreprocessOp op) {
  const StringRef format = op.getCustomizationFormat();
  if (format == "RGB_PLANAR" || format == "RGB_PACKED" || format == "RGBA_PLANAR")
    return StringRef("rgb");
  if (format == "BGR_PLANAR" || format == "BGR_PACKED")
    return StringRef("bgr");
  return std::nullopt;
}

/// A convolution over the three colours whose filter is a constant in floats.
bool takesOrder(OpOperand &use) {
  auto conv = dyn_cast<top::ConvOp>(use.getOwner());
  auto filter = conv ? conv.getFilter().getDefiningOp<top::WeightOp>() : top::WeightOp();
  if (!filter || use.getOperandNumber() != 0 || conv.getGroup() != 1 || filter.getWeightScale())
    return false;
  auto type = dyn_cast<RankedTensorType>(conv.getFilter().getType());
  return type && type.hasStaticShape() && type.getRank() == 4 && type.getDimSize(1) == kColours &&
         type.getElementType().isF32();
}

/// The first and the last of the three input channels change places.
Expected<void> swapInputs(top::ConvOp conv) {
  auto weight = conv.getFilter().getDefiningOp<top::WeightOp>();
  Expected<Tensor> filter = weight.read();
  if (!filter)
    return propagate(filter);
  Tensor swapped = filter->clone();
  const std::span<float> elements = swapped.mutableData<float>();
  const auto taps = static_cast<size_t>(filter->shape()[2] * filter->shape()[3]);
  for (size_t at = 0; at < elements.size(); at += kColours * taps)
    std::ranges::swap_ranges(elements.subspan(at, taps), elements.subspan(at + 2 * taps, taps));
  OpBuilder builder(conv);
  conv.getFilterMutable().assign(top::WeightOp::create(builder, conv->getParentOfType<ModuleOp>(),
                                                       weight.name() + "_swapped",
                                                       std::move(swapped))
                                     .getOutput());
  for (const char *attribute : kChannelFigures)
    if (auto figures = conv->getAttrOfType<DenseF32ArrayAttr>(attribute);
        figures && figures.size() == kColours) {
      SmallVector<float> turned(llvm::reverse(figures.asArrayRef()));
      conv->setAttr(attribute, DenseF32ArrayAttr::get(conv.getContext(), turned));
    }
  conv->removeAttr(kInputCovariances);
  return {};
}

ArrayAttr reversed(ArrayAttr numbers) {
  if (!numbers)
    return numbers;
  return ArrayAttr::get(numbers.getContext(),
                        SmallVector<Attribute>(llvm::reverse(numbers.getValue())));
}

struct FoldPreprocessPass : tpuc::impl::FoldPreprocessBase<FoldPreprocessPass> {
  using Base::Base;

  /// Convolutions read the channels as the bytes have them.
  static Expected<void> foldSwap(top::PreprocessOp op) {
    const std::optional<StringRef> order = orderOfBytes(op);
    if (!order || *order == op.getPixelFormat() || op.getPixelFormat() == "gray" ||
        op.getPixelFormat() == "rgbd" || op.getChannelFormat() != "nchw" || op->use_empty() ||
        !llvm::all_of(op->getUses(), takesOrder))
      return {};
    for (Operation *user : llvm::to_vector(op->getUsers()))
      if (Expected<void> done = swapInputs(cast<top::ConvOp>(user)); !done)
        return done;
    op.setPixelFormat(*order);
    if (ArrayAttr mean = reversed(op.getMeanAttr()))
      op.setMeanAttr(mean);
    if (ArrayAttr scale = reversed(op.getScaleAttr()))
      op.setScaleAttr(scale);
    // It is not the plain network's input any more.
    op->setAttr(top::kPlainName, StringAttr::get(op.getContext(), layerName(op)));
    op->setLoc(NameLoc::get(StringAttr::get(op.getContext(), layerName(op) + "_" + order->str())));
    return {};
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    for (auto op : llvm::to_vector(main.front().getOps<top::PreprocessOp>()))
      if (!llvm::is_contained(without, "fold-swap"))
        if (Expected<void> done = foldSwap(op); !done) {
          getOperation().emitError(done.error().message());
          return signalPassFailure();
        }
  }
};

} // namespace
