//===- TpuCast.cpp - What changes of the stored type compute ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Interpreter/Kernels/Unary.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;

/// Room for result 0 in the shape of operand 0.
static Expected<Tensor *> allocateAs(EvalContext &context, DataType type) {
  return context.allocate(0, type, context.operand(0).shape());
}

static Expected<void> evaluateTpuCast(tpu::CastOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const std::optional<DataType> type = storageDataType(op.getOutput().getType());
  if (!type)
    return context.error("result has a type that tensors cannot hold", "a tensor of numbers");
  if (op.getInput().getType() == op.getOutput().getType()) {
    context.set(0, input);
    return {};
  }
  Tensor numbers = input;
  if (quant::UniformQuantizedType from = tpu::quantizedType(op.getInput())) {
    Expected<Tensor> made = Tensor::create(DataType::F32, input.shape().dims(), "cast");
    if (!made)
      return context.error("not enough memory");
    numbers = std::move(*made);
    kernels::dequantizeStored(input, tpu::paramsOf(from), numbers, context.threads());
  }
  quant::UniformQuantizedType to = tpu::quantizedType(op.getOutput());
  if (!to && numbers.type() == *type) {
    context.set(0, numbers);
    return {};
  }
  Expected<Tensor *> output = allocateAs(context, *type);
  if (!output)
    return propagate(output);
  if (!to)
    kernels::cast(numbers, /*saturate=*/true, **output, context.threads());
  else
    kernels::quantizeStored(convert(numbers, DataType::F32), tpu::paramsOf(to), tpu::rangeOf(to),
                            **output, context.threads());
  return {};
}

void tpuc::attachTpuCast(mlir::MLIRContext *context) {
  attachEvaluate<tpu::CastOp, evaluateTpuCast>(context);
}
