//===- Select.cpp - Comparing and choosing---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Select.h"
#include "tpuc/Target/BM1684X/Kernels/Broadcast.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <utility>

namespace tpuc::bm1684x {

namespace {

/// The type of what is compared: that of the tensor.
std::optional<DataType> comparedType(const Select &select) {
  for (const BinaryOperand *operand : {&select.left, &select.right})
    if (const auto *tensor = std::get_if<LocalTensor>(operand))
      return tensor->type;
  return std::nullopt;
}

/// The command takes tensors without repetition or gaps, and tells +0 from -0.
bool needsCopy(const LocalTensor &operand, const LocalTensor &output, bool isCompared) {
  return operand.shape != output.shape || !operand.liesAs(Layout::Aligned) ||
         (isCompared && isKernelFloat(operand.type));
}

uint32_t copyBytes(const LocalTensor &operand, const LocalTensor &output) {
  return laneBytes(operand.type, output.shape, Layout::Aligned, output.startLane);
}

struct NamedOperand {
  const BinaryOperand &operand;
  DataType type;
  bool isCompared;
};

Expected<uint32_t> checkedScratch(const std::string &where, const Select &select) {
  std::optional<DataType> compared = comparedType(select);
  if (!compared)
    return makeError(where, "a comparison of two numbers", "at least one tensor");
  if (!precOf(select.output.type) || !select.output.liesAs(Layout::Aligned))
    return makeError(where, fmt::format("output of {}", dataTypeName(select.output.type)),
                     "an aligned tensor of at most 32 bits");
  const bool isEqual = bm168x::isEquality(select.kind);
  const DataType chosen = select.output.type;
  uint32_t needed = 0;
  for (const auto &[operand, type, isCompared] :
       {NamedOperand{select.left, *compared, isEqual},
        NamedOperand{select.right, *compared, isEqual}, NamedOperand{select.ifTrue, chosen, false},
        NamedOperand{select.ifFalse, chosen, false}}) {
    const auto *tensor = std::get_if<LocalTensor>(&operand);
    if (!tensor)
      continue;
    if (tensor->type != type)
      return makeError(where, fmt::format("an operand of {}", dataTypeName(tensor->type)),
                       std::string(dataTypeName(type)));
    if (Expected<void> fits = checkBroadcast(where, *tensor, select.output); !fits)
      return propagate(fits);
    needed += broadcastBytes(*tensor, select.output);
    if (needsCopy(*tensor, select.output, isCompared))
      needed += copyBytes(*tensor, select.output);
  }
  return needed;
}

Term termFor(Builder &builder, const NamedOperand &named, const LocalTensor &output,
             ScratchAllocator &space) {
  const auto *tensor = std::get_if<LocalTensor>(&named.operand);
  if (!tensor)
    return immediate(named.type, std::get<double>(named.operand));
  if (!needsCopy(*tensor, output, named.isCompared))
    return *tensor;
  LocalTensor whole = broadcastTo(builder, *tensor, output, space);
  LocalTensor copy = space.take(tensor->type, output.shape, output.startLane);
  // A sum with 0 makes +0 of -0.
  if (named.isCompared && isKernelFloat(tensor->type))
    addArith(builder, ArithOp::Add, copy, whole, immediate(tensor->type, 0));
  else
    addUnaryArith(builder, ArithOp::Copy, copy, whole);
  return copy;
}

} // namespace

Expected<uint32_t> selectScratch(const Select &select) { return checkedScratch("choice", select); }

Expected<void> emitSelect(Builder &builder, const Select &select) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), select);
  if (Expected<void> fits = checkScratch(builder.layer(), select.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{select.scratch.address};
  const bool isEqual = bm168x::isEquality(select.kind);
  const DataType compared = *comparedType(select);
  auto term = [&](const BinaryOperand &operand, DataType type, bool isCompared) {
    return termFor(builder, {operand, type, isCompared}, select.output, space);
  };
  Term left = term(select.left, compared, isEqual);
  Term right = term(select.right, compared, isEqual);
  Term ifTrue = term(select.ifTrue, select.output.type, false);
  Term ifFalse = term(select.ifFalse, select.output.type, false);
  // All from "equal" and "greater".
  if (bm168x::isSwapped(select.kind))
    std::swap(left, right);
  if (bm168x::isNegated(select.kind))
    std::swap(ifTrue, ifFalse);
  addCompareSelect(builder, isEqual ? CompareOp::Equal : CompareOp::Greater, select.output, left,
                   right, ifTrue, ifFalse);
  return {};
}

} // namespace tpuc::bm1684x
