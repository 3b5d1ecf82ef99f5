//===- DecomposeScaleLut.cpp - Tables of channels as products ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/PreprocessOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Requant.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr size_t kEntries = 256;

/// The entries of one channel by the number of the input, and what their type can store.
struct Row {
  std::array<int64_t, kEntries> entries;
  int64_t lowest, highest;
  int64_t first; ///< The input of entry 0.
};

/// round((weight * x + bias) * multiplier / 2^rshift)
struct Scaling {
  int64_t weight = 0;
  int64_t bias = 0;
  MultiplierShift factor;
};

/// The lowest and the highest b for which slope * x + b rounds to every entry.
std::pair<double, double> offsetsOf(const Row &row, double slope) {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < kEntries; ++i) {
    const double x = static_cast<double>(row.first + static_cast<int64_t>(i));
    const auto entry = static_cast<double>(row.entries[i]);
    if (row.entries[i] > row.lowest)
      least = std::max(least, entry - 0.5 - slope * x);
    if (row.entries[i] < row.highest)
      most = std::min(most, entry + 0.5 - slope * x);
  }
  return {least, most};
}

/// The slope that leaves most room for an offset; none where the entries are on no line.
std::optional<double> slopeOf(const Row &row) {
  constexpr int kSteps = 200;
  double low = -static_cast<double>(kEntries);
  double high = static_cast<double>(kEntries);
  const auto room = [&](double slope) {
    const auto [least, most] = offsetsOf(row, slope);
    return most - least;
  };
  // The room is a concave function of the slope.
  for (int step = 0; step < kSteps; ++step) {
    const double left = low + (high - low) / 3;
    const double right = high - (high - low) / 3;
    (room(left) < room(right) ? low : high) = room(left) < room(right) ? left : right;
  }
  const double slope = (low + high) / 2;
  return slope != 0 && std::isfinite(room(slope)) && room(slope) > 0 ? std::optional(slope)
                                                                     : std::nullopt;
}

bool gives(const Row &row, const Scaling &scaling, RoundingMode rounding) {
  for (size_t i = 0; i < kEntries; ++i) {
    const int64_t sum = scaling.weight * (row.first + static_cast<int64_t>(i)) + scaling.bias;
    const auto scaled = static_cast<int64_t>(
        multiplyShift(sum, scaling.factor.multiplier, scaling.factor.rshift, rounding));
    if (std::clamp(scaled, row.lowest, row.highest) != row.entries[i])
      return false;
  }
  return true;
}

/// Integers that give every entry.
std::optional<Scaling> scalingOf(const Row &row, const RequantInfo &requant,
                                 const MultiplierLimits &limits) {
  const std::optional<double> slope = slopeOf(row);
  if (!slope)
    return std::nullopt;
  const auto [least, most] = offsetsOf(row, *slope);
  const RoundingMode rounding = requant.rounding.value_or(RoundingMode::HalfUp);
  constexpr int64_t kMostWeight = 127;
  for (int64_t weight = kMostWeight; weight > kMostWeight / 2; --weight) {
    const double unit = std::abs(*slope) / static_cast<double>(weight);
    Expected<MultiplierShift> factor = quantizeMultiplier(unit, limits);
    if (!factor)
      return std::nullopt;
    const Scaling scaling = {*slope > 0 ? weight : -weight, std::llround((least + most) / 2 / unit),
                             *factor};
    if (gives(row, scaling, rounding))
      return scaling;
  }
  return std::nullopt;
}

class ScaleLutMaker {
public:
  ScaleLutMaker(tpu::ScaleLutOp op, OpMaker &maker, const Tensor &table)
      : op(op), maker(maker), bytes(table.rawBytes()), channels(table.shape()[0]) {}

  bool run() { return asView() || asOneTable() || asProduct() || asParts(); }

private:
  std::span<const std::byte> tableOf(int64_t channel) const {
    return bytes.subspan(static_cast<size_t>(channel) * kEntries, kEntries);
  }
  Value lookedUp(Value value, int64_t channel, Type type, StringRef what) {
    Tensor entries(DataType::I8, Shape{static_cast<int64_t>(kEntries)});
    std::ranges::copy(tableOf(channel), entries.mutableBytes().begin());
    const Value table = maker.weight(entries, ("table" + llvm::Twine(channel)).str());
    return maker.make(tpu::LutOp::getOperationName(), what, type, {value, table}, {});
  }
  Row rowOf(int64_t channel);

  bool asView();
  bool asOneTable();
  bool asProduct();
  bool asParts();

  tpu::ScaleLutOp op;
  OpMaker &maker;
  std::span<const std::byte> bytes;
  int64_t channels;
};

/// The entries from the smallest input on, less the zero point of the results.
Row ScaleLutMaker::rowOf(int64_t channel) {
  const IntegerRange inputs = tpu::rangeOf(tpu::quantizedType(op.getInput()));
  const quant::StorageSpec stored = tpu::quantizedType(op.getOutput()).getStorage();
  const int64_t zero = tpu::zeroPointOf(op.getOutput());
  Row row{.entries = {},
          .lowest = stored.min - zero,
          .highest = stored.max - zero,
          .first = inputs.lowest};
  const std::span<const std::byte> table = tableOf(channel);
  for (size_t i = 0; i < kEntries; ++i) {
    const auto at = static_cast<uint8_t>(inputs.lowest + static_cast<int64_t>(i));
    const auto entry = static_cast<uint8_t>(table[at]);
    row.entries[i] = (stored.isSigned ? static_cast<int8_t>(entry) : entry) - zero;
  }
  return row;
}

/// The bytes as they lie, where each is its own entry.
bool ScaleLutMaker::asView() {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (static_cast<size_t>(bytes[i]) != i % kEntries)
      return false;
  const RankedTensorType type = OpMaker::typeOf(op.getOutput());
  NamedAttrList attributes;
  attributes.set("shape", maker.builder.getI64ArrayAttr(type.getShape()));
  const Value made = maker.make(tpu::ReshapeOp::getOperationName(), "view", type,
                                {op.getInput(), maker.none()}, attributes);
  if (!maker.backend.placeOf(made.getDefiningOp())) {
    made.getDefiningOp()->erase();
    return false;
  }
  maker.replace(0, made);
  return true;
}

/// One table where all channels have the same.
bool ScaleLutMaker::asOneTable() {
  for (int64_t channel = 1; channel < channels; ++channel)
    if (!std::ranges::equal(tableOf(0), tableOf(channel)))
      return false;
  maker.replace(0, lookedUp(op.getInput(), 0, op.getOutput().getType(), "table"));
  return true;
}

/// A convolution of single pixels whose integers give every entry of each channel.
bool ScaleLutMaker::asProduct() {
  const RequantInfo &requant = maker.backend.info().requant;
  if (requant.strategy != RequantStrategy::OwnCommand || tpu::zeroPointOf(op.getInput()) != 0 ||
      OpMaker::dimsOf(op.getInput()).size() != 4)
    return false;
  MultiplierLimits limits;
  if (requant.multiplierBits != 0 && requant.multiplierBits < 32)
    limits = MultiplierLimits::ofBits(requant.multiplierBits);
  Tensor filter(DataType::I8, Shape{channels, 1, 1, 1});
  Tensor bias(DataType::I32, Shape{channels});
  SmallVector<int64_t> multipliers;
  SmallVector<int64_t> shifts;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const std::optional<Scaling> scaling = scalingOf(rowOf(channel), requant, limits);
    if (!scaling || std::abs(scaling->bias) > std::numeric_limits<int32_t>::max() / 2)
      return false;
    filter.mutableData<int8_t>()[static_cast<size_t>(channel)] =
        static_cast<int8_t>(scaling->weight);
    bias.mutableData<int32_t>()[static_cast<size_t>(channel)] = static_cast<int32_t>(scaling->bias);
    multipliers.push_back(scaling->factor.multiplier);
    shifts.push_back(scaling->factor.rshift);
  }
  Builder &builder = maker.builder;
  NamedAttrList attributes;
  attributes.set("kernel_shape", builder.getI64ArrayAttr({1, 1}));
  attributes.set("strides", builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", builder.getI64ArrayAttr({0, 0, 0, 0}));
  attributes.set("group", builder.getI64IntegerAttr(channels));
  attributes.set("multiplier", builder.getI64ArrayAttr(multipliers));
  attributes.set("rshift", builder.getI64ArrayAttr(shifts));
  attributes.set("round_mode", builder.getStringAttr(roundingModeName(
                                   requant.rounding.value_or(RoundingMode::HalfUp))));
  const Value made =
      maker.make(tpu::ConvOp::getOperationName(), "scaled", op.getOutput().getType(),
                 {op.getInput(), maker.weight(filter, "filter_i8"), maker.weight(bias, "bias_i32")},
                 attributes);
  if (!maker.backend.placeOf(made.getDefiningOp())) {
    made.getDefiningOp()->erase();
    return false;
  }
  maker.replace(0, made);
  return true;
}

/// Each channel by itself.
bool ScaleLutMaker::asParts() {
  SmallVector<Value> parts;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const std::string number = std::to_string(channel);
    const Value part = maker.sliced(op.getInput(), 1, channel, 1, "channel" + number);
    const Type type = OpMaker::typeOf(op.getOutput()).clone(OpMaker::dimsOf(part));
    parts.push_back(lookedUp(part, channel, type, "scaled" + number));
  }
  maker.replace(0, maker.joined(parts, 1, "scaled"));
  return true;
}

} // namespace

bool codegen::decomposeScaleLut(OpMaker &maker) {
  auto op = dyn_cast<tpu::ScaleLutOp>(maker.op);
  const std::optional<Tensor> table = op ? OpMaker::constantOf(op.getTable()) : std::nullopt;
  return table && ScaleLutMaker(op, maker, *table).run();
}
