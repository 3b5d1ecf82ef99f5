//===- Mutations.h - Networks that mean something else ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_NETWORKS_MUTATIONS_H
#define TEST_FUZZ_NETWORKS_MUTATIONS_H

#include "test/fuzz/common/Random.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tpuc::fuzz {

/// Changes one thing of a network: an attribute, a constant, a shape, a type, what a node reads or
/// makes, which operator it is, or the version of the operators. `operators` are those that a node
/// may become. What is changed, and to what, depends on `seed` and the network only.
Change mutate(onnx::proto::Model &model, std::span<const std::string> operators, uint64_t seed);

/// All operators of some networks, each once, sorted.
std::vector<std::string> operatorsOf(std::span<const onnx::proto::Model> models);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_NETWORKS_MUTATIONS_H
