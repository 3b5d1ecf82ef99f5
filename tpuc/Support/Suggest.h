//===- Suggest.h - The name that was probably meant -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_SUGGEST_H
#define TPUC_SUPPORT_SUGGEST_H

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tpuc {

/// The smallest number of edits that turn one word into the other, where an edit inserts, deletes
/// or replaces one byte or swaps two neighbours, and no place is edited twice (the "optimal string
/// alignment" form of the Damerau-Levenshtein distance). Upper and lower case of ASCII letters are
/// the same. Takes time a.size() * b.size() and memory b.size().
size_t editDistance(std::string_view a, std::string_view b);

/// The candidate that a user who wrote `word` probably meant, for messages that end in "did you
/// mean ...?"; the view is one of `candidates`. That is the nearest one by `editDistance`, the
/// first of equals, if at most a third of the letters of the longer word differ (but one edit is
/// always allowed between words of two letters and more). Failing that, it is the only candidate
/// that `word`, of three letters at least, begins. Nothing is suggested for an empty word.
std::optional<std::string_view> closestMatch(std::string_view word,
                                             std::span<const std::string_view> candidates);

} // namespace tpuc

#endif // TPUC_SUPPORT_SUGGEST_H
