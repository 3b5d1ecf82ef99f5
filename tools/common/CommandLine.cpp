//===- CommandLine.cpp - The options and commands of a program ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"

#include "tools/common/CommandLineParser.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/MemoryLimit.h"
#include "tpuc/Support/Suggest.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>
#include <utility>

namespace tpuc {

//===----------------------------------------------------------------------===//
// Option
//===----------------------------------------------------------------------===//

Option &Option::required() {
  isRequired = true;
  return *this;
}
Option &Option::optional() {
  isRequired = false;
  return *this;
}
Option &Option::group(std::string text) {
  heading = std::move(text);
  return *this;
}
Option &Option::label(std::string text) {
  labelText = std::move(text);
  return *this;
}
Option &Option::choices(std::vector<std::string> values) {
  allowed = std::move(values);
  return *this;
}
Option &Option::alias(std::string word, std::string choice) {
  otherWords.emplace_back(std::move(word), std::move(choice));
  return *this;
}
Option &Option::range(double min, double max) {
  limits = {min, max};
  return *this;
}
Option &Option::lastCounts() {
  isRepeatable = true;
  return *this;
}
Option &Option::unavailable(std::string reason) {
  isUnavailable = true;
  reasonUnavailable = std::move(reason);
  return *this;
}
Option &Option::withoutEffect(std::string why) {
  reasonWithoutEffect = std::move(why);
  return *this;
}
Option &Option::shownDefault(std::string text) {
  defaultText = std::move(text);
  return *this;
}

Expected<void> Option::checkChoices() const {
  if (allowed.empty())
    return {};
  std::vector<std::string> given = texts;
  if (isList) {
    given.clear();
    for (const std::string &text : texts) {
      std::vector<std::string> part;
      if (Expected<void> ok = readValue(text, part); !ok)
        return ok;
      given.insert(given.end(), part.begin(), part.end());
    }
  }
  for (const std::string &text : given)
    if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
      return makeError("", fmt::format("found '{}'{}", text, suggestion(text, allowed)),
                       fmt::format("one of {}", fmt::join(allowed, ", ")));
  return {};
}

Expected<void> Option::checkRange() const {
  if (!limits)
    return {};
  for (const std::string &text : texts) {
    std::vector<double> numbers;
    if (Expected<void> ok = readValue(text, numbers); !ok)
      return ok;
    for (double number : numbers)
      if (number < limits->first || number > limits->second)
        return makeError("", fmt::format("found '{}'", text),
                         fmt::format("{} to {}", limits->first, limits->second));
  }
  return {};
}

Expected<void> Option::assign() {
  for (std::string &text : texts)
    for (const auto &[word, choice] : otherWords)
      if (text == word)
        text = choice;
  Expected<void> ok = checkChoices();
  if (ok)
    ok = read(texts);
  if (ok)
    ok = checkRange();
  if (!ok)
    ok.error().where = displayName();
  return ok;
}

//===----------------------------------------------------------------------===//
// Command
//===----------------------------------------------------------------------===//

Command::Command(std::string name, std::string summary)
    : commandName(std::move(name)), summary(std::move(summary)) {}

Option &Command::add(Option::Kind kind, std::string_view names, std::string help) {
  auto option = std::make_unique<Option>();
  option->kind = kind;
  option->help = std::move(help);
  option->isRequired = option->isPositional();
  for (size_t start = 0; start <= names.size();) {
    size_t comma = std::min(names.find(',', start), names.size());
    option->names.emplace_back(names.substr(start, comma - start));
    start = comma + 1;
  }
  options.push_back(std::move(option));
  return *options.back();
}

Option &Command::flag(std::string_view names, bool &variable, std::string help) {
  Option &added = add(Option::Kind::Flag, names, std::move(help));
  added.read = [&variable](std::span<const std::string>) -> Expected<void> {
    variable = true;
    return {};
  };
  return added;
}

Option &Command::countFlag(std::string_view names, int &variable, std::string help) {
  Option &added = add(Option::Kind::Flag, names, std::move(help));
  added.isList = true;
  added.read = [&variable](std::span<const std::string> texts) -> Expected<void> {
    variable = static_cast<int>(texts.size());
    return {};
  };
  return added;
}

Option &Command::unavailable(std::string_view names, bool takesValue, std::string reason) {
  Option &added = add(takesValue ? Option::Kind::Value : Option::Kind::Flag, names, "");
  return added.unavailable(std::move(reason)).group("");
}

Option &Command::withoutEffect(std::string_view names, bool takesValue, std::string why) {
  Option &added = add(takesValue ? Option::Kind::Value : Option::Kind::Flag, names, "");
  added.isRepeatable = true;
  added.read = [](std::span<const std::string>) -> Expected<void> { return {}; };
  return added.withoutEffect(std::move(why)).group("");
}

Option &Command::positionals(std::string_view name, std::vector<std::string> &variable,
                             std::string help) {
  Option &added = add(Option::Kind::Positionals, name, std::move(help));
  added.isList = true;
  added.read = [&variable](std::span<const std::string> texts) -> Expected<void> {
    variable.assign(texts.begin(), texts.end());
    return {};
  };
  return added;
}

Option &Command::numThreads(int &variable) {
  constexpr int kMaxThreads = 4096;
  auto allCores = [] { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); };
  variable = allCores();
  Option &added = option("--num_threads", variable, "Threads to use; 0 means all cores.");
  added.read = [&variable, allCores](std::span<const std::string> texts) -> Expected<void> {
    Expected<void> ok = readValue(texts.front(), variable);
    if (ok && variable == 0)
      variable = allCores();
    return ok;
  };
  return added.range(0, kMaxThreads).shownDefault("0");
}

Option &Command::json(std::string &variable) {
  return option("--json", variable, "Write the report as JSON to this file; - is stdout.")
      .label("FILE");
}

Option &Command::maxPixels(int64_t &variable) {
  return option("--max_pixels", variable,
                "Refuse pictures of more pixels than this before they are decoded.")
      .range(1, 1e12)
      .label("COUNT");
}

Option &Command::allowOutside(bool &variable) {
  return flag("--allow_outside", variable,
              "Read the weights of a module also where they lie outside of its folder.");
}

Command &Command::description(std::string text) {
  descriptionText = std::move(text);
  return *this;
}
Command &Command::examples(std::vector<std::string> lines) {
  exampleLines = std::move(lines);
  return *this;
}
Command &Command::alias(std::string name) {
  aliases.push_back(std::move(name));
  return *this;
}
Command &Command::action(std::function<Expected<int>()> newBody) {
  body = std::move(newBody);
  return *this;
}

//===----------------------------------------------------------------------===//
// CommandLine
//===----------------------------------------------------------------------===//

Command &CommandLine::command(std::string name, std::string summary) {
  commands.push_back(std::make_unique<Command>(std::move(name), std::move(summary)));
  return *commands.back();
}

std::string CommandLine::versionText() const {
  return fmt::format("{} (tpuc) {}", name(), TPUC_VERSION);
}

std::string CommandLine::helpText(size_t width) const {
  std::vector<const Command *> listed;
  listed.reserve(commands.size());
  for (const auto &command : commands)
    listed.push_back(command.get());
  return HelpText(*this, name(), listed, width).str();
}

std::string CommandLine::helpText(const Command &command, size_t width) const {
  return HelpText(command, name() + " " + command.name(), {}, width).str();
}

std::string CommandLine::markdown() const {
  if (commands.empty())
    return HelpText(*this, name(), {}, kHelpWidth).markdown();
  std::string text;
  for (const auto &command : commands)
    text += fmt::format("{}`{}`: {}\n\n{}", text.empty() ? "" : "\n", command->name(),
                        command->summary, HelpText(*command, name(), {}, kHelpWidth).markdown());
  return text;
}

Expected<Command *> CommandLine::findCommand(const std::string &name) const {
  std::vector<std::string> known;
  for (const auto &command : commands) {
    if (command->name() == name ||
        std::find(command->aliases.begin(), command->aliases.end(), name) != command->aliases.end())
      return command.get();
    known.push_back(command->name());
  }
  std::string hint = suggestion(name, known);
  return makeError("", fmt::format("unknown command '{}'{}", name, hint),
                   hint.empty() ? fmt::format("one of {}", fmt::join(known, ", ")) : "");
}

void CommandLine::addLimits() {
  if (std::exchange(hasLimits, true))
    return;
  const auto add = [&](Command &command) {
    command
        .option("--max_memory", memoryLimit,
                "End with an error where more memory is needed than this, such as 4G; files that "
                "are mapped do not count.")
        .label("SIZE")
        .shownDefault("no limit");
  };
  if (commands.empty())
    add(*this);
  for (const auto &command : commands)
    add(*command);
}

Expected<int> CommandLine::run(std::span<const std::string> arguments) {
  addLimits();
  if (commands.empty())
    return runCommand(*this, arguments);
  if (arguments.empty())
    return makeError("", "no command given", fmt::format("one, as {} --help lists them", name()));
  const std::string &first = arguments.front();
  if (!first.starts_with("-")) {
    Expected<Command *> found = findCommand(first);
    if (!found)
      return propagate(found);
    return runCommand(**found, arguments.subspan(1));
  }
  if (first == "-h" || first == "--help") {
    fmt::print("{}", helpText(terminalWidth(kHelpWidth)));
    return 0;
  }
  if (first == kMarkdownOption) {
    fmt::print("{}", markdown());
    return 0;
  }
  if (first == "--version") {
    fmt::print("{}\n", versionText());
    return 0;
  }
  return makeError("", fmt::format("found '{}' before the command", first),
                   fmt::format("the command first, as {} --help lists them", name()));
}

Expected<int> CommandLine::runCommand(Command &command, std::span<const std::string> arguments) {
  Parser parser(command);
  Expected<Parser::Request> request = parser.parse(arguments);
  if (!request)
    return propagate(request);
  if (*request == Parser::Request::Help) {
    const size_t width = terminalWidth(kHelpWidth);
    fmt::print("{}", &command == this ? helpText(width) : helpText(command, width));
    return 0;
  }
  if (*request == Parser::Request::Markdown) {
    fmt::print("{}", markdown());
    return 0;
  }
  if (*request == Parser::Request::Version) {
    fmt::print("{}\n", versionText());
    return 0;
  }
  for (const auto &option : command.options)
    if (option->given() && !option->reasonWithoutEffect.empty())
      reportNote(name(), fmt::format("option '{}' makes no difference here: {}",
                                     option->displayName(), option->reasonWithoutEffect));
  if (!memoryLimit.empty())
    if (Expected<void> limited = limitMemory(memoryLimit, name()); !limited)
      return propagate(limited);
  return command.body();
}

} // namespace tpuc
