//===- CommandLineTest.cpp - Tests of options and commands ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"
#include "tools/common/CommandLineParser.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A program with one option of each kind.
struct Program {
  CommandLine cli{"tool", "Does things."};
  std::string file;
  std::string second;
  std::string modelName = "none";
  std::vector<double> mean;
  int padValue = 0;
  double x = 0;
  bool fast = false;
  int verbosity = 0;
  std::string format;
  std::vector<std::string> excepts;
  ShapeList shapes;
  int threads = 0;
  bool ran = false;

  Program() {
    cli.positional("FILE", file, "A file.");
    cli.positional("SECOND", second, "Another.").optional();
    cli.option("--model_name,-m", modelName, "The name.");
    cli.option("--mean", mean, "The mean.");
    cli.option("--pad_value", padValue, "The padding.").range(-10, 255);
    cli.option("--x", x, "A number.");
    cli.flag("--fast,-f", fast, "Hurry.");
    cli.countFlag("--verbose,-v", verbosity, "Talk.");
    cli.option("--pixel_format", format, "The format.")
        .choices({"rgb", "bgr", "gray"})
        .alias("red_green_blue", "rgb");
    cli.option("--excepts", excepts, "Names.");
    cli.option("--input_shapes", shapes, "Shapes.").group("Inputs");
    cli.unavailable("--dynamic", false, "every shape is fixed");
    cli.withoutEffect("--cache_skip", false, "nothing is cached");
    cli.withoutEffect("--log_level,-L", true, "there is no log");
    cli.numThreads(threads);
    cli.examples({"tool a.npz --fast"});
    cli.action([this]() -> Expected<int> {
      ran = true;
      return 7;
    });
  }

  Expected<int> run(std::vector<std::string> arguments) { return cli.run(arguments); }
  /// The message of the refusal; "accepted" if there is none.
  std::string refusal(std::vector<std::string> arguments) {
    Expected<int> result = cli.run(arguments);
    EXPECT_FALSE(ran);
    return result ? "accepted" : result.error().message();
  }
};

std::string refusal(std::vector<std::string> arguments) {
  return Program().refusal(std::move(arguments));
}

TEST(CommandLine, ReadsBothFormsOfOptions) {
  Program program;
  Expected<int> result = program.run(
      {"--model_name=resnet", "in.npz", "--mean", "1,2.5", "-f", "out.npz", "--excepts", "a,b"});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(*result, 7);
  EXPECT_EQ(program.modelName, "resnet");
  EXPECT_EQ(program.file, "in.npz");
  EXPECT_EQ(program.second, "out.npz");
  EXPECT_THAT(program.mean, ElementsAre(1, 2.5));
  EXPECT_THAT(program.excepts, ElementsAre("a", "b"));
  EXPECT_TRUE(program.fast);
}

TEST(CommandLine, ValuesMayBeginWithAMinus) {
  Program program;
  ASSERT_TRUE(program.run({"--mean", "-1,2", "--pad_value", "-5", "--x", "-.5", "a"}));
  EXPECT_THAT(program.mean, ElementsAre(-1, 2));
  EXPECT_EQ(program.padValue, -5);
  EXPECT_EQ(program.x, -0.5);
}

TEST(CommandLine, ValuesMayBeginWithTwoMinusesAfterEquals) {
  Program program;
  ASSERT_TRUE(program.run({"--model_name=--weird", "a"}));
  EXPECT_EQ(program.modelName, "--weird");
  EXPECT_EQ(refusal({"--model_name", "--weird", "a"}),
            "option '--model_name' needs a value, found '--weird'; expected --model_name VALUE, or "
            "--model_name=VALUE if the value begins with a minus");
}

TEST(CommandLine, AnOptionIsNoValueOfAnother) {
  EXPECT_THAT(refusal({"a", "--model_name", "-f"}), HasSubstr("needs a value, found '-f'"));
  EXPECT_THAT(refusal({"a", "--model_name"}), HasSubstr("'--model_name' needs a value"));
  Program program;
  ASSERT_TRUE(program.run({"a", "--model_name", "-other"}));
  EXPECT_EQ(program.modelName, "-other");
}

TEST(CommandLine, KeepsTextsThatTheLibraryTreatsSpecially) {
  for (const char *text : {"", "{}", "[a,b]", "a=b", "%%", "\"q\"", "++", "/x", "true"}) {
    Program program;
    ASSERT_TRUE(program.run({std::string("--model_name=") + text, "file", text})) << text;
    EXPECT_EQ(program.modelName, text);
    EXPECT_EQ(program.file, "file");
    EXPECT_EQ(program.second, text);
  }
}

TEST(CommandLine, ShortOptions) {
  Program program;
  ASSERT_TRUE(program.run({"-vfv", "-mname", "a"}));
  EXPECT_EQ(program.verbosity, 2);
  EXPECT_TRUE(program.fast);
  EXPECT_EQ(program.modelName, "name");
  EXPECT_EQ(refusal({"-fq", "a"}), "unknown option '-q'");
}

TEST(CommandLine, ShortOptionWithSeparateOrEqualValue) {
  Program separate;
  ASSERT_TRUE(separate.run({"-m", "n1", "a"}));
  EXPECT_EQ(separate.modelName, "n1");
  Program equal;
  ASSERT_TRUE(equal.run({"-m=n2", "a"}));
  EXPECT_EQ(equal.modelName, "n2");
}

TEST(CommandLine, DashesAndUnderscoresAreAlike) {
  Program program;
  ASSERT_TRUE(program.run({"--model-name", "m", "--pad-value=3", "a"}));
  EXPECT_EQ(program.modelName, "m");
  EXPECT_EQ(program.padValue, 3);
}

TEST(CommandLine, OnlyFilesAfterTwoMinuses) {
  Program program;
  ASSERT_TRUE(program.run({"--", "--fast", "-m"}));
  EXPECT_EQ(program.file, "--fast");
  EXPECT_EQ(program.second, "-m");
  EXPECT_FALSE(program.fast);
}

TEST(CommandLine, AMinusAloneIsAFile) {
  Program program;
  ASSERT_TRUE(program.run({"-", "-5"}));
  EXPECT_EQ(program.file, "-");
  EXPECT_EQ(program.second, "-5");
}

TEST(CommandLine, UnknownOptionsSuggest) {
  EXPECT_EQ(refusal({"a", "--modle_name", "x"}),
            "unknown option '--modle_name'; did you mean '--model_name'?");
  EXPECT_EQ(refusal({"a", "--modle-name=x"}),
            "unknown option '--modle-name'; did you mean '--model_name'?");
  EXPECT_EQ(refusal({"a", "-fsat"}), "unknown option '-s'");
  EXPECT_EQ(refusal({"a", "-pad_vale"}), "unknown option '-pad_vale'; did you mean '--pad_value'?");
  EXPECT_EQ(refusal({"a", "--zzzzzzzz"}), "unknown option '--zzzzzzzz'");
}

TEST(CommandLine, ChoicesSuggest) {
  EXPECT_EQ(refusal({"a", "--pixel_format", "rbg"}),
            "--pixel_format: found 'rbg'; did you mean 'rgb'?; expected one of rgb, bgr, gray");
}

TEST(CommandLine, RepeatedOptions) {
  EXPECT_EQ(refusal({"a", "--x", "1", "--x", "2"}), "option '--x' is given 2 times; expected once");
  EXPECT_EQ(refusal({"a", "-f", "--fast"}), "option '--fast' is given 2 times; expected once");
  Program program;
  ASSERT_TRUE(program.run({"a", "--excepts", "p,q", "--excepts=r"}));
  EXPECT_THAT(program.excepts, ElementsAre("p", "q", "r"));
}

TEST(CommandLine, TheLastOfARepeatableOptionCounts) {
  int64_t number = 0;
  CommandLine cli("tool", "A tool.");
  cli.option("--number", number, "A number.").lastCounts();
  cli.action([]() -> Expected<int> { return 0; });
  const std::vector<std::string> arguments = {"--number", "3", "--number", "4"};
  ASSERT_TRUE(cli.run(arguments));
  EXPECT_EQ(number, 4);
}

TEST(CommandLine, NamesAllThatIsMissingAtOnce) {
  CommandLine cli("tool", "Does things.");
  std::string a, b, c, file;
  cli.option("--mlir", a, "").required();
  cli.option("--quantize", b, "").required();
  cli.option("--other", c, "");
  cli.positional("FILE", file, "");
  Expected<int> result = cli.run(std::vector<std::string>{"--other", "x"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "missing --mlir, --quantize, FILE");
}

TEST(CommandLine, TooManyFiles) {
  EXPECT_EQ(refusal({"a", "b", "c"}), "unexpected argument 'c'");
  EXPECT_EQ(refusal({"a", "b", "c", "d"}), "unexpected arguments 'c', 'd'");
}

TEST(CommandLine, OnePositionalForAllTheRest) {
  CommandLine cli("tool", "Does things.");
  std::string first;
  std::vector<std::string> rest;
  bool fast = false;
  cli.positional("FIRST", first, "");
  cli.positionals("REST", rest, "");
  cli.flag("--fast", fast, "");
  cli.action([]() -> Expected<int> { return 0; });
  ASSERT_TRUE(cli.run(std::vector<std::string>{"a", "b,c", "--fast", "[d,e]", "f"}));
  EXPECT_EQ(first, "a");
  EXPECT_THAT(rest, ElementsAre("b,c", "[d,e]", "f"));
  EXPECT_TRUE(fast);
  Expected<int> few = cli.run(std::vector<std::string>{"a"});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message(), "missing REST");
  EXPECT_THAT(cli.helpText(), HasSubstr("Usage: tool [OPTIONS] FIRST REST..."));
}

TEST(CommandLine, FlagsTakeNoValue) {
  EXPECT_EQ(refusal({"a", "--fast=yes"}), "option '--fast' takes no value, found 'yes'");
}

TEST(CommandLine, UnfitValuesNameTheOption) {
  EXPECT_EQ(refusal({"a", "--x", "one"}), "--x: found 'one'; expected a number");
  EXPECT_EQ(refusal({"a", "--pad_value", "300"}), "--pad_value: found '300'; expected -10 to 255");
  EXPECT_EQ(refusal({"a", "--input_shapes", "[[1,2]"}),
            "--input_shapes: found '[[1,2]'; expected shapes such as [[1,3,224,224],[10]]");
  EXPECT_EQ(refusal({"a", "--num_threads", "-1"}), "--num_threads: found '-1'; expected 0 to 4096");
}

TEST(CommandLine, UnavailableOptionsAreRefused) {
  EXPECT_EQ(refusal({"a", "--dynamic"}),
            "option '--dynamic' is not available yet: every shape is fixed");
}

TEST(CommandLine, OptionsWithoutEffectAreNoted) {
  Program program;
  testing::internal::CaptureStderr();
  Expected<int> result =
      program.run({"a", "--cache-skip", "--log_level=3", "-L", "4", "--fast", "--cache_skip"});
  const std::string notes = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_TRUE(program.ran);
  EXPECT_TRUE(program.fast);
  EXPECT_EQ(notes, "tool: note: option '--cache_skip' makes no difference here: nothing is cached\n"
                   "tool: note: option '--log_level' makes no difference here: there is no log\n");
  // They are neither shown nor suggested.
  EXPECT_THAT(program.cli.helpText(), Not(HasSubstr("--cache_skip")));
  EXPECT_EQ(refusal({"a", "--cache_skop"}), "unknown option '--cache_skop'");
  EXPECT_EQ(refusal({"a", "--log_level"}), "option '--log_level' needs a value");
}

TEST(CommandLine, ChoicesHaveOtherWords) {
  Program program;
  ASSERT_TRUE(program.run({"a", "--pixel_format", "red_green_blue"}));
  EXPECT_EQ(program.format, "rgb");
  EXPECT_THAT(program.cli.helpText(), Not(HasSubstr("red_green_blue")));
  EXPECT_EQ(refusal({"a", "--pixel_format", "red"}),
            "--pixel_format: found 'red'; expected one of rgb, bgr, gray");
}

TEST(CommandLine, ZeroThreadsMeansAllCores) {
  Program program;
  ASSERT_TRUE(program.run({"a", "--num_threads", "0"}));
  EXPECT_GE(program.threads, 1);
  Program three;
  ASSERT_TRUE(three.run({"a", "--num_threads", "3"}));
  EXPECT_EQ(three.threads, 3);
}

TEST(CommandLine, HelpAndVersionNeedNothingElse) {
  for (const char *argument : {"--help", "-h", "--version"}) {
    Program program;
    testing::internal::CaptureStdout();
    Expected<int> result = program.run({argument});
    std::string text = testing::internal::GetCapturedStdout();
    ASSERT_TRUE(result) << argument;
    EXPECT_EQ(*result, 0);
    EXPECT_FALSE(program.ran);
    EXPECT_THAT(text, HasSubstr("tool"));
  }
}

TEST(CommandLine, HelpTextShowsWhatThereIs) {
  std::string text = Program().cli.helpText();
  EXPECT_THAT(text, HasSubstr("Usage: tool [OPTIONS] FILE [SECOND]"));
  EXPECT_THAT(text, HasSubstr("-m,--model_name TEXT        The name. [default: none]"));
  EXPECT_THAT(text, HasSubstr("One of rgb, bgr, gray."));
  EXPECT_THAT(text, HasSubstr("Inputs:\n  --input_shapes"));
  EXPECT_THAT(text, HasSubstr("Examples:\n  tool a.npz --fast\n"));
  EXPECT_THAT(text, Not(HasSubstr("--dynamic")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 100u) << line;
}

TEST(CommandLine, HelpIsAsWideAsAsked) {
  size_t most = 0;
  std::istringstream lines(Program().cli.helpText(60));
  for (std::string line; std::getline(lines, line);)
    most = std::max(most, line.size());
  EXPECT_LE(most, 60U);
  EXPECT_GT(most, 50U);
}

TEST(CommandLine, WidthIsWhatTheEnvironmentSays) {
  const char *before = std::getenv("COLUMNS");
  const std::string kept = before ? before : "";
  for (const auto &[text, width] :
       {std::pair("72", 72U), {"200", 200U}, {"3", 40U}, {"0", 91U}, {"wide", 91U}, {"", 91U}}) {
    setenv("COLUMNS", text, 1);
    // The tests' stdout may be a terminal, which then counts.
    if (width != 91U || !isatty(STDOUT_FILENO))
      EXPECT_EQ(terminalWidth(91), width) << text;
  }
  before ? setenv("COLUMNS", kept.c_str(), 1) : unsetenv("COLUMNS");
}

TEST(CommandLine, MarkdownHasEveryOptionThatIsShown) {
  Program program;
  testing::internal::CaptureStdout();
  ASSERT_TRUE(program.run({"--help-markdown"}));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_FALSE(program.ran);
  EXPECT_THAT(text, HasSubstr("| option | what |\n| --- | --- |\n| `FILE` | A file. |\n"));
  EXPECT_THAT(text, HasSubstr("| `--model_name`, `-m TEXT` | The name. [default: none] |\n"));
  EXPECT_THAT(text, HasSubstr("| `--pixel_format TEXT` | The format. One of rgb, bgr, gray. |"));
  EXPECT_THAT(text, Not(HasSubstr("--dynamic")));
  EXPECT_THAT(text, Not(HasSubstr("--cache_skip")));
}

TEST(CommandLine, Commands) {
  CommandLine cli("tool", "Does things.");
  std::string name;
  Command &dump = cli.command("dump", "Dumps.");
  dump.alias("dmp");
  dump.positional("NAME", name, "");
  dump.action([]() -> Expected<int> { return 3; });
  cli.command("list", "Lists.").action([]() -> Expected<int> { return 4; });
  // A name that is a command too is still a name.
  Expected<int> result = cli.run(std::vector<std::string>{"dump", "list"});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(*result, 3);
  EXPECT_EQ(name, "list");
  EXPECT_EQ(cli.run(std::vector<std::string>{"dmp", "x"}).value_or(0), 3);

  auto message = [&](std::vector<std::string> arguments) {
    Expected<int> failed = cli.run(arguments);
    return failed ? "accepted" : failed.error().message();
  };
  EXPECT_EQ(message({"dunp", "x"}), "unknown command 'dunp'; did you mean 'dump'?");
  EXPECT_EQ(message({"xyzzy"}), "unknown command 'xyzzy'; expected one of dump, list");
  EXPECT_EQ(message({}), "no command given; expected one, as tool --help lists them");
  EXPECT_THAT(cli.helpText(), HasSubstr("dump                        Dumps."));
}

} // namespace
