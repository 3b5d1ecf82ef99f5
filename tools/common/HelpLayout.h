//===- HelpLayout.h - How texts of --help are laid out ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of a help text is a name and, from column 30 on, what it means:
//
//   --num_threads N             Threads to use; 0 means all cores.
//                               [default: 0]
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_COMMON_HELPLAYOUT_H
#define TOOLS_COMMON_HELPLAYOUT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace tpuc {

/// Hidden in the help text: the pages are written with it.
inline constexpr std::string_view kMarkdownOption = "--help_markdown";

/// The columns that stdout has: what the environment's COLUMNS says, else the terminal; `otherwise`
/// where there is none. 40 at least.
size_t terminalWidth(size_t otherwise);

/// `text` broken at blanks, every line but the first indented by `indent`. No line is longer than
/// `width`, but for words that are longer.
std::string wrapped(std::string_view text, size_t indent, size_t width);

/// A row, with its line breaks. A long `name` has a line of its own.
std::string helpRow(std::string_view name, std::string_view text, size_t width);

/// A row of a table in Markdown with two columns: `name` as code, and `text`.
std::string markdownRow(std::string_view name, std::string_view text);

} // namespace tpuc

#endif // TOOLS_COMMON_HELPLAYOUT_H
