//===- BM1684XBackend.cpp - The BM1684X as the code generator sees it --------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/BM1684XBackend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XEmitter.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"
#include "tpuc/Target/BM1684X/Codegen/Moves.h"
#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Target/BM1684X/Codegen/PackedConstants.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
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

/// A part of the last dimension of several rows, which lie over lanes.
static bool isColumnSlice(Operation *op) {
  auto tile = dyn_cast<tpu::SliceOp>(op);
  auto type = tile ? dyn_cast<RankedTensorType>(tile.getInput().getType()) : RankedTensorType();
  return type && type.getRank() == 3 && type.getShape()[1] > 1;
}

SchemeSet BM1684XBackend::schemes() const {
  return {schemes::kF32, schemes::kF16, schemes::kBF16, schemes::kInt8, schemes::kInt8Asymmetric};
}

ArrayRef<OptionalPass> BM1684XBackend::optionalPasses() const { return ownPasses(); }

Expected<Place> BM1684XBackend::placeOf(Operation *op) const {
  // Stacked rows are read from where their input lies, and stored there one below the other.
  auto rows = dyn_cast<tpu::PackRowsOp>(op);
  if ((rows && !rows.getInLocalMemory()) || isa<tpu::UnpackRowsOp>(op))
    return Place::Alias;
  // What its operand is made of stores it turned.
  if (isa<tpu::PermuteOp>(op) && tpu::storedTurned(op))
    return Place::Alias;
  if (op->hasTrait<traits::ViewLike>() || isa<tpu::CopyOp>(op) || keepsBits(op)) {
    if (isConstantOperand(op, 0))
      return makeError("", "a constant in other dimensions, or that is a result",
                       "one that is computed");
    return Place::Alias;
  }
  if ((isColumnSlice(op) || isColumnConcat(op) || isa<tpu::PadOp>(op)) && tileModel(op, info()) &&
      checkKernel(*this, op))
    return Place::Local;
  if (isMove(op)) {
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
  if (Expected<void> checked = checkKernel(*this, op); !checked)
    return propagate(checked);
  return Place::Local;
}

/// Short rows take as long as rows of 256 bytes.
int64_t BM1684XBackend::transferCycles(int64_t bytes, int64_t rows) const {
  constexpr int64_t kRate = 50, kShortRow = 256, kStart = 300;
  return bytes == 0 ? kStart : std::max(bytes, rows * kShortRow) / kRate;
}

Expected<std::optional<PackedLayout>> BM1684XBackend::packedLayout(OpOperand &operand) const {
  Expected<std::optional<PackedLayout>> layout = backend::packedLayout(operand);
  if (!layout && layout.error().where.empty())
    layout.error().where = "layer '" + layerName(operand.getOwner()) + "'";
  return layout;
}

std::shared_ptr<const OpLayout> BM1684XBackend::layoutOf(Operation *op,
                                                         const TileModel &model) const {
  return std::make_shared<const BM1684XLayout>(op, model);
}

Expected<int64_t> BM1684XBackend::scratchBytes(const TiledOp &tiled) const {
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

Expected<Cost> BM1684XBackend::cost(Commands emit) const {
  BM1684XEmitter emitter(bm168x::Waits::None);
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.cost();
}

Expected<SmallVector<int64_t>> BM1684XBackend::runCycles(Commands emit) const {
  BM1684XEmitter emitter;
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.runCycles();
}

int64_t BM1684XBackend::tileUnit(Operation *op, unsigned axis) const {
  // Short rows of columns take as long as longer ones.
  const bool isOfColumns = axis == kAxisW && isa<tpu::MatMulOp>(op);
  return axis == kAxisC || isOfColumns ? info().tiles().lanes : 1;
}

std::unique_ptr<Emitter> BM1684XBackend::createEmitter() const {
  return std::make_unique<BM1684XEmitter>();
}

} // namespace tpuc::bm1684x::backend

namespace tpuc::BM1684X {

std::unique_ptr<codegen::Backend> createBackend(const TargetInfo &target) {
  if (target.name != bm1684x::backend::kChipName)
    return nullptr;
  return std::make_unique<bm1684x::backend::BM1684XBackend>(target);
}

} // namespace tpuc::BM1684X
