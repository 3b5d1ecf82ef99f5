//===- Matrix.cpp - What matrix products compute --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/OpShapes/Matrix.h"
#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

using namespace tpuc;
using namespace tpuc::ops;

static Expected<void> evaluateMatMul(OpContext &context) {
  if (Expected<void> checked = checkComputeTypes(context, {1, 2}); !checked)
    return checked;
  const Tensor &left = context.operand(0);
  const Tensor &right = context.operand(1);
  Expected<Dims> shape =
      shapes::matMulShape(left.shape().dims(), right.shape().dims(), context.flag("left_transpose"),
                          context.flag("right_transpose"));
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
  kernels::MatMulParams params{context.flag("left_transpose"), context.flag("right_transpose"),
                               context.flag("do_relu"), context.real("relu_limit")};
  bool isConstant = !context.has(2) || context.cacheFor(2);
  kernels::matMul(left, right, context.optional(2), params, **output, context.threads(),
                  isConstant ? context.cacheFor(1) : nullptr);
  return {};
}

static Expected<void> evaluateEinsum(OpContext &context) {
  std::vector<Tensor> operands;
  std::vector<Dims> extents;
  for (unsigned i = 0; i < context.numOperands(); ++i) {
    if (Expected<void> checked = checkComputeTypes(context, {i}); !checked)
      return checked;
    operands.push_back(context.operand(i));
    extents.push_back(dimsOf(context, i));
  }
  Expected<shapes::EinsumIndices> indices = shapes::parseEinsum(context.text("mode"), extents);
  if (!indices)
    return located(context, indices.error());
  Dims shape;
  for (int64_t number : indices->result)
    shape.push_back(indices->extents[static_cast<size_t>(number)]);
  Expected<Tensor *> output = allocateLike(context, shape);
  if (!output)
    return propagate(output);
  kernels::einsum(operands, {indices->operands, indices->result, (indices->extents)}, **output,
                  context.threads());
  return {};
}

std::span<const OpEvaluator> ops::matrixOps() {
  static constexpr OpEvaluator kOps[] = {
      {"MatMul", evaluateMatMul},
      {"Einsum", evaluateEinsum},
  };
  return kOps;
}
