//===- NetworkInputs.cpp - How the inputs of a network are fed ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tpuc;

namespace {

std::vector<int64_t> inputDims(top::InputOp input) {
  std::vector<int64_t> dims;
  if (auto type = dyn_cast<RankedTensorType>(input.getInput().getType()))
    for (int64_t extent : type.getShape())
      dims.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  return dims;
}

/// Reads an attribute that spells one of the values of an enum.
template <typename Enum>
Expected<void> readName(top::InputOp input, std::optional<llvm::StringRef> text,
                        std::optional<Enum> (*parse)(std::string_view), Enum &value) {
  if (!text)
    return {};
  std::optional<Enum> parsed = parse(std::string_view(*text));
  if (!parsed)
    return makeError("input '" + layerName(input) + "'",
                     "'" + text->str() + "' is no way of preprocessing");
  value = *parsed;
  return {};
}

Expected<PreprocessOptions> preprocessingOf(top::InputOp input) {
  PreprocessOptions options;
  if (auto read = readName(input, input.getPixelFormat(), parsePixelFormat, options.pixelFormat);
      !read)
    return propagate(read);
  if (auto read =
          readName(input, input.getChannelFormat(), parseChannelFormat, options.channelFormat);
      !read)
    return propagate(read);
  if (auto read = readName(input, input.getPadType(), parsePadType, options.padType); !read)
    return propagate(read);
  if (auto dims = input.getResizeDims())
    for (auto extent : dims->getAsRange<IntegerAttr>())
      options.resizeDims.push_back(extent.getInt());
  options.keepAspectRatio = input.getKeepAspectRatio().value_or(false);
  if (auto mode = input.getKeepRatioMode())
    options.keepRatioMode = mode->str();
  options.padValue = static_cast<int64_t>(input.getPadValue().value_or(0));
  if (auto bytes = input->getAttrOfType<StringAttr>("customization_format")) {
    options.bytes = parsePictureFormat(std::string_view(bytes.getValue()));
    if (!options.bytes)
      return makeError("input '" + layerName(input) + "'",
                       "'" + bytes.getValue().str() + "' is no order of a picture's bytes");
    if (auto range = input->getAttrOfType<BoolAttr>("video_range"))
      options.isVideoRange = range.getValue();
    options.frame = top::frameOf(input);
  }
  options.mean = toDoubles(input.getMean());
  options.scale = toDoubles(input.getScale());
  return options;
}

} // namespace

Expected<std::vector<InputSpec>> tpuc::networkInputs(ModuleOp module, bool expressed) {
  Expected<func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return propagate(main);
  std::vector<InputSpec> specs;
  for (auto input : main->getOps<top::InputOp>()) {
    std::optional<DataType> type = storageDataType(input.getInput().getType());
    if (!type)
      return makeError("input '" + layerName(input) + "'", "is no tensor of numbers");
    if (expressed && tpu::isQuantized(input.getInput()))
      type = DataType::F32;
    InputSpec spec{layerName(input), *type, inputDims(input), std::nullopt};
    if (input.getDoPreprocess()) {
      Expected<PreprocessOptions> options = preprocessingOf(input);
      if (!options)
        return propagate(options);
      spec.preprocess = std::move(*options);
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

Expected<void> tpuc::checkExtents(std::span<const InputSpec> inputs, const std::string &path) {
  const auto isEmpty = [](const InputSpec &input) { return llvm::is_contained(input.dims, 0); };
  if (!inputs.empty() && llvm::all_of(inputs, isEmpty))
    return makeError(path + ": input '" + inputs.front().name + "'",
                     "shape " + Shape(inputs.front().dims).str() + " holds no element",
                     "extents of 1 at least");
  return {};
}

Expected<void> tpuc::setPreprocessing(ModuleOp module, const PreprocessOptions &options) {
  bool found = false;
  Builder builder(module.getContext());
  for (auto main : module.getOps<func::FuncOp>())
    for (auto input : main.getOps<top::InputOp>()) {
      std::vector<int64_t> dims = inputDims(input);
      if (dims.size() != 3 && dims.size() != 4)
        continue;
      if (Expected<void> checked = options.check(dims); !checked)
        return checked;
      found = true;
      input.setDoPreprocess(true);
      input.setPixelFormat(pixelFormatName(options.pixelFormat));
      input.setChannelFormat(channelFormatName(options.channelFormat));
      if (!options.resizeDims.empty())
        input.setResizeDimsAttr(builder.getI64ArrayAttr(options.resizeDims));
      input.setKeepAspectRatio(options.keepAspectRatio);
      input.setKeepRatioMode(options.keepRatioMode);
      input.setPadValue(static_cast<uint64_t>(options.padValue));
      input.setPadType(padTypeName(options.padType));
      if (!options.mean.empty())
        input.setMeanAttr(builder.getF64ArrayAttr(options.mean));
      if (!options.scale.empty())
        input.setScaleAttr(builder.getF64ArrayAttr(options.scale));
    }
  if (!found)
    return makeError("preprocessing", "no input of the network has the shape of a picture",
                     "an input of rank 3 or 4");
  return {};
}
