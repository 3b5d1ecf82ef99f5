//===- PreprocessOps.cpp - Pictures as inputs ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Support/PictureFormat.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// How many channels a network of this pixel format has.
static size_t numWanted(StringRef pixelFormat) {
  return static_cast<size_t>(numChannels(std::string_view(pixelFormat)));
}

std::optional<PictureFrame> top::frameOf(Operation *op) {
  const auto attribute = op->getAttrOfType<ArrayAttr>(kFrame);
  constexpr int64_t kMost = 1 << 24;
  const auto isNumber = [](Attribute each) {
    const auto number = dyn_cast<IntegerAttr>(each);
    return number && number.getInt() >= 1 && number.getInt() <= kMost;
  };
  if (!attribute || attribute.size() != 4 || !llvm::all_of(attribute, isNumber))
    return std::nullopt;
  const SmallVector<int64_t> numbers = toInts(attribute);
  return PictureFrame{numbers[0], numbers[1], {numbers[2], numbers[3]}};
}

ArrayAttr top::frameAttr(MLIRContext *context, const PictureFrame &frame) {
  return Builder(context).getI64ArrayAttr(
      {frame.height, frame.width, frame.alignment.row, frame.alignment.plane});
}

LogicalResult PreprocessOp::verify() {
  const std::optional<PictureFormat> format =
      parsePictureFormat(std::string_view(getCustomizationFormat()));
  if (!format)
    return emitOpError("customization_format is ")
           << getCustomizationFormat() << "; expected RGB_PLANAR, YUV_NV12 or their like";
  if (failed(
          verifyChoice(*this, "pixel_format", getPixelFormat(), {"rgb", "bgr", "gray", "rgbd"})) ||
      failed(verifyChoice(*this, "channel_format", getChannelFormat(), {"nchw", "nhwc"})))
    return failure();
  const size_t channels = numWanted(getPixelFormat());
  if (!channelIn(*format, std::string_view(getPixelFormat()), static_cast<int64_t>(channels) - 1))
    return emitOpError("pixel_format is ")
           << getPixelFormat() << "; expected channels that " << getCustomizationFormat() << " has";
  for (auto [name, numbers] : {std::pair("mean", getMean()), std::pair("scale", getScale())})
    if (numbers && numbers->size() != channels)
      return emitOpError(name) << " has " << numbers->size() << " numbers; expected " << channels;
  if (getCropDims() && getCropDims()->size() != 2)
    return emitOpError("crop_dims has ") << getCropDims()->size() << " numbers; expected 2";
  if (getFrame() && !frameOf(*this))
    return emitOpError("frame has ")
           << getFrame()->size() << " numbers; expected 4 from 1 to 16777216";
  return success();
}

LogicalResult PreprocessOp::inferShape() {
  const Type f32 = Float32Type::get(getContext());
  std::optional<Dims> input = dimsOf(getInput());
  if (!input || llvm::is_contained(*input, kDynamic))
    return setResult(*this, 0, f32, std::nullopt);
  Expected<PictureExtents> extents = pictureExtents(
      *parsePictureFormat(std::string_view(getCustomizationFormat())), *input, frameOf(*this));
  if (!extents)
    return emitOpError(extents.error().message());
  int64_t height = extents->height;
  int64_t width = extents->width;
  if (getCropDims()) {
    const SmallVector<int64_t> crop = toInts(*getCropDims());
    if (crop[0] > height || crop[1] > width)
      return emitOpError("crop_dims is ") << dimsText(crop) << "; expected at most "
                                          << dimsText(SmallVector<int64_t>{height, width});
    height = crop[0];
    width = crop[1];
  }
  const auto channels = static_cast<int64_t>(numWanted(getPixelFormat()));
  Dims output = {extents->batch, channels, height, width};
  if (getChannelFormat() == "nhwc")
    output = {extents->batch, height, width, channels};
  return setResult(*this, 0, elementTypeOf(getOutput()), output);
}

int64_t PreprocessOp::flops() { return staticElements(getOutput()) * 2; }

/// A table for each channel, which has 256 bytes.
IntegerForm PreprocessOp::integerForm() { return IntegerForm::Computes; }
