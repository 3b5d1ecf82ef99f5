//===- AttentionOps.cpp - Attention and what goes with it -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Support/OpShapes/Attention.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static std::vector<std::optional<shapes::Dims>> operandDims(Operation *op) {
  std::vector<std::optional<shapes::Dims>> dims;
  for (Value operand : op->getOperands()) {
    dims.emplace_back();
    if (std::optional<Dims> known = isPresent(operand) ? dimsOf(operand) : std::nullopt)
      dims.back().emplace(known->begin(), known->end());
  }
  return dims;
}

static std::optional<int64_t> plain(std::optional<uint64_t> number) {
  return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

static Expected<shapes::AttentionShapes> shapesOf(ScaleDotProductAttentionOp op) {
  return shapes::attentionShapes({.queryHeads = plain(op.getQNumHeads()),
                                  .keyHeads = plain(op.getKvNumHeads()),
                                  .hasPast = op.getPastKey() && isPresent(op.getPastKey())},
                                 operandDims(op));
}

static Expected<shapes::LinearAttentionShapes> shapesOf(LinearAttentionOp op) {
  return shapes::linearAttentionShapes(static_cast<int64_t>(op.getQNumHeads()),
                                       static_cast<int64_t>(op.getKvNumHeads()), operandDims(op));
}

/// An error of `op` unless both or neither of two operands are given.
static LogicalResult verifyTogether(Operation *op, StringRef first, Value one, StringRef second,
                                    Value other) {
  if (isPresent(one) == isPresent(other))
    return success();
  return op->emitOpError("has only one of ") << first << " and " << second << "; expected both";
}

/// An error of `op` unless `given` says what `rule` needs.
static LogicalResult verifyGate(LinearAttentionOp op, StringRef name, Value given, bool isNeeded) {
  if (isPresent(given) == isNeeded)
    return success();
  return op.emitOpError("update_rule \"")
         << op.getUpdateRule() << "\" " << (isNeeded ? "without " : "with ") << name;
}

static LogicalResult verifyHeads(Operation *op, int64_t queryHeads, int64_t keyHeads) {
  if (queryHeads % keyHeads == 0)
    return success();
  return op->emitOpError("has ") << queryHeads << " heads of queries and " << keyHeads
                                 << " of keys; expected a multiple of the latter";
}

/// Twice the multiplications: 0 where an extent is not known.
static Count flopsOf(ArrayRef<int64_t> extents) {
  int64_t product = productOf(extents);
  return product == kDynamic ? Count(0) : Count(2) * product;
}

//===----------------------------------------------------------------------===//
// ScaleDotProductAttention
//===----------------------------------------------------------------------===//

LogicalResult ScaleDotProductAttentionOp::verify() {
  if (getQNumHeads().has_value() != getKvNumHeads().has_value())
    return emitOpError("has only one of q_num_heads and kv_num_heads; expected both");
  if (getQNumHeads() && failed(verifyHeads(*this, static_cast<int64_t>(*getQNumHeads()),
                                           static_cast<int64_t>(*getKvNumHeads()))))
    return failure();
  if (std::optional<Type> type = getSoftmaxType(); type && !isa<FloatType>(*type))
    return emitOpError("softmax_type is ") << *type << "; expected a float";
  if (isPresent(getLengths()) && isPresent(getPastKey()))
    return emitOpError("has lengths and past_key; expected one of them");
  return verifyTogether(*this, "past_key", getPastKey(), "past_value", getPastValue());
}

LogicalResult ScaleDotProductAttentionOp::inferShape() {
  Expected<shapes::AttentionShapes> shapes = shapesOf(*this);
  if (!shapes)
    return emit(*this, shapes.error());
  Type element = elementTypeOf(getQuery());
  if (failed(setResult(*this, 0, element, *shapes->output)))
    return failure();
  struct Optional {
    unsigned index;
    Type element;
    const shapes::Dims &dims;
  };
  for (const Optional &each : {Optional{1, elementTypeOf(getKey()), shapes->presentKey},
                               {2, elementTypeOf(getValue()), shapes->presentValue},
                               {3, element, shapes->scores}})
    if (isPresent(getResult(each.index)) &&
        failed(setResult(*this, each.index, each.element, each.dims)))
      return failure();
  return success();
}

int64_t ScaleDotProductAttentionOp::flops() {
  Expected<shapes::AttentionShapes> shapes = shapesOf(*this);
  if (!shapes)
    return 0;
  // Two products, and the softmax.
  const Count scores = flopsOf(shapes->scores);
  int64_t size = shapes->presentKey.back();
  int64_t valueSize = shapes->presentValue.back();
  if (size == kDynamic || valueSize == kDynamic)
    return 0;
  return scores * (Count(size) + valueSize) + 5 * scores / 2;
}

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() { return verifyIndexType(*this, "positions", getPositions()); }

LogicalResult RopeOp::inferShape() {
  const shapes::RopeSpec spec = {.heads = static_cast<int64_t>(getNumHeads()),
                                 .rotated = static_cast<int64_t>(getRotaryDim()),
                                 .hasPositions = isPresent(getPositions())};
  if (Expected<void> checked = shapes::checkRope(spec, operandDims(*this)); !checked)
    return emit(*this, checked.error());
  return setResult(*this, 0, elementTypeOf(getInput()), dimsOf(getInput()));
}

int64_t RopeOp::flops() { return 3 * staticElements(getInput()); }

//===----------------------------------------------------------------------===//
// LinearAttention
//===----------------------------------------------------------------------===//

LogicalResult LinearAttentionOp::verify() {
  StringRef rule = getUpdateRule();
  if (failed(verifyChoice(*this, "update_rule", rule, {"linear", "gated", "delta", "gated_delta"})))
    return failure();
  if (failed(verifyHeads(*this, static_cast<int64_t>(getQNumHeads()),
                         static_cast<int64_t>(getKvNumHeads()))))
    return failure();
  if (failed(verifyGate(*this, "decay", getDecay(), rule.starts_with("gated"))))
    return failure();
  return verifyGate(*this, "beta", getBeta(), rule.ends_with("delta"));
}

LogicalResult LinearAttentionOp::inferShape() {
  Expected<shapes::LinearAttentionShapes> shapes = shapesOf(*this);
  if (!shapes)
    return emit(*this, shapes.error());
  Value past = isPresent(getPastState()) ? getPastState() : getQuery();
  if (isPresent(getPresentState()) &&
      failed(setResult(*this, 1, elementTypeOf(past), shapes->state)))
    return failure();
  return setResult(*this, 0, elementTypeOf(getQuery()), shapes->output);
}

int64_t LinearAttentionOp::flops() {
  Expected<shapes::LinearAttentionShapes> shapes = shapesOf(*this);
  if (!shapes || shapes->output[1] == kDynamic)
    return 0;
  // Each step decays, reads and writes the states of the heads of keys, and reads them for queries.
  auto keyHeads = static_cast<int64_t>(getKvNumHeads());
  auto shared = static_cast<int64_t>(getQNumHeads()) / keyHeads;
  return flopsOf(shapes->state) * shapes->output[1] * (3 + shared);
}

//===----------------------------------------------------------------------===//
// CausalConv
//===----------------------------------------------------------------------===//

LogicalResult CausalConvOp::verify() {
  return verifyChoice(*this, "activation", getActivation(), {"none", "silu"});
}

LogicalResult CausalConvOp::inferShape() {
  Expected<shapes::Dims> state = shapes::causalConvState(operandDims(*this));
  if (!state)
    return emit(*this, state.error());
  Type element = elementTypeOf(getInput());
  if (isPresent(getPresentState()) && failed(setResult(*this, 1, element, *state)))
    return failure();
  return setResult(*this, 0, element, dimsOf(getInput()));
}

int64_t CausalConvOp::flops() {
  std::optional<Dims> filter = dimsOf(getFilter());
  if (!filter || filter->size() != 3 || filter->back() == kDynamic)
    return 0;
  return 2 * staticElements(getInput()) * filter->back();
}
