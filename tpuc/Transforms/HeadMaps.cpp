//===- HeadMaps.cpp - What outputs are made of ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/HeadMaps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Transforms/Matching.h"

#include "tpuc/Support/PermutedPlaces.h"
#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// More elements than heads of detectors have are not followed.
static constexpr int64_t kMostElements = int64_t(1) << 26;

std::optional<HeadMap> tpuc::asMap(Value value) {
  const std::optional<Dims> dims = dimsOf(value);
  // What holds nothing is no map.
  if (!dims || dims->size() != 4 || llvm::any_of(*dims, [](int64_t dim) { return dim < 1; }))
    return std::nullopt;
  return HeadMap{value, (*dims)[0], (*dims)[1], (*dims)[2], (*dims)[3]};
}

HeadOutput::HeadOutput(Value value) : output(value), extents(*dimsOf(value)) {
  const int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
  if (count > kMostElements || !trace(value, elements))
    sources.clear();
}

bool HeadOutput::trace(Value from, std::vector<int64_t> &places) {
  Operation *op = from.getDefiningOp();
  const std::optional<Dims> dims = dimsOf(from);
  if (!op || !dims || llvm::is_contained(*dims, kDynamic))
    return false;
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    const std::optional<Dims> inner = dimsOf(permute.getInput());
    if (!inner || inner->empty() || !trace(permute.getInput(), places))
      return false;
    places = permutedPlaces(places, *inner, toInts(permute.getOrder()));
    return true;
  }
  if (isReshape(op))
    return trace(op->getOperand(0), places);
  // Maps of several parts stay whole.
  if (auto concat = dyn_cast<ConcatOp>(op); concat && isPlain(op) && dims->size() != 4) {
    const auto axis = static_cast<int64_t>(concat.getAxis());
    return traceJoined(op, axis < 0 ? axis + std::ssize(*dims) : axis, places);
  }
  const std::optional<HeadMap> map = asMap(from);
  if (!map)
    return false;
  int64_t before = 0;
  for (const HeadMap &each : sources)
    before += each.items * each.channels * each.pixels();
  sources.push_back(*map);
  places.resize(static_cast<size_t>(map->items * map->channels * map->pixels()));
  std::iota(places.begin(), places.end(), before);
  return true;
}

bool HeadOutput::traceJoined(Operation *concat, int64_t axis, std::vector<int64_t> &places) {
  int64_t outer = 1;
  for (int64_t index = 0; index < axis; ++index)
    outer *= (*dimsOf(concat->getResult(0)))[static_cast<size_t>(index)];
  std::vector<std::vector<int64_t>> parts;
  for (Value operand : concat->getOperands())
    if (!trace(operand, parts.emplace_back()))
      return false;
  for (int64_t block = 0; block < outer; ++block)
    for (const std::vector<int64_t> &part : parts) {
      const auto step = static_cast<int64_t>(part.size()) / outer;
      places.insert(places.end(), part.begin() + block * step, part.begin() + (block + 1) * step);
    }
  return true;
}

namespace {

/// Where the elements of records stand in maps, as `HeadOutput` counts them.
struct Records {
  const HeadMap &map;
  int64_t before;
  int64_t fields;

  int64_t anchors() const { return map.channels / fields; }
  int64_t at(int64_t item, int64_t anchor, int64_t pixel, int64_t field) const {
    return before + ((item * anchors() + anchor) * fields + field) * map.pixels() + pixel;
  }
};

std::vector<int64_t> expectedPlaces(const std::vector<Records> &levels, RecordOrder order) {
  std::vector<int64_t> places;
  const int64_t items = levels.front().map.items;
  const int64_t fields = levels.front().fields;
  for (int64_t item = 0; item < items; ++item) {
    if (order == RecordOrder::Planes) {
      for (int64_t anchor = 0; anchor < levels.front().anchors(); ++anchor)
        for (int64_t field = 0; field < fields; ++field)
          for (const Records &level : levels)
            for (int64_t pixel = 0; pixel < level.map.pixels(); ++pixel)
              places.push_back(level.at(item, anchor, pixel, field));
      continue;
    }
    for (const Records &level : levels) {
      const bool isAnchorFirst = order == RecordOrder::Anchors;
      const int64_t outer = isAnchorFirst ? level.anchors() : level.map.pixels();
      const int64_t inner = isAnchorFirst ? level.map.pixels() : level.anchors();
      for (int64_t first = 0; first < outer; ++first)
        for (int64_t second = 0; second < inner; ++second)
          for (int64_t field = 0; field < fields; ++field)
            places.push_back(level.at(item, isAnchorFirst ? first : second,
                                      isAnchorFirst ? second : first, field));
    }
  }
  return places;
}

} // namespace

std::optional<RecordOrder> HeadOutput::order(int64_t fields) const {
  if (sources.empty())
    return std::nullopt;
  std::vector<Records> levels;
  int64_t before = 0;
  bool hasOneAnchor = true;
  for (const HeadMap &map : sources) {
    if (map.channels % fields != 0 || map.items != sources.front().items)
      return std::nullopt;
    levels.push_back({map, before, fields});
    hasOneAnchor &= map.channels == fields;
    before += map.items * map.channels * map.pixels();
  }
  for (RecordOrder order : {RecordOrder::Planes, RecordOrder::Anchors, RecordOrder::Pixels})
    if ((order != RecordOrder::Planes || hasOneAnchor || sources.size() == 1) &&
        expectedPlaces(levels, order) == elements)
      return order;
  return std::nullopt;
}
