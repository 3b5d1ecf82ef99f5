//===- TpuGroup.cpp - What ops compute that stand for loads ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/Blocks.h"

#include <cstring>

using namespace tpuc;

/// The row `count` times over that holds one number more than the zero point of `like`.
static Tensor rowOf(double number, mlir::Value like, DataType type, int64_t count) {
  Tensor row(type, Shape{count});
  const std::vector<double> numbers(static_cast<size_t>(count),
                                    number + static_cast<double>(tpu::zeroPointOf(like)));
  kernels::storeBlock<double>(numbers, row, 0);
  return row;
}

static Expected<void> evaluatePackRows(tpu::PackRowsOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const DataType type = input.type();
  const auto outputDims = mlir::cast<mlir::RankedTensorType>(op.getOutput().getType()).getShape();
  Expected<Tensor *> output = context.allocate(0, type, Shape(outputDims));
  if (!output)
    return propagate(output);
  const Shape &from = input.shape();
  const Shape &to = (*output)->shape();
  // Rows, or planes of pictures that follow each other.
  const bool hasPlanes = from.rank() == 5;
  const int64_t count = hasPlanes ? to[0] / from[0] : to[2];
  const int64_t elements = hasPlanes ? from[3] * from[4] : from[3];
  const auto rowBytes = static_cast<size_t>(byteSize(type, elements));
  const Tensor none = rowOf(0, op.getInput(), type, elements);
  const Tensor fill = rowOf(static_cast<double>(op.getFill()), op.getInput(), type, elements);
  const llvm::SmallVector<int64_t> marks =
      op.getMarks() ? top::toInts(*op.getMarks()) : llvm::SmallVector<int64_t>();
  const int64_t channels = static_cast<int64_t>(op.getKernel()) * from[1];
  std::byte *row = (*output)->mutableBytes().data();
  const auto copy = [&](int64_t n, int64_t channel, int64_t index) {
    const bool isMark = channel >= channels;
    const int64_t place =
        isMark ? marks[static_cast<size_t>(channel - channels)] : channel / from[1];
    const int64_t source =
        index * static_cast<int64_t>(op.getStride()) - static_cast<int64_t>(op.getPad()) + place;
    const bool exists = (isMark && place < 0) || (source >= 0 && source < from[2]);
    if (isMark || !exists) {
      std::memcpy(row, (exists ? none : fill).rawBytes().data(), rowBytes);
    } else {
      const int64_t first = ((n * from[1] + channel % from[1]) * from[2] + source) * elements;
      std::memcpy(row, input.rawBytes().data() + byteSize(type, first), rowBytes);
    }
    row += rowBytes;
  };
  for (int64_t n = 0; n < from[0]; ++n)
    for (int64_t outer = 0; outer < (hasPlanes ? count : to[1]); ++outer)
      for (int64_t inner = 0; inner < (hasPlanes ? to[1] : count); ++inner)
        copy(n, hasPlanes ? inner : outer, hasPlanes ? outer : inner);
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

static Expected<void> evaluateTranspose(tpu::TransposeOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const auto dims = mlir::cast<mlir::RankedTensorType>(op.getOutput().getType()).getShape();
  Expected<Tensor *> output = context.allocate(0, input.type(), Shape(dims));
  if (!output)
    return propagate(output);
  const Shape &from = input.shape();
  const int64_t columns = from[0] * from[1] == 0 ? 0 : input.numElements() / (from[0] * from[1]);
  const auto bytes = static_cast<size_t>(byteSize(input.type(), 1));
  std::byte *to = (*output)->mutableBytes().data();
  for (int64_t n = 0; n < from[0]; ++n)
    for (int64_t w = 0; w < columns; ++w)
      for (int64_t c = 0; c < from[1]; ++c, to += bytes)
        std::memcpy(to,
                    input.rawBytes().data() +
                        static_cast<size_t>((n * from[1] + c) * columns + w) * bytes,
                    bytes);
  return {};
}

void tpuc::attachTpuGroup(mlir::MLIRContext *context) {
  attachEvaluate<tpu::PackRowsOp, evaluatePackRows>(context);
  attachEvaluate<tpu::UnpackRowsOp, evaluateUnpackRows>(context);
  attachEvaluate<tpu::TransposeOp, evaluateTranspose>(context);
}
