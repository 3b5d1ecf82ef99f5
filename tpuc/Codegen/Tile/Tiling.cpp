//===- Tiling.cpp - The tiles of one layer that fit local memory ----------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Support/Allocator/Allocator.h"
#include "tpuc/Support/Sizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

using Counts = TileCounts;

/// A layer of more steps is not worth its commands, nor the time to plan them.
constexpr int64_t kMostSteps = 1 << 14;

/// The size of the parts of `extent` elements, a multiple of `unit`; at most `count` of them.
int64_t partSize(int64_t extent, int64_t count, int64_t unit) {
  return llvm::alignTo(llvm::divideCeil(extent, count), unit);
}

/// The parts of equal size.
SmallVector<Range> cut(int64_t extent, int64_t count, int64_t unit) {
  const int64_t size = partSize(extent, count, unit);
  SmallVector<Range> ranges;
  for (int64_t begin = 0; begin < extent; begin += size)
    ranges.push_back({begin, std::min(size, extent - begin)});
  return ranges;
}

/// The count of parts to try after `count`; the finest tiling is never left out.
int64_t nextCount(int64_t count, int64_t most) {
  const int64_t next = count + std::max<int64_t>(1, count / 4);
  return count < most ? std::min(next, most) : next;
}

/// What one way to tile an op needs and costs.
struct Layout {
  Sections axisTiles;
  /// Bytes of the largest tile of each operand (0: not loaded) and of the result.
  SmallVector<int64_t> bytes;
  /// How many different tiles follow each other over all steps.
  SmallVector<int64_t> versions;
  int64_t scratch = 0;
  unsigned maxBuffers = 1;
  int64_t cost = 0;
};

/// The tiles of a layer that is cut into so many parts along each axis.
Count stepsOf(const Counts &counts) {
  Count steps = 1;
  for (unsigned count : counts)
    steps *= int64_t(count);
  return steps;
}

class Planner {
public:
  Planner(Operation *op, const Backend &backend, TileModel model, const Footprint &capacity,
          const TilingCosts &costs)
      : op(op), backend(backend), model(std::move(model)), capacity(capacity), costs(costs) {
    for (unsigned index = 0; index <= op->getNumOperands(); ++index)
      spaces.push_back(this->model.layoutOf(index).space);
  }

  Expected<Tiling> plan();

private:
  Expected<Layout> layoutFor(const Counts &counts) const;
  Expected<void> measure(Layout &layout) const;
  bool fits(const Layout &layout, unsigned buffers) const;
  /// Whether another tile of a tensor is loaded or made while one is in use.
  bool isDoubled(const Layout &layout, size_t index) const {
    return layout.versions[index] > 1 &&
           (costs.doublesAll || layout.versions[index] == *llvm::max_element(layout.versions));
  }
  /// Whether there is room behind the tiles of a tensor for their transfers.
  bool hasRoom(size_t index) const {
    if (index == op->getNumOperands())
      return true;
    Operation *source = op->getOperand(static_cast<unsigned>(index)).getDefiningOp();
    return !source || !isConstant(source);
  }
  unsigned buffersOf(const Layout &layout, size_t index) const {
    return isDoubled(layout, index) ? layout.maxBuffers : 1;
  }
  int64_t maxTiles(unsigned axis) const;
  Expected<void> tryCounts(Counts counts, std::optional<Layout> &best) const;
  Expected<SmallVector<int64_t>> addresses(const Layout &layout) const;
  Expected<Tiling> place(const Layout &layout) const;

  Operation *op;
  const Backend &backend;
  TileModel model;
  Footprint capacity;
  TilingCosts costs;
  /// Of each operand, and of the result.
  SmallVector<unsigned> spaces;
};

int64_t Planner::maxTiles(unsigned axis) const {
  if (!model.isTileable[axis])
    return 1;
  const int64_t unit = std::max(model.unit[axis], backend.tileUnit(op, axis));
  // What is beyond is not tried.
  return std::min(static_cast<int64_t>(llvm::divideCeil(model.result[axis], unit)), kMostSteps + 1);
}

/// Walks over all steps: how large tiles get, and how often they change.
Expected<void> Planner::measure(Layout &layout) const {
  const size_t numOperands = model.operands.size();
  layout.bytes.assign(numOperands + 1, 0);
  layout.versions.assign(numOperands + 1, 0);
  layout.cost = 0;
  Counts counts;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    counts[axis] = static_cast<unsigned>(layout.axisTiles[axis].size());
  SmallVector<std::optional<Tile>> last(numOperands + 1);
  for (const auto &step : tileNumbers(counts, costs.order)) {
    const Tile output = tileAt(layout.axisTiles, step);
    TiledOp tiled{.op = op, .model = &model, .operands = {}, .result = {output}};
    tiled.operands.resize(numOperands);
    layout.cost += costs.stepBytes;
    for (size_t index = 0; index <= numOperands; ++index) {
      const bool isResult = index == numOperands;
      if (!isResult && (!model.operands[index].isPresent ||
                        !model.layoutOf(static_cast<unsigned>(index)).isLoaded))
        continue;
      const Tile tile = isResult ? output : model.operands[index].slice(output);
      if (!isResult)
        tiled.operands[index].tile = tile;
      if (last[index] == tile)
        continue;
      last[index] = tile;
      ++layout.versions[index];
      const int64_t bytes = model.localBytes(static_cast<unsigned>(index), tile);
      const int64_t room = hasRoom(index) ? model.roomBytes(static_cast<unsigned>(index), tile) : 0;
      layout.bytes[index] =
          std::max(layout.bytes[index], alignedLocally(bytes, backend.info(), spaces[index]) +
                                            alignedLocally(room, backend.info(), spaces[index]));
      layout.cost += bytes;
    }
    Expected<int64_t> scratch = backend.scratchBytes(tiled);
    if (!scratch)
      return propagate(scratch);
    layout.scratch = std::max(layout.scratch, alignedLocally(*scratch, backend.info()));
    // Further steps take no less.
    if (!fits(layout, 1))
      return {};
  }
  return {};
}

bool Planner::fits(const Layout &layout, unsigned buffers) const {
  Footprint total = layout.scratch;
  for (auto [index, bytes] : llvm::enumerate(layout.bytes))
    total[spaces[index]] += bytes * (isDoubled(layout, index) ? buffers : 1);
  return total.fits(capacity);
}

Expected<Layout> Planner::layoutFor(const Counts &counts) const {
  Layout layout;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    layout.axisTiles[axis] = cut(model.result[axis], counts[axis],
                                 std::max(model.unit[axis], backend.tileUnit(op, axis)));
  if (Expected<void> measured = measure(layout); !measured)
    return propagate(measured);
  layout.maxBuffers = fits(layout, 2) ? 2 : fits(layout, 1) ? 1 : 0;
  // What is not overlapped takes the time of both engines.
  if (layout.maxBuffers == 1)
    layout.cost += layout.cost / 2;
  else
    for (auto [index, bytes] : llvm::enumerate(layout.bytes))
      if (layout.versions[index] > 1 && !isDoubled(layout, index))
        layout.cost += layout.versions[index] * bytes / 2;
  return layout;
}

/// Tiles h, then w, as little as `counts` of the other axes allow.
Expected<void> Planner::tryCounts(Counts counts, std::optional<Layout> &best) const {
  for (unsigned axis : {kAxisD, kAxisH, kAxisW}) {
    const int64_t most = maxTiles(axis);
    int64_t before = 0;
    for (int64_t count = 1; count <= most; count = nextCount(count, most)) {
      counts[axis] = static_cast<unsigned>(count);
      // Counts that give parts of the same size are the same.
      const int64_t unit = std::max(model.unit[axis], backend.tileUnit(op, axis));
      const auto parts = static_cast<int64_t>(
          llvm::divideCeil(model.result[axis], partSize(model.result[axis], count, unit)));
      if (parts == before)
        continue;
      before = parts;
      if (stepsOf(counts) > kMostSteps)
        break;
      Expected<Layout> layout = layoutFor(counts);
      if (!layout)
        return propagate(layout);
      if (layout->maxBuffers < (costs.mustOverlap ? 2U : 1U))
        continue;
      // Finer parts than the coarsest that overlap are no better.
      const bool overlaps = layout->maxBuffers == 2;
      if (!best || layout->cost < best->cost)
        best = std::move(*layout);
      if (overlaps)
        return {};
    }
    counts[axis] = static_cast<unsigned>(std::max<int64_t>(before, 1));
  }
  return {};
}

Expected<Tiling> Planner::plan() {
  std::optional<Layout> best;
  const int64_t mostN = maxTiles(kAxisN);
  const int64_t mostC = maxTiles(kAxisC);
  // n first, to its smallest parts; c trades transfers of weights for those of activations.
  for (int64_t c = 1; c <= mostC; c = nextCount(c, mostC))
    for (int64_t n : {int64_t{1}, mostN}) {
      Counts counts{};
      counts.fill(1);
      counts[kAxisN] = static_cast<unsigned>(n);
      counts[kAxisC] = static_cast<unsigned>(c);
      if (Expected<void> tried = tryCounts(counts, best); !tried)
        return propagate(tried);
      if (n == mostN)
        break;
    }
  if (!best)
    return makeError("", "no slice fits the " + std::to_string(capacity[kTileSpace]) +
                             " bytes of local memory");
  return place(*best);
}

/// Everything is alive while the steps run: loads of the next and stores of the last one overlap.
/// The addresses of operands, of the result and of the scratch.
Expected<SmallVector<int64_t>> Planner::addresses(const Layout &layout) const {
  SmallVector<int64_t> addresses(layout.bytes.size() + 1, 0);
  for (unsigned space = 0; space < backend.info().memory.spaces.size(); ++space) {
    alloc::AllocationProblem problem;
    SmallVector<size_t> placed;
    const auto add = [&](size_t index, const std::string &name, int64_t bytes) {
      alloc::Buffer buffer;
      buffer.name = name;
      buffer.upper = 1;
      buffer.size = bytes;
      buffer.alignment = localAlignment(backend.info(), space);
      problem.buffers.push_back(std::move(buffer));
      placed.push_back(index);
    };
    for (auto [index, bytes] : llvm::enumerate(layout.bytes))
      if (spaces[index] == space)
        add(index, "tensor " + std::to_string(index), bytes * buffersOf(layout, index));
    if (space == kTileSpace)
      add(layout.bytes.size(), "scratch", layout.scratch);
    if (placed.empty())
      continue;
    alloc::AllocatorOptions options;
    options.capacity = capacity[space];
    Expected<alloc::Allocation> allocation = alloc::allocate(problem, options);
    if (!allocation)
      return propagate(allocation);
    if (!allocation->fits(options.capacity))
      return makeError("", "its slices do not fit local memory");
    for (auto [index, offset] : llvm::zip_equal(placed, allocation->offsets))
      addresses[index] = offset;
  }
  return addresses;
}

Expected<Tiling> Planner::place(const Layout &layout) const {
  Expected<SmallVector<int64_t>> places = addresses(layout);
  if (!places)
    return propagate(places);
  Tiling plan;
  for (size_t index = 0; index < layout.bytes.size(); ++index) {
    GroupInfo info;
    info.outAddress = (*places)[index];
    info.outBytes = layout.bytes[index];
    info.buffers = buffersOf(layout, index);
    const bool isResult = index == model.operands.size();
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      for (Range range : layout.axisTiles[axis])
        info.axisTiles[axis].push_back(isResult ? range
                                                : model.operands[index].padded(axis, range).range);
    info.stage = isResult ? 1 : 0;
    info.order = costs.order;
    if (isResult) {
      info.scratchAddress = places->back();
      info.scratchBytes = layout.scratch;
      plan.result = std::move(info);
    } else if (layout.versions[index] > 0) {
      plan.operands.push_back(std::move(info));
    } else {
      plan.operands.push_back(std::nullopt);
    }
  }
  plan.model = model;
  return plan;
}

} // namespace

Expected<Tiling> codegen::planTiling(Operation *op, const Backend &backend,
                                     const Footprint &capacity, const TilingCosts &costs) {
  Expected<TileModel> model = backend.modelOf(op);
  if (!model)
    return propagate(model);
  return Planner(op, backend, std::move(*model), capacity, costs).plan();
}

Expected<Place> codegen::fittingPlaceOf(Operation *op, const Backend &backend) {
  Expected<Place> place = backend.placeOf(op);
  if (!place || *place != Place::Local)
    return place;
  Expected<Tiling> plan = planTiling(op, backend, Footprint::capacityOf(backend.info()));
  if (!plan)
    return propagate(plan);
  return place;
}
