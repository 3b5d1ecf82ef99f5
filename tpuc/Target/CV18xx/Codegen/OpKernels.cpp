//===- OpKernels.cpp - From ops to the kernels that compute them ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/OpKernels.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/CV18xx/Codegen/FunctionOps.h"
#include "tpuc/Target/CV18xx/Codegen/RecurrentOps.h"
#include "tpuc/Target/CV18xx/Codegen/RowOps.h"
#include "tpuc/Target/CV18xx/Codegen/SelectOps.h"
#include "tpuc/Target/CV18xx/Codegen/WindowOps.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

//===--- Elements -----------------------------------------------------------===//

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
  // Subtractions and comparisons have none.
  command.hasRelu = relu.is && (name == "add" || name == "mul");
  if (Expected<void> done = emitElements(site.builder, command); !done)
    return done;
  return command.hasRelu ? limitResult(site, *result, relu) : applyRelu(site, *result);
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
  const bool hasRelu = relu.is && (name == "add" || name == "mul");
  if (Expected<void> done = emitElements(site.builder, {.name = name,
                                                        .result = *result,
                                                        .left = *left,
                                                        .right = bf16Of(number),
                                                        .hasRelu = hasRelu});
      !done)
    return done;
  return hasRelu ? limitResult(site, *result, relu) : applyRelu(site, *result);
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

/// Whether no slope is above 1, so that the larger one of x and slope * x is what is wanted.
bool areFlat(tpu::PReluOp op) {
  top::WeightOp slopes = constantOf(op.getSlope());
  if (!slopes)
    return false;
  Expected<std::vector<float>> numbers = slopes.read_as_float();
  return numbers && llvm::all_of(*numbers, [](float slope) { return slope <= 1; });
}

Expected<void> emitOf(tpu::PReluOp op, const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  Expected<LocalTensor> slopes = spread(site, 1, result);
  if (!slopes)
    return propagate(slopes);
  if (areFlat(op)) {
    const std::array<ElementCommand, 2> steps = {
        {{.name = "mul", .result = result, .left = input, .right = *slopes},
         {.name = "max", .result = result, .left = result, .right = input}}};
    return emitSteps(site.builder, steps);
  }
  const LocalTensor positive = alignedTensor(
      site.chip(), static_cast<uint32_t>(site.tiled.scratchAddress), result.shape, true);
  const std::array<ElementCommand, 4> steps = {
      {{.name = "min", .result = result, .left = input},
       {.name = "mul", .result = result, .left = result, .right = *slopes},
       {.name = "max", .result = positive, .left = input},
       {.name = "add", .result = result, .left = result, .right = positive}}};
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

/// Elements of a result along an axis that are made alike: every `step`-th from `first` on, of
/// inputs that are `inputStep` apart.
struct ResizeRun {
  int64_t first = 0, step = 1, count = 1, inputStep = 0;
  InputTaps taps;
};

std::vector<ResizeRun> runsOf(const std::vector<InputTaps> &taps) {
  std::vector<ResizeRun> runs;
  for (int64_t i = 0; i < std::ssize(taps); ++i) {
    const InputTaps &each = taps[static_cast<size_t>(i)];
    const auto continues = [&](const ResizeRun &run) {
      if (run.taps.secondWeight != each.secondWeight ||
          run.taps.second - run.taps.first != each.second - each.first)
        return false;
      if (run.count == 1)
        return each.first > run.taps.first;
      return i == run.first + run.count * run.step &&
             each.first == run.taps.first + run.count * run.inputStep;
    };
    // The last of those that it may belong to is the nearest.
    const auto found = std::find_if(runs.rbegin(), runs.rend(), continues);
    if (found == runs.rend()) {
      runs.push_back({.first = i, .taps = each});
      continue;
    }
    if (found->count == 1) {
      found->step = i - found->first;
      found->inputStep = each.first - found->taps.first;
    }
    ++found->count;
  }
  return runs;
}

/// Sums of two neighbours along h (2) or w (3). Weights are two numbers where one is not exact.
Expected<void> resizeAlong(const Site &site, const LocalTensor &result, const LocalTensor &input,
                           size_t axis, const std::vector<InputTaps> &taps) {
  for (const ResizeRun &run : runsOf(taps)) {
    const auto count = static_cast<uint32_t>(run.count);
    const auto part = [&](LocalTensor tensor, int64_t first, int64_t step) {
      tensor.address += static_cast<uint32_t>(first) * tensor.strides[axis];
      tensor.strides[axis] *= static_cast<uint32_t>(step);
      tensor.shape[axis] = count;
      return tensor;
    };
    const LocalTensor to = part(result, run.first, run.step);
    const double weights[] = {1 - run.taps.secondWeight, run.taps.secondWeight};
    const int64_t places[] = {run.taps.first, run.taps.second};
    std::vector<std::pair<LocalTensor, double>> terms;
    for (size_t i = 0; i < 2; ++i)
      if (weights[i] != 0)
        terms.emplace_back(part(input, places[i], run.inputStep), weights[i]);
    // What is lost comes first, as it is small.
    for (size_t i = 0, exact = terms.size(); i < exact; ++i) {
      const double lost =
          terms[2 * i].second -
          static_cast<double>(decodeFloat<DataType::BF16>(bf16Of(terms[2 * i].second)));
      terms.insert(terms.begin() + static_cast<ptrdiff_t>(i), {terms[2 * i].first, lost});
    }
    llvm::erase_if(terms, [](const auto &term) { return term.second == 0; });
    for (size_t i = 0; i < terms.size(); ++i)
      if (Expected<void> done = emitElements(site.builder, {.name = i == 0 ? "mul" : "mac",
                                                            .result = to,
                                                            .left = terms[i].first,
                                                            .right = bf16Of(terms[i].second)});
          !done)
        return done;
  }
  return {};
}

/// The shape between the sums along h and those along w.
Extents betweenShape(const Extents &input, const Extents &result) {
  return {input[0], input[1], result[2], input[3]};
}

Expected<void> emitOf(tpu::InterpOp op, const Site &site) {
  if (repeatsPixels(op))
    return repeatPixels(site);
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  std::array<std::vector<InputTaps>, 2> taps;
  for (unsigned index = 0; index < 2; ++index) {
    const unsigned axis = kAxisH + index;
    Expected<std::vector<InputTaps>> made =
        resizeTaps(op, index, site.tiled.result.tile[axis], site.tiled.operands[0].tile[axis]);
    if (!made)
      return propagate(made);
    taps[index] = std::move(*made);
  }
  const LocalTensor between =
      alignedTensor(site.chip(), static_cast<uint32_t>(site.tiled.scratchAddress),
                    betweenShape(input.shape, result.shape), true);
  if (Expected<void> done = resizeAlong(site, between, input, 2, taps[0]); !done)
    return done;
  return resizeAlong(site, result, between, 3, taps[1]);
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

/// The scratch of a cast: integers as BF16 values, before or behind the factor.
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
  const LocalTensor scaled = castScratch(site.chip(), site.tiled, *input);
  if (from) {
    if (Expected<void> done =
            emitConversion(site.builder, *input, scaled, from.getStorage().isSigned);
        !done)
      return done;
    return emitScaled(site, *result, scaled, from.getScale());
  }
  if (Expected<void> done = emitScaled(site, scaled, *input, 1 / to.getScale()); !done)
    return done;
  return emitConversion(site.builder, scaled, *result, to.getStorage().isSigned);
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
      tableOf<tpu::ConvOp, tpu::DeconvOp, tpu::MatMulOp, tpu::MaxPoolOp, tpu::AvgPoolOp, tpu::AddOp,
              tpu::SubOp, tpu::MaxOp, tpu::MinOp, tpu::MulOp, tpu::AddConstOp, tpu::MulConstOp,
              tpu::MaxConstOp, tpu::MinConstOp, tpu::ReluOp, tpu::ClipOp, tpu::LutOp,
              tpu::RequantIntOp, tpu::CastOp, tpu::InterpOp, tpu::UpsampleOp, tpu::HardSigmoidOp,
              tpu::HardSwishOp, tpu::AbsOp, tpu::NegOp, tpu::LeakyReluOp, tpu::PReluOp,
              tpu::SigmoidOp, tpu::SiLUOp, tpu::SwishOp, tpu::GELUOp, tpu::MishOp, tpu::TanhOp,
              tpu::ErfOp, tpu::ExpOp, tpu::LogOp, tpu::ReciprocalOp, tpu::SqrtOp, tpu::RsqrtOp,
              tpu::EluOp, tpu::SoftplusOp, tpu::SoftsignOp, tpu::PowConstOp, tpu::SubConstOp,
              tpu::DivConstOp, tpu::DivOp, tpu::SoftmaxOp, tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp,
              tpu::LayerNormOp, tpu::RMSNormOp, tpu::InstanceNormOp, tpu::ReduceOp, tpu::CompareOp,
              tpu::CompareConstOp, tpu::WhereOp, tpu::LogicalNotOp, tpu::LogicalBinaryOp,
              tpu::DtypeCastOp>();
  return kTable;
}

} // namespace

bool hasKernel(Operation *op) { return static_cast<bool>(kernels().find(op)); }

/// The shape of a tile as commands see it.
static Expected<Extents> tileShape(const Chip &chip, const TiledOp &tiled, unsigned index) {
  const bool isResult = index == tiled.op->getNumOperands();
  const Tile &tile = isResult ? tiled.result.tile : tiled.operands[index].tile;
  Expected<LocalTensor> tensor = layoutOf(tiled, index).local(chip, {tile});
  if (!tensor)
    return propagate(tensor);
  return tensor->shape;
}

int64_t scratchOf(const Chip &chip, const TiledOp &tiled) {
  const unsigned resultIndex = tiled.op->getNumOperands();
  Expected<Extents> result = tileShape(chip, tiled, resultIndex);
  if (!result)
    return 0;
  if (isSelection(tiled.op))
    return scratchOfSelection(chip, tiled.op, *result);
  if (isa<tpu::CastOp>(tiled.op))
    return alignedBytes(chip, *result, /*isBf16=*/true);
  if (layoutOf(tiled, resultIndex).isBf16) {
    if (auto relu = dyn_cast<tpu::PReluOp>(tiled.op))
      return areFlat(relu) ? 0 : int64_t{alignedBytes(chip, *result, true)};
    Expected<Extents> input = tileShape(chip, tiled, 0);
    if (auto resize = dyn_cast<tpu::InterpOp>(tiled.op); resize && input && !repeatsPixels(resize))
      return alignedBytes(chip, betweenShape(*input, *result), true);
    return std::max({scratchOfFunction(chip, tiled.op, *result), scratchOfWindows(chip, tiled),
                     scratchOfCell(chip, tiled),
                     input ? scratchOfRows(chip, tiled.op, *input) : 0});
  }
  if (isa<tpu::ReduceOp>(tiled.op)) {
    Expected<Extents> input = tileShape(chip, tiled, 0);
    return input ? scratchOfRows(chip, tiled.op, *input) : 0;
  }
  if (isa<tpu::AddOp, tpu::SubOp>(tiled.op))
    return sumScratch(chip, alignedTensor(chip, 0, *result, false));
  return 0;
}

Expected<void> emitOp(Builder &builder, const TiledOp &tiled) {
  const auto emit = kernels().find(tiled.op);
  if (!emit)
    return makeError("", "there is no kernel for it");
  return emit(tiled.op, Site{builder, tiled});
}

} // namespace tpuc::cv18xx::backend
