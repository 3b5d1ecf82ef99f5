//===- CpuOps.cpp - Layers of the CPU that mean anything ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/meaning/CpuOps.h"

#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/Ops/OpRules.h"
#include "tpuc/Support/Convert.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace tpuc::fuzz {

namespace {

using ops::AttributeKind;
using ops::AttributeRule;
using ops::ElementRule;
using ops::OpRule;
using ops::Presence;

constexpr int64_t kMostElements = 1 << 20;

/// Texts that ops know, of all of them.
constexpr std::string_view kTexts[] = {"",
                                       "NOTSET",
                                       "SAME_UPPER",
                                       "SAME_LOWER",
                                       "VALID",
                                       "none",
                                       "add",
                                       "mul",
                                       "max",
                                       "min",
                                       "linear",
                                       "nearest",
                                       "cubic",
                                       "bilinear",
                                       "half_pixel",
                                       "align_corners",
                                       "asymmetric",
                                       "tf_crop_and_resize",
                                       "pytorch_half_pixel",
                                       "half_pixel_symmetric",
                                       "round_prefer_floor",
                                       "round_prefer_ceil",
                                       "floor",
                                       "ceil",
                                       "stretch",
                                       "not_larger",
                                       "not_smaller",
                                       "constant",
                                       "reflect",
                                       "edge",
                                       "wrap",
                                       "forward",
                                       "reverse",
                                       "bidirectional",
                                       "And",
                                       "Or",
                                       "Xor",
                                       "LEFT",
                                       "RIGHT",
                                       "Equal",
                                       "Less",
                                       "Greater",
                                       "ReduceMean",
                                       "ReduceSum",
                                       "ReduceMax",
                                       "ReduceMin",
                                       "ReduceProd",
                                       "ReduceL1",
                                       "ReduceL2",
                                       "ReduceLogSum",
                                       "ReduceLogSumExp",
                                       "ReduceSumSquare",
                                       "ArgMax",
                                       "ArgMin",
                                       "zeros",
                                       "border",
                                       "reflection",
                                       "tanh",
                                       "silu",
                                       "Max",
                                       "Avg",
                                       "ij,jk->ik",
                                       "...i,...i->...",
                                       "bij,bjk",
                                       "ii->i",
                                       "i,j->ij",
                                       "gated_delta",
                                       "linear_attention",
                                       "\xff"};

/// Memory for results as the runtime gives it, but not much.
class Context : public ops::OpContext {
public:
  Context(std::span<const std::optional<Tensor>> operands, size_t numResults, ThreadPool &threads,
          std::span<const std::pair<std::string, ops::Attribute>> attributes, uint8_t wanted)
      : OpContext(operands, numResults, threads), attributes(attributes), wanted(wanted) {}

  bool wants(unsigned index) const override { return index == 0 || (wanted >> (index % 8) & 1); }

private:
  std::optional<ops::Attribute> attribute(std::string_view name) const override {
    for (const auto &[known, value] : attributes)
      if (known == name)
        return value;
    return std::nullopt;
  }
  Expected<Tensor> room(unsigned, DataType type, const Shape &shape) override {
    if (shape.numElements() > kMostElements)
      return makeError("result", "too many elements");
    return Tensor::create(type, shape.dims(), "result");
  }
  bool isConstant(unsigned index) const override { return (wanted >> 7 ^ index) & 1; }
  std::string place() const override { return "op"; }

  std::span<const std::pair<std::string, ops::Attribute>> attributes;
  uint8_t wanted;
};

/// Makes an op by what the choices say.
class Maker {
public:
  Maker(const OpRule &rule, Choices &choices) : rule(rule), choices(choices) {}

  void makeOperands();
  void makeAttributes();
  size_t numResults();

  std::vector<std::optional<Tensor>> operands;
  std::vector<std::pair<std::string, ops::Attribute>> attributes;

private:
  DataType elements(ElementRule wanted);
  Shape shape();
  Tensor tensor(DataType type, const Shape &shape);
  int64_t integer(const ops::IntegerRule &range);
  double real();
  ops::Attribute value(const AttributeRule &wanted);

  const OpRule &rule;
  Choices &choices;
  std::optional<Shape> lastShape;
  std::optional<DataType> lastType;
};

DataType Maker::elements(ElementRule wanted) {
  if (lastType && !choices.oneIn(6))
    return *lastType;
  if (choices.oneIn(8))
    return choices.of(kAllDataTypes);
  constexpr DataType kFloats[] = {DataType::F32, DataType::F32, DataType::F16, DataType::F64,
                                  DataType::BF16};
  constexpr DataType kIntegers[] = {DataType::I64, DataType::I32, DataType::I8,
                                    DataType::U8,  DataType::I4,  DataType::U64};
  switch (wanted) {
  case ElementRule::Integer:
  case ElementRule::Bits:
    return choices.of(kIntegers);
  case ElementRule::Bool:
    return DataType::Bool;
  default:
    return choices.oneIn(4) ? choices.of(kIntegers) : choices.of(kFloats);
  }
}

/// The shape of the last operand, or a part of it, or any of few elements.
Shape Maker::shape() {
  const size_t kind = choices.below(8);
  if (lastShape && kind < 3)
    return *lastShape;
  if (lastShape && kind == 3 && lastShape->rank() > 0)
    return Shape{(*lastShape)[choices.below(lastShape->rank())]};
  if (lastShape && kind == 4 && lastShape->rank() > 0) {
    Shape changed = *lastShape;
    changed[choices.below(changed.rank())] = static_cast<int64_t>(choices.below(5));
    return changed;
  }
  constexpr size_t kRanks[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 8};
  std::vector<int64_t> dims(choices.of(kRanks));
  for (int64_t &extent : dims) {
    constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 8, 2, 1, 1, 2, 3, 0};
    extent = dims.size() > 5 ? static_cast<int64_t>(choices.below(3)) : choices.of(kExtents);
  }
  return Shape(dims);
}

double Maker::real() {
  constexpr double kReals[] = {0,
                               1,
                               -1,
                               0.5,
                               2,
                               -2.5,
                               1e-5,
                               3,
                               100,
                               1e10,
                               -1e300,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(),
                               9.3e18,
                               4};
  return choices.of(kReals);
}

/// Few different elements, which change with the place.
Tensor Maker::tensor(DataType type, const Shape &shape) {
  if (type == DataType::Bool) {
    Tensor flags(type, shape);
    const uint8_t bits = choices.byte();
    size_t i = 0;
    for (std::byte &flag : flags.mutableBytes())
      flag = std::byte((bits >> (i++ % 8)) & 1);
    return flags;
  }
  Tensor wide(DataType::F64, shape);
  std::array<double, 4> values{};
  const bool isSmall = !choices.oneIn(5);
  for (double &each : values)
    each = isSmall ? static_cast<double>(choices.below(9)) - 3 : real();
  size_t i = 0;
  for (double &each : wide.mutableData<double>())
    each = values[i++ % 4];
  return convert(wide, type);
}

void Maker::makeOperands() {
  for (const ops::OperandRule &wanted : rule.operands) {
    size_t count = 1;
    if (wanted.presence == Presence::Any)
      count = 1 + choices.below(3);
    if (wanted.presence == Presence::Optional && choices.oneIn(2))
      count = 0;
    if (choices.oneIn(64))
      count = choices.below(3);
    if (count == 0)
      operands.emplace_back();
    for (size_t i = 0; i < count; ++i) {
      const DataType type = elements(wanted.elements);
      const Shape extents = shape();
      operands.emplace_back(tensor(type, extents));
      lastShape = extents;
      lastType = type;
    }
  }
}

int64_t Maker::integer(const ops::IntegerRule &range) {
  switch (choices.below(16)) {
  case 0:
    return range.least;
  case 1:
    return range.most;
  case 2:
    return static_cast<int64_t>(choices.word());
  case 3:
    return static_cast<int64_t>(choices.below(65536));
  case 4:
    return -static_cast<int64_t>(choices.below(6));
  case 5:
    return int64_t{1} << choices.below(63);
  case 6:
    return 0;
  default:
    return static_cast<int64_t>(choices.below(5));
  }
}

ops::Attribute Maker::value(const AttributeRule &wanted) {
  if (choices.oneIn(64))
    return static_cast<int64_t>(choices.below(4));
  const auto length = [&] {
    constexpr size_t kLengths[] = {2, 1, 4, 3, 0, 6, 9};
    const size_t rank = operands.empty() || !operands[0] ? 0 : operands[0]->shape().rank();
    return choices.oneIn(2) ? rank : choices.of(kLengths);
  };
  switch (wanted.kind) {
  case AttributeKind::Flag:
    return choices.oneIn(2);
  case AttributeKind::Integer:
    return integer(wanted.range);
  case AttributeKind::Real:
    return real();
  case AttributeKind::Text:
    return std::string(choices.of(kTexts));
  case AttributeKind::Integers: {
    std::vector<int64_t> list(length());
    for (int64_t &each : list)
      each = integer(wanted.range);
    return list;
  }
  case AttributeKind::Reals: {
    std::vector<double> list(length());
    for (double &each : list)
      each = real();
    return list;
  }
  case AttributeKind::Texts: {
    constexpr std::string_view kActivations[] = {"Sigmoid", "Tanh",        "Relu",     "Affine",
                                                 "Elu",     "HardSigmoid", "Softplus", "none"};
    std::vector<std::string> list(length());
    for (std::string &each : list)
      each = choices.of(kActivations);
    return list;
  }
  case AttributeKind::Type:
    return choices.of(kAllDataTypes);
  case AttributeKind::Number:
    return tensor(choices.of(kAllDataTypes), Shape{});
  }
  return int64_t{0};
}

void Maker::makeAttributes() {
  for (const AttributeRule &each : rule.attributes)
    if (each.isNeeded ? !choices.oneIn(64) : !choices.oneIn(each.range.axisOf >= 0 ? 4 : 3))
      attributes.emplace_back(each.name, value(each));
}

size_t Maker::numResults() {
  if (rule.numResults == ops::kAnyNumber)
    return choices.below(5);
  return choices.oneIn(64) ? choices.below(5) : static_cast<size_t>(rule.numResults);
}

/// Reads every element, so that memory that nobody owns is seen.
void use(const Tensor &tensor) {
  unsigned sum = 0;
  for (const std::byte element : tensor.rawBytes())
    sum += std::to_integer<unsigned>(element);
  volatile unsigned sink = sum;
  (void)sink;
}

} // namespace

OpEnd runAnyOp(Choices &choices) {
  static ThreadPool threads(1);
  const auto evaluators = ops::evaluators();
  const ops::OpEvaluator &evaluator = evaluators[choices.below(evaluators.size())];
  const OpRule *rule = ops::findRule(evaluator.name);
  if (!rule) {
    std::fprintf(stderr, "violated: %s has a rule\n", std::string(evaluator.name).c_str());
    std::abort();
  }
  Maker made(*rule, choices);
  made.makeOperands();
  made.makeAttributes();
  const size_t numResults = made.numResults();
  std::vector<std::optional<ops::OperandFacts>> facts;
  for (const auto &operand : made.operands)
    facts.push_back(operand
                        ? std::optional(ops::OperandFacts{operand->type(), operand->shape().rank()})
                        : std::nullopt);
  if (!ops::checkOp(*rule, facts, numResults, made.attributes, "fuzz"))
    return OpEnd::RefusedByRules;
  Context context(made.operands, numResults, threads, made.attributes, choices.byte());
  kernels::KernelCache cache;
  if (choices.oneIn(2))
    context.setCache(&cache);
  if (!ops::evaluate(evaluator, context))
    return OpEnd::RefusedByOp;
  for (unsigned i = 0; i < numResults; ++i)
    if (context.wants(i))
      use(context.results()[i]);
  return OpEnd::Computed;
}

} // namespace tpuc::fuzz
