//===- Integers.cpp - Scales and integers of a network -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/Integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tpuc::dnnweaver {

namespace {

/// Sets of maps that share a scale.
class Groups {
public:
  explicit Groups(size_t count) : parents(count) { std::iota(parents.begin(), parents.end(), 0U); }
  unsigned find(unsigned i) const {
    while (parents[i] != i)
      i = parents[i];
    return i;
  }
  void join(unsigned a, unsigned b) {
    a = find(a);
    b = find(b);
    parents[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<unsigned> parents;
};

/// What is read of a convolution in the end: the result of an activation that alone reads it.
unsigned storedResult(const Network &network, const Node &conv) {
  const std::vector<const Node *> readers = network.readersOf(conv.output);
  return readers.size() == 1 && readers.front()->kind == Node::Kind::Activation &&
                 !network.isOutput(conv.output)
             ? readers.front()->output
             : conv.output;
}

Groups groupsOf(const Network &network, const Branches &branches) {
  Groups groups(network.maps.size());
  for (const Node &node : network.nodes)
    if (node.kind != Node::Kind::Conv && node.kind != Node::Kind::Activation &&
        node.kind != Node::Kind::Host)
      for (const unsigned input : node.inputs)
        groups.join(input, node.output);
  for (const std::vector<unsigned> &branch : branches)
    for (const unsigned map : branch)
      groups.join(storedResult(network, *network.makerOf(branch.front())),
                  storedResult(network, *network.makerOf(map)));
  return groups;
}

Scale scaleOf(double least, double most, const IntegerKind &kind, bool zeroPoint) {
  least = std::min(least, 0.0);
  most = std::max(most, 0.0);
  // A map of zeros has any scale.
  if (least == most)
    return {};
  if (!zeroPoint)
    return {std::max(-least, most) / kind.most(), 0};
  const double scale = (most - least) / (kind.most() - kind.least());
  return {scale, static_cast<int32_t>(std::round(-least / scale)) + kind.least()};
}

constexpr double kMostBias = std::numeric_limits<int32_t>::max();
constexpr double kMostMultiplier = std::numeric_limits<int16_t>::max();
constexpr unsigned kMostShift = 30;

/// The largest shift with which `factor` is a positive number of 16 bits. 15 is left out: 2^15 is
/// no immediate.
unsigned shiftOf(double factor) {
  unsigned shift = kMostShift;
  while (shift > 0 &&
         (shift == 15 || std::round(std::ldexp(factor, static_cast<int>(shift))) > kMostMultiplier))
    --shift;
  return shift;
}

int16_t fixed(double factor, unsigned shift) {
  return static_cast<int16_t>(
      std::clamp(std::round(std::ldexp(factor, static_cast<int>(shift))), 0.0, kMostMultiplier));
}

/// The whole number whose reciprocal a slope is, if multipliers keep 11 bits so.
std::optional<int16_t> ratioOf(double slope, double factor) {
  constexpr double kNear = 1e-6;
  constexpr double kLeastMultiplier = 2048;
  const double ratio = slope > 0 ? std::round(1 / slope) : 0;
  if (ratio < 2 || ratio > kMostMultiplier || std::abs(ratio * slope - 1) > kNear)
    return std::nullopt;
  const double multiplier = std::ldexp(factor / ratio, static_cast<int>(shiftOf(factor / ratio)));
  return multiplier >= kLeastMultiplier ? std::optional(static_cast<int16_t>(ratio)) : std::nullopt;
}

void quantizeWeights(const Node &node, const IntegerKind &kind, IntegerLayer &made) {
  made.weights.resize(node.weights.size());
  for (size_t i = 0; i < node.weights.size(); ++i)
    made.weights[i] = static_cast<int16_t>(std::clamp<double>(
        std::round(double{node.weights[i]} / made.weightScale), -kind.most(), kind.most()));
}

/// The bias with the zero point of the input, and the largest number that it or, of int8, a sum
/// can be. Numbers beyond 2^53 do not occur: they would be refused long before.
struct Sums {
  std::vector<double> bias;
  double largest = 0;
  double largestWithoutZeroPoint = 0;
};

Sums sumsOf(const Node &node, const Scale &input, const IntegerKind &kind,
            const IntegerLayer &made) {
  Sums sums;
  const size_t perKernel = node.weights.size() / node.bias.size();
  for (size_t k = 0; k < node.bias.size(); ++k) {
    int64_t sum = 0, magnitude = 0;
    for (size_t i = 0; i < perKernel; ++i) {
      const int64_t weight = made.weights[k * perKernel + i];
      sum += weight;
      magnitude += std::abs(weight);
    }
    const double plain = std::round(double{node.bias[k]} / (input.scale * made.weightScale));
    const double bias = plain - double(input.zeroPoint) * double(sum);
    const double rest = kind.bits == 8 ? double(-kind.least()) * double(magnitude) : 0;
    sums.bias.push_back(bias);
    sums.largest = std::max(sums.largest, std::abs(bias) + rest);
    sums.largestWithoutZeroPoint = std::max(sums.largestWithoutZeroPoint, std::abs(plain) + rest);
  }
  return sums;
}

} // namespace

std::vector<Scale> mapScales(const Network &network, const IntegerKind &kind,
                             const Branches &branches, const std::set<unsigned> &symmetric) {
  const Groups groups = groupsOf(network, branches);
  const size_t count = network.maps.size();
  std::vector<double> least(count), most(count);
  std::vector<bool> hasZeroPoint(count, kind.zeroPoints);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned group = groups.find(i);
    least[group] = std::min(least[group], network.maps[i].least);
    most[group] = std::max(most[group], network.maps[i].most);
    if (symmetric.contains(i))
      hasZeroPoint[group] = false;
  }
  std::vector<Scale> scales;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned group = groups.find(i);
    scales.push_back(scaleOf(least[group], most[group], kind, hasZeroPoint[group]));
  }
  return scales;
}

double weightScaleOf(const Node &node, const IntegerKind &kind) {
  double most = 0;
  for (const float weight : node.weights)
    most = std::max(most, std::abs(double{weight}));
  return most > 0 ? most / kind.most() : 1;
}

IntegerLayer integersOf(const Node &node, std::optional<double> slope, const Scale &input,
                        const Scale &output, const IntegerKind &kind, double weightScale,
                        IntegerProblem &problem) {
  problem = {};
  IntegerLayer made;
  made.weightScale = weightScale;
  Sums sums;
  for (;;) {
    quantizeWeights(node, kind, made);
    sums = sumsOf(node, input, kind, made);
    if (sums.largest <= kMostBias)
      break;
    problem.largest = std::max(problem.largest, sums.largest);
    if (sums.largestWithoutZeroPoint <= kMostBias) {
      problem.kind = IntegerProblem::Kind::ZeroPoint;
      return made;
    }
    problem.kind = IntegerProblem::Kind::Sum;
    made.weightScale *= 2;
  }
  for (const double bias : sums.bias)
    made.bias.push_back(static_cast<int32_t>(bias));
  const double factor = input.scale * made.weightScale / output.scale;
  made.ratio = kind.bits == 8 && slope ? ratioOf(*slope, factor) : std::nullopt;
  const double stated = made.ratio ? factor / *made.ratio : factor;
  made.shift = shiftOf(stated);
  made.multiplier = fixed(stated, made.shift);
  if (slope && !made.ratio)
    made.negative = fixed(factor * *slope, made.shift);
  made.zeroPoint = output.zeroPoint;
  made.zeroPointIsLast = kind.bits == 8;
  return made;
}

int16_t limitOf(double limit, const Scale &output, const IntegerKind &kind) {
  return static_cast<int16_t>(std::clamp<double>(
      std::round(limit / output.scale) + output.zeroPoint, kind.least(), kind.most()));
}

IntegerLayer publicIntegersOf(const Node &node, std::optional<double> slope, const Scale &input,
                              const Scale &output, double weightScale) {
  const IntegerKind kind{.bits = 16, .zeroPoints = false};
  IntegerProblem problem;
  IntegerLayer made = integersOf(node, slope, input, output, kind, weightScale, problem);
  // The ALU sees 16 bits of a sum, with one bit more for what an activation makes smaller.
  const double factor = input.scale * made.weightScale / output.scale;
  unsigned first = 0;
  while (first < 31 && std::ldexp(factor, static_cast<int>(first)) < 1)
    ++first;
  made.firstShift = first;
  made.shift = 14;
  made.multiplier = fixed(std::ldexp(factor, static_cast<int>(first)), made.shift);
  if (slope)
    made.negative = fixed(*slope, 15);
  return made;
}

} // namespace tpuc::dnnweaver
