//===- LutToArith.cpp - Tables that are computed by arithmetic -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Kernels/LutSynthesis.h"

#include <cstring>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

static_assert(LutStep::kNumbers == tpu::kLutStepNumbers);

/// The arithmetic that gives the entries of a table, as numbers (`steps`). None: looking them
/// up is faster. Errors: constants that cannot be read.
///
/// A lookup is one command, a sequence many: small tensors are looked up, as commands have to
/// start.
Expected<std::optional<SmallVector<int64_t>>> arithOf(Operation *op) {
  constexpr int64_t kLookup = 64, kStart = 40, kFewest = 3 * kStart;
  const std::optional<SmallVector<int64_t>> none;
  const int64_t elements =
      ceilDiv(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements(), kLanes);
  if (elements <= kFewest)
    return none;
  Expected<Tensor> table = readConstant(op, 1);
  if (!table)
    return propagate(table);
  const DataType input = elementTypeOf(op, 0);
  TableBytes bytes;
  std::memcpy(bytes.data(), table->rawBytes().data(), bytes.size());
  const std::optional<std::vector<LutStep>> steps =
      synthesizeLut(bytes, input, static_cast<int32_t>(tpu::zeroPointOf(op->getOperand(0))));
  if (!steps)
    return none;
  const int64_t saved = elements * (kLookup - cyclesOfSteps(*steps, input)) / kLookup;
  if (saved <= kStart * static_cast<int64_t>(steps->size()))
    return none;
  const std::vector<int64_t> numbers = numbersOf(*steps);
  return std::optional(SmallVector<int64_t>(numbers.begin(), numbers.end()));
}

} // namespace

Expected<void> lutToArith(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::LutOp op, const Backend &backend) {
    return op.getTable().getDefiningOp<top::WeightOp>() && fittingPlaceOf(op, backend);
  };
  const auto set = [](tpu::LutOp op, const Backend &) -> Expected<void> {
    Expected<std::optional<SmallVector<int64_t>>> steps = arithOf(op);
    if (!steps)
      return propagate(steps);
    if (*steps)
      op.setStepsAttr(mlir::Builder(op->getContext()).getI64ArrayAttr(**steps));
    return {};
  };
  return rewriteOps<tpu::LutOp>(module, backend, wants, set);
}

} // namespace tpuc::bm1684x::backend
