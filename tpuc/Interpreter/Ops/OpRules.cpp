//===- OpRules.cpp - What ops may be asked for ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/OpRules.h"
#include "tpuc/Support/Counted.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::ops;

#include "tpuc/Interpreter/Ops/OpRules.inc"

// The op that top lacks.
static constexpr OperandRule kRoundToOperands[] = {{"input", ElementRule::Float, Presence::One}};
static constexpr AttributeRule kRoundToAttributes[] = {{"type", AttributeKind::Type, true}};

std::span<const OpRule> ops::opRules() {
  static const std::vector<OpRule> all = [] {
    std::vector<OpRule> list(std::begin(kTopRules), std::end(kTopRules));
    list.push_back({"RoundTo", kRoundToOperands, 1, kRoundToAttributes});
    std::ranges::sort(list, {}, &OpRule::name);
    return list;
  }();
  return all;
}

const OpRule *ops::findRule(std::string_view name) {
  const auto all = opRules();
  const auto found = std::ranges::lower_bound(all, name, {}, &OpRule::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

namespace {

bool holds(ElementRule rule, DataType type) {
  switch (rule) {
  case ElementRule::Any:
    return true;
  case ElementRule::Float:
    return isFloat(type);
  case ElementRule::Integer:
    return isInteger(type);
  case ElementRule::Bool:
    return type == DataType::Bool;
  case ElementRule::Number:
    return isFloat(type) || isInteger(type);
  case ElementRule::Bits:
    return isInteger(type) || type == DataType::Bool;
  }
  return false;
}

std::string_view nameOf(ElementRule rule) {
  static constexpr std::string_view kNames[] = {"any elements", "floats",  "integers",
                                                "bool",         "numbers", "integers or bool"};
  return kNames[static_cast<size_t>(rule)];
}

bool isOfKind(const Attribute &value, AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Flag:
    return std::holds_alternative<bool>(value);
  case AttributeKind::Integer:
    return std::holds_alternative<int64_t>(value);
  case AttributeKind::Real:
    return std::holds_alternative<double>(value);
  case AttributeKind::Text:
    return std::holds_alternative<std::string>(value);
  case AttributeKind::Integers:
    return std::holds_alternative<std::vector<int64_t>>(value);
  case AttributeKind::Reals:
    return std::holds_alternative<std::vector<double>>(value);
  case AttributeKind::Texts:
    return std::holds_alternative<std::vector<std::string>>(value);
  case AttributeKind::Type:
    return std::holds_alternative<DataType>(value);
  case AttributeKind::Number:
    return std::holds_alternative<bool>(value) || std::holds_alternative<int64_t>(value) ||
           std::holds_alternative<double>(value) || std::holds_alternative<Tensor>(value);
  }
  return false;
}

std::string_view nameOf(AttributeKind kind) {
  static constexpr std::string_view kNames[] = {
      "a flag",          "an integer",      "a real number",   "a text",  "a list of integers",
      "a list of reals", "a list of texts", "an element type", "a number"};
  return kNames[static_cast<size_t>(kind)];
}

bool isList(AttributeKind kind) {
  return kind == AttributeKind::Integers || kind == AttributeKind::Reals ||
         kind == AttributeKind::Texts;
}

/// Checks one op.
class OpCheck {
public:
  OpCheck(const OpRule &rule, std::span<const std::optional<OperandFacts>> operands,
          const std::string &where)
      : rule(rule), operands(operands), where(where) {}

  Expected<void> checkOperands() const;
  Expected<void> checkAttribute(const AttributeRule &wanted, const Attribute &value) const;

private:
  Expected<void> checkInteger(const AttributeRule &wanted, int64_t value) const;

  const OpRule &rule;
  std::span<const std::optional<OperandFacts>> operands;
  const std::string &where;
};

Expected<void> OpCheck::checkOperands() const {
  const bool isOpen = !rule.operands.empty() && rule.operands.back().presence == Presence::Any;
  const size_t wanted = rule.operands.size();
  if (isOpen ? operands.size() < wanted : operands.size() != wanted)
    return makeError(where, counted(static_cast<int64_t>(operands.size()), "operand"),
                     fmt::format("{}{}", wanted, isOpen ? " or more" : ""));
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandRule &each = rule.operands[std::min(i, wanted - 1)];
    if (!operands[i]) {
      if (each.presence == Presence::Optional)
        continue;
      return makeError(where, fmt::format("no operand '{}'", each.name), "a tensor");
    }
    if (!holds(each.elements, operands[i]->type))
      return makeError(where,
                       fmt::format("operand '{}' has elements of type {}", each.name,
                                   dataTypeName(operands[i]->type)),
                       std::string(nameOf(each.elements)));
  }
  return {};
}

Expected<void> OpCheck::checkInteger(const AttributeRule &wanted, int64_t value) const {
  int64_t least = wanted.range.least;
  int64_t most = wanted.range.most;
  const auto axisOf = static_cast<size_t>(wanted.range.axisOf);
  if (wanted.range.axisOf >= 0 && axisOf < operands.size() && operands[axisOf]) {
    const auto rank = static_cast<int64_t>(operands[axisOf]->rank);
    least = -(rank + wanted.range.more);
    most = rank + wanted.range.behind - 1;
  }
  // The lowest integer, for which TableGen has no literal, is in the ranges that hold all others.
  if (most == INT64_MAX || (value >= least && value <= most))
    return {};
  return makeError(where, fmt::format("attribute '{}' holds {}", wanted.name, value),
                   fmt::format("{} to {}", least, most));
}

Expected<void> OpCheck::checkAttribute(const AttributeRule &wanted, const Attribute &value) const {
  const auto *integers = std::get_if<std::vector<int64_t>>(&value);
  const bool isEmpty = integers && integers->empty();
  if (!isOfKind(value, wanted.kind) && !(isEmpty && isList(wanted.kind)))
    return makeError(where, fmt::format("attribute '{}' of another kind", wanted.name),
                     std::string(nameOf(wanted.kind)));
  if (wanted.kind == AttributeKind::Integer)
    return checkInteger(wanted, std::get<int64_t>(value));
  if (wanted.kind == AttributeKind::Integers)
    for (const int64_t each : *integers)
      if (Expected<void> checked = checkInteger(wanted, each); !checked)
        return checked;
  return {};
}

} // namespace

Expected<void> ops::checkOp(const OpRule &rule,
                            std::span<const std::optional<OperandFacts>> operands,
                            size_t numResults,
                            std::span<const std::pair<std::string, Attribute>> attributes,
                            const std::string &where) {
  const OpCheck check(rule, operands, where);
  if (Expected<void> checked = check.checkOperands(); !checked)
    return checked;
  const bool isOpen = rule.numResults == kAnyNumber;
  if (isOpen ? numResults == 0 : numResults != static_cast<size_t>(rule.numResults))
    return makeError(where, counted(static_cast<int64_t>(numResults), "result"),
                     isOpen ? "one or more" : std::to_string(rule.numResults));
  for (const AttributeRule &wanted : rule.attributes) {
    bool isThere = false;
    for (const auto &[name, value] : attributes) {
      if (name != wanted.name)
        continue;
      if (isThere)
        return makeError(where, fmt::format("attribute '{}' twice", name), "once");
      isThere = true;
      if (Expected<void> checked = check.checkAttribute(wanted, value); !checked)
        return checked;
    }
    if (!isThere && wanted.isNeeded)
      return makeError(where, fmt::format("no attribute '{}'", wanted.name),
                       std::string(nameOf(wanted.kind)));
  }
  return {};
}
