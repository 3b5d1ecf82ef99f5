//===- TpuGroup.cpp - What ops compute that stand for loads ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"

#include <cstring>

using namespace tpuc;

static Expected<void> evaluatePackRows(tpu::PackRowsOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const DataType type = input.type();
  const auto outputDims = mlir::cast<mlir::RankedTensorType>(op.getOutput().getType()).getShape();
  Expected<Tensor *> output = context.allocate(0, type, Shape(outputDims));
  if (!output)
    return propagate(output);
  const Shape &from = input.shape();
  const Shape &to = (*output)->shape();
  const auto rowBytes = static_cast<size_t>(byteSize(type, from[3]));
  std::byte *row = (*output)->mutableBytes().data();
  for (int64_t n = 0; n < to[0]; ++n)
    for (int64_t channel = 0; channel < to[1]; ++channel)
      for (int64_t h = 0; h < to[2]; ++h, row += rowBytes) {
        const int64_t source = h * static_cast<int64_t>(op.getStride()) -
                               static_cast<int64_t>(op.getPad()) + channel / from[1];
        if (source < 0 || source >= from[2]) {
          // Zero points other than 0 are those of bytes.
          std::memset(row, static_cast<int>(tpu::zeroPointOf(op.getInput())), rowBytes);
          continue;
        }
        const int64_t first = ((n * from[1] + channel % from[1]) * from[2] + source) * from[3];
        std::memcpy(row, input.rawBytes().data() + byteSize(type, first), rowBytes);
      }
  return {};
}

static Expected<void> evaluateUnpackRows(tpu::UnpackRowsOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const DataType type = input.type();
  const auto outputDims = mlir::cast<mlir::RankedTensorType>(op.getOutput().getType()).getShape();
  Expected<Tensor *> output = context.allocate(0, type, Shape(outputDims));
  if (!output)
    return propagate(output);
  const Shape &from = input.shape();
  const Shape &to = (*output)->shape();
  const auto rows = static_cast<int64_t>(op.getRows());
  const auto rowBytes = static_cast<size_t>(byteSize(type, from[3]));
  std::byte *row = (*output)->mutableBytes().data();
  for (int64_t n = 0; n < to[0]; ++n)
    for (int64_t c = 0; c < to[1]; ++c)
      for (int64_t h = 0; h < to[2]; ++h, row += rowBytes) {
        const int64_t channel = h % rows * to[1] + c;
        const int64_t first = ((n * from[1] + channel) * from[2] + h / rows) * from[3];
        std::memcpy(row, input.rawBytes().data() + byteSize(type, first), rowBytes);
      }
  return {};
}

void tpuc::attachTpuGroup(mlir::MLIRContext *context) {
  attachEvaluate<tpu::PackRowsOp, evaluatePackRows>(context);
  attachEvaluate<tpu::UnpackRowsOp, evaluateUnpackRows>(context);
}
