//===- DecomposeGather.cpp - Gathers by indices that chips take --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Constants, counted from the front; none where one is out of range.
std::optional<Tensor> countedFromFront(ArrayRef<int64_t> indices, ArrayRef<int64_t> dims,
                                       int64_t extent) {
  Tensor counted(DataType::U32, Shape(std::span(dims.data(), dims.size())));
  for (auto [index, made] : llvm::zip_equal(indices, counted.mutableData<uint32_t>())) {
    if (index < -extent || index >= extent)
      return std::nullopt;
    made = static_cast<uint32_t>(index < 0 ? index + extent : index);
  }
  return counted;
}

/// Of numbers and what they are from the end on: the latter where the former are negative.
Value chosenFromFront(OpMaker &maker, Value number, Value fromEnd) {
  OpBuilder &builder = maker.builder;
  NamedAttrList below;
  below.set("const_val", builder.getF64FloatAttr(0));
  below.set("mode", builder.getStringAttr("Less"));
  const Value isNegative =
      maker.make(tpu::CompareConstOp::getOperationName(), "is_negative",
                 Type(OpMaker::typeOf(number).clone(builder.getI1Type())), number, below);
  return maker.make(tpu::WhereOp::getOperationName(), "from_front", Type(OpMaker::typeOf(number)),
                    {isNegative, fromEnd, number}, {});
}

/// In f32, which holds all indices of extents up to `kMostExact`.
Value numbersFromFront(OpMaker &maker, Value indices, int64_t extent) {
  OpBuilder &builder = maker.builder;
  const Value narrow = maker.converted(indices, builder.getI32Type(), "low");
  const Value number = maker.converted(narrow, builder.getF32Type(), "number");
  NamedAttrList offset;
  offset.set("const_val", builder.getF64FloatAttr(static_cast<double>(extent)));
  const Value fromEnd = maker.makeLike<tpu::AddConstOp>("from_end", number, offset);
  return chosenFromFront(maker, number, fromEnd);
}

/// What is out of range at either end stays so: it is a large number as ui32.
Value computedFromFront(OpMaker &maker, Value indices, int64_t extent) {
  OpBuilder &builder = maker.builder;
  const Value chosen = numbersFromFront(maker, indices, extent);
  const Value whole = maker.converted(chosen, builder.getI32Type(), "whole");
  return maker.converted(whole, builder.getIntegerType(32, /*isSigned=*/false), "unsigned");
}

/// One entry along an axis of indices of several kinds.
struct Entry {
  Value all;
  size_t axis = 0;
  int64_t index = 0;
};

/// What indices are an entry of, where others read entries of the same axis; none for others.
std::optional<Entry> entryOf(Value indices) {
  const auto read = [](Operation *op) -> std::optional<Entry> {
    auto gather = dyn_cast_or_null<tpu::GatherOp>(op);
    const auto constants = gather ? top::constantInts(gather.getIndices()) : std::nullopt;
    if (!constants || constants->size() != 1)
      return std::nullopt;
    const size_t axis = OpMaker::frontAxis(gather.getAxis(), gather.getInput());
    const int64_t extent = OpMaker::dimsOf(gather.getInput())[axis];
    const int64_t index = constants->front() + (constants->front() < 0 ? extent : 0);
    if (index < 0 || index >= extent)
      return std::nullopt;
    return Entry{gather.getInput(), axis, index};
  };
  while (Operation *view = indices.getDefiningOp()) {
    if (!view->hasTrait<traits::ViewLike>())
      break;
    indices = view->getOperand(0);
  }
  const std::optional<Entry> entry = read(indices.getDefiningOp());
  if (!entry || !entry->all.getDefiningOp() || OpMaker::constantOf(entry->all))
    return std::nullopt;
  const auto isOther = [&](Operation *user) {
    const std::optional<Entry> other = read(user);
    return other && other->all == entry->all && other->axis == entry->axis;
  };
  return llvm::count_if(entry->all.getUsers(), isOther) > 1 ? entry : std::nullopt;
}

/// A value of this name that is there already; null if there is none.
Value madeBefore(OpMaker &maker, const std::string &name) {
  for (Operation *each = maker.op->getPrevNode(); each; each = each->getPrevNode())
    if (each->getNumResults() == 1 && tensorNames(each)[0] == name)
      return each->getResult(0);
  return {};
}

/// The entry, counted from the front. All entries are counted at once, and turned so that each
/// follows itself in memory.
Value entryFromFront(OpMaker &maker, const Entry &entry, ArrayRef<int64_t> dims, int64_t extent) {
  const std::string name = tensorNames(entry.all.getDefiningOp())[0] + "_of_axis" +
                           std::to_string(entry.axis) + "_below" + std::to_string(extent);
  Value turned = madeBefore(maker, name);
  if (!turned) {
    const Value counted = computedFromFront(maker, entry.all, extent);
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(OpMaker::typeOf(counted).getRank()));
    std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(entry.axis),
                order.begin() + static_cast<ptrdiff_t>(entry.axis) + 1);
    turned = maker.permuted(counted, order, "turned");
    turned.getDefiningOp()->setLoc(NameLoc::get(maker.builder.getStringAttr(name)));
  }
  return maker.reshaped(maker.part(turned, 0, entry.index, 1, "entry"), dims, "indices");
}

/// Whether rows of `table` may be found by a product with all of it: a constant of finite numbers
/// that takes little to load.
bool isSmallTable(Value table) {
  constexpr int64_t kMostBytes = 2 << 20;
  if (OpMaker::typeOf(table).getElementType() != Float32Type::get(table.getContext()) ||
      byteSize(DataType::F32, OpMaker::typeOf(table).getNumElements()) > kMostBytes)
    return false;
  const std::optional<Tensor> numbers = OpMaker::constantOf(table);
  return numbers &&
         llvm::all_of(numbers->data<float>(), [](float each) { return std::isfinite(each); });
}

/// Rows of a constant table by computed indices, where the chip cannot gather: a product of the
/// table with a matrix whose rows have a one where the index is. Indices out of range give rows of
/// zeros. None where the chip does not do all of that.
Value rowsByProduct(OpMaker &maker, tpu::GatherOp op) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if (OpMaker::frontAxis(op.getAxis(), op.getInput()) != 0 || dims.size() < 2 ||
      !isSmallTable(op.getInput()))
    return {};
  const int64_t extent = dims[0], length = OpMaker::typeOf(op.getInput()).getNumElements() / extent;
  const int64_t count = OpMaker::typeOf(op.getIndices()).getNumElements();
  OpBuilder &builder = maker.builder;
  const Value numbers = numbersFromFront(maker, op.getIndices(), extent);
  Tensor places(DataType::F32, Shape({1, extent}));
  for (auto [place, number] : llvm::enumerate(places.mutableData<float>()))
    number = static_cast<float>(place);
  NamedAttrList equal;
  equal.set("mode", builder.getStringAttr("Equal"));
  const Value isThere = maker.make(
      tpu::CompareOp::getOperationName(), "is_there",
      Type(RankedTensorType::get({count, extent}, builder.getI1Type())),
      {maker.reshaped(numbers, {count, 1}, "column"), maker.weight(places, "places")}, equal);
  const Value ones = maker.converted(isThere, builder.getF32Type(), "ones");
  const Value table = maker.reshaped(op.getInput(), {extent, length}, "table");
  const Value rows =
      maker.make<tpu::MatMulOp>("rows", {count, length}, {ones, table, maker.none()});
  if (llvm::all_of(ValueRange{numbers, isThere, ones, rows},
                   [&](Value made) { return maker.isLocal(made); }))
    return maker.reshaped(rows, OpMaker::dimsOf(op.getOutput()), "gathered");
  eraseUnused(rows.getDefiningOp());
  return {};
}

} // namespace

/// Of constant tuples, the numbers of the slices that they name; none where one is out of range.
static std::optional<Tensor> numbersOfSlices(ArrayRef<int64_t> indices, ArrayRef<int64_t> extents) {
  const auto each = extents.size();
  Tensor numbers(DataType::I32, Shape({static_cast<int64_t>(indices.size() / each)}));
  for (auto [tuple, made] : llvm::enumerate(numbers.mutableData<int32_t>())) {
    int64_t number = 0;
    for (auto [index, extent] : llvm::zip_equal(indices.slice(tuple * each, each), extents)) {
      if (index < -extent || index >= extent)
        return std::nullopt;
      number = number * extent + (index < 0 ? index + extent : index);
    }
    made = static_cast<int32_t>(number);
  }
  return numbers;
}

/// The same of tuples [count, n] that are computed, in F32.
static Value computedNumbers(OpMaker &maker, Value indices, ArrayRef<int64_t> extents) {
  OpBuilder &builder = maker.builder;
  const auto each = static_cast<int64_t>(extents.size());
  Tensor lengths(DataType::F32, Shape({1, each}));
  Tensor strides(DataType::F32, Shape({1, each}));
  int64_t stride = 1;
  for (size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) {
    lengths.mutableData<float>()[axis] = static_cast<float>(extents[axis]);
    strides.mutableData<float>()[axis] = static_cast<float>(stride);
  }
  const Value narrow = maker.converted(indices, builder.getI32Type(), "low");
  const Value number = maker.converted(narrow, builder.getF32Type(), "number");
  const Value fromEnd =
      maker.makeLike<tpu::AddOp>("from_end", {number, maker.weight(lengths, "lengths")});
  const Value counted = chosenFromFront(maker, number, fromEnd);
  const Value scaled =
      maker.makeLike<tpu::MulOp>("parts", {counted, maker.weight(strides, "strides")});
  NamedAttrList sum;
  sum.set("mode", builder.getStringAttr("ReduceSum"));
  sum.set("axes", builder.getI64ArrayAttr({1}));
  sum.set("keepdims", builder.getBoolAttr(false));
  const Value total = maker.make<tpu::ReduceOp>("slices", {OpMaker::dimsOf(indices)[0]},
                                                {scaled, maker.none()}, sum);
  return maker.converted(total, builder.getI32Type(), "whole");
}

bool codegen::decomposeGatherND(OpMaker &maker) {
  auto op = dyn_cast<tpu::GatherNDOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || op.getBatchDims() != 0)
    return false;
  const std::optional<DataType> type = storageDataType(op.getIndices().getType());
  if (type != DataType::I32 && type != DataType::I64)
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const int64_t each = OpMaker::dimsOf(op.getIndices()).back();
  if (each < 1)
    return false;
  const ArrayRef<int64_t> extents = dims.take_front(static_cast<size_t>(each));
  const int64_t slices = ShapedType::getNumElements(extents);
  const int64_t length = ShapedType::getNumElements(dims.drop_front(static_cast<size_t>(each)));
  if (slices > OpMaker::kMostExact)
    return false;
  const int64_t count = OpMaker::typeOf(op.getIndices()).getNumElements() / each;
  Value numbers;
  if (top::constantTensor(op.getIndices())) {
    const auto constants = top::constantInts(op.getIndices());
    const std::optional<Tensor> made =
        constants ? numbersOfSlices(*constants, extents) : std::nullopt;
    if (!made)
      return false;
    numbers = maker.weight(*made, "slices");
  } else {
    numbers =
        computedNumbers(maker, maker.reshaped(op.getIndices(), {count, each}, "tuples"), extents);
  }
  const Value table = maker.reshaped(op.getInput(), {slices, length}, "table");
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(0));
  const Value rows =
      maker.make<tpu::GatherOp>("rows", {count, length}, {table, numbers}, attributes);
  maker.replace(0, maker.reshaped(rows, OpMaker::dimsOf(op.getOutput()), "gathered"));
  return true;
}

bool codegen::decomposeGather(OpMaker &maker) {
  auto op = dyn_cast<tpu::GatherOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()))
    return false;
  const std::optional<DataType> type = storageDataType(op.getIndices().getType());
  if (type != DataType::I32 && type != DataType::I64)
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const int64_t extent = dims[OpMaker::frontAxis(op.getAxis(), op.getInput())];
  if (extent > OpMaker::kMostExact)
    return false;
  Value indices;
  if (top::constantTensor(op.getIndices())) {
    const auto constants = top::constantInts(op.getIndices());
    if (!constants)
      return false;
    const std::optional<Tensor> counted =
        countedFromFront(*constants, OpMaker::dimsOf(op.getIndices()), extent);
    if (!counted)
      return false;
    indices = maker.weight(*counted, "from_front");
  } else {
    const std::optional<Entry> entry = entryOf(op.getIndices());
    indices = entry ? entryFromFront(maker, *entry, OpMaker::dimsOf(op.getIndices()), extent)
                    : computedFromFront(maker, op.getIndices(), extent);
  }
  NamedAttrList attributes(op->getAttrs());
  Value rows =
      maker.make(tpu::GatherOp::getOperationName(), "rows", Type(OpMaker::typeOf(op.getOutput())),
                 {op.getInput(), indices}, attributes);
  if (!maker.backend.placeOf(rows.getDefiningOp())) {
    eraseUnused(rows.getDefiningOp());
    rows = rowsByProduct(maker, op);
    if (!rows)
      return false;
  }
  maker.replace(0, rows);
  return true;
}

/// Indices that follow each other: the first one, and how many.
static SmallVector<std::pair<int64_t, int64_t>> runsOf(ArrayRef<int64_t> indices) {
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t index : indices)
    if (!runs.empty() && index == runs.back().first + runs.back().second)
      ++runs.back().second;
    else
      runs.emplace_back(index, 1);
  return runs;
}

bool codegen::decomposeColumnGather(OpMaker &maker) {
  // Each run is a layer.
  constexpr size_t kMostRuns = 64;
  auto op = dyn_cast<tpu::GatherOp>(maker.op);
  const auto constants = op ? top::constantInts(op.getIndices()) : std::nullopt;
  if (!constants || OpMaker::constantOf(op.getInput()))
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if (dims.size() < 2 || OpMaker::frontAxis(op.getAxis(), op.getInput()) != dims.size() - 1)
    return false;
  SmallVector<int64_t> indices(*constants);
  for (int64_t &index : indices) {
    index += index < 0 ? dims.back() : 0;
    if (index < 0 || index >= dims.back())
      return false;
  }
  const SmallVector<std::pair<int64_t, int64_t>> runs = runsOf(indices);
  const bool hasAll =
      llvm::any_of(runs, [&](const auto &run) { return run.second == dims.back(); });
  if (runs.size() < 2 || runs.size() > kMostRuns || hasAll)
    return false;
  const SmallVector<int64_t> rows = {1, ShapedType::getNumElements(dims.drop_back()), dims.back()};
  Value input = maker.reshaped(op.getInput(), dims.size() == 3 ? dims : ArrayRef(rows), "rows");
  SmallVector<Value> parts;
  for (auto [index, run] : llvm::enumerate(runs))
    parts.push_back(
        maker.sliced(input, 2, run.first, run.second, "columns" + std::to_string(index)));
  const Value joined = maker.joined(parts, 2, "joined");
  if (!maker.isLocal(joined) ||
      !llvm::all_of(parts, [&](Value part) { return maker.isLocal(part); })) {
    eraseUnused(joined.getDefiningOp());
    return false;
  }
  maker.replace(0, maker.reshaped(joined, OpMaker::dimsOf(op.getOutput()), "shaped"));
  return true;
}
