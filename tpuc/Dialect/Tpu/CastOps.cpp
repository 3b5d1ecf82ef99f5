//===- CastOps.cpp - Changes of the element type ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/TpuTraits.h"

#include "tpuc/Support/Requant.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

LogicalResult tpu::CastOp::verify() { return verifyStoredTypes(*this); }

LogicalResult tpu::RequantIntOp::verify() {
  const Type input = getElementTypeOrSelf(getInput().getType());
  if (!isQuantized(getInput()) && !input.isInteger())
    return emitOpError("input type is ") << getInput().getType() << "; expected integers";
  if (!getMultiplier())
    return emitOpError("has no multiplier and rshift");
  return verifyStoredTypes(*this);
}

LogicalResult tpu::RoundToOp::verify() {
  if (!getElementTypeOrSelf(getInput().getType()).isF32())
    return emitOpError("input type is ") << getInput().getType() << "; expected f32 elements";
  if (!getType().isF16() && !getType().isBF16())
    return emitOpError("type is ") << getType() << "; expected f16 or bf16";
  return success();
}

/// An error unless each step reads values that there are by then.
static LogicalResult verifySteps(tpu::LutOp op, ArrayRef<int64_t> numbers) {
  constexpr size_t kLeft = 1, kRight = 2, kShift = 5, kAddend = 7, kAddendShift = 8;
  if (numbers.empty() || numbers.size() % tpu::kLutStepNumbers != 0)
    return op.emitOpError("steps has ") << numbers.size() << " numbers; expected a multiple of "
                                        << tpu::kLutStepNumbers << ", at least one step";
  for (int64_t step = 0; !numbers.empty();
       ++step, numbers = numbers.drop_front(tpu::kLutStepNumbers))
    for (auto [index, least, most] :
         {std::tuple(kLeft, int64_t{0}, step), std::tuple(kRight, int64_t{-1}, step),
          std::tuple(kShift, int64_t{0}, int64_t{31}), std::tuple(kAddend, int64_t{-1}, step),
          std::tuple(kAddendShift, int64_t{0}, int64_t{31})})
      if (numbers[index] < least || numbers[index] > most)
        return op.emitOpError("number ")
               << index << " of step " << step << " in steps is " << numbers[index] << "; expected "
               << least << " to " << most;
  return success();
}

LogicalResult tpu::LutOp::verify() {
  quant::UniformQuantizedType input = quantizedType(getInput());
  if (!input || input.getStorage().width != 8)
    return emitOpError("input type is ")
           << getInput().getType() << "; expected quantized values of 8 bits";
  auto table = cast<RankedTensorType>(getTable().getType());
  if (table.getNumElements() != 256 || !table.getElementType().isInteger(8))
    return emitOpError("table type is ") << table << "; expected 256 integers of 8 bits";
  if (!isQuantized(getOutput()) ||
      failed(verifyCompatibleShape(getOutput().getType(), getInput().getType())))
    return emitOpError("result type is ")
           << getOutput().getType() << "; expected quantized values in the shape of the input";
  if (std::optional<ArrayAttr> steps = getSteps())
    if (failed(verifySteps(*this, top::toInts(*steps))))
      return failure();
  return verifyStoredTypes(*this);
}

//===--- Canonical form ---------------------------------------------------===//

/// Whether `value` is what the network, or a body, gives: its op's name is the output's.
static bool isGiven(Value value) {
  return llvm::any_of(value.getUsers(),
                      [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

/// Whether every number of type `narrow` is one of `wide`.
static bool holds(Type wide, Type narrow) {
  if (wide == narrow)
    return true;
  if (wide.isF32())
    return narrow.isF16() || narrow.isBF16();
  return false;
}

/// A cast to the type that there is goes, and of two in a row the first where it loses nothing.
static LogicalResult foldCasts(tpu::CastOp op, PatternRewriter &rewriter) {
  if (op.getInput().getType() == op.getOutput().getType() && !isGiven(op.getOutput())) {
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
  auto first = op.getInput().getDefiningOp<tpu::CastOp>();
  if (!first || !holds(getElementTypeOrSelf(first.getOutput().getType()),
                       getElementTypeOrSelf(first.getInput().getType())))
    return failure();
  if (first.getInput().getType() == op.getOutput().getType() && !isGiven(op.getOutput()))
    rewriter.replaceOp(op, first.getInput());
  else
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(first.getInput()); });
  return success();
}

void tpu::CastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(foldCasts);
}

/// The only factor of a requantization that rounds once; none if it has another form.
static std::optional<double> singleFactor(tpu::RequantIntOp op) {
  if (!op.getMultiplier() || op.getMultiplier()->size() != 1 || op.getQuantMode())
    return std::nullopt;
  const auto entry = [](ArrayAttr array) { return cast<IntegerAttr>(array[0]).getInt(); };
  return MultiplierShift{static_cast<int32_t>(entry(*op.getMultiplier())),
                         static_cast<int32_t>(entry(*op.getRshift()))}
      .scale();
}

/// Two requantizations in a row become one of the product of their factors, where the tensor
/// between them has no other reader: one rounding and saturation less.
static LogicalResult mergeRequants(tpu::RequantIntOp op, PatternRewriter &rewriter) {
  auto first = op.getInput().getDefiningOp<tpu::RequantIntOp>();
  if (!first || !first.getOutput().hasOneUse() || first.getRoundMode() != op.getRoundMode())
    return failure();
  std::optional<double> a = singleFactor(first);
  std::optional<double> b = singleFactor(op);
  if (!a || !b)
    return failure();
  Expected<MultiplierShift> product = quantizeMultiplier(*a * *b);
  if (!product)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(first.getInput());
    op.setMultiplierAttr(rewriter.getI64ArrayAttr(product->multiplier));
    op.setRshiftAttr(rewriter.getI64ArrayAttr(product->rshift));
  });
  return success();
}

void tpu::RequantIntOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeRequants);
}
