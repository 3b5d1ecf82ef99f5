//===- PreprocessArguments.cpp - How pictures become input ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/PreprocessArguments.h"

#include <algorithm>

namespace tpuc {

namespace {

template <size_t N> std::vector<std::string> words(const std::array<std::string_view, N> &names) {
  return {names.begin(), names.end()};
}

} // namespace

void PreprocessArguments::declare(Command &command) {
  const std::string group = "How pictures become input";
  auto add = [&](Option &option) { declared.push_back(&option.group(group)); };
  add(command
          .option("--resize_dims", options.resizeDims,
                  "Height and width that pictures are scaled to; what is larger than the input is "
                  "cut to its centre.")
          .shownDefault("the input's"));
  add(command.flag("--keep_aspect_ratio", options.keepAspectRatio,
                   "Scale height and width alike and fill up with --pad_value."));
  add(command
          .option("--keep_ratio_mode", options.keepRatioMode,
                  "letterbox: the whole picture is in it; short_side_scale: the shorter side fits, "
                  "the longer one is cut.")
          .choices(words(kKeepRatioModeNames)));
  add(command.option("--pad_value", options.padValue, "What is filled up with.").range(0, 255));
  add(command
          .option("--pad_type", padType,
                  "Where the picture lies: in the centre, or at the top left.")
          .choices(words(kPadTypeNames)));
  add(command.option("--mean", options.mean, "Of each channel; (x - mean) * scale is computed.")
          .shownDefault("0,0,0"));
  add(command.option("--scale", options.scale, "Of each channel.").shownDefault("1,1,1"));
  add(command.option("--pixel_format", pixelFormat, "The order of the channels.")
          .choices(words(kPixelFormatNames)));
  add(command.option("--channel_format", channelFormat, "The layout of the input.")
          .choices(words(kChannelFormatNames)));
}

void PreprocessArguments::declareBytes(Command &command) {
  const std::string group = "How pictures become input";
  declared.push_back(
      &command
           .option("--customization_format", bytes,
                   "The input takes the bytes of a picture in this order, as model_deploy "
                   "--fuse_preprocess made it. Modules and model files say it themselves.")
           .choices(words(kPictureFormatNames))
           .shownDefault("the network's")
           .group(group));
  declared.push_back(&command
                          .option("--yuv_range", yuvRange,
                                  "Of such bytes that are YUV: video has Y from 16 to 235.")
                          .choices({"video", "full"})
                          .shownDefault("the network's, or video")
                          .group(group));
}

/// The texts are among the choices.
std::optional<PreprocessOptions> PreprocessArguments::read() {
  if (std::ranges::none_of(declared, &Option::given))
    return std::nullopt;
  options.pixelFormat = *parsePixelFormat(pixelFormat);
  options.channelFormat = *parseChannelFormat(channelFormat);
  options.padType = *parsePadType(padType);
  options.bytes = parsePictureFormat(bytes);
  if (!yuvRange.empty())
    options.isVideoRange = yuvRange == "video";
  return options;
}

} // namespace tpuc
