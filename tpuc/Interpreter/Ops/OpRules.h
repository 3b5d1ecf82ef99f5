//===- OpRules.h - What ops may be asked for --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of a module are verified when they are made. Those of a model file are checked by the
// same rules, which stand here as a table without MLIR: OpRules.inc, from the definitions of top.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_OPRULES_H
#define TPUC_INTERPRETER_OPS_OPRULES_H

#include "tpuc/Interpreter/Ops/Attribute.h"
#include "tpuc/Support/Error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tpuc::ops {

/// What elements an operand may have. Bits: integers or bool.
enum class ElementRule : uint8_t { Any, Float, Integer, Bool, Number, Bits };

/// How often an operand is there. Any: once or more, all of one rule; only the last operand.
enum class Presence : uint8_t { One, Optional, Any };

struct OperandRule {
  std::string_view name;
  ElementRule elements;
  Presence presence;
};

/// Which alternative of Attribute an attribute holds. Number: a flag, a number or a tensor of rank
/// 0. An empty list is of every kind.
enum class AttributeKind : uint8_t {
  Flag,
  Integer,
  Real,
  Text,
  Integers,
  Reals,
  Texts,
  Type,
  Number
};

/// What an integer, or each of a list, may be: `least` to `most`. Where `axisOf` is the number of
/// an operand of known rank: -(rank + `more`) to rank + `behind` - 1.
struct IntegerRule {
  int64_t least = -INT64_MAX;
  int64_t most = INT64_MAX;
  int axisOf = -1;
  int more = 0;
  int behind = 0;
};

struct AttributeRule {
  std::string_view name;
  AttributeKind kind;
  /// Whether the op has neither a default for it nor a meaning without it.
  bool isNeeded;
  IntegerRule range = {};
};

/// The number of results of an op that makes as many as it is asked for.
inline constexpr int kAnyNumber = -1;

struct OpRule {
  /// As `findEvaluator` knows the op.
  std::string_view name;
  std::span<const OperandRule> operands;
  int numResults;
  std::span<const AttributeRule> attributes;
};

/// The rules of all ops, by name.
std::span<const OpRule> opRules();

/// Null for names that `findEvaluator` does not know either.
const OpRule *findRule(std::string_view name);

/// What is known of an operand before an op runs.
struct OperandFacts {
  DataType type;
  size_t rank;
};

/// Checks what an op is asked for: the number, presence and elements of its operands (none where
/// one is left out), the number of its results, and that its attributes are there, of their kind
/// and within their ranges. Attributes that the op does not know are let pass, since nothing reads
/// them. Errors name `where`.
Expected<void> checkOp(const OpRule &rule, std::span<const std::optional<OperandFacts>> operands,
                       size_t numResults,
                       std::span<const std::pair<std::string, Attribute>> attributes,
                       const std::string &where);

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_OPRULES_H
