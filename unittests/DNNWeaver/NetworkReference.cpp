//===- NetworkReference.cpp - Integers of a network by plain loops --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NetworkReference.h"

#include <algorithm>

namespace tpuc::dnnweaver {

using Kind = Node::Kind;

NetworkReference::NetworkReference(const Network &network, const IntegerKind &kind, Machine machine)
    : network(network), kind(kind), machine(machine) {
  findGroups();
  groupIsSymmetric.assign(network.maps.size(), !kind.zeroPoints);
  do
    findScales();
  while (!fits());
  std::mt19937 random(7);
  for (const unsigned input : network.inputs) {
    const FeatureMap &map = network.maps[input];
    Values &made = values[input];
    for (size_t i = 0; i < size_t{map.channels} * map.height * map.width; ++i)
      made.push_back(std::uniform_int_distribution<int32_t>(kind.least(), kind.most())(random));
  }
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const Node &node = network.nodes[i];
    if (node.kind == Kind::Conv) {
      // The result of an activation behind is the first that is stored.
      const int behind = activationBehind(i);
      const unsigned map = behind < 0 ? node.output : static_cast<unsigned>(behind);
      values[map] = conv(i);
    } else if (!values.contains(node.output)) {
      values[node.output] = node.kind == Kind::Activation ? activation(i) : moved(node);
    }
  }
}

const std::vector<int32_t> *NetworkReference::find(const std::string &name) const {
  for (const auto &[map, made] : values)
    if (network.maps[map].name == name)
      return &made;
  return nullptr;
}

std::vector<std::byte> NetworkReference::bytesOf(const std::string &name) const {
  std::vector<std::byte> bytes;
  for (const int32_t value : *find(name))
    for (unsigned i = 0; i < kind.bits / 8; ++i)
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  return bytes;
}

int NetworkReference::activationBehind(size_t node) const {
  const unsigned map = network.nodes[node].output;
  int found = -1;
  size_t readers = 0;
  for (const Node &other : network.nodes)
    for (const unsigned input : other.inputs)
      if (input == map) {
        ++readers;
        found = other.kind == Kind::Activation ? static_cast<int>(other.output) : -1;
      }
  return readers == 1 && std::ranges::count(network.outputs, map) == 0 ? found : -1;
}

/// Whether two convolutions may become one: one input, one stride, windows around one middle, the
/// same activation, results that only convolutions read.
bool NetworkReference::share(size_t first, size_t second) const {
  const Node &a = network.nodes[first], &b = network.nodes[second];
  if (a.kind != Kind::Conv || b.kind != Kind::Conv || a.inputs != b.inputs || a.stride != b.stride)
    return false;
  const auto middle = [](unsigned pad, unsigned size) { return 2 * int(pad) - int(size); };
  if (middle(a.pads.top, a.kernel.h) != middle(b.pads.top, b.kernel.h) ||
      middle(a.pads.left, a.kernel.w) != middle(b.pads.left, b.kernel.w) ||
      middle(a.pads.bottom, a.kernel.h) != middle(b.pads.bottom, b.kernel.h) ||
      middle(a.pads.right, a.kernel.w) != middle(b.pads.right, b.kernel.w))
    return false;
  double slopes[2] = {-1, -1}, limits[2] = {-1, -1};
  unsigned number = 0;
  for (const size_t node : {first, second}) {
    const int behind = activationBehind(node);
    const unsigned result = behind < 0 ? network.nodes[node].output : static_cast<unsigned>(behind);
    for (const Node &other : network.nodes) {
      if (other.output == result && other.kind == Kind::Activation) {
        slopes[number] = other.slope;
        limits[number] = other.limit.value_or(-1);
      }
      if (std::ranges::count(other.inputs, result) > 0 && other.kind != Kind::Conv)
        return false;
    }
    ++number;
  }
  return slopes[0] == slopes[1] && limits[0] == limits[1];
}

void NetworkReference::findGroups() {
  groups.resize(network.maps.size());
  for (size_t i = 0; i < groups.size(); ++i)
    groups[i] = i;
  const auto join = [&](size_t a, size_t b) {
    const size_t from = groups[a], to = groups[b];
    for (size_t &group : groups)
      if (group == from)
        group = to;
  };
  for (const Node &node : network.nodes)
    if (node.kind != Kind::Conv && node.kind != Kind::Activation)
      for (const unsigned input : node.inputs)
        join(input, node.output);
  for (size_t i = 0; i < network.nodes.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (share(k, i)) {
        const int a = activationBehind(k), b = activationBehind(i);
        join(a < 0 ? network.nodes[k].output : static_cast<unsigned>(a),
             b < 0 ? network.nodes[i].output : static_cast<unsigned>(b));
      }
}

void NetworkReference::findScales() {
  quantization.assign(network.maps.size(), {});
  for (size_t i = 0; i < network.maps.size(); ++i) {
    double least = 0, most = 0;
    for (size_t k = 0; k < network.maps.size(); ++k)
      if (groups[k] == groups[i]) {
        least = std::min(least, network.maps[k].least);
        most = std::max(most, network.maps[k].most);
      }
    Quantization &made = quantization[i];
    if (groupIsSymmetric[groups[i]]) {
      made.scale = std::max(-least, most) / kind.most();
    } else {
      made.scale = (most - least) / ((1 << kind.bits) - 1);
      made.zero = std::lround(-least / made.scale) + kind.least();
    }
  }
  weightScales.clear();
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (network.nodes[i].kind != Kind::Conv)
      continue;
    for (size_t k = 0; k < network.nodes.size(); ++k)
      if (k == i || share(std::min(i, k), std::max(i, k)))
        for (const float weight : network.nodes[k].weights)
          weightScales[i] = std::max(weightScales[i], std::abs(double{weight}) / kind.most());
  }
}

/// Whether all biases (of int8, with the largest sums) have 32 bits; otherwise something became
/// coarser.
bool NetworkReference::fits() {
  for (auto &[i, scale] : weightScales) {
    const Node &node = network.nodes[i];
    const Quantization &in = quantization[node.inputs.front()];
    const size_t size = node.weights.size() / node.bias.size();
    for (;;) {
      double most = 0, mostPlain = 0;
      for (size_t k = 0; k < node.bias.size(); ++k) {
        double sum = 0, magnitude = 0;
        for (size_t n = 0; n < size; ++n) {
          const double weight = std::round(double{node.weights[k * size + n]} / scale);
          sum += weight;
          magnitude += std::abs(weight);
        }
        const double plain = std::round(double{node.bias[k]} / (in.scale * scale));
        const double rest = kind.bits == 8 ? 128 * magnitude : 0;
        most = std::max(most, std::abs(plain - double(in.zero) * sum) + rest);
        mostPlain = std::max(mostPlain, std::abs(plain) + rest);
      }
      if (most < 2147483648.0)
        break;
      if (mostPlain < 2147483648.0) {
        groupIsSymmetric[groups[node.inputs.front()]] = true;
        return false;
      }
      scale *= 2;
    }
  }
  return true;
}

int32_t NetworkReference::rescaled(int64_t sum, double factor, double slope, bool hasSlope,
                                   int64_t zero) const {
  const auto clamp = [&](long double value) {
    return static_cast<int32_t>(std::clamp<long double>(value, kind.least(), kind.most()));
  };
  const auto times = [](double number, int shift) {
    return std::min<int64_t>(std::llround(number * std::pow(2.0, shift)), 32767);
  };
  if (machine == Machine::Public) {
    int first = 0;
    while (first < 31 && factor * std::pow(2.0, first) < 1)
      ++first;
    const auto down = [&](int64_t value, int shift) {
      return clamp(std::floor(static_cast<long double>(value) / std::pow(2.0L, shift)));
    };
    int64_t value = down(sum, first);
    value = down(value * times(factor * std::pow(2.0, first), 14), 14);
    return hasSlope
               ? static_cast<int32_t>(std::max<int64_t>(value, down(value * times(slope, 15), 15)))
               : static_cast<int32_t>(value);
  }
  const auto shiftFor = [](double number) {
    int shift = 30;
    while (shift > 0 && (shift == 15 || std::llround(number * std::pow(2.0, shift)) > 32767))
      --shift;
    return shift;
  };
  int shift = shiftFor(factor);
  __int128 product = static_cast<__int128>(sum) * times(factor, shift);
  if (hasSlope)
    product = std::max(product, static_cast<__int128>(sum) * times(factor * slope, shift));
  // Slopes of 1 / n: one multiplier, times n for positive sums, where 11 bits of it remain.
  const double whole = hasSlope && slope > 0 ? std::round(1 / slope) : 0;
  if (kind.bits == 8 && whole >= 2 && whole <= 32767 && std::abs(whole * slope - 1) <= 1e-6) {
    const int other = shiftFor(factor / whole);
    if (factor / whole * std::pow(2.0, other) >= 2048) {
      shift = other;
      const __int128 small = static_cast<__int128>(sum) * times(factor / whole, shift);
      product = std::max(small, small * static_cast<int64_t>(whole));
    }
  }
  const auto scaled = [&] { return static_cast<long double>(product) / std::pow(2.0L, shift); };
  if (kind.bits == 8)
    return clamp(std::round(scaled()) + static_cast<long double>(zero));
  product += static_cast<__int128>(zero) << shift;
  return clamp(std::round(scaled()));
}

int32_t NetworkReference::limited(int32_t value, std::optional<double> limit,
                                  const Quantization &out) const {
  if (!limit)
    return value;
  return static_cast<int32_t>(
      std::min<int64_t>(value, std::llround(*limit / out.scale) + out.zero));
}

NetworkReference::Values NetworkReference::conv(size_t number) const {
  const Node &node = network.nodes[number];
  const FeatureMap &from = network.maps[node.inputs.front()], &to = network.maps[node.output];
  const Values &input = values.at(node.inputs.front());
  const int behind = activationBehind(number);
  double slope = 0;
  std::optional<double> limit;
  for (const Node &other : network.nodes)
    if (behind >= 0 && other.output == static_cast<unsigned>(behind)) {
      slope = other.slope;
      limit = other.limit;
    }
  const Quantization &in = quantization[node.inputs.front()];
  const Quantization &out = quantization[behind < 0 ? node.output : static_cast<unsigned>(behind)];
  const double weightScale = weightScales.at(number);
  Values made;
  for (unsigned k = 0; k < to.channels; ++k)
    for (unsigned y = 0; y < to.height; ++y)
      for (unsigned x = 0; x < to.width; ++x) {
        int64_t sum = std::llround(double{node.bias[k]} / (in.scale * weightScale));
        for (unsigned c = 0; c < from.channels; ++c)
          for (unsigned r = 0; r < node.kernel.h; ++r)
            for (unsigned s = 0; s < node.kernel.w; ++s) {
              const int row = int(y * node.stride.h + r) - int(node.pads.top);
              const int column = int(x * node.stride.w + s) - int(node.pads.left);
              if (row < 0 || column < 0 || row >= int(from.height) || column >= int(from.width))
                continue;
              const size_t at =
                  ((size_t{k} * from.channels + c) * node.kernel.h + r) * node.kernel.w + s;
              const int64_t weight = std::llround(double{node.weights[at]} / weightScale);
              sum += weight *
                     (input[(size_t{c} * from.height + size_t(row)) * from.width + size_t(column)] -
                      in.zero);
            }
        const int32_t value =
            rescaled(sum, in.scale * weightScale / out.scale, slope, behind >= 0, out.zero);
        made.push_back(limited(value, limit, out));
      }
  return made;
}

NetworkReference::Values NetworkReference::activation(size_t number) const {
  const Node &node = network.nodes[number];
  const Quantization &in = quantization[node.inputs.front()], &out = quantization[node.output];
  Values made;
  for (const int32_t value : values.at(node.inputs.front()))
    made.push_back(limited(
        rescaled(value - in.zero, in.scale / out.scale, node.slope, /*hasSlope=*/true, out.zero),
        node.limit, out));
  return made;
}

/// Pools, up-sampling, concatenations, parts and copies.
NetworkReference::Values NetworkReference::moved(const Node &node) const {
  const FeatureMap &to = network.maps[node.output], &from = network.maps[node.inputs.front()];
  const Values &input = values.at(node.inputs.front());
  Values made;
  if (node.kind == Kind::Concat) {
    for (unsigned c = 0; c < to.channels; ++c)
      for (unsigned y = 0; y < to.height; ++y)
        for (unsigned x = 0; x < to.width; ++x) {
          unsigned at[] = {c, y, x};
          unsigned &along = at[static_cast<size_t>(node.axis)];
          for (const unsigned part : node.inputs) {
            const FeatureMap &of = network.maps[part];
            const unsigned sizes[] = {of.channels, of.height, of.width};
            const unsigned size = sizes[static_cast<size_t>(node.axis)];
            if (along < size) {
              made.push_back(
                  values.at(part)[(size_t{at[0]} * of.height + at[1]) * of.width + at[2]]);
              break;
            }
            along -= size;
          }
        }
    return made;
  }
  for (unsigned c = 0; c < to.channels; ++c)
    for (unsigned y = 0; y < to.height; ++y)
      for (unsigned x = 0; x < to.width; ++x) {
        const auto at = [&](unsigned channel, unsigned row, unsigned column) {
          return input[(size_t{channel} * from.height + row) * from.width + column];
        };
        if (node.kind == Kind::Upsample)
          made.push_back(at(c, y / 2, x / 2));
        else if (node.kind != Kind::MaxPool)
          made.push_back(at(c + node.first, y + node.top, x + node.left));
        else {
          int32_t most = kind.least();
          for (unsigned r = 0; r < node.kernel.h; ++r)
            for (unsigned s = 0; s < node.kernel.w; ++s) {
              const int row = int(y * node.stride.h + r) - int(node.pads.top);
              const int column = int(x * node.stride.w + s) - int(node.pads.left);
              if (row >= 0 && column >= 0 && row < int(from.height) && column < int(from.width))
                most = std::max(most, at(c, unsigned(row), unsigned(column)));
            }
          made.push_back(most);
        }
      }
  return made;
}

} // namespace tpuc::dnnweaver
