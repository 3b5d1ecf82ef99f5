//===- QuantizedKernels.cpp - Kernels of ops on integers ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/QuantizedKernels.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Target/BM1684X/Codegen/LayerKernels.h"
#include "tpuc/Target/BM1684X/Codegen/OpWindows.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Codegen/PixelRows.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/LutToArith.h"
#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Select.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

int32_t zeroPoint(Value value) { return static_cast<int32_t>(tpu::zeroPointOf(value)); }

/// The only factor of an op.
Expected<Requantize> requantizationOf(Operation *op) {
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  if (factors->size() != 1)
    return makeError("", std::to_string(factors->size()) + " factors", "one for all channels");
  return factors->front();
}

bool givesFloats(Operation *op) { return op->hasAttr("dequant_scale"); }

/// What a convolution and a transposed one have in common.
Expected<QuantizedConvolution> quantizedConvolutionOf(const TiledOp &tiled) {
  Operation *op = tiled.op;
  QuantizedConvolution conv;
  conv.input = operandOf(tiled, 0);
  conv.output = resultOf(tiled);
  conv.filterAddress = addressOf(tiled, 1);
  conv.parameterAddress = parametersOf(tiled);
  conv.hasBias = hasBias(op);
  conv.inputZero = zeroPoint(op->getOperand(0));
  conv.group = groupOf(tiled);
  conv.scratch = scratchRoom(tiled);
  if (givesFloats(op)) {
    conv.activation = activationOf(op);
    return conv;
  }
  Expected<Requantize> bounds = requantizationBounds(op);
  if (!bounds)
    return propagate(bounds);
  conv.roundings = roundingsOf(op);
  conv.lowest = bounds->lowest;
  conv.highest = bounds->highest;
  return conv;
}

Kernels quantizedConvKernels(const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  Expected<QuantizedConvolution> conv = quantizedConvolutionOf(tiled);
  if (!conv)
    return propagate(conv);
  conv->window = *window;
  return convolutionKernels<quantizedConvolutionScratch, emitQuantizedConvolution>(layoutOf(tiled),
                                                                                   *conv);
}

Kernels quantizedDeconvKernels(const TiledOp &tiled) {
  Expected<Window2d> window = transposedWindowOf(tiled);
  if (!window)
    return propagate(window);
  Expected<QuantizedConvolution> conv = quantizedConvolutionOf(tiled);
  if (!conv)
    return propagate(conv);
  conv->window = *window;
  if (layoutOf(tiled).filter.isInPhases)
    return one<quantizedPhaseDeconvolutionScratch, emitQuantizedPhaseDeconvolution>(*conv);
  return one<quantizedDeconvolutionScratch, emitQuantizedDeconvolution>(*conv);
}

/// How sums of a product become its result, where the columns have parameters of their own.
Expected<void> setColumns(QuantizedMatrixProduct &product, const TiledOp &tiled) {
  if (cast<RankedTensorType>(tiled.op->getOperand(1).getType()).getRank() != 2)
    return makeError("", "a constant that is no matrix", "two dimensions");
  product.columnAddress = parametersOf(tiled);
  if (givesFloats(tiled.op))
    return {};
  Expected<std::vector<Requantize>> factors = requantizationsOf(tiled.op);
  if (!factors)
    return propagate(factors);
  product.requantize = factors->front();
  product.requantize.shift = columnShift(*factors);
  return {};
}

/// The same where both operands are computed.
Expected<void> setWhole(QuantizedMatrixProduct &product, tpu::MatMulOp op, const TiledOp &tiled) {
  product.leftZero = zeroPoint(op.getInput());
  product.rightZero = zeroPoint(op.getRight());
  if (isPresent(op, 2)) {
    if (tiled.model->operands[2].extents[kAxisW] != tiled.model->result[kAxisW])
      return makeError("", "one bias for all columns", "one for each");
    product.biasAddress = addressOf(tiled, 2);
  }
  if (std::optional<ArrayAttr> scales = op.getDequantScale()) {
    product.scale = toDoubles(scales).front();
    if (scales->size() != 1)
      return makeError("", std::to_string(scales->size()) + " scales", "one for all columns");
    return {};
  }
  Expected<Requantize> factor = requantizationOf(op);
  if (!factor)
    return propagate(factor);
  product.requantize = *factor;
  return {};
}

Kernels quantizedMatMulKernels(tpu::MatMulOp op, const TiledOp &tiled) {
  QuantizedMatrixProduct product;
  product.rightIsTransposed = op.getRightTranspose();
  product.activation = activationOf(op);
  product.scratch = scratchRoom(tiled);
  if (Expected<void> set = layoutOf(tiled).operand(1).parameters != Carried::Nothing
                               ? setColumns(product, tiled)
                               : setWhole(product, op, tiled);
      !set)
    return propagate(set);
  std::vector<Kernel> products;
  for (const MatrixOperands &matrices : matricesOf(tiled)) {
    product.left = matrices.left;
    product.right = matrices.right;
    product.output = matrices.output;
    products.push_back(
        makeKernel<quantizedMatrixProductScratch, emitQuantizedMatrixProduct>(product));
  }
  return products;
}

/// A sum whose factors are those of its types.
Kernels fixedSumKernels(Operation *op, const TiledOp &tiled) {
  const auto scale = [&](Value value) { return tpu::quantizedType(value).getScale(); };
  const double unit = 2 * std::max(scale(op->getOperand(0)), scale(op->getOperand(1)));
  const auto factorOf = [](double ratio, int32_t zero) {
    const MultiplierShift factor = kernels::fixedPoint(ratio);
    return Requantize{factor.multiplier, factor.rshift, zero, {}, {}};
  };
  Expected<Requantize> bounds = resultBounds(op);
  if (!bounds)
    return propagate(bounds);
  QuantizedAddition sum;
  sum.left = operandOf(tiled, 0);
  sum.right = operandOf(tiled, 1);
  sum.leftFactor = factorOf(scale(op->getOperand(0)) / unit, zeroPoint(op->getOperand(0)));
  sum.rightFactor = factorOf(scale(op->getOperand(1)) / unit, zeroPoint(op->getOperand(1)));
  sum.subtracts = isa<tpu::SubOp>(op);
  sum.result = factorOf(unit / std::ldexp(scale(op->getResult(0)), QuantizedAddition::kLeftShift),
                        bounds->zeroPoint);
  sum.result.lowest = bounds->lowest;
  sum.result.highest = bounds->highest;
  sum.output = resultOf(tiled);
  sum.scratch = scratchRoom(tiled);
  return one<quantizedAdditionScratch, emitQuantizedAddition>(sum);
}

Kernels sumKernels(Operation *op, const TiledOp &tiled) {
  if (op->hasAttr("quant_mode"))
    return fixedSumKernels(op, tiled);
  QuantizedSum sum;
  for (unsigned index = 0; index < op->getNumOperands(); ++index)
    sum.inputs.push_back(operandOf(tiled, index));
  for (int64_t multiplier : top::toInts(op->getAttrOfType<ArrayAttr>("multiplier")))
    sum.multipliers.push_back(static_cast<int32_t>(multiplier));
  if (auto offset = op->getAttrOfType<IntegerAttr>("offset"))
    sum.constant = static_cast<int32_t>(offset.getInt());
  // The factor of the whole sum is a shift alone.
  Expected<Requantize> requantize = shiftOf(op);
  if (!requantize)
    return propagate(requantize);
  sum.requantize = *requantize;
  sum.output = resultOf(tiled);
  sum.scratch = scratchRoom(tiled);
  return one<quantizedSumScratch, emitQuantizedSum>(sum);
}

Kernels mulKernels(Operation *op, const TiledOp &tiled) {
  if (op->getNumOperands() != 2)
    return makeError("", std::to_string(op->getNumOperands()) + " operands", "two");
  Expected<Requantize> requantize = requantizationOf(op);
  if (!requantize)
    return propagate(requantize);
  return one<quantizedProductScratch, emitQuantizedProduct>(
      QuantizedProduct{.left = operandOf(tiled, 0),
                       .right = operandOf(tiled, 1),
                       .leftZero = zeroPoint(op->getOperand(0)),
                       .rightZero = zeroPoint(op->getOperand(1)),
                       .requantize = *requantize,
                       .output = resultOf(tiled),
                       .scratch = scratchRoom(tiled)});
}

/// The greater or the less of two: integers of one scale compare as the numbers do.
Kernels extremeKernels(Operation *op, const TiledOp &tiled) {
  if (op->getNumOperands() != 2 || activationOf(op).relu)
    return makeError("", "more than two operands, or a ReLU", "two operands alone");
  return one<selectScratch, emitSelect>(
      Select{.kind = isa<tpu::MaxOp>(op) ? CompareKind::Greater : CompareKind::Less,
             .left = operandOf(tiled, 0),
             .right = operandOf(tiled, 1),
             .ifTrue = operandOf(tiled, 0),
             .ifFalse = operandOf(tiled, 1),
             .output = resultOf(tiled),
             .scratch = scratchRoom(tiled)});
}

Kernels tableKernels(const TiledOp &tiled) {
  if (const std::optional<ArrayAttr> numbers = cast<tpu::LutOp>(tiled.op).getSteps()) {
    const SmallVector<int64_t> plain = top::toInts(*numbers);
    Expected<std::vector<LutStep>> steps = stepsOf(plain);
    if (!steps)
      return propagate(steps);
    return one<tableArithmeticScratch, emitTableArithmetic>(
        TableArithmetic{operandOf(tiled, 0), resultOf(tiled), *steps, scratchRoom(tiled)});
  }
  return oneChecked<checkTableLookup, emitTableLookup>(
      TableLookup{operandOf(tiled, 0), resultOf(tiled), addressOf(tiled, 1)});
}

Kernels maxPoolKernels(const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  return one<poolingScratch, emitPooling>(Pooling{.input = operandOf(tiled, 0),
                                                  .output = resultOf(tiled),
                                                  .window = *window,
                                                  .activation = activationOf(tiled.op),
                                                  .scratch = scratchRoom(tiled)});
}

Kernels averageKernels(tpu::AvgPoolOp op, const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  // The kernel counts from windows without elements.
  if (factors->size() > 1)
    factors->insert(factors->begin(), factors->front());
  if (op->hasAttr("as_stored"))
    for (Requantize &factor : *factors)
      factor.zeroPoint = 0;
  return one<quantizedAveragePoolScratch, emitQuantizedAveragePool>(
      QuantizedAveragePool{.input = operandOf(tiled, 0),
                           .output = resultOf(tiled),
                           .window = *window,
                           .countsPadding = op.getCountIncludePad(),
                           .inputZero = op->hasAttr("as_stored") ? 0 : zeroPoint(op.getInput()),
                           .factors = std::move(*factors),
                           .scratch = scratchRoom(tiled)});
}

/// A sum over the last axes is a window over all of them.
Kernels quantizedReduceKernels(tpu::ReduceOp op, const TiledOp &tiled) {
  const LocalTensor input = operandOf(tiled, 0);
  Window2d window;
  window.kernel = {input.shape[2], input.shape[3]};
  if (op.getMode() == "ReduceMax")
    return one<poolingScratch, emitPooling>(Pooling{.input = input,
                                                    .output = resultOf(tiled),
                                                    .window = window,
                                                    .activation = {},
                                                    .scratch = scratchRoom(tiled)});
  if (op.getMode() != "ReduceMean" && op.getMode() != "ReduceSum")
    return makeError("", "mode " + op.getMode().str(), "a sum, mean or maximum");
  Expected<Requantize> factor = requantizationOf(op);
  if (!factor)
    return propagate(factor);
  return one<quantizedAveragePoolScratch, emitQuantizedAveragePool>(
      QuantizedAveragePool{.input = input,
                           .output = resultOf(tiled),
                           .window = window,
                           .inputZero = zeroPoint(op.getInput()),
                           .factors = {*factor},
                           .scratch = scratchRoom(tiled)});
}

/// Leaky and parametric ReLUs.
Kernels leakyKernels(Operation *op, const TiledOp &tiled) {
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  if (factors->size() < 2)
    return makeError("", "one factor", "one for each sign");
  QuantizedLeakyRelu relu{.input = operandOf(tiled, 0),
                          .output = resultOf(tiled),
                          .inputZero = zeroPoint(op->getOperand(0)),
                          .positive = (*factors)[0],
                          .negative = (*factors)[1],
                          .parameterAddress = std::nullopt,
                          .scratch = scratchRoom(tiled)};
  if (layoutOf(tiled).operand(1).parameters != Carried::Nothing)
    relu.parameterAddress = parametersOf(tiled);
  return one<quantizedLeakyReluScratch, emitQuantizedLeakyRelu>(relu);
}

Kernels requantizeKernels(Operation *op, const TiledOp &tiled) {
  Expected<Requantize> requantize = requantizationOf(op);
  if (!requantize)
    return propagate(requantize);
  return one<requantizeScratch, emitRequantize>(
      RequantizeOp{.input = operandOf(tiled, 0),
                   .output = resultOf(tiled),
                   .inputZero = zeroPoint(op->getOperand(0)),
                   .requantize = *requantize,
                   .scratch = scratchRoom(tiled)});
}

/// From numbers to integers, or back.
Kernels castKernels(tpu::CastOp op, const TiledOp &tiled) {
  const LocalTensor input = operandOf(tiled, 0);
  const LocalTensor output = resultOf(tiled);
  const Scratch scratch = scratchRoom(tiled);
  quant::UniformQuantizedType from = tpu::quantizedType(op.getInput());
  quant::UniformQuantizedType to = tpu::quantizedType(op.getOutput());
  if (from && to)
    return makeError("", "a cast between integers", "floats on one side");
  if (from)
    return one<dequantizeScratch, emitDequantize>(
        DequantizeOp{input, output, from.getScale(), zeroPoint(op.getInput()), scratch});
  return one<quantizeScratch, emitQuantize>(
      QuantizeOp{input, output, to.getScale(), zeroPoint(op.getOutput()), scratch});
}

Kernels quantizedInterpKernels(tpu::InterpOp op, const TiledOp &tiled) {
  if (repeatsPixels(op))
    return upsampleKernels(tiled);
  Expected<ResizeTaps> taps = resizeTapsOf(op, tiled);
  if (!taps)
    return propagate(taps);
  Expected<Requantize> factor = op.getMode() == "nearest" ? Requantize() : requantizationOf(op);
  if (!factor)
    return propagate(factor);
  // Neighbours that are moved have the weight of all.
  if (op.getMode() == "nearest") {
    factor->shift = 2 * kTapBits;
    factor->zeroPoint = zeroPoint(op.getInput());
  }
  const bool asStored = op->hasAttr("as_stored");
  if (asStored)
    factor->zeroPoint = 0;
  return one<quantizedResizeScratch, emitQuantizedResize>(
      QuantizedResize{.input = operandOf(tiled, 0),
                      .output = resultOf(tiled),
                      .rows = std::move(taps->rows),
                      .columns = std::move(taps->columns),
                      .inputZero = asStored ? 0 : zeroPoint(op.getInput()),
                      .requantize = *factor,
                      .scratch = scratchRoom(tiled)});
}

Kernels normKernels(tpu::LayerNormOp op, const TiledOp &tiled) {
  QuantizedNormalization norm;
  norm.input = operandOf(tiled, 0);
  norm.output = resultOf(tiled);
  norm.scale = tpu::quantizedType(op.getInput()).getScale();
  norm.epsilon = op.getEps().convertToDouble();
  norm.scratch = scratchRoom(tiled);
  if (isPresent(op, 1))
    norm.gamma = operandOf(tiled, 1);
  if (isPresent(op, 2))
    norm.beta = operandOf(tiled, 2);
  return one<quantizedNormalizationScratch, emitQuantizedNormalization>(norm);
}

StoredAs storedAs(Value value) { return {tpu::quantizedType(value).getScale(), zeroPoint(value)}; }

Kernels quantizedSoftmaxKernels(tpu::SoftmaxOp op, const TiledOp &tiled) {
  if (op.getLog() || worksInTheMiddle(op))
    return makeError("", "a logarithm, or an axis that is not the last", "the last axis");
  QuantizedSoftmax softmax;
  softmax.input = operandOf(tiled, 0);
  softmax.output = resultOf(tiled);
  softmax.beta = op.getBeta().convertToDouble();
  softmax.outputAs = storedAs(op.getOutput());
  softmax.scratch = scratchRoom(tiled);
  return one<quantizedSoftmaxScratch, emitQuantizedSoftmax>(softmax);
}

Kernels quantizedAttentionKernels(tpu::ScaleDotProductAttentionOp op, const TiledOp &tiled) {
  for (Value value : {op.getKey(), op.getValue(), op.getOutput()})
    if (!tpu::isQuantized(value))
      return makeError("", "a tensor of floats", "stored integers alone");
  QuantizedAttention attention;
  Expected<double> scale = setHeads(attention, op, tiled);
  if (!scale)
    return propagate(scale);
  attention.scale = *scale;
  attention.queryAs = storedAs(op.getQuery());
  attention.keyAs = storedAs(op.getKey());
  attention.valueAs = storedAs(op.getValue());
  attention.outputAs = storedAs(op.getOutput());
  attention.scratch = scratchRoom(tiled);
  return one<quantizedAttentionScratch, emitQuantizedAttention>(attention);
}

bool isCastOfIntegers(Operation *cast) {
  return isQuantized(cast) || tpu::isQuantized(cast->getResult(0));
}

} // namespace

const KernelTable &quantizedKernels() {
  static const KernelTable kTable =
      KernelTable(isQuantized, checkNothing)
          .add<tpu::ConvOp>([](Operation *, Sliced tiled) { return quantizedConvKernels(tiled); })
          .add<tpu::DeconvOp>(
              [](Operation *, Sliced tiled) { return quantizedDeconvKernels(tiled); })
          .add<tpu::MatMulOp>([](tpu::MatMulOp product, Sliced tiled) {
            return quantizedMatMulKernels(product, tiled);
          })
          .add<tpu::AddOp, tpu::SubOp>(
              [](auto sum, Sliced tiled) { return sumKernels(sum, tiled); })
          .add<tpu::MulOp>(
              [](tpu::MulOp product, Sliced tiled) { return mulKernels(product, tiled); })
          .add<tpu::MaxOp, tpu::MinOp>(
              [](auto most, Sliced tiled) { return extremeKernels(most, tiled); })
          .add<tpu::LutOp>([](Operation *, Sliced tiled) { return tableKernels(tiled); })
          .add<tpu::MaxPoolOp>([](Operation *, Sliced tiled) { return maxPoolKernels(tiled); })
          .add<tpu::AvgPoolOp>(
              [](tpu::AvgPoolOp pool, Sliced tiled) { return averageKernels(pool, tiled); })
          .add<tpu::ReduceOp>([](tpu::ReduceOp reduce, Sliced tiled) {
            return quantizedReduceKernels(reduce, tiled);
          })
          .add<tpu::LeakyReluOp, tpu::PReluOp>(
              [](auto relu, Sliced tiled) { return leakyKernels(relu, tiled); })
          .add<tpu::RequantIntOp>(
              [](tpu::RequantIntOp op, Sliced tiled) { return requantizeKernels(op, tiled); })
          .add<tpu::UpsampleOp>([](Operation *, Sliced tiled) { return upsampleKernels(tiled); })
          .add<tpu::InterpOp>([](tpu::InterpOp interp, Sliced tiled) {
            return quantizedInterpKernels(interp, tiled);
          })
          .where(isCastOfIntegers)
          .add<tpu::CastOp>([](tpu::CastOp cast, Sliced tiled) { return castKernels(cast, tiled); })
          .where(tpu::hasIntegerFusion)
          .add<tpu::LayerNormOp>(
              [](tpu::LayerNormOp norm, Sliced tiled) { return normKernels(norm, tiled); })
          .add<tpu::SoftmaxOp>([](tpu::SoftmaxOp softmax, Sliced tiled) {
            return quantizedSoftmaxKernels(softmax, tiled);
          })
          .add<tpu::ScaleDotProductAttentionOp>(
              [](tpu::ScaleDotProductAttentionOp attention, Sliced tiled) {
                return quantizedAttentionKernels(attention, tiled);
              });
  return kTable;
}

} // namespace tpuc::bm1684x::backend
