//===- Commands.h - The commands of npz_tool --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function declares a few commands. Their variables live as long as their actions. Every
// command holds one tensor (compare: one pair) in memory at a time, and most only a view into the
// mapped file; outputs appear when they are complete.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_NPZ_TOOL_COMMANDS_H
#define TOOLS_NPZ_TOOL_COMMANDS_H

#include "tools/common/CommandLine.h"
#include "tpuc/Support/Npz.h"

#include <span>
#include <string_view>

namespace tpuc::npztool {

inline constexpr std::string_view kToolName = "npz_tool";

/// dump, list, print, get_shape, statistic, verify.
void addInspectCommands(CommandLine &cli);
/// compare.
void addCompareCommand(CommandLine &cli);
/// extract, merge, rename, transpose, bf16_to_fp32, from_npy: npz files out.
void addRewriteCommands(CommandLine &cli);
/// to_dat, to_bin, to_npy.
void addExportCommands(CommandLine &cli);

/// Errors: `output` is one of the files `inputs`. For commands that do not work in place.
Expected<void> checkOutput(std::span<const std::string> inputs, const std::string &output);
/// Opens `input` after that check.
Expected<NpzReader> openFor(const std::string &input, const std::string &output);

/// Names that come from files, without control characters.
std::string shownName(const std::string &name);

} // namespace tpuc::npztool

#endif // TOOLS_NPZ_TOOL_COMMANDS_H
