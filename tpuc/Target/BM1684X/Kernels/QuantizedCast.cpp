//===- QuantizedCast.cpp - Between numbers and quantized integers----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

Expected<void> checkPair(const std::string &where, const LocalTensor &input,
                         const LocalTensor &output, bool typesFit, std::string_view types) {
  if (!typesFit || input.shape != output.shape || input.startLane != output.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(input.shape, ","),
                                 dataTypeName(input.type), fmt::join(output.shape, ","),
                                 dataTypeName(output.type)),
                     fmt::format("equal shapes and lanes, {}", types));
  for (const auto &[name, tensor] : {std::pair{"input", &input}, std::pair{"output", &output}})
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return fits;
  return {};
}

uint32_t bytesAs(DataType type, const LocalTensor &tensor) {
  return laneBytes(type, tensor.shape, Layout::Aligned, tensor.startLane);
}

bool isShortInteger(DataType type) {
  return isByte(type) || type == DataType::I16 || type == DataType::U16;
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizeOp &op) {
  bool fits =
      isKernelFloat(op.input.type) && (isByte(op.output.type) || op.output.type == DataType::I16);
  if (Expected<void> pair =
          checkPair(where, op.input, op.output, fits, "from f32, f16 or bf16 to i8, u8 or i16");
      !pair)
    return propagate(pair);
  return 3 * bytesAs(DataType::F32, op.input);
}

Expected<uint32_t> checkedScratch(const std::string &where, const DequantizeOp &op) {
  bool fits = isShortInteger(op.input.type) && isKernelFloat(op.output.type);
  if (Expected<void> pair =
          checkPair(where, op.input, op.output, fits, "from 8 or 16 bits to f32, f16 or bf16");
      !pair)
    return propagate(pair);
  return op.output.type == DataType::F32 ? 0 : bytesAs(DataType::F32, op.output);
}

Expected<uint32_t> checkedScratch(const std::string &where, const RequantizeOp &op) {
  bool fits =
      (isShortInteger(op.input.type) || op.input.type == DataType::I32) && isByte(op.output.type);
  if (Expected<void> pair =
          checkPair(where, op.input, op.output, fits, "from 8, 16 or 32 bits to i8 or u8");
      !pair)
    return propagate(pair);
  if (Expected<void> parameters = checkRequantize(where, op.requantize); !parameters)
    return propagate(parameters);
  return bytesAs(DataType::I32, op.input);
}

constexpr unsigned kDequantFloat = 3;

/// output F32 = (input - zeroPoint) * scale
void addDequantize(Builder &builder, const LocalTensor &output, const LocalTensor &input,
                   double scale, int32_t zeroPoint) {
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kRequant, kDequantFloat));
  setResult(builder, command, output);
  setField(builder, command, Field::Opd0Addr, input.tiuAddress());
  command.set(Field::Opd2Sign, 1);
  command.set(Field::Opd0Prec, input.prec()).set(Field::Opd0Sign, isSigned(input.type));
  command.set(Field::Opd1Const, 1);
  command.set(Field::Opd1Addr, static_cast<uint32_t>(zeroPoint) & 0xFFFF);
  command.set(Field::Opd2Addr, immediateBits(DataType::F32, scale));
  builder.add(command);
}

} // namespace

Expected<uint32_t> quantizeScratch(const QuantizeOp &quantize) {
  return checkedScratch("quantization", quantize);
}

Expected<void> emitQuantize(Builder &builder, const QuantizeOp &quantize) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), quantize);
  if (Expected<void> fits = checkScratch(builder.layer(), quantize.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{quantize.scratch.address};
  auto take = [&] {
    return space.take(DataType::F32, quantize.input.shape, quantize.input.startLane);
  };
  LocalTensor scaled = take();
  LocalTensor wide = quantize.input;
  wide.layout = Layout::Aligned;
  if (quantize.input.type != DataType::F32) {
    wide = take();
    addCast(builder, wide, quantize.input);
  }
  addLinear(builder, scaled, wide, 1 / quantize.scale, 0);
  // Rounded before the zero point is added: an odd one would turn ties the other way.
  if (quantize.zeroPoint != 0) {
    LocalTensor rounded = take();
    addCast(builder, rounded, scaled, Rounding::HalfAway);
    addLinear(builder, scaled, rounded, 1, quantize.zeroPoint);
  }
  addCast(builder, quantize.output, scaled, Rounding::HalfAway);
  return {};
}

Expected<uint32_t> dequantizeScratch(const DequantizeOp &dequantize) {
  return checkedScratch("dequantization", dequantize);
}

Expected<void> emitDequantize(Builder &builder, const DequantizeOp &dequantize) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), dequantize);
  if (Expected<void> fits = checkScratch(builder.layer(), dequantize.scratch, needed); !fits)
    return fits;
  const LocalTensor &output = dequantize.output;
  if (output.type == DataType::F32) {
    addDequantize(builder, output, dequantize.input, dequantize.scale, dequantize.zeroPoint);
    return {};
  }
  ScratchAllocator space{dequantize.scratch.address};
  LocalTensor wide = space.take(DataType::F32, output.shape, output.startLane);
  addDequantize(builder, wide, dequantize.input, dequantize.scale, dequantize.zeroPoint);
  addCast(builder, output, wide);
  return {};
}

Expected<uint32_t> requantizeScratch(const RequantizeOp &requantize) {
  return checkedScratch("requantization", requantize);
}

Expected<void> emitRequantize(Builder &builder, const RequantizeOp &requantize) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), requantize);
  if (Expected<void> fits = checkScratch(builder.layer(), requantize.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{requantize.scratch.address};
  LocalTensor sums = requantize.input;
  // The command takes 16 bits or more, signed.
  if (requantize.input.type != DataType::I32 || requantize.inputZero != 0) {
    sums = space.take(DataType::I32, requantize.input.shape, requantize.input.startLane);
    addArith(builder, ArithOp::Sub, sums, requantize.input,
             immediate(DataType::I32, requantize.inputZero));
  }
  addRequantize(builder, requantize.output, sums, requantize.requantize);
  return {};
}

} // namespace tpuc::bm1684x
