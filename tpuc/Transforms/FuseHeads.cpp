//===- FuseHeads.cpp - Rows of heads in the order of their parts -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One product makes queries, keys and values of all heads. Some networks have those of a head side
// by side, so queries of all heads are no part of a row:
//
//   q0 k0 v0 | q1 k1 v1  ->  q0 q1 | k0 k1 | v0 v1
//
// The columns of the constant are put into the order on the right, which costs nothing.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

namespace {

/// Elements [begin, begin + size) of each head, as a value.
struct HeadPart {
  Value value;
  int64_t begin = 0, size = 0;
};

} // namespace

/// The parts of the last dimension that splits and slices take of heads [..., H, S]; none where
/// something else reads them, or parts overlap.
static SmallVector<HeadPart> partsOf(Value heads) {
  const Dims dims = *dimsOf(heads);
  const auto rank = static_cast<int64_t>(dims.size());
  SmallVector<HeadPart> parts;
  for (Operation *user : heads.getUsers()) {
    if (auto split = dyn_cast<SplitOp>(user)) {
      if (frontAxis(static_cast<int64_t>(split.getAxis()), rank) != rank - 1)
        return {};
      int64_t begin = 0;
      for (Value part : split.getOutputs()) {
        const std::optional<Dims> own = dimsOf(part);
        if (!own || own->back() == kDynamic)
          return {};
        parts.push_back({part, begin, own->back()});
        begin += own->back();
      }
      continue;
    }
    const std::optional<ElementRange> range = slicedAlong(user, rank - 1);
    if (!range)
      return {};
    parts.push_back({user->getResult(0), range->begin, range->end - range->begin});
  }
  llvm::sort(parts, [](const HeadPart &a, const HeadPart &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].begin < parts[i - 1].begin + parts[i - 1].size)
      return {};
  return parts;
}

/// Whether heads go in front of the rows somewhere.
static bool isPermuted(Value part) {
  return llvm::any_of(part.getUsers(), [](Operation *user) { return isa<PermuteOp>(user); });
}

/// `product` with its columns in the order that `sources` names; null where its constants cannot
/// be read.
static MatMulOp withColumns(PatternRewriter &rewriter, MatMulOp product,
                            ArrayRef<int64_t> sources) {
  const std::optional<Dims> dims = dimsOf(product.getRight());
  const std::optional<Doubles> matrix = constantFloats(product.getRight());
  const auto columns = static_cast<int64_t>(sources.size());
  if (!dims || dims->size() != 2 || !matrix || product.getLeftTranspose())
    return {};
  const bool isTurned = product.getRightTranspose();
  const int64_t rows = (*dims)[isTurned ? 1 : 0];
  if ((*dims)[isTurned ? 0 : 1] != columns)
    return {};
  std::optional<Doubles> biases;
  if (isPresent(product.getBias())) {
    biases = constantFloats(product.getBias(), columns);
    if (!biases)
      return {};
  }
  Doubles turned(matrix->size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const auto at = [&](int64_t index) {
        return static_cast<size_t>(isTurned ? index * rows + row : row * columns + index);
      };
      turned[at(column)] = (*matrix)[at(sources[static_cast<size_t>(column)])];
    }
  SmallVector<Value> operands = {product.getInput(),
                                 makeWeight(rewriter, product, "_by_part_weight", *dims, turned),
                                 product.getBias()};
  if (biases) {
    Doubles ordered;
    for (int64_t source : sources)
      ordered.push_back((*biases)[static_cast<size_t>(source)]);
    operands.back() = makeWeight(rewriter, product, "_by_part_bias", ordered);
  }
  auto made = cast<MatMulOp>(rewriter.clone(*product));
  rewriter.modifyOpInPlace(made, [&] {
    made->setOperands(operands);
    made->setLoc(locWith(rewriter, product, "_by_part"));
  });
  return made;
}

/// The permute that alone reads heads and leaves their elements last, in front of what takes parts
/// of these; null if there is none.
static PermuteOp permuteOf(ReshapeOp heads) {
  if (!heads.getOutput().hasOneUse())
    return {};
  auto permute = dyn_cast<PermuteOp>(*heads.getOutput().user_begin());
  const Dims order = permute ? toInts(permute.getOrder()) : Dims();
  return !order.empty() && order.back() == static_cast<int64_t>(order.size()) - 1 &&
                 !isOutput(permute.getOutput())
             ? permute
             : PermuteOp();
}

/// Split(Reshape(MatMul(x, c)) to [..., H, S]) -> Reshape(Slice(MatMul(x, c'))) of each part, whose
/// columns of all heads follow each other; also with a permute of heads in front of the split
static LogicalResult partsInFrontOfHeads(ReshapeOp heads, PatternRewriter &rewriter) {
  auto product = producerFor<MatMulOp>(heads.getInput(), heads);
  const std::optional<Dims> dims = dimsOf(heads.getOutput());
  const std::optional<Dims> flat = product ? dimsOf(product.getOutput()) : std::nullopt;
  if (!dims || !flat || dims->size() != flat->size() + 1 || flat->size() < 2 ||
      ShapedType::isDynamicShape(*dims) || ShapedType::isDynamicShape(*flat) ||
      isOutput(heads.getOutput()) || !isF32(product.getOutput()))
    return failure();
  const int64_t number = (*dims)[dims->size() - 2];
  const int64_t size = dims->back();
  if (number == 1 || number * size != flat->back() ||
      ArrayRef(*dims).drop_back(2) != ArrayRef(*flat).drop_back())
    return failure();
  PermuteOp permute = permuteOf(heads);
  const SmallVector<HeadPart> parts = partsOf(permute ? permute.getOutput() : heads.getOutput());
  const auto goesInFront = [](const HeadPart &part) { return isPermuted(part.value); };
  if (parts.size() < 2 || (!permute && llvm::none_of(parts, goesInFront)))
    return failure();
  // What no part reads stands between them.
  SmallVector<int64_t> borders = {0, size};
  for (const HeadPart &part : parts)
    borders.append({part.begin, part.begin + part.size});
  llvm::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  SmallVector<int64_t> sources;
  for (size_t i = 1; i < borders.size(); ++i)
    for (int64_t head = 0; head < number; ++head)
      for (int64_t element = borders[i - 1]; element < borders[i]; ++element)
        sources.push_back(head * size + element);
  rewriter.setInsertionPoint(product);
  MatMulOp made = withColumns(rewriter, product, sources);
  if (!made)
    return failure();
  rewriter.setInsertionPoint(heads);
  const auto ints = [&](int64_t value) { return rewriter.getI64ArrayAttr(value); };
  for (const HeadPart &part : parts) {
    Operation *maker = part.value.getDefiningOp();
    const StringRef name =
        rewriter.getStringAttr(tensorNames(maker)[cast<OpResult>(part.value).getResultNumber()]);
    const auto named = [&](const Twine &suffix) {
      return NameLoc::get(rewriter.getStringAttr(name + suffix));
    };
    Dims columns = *flat;
    columns.back() = number * part.size;
    const int64_t first = number * part.begin;
    Value none = makeNone(rewriter, heads.getLoc());
    Value slice = rewriter.create<SliceOp>(
        named("_columns"), RankedTensorType::get(columns, elementTypeOf(part.value)),
        made.getOutput(), none, none, none, none, ints(first), ints(1),
        ints(first + columns.back()), ints(static_cast<int64_t>(flat->size()) - 1));
    Dims split = *dims;
    split.back() = part.size;
    Value result = reshaped(rewriter, named(permute ? "_heads" : ""), slice, split);
    if (permute)
      result = rewriter.create<PermuteOp>(named(""), part.value.getType(), result,
                                          permute.getOrderAttr());
    rewriter.replaceAllUsesWith(part.value, result);
  }
  const Value parted = permute ? permute.getOutput() : heads.getOutput();
  for (Operation *user : llvm::make_early_inc_range(parted.getUsers()))
    rewriter.eraseOp(user);
  if (permute)
    rewriter.eraseOp(permute);
  rewriter.eraseOp(heads);
  rewriter.eraseOp(product);
  return success();
}

/// MatMul(Reshape(Permute(x)), c) whose permutation puts the heads [..., H, D] behind their
/// elements, [..., D, H] -> MatMul(Reshape(x), c') with the rows of c in the order of x
static LogicalResult headsInOrder(MatMulOp op, PatternRewriter &rewriter) {
  Operation *join = op.getInput().getDefiningOp();
  auto permute = isReshape(join) ? producerFor<PermuteOp>(join->getOperand(0), join) : PermuteOp();
  const std::optional<Dims> turned = permute ? dimsOf(permute.getOutput()) : std::nullopt;
  const std::optional<Dims> rows = dimsOf(op.getInput());
  const std::optional<Dims> matrix = dimsOf(op.getRight());
  if (!turned || !rows || !matrix || matrix->size() != 2 || turned->size() < 3 ||
      rows->size() + 1 != turned->size() || ShapedType::isDynamicShape(*turned) ||
      ArrayRef(*rows).drop_back() != ArrayRef(*turned).drop_back(2) || !op.getInput().hasOneUse() ||
      op.getLeftTranspose() || isOutput(op.getInput()) || join->getBlock() != op->getBlock())
    return failure();
  Dims order = toInts(permute.getOrder());
  const size_t last = order.size() - 1;
  if (order[last - 1] != static_cast<int64_t>(last))
    return failure();
  const std::optional<Doubles> numbers = constantFloats(op.getRight());
  if (!numbers)
    return failure();
  const bool isTurned = op.getRightTranspose();
  const int64_t elements = (*turned)[last - 1], heads = (*turned)[last];
  const int64_t columns = (*matrix)[isTurned ? 0 : 1];
  Doubles ordered(numbers->size());
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t element = 0; element < elements; ++element)
      for (int64_t column = 0; column < columns; ++column) {
        const auto at = [&](int64_t row) {
          return static_cast<size_t>(isTurned ? column * heads * elements + row
                                              : row * columns + column);
        };
        ordered[at(head * elements + element)] = (*numbers)[at(element * heads + head)];
      }
  std::swap(order[last - 1], order[last]);
  Dims dims = *turned;
  std::swap(dims[last - 1], dims[last]);
  const Value inOrder =
      rewriter.create<PermuteOp>(locWith(rewriter, permute, "_in_order"),
                                 RankedTensorType::get(dims, elementTypeOf(permute.getInput())),
                                 permute.getInput(), rewriter.getI64ArrayAttr(order));
  const Value joined = reshaped(rewriter, locWith(rewriter, join, "_in_order"), inOrder, *rows);
  const Value weight = makeWeight(rewriter, op, "_in_order_weight", *matrix, ordered);
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, joined);
    op->setOperand(1, weight);
  });
  return success();
}

ArrayRef<Fusion> tpuc::headFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<headsInOrder>("heads-in-order"),
      fusion<partsInFrontOfHeads>("parts-before-heads", FusionStage::Finish),
  };
  return kFusions;
}
