//===- SimplifyMovement.cpp - Ops that change nothing, or undo each other -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Matching.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

//===----------------------------------------------------------------------===//
// What changes nothing
//===----------------------------------------------------------------------===//

static bool isIdentity(ArrayRef<int64_t> order) {
  for (auto [index, axis] : llvm::enumerate(order))
    if (axis != static_cast<int64_t>(index))
      return false;
  return true;
}

/// Whether an op that keeps the order of the elements keeps the shape too, as far as its type
/// tells.
static bool keepsType(Operation *op) { return haveSameType(op->getOperand(0), op->getResult(0)); }

static bool isForward(SliceOp slice) {
  std::optional<Dims> steps = intsOf(slice.getSteps(), slice.getStepsTensor());
  if (!steps)
    return !isPresent(slice.getStepsTensor());
  return llvm::all_of(*steps, [](int64_t step) { return step == 1; });
}

/// The operand that a constant condition chooses for all elements; null if there is none.
static Value chosenOperand(WhereOp where) {
  std::optional<Tensor> condition = constantTensor(where.getCond());
  if (!condition || condition->type() != DataType::Bool || condition->numElements() == 0)
    return {};
  auto truths = condition->data<uint8_t>();
  bool isX = truths.front() != 0;
  Value chosen = isX ? where.getX() : where.getY();
  bool isSame = llvm::all_of(truths, [&](uint8_t truth) { return (truth != 0) == isX; });
  return isSame && haveSameType(chosen, where.getOutput()) ? chosen : Value();
}

/// The operand that the only result of `op` equals; null if there is none.
static Value unchangedOperand(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !isPlain(op))
    return {};
  bool isSame =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<CopyOp>([](auto) { return true; })
          .Case<CastOp>([](CastOp cast) {
            return elementTypeOf(cast.getInput()) == elementTypeOf(cast.getOutput());
          })
          .Case<ExpandOp, TileOp, UpsampleOp, SplitOp>([](auto same) { return keepsType(same); })
          // Of the same size, nothing is left out unless it runs backwards.
          .Case<SliceOp>([](SliceOp slice) { return keepsType(slice) && isForward(slice); })
          .Case<PermuteOp>([](PermuteOp permute) { return isIdentity(toInts(permute.getOrder())); })
          .Case<PadOp>([](PadOp pad) {
            std::optional<Dims> paddings = intsOf(pad.getPaddings(), pad.getPaddingsTensor());
            return paddings && llvm::all_of(*paddings, [](int64_t each) { return each == 0; });
          })
          .Case<ConcatOp>([](ConcatOp concat) { return concat.getInputs().size() == 1; })
          .Case<MulOp, MulConstOp, DivOp, DivConstOp>([](Operation *product) {
            std::optional<WithScalar> found = productOf(product);
            return found && found->scalar == 1;
          })
          .Case<AddOp, AddConstOp, SubOp, SubConstOp>([](Operation *sum) {
            std::optional<WithScalar> found = sumOf(sum);
            return found && found->scalar == 0;
          })
          .Case<MaxOp, MaxConstOp>([](Operation *maximum) {
            std::optional<WithScalar> found = maximumOf(maximum);
            return found && found->scalar == -std::numeric_limits<double>::infinity();
          })
          .Default([](Operation *other) {
            return other->hasTrait<traits::ViewLike>() && keepsType(other);
          });
  if (auto where = dyn_cast<WhereOp>(op))
    return chosenOperand(where);
  if (!isSame)
    return {};
  if (std::optional<WithScalar> found = productOf(op))
    return found->tensor;
  if (std::optional<WithScalar> found = sumOf(op))
    return found->tensor;
  if (std::optional<WithScalar> found = maximumOf(op))
    return found->tensor;
  return op->getOperand(0);
}

/// Whether the op that makes `value` can take over the name of an op behind it.
static bool canRename(Value value, Operation *behind) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumResults() == 1 && op->getBlock() == behind->getBlock() &&
         !isa<InputOp, WeightOp>(op) && !isOutput(value);
}

/// Removes an op whose result is one of its operands. What the network gives keeps its name: either
/// the op before takes it over, or the op stays.
static LogicalResult removeNoOp(Operation *op, PatternRewriter &rewriter) {
  Value same = unchangedOperand(op);
  if (!same)
    return failure();
  bool isNamed = isOutput(op->getResult(0));
  bool renames = canRename(same, op) && (isNamed || same.hasOneUse());
  if (!renames && (isNamed || same.getType() != op->getResult(0).getType()))
    return failure();
  if (renames) {
    Operation *before = same.getDefiningOp();
    rewriter.modifyOpInPlace(before, [&] {
      before->setLoc(op->getLoc());
      same.setType(op->getResult(0).getType());
    });
  }
  rewriter.replaceOp(op, same);
  return success();
}

//===----------------------------------------------------------------------===//
// What undoes another
//===----------------------------------------------------------------------===//

/// Permute(Permute(x)) -> Permute(x)
static LogicalResult mergePermutes(PermuteOp op, PatternRewriter &rewriter) {
  auto first = producerFor<PermuteOp>(op.getInput(), op);
  if (!first)
    return failure();
  Dims inner = toInts(first.getOrder());
  Dims order = toInts(op.getOrder());
  for (int64_t &axis : order)
    axis = inner[static_cast<size_t>(axis)];
  rewriter.replaceOpWithNewOp<PermuteOp>(op, op.getType(), first.getInput(),
                                         rewriter.getI64ArrayAttr(order));
  return success();
}

/// A constant shape that says the same as the type of `value`: at most one extent is not known,
/// and none is 0.
static std::optional<Dims> reshapeTo(Value value) {
  std::optional<Dims> dims = dimsOf(value);
  if (!dims || llvm::count(*dims, kDynamic) > 1 || llvm::is_contained(*dims, 0))
    return std::nullopt;
  std::ranges::replace(*dims, kDynamic, int64_t(-1));
  return dims;
}

static void replaceByReshape(Operation *op, Value input, ArrayRef<int64_t> shape,
                             PatternRewriter &rewriter) {
  Value none = makeNone(rewriter, op->getLoc());
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), input, none,
                                         rewriter.getI64ArrayAttr(shape), BoolAttr());
}

/// Reshape(Reshape(x)) -> Reshape(x), also of Flatten, Squeeze, Unsqueeze
static LogicalResult mergeReshapes(Operation *op, PatternRewriter &rewriter) {
  if (!isReshape(op))
    return failure();
  Operation *first = op->getOperand(0).getDefiningOp();
  std::optional<Dims> shape = reshapeTo(op->getResult(0));
  if (!isReshape(first) || !op->getOperand(0).hasOneUse() || first->getBlock() != op->getBlock() ||
      !shape)
    return failure();
  replaceByReshape(op, first->getOperand(0), *shape, rewriter);
  return success();
}

/// Permute(x) -> Reshape(x), where only dimensions of one element change their places
static LogicalResult permuteToReshape(PermuteOp op, PatternRewriter &rewriter) {
  std::optional<Dims> dims = dimsOf(op.getInput());
  std::optional<Dims> shape = reshapeTo(op.getOutput());
  if (!dims || !shape)
    return failure();
  int64_t last = -1;
  for (int64_t axis : toInts(op.getOrder())) {
    if ((*dims)[static_cast<size_t>(axis)] == 1)
      continue;
    if (axis < last)
      return failure();
    last = axis;
  }
  replaceByReshape(op, op.getInput(), *shape, rewriter);
  return success();
}

namespace {

/// Elements [begin, end) of one dimension of a tensor.
struct Range {
  Value source;
  int64_t axis;
  int64_t begin;
  int64_t end;
};

} // namespace

/// What `value`, reshaped or not, takes of a tensor; none if it is no slice of one dimension.
static std::optional<Range> rangeOf(Value value) {
  while (isReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto slice = value.getDefiningOp<SliceOp>();
  std::optional<Dims> offset =
      slice ? intsOf(slice.getOffset(), slice.getOffsetTensor()) : std::nullopt;
  std::optional<Dims> axes = slice ? intsOf(slice.getAxes(), slice.getAxesTensor()) : std::nullopt;
  std::optional<Dims> dims = dimsOf(value);
  if (!offset || !axes || axes->size() != 1 || offset->size() != 1 || !dims || !isForward(slice))
    return std::nullopt;
  int64_t axis = axes->front() < 0 ? axes->front() + rankOf(value) : axes->front();
  int64_t extent = (*dims)[static_cast<size_t>(axis)];
  if (offset->front() < 0 || extent == kDynamic)
    return std::nullopt;
  return Range{slice.getInput(), axis, offset->front(), offset->front() + extent};
}

/// The product of the extents before `axis`; none if one is not known.
static std::optional<int64_t> outerExtent(Value value, int64_t axis) {
  Dims outer(ArrayRef(*dimsOf(value)).take_front(static_cast<size_t>(axis)));
  if (llvm::is_contained(outer, kDynamic))
    return std::nullopt;
  return productOf(outer);
}

/// Concat(Slice(x)...) -> Reshape(x), where the slices are all of x in order
static LogicalResult joinSlices(ConcatOp concat, PatternRewriter &rewriter) {
  std::optional<Dims> shape = reshapeTo(concat.getOutput());
  if (!shape || !isPlain(concat))
    return failure();
  std::optional<Range> joined;
  for (Value input : concat.getInputs()) {
    std::optional<Range> range = rangeOf(input);
    if (!range || range->begin != (joined ? joined->end : 0) ||
        (joined && (range->source != joined->source || range->axis != joined->axis)))
      return failure();
    range->begin = 0;
    joined = range;
  }
  auto axis = static_cast<int64_t>(concat.getAxis());
  axis += axis < 0 ? rankOf(concat.getOutput()) : 0;
  std::optional<int64_t> outer = outerExtent(concat.getOutput(), axis);
  // Each slice takes one piece of every row in front of the axis, and so does each operand.
  if ((*dimsOf(joined->source))[static_cast<size_t>(joined->axis)] != joined->end || !outer ||
      outer != outerExtent(joined->source, joined->axis))
    return failure();
  replaceByReshape(concat, joined->source, *shape, rewriter);
  return success();
}

//===----------------------------------------------------------------------===//
// What is computed twice
//===----------------------------------------------------------------------===//

static bool areEqual(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getResultTypes() != b->getResultTypes() || a->getNumOperands() != b->getNumOperands())
    return false;
  for (auto [x, y] : llvm::zip_equal(a->getOperands(), b->getOperands()))
    if (x != y && (isPresent(x) || isPresent(y)))
      return false;
  return true;
}

static bool hasOutput(Operation *op) { return llvm::any_of(op->getResults(), isOutput); }

/// Two ops that compute the same -> the first one. If the network gives what the second one makes,
/// that name stays, unless it gives both.
static LogicalResult shareEqual(Operation *op, PatternRewriter &rewriter) {
  if (op->hasTrait<traits::Structural>() || op->getNumRegions() > 0 || op->getNumResults() == 0 ||
      !isMemoryEffectFree(op))
    return failure();
  // Constants have the most readers.
  auto operand = llvm::find_if(op->getOperands(), [](Value value) {
    Operation *maker = value.getDefiningOp();
    return !maker || !maker->hasTrait<traits::Parameter>();
  });
  if (operand == op->operand_end())
    return failure();
  for (Operation *other : (*operand).getUsers()) {
    if (other->getBlock() != op->getBlock() || other == op || !other->isBeforeInBlock(op) ||
        !areEqual(op, other))
      continue;
    if (hasOutput(op)) {
      if (hasOutput(other))
        continue;
      rewriter.modifyOpInPlace(other, [&] { other->setLoc(op->getLoc()); });
    }
    rewriter.replaceOp(op, other->getResults());
    return success();
  }
  return failure();
}

ArrayRef<Fusion> tpuc::movementFusions() {
  static constexpr Fusion kFusions[] = {
      fusion<removeNoOp>("remove-no-op"),      fusion<mergePermutes>("merge-permutes"),
      fusion<mergeReshapes>("merge-reshapes"), fusion<permuteToReshape>("permute-to-reshape"),
      fusion<joinSlices>("join-slices"),       fusion<shareEqual>("share-equal"),
  };
  return kFusions;
}
