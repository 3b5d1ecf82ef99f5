//===- ChipTopOptimize.cpp - Preparing a network for its chip ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Passes.h"

namespace tpuc {
#define GEN_PASS_DEF_CHIPTOPOPTIMIZE
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

struct ChipTopOptimizePass : tpuc::impl::ChipTopOptimizeBase<ChipTopOptimizePass> {
  using Base::Base;
  void runOnOperation() override {}
};

} // namespace
