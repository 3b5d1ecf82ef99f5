//===- Views.cpp - Where the operands of a TIU command lie ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Operands.h"

namespace tpuc::cv18xx {

namespace {

View explicitView(const Operand &operand, const Extents &shape, uint32_t bytes) {
  View view;
  view.lane = operand.address / kLaneBytes;
  view.offset = operand.address % kLaneBytes;
  view.shape = shape;
  view.bytes = bytes;
  for (size_t i = 0; i < 4; ++i)
    view.strides[i] = operand.strides[i];
  return view;
}

/// In the layout that the operand names.
View operandView(const Chip &chip, const Operand &operand, const Extents &shape, uint32_t bytes) {
  return operand.layout == Layout::Strides
             ? explicitView(operand, shape, bytes)
             : viewOf(chip, operand.address, shape, bytes, operand.layout);
}

/// Records of `bytes` that follow each other, one for each channel.
View recordView(const Operand &operand, uint32_t channels, uint64_t elements, uint32_t bytes) {
  View view;
  view.lane = operand.address / kLaneBytes;
  view.offset = operand.address % kLaneBytes;
  view.shape = {1, channels, 1, static_cast<uint32_t>(elements)};
  view.strides = {0, elements * bytes, 0, bytes};
  view.bytes = bytes;
  return view;
}

/// Packed parameters, an int16 bias in two planes, or a float32 bias in two.
Planes channelParameters(const TiuCommand &command, uint32_t channels) {
  const Operand &opd2 = command.opd2;
  if (!command.isBf16 && command.hasRequant)
    return {recordView(opd2, channels, command.numOperands == 3 ? 9 : 5, 1), 1, 0};
  if (command.numOperands < 3)
    return {};
  return {recordView(opd2, channels, 1, command.elementBytes()), 2, opd2.planeStride};
}

/// Partial sums have 32 bits.
Planes partialPlanes(const TiuCommand &command, const View &view) {
  return {view, command.isBf16 ? 2u : 4u, command.res0.planeStride};
}

TiuViews convViews(const Chip &chip, const TiuCommand &command) {
  const uint32_t bytes = command.elementBytes();
  const Extents &shape = command.res0.shape;
  const uint64_t taps =
      uint64_t{command.opd1.shape[2]} * command.opd1.shape[3] * command.opd0.shape[1];
  TiuViews views;
  views.opd0 = {viewOf(chip, command.opd0.address, command.opd0.shape, bytes, Layout::Aligned), 1,
                0};
  if (!command.opd1.isConst)
    views.opd1 = {recordView(command.opd1, shape[1], taps, bytes), 1, 0};
  if (!command.storesPartial)
    views.opd2 = channelParameters(command, shape[1]);
  views.res0 = {explicitView(command.res0, shape, bytes), 1, 0};
  if (command.addsPartial || command.storesPartial)
    views.res0 = partialPlanes(command, views.res0.view);
  views.readsResult = command.addsPartial;
  return views;
}

TiuViews poolViews(const Chip &chip, const TiuCommand &command) {
  const uint32_t bytes = command.elementBytes();
  const bool isDepthwise = command.pool == PoolFunction::Depthwise;
  TiuViews views;
  views.opd0 = {operandView(chip, command.opd0, command.opd0.shape, bytes), 1, 0};
  if (isDepthwise && !command.opd1.isConst)
    views.opd1 = {viewOf(chip, command.opd1.address,
                         {1, command.opd0.shape[1], command.opd1.shape[2], command.opd1.shape[3]},
                         bytes, Layout::Aligned),
                  1, 0};
  if (isDepthwise || command.hasRequant)
    views.opd2 = channelParameters(command, command.opd0.shape[1]);
  views.res0 = {operandView(chip, command.res0, command.res0.shape, bytes), 1, 0};
  return views;
}

TiuViews matrixViews(const Chip &chip, const TiuCommand &command) {
  const uint32_t bytes = command.elementBytes();
  const Extents result = {command.opd0.shape[0], command.res0.shape[1], 1, command.res0.shape[3]};
  const Extents left = {command.opd0.shape[0], command.opd0.shape[1], 1, command.opd0.shape[3]};
  const Extents right = {command.opd1.shape[0], result[1], 1, result[3]};
  TiuViews views;
  views.opd0 = {viewOf(chip, command.opd0.address, left, bytes, Layout::Aligned), 1, 0};
  views.opd1 = {viewOf(chip, command.opd1.address, right, bytes, Layout::Aligned), 1, 0};
  if (command.numOperands == 3) {
    const View bias =
        viewOf(chip, command.opd2.address, {1, result[1], 1, result[3]}, bytes, Layout::Aligned);
    views.opd2 = {bias, !command.isBf16 && command.hasRequant ? 4u : 2u,
                  static_cast<uint32_t>(bias.strides[0])};
  }
  const View view = viewOf(chip, command.res0.address, result, bytes, Layout::Aligned);
  const bool isWide = !command.isBf16 && (!command.res0.isNarrow || command.accumulates);
  views.res0 = {view, isWide ? 2u : 1u, command.res0.planeStride};
  if (command.addsPartial || command.storesPartial)
    views.res0 = partialPlanes(command, view);
  views.readsResult = command.addsPartial || command.accumulates;
  return views;
}

TiuViews elementwiseViews(const Chip &chip, const TiuCommand &command) {
  const uint32_t bytes = command.elementBytes();
  const Extents &shape = command.res0.shape;
  const auto planesOf = [&](const Operand &operand) -> Planes {
    const bool isWide = !command.isBf16 && !operand.isNarrow &&
                        command.function != Function::Copy && command.function != Function::Lookup;
    return {operandView(chip, operand, shape, bytes), isWide ? 2u : 1u, operand.planeStride};
  };
  TiuViews views;
  if (!command.opd0.isConst)
    views.opd0 = planesOf(command.opd0);
  if (command.function == Function::Lookup) {
    // The same table in each lane.
    views.opd1.view = {.lane = command.opd1.address / kLaneBytes,
                       .offset = command.opd1.address % kLaneBytes,
                       .shape = {1, chip.lanes, 1, 256},
                       .strides = {0, 0, 0, bytes},
                       .bytes = bytes};
    views.opd1.count = 1;
  } else if (command.function != Function::Copy && !command.opd1.isConst) {
    views.opd1 = planesOf(command.opd1);
  }
  views.res0 = planesOf(command.res0);
  views.readsResult = command.function == Function::Mac;
  if (views.readsResult && !command.isBf16)
    views.res0.count = 2;
  return views;
}

} // namespace

View Planes::plane(uint32_t index) const {
  View moved = view;
  const uint64_t address =
      uint64_t{view.lane} * kLaneBytes + view.offset + uint64_t{index} * stride;
  moved.lane = static_cast<uint32_t>(address / kLaneBytes);
  moved.offset = static_cast<uint32_t>(address % kLaneBytes);
  return moved;
}

TiuViews viewsOf(const Chip &chip, const TiuCommand &command) {
  switch (command.type) {
  case tiu::kConv:
    return convViews(chip, command);
  case tiu::kPool:
    return poolViews(chip, command);
  case tiu::kMatrix:
    return matrixViews(chip, command);
  default:
    return elementwiseViews(chip, command);
  }
}

} // namespace tpuc::cv18xx
