//===- Elementwise.cpp - Arithmetic on elements, and tables ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Elements.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"

namespace tpuc::cv18xx {

namespace {

float floatResult(Function function, float a, float b, float old) {
  switch (function) {
  case Function::Mul:
    return a * b + 0.0f;
  case Function::Mac:
    return addTruncating(old, a, b);
  case Function::Add:
    return a + b;
  case Function::Sub:
    return a - b;
  case Function::Max:
    return largerOf(a, b);
  case Function::Min:
    return smallerOf(a, b);
  case Function::Copy:
    return a;
  default:
    return !std::isfinite(a) || !std::isfinite(b) ? kNoNumber : a >= b ? 1.0f : 0.0f;
  }
}

int64_t integerResult(const TiuCommand &command, int32_t a, int32_t b, int32_t old) {
  switch (command.function) {
  case Function::Mul:
    return int64_t{a} * b;
  case Function::Mac:
    return (int64_t{old} << command.leftShift) + int64_t{a} * b;
  case Function::Add:
    return int64_t{a} + b;
  case Function::Sub:
    return int64_t{a} - b;
  case Function::Max:
    return std::max(a, b);
  case Function::Min:
    return std::min(a, b);
  case Function::Shift:
    return b >= 0 ? int64_t{a} << b : int64_t{a} >> -b;
  case Function::And:
    return a & b;
  case Function::Or:
    return a | b;
  case Function::Xor:
    return a ^ b;
  case Function::Copy:
  case Function::Lookup:
    return a;
  case Function::GreaterEqual:
    return a >= b ? 1 : 0;
  }
  return a;
}

/// Whether the result is shifted and saturated, or its bits are kept.
bool isRounded(Function function) {
  return function == Function::Mul || function == Function::Mac || function == Function::Add ||
         function == Function::Sub;
}

void floats(Memory &memory, const TiuCommand &command, const TiuViews &views) {
  const size_t count = views.res0.view.count();
  std::vector<float> a = readFloats(memory, views.opd0);
  std::vector<float> b = readFloats(memory, views.opd1);
  if (views.opd0.count == 0)
    a.assign(count, floatImmediate(command.opd0));
  if (views.opd1.count == 0)
    b.assign(count, floatImmediate(command.opd1));
  std::vector<float> results(count);
  if (views.readsResult)
    results = readFloats(memory, views.res0, Small::Kept);
  for (size_t i = 0; i < count; ++i) {
    float value = flushed(floatResult(command.function, a[i], b[i], results[i]));
    if (command.hasRelu && command.function != Function::Sub)
      value = reluOf(value);
    results[i] = value;
  }
  writeFloats(memory, views.res0, results);
}

void integers(Memory &memory, const TiuCommand &command, const TiuViews &views) {
  const size_t count = views.res0.view.count();
  std::vector<int32_t> a = readIntegers(memory, views.opd0, command.opd0.isSigned);
  std::vector<int32_t> b = readIntegers(memory, views.opd1, command.opd1.isSigned);
  if (views.opd0.count == 0)
    a.assign(count, integerImmediate(command.opd0));
  if (views.opd1.count == 0)
    b.assign(count, integerImmediate(command.opd1));
  std::vector<int32_t> results(count);
  if (views.readsResult)
    results = readIntegers(memory, views.res0, command.res0.isSigned);
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = integerResult(command, a[i], b[i], results[i]);
    if (isRounded(command.function))
      results[i] = finishInteger(command, static_cast<int32_t>(value));
    else if (command.function == Function::Max || command.function == Function::Min)
      results[i] = static_cast<int32_t>(saturate(value, 8, command.res0.isSigned));
    else
      results[i] = static_cast<int32_t>(value);
  }
  Planes result = views.res0;
  result.count = command.res0.isNarrow ? 1 : 2;
  writeIntegers(memory, result, results);
}

/// The low byte of the operand is the index; the table lies in the lane of the result.
void lookup(Memory &memory, const TiuCommand &command, const TiuViews &views) {
  const View &from = views.opd0.view;
  const View &to = views.res0.view;
  const uint32_t lanes = memory.chip().lanes;
  const auto bytes = command.elementBytes();
  std::vector<uint8_t> indices;
  indices.reserve(from.count());
  for (uint32_t n = 0; n < from.shape[0]; ++n)
    for (uint32_t c = 0; c < from.shape[1]; ++c)
      for (uint32_t h = 0; h < from.shape[2]; ++h)
        for (uint32_t w = 0; w < from.shape[3]; ++w)
          indices.push_back(memory.at(from, n, c, h)[w * from.strides[3]]);
  size_t i = 0;
  for (uint32_t n = 0; n < to.shape[0]; ++n)
    for (uint32_t c = 0; c < to.shape[1]; ++c) {
      const uint32_t lane = (to.lane + c) % lanes;
      const uint8_t *table = &memory.local()[size_t{lane} * kLaneBytes + views.opd1.view.offset];
      for (uint32_t h = 0; h < to.shape[2]; ++h)
        for (uint32_t w = 0; w < to.shape[3]; ++w, ++i) {
          uint8_t *at = memory.at(to, n, c, h) + w * to.strides[3];
          std::copy_n(table + size_t{indices[i]} * bytes, bytes, at);
        }
    }
}

} // namespace

void runElementwise(Memory &memory, const TiuCommand &command) {
  const TiuViews views = viewsOf(memory.chip(), command);
  if (command.function == Function::Lookup)
    lookup(memory, command, views);
  else if (command.isBf16)
    floats(memory, command, views);
  else
    integers(memory, command, views);
}

} // namespace tpuc::cv18xx
