//===- Seeds.h - Networks to begin with -------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_NETWORKS_SEEDS_H
#define TEST_FUZZ_NETWORKS_SEEDS_H

#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Support/Error.h"

#include <span>
#include <string>
#include <vector>

namespace tpuc::fuzz {

namespace proto = onnx::proto;

struct Seed {
  std::string name;
  proto::Model model;
};

/// The networks of files that have a name and a network in protobuf's text form in each line, and
/// the .onnx files below folders, in the order of their names. Errors: files that cannot be read,
/// and what is no network; no network at all.
Expected<std::vector<Seed>> readSeeds(std::span<const std::string> paths);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_NETWORKS_SEEDS_H
