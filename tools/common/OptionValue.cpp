//===- OptionValue.cpp - What the value of an option can be ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/OptionValue.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tpuc {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

tl::unexpected<Error> unfit(std::string_view text, std::string expected) {
  return makeError("", fmt::format("found '{}'", text), std::move(expected));
}

/// std::from_chars takes no leading plus.
std::string_view withoutPlus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+' ? text.substr(1)
                                                                               : text;
}

Expected<int64_t> readInteger(std::string_view text, int64_t min, int64_t max) {
  std::string_view digits = withoutPlus(trimmed(text));
  int64_t value = 0;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::invalid_argument || end != digits.data() + digits.size())
    return unfit(text, "an integer");
  if (code != std::errc() || value < min || value > max)
    return unfit(text, fmt::format("an integer from {} to {}", min, max));
  return value;
}

template <typename T> Expected<void> readList(std::string_view text, std::vector<T> &value) {
  value.clear();
  if (trimmed(text).empty())
    return {};
  for (size_t start = 0; start <= text.size();) {
    size_t comma = std::min(text.find(',', start), text.size());
    std::string_view element = trimmed(text.substr(start, comma - start));
    if (element.empty())
      return unfit(text, "a list without empty elements");
    T parsed{};
    if (Expected<void> ok = readValue(element, parsed); !ok)
      return ok;
    value.push_back(std::move(parsed));
    start = comma + 1;
  }
  return {};
}

/// Reads `[1,3]` at the head of `text` and drops it from there.
Expected<void> readOneShape(std::string_view &text, std::vector<int64_t> &shape) {
  size_t close = text.find(']');
  if (text.empty() || text[0] != '[' || close == std::string_view::npos)
    return unfit(text, "a shape such as [1,3,224,224]");
  if (Expected<void> ok = readList(text.substr(1, close - 1), shape); !ok)
    return ok;
  for (int64_t extent : shape)
    if (extent < 0)
      return unfit(fmt::format("{}", extent), "extents of 0 or more");
  text = trimmed(text.substr(close + 1));
  return {};
}

} // namespace

Expected<void> readValue(std::string_view text, std::string &value) {
  value = text;
  return {};
}

Expected<void> readValue(std::string_view text, int64_t &value) {
  Expected<int64_t> read =
      readInteger(text, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  if (!read)
    return propagate(read);
  value = *read;
  return {};
}

Expected<void> readValue(std::string_view text, int &value) {
  Expected<int64_t> read =
      readInteger(text, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  if (!read)
    return propagate(read);
  value = static_cast<int>(*read);
  return {};
}

Expected<void> readValue(std::string_view text, double &value) {
  std::string_view digits = withoutPlus(trimmed(text));
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range)
    return unfit(text, "a number that a double can hold");
  if (code != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return unfit(text, "a number");
  return {};
}

Expected<void> readValue(std::string_view text, std::vector<std::string> &value) {
  return readList(text, value);
}
Expected<void> readValue(std::string_view text, std::vector<int64_t> &value) {
  return readList(text, value);
}
Expected<void> readValue(std::string_view text, std::vector<double> &value) {
  return readList(text, value);
}

Expected<void> readValue(std::string_view text, ShapeList &value) {
  constexpr std::string_view kForm = "shapes such as [[1,3,224,224],[10]]";
  value.clear();
  std::string_view rest = trimmed(text);
  bool nested = rest.starts_with("[") && trimmed(rest.substr(1)).starts_with("[");
  if (nested) {
    if (!rest.ends_with("]"))
      return unfit(text, std::string(kForm));
    rest = trimmed(rest.substr(1, rest.size() - 2));
  }
  while (true) {
    std::vector<int64_t> shape;
    if (!readOneShape(rest, shape))
      return unfit(text, std::string(kForm));
    value.push_back(std::move(shape));
    if (rest.empty())
      return {};
    if (rest[0] != ',')
      return unfit(text, std::string(kForm));
    rest = trimmed(rest.substr(1));
  }
}

Expected<void> readValue(std::string_view text, NamedShapes &value) {
  constexpr std::string_view kForm = "shapes of tensors, each named once, such as rois=[300,5]";
  value.clear();
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const size_t equals = rest.find('=');
    std::string_view name = trimmed(rest.substr(0, equals));
    std::vector<int64_t> shape;
    if (equals == std::string_view::npos || name.empty())
      return unfit(text, std::string(kForm));
    rest = trimmed(rest.substr(equals + 1));
    if (!readOneShape(rest, shape) || !value.emplace(name, std::move(shape)).second)
      return unfit(text, std::string(kForm));
    if (rest.empty())
      return {};
    if (rest[0] != ',' || trimmed(rest.substr(1)).empty())
      return unfit(text, std::string(kForm));
    rest = trimmed(rest.substr(1));
  }
  return {};
}

Expected<void> readValue(std::string_view text, Tolerance &value) {
  std::vector<double> numbers;
  Expected<void> ok = readList(text, numbers);
  bool fits = ok && (numbers.size() == 1 || numbers.size() == 2);
  for (double number : numbers)
    fits &= number <= 1;
  if (!fits)
    return unfit(text, "COS,EUCLID such as 0.99,0.9, neither above 1");
  value = {numbers.front(), numbers.back()};
  return {};
}

std::string showValue(const std::string &value) { return value; }
std::string showValue(int64_t value) { return fmt::format("{}", value); }
std::string showValue(int value) { return fmt::format("{}", value); }
std::string showValue(double value) { return fmt::format("{}", value); }
std::string showValue(const std::vector<std::string> &value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string showValue(const std::vector<int64_t> &value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string showValue(const std::vector<double> &value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string showValue(const ShapeList &value) {
  std::string text;
  for (const std::vector<int64_t> &shape : value)
    text += fmt::format("{}[{}]", text.empty() ? "" : ",", fmt::join(shape, ","));
  return text.empty() ? "" : "[" + text + "]";
}
std::string showValue(const NamedShapes &value) {
  std::string text;
  for (const auto &[name, shape] : value)
    text += fmt::format("{}{}=[{}]", text.empty() ? "" : ",", name, fmt::join(shape, ","));
  return text;
}
std::string showValue(const Tolerance &value) {
  return fmt::format("{},{}", value.cosine, value.euclid);
}

std::string_view valueLabel(const std::string &) { return "TEXT"; }
std::string_view valueLabel(int64_t) { return "N"; }
std::string_view valueLabel(int) { return "N"; }
std::string_view valueLabel(double) { return "X"; }
std::string_view valueLabel(const std::vector<std::string> &) { return "A,B,..."; }
std::string_view valueLabel(const std::vector<int64_t> &) { return "N,N,..."; }
std::string_view valueLabel(const std::vector<double> &) { return "X,X,..."; }
std::string_view valueLabel(const ShapeList &) { return "[[N,...],...]"; }
std::string_view valueLabel(const NamedShapes &) { return "NAME=[N,...],..."; }
std::string_view valueLabel(const Tolerance &) { return "COS,EUCLID"; }

} // namespace tpuc
