//===- Elementwise.cpp - Arithmetic on elements ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Fields.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace tpuc::cv18xx {

namespace {

/// The extents of the TIU have 12 bits; whole lines of rows stay together.
constexpr uint32_t kMost = 4095, kRow = 4080;

using Tensors = std::array<LocalTensor, 3>;

/// Whether a row and the next one of all tensors are one longer row.
bool hasLongRows(std::span<const LocalTensor> tensors) {
  return std::ranges::all_of(tensors, [](const LocalTensor &tensor) {
    return tensor.shape[2] == 1 || tensor.strides[2] == tensor.strides[3] * tensor.shape[3];
  });
}

/// Cuts tensors of one shape into parts that a command takes.
class Cutter {
public:
  using Emit = std::function<Expected<void>(const Tensors &)>;
  Cutter(const Chip &chip, const Emit &emit) : chip(chip), emit(emit) {}

  Expected<void> cut(Tensors tensors) const {
    if (hasLongRows(tensors) && tensors[0].shape[2] != 1)
      for (LocalTensor &tensor : tensors) {
        tensor.shape = {tensor.shape[0], tensor.shape[1], 1, tensor.shape[2] * tensor.shape[3]};
        tensor.strides[2] = 0;
      }
    const Extents shape = tensors[0].shape;
    if (shape[3] > kMost && shape[2] == 1)
      return cutRow(tensors);
    for (unsigned axis = 0; axis < 4; ++axis)
      if (shape[axis] > kMost)
        return cutAxis(tensors, axis);
    return emit(tensors);
  }

private:
  /// `count` elements of an axis from `begin` on.
  Tensors part(const Tensors &tensors, unsigned axis, uint32_t begin, uint32_t count) const {
    Tensors made = tensors;
    for (LocalTensor &tensor : made) {
      tensor.address += (axis == 1 ? begin / chip.lanes : begin) * tensor.strides[axis];
      tensor.shape[axis] = count;
    }
    return made;
  }
  Expected<void> cutAxis(const Tensors &tensors, unsigned axis) const {
    const uint32_t step = axis == 1 ? kMost / chip.lanes * chip.lanes : kRow;
    const uint32_t extent = tensors[0].shape[axis];
    for (uint32_t begin = 0; begin < extent; begin += step)
      if (Expected<void> done = cut(part(tensors, axis, begin, std::min(step, extent - begin)));
          !done)
        return done;
    return {};
  }
  /// A long row becomes several, and a rest.
  Expected<void> cutRow(const Tensors &tensors) const {
    const uint32_t extent = tensors[0].shape[3];
    Tensors rows = part(tensors, 3, 0, kRow);
    for (LocalTensor &tensor : rows) {
      tensor.shape[2] = extent / kRow;
      tensor.strides[2] = kRow * tensor.strides[3];
    }
    if (Expected<void> done = emitOrCut(rows); !done)
      return done;
    const uint32_t rest = extent % kRow;
    return rest == 0 ? Expected<void>() : cut(part(tensors, 3, extent - rest, rest));
  }
  /// Rows that are not put together again.
  Expected<void> emitOrCut(const Tensors &tensors) const {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (tensors[0].shape[axis] > kMost) {
        const uint32_t step = axis == 1 ? kMost / chip.lanes * chip.lanes : kRow;
        for (uint32_t begin = 0; begin < tensors[0].shape[axis]; begin += step)
          if (Expected<void> done = emitOrCut(
                  part(tensors, axis, begin, std::min(step, tensors[0].shape[axis] - begin)));
              !done)
            return done;
        return {};
      }
    return emit(tensors);
  }

  const Chip &chip;
  const Emit &emit;
};

constexpr std::array kLayouts = {Field::Res0Layout, Field::Opd0Layout, Field::Opd1Layout,
                                 Field::Opd2Layout};

void setTensors(FieldSetter &fields, const Tensors &tensors) {
  fields.set(Field::Res0Addr, tensors[0].address).set(Field::Opd0Addr, tensors[1].address);
  fields.strides(kRes0Strides, tensors[0].strides).strides(kOpd0Strides, tensors[1].strides);
  for (const auto *shape : {&kRes0Shape, &kOpd0Shape, &kOpd1Shape, &kOpd2Shape})
    fields.shape(*shape, tensors[0].shape);
  for (const Field layout : kLayouts)
    fields.set(layout, static_cast<uint64_t>(Layout::Strides));
}

/// A copy of integers moves bits, which have no sign.
bool isUnsigned(const ElementCommand &elements) {
  return !elements.result.isBf16 && elements.name == "copy";
}

Expected<void> emitPart(Builder &builder, const ElementCommand &elements, const Tensors &tensors) {
  Command command = builder.make(elements.name);
  FieldSetter fields(command);
  setTensors(fields, tensors);
  fields.set(Field::Kind, elements.result.isBf16);
  fields.set(Field::Operands, elements.name == "copy" ? 1 : 2);
  if (isUnsigned(elements))
    fields.set(Field::ShiftSigned, 0);
  else
    fields.allSigned();
  fields.set(Field::Accumulate, elements.name == "mac").set(Field::Relu, elements.hasRelu);
  fields.set(Field::Shift, elements.shift);
  if (elements.multiplier)
    fields.set(Field::Requant, 1).set(Field::Multiplier, *elements.multiplier);
  if (elements.planeDistance)
    fields.set(Field::Res0StrB, *elements.planeDistance);
  if (elements.isWide)
    fields.set(Field::Res0Narrow, 0);
  if (const auto *number = std::get_if<uint16_t>(&elements.right))
    fields.set(Field::Opd1Const, elements.name != "copy").set(Field::Opd1Addr, *number);
  else
    fields.set(Field::Opd1Addr, tensors[2].address).strides(kOpd1Strides, tensors[2].strides);
  if (Expected<void> done = fields.done(); !done)
    return done;
  return builder.add(command);
}

} // namespace

Expected<void> emitElements(Builder &builder, const ElementCommand &elements) {
  const auto *right = std::get_if<LocalTensor>(&elements.right);
  const Cutter::Emit emit = [&](const Tensors &tensors) {
    return emitPart(builder, elements, tensors);
  };
  return Cutter(builder.chip(), emit)
      .cut({elements.result, elements.left, right ? *right : elements.result});
}

uint32_t sumScratch(const Chip &chip, const LocalTensor &result) {
  return 2 * alignedBytes(chip, result.shape, false);
}

Expected<void> emitWeightedSum(Builder &builder, const WeightedSum &sum) {
  const Chip &chip = builder.chip();
  for (const int64_t factor : sum.factors)
    if (factor < -128 || factor > 127)
      return makeError("", fmt::format("a factor of {} in a sum of integers", factor),
                       "8 bits with sign");
  if (sum.shift < 0 || sum.shift > 31)
    return makeError("", fmt::format("a shift by {}", sum.shift), "0 to 31");
  // The lower plane becomes the result. Planes have a distance that is not negative.
  const uint32_t bytes = alignedBytes(chip, sum.result.shape, false);
  const bool isMadeThere = sum.result.isAligned(chip) && sum.result.address < sum.scratch;
  const LocalTensor planes =
      isMadeThere ? sum.result : alignedTensor(chip, sum.scratch, sum.result.shape, false);
  const uint32_t distance = isMadeThere ? sum.scratch - sum.result.address : bytes;
  const auto number = [&](size_t i) {
    return static_cast<uint16_t>(static_cast<uint8_t>(sum.factors[i]));
  };
  if (Expected<void> done = emitElements(builder, {.name = "mul",
                                                   .result = planes,
                                                   .left = sum.left,
                                                   .right = number(0),
                                                   .planeDistance = distance,
                                                   .isWide = true});
      !done)
    return done;
  if (Expected<void> done = emitElements(builder, {.name = "mac",
                                                   .result = planes,
                                                   .left = sum.right,
                                                   .right = number(1),
                                                   .hasRelu = sum.hasRelu,
                                                   .shift = static_cast<unsigned>(sum.shift),
                                                   .planeDistance = distance});
      !done)
    return done;
  return isMadeThere
             ? Expected<void>()
             : emitElements(builder, {.name = "copy", .result = sum.result, .left = planes});
}

Expected<void> emitRescale(Builder &builder, const Rescale &rescale) {
  constexpr int64_t kFirstShift = 31, kMostLeft = 6;
  const int64_t left = kFirstShift - rescale.shift;
  if (rescale.multiplier < 0 || left < 0 || left > kMostLeft)
    return makeError("", fmt::format("a factor of {} / 2^{}", rescale.multiplier, rescale.shift),
                     "shifts of 25 to 31");
  return emitElements(builder, {.name = "mul",
                                .result = rescale.result,
                                .left = rescale.input,
                                .right = static_cast<uint16_t>(1U << left),
                                .hasRelu = rescale.hasRelu,
                                .multiplier = static_cast<uint32_t>(rescale.multiplier)});
}

namespace {

Expected<void> emitLookupPart(Builder &builder, const LocalTensor &result, const LocalTensor &input,
                              uint32_t table) {
  Command command = builder.make("lookup");
  FieldSetter fields(command);
  const bool isBf16 = result.isBf16;
  fields.set(Field::Operands, 2).set(Field::Kind, isBf16).set(Field::ShiftSigned, 0);
  fields.set(Field::Opd1Sign, 0).set(Field::Opd1Addr, table);
  fields.set(Field::Res0Addr, result.address).shape(kRes0Shape, result.shape);
  fields.set(Field::Opd0Addr, input.address).shape(kOpd0Shape, input.shape);
  fields.shape(kOpd1Shape, {1, builder.chip().lanes, isBf16 ? 32U : 16U, isBf16 ? 8U : 16U});
  if (isBf16)
    fields.allSigned();
  if (Expected<void> done = fields.done(); !done)
    return done;
  return builder.add(command);
}

} // namespace

/// The functional model wants both tensors without gaps, and none of their strides.
Expected<void> emitLookup(Builder &builder, const LocalTensor &result, const LocalTensor &input,
                          uint32_t table) {
  const Chip &chip = builder.chip();
  const Extents &shape = result.shape;
  if (!result.isAligned(chip) || !input.isAligned(chip))
    return makeError("", "a part of a tensor in local memory", "a whole one");
  const uint32_t count = shape[2] * shape[3];
  // More than a row or two of other extents: rows of whole lines, and what is left, slot by slot.
  const bool isOne = count <= kMost;
  const uint32_t step = isOne ? kMost / chip.lanes * chip.lanes : chip.lanes;
  for (uint32_t n = 0; n < shape[0]; ++n)
    for (uint32_t c = 0; c < shape[1]; c += step) {
      const auto emit = [&](uint32_t begin, uint32_t height, uint32_t width) {
        const auto part = [&](LocalTensor tensor) {
          tensor.address += n * tensor.strides[0] + c / chip.lanes * tensor.strides[1] +
                            begin * tensor.elementBytes();
          tensor.shape = {1, std::min(step, shape[1] - c), height, width};
          return tensor;
        };
        return emitLookupPart(builder, part(result), part(input), table);
      };
      const uint32_t rows = isOne ? 0 : count / kRow, rest = isOne ? count : count % kRow;
      for (uint32_t row = 0; row < rows; row += kMost)
        if (Expected<void> done = emit(row * kRow, std::min(kMost, rows - row), kRow); !done)
          return done;
      if (rest != 0)
        if (Expected<void> done = emit(rows * kRow, 1, rest); !done)
          return done;
    }
  return {};
}

} // namespace tpuc::cv18xx
