//===- TpuPreprocess.cpp - What tables of channels compute ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/PreprocessOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"

using namespace tpuc;

static Expected<void> evaluateScaleLut(tpu::ScaleLutOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const Tensor &rows = context.operand(1);
  if (input.shape().rank() < 2 || rows.rawBytes().size() % 256 != 0 ||
      rows.rawBytes().size() / 256 != static_cast<size_t>(input.shape()[1]))
    return context.error("a table of shape " + rows.shape().str(),
                         "256 entries for each channel of " + input.shape().str());
  std::vector<kernels::ByteTable> tables;
  for (size_t at = 0; at < rows.rawBytes().size(); at += 256) {
    const std::span<const std::byte> entries = rows.rawBytes().subspan(at, 256);
    tables.push_back(kernels::byteTable(input.type(), [&](int64_t stored) {
      return static_cast<uint8_t>(entries[static_cast<uint8_t>(stored)]);
    }));
  }
  Expected<Tensor *> output =
      context.allocate(0, *storageDataType(op.getOutput().getType()), input.shape());
  if (!output)
    return propagate(output);
  kernels::lookUp(input, tables, 1, **output, context.threads());
  return {};
}

void tpuc::attachTpuPreprocess(mlir::MLIRContext *context) {
  attachEvaluate<tpu::ScaleLutOp, evaluateScaleLut>(context);
}
