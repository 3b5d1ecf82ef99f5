//===- Commands.h - What model_tool can do ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_MODEL_TOOL_COMMANDS_H
#define TOOLS_MODEL_TOOL_COMMANDS_H

#include "tpuc/Support/Error.h"

#include <string>
#include <vector>

namespace tpuc::modeltool {

inline constexpr std::string_view kToolName = "model_tool";

struct Request {
  std::vector<std::string> files;
  /// A file, or for `extract` a folder; empty: stdout, or the current folder.
  std::string output;
  /// Print JSON instead of text.
  bool asJson = false;
  /// Of `profile`: the net and stage to look at; empty and -1: all.
  std::string net;
  int stage = -1;
  /// Of `profile`: every layer as they run, not only the slowest ones.
  bool allLayers = false;
  /// Of `profile`, for a single stage: where the time line goes; empty: nowhere.
  std::string trace, csv;
};

/// Errors: a file that `request` names to be written is one that is read, or another of them.
Expected<void> checkFiles(const Request &request);

Expected<void> showInfo(const Request &request);
/// Every field, as JSON.
Expected<void> printModel(const Request &request);
/// Where each weight is, or, with an output, the coefficients of the first stage as they are.
Expected<void> showWeights(const Request &request);
Expected<void> dumpCommands(const Request &request);
/// How long the nets take by the chip's timing model.
Expected<void> profile(const Request &request);
/// One file per stage, under names that the container gives.
Expected<void> extractStages(const Request &request);
Expected<void> combineModels(const Request &request);

} // namespace tpuc::modeltool

#endif // TOOLS_MODEL_TOOL_COMMANDS_H
