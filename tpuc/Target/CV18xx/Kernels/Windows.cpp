//===- Windows.cpp - Convolutions and pools -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Windows.h"
#include "tpuc/Target/CV18xx/Kernels/Fields.h"

namespace tpuc::cv18xx {

namespace {

/// The window, and the tensors with their strides where the command takes them.
void setWindow(FieldSetter &fields, const Window &window, const LocalTensor &input,
               const LocalTensor &result, bool hasStrides) {
  fields.set(Field::PadTop, window.padBegin[0]).set(Field::PadBottom, window.padEnd[0]);
  fields.set(Field::PadLeft, window.padBegin[1]).set(Field::PadRight, window.padEnd[1]);
  fields.set(Field::DilY, window.dilation[0] - 1).set(Field::DilX, window.dilation[1] - 1);
  fields.set(Field::InsY, window.insert[0]).set(Field::InsX, window.insert[1]);
  fields.set(Field::StrideY, window.stride[0]).set(Field::StrideX, window.stride[1]);
  fields.set(Field::Opd1H, window.kernel[0]).set(Field::Opd1W, window.kernel[1]);
  fields.set(Field::Opd0Addr, input.address).shape(kOpd0Shape, input.shape);
  fields.set(Field::Res0Addr, result.address).shape(kRes0Shape, result.shape);
  if (!hasStrides)
    return;
  fields.strides(kRes0Strides, result.strides);
  fields.set(Field::Res0Layout, static_cast<uint64_t>(Layout::Strides));
  fields.set(Field::Kind, input.isBf16).allSigned();
}

/// Bias or packed parameters.
void setParameters(FieldSetter &fields, const Convolution &convolution) {
  fields.set(Field::Operands, convolution.parameters ? 3 : 2);
  if (!convolution.parameters)
    return;
  const uint32_t channels = convolution.result.shape[1];
  fields.shape(kOpd2Shape, {1, channels, 1, 1}).set(Field::Opd2Addr, *convolution.parameters);
  fields.set(Field::Opd2Layout, static_cast<uint64_t>(Layout::PerChannel));
  if (convolution.input.isBf16)
    fields.set(Field::Opd2Narrow, 0).set(Field::Opd2StrB, convolution.halfDistance);
  else
    fields.set(Field::Requant, 1);
}

Expected<void> finishCommand(Builder &builder, const FieldSetter &fields, const Command &command) {
  if (Expected<void> done = fields.done(); !done)
    return done;
  return builder.add(command);
}

/// As the functional model wants its whole input: without gaps.
Expected<void> checkAligned(const Chip &chip, const LocalTensor &tensor) {
  if (!tensor.isAligned(chip))
    return makeError("", "a part of a tensor in local memory", "a whole one");
  return {};
}

} // namespace

Expected<void> emitConvolution(Builder &builder, const Convolution &convolution) {
  const Chip &chip = builder.chip();
  Command command = builder.make(convolution.isDepthwise ? "depthwise" : "conv");
  FieldSetter fields(command);
  const LocalTensor &input = convolution.input;
  setWindow(fields, convolution.window, input, convolution.result, true);
  setParameters(fields, convolution);
  if (convolution.addsSums || convolution.leavesSums)
    fields.set(Field::Partial, (convolution.addsSums ? 1 : 0) + (convolution.leavesSums ? 2 : 0))
        .set(Field::Res0StrB, convolution.planeDistance);
  fields.set(Field::Opd1Addr, convolution.filter).set(Field::Relu, convolution.hasRelu);
  if (convolution.isDepthwise) {
    fields.strides(kOpd0Strides, input.strides);
    fields.set(Field::Opd0Layout, static_cast<uint64_t>(Layout::Strides));
    fields.set(Field::Opd1N, 1).set(Field::Opd1C, input.shape[1]);
    return finishCommand(builder, fields, command);
  }
  if (Expected<void> checked = checkAligned(chip, input); !checked)
    return checked;
  fields.set(Field::Opd1N, input.shape[1]).set(Field::Opd1C, convolution.result.shape[1]);
  fields.set(Field::Opd1Layout, static_cast<uint64_t>(Layout::Compact));
  // Two input channels at a time.
  const bool isDouble = !input.isBf16 && input.shape[1] >= 4 && input.shape[1] % 2 == 0 &&
                        convolution.filter % 2 == 0;
  fields.set(Field::Double, isDouble);
  return finishCommand(builder, fields, command);
}

Expected<void> emitMaxPool(Builder &builder, const Pool &pool) {
  const Chip &chip = builder.chip();
  for (const LocalTensor *tensor : {&pool.input, &pool.result})
    if (Expected<void> checked = checkAligned(chip, *tensor); !checked)
      return checked;
  Command command = builder.make("pool.max");
  FieldSetter fields(command);
  setWindow(fields, pool.window, pool.input, pool.result, false);
  const bool isBf16 = pool.input.isBf16;
  fields.set(Field::Kind, isBf16).allSigned().set(Field::Operands, 1);
  fields.set(Field::Opd1N, 1).set(Field::Opd1C, pool.input.shape[1]);
  constexpr uint16_t kLeastBf16 = 0xFF7F, kLeastInteger = 0x80;
  fields.set(isBf16 && chip.is183x ? Field::InsValueFp : Field::InsValue,
             isBf16 ? kLeastBf16 : kLeastInteger);
  return finishCommand(builder, fields, command);
}

Expected<void> emitAveragePool(Builder &builder, const Pool &pool, uint16_t factor,
                               unsigned shift) {
  for (const LocalTensor *tensor : {&pool.input, &pool.result})
    if (Expected<void> checked = checkAligned(builder.chip(), *tensor); !checked)
      return checked;
  Command command = builder.make("pool.avg");
  FieldSetter fields(command);
  setWindow(fields, pool.window, pool.input, pool.result, false);
  fields.set(Field::Kind, pool.input.isBf16).allSigned().set(Field::Operands, 2);
  fields.set(Field::Shift, shift);
  fields.set(Field::Opd1N, 1).set(Field::Opd1C, 1).set(Field::Opd1Sign, 0);
  fields.set(Field::Opd1Const, 1).set(Field::Opd1Addr, factor);
  return finishCommand(builder, fields, command);
}

} // namespace tpuc::cv18xx
