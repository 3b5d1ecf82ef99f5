//===- OptionValue.h - What the value of an option can be -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_COMMON_OPTIONVALUE_H
#define TOOLS_COMMON_OPTIONVALUE_H

#include "tpuc/Support/Compare.h"
#include "tpuc/Support/Error.h"

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc {

/// `[[1,3,224,224],[10]]`: one list of extents per input.
using ShapeList = std::vector<std::vector<int64_t>>;
/// `rois=[300,5],x=[1,3]`: the extents of tensors, by their names.
using NamedShapes = std::map<std::string, std::vector<int64_t>>;

// One overload of each function per type that an option's variable can have.
//
// readValue: the value that `text`, what the user wrote, stands for. The errors say what was found
// and what is expected; the caller adds the name of the option. Numbers must fill the whole text
// and be in range. Lists are separated by commas; blanks around an element are dropped, an empty
// element is an error, an empty text is an empty list.
// showValue: the same value in the form that readValue takes, for the help text.
// valueLabel: what stands for the value in the help text.

Expected<void> readValue(std::string_view text, std::string &value);
Expected<void> readValue(std::string_view text, int64_t &value);
Expected<void> readValue(std::string_view text, int &value);
/// `inf` and `nan` are refused: no option has a use for them.
Expected<void> readValue(std::string_view text, double &value);
Expected<void> readValue(std::string_view text, std::vector<std::string> &value);
Expected<void> readValue(std::string_view text, std::vector<int64_t> &value);
Expected<void> readValue(std::string_view text, std::vector<double> &value);
/// Also the one-dimensional form `[1,3,224,224]`, which is one shape. Extents are 0 or more.
Expected<void> readValue(std::string_view text, ShapeList &value);
/// Each name once.
Expected<void> readValue(std::string_view text, NamedShapes &value);
/// `cos,euclid`, each at most 1; one number holds for both.
Expected<void> readValue(std::string_view text, Tolerance &value);

std::string showValue(const std::string &value);
std::string showValue(int64_t value);
std::string showValue(int value);
std::string showValue(double value);
std::string showValue(const std::vector<std::string> &value);
std::string showValue(const std::vector<int64_t> &value);
std::string showValue(const std::vector<double> &value);
std::string showValue(const ShapeList &value);
std::string showValue(const NamedShapes &value);
std::string showValue(const Tolerance &value);

std::string_view valueLabel(const std::string &value);
std::string_view valueLabel(int64_t value);
std::string_view valueLabel(int value);
std::string_view valueLabel(double value);
std::string_view valueLabel(const std::vector<std::string> &value);
std::string_view valueLabel(const std::vector<int64_t> &value);
std::string_view valueLabel(const std::vector<double> &value);
std::string_view valueLabel(const ShapeList &value);
std::string_view valueLabel(const NamedShapes &value);
std::string_view valueLabel(const Tolerance &value);

/// An option that may be left out and whose absence means something.
template <typename T> Expected<void> readValue(std::string_view text, std::optional<T> &value) {
  T inner{};
  if (Expected<void> ok = readValue(text, inner); !ok)
    return ok;
  value = std::move(inner);
  return {};
}
template <typename T> std::string showValue(const std::optional<T> &value) {
  return value ? showValue(*value) : "";
}
template <typename T> std::string_view valueLabel(const std::optional<T> &) {
  return valueLabel(T{});
}

/// Types of which an option can be given several times; its values are then appended.
template <typename T>
concept ListValue =
    std::same_as<T, std::vector<std::string>> || std::same_as<T, std::vector<int64_t>> ||
    std::same_as<T, std::vector<double>> || std::same_as<T, ShapeList>;

} // namespace tpuc

#endif // TOOLS_COMMON_OPTIONVALUE_H
