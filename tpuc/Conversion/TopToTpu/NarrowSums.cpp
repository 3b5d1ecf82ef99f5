//===- NarrowSums.cpp - Sums that may be rounded at each step -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/NarrowSums.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

using namespace mlir;
using namespace tpuc;

/// Whether `op` multiplies `value` by constants or adds some to it.
static bool scales(Operation *op, Value value) {
  return isa<tpu::MulOp, tpu::AddOp>(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand == value || operand.getDefiningOp<top::WeightOp>();
         });
}

/// Whether all that reads `value` makes integers of at most 8 bits of it.
static bool becomesIntegers(Value value) {
  constexpr unsigned kMostBits = 8;
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (scales(user, value))
      return becomesIntegers(user->getResult(0));
    auto cast = dyn_cast<tpu::CastOp>(user);
    const std::optional<DataType> stored = cast && tpu::isQuantized(cast.getOutput())
                                               ? storageDataType(cast.getOutput().getType())
                                               : std::nullopt;
    return stored && bitWidth(*stored) <= kMostBits;
  });
}

/// Whether each output channel of `conv` has one input channel of its own.
static bool isDepthwise(tpu::ConvOp conv) {
  auto filter = dyn_cast<RankedTensorType>(conv.getFilter().getType());
  const auto group = static_cast<int64_t>(conv.getGroup());
  return filter && filter.getRank() > 1 && group > 1 && filter.getDimSize(0) == group &&
         filter.getDimSize(1) == 1;
}

void tpuc::markNarrowSums(Operation *root) {
  root->walk([](tpu::ConvOp conv) {
    if (storageDataType(conv.getOutput().getType()) == DataType::F16 && isDepthwise(conv) &&
        becomesIntegers(conv.getOutput()))
      conv.setNarrowSums(true);
  });
}
