//===- GroupInfo.cpp - How a group is cut and where its tiles lie ----------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupInfo.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

int64_t codegen::alignedLocally(int64_t bytes, const TargetInfo &target, unsigned space) {
  return alignedTo(bytes, localAlignment(target, space));
}

/// The single numbers of the attribute.
static constexpr std::pair<StringLiteral, int64_t GroupInfo::*> kNumbers[] = {
    {"out_addr", &GroupInfo::outAddress},
    {"out_size", &GroupInfo::outBytes},
    {"buffers", &GroupInfo::buffers},
    {"buffer_addr", &GroupInfo::scratchAddress},
    {"buffer_size", &GroupInfo::scratchBytes},
    {"id", &GroupInfo::id},
    {"stage", &GroupInfo::stage},
    {"step", &GroupInfo::step},
    {"first_step", &GroupInfo::firstStep},
    {"eu_align", &GroupInfo::isAligned},
    {"resident", &GroupInfo::resident}};

static constexpr StringLiteral kPartSteps = "part_steps";

DictionaryAttr GroupInfo::attribute(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList entries;
  for (auto [name, member] : kNumbers)
    entries.set(name, builder.getI64IntegerAttr(this->*member));
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    SmallVector<int64_t> begins;
    SmallVector<int64_t> sizes;
    for (Range range : axisTiles[axis]) {
      begins.push_back(range.begin);
      sizes.push_back(range.size);
    }
    entries.set((axisName(axis) + "_idx").str(), builder.getI64ArrayAttr(begins));
    entries.set((axisName(axis) + "_slice").str(), builder.getI64ArrayAttr(sizes));
  }
  if (!partSteps.empty())
    entries.set(kPartSteps, builder.getI64ArrayAttr(partSteps));
  return entries.getDictionary(context);
}

/// What a user may have changed by hand.
static tl::unexpected<Error> malformed(Operation *op, const Twine &found) {
  return wrong(op, found, "what --layer-group writes");
}

Expected<GroupInfo> GroupInfo::of(Operation *op) {
  auto attribute = op->getAttrOfType<DictionaryAttr>(kGroupInfo);
  if (!attribute)
    return malformed(op, "has no attribute " + Twine(kGroupInfo));
  GroupInfo info;
  for (auto [name, member] : kNumbers) {
    auto number = attribute.getAs<IntegerAttr>(name);
    const bool isStep = member == &GroupInfo::step || member == &GroupInfo::firstStep;
    if (!number || (number.getInt() < 0 && !isStep))
      return malformed(op, Twine(kGroupInfo) + " has no number " + name);
    info.*member = number.getInt();
  }
  if (auto steps = attribute.getAs<ArrayAttr>(kPartSteps)) {
    info.partSteps = top::toInts(steps);
    if (info.partSteps.size() != op->getNumOperands())
      return malformed(op, Twine(kGroupInfo) + " has " + Twine(info.partSteps.size()) +
                               " part_steps of " + Twine(op->getNumOperands()) + " operands");
  }
  if (info.buffers < 1)
    return malformed(op, Twine(kGroupInfo) + " has no buffers");
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    auto begins = attribute.getAs<ArrayAttr>((axisName(axis) + "_idx").str());
    auto sizes = attribute.getAs<ArrayAttr>((axisName(axis) + "_slice").str());
    if (!begins || !sizes || begins.empty() || begins.size() != sizes.size())
      return malformed(op, Twine(kGroupInfo) + " has no sections along " + axisName(axis));
    for (auto [begin, size] : llvm::zip_equal(begins, sizes)) {
      auto from = dyn_cast<IntegerAttr>(begin);
      auto count = dyn_cast<IntegerAttr>(size);
      if (!from || !count || from.getInt() < 0 || count.getInt() < 1)
        return malformed(op, Twine(kGroupInfo) + " has wrong sections along " + axisName(axis));
      info.axisTiles[axis].push_back({from.getInt(), count.getInt()});
    }
  }
  return info;
}

SmallVector<TileCounts> codegen::tileNumbers(const TileCounts &axisTiles) {
  constexpr unsigned kOrder[] = {kAxisC, kAxisN, kAxisD, kAxisH, kAxisW};
  SmallVector<TileCounts> numbers = {{}};
  for (unsigned axis : kOrder) {
    SmallVector<TileCounts> longer;
    for (const TileCounts &number : numbers)
      for (unsigned axisTile = 0; axisTile < axisTiles[axis]; ++axisTile) {
        longer.push_back(number);
        longer.back()[axis] = axisTile;
      }
    numbers = std::move(longer);
  }
  return numbers;
}

Tile codegen::tileAt(const Sections &axisTiles, const TileCounts &number) {
  Tile tile;
  for (unsigned axis = 0; axis < kNumAxes; ++axis)
    tile[axis] = axisTiles[axis][std::min<size_t>(number[axis], axisTiles[axis].size() - 1)];
  return tile;
}
