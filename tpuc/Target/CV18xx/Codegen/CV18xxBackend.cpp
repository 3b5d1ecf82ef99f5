//===- CV18xxBackend.cpp - The chips as the code generator sees them ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/CV18xxBackend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Place/AddressPlan.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/CV18xx/Codegen/CV18xxEmitter.h"
#include "tpuc/Target/CV18xx/Codegen/Moves.h"
#include "tpuc/Target/CV18xx/Codegen/OpKernels.h"
#include "tpuc/Target/CV18xx/Codegen/Passes.h"
#include "tpuc/Target/CV18xx/Codegen/RecurrentOps.h"
#include "tpuc/Target/CV18xx/Codegen/SelectOps.h"
#include "tpuc/Target/CV18xx/Codegen/SlicedOps.h"
#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

ArrayRef<OptionalPass> CV18xxBackend::optionalPasses() const { return ownPasses(); }

/// Whether what is loaded and what is made are integers with a sign or BF16, all of one width.
/// Tables are looked up by bytes, casts know both, and copies keep all bits: these take integers
/// without a sign.
static Expected<void> checkTypes(Operation *op, const TileModel &model) {
  // Their kernels look at types themselves.
  if (isSelection(op))
    return {};
  const bool takesBytes = isa<tpu::LutOp, tpu::CastOp, tpu::UpsampleOp>(op);
  std::optional<DataType> first;
  for (unsigned index = 0; index <= op->getNumOperands(); ++index) {
    const OperandLayout &layout = model.layoutOf(index);
    if (!layout.isLoaded)
      continue;
    auto type = storageDataType(tensorOf(op, index).getType());
    if (takesBytes && type == DataType::U8)
      type = DataType::I8;
    if (!type || (*type != DataType::I8 && *type != DataType::BF16))
      return makeError("", fmt::format("elements of {}", type ? dataTypeName(*type) : "no number"),
                       "i8 or bf16");
    if (first && *first != *type && !isa<tpu::CastOp>(op))
      return makeError("", "elements of two types", "one");
    first = type;
  }
  return {};
}

/// An op on the least tile: what is wrong with it whatever the tile.
Expected<void> CV18xxBackend::checkKernel(Operation *op) const {
  Expected<TileModel> model = modelOf(op);
  if (!model)
    return propagate(model);
  if (Expected<void> checked = checkTypes(op, *model); !checked)
    return checked;
  TiledOp tiled{.op = op, .model = &*model};
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    const int64_t unit = std::max(model->unit[axis], tileUnit(op, axis));
    const int64_t least = std::min(unit, model->result[axis]);
    tiled.result.tile[axis] = {0, model->isTileable[axis] ? least : model->result[axis]};
  }
  int64_t end = model->localBytes(op->getNumOperands(), tiled.result.tile);
  for (auto [index, operand] : llvm::enumerate(model->operands)) {
    LocalTile tile{operand.isPresent ? operand.slice(tiled.result.tile) : Tile()};
    tile.address = end;
    if (operand.isPresent)
      end += model->localBytes(static_cast<unsigned>(index), tile.tile);
    tiled.operands.push_back(tile);
  }
  tiled.scratchAddress = end;
  tiled.scratchBytes = scratchOf(chip, tiled);
  end += tiled.scratchBytes;
  if (end > int64_t{kLaneBytes})
    return makeError("", fmt::format("{} bytes in a lane for its smallest part", end),
                     fmt::format("at most {}", kLaneBytes));
  Builder builder(chip);
  return emitOp(builder, tiled);
}

Expected<Place> CV18xxBackend::placeOf(Operation *op) const {
  if (op->hasTrait<traits::ViewLike>() || isa<tpu::CopyOp>(op)) {
    if (constantOf(op->getOperand(0)))
      return makeError("", "a constant in other dimensions, or that is a result",
                       "one that is computed");
    return Place::Alias;
  }
  if (isMove(op)) {
    if (Expected<void> checked = checkMove(op); !checked)
      return propagate(checked);
    return Place::Global;
  }
  if (isSliced(op) || isStreamed(op))
    return Place::Global;
  if (!hasKernel(op))
    return makeError("", "there is no kernel for it");
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op) && !constantOf(op->getOperand(1)))
    return makeError("", "a filter that is computed", "a constant");
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op) && !isa<NoneType>(op->getOperand(2).getType()) &&
      !constantOf(op->getOperand(2)))
    return makeError("", "a bias that is computed", "a constant");
  if (isCell(op) && cast<RankedTensorType>(op->getOperand(1).getType()).getShape()[0] != 1)
    return makeError("", "both directions of a cell at once", "one");
  if (isCell(op))
    for (unsigned index : {1U, 2U, 3U})
      if (Value constant = op->getOperand(index);
          !isa<NoneType>(constant.getType()) && !constantOf(constant))
        return makeError("", "a cell's filter that is computed", "a constant");
  if (Expected<void> checked = checkKernel(op); !checked)
    return propagate(checked);
  return Place::Local;
}

Expected<std::optional<PackedLayout>> CV18xxBackend::packedLayout(OpOperand &operand) const {
  Expected<std::optional<PackedLayout>> layout = backend::packedLayout(operand);
  if (!layout && layout.error().where.empty())
    layout.error().where = "layer '" + layerName(operand.getOwner()) + "'";
  return layout;
}

std::shared_ptr<const OpLayout> CV18xxBackend::layoutOf(Operation *op,
                                                        const TileModel &model) const {
  return std::make_shared<const CV18xxLayout>(chip, op, model);
}

Expected<int64_t> CV18xxBackend::scratchBytes(const TiledOp &tiled) const {
  return scratchOf(chip, tiled);
}

Expected<Cost> CV18xxBackend::cost(Commands emit) const {
  CV18xxEmitter emitter(chip);
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.cost();
}

Expected<SmallVector<int64_t>> CV18xxBackend::runCycles(Commands emit) const {
  CV18xxEmitter emitter(chip);
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.runCycles();
}

/// In nanoseconds, as all costs. Rows move in granules of 64 bytes.
int64_t CV18xxBackend::transferCycles(int64_t bytes, int64_t rows) const {
  constexpr int64_t kGranule = 64;
  const TimingParameters parameters = timingSets(chip).front();
  const auto moved = static_cast<double>(std::max(bytes, rows * kGranule));
  return static_cast<int64_t>(parameters.startNanoseconds +
                              moved * 1000 / parameters.megabytesPerSecond);
}

/// A load, a command and a store begin.
int64_t CV18xxBackend::stepBytes() const {
  constexpr double kCommands = 3;
  const TimingParameters parameters = timingSets(chip).front();
  return static_cast<int64_t>(kCommands * parameters.startNanoseconds *
                              parameters.megabytesPerSecond / 1000 / chip.lanes);
}

int64_t CV18xxBackend::tileUnit(Operation *op, unsigned axis) const {
  // Rows of products of computed matrices lie behind each other, their columns in lines.
  if (hasComputedMatrix(op))
    return axis == kAxisW ? info().tiles().lanes * kEuBytes : 1;
  const bool hasColumns = hasConstantMatrix(op);
  return axis == (hasColumns ? kAxisW : kAxisC) ? info().tiles().lanes : 1;
}

/// Weights in one region, all others in another: the first two base registers, in reverse.
Expected<void> CV18xxBackend::assignAddresses(AddressPlan &plan) const {
  constexpr int64_t kAlignment = 64;
  const size_t weights = 0, others = 1;
  plan.regions = {{.base = int64_t{1} << info().global.tagShift, .alignment = kAlignment},
                  {.base = 0, .alignment = kAlignment}};
  plan.regionOf.fill(others);
  plan.regionOf[static_cast<size_t>(GlobalUse::Weights)] = weights;
  for (size_t region = 0; region < plan.regions.size(); ++region)
    if (Expected<void> placed = placeRegion(plan, region); !placed)
      return placed;
  return {};
}

bool CV18xxBackend::takesLocalMemory(Operation *move) const {
  return isThroughLanes(move) || isSliced(move) || isStreamed(move);
}

std::unique_ptr<Emitter> CV18xxBackend::createEmitter() const {
  return std::make_unique<CV18xxEmitter>(chip);
}

} // namespace tpuc::cv18xx::backend

namespace tpuc::CV18xx {

std::unique_ptr<codegen::Backend> createBackend(const TargetInfo &target);
std::unique_ptr<codegen::Backend> createBackend(const TargetInfo &target) {
  const cv18xx::Chip *chip = cv18xx::findChip(target.name);
  if (!chip)
    return nullptr;
  return std::make_unique<cv18xx::backend::CV18xxBackend>(target, *chip);
}

} // namespace tpuc::CV18xx
