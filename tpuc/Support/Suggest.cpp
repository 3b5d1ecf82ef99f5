//===- Suggest.cpp - The name that was probably meant ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tpuc {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

} // namespace

size_t editDistance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the table of distances between the first i letters of `a` and the first
  // j letters of `b`.
  std::vector<size_t> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(beforeLast, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string_view> closestMatch(std::string_view word,
                                             std::span<const std::string_view> candidates) {
  if (word.empty())
    return std::nullopt;
  std::optional<std::string_view> nearest;
  size_t fewest = 0;
  for (std::string_view candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t distance = editDistance(word, candidate);
    const size_t allowed = longer < 2 ? 0 : std::max<size_t>(1, longer / 3);
    if (distance <= allowed && (!nearest || distance < fewest)) {
      nearest = candidate;
      fewest = distance;
    }
  }
  if (nearest || word.size() < 3)
    return nearest;
  const auto begins = [&](std::string_view candidate) { return startsWith(candidate, word); };
  if (std::count_if(candidates.begin(), candidates.end(), begins) != 1)
    return std::nullopt;
  return *std::find_if(candidates.begin(), candidates.end(), begins);
}

} // namespace tpuc
