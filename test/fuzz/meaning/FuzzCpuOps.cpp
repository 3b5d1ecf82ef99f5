//===- FuzzCpuOps.cpp - Any layers of the CPU -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input decides ops that a model file could hold. Each is refused or computed.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/meaning/CpuOps.h"

using namespace tpuc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Choices choices(std::span(data, size));
  for (int i = 0; i < 4 && !choices.isEmpty(); ++i)
    (void)runAnyOp(choices);
  return 0;
}
