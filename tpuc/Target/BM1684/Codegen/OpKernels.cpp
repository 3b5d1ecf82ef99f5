//===- OpKernels.cpp - From ops to kernels --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684/Codegen/FloatKernels.h"
#include "tpuc/Target/BM1684/Codegen/IntegerKernels.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Whether a kernel can take a part of the tensor in which operand or result `index` lies.
bool takesPart(const TiledOp &tiled, unsigned index, const LocalTile &local) {
  if (!local.held || *local.held == local.tile)
    return true;
  const TensorLayout &layout = layoutOf(tiled).operand(index);
  // Batch items that share a word stay together.
  const int64_t skipped = local.tile[kAxisN].begin - (*local.held)[kAxisN].begin;
  return layout.form == OperandForm::Tensor && (*local.held)[kAxisD].size == 1 &&
         (*local.held)[kAxisC] == local.tile[kAxisC] &&
         (byteSize(layout.type, 1) == 4 || skipped % kItemsOfWord == 0);
}

/// Tensors that no local tensor stands for.
Expected<void> checkDimensions(const TiledOp &tiled) {
  const auto numOperands = static_cast<unsigned>(tiled.operands.size());
  for (unsigned index = 0; index <= numOperands; ++index) {
    const LocalTile &local = index == numOperands ? tiled.result : tiled.operands[index];
    if (!takesPart(tiled, index, local))
      return makeError("", "a part of a larger operand");
    if (local.tile[kAxisD].size > 1)
      return makeError("", "a tensor of 5 dimensions", "at most 4");
  }
  return {};
}

/// The first rule that takes an op; null if there is none.
const KernelRule *ruleOf(Operation *op) {
  for (const KernelTable *table :
       {&integerKernels(), &selectKernels(), &elementwiseKernels(), &layerKernels()})
    if (const KernelRule *rule = table->find(op))
      return rule;
  return nullptr;
}

} // namespace

bool hasKernel(Operation *op) { return ruleOf(op) != nullptr; }

Kernels kernelsOf(const TiledOp &tiled) {
  if (Expected<void> checked = checkDimensions(tiled); !checked)
    return propagate(checked);
  const KernelRule *rule = ruleOf(tiled.op);
  if (!rule)
    return makeError("", "there is no kernel");
  if (Expected<void> checked = rule->check(tiled); !checked)
    return propagate(checked);
  return rule->make(tiled.op, tiled);
}

} // namespace tpuc::bm1684::backend
