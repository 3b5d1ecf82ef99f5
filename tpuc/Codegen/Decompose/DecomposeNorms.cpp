//===- DecomposeNorms.cpp - Norms of groups, and what they are made of ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

static Value normOf(OpMaker &maker, StringRef what, ValueRange operands, int64_t axis,
                    const APFloat &epsilon) {
  NamedAttrList attributes;
  attributes.set("axis", maker.builder.getI64IntegerAttr(axis));
  attributes.set("eps", maker.builder.getF64FloatAttr(epsilon.convertToDouble()));
  const Type none = maker.builder.getNoneType();
  return maker.make(tpu::LayerNormOp::getOperationName(), what,
                    {Type(OpMaker::typeOf(operands.front())), none, none}, operands, attributes);
}

/// The mean of all dimensions from `axis` on, which stay with an extent of 1.
static Value meanFrom(OpMaker &maker, Value value, int64_t axis, StringRef what) {
  SmallVector<int64_t> dims(OpMaker::dimsOf(value));
  SmallVector<int64_t> axes;
  for (auto dim = static_cast<size_t>(axis); dim < dims.size(); ++dim) {
    axes.push_back(static_cast<int64_t>(dim));
    dims[dim] = 1;
  }
  NamedAttrList attributes;
  attributes.set("axes", maker.builder.getI64ArrayAttr(axes));
  attributes.set("mode", maker.builder.getStringAttr("ReduceMean"));
  return maker.make<tpu::ReduceOp>(what, dims, {value, maker.none()}, attributes);
}

bool codegen::decomposeLayerNorm(OpMaker &maker) {
  auto op = dyn_cast<tpu::LayerNormOp>(maker.op);
  if (!op)
    return false;
  const auto isWanted = [&](unsigned index) {
    return !isa<NoneType>(op->getResult(index).getType());
  };
  if (!isWanted(1) && !isWanted(2))
    return false;
  int64_t axis = op.getAxis();
  axis += axis < 0 ? static_cast<int64_t>(OpMaker::dimsOf(op.getInput()).size()) : 0;
  Value input = maker.widened(op.getInput());
  Value mean = meanFrom(maker, input, axis, "mean");
  if (isWanted(2)) {
    Value centred = maker.makeLike<tpu::SubOp>("centred", {input, mean});
    Value variance = meanFrom(maker, maker.makeLike<tpu::MulOp>("squares", {centred, centred}),
                              axis, "variance");
    NamedAttrList epsilon;
    epsilon.set("const_val", maker.builder.getF64FloatAttr(op.getEps().convertToDouble()));
    Value sum = maker.makeLike<tpu::AddConstOp>("positive", variance, epsilon);
    maker.replace(2, maker.finished(maker.makeLike<tpu::RsqrtOp>("factor", sum), 2));
  }
  if (isWanted(1))
    maker.replace(1, maker.finished(mean, 1));
  if (isWanted(0))
    maker.replace(0, normOf(maker, "norm", op->getOperands(), axis, op.getEps()));
  return true;
}

/// Groups are rows; factors of channels are applied afterwards. All is F32, and rounded once.
bool codegen::decomposeGroupNorm(OpMaker &maker) {
  auto op = dyn_cast<tpu::GroupNormOp>(maker.op);
  if (!op)
    return false;
  const SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()));
  const auto groups = static_cast<int64_t>(op.getNumGroups());
  const int64_t count = OpMaker::typeOf(op.getInput()).getNumElements();
  Value rows = maker.reshaped(maker.widened(op.getInput()),
                              {dims[0] * groups, count / dims[0] / groups}, "rows");
  const Value no = maker.none();
  Value value =
      maker.reshaped(normOf(maker, "norms", {rows, no, no}, 1, op.getEps()), dims, "normalized");
  SmallVector<int64_t> channelDims(dims.size(), 1);
  channelDims[1] = dims[1];
  const auto perChannel = [&](Value operand, StringRef what) {
    const std::optional<Tensor> constant = OpMaker::constantOf(operand);
    return constant ? maker.weight(constant->reshaped(
                                       Shape(std::span(channelDims.data(), channelDims.size()))),
                                   what, value)
                    : maker.reshaped(maker.widened(operand), channelDims, what);
  };
  if (!isa<NoneType>(op.getWeight().getType()))
    value = maker.makeLike<tpu::MulOp>("scaled", {value, perChannel(op.getWeight(), "factors")});
  if (!isa<NoneType>(op.getBias().getType()))
    value = maker.makeLike<tpu::AddOp>("shifted", {value, perChannel(op.getBias(), "addends")});
  maker.replace(0, maker.finished(value, 0));
  return true;
}
