//===- OpKernels.cpp - From ops to the kernels that compute them ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/OpKernels.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// What a function of an op works on.
struct Site {
  Builder &builder;
  const TiledOp &tiled;

  const Chip &chip() const { return builder.chip(); }
  Operation *op() const { return tiled.op; }
  Expected<LocalTensor> operand(unsigned index) const {
    return layoutOf(tiled, index).local(chip(), tiled.operands[index]);
  }
  Expected<LocalTensor> result() const {
    return layoutOf(tiled, op()->getNumOperands()).local(chip(), tiled.result);
  }
  bool isBf16() const { return layoutOf(tiled, op()->getNumOperands()).isBf16; }
};

uint16_t bf16Of(double number) {
  return static_cast<uint16_t>(encodeFloat<DataType::BF16>(static_cast<float>(number)));
}

/// Two BF16 numbers whose product is close to `factor`; the second is 1 where the first is.
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

/// left * factor of BF16, which is more exact than one command has it.
Expected<void> emitScaled(const Site &site, const LocalTensor &result, const LocalTensor &left,
                          double factor) {
  const std::array<double, 2> factors = factorsOf(factor);
  if (Expected<void> done = emitElements(
          site.builder,
          {.name = "mul", .result = result, .left = left, .right = bf16Of(factors[0])});
      !done || factors[1] == 1)
    return done;
  return emitElements(
      site.builder, {.name = "mul", .result = result, .left = result, .right = bf16Of(factors[1])});
}

/// The ReLU that an op ends with.
struct Relu {
  bool is = false;
  /// As elements of the result; none if there is none.
  std::optional<uint16_t> limit = std::nullopt;
};
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

Expected<void> limitResult(const Site &site, const LocalTensor &result, const Relu &relu) {
  if (!relu.limit)
    return {};
  return emitElements(site.builder,
                      {.name = "min", .result = result, .left = result, .right = *relu.limit});
}

//===--- Windows ------------------------------------------------------------===//

/// The entries of an attribute for h and w; of one spatial dimension that is w.
std::array<uint32_t, 2> planar(Operation *op, StringRef name) {
  const auto attribute = op->getAttrOfType<ArrayAttr>(name);
  if (!attribute)
    return {1, 1};
  const SmallVector<int64_t> given = top::toInts(attribute);
  if (given.size() == 1)
    return {1, static_cast<uint32_t>(given[0])};
  return {static_cast<uint32_t>(given[0]), static_cast<uint32_t>(given[1])};
}

Expected<Window> windowOf(const TiledOp &tiled) {
  if (tiled.op->getAttrOfType<ArrayAttr>("kernel_shape").size() > 2)
    return makeError("", "a window over three dimensions", "1 or 2");
  Window window{.kernel = planar(tiled.op, "kernel_shape"),
                .stride = planar(tiled.op, "strides"),
                .dilation = planar(tiled.op, "dilations")};
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const PaddedRange range = tiled.model->operands[0].padded(axis, tiled.result.tile[axis]);
    window.padBegin[i] = static_cast<uint32_t>(std::max<int64_t>(range.padBegin, 0));
    window.padEnd[i] = static_cast<uint32_t>(std::max<int64_t>(range.padEnd, 0));
    // From one place there is no way to the next; pools of everything often state a long one.
    if (tiled.model->result[axis] == 1)
      window.stride[i] = 1;
  }
  return window;
}

/// Where a filter's parameters lie behind its rows.
int64_t parameterAddress(const Site &site) {
  const TensorLayout &layout = layoutOf(site.tiled, 1);
  const LocalTile &tile = site.tiled.operands[1];
  const int64_t count = layout.channels(tile.held.value_or(tile.tile)).size;
  return tile.address + alignedTo(layout.filter.rowBytes(site.chip(), count), kEuBytes);
}

Expected<void> convolve(const Site &site, const Window &window) {
  const FilterLayout &filter = layoutOf(site.tiled, 1).filter;
  const LocalTile &tile = site.tiled.operands[1];
  if (tile.held && *tile.held != tile.tile)
    return makeError("", "a part of a filter in local memory", "a whole one");
  Expected<LocalTensor> input = site.operand(0);
  Expected<LocalTensor> result = site.result();
  if (!input || !result)
    return input ? propagate(result) : propagate(input);
  const Relu relu = reluOf(site.op());
  Convolution convolution{.input = *input,
                          .result = *result,
                          .window = window,
                          .filter = static_cast<uint32_t>(tile.address),
                          .parameters = std::nullopt,
                          .isDepthwise = filter.isDepthwise,
                          .hasRelu = relu.is};
  if (filter.carried != 0)
    convolution.parameters = static_cast<uint32_t>(parameterAddress(site));
  if (Expected<void> done = emitConvolution(site.builder, convolution); !done)
    return done;
  return limitResult(site, *result, relu);
}

Expected<void> emitOf(tpu::ConvOp op, const Site &site) {
  Expected<Window> window = windowOf(site.tiled);
  if (!window)
    return propagate(window);
  if (op.getGroup() != 1 && !layoutOf(site.tiled, 1).filter.isDepthwise)
    return makeError("", std::to_string(op.getGroup()) + " groups of channels",
                     "one, or of one each");
  return convolve(site, *window);
}

Expected<void> emitOf(tpu::MatMulOp, const Site &site) { return convolve(site, {}); }

Expected<Pool> poolOf(const Site &site) {
  Expected<Window> window = windowOf(site.tiled);
  Expected<LocalTensor> input = site.operand(0);
  Expected<LocalTensor> result = site.result();
  if (!window || !input || !result)
    return !window ? propagate(window) : !input ? propagate(input) : propagate(result);
  return Pool{*input, *result, *window};
}

Expected<void> emitOf(tpu::MaxPoolOp, const Site &site) {
  Expected<Pool> pool = poolOf(site);
  if (!pool)
    return propagate(pool);
  if (Expected<void> done = emitMaxPool(site.builder, *pool); !done)
    return done;
  const Relu relu = reluOf(site.op());
  if (!relu.is)
    return {};
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = pool->result, .left = pool->result});
      !done)
    return done;
  return limitResult(site, pool->result, relu);
}

Expected<void> emitOf(tpu::AvgPoolOp op, const Site &site) {
  if (!site.isBf16())
    return makeError("", "an average of integers over windows of several sizes",
                     "windows of one size");
  Expected<Pool> pool = poolOf(site);
  if (!pool)
    return propagate(pool);
  const auto hasPad = [&](unsigned axis) {
    const PaddedRange all =
        site.tiled.model->operands[0].padded(axis, {0, site.tiled.model->result[axis]});
    return all.padBegin > 0 || all.padEnd > 0;
  };
  if (!op.getCountIncludePad() && (hasPad(kAxisH) || hasPad(kAxisW)))
    return makeError("", "an average that does not count its padding", "one that does, or none");
  const int64_t count = ShapedType::getNumElements(top::toInts(op.getKernelShape()));
  const std::array<double, 2> factors = factorsOf(1.0 / static_cast<double>(count));
  if (Expected<void> done = emitAveragePool(site.builder, *pool, bf16Of(factors[0])); !done)
    return done;
  if (factors[1] != 1)
    if (Expected<void> done = emitElements(site.builder, {.name = "mul",
                                                          .result = pool->result,
                                                          .left = pool->result,
                                                          .right = bf16Of(factors[1])});
        !done)
      return done;
  const Relu relu = reluOf(site.op());
  if (!relu.is)
    return {};
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = pool->result, .left = pool->result});
      !done)
    return done;
  return limitResult(site, pool->result, relu);
}

//===--- Elements -----------------------------------------------------------===//

/// An operand with the result's shape: where it has one element along an axis, that is repeated.
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

/// The second operand: a number in the command, or a tensor.
Expected<Elements> secondOf(const Site &site, const LocalTensor &result) {
  if (layoutOf(site.tiled, 1).form == Form::Absent)
    return Elements(bf16Of(*numberOf(site.op(), 1)));
  Expected<LocalTensor> tensor = spread(site, 1, result);
  if (!tensor)
    return propagate(tensor);
  return Elements(*tensor);
}

Expected<void> emitBinary(const Site &site, std::string_view name,
                          std::optional<uint32_t> multiplier = std::nullopt) {
  if (site.op()->getNumOperands() != 2)
    return makeError("", std::to_string(site.op()->getNumOperands()) + " operands", "two");
  Expected<LocalTensor> result = site.result();
  if (!result)
    return propagate(result);
  Expected<LocalTensor> left = spread(site, 0, *result);
  Expected<Elements> right = secondOf(site, *result);
  if (!left || !right)
    return left ? propagate(right) : propagate(left);
  const Relu relu = reluOf(site.op());
  ElementCommand command{.name = name, .result = *result, .left = *left, .right = *right};
  command.multiplier = multiplier;
  // The subtraction has none.
  command.hasRelu = relu.is && name != "sub";
  if (Expected<void> done = emitElements(site.builder, command); !done)
    return done;
  if (relu.is && !command.hasRelu)
    if (Expected<void> done =
            emitElements(site.builder, {.name = "max", .result = *result, .left = *result});
        !done)
      return done;
  return limitResult(site, *result, relu);
}

bool hasUnitFactors(Operation *op) {
  const auto coeff = op->getAttrOfType<ArrayAttr>("coeff");
  return !coeff || llvm::all_of(coeff, [](Attribute factor) {
    return cast<FloatAttr>(factor).getValueAsDouble() == 1;
  });
}

/// A sum of two tensors of integers, or of BF16.
Expected<void> emitSum(const Site &site, std::string_view name) {
  Operation *op = site.op();
  if (!hasUnitFactors(op))
    return makeError("", "a sum with coefficients", "none");
  if (site.isBf16())
    return emitBinary(site, name);
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto offset = op->getAttrOfType<IntegerAttr>("offset");
  const auto shift = op->getAttrOfType<IntegerAttr>("rshift");
  if (!multipliers || multipliers.size() != 2 || !shift || (offset && offset.getInt() != 0))
    return makeError("", "a sum of integers with other factors", "one for each of two operands");
  Expected<LocalTensor> result = site.result();
  if (!result)
    return propagate(result);
  Expected<LocalTensor> left = spread(site, 0, *result);
  Expected<LocalTensor> right = spread(site, 1, *result);
  if (!left || !right)
    return left ? propagate(right) : propagate(left);
  const SmallVector<int64_t> factors = top::toInts(multipliers);
  const Relu relu = reluOf(op);
  if (Expected<void> done = emitWeightedSum(
          site.builder, {.result = *result,
                         .left = *left,
                         .right = *right,
                         .factors = {factors[0], factors[1]},
                         .shift = shift.getInt(),
                         .hasRelu = relu.is,
                         .scratch = static_cast<uint32_t>(site.tiled.scratchAddress)});
      !done)
    return done;
  return limitResult(site, *result, relu);
}

Expected<void> emitOf(tpu::AddOp, const Site &site) { return emitSum(site, "add"); }
Expected<void> emitOf(tpu::SubOp, const Site &site) { return emitSum(site, "sub"); }
Expected<void> emitOf(tpu::MaxOp, const Site &site) { return emitBinary(site, "max"); }
Expected<void> emitOf(tpu::MinOp, const Site &site) { return emitBinary(site, "min"); }

Expected<void> emitOf(tpu::MulOp op, const Site &site) {
  if (site.isBf16())
    return emitBinary(site, "mul");
  const auto multiplier = op->getAttrOfType<IntegerAttr>("multiplier");
  const auto shift = op->getAttrOfType<IntegerAttr>("rshift");
  if (!multiplier || !shift || shift.getInt() != 31 || multiplier.getInt() < 0)
    return makeError("", "a product of integers that is not scaled by less than 1",
                     "a shift of 31");
  return emitBinary(site, "mul", static_cast<uint32_t>(multiplier.getInt()));
}

/// A command with a number in place of a second operand, in BF16.
Expected<void> emitNumber(const Site &site, std::string_view name, double number) {
  if (!site.isBf16())
    return makeError("", "integers and a number", "BF16");
  Expected<LocalTensor> result = site.result();
  if (!result)
    return propagate(result);
  Expected<LocalTensor> left = spread(site, 0, *result);
  if (!left)
    return propagate(left);
  const Relu relu = reluOf(site.op());
  if (Expected<void> done = emitElements(site.builder, {.name = name,
                                                        .result = *result,
                                                        .left = *left,
                                                        .right = bf16Of(number),
                                                        .hasRelu = relu.is});
      !done)
    return done;
  return limitResult(site, *result, relu);
}

template <typename Op> double constOf(Op op) { return op.getConstVal().convertToDouble(); }

Expected<void> emitOf(tpu::AddConstOp op, const Site &site) {
  return emitNumber(site, "add", constOf(op));
}
Expected<void> emitOf(tpu::MulConstOp op, const Site &site) {
  return emitNumber(site, "mul", constOf(op));
}
Expected<void> emitOf(tpu::MaxConstOp op, const Site &site) {
  return emitNumber(site, "max", constOf(op));
}
Expected<void> emitOf(tpu::MinConstOp op, const Site &site) {
  return emitNumber(site, "min", constOf(op));
}

Expected<void> emitOf(tpu::ReluOp op, const Site &site) {
  Expected<LocalTensor> result = site.result();
  if (!result)
    return propagate(result);
  Expected<LocalTensor> input = site.operand(0);
  if (!input)
    return propagate(input);
  if (tpu::quantizedType(op.getInput()) != tpu::quantizedType(op.getOutput()))
    return makeError("", "a ReLU between integers of two scales", "one scale");
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max", .result = *result, .left = *input});
      !done)
    return done;
  const double limit = op.getReluLimit().convertToDouble();
  if (limit < 0)
    return {};
  uint16_t most = bf16Of(limit);
  if (auto type = tpu::quantizedType(op.getOutput()))
    most = static_cast<uint16_t>(tpu::reluRange(type, true, limit).high);
  return emitElements(site.builder,
                      {.name = "min", .result = *result, .left = *result, .right = most});
}

Expected<void> emitOf(tpu::ClipOp op, const Site &site) {
  if (!site.isBf16())
    return makeError("", "integers that are clipped", "a table");
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  if (Expected<void> done =
          emitElements(site.builder, {.name = "max",
                                      .result = *result,
                                      .left = *input,
                                      .right = bf16Of(op.getMin().convertToDouble())});
      !done)
    return done;
  return emitElements(site.builder, {.name = "min",
                                     .result = *result,
                                     .left = *result,
                                     .right = bf16Of(op.getMax().convertToDouble())});
}

/// Input and result of an op on BF16.
Expected<std::array<LocalTensor, 2>> floatsOf(const Site &site) {
  if (!site.isBf16() || !layoutOf(site.tiled, 0).isBf16)
    return makeError("", "a function of integers", "a table");
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  return std::array{*input, *result};
}

/// One command after the other, each on what the one before has made.
Expected<void> emitSteps(Builder &builder, std::span<const ElementCommand> steps) {
  for (const ElementCommand &step : steps)
    if (Expected<void> done = emitElements(builder, step); !done)
      return done;
  return {};
}

/// min(max(alpha * x + beta, 0), 1)
std::array<ElementCommand, 3> hardSigmoid(const LocalTensor &input, const LocalTensor &result,
                                          double alpha, double beta) {
  return {
      {{.name = "mul", .result = result, .left = input, .right = bf16Of(alpha)},
       {.name = "add", .result = result, .left = result, .right = bf16Of(beta), .hasRelu = true},
       {.name = "min", .result = result, .left = result, .right = bf16Of(1)}}};
}

Expected<void> emitOf(tpu::HardSigmoidOp op, const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  return emitSteps(site.builder,
                   hardSigmoid((*tensors)[0], (*tensors)[1], op.getAlpha().convertToDouble(),
                               op.getBeta().convertToDouble()));
}

Expected<void> emitOf(tpu::HardSwishOp, const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  if (Expected<void> done = emitSteps(site.builder, hardSigmoid(input, result, 1.0 / 6, 0.5));
      !done)
    return done;
  return emitElements(site.builder,
                      {.name = "mul", .result = result, .left = result, .right = input});
}

Expected<void> emitOf(tpu::AbsOp, const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  const std::array<ElementCommand, 2> steps = {
      {{.name = "mul", .result = result, .left = input, .right = bf16Of(-1)},
       {.name = "max", .result = result, .left = result, .right = input}}};
  return emitSteps(site.builder, steps);
}

Expected<void> emitOf(tpu::NegOp, const Site &site) { return emitNumber(site, "mul", -1); }

Expected<void> emitOf(tpu::LeakyReluOp op, const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  const double alpha = op.getAlpha().convertToDouble();
  const std::array<ElementCommand, 2> steps = {
      {{.name = "mul", .result = result, .left = input, .right = bf16Of(alpha)},
       {.name = alpha <= 1 ? "max" : "min", .result = result, .left = result, .right = input}}};
  return emitSteps(site.builder, steps);
}

/// Each pixel again and again: one copy for each place in the blocks that they become.
Expected<void> repeatPixels(const Site &site) {
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  const uint32_t tall = result->shape[2] / input->shape[2];
  const uint32_t wide = result->shape[3] / input->shape[3];
  if (input->shape[2] * tall != result->shape[2] || input->shape[3] * wide != result->shape[3])
    return makeError("", "a part of a repeated pixel", "whole ones");
  LocalTensor places = *result;
  places.shape = input->shape;
  places.strides[2] = tall * result->strides[2];
  places.strides[3] = wide * result->strides[3];
  for (uint32_t y = 0; y < tall; ++y)
    for (uint32_t x = 0; x < wide; ++x) {
      LocalTensor one = places;
      one.address += y * result->strides[2] + x * result->strides[3];
      if (Expected<void> done =
              emitElements(site.builder, {.name = "copy", .result = one, .left = *input});
          !done)
        return done;
    }
  return {};
}

Expected<void> emitOf(tpu::InterpOp op, const Site &site) {
  if (!repeatsPixels(op))
    return makeError("", "a resize by other steps", "pixels that are repeated");
  return repeatPixels(site);
}
Expected<void> emitOf(tpu::UpsampleOp op, const Site &site) {
  return reluOf(op).is ? makeError("", "a ReLU behind repeated pixels", "none")
                       : repeatPixels(site);
}

Expected<void> emitOf(tpu::LutOp, const Site &site) {
  if (site.isBf16() || layoutOf(site.tiled, 0).isBf16)
    return makeError("", "a table of BF16", "one of integers");
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  return emitLookup(site.builder, *result, *input,
                    static_cast<uint32_t>(site.tiled.operands[1].address));
}

Expected<void> emitOf(tpu::RequantIntOp op, const Site &site) {
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto shifts = op->getAttrOfType<ArrayAttr>("rshift");
  const auto mode = op->getAttrOfType<StringAttr>("quant_mode");
  if (!multipliers || multipliers.size() != 1 || !shifts || shifts.size() != 1 ||
      (mode && mode.getValue() != "MultiplierShift"))
    return makeError("", "integers rescaled otherwise", "one multiplier and shift");
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  return emitRescale(site.builder, {.result = *result,
                                    .input = *input,
                                    .multiplier = top::toInts(multipliers)[0],
                                    .shift = top::toInts(shifts)[0]});
}

/// The scratch of a cast: BF16 values that become integers.
LocalTensor castScratch(const Chip &chip, const TiledOp &tiled, const LocalTensor &input) {
  return alignedTensor(chip, static_cast<uint32_t>(tiled.scratchAddress), input.shape, true);
}

/// Between integers and BF16: the transfer converts, and a command scales.
Expected<void> emitOf(tpu::CastOp op, const Site &site) {
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  const auto from = tpu::quantizedType(op.getInput());
  const auto to = tpu::quantizedType(op.getOutput());
  if (input->isBf16 == result->isBf16 || !(from || to) || (from && to))
    return makeError("", "a cast between other types", "one between stored integers and bf16");
  if (from) {
    if (Expected<void> done = emitConversion(site.builder, *input, *result); !done)
      return done;
    return emitScaled(site, *result, *result, from.getScale());
  }
  const LocalTensor scaled = castScratch(site.chip(), site.tiled, *input);
  if (Expected<void> done = emitScaled(site, scaled, *input, 1 / to.getScale()); !done)
    return done;
  return emitConversion(site.builder, scaled, *result);
}

using Emit = Expected<void>(const Site &);

template <typename Op> void addRow(OpFunctions<Emit> &table) {
  table.add<Op>([](Op op, const Site &site) { return emitOf(op, site); });
}

template <typename... Ops> OpFunctions<Emit> tableOf() {
  OpFunctions<Emit> table;
  (addRow<Ops>(table), ...);
  return table;
}

const OpFunctions<Emit> &kernels() {
  static const auto kTable =
      tableOf<tpu::ConvOp, tpu::MatMulOp, tpu::MaxPoolOp, tpu::AvgPoolOp, tpu::AddOp, tpu::SubOp,
              tpu::MaxOp, tpu::MinOp, tpu::MulOp, tpu::AddConstOp, tpu::MulConstOp, tpu::MaxConstOp,
              tpu::MinConstOp, tpu::ReluOp, tpu::ClipOp, tpu::LutOp, tpu::RequantIntOp, tpu::CastOp,
              tpu::InterpOp, tpu::UpsampleOp, tpu::HardSigmoidOp, tpu::HardSwishOp, tpu::AbsOp,
              tpu::NegOp, tpu::LeakyReluOp>();
  return kTable;
}

} // namespace

bool hasKernel(Operation *op) { return static_cast<bool>(kernels().find(op)); }

int64_t scratchOf(const Chip &chip, const TiledOp &tiled) {
  const TensorLayout &layout = layoutOf(tiled, tiled.op->getNumOperands());
  const bool isSum = isa<tpu::AddOp, tpu::SubOp>(tiled.op);
  if (layout.isBf16 || !(isSum || isa<tpu::CastOp>(tiled.op)))
    return 0;
  Expected<LocalTensor> result = layout.local(chip, {tiled.result.tile});
  if (!result)
    return 0;
  return isSum ? int64_t{sumScratch(chip, *result)}
               : int64_t{alignedBytes(chip, result->shape, /*isBf16=*/true)};
}

Expected<void> emitOp(Builder &builder, const TiledOp &tiled) {
  const auto emit = kernels().find(tiled.op);
  if (!emit)
    return makeError("", "there is no kernel for it");
  return emit(tiled.op, Site{builder, tiled});
}

//===--- Transfers ----------------------------------------------------------===//

/// Rows of output channels, and what they carry, to where kernels look for them.
static Expected<void> loadFilter(Builder &builder, const TiledOp &tiled, int64_t address) {
  const Chip &chip = builder.chip();
  const TensorLayout &layout = layoutOf(tiled, 1);
  const FilterLayout &filter = layout.filter;
  const LocalTile &tile = tiled.operands[1];
  const Range channels = layout.channels(tile.tile);
  const auto count = static_cast<uint32_t>(channels.size);
  const int64_t row = filter.row * filter.elementBytes();
  const auto part = [&](int64_t begin, int64_t stride, uint32_t elements, bool isBf16) {
    GlobalTensor from = placeOf(address + begin);
    from.shape = {1, count, 1, elements};
    from.strides = {0, static_cast<uint64_t>(stride), 0};
    from.isBf16 = isBf16;
    return from;
  };
  const Extents rows = {1, count, 1, static_cast<uint32_t>(filter.row)};
  const auto at = static_cast<uint32_t>(tile.address);
  if (Expected<void> done =
          emitLoad(builder, part(channels.begin * row, row, rows[3], filter.isBf16),
                   filter.isDepthwise ? alignedTensor(chip, at, rows, filter.isBf16)
                                      : compactTensor(chip, at, rows, filter.isBf16));
      !done)
    return done;
  if (filter.carried == 0)
    return {};
  const auto behind =
      static_cast<uint32_t>(alignedTo(filter.rowBytes(chip, channels.size), kEuBytes));
  const int64_t begin = filter.channels * row;
  if (!filter.isBf16)
    return emitLoad(
        builder, part(begin + channels.begin * kRequantBytes, kRequantBytes, kRequantBytes, false),
        compactTensor(chip, at + behind, {1, count, 1, kRequantBytes}, false));
  // The upper halves of all channels, then the lower ones.
  const auto slots = static_cast<uint32_t>((channels.size + chip.lanes - 1) / chip.lanes);
  for (uint32_t half = 0; half < 2; ++half)
    if (Expected<void> done = emitLoad(
            builder, part(begin + 2 * (half * filter.channels + channels.begin), 2, 1, true),
            compactTensor(chip, at + behind + half * slots * 2, {1, count, 1, 1}, true));
        !done)
      return done;
  return {};
}

Expected<void> loadOperand(Builder &builder, const TiledOp &tiled, unsigned index,
                           int64_t address) {
  const Chip &chip = builder.chip();
  const TensorLayout &layout = layoutOf(tiled, index);
  if (layout.form == Form::Filter)
    return loadFilter(builder, tiled, address);
  const LocalTile &tile = tiled.operands[index];
  if (layout.form == Form::Table) {
    GlobalTensor from = placeOf(address);
    from.isBf16 = layout.isBf16;
    from.shape = {1, chip.lanes, 1, 256};
    return emitLoad(
        builder, from,
        compactTensor(chip, static_cast<uint32_t>(tile.address), from.shape, layout.isBf16));
  }
  Expected<LocalTensor> to = layout.local(chip, tile);
  Expected<GlobalTensor> from = layout.global(tile.tile, address);
  if (!to || !from)
    return to ? propagate(from) : propagate(to);
  if (layout.form == Form::EveryLane) {
    to->shape[1] = from->shape[1] = chip.lanes;
    from->strides[1] = 0;
  }
  return emitLoad(builder, *from, *to);
}

Expected<void> storeResult(Builder &builder, const TiledOp &tiled, int64_t address) {
  const TensorLayout &layout = layoutOf(tiled, tiled.op->getNumOperands());
  Expected<LocalTensor> from = layout.local(builder.chip(), tiled.result);
  Expected<GlobalTensor> to = layout.global(tiled.result.tile, address);
  if (!to || !from)
    return to ? propagate(from) : propagate(to);
  return emitStore(builder, *from, *to);
}

} // namespace tpuc::cv18xx::backend
