//===- CommandLineParser.cpp - CLI11 behind CommandLine -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLineParser.h"

#include "tpuc/Support/Suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc {

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::string_view> views(candidates.begin(), candidates.end());
  std::optional<std::string_view> near = closestMatch(word, views);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

namespace {

std::string withUnderscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

/// `-5`, `-.5`, `-1,2`, `-1e3`, `-inf`.
bool looksNumeric(std::string_view argument) {
  if (argument.size() < 2 || argument[0] != '-')
    return false;
  auto isDigit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return isDigit(argument[1]) ||
         (argument[1] == '.' && argument.size() > 2 && isDigit(argument[2])) ||
         argument == "-inf" || argument == "-nan";
}

bool isLong(std::string_view name) { return name.starts_with("--"); }

/// A CLI11 option, without a variable: the texts are fetched with `results()`.
/// `numArguments` is how many positionals go to one that takes them all.
CLI::Option *declare(CLI::App &app, const std::vector<std::string> &names, const std::string &help,
                     bool isFlag, int numArguments) {
  std::string joined = fmt::format("{}", fmt::join(names, ","));
  CLI::Option *made =
      isFlag ? app.add_flag(joined, help)
             : app.add_option(joined, [](const CLI::results_t &) { return true; }, help);
  made->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (numArguments != 1)
    made->expected(numArguments);
  // Otherwise a value in brackets would be split.
  made->allow_extra_args(false);
  return made;
}

} // namespace

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

Option *Parser::findLong(std::string_view name) const {
  std::string wanted = withUnderscores(name.substr(2));
  for (const auto &option : command.options)
    for (const std::string &known : option->names)
      if (isLong(known) && withUnderscores(std::string_view(known).substr(2)) == wanted)
        return option.get();
  return nullptr;
}

Option *Parser::findShort(char letter) const {
  for (const auto &option : command.options)
    for (const std::string &known : option->names)
      if (known.size() == 2 && known[0] == '-' && known[1] == letter)
        return option.get();
  return nullptr;
}

bool Parser::isOption(std::string_view argument) const {
  if (isLong(argument))
    return true;
  if (argument.size() < 2 || argument[0] != '-' || looksNumeric(argument))
    return false;
  return argument[1] == 'h' || findShort(argument[1]) != nullptr;
}

tl::unexpected<Error> Parser::unknownOption(std::string_view name) const {
  std::vector<std::string> known = {"--help", "--version"};
  for (const auto &option : command.options)
    if (!option->isPositional() && !option->isUnavailable && option->reasonWithoutEffect.empty())
      known.insert(known.end(), option->names.begin(), option->names.end());
  // A single letter is near to every other one. Neither dashes for underscores nor one minus for
  // two count as edits.
  if (name.size() <= 2)
    return makeError("", fmt::format("unknown option '{}'", name));
  std::string spelled = "--" + withUnderscores(name.substr(isLong(name) ? 2 : 1));
  return makeError("", fmt::format("unknown option '{}'{}", name, suggestion(spelled, known)));
}

Expected<void> Parser::takeValue(const Option &option, std::optional<std::string> attached,
                                 std::span<const std::string> &rest) {
  const std::string &name = option.displayName();
  if (!attached) {
    if (rest.empty())
      return makeError("", fmt::format("option '{}' needs a value", name));
    if (isOption(rest.front()))
      return makeError(
          "", fmt::format("option '{}' needs a value, found '{}'", name, rest.front()),
          fmt::format("{0} VALUE, or {0}=VALUE if the value begins with a minus", name));
    attached = rest.front();
    rest = rest.subspan(1);
  }
  // CLI11 takes `--name=` for an option whose value is yet to come.
  if (attached->empty()) {
    optionTokens.push_back(name);
    optionTokens.emplace_back();
  } else if (isLong(name)) {
    optionTokens.push_back(name + "=" + *attached);
  } else {
    optionTokens.push_back(name + *attached);
  }
  return {};
}

Expected<Parser::Request> Parser::normalizeLong(std::span<const std::string> &rest) {
  std::string_view argument = rest.front();
  rest = rest.subspan(1);
  size_t equals = argument.find('=');
  std::string_view name = argument.substr(0, equals);
  std::optional<std::string> value;
  if (equals != std::string_view::npos)
    value = argument.substr(equals + 1);
  if (!value && name == "--help")
    return Request::Help;
  if (!value && name == "--version")
    return Request::Version;
  if (!value && withUnderscores(name) == withUnderscores(kMarkdownOption))
    return Request::Markdown;
  Option *option = findLong(name);
  if (!option)
    return unknownOption(name);
  if (option->isUnavailable)
    return makeError("", fmt::format("option '{}' is not available yet{}{}", option->displayName(),
                                     option->reasonUnavailable.empty() ? "" : ": ",
                                     option->reasonUnavailable));
  if (option->takesValue()) {
    if (Expected<void> ok = takeValue(*option, std::move(value), rest); !ok)
      return propagate(ok);
    return Request::Run;
  }
  if (value)
    return makeError("", fmt::format("option '{}' takes no value, found '{}'", name, *value));
  optionTokens.push_back(option->displayName());
  return Request::Run;
}

Expected<void> Parser::normalizeShort(std::span<const std::string> &rest) {
  std::string_view argument = rest.front();
  rest = rest.subspan(1);
  for (size_t i = 1; i < argument.size(); ++i) {
    Option *option = findShort(argument[i]);
    if (!option)
      return unknownOption(i == 1 ? argument : fmt::format("-{}", argument[i]));
    if (option->isUnavailable)
      return makeError("", fmt::format("option '-{}' is not available yet", argument[i]));
    if (!option->takesValue()) {
      optionTokens.push_back(option->displayName());
      continue;
    }
    std::optional<std::string> value;
    if (std::string_view tail = argument.substr(i + 1); !tail.empty())
      value = tail.substr(tail[0] == '=' ? 1 : 0);
    return takeValue(*option, std::move(value), rest);
  }
  return {};
}

Expected<Parser::Request> Parser::normalize(std::span<const std::string> arguments) {
  std::span<const std::string> rest = arguments;
  while (!rest.empty()) {
    std::string_view argument = rest.front();
    if (argument == "--") {
      positionalTokens.insert(positionalTokens.end(), rest.begin() + 1, rest.end());
      break;
    }
    if (isLong(argument)) {
      Expected<Request> request = normalizeLong(rest);
      if (!request || *request != Request::Run)
        return request;
    } else if (argument == "-h") {
      return Request::Help;
    } else if (argument.size() > 1 && argument[0] == '-' && !looksNumeric(argument)) {
      if (Expected<void> ok = normalizeShort(rest); !ok)
        return propagate(ok);
    } else {
      positionalTokens.emplace_back(argument);
      rest = rest.subspan(1);
    }
  }
  return Request::Run;
}

Expected<void> Parser::distribute() {
  CLI::App app;
  app.set_help_flag();
  app.positionals_at_end(false);
  std::vector<std::pair<Option *, CLI::Option *>> declared;
  declared.reserve(command.options.size());
  auto numSingle =
      std::count_if(command.options.begin(), command.options.end(),
                    [](const auto &option) { return option->kind == Option::Kind::Positional; });
  int numRest =
      std::max(1, static_cast<int>(positionalTokens.size()) - static_cast<int>(numSingle));
  for (const auto &option : command.options)
    declared.emplace_back(option.get(),
                          declare(app, option->names, "", option->kind == Option::Kind::Flag,
                                  option->kind == Option::Kind::Positionals ? numRest : 1));
  // CLI11 wants the last argument first. After `--`, everything is positional.
  std::vector<std::string> tokens = optionTokens;
  tokens.emplace_back("--");
  tokens.insert(tokens.end(), positionalTokens.begin(), positionalTokens.end());
  std::reverse(tokens.begin(), tokens.end());
  try {
    app.parse(std::move(tokens));
  } catch (const CLI::ExtrasError &) {
    std::vector<std::string> extras = app.remaining();
    std::erase(extras, "--");
    return makeError("", fmt::format("unexpected argument{} '{}'", extras.size() == 1 ? "" : "s",
                                     fmt::join(extras, "', '")));
  } catch (const CLI::Error &error) {
    return makeError("", error.what());
  }
  for (auto &[option, parsed] : declared)
    option->texts = parsed->results();
  return {};
}

Expected<void> Parser::checkRequired() const {
  std::vector<std::string_view> missing;
  for (const auto &option : command.options)
    if (option->isRequired && option->texts.empty())
      missing.push_back(option->displayName());
  if (missing.empty())
    return {};
  return makeError("", fmt::format("missing {}", fmt::join(missing, ", ")));
}

Expected<void> Parser::checkOccurrences() const {
  for (const auto &option : command.options)
    if (option->texts.size() > 1 && !option->isList && !option->isRepeatable)
      return makeError(
          "",
          fmt::format("option '{}' is given {} times", option->displayName(), option->texts.size()),
          "once");
  return {};
}

Expected<Parser::Request> Parser::parse(std::span<const std::string> arguments) {
  Expected<Request> request = normalize(arguments);
  if (!request || *request != Request::Run)
    return request;
  Expected<void> ok = distribute();
  if (ok)
    ok = checkOccurrences();
  if (ok)
    ok = checkRequired();
  for (const auto &option : command.options)
    if (ok && !option->texts.empty())
      ok = option->assign();
  if (!ok)
    return propagate(ok);
  return Request::Run;
}

//===----------------------------------------------------------------------===//
// HelpText
//===----------------------------------------------------------------------===//

namespace {

/// CLI11's layout with wrapped rows.
class Layout : public CLI::Formatter {
public:
  explicit Layout(size_t width) : width(width) {}

  std::string make_option(const CLI::Option *option, bool isPositional) const override {
    return helpRow(make_option_name(option, isPositional) + make_option_opts(option),
                   option->get_description(), width);
  }
  std::string make_subcommand(const CLI::App *command) const override {
    return helpRow(command->get_name(), command->get_description(), width);
  }

private:
  size_t width;
};

} // namespace

std::string HelpText::textOf(const Option &option) {
  std::string text = option.help;
  if (!option.allowed.empty())
    text += fmt::format(" One of {}.", fmt::join(option.allowed, ", "));
  if (!option.defaultText.empty())
    text += fmt::format(" [default: {}]", option.defaultText);
  if (option.isRequired && !option.isPositional())
    text += " [required]";
  if (option.isUnavailable)
    text += " [not available yet]";
  return text;
}

std::string HelpText::markdown() const {
  std::string table = "| option | what |\n| --- | --- |\n";
  for (const auto &option : command.options) {
    if (option->heading.empty())
      continue;
    std::string name = fmt::format("{}", fmt::join(option->names, "`, `"));
    if (!option->isPositional() && !option->labelText.empty())
      name += " " + option->labelText;
    table += markdownRow(name, textOf(*option));
  }
  return table;
}

std::string HelpText::str() const {
  std::string about = wrapped(command.summary, 0, width);
  if (!command.descriptionText.empty())
    about += "\n\n" + wrapped(command.descriptionText, 0, width);
  CLI::App app(about + "\n", usage);
  auto layout = std::make_shared<Layout>(width);
  layout->label("Positionals", "Arguments");
  layout->label("SUBCOMMAND", "COMMAND ...");
  app.formatter(layout);
  app.set_help_flag("-h,--help", "Print this text and exit.");
  const std::string aboutVersion = "Print the version and exit.";
  app.add_flag("--version", aboutVersion);

  for (const auto &option : command.options) {
    if (option->heading.empty() && !option->isPositional())
      continue;
    const std::string text = textOf(*option);
    CLI::Option *made = declare(
        app, option->names, text, option->kind == Option::Kind::Flag,
        option->kind == Option::Kind::Positionals ? CLI::detail::expected_max_vector_size : 1);
    made->option_text(option->labelText.empty() ? " " : option->labelText);
    made->required(option->isRequired);
    made->group(option->heading);
  }
  for (const Command *listed : commands)
    app.add_subcommand(listed->name(), listed->summary)->group("Commands");
  if (!commands.empty())
    app.require_subcommand(1);

  std::string footer;
  if (!command.exampleLines.empty())
    footer = fmt::format("Examples:\n  {}\n", fmt::join(command.exampleLines, "\n  "));
  else if (!commands.empty())
    footer = fmt::format("{} COMMAND --help tells more about a command.\n", usage);
  app.footer(footer);
  return app.help();
}

} // namespace tpuc
