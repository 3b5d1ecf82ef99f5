//===- FuzzFilesTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/ByteMutations.h"
#include "test/fuzz/files/TextMutations.h"

#include <gtest/gtest.h>
#include <set>

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

} // namespace
