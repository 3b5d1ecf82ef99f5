//===- DecomposeScatter.cpp - Scatters by constant indices as moves -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is written stands in a box of the input, in order: then the result is put together around
// it. Or it stands anywhere: then the result gathers its rows from those of both tensors.
//
//   scatter(x[5], {1, 2}, u) -> concat(x[0:1], u, x[3:5])
//   scatter(x[5], {3, 1}, u) -> gather(concat(x, u), {0, 6, 2, 5, 4})
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Rows of the input that are written one after the other.
struct Targets {
  /// The dimensions in front of a row.
  SmallVector<int64_t> dims;
  /// Numbers of rows, in the order of the updates.
  SmallVector<int64_t> rows;
};

/// A part of the leading dimensions.
struct Box {
  SmallVector<int64_t> begin, size;
};

SmallVector<int64_t> placeOf(int64_t number, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> place(dims.size());
  for (size_t dim = dims.size(); dim-- > 0; number /= dims[dim])
    place[dim] = number % dims[dim];
  return place;
}

int64_t numberOf(ArrayRef<int64_t> place, ArrayRef<int64_t> dims) {
  int64_t number = 0;
  for (auto [at, extent] : llvm::zip_equal(place, dims))
    number = number * extent + at;
  return number;
}

/// An index counted from the front; none where it is out of range.
std::optional<int64_t> fromFront(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent)
    return std::nullopt;
  return index < 0 ? index + extent : index;
}

/// Each tuple of indices names a row.
std::optional<Targets> targetsOf(tpu::ScatterNDOp op, ArrayRef<int64_t> indices) {
  const auto depth = static_cast<size_t>(OpMaker::dimsOf(op.getIndices()).back());
  Targets targets{SmallVector<int64_t>(OpMaker::dimsOf(op.getInput()).take_front(depth)), {}};
  if (depth == 0)
    return std::nullopt;
  for (; !indices.empty(); indices = indices.drop_front(depth)) {
    SmallVector<int64_t> place;
    for (auto [index, extent] : llvm::zip_equal(indices.take_front(depth), targets.dims))
      place.push_back(fromFront(index, extent).value_or(-1));
    if (llvm::is_contained(place, -1))
      return std::nullopt;
    targets.rows.push_back(numberOf(place, targets.dims));
  }
  return targets;
}

/// Each index names an element, the place of the index all of its dimensions but one.
std::optional<Targets> targetsOf(tpu::ScatterElementsOp op, ArrayRef<int64_t> indices) {
  Targets targets{SmallVector<int64_t>(OpMaker::dimsOf(op.getInput())), {}};
  const ArrayRef<int64_t> indexDims = OpMaker::dimsOf(op.getIndices());
  const size_t dim = OpMaker::frontAxis(op.getAxis(), op.getIndices());
  for (auto [number, index] : llvm::enumerate(indices)) {
    SmallVector<int64_t> place = placeOf(static_cast<int64_t>(number), indexDims);
    const std::optional<int64_t> counted = fromFront(index, targets.dims[dim]);
    if (!counted)
      return std::nullopt;
    place[dim] = *counted;
    targets.rows.push_back(numberOf(place, targets.dims));
  }
  return targets;
}

/// The box that rows fill in its own order; none where they do not.
std::optional<Box> boxOf(const Targets &targets) {
  Box box{placeOf(targets.rows.front(), targets.dims), {}};
  for (auto [last, first] : llvm::zip_equal(placeOf(targets.rows.back(), targets.dims), box.begin))
    box.size.push_back(last - first + 1);
  if (llvm::any_of(box.size, [](int64_t size) { return size < 1; }) ||
      ShapedType::getNumElements(box.size) != std::ssize(targets.rows))
    return std::nullopt;
  for (auto [number, row] : llvm::enumerate(targets.rows)) {
    SmallVector<int64_t> place = placeOf(static_cast<int64_t>(number), box.size);
    for (auto [at, begin] : llvm::zip_equal(place, box.begin))
      at += begin;
    if (numberOf(place, targets.dims) != row)
      return std::nullopt;
  }
  return box;
}

/// What is written: updates, or what a reduction makes of them and what is there.
Value combined(OpMaker &maker, StringRef reduction, Value there, Value updates) {
  const std::array<Value, 2> operands = {there, updates};
  if (reduction == "add")
    return maker.makeLike<tpu::AddOp>("combined", operands);
  if (reduction == "mul")
    return maker.makeLike<tpu::MulOp>("combined", operands);
  if (reduction == "max")
    return maker.makeLike<tpu::MaxOp>("combined", operands);
  if (reduction == "min")
    return maker.makeLike<tpu::MinOp>("combined", operands);
  return updates;
}

/// Puts the result together around a box, from the last dimension to the first.
Value aroundBox(OpMaker &maker, StringRef reduction, Value input, Value updates, const Box &box) {
  const size_t depth = box.begin.size();
  SmallVector<Value> outside = {input};
  for (size_t dim = 0; dim < depth; ++dim)
    outside.push_back(maker.sliced(outside.back(), static_cast<int64_t>(dim), box.begin[dim],
                                   box.size[dim], "there" + std::to_string(dim)));
  updates = maker.reshaped(updates, OpMaker::dimsOf(outside.back()), "updates");
  Value result = combined(maker, reduction, outside.back(), updates);
  for (size_t dim = depth; dim-- > 0;) {
    const auto axis = static_cast<int64_t>(dim);
    const int64_t end = box.begin[dim] + box.size[dim];
    const int64_t behind = OpMaker::dimsOf(input)[dim] - end;
    SmallVector<Value> parts = {result};
    if (box.begin[dim] > 0)
      parts.insert(parts.begin(), maker.sliced(outside[dim], axis, 0, box.begin[dim], "before"));
    if (behind > 0)
      parts.push_back(maker.sliced(outside[dim], axis, end, behind, "behind"));
    result = maker.joined(parts, axis, "around" + std::to_string(dim));
  }
  return result;
}

Value gathered(OpMaker &maker, StringRef what, Value rows, ArrayRef<int64_t> numbers) {
  Tensor indices(DataType::U32, Shape({std::ssize(numbers)}));
  llvm::copy(numbers, indices.mutableData<uint32_t>().begin());
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(0));
  return maker.make<tpu::GatherOp>(what, {std::ssize(numbers), OpMaker::dimsOf(rows)[1]},
                                   {rows, maker.weight(indices, what.str() + "_numbers")},
                                   attributes);
}

/// Gathers rows of the input and, behind these, of the updates. Of those for one row the last one
/// counts.
Value fromBoth(OpMaker &maker, StringRef reduction, Value input, Value updates,
               const Targets &targets) {
  const int64_t count = ShapedType::getNumElements(targets.dims);
  const int64_t width = OpMaker::typeOf(input).getNumElements() / count;
  input = maker.reshaped(input, {count, width}, "rows");
  updates = maker.reshaped(updates, {std::ssize(targets.rows), width}, "update_rows");
  if (reduction != "none")
    updates = combined(maker, reduction, gathered(maker, "there", input, targets.rows), updates);
  SmallVector<int64_t> sources = llvm::to_vector(llvm::seq<int64_t>(count));
  for (auto [number, row] : llvm::enumerate(targets.rows))
    sources[static_cast<size_t>(row)] = count + static_cast<int64_t>(number);
  return gathered(maker, "gathered", maker.joined({input, updates}, 0, "both"), sources);
}

template <typename Op> bool decompose(OpMaker &maker, Op op) {
  if (!OpMaker::isFloat(op.getInput()) || !top::constantTensor(op.getIndices()))
    return false;
  const auto indices = top::constantInts(op.getIndices());
  const std::optional<Targets> targets =
      indices && !indices->empty() ? targetsOf(op, *indices) : std::optional<Targets>();
  if (!targets)
    return false;
  const StringRef reduction = op.getReduction();
  Value result;
  if (const std::optional<Box> box = boxOf(*targets)) {
    result = aroundBox(maker, reduction, op.getInput(), op.getUpdates(), *box);
  } else {
    // The most rows that a command gathers from.
    const int64_t mostRows = maker.backend.info().transfer().maxExtent.h;
    const bool isOnce =
        llvm::DenseSet<int64_t>(targets->rows.begin(), targets->rows.end()).size() ==
        targets->rows.size();
    if ((reduction != "none" && !isOnce) ||
        ShapedType::getNumElements(targets->dims) + std::ssize(targets->rows) > mostRows)
      return false;
    result = fromBoth(maker, reduction, op.getInput(), op.getUpdates(), *targets);
  }
  maker.replace(0, maker.finished(result, 0));
  return true;
}

} // namespace

bool codegen::decomposeScatter(OpMaker &maker) {
  if (auto op = dyn_cast<tpu::ScatterNDOp>(maker.op))
    return decompose(maker, op);
  if (auto op = dyn_cast<tpu::ScatterElementsOp>(maker.op))
    return decompose(maker, op);
  return false;
}
