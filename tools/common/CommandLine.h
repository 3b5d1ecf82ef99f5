//===- CommandLine.h - The options and commands of a program ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program declares its commands and options, each bound to a variable, and calls `run`:
//
//   CommandLine cli("npz_tool", "Looks at npz files and changes them.");
//   Command &list = cli.command("list", "Prints the names of the tensors.");
//   list.positional("FILE", file, "The npz file.");
//   list.action([&]() -> Expected<int> { ... });
//   return cli.run(arguments);
//
// What every program understands: --help (-h), as wide as the terminal or as COLUMNS says;
// --help_markdown, the options as the pages have them; --version; `--opt value` and `--opt=value`;
// options and files in any order, only files after `--`; dashes and underscores alike in the names
// of options. A value may begin with a minus when it is a number or a list of numbers (`--mean
// -1,2`) or has a single minus and is no option; otherwise it is written `--opt=-value`. What it
// refuses, with one line that says what was probably meant: unknown options, commands and choices,
// an option given twice (unless it is a list), a missing value, missing required options (all of
// them at once), files too many.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_COMMON_COMMANDLINE_H
#define TOOLS_COMMON_COMMANDLINE_H

#include "tools/common/OptionValue.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tpuc {

/// One option or positional argument of a command, while it is declared.
class Option {
public:
  enum class Kind : uint8_t { Value, Flag, Positional, Positionals };

  /// Options may be left out unless this is said; positionals must be given unless `optional`.
  Option &required();
  Option &optional();
  /// The heading of the help text under which the option stands; empty hides it.
  Option &group(std::string heading);
  /// What stands for the value in the help text: FILE, NAME.
  Option &label(std::string text);
  /// The only values allowed, for a string or each element of a list of strings.
  Option &choices(std::vector<std::string> values);
  /// Another word for one of the choices of a string, as other compilers call it; not shown.
  Option &alias(std::string word, std::string choice);
  /// The numbers allowed, both ends included. For numbers and lists of numbers.
  Option &range(double min, double max);
  /// May be given several times; the last one counts.
  Option &lastCounts();
  /// The option is known but refused: "not available yet", and `reason` where there is one.
  Option &unavailable(std::string reason = "");
  /// The option is known and changes nothing: it is accepted with a note that says `why`.
  Option &withoutEffect(std::string why);
  /// A default that the variable does not show by itself, for the help text only.
  Option &shownDefault(std::string text);

  /// Whether the user gave it; valid once an action runs.
  bool given() const { return !texts.empty(); }

private:
  friend class Command;
  friend class CommandLine;
  friend class Parser;
  friend class HelpText;

  /// `--model_name` or `FILE`: as messages call it.
  const std::string &displayName() const { return names.front(); }
  bool takesValue() const { return kind == Kind::Value; }
  bool isPositional() const { return kind == Kind::Positional || kind == Kind::Positionals; }
  /// Hands `texts` to the variable.
  Expected<void> assign();
  Expected<void> checkChoices() const;
  Expected<void> checkRange() const;

  Kind kind = Kind::Value;
  std::vector<std::string> names; ///< Long names first: `--output`, `-o`.
  std::string help;
  std::string labelText;
  std::string defaultText;
  std::string heading = "Options";
  std::string reasonUnavailable;
  std::string reasonWithoutEffect;
  std::vector<std::string> allowed;
  std::vector<std::pair<std::string, std::string>> otherWords;
  std::optional<std::pair<double, double>> limits;
  bool isRequired = false;
  bool isUnavailable = false;
  bool isList = false;
  bool isRepeatable = false;
  std::function<Expected<void>(std::span<const std::string>)> read;
  std::vector<std::string> texts; ///< What the user wrote, one per occurrence.
};

/// A program without commands, or one of its commands.
class Command {
public:
  Command(std::string name, std::string summary);

  /// `names`: "--output,-o". The value that `variable` has now is the default, shown in the help
  /// text unless empty. `variable` must outlive the command.
  template <typename T> Option &option(std::string_view names, T &variable, std::string help) {
    Option &added = add(Option::Kind::Value, names, std::move(help));
    added.labelText = valueLabel(variable);
    added.defaultText = showValue(variable);
    added.isList = ListValue<T>;
    added.read = [&variable](std::span<const std::string> texts) {
      return readAll(texts, variable);
    };
    return added;
  }
  /// True when given.
  Option &flag(std::string_view names, bool &variable, std::string help);
  /// How often it was given: -vv is 2.
  Option &countFlag(std::string_view names, int &variable, std::string help);
  /// An option that later work will bring: refused when given, hidden in the help text.
  Option &unavailable(std::string_view names, bool takesValue, std::string reason = "");
  /// An option of other compilers that makes no difference here: accepted with a note, hidden in
  /// the help text.
  Option &withoutEffect(std::string_view names, bool takesValue, std::string why);

  /// The next argument that is no option.
  template <typename T> Option &positional(std::string_view name, T &variable, std::string help) {
    Option &added = add(Option::Kind::Positional, name, std::move(help));
    added.read = [&variable](std::span<const std::string> texts) {
      return readAll(texts, variable);
    };
    return added;
  }
  /// All remaining arguments that are no options, one or more.
  Option &positionals(std::string_view name, std::vector<std::string> &variable, std::string help);

  /// --num_threads; 0, the default, means all cores. `variable` gets the resolved number.
  Option &numThreads(int &variable);
  /// --json FILE; `-` is stdout.
  Option &json(std::string &variable);
  /// `--max_pixels COUNT`: for `limitPictures`.
  Option &maxPixels(int64_t &variable);
  /// `--allow_outside`: for `readModule`.
  Option &allowOutside(bool &variable);

  /// What the command does, in whole sentences, below the summary.
  Command &description(std::string text);
  /// Shown at the end of the help text, a line each.
  Command &examples(std::vector<std::string> lines);
  /// Another name that is understood; not shown.
  Command &alias(std::string name);
  /// What runs when the command line is right; its result is the exit status.
  Command &action(std::function<Expected<int>()> body);

  const std::string &name() const { return commandName; }

private:
  friend class CommandLine;
  friend class Parser;
  friend class HelpText;

  template <typename T>
  static Expected<void> readAll(std::span<const std::string> texts, T &variable) {
    if constexpr (ListValue<T>) {
      variable.clear();
      for (const std::string &text : texts) {
        T part;
        if (Expected<void> ok = readValue(text, part); !ok)
          return ok;
        variable.insert(variable.end(), part.begin(), part.end());
      }
      return {};
    } else {
      return readValue(texts.back(), variable);
    }
  }

  Option &add(Option::Kind kind, std::string_view names, std::string help);

  std::string commandName;
  std::string summary;
  std::string descriptionText;
  std::vector<std::string> exampleLines;
  std::vector<std::string> aliases;
  std::vector<std::unique_ptr<Option>> options;
  std::function<Expected<int>()> body;
};

/// A program. Without commands, the options stand on the program itself.
class CommandLine : public Command {
public:
  using Command::Command;

  Command &command(std::string name, std::string summary);

  /// Parses `arguments` (without the name of the program) and runs the action that they name.
  /// Prints the help text or the version to stdout instead when asked to, which gives 0.
  Expected<int> run(std::span<const std::string> arguments);

  /// The text of `--help`, of the program or of one of its commands, in lines of so many characters
  /// at most where words are not longer.
  std::string helpText(size_t width = kHelpWidth) const;
  std::string helpText(const Command &command, size_t width = kHelpWidth) const;
  /// The options of the program, or of each of its commands, as tables of Markdown.
  std::string markdown() const;
  /// `npz_tool (tpuc) 0.1.0`.
  std::string versionText() const;

private:
  static constexpr size_t kHelpWidth = 100;

  /// Adds the limits that every program, or every command of it, takes.
  void addLimits();
  Expected<int> runCommand(Command &command, std::span<const std::string> arguments);
  Expected<Command *> findCommand(const std::string &name) const;

  std::vector<std::unique_ptr<Command>> commands;
  std::string memoryLimit;
  bool hasLimits = false;
};

} // namespace tpuc

#endif // TOOLS_COMMON_COMMANDLINE_H
