//===- Diagnostics.cpp - Errors, warnings and notes for the user ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Diagnostics.h"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace tpuc {

namespace {

std::string_view severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "";
}

/// Bold red, bold magenta, bold cyan, as compilers have them.
std::string_view severityColour(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "\x1b[1;31m";
  case Severity::Warning:
    return "\x1b[1;35m";
  case Severity::Note:
    return "\x1b[1;36m";
  }
  return "";
}

void report(std::string_view tool, Severity severity, std::string_view message) {
  bool colour = isTerminal(stderr) && !std::getenv("NO_COLOR");
  std::string line = formatDiagnostic(tool, severity, message, colour) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

} // namespace

std::string formatDiagnostic(std::string_view tool, Severity severity, std::string_view message,
                             bool colour) {
  std::string text = Error{"", std::string(message), ""}.message();
  return fmt::format("{}{}{}{}:{} {}", tool, tool.empty() ? "" : ": ",
                     colour ? severityColour(severity) : "", severityName(severity),
                     colour ? "\x1b[0m" : "", text);
}

void reportError(std::string_view tool, const Error &error) {
  report(tool, Severity::Error, error.message());
}
void reportWarning(std::string_view tool, std::string_view message) {
  report(tool, Severity::Warning, message);
}
void reportNote(std::string_view tool, std::string_view message) {
  report(tool, Severity::Note, message);
}

bool isTerminal(std::FILE *stream) {
  const char *terminal = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && terminal && std::string_view(terminal) != "dumb";
}

} // namespace tpuc
