//===- Functions.cpp - Functions of floats on the BM1684 ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Functions.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <numbers>

namespace tpuc::bm1684 {

namespace {

constexpr int64_t kPartStep = kEuWords;

/// Registers that a function takes: none where each command may write to the result.
int64_t numRegisters(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Relu:
  case UnaryKind::Clip:
  case UnaryKind::Abs:
  case UnaryKind::Neg:
  case UnaryKind::Rsqrt:
  case UnaryKind::Reciprocal:
  case UnaryKind::HardSigmoid:
  case UnaryKind::Threshold:
    return 0;
  case UnaryKind::LeakyRelu:
  case UnaryKind::HardSwish:
  case UnaryKind::Sign:
  case UnaryKind::Softsign:
  case UnaryKind::Sqrt:
    return 1;
  case UnaryKind::Shrink:
    return 2;
  default:
    return Series::kNumRegisters;
  }
}

Expected<uint32_t> checkedScratch(const std::string &where, const Unary &unary) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &unary.input}, std::pair{"output", &unary.output}})
    if (Expected<void> fits = checkRegular(where, name, *tensor); !fits)
      return propagate(fits);
  if (unary.input.shape != unary.output.shape || unary.input.startLane != unary.output.startLane)
    return makeError(where,
                     fmt::format("[{}] to [{}]", fmt::join(unary.input.shape, ","),
                                 fmt::join(unary.output.shape, ",")),
                     "equal shapes and lanes");
  int64_t longest = 0;
  for (const LocalTensor &part : flatParts(unary.input, kMostFlatPart))
    longest = std::max(longest, alignUp(part.shape[3], kPartStep));
  return static_cast<uint32_t>(longest * numRegisters(unary.kind) * 4);
}

/// Emits one function of parts of its operands.
struct FunctionEmitter {
  Builder &builder;
  Series &series;
  const Unary &unary;
  const LocalTensor &in, &out;

  void add(ArithOp op, const LocalTensor &to, const Term &a, const Term &b) {
    addArith(builder, op, to, a, b);
  }
  void select(const LocalTensor &to, const Term &a, const Term &b, const Term &c, const Term &d) {
    addCompareSelect(builder, to, a, b, c, d);
  }
  void linear(const LocalTensor &to, const LocalTensor &from, double factor, double addend) {
    addLinear(builder, to, from, factor, addend);
  }
  /// max(x, 0) * positive + register 3, which is made of negative numbers alone, to the result.
  void addPositive(double factor) {
    add(ArithOp::Max, series.reg(0), in, number(0));
    if (factor != 1)
      add(ArithOp::Mul, series.reg(0), series.reg(0), number(factor));
    add(ArithOp::Add, out, series.reg(0), series.reg(3));
  }
  /// alpha * (exp(min(x, 0)) - 1) to register 3.
  void negativeBranch(const LocalTensor &x, double alpha) {
    series.exp(x, 0);
    linear(series.reg(3), series.reg(3), alpha, -alpha);
  }

  bool emitShort();
  bool emitGate();
  void emitSeries();
};

/// Functions of a few commands; false for others.
bool FunctionEmitter::emitShort() {
  const LocalTensor &r0 = series.reg(0), &r1 = series.reg(1);
  switch (unary.kind) {
  case UnaryKind::Relu:
    add(ArithOp::Max, out, in, number(0));
    if (unary.a >= 0)
      add(ArithOp::Min, out, out, number(unary.a));
    return true;
  case UnaryKind::Clip:
    add(ArithOp::Max, out, in, number(unary.a));
    add(ArithOp::Min, out, out, number(unary.b));
    return true;
  case UnaryKind::LeakyRelu:
    add(ArithOp::Mul, r0, in, number(unary.a));
    add(unary.a <= 1 ? ArithOp::Max : ArithOp::Min, out, r0, in);
    return true;
  case UnaryKind::Abs:
    add(ArithOp::And, out.as(DataType::I32), in.as(DataType::I32),
        Immediate{DataType::I32, 0x7FFFFFFF});
    return true;
  case UnaryKind::Neg:
    add(ArithOp::Mul, out, in, number(-1));
    return true;
  case UnaryKind::Rsqrt:
    addSfu(builder, SfuOp::Rsqrt, out, in);
    return true;
  case UnaryKind::Sqrt:
    addSfu(builder, SfuOp::Rsqrt, r0, in);
    add(ArithOp::Mul, r0, r0, in);
    select(r0, in, number(0), r0, in);
    select(out, number(0), in, number(std::numeric_limits<double>::quiet_NaN()), r0);
    return true;
  case UnaryKind::Reciprocal:
    add(ArithOp::Div, out, number(1), in);
    return true;
  case UnaryKind::HardSigmoid:
    linear(out, in, unary.a, unary.b);
    add(ArithOp::Max, out, out, number(0));
    add(ArithOp::Min, out, out, number(1));
    return true;
  case UnaryKind::HardSwish:
    linear(r0, in, 1.0 / 6, 0.5);
    add(ArithOp::Max, r0, r0, number(0));
    add(ArithOp::Min, r0, r0, number(1));
    add(ArithOp::Mul, out, r0, in);
    return true;
  case UnaryKind::Sign:
    select(r0, number(0), in, number(-1), number(0));
    select(out, in, number(0), number(1), r0);
    return true;
  case UnaryKind::Threshold:
    select(out, in, number(unary.a), in, number(0));
    return true;
  case UnaryKind::Shrink:
    add(ArithOp::Sub, r0, in, number(unary.b));
    select(r0, in, number(unary.a), r0, number(0));
    add(ArithOp::Add, r1, in, number(unary.b));
    select(out, number(-unary.a), in, r1, r0);
    return true;
  case UnaryKind::Softsign:
    add(ArithOp::And, r0.as(DataType::I32), in.as(DataType::I32),
        Immediate{DataType::I32, 0x7FFFFFFF});
    add(ArithOp::Add, r0, r0, number(1));
    add(ArithOp::Div, out, in, r0);
    return true;
  default:
    return false;
  }
}

/// Functions with a sigmoid; false for others. `out` may be the input.
bool FunctionEmitter::emitGate() {
  const auto &[r0, r1, r2, r3] = series.registers;
  switch (unary.kind) {
  case UnaryKind::Sigmoid:
    // The numbers of a linear function need a place that is no register.
    if (unary.a != 1 || unary.b != 0)
      linear(out, in, unary.a, unary.b);
    series.sigmoid(unary.a != 1 || unary.b != 0 ? out : in, out);
    return true;
  case UnaryKind::Tanh:
    // (1 - e) / (1 + e) with e = exp(-2 |x|), and the sign of x; around 0 that has more digits.
    add(ArithOp::Mul, r3, in, number(2));
    series.decay(r3);
    linear(r0, r3, -1, 1);
    add(ArithOp::Add, r1, r3, number(1));
    add(ArithOp::Div, r0, r0, r1);
    add(ArithOp::And, r1.as(DataType::I32), in.as(DataType::I32),
        Immediate{DataType::I32, 0x80000000});
    add(ArithOp::Or, out.as(DataType::I32), r0.as(DataType::I32), r1.as(DataType::I32));
    return true;
  case UnaryKind::Swish:
    if (unary.a == 1) {
      series.sigmoid(in, r0);
      add(ArithOp::Mul, out, r0, in);
      return true;
    }
    add(ArithOp::Mul, r3, in, number(-unary.a));
    series.exp(r3);
    add(ArithOp::Add, r3, r3, number(1));
    add(ArithOp::Div, out, in, r3);
    return true;
  case UnaryKind::GeluTanh: {
    // x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3)))
    const double factor = -2 * std::sqrt(2 / std::numbers::pi);
    constexpr double kCubic = 0.044715;
    add(ArithOp::Mul, r0, in, in);
    linear(r0, r0, factor * kCubic, factor);
    add(ArithOp::Mul, r3, r0, in);
    series.exp(r3);
    add(ArithOp::Add, r3, r3, number(1));
    add(ArithOp::Div, out, in, r3);
    return true;
  }
  default:
    return false;
  }
}

void FunctionEmitter::emitSeries() {
  const auto &[r0, r1, r2, r3] = series.registers;
  switch (unary.kind) {
  case UnaryKind::Exp:
    series.exp(in);
    return addCopy(builder, out, r3);
  case UnaryKind::Log:
    series.log(in);
    select(r1, number(0), in, number(std::numeric_limits<double>::quiet_NaN()),
           number(-std::numeric_limits<double>::infinity()));
    return select(out, in, number(0), r3, r1);
  case UnaryKind::Erf:
    series.erf(in, 1);
    return addCopy(builder, out, r3);
  case UnaryKind::GeluErf:
    series.erf(in, std::sqrt(0.5));
    linear(r0, r3, 0.5, 0.5);
    return add(ArithOp::Mul, out, r0, in);
  case UnaryKind::Elu:
    negativeBranch(in, unary.a);
    return addPositive(1);
  case UnaryKind::Selu:
    negativeBranch(in, unary.a * unary.b);
    return addPositive(unary.b);
  case UnaryKind::Celu:
    add(ArithOp::Mul, r3, in, number(1 / unary.a));
    negativeBranch(r3, unary.a);
    return addPositive(1);
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::Round:
    series.round(in);
    if (unary.kind == UnaryKind::Round)
      return addCopy(builder, out, r3);
    if (unary.kind == UnaryKind::Floor)
      select(r0, r3, in, number(-1), number(0));
    else
      select(r0, in, r3, number(1), number(0));
    return add(ArithOp::Add, out, r3, r0);
  case UnaryKind::Sin:
    series.sin(in, 0);
    return addCopy(builder, out, r3);
  case UnaryKind::Cos:
    series.sin(in, std::numbers::pi / 2);
    return addCopy(builder, out, r3);
  case UnaryKind::Sinh:
  case UnaryKind::Cosh:
    // exp(x) / 2 with exp(-x) / 2 added or taken away
    series.exp(in);
    add(ArithOp::Div, r2, number(0.5), r3);
    add(ArithOp::Mul, r3, r3, number(0.5));
    return add(unary.kind == UnaryKind::Cosh ? ArithOp::Add : ArithOp::Sub, out, r3, r2);
  case UnaryKind::Softplus:
    // max(x, 0) + log(1 + exp(-|x|))
    series.decay(in);
    add(ArithOp::Add, r3, r3, number(1));
    series.log(r3);
    return addPositive(1);
  default: {
    // Mish: x tanh(softplus(x)) = x e (e + 2) / (e (e + 2) + 2) with e = exp(x); from 20 on it is
    // x.
    constexpr double kEnd = 20;
    series.exp(in, kEnd);
    add(ArithOp::Add, r0, r3, number(2));
    add(ArithOp::Mul, r2, r0, r3);
    add(ArithOp::Add, r0, r2, number(2));
    add(ArithOp::Div, r1, r2, r0);
    return add(ArithOp::Mul, out, r1, in);
  }
  }
}

} // namespace

Expected<uint32_t> unaryScratch(const Unary &unary) { return checkedScratch("function", unary); }

Expected<void> emitUnary(Builder &builder, const Unary &unary) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), unary);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits =
          checkScratch(builder.layer(), unary.scratch, std::min(*needed, kLeastUnaryScratch));
      !fits)
    return fits;
  const int64_t registers = numRegisters(unary.kind);
  int64_t most = kMostFlatPart;
  if (registers > 0)
    most = std::min(most, unary.scratch.bytes / (4 * registers) / kPartStep * kPartStep);
  const std::vector<LocalTensor> inputs = flatParts(unary.input, most);
  const std::vector<LocalTensor> outputs = flatParts(unary.output, most);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Series series{builder};
    for (int64_t r = 0; r < registers; ++r)
      series.registers[static_cast<size_t>(r)] =
          inputs[i].at(unary.scratch.address + static_cast<uint32_t>(r * most * 4));
    FunctionEmitter emitter{builder, series, unary, inputs[i], outputs[i]};
    if (!emitter.emitShort() && !emitter.emitGate())
      emitter.emitSeries();
  }
  return {};
}

} // namespace tpuc::bm1684
