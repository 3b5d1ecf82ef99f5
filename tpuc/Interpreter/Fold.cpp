//===- Fold.cpp - Constants computed ahead of time ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Fold.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tpuc;

/// Stands for any tensor of the shape of `value`: ops that read the shape alone take it.
static std::optional<Tensor> shapeOnly(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > int64_t(Shape::kMaxRank))
    return std::nullopt;
  std::optional<DataType> element = storageDataType(type);
  if (!element)
    return std::nullopt;
  ArrayRef<int64_t> dims = type.getShape();
  return Tensor::borrow(*element, Shape(std::span(dims.data(), dims.size())), nullptr, nullptr);
}

static bool isKnown(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

/// How many elements the present results have together; none where that is not known.
static std::optional<int64_t> elementsMade(Operation *op) {
  int64_t made = 0;
  for (Value result : op->getResults()) {
    if (top::isPresent(result) && !isKnown(result))
      return std::nullopt;
    made += top::staticElements(result);
  }
  return made;
}

/// Whether all that reads `op` is constant with it, and makes at most `read` elements of it in the
/// end: what the constants have from which `op` is made. Nothing between is larger than `most`.
static bool shrinksAgain(Operation *op, int64_t read, int64_t most) {
  const std::optional<int64_t> made = elementsMade(op);
  if (!made || *made > most || op->use_empty())
    return false;
  // What reads it twice is one user: chains of x * x would else be walked 2^n times.
  const llvm::SetVector<Operation *> users(op->user_begin(), op->user_end());
  return llvm::all_of(users, [&](Operation *user) {
    if (!isa<EvaluateInterface>(user) || user->getNumRegions() > 0 ||
        isa<top::QuantizeLinearOp, top::DequantizeLinearOp>(user))
      return false;
    int64_t all = read;
    for (Value operand : user->getOperands()) {
      if (operand.getDefiningOp() == op || !top::isPresent(operand))
        continue;
      if (!operand.getDefiningOp<top::WeightOp>())
        return false;
      all += top::staticElements(operand);
    }
    const std::optional<int64_t> last = elementsMade(user);
    return (last && *last <= all) || shrinksAgain(user, all, most);
  });
}

/// Whether the operands, all constant, and the results are small enough.
static bool isWithin(Operation *op, const FoldLimits &limits) {
  int64_t read = 0;
  bool isSmall = true;
  for (Value operand : op->getOperands()) {
    read += top::staticElements(operand);
    isSmall &= top::staticElements(operand) <= limits.maxElements;
  }
  int64_t made = 0;
  bool isExact = true;
  for (Value result : op->getResults()) {
    if (!top::isPresent(result))
      continue;
    isExact &= isKnown(result);
    made += top::staticElements(result);
    isSmall &= top::staticElements(result) <= limits.maxElements;
  }
  // Rows of a table by constant indices would be moved one by one, functions and products of
  // constants, as positions are made of, would be computed in each run, in fewer bits, and places
  // make what they name constant.
  constexpr int64_t kGrowth = 64;
  const bool arePlaces = llvm::all_of(
      op->getResultTypes(), [](Type type) { return storageDataType(type) == DataType::I64; });
  const bool isProduct = isa<top::EinsumOp, top::MatMulOp>(op);
  const bool mayGrow =
      isa<top::GatherOp>(op) || op->hasTrait<traits::Pointwise>() || arePlaces || isProduct;
  const int64_t most = mayGrow ? std::max(read, kGrowth * limits.maxElements) : read;
  // What was quantized is meant to stay so until the network is lowered.
  bool isWeight = limits.ifNotGrowing && isExact && made <= most &&
                  !isa<top::QuantizeLinearOp, top::DequantizeLinearOp>(op);
  return isSmall || isWeight ||
         (limits.ifNotGrowing && shrinksAgain(op, read, kGrowth * limits.maxElements));
}

std::optional<SmallVector<Tensor>> tpuc::foldConstant(Operation *op, const FoldLimits &limits,
                                                      ThreadPool &threads) {
  auto evaluator = dyn_cast<EvaluateInterface>(op);
  if (!evaluator || limits.maxElements == 0 || op->getNumRegions() > 0 || op->getNumOperands() == 0)
    return std::nullopt;
  bool readsShape = isa<top::ShapeOp, top::SizeOp>(op);
  // The elements of large weights are not read before it is clear that they are needed.
  for (Value operand : op->getOperands())
    if (top::isPresent(operand) && !readsShape && !operand.getDefiningOp<top::WeightOp>())
      return std::nullopt;
  if (!readsShape && !isWithin(op, limits))
    return std::nullopt;
  std::vector<std::optional<Tensor>> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> tensor;
    if (top::isPresent(operand)) {
      tensor = readsShape ? shapeOnly(operand) : top::constantTensor(operand);
      if (!tensor)
        return std::nullopt;
    }
    operands.push_back(std::move(tensor));
  }
  auto allocate = [&](unsigned, DataType type, const Shape &shape) {
    return Tensor::create(type, shape.dims(), layerName(op));
  };
  auto noRegions = [](Region &, ArrayRef<Tensor>) -> Expected<SmallVector<Tensor>> {
    return makeError("", "has no regions");
  };
  EvalContext context(op, operands, allocate, noRegions, threads);
  if (!evaluator.evaluate(context))
    return std::nullopt;
  return llvm::to_vector(context.results());
}
