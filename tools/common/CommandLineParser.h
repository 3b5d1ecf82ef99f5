//===- CommandLineParser.h - CLI11 behind CommandLine -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the library: CLI11 distributes the arguments over options and positionals and lays
// out the help text. What it does otherwise than CommandLine.h promises (near names, values that
// begin with a minus, all missing options at once) happens before and after it.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_COMMON_COMMANDLINEPARSER_H
#define TOOLS_COMMON_COMMANDLINEPARSER_H

#include "tools/common/CommandLine.h"
#include "tools/common/HelpLayout.h"

namespace tpuc {

/// `; did you mean 'x'?`, or nothing when no candidate is near.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// Reads the arguments of one command into its variables.
class Parser {
public:
  enum class Request : uint8_t { Run, Help, Markdown, Version };

  explicit Parser(Command &command) : command(command) {}
  Expected<Request> parse(std::span<const std::string> arguments);

private:
  /// Sorts the arguments into `optionTokens` (canonical names, values joined where CLI11 might
  /// take them for something else) and `positionalTokens`.
  Expected<Request> normalize(std::span<const std::string> arguments);
  Expected<Request> normalizeLong(std::span<const std::string> &rest);
  Expected<void> normalizeShort(std::span<const std::string> &rest);
  /// The value of `option`: `attached` where there is one, or else the next argument.
  Expected<void> takeValue(const Option &option, std::optional<std::string> attached,
                           std::span<const std::string> &rest);
  Option *findLong(std::string_view name) const;
  Option *findShort(char letter) const;
  bool isOption(std::string_view argument) const;
  tl::unexpected<Error> unknownOption(std::string_view name) const;

  /// Lets CLI11 fill `Option::texts`.
  Expected<void> distribute();
  Expected<void> checkRequired() const;
  Expected<void> checkOccurrences() const;

  Command &command;
  std::vector<std::string> optionTokens;
  std::vector<std::string> positionalTokens;
};

/// The text of --help.
class HelpText {
public:
  HelpText(const Command &command, std::string usage, std::vector<const Command *> commands,
           size_t width)
      : command(command), usage(std::move(usage)), commands(std::move(commands)), width(width) {}
  std::string str() const;
  /// A table of Markdown with a row for each option that is shown.
  std::string markdown() const;

private:
  static std::string textOf(const Option &option);

  const Command &command;
  std::string usage;
  std::vector<const Command *> commands;
  size_t width;
};

} // namespace tpuc

#endif // TOOLS_COMMON_COMMANDLINEPARSER_H
