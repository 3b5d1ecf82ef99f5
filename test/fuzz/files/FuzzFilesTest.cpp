//===- FuzzFilesTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/Batch.h"
#include "test/fuzz/files/ByteMutations.h"
#include "test/fuzz/files/TextMutations.h"

#include <csignal>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace tpuc;
using namespace tpuc::fuzz;

namespace {

constexpr std::string_view kModule = R"(module @net attributes {module.chip = "a\"b"} {
  func.func @main(%arg0: tensor<1x3x?x8xf32>) -> tensor<4xf32> {
    %0 = "top.Add"(%arg0) {x = -1.5e-3 : f64, y = 0x7FC00000F : f32} : () -> tensor<4xf32> loc(#loc1)
  }
}
)";

std::vector<std::string> textsOf(std::string_view text, Token::Kind kind) {
  std::vector<std::string> found;
  for (const Token &token : tokensOf(text))
    if (token.kind == kind)
      found.push_back(token.text);
  return found;
}

TEST(Tokens, JoinedAreTheText) {
  for (std::string_view text :
       {kModule, std::string_view("a 1 -2 3.5e+7\n\"open"), std::string_view("\\\x00\xFF\"\\")}) {
    std::string joined;
    for (const Token &token : tokensOf(text)) {
      EXPECT_FALSE(token.text.empty());
      joined += token.text;
    }
    EXPECT_EQ(joined, text);
  }
}

TEST(Tokens, AreWhatTextsMean) {
  EXPECT_EQ(textsOf("tensor<1x3x?x8xf32>", Token::Kind::Number),
            (std::vector<std::string>{"1", "3", "8"}));
  EXPECT_EQ(textsOf("tensor<1x3x?x8xf32>", Token::Kind::Word),
            (std::vector<std::string>{"tensor", "f32"}));
  EXPECT_EQ(textsOf("conv1 -1.5e-3 7", Token::Kind::Number),
            (std::vector<std::string>{"-1.5e-3", "7"}));
  EXPECT_EQ(textsOf(kModule, Token::Kind::String),
            (std::vector<std::string>{"\"a\\\"b\"", "\"top.Add\""}));
}

TEST(TextMutations, AreTheSameForTheSameSeed) {
  Vocabulary vocabulary;
  vocabulary.add(kModule);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::string one(kModule), two(kModule);
    EXPECT_EQ(mutateText(one, vocabulary, seed).text, mutateText(two, vocabulary, seed).text);
    EXPECT_EQ(one, two);
  }
}

TEST(TextMutations, ReachEveryKindAndChangeWhatTheySay) {
  Vocabulary vocabulary;
  vocabulary.add(kModule);
  std::set<std::string> kinds;
  size_t numSame = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::string text(kModule);
    const Change change = mutateText(text, vocabulary, seed);
    EXPECT_EQ(change.text.empty(), change.kind.empty());
    if (change.text.empty())
      EXPECT_EQ(text, kModule);
    // A token may become what it was.
    numSame += text == kModule ? 1 : 0;
    kinds.insert(change.kind);
  }
  EXPECT_LT(numSame, 200U);
  for (const char *kind : {"a number", "a word", "a mark", "a string", "a token less",
                           "a token twice", "two tokens", "brackets less", "brackets twice",
                           "brackets in brackets", "a line less", "a line twice", "two lines"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
}

TEST(TextMutations, TakeAnyText) {
  for (std::string_view text : {"", " ", "\n", "\"", "(((", "-", "0x"})
    for (uint64_t seed = 0; seed < 200; ++seed) {
      std::string changed(text);
      mutateText(changed, {}, seed);
    }
}

TEST(ByteMutations, AreTheSameForTheSameSeedAndReachEveryKind) {
  const std::string file(300, 'x'), other(40, 'y');
  std::set<std::string> kinds;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    std::string one = file, two = file;
    const Change change = mutateBytes(one, other, seed);
    EXPECT_EQ(change.text, mutateBytes(two, other, seed).text);
    EXPECT_EQ(one, two);
    kinds.insert(change.kind);
  }
  for (const char *kind : {"a bit", "a byte", "an integer", "bytes less", "bytes more", "the end",
                           "bytes of another file", "bytes moved", "bytes repeated"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
}

TEST(ByteMutations, TakeAnyFile) {
  for (std::string_view file : {"", "a", "abc"})
    for (uint64_t seed = 0; seed < 500; ++seed) {
      std::string changed(file);
      mutateBytes(changed, "", seed);
    }
}

/// What comes of the cases 0 to `count` of a kind that `use` reads, in one process.
std::vector<Outcome> outcomesOfCases(FileReader use, uint64_t count,
                                     const Allowance &allowed = {}) {
  FileKind kind;
  kind.seeds = {{"a seed", "0123456789", "file.txt", {}}};
  kind.tools = {{"tool", std::move(use)}};
  std::vector<FileMutation> cases;
  for (uint64_t number = 0; number < count; ++number)
    cases.push_back(mutationOf(kind, number, 1));
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("fuzz-files-" + std::to_string(::getpid()));
  const Limits limits{.seconds = 1};
  Guard guard(limits);
  guard.start(0,
              [&](const Notes &notes) { runCases(kind, cases, folder, limits, allowed, notes); });
  const Ending ending = guard.wait().second;
  std::filesystem::remove_all(folder);
  return outcomesOf(ending, allowed);
}

TEST(Batch, CountsWhatIsTakenAndRefused) {
  const auto outcomes = outcomesOfCases(
      [](const FileCase &given) -> Expected<void> {
        EXPECT_EQ(bytesOf(given.path), given.bytes);
        if (given.bytes == "0123456789")
          return {};
        return makeError(given.path, "is bad");
      },
      5);
  ASSERT_EQ(outcomes.size(), 5U);
  EXPECT_EQ(endingOf(outcomes[0]), "passed all steps");
  for (size_t i = 1; i < 5; ++i)
    EXPECT_EQ(endingOf(outcomes[i]), "refused in tool");
}

TEST(Batch, EndsWithTheCaseThatCrashes) {
  const auto outcomes = outcomesOfCases(
      [](const FileCase &given) -> Expected<void> {
        if (given.number == 3)
          ::raise(SIGSEGV);
        return {};
      },
      5);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_EQ(outcomes[2].signature(), "");
  EXPECT_EQ(outcomes[3].signature(), "SIGSEGV in tool");
}

TEST(Batch, FindsWhatToolsLeave) {
  for (const char *name : {"/.hidden", "/result"}) {
    const auto outcomes = outcomesOfCases(
        [&](const FileCase &given) -> Expected<void> {
          writeBytes(given.folder + name, "x");
          if (given.number == 0)
            return {};
          return makeError(given.path, "is bad");
        },
        2);
    // What a tool wrote that succeeded is no finding, unless it is hidden.
    const size_t first = name == std::string("/result") ? 1 : 0;
    ASSERT_EQ(outcomes.size(), first + 1) << name;
    EXPECT_EQ(outcomes[first].signature(),
              std::string("left behind in tool: beside the file: ") + (name + 1));
  }
}

TEST(Batch, FindsTheCaseThatTakesMemory) {
  const Allowance allowed{.base = uint64_t{150} << 20};
  const auto outcomes = outcomesOfCases(
      [](const FileCase &given) -> Expected<void> {
        if (given.number == 1)
          delete new std::string(size_t{256} << 20, 'x');
        return {};
      },
      3, allowed);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].signature(), "");
  EXPECT_EQ(outcomes[1].signature(), "memory in tool");
}

TEST(Batch, FindsTheCaseThatTakesTime) {
  const auto outcomes = outcomesOfCases(
      [](const FileCase &given) -> Expected<void> {
        while (given.number == 2)
          ;
        return {};
      },
      4);
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[2].signature(), "time-out in tool");
}

} // namespace
