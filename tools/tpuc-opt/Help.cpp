//===- Help.cpp - The help text of tpuc-opt -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tpuc-opt/Help.h"
#include "tools/common/HelpLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unistd.h>

using namespace tpuc;
using llvm::StringRef;

namespace {

/// A line of LLVM's text: `  --name=<value>   - text`, or a heading, which has no name.
struct Line {
  explicit Line(StringRef line) {
    constexpr StringRef kBefore = " - ";
    indent = line.size() - line.ltrim().size();
    const size_t middle = line.find(kBefore);
    if (middle == StringRef::npos) {
      text = line.trim();
      return;
    }
    name = line.take_front(middle).trim();
    text = line.drop_front(middle + kBefore.size()).trim();
  }

  bool isHeading() const { return name.empty(); }
  /// `=value`, one of those of the option above.
  bool isValue() const { return name.starts_with("="); }

  size_t indent;
  StringRef name;
  StringRef text;
};

/// How far LLVM indents the names of passes, and the options of each.
constexpr size_t kPassIndent = 6;
constexpr size_t kPassOptionIndent = 8;

llvm::SmallVector<Line> linesOf(StringRef help) {
  llvm::SmallVector<StringRef> texts;
  help.rtrim().split(texts, '\n');
  return llvm::SmallVector<Line>(llvm::map_range(texts, [](StringRef text) { return Line(text); }));
}

/// What LLVM prints. It writes to stdout and to nothing else, so that one is led to a file.
Expected<std::string> printed(bool isAll) {
  const auto fail = [] { return makeError("--help", std::strerror(errno)); };
  const std::unique_ptr<FILE, int (*)(FILE *)> file(std::tmpfile(), std::fclose);
  if (!file)
    return fail();
  llvm::outs().flush();
  const int stdoutBefore = ::dup(STDOUT_FILENO);
  if (stdoutBefore < 0 || ::dup2(::fileno(file.get()), STDOUT_FILENO) < 0)
    return fail();
  llvm::cl::PrintHelpMessage(isAll, /*Categorized=*/true);
  llvm::outs().flush();
  ::dup2(stdoutBefore, STDOUT_FILENO);
  ::close(stdoutBefore);

  std::rewind(file.get());
  std::string text;
  std::array<char, 4096> part;
  for (size_t read; (read = std::fread(part.data(), 1, part.size(), file.get())) > 0;)
    text.append(part.data(), read);
  return text;
}

/// A table under construction.
struct Table {
  explicit Table(std::string_view title)
      : text("| " + std::string(title) + " | what |\n| --- | --- |\n") {}

  /// Ends the row, so that a last value of it is written, too.
  void flush() {
    if (!name.empty())
      text += markdownRow(name, what);
    name.clear();
  }
  void begin(StringRef option, StringRef meaning) {
    flush();
    name = option;
    what = meaning;
  }

  std::string text;
  std::string name;
  std::string what;
};

} // namespace

std::optional<HelpRequest> tpuc::helpRequestOf(std::span<char *> arguments) {
  for (const StringRef word : arguments) {
    const StringRef name = word.ltrim('-');
    if (name.size() == word.size())
      continue;
    if (name == "help" || name == "h")
      return HelpRequest::Text;
    if (name == "help-hidden")
      return HelpRequest::All;
    if (word == StringRef(kMarkdownOption))
      return HelpRequest::Markdown;
  }
  return std::nullopt;
}

std::string tpuc::laidOut(std::string_view help, size_t width) {
  std::string result;
  for (const Line &line : linesOf(help)) {
    const std::string margin(line.indent, ' ');
    if (line.isHeading())
      result += (line.text.empty() ? "" : margin) + wrapped(line.text, line.indent, width) + "\n";
    else
      // A row brings a margin of two.
      result += helpRow(std::string(line.indent - std::min<size_t>(line.indent, 2), ' ') +
                            line.name.str(),
                        line.text, width);
  }
  return result;
}

std::string tpuc::tablesOf(std::string_view help) {
  Table options("option");
  Table passes("pass");
  Table pipelines("pipeline");
  Table *table = &options;
  Table *named = &passes;
  std::string pass;
  for (const Line &line : linesOf(help)) {
    if (line.isHeading()) {
      if (line.text == "Pass Pipelines:")
        named = &pipelines;
    } else if (line.isValue()) {
      table->what += " `" + line.name.drop_front().str() + "`: " + line.text.str();
      if (!StringRef(table->what).ends_with("."))
        table->what += ".";
    } else if (line.indent == kPassIndent) {
      table = named;
      pass = line.name;
      table->begin(pass, line.text);
    } else if (line.indent == kPassOptionIndent) {
      table->begin(pass + "=" + line.name.ltrim('-').str(), line.text);
    } else {
      table = &options;
      table->begin(line.name, line.text);
    }
  }
  for (Table *each : {&options, &passes, &pipelines})
    each->flush();
  return options.text + "\n" + passes.text + "\n" + pipelines.text;
}

Expected<std::string> tpuc::helpText(HelpRequest request, size_t width) {
  Expected<std::string> help = printed(request == HelpRequest::All);
  if (!help)
    return help;
  return request == HelpRequest::Markdown ? tablesOf(*help) : laidOut(*help, width);
}
