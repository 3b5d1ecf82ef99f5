//===- Activations.cpp - Functions of one operand--------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Activations.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numbers>

namespace tpuc::bm1684x {

namespace {

/// What a function needs besides its operands.
struct Traits {
  /// Computed in F32 with registers; else in the operands' type, in one to four commands.
  bool isSeries = false;
  unsigned tables = 0;
  /// Needs the input after the output has been written.
  bool rereads = false;
};

/// Functions of few commands whose steps would each round to 16 bits, as would their coefficients.
bool isWidened(const Unary &unary) {
  switch (unary.kind) {
  case UnaryKind::HardSwish:
  case UnaryKind::HardSigmoid:
  case UnaryKind::LeakyRelu:
  case UnaryKind::Affine:
    return unary.input.type != DataType::F32;
  default:
    return false;
  }
}

Traits traitsOf(const Unary &unary) {
  constexpr unsigned kExp = Series::kExp;
  if (isWidened(unary))
    return {true, 0, false};
  switch (unary.kind) {
  case UnaryKind::LeakyRelu:
  case UnaryKind::HardSwish:
  case UnaryKind::Sign:
    return {false, 0, true};
  case UnaryKind::Shrink:
  case UnaryKind::Softsign:
    return {true, 0, false};
  case UnaryKind::Sin:
  case UnaryKind::Cos:
    return {true, Series::kSin, false};
  case UnaryKind::Sqrt:
  case UnaryKind::Rsqrt:
  case UnaryKind::Reciprocal:
    return {true, 0, false};
  case UnaryKind::Selu:
  case UnaryKind::Celu:
  case UnaryKind::Sinh:
  case UnaryKind::Cosh:
  case UnaryKind::Exp:
  case UnaryKind::Elu:
  case UnaryKind::Mish:
    return {true, kExp, false};
  case UnaryKind::Sigmoid:
  case UnaryKind::Tanh:
  case UnaryKind::Swish:
  case UnaryKind::GeluTanh:
    return {true, kExp | Series::kLogistic, false};
  case UnaryKind::Log:
    return {true, Series::kLog, false};
  case UnaryKind::Softplus:
    return {true, kExp | Series::kLog, false};
  case UnaryKind::Erf:
  case UnaryKind::GeluErf:
    return {true, Series::kErf, false};
  default:
    return {};
  }
}

/// Parts are cut at whole lines of every type.
constexpr int64_t kPartStep = 64;

bool isInPlace(const Unary &unary) { return unary.input.address == unary.output.address; }

/// Bytes that an element of a part takes in scratch, in each lane.
int64_t bytesPerElement(const Unary &unary) {
  Traits traits = traitsOf(unary);
  if (!traits.isSeries)
    return traits.rereads && isInPlace(unary) ? unary.input.elementBytes() : 0;
  if (isWidened(unary))
    return (unary.kind == UnaryKind::HardSwish ? 3 : 2) * 4;
  // Operands of 16 bits have an F32 copy, whose place the result takes.
  int64_t registers = Series::kNumRegisters + (unary.input.type == DataType::F32 ? 0 : 1);
  return registers * 4;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Unary &unary) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &unary.input}, std::pair{"output", &unary.output}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  if (unary.input.shape != unary.output.shape || unary.input.type != unary.output.type ||
      unary.input.startLane != unary.output.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(unary.input.shape, ","),
                                 dataTypeName(unary.input.type), fmt::join(unary.output.shape, ","),
                                 dataTypeName(unary.output.type)),
                     "equal shapes, types and lanes");
  int64_t longest = std::min(alignUp(longestFlatPart(unary.input), kPartStep), kMostFlatPart);
  return static_cast<uint32_t>(longest * bytesPerElement(unary)) +
         Series::tableBytes(traitsOf(unary).tables);
}

Rounding roundingOf(UnaryKind kind) {
  return kind == UnaryKind::Floor  ? Rounding::Down
         : kind == UnaryKind::Ceil ? Rounding::Up
                                   : Rounding::HalfToEven;
}

/// `free` overlaps neither operand, or is the output where that is not the input.
void addDirect(Builder &builder, const Unary &unary, const LocalTensor &in, const LocalTensor &out,
               const LocalTensor &free) {
  auto number = [&](double value) { return immediate(in.type, value); };
  switch (unary.kind) {
  case UnaryKind::Relu:
    addArith(builder, ArithOp::Max, out, in, number(0));
    if (unary.a >= 0)
      addArith(builder, ArithOp::Min, out, out, number(unary.a));
    return;
  case UnaryKind::Clip:
    addArith(builder, ArithOp::Max, out, in, number(unary.a));
    return addArith(builder, ArithOp::Min, out, out, number(unary.b));
  case UnaryKind::LeakyRelu:
    addArith(builder, ArithOp::Mul, free, in, number(unary.a));
    return addArith(builder, unary.a <= 1 ? ArithOp::Max : ArithOp::Min, out, free, in);
  case UnaryKind::Abs:
    return addUnaryArith(builder, ArithOp::Abs, out, in);
  case UnaryKind::Neg:
    return addArith(builder, ArithOp::Mul, out, in, number(-1));
  case UnaryKind::Square:
    return addArith(builder, ArithOp::Mul, out, in, in);
  case UnaryKind::HardSigmoid:
    addLinear(builder, out, in, unary.a, unary.b);
    addArith(builder, ArithOp::Max, out, out, number(0));
    return addArith(builder, ArithOp::Min, out, out, number(1));
  case UnaryKind::HardSwish:
    addLinear(builder, free, in, 1.0 / 6, 0.5);
    addArith(builder, ArithOp::Max, free, free, number(0));
    addArith(builder, ArithOp::Min, free, free, number(1));
    return addArith(builder, ArithOp::Mul, out, free, in);
  case UnaryKind::Affine:
    return addLinear(builder, out, in, unary.a, unary.b);
  case UnaryKind::Sign:
    addCompareSelect(builder, CompareOp::Less, free, in, number(0), number(-1), number(0));
    return addCompareSelect(builder, CompareOp::Greater, out, in, number(0), number(1), free);
  case UnaryKind::Threshold:
    return addCompareSelect(builder, CompareOp::Greater, out, in, number(unary.a), in, number(0));
  default:
    return addCast(builder, out, in, roundingOf(unary.kind));
  }
}

/// F32 operands; `in` and `out` may be one.
void addSeries(Builder &builder, Series &series, const Unary &unary, const LocalTensor &in,
               const LocalTensor &out) {
  const LocalTensor &r0 = series.reg(0);
  const LocalTensor &r1 = series.reg(1);
  const LocalTensor &r2 = series.reg(2);
  auto number = [](double value) { return immediate(DataType::F32, value); };
  auto add = [&](ArithOp op, const LocalTensor &to, const Term &a, const Term &b) {
    addArith(builder, op, to, a, b);
  };
  switch (unary.kind) {
  case UnaryKind::Sqrt:
    addRsqrt(builder, r0, in);
    add(ArithOp::Mul, r1, r0, in);
    return addCompareSelect(builder, CompareOp::Greater, out, number(0), in,
                            number(std::numeric_limits<double>::quiet_NaN()), r1);
  case UnaryKind::Rsqrt:
    return addRsqrt(builder, out, in);
  case UnaryKind::Reciprocal:
    return add(ArithOp::Div, out, number(1), in);
  case UnaryKind::Exp:
    return series.exp(out, in);
  case UnaryKind::Log:
    series.log(in);
    addCompareSelect(builder, CompareOp::Greater, r1, number(0), in,
                     number(std::numeric_limits<double>::quiet_NaN()),
                     number(-std::numeric_limits<double>::infinity()));
    return addCompareSelect(builder, CompareOp::Greater, out, in, number(0), r0, r1);
  case UnaryKind::Sigmoid:
    return series.sigmoid(out, in, unary.a, unary.b);
  case UnaryKind::Tanh:
    series.sigmoid(out, in, 2, 0);
    return addLinear(builder, out, out, 2, -1);
  case UnaryKind::Swish:
    if (unary.a == 1)
      return series.gated(out, in, in);
    addLinear(builder, r2, in, unary.a, 0);
    return series.gated(out, in, r2, unary.a < 0);
  case UnaryKind::GeluTanh: {
    // x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3))
    const double factor = 2 * std::sqrt(2 / std::numbers::pi);
    constexpr double kCubic = 0.044715;
    add(ArithOp::Mul, r0, in, in);
    addLinear(builder, r0, r0, factor * kCubic, factor);
    add(ArithOp::Mul, r2, r0, in);
    return series.gated(out, in, r2);
  }
  case UnaryKind::Erf:
    series.erf(in, 1);
    return addUnaryArith(builder, ArithOp::Copy, out, r1);
  case UnaryKind::GeluErf:
    series.erf(in, std::sqrt(0.5));
    addLinear(builder, r2, r1, 0.5, 0.5);
    return add(ArithOp::Mul, out, r2, in);
  case UnaryKind::Elu:
    // max(x, 0) + a (exp(min(x, 0)) - 1)
    series.exp(r1, in, 0);
    addLinear(builder, r1, r1, unary.a, -unary.a);
    add(ArithOp::Max, r0, in, number(0));
    return add(ArithOp::Add, out, r0, r1);
  case UnaryKind::Selu:
    series.exp(r1, in, 0);
    addLinear(builder, r1, r1, unary.a * unary.b, -unary.a * unary.b);
    add(ArithOp::Max, r0, in, number(0));
    addLinear(builder, r2, r0, unary.b, 0);
    return add(ArithOp::Add, out, r2, r1);
  case UnaryKind::Celu:
    // max(x, 0) + a (exp(min(x, 0) / a) - 1)
    addLinear(builder, r2, in, 1 / unary.a, 0);
    series.exp(r1, r2, 0);
    addLinear(builder, r1, r1, unary.a, -unary.a);
    add(ArithOp::Max, r0, in, number(0));
    return add(ArithOp::Add, out, r0, r1);
  case UnaryKind::Shrink:
    addLinear(builder, r0, in, 1, -unary.b);
    addCompareSelect(builder, CompareOp::Greater, r1, in, number(unary.a), r0, number(0));
    addLinear(builder, r0, in, 1, unary.b);
    addCompareSelect(builder, CompareOp::Less, r2, in, number(-unary.a), r0, r1);
    return addUnaryArith(builder, ArithOp::Copy, out, r2);
  case UnaryKind::Softsign:
    addUnaryArith(builder, ArithOp::Abs, r0, in);
    addLinear(builder, r1, r0, 1, 1);
    return add(ArithOp::Div, out, in, r1);
  case UnaryKind::Sin:
    return series.sin(out, in, 0);
  case UnaryKind::Cos:
    return series.sin(out, in, std::numbers::pi / 2);
  case UnaryKind::Sinh:
  case UnaryKind::Cosh:
    // exp(x) / 2 with exp(-x) / 2 added or taken away
    series.exp(r1, in);
    addLinear(builder, r0, r1, 0.5, 0);
    add(ArithOp::Div, r2, number(0.5), r1);
    return add(unary.kind == UnaryKind::Cosh ? ArithOp::Add : ArithOp::Sub, out, r0, r2);
  case UnaryKind::Softplus:
    // max(x, 0) + log(1 + exp(-|x|))
    series.decay(in);
    addLinear(builder, r2, r1, 1, 1);
    series.log(r2);
    add(ArithOp::Max, r1, in, number(0));
    return add(ArithOp::Add, out, r0, r1);
  default: {
    // Mish: x tanh(softplus(x)) = x e (e + 2) / (e (e + 2) + 2) with e = exp(x); from 20 on it is
    // x.
    constexpr double kEnd = 20;
    series.exp(r1, in, kEnd);
    addLinear(builder, r0, r1, 1, 2);
    add(ArithOp::Mul, r2, r0, r1);
    addLinear(builder, r0, r2, 1, 2);
    add(ArithOp::Div, r1, r2, r0);
    return add(ArithOp::Mul, out, r1, in);
  }
  }
}

LocalTensor typed(LocalTensor tensor, DataType type, uint32_t address) {
  tensor.type = type;
  tensor.address = address;
  return tensor;
}

/// Widened functions: what is exact in 16 bits is done there, where commands take half the time.
/// The bytes of each of the `places` hold F32, and overlap nothing else.
void addWidened(Builder &builder, const Unary &unary, const LocalTensor &in, const LocalTensor &out,
                std::span<const uint32_t> places) {
  const auto wide = [&](size_t index) { return typed(in, DataType::F32, places[index]); };
  const auto narrow = [&](size_t index) { return typed(in, in.type, places[index]); };
  const auto number = [&](double value) { return immediate(in.type, value); };
  addCast(builder, wide(0), in);
  const bool isHardSwish = unary.kind == UnaryKind::HardSwish;
  addLinear(builder, wide(1), wide(0), isHardSwish ? 1.0 / 6 : unary.a,
            isHardSwish                          ? 0.5
            : unary.kind == UnaryKind::LeakyRelu ? 0
                                                 : unary.b);
  switch (unary.kind) {
  case UnaryKind::LeakyRelu:
    addCast(builder, narrow(0), wide(1));
    return addArith(builder, unary.a <= 1 ? ArithOp::Max : ArithOp::Min, out, narrow(0), in);
  case UnaryKind::HardSigmoid:
    addCast(builder, narrow(0), wide(1));
    addArith(builder, ArithOp::Max, narrow(1), narrow(0), number(0));
    return addArith(builder, ArithOp::Min, out, narrow(1), number(1));
  case UnaryKind::HardSwish:
    // min(x (x / 6 + 1/2), max(x, 0)): the parabola is the lower one from -3 to 3 only.
    addArith(builder, ArithOp::Mul, wide(2), wide(1), wide(0));
    addCast(builder, narrow(0), wide(2));
    addArith(builder, ArithOp::Max, narrow(1), in, number(0));
    return addArith(builder, ArithOp::Min, out, narrow(0), narrow(1));
  default:
    return addCast(builder, out, wide(1));
  }
}

void addSeriesParts(Builder &builder, const Unary &unary, int64_t most) {
  ScratchAllocator space{unary.scratch.address};
  unsigned tables = traitsOf(unary).tables;
  // Around 0, where tanh is a difference, its results have more digits than those of a sigmoid.
  const DataType result = unary.kind == UnaryKind::Tanh ? DataType::F32 : unary.output.type;
  Series series(builder, tables, space.bytes(Series::tableBytes(tables)), result);
  std::array<uint32_t, Series::kNumRegisters + 1> places{};
  for (uint32_t &place : std::span(places).first(bytesPerElement(unary) / 4))
    place = space.bytes(static_cast<uint32_t>(most * 4));
  std::vector<LocalTensor> inputs = flatParts(unary.input, most);
  std::vector<LocalTensor> outputs = flatParts(unary.output, most);
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto wide = [&](size_t index) { return typed(inputs[i], DataType::F32, places[index]); };
    if (isWidened(unary)) {
      addWidened(builder, unary, inputs[i], outputs[i], places);
      continue;
    }
    series.use({wide(0), wide(1), wide(2)});
    if (unary.input.type == DataType::F32) {
      addSeries(builder, series, unary, inputs[i], outputs[i]);
      continue;
    }
    LocalTensor copy = wide(3);
    addCast(builder, copy, inputs[i]);
    addSeries(builder, series, unary, copy, copy);
    addCast(builder, outputs[i], copy);
  }
}

} // namespace

Expected<uint32_t> unaryScratch(const Unary &unary) { return checkedScratch("function", unary); }

Expected<void> emitUnary(Builder &builder, const Unary &unary) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), unary);
  if (!needed)
    return propagate(needed);
  uint32_t least = std::min(*needed, kLeastUnaryScratch);
  if (Expected<void> fits = checkScratch(builder.layer(), unary.scratch, least); !fits)
    return fits;
  Traits traits = traitsOf(unary);
  int64_t most = kMostFlatPart;
  if (int64_t each = bytesPerElement(unary); each > 0) {
    int64_t space = unary.scratch.bytes - Series::tableBytes(traits.tables);
    most = std::min(most, space / each / kPartStep * kPartStep);
  }
  if (traits.isSeries) {
    addSeriesParts(builder, unary, most);
    return {};
  }
  std::vector<LocalTensor> inputs = flatParts(unary.input, most);
  std::vector<LocalTensor> outputs = flatParts(unary.output, most);
  for (size_t i = 0; i < inputs.size(); ++i) {
    LocalTensor free = isInPlace(unary) ? inputs[i].at(unary.scratch.address) : outputs[i];
    addDirect(builder, unary, inputs[i], outputs[i], free);
  }
  return {};
}

} // namespace tpuc::bm1684x
