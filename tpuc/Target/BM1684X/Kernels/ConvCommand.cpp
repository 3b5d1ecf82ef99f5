//===- ConvCommand.cpp - The commands of convolutions----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

namespace tpuc::bm1684x {

namespace {

/// What CONV and PorD have in common.
Command windowCommand(Builder &builder, unsigned opcode, const ConvCommand &conv) {
  Command command = Command::make(*findCommandOp(Engine::Tiu, opcode, 0));
  setResult(builder, command, conv.output);
  setWindow(builder, command, conv.window, conv.input.shape, conv.insert);
  command.set(Field::Opd0Addr, conv.input.tiuAddress()).set(Field::Opd0Prec, conv.input.prec());
  command.set(Field::Opd0Sign, isSigned(conv.input.type));
  command.set(Field::Opd1Addr, conv.filter.tiuAddress());
  command.set(Field::Opd1Sign, isSigned(conv.filter.type)).set(Field::Opd2Sign, 1);
  command.set(Field::KernelRotate, conv.rotates);
  if (conv.bias)
    command.set(Field::Opd2Addr, conv.bias->tiuAddress());
  else
    command.set(Field::Opd2Const, 1);
  if (conv.outsides)
    command.set(Field::Opd3Addr, conv.outsides->tiuAddress());
  else
    command.set(Field::Opd3Const, 1).set(Field::Opd3Addr, conv.outside);
  return command;
}

} // namespace

void addConv(Builder &builder, const ConvCommand &conv) {
  Command command = windowCommand(builder, tiu::kConv, conv);
  command.set(Field::ResAdd, conv.accumulates).set(Field::Res1Addr, conv.outside);
  setField(builder, command, Field::Opd0C, conv.input.shape[1]);
  if (!conv.input.liesAs(Layout::Aligned)) {
    command.set(Field::Opd0Str, static_cast<uint64_t>(Layout::Explicit));
    Extents strides = conv.input.strides();
    // A stride that is not used may be too long for its field.
    if (conv.input.shape[0] == 1)
      strides[0] = 0;
    if (conv.input.startLane + conv.input.shape[1] <= kLanes)
      strides[1] = 0;
    constexpr Field kFields[] = {Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr,
                                 Field::Opd0WStr};
    for (size_t axis = 0; axis < 4; ++axis)
      setField(builder, command, kFields[axis], strides[axis]);
  }
  builder.add(command);
}

void addDepthwise(Builder &builder, const ConvCommand &conv) {
  builder.add(windowCommand(builder, tiu::kPorD, conv));
}

std::vector<GroupPart> groupParts(const LocalTensor &input, const LocalTensor &output,
                                  int64_t group) {
  if (group == 1)
    return {{input, output, 0}};
  std::vector<GroupPart> parts;
  const int64_t ic = input.shape[1] / group;
  const int64_t oc = output.shape[1] / group;
  for (int64_t n = 0; n < output.shape[0]; ++n)
    for (int64_t g = 0; g < group; ++g)
      parts.push_back({input.slice(0, n, 1).slice(1, g * ic, ic),
                       output.slice(0, n, 1).slice(1, g * oc, oc), g * oc});
  return parts;
}

} // namespace tpuc::bm1684x
