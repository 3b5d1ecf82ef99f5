//===- TextMutations.h - Texts that say something else
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FILES_TEXTMUTATIONS_H
#define TEST_FUZZ_FILES_TEXTMUTATIONS_H

#include "test/fuzz/common/Random.h"

#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace tpuc::fuzz {

/// A piece of a text that means something.
struct Token {
  enum class Kind : uint8_t { Number, Word, String, Mark, Blank };
  Kind kind = Kind::Blank;
  std::string text;
};

/// Numbers (`-1.5e-3`, `0x1F`), words (letters, digits and what names have: `.`, `_`, `$`, `%`,
/// `@`,
/// `#`, `!`), strings between quotes, marks of one character, and blanks, of which each end of a
/// line is one by itself. Joined again they are `text`.
std::vector<Token> tokensOf(std::string_view text);

/// The tokens of texts of one kind, each once, by what they are.
class Vocabulary {
public:
  void add(std::string_view text);
  /// Those of a kind, sorted.
  const std::vector<std::string> &of(Token::Kind kind) const;

private:
  std::map<Token::Kind, std::vector<std::string>> tokens;
};

/// Changes some tokens of a text: a number, a name, a string, a mark becomes another one; tokens,
/// what stands between brackets, and lines go, come twice or change places; brackets are nested
/// deeply. What is changed, and to what, depends on `seed`, the text and the vocabulary only.
Change mutateText(std::string &text, const Vocabulary &vocabulary, uint64_t seed);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_FILES_TEXTMUTATIONS_H
