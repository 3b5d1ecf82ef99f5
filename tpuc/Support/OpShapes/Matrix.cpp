//===- Matrix.cpp - Shapes of matrix products -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Matrix.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::shapes;

/// The extent of two that are the same or broadcast; none if they do not fit.
static std::optional<int64_t> merge(int64_t a, int64_t b) {
  if (a == b || b == 1)
    return a;
  if (a == 1 || a == kDynamic)
    return b;
  if (b == kDynamic)
    return a;
  return std::nullopt;
}

Expected<Dims> shapes::matMulShape(std::span<const int64_t> left, std::span<const int64_t> right,
                                   bool transposeLeft, bool transposeRight) {
  auto misfit = [&](std::string expected) {
    return makeError("",
                     fmt::format("operands have shapes {} and {}", dimsText(left), dimsText(right)),
                     std::move(expected));
  };
  if (left.empty() || right.empty())
    return misfit("at least one dimension each");
  Dims a(left.begin(), left.end());
  Dims b(right.begin(), right.end());
  if (a.size() == 1)
    a.insert(a.begin(), 1);
  else if (transposeLeft)
    std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (b.size() == 1)
    b.push_back(1);
  else if (transposeRight)
    std::swap(b[b.size() - 1], b[b.size() - 2]);
  int64_t inner = a.back();
  int64_t otherInner = b[b.size() - 2];
  if (inner != otherInner && inner != kDynamic && otherInner != kDynamic)
    return misfit(fmt::format("{} of the right operand's rows", inner));
  size_t rank = std::max(a.size(), b.size());
  Dims result(rank - 2, 1);
  for (const Dims *operand : {&a, &b})
    for (size_t axis = 0; axis + 2 < operand->size(); ++axis) {
      int64_t &extent = result[rank - operand->size() + axis];
      std::optional<int64_t> merged = merge(extent, (*operand)[axis]);
      if (!merged)
        return misfit("batch dimensions that broadcast together");
      extent = *merged;
    }
  if (left.size() > 1)
    result.push_back(a[a.size() - 2]);
  if (right.size() > 1)
    result.push_back(b.back());
  return result;
}

namespace {

/// One term of an equation: the letters before and behind its dots.
struct Term {
  std::string letters;
  std::optional<size_t> dots;
};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What commas separate.
std::vector<std::string_view> splitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  for (size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    terms.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  terms.push_back(text);
  return terms;
}

Expected<Term> parseTerm(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ')
      continue;
    if (text.substr(i).starts_with("...") && !term.dots) {
      term.dots = term.letters.size();
      i += 2;
    } else if (isLetter(text[i])) {
      term.letters += text[i];
    } else {
      return makeError("", fmt::format("equation has a term '{}'", text),
                       "letters and at most one '...'");
    }
  }
  return term;
}

} // namespace

Expected<EinsumIndices> shapes::parseEinsum(std::string_view equation,
                                            std::span<const Dims> operands) {
  const size_t arrow = equation.find("->");
  const bool hasResult = arrow != std::string_view::npos;
  const std::vector<std::string_view> texts = splitTerms(equation.substr(0, arrow));
  if (texts.size() != operands.size())
    return makeError("", fmt::format("equation '{}' has {} terms", equation, texts.size()),
                     fmt::format("one for each of {} operands", operands.size()));
  std::vector<Term> terms;
  std::string letters;
  size_t dotted = 0;
  for (size_t operand = 0; operand < operands.size(); ++operand) {
    const std::string_view text = texts[operand];
    const Dims &dims = operands[operand];
    Expected<Term> term = parseTerm(text);
    if (!term)
      return propagate(term);
    if (term->dots ? dims.size() < term->letters.size() : dims.size() != term->letters.size())
      return makeError("",
                       fmt::format("operand of shape {} for the term '{}'", dimsText(dims), text),
                       fmt::format("rank {}", term->letters.size()));
    if (term->dots)
      dotted = std::max(dotted, dims.size() - term->letters.size());
    letters += term->letters;
    terms.push_back(*term);
  }
  // Numbers below `dotted` are the axes of the dots, then come the letters in alphabetical order.
  std::string known = letters;
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  EinsumIndices indices;
  indices.extents.assign(dotted + known.size(), 1);
  auto numbers = [&](const Term &term, size_t dots) {
    std::vector<int64_t> result;
    for (size_t i = 0; i <= term.letters.size(); ++i) {
      if (term.dots == i)
        for (size_t axis = dotted - dots; axis < dotted; ++axis)
          result.push_back(static_cast<int64_t>(axis));
      if (i < term.letters.size())
        result.push_back(static_cast<int64_t>(dotted + known.find(term.letters[i])));
    }
    return result;
  };
  for (size_t operand = 0; operand < operands.size(); ++operand) {
    const Dims &dims = operands[operand];
    const Term &term = terms[operand];
    indices.operands.push_back(numbers(term, dims.size() - term.letters.size()));
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const auto number = static_cast<size_t>(indices.operands.back()[axis]);
      const int64_t extent = dims[axis];
      std::optional<int64_t> merged = merge(indices.extents[number], extent);
      if (!merged)
        return makeError("",
                         fmt::format("operands of '{}' have extents {} and {} for one index",
                                     equation, indices.extents[number], extent),
                         "equal ones");
      indices.extents[number] = *merged;
    }
  }
  if (!hasResult) {
    for (size_t axis = 0; axis < dotted; ++axis)
      indices.result.push_back(static_cast<int64_t>(axis));
    for (size_t i = 0; i < known.size(); ++i)
      if (std::ranges::count(letters, known[i]) == 1)
        indices.result.push_back(static_cast<int64_t>(dotted + i));
    return indices;
  }
  Expected<Term> result = parseTerm(equation.substr(arrow + 2));
  if (!result)
    return propagate(result);
  for (char letter : result->letters)
    if (known.find(letter) == std::string::npos || std::ranges::count(result->letters, letter) != 1)
      return makeError("", fmt::format("equation '{}' has '{}' in its result", equation, letter),
                       "letters of the operands, each once");
  indices.result = numbers(*result, result->dots ? dotted : 0);
  return indices;
}
