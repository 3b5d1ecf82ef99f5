//===- Broadcast.cpp - Operands that repeat--------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Broadcast.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

bool repeatsOverLanes(const LocalTensor &operand, const LocalTensor &output) {
  return operand.shape[1] == 1 && output.shape[1] > 1;
}

Extents inAllLanes(const LocalTensor &operand) {
  return {operand.shape[0], kLanes, operand.shape[2], operand.shape[3]};
}

} // namespace

Expected<void> checkBroadcast(const std::string &where, const LocalTensor &operand,
                              const LocalTensor &output) {
  bool fits = precOf(operand.type).has_value();
  for (size_t axis = 0; axis < 4; ++axis)
    fits &= operand.shape[axis] == output.shape[axis] || operand.shape[axis] == 1;
  if (!fits)
    return makeError(where,
                     fmt::format("an operand [{}] {} for [{}] {}", fmt::join(operand.shape, ","),
                                 dataTypeName(operand.type), fmt::join(output.shape, ","),
                                 dataTypeName(output.type)),
                     "extents that are equal or 1");
  if (repeatsOverLanes(operand, output))
    return checkLayout(where, "an operand of one channel", operand, Layout::Aligned);
  if (operand.startLane != output.startLane)
    return makeError(
        where, fmt::format("operands in lanes {} and {}", operand.startLane, output.startLane),
        "the same lane");
  return {};
}

uint32_t broadcastBytes(const LocalTensor &operand, const LocalTensor &output) {
  return repeatsOverLanes(operand, output) ? laneBytes(operand.type, inAllLanes(operand)) : 0;
}

LocalTensor broadcastTo(Builder &builder, const LocalTensor &operand, const LocalTensor &output,
                        ScratchAllocator &space) {
  if (!repeatsOverLanes(operand, output))
    return repeated(operand, output.shape);
  LocalTensor copies = space.take(operand.type, inAllLanes(operand));
  addLaneBroadcast(builder, copies, operand);
  copies = repeatedOverLanes(copies, output.shape[1]);
  copies.startLane = output.startLane;
  return repeated(copies, output.shape);
}

} // namespace tpuc::bm1684x
