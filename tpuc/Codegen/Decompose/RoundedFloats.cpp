//===- RoundedFloats.cpp - Integers in floats that are off ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RoundedFloats.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// What floats tell apart from integers that 32 bits do not hold; the part of a number that one
/// rounding takes away; and how far off floats may be.
static constexpr double kFewBits = 0x1p30, kUnit = 0x1p-24, kMostError = kFewBits / 8;

RoundedFloats codegen::roundedWords(Value number) { return {number, 0x1p31, kUnit * 0x1p31}; }

std::optional<RoundedFloats> codegen::roundedResult(Operation *op,
                                                    ArrayRef<RoundedFloats> operands) {
  RoundedFloats made;
  if (isa<tpu::MulOp>(op)) {
    // A factor of 2^30 and more is off by a small part of it, and others are exact.
    if (operands[0].error > kMostError || operands[1].error > kMostError)
      return std::nullopt;
    made.most = made.error = operands[0].most * operands[1].most;
    return made;
  }
  if (auto sum = dyn_cast<tpu::CumSumOp>(op)) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(sum.getInput());
    const auto terms = dims.empty() ? 1.0 : static_cast<double>(*llvm::max_element(dims));
    made.most = terms * operands[0].most;
    made.error = terms * (operands[0].error + kUnit * made.most);
  } else {
    made.most = operands[0].most + operands[1].most;
    made.error = operands[0].error + operands[1].error + kUnit * made.most;
  }
  return made.error > kMostError ? std::nullopt : std::optional(made);
}

Value codegen::exactWhereSmall(OpMaker &maker, Value rough, Value word) {
  const RankedTensorType type = OpMaker::typeOf(rough);
  const Value exact = maker.converted(word, type.getElementType(), "exact");
  NamedAttrList limit;
  limit.set("const_val", maker.builder.getF64FloatAttr(kFewBits));
  limit.set("mode", maker.builder.getStringAttr("Less"));
  const auto truths = RankedTensorType::get(type.getShape(), maker.builder.getI1Type());
  const Value isSmall =
      maker.make(tpu::CompareConstOp::getOperationName(), "is_small", TypeRange(Type(truths)),
                 maker.makeLike<tpu::AbsOp>("magnitude", rough), limit);
  return maker.make(tpu::WhereOp::getOperationName(), "rounded", TypeRange(Type(type)),
                    {isSmall, exact, rough}, {});
}
