//===- Network.cpp - Networks of convolutions, pools and joined channels -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/Network.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace tpuc::dnnweaver {

using Kind = Node::Kind;

std::vector<const Node *> Network::readersOf(unsigned map) const {
  std::vector<const Node *> readers;
  for (const Node &node : nodes)
    if (std::ranges::find(node.inputs, map) != node.inputs.end())
      readers.push_back(&node);
  return readers;
}

const Node *Network::makerOf(unsigned map) const {
  const auto found = std::ranges::find(nodes, map, &Node::output);
  return found == nodes.end() ? nullptr : &*found;
}

bool Network::isOutput(unsigned map) const {
  return std::ranges::find(outputs, map) != outputs.end();
}

unsigned Network::addLike(unsigned map, std::string mapName) {
  FeatureMap made = maps[map];
  made.name = std::move(mapName);
  made.shape.clear();
  maps.push_back(std::move(made));
  return static_cast<unsigned>(maps.size() - 1);
}

//===--- Concatenations -----------------------------------------------------===//

namespace {

/// Whether what a node does to one channel is independent of the others, and may be done to parts.
bool worksByChannel(const Node &node) {
  return node.kind == Kind::MaxPool || node.kind == Kind::Upsample ||
         node.kind == Kind::Activation || node.kind == Kind::Copy;
}

/// The nodes that stand for `node`, which reads only the concatenation `concat`: one for each part,
/// and the concatenation of their results.
std::vector<Node> exchanged(Network &network, const Node &concat, const Node &node) {
  std::vector<Node> made;
  Node joined = concat;
  joined.output = node.output;
  for (unsigned &part : joined.inputs) {
    Node one = node;
    one.name = fmt::format("{}/{}", node.name, network.maps[part].name);
    one.inputs = {part};
    const unsigned channels = network.maps[part].channels;
    part = network.addLike(node.output, one.name);
    network.maps[part].channels = channels;
    one.output = part;
    made.push_back(std::move(one));
  }
  made.push_back(std::move(joined));
  return made;
}

bool exchangeOne(Network &network) {
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const Node node = network.nodes[i];
    if (!worksByChannel(node))
      continue;
    const unsigned input = node.inputs.front();
    const Node *concat = network.makerOf(input);
    if (!concat || concat->kind != Kind::Concat || concat->axis != Axis::Channels ||
        network.isOutput(input) || network.readersOf(input).size() != 1)
      continue;
    std::vector<Node> made = exchanged(network, *concat, node);
    const auto place = network.nodes.begin() + static_cast<ptrdiff_t>(i);
    network.nodes.insert(network.nodes.erase(place), std::make_move_iterator(made.begin()),
                         std::make_move_iterator(made.end()));
    std::erase_if(network.nodes, [&](const Node &other) { return other.output == input; });
    return true;
  }
  return false;
}

} // namespace

void exchangeConcats(Network &network) {
  while (exchangeOne(network)) {
  }
}

void addCopies(Network &network, const Rewrites &rewrites) {
  // A part has one place: in the concatenation that takes it first.
  std::set<unsigned> placed(network.inputs.begin(), network.inputs.end());
  for (const Node &node : network.nodes)
    if (node.kind == Kind::Slice)
      placed.insert(node.output);
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (network.nodes[i].kind != Kind::Concat)
      continue;
    for (size_t k = 0; k < network.nodes[i].inputs.size(); ++k) {
      const unsigned part = network.nodes[i].inputs[k];
      // Images beside each other have the same places for their channels.
      const Node *maker = network.makerOf(part);
      const bool isPlain =
          network.nodes[i].axis == Axis::Channels || !maker || maker->kind != Kind::Concat;
      if (rewrites.has(Rewrite::ShareRegions) && isPlain && placed.insert(part).second)
        continue;
      Node copy;
      copy.kind = Kind::Copy;
      copy.name = fmt::format("{}/{}", network.nodes[i].name, network.maps[part].name);
      copy.inputs = {part};
      copy.output = network.addLike(part, copy.name);
      placed.insert(copy.output);
      network.nodes[i].inputs[k] = copy.output;
      network.nodes.insert(network.nodes.begin() + static_cast<ptrdiff_t>(i), std::move(copy));
      ++i;
    }
  }
}

bool hasNeighbours(const Network &network, unsigned map) {
  for (const Node *reader : network.readersOf(map))
    if (reader->kind == Kind::Concat && reader->axis != Axis::Channels)
      return true;
  const Node *maker = network.makerOf(map);
  if (!maker || maker->kind != Kind::Slice)
    return false;
  const FeatureMap &from = network.maps[maker->inputs.front()], &to = network.maps[map];
  return from.height != to.height || from.width != to.width ||
         hasNeighbours(network, maker->inputs.front());
}

void addHalos(Network &network) {
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (!network.nodes[i].pads.any())
      continue;
    const unsigned input = network.nodes[i].inputs.front();
    if (!hasNeighbours(network, input))
      continue;
    Node copy;
    copy.kind = Kind::Copy;
    copy.name = fmt::format("{}/input", network.nodes[i].name);
    copy.inputs = {input};
    copy.output = network.addLike(input, copy.name);
    network.nodes[i].inputs = {copy.output};
    network.nodes.insert(network.nodes.begin() + static_cast<ptrdiff_t>(i), std::move(copy));
    ++i;
  }
}

//===--- Branches -----------------------------------------------------------===//

namespace {

/// The activation that alone reads the result of a convolution, or null.
const Node *activationOf(const Network &network, const Node &conv) {
  const std::vector<const Node *> readers = network.readersOf(conv.output);
  return readers.size() == 1 && !network.isOutput(conv.output) &&
                 readers.front()->kind == Kind::Activation
             ? readers.front()
             : nullptr;
}

/// What others read of a convolution: the result of its activation, or its own.
unsigned resultOf(const Network &network, const Node &conv) {
  const Node *activation = activationOf(network, conv);
  return activation ? activation->output : conv.output;
}

/// Whether the window of `small` lies in the middle of that of `large`.
bool isCentred(const Node &small, const Node &large) {
  const unsigned h = large.kernel.h - small.kernel.h;
  const unsigned w = large.kernel.w - small.kernel.w;
  if (small.kernel.h > large.kernel.h || small.kernel.w > large.kernel.w || h % 2 + w % 2 > 0)
    return false;
  const Pads &a = small.pads, &b = large.pads;
  return b.top == a.top + h / 2 && b.bottom == a.bottom + h / 2 && b.left == a.left + w / 2 &&
         b.right == a.right + w / 2;
}

bool mayJoin(const Network &network, const Node &first, const Node &second) {
  if (first.kind != Kind::Conv || second.kind != Kind::Conv || first.inputs != second.inputs ||
      first.stride != second.stride || (!isCentred(first, second) && !isCentred(second, first)))
    return false;
  const Node *a = activationOf(network, first), *b = activationOf(network, second);
  if ((a == nullptr) != (b == nullptr) || (a && (a->slope != b->slope || a->limit != b->limit)))
    return false;
  // Others want these results in places of their own, or pooled before they are stored.
  for (const Node *conv : {&first, &second})
    for (const Node *reader : network.readersOf(resultOf(network, *conv)))
      if (reader->kind != Kind::Conv)
        return false;
  return true;
}

} // namespace

Branches branches(const Network &network) {
  Branches found;
  for (const Node &node : network.nodes) {
    if (node.kind != Kind::Conv)
      continue;
    const auto branch = std::ranges::find_if(found, [&](const std::vector<unsigned> &others) {
      return std::ranges::all_of(
          others, [&](unsigned map) { return mayJoin(network, *network.makerOf(map), node); });
    });
    if (branch == found.end())
      found.push_back({node.output});
    else
      branch->push_back(node.output);
  }
  std::erase_if(found, [](const std::vector<unsigned> &branch) { return branch.size() < 2; });
  return found;
}

namespace {

/// Adds the kernels of `conv` to `joined`, whose window is as large at least.
void addKernels(Node &joined, const Node &conv, unsigned channels) {
  const size_t filters = conv.bias.size();
  const unsigned top = (joined.kernel.h - conv.kernel.h) / 2;
  const unsigned left = (joined.kernel.w - conv.kernel.w) / 2;
  const size_t begin = joined.weights.size();
  joined.weights.resize(begin + filters * channels * joined.kernel.area());
  for (size_t plane = 0; plane < filters * channels; ++plane)
    for (unsigned r = 0; r < conv.kernel.h; ++r)
      for (unsigned s = 0; s < conv.kernel.w; ++s)
        joined.weights[begin + plane * joined.kernel.area() + (r + top) * joined.kernel.w + s +
                       left] = conv.weights[plane * conv.kernel.area() + r * conv.kernel.w + s];
  joined.bias.insert(joined.bias.end(), conv.bias.begin(), conv.bias.end());
}

} // namespace

void joinBranch(Network &network, const std::vector<unsigned> &branch) {
  const auto windowOf = [&](unsigned map) { return network.makerOf(map)->kernel.area(); };
  Node joined = *network.makerOf(*std::ranges::max_element(branch, {}, windowOf));
  joined.weights.clear();
  joined.bias.clear();
  joined.name.clear();
  std::vector<Node> made;
  const unsigned channels = network.maps[joined.inputs.front()].channels;
  std::optional<Node> activation;
  std::set<unsigned> gone;
  size_t place = network.nodes.size();
  for (const unsigned map : branch) {
    const Node &conv = *network.makerOf(map);
    place = std::min(place, static_cast<size_t>(&conv - network.nodes.data()));
    joined.name += (joined.name.empty() ? "" : "+") + conv.name;
    Node slice;
    slice.kind = Kind::Slice;
    slice.name = conv.name;
    slice.output = resultOf(network, conv);
    slice.first = static_cast<unsigned>(joined.bias.size());
    addKernels(joined, conv, channels);
    if (const Node *own = activationOf(network, conv)) {
      activation = *own;
      gone.insert(own->output);
    }
    gone.insert(conv.output);
    made.push_back(std::move(slice));
  }
  unsigned whole = network.addLike(made.front().output, joined.name);
  network.maps[whole].channels = static_cast<unsigned>(joined.bias.size());
  for (const Node &slice : made) {
    FeatureMap &map = network.maps[whole];
    map.least = std::min(map.least, network.maps[slice.output].least);
    map.most = std::max(map.most, network.maps[slice.output].most);
  }
  joined.output = whole;
  std::vector<Node> nodes = {joined};
  if (activation) {
    whole = network.addLike(whole, joined.name + "/activation");
    activation->name = network.maps[whole].name;
    activation->inputs = {joined.output};
    activation->output = whole;
    nodes.push_back(*activation);
  }
  for (Node &slice : made) {
    slice.inputs = {whole};
    nodes.push_back(std::move(slice));
  }
  network.nodes.insert(network.nodes.begin() + static_cast<ptrdiff_t>(place),
                       std::make_move_iterator(nodes.begin()),
                       std::make_move_iterator(nodes.end()));
  const size_t end = place + nodes.size();
  size_t number = 0;
  std::erase_if(network.nodes, [&](const Node &node) {
    const size_t i = number++;
    return (i < place || i >= end) && gone.contains(node.output);
  });
}

//===--- Inputs -------------------------------------------------------------===//

namespace {

/// [kernels][channels][rows][columns] with the window's places as channels.
std::vector<float> packedWeights(const Node &conv, unsigned channels, const Extent &window) {
  const Extent rest = {conv.kernel.h / window.h, conv.kernel.w / window.w};
  std::vector<float> made(conv.weights.size());
  size_t from = 0;
  for (size_t k = 0; k < conv.bias.size(); ++k)
    for (unsigned c = 0; c < channels; ++c)
      for (unsigned r = 0; r < conv.kernel.h; ++r)
        for (unsigned s = 0; s < conv.kernel.w; ++s) {
          const size_t place = (r % window.h) * window.w + s;
          made[((k * window.area() + place) * channels + c) * rest.area() + r / window.h] =
              conv.weights[from++];
        }
  return made;
}

} // namespace

std::vector<PackedInput> packInputs(Network &network, unsigned rows) {
  std::vector<PackedInput> packed;
  for (unsigned &input : network.inputs) {
    const FeatureMap map = network.maps[input];
    const std::vector<const Node *> readers = network.readersOf(input);
    if (readers.size() != 1 || readers.front()->kind != Kind::Conv || network.isOutput(input))
      continue;
    Node &conv = network.nodes[static_cast<size_t>(readers.front() - network.nodes.data())];
    const bool isWhole = conv.kernel.area() * map.channels <= rows;
    if (conv.kernel.w == 1 || (!isWhole && conv.kernel.w * map.channels > rows))
      continue;
    const FeatureMap &result = network.maps[conv.output];
    PackedInput made{.from = input};
    made.window = {isWhole ? conv.kernel.h : 1, conv.kernel.w};
    made.stride = {isWhole ? conv.stride.h : 1, conv.stride.w};
    made.pads = conv.pads;
    if (!isWhole)
      made.pads.top = made.pads.bottom = 0;
    const unsigned height = isWhole ? result.height : map.height;
    const unsigned width = result.width;
    conv.weights = packedWeights(conv, map.channels, made.window);
    made.to = network.addLike(input, map.name + "/packed");
    FeatureMap &to = network.maps[made.to];
    to.channels = static_cast<unsigned>(made.window.area()) * map.channels;
    to.height = height;
    to.width = width;
    conv.inputs = {made.to};
    conv.kernel = {conv.kernel.h / made.window.h, 1};
    conv.stride = {isWhole ? 1 : conv.stride.h, 1};
    conv.pads.left = conv.pads.right = 0;
    if (isWhole)
      conv.pads = {};
    input = made.to;
    packed.push_back(made);
  }
  return packed;
}

} // namespace tpuc::dnnweaver
