//===- Site.cpp - What the kernels of ops work on -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/Site.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"

#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

Expected<LocalTensor> spread(const Site &site, unsigned index, const LocalTensor &result) {
  Expected<LocalTensor> tensor = site.operand(index);
  if (!tensor)
    return tensor;
  for (size_t axis = 0; axis < 4; ++axis) {
    if (tensor->shape[axis] == result.shape[axis])
      continue;
    tensor->strides[axis] = 0;
    tensor->shape[axis] = result.shape[axis];
  }
  return tensor;
}

Expected<std::array<LocalTensor, 2>> floatsOf(const Site &site, unsigned index) {
  if (!site.isBf16() || !layoutOf(site.tiled, index).isBf16)
    return makeError("", "a function of integers", "a table");
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(index);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  return std::array{*input, *result};
}

bool isGiven(mlir::Operation *op, unsigned index) {
  return index < op->getNumOperands() &&
         !mlir::isa<mlir::NoneType>(op->getOperand(index).getType());
}

uint16_t bf16Of(double number) {
  constexpr uint16_t kInfinite = 0x7F80, kLargest = 0x7F7F, kSign = 0x8000;
  const auto bits = static_cast<uint16_t>(encodeFloat<DataType::BF16>(static_cast<float>(number)));
  return (bits & ~kSign) == kInfinite ? static_cast<uint16_t>((bits & kSign) | kLargest) : bits;
}

std::array<double, 2> factorsOf(double factor) {
  constexpr double kClose = 0x1p-11;
  constexpr int kMantissas = 128;
  const auto nearest = [](double number) {
    return static_cast<double>(decodeFloat<DataType::BF16>(bf16Of(number)));
  };
  const auto errorOf = [&](double a, double b) { return std::abs(a * b / factor - 1); };
  std::array<double, 2> best = {nearest(factor), 1};
  if (factor == 0 || errorOf(best[0], 1) <= kClose)
    return best;
  for (int mantissa = 0; mantissa < kMantissas; ++mantissa) {
    const double second = 1 + static_cast<double>(mantissa) / kMantissas;
    const double first = nearest(factor / second);
    if (errorOf(first, second) < errorOf(best[0], best[1]))
      best = {first, second};
  }
  return best;
}

Expected<void> emitScaled(const Site &site, const LocalTensor &result, const LocalTensor &left,
                          double factor) {
  const uint16_t high = bf16Of(factor);
  const auto lost = factor - static_cast<double>(decodeFloat<DataType::BF16>(high));
  const auto step = [&](std::string_view name, const LocalTensor &from, double number) {
    return emitElements(site.builder,
                        {.name = name, .result = result, .left = from, .right = bf16Of(number)});
  };
  // A quotient of 1 may be off by its own rounding.
  constexpr double kNothing = 0x1p-24;
  if (std::abs(lost) <= kNothing * std::abs(factor))
    return step("mul", left, factor);
  if (left.address == result.address) {
    const std::array<double, 2> factors = factorsOf(factor);
    if (Expected<void> done = step("mul", left, factors[0]); !done || factors[1] == 1)
      return done;
    return step("mul", result, factors[1]);
  }
  // One rounding of both parts.
  if (Expected<void> done = step("mul", left, lost); !done)
    return done;
  return step("mac", left, factor);
}

Relu reluOf(Operation *op) {
  const auto given = op->getAttrOfType<BoolAttr>("do_relu");
  Relu relu;
  relu.is = given && given.getValue();
  const auto limit = op->getAttrOfType<FloatAttr>("relu_limit");
  if (!relu.is || !limit || limit.getValueAsDouble() < 0)
    return relu;
  const Value result = givenResult(op);
  if (auto type = tpu::quantizedType(result)) {
    const tpu::StoredRange range = tpu::reluRange(type, true, limit.getValueAsDouble());
    if (range.high < 127)
      relu.limit = static_cast<uint16_t>(range.high);
  } else {
    relu.limit = bf16Of(limit.getValueAsDouble());
  }
  return relu;
}

Expected<void> applyRelu(const Site &site, const LocalTensor &result) {
  const Relu relu = reluOf(site.op());
  if (!relu.is)
    return {};
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = result, .left = result});
      !done)
    return done;
  return limitResult(site, result, relu);
}

Expected<void> limitResult(const Site &site, const LocalTensor &result, const Relu &relu) {
  if (!relu.limit)
    return {};
  return emitElements(site.builder,
                      {.name = "min", .result = result, .left = result, .right = *relu.limit});
}

} // namespace tpuc::cv18xx::backend
