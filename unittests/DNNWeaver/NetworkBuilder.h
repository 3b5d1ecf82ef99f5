//===- NetworkBuilder.h - Networks with random weights -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_DNNWEAVER_NETWORKBUILDER_H
#define UNITTESTS_DNNWEAVER_NETWORKBUILDER_H

#include "tpuc/Target/DNNWeaver/Compiler/Network.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace tpuc::dnnweaver {

/// Builds networks with random weights.
class NetworkBuilder {
public:
  explicit NetworkBuilder(unsigned seed) : random(seed) {}

  unsigned input(unsigned channels, unsigned height, unsigned width) {
    network.inputs.push_back(map(channels, height, width, -1, 2));
    return network.inputs.back();
  }
  unsigned conv(unsigned from, unsigned kernels, Extent kernel, Extent stride, Pads pads) {
    const FeatureMap &in = network.maps[from];
    Node node;
    node.kernel = kernel;
    node.stride = stride;
    node.pads = pads;
    const double size = 1 / std::sqrt(double(in.channels) * double(kernel.area()));
    node.weights.resize(size_t{kernels} * in.channels * kernel.area());
    // Large filters repeat what small ones have.
    constexpr size_t kMostDrawn = 65521;
    for (size_t i = 0; i < node.weights.size(); ++i)
      node.weights[i] =
          i < kMostDrawn ? static_cast<float>(size * draw()) : node.weights[i % kMostDrawn];
    node.bias.resize(kernels);
    for (float &bias : node.bias)
      bias = static_cast<float>(0.3 * draw());
    const unsigned h = (in.height + pads.top + pads.bottom - kernel.h) / stride.h + 1;
    const unsigned w = (in.width + pads.left + pads.right - kernel.w) / stride.w + 1;
    return add(std::move(node), {from}, map(kernels, h, w, -2, 2));
  }
  unsigned same(unsigned from, unsigned kernels, unsigned side = 3) {
    const unsigned pad = side / 2;
    return leaky(conv(from, kernels, {side, side}, {1, 1}, {pad, pad, pad, pad}));
  }
  unsigned leaky(unsigned from, double slope = 0.1, std::optional<double> limit = std::nullopt) {
    Node node;
    node.kind = Node::Kind::Activation;
    node.slope = slope;
    node.limit = limit;
    const FeatureMap in = network.maps[from];
    return add(std::move(node), {from}, map(in.channels, in.height, in.width, -0.3, 2));
  }
  unsigned pool(unsigned from, unsigned side, unsigned stride, Pads pads = {}) {
    Node node;
    node.kind = Node::Kind::MaxPool;
    node.kernel = {side, side};
    node.stride = {stride, stride};
    node.pads = pads;
    const FeatureMap in = network.maps[from];
    return add(std::move(node), {from},
               map(in.channels, (in.height + pads.top + pads.bottom - side) / stride + 1,
                   (in.width + pads.left + pads.right - side) / stride + 1, in.least, in.most));
  }
  unsigned upsample(unsigned from) {
    Node node;
    node.kind = Node::Kind::Upsample;
    const FeatureMap in = network.maps[from];
    return add(std::move(node), {from},
               map(in.channels, 2 * in.height, 2 * in.width, in.least, in.most));
  }
  unsigned concat(const std::vector<unsigned> &parts, Axis axis = Axis::Channels) {
    Node node;
    node.kind = Node::Kind::Concat;
    node.axis = axis;
    FeatureMap in = network.maps[parts.front()];
    unsigned &along = axis == Axis::Channels ? in.channels
                      : axis == Axis::Rows   ? in.height
                                             : in.width;
    along = 0;
    for (const unsigned part : parts) {
      const FeatureMap &of = network.maps[part];
      along += axis == Axis::Channels ? of.channels : axis == Axis::Rows ? of.height : of.width;
      in.least = std::min(in.least, network.maps[part].least);
      in.most = std::max(in.most, network.maps[part].most);
    }
    return add(std::move(node), parts, map(in.channels, in.height, in.width, in.least, in.most));
  }
  unsigned slice(unsigned from, unsigned first, unsigned channels) {
    Node node;
    node.kind = Node::Kind::Slice;
    node.first = first;
    const FeatureMap in = network.maps[from];
    return add(std::move(node), {from}, map(channels, in.height, in.width, in.least, in.most));
  }
  /// Rows from `top` and columns from `left` on.
  unsigned crop(unsigned from, unsigned top, unsigned left, unsigned height, unsigned width) {
    Node node;
    node.kind = Node::Kind::Slice;
    node.top = top;
    node.left = left;
    const FeatureMap in = network.maps[from];
    return add(std::move(node), {from}, map(in.channels, height, width, in.least, in.most));
  }
  Network take(std::vector<unsigned> outputs) {
    network.name = "network";
    network.outputs = std::move(outputs);
    return std::move(network);
  }

private:
  double draw() { return std::uniform_real_distribution<double>(-1, 1)(random); }
  unsigned map(unsigned channels, unsigned height, unsigned width, double least, double most) {
    FeatureMap made;
    made.name = "m" + std::to_string(network.maps.size());
    made.channels = channels;
    made.height = height;
    made.width = width;
    made.least = least * (1 + 0.2 * draw());
    made.most = most * (1 + 0.2 * draw());
    network.maps.push_back(std::move(made));
    return static_cast<unsigned>(network.maps.size() - 1);
  }
  unsigned add(Node node, std::vector<unsigned> inputs, unsigned output) {
    node.name = network.maps[output].name;
    node.inputs = std::move(inputs);
    node.output = output;
    network.nodes.push_back(std::move(node));
    return output;
  }

  std::mt19937 random;
  Network network;
};

} // namespace tpuc::dnnweaver

#endif // UNITTESTS_DNNWEAVER_NETWORKBUILDER_H
