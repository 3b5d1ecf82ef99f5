//===- DecomposeDimensions.cpp - Element-wise ops of many dimensions ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/TpuTraits.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The most dimensions that every chip takes.
constexpr size_t kMostDims = 4;

/// Dimensions of a result and of the operands, which have as many, each the result's or 1.
struct Broadcast {
  SmallVector<int64_t> result;
  SmallVector<SmallVector<int64_t>> operands;
};

/// None for operands that are not broadcast to the result.
std::optional<Broadcast> broadcastOf(Operation *op) {
  Broadcast made;
  made.result = SmallVector<int64_t>(OpMaker::dimsOf(op->getResult(0)));
  for (Value operand : op->getOperands()) {
    made.operands.emplace_back();
    if (isa<NoneType>(operand.getType()))
      continue;
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(operand);
    if (dims.size() > made.result.size())
      return std::nullopt;
    SmallVector<int64_t> &aligned = made.operands.back();
    aligned.assign(made.result.size() - dims.size(), 1);
    llvm::append_range(aligned, dims);
    for (auto [extent, wanted] : llvm::zip_equal(aligned, made.result))
      if (extent != 1 && extent != wanted)
        return std::nullopt;
  }
  return made;
}

/// Whether dimension `dim` and the next one are one for all operands: each has both or none.
bool areOne(const Broadcast &broadcast, size_t dim) {
  const int64_t first = broadcast.result[dim];
  const int64_t second = broadcast.result[dim + 1];
  return llvm::all_of(broadcast.operands, [&](ArrayRef<int64_t> dims) {
    return dims.empty() || first == 1 || second == 1 || (dims[dim] == 1) == (dims[dim + 1] == 1);
  });
}

void join(SmallVector<int64_t> &dims, size_t dim) {
  if (dims.empty())
    return;
  dims[dim] *= dims[dim + 1];
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(dim) + 1);
}

void joinAt(Broadcast &broadcast, size_t dim) {
  join(broadcast.result, dim);
  for (SmallVector<int64_t> &dims : broadcast.operands)
    join(dims, dim);
}

/// Joins dimensions from `first` on, the first ones first, until there are few enough.
void joinFromFront(Broadcast &broadcast, size_t first) {
  for (size_t dim = first;
       broadcast.result.size() > kMostDims && dim + 1 < broadcast.result.size();)
    if (areOne(broadcast, dim))
      joinAt(broadcast, dim);
    else
      ++dim;
}

/// The same, the last ones first.
void joinFromBack(Broadcast &broadcast, size_t first) {
  for (size_t dim = broadcast.result.size() - 1; broadcast.result.size() > kMostDims && dim > first;
       --dim)
    if (areOne(broadcast, dim - 1))
      joinAt(broadcast, dim - 1);
}

/// What the transfers of [n, c, h, w] take: for each channel at least as long as for so many
/// elements. And what lanes compute.
std::pair<int64_t, int64_t> costsOf(ArrayRef<int64_t> dims, int64_t lanes) {
  constexpr int64_t kShortRow = 64;
  const int64_t row = ShapedType::getNumElements(dims.drop_front(2));
  return {dims[0] * dims[1] * std::max(row, kShortRow),
          dims[0] * static_cast<int64_t>(llvm::divideCeil(dims[1], lanes)) * row};
}

/// Joins dimensions from `first` on until there are few enough: the first ones, or the last ones
/// where transfers or lanes gain by that, and neither loses. Says whether there are few enough.
bool joinDims(Broadcast &broadcast, size_t first, int64_t lanes) {
  Broadcast back = broadcast;
  joinFromFront(broadcast, first);
  joinFromBack(back, first);
  if (back.result.size() == kMostDims && broadcast.result.size() == kMostDims) {
    const auto costs = costsOf(broadcast.result, lanes);
    const auto others = costsOf(back.result, lanes);
    if (others != costs && others.first <= costs.first && others.second <= costs.second)
      broadcast = std::move(back);
  }
  return broadcast.result.size() <= kMostDims;
}

/// What nobody else reads, in the dimensions in which the chip computed it: `value` may be a
/// reshape of it, or several. Null for others.
Value computedAs(Value value, const Backend &backend) {
  auto reshape = value.getDefiningOp<tpu::ReshapeOp>();
  while (reshape && reshape->hasOneUse()) {
    value = reshape->getOperand(0);
    reshape = value.getDefiningOp<tpu::ReshapeOp>();
  }
  Operation *made = value.getDefiningOp();
  if (reshape || !made || !value.hasOneUse())
    return {};
  const Expected<Place> place = backend.placeOf(made);
  return place && *place == Place::Local ? value : Value();
}

} // namespace

/// Of elements that were computed in other dimensions and then reshaped, an op computes them there,
/// and its result is reshaped. So it can be in one group with what made them.
bool codegen::decomposeReshapedElements(OpMaker &maker) {
  Operation *op = maker.op;
  // Other conversions go with what reads them.
  const bool isOfResult = isa<tpu::CastOp>(op) && llvm::all_of(op->getUsers(), [](Operation *user) {
                            return user->hasTrait<OpTrait::IsTerminator>();
                          });
  if (!op->hasTrait<traits::Pointwise>() || isa<tpu::LutOp>(op) ||
      (isa<tpu::CastOp>(op) && !isOfResult) || op->getNumResults() != 1 ||
      (op->hasTrait<tpu::Requantizing>() && !isa<tpu::LeakyReluOp>(op)))
    return false;
  const auto type = OpMaker::typeOf(op->getResult(0));
  if (type.getRank() <= static_cast<int64_t>(kMostDims))
    return false;
  SmallVector<Value> operands;
  SmallVector<int64_t> dims;
  for (Value operand : op->getOperands()) {
    operands.push_back(operand);
    if (isa<NoneType>(operand.getType()))
      continue;
    const Value source =
        OpMaker::dimsOf(operand) == type.getShape() ? computedAs(operand, maker.backend) : Value();
    if (!source || (!dims.empty() && OpMaker::dimsOf(source) != ArrayRef(dims)))
      return false;
    dims.assign(OpMaker::dimsOf(source).begin(), OpMaker::dimsOf(source).end());
    operands.back() = source;
  }
  if (dims.size() > kMostDims || dims.empty())
    return false;
  const Value made = maker.make(op->getName().getStringRef(), "of_source", Type(type.clone(dims)),
                                operands, op->getAttrs());
  maker.replace(0, maker.reshaped(made, type.getShape(), "reshaped"));
  return true;
}

/// Dimensions that all operands have, or that one of them has not at all, become one: for
/// [1, 16, 3, 64, 64] and [16, 1, 64, 64] these are [16, 3, 64, 64] and [16, 1, 64, 64]. For
/// [1, 32, 32, 3, 3] and [1, 1, 32, 1, 1] they are [1, 32, 32, 9] and [1, 1, 32, 1].
bool codegen::decomposeManyDimensions(OpMaker &maker) {
  Operation *op = maker.op;
  if (!op->hasTrait<traits::Pointwise>() || isa<tpu::LutOp>(op) || op->getNumResults() != 1)
    return false;
  const auto type = OpMaker::typeOf(op->getResult(0));
  if (type.getRank() <= static_cast<int64_t>(kMostDims) || fittingPlaceOf(op, maker.backend))
    return false;
  std::optional<Broadcast> broadcast = broadcastOf(op);
  // Channels that have factors of their own stay the second dimension.
  const size_t first = op->hasTrait<tpu::Requantizing>() ? 2 : 0;
  if (!broadcast || !joinDims(*broadcast, first, maker.backend.info().tiles().lanes))
    return false;
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const ArrayRef<int64_t> dims = broadcast->operands[index];
    operands.push_back(dims.empty()
                           ? operand
                           : maker.reshaped(operand, dims, ("joined" + llvm::Twine(index)).str()));
  }
  const Value made = maker.make(op->getName().getStringRef(), "of_joined",
                                Type(type.clone(broadcast->result)), operands, op->getAttrs());
  maker.replace(0, maker.reshaped(made, type.getShape(), "parted"));
  return true;
}
