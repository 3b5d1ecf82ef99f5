//===- BM1684Backend.cpp - The BM1684 as the code generator sees it -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Codegen/BM1684Backend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684/Codegen/BM1684Emitter.h"
#include "tpuc/Target/BM1684/Codegen/BM1684Layout.h"
#include "tpuc/Target/BM1684/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684/Codegen/Passes.h"
#include "tpuc/Target/BM1684/Codegen/Transfers.h"
#include "tpuc/Target/BM168x/Codegen/Constants.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using bm168x::backend::isConstantOperand;
using mlir::Operation;

/// An op on the least tile: what is wrong with it whatever the tile.
static Expected<void> checkKernel(const Backend &backend, Operation *op) {
  Expected<TileModel> model = backend.modelOf(op);
  if (!model)
    return propagate(model);
  TiledOp tiled;
  tiled.op = op;
  tiled.model = &*model;
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    const int64_t unit = std::max(model->unit[axis], backend.tileUnit(op, axis));
    const int64_t least = std::min(unit, model->result[axis]);
    tiled.result.tile[axis] = {0, model->isTileable[axis] ? least : model->result[axis]};
  }
  for (const OperandModel &operand : model->operands)
    tiled.operands.push_back({operand.isPresent ? operand.slice(tiled.result.tile) : Tile()});
  Expected<int64_t> scratch = backend.scratchBytes(tiled);
  if (!scratch)
    return propagate(scratch);
  return {};
}

/// Biases of sums of integers that 16 bits do not hold.
static Expected<void> checkBias(Operation *op) {
  if (op->getNumOperands() < 3 || !isIntegerBias(op, 2) || !isConstantOperand(op, 2))
    return {};
  Expected<tpuc::Tensor> bias = bm168x::backend::constantOf(op->getOperand(2)).read();
  if (!bias)
    return propagate(bias);
  const tpuc::Tensor wide = convert(*bias, DataType::I64);
  for (int64_t number : wide.data<int64_t>())
    if (number != static_cast<int16_t>(number))
      return makeError("", "a bias of " + std::to_string(number), "16 bits");
  return {};
}

SchemeSet BM1684Backend::schemes() const { return {schemes::kF32, schemes::kInt8}; }

ArrayRef<OptionalPass> BM1684Backend::optionalPasses() const { return ownPasses(); }

Expected<Place> BM1684Backend::placeOf(Operation *op) const {
  if (auto rows = dyn_cast<tpu::PackRowsOp>(op)) {
    if (Expected<void> checked = checkPackedRows(rows); !checked)
      return propagate(checked);
    return Place::Alias;
  }
  if (op->hasTrait<traits::ViewLike>() || isa<tpu::CopyOp>(op) || bm168x::backend::keepsBits(op)) {
    if (isConstantOperand(op, 0))
      return makeError("", "a constant in other dimensions, or that is a result",
                       "one that is computed");
    return Place::Alias;
  }
  if (bm168x::backend::isMove(op)) {
    if (Expected<void> checked = checkMove(op); !checked)
      return propagate(checked);
    return Place::Global;
  }
  if (!hasKernel(op))
    return makeError("", "there is no kernel for it");
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op))
    for (unsigned index : {1U, 2U})
      if (!isa<NoneType>(op->getOperand(index).getType()) && !isConstantOperand(op, index))
        return makeError("", "a filter or bias that is computed", "constants");
  if (Expected<void> checked = checkBias(op); !checked)
    return propagate(checked);
  if (Expected<void> checked = checkKernel(*this, op); !checked)
    return propagate(checked);
  return Place::Local;
}

/// By the formula of the chip's timing; rows of less than a line of memory are slower.
int64_t BM1684Backend::transferCycles(int64_t bytes, int64_t rows) const {
  constexpr int64_t kRate = 53, kShortRow = 32, kStart = 137;
  return bytes == 0 ? kStart : std::max(bytes, rows * kShortRow) / kRate;
}

Expected<std::optional<PackedLayout>> BM1684Backend::packedLayout(OpOperand &operand) const {
  return packedLayoutOf(operand);
}

std::shared_ptr<const OpLayout> BM1684Backend::layoutOf(Operation *op,
                                                        const TileModel &model) const {
  return std::make_shared<const BM1684Layout>(op, model);
}

Expected<int64_t> BM1684Backend::scratchBytes(const TiledOp &tiled) const {
  Kernels kernels = kernelsOf(tiled);
  if (!kernels)
    return propagate(kernels);
  int64_t bytes = 0;
  for (const Kernel &kernel : *kernels) {
    Expected<uint32_t> wanted = kernel.scratch();
    if (!wanted)
      return propagate(wanted);
    bytes = std::max<int64_t>(bytes, *wanted);
  }
  return bytes;
}

Expected<Cost> BM1684Backend::cost(Commands emit) const {
  BM1684Emitter emitter(bm168x::Waits::None);
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.cost();
}

Expected<SmallVector<int64_t>> BM1684Backend::runCycles(Commands emit) const {
  BM1684Emitter emitter;
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.runCycles();
}

int64_t BM1684Backend::tileUnit(Operation *op, unsigned axis) const {
  // Short rows of columns waste lines of lanes.
  const bool isOfColumns = axis == kAxisW && isa<tpu::MatMulOp>(op);
  const auto hasBytes = [&] {
    for (unsigned index = 0; index <= op->getNumOperands(); ++index)
      if (byteSize(elementTypeOf(op, index), 1) == 1)
        return true;
    return false;
  };
  if (axis == kAxisN && !isa<tpu::MatMulOp>(op) && hasBytes())
    return info().layout.int8BatchPerWord;
  return axis == kAxisC || isOfColumns ? info().tiles().lanes : 1;
}

std::unique_ptr<Emitter> BM1684Backend::createEmitter() const {
  return std::make_unique<BM1684Emitter>();
}

} // namespace tpuc::bm1684::backend

namespace tpuc::BM1684 {

std::unique_ptr<codegen::Backend> createBackend(const TargetInfo &target) {
  if (target.name != bm1684::backend::kChipName)
    return nullptr;
  return std::make_unique<bm1684::backend::BM1684Backend>(target);
}

} // namespace tpuc::BM1684
