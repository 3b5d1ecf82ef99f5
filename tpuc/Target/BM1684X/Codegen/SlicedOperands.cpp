//===- SlicedOperands.cpp - What kernels are told of a tiled op ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"

#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

LocalTensor operandOf(const TiledOp &tiled, unsigned index) {
  return layoutOf(tiled).operand(index).local(tiled.operands[index]);
}

LocalTensor resultOf(const TiledOp &tiled) { return layoutOf(tiled).result().local(tiled.result); }

uint32_t addressOf(const TiledOp &tiled, unsigned index) { return operandOf(tiled, index).address; }

uint32_t parametersOf(const TiledOp &tiled) {
  return layoutOf(tiled).operand(1).parameterAddress(tiled.operands[1]);
}

Scratch scratchRoom(const TiledOp &tiled) {
  return {static_cast<uint32_t>(tiled.scratchAddress), static_cast<uint32_t>(tiled.scratchBytes)};
}

bool isPresent(Operation *op, unsigned index) {
  return index < op->getNumOperands() && !isa<NoneType>(op->getOperand(index).getType());
}

Activation activationOf(Operation *op) {
  const auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  const auto limit = op->getAttrOfType<FloatAttr>("relu_limit");
  return {.relu = relu && relu.getValue(), .limit = limit ? limit.getValueAsDouble() : -1};
}

int64_t groupOf(const TiledOp &tiled) {
  const int64_t group = tiled.op->getAttrOfType<IntegerAttr>("group").getInt();
  if (group > 1 && tiled.model->operands[0].maps[kAxisC].kind == AxisMap::Same)
    return resultOf(tiled).shape[1];
  return group;
}

static bool isComputed(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

Expected<void> checkFloats(const TiledOp &tiled) {
  const BM1684XLayout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < layout.numTensors(); ++index) {
    const DataType type = layout.operand(index).type;
    if (!layout.operand(index).isLoaded)
      continue;
    if (!isComputed(type))
      return makeError("", "a tensor of " + std::string(dataTypeName(type)), "F32, F16 or BF16");
  }
  return {};
}

Expected<ResizeTaps> resizeTapsOf(tpu::InterpOp op, const TiledOp &tiled) {
  ResizeTaps all;
  for (unsigned i = 0; i < 2; ++i) {
    Expected<std::vector<InputTaps>> taps =
        resizeTaps(op, i, tiled.result.tile[kAxisH + i], tiled.operands[0].tile[kAxisH + i]);
    if (!taps)
      return propagate(taps);
    for (const InputTaps &tap : *taps)
      (i == 0 ? all.rows : all.columns).push_back({tap.first, tap.second, tap.secondWeight});
  }
  return all;
}

Expected<double> setHeads(AttentionOperands &attention, tpu::ScaleDotProductAttentionOp op,
                          const TiledOp &tiled) {
  constexpr unsigned kMask = 3;
  const bool isPlain = !op.getIsCausal() && static_cast<int64_t>(op.getLeftWindow()) < 0 &&
                       static_cast<int64_t>(op.getRightWindow()) < 0 &&
                       op.getSoftcap().convertToDouble() == 0 &&
                       (!op.getSoftmaxType() || op.getSoftmaxType()->isF32());
  if (!isPlain || !op.getQNumHeads() || !op.getKvNumHeads())
    return makeError("", "keys hidden by their places, a cap or a softmax of another type",
                     "a mask of numbers");
  attention.query = operandOf(tiled, 0);
  attention.key = operandOf(tiled, 1);
  attention.value = operandOf(tiled, 2);
  attention.output = resultOf(tiled);
  attention.heads = static_cast<int64_t>(*op.getQNumHeads());
  attention.keyHeads = static_cast<int64_t>(*op.getKvNumHeads());
  if (isPresent(op, kMask)) {
    const auto dims = cast<RankedTensorType>(op.getMask().getType()).getShape();
    const size_t rank = dims.size();
    attention.mask = {.numbers = operandOf(tiled, kMask),
                      .isForAllRows = tiled.model->operands[kMask].extents[kAxisC] == 1,
                      .heads = rank < 3 ? 1 : dims[rank - 3]};
  }
  const auto width = static_cast<double>(attention.query.shape[3] / attention.heads);
  return op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(width);
}

std::vector<MatrixOperands> matricesOf(const TiledOp &tiled) {
  const LocalTensor left = operandOf(tiled, 0);
  const LocalTensor right = operandOf(tiled, 1);
  const LocalTensor output = resultOf(tiled);
  std::vector<MatrixOperands> matrices;
  for (int64_t batch = 0; batch < output.shape[0]; ++batch)
    matrices.push_back({left.slice(0, batch, 1), right.slice(0, right.shape[0] == 1 ? 0 : batch, 1),
                        output.slice(0, batch, 1)});
  return matrices;
}

} // namespace tpuc::bm1684x::backend
