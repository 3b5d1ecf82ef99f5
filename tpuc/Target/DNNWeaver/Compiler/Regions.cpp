//===- Regions.cpp - Where feature maps lie -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/Regions.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace tpuc::dnnweaver {

using Kind = Node::Kind;

Image Regions::image(unsigned map, const Pads &pads, unsigned channel) const {
  const Region &region = of(map);
  const Storage &storage = maps[map];
  return {.address = region.address + (region.halo.top + storage.top - pads.top) * region.rowBytes +
                     (region.halo.left + storage.left - pads.left) * region.pixelBytes +
                     uint64_t{channel} * elementBytes,
          .pixelBytes = region.pixelBytes,
          .rowBytes = region.rowBytes};
}

namespace {

class Placer {
public:
  Placer(const Network &network, unsigned words) : network(network), words(words) {}

  /// Everything but addresses.
  Regions place() {
    made.maps.resize(network.maps.size());
    std::set<unsigned> parts, slices;
    for (const Node &node : network.nodes) {
      if (node.kind == Kind::Concat)
        parts.insert(node.inputs.begin(), node.inputs.end());
      if (node.kind == Kind::Slice)
        slices.insert(node.output);
    }
    const auto begin = [&](unsigned map) {
      if (parts.contains(map) || slices.contains(map))
        return;
      made.regions.emplace_back().size = {network.maps[map].height, network.maps[map].width};
      made.regions.back().channels = put(map, {0, 0, 0});
    };
    for (const unsigned map : network.inputs)
      begin(map);
    for (const Node &node : network.nodes)
      begin(node.output);
    for (const Node &node : network.nodes)
      if (node.kind == Kind::Slice)
        slice(node);
    return std::move(made);
  }

private:
  struct Place {
    unsigned channel, top, left;
  };

  /// Puts a map into the last region from `at` on; the channel at which the next one may begin.
  unsigned put(unsigned map, Place at) {
    Storage &storage = made.maps[map];
    storage.region = static_cast<unsigned>(made.regions.size() - 1);
    storage.top = at.top;
    storage.left = at.left;
    const Node *maker = network.makerOf(map);
    if (!maker || maker->kind != Kind::Concat) {
      storage.channels.resize(network.maps[map].channels);
      std::iota(storage.channels.begin(), storage.channels.end(), at.channel);
      return (at.channel + network.maps[map].channels + words - 1) / words * words;
    }
    unsigned next = at.channel;
    for (const unsigned part : maker->inputs) {
      next = put(part, at);
      const std::vector<unsigned> &channels = made.maps[part].channels;
      switch (maker->axis) {
      case Axis::Channels:
        storage.channels.insert(storage.channels.end(), channels.begin(), channels.end());
        at.channel = next;
        break;
      case Axis::Rows:
        storage.channels = channels;
        at.top += network.maps[part].height;
        break;
      case Axis::Columns:
        storage.channels = channels;
        at.left += network.maps[part].width;
        break;
      }
    }
    return next;
  }

  void slice(const Node &node) {
    const Storage &whole = made.maps[node.inputs.front()];
    Storage part{.region = whole.region,
                 .channels = {},
                 .top = whole.top + node.top,
                 .left = whole.left + node.left};
    const auto begin = whole.channels.begin() + node.first;
    part.channels.assign(begin, begin + network.maps[node.output].channels);
    made.maps[node.output] = std::move(part);
  }

  const Network &network;
  unsigned words;
  Regions made;
};

Pads most(const Pads &a, const Pads &b) {
  return {std::max(a.top, b.top), std::max(a.left, b.left), std::max(a.bottom, b.bottom),
          std::max(a.right, b.right)};
}

} // namespace

Regions placeMaps(const Network &network, std::span<const Pass> passes,
                  std::span<const Scale> scales, const IntegerKind &kind, unsigned words,
                  PageAllocator &memory) {
  Regions made = Placer(network, words).place();
  made.elementBytes = kind.bits / 8;
  for (unsigned map = 0; map < network.maps.size(); ++map)
    if (!made.maps[map].channels.empty())
      made.regions[made.maps[map].region].fill = scales[map].zeroPoint;
  for (const Pass &pass : passes) {
    Region &region = made.regions[made.maps[pass.input].region];
    region.halo = most(region.halo, pass.pads);
    if (pass.padsAreLeast)
      region.fill = kind.least();
  }
  for (Region &region : made.regions) {
    region.pixelBytes = uint64_t{region.channels} * made.elementBytes;
    region.rowBytes = region.pixelBytes * (region.size.w + region.halo.left + region.halo.right);
    region.bytes = region.rowBytes * (region.size.h + region.halo.top + region.halo.bottom);
    region.address = memory.take(region.bytes);
  }
  return made;
}

Expected<void> checkRegions(const Network &network, std::span<const Pass> passes,
                            std::span<const Scale> scales, const IntegerKind &kind,
                            const Regions &regions) {
  std::vector<const Region *> order;
  order.reserve(regions.regions.size());
  for (const Region &region : regions.regions)
    order.push_back(&region);
  std::ranges::sort(order, {}, &Region::address);
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->address + order[i - 1]->bytes > order[i]->address)
      return makeError("regions", fmt::format("two at {:#x}", order[i]->address),
                       "regions that do not overlap");
  // Of each channel of a region the maps that were written so far.
  std::map<std::pair<unsigned, unsigned>, std::vector<unsigned>> writers;
  const auto meet = [&](unsigned a, unsigned b) {
    const FeatureMap &one = network.maps[a], &other = network.maps[b];
    const Storage &here = regions.maps[a], &there = regions.maps[b];
    return here.top < there.top + other.height && there.top < here.top + one.height &&
           here.left < there.left + other.width && there.left < here.left + one.width;
  };
  std::vector<unsigned> written = network.inputs;
  const std::vector<unsigned> stored = storedMaps(passes);
  written.insert(written.end(), stored.begin(), stored.end());
  for (const unsigned map : written)
    for (const unsigned channel : regions.maps[map].channels) {
      std::vector<unsigned> &others = writers[{regions.maps[map].region, channel}];
      if (std::ranges::any_of(others, [&](unsigned other) { return meet(map, other); }))
        return makeError(network.maps[map].name, "channels that are written twice", "once");
      others.push_back(map);
    }
  for (const Pass &pass : passes) {
    const Region &region = regions.of(pass.input);
    const int32_t wanted = pass.padsAreLeast ? kind.least() : scales[pass.input].zeroPoint;
    if (pass.pads.any() && (region.fill != wanted || most(region.halo, pass.pads) != region.halo))
      return makeError(network.maps[pass.input].name, fmt::format("a halo of {}", region.fill),
                       fmt::format("{}", wanted));
    const FeatureMap &map = network.maps[pass.input];
    const Storage &storage = regions.maps[pass.input];
    if (storage.top + map.height > region.size.h || storage.left + map.width > region.size.w ||
        (pass.pads.any() && region.size != Extent{map.height, map.width}))
      return makeError(map.name, "a region of another size", "its own");
  }
  return {};
}

} // namespace tpuc::dnnweaver
