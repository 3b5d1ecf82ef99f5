//===- QuantScheme.cpp - Number formats: what a network computes in -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/Target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace tpuc {

namespace {

/// "a", "a or b", "a, b or c".
template <typename Word> std::string joinWithOr(const std::vector<Word> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string upperCase(std::string_view text) {
  std::string upper(text);
  for (char &c : upper)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

/// The row of `scheme`, if it has one. A zero point that no row has (a float has none) does
/// not matter.
const NamedScheme *findRow(const QuantScheme &scheme) {
  QuantScheme other = scheme;
  other.zeroPoint = !scheme.zeroPoint;
  for (const QuantScheme &wanted : {scheme, other})
    for (const NamedScheme &row : kNamedSchemes)
      if (row.scheme == wanted)
        return &row;
  return nullptr;
}

/// `w4a8`.
std::string bitsText(const QuantScheme &scheme) {
  return fmt::format("w{}a{}", bitWidth(scheme.weight), bitWidth(scheme.activation));
}

} // namespace

std::vector<std::string_view> schemeNames() {
  std::vector<std::string_view> names;
  for (const NamedScheme &row : kNamedSchemes)
    if (names.empty() || names.back() != row.name)
      names.push_back(row.name);
  return names;
}

std::string schemeChoices() { return joinWithOr(schemeNames()); }

std::string schemeName(const QuantScheme &scheme) {
  const NamedScheme *row = findRow(scheme);
  return row ? std::string(row->name) : upperCase(bitsText(scheme));
}

std::string modeName(const QuantScheme &scheme) {
  if (const NamedScheme *row = findRow(scheme))
    return std::string(row->mode);
  return bitsText(scheme) + (scheme.zeroPoint ? "_asym" : "_sym");
}

std::optional<QuantScheme> parseScheme(std::string_view name, bool zeroPoint) {
  const auto *found = std::ranges::find(kNamedSchemes, upperCase(name), &NamedScheme::name);
  if (found == kNamedSchemes.end())
    return std::nullopt;
  QuantScheme scheme = found->scheme;
  scheme.zeroPoint = zeroPoint;
  return scheme;
}

QuantScheme floatScheme(DataType type) {
  assert(isFloat(type));
  return {type, type, DataType::F32};
}

bool hasScheme(const TargetInfo &target, const QuantScheme &scheme) {
  QuantScheme wanted = scheme;
  wanted.zeroPoint = scheme.zeroPoint && scheme.isQuantized();
  return target.schemes.contains(wanted);
}

Expected<void> checkScheme(const TargetInfo &target, const QuantScheme &scheme) {
  if (hasScheme(target, scheme))
    return {};
  const std::string name = schemeName(scheme);
  std::vector<std::string> names, kinds;
  for (const NamedScheme &row : kNamedSchemes) {
    if (!hasScheme(target, row.scheme))
      continue;
    if (row.name == name)
      kinds.push_back(
          fmt::format("{} {}", row.scheme.zeroPoint ? "asymmetric" : "symmetric", row.name));
    if (names.empty() || names.back() != row.name)
      names.emplace_back(row.name);
  }
  const std::string wanted =
      kinds.empty() ? name
                    : fmt::format("{} {}", scheme.zeroPoint ? "asymmetric" : "symmetric", name);
  return makeError(fmt::format("--chip {}", target.name), fmt::format("{} does not exist", wanted),
                   joinWithOr(kinds.empty() ? names : kinds));
}

DataType signedType(DataType type) {
  assert(isInteger(type));
  return isSigned(type) ? type : *parseDataType(fmt::format("i{}", bitWidth(type)));
}

DataType unsignedType(DataType type) {
  assert(isInteger(type));
  return isSigned(type) ? *parseDataType(fmt::format("u{}", bitWidth(type))) : type;
}

int64_t numLevels(DataType type) {
  return static_cast<int64_t>(integerRange(signedType(type)).highest) + 1;
}

int64_t numSteps(DataType type) {
  assert(bitWidth(type) <= 32);
  const IntegerRange range = integerRange(type);
  return static_cast<int64_t>(range.highest) - range.lowest;
}

double maxSum(DataType accumulator) {
  assert(isInteger(accumulator));
  return std::ldexp(1.0, static_cast<int>(bitWidth(accumulator)) - 2);
}

unsigned significantBits(DataType type) {
  switch (type) {
  case DataType::F64:
    return 53;
  case DataType::F32:
    return 24;
  case DataType::F16:
    return 11;
  case DataType::BF16:
    return 8;
  case DataType::F8E4M3FN:
  case DataType::F8E4M3FNUZ:
    return 4;
  case DataType::F8E5M2:
  case DataType::F8E5M2FNUZ:
    return 3;
  case DataType::Bool:
    return 1;
  default:
    return bitWidth(type);
  }
}

} // namespace tpuc
