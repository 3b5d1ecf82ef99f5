//===- TopMatrix.cpp - What matrix products compute -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MatrixShapes.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "tpuc/Interpreter/TopWindow.h"

using namespace tpuc;
using namespace tpuc::top;

static Expected<void> evaluateMatMul(MatMulOp op, EvalContext &context) {
  const Tensor &left = context.operand(0);
  const Tensor &right = context.operand(1);
  Expected<Dims> shape =
      matMulShape(extents(left), extents(right), op.getLeftTranspose(), op.getRightTranspose());
  if (!shape)
    return located(context, shape.error());
  int64_t columns = right.shape().rank() == 1 ? 1 : shape->back();
  if (context.has(2)) {
    int64_t elements = context.operand(2).numElements();
    if (elements != columns && elements != 1)
      return context.error("bias has shape " + context.operand(2).shape().str(),
                           std::to_string(columns) + " elements, or one");
  }
  Expected<Tensor *> output = allocateLike(context, *shape);
  if (!output)
    return propagate(output);
  kernels::MatMulParams params{op.getLeftTranspose(), op.getRightTranspose(), op.getDoRelu(),
                               op.getReluLimit().convertToDouble()};
  bool isConstant = !context.has(2) || context.cacheFor(2);
  kernels::matMul(left, right, context.optional(2), params, **output, context.threads(),
                  isConstant ? context.cacheFor(1) : nullptr);
  return {};
}

static Expected<void> evaluateEinsum(EinsumOp op, EvalContext &context) {
  std::vector<Tensor> operands;
  llvm::SmallVector<Dims> shapes;
  for (unsigned i = 0; i < context.numOperands(); ++i) {
    operands.push_back(context.operand(i));
    shapes.emplace_back(extents(context.operand(i)));
  }
  Expected<EinsumIndices> indices = parseEinsum(op.getMode(), shapes);
  if (!indices)
    return located(context, indices.error());
  Dims shape;
  for (int64_t number : indices->result)
    shape.push_back(indices->extents[number]);
  Expected<Tensor *> output = allocateLike(context, shape);
  if (!output)
    return propagate(output);
  kernels::einsum(operands, {indices->operands, indices->result, toVector(indices->extents)},
                  **output, context.threads());
  return {};
}

void tpuc::attachMatrix(mlir::MLIRContext *context) {
  attachEvaluate<MatMulOp, evaluateMatMul>(context);
  attachEvaluate<EinsumOp, evaluateEinsum>(context);
}
