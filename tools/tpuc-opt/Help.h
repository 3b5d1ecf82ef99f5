//===- Help.h - The help text of tpuc-opt -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most options of tpuc-opt are MLIR's, so LLVM's library of command lines prints them. It knows no
// width. Here its text is captured and laid out as those of the other programs are.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_TPUC_OPT_HELP_H
#define TOOLS_TPUC_OPT_HELP_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tpuc {

enum class HelpRequest : uint8_t {
  Text,     ///< --help
  All,      ///< --help-hidden: with the options that LLVM's libraries bring
  Markdown, ///< --help_markdown: tables for the pages
};

/// Which help a command line asks for, if any.
std::optional<HelpRequest> helpRequestOf(std::span<char *> arguments);

/// What the user gets for `request`, in lines of `width` at most. To be called when all options are
/// declared. Errors: those of the temporary file through which LLVM's text goes.
Expected<std::string> helpText(HelpRequest request, size_t width);

/// LLVM's text `help` in lines of `width` at most.
std::string laidOut(std::string_view help, size_t width);

/// LLVM's text `help` as three tables: options, passes with theirs, pipelines with theirs.
std::string tablesOf(std::string_view help);

} // namespace tpuc

#endif // TOOLS_TPUC_OPT_HELP_H
