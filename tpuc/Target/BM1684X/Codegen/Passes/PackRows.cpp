//===- PackRows.cpp - Convolutions of few channels ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/PackedRows.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"

#include <map>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Less than this is gained by chance.
constexpr double kWorthwhile = 0.995;
/// So many layers in front and behind are looked at with it.
constexpr int64_t kBefore = 4, kBehind = 10;

/// A packing of a convolution, and one of the convolution behind that reads its rows as they lie.
struct RowCandidate {
  RowChoice own = {};
  std::optional<RowChoice> behind = std::nullopt;
};

/// Packs the rows of convolutions where the network becomes faster by it.
class RowPacker {
public:
  RowPacker(Block &block, const Backend &backend);

  Expected<void> run();

private:
  /// Also the convolution behind, which then is another op.
  Expected<void> pack(tpu::ConvOp op);
  std::optional<RowCandidate> candidateFor(tpu::ConvOp op, PackedRows &rows);
  OpWindow windowOf(tpu::ConvOp op, PackedRows &rows);
  std::optional<RowCandidate> leastOf(tpu::ConvOp op, ArrayRef<RowChoice> choices,
                                      const OpWindow &window);
  std::optional<double> estimate(const OpWindow &window, WindowClone &clone);
  std::optional<double> leastWithout(tpu::ConvOp op, const OpWindow &window);

  Block &block;
  const Backend &backend;
  WindowCosts costs;
  /// How much transfers count that are hidden behind computation: nothing, where the weights are
  /// loaded faster than the convolutions are computed.
  double transferShare = 0;
  llvm::DenseSet<Operation *> gone;
  OpKinds kinds;
  std::map<WindowKey, std::optional<RowCandidate>> known;
};

/// Weights have to be loaded, and layers computed; where the former takes longer, transfers that
/// are hidden behind the computation of their group delay others.
RowPacker::RowPacker(Block &block, const Backend &backend)
    : block(block), backend(backend), costs(backend) {
  int64_t moved = 0;
  int64_t computed = 0;
  GroupCosts sampled(backend, std::make_shared<KnownCosts>());
  for (Operation &op : block) {
    if (isa<top::WeightOp>(op))
      moved += backend.transferCycles(globalBytes(op.getResult(0).getType()), 1);
    else if (isLayer(&op) && backend.placeOf(&op))
      computed += sampledCycles(&op, sampled, backend).value_or(0);
  }
  if (moved > computed)
    transferShare = static_cast<double>(moved) / static_cast<double>(moved + computed);
}

/// The cycles that a transfer more costs where the chip is slower than the vendor's model has it:
/// it starts, waits for the memory, and what computes starts behind it.
int64_t extraTransferCycles(const TargetInfo &target) {
  if (!target.conservativeTiming)
    return 0;
  const TimingInfo &timing = *target.conservativeTiming;
  return int64_t{timing.transferStartCycles} + timing.memoryLatencyCycles +
         timing.computeStartCycles;
}

/// How many transfers more than others a tile of a layer takes.
int64_t moreTransfers(Operation *layer) {
  int64_t count = 0;
  for (Value operand : layer->getOperands())
    if (auto windows = operand.getDefiningOp<tpu::PackRowsOp>();
        windows && !windows.getInLocalMemory())
      count += static_cast<int64_t>(windows.getKernel()) - 1;
  if (const std::optional<int64_t> rows = tpu::storedRows(layer))
    count += *rows - 1;
  return count;
}

/// The estimated cycles of a window's layers as `clone` has them; none if they are not possible.
std::optional<double> RowPacker::estimate(const OpWindow &window, WindowClone &clone) {
  const auto price = [&](const GroupTable::Option &option, ArrayRef<Operation *> layers) {
    double sum = (1 - transferShare) * static_cast<double>(option.estimate) +
                 transferShare * static_cast<double>(option.transfers);
    for (Operation *layer : layers)
      sum += static_cast<double>(option.choice.numParts() * moreTransfers(layer) *
                                 extraTransferCycles(backend.info()));
    return sum;
  };
  return costs.of(window, clone, price);
}

/// The layers around `op`, whose rows are `rows`, and the ops that candidates change.
OpWindow RowPacker::windowOf(tpu::ConvOp op, PackedRows &rows) {
  OpWindow window = windowAround(op, rows.last(), kBefore, kBehind);
  llvm::append_range(window.ops, rows.ops());
  if (tpu::ConvOp next = rows.user())
    llvm::append_range(window.ops, PackedRows(next, backend).ops());
  return window;
}

/// The estimate of the window as it is, or with the convolution alone packed that reads the result
/// of `op`: its turn comes later.
std::optional<double> RowPacker::leastWithout(tpu::ConvOp op, const OpWindow &window) {
  WindowClone unchanged(window.ops);
  std::optional<double> least = estimate(window, unchanged);
  tpu::ConvOp next = PackedRows(op, backend).user();
  if (!least || !next)
    return least;
  constexpr size_t kTried = 2;
  std::vector<RowChoice> choices = PackedRows(next, backend).faster();
  choices.resize(std::min(choices.size(), kTried));
  for (const RowChoice &choice : choices) {
    WindowClone clone(window.ops);
    PackedRows behind(cast<tpu::ConvOp>(clone.of(next)), backend);
    if (!behind.apply(choice) || !behind.fits())
      continue;
    if (const std::optional<double> found = estimate(window, clone))
      least = std::min(*least, *found);
  }
  return least;
}

/// The candidate with which the layers around take the fewest cycles; none if that is what is
/// there.
std::optional<RowCandidate> RowPacker::leastOf(tpu::ConvOp op, ArrayRef<RowChoice> choices,
                                               const OpWindow &window) {
  std::optional<double> least = leastWithout(op, window);
  if (!least)
    return std::nullopt;
  *least *= kWorthwhile;
  std::optional<RowCandidate> best;
  const auto weigh = [&](const RowCandidate &candidate, WindowClone &clone) {
    const std::optional<double> found = estimate(window, clone);
    if (!found || *found >= *least)
      return;
    least = found;
    best = candidate;
  };
  for (const RowChoice &own : choices) {
    WindowClone clone(window.ops);
    PackedRows rows(cast<tpu::ConvOp>(clone.of(op)), backend);
    if (!rows.apply(own) || !rows.fits())
      continue;
    weigh({.own = own}, clone);
    tpu::ConvOp next = rows.user();
    if (!next)
      continue;
    for (const RowChoice &behind : PackedRows(next, backend).faster()) {
      if (behind.packing.inputs == 1)
        continue;
      WindowClone both(window.ops);
      PackedRows first(cast<tpu::ConvOp>(both.of(op)), backend);
      first.apply(own);
      PackedRows second(first.user(), backend);
      if (second.apply(behind) && second.fits())
        weigh({.own = own, .behind = behind}, both);
    }
  }
  return best;
}

/// What `leastOf` finds, for equal windows once.
std::optional<RowCandidate> RowPacker::candidateFor(tpu::ConvOp op, PackedRows &rows) {
  const OpWindow window = windowOf(op, rows);
  const auto [entry, isNew] = known.try_emplace(windowKey(window, op, kinds));
  if (!isNew)
    return entry->second;
  const std::vector<RowChoice> choices = rows.faster();
  // What the host computes needs the rows where they are.
  if (!choices.empty() && fittingPlaceOf(op, backend))
    entry->second = leastOf(op, choices, window);
  return entry->second;
}

Expected<void> RowPacker::pack(tpu::ConvOp op) {
  PackedRows rows(op, backend);
  if (!rows.mayBePacked())
    return {};
  const std::optional<RowCandidate> best = candidateFor(op, rows);
  if (!best || !rows.apply(best->own))
    return {};
  if (best->behind) {
    PackedRows behind(rows.user(), backend);
    gone.insert(rows.user());
    if (behind.apply(*best->behind))
      if (Expected<void> done = behind.commit(); !done)
        return done;
  }
  return rows.commit();
}

Expected<void> RowPacker::run() {
  const SmallVector<tpu::ConvOp> convs(block.getOps<tpu::ConvOp>());
  for (tpu::ConvOp op : convs)
    if (!gone.contains(op))
      if (Expected<void> done = pack(op); !done)
        return done;
  return {};
}

} // namespace

Expected<void> packRows(ModuleOp module, const Backend &backend) {
  Expected<func::FuncOp> main = top::mainFunction(module);
  return main ? RowPacker(main->front(), backend).run() : propagate(main);
}

} // namespace tpuc::bm1684x::backend
