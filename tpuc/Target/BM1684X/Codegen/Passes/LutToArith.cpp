//===- LutToArith.cpp - Tables that are computed by arithmetic -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"
#include "tpuc/Interpreter/StoredRequant.h"
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

/// What an op takes that a table or a sequence stands for: cycles of a lane for 64 elements, and
/// commands.
struct Cost {
  int64_t cycles, commands;
};

/// The arithmetic that gives the entries of a table, as numbers (`steps`). None: what the op does
/// otherwise is faster.
///
/// A lookup is one command, a sequence many: small tensors are looked up, as commands have to
/// start.
std::optional<SmallVector<int64_t>> arithOf(Operation *op, const TableBytes &bytes, Cost now) {
  constexpr int64_t kStart = 40, kFewest = 3 * kStart;
  const int64_t elements =
      ceilDiv(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements(), kLanes);
  if (now.commands == 1 && elements <= kFewest)
    return std::nullopt;
  const DataType input = elementTypeOf(op, 0);
  const std::optional<std::vector<LutStep>> steps =
      synthesizeLut(bytes, input, static_cast<int32_t>(tpu::zeroPointOf(op->getOperand(0))));
  if (!steps)
    return std::nullopt;
  constexpr int64_t kElements = 64;
  const int64_t saved = elements * (now.cycles - cyclesOfSteps(*steps, input)) / kElements;
  if (saved <= kStart * (static_cast<int64_t>(steps->size()) - now.commands + 1))
    return std::nullopt;
  const std::vector<int64_t> numbers = numbersOf(*steps);
  return SmallVector<int64_t>(numbers.begin(), numbers.end());
}

/// Errors: constants that cannot be read.
Expected<void> setSteps(tpu::LutOp op, const Backend &) {
  constexpr Cost kLookup{.cycles = 64, .commands = 1};
  Expected<Tensor> table = readConstant(op, 1);
  if (!table)
    return propagate(table);
  TableBytes bytes;
  std::memcpy(bytes.data(), table->rawBytes().data(), bytes.size());
  if (const std::optional<SmallVector<int64_t>> steps = arithOf(op, bytes, kLookup))
    op.setStepsAttr(mlir::Builder(op->getContext()).getI64ArrayAttr(*steps));
  return {};
}

/// A leaky ReLU of integers is a table, too. It is left as it is where no sequence is found.
Expected<void> asTable(tpu::LeakyReluOp op, const Backend &backend) {
  constexpr Cost kTwoFactors{.cycles = 15, .commands = 6};
  TableBytes bytes;
  Tensor inputs(elementTypeOf(op, 0), Shape{static_cast<int64_t>(bytes.size())});
  for (auto [byte, each] : llvm::enumerate(inputs.mutableBytes()))
    each = static_cast<std::byte>(byte);
  Tensor outputs(*storageDataType(op.getOutput().getType()), inputs.shape());
  kernels::RequantParams positive = requantOf(op, storedRange(op));
  kernels::RequantParams negative = positive;
  negative.factors.erase(negative.factors.begin());
  positive.factors.resize(1);
  ThreadPool threads(1);
  kernels::integerLeakyRelu(inputs, zeroPoint(op.getInput()), positive, negative, /*axis=*/0,
                            outputs, threads);
  std::memcpy(bytes.data(), outputs.rawBytes().data(), bytes.size());
  const std::optional<SmallVector<int64_t>> steps = arithOf(op, bytes, kTwoFactors);
  if (!steps)
    return {};
  OpMaker maker(op, backend);
  Tensor entries(DataType::I8, inputs.shape());
  std::memcpy(entries.mutableBytes().data(), bytes.data(), bytes.size());
  auto made =
      maker.builder.create<tpu::LutOp>(op.getLoc(), op.getOutput().getType(),
                                       ValueRange{op.getInput(), maker.weight(entries, "entries")});
  made.setStepsAttr(maker.builder.getI64ArrayAttr(*steps));
  op.getOutput().replaceAllUsesWith(made.getOutput());
  op->erase();
  return {};
}

bool isByte(Value value) {
  const std::optional<DataType> type = storageDataType(value.getType());
  return type == DataType::I8 || type == DataType::U8;
}

} // namespace

Expected<void> lutToArith(ModuleOp module, const Backend &backend) {
  const auto wants = [](tpu::LutOp op, const Backend &backend) {
    return op.getTable().getDefiningOp<top::WeightOp>() && fittingPlaceOf(op, backend);
  };
  const auto isOfBytes = [](tpu::LeakyReluOp op, const Backend &backend) {
    const std::optional<ArrayAttr> factors = op.getMultiplier();
    return isByte(op.getInput()) && isByte(op.getOutput()) && factors && factors->size() == 2 &&
           fittingPlaceOf(op, backend);
  };
  if (Expected<void> done = rewriteOps<tpu::LutOp>(module, backend, wants, setSteps); !done)
    return done;
  return rewriteOps<tpu::LeakyReluOp>(module, backend, isOfBytes, asTable);
}

} // namespace tpuc::bm1684x::backend
