//===- Passes.cpp - What the array and the ALU do at once -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/Passes.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::dnnweaver {

using Kind = Node::Kind;

void isolatePools(Network &network) {
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const Node &pool = network.nodes[i];
    if (pool.kind != Kind::MaxPool || !pool.pads.any())
      continue;
    const unsigned input = pool.inputs.front();
    const Node *maker = network.makerOf(input);
    if (maker && maker->kind != Kind::Concat && maker->kind != Kind::Slice &&
        network.readersOf(input).size() == 1)
      continue;
    Node copy;
    copy.kind = Kind::Copy;
    copy.name = fmt::format("{}/input", pool.name);
    copy.inputs = {input};
    copy.output = network.addLike(input, copy.name);
    network.nodes[i].inputs = {copy.output};
    network.nodes.insert(network.nodes.begin() + static_cast<ptrdiff_t>(i), std::move(copy));
    ++i;
  }
}

namespace {

class PassMaker {
public:
  PassMaker(const Network &network, const Rewrites &rewrites, bool hasCopies)
      : network(network), rewrites(rewrites), hasCopies(hasCopies) {}
  std::vector<Pass> make();

private:
  Pass begin(const Node &node) const;
  bool add(Pass &pass, const Node &node) const;
  const Node *addStored(Pass &pass) const;

  const Network &network;
  const Rewrites &rewrites;
  bool hasCopies;
};

Pass PassMaker::begin(const Node &node) const {
  Pass pass;
  pass.name = node.name;
  pass.input = node.inputs.front();
  pass.output = node.output;
  switch (node.kind) {
  case Kind::Conv:
    pass.conv = &node;
    pass.kernel = node.kernel;
    pass.stride = node.stride;
    pass.pads = node.pads;
    break;
  case Kind::MaxPool:
    pass.pool = node.kernel;
    pass.poolStride = node.stride;
    pass.pads = node.pads;
    pass.padsAreLeast = node.pads.any();
    break;
  case Kind::Activation:
    pass.slope = node.slope;
    pass.limit = node.limit;
    break;
  case Kind::Upsample:
    pass.upsamples = true;
    break;
  case Kind::Host:
    pass.host = &node;
    break;
  case Kind::Copy:
  case Kind::Concat:
  case Kind::Slice:
    break;
  }
  return pass;
}

/// Adds a node that reads what the pass has so far; false where it must be a pass of its own.
bool PassMaker::add(Pass &pass, const Node &node) const {
  const bool isPooled = pass.pool.area() > 1;
  switch (node.kind) {
  case Kind::Activation:
    // An activation keeps the order of values, so a pool in front of it or behind it is the same.
    if (pass.slope || pass.upsamples)
      return false;
    pass.slope = node.slope;
    pass.limit = node.limit;
    break;
  case Kind::MaxPool:
    if (isPooled || pass.upsamples || node.pads.any() || !rewrites.has(Rewrite::FusePools))
      return false;
    pass.pool = node.kernel;
    pass.poolStride = node.stride;
    break;
  case Kind::Upsample:
    if (pass.upsamples || !rewrites.has(Rewrite::FusePools))
      return false;
    pass.upsamples = true;
    break;
  case Kind::Conv:
  case Kind::Concat:
  case Kind::Slice:
  case Kind::Copy:
  case Kind::Host:
    return false;
  }
  pass.name = node.name;
  pass.output = node.output;
  return true;
}

/// Adds a pool or copy of a map that others need as well, so that the pass stores both; the node,
/// or null where there is none. The pass ends with it.
const Node *PassMaker::addStored(Pass &pass) const {
  if (!hasCopies || pass.copy)
    return nullptr;
  const unsigned result = pass.output;
  const FeatureMap &whole = network.maps[result];
  for (const Node *node : network.readersOf(result)) {
    const FeatureMap &map = network.maps[node->output];
    if (node->kind == Kind::Copy && rewrites.has(Rewrite::FuseCopies)) {
      pass.copy = node->output;
      return node;
    }
    // Windows that cover each pixel once.
    const bool covers = node->kind == Kind::MaxPool && node->kernel == node->stride &&
                        node->kernel.area() > 1 && map.height * node->kernel.h == whole.height &&
                        map.width * node->kernel.w == whole.width;
    if (!covers || pass.pool.area() > 1 || pass.upsamples || !rewrites.has(Rewrite::FuseCopies) ||
        !add(pass, *node))
      continue;
    pass.copy = result;
    pass.copiesUnpooled = true;
    return node;
  }
  return nullptr;
}

std::vector<Pass> PassMaker::make() {
  std::vector<Pass> passes;
  std::set<const Node *> done;
  for (const Node &node : network.nodes) {
    if (node.kind == Kind::Concat || node.kind == Kind::Slice || done.contains(&node))
      continue;
    Pass pass = begin(node);
    // What has no convolution is one node, so that its integers do not depend on what is fused.
    while (node.kind == Kind::Conv) {
      const std::vector<const Node *> readers = network.readersOf(pass.output);
      if (readers.size() != 1 || network.isOutput(pass.output) || !add(pass, *readers.front()))
        break;
      done.insert(readers.front());
    }
    if (node.kind == Kind::Conv)
      if (const Node *stored = addStored(pass))
        done.insert(stored);
    passes.push_back(std::move(pass));
  }
  return passes;
}

} // namespace

std::vector<Pass> passesOf(const Network &network, const Rewrites &rewrites, bool hasCopies) {
  return PassMaker(network, rewrites, hasCopies).make();
}

std::vector<unsigned> storedMaps(std::span<const Pass> passes) {
  std::vector<unsigned> maps;
  for (const Pass &pass : passes) {
    if (pass.copy)
      maps.push_back(*pass.copy);
    maps.push_back(pass.output);
  }
  return maps;
}

} // namespace tpuc::dnnweaver
