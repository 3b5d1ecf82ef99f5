//===- HelpLayout.cpp - How texts of --help are laid out ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/HelpLayout.h"
#include "tools/common/OptionValue.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tpuc {

namespace {

constexpr size_t kHelpColumn = 30;

} // namespace

size_t terminalWidth(size_t otherwise) {
  constexpr size_t kLeast = 40;
  int64_t columns = 0;
  if (const char *stated = std::getenv("COLUMNS");
      stated && readValue(stated, columns) && columns > 0)
    return std::max(static_cast<size_t>(columns), kLeast);
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max(static_cast<size_t>(size.ws_col), kLeast);
  return otherwise;
}

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string result;
  size_t column = indent;
  for (size_t start = 0; start < text.size();) {
    size_t end = std::min(text.find(' ', start), text.size());
    std::string_view word = text.substr(start, end - start);
    if (column > indent && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += " ";
      ++column;
    }
    result += word;
    column += word.size();
    start = end + 1;
  }
  return result;
}

std::string helpRow(std::string_view name, std::string_view text, size_t width) {
  std::string line = fmt::format("  {}", name);
  if (line.size() + 2 > kHelpColumn)
    line += "\n" + std::string(kHelpColumn, ' ');
  else
    line.resize(kHelpColumn, ' ');
  return line + wrapped(text, kHelpColumn, width) + "\n";
}

std::string markdownRow(std::string_view name, std::string_view text) {
  std::string cell;
  for (const char c : text)
    cell += c == '|' || c == '<' ? fmt::format("\\{}", c) : std::string(1, c);
  return fmt::format("| `{}` | {} |\n", name, cell);
}

} // namespace tpuc
