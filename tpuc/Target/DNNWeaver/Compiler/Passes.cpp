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
  PassMaker(const Network &network, const Rewrites &rewrites, bool pairs, unsigned steps)
      : network(network), rewrites(rewrites), pairs(pairs), steps(steps) {}
  std::vector<Pass> make();

private:
  Pass begin(const Node &node) const;
  bool add(Pass &pass, const Node &node) const;
  bool staysLongEnough(const Pass &pass, const Node &last) const;

  const Network &network;
  const Rewrites &rewrites;
  bool pairs;
  unsigned steps;
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
    break;
  case Kind::Upsample:
    pass.upsamples = true;
    break;
  case Kind::Copy:
  case Kind::Concat:
  case Kind::Slice:
    break;
  }
  return pass;
}

/// Whether rows and columns that are computed for what `last` gives are enough.
bool PassMaker::staysLongEnough(const Pass &pass, const Node &last) const {
  const FeatureMap &map = network.maps[last.output];
  const unsigned scale = pass.upsamples || last.kind == Kind::Upsample ? 2 : 1;
  const unsigned rows = map.height / scale;
  return uint64_t{pairs ? (rows + 1) / 2 : rows} * (map.width / scale) >= steps;
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
    break;
  case Kind::MaxPool:
    if (isPooled || pass.upsamples || node.pads.any() || !rewrites.has(Rewrite::FusePools) ||
        !staysLongEnough(pass, node))
      return false;
    pass.pool = node.kernel;
    pass.poolStride = node.stride;
    break;
  case Kind::Upsample:
    if (pass.upsamples || !rewrites.has(Rewrite::FusePools) || !staysLongEnough(pass, node))
      return false;
    pass.upsamples = true;
    break;
  case Kind::Conv:
  case Kind::Concat:
  case Kind::Slice:
  case Kind::Copy:
    return false;
  }
  pass.name = node.name;
  pass.output = node.output;
  return true;
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
    passes.push_back(std::move(pass));
  }
  return passes;
}

} // namespace

std::vector<Pass> passesOf(const Network &network, const Rewrites &rewrites, bool pairs,
                           unsigned steps) {
  return PassMaker(network, rewrites, pairs, steps).make();
}

} // namespace tpuc::dnnweaver
