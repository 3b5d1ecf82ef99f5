//===- Mutations.h - Networks that mean something else ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_NETWORKS_MUTATIONS_H
#define TEST_FUZZ_NETWORKS_MUTATIONS_H

#include "tpuc/Frontend/Onnx/Onnx.pb.h"

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace tpuc::fuzz {

/// Numbers that are the same on every machine for the same seed.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  uint64_t next() { return engine(); }
  /// From 0 to below `count`, which is positive.
  size_t below(size_t count) { return static_cast<size_t>(engine() % count); }
  bool oneIn(size_t count) { return below(count) == 0; }
  /// One of an array, a vector or a span that is not empty.
  const auto &of(const auto &values) { return values[below(std::size(values))]; }

private:
  std::mt19937_64 engine;
};

struct Change {
  /// What was done, such as "Conv.strides[0] = 0"; empty if there was nothing to change.
  std::string text;
  /// What was changed, such as "an attribute".
  std::string kind;
};

/// Changes one thing of a network: an attribute, a constant, a shape, a type, what a node reads or
/// makes, which operator it is, or the version of the operators. `operators` are those that a node
/// may become. What is changed, and to what, depends on `seed` and the network only.
Change mutate(onnx::proto::Model &model, std::span<const std::string> operators, uint64_t seed);

/// All operators of some networks, each once, sorted.
std::vector<std::string> operatorsOf(std::span<const onnx::proto::Model> models);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_NETWORKS_MUTATIONS_H
