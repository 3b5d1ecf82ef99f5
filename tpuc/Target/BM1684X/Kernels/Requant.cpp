//===- Requant.cpp - Commands from sums to quantized integers--------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

Expected<void> checkByteTensor(const std::string &where, std::string_view name,
                               const LocalTensor &tensor) {
  if (!isByte(tensor.type))
    return makeError(where, fmt::format("{} of {}", name, dataTypeName(tensor.type)), "i8 or u8");
  for (int64_t extent : tensor.shape)
    if (extent < 1)
      return makeError(where, fmt::format("{} [{}]", name, fmt::join(tensor.shape, ",")),
                       "extents of at least 1");
  return checkLayout(where, name, tensor, Layout::Aligned);
}

Expected<void> checkRequantize(const std::string &where, const Requantize &requantize) {
  constexpr int32_t kMostShift = 63;
  if (std::abs(requantize.shift) > kMostShift)
    return makeError(where, fmt::format("a shift of {}", requantize.shift),
                     fmt::format("{} to {}", -kMostShift, kMostShift));
  if (requantize.zeroPoint < INT16_MIN || requantize.zeroPoint > INT16_MAX)
    return makeError(where, fmt::format("a zero point of {}", requantize.zeroPoint),
                     fmt::format("{} to {}", INT16_MIN, INT16_MAX));
  return {};
}

std::vector<int32_t> packChannels(std::span<const Requantize> channels,
                                  std::span<const int32_t> biases) {
  std::vector<int32_t> words;
  for (size_t i = 0; i < channels.size(); ++i)
    words.insert(words.end(), {channels[i].multiplier, -channels[i].shift, channels[i].zeroPoint,
                               biases.empty() ? 0 : biases[i]});
  return words;
}

std::vector<int32_t> packFirstFactors(std::span<const int32_t> words,
                                      std::span<const Requantize> channels) {
  const size_t given = channels.empty() ? 0 : words.size() / channels.size();
  assert(given <= kFirstFactorWord);
  std::vector<int32_t> packed;
  for (size_t i = 0; i < channels.size(); ++i) {
    std::vector<int32_t> line(words.begin() + static_cast<ptrdiff_t>(i * given),
                              words.begin() + static_cast<ptrdiff_t>((i + 1) * given));
    line.resize(kTwoStepWords);
    line[0] = 1;
    line[1] = -std::max(channels[i].shift, 0);
    line[kFirstFactorWord] = channels[i].multiplier;
    line[kPowerWord] = int32_t{1} << std::max(-channels[i].shift, 0);
    packed.insert(packed.end(), line.begin(), line.end());
  }
  return packed;
}

std::vector<int32_t> packScales(std::span<const float> channels, std::span<const int32_t> biases) {
  std::vector<int32_t> words;
  for (size_t i = 0; i < channels.size(); ++i)
    words.insert(words.end(),
                 {std::bit_cast<int32_t>(channels[i]), 0, 0, biases.empty() ? 0 : biases[i]});
  return words;
}

namespace {

constexpr unsigned kIntegerRequant = 1;

Command requantCommand(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                       Rounding rounding) {
  Command command = Command::make(*findCommandOp(Engine::Tiu, tiu::kRequant, kIntegerRequant));
  setResult(builder, command, output);
  setField(builder, command, Field::Opd0Addr, sums.tiuAddress());
  command.set(Field::Opd2Sign, isSigned(output.type));
  command.set(Field::Opd0Prec, sums.prec()).set(Field::Opd0Sign, 1);
  command.set(Field::Round, static_cast<uint64_t>(rounding));
  return command;
}

} // namespace

/// The first of two roundings, in place. What is left is a shift.
static Requantize addFirstStep(Builder &builder, const LocalTensor &sums, Requantize requantize) {
  assert(sums.type == DataType::I32 && std::abs(requantize.shift) < 32);
  if (requantize.shift < 0)
    addArith(builder, ArithOp::MulSat, sums, sums,
             Immediate{DataType::I32, uint32_t{1} << -requantize.shift});
  addMultiplyHigh(builder, sums, sums, immediate(DataType::I32, requantize.multiplier),
                  Rounding::HalfUp);
  requantize.multiplier = 1;
  requantize.shift = std::max(requantize.shift, 0);
  return requantize;
}

void addRequantize(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                   const Requantize &given, Rounding rounding) {
  Requantize requantize = given;
  if (isTwice(given))
    requantize = addFirstStep(builder, sums, given);
  if (given.roundings != Roundings::Once)
    rounding = Rounding::HalfAway;
  Command command = requantCommand(builder, output, sums, rounding);
  const auto shift = static_cast<uint32_t>(-requantize.shift) & 255;
  const auto zero = static_cast<uint32_t>(requantize.zeroPoint) & 0xFFFF;
  command.set(Field::Opd1Const, 1);
  command.set(Field::Opd1Addr, static_cast<uint32_t>(requantize.multiplier));
  command.set(Field::Opd2Addr, zero << 16 | shift);
  builder.add(command);
  addCutOff(builder, output, requantize.lowest, requantize.highest);
}

void addRequantize(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                   uint32_t parameters, Rounding rounding) {
  Command command = requantCommand(builder, output, sums, rounding);
  command.set(Field::Opd1Addr, output.startLane * kLaneBytes + parameters);
  builder.add(command);
}

void addCutOff(Builder &builder, const LocalTensor &tensor, std::optional<int32_t> lowest,
               std::optional<int32_t> highest) {
  const bool hasSign = isSigned(tensor.type);
  if (lowest && *lowest > (hasSign ? INT8_MIN : 0))
    addArith(builder, ArithOp::Max, tensor, tensor, immediate(tensor.type, *lowest));
  if (highest && *highest < (hasSign ? INT8_MAX : UINT8_MAX))
    addArith(builder, ArithOp::Min, tensor, tensor, immediate(tensor.type, *highest));
}

LocalTensor channelWord(DataType type, int64_t channels, uint32_t parameters, int64_t word,
                        uint32_t startLane) {
  // Each channel has a line.
  return localTensor(DataType::I32, {1, channels, 1, word + 1}, parameters, Layout::Aligned,
                     startLane)
      .slice(3, word, 1)
      .as(type);
}

void addDequantizeSums(Builder &builder, const LocalTensor &output, const LocalTensor &sums,
                       const Term &factor, const Activation &activation) {
  LocalTensor wide = output.type == DataType::F32 ? output : sums.as(DataType::F32);
  addCast(builder, wide, sums);
  addArith(builder, ArithOp::Mul, wide, wide, factor);
  addActivation(builder, wide, activation);
  if (output.type != DataType::F32)
    addCast(builder, output, wide);
}

void addInitialSums(Builder &builder, const LocalTensor &sums, const LocalTensor &row) {
  addUnaryArith(builder, ArithOp::Copy, sums, repeated(row, sums.shape));
}

} // namespace tpuc::bm1684x
