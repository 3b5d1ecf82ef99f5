//===- TableSteps.cpp - Tables that are computed by arithmetic -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/RewriteOps.h"
#include "tpuc/Codegen/SlicePlan.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_TABLESTEPS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

struct TableStepsPass : codegen::impl::TableStepsBase<TableStepsPass> {
  using Base::Base;

  void runOnOperation() override {
    const auto wants = [](tpu::LutOp op, const Backend &backend) {
      return op.getTable().getDefiningOp<top::WeightOp>() && fittingPlaceOf(op, backend);
    };
    const auto set = [](tpu::LutOp op, const Backend &backend) -> Expected<void> {
      Expected<std::optional<SmallVector<int64_t>>> steps = backend.tableSteps(op);
      if (!steps)
        return propagate(steps);
      if (*steps)
        op->setAttr(kTableSteps, Builder(op->getContext()).getI64ArrayAttr(**steps));
      return {};
    };
    if (failed(rewriteOps<tpu::LutOp>(getOperation(), wants, set)))
      signalPassFailure();
  }
};

} // namespace
