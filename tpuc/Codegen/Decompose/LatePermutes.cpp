//===- LatePermutes.cpp - Permutes behind what is done to parts ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The heads of detectors put channels behind pixels, compute with a few channels each, and join
// them again:
//
//   x [a, c, n] -> Permute [a, n, c] -> Slice, Add, Mul, ... -> Concat [a, n, c]
//
// Each of these moves rows of a few elements. Where what lies between reads nothing else but
// constants, it is done to the channels as they are, whose rows are long, and the result is
// permuted once.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Support/ThreadPool.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <numeric>
#include <utility>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// What can be done in front of a permute that stands in front of it.
struct PermutedLayers {
  tpu::PermuteOp permute;
  /// Dimension i behind the permute is dimension `order[i]` in front of it.
  SmallVector<int64_t> order;
  SmallVector<Operation *> layers;
  llvm::SetVector<Value> permuted;
  /// The only one of `permuted` that others read.
  Value result;
};

bool isAbsent(Value value) { return isa<NoneType>(value.getType()); }

bool hasRank(Value value, size_t rank) {
  const RankedTensorType type = staticType(value);
  return type && static_cast<size_t>(type.getRank()) == rank;
}

/// The constant that is repeated or converted to become `value`, or is it.
Value constantIn(Value value) {
  if (auto cast = value.getDefiningOp<tpu::CastOp>())
    value = cast->getOperand(0);
  if (auto expand = value.getDefiningOp<tpu::ExpandOp>())
    value = expand.getInput();
  return value.getDefiningOp<top::WeightOp>() && staticType(value) ? value : Value();
}

bool isPart(Operation *op) { return isa<tpu::SliceOp, tpu::SplitOp, tpu::ConcatOp>(op); }

/// The dimensions that parts are cut along, or joined.
std::optional<SmallVector<int64_t>> partAxes(Operation *op) {
  SmallVector<int64_t> axes;
  if (auto slice = dyn_cast<tpu::SliceOp>(op)) {
    if (!slice.getAxes() || !slice.getOffset() || !slice.getEnds())
      return std::nullopt;
    axes = top::toInts(*slice.getAxes());
  } else if (auto split = dyn_cast<tpu::SplitOp>(op)) {
    axes = {static_cast<int64_t>(split.getAxis())};
  } else {
    axes = {static_cast<int64_t>(cast<tpu::ConcatOp>(op).getAxis())};
  }
  for (int64_t &axis : axes)
    axis = static_cast<int64_t>(OpMaker::frontAxis(axis, op->getResult(0)));
  return axes;
}

/// Whether an op does the same to permuted tensors, where others of its operands are constants.
bool isTurnable(Operation *op, const PermutedLayers &region) {
  const size_t rank = region.order.size();
  const auto isPermuted = [&](Value value) { return region.permuted.contains(value); };
  if (!llvm::all_of(op->getResults(), [&](Value value) { return hasRank(value, rank); }))
    return false;
  if (isa<tpu::ConcatOp>(op))
    return llvm::all_of(op->getOperands(), isPermuted);
  if (isPart(op))
    return isPermuted(op->getOperand(0)) && partAxes(op) &&
           llvm::all_of(op->getOperands().drop_front(), isAbsent);
  if (!op->hasTrait<traits::Pointwise>() || op->getNumResults() != 1)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value value) {
    if (isAbsent(value) || isPermuted(value))
      return true;
    const Value constant = constantIn(value);
    return constant && OpMaker::dimsOf(constant).size() <= rank;
  });
}

/// What follows a permute that moves the last dimension, up to a single result.
std::optional<PermutedLayers> regionOf(tpu::PermuteOp permute) {
  PermutedLayers region{permute, top::toInts(permute.getOrder()), {}, {}, {}};
  const size_t rank = region.order.size();
  if (rank < 2 || !staticType(permute.getInput()) ||
      region.order.back() == static_cast<int64_t>(rank) - 1)
    return std::nullopt;
  region.permuted.insert(permute.getOutput());
  for (Operation *op = permute->getNextNode(); op; op = op->getNextNode()) {
    const bool reads = llvm::any_of(op->getOperands(),
                                    [&](Value value) { return region.permuted.contains(value); });
    if (!reads || !isTurnable(op, region))
      continue;
    region.layers.push_back(op);
    region.permuted.insert(op->result_begin(), op->result_end());
  }
  const llvm::SmallPtrSet<Operation *, 16> layers(region.layers.begin(), region.layers.end());
  for (Value value : region.permuted) {
    if (llvm::all_of(value.getUsers(), [&](Operation *user) { return layers.contains(user); }))
      continue;
    if (region.result || value == permute.getOutput())
      return std::nullopt;
    region.result = value;
  }
  return region.result ? std::optional(region) : std::nullopt;
}

/// About how long moving the parts of the region takes, in the order of dimensions that `order`
/// gives those behind the permute.
int64_t partCycles(const PermutedLayers &region, ArrayRef<int64_t> order, const Backend &backend) {
  int64_t cycles = 0;
  for (Operation *op : region.layers) {
    if (!isPart(op))
      continue;
    const SmallVector<int64_t> axes = *partAxes(op);
    const bool joins = isa<tpu::ConcatOp>(op);
    for (Value part : joins ? ValueRange(op->getOperands()) : ValueRange(op->getResults())) {
      const ArrayRef<int64_t> dims = OpMaker::dimsOf(part);
      // Runs reach from the outermost dimension that is cut to the last one.
      int64_t first = static_cast<int64_t>(dims.size()) - 1;
      SmallVector<int64_t> placed(dims.size());
      for (size_t axis = 0; axis < dims.size(); ++axis)
        placed[static_cast<size_t>(order[axis])] = dims[axis];
      for (int64_t axis : axes)
        first = std::min(first, order[static_cast<size_t>(axis)]);
      const int64_t rows =
          ShapedType::getNumElements(ArrayRef(placed).take_front(static_cast<size_t>(first)));
      cycles += backend.transferCycles(globalBytes(part.getType()), rows);
    }
  }
  return cycles;
}

/// Whether parts take clearly less time than now, the permute of the result and what it waits for
/// included.
bool isWorthIt(const PermutedLayers &region, const Backend &backend) {
  SmallVector<int64_t> now(region.order.size());
  std::iota(now.begin(), now.end(), 0);
  const int64_t bytes = globalBytes(region.result.getType());
  tpu::PermuteOp permute = region.permute;
  if (OpMaker::typeOf(region.result).getNumElements() >
      OpMaker::typeOf(permute.getOutput()).getNumElements())
    return false;
  constexpr int64_t kTransfers = 2, kClearly = 2;
  return kClearly * (partCycles(region, region.order, backend) +
                     kTransfers * backend.transferCycles(bytes, 1)) <
         partCycles(region, now, backend);
}

/// Makes the layers of a region over again, of tensors that are not permuted.
class Turned {
public:
  Turned(const PermutedLayers &region, const Backend &backend) : region(region), backend(backend) {
    tpu::PermuteOp permute = region.permute;
    values[permute.getOutput()] = permute.getInput();
  }

  /// Gives the result to its users, permuted, unless a layer is one that the chip does not compute
  /// though it computes what it stands for.
  void replace() {
    for (Operation *op : region.layers)
      turn(op);
    if (isComputed) {
      OpMaker maker(region.result.getDefiningOp(), backend);
      Operation *op = region.layers.back();
      maker.builder.setInsertionPointAfter(op);
      const Value permuted = maker.permuted(values.lookup(region.result), region.order, "late");
      maker.replace(cast<OpResult>(region.result).getResultNumber(), permuted);
    }
    const ArrayRef<Operation *> unused = isComputed ? ArrayRef(region.layers) : ArrayRef(made);
    llvm::SetVector<Operation *> repeated;
    for (Operation *op : region.layers)
      for (Value value : op->getOperands())
        if (isa_and_present<tpu::CastOp, tpu::ExpandOp>(value.getDefiningOp()) &&
            !region.permuted.contains(value))
          repeated.insert(value.getDefiningOp());
    for (Operation *op : llvm::reverse(unused))
      op->erase();
    for (Operation *op : repeated)
      eraseUnused(op);
    if (isComputed)
      tpu::PermuteOp(region.permute)->erase();
  }

private:
  SmallVector<int64_t> turnedDims(Value value) const {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
    SmallVector<int64_t> turned(dims.size());
    for (auto [axis, place] : llvm::enumerate(region.order))
      turned[static_cast<size_t>(place)] = dims[axis];
    return turned;
  }

  int64_t turnedAxis(int64_t axis, Value value) const {
    return region.order[OpMaker::frontAxis(axis, value)];
  }

  /// Of all dimensions, those that are not there being 1.
  Value turnedConstant(OpMaker &maker, Value value, unsigned index) {
    const Value constant = constantIn(value);
    const std::optional<Tensor> tensor = OpMaker::constantOf(constant);
    if (!tensor) {
      isComputed = false;
      return value;
    }
    const size_t rank = region.order.size();
    SmallVector<int64_t> dims(rank - OpMaker::dimsOf(constant).size(), 1);
    llvm::append_range(dims, OpMaker::dimsOf(constant));
    SmallVector<int64_t> turned(rank);
    SmallVector<int64_t> back(rank);
    for (auto [axis, place] : llvm::enumerate(region.order)) {
      turned[static_cast<size_t>(place)] = dims[axis];
      back[static_cast<size_t>(place)] = static_cast<int64_t>(axis);
    }
    Tensor made(tensor->type(), Shape(std::span(turned.data(), rank)));
    ThreadPool threads(1);
    kernels::permute(tensor->reshaped(Shape(std::span(dims.data(), rank))),
                     std::span(back.data(), rank), made, threads);
    Value weight = maker.weight(made, "early" + std::to_string(index));
    // What its integers stand for stays.
    weight.setType(OpMaker::typeOf(constant).clone(turned));
    added(weight);
    if (!value.getDefiningOp<tpu::CastOp>())
      return weight;
    const Type element = OpMaker::typeOf(value).getElementType();
    Value converted =
        maker.make(tpu::CastOp::getOperationName(), "early_converted" + std::to_string(index),
                   Type(OpMaker::typeOf(weight).clone(element)), weight, {});
    added(converted);
    return converted;
  }

  void added(Value value) { made.push_back(value.getDefiningOp()); }

  void turn(Operation *op) {
    OpMaker maker(op, backend);
    if (auto split = dyn_cast<tpu::SplitOp>(op)) {
      const int64_t axis = turnedAxis(static_cast<int64_t>(split.getAxis()), split.getInput());
      int64_t begin = 0;
      for (auto [index, part] : llvm::enumerate(op->getResults())) {
        const int64_t size = turnedDims(part)[static_cast<size_t>(axis)];
        const int64_t first = std::exchange(begin, begin + size);
        if (part.use_empty())
          continue;
        const Value none = maker.none();
        added(none);
        NamedAttrList attributes;
        for (auto [name, number] : {std::pair{"offset", first},
                                    {"ends", first + size},
                                    {"steps", int64_t{1}},
                                    {"axes", axis}})
          attributes.set(name, maker.builder.getI64ArrayAttr(number));
        values[part] = maker.make<tpu::SliceOp>(
            "early" + std::to_string(index), turnedDims(part),
            {values.lookup(split.getInput()), none, none, none, none}, attributes);
        check(op, values[part]);
      }
      return;
    }
    SmallVector<Value> operands;
    for (auto [index, value] : llvm::enumerate(op->getOperands()))
      operands.push_back(isAbsent(value)                   ? value
                         : region.permuted.contains(value) ? values.lookup(value)
                                                           : turnedConstant(maker, value, index));
    NamedAttrList attributes(op->getAttrs());
    if (auto slice = dyn_cast<tpu::SliceOp>(op)) {
      SmallVector<int64_t> axes = top::toInts(*slice.getAxes());
      for (int64_t &axis : axes)
        axis = turnedAxis(axis, slice.getInput());
      attributes.set("axes", maker.builder.getI64ArrayAttr(axes));
    } else if (auto concat = dyn_cast<tpu::ConcatOp>(op)) {
      attributes.set("axis", maker.builder.getI64IntegerAttr(turnedAxis(
                                 static_cast<int64_t>(concat.getAxis()), concat.getOutput())));
    }
    const Value result = op->getResult(0);
    values[result] =
        maker.make(op->getName().getStringRef(), "early",
                   Type(OpMaker::typeOf(result).clone(turnedDims(result))), operands, attributes);
    check(op, values[result]);
  }

  void check(Operation *op, Value value) {
    added(value);
    isComputed = isComputed && (backend.placeOf(value.getDefiningOp()) || !backend.placeOf(op));
  }

  const PermutedLayers &region;
  const Backend &backend;
  llvm::DenseMap<Value, Value> values;
  SmallVector<Operation *> made;
  bool isComputed = true;
};

} // namespace

void codegen::permuteLate(func::FuncOp main, const Backend &backend) {
  for (auto permute : llvm::to_vector(main.getOps<tpu::PermuteOp>()))
    if (const std::optional<PermutedLayers> region = regionOf(permute);
        region && isWorthIt(*region, backend))
      Turned(*region, backend).replace();
}
