//===- ModuleSize.h - What all tensors of a module take ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_NETWORKS_MODULESIZE_H
#define TEST_FUZZ_NETWORKS_MODULESIZE_H

#include <cstdint>
#include <string>

namespace tpuc::fuzz {

/// How many bytes all tensors of the module in this file have; outputs count `copies` times more.
/// Tensors of open shapes count nothing, and neither does a module that cannot be read.
int64_t bytesOfTensors(const std::string &path, int64_t copies = 0);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_NETWORKS_MODULESIZE_H
