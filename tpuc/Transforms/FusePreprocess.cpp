//===- FusePreprocess.cpp - Pictures of bytes in place of inputs ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/PictureFormat.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc {
#define GEN_PASS_DEF_FUSEPREPROCESS
#include "tpuc/Transforms/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

struct FusePreprocessPass : tpuc::impl::FusePreprocessBase<FusePreprocessPass> {
  using Base::Base;

  /// The bytes that come closest to what the network takes; none where no format has them.
  static std::optional<PictureFormat> ownFormat(StringRef pixelFormat, bool isPacked) {
    if (pixelFormat == "gray")
      return PictureFormat::Grayscale;
    if (pixelFormat == "rgbd")
      return isPacked ? std::nullopt : std::optional(PictureFormat::RgbaPlanar);
    if (pixelFormat == "rgb")
      return isPacked ? PictureFormat::RgbPacked : PictureFormat::RgbPlanar;
    return isPacked ? PictureFormat::BgrPacked : PictureFormat::BgrPlanar;
  }

  /// What the user asks for, or what the input says. Errors: no such format, or one without the
  /// channels that the network takes.
  Expected<PictureFormat> formatOf(StringRef pixelFormat, bool isPacked) {
    std::optional<PictureFormat> format = ownFormat(pixelFormat, isPacked);
    const std::string wanted = customizationFormat;
    if (!wanted.empty()) {
      format = parsePictureFormat(wanted);
      if (!format)
        return makeError("--customization_format", wanted,
                         fmt::format("one of {}", fmt::join(kPictureFormatNames, ", ")));
    }
    const int64_t channels = numChannels(std::string_view(pixelFormat));
    if (!format || !channelIn(*format, std::string_view(pixelFormat), channels - 1))
      return makeError("--customization_format",
                       format ? std::string(pictureFormatName(*format)) : "not given",
                       fmt::format("a format with the {} channel{} of pixel_format {}", channels,
                                   channels > 1 ? "s" : "", std::string_view(pixelFormat)));
    return *format;
  }

  /// Mean or scale with one number per channel; three equal ones stand for one of gray.
  static ArrayAttr perChannel(ArrayAttr numbers, bool isGray) {
    if (!numbers || !isGray)
      return numbers;
    return ArrayAttr::get(numbers.getContext(), numbers.getValue().take_front(1));
  }

  /// A type of 8 bits that stands for the numbers themselves.
  static Type byteType(MLIRContext *context) {
    return quant::UniformQuantizedType::get(quant::StorageSpec::full(/*isSigned=*/false, 8),
                                            Float32Type::get(context), {1.0, 0});
  }

  Expected<void> fuse(top::InputOp input) {
    Builder attributes(&getContext());
    const auto type = cast<RankedTensorType>(input.getOutput().getType());
    const StringRef pixelFormat = input.getPixelFormat().value_or("bgr");
    const StringRef channelFormat = input.getChannelFormat().value_or("nchw");
    const bool isPacked = channelFormat == "nhwc";
    Expected<PictureFormat> format = formatOf(pixelFormat, isPacked);
    if (!format)
      return propagate(format);
    const ArrayRef<int64_t> dims = type.getShape();
    const SmallVector<int64_t> crop = {dims[isPacked ? 1 : 2], dims[isPacked ? 2 : 3]};
    SmallVector<int64_t> extents = crop;
    if (input.getResizeDims())
      extents = top::toInts(*input.getResizeDims());
    Expected<std::vector<int64_t>> bytes = pictureDims(*format, {dims[0], extents[0], extents[1]});
    if (!bytes)
      return makeError("--customization_format",
                       "input '" + layerName(input) + "' has " + bytes.error().found,
                       bytes.error().expected);
    NamedAttrList what;
    const auto formatName = attributes.getStringAttr(StringRef(pictureFormatName(*format)));
    what.set("customization_format", formatName);
    what.set("pixel_format", attributes.getStringAttr(pixelFormat));
    what.set("channel_format", attributes.getStringAttr(channelFormat));
    if (crop != extents)
      what.set("crop_dims", attributes.getI64ArrayAttr(crop));
    if (ArrayAttr mean = perChannel(input.getMeanAttr(), pixelFormat == "gray"))
      what.set("mean", mean);
    if (ArrayAttr scale = perChannel(input.getScaleAttr(), pixelFormat == "gray"))
      what.set("scale", scale);
    if (isYuv(*format) && videoRange)
      what.set("video_range", attributes.getBoolAttr(true));

    const Location name = input.getLoc();
    const auto raw = RankedTensorType::get(*bytes, byteType(&getContext()));
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(input);
    auto made = builder.create<top::PreprocessOp>(name, TypeRange(type),
                                                  ValueRange(input.getOutput()), what.getAttrs());
    input.getOutput().replaceAllUsesExcept(made.getOutput(), made);
    input->setLoc(NameLoc::get(attributes.getStringAttr(layerName(input) + "_raw")));
    input.getInput().setType(raw);
    input.getOutput().setType(raw);
    for (StringRef attribute : {"mean", "scale", "pixel_format", "channel_format"})
      input->removeAttr(attribute);
    input.setResizeDimsAttr(attributes.getI64ArrayAttr(extents));
    input->setAttr("customization_format", formatName);
    if (isYuv(*format))
      input->setAttr("video_range", attributes.getBoolAttr(videoRange));
    return {};
  }

  Expected<void> run(ModuleOp module) {
    Expected<func::FuncOp> main = top::mainFunction(module);
    if (!main)
      return propagate(main);
    bool isFused = false;
    for (auto input : llvm::to_vector(main->getOps<top::InputOp>())) {
      auto type = dyn_cast<RankedTensorType>(input.getOutput().getType());
      const bool isPicture = input.getDoPreprocess() &&
                             input.getChannelFormat().value_or("nchw") != "none" &&
                             !input->hasAttr("customization_format");
      if (!isPicture || !type || type.getRank() != 4 || !type.hasStaticShape() ||
          !type.getElementType().isF32())
        continue;
      if (Expected<void> fused = fuse(input); !fused)
        return fused;
      isFused = true;
    }
    if (!isFused)
      return makeError(
          "--fuse_preprocess", "no input of the network is prepared from pictures",
          "model_transform with --mean, --scale or --pixel_format, and an f32 input of "
          "4 known dimensions");
    top::updateFunctionType(*main);
    return {};
  }

  void runOnOperation() override {
    if (Expected<void> done = run(getOperation()); !done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace
