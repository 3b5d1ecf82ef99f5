//===- FunctionOps.cpp - Kernels of functions of BF16 ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/FunctionOps.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Functions.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// A function's operands, and a tensor more for what goes in or comes out.
struct Prepared {
  FunctionOperands operands;
  LocalTensor room;
};

Expected<Prepared> prepare(const Site &site, unsigned index = 0) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site, index);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  const auto begin = static_cast<uint32_t>(site.tiled.scratchAddress);
  return Prepared{{result, input, begin + alignedBytes(site.chip(), result.shape, true)},
                  alignedTensor(site.chip(), begin, result.shape, true)};
}

/// Without room.
Expected<FunctionOperands> operandsOf(const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  return FunctionOperands{result, input, static_cast<uint32_t>(site.tiled.scratchAddress)};
}

Curve geluOf(tpu::GELUOp op) {
  return op.getApproxMode() == "tanh" ? Curve::TanhGELU : Curve::GELU;
}

/// The curve that an op is, but for a scale of its result; none of others.
std::optional<Curve> curveOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Curve>>(op)
      .Case([](tpu::SigmoidOp) { return Curve::Sigmoid; })
      .Case([](tpu::SiLUOp) { return Curve::SiLU; })
      .Case([](tpu::SwishOp swish) {
        return swish.getBeta().convertToDouble() == 1 ? std::optional(Curve::SiLU) : std::nullopt;
      })
      .Case([](tpu::MishOp) { return Curve::Mish; })
      .Case([](tpu::TanhOp) { return Curve::Tanh; })
      .Case([](tpu::ErfOp) { return Curve::Erf; })
      .Case([](tpu::GELUOp gelu) { return geluOf(gelu); })
      .Default([](Operation *) { return std::nullopt; });
}

Expected<void> curve(const Site &site, Curve curve) {
  Expected<FunctionOperands> operands = operandsOf(site);
  return operands ? emitCurve(site.builder, curve, *operands) : propagate(operands);
}

Expected<void> power(const Site &site, Power power) {
  Expected<Prepared> made = prepare(site);
  return made ? emitPower(site.builder, power, made->operands) : propagate(made);
}

Expected<void> step(const Site &site, const ElementCommand &command) {
  return emitElements(site.builder, command);
}

Expected<void> inOrder(std::initializer_list<llvm::function_ref<Expected<void>()>> steps) {
  for (llvm::function_ref<Expected<void>()> each : steps)
    if (Expected<void> done = each(); !done)
      return done;
  return {};
}

} // namespace

Expected<void> emitOf(tpu::SigmoidOp op, const Site &site) {
  if (op.getLog())
    return makeError("", "the logarithm of a sigmoid", "the sigmoid");
  Expected<FunctionOperands> operands = operandsOf(site);
  if (!operands)
    return propagate(operands);
  const LocalTensor &result = operands->result;
  if (Expected<void> done = emitCurve(site.builder, Curve::Sigmoid, *operands); !done)
    return done;
  const double scale = op.getScale().convertToDouble(), bias = op.getBias().convertToDouble();
  if (scale != 1)
    if (Expected<void> done = emitScaled(site, result, result, scale); !done)
      return done;
  return bias == 0
             ? Expected<void>()
             : step(site, {.name = "add", .result = result, .left = result, .right = bf16Of(bias)});
}

Expected<void> emitOf(tpu::SiLUOp, const Site &site) { return curve(site, Curve::SiLU); }
Expected<void> emitOf(tpu::MishOp, const Site &site) { return curve(site, Curve::Mish); }
Expected<void> emitOf(tpu::TanhOp, const Site &site) { return curve(site, Curve::Tanh); }
Expected<void> emitOf(tpu::ErfOp, const Site &site) { return curve(site, Curve::Erf); }
Expected<void> emitOf(tpu::GELUOp op, const Site &site) { return curve(site, geluOf(op)); }

/// x sigmoid(beta x)
Expected<void> emitOf(tpu::SwishOp op, const Site &site) {
  const double beta = op.getBeta().convertToDouble();
  if (beta == 1)
    return curve(site, Curve::SiLU);
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  const LocalTensor input = made->operands.input, result = made->operands.result;
  made->operands.input = made->room;
  return inOrder({[&] { return emitScaled(site, made->room, input, beta); },
                  [&] { return emitCurve(site.builder, Curve::Sigmoid, made->operands); },
                  [&] {
                    return step(site,
                                {.name = "mul", .result = result, .left = result, .right = input});
                  }});
}

Expected<void> emitOf(tpu::ExpOp, const Site &site) {
  Expected<Prepared> made = prepare(site);
  return made ? emitExponential(site.builder, made->operands) : propagate(made);
}
Expected<void> emitOf(tpu::LogOp, const Site &site) {
  Expected<Prepared> made = prepare(site);
  return made ? emitLogarithm(site.builder, made->operands) : propagate(made);
}
Expected<void> emitOf(tpu::ReciprocalOp, const Site &site) {
  return power(site, Power::Reciprocal);
}
Expected<void> emitOf(tpu::SqrtOp, const Site &site) { return power(site, Power::Root); }
Expected<void> emitOf(tpu::RsqrtOp, const Site &site) { return power(site, Power::ReciprocalRoot); }

/// max(x, 0) + alpha (e^min(x, 0) - 1)
Expected<void> emitOf(tpu::EluOp op, const Site &site) {
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  const LocalTensor input = made->operands.input, result = made->operands.result, room = made->room;
  made->operands.input = room;
  return inOrder({[&] { return step(site, {.name = "min", .result = room, .left = input}); },
                  [&] { return emitCurve(site.builder, Curve::Elu, made->operands); },
                  [&] { return emitScaled(site, result, result, op.getAlpha().convertToDouble()); },
                  [&] { return step(site, {.name = "max", .result = room, .left = input}); },
                  [&] {
                    return step(site,
                                {.name = "add", .result = result, .left = result, .right = room});
                  }});
}

/// max(x, 0) + ln(1 + e^-|x|)
Expected<void> emitOf(tpu::SoftplusOp, const Site &site) {
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  const LocalTensor input = made->operands.input, result = made->operands.result, room = made->room;
  made->operands.input = room;
  return inOrder(
      {[&] {
         return step(site, {.name = "mul", .result = room, .left = input, .right = bf16Of(-1)});
       },
       [&] { return step(site, {.name = "min", .result = room, .left = room, .right = input}); },
       [&] { return emitCurve(site.builder, Curve::Softplus, made->operands); },
       [&] { return step(site, {.name = "max", .result = room, .left = input}); },
       [&] {
         return step(site, {.name = "add", .result = result, .left = result, .right = room});
       }});
}

/// x / (1 + |x|)
Expected<void> emitOf(tpu::SoftsignOp, const Site &site) {
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  const LocalTensor input = made->operands.input, result = made->operands.result, room = made->room;
  const uint32_t rest = made->operands.scratch;
  return inOrder(
      {[&] {
         return step(site, {.name = "mul", .result = room, .left = input, .right = bf16Of(-1)});
       },
       [&] { return step(site, {.name = "max", .result = room, .left = room, .right = input}); },
       [&] {
         return step(site, {.name = "add", .result = room, .left = room, .right = bf16Of(1)});
       },
       [&] {
         return emitPowerWithRest(site.builder, Power::Reciprocal, {room, room, rest}, result);
       },
       [&] {
         return step(site, {.name = "mul", .result = result, .left = result, .right = input});
       },
       [&] {
         return step(site, {.name = "mac", .result = result, .left = room, .right = input});
       }});
}

Expected<void> emitOf(tpu::PowConstOp op, const Site &site) {
  const double exponent = op.getConstVal().convertToDouble();
  if (exponent == -1)
    return power(site, Power::Reciprocal);
  if (exponent == 0.5)
    return power(site, Power::Root);
  if (exponent == -0.5)
    return power(site, Power::ReciprocalRoot);
  if (exponent != 1 && exponent != 2 && exponent != 3)
    return makeError("", "another power", "-1, -1/2, 1/2, 1, 2 or 3");
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  const LocalTensor &input = made->operands.input, &result = made->operands.result;
  if (exponent == 1)
    return step(site, {.name = "copy", .result = result, .left = input});
  if (Expected<void> done =
          step(site, {.name = "mul", .result = result, .left = input, .right = input});
      !done || exponent == 2)
    return done;
  return step(site, {.name = "mul", .result = result, .left = result, .right = input});
}

Expected<void> emitOf(tpu::SubConstOp op, const Site &site) {
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  LocalTensor input = made->operands.input;
  const LocalTensor &result = made->operands.result;
  const double number = op.getConstVal().convertToDouble();
  if (op.getIsReverse()) {
    if (Expected<void> done =
            step(site, {.name = "mul", .result = result, .left = input, .right = bf16Of(-1)});
        !done)
      return done;
    input = result;
  }
  if (Expected<void> done = step(site, {.name = "add",
                                        .result = result,
                                        .left = input,
                                        .right = bf16Of(op.getIsReverse() ? number : -number)});
      !done)
    return done;
  return applyRelu(site, result);
}

Expected<void> emitOf(tpu::DivConstOp op, const Site &site) {
  Expected<Prepared> made = prepare(site);
  if (!made)
    return propagate(made);
  const double number = op.getConstVal().convertToDouble();
  const LocalTensor &result = made->operands.result;
  if (!op.getIsReverse()) {
    if (number == 0)
      return makeError("", "a division by 0", "by another number");
    if (Expected<void> done = emitScaled(site, result, made->operands.input, 1 / number); !done)
      return done;
    return applyRelu(site, result);
  }
  if (Expected<void> done = emitPower(site.builder, Power::Reciprocal, made->operands); !done)
    return done;
  if (Expected<void> done = emitScaled(site, result, result, number); !done)
    return done;
  return applyRelu(site, result);
}

Expected<void> emitOf(tpu::DivOp op, const Site &site) {
  if (op->getNumOperands() != 2)
    return makeError("", std::to_string(op->getNumOperands()) + " operands", "two");
  Expected<LocalTensor> result = site.result();
  if (!result)
    return propagate(result);
  Expected<LocalTensor> left = spread(site, 0, *result);
  Expected<LocalTensor> right = spread(site, 1, *result);
  if (!left || !right)
    return left ? propagate(right) : propagate(left);
  if (!result->isBf16)
    return makeError("", "a quotient of integers", "BF16");
  const auto begin = static_cast<uint32_t>(site.tiled.scratchAddress);
  const uint32_t bytes = alignedBytes(site.chip(), result->shape, true);
  const LocalTensor room = alignedTensor(site.chip(), begin, result->shape, true);
  return inOrder(
      {[&] { return emitPower(site.builder, Power::Reciprocal, {room, *right, begin + bytes}); },
       [&] { return step(site, {.name = "mul", .result = *result, .left = *left, .right = room}); },
       [&] { return applyRelu(site, *result); }});
}

int64_t scratchOfFunction(const Chip &chip, Operation *op, const Extents &result) {
  if (const std::optional<Curve> curve = curveOf(op))
    return curveScratch(chip, *curve, result);
  const bool isFunction =
      isa<tpu::SwishOp, tpu::ExpOp, tpu::LogOp, tpu::ReciprocalOp, tpu::SqrtOp, tpu::RsqrtOp,
          tpu::EluOp, tpu::SoftplusOp, tpu::SoftsignOp, tpu::DivOp, tpu::PowConstOp>(op);
  auto quotient = dyn_cast<tpu::DivConstOp>(op);
  if (!isFunction && !(quotient && quotient.getIsReverse()))
    return 0;
  return int64_t{functionScratch(chip, result)} + alignedBytes(chip, result, true);
}

} // namespace tpuc::cv18xx::backend
