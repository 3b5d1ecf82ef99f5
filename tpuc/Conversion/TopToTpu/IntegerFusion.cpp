//===- IntegerFusion.cpp - Norms and softmaxes between stored integers --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/IntegerFusion.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Tpu/AttentionFacts.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/BitExactMath.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

namespace {

/// The integers that `value` was cast from; null if there are none.
Value integersOf(Value value) {
  auto cast = value.getDefiningOp<tpu::CastOp>();
  return cast && tpu::isQuantized(cast.getInput()) ? cast.getInput() : Value();
}

/// The cast to integers that alone reads `value`; null if there is another reader.
tpu::CastOp onlyStored(Value value) {
  auto cast = value.hasOneUse() ? dyn_cast<tpu::CastOp>(*value.user_begin()) : tpu::CastOp();
  return cast && tpu::isQuantized(cast.getOutput()) ? cast : tpu::CastOp();
}

/// `op` gives what `cast` made of its result, under the name that it had.
void giveIntegers(Operation *op, tpu::CastOp cast) {
  op->getResult(0).setType(cast.getOutput().getType());
  cast.getOutput().replaceAllUsesWith(op->getResult(0));
  cast.erase();
  op->removeAttr("storage_reason");
}

ArrayRef<int64_t> staticDims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getShape() : ArrayRef<int64_t>();
}

bool isNone(Value value) { return isa<NoneType>(value.getType()); }

void convertNorm(tpu::LayerNormOp op) {
  Value integers = integersOf(op.getInput());
  const ArrayRef<int64_t> dims = staticDims(op.getInput());
  if (!integers || dims.empty() || !isNone(op.getMean()) || !isNone(op.getRstd()) ||
      !getElementTypeOrSelf(op.getOutput()).isF32())
    return;
  const auto axis = static_cast<int64_t>(op.getAxis());
  const int64_t length = ShapedType::getNumElements(
      dims.drop_front(static_cast<size_t>(axis < 0 ? axis + std::ssize(dims) : axis)));
  const auto fits = [&](Value parameter) {
    auto type = dyn_cast<RankedTensorType>(parameter.getType());
    return isNone(parameter) || (type && type.getElementType().isF32() && type.hasStaticShape() &&
                                 type.getNumElements() == length);
  };
  if (length > steps::kLongestNorm || !fits(op.getWeight()) || !fits(op.getBias()))
    return;
  op->setOperand(0, integers);
  op->removeAttr("storage_reason");
}

void convertSoftmax(tpu::SoftmaxOp op) {
  tpu::CastOp stored = onlyStored(op.getOutput());
  const ArrayRef<int64_t> dims = staticDims(op.getInput());
  const auto axis = static_cast<int64_t>(op.getAxis());
  if (!stored || dims.empty() || op.getLog() || (axis != -1 && axis != std::ssize(dims) - 1) ||
      dims.back() > steps::kLongestSoftmax || !getElementTypeOrSelf(op.getInput()).isF32())
    return;
  giveIntegers(op, stored);
}

/// Whether every query sees every key, and nothing is kept.
bool isPlain(tpu::ScaleDotProductAttentionOp op) {
  return llvm::all_of(op->getOperands().drop_front(3), isNone) &&
         llvm::all_of(op->getResults().drop_front(), isNone) && !op.getIsCausal() &&
         static_cast<int64_t>(op.getLeftWindow()) < 0 &&
         static_cast<int64_t>(op.getRightWindow()) < 0 && op.getSoftcap().convertToDouble() == 0;
}

/// What has integers as operands and result is computed on them.
void convertAttention(tpu::ScaleDotProductAttentionOp op) {
  tpu::CastOp stored = onlyStored(op.getOutput());
  if (stored && getElementTypeOrSelf(op.getOutput()).isF16())
    op->setAttr(tpu::kShortWeights, UnitAttr::get(op.getContext()));
  const ArrayRef<int64_t> query = staticDims(op.getQuery());
  const ArrayRef<int64_t> key = staticDims(op.getKey());
  if (!stored || !isPlain(op) || query.empty() || key.empty())
    return;
  const bool isPacked = op.getQNumHeads().has_value();
  const bool sharesHeads = isPacked ? op.getQNumHeads() != op.getKvNumHeads() : query[1] != key[1];
  if (sharesHeads || key[isPacked ? 1 : 2] > steps::kLongestSoftmax)
    return;
  SmallVector<Value> integers;
  for (Value operand : op->getOperands().take_front(3)) {
    integers.push_back(integersOf(operand));
    if (!integers.back())
      return;
  }
  for (auto [index, value] : llvm::enumerate(integers))
    op->setOperand(static_cast<unsigned>(index), value);
  op->removeAttr("softmax_type");
  op->removeAttr(tpu::kShortWeights);
  giveIntegers(op, stored);
}

} // namespace

void tpuc::computeOnIntegers(ModuleOp module) {
  static const auto kConversions =
      OpFunctions<void()>()
          .add<tpu::LayerNormOp>([](tpu::LayerNormOp norm) { convertNorm(norm); })
          .add<tpu::SoftmaxOp>([](tpu::SoftmaxOp softmax) { convertSoftmax(softmax); })
          .add<tpu::ScaleDotProductAttentionOp>(
              [](tpu::ScaleDotProductAttentionOp attention) { convertAttention(attention); });
  SmallVector<Operation *> ops;
  // Casts go on the way.
  module.walk([&](Operation *op) {
    if (kConversions.find(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    kConversions.find(op)(op);
}
