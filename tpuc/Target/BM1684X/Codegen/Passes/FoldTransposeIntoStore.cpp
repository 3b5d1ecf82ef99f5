//===- FoldTransposeIntoStore.cpp - Permutes that the storing transfer does -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Detectors store the channels of each anchor behind its pixel: a reshape and a permute behind the
// last convolution. The transfer that stores the convolution's result can turn it on its way.
//
// A convolution over volumes is one over planes, [N * D, C, H, W], whose result a reshape and a
// permute make [N, C, D, H, W]. The transfer puts each plane there.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Transposes.h"
#include "tpuc/Target/BM1684X/Codegen/Stores.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <numeric>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

static int64_t product(ArrayRef<int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::optional<TransposePlan> transposePlan(tpu::PermuteOp op) {
  const RankedTensorType type = staticType(op.getInput());
  if (!type || !staticType(op.getOutput()))
    return std::nullopt;
  // Dimensions of one element stand anywhere.
  SmallVector<int64_t> dims;
  SmallVector<int64_t> places;
  for (int64_t extent : type.getShape()) {
    places.push_back(static_cast<int64_t>(dims.size()));
    if (extent != 1)
      dims.push_back(extent);
  }
  SmallVector<int64_t> order;
  for (int64_t source : top::toInts(op.getOrder()))
    if (type.getDimSize(static_cast<unsigned>(source)) != 1)
      order.push_back(places[static_cast<size_t>(source)]);
  const auto rank = static_cast<int64_t>(order.size());
  int64_t first = 0;
  while (first < rank && order[static_cast<size_t>(first)] == first)
    ++first;
  if (first == rank)
    return std::nullopt;
  SmallVector<int64_t> turned(order);
  const int64_t middle = order[static_cast<size_t>(first)];
  std::iota(turned.begin() + first, turned.begin() + first + rank - middle, middle);
  std::iota(turned.begin() + first + rank - middle, turned.end(), first);
  if (turned != order)
    return std::nullopt;
  const auto count = [&](int64_t begin, int64_t end) {
    return product(
        ArrayRef(dims).slice(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  };
  return TransposePlan{count(0, first), count(first, middle), count(middle, rank)};
}

/// Whether none of the rows is left out.
static bool hasAllRows(tpu::UnpackRowsOp op) {
  return cast<RankedTensorType>(op.getOutput().getType()).getNumElements() ==
         cast<RankedTensorType>(op.getInput().getType()).getNumElements();
}

namespace {

/// The convolution whose result a permute alone reads, through reshapes, which are added to `path`,
/// and rows that are stored below each other.
Operation *convolutionOf(tpu::PermuteOp op, SmallVectorImpl<Operation *> &path) {
  Value value = op.getInput();
  while (value.hasOneUse())
    if (auto reshape = value.getDefiningOp<tpu::ReshapeOp>()) {
      path.push_back(reshape);
      value = reshape->getOperand(0);
    } else if (auto rows = value.getDefiningOp<tpu::UnpackRowsOp>(); rows && hasAllRows(rows)) {
      value = rows.getInput();
    } else {
      Operation *producer = value.getDefiningOp();
      return isa_and_nonnull<tpu::ConvOp, tpu::DeconvOp>(producer) ? producer : nullptr;
    }
  return nullptr;
}

/// Whether the transfers that store the result [n, c, h, w] of `op` can put its channels, of groups
/// of them each by itself, behind its pixels.
bool foldsTransposes(Operation *op) {
  return operandForm(op, op->getNumOperands()) == OperandForm::Tensor &&
         precOf(elementTypeOf(op, op->getNumOperands())).has_value();
}

/// How many groups of channels each image of a result [n, c, h, w] has, if a permute puts each of
/// them behind the pixels.
std::optional<int64_t> turnedGroups(tpu::PermuteOp op, ArrayRef<int64_t> dims) {
  const std::optional<TransposePlan> turn = transposePlan(op);
  if (!turn || turn->columns != dims[2] * dims[3] || turn->outer % dims[0] != 0 ||
      turn->rows * turn->outer != dims[0] * dims[1])
    return std::nullopt;
  return turn->outer / dims[0];
}

/// How many planes side by side, as groups of channels, each image of a result [n, c, h, w] has, if
/// a permute puts the planes [N, D, C, h, w] behind the channels.
std::optional<int64_t> planesSideBySide(tpu::PermuteOp op, ArrayRef<int64_t> dims) {
  const RankedTensorType type = staticType(op.getInput());
  if (!putsPlanesBehindChannels(op) || !type || type.getShape().take_back(2) != dims.take_back(2))
    return std::nullopt;
  const int64_t planes = type.getDimSize(0) * type.getDimSize(1);
  if (planes % dims[0] != 0 || type.getDimSize(1) % (planes / dims[0]) != 0)
    return std::nullopt;
  return planes / dims[0];
}

/// A permute that the store of a convolution's result does.
struct FoldedTranspose {
  /// The permute, the reshapes in front of it, and the convolution.
  SmallVector<Operation *> path;
  int64_t groups = 1;
};

std::optional<FoldedTranspose> foldedTranspose(tpu::PermuteOp op, const Backend &backend) {
  FoldedTranspose folded{.path = {op}};
  Operation *producer = convolutionOf(op, folded.path);
  if (!producer || tpu::givesPixelRow(producer))
    return std::nullopt;
  const RankedTensorType type = staticType(producer->getResult(0));
  if (!type || type.getRank() != 4)
    return std::nullopt;
  const std::optional<int64_t> rows = tpu::storedRows(producer);
  std::optional<int64_t> groups = rows ? std::nullopt : turnedGroups(op, type.getShape());
  if (!groups) {
    SmallVector<int64_t> dims(type.getShape());
    dims[2] *= rows.value_or(1);
    groups = planesSideBySide(op, dims);
  }
  if (!groups)
    return std::nullopt;
  // What the host computes stays as it is.
  const Expected<Place> place = fittingPlaceOf(producer, backend);
  if (!place || *place != Place::Local || !foldsTransposes(producer))
    return std::nullopt;
  folded.path.push_back(producer);
  folded.groups = *groups;
  return folded;
}

Expected<void> foldTranspose(tpu::PermuteOp op, const Backend &backend) {
  const std::optional<FoldedTranspose> folded = foldedTranspose(op, backend);
  if (!folded)
    return {};
  for (Operation *each : folded->path)
    cast<tpu::StoredTurnedInterface>(each).setStoredTurnedAttr(
        mlir::Builder(op->getContext()).getI64IntegerAttr(folded->groups));
  return {};
}

} // namespace

bool isFoldedIntoStore(tpu::PermuteOp op, const Backend &backend) {
  return foldedTranspose(op, backend).has_value();
}

Expected<void> foldTransposeIntoStore(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::PermuteOp op, const Backend &) {
    return transposePlan(op).has_value() || putsPlanesBehindChannels(op);
  };
  return rewriteOps<tpu::PermuteOp>(module, backend, wants, foldTranspose);
}

} // namespace tpuc::bm1684x::backend
