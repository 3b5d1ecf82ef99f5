//===- MergeGroups.cpp - Convolutions of many small groups -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/RewriteOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include <cstring>

namespace tpuc::codegen {
#define GEN_PASS_DEF_MERGEGROUPS
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Whether a convolution has groups, and a constant filter that may be filled up with zeros.
bool hasGroups(tpu::ConvOp op) {
  return op.getGroup() > 1 && staticType(op.getInput()) && staticType(op.getFilter()) &&
         staticType(op.getOutput()) && op.getFilter().getDefiningOp<top::WeightOp>() &&
         tpu::zeroPointOf(op.getFilter()) == 0;
}

/// A filter [O, C, ...] of `groups` groups as [O, C * merged, ...], 0 for the channels of the other
/// groups that are merged with an output's own.
Tensor mergedFilter(const Tensor &filter, int64_t groups, int64_t merged) {
  SmallVector<int64_t> dims(filter.shape().begin(), filter.shape().end());
  const int64_t outputs = dims[0];
  const auto ownBytes = static_cast<size_t>(filter.byteSize() / outputs);
  dims[1] *= merged;
  Tensor made(filter.type(), Shape(std::span(dims.data(), dims.size())));
  std::ranges::fill(made.mutableBytes(), std::byte{0});
  for (int64_t output = 0; output < outputs; ++output) {
    const int64_t place = output / (outputs / groups) % merged;
    std::memcpy(made.mutableBytes().data() +
                    static_cast<size_t>(output * merged + place) * ownBytes,
                filter.rawBytes().data() + static_cast<size_t>(output) * ownBytes, ownBytes);
  }
  return made;
}

Expected<void> mergeGroups(tpu::ConvOp op, int64_t merged) {
  Expected<Tensor> filter = op.getFilter().getDefiningOp<top::WeightOp>().read();
  if (!filter)
    return propagate(filter);
  const auto groups = static_cast<int64_t>(op.getGroup());
  replaceWeight(op.getFilterMutable(), mergedFilter(*filter, groups, merged), "_merged");
  op.setGroup(static_cast<uint64_t>(groups / merged));
  return {};
}

struct MergeGroupsPass : codegen::impl::MergeGroupsBase<MergeGroupsPass> {
  using Base::Base;

  void runOnOperation() override {
    const auto wants = [](tpu::ConvOp op, const Backend &backend) {
      return hasGroups(op) && backend.groupsAtOnce(op) > 1;
    };
    const auto merge = [](tpu::ConvOp op, const Backend &backend) {
      return mergeGroups(op, backend.groupsAtOnce(op));
    };
    if (failed(rewriteOps<tpu::ConvOp>(getOperation(), wants, merge)))
      signalPassFailure();
  }
};

} // namespace
