//===- PreprocessArguments.h - How pictures become input --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_COMMON_PREPROCESSARGUMENTS_H
#define TOOLS_COMMON_PREPROCESSARGUMENTS_H

#include "tools/common/CommandLine.h"
#include "tpuc/Preprocess/Preprocess.h"

namespace tpuc {

/// The options of preprocessing, as texts where the value is an enumeration.
class PreprocessArguments {
public:
  /// Adds the options to `command`, which must not outlive this.
  void declare(Command &command);
  /// Adds those of networks that take bytes of pictures and prepare them themselves.
  void declareBytes(Command &command);
  /// Once an action runs: none where nothing was said about preprocessing.
  std::optional<PreprocessOptions> read();

private:
  PreprocessOptions options;
  std::string pixelFormat{pixelFormatName(PixelFormat::Bgr)};
  std::string channelFormat{channelFormatName(ChannelFormat::Nchw)};
  std::string bytes;
  std::string yuvRange;
  std::string padType{padTypeName(PadType::Center)};
  std::vector<Option *> declared;
};

} // namespace tpuc

#endif // TOOLS_COMMON_PREPROCESSARGUMENTS_H
