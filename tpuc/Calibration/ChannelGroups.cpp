//===- ChannelGroups.cpp - Channels that one factor can go through ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/ChannelGroups.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc;

static RankedTensorType staticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

std::optional<int64_t> tpuc::outputChannelAxis(Operation *op) {
  if (!summedAxis(op))
    return std::nullopt;
  const auto filter = cast<RankedTensorType>(op->getOperand(1).getType());
  const auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result || filter.getRank() < 2 || result.getRank() < 2)
    return std::nullopt;
  if (isa<top::ConvOp, top::DeconvOp>(op))
    return 1;
  // Several matrices have one scale for each column.
  return filter.getRank() == 2 ? std::optional(result.getRank() - 1) : std::nullopt;
}

/// Where axis `axis` of the operand is in the result of an op that moves elements: extents before
/// it stay, so those behind it belong to one channel.
static std::optional<int64_t> axisAfterReshape(RankedTensorType from, RankedTensorType to,
                                               int64_t axis) {
  const auto length = static_cast<size_t>(axis + 1);
  if (to.getRank() <= axis ||
      from.getShape().take_front(length) != to.getShape().take_front(length))
    return std::nullopt;
  return axis;
}

/// The axis of the result's channels, each of which the op computes from the same channel of its
/// first operand, whose axis is `axis`, and multiplies by a positive number where that one is. None
/// where this is not so.
static std::optional<int64_t> carriedAxis(Operation *op, int64_t axis) {
  const RankedTensorType from = staticType(op->getOperand(0));
  const RankedTensorType to = staticType(op->getResult(0));
  if (!from || !to)
    return std::nullopt;
  const auto sameAxis = [&](bool carries) {
    const bool keeps = to.getRank() == from.getRank() && to.getDimSize(static_cast<unsigned>(axis)) ==
                                                            from.getDimSize(static_cast<unsigned>(axis));
    return carries && keeps ? std::optional(axis) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<top::ReluOp, top::LeakyReluOp, top::MaxPoolOp, top::UpsampleOp>(
          [&](auto) { return sameAxis(true); })
      .Case([&](top::PReluOp prelu) {
        return sameAxis(prelu.getSlope().getDefiningOp<top::WeightOp>() != nullptr);
      })
      .Case([&](top::AvgPoolOp pool) {
        return sameAxis(!pool.getCountIncludePad() || pool.getPadValue() == 0);
      })
      .Case([&](top::InterpOp resize) {
        return sameAxis(resize.getCoordMode() != "tf_crop_and_resize");
      })
      .Case([&](top::PadOp pad) {
        return sameAxis(pad.getMode() == "constant" && pad.getVal().isZero() &&
                        !isa<TensorType>(pad.getValTensor().getType()));
      })
      .Case([&](top::ReduceOp reduce) {
        const StringRef mode = reduce.getMode();
        return sameAxis(reduce.getKeepdims() &&
                        (mode == "ReduceMean" || mode == "ReduceMax" || mode == "ReduceSum"));
      })
      .Case([&](top::PermuteOp permute) -> std::optional<int64_t> {
        for (auto [to, from] : llvm::enumerate(permute.getOrder()))
          if (cast<IntegerAttr>(from).getInt() == axis)
            return static_cast<int64_t>(to);
        return std::nullopt;
      })
      .Case<top::ReshapeOp, top::SqueezeOp, top::UnsqueezeOp, top::FlattenOp>(
          [&](auto) { return axisAfterReshape(from, to, axis); })
      .Default([](Operation *) { return std::nullopt; });
}

/// The operand of a product of two tensors that has a factor: the one of the result's shape, where
/// the other one has fewer elements.
static Value scaledFactor(top::MulOp op) {
  if (op.getInputs().size() != 2)
    return {};
  for (unsigned i : {0U, 1U})
    if (op.getInputs()[i].getType() == op.getOutput().getType() ||
        (staticType(op.getInputs()[i]) && staticType(op.getOutput()) &&
         staticType(op.getInputs()[i]).getShape() == staticType(op.getOutput()).getShape()))
      if (auto other = staticType(op.getInputs()[1 - i]);
          other && other.getNumElements() < staticType(op.getOutput()).getNumElements())
        return op.getInputs()[i];
  return {};
}

/// The operands with whose channels those of the result have their factors in common.
static SmallVector<Value> carriedOperands(Operation *op) {
  if (auto product = dyn_cast<top::MulOp>(op)) {
    Value scaled = scaledFactor(product);
    return scaled ? SmallVector<Value>{scaled} : SmallVector<Value>();
  }
  if (isa<top::AddOp, top::SubOp, top::ConcatOp>(op))
    return llvm::to_vector(op->getOperands());
  return op->getNumOperands() > 0 ? SmallVector<Value>{op->getOperand(0)} : SmallVector<Value>();
}

/// Whether the operand is multiplied and its zero padding stays what it is.
static bool takesFactors(Operation *op) {
  auto conv = dyn_cast<top::ConvOp>(op);
  return !conv || !conv.getPadValue() || conv.getPadValue()->isZero();
}

/// Whether the filter and the bias, if any, are constants with a number for each channel.
static bool makesFactors(Operation *op) {
  const std::optional<int64_t> axis = outputChannelAxis(op);
  const RankedTensorType type = staticType(op->getResult(0));
  if (!axis || !type)
    return false;
  auto bias = dyn_cast<RankedTensorType>(op->getOperand(2).getType());
  return !bias || (op->getOperand(2).getDefiningOp<top::WeightOp>() && bias.hasStaticShape() &&
                   bias.getNumElements() == type.getDimSize(static_cast<unsigned>(*axis)));
}

ChannelGroups::ChannelGroups(func::FuncOp main, llvm::function_ref<bool(Operation *)> mayChange) {
  for (Operation &op : main.front().without_terminator()) {
    if (op.getNumResults() != 1 || op.hasTrait<traits::Structural>())
      continue;
    if (op.hasTrait<traits::Product>()) {
      place(op.getResult(0), makesFactors(&op) ? outputChannelAxis(&op) : std::nullopt);
      continue;
    }
    const SmallVector<Value> carried = carriedOperands(&op);
    if (carried.empty() || !places.contains(carried[0]))
      continue;
    const int64_t axis = places[carried[0]].axis;
    const bool isJoint = isa<top::AddOp, top::SubOp, top::ConcatOp, top::MulOp>(op);
    place(op.getResult(0), isJoint ? std::optional(axis) : carriedAxis(&op, axis));
  }
  for (Operation &op : main.front()) {
    if (op.getNumRegions() == 0 && mayChange(&op)) {
      connect(&op);
      continue;
    }
    for (Value operand : op.getOperands())
      fix(operand);
    for (Value result : op.getResults())
      fix(result);
  }
  number();
}

void ChannelGroups::place(Value value, std::optional<int64_t> axis) {
  const RankedTensorType type = staticType(value);
  if (!axis || !type || *axis >= type.getRank() || type.getElementType().isIntOrIndex())
    return;
  const int64_t channels = type.getDimSize(static_cast<unsigned>(*axis));
  places[value] = {*axis, parents.size(), channels};
  for (int64_t channel = 0; channel < channels; ++channel)
    parents.push_back(parents.size());
  fixed.resize(parents.size(), false);
}

size_t ChannelGroups::rootOf(size_t slot) {
  while (parents[slot] != slot)
    slot = parents[slot] = parents[parents[slot]];
  return slot;
}

void ChannelGroups::fix(Value value) {
  auto known = places.find(value);
  if (known == places.end())
    return;
  for (int64_t channel = 0; channel < known->second.channels; ++channel)
    fixed[known->second.first + static_cast<size_t>(channel)] = true;
}

/// Channel c of `a` is channel offset + c of `b`. Where one has no channels, or others, the other
/// one is fixed.
void ChannelGroups::join(Value a, Value b, int64_t offset) {
  auto from = places.find(a);
  auto to = places.find(b);
  if (from == places.end() || to == places.end() || from->second.axis < 0 ||
      offset + from->second.channels > to->second.channels) {
    fix(a);
    fix(b);
    return;
  }
  for (int64_t channel = 0; channel < from->second.channels; ++channel) {
    const size_t one = rootOf(from->second.first + static_cast<size_t>(channel));
    const size_t other = rootOf(to->second.first + static_cast<size_t>(offset + channel));
    // The earlier one, so that groups are in the order of the ops.
    parents[std::max(one, other)] = std::min(one, other);
  }
}

void ChannelGroups::connect(Operation *op) {
  if (op->hasTrait<traits::Structural>() && !op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (op->hasTrait<traits::Product>()) {
    const std::optional<int64_t> axis = summedAxis(op);
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      auto known = places.find(operand);
      if (known != places.end() &&
          (index > 0 || !axis || known->second.axis != *axis || !takesFactors(op)))
        fix(operand);
    }
    return;
  }
  const SmallVector<Value> carried = carriedOperands(op);
  const bool isPlaced = op->getNumResults() == 1 && places.contains(op->getResult(0));
  const Value result = isPlaced ? op->getResult(0) : Value();
  for (Value operand : op->getOperands())
    if (!isPlaced || !llvm::is_contained(carried, operand))
      fix(operand);
  if (!isPlaced)
    return;
  const Place place = places[result];
  auto concat = dyn_cast<top::ConcatOp>(op);
  const int64_t concatAxis =
      !concat ? -1
      : static_cast<int64_t>(concat.getAxis()) < 0
          ? static_cast<int64_t>(concat.getAxis()) + staticType(result).getRank()
          : static_cast<int64_t>(concat.getAxis());
  const bool isJoint = isa<top::AddOp, top::SubOp, top::ConcatOp>(op);
  int64_t offset = 0;
  for (Value operand : carried) {
    auto known = places.find(operand);
    const RankedTensorType type = staticType(operand);
    const bool isAlongChannels = concatAxis == place.axis;
    const bool fits = known != places.end() &&
                      (!isJoint || (known->second.axis == place.axis && type &&
                                    type.getRank() == staticType(result).getRank())) &&
                      (isAlongChannels || known->second.channels == place.channels);
    if (isAlongChannels && type && !fits) {
      // Of a tensor that cannot be scaled only its own part of the result is fixed.
      const int64_t extent = type.getDimSize(static_cast<unsigned>(place.axis));
      for (int64_t channel = 0; channel < extent; ++channel)
        fixed[place.first + static_cast<size_t>(offset + channel)] = true;
      fix(operand);
      offset += extent;
    } else if (!fits) {
      fix(operand);
      fix(result);
    } else {
      join(operand, result, offset);
      offset += isAlongChannels ? known->second.channels : 0;
    }
  }
}

void ChannelGroups::number() {
  // A tree is fixed where one of its slots is.
  for (size_t slot = 0; slot < parents.size(); ++slot)
    if (fixed[slot])
      fixed[rootOf(slot)] = true;
  llvm::DenseMap<size_t, int> numbers;
  for (const auto &[value, place] : places) {
    TensorChannels channels;
    channels.axis = place.axis;
    for (int64_t channel = 0; channel < place.channels; ++channel) {
      const size_t root = rootOf(place.first + static_cast<size_t>(channel));
      int group = kFixed;
      if (!fixed[root])
        group = numbers.try_emplace(root, static_cast<int>(numbers.size())).first->second;
      channels.groups.push_back(group);
    }
    if (llvm::any_of(channels.groups, [](int group) { return group != kFixed; }))
      found[value] = std::move(channels);
  }
  count = static_cast<int>(numbers.size());
}
