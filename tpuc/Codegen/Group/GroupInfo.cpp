//===- GroupInfo.cpp - How a group is tiled and where its tiles lie ----------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupInfo.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/LayerFacts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

int64_t codegen::alignedLocally(int64_t bytes, const TargetInfo &target, unsigned space) {
  return alignedTo(bytes, localAlignment(target, space));
}

int64_t codegen::roomBehind(int64_t address, const TileModel &model, unsigned index,
                            const Tile &tile, const TargetInfo &target) {
  return address +
         alignedLocally(model.localBytes(index, tile), target, model.layoutOf(index).space);
}

/// The single numbers of the attribute: those of `tpu::groupNumbers`.
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
    entries.set(tpu::sectionBegins(axisName(axis)), builder.getI64ArrayAttr(begins));
    entries.set(tpu::sectionSizes(axisName(axis)), builder.getI64ArrayAttr(sizes));
  }
  if (!partSteps.empty())
    entries.set(tpu::kPartSteps, builder.getI64ArrayAttr(partSteps));
  if (order == TileOrder::ChannelsInnermost)
    entries.set(tpu::kChannelsInnermost, builder.getUnitAttr());
  return entries.getDictionary(context);
}

Expected<GroupInfo> GroupInfo::of(Operation *op) {
  auto member = dyn_cast<tpu::TiledInterface>(op);
  const DictionaryAttr attribute = member ? member.getGinfoAttr() : DictionaryAttr();
  if (!attribute)
    return wrong(op, "has no attribute " + Twine(tpu::kGroupInfo), "what --layer-group writes");
  GroupInfo info;
  for (auto [name, number] : kNumbers)
    info.*number = attribute.getAs<IntegerAttr>(name).getInt();
  if (auto steps = attribute.getAs<ArrayAttr>(tpu::kPartSteps))
    info.partSteps = top::toInts(steps);
  if (attribute.contains(tpu::kChannelsInnermost))
    info.order = TileOrder::ChannelsInnermost;
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    const auto begins = top::toInts(attribute.getAs<ArrayAttr>(tpu::sectionBegins(axisName(axis))));
    const auto sizes = top::toInts(attribute.getAs<ArrayAttr>(tpu::sectionSizes(axisName(axis))));
    for (auto [begin, size] : llvm::zip_equal(begins, sizes))
      info.axisTiles[axis].push_back({begin, size});
  }
  return info;
}

SmallVector<TileCounts> codegen::tileNumbers(const TileCounts &axisTiles, TileOrder order) {
  SmallVector<unsigned, kNumAxes> axes = {kAxisN, kAxisD, kAxisH, kAxisW};
  axes.insert(order == TileOrder::ChannelsOutermost ? axes.begin() : axes.end(), kAxisC);
  SmallVector<TileCounts> numbers = {{}};
  for (unsigned axis : axes) {
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
