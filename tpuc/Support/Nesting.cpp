//===- Nesting.cpp - Texts that are nested too deep for a parser ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Nesting.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tpuc;

/// The place behind the string that begins at `begin`: its closing quote, or the end of its line.
static size_t behindString(std::string_view text, size_t begin) {
  size_t place = begin + 1;
  while (place < text.size() && text[place] != '"' && text[place] != '\n')
    place += text[place] == '\\' ? 2 : 1;
  return place < text.size() && text[place] == '"' ? place + 1 : place;
}

Expected<void> tpuc::checkNesting(std::string_view text, const std::string &where, size_t most) {
  size_t depth = 0;
  size_t signs = 0;
  size_t line = 1;
  for (size_t place = 0; place < text.size();) {
    const char letter = text[place];
    const char next = place + 1 < text.size() ? text[place + 1] : '\0';
    if (letter == '"') {
      place = behindString(text, place);
      signs = 0;
      continue;
    }
    if (letter == '/' && next == '/') {
      place = std::min(text.find('\n', place), text.size());
      continue;
    }
    const bool isArrow =
        (letter == '-' && next == '>') || ((letter == '<' || letter == '>') && next == '=');
    place += isArrow ? 2 : 1;
    line += letter == '\n' ? 1 : 0;
    if (letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r')
      continue;
    signs = letter == '-' && !isArrow ? signs + 1 : 0;
    if (isArrow)
      continue;
    if (letter == '(' || letter == '[' || letter == '{' || letter == '<')
      ++depth;
    else if ((letter == ')' || letter == ']' || letter == '}' || letter == '>') && depth > 0)
      --depth;
    if (depth > most || signs > most)
      return makeError(fmt::format("{}:{}", where, line), "is nested too deep",
                       fmt::format("at most {} brackets within each other", most));
  }
  return {};
}
