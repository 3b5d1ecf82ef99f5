//===- ValueOrder.cpp - Values stand before their uses --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ValueOrder.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>
#include <vector>

using namespace tpuc;

namespace {

bool isNameLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '$' || letter == '.' ||
         letter == '-';
}

/// Tokens as far as this check tells them apart: strings, words with the sign before them (`%0`,
/// `@main`), and other letters one by one.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text(text) {}

  /// Empty at the end.
  std::string_view next() {
    skipBlanks();
    if (place == text.size())
      return {};
    const size_t begin = place++;
    const char first = text[begin];
    if (first == '"')
      return string(begin);
    if (first == '@' && place < text.size() && text[place] == '"') {
      ++place;
      return string(begin);
    }
    constexpr std::string_view kSigns = "%@!#^";
    const bool isSign = kSigns.find(first) != std::string_view::npos;
    // A minus sign begins no word, so that `->` is none.
    if (isSign || (isNameLetter(first) && first != '-'))
      while (place < text.size() && isNameLetter(text[place]))
        ++place;
    return text.substr(begin, place - begin);
  }

  size_t line() const { return lines; }

private:
  void skipBlanks() {
    while (place < text.size()) {
      const char letter = text[place];
      if (letter == '/' && place + 1 < text.size() && text[place + 1] == '/') {
        place = std::min(text.find('\n', place), text.size());
        continue;
      }
      if (letter != ' ' && letter != '\t' && letter != '\r' && letter != '\n')
        return;
      lines += letter == '\n' ? 1 : 0;
      ++place;
    }
  }

  std::string_view string(size_t begin) {
    while (place < text.size() && text[place] != '"' && text[place] != '\n')
      place += text[place] == '\\' ? 2 : 1;
    place = std::min(place, text.size());
    if (place < text.size() && text[place] == '"')
      ++place;
    return text.substr(begin, place - begin);
  }

  std::string_view text;
  size_t place = 0, lines = 1;
};

class OrderCheck {
public:
  OrderCheck(std::string_view text, const std::string &where) : tokens(text), where(where) {}

  Expected<void> run();

private:
  /// What a brace opens: a region, or a dictionary, which defines nothing.
  struct Scope {
    /// The parentheses that are open where it begins.
    size_t parens = 0;
    std::vector<std::string_view> names = {};
    /// Whether a function's signature has begun, and its arguments. They belong to its body.
    bool isSignature = false;
    std::vector<std::string_view> arguments = {};
  };

  Expected<void> visitValue(std::string_view name);
  Expected<void> use(std::string_view name) const;
  Expected<void> define(std::string_view name, std::vector<std::string_view> &names);
  void openBrace(std::string_view before);
  void closeBrace();
  /// No body comes for the signature that has begun.
  void dropSignature();
  bool isInParens() const { return parens > scopes.back().parens; }
  void hide(const std::vector<std::string_view> &names) {
    for (std::string_view name : names)
      visible.erase(name);
  }

  Tokens tokens;
  const std::string &where;
  std::vector<Scope> scopes = {Scope()};
  size_t parens = 0;
  std::unordered_set<std::string_view> visible;
};

Expected<void> OrderCheck::run() {
  std::string_view before;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{")
      openBrace(before);
    else if (token == "}")
      closeBrace();
    else if (token == "(")
      ++parens;
    else if (token == ")")
      parens -= parens > 0 ? 1 : 0;
    else if (token[0] == '%') {
      if (Expected<void> visited = visitValue(token); !visited)
        return visited;
    } else if (token[0] == '"' && !isInParens()) {
      dropSignature();
    } else if (token == "func.func" || token == "func") {
      dropSignature();
      scopes.back().isSignature = true;
    }
    before = token;
  }
  return {};
}

/// The names of results stand before `=`, those of arguments in parentheses before `:`. A list is
/// looked at as a whole, so that none takes the square of its length.
Expected<void> OrderCheck::visitValue(std::string_view name) {
  Tokens ahead = tokens;
  std::string_view next = ahead.next();
  if (isInParens()) {
    Scope &scope = scopes.back();
    return next == ":" ? define(name, scope.isSignature ? scope.arguments : scope.names)
                       : use(name);
  }
  dropSignature();
  std::vector<std::string_view> list = {name};
  while (next == ":" || next == ",") {
    const std::string_view word = ahead.next();
    if (word.empty() || (next == "," ? word[0] != '%' : word[0] < '0' || word[0] > '9'))
      break;
    if (next == ",")
      list.push_back(word);
    tokens = ahead;
    next = ahead.next();
  }
  for (std::string_view each : list)
    if (Expected<void> visited = next == "=" ? define(each, scopes.back().names) : use(each);
        !visited)
      return visited;
  return {};
}

Expected<void> OrderCheck::use(std::string_view name) const {
  if (visible.contains(name))
    return {};
  return makeError(fmt::format("{}:{}", where, tokens.line()),
                   fmt::format("'{}' is used before it is defined", name),
                   "a value that stands before its uses");
}

Expected<void> OrderCheck::define(std::string_view name, std::vector<std::string_view> &names) {
  if (!visible.insert(name).second)
    return makeError(fmt::format("{}:{}", where, tokens.line()),
                     fmt::format("'{}' is defined already", name), "a name of its own");
  names.push_back(name);
  return {};
}

void OrderCheck::openBrace(std::string_view before) {
  Scope inner{parens};
  Scope &outer = scopes.back();
  if (outer.isSignature && !isInParens() && before != "attributes") {
    inner.names = std::move(outer.arguments);
    outer.arguments.clear();
    outer.isSignature = false;
  }
  scopes.push_back(std::move(inner));
}

void OrderCheck::closeBrace() {
  if (scopes.size() == 1)
    return;
  dropSignature();
  hide(scopes.back().names);
  parens = scopes.back().parens;
  scopes.pop_back();
}

void OrderCheck::dropSignature() {
  Scope &scope = scopes.back();
  hide(scope.arguments);
  scope.arguments.clear();
  scope.isSignature = false;
}

} // namespace

Expected<void> tpuc::checkValueOrder(std::string_view text, const std::string &where) {
  return OrderCheck(text, where).run();
}
