//===- PermuteByTransposes.cpp - Permutes of short runs -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads of few elements are exchanged with the tokens that have them: [B, T, H, D] becomes
// [B, H, T, D]. As a copy, each run of D elements costs as much as a long one. The DMA transposes
// matrices whatever their rows are: [B, T, H * D] to [B, H * D, T], and that to [B, H, T, D].
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Transposes.h"

#include "llvm/Support/MathExtras.h"

#include <array>
#include <optional>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

static SmallVector<int64_t> permutedDims(ArrayRef<int64_t> dims, ArrayRef<int64_t> order) {
  SmallVector<int64_t> made;
  for (int64_t source : order)
    made.push_back(dims[static_cast<size_t>(source)]);
  return made;
}

Expected<SmallVector<int64_t>> permuteCycles(RankedTensorType type, ArrayRef<int64_t> order,
                                             Location loc, const Backend &backend) {
  constexpr uint64_t kPage = 4096;
  const auto base = static_cast<int64_t>(backend.info().global.modelBase);
  const RankedTensorType result = type.clone(permutedDims(type.getShape(), order));
  const auto behind = static_cast<int64_t>(llvm::alignTo(globalBytes(type), kPage));
  Block block;
  OpBuilder builder(type.getContext());
  OperationState state(loc, tpu::PermuteOp::getOperationName());
  state.addOperands(block.addArgument(withAddress(type, base), loc));
  state.addTypes(withAddress(result, base + behind));
  state.addAttribute("order", builder.getI64ArrayAttr(order));
  builder.setInsertionPointToEnd(&block);
  Operation *op = builder.create(state);
  return backend.runCycles([&](Emitter &emitter) -> Expected<void> {
    emitter.beginLayer(op);
    if (Expected<void> moved = emitter.move(op); !moved)
      return moved;
    return emitter.endSubNet();
  });
}

namespace {

/// Dimensions [outer, rows, between, run] that a permute makes [outer, between, rows, run].
using Exchange = std::array<int64_t, 4>;

constexpr int64_t kExchanged[] = {0, 2, 1, 3}, kFirst[] = {0, 2, 3, 1}, kSecond[] = {0, 1, 3, 2};

/// None for permutes that do not exchange two neighbouring parts of the dimensions in front of the
/// last ones.
std::optional<Exchange> exchangeOf(tpu::PermuteOp op) {
  const RankedTensorType type = staticType(op.getInput());
  if (!type || !staticType(op.getOutput()))
    return std::nullopt;
  const top::Dims order = top::toInts(op.getOrder());
  const auto rank = std::ssize(order);
  const auto at = [&](int64_t place) { return order[static_cast<size_t>(place)]; };
  int64_t first = 0;
  int64_t last = rank;
  while (first < rank && at(first) == first)
    ++first;
  while (last > first && at(last - 1) == last - 1)
    --last;
  if (first == rank || last == rank)
    return std::nullopt;
  // [first, middle) and [middle, last).
  const int64_t middle = at(first);
  for (int64_t place = first; place < last; ++place)
    if (at(place) !=
        (place - first < last - middle ? place - first + middle : place - (last - middle)))
      return std::nullopt;
  const auto count = [&](int64_t begin, int64_t end) {
    return ShapedType::getNumElements(
        type.getShape().slice(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  };
  return Exchange{count(0, first), count(first, middle), count(middle, last), count(last, rank)};
}

/// Whether both transposes together take clearly less than the copy, by every set of parameters.
bool isWorthwhile(RankedTensorType type, Location loc, const Backend &backend) {
  constexpr double kClearly = 0.9;
  const Expected<SmallVector<int64_t>> copied = permuteCycles(type, kExchanged, loc, backend);
  const Expected<SmallVector<int64_t>> first = permuteCycles(type, kFirst, loc, backend);
  const Expected<SmallVector<int64_t>> second =
      permuteCycles(type.clone(permutedDims(type.getShape(), kFirst)), kSecond, loc, backend);
  if (!copied || !first || !second)
    return false;
  return llvm::all_of(llvm::zip_equal(*copied, *first, *second), [&](const auto &each) {
    const auto [one, a, b] = each;
    return static_cast<double>(a + b) < kClearly * static_cast<double>(one);
  });
}

Expected<void> transposeTwice(tpu::PermuteOp op, const Backend &backend) {
  const Expected<Place> place = backend.placeOf(op);
  if (!place || *place != Place::Global)
    return {};
  const Exchange dims = *exchangeOf(op);
  if (!isWorthwhile(OpMaker::typeOf(op.getInput()).clone(dims), op.getLoc(), backend))
    return {};
  OpMaker maker(op, backend);
  Value value = maker.reshaped(op.getInput(), dims, "exchanged");
  value = maker.permuted(maker.permuted(value, kFirst, "turned"), kSecond, "turned_back");
  maker.replace(0, maker.reshaped(value, OpMaker::dimsOf(op.getOutput()), "shaped"));
  op.erase();
  return {};
}

} // namespace

Expected<void> permuteByTransposes(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::PermuteOp op, const Backend &) {
    return !tpu::storedTurned(op) && exchangeOf(op).has_value();
  };
  return rewriteOps<tpu::PermuteOp>(module, backend, wants, transposeTwice);
}

} // namespace tpuc::bm1684x::backend
