//===- FusePreprocess.cpp - Pictures of bytes in place of inputs ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
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

/// Where a picture that is scaled lies in the network's one, before its centre is cut out.
struct Placement {
  int64_t height, width; ///< Of the scaled picture.
  int64_t top, left;     ///< Negative: so much is cut off.
};

/// How a picture of `from` (height, width) becomes one of `canvas`, as calibration does it: the
/// extents are cut to whole pixels.
Placement placementOf(top::InputOp input, ArrayRef<int64_t> from, ArrayRef<int64_t> canvas) {
  if (!input.getKeepAspectRatio().value_or(false))
    return {canvas[0], canvas[1], 0, 0};
  const bool fills = input.getKeepRatioMode().value_or("letterbox") == "short_side_scale";
  const double ofHeight = static_cast<double>(canvas[0]) / static_cast<double>(from[0]);
  const double ofWidth = static_cast<double>(canvas[1]) / static_cast<double>(from[1]);
  const double factor = fills ? std::max(ofHeight, ofWidth) : std::min(ofHeight, ofWidth);
  const auto scaled = [&](size_t side) {
    const auto extent = static_cast<int64_t>(static_cast<double>(from[side]) * factor);
    return std::max(extent, fills ? canvas[side] : 1);
  };
  Placement made = {scaled(0), scaled(1), 0, 0};
  if (fills || input.getPadType().value_or("center") == "center") {
    made.top = (canvas[0] - made.height) / 2;
    made.left = (canvas[1] - made.width) / 2;
  }
  return made;
}

/// Makes ops on a picture's bytes, one behind the other, named NAME_what.
class PictureOps {
public:
  PictureOps(top::PreprocessOp picture, StringRef name)
      : builder(picture->getContext()), name(name), value(picture.getOutput()) {
    builder.setInsertionPointAfter(picture);
    none = builder.create<top::NoneOp>(picture.getLoc(), builder.getNoneType());
  }

  void resize(int64_t height, int64_t width) {
    SmallVector<int64_t> to = dims();
    to[2] = height;
    to[3] = width;
    NamedAttrList what;
    what.set("mode", builder.getStringAttr("linear"));
    what.set("sizes", builder.getI64ArrayAttr(to));
    add(top::InterpOp::getOperationName(), "resized", to, {none, none, none}, what);
  }

  /// Rows and columns from (top, left) on; `outside` around the picture.
  void place(int64_t top, int64_t left, int64_t height, int64_t width, int64_t outside) {
    SmallVector<int64_t> to = dims();
    const int64_t below = height - top - to[2];
    const int64_t right = width - left - to[3];
    if (top == 0 && left == 0 && below == 0 && right == 0)
      return;
    to[2] = height;
    to[3] = width;
    NamedAttrList what;
    what.set("paddings", builder.getI64ArrayAttr({0, 0, top, left, 0, 0, below, right}));
    what.set("val", builder.getF64FloatAttr(static_cast<double>(outside)));
    add(top::PadOp::getOperationName(), "placed", to, {none, none, none}, what);
  }

  Value result() const { return value; }

private:
  SmallVector<int64_t> dims() const {
    return SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getShape());
  }
  void add(StringRef opName, StringRef what, ArrayRef<int64_t> to, ValueRange others,
           const NamedAttrList &attributes) {
    SmallVector<Value> operands = {value};
    llvm::append_range(operands, others);
    OperationState state(NameLoc::get(builder.getStringAttr(name + "_" + what.str())), opName,
                         operands, Type(cast<RankedTensorType>(value.getType()).clone(to)),
                         attributes.getAttrs());
    value = builder.create(state)->getResult(0);
  }

  OpBuilder builder;
  std::string name;
  Value value, none;
};

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

  /// The planes of a picture of `given` extents as bytes of `canvas`, scaled and placed there.
  static Value resized(top::InputOp input, const NamedAttrList &what, ArrayRef<int64_t> given,
                       ArrayRef<int64_t> canvas) {
    const auto type = cast<RankedTensorType>(input.getOutput().getType());
    const int64_t channels = numChannels(std::string_view(input.getPixelFormat().value_or("bgr")));
    const auto planes = RankedTensorType::get({type.getDimSize(0), channels, given[0], given[1]},
                                              byteType(input.getContext()));
    OpBuilder builder(input.getContext());
    builder.setInsertionPointAfter(input);
    const std::string name = layerName(input);
    auto picture = builder.create<top::PreprocessOp>(
        NameLoc::get(builder.getStringAttr(name + "_planes")), TypeRange(planes),
        ValueRange(input.getOutput()), what.getAttrs());
    const Placement at = placementOf(input, given, canvas);
    PictureOps ops(picture, name);
    if (at.height != given[0] || at.width != given[1])
      ops.resize(at.height, at.width);
    ops.place(at.top, at.left, canvas[0], canvas[1],
              static_cast<int64_t>(input.getPadValue().value_or(0)));
    input.setKeepAspectRatio(false);
    return ops.result();
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
    const SmallVector<int64_t> given =
        fuseResize.empty() ? extents : SmallVector<int64_t>(fuseResize.begin(), fuseResize.end());
    const PictureAlignment alignment = {rowAlignment, planeAlignment};
    Expected<std::vector<int64_t>> bytes =
        pictureDims(*format, {dims[0], given[0], given[1]}, alignment);
    if (!bytes)
      return makeError("--customization_format",
                       "input '" + layerName(input) + "' has " + bytes.error().found,
                       bytes.error().expected);
    const auto formatName = attributes.getStringAttr(StringRef(pictureFormatName(*format)));
    NamedAttrList what;
    what.set("customization_format", formatName);
    what.set("pixel_format", attributes.getStringAttr(pixelFormat));
    if (isYuv(*format) && videoRange)
      what.set("video_range", attributes.getBoolAttr(true));
    const ArrayAttr frame =
        alignment.isPresent()
            ? top::frameAttr(&getContext(), PictureFrame{given[0], given[1], alignment})
            : nullptr;
    if (frame)
      what.set(top::kFrame, frame);
    NamedAttrList numbers;
    numbers.set("channel_format", attributes.getStringAttr(channelFormat));
    if (crop != extents)
      numbers.set("crop_dims", attributes.getI64ArrayAttr(crop));
    if (ArrayAttr mean = perChannel(input.getMeanAttr(), pixelFormat == "gray"))
      numbers.set("mean", mean);
    if (ArrayAttr scale = perChannel(input.getScaleAttr(), pixelFormat == "gray"))
      numbers.set("scale", scale);

    const Location name = input.getLoc();
    const auto raw = RankedTensorType::get(*bytes, byteType(&getContext()));
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(input);
    Value picture = input.getOutput();
    if (given != extents) {
      picture = resized(input, what, given, extents);
      what.set("customization_format", attributes.getStringAttr(StringRef(pictureFormatName(
                                           *ownFormat(pixelFormat, /*isPacked=*/false)))));
      what.erase("video_range");
      what.erase(top::kFrame);
      builder.setInsertionPointAfterValue(picture);
    }
    what.append(numbers);
    auto made = builder.create<top::PreprocessOp>(name, TypeRange(type), ValueRange(picture),
                                                  what.getAttrs());
    input.getOutput().replaceUsesWithIf(
        made.getOutput(), [&](OpOperand &use) { return !isa<top::PreprocessOp>(use.getOwner()); });
    input->setLoc(NameLoc::get(attributes.getStringAttr(layerName(input) + "_raw")));
    input.getInput().setType(raw);
    input.getOutput().setType(raw);
    for (StringRef attribute : {"mean", "scale", "pixel_format", "channel_format"})
      input->removeAttr(attribute);
    input.setResizeDimsAttr(attributes.getI64ArrayAttr(given));
    input->setAttr("customization_format", formatName);
    if (isYuv(*format))
      input->setAttr("video_range", attributes.getBoolAttr(videoRange));
    if (frame)
      input->setAttr(top::kFrame, frame);
    return {};
  }

  Expected<void> run(ModuleOp module) {
    constexpr int64_t kMostAlignment = 1 << 24;
    const int64_t row = rowAlignment, plane = planeAlignment;
    if (std::min(row, plane) < 1 || std::max(row, plane) > kMostAlignment)
      return makeError("--aligned_input", fmt::format("alignments of {} and {}", row, plane),
                       fmt::format("1 to {}", kMostAlignment));
    if (!fuseResize.empty() && (fuseResize.size() != 2 || fuseResize[0] < 1 || fuseResize[1] < 1))
      return makeError("--fuse_resize", fmt::format("{}", fmt::join(fuseResize, ",")),
                       "height and width, 1 at least");
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
