//===- MergeGroups.cpp - Convolutions of many small groups -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/OpMaker.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Evaluate.h"

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
  for (Value value : {op.getInput(), op.getFilter(), op.getOutput()}) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getRank() < 3)
      return false;
  }
  return op.getGroup() > 1 && op.getFilter().getDefiningOp<top::WeightOp>() &&
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

Expected<void> mergeGroups(tpu::ConvOp op, int64_t merged, ModuleOp module) {
  auto weight = op.getFilter().getDefiningOp<top::WeightOp>();
  Expected<Tensor> filter = weight.read();
  if (!filter)
    return propagate(filter);
  OpBuilder builder(op);
  const auto groups = static_cast<int64_t>(op.getGroup());
  SmallVector<int64_t> dims(OpMaker::dimsOf(op.getFilter()));
  dims[1] *= merged;
  top::WeightOp made = top::WeightOp::create(builder, module, weight.name() + "_merged",
                                             mergedFilter(*filter, groups, merged));
  made.getOutput().setType(RankedTensorType::get(
      dims, cast<RankedTensorType>(op.getFilter().getType()).getElementType()));
  op->setOperand(1, made.getOutput());
  op.setGroup(static_cast<uint64_t>(groups / merged));
  if (weight->use_empty())
    weight->erase();
  return {};
}

struct MergeGroupsPass : codegen::impl::MergeGroupsBase<MergeGroupsPass> {
  using Base::Base;

  void runOnOperation() override {
    std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    SmallVector<tpu::ConvOp> ops;
    getOperation().walk([&](tpu::ConvOp op) {
      if (hasGroups(op))
        ops.push_back(op);
    });
    for (tpu::ConvOp op : ops) {
      const int64_t merged = backend->groupsAtOnce(op);
      if (merged == 1)
        continue;
      if (Expected<void> done = mergeGroups(op, merged, getOperation()); !done) {
        getOperation().emitError(done.error().message());
        return signalPassFailure();
      }
    }
  }
};

} // namespace
