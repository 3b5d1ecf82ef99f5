//===- TpuResize.cpp - What resampling of stored integers computes --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Kernels/IntegerResize.h"
#include "tpuc/Interpreter/Ops/ResizeParams.h"
#include "tpuc/Interpreter/StoredRequant.h"

using namespace tpuc;

/// Linear, on stored integers; the result has their type.
static Expected<void> evaluateStoredInterp(tpu::InterpOp op, EvalContext &context) {
  kernels::ResizeParams params;
  Expected<ops::Dims> dims = ops::readResize(context, params);
  if (!dims)
    return propagate(dims);
  Expected<Tensor *> output =
      context.allocate(0, resultType(op), Shape(std::span(dims->data(), dims->size())));
  if (!output)
    return propagate(output);
  kernels::RequantParams requant = requantOf(op, storedRange(op));
  params.fixedPoint = op->hasAttr("as_stored");
  if (params.fixedPoint)
    requant.zeroPoint = 0;
  kernels::integerResizeLinear(context.operand(0), params,
                               params.fixedPoint ? 0 : zeroPoint(op.getInput()), requant, **output,
                               context.threads());
  return {};
}

void tpuc::attachTpuResize(mlir::MLIRContext *context) {
  attachEvaluate<tpu::InterpOp, evaluateStoredInterp>(context);
}
