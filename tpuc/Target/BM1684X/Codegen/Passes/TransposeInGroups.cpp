//===- TransposeInGroups.cpp - Pictures and rows in one group -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformers in stages make rows of the pixels of pictures, and pictures of rows: a reshape and a
// permute, or a permute and a reshape.
//
//   Conv [n, c, h, w] -> Reshape [n, c, h * w] -> Permute [n, h * w, c] -> LayerNorm
//
// A move in global memory ends the group in front of it. Lanes turn a tensor that is in local
// memory in few cycles, so the layers on both sides can be in one group.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Transposes.h"

#include <map>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Less than this is gained by chance.
constexpr double kWorthTransposing = 0.995;
/// So many layers in front and behind are looked at with it.
constexpr int64_t kLayersBefore = 4, kLayersBehind = 10;

/// What a permute transposes: a tensor, and the value that is the same transposed. One of them may
/// be missing: it has the dimensions [outer, rows, columns], or [outer, columns, rows], by a
/// reshape.
struct Transposed {
  Value from, to;
  std::array<int64_t, 3> dims = {};
  tpu::PermuteOp permute = {};
};

/// Whether a value is [outer, rows, ...] with `columns` elements behind these.
bool hasRows(Value value, int64_t outer, int64_t rows, int64_t columns) {
  const RankedTensorType type = staticType(value);
  if (!type || type.getRank() < 3 || type.getRank() > 4)
    return false;
  const ArrayRef<int64_t> dims = type.getShape();
  return dims[0] == outer && dims[1] == rows &&
         ShapedType::getNumElements(dims.drop_front(2)) == columns;
}

/// What a permute transposes, in front of the reshapes that lead to it and behind those that alone
/// read it.
std::optional<Transposed> transposedBy(tpu::PermuteOp op) {
  const std::optional<TransposePlan> plan = transposePlan(op);
  if (!plan || plan->rows == 1 || plan->columns == 1)
    return std::nullopt;
  Transposed found;
  for (Value value = op.getInput();;) {
    if (hasRows(value, plan->outer, plan->rows, plan->columns))
      found.from = value;
    auto reshape = value.getDefiningOp<tpu::ReshapeOp>();
    if (!reshape)
      break;
    value = reshape.getInput();
  }
  for (Value value = op.getOutput();;) {
    if (hasRows(value, plan->outer, plan->columns, plan->rows))
      found.to = value;
    auto reshape =
        value.hasOneUse() ? dyn_cast<tpu::ReshapeOp>(*value.user_begin()) : tpu::ReshapeOp();
    if (!reshape)
      break;
    value = reshape.getOutput();
  }
  if (!found.from && !found.to)
    return std::nullopt;
  found.dims = {plan->outer, plan->rows, plan->columns};
  found.permute = op;
  return found;
}

/// What a permute reads or gives, in other dimensions.
Value reshaped(OpBuilder &builder, Value value, RankedTensorType type, Location loc) {
  Value none = builder.create<top::NoneOp>(loc, builder.getNoneType());
  OperationState state(loc, tpu::ReshapeOp::getOperationName(), {value, none}, type);
  state.addAttribute("shape", builder.getI64ArrayAttr(type.getShape()));
  return builder.create(state)->getResult(0);
}

void transpose(Transposed found) {
  tpu::PermuteOp permute = found.permute;
  OpBuilder builder(permute);
  const std::string name = tensorNames(permute)[0];
  const auto named = [&](StringRef what) {
    return NameLoc::get(builder.getStringAttr(name + what.str()));
  };
  const auto [outer, rows, columns] = found.dims;
  // Where dimensions lie otherwise on one side, that one is reshaped.
  if (!found.from)
    found.from =
        reshaped(builder, permute.getInput(),
                 staticType(permute.getInput()).clone({outer, rows, columns}), named("_before"));
  if (!found.to) {
    const RankedTensorType type = staticType(permute.getOutput());
    OperationState state(named("_transposed"), tpu::TransposeOp::getOperationName(), found.from,
                         type.clone({outer, columns, rows}));
    const Value made = builder.create(state)->getResult(0);
    permute.getOutput().replaceAllUsesWith(reshaped(builder, made, type, permute.getLoc()));
    eraseUnused(permute);
    return;
  }
  Operation *last = found.to.getDefiningOp();
  builder.setInsertionPoint(last);
  OperationState state(last->getLoc(), tpu::TransposeOp::getOperationName(), found.from,
                       found.to.getType());
  found.to.replaceAllUsesWith(builder.create(state)->getResult(0));
  eraseUnused(last);
}

/// Has permutes transpose in local memory where the layers around take fewer cycles by that.
class GroupTransposer {
public:
  explicit GroupTransposer(const Backend &backend) : backend(backend), costs(backend) {}

  void run(tpu::PermuteOp op);

private:
  bool isLocal(Operation *op) const;
  bool isWorthwhile(tpu::PermuteOp op, const Transposed &found, const OpWindow &window);

  const Backend &backend;
  WindowCosts costs;
  OpKinds kinds;
  std::map<WindowKey, bool> known;
};

bool GroupTransposer::isLocal(Operation *op) const {
  if (!op || !isLayer(op))
    return false;
  const Expected<Place> place = backend.placeOf(op);
  return place && *place == Place::Local;
}

bool GroupTransposer::isWorthwhile(tpu::PermuteOp op, const Transposed &found,
                                   const OpWindow &window) {
  const auto price = [](const GroupTable::Option &option, ArrayRef<Operation *>) {
    return static_cast<double>(option.estimate);
  };
  int64_t moved = 0;
  if (!isFoldedIntoStore(op, backend)) {
    const Expected<SmallVector<int64_t>> cycles =
        permuteCycles(staticType(op.getInput()), top::toInts(op.getOrder()), op.getLoc(), backend);
    if (!cycles)
      return false;
    moved = cycles->front();
  }
  WindowClone unchanged(window.ops);
  const std::optional<double> apart = costs.of(window, unchanged, price);
  if (!apart)
    return false;
  WindowClone clone(window.ops);
  const auto copied = [&](Value value) {
    return clone.of(value.getDefiningOp())->getResult(cast<OpResult>(value).getResultNumber());
  };
  Transposed copy = found;
  if (found.from)
    copy.from = copied(found.from);
  if (found.to)
    copy.to = copied(found.to);
  copy.permute = cast<tpu::PermuteOp>(clone.of(op));
  transpose(copy);
  const std::optional<double> together = costs.of(window, clone, price);
  return together && *together < kWorthTransposing * (*apart + static_cast<double>(moved));
}

void GroupTransposer::run(tpu::PermuteOp op) {
  const std::optional<Transposed> found = transposedBy(op);
  Operation *first = found && found->from ? found->from.getDefiningOp() : op;
  Operation *last = found && found->to ? found->to.getDefiningOp() : op;
  if (!found || !first)
    return;
  const bool isBesideLayers =
      (found->from && isLocal(first)) ||
      (found->to && llvm::any_of(last->getUsers(), [&](Operation *user) { return isLocal(user); }));
  if (!isBesideLayers)
    return;
  const OpWindow window = windowAround(first, last, kLayersBefore, kLayersBehind);
  const auto [entry, isNew] = known.try_emplace(windowKey(window, op, kinds));
  if (isNew)
    entry->second = isWorthwhile(op, *found, window);
  if (entry->second)
    transpose(*found);
}

} // namespace

Expected<void> transposeInGroups(ModuleOp module, const Backend &backend) {
  Expected<func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return propagate(main);
  const auto isTransposing = [](tpu::PermuteOp op) { return transposePlan(op).has_value(); };
  if (llvm::any_of(main->front().getOps<tpu::PermuteOp>(), isTransposing))
    computeRowsOfPictures(main->front(), backend);
  GroupTransposer transposer(backend);
  for (auto op : llvm::to_vector(main->front().getOps<tpu::PermuteOp>()))
    transposer.run(op);
  return {};
}

} // namespace tpuc::bm1684x::backend
