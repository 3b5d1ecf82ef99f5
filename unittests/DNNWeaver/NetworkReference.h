//===- NetworkReference.h - Integers of a network by plain loops  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_DNNWEAVER_NETWORKREFERENCE_H
#define UNITTESTS_DNNWEAVER_NETWORKREFERENCE_H

#include "tpuc/Target/DNNWeaver/Compiler/Integers.h"

#include <cmath>
#include <map>
#include <random>

namespace tpuc::dnnweaver {

/// What a network gives for random integers, straight from the formulas of docs/dnnweaver.md: no
/// passes, tiles, regions or rewrites. It shares no function with the compiler.
class NetworkReference {
public:
  enum class Machine : uint8_t { Public, Patent };
  NetworkReference(const Network &network, const IntegerKind &kind, Machine machine);

  /// The integers of a map, or null where it is not stored or not of the network.
  const std::vector<int32_t> *find(const std::string &name) const;
  /// Those of an input as they are stored.
  std::vector<std::byte> bytesOf(const std::string &name) const;

private:
  using Values = std::vector<int32_t>;
  struct Quantization {
    double scale = 1;
    int64_t zero = 0;
  };

  void findGroups();
  void findScales();
  bool fits();
  /// What an activation behind `node` alone reads of it; -1 otherwise.
  int activationBehind(size_t node) const;
  double weightScale(size_t node) const;
  bool share(size_t first, size_t second) const;
  int32_t rescaled(int64_t sum, double factor, double slope, bool hasSlope, int64_t zero) const;
  int32_t limited(int32_t value, std::optional<double> limit, const Quantization &out) const;
  Values conv(size_t node) const;
  Values activation(size_t node) const;
  Values moved(const Node &node) const;

  const Network &network;
  IntegerKind kind;
  Machine machine;
  std::vector<size_t> groups;
  std::vector<bool> groupIsSymmetric;
  std::vector<Quantization> quantization;
  /// Of convolutions, doubled until biases fit.
  std::map<size_t, double> weightScales;
  std::map<unsigned, Values> values;
};

} // namespace tpuc::dnnweaver

#endif // UNITTESTS_DNNWEAVER_NETWORKREFERENCE_H
