//===- TextMutations.cpp - Texts that say something else
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/TextMutations.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

namespace tpuc::fuzz {

namespace {

using Tokens = std::vector<Token>;
using Kind = Token::Kind;

constexpr size_t kMostShown = 40;
constexpr size_t kDeep = 20000;

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

bool isOfWord(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) ||
         std::string_view("._$%@#!").find(letter) != std::string_view::npos;
}

/// How many characters from the beginning on are a number; 0 for none.
size_t numberSize(std::string_view text) {
  size_t size = text.starts_with('-') ? 1 : 0;
  if (size == text.size() || !isDigit(text[size]))
    return 0;
  while (size < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[size])) || text[size] == '.' ||
          ((text[size] == '-' || text[size] == '+') && text[size - 1] == 'e')))
    ++size;
  // `4x8xf32` of a type is three tokens and two marks, so that extents are numbers of their own.
  const std::string_view number = text.substr(0, size);
  const size_t x = number.find('x');
  const bool isHex = number.starts_with("0x") && number.size() > 2 &&
                     std::isxdigit(static_cast<unsigned char>(number[2])) && number.size() > 8;
  return x == std::string_view::npos || isHex ? size : x;
}

/// With the quotes; up to the end of the text where none closes it.
size_t stringSize(std::string_view text) {
  size_t size = 1;
  while (size < text.size() && text[size] != '"')
    size += text[size] == '\\' ? 2 : 1;
  return std::min(size + 1, text.size());
}

Token tokenAt(std::string_view text, bool isBehindExtent) {
  const char first = text.front();
  if (first == '\n')
    return {Kind::Blank, "\n"};
  const auto run = [&](auto belongs) {
    size_t size = 0;
    while (size < text.size() && belongs(text[size]))
      ++size;
    return std::string(text.substr(0, size));
  };
  if (first == ' ' || first == '\t' || first == '\r')
    return {Kind::Blank, run([](char c) { return c == ' ' || c == '\t' || c == '\r'; })};
  if (isBehindExtent && first == 'x')
    return {Kind::Mark, "x"};
  if (const size_t size = numberSize(text))
    return {Kind::Number, std::string(text.substr(0, size))};
  if (first == '"')
    return {Kind::String, std::string(text.substr(0, stringSize(text)))};
  if (isOfWord(first))
    return {Kind::Word, run(isOfWord)};
  return {Kind::Mark, std::string(1, first)};
}

std::string joined(const Tokens &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

/// For a message.
std::string shown(const std::string &text) {
  std::string made;
  for (char letter : text.substr(0, kMostShown))
    made += std::isprint(static_cast<unsigned char>(letter)) && letter != '`' ? letter : '?';
  return made + (text.size() > kMostShown ? "..." : "");
}

/// The places of the tokens that are no blanks, or of one kind.
std::vector<size_t> placesOf(const Tokens &tokens, std::optional<Kind> kind = std::nullopt) {
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (kind ? tokens[i].kind == *kind : tokens[i].kind != Kind::Blank)
      places.push_back(i);
  return places;
}

/// What is changed: the tokens of a text, with what other texts have.
struct Text {
  Tokens &tokens;
  const Vocabulary &vocabulary;
  Random &random;

  /// The place of a token of this kind; none if there is none.
  std::optional<size_t> place(std::optional<Kind> kind = std::nullopt) {
    const std::vector<size_t> places = placesOf(tokens, kind);
    return places.empty() ? std::nullopt : std::optional(random.of(places));
  }
  Change replace(size_t at, std::string text, std::string kind) {
    Change change{fmt::format("{} = {}", shown(tokens[at].text), shown(text)), std::move(kind)};
    tokens[at].text = std::move(text);
    return change;
  }
};

Change changeNumber(Text &text) {
  static const std::string kNumbers[] = {"0",
                                         "-0",
                                         "-1",
                                         "1",
                                         "2",
                                         "3",
                                         "7",
                                         "255",
                                         "256",
                                         "65536",
                                         "2147483647",
                                         "2147483648",
                                         "4294967296",
                                         "-2147483649",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "9223372036854775808",
                                         "18446744073709551616",
                                         "1e38",
                                         "-1e38",
                                         "1e-45",
                                         "1e999",
                                         "-1e-999",
                                         "0.5",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "0x7FC00000",
                                         "0x",
                                         "1.",
                                         ".5",
                                         "00012",
                                         "1_000",
                                         "1e",
                                         "--1"};
  const std::optional<size_t> at = text.place(Kind::Number);
  if (!at)
    return {};
  const std::string &old = text.tokens[*at].text;
  if (text.random.oneIn(4))
    return text.replace(*at, old + "0", "a number");
  if (text.random.oneIn(16))
    return text.replace(*at, std::string(1000, '9'), "a number");
  if (text.random.oneIn(4) && !text.vocabulary.of(Kind::Number).empty())
    return text.replace(*at, text.random.of(text.vocabulary.of(Kind::Number)), "a number");
  return text.replace(*at, text.random.of(kNumbers), "a number");
}

Change changeToken(Text &text) {
  const Kind kind = text.random.oneIn(3) ? Kind::Mark : Kind::Word;
  const std::optional<size_t> at = text.place(kind);
  const std::vector<std::string> &others = text.vocabulary.of(kind);
  if (!at || others.empty())
    return {};
  return text.replace(*at, text.random.of(others), kind == Kind::Mark ? "a mark" : "a word");
}

Change changeString(Text &text) {
  static const std::string kStrings[] = {
      "\"\"",    "\"\\",     "\"\\00\"", "\"\\FF\\FE\"", "\"../x\"", "\"/etc/passwd\"",
      "\"a b\"", "\"%s%n\"", "\"\\n\"",  "\"\xC3\x28\"", "\"{}\"",   "\"\\u0000\""};
  const std::optional<size_t> at = text.place(Kind::String);
  if (!at)
    return {};
  if (text.random.oneIn(8))
    return text.replace(*at, '"' + std::string(70000, 'n') + '"', "a string");
  const std::vector<std::string> &others = text.vocabulary.of(Kind::String);
  if (text.random.oneIn(2) && !others.empty())
    return text.replace(*at, text.random.of(others), "a string");
  return text.replace(*at, text.random.of(kStrings), "a string");
}

Change removeToken(Text &text) {
  const std::optional<size_t> at = text.place();
  if (!at)
    return {};
  return text.replace(*at, "", "a token less");
}

Change doubleToken(Text &text) {
  const std::optional<size_t> at = text.place();
  if (!at)
    return {};
  const std::string blank = text.random.oneIn(2) ? " " : "";
  const std::string &old = text.tokens[*at].text;
  return text.replace(*at, old + blank + old, "a token twice");
}

Change swapTokens(Text &text) {
  const std::optional<size_t> one = text.place(), two = text.place();
  if (!one || *one == *two)
    return {};
  std::swap(text.tokens[*one], text.tokens[*two]);
  return {fmt::format("{} and {} in each other's place", shown(text.tokens[*two].text),
                      shown(text.tokens[*one].text)),
          "two tokens"};
}

/// One past the bracket that closes the one at `begin`; none where none does.
std::optional<size_t> endOfBrackets(const Tokens &tokens, size_t begin) {
  size_t depth = 0;
  for (size_t i = begin; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::Mark)
      continue;
    const char mark = tokens[i].text.empty() ? ' ' : tokens[i].text.front();
    if (std::string_view("([{<").find(mark) != std::string_view::npos)
      ++depth;
    else if (std::string_view(")]}>").find(mark) != std::string_view::npos && --depth == 0)
      return i + 1;
  }
  return std::nullopt;
}

/// Some brackets with what stands between them: begin and end.
std::optional<std::pair<size_t, size_t>> brackets(Text &text) {
  std::vector<size_t> begins;
  for (size_t place : placesOf(text.tokens, Kind::Mark))
    if (std::string_view("([{<").find(text.tokens[place].text.front()) != std::string_view::npos)
      begins.push_back(place);
  if (begins.empty())
    return std::nullopt;
  const size_t begin = text.random.of(begins);
  const std::optional<size_t> end = endOfBrackets(text.tokens, begin);
  return end ? std::optional(std::pair(begin, *end)) : std::nullopt;
}

Change changeBrackets(Text &text) {
  const auto range = brackets(text);
  if (!range)
    return {};
  const Tokens inner(text.tokens.begin() + static_cast<std::ptrdiff_t>(range->first),
                     text.tokens.begin() + static_cast<std::ptrdiff_t>(range->second));
  const std::string what = joined(inner);
  switch (text.random.below(4)) {
  case 0:
    for (size_t i = range->first; i < range->second; ++i)
      text.tokens[i].text.clear();
    return {fmt::format("{} is gone", shown(what)), "brackets less"};
  case 1:
    for (size_t i = range->first + 1; i + 1 < range->second; ++i)
      text.tokens[i].text.clear();
    return {fmt::format("nothing in {}", shown(what)), "brackets less"};
  case 2:
    text.tokens[range->first].text = what + text.tokens[range->first].text;
    return {fmt::format("{} twice", shown(what)), "brackets twice"};
  default:
    break;
  }
  const size_t depth = text.random.oneIn(8) ? kDeep : 2 + text.random.below(4);
  const std::string open = text.tokens[range->first].text;
  const std::string close = text.tokens[range->second - 1].text;
  for (size_t i = 0; i < depth; ++i) {
    text.tokens[range->first].text += open;
    text.tokens[range->second - 1].text += close;
  }
  return {fmt::format("{} in {} brackets more", shown(what), depth), "brackets in brackets"};
}

/// The lines of the text: begin and end of each, with its end of line.
std::vector<std::pair<size_t, size_t>> linesOf(const Tokens &tokens) {
  std::vector<std::pair<size_t, size_t>> lines;
  size_t begin = 0;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].text == "\n" || i + 1 == tokens.size()) {
      lines.emplace_back(begin, i + 1);
      begin = i + 1;
    }
  return lines;
}

Change changeLines(Text &text) {
  const auto lines = linesOf(text.tokens);
  if (lines.empty())
    return {};
  const size_t one = text.random.below(lines.size()), two = text.random.below(lines.size());
  const auto lineOf = [&](size_t line) {
    std::string made;
    for (size_t i = lines[line].first; i < lines[line].second; ++i)
      made += text.tokens[i].text;
    return made;
  };
  // The whole line becomes one token.
  const auto set = [&](size_t line, std::string made) {
    for (size_t i = lines[line].first; i < lines[line].second; ++i)
      text.tokens[i].text.clear();
    text.tokens[lines[line].first].text = std::move(made);
  };
  const std::string first = lineOf(one), second = lineOf(two);
  switch (text.random.below(3)) {
  case 0:
    set(one, "");
    return {fmt::format("line {} is gone", one + 1), "a line less"};
  case 1:
    set(one, first + first);
    return {fmt::format("line {} twice", one + 1), "a line twice"};
  default:
    set(one, second);
    set(two, first);
    return {fmt::format("lines {} and {} in each other's place", one + 1, two + 1), "two lines"};
  }
}

using TextMutation = Change (*)(Text &text);
constexpr TextMutation kTextMutations[] = {
    changeNumber, changeNumber, changeNumber, changeToken, changeToken,    changeString,
    removeToken,  doubleToken,  swapTokens,   changeLines, changeBrackets, changeBrackets};

} // namespace

std::vector<Token> tokensOf(std::string_view text) {
  Tokens tokens;
  while (!text.empty()) {
    const bool isBehindExtent =
        !tokens.empty() && (tokens.back().kind == Kind::Number ||
                            (tokens.back().kind == Kind::Mark && tokens.back().text == "?"));
    tokens.push_back(tokenAt(text, isBehindExtent));
    text.remove_prefix(tokens.back().text.size());
  }
  return tokens;
}

void Vocabulary::add(std::string_view text) {
  for (Token &token : tokensOf(text)) {
    std::vector<std::string> &known = tokens[token.kind];
    const auto at = std::ranges::lower_bound(known, token.text);
    if (at == known.end() || *at != token.text)
      known.insert(at, std::move(token.text));
  }
}

const std::vector<std::string> &Vocabulary::of(Token::Kind kind) const {
  static const std::vector<std::string> kNone;
  const auto found = tokens.find(kind);
  return found == tokens.end() ? kNone : found->second;
}

Change mutateText(std::string &text, const Vocabulary &vocabulary, uint64_t seed) {
  Random random(seed);
  Tokens tokens = tokensOf(text);
  Text changed{tokens, vocabulary, random};
  Change change = random.of(kTextMutations)(changed);
  text = joined(tokens);
  return change;
}

} // namespace tpuc::fuzz
