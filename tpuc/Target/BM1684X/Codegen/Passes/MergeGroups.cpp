//===- MergeGroups.cpp - Convolutions of many small groups -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

#include <cstring>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Whether a convolution has groups, and a constant filter that may be filled up with zeros.
bool hasGroups(tpu::ConvOp op) {
  return op.getGroup() > 1 && !op.getPadValue() && !op.getPadValues() &&
         staticType(op.getInput()) && staticType(op.getFilter()) && staticType(op.getOutput()) &&
         op.getFilter().getDefiningOp<top::WeightOp>() && tpu::zeroPointOf(op.getFilter()) == 0;
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

Expected<void> mergeGroupsOf(tpu::ConvOp op, int64_t merged) {
  Expected<Tensor> filter = op.getFilter().getDefiningOp<top::WeightOp>().read();
  if (!filter)
    return propagate(filter);
  const auto groups = static_cast<int64_t>(op.getGroup());
  replaceWeight(op.getFilterMutable(), mergedFilter(*filter, groups, merged), "_merged");
  op.setGroup(static_cast<uint64_t>(groups / merged));
  return {};
}

/// How many groups of a convolution are computed fastest as one, with zeros in the filter where
/// channels do not meet: 1 if that gains nothing.
///
/// Each group takes rounds of lanes and blocks of input channels of its own. As long as merged
/// groups have one block, the filter takes no more space. One channel each is another command.
int64_t groupsAtOnce(Operation *op) {
  auto conv = dyn_cast<tpu::ConvOp>(op);
  const DataType type = elementTypeOf(op, 0);
  if (!conv || !precOf(type))
    return 1;
  const auto groups = static_cast<int64_t>(conv.getGroup());
  const auto channelsOf = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1) / groups;
  };
  const int64_t inputs = channelsOf(conv.getInput());
  const int64_t outputs = channelsOf(conv.getOutput());
  if (inputs == 1 && outputs == 1)
    return 1;
  int64_t best = 1;
  int64_t fewest = groups * ceilDiv(outputs, kLanes);
  const int64_t apart = fewest;
  for (int64_t merged = 2;
       merged <= groups && merged * inputs <= bm1684x::channelBlock(*precOf(type)); ++merged) {
    const int64_t rounds = groups / merged * ceilDiv(merged * outputs, kLanes);
    if (groups % merged != 0 || rounds > fewest || rounds == apart)
      continue;
    best = merged;
    fewest = rounds;
  }
  return best;
}

} // namespace

Expected<void> mergeGroups(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::ConvOp op, const Backend &) {
    return hasGroups(op) && groupsAtOnce(op) > 1;
  };
  const auto merge = [](tpu::ConvOp op, const Backend &) {
    return mergeGroupsOf(op, groupsAtOnce(op));
  };
  return rewriteOps<tpu::ConvOp>(module, backend, wants, merge);
}

} // namespace tpuc::bm1684x::backend
