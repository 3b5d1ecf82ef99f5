//===- NullBackend.cpp - Null as the code generator sees it ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullBackend.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Target/Null/Codegen/NullCosts.h"
#include "tpuc/Target/Null/Codegen/NullEmitter.h"
#include "tpuc/Target/Null/Codegen/NullLayout.h"
#include "tpuc/Target/Null/Codegen/NullMachine.h"

#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

/// Ops of one element each, beside those that look one up.
static bool isElementOp(Operation *op) {
  return isa<tpu::AbsOp, tpu::CeilOp, tpu::CeluOp, tpu::ClipOp, tpu::CosOp, tpu::EluOp, tpu::ErfOp,
             tpu::ExpOp, tpu::FloorOp, tpu::GELUOp, tpu::HardSigmoidOp, tpu::HardSwishOp,
             tpu::LeakyReluOp, tpu::LogOp, tpu::MishOp, tpu::NegOp, tpu::ReciprocalOp, tpu::ReluOp,
             tpu::RoundOp, tpu::RsqrtOp, tpu::SeluOp, tpu::ShrinkOp, tpu::SiLUOp, tpu::SigmoidOp,
             tpu::SignOp, tpu::SinOp, tpu::SoftplusOp, tpu::SoftsignOp, tpu::SqrtOp, tpu::SwishOp,
             tpu::TanhOp, tpu::ThresholdedReluOp>(op) ||
         isa<tpu::AddOp, tpu::AddConstOp, tpu::DivOp, tpu::DivConstOp, tpu::MaxOp, tpu::MaxConstOp,
             tpu::MinOp, tpu::MinConstOp, tpu::MulOp, tpu::MulConstOp, tpu::SubOp, tpu::SubConstOp>(
             op) ||
         isa<tpu::CompareOp, tpu::CompareConstOp, tpu::LogicalBinaryOp, tpu::LogicalNotOp,
             tpu::WhereOp>(op) ||
         isa<tpu::CastOp, tpu::DtypeCastOp, tpu::RequantIntOp>(op);
}

static bool isComputed(Operation *op) {
  return isElementOp(op) ||
         isa<tpu::AvgPoolOp, tpu::ConvOp, tpu::DeconvOp, tpu::InstanceNormOp, tpu::InterpOp,
             tpu::LayerNormOp, tpu::LutOp, tpu::MatMulOp, tpu::MaxPoolOp, tpu::PReluOp,
             tpu::PixelNormOp, tpu::RMSNormOp, tpu::ReduceOp, tpu::ScaleDotProductAttentionOp,
             tpu::SoftmaxOp, tpu::UpsampleOp>(op);
}

static bool isMove(Operation *op) {
  return isa<tpu::CenterCropPadOp, tpu::ConcatOp, tpu::Depth2SpaceOp, tpu::ExpandOp, tpu::GatherOp,
             tpu::PadOp, tpu::PermuteOp, tpu::SliceOp, tpu::SplitOp, tpu::TileOp>(op);
}

static bool isAlias(Operation *op) {
  return isa<tpu::CopyOp, tpu::FlattenOp, tpu::FlattenTo2DOp, tpu::ReshapeOp, tpu::SqueezeOp,
             tpu::UnsqueezeOp>(op);
}

/// A part of the last dimension of several rows, which lie over lanes.
static bool isColumnSlice(Operation *op, const TargetInfo &target) {
  auto tile = dyn_cast<tpu::SliceOp>(op);
  const RankedTensorType type = tile ? staticType(tile.getInput()) : RankedTensorType();
  return type && type.getRank() == 3 && type.getShape()[1] > 1 && tileModel(op, target);
}

SchemeSet NullBackend::schemes() const { return info().schemes; }

/// Whether both engines know all elements. Truth values are bytes.
Expected<void> NullBackend::checkTypes(Operation *op) const {
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                         SmallVector<Value>(op->getResults()))) {
    if (isa<NoneType>(value.getType()) || (value.getDefiningOp() && isConstantValue(value)))
      continue;
    const std::optional<DataType> type = storageDataType(value.getType());
    if (!type || (!info().compute().takes(*type) && type != DataType::Bool))
      return makeError("", fmt::format("elements of {}", type ? dataTypeName(*type) : "no number"),
                       "a type that the chip computes with");
  }
  return {};
}

/// Whether windows are as a command has them.
Expected<void> NullBackend::checkWindows(Operation *op) const {
  Expected<TileModel> model = tileModel(op, info());
  if (!model)
    return propagate(model);
  const WindowLimits &limits = info().window;
  const int64_t maxStride[] = {limits.maxStrideH, limits.maxStrideH, limits.maxStrideW};
  for (unsigned axis : {kAxisD, kAxisH, kAxisW}) {
    const AxisMap &map = model->operands.front().maps[axis];
    const bool isTransposed = map.kind == AxisMap::Transposed;
    if (!isTransposed && map.kind != AxisMap::Window)
      continue;
    const int64_t mostStride =
        isTransposed ? int64_t{limits.maxInsert} + 1 : maxStride[axis - kAxisD];
    if (map.stride > mostStride)
      return makeError("", fmt::format("a stride of {} along {}", map.stride, axisName(axis).str()),
                       fmt::format("at most {}", mostStride));
    if (map.pad > int64_t{limits.maxPad})
      return makeError("", fmt::format("a pad of {} along {}", map.pad, axisName(axis).str()),
                       fmt::format("at most {}", limits.maxPad));
  }
  return {};
}

Expected<Place> NullBackend::placeOf(Operation *op) const {
  if (isAlias(op)) {
    if (op->getOperand(0).getDefiningOp() && isConstant(op->getOperand(0).getDefiningOp()))
      return makeError("", "a constant in other dimensions, or that is a result",
                       "one that is computed");
    return Place::Alias;
  }
  if (Expected<void> checked = checkTypes(op); !checked)
    return propagate(checked);
  if (isColumnSlice(op, info()))
    return Place::Local;
  if (isMove(op))
    return Place::Global;
  if (!isComputed(op))
    return makeError("", "there is no kernel for it");
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op))
    for (unsigned index : {1U, 2U})
      if (!isa<NoneType>(op->getOperand(index).getType()) && formOf(op, index) != Form::PerChannel)
        return makeError("", "a filter or bias that is computed", "constants");
  if (auto deconv = dyn_cast<tpu::DeconvOp>(op))
    if (const auto groups = static_cast<int64_t>(deconv.getGroup());
        groups != 1 && (staticType(deconv.getInput()).getDimSize(1) != groups ||
                        staticType(deconv.getOutput()).getDimSize(1) != groups))
      return makeError("", fmt::format("{} groups of channels", groups), "one, or of one each");
  if (Expected<void> checked = checkWindows(op); !checked)
    return propagate(checked);
  return Place::Local;
}

Expected<std::optional<PackedLayout>> NullBackend::packedLayout(OpOperand &operand) const {
  return Null::packedLayout(operand, info().tiles().lanes);
}

std::shared_ptr<const OpLayout> NullBackend::layoutOf(Operation *op, const TileModel &model) const {
  return std::make_shared<const NullLayout>(info(), op, model);
}

/// Sums of integers of one channel, or a row of floats of what is normalized.
Expected<int64_t> NullBackend::scratchBytes(const TiledOp &tiled) const {
  constexpr int64_t kWord = 4;
  const Tile &result = tiled.result.tile;
  if (isa<tpu::SoftmaxOp, tpu::LayerNormOp, tpu::RMSNormOp, tpu::PixelNormOp>(tiled.op))
    return tiled.operands.front().tile[kAxisW].size * kWord;
  if (isa<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp>(tiled.op) &&
      bitWidth(tiled.model->layoutOf(0).type) == 8)
    return result[kAxisD].size * result[kAxisH].size * result[kAxisW].size * kWord;
  return 0;
}

Expected<Cost> NullBackend::cost(Commands emit) const {
  NullEmitter emitter(info(), /*keeps=*/false);
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return emitter.cost();
}

Expected<SmallVector<int64_t>> NullBackend::runCycles(Commands emit) const {
  NullEmitter emitter(info(), /*keeps=*/false);
  if (Expected<void> emitted = emit(emitter); !emitted)
    return propagate(emitted);
  return SmallVector<int64_t>{emitter.runCycles()};
}

int64_t NullBackend::tileUnit(Operation *, unsigned axis) const {
  return axis == kAxisC ? info().tiles().lanes : 1;
}

/// A region for each use, with a tag of its own.
Expected<void> NullBackend::assignAddresses(AddressPlan &plan) const {
  const GlobalMemoryInfo &global = info().global;
  for (size_t use = 0; use < kNumGlobalUses; ++use) {
    plan.regionOf[use] = use;
    plan.regions.push_back({.base = tagOf(static_cast<GlobalUse>(use)) << global.tagShift,
                            .alignment = *global.alignment});
  }
  for (size_t region = 0; region < plan.regions.size(); ++region)
    if (Expected<void> placed = placeRegion(plan, region); !placed)
      return placed;
  return {};
}

std::unique_ptr<Emitter> NullBackend::createEmitter() const {
  return std::make_unique<NullEmitter>(info());
}

std::unique_ptr<codegen::Backend> createBackend(const TargetInfo &target) {
  if (target.name != "null")
    return nullptr;
  return std::make_unique<NullBackend>(target);
}

} // namespace tpuc::Null
