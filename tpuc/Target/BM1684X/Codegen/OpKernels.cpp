//===- OpKernels.cpp - The kernels that compute an op on the BM1684X ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/ElementwiseKernels.h"
#include "tpuc/Target/BM1684X/Codegen/LayerKernels.h"
#include "tpuc/Target/BM1684X/Codegen/QuantizedKernels.h"
#include "tpuc/Target/BM1684X/Codegen/SelectKernels.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Whether a kernel can take a part of the tensor in which operand or result `index` lies.
bool takesPart(const TiledOp &tiled, unsigned index, const LocalTile &local) {
  if (!local.held || *local.held == local.tile)
    return true;
  return layoutOf(tiled).operand(index).form == OperandForm::Tensor &&
         (*local.held)[kAxisD].size == 1 && (*local.held)[kAxisC] == local.tile[kAxisC];
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

/// The first one that takes an op counts.
std::array<const KernelTable *, 5> kernelTables() {
  return {&quantizedKernels(), &selectKernels(), &plainKernels(), &numberedKernels(),
          &layerKernels()};
}

/// The first rule that takes an op; null if there is none.
const KernelRule *ruleOf(Operation *op) {
  for (const KernelTable *table : kernelTables())
    if (const KernelRule *rule = table->find(op))
      return rule;
  return nullptr;
}

} // namespace

bool hasKernel(Operation *op) { return ruleOf(op) != nullptr; }

bool hasKernelFor(OperationName op) {
  return llvm::any_of(kernelTables(), [&](const KernelTable *table) { return table->names(op); });
}

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

} // namespace tpuc::bm1684x::backend
