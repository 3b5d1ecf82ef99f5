//===- QuantizedKernels.cpp - Kernels of ops on integers ------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/QuantizedKernels.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/ResizeTaps.h"
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
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Codegen/PixelRows.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Select.h"
#include "tpuc/Target/BM1684X/Kernels/TableSteps.h"

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
Expected<QuantizedConvolution> quantizedConvolutionOf(const SlicedOp &sliced) {
  Operation *op = sliced.op;
  QuantizedConvolution conv;
  conv.input = operandOf(sliced, 0);
  conv.output = resultOf(sliced);
  conv.filterAddress = addressOf(sliced, 1);
  conv.parameterAddress = parametersOf(sliced);
  conv.hasBias = hasBias(op);
  conv.inputZero = zeroPoint(op->getOperand(0));
  conv.group = groupOf(sliced);
  conv.scratch = scratchRoom(sliced);
  if (givesFloats(op)) {
    conv.activation = activationOf(op);
    return conv;
  }
  Expected<Requantize> bounds = requantizationBounds(op);
  if (!bounds)
    return propagate(bounds);
  conv.lowest = bounds->lowest;
  conv.highest = bounds->highest;
  return conv;
}

Kernels quantizedConvKernels(const SlicedOp &sliced) {
  Expected<Window2d> window = windowOf(sliced);
  if (!window)
    return propagate(window);
  Expected<QuantizedConvolution> conv = quantizedConvolutionOf(sliced);
  if (!conv)
    return propagate(conv);
  conv->window = *window;
  return convolutionKernels<quantizedConvolutionScratch, emitQuantizedConvolution>(sliced.op,
                                                                                   *conv);
}

Kernels quantizedDeconvKernels(const SlicedOp &sliced) {
  Expected<Window2d> window = transposedWindowOf(sliced);
  if (!window)
    return propagate(window);
  Expected<QuantizedConvolution> conv = quantizedConvolutionOf(sliced);
  if (!conv)
    return propagate(conv);
  conv->window = *window;
  if (isInPhases(sliced.op))
    return one<quantizedPhaseDeconvolutionScratch, emitQuantizedPhaseDeconvolution>(*conv);
  return one<quantizedDeconvolutionScratch, emitQuantizedDeconvolution>(*conv);
}

/// How sums of a product become its result, where the columns have parameters of their own.
Expected<void> setColumns(QuantizedMatrixProduct &product, const SlicedOp &sliced) {
  if (cast<RankedTensorType>(sliced.op->getOperand(1).getType()).getRank() != 2)
    return makeError("", "a constant that is no matrix", "two dimensions");
  product.columnAddress = parametersOf(sliced);
  if (givesFloats(sliced.op))
    return {};
  Expected<std::vector<Requantize>> factors = requantizationsOf(sliced.op);
  if (!factors)
    return propagate(factors);
  product.requantize = factors->front();
  product.requantize.shift = columnShift(*factors);
  return {};
}

/// The same where both operands are computed.
Expected<void> setWhole(QuantizedMatrixProduct &product, tpu::MatMulOp op, const SlicedOp &sliced) {
  product.leftZero = zeroPoint(op.getInput());
  product.rightZero = zeroPoint(op.getRight());
  if (isPresent(op, 2)) {
    if (sliced.model->operands[2].extents[kAxisW] != sliced.model->result[kAxisW])
      return makeError("", "one bias for all columns", "one for each");
    product.biasAddress = addressOf(sliced, 2);
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

Kernels quantizedMatMulKernels(tpu::MatMulOp op, const SlicedOp &sliced) {
  QuantizedMatrixProduct product;
  product.rightIsTransposed = op.getRightTranspose();
  product.activation = activationOf(op);
  product.scratch = scratchRoom(sliced);
  if (Expected<void> set =
          carriesParameters(op, 1) ? setColumns(product, sliced) : setWhole(product, op, sliced);
      !set)
    return propagate(set);
  std::vector<Kernel> products;
  for (const MatrixOperands &matrices : matricesOf(sliced)) {
    product.left = matrices.left;
    product.right = matrices.right;
    product.output = matrices.output;
    products.push_back(
        makeKernel<quantizedMatrixProductScratch, emitQuantizedMatrixProduct>(product));
  }
  return products;
}

Kernels sumKernels(Operation *op, const SlicedOp &sliced) {
  QuantizedSum sum;
  for (unsigned index = 0; index < op->getNumOperands(); ++index)
    sum.inputs.push_back(operandOf(sliced, index));
  for (int64_t multiplier : top::toInts(op->getAttrOfType<ArrayAttr>("multiplier")))
    sum.multipliers.push_back(static_cast<int32_t>(multiplier));
  if (auto offset = op->getAttrOfType<IntegerAttr>("offset"))
    sum.constant = static_cast<int32_t>(offset.getInt());
  // The factor of the whole sum is a shift alone.
  Expected<Requantize> requantize = shiftOf(op);
  if (!requantize)
    return propagate(requantize);
  sum.requantize = *requantize;
  sum.output = resultOf(sliced);
  sum.scratch = scratchRoom(sliced);
  return one<quantizedSumScratch, emitQuantizedSum>(sum);
}

Kernels mulKernels(Operation *op, const SlicedOp &sliced) {
  if (op->getNumOperands() != 2)
    return makeError("", std::to_string(op->getNumOperands()) + " operands", "two");
  Expected<Requantize> requantize = requantizationOf(op);
  if (!requantize)
    return propagate(requantize);
  return one<quantizedProductScratch, emitQuantizedProduct>(
      QuantizedProduct{.left = operandOf(sliced, 0),
                       .right = operandOf(sliced, 1),
                       .leftZero = zeroPoint(op->getOperand(0)),
                       .rightZero = zeroPoint(op->getOperand(1)),
                       .requantize = *requantize,
                       .output = resultOf(sliced),
                       .scratch = scratchRoom(sliced)});
}

/// The greater or the less of two: integers of one scale compare as the numbers do.
Kernels extremeKernels(Operation *op, const SlicedOp &sliced) {
  if (op->getNumOperands() != 2 || activationOf(op).relu)
    return makeError("", "more than two operands, or a ReLU", "two operands alone");
  return one<selectScratch, emitSelect>(
      Select{.kind = isa<tpu::MaxOp>(op) ? CompareKind::Greater : CompareKind::Less,
             .left = operandOf(sliced, 0),
             .right = operandOf(sliced, 1),
             .ifTrue = operandOf(sliced, 0),
             .ifFalse = operandOf(sliced, 1),
             .output = resultOf(sliced),
             .scratch = scratchRoom(sliced)});
}

Kernels tableKernels(const SlicedOp &sliced) {
  if (const auto numbers = sliced.op->getAttrOfType<ArrayAttr>(kTableSteps)) {
    const SmallVector<int64_t> plain = top::toInts(numbers);
    Expected<std::vector<TableStep>> steps = stepsOf(plain);
    if (!steps)
      return propagate(steps);
    return one<tableArithmeticScratch, emitTableArithmetic>(
        TableArithmetic{operandOf(sliced, 0), resultOf(sliced), *steps, scratchRoom(sliced)});
  }
  return oneChecked<checkTableLookup, emitTableLookup>(
      TableLookup{operandOf(sliced, 0), resultOf(sliced), addressOf(sliced, 1)});
}

Kernels maxPoolKernels(const SlicedOp &sliced) {
  Expected<Window2d> window = windowOf(sliced);
  if (!window)
    return propagate(window);
  return one<poolingScratch, emitPooling>(Pooling{.input = operandOf(sliced, 0),
                                                  .output = resultOf(sliced),
                                                  .window = *window,
                                                  .activation = activationOf(sliced.op),
                                                  .scratch = scratchRoom(sliced)});
}

Kernels averageKernels(tpu::AvgPoolOp op, const SlicedOp &sliced) {
  Expected<Window2d> window = windowOf(sliced);
  if (!window)
    return propagate(window);
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  // The kernel counts from windows without elements.
  if (factors->size() > 1)
    factors->insert(factors->begin(), factors->front());
  return one<quantizedAveragePoolScratch, emitQuantizedAveragePool>(
      QuantizedAveragePool{.input = operandOf(sliced, 0),
                           .output = resultOf(sliced),
                           .window = *window,
                           .countsPadding = op.getCountIncludePad(),
                           .inputZero = zeroPoint(op.getInput()),
                           .factors = std::move(*factors),
                           .scratch = scratchRoom(sliced)});
}

/// A sum over the last axes is a window over all of them.
Kernels quantizedReduceKernels(tpu::ReduceOp op, const SlicedOp &sliced) {
  const LocalTensor input = operandOf(sliced, 0);
  Window2d window;
  window.kernel = {input.shape[2], input.shape[3]};
  if (op.getMode() == "ReduceMax")
    return one<poolingScratch, emitPooling>(Pooling{.input = input,
                                                    .output = resultOf(sliced),
                                                    .window = window,
                                                    .activation = {},
                                                    .scratch = scratchRoom(sliced)});
  if (op.getMode() != "ReduceMean" && op.getMode() != "ReduceSum")
    return makeError("", "mode " + op.getMode().str(), "a sum, mean or maximum");
  Expected<Requantize> factor = requantizationOf(op);
  if (!factor)
    return propagate(factor);
  return one<quantizedAveragePoolScratch, emitQuantizedAveragePool>(
      QuantizedAveragePool{.input = input,
                           .output = resultOf(sliced),
                           .window = window,
                           .inputZero = zeroPoint(op.getInput()),
                           .factors = {*factor},
                           .scratch = scratchRoom(sliced)});
}

/// Leaky and parametric ReLUs.
Kernels leakyKernels(Operation *op, const SlicedOp &sliced) {
  Expected<std::vector<Requantize>> factors = requantizationsOf(op);
  if (!factors)
    return propagate(factors);
  if (factors->size() < 2)
    return makeError("", "one factor", "one for each sign");
  QuantizedLeakyRelu relu{.input = operandOf(sliced, 0),
                          .output = resultOf(sliced),
                          .inputZero = zeroPoint(op->getOperand(0)),
                          .positive = (*factors)[0],
                          .negative = (*factors)[1],
                          .parameterAddress = std::nullopt,
                          .scratch = scratchRoom(sliced)};
  if (carriesParameters(op, 1))
    relu.parameterAddress = parametersOf(sliced);
  return one<quantizedLeakyReluScratch, emitQuantizedLeakyRelu>(relu);
}

Kernels requantizeKernels(Operation *op, const SlicedOp &sliced) {
  Expected<Requantize> requantize = requantizationOf(op);
  if (!requantize)
    return propagate(requantize);
  return one<requantizeScratch, emitRequantize>(
      RequantizeOp{.input = operandOf(sliced, 0),
                   .output = resultOf(sliced),
                   .inputZero = zeroPoint(op->getOperand(0)),
                   .requantize = *requantize,
                   .scratch = scratchRoom(sliced)});
}

/// From numbers to integers, or back.
Kernels castKernels(tpu::CastOp op, const SlicedOp &sliced) {
  const LocalTensor input = operandOf(sliced, 0);
  const LocalTensor output = resultOf(sliced);
  const Scratch scratch = scratchRoom(sliced);
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

Kernels quantizedInterpKernels(tpu::InterpOp op, const SlicedOp &sliced) {
  if (repeatsPixels(op))
    return upsampleKernels(sliced);
  Expected<ResizeTaps> taps = resizeTapsOf(op, sliced);
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
  return one<quantizedResizeScratch, emitQuantizedResize>(
      QuantizedResize{.input = operandOf(sliced, 0),
                      .output = resultOf(sliced),
                      .rows = std::move(taps->rows),
                      .columns = std::move(taps->columns),
                      .inputZero = zeroPoint(op.getInput()),
                      .requantize = *factor,
                      .scratch = scratchRoom(sliced)});
}

Kernels normKernels(tpu::LayerNormOp op, const SlicedOp &sliced) {
  QuantizedNormalization norm;
  norm.input = operandOf(sliced, 0);
  norm.output = resultOf(sliced);
  norm.scale = tpu::quantizedType(op.getInput()).getScale();
  norm.epsilon = op.getEps().convertToDouble();
  norm.scratch = scratchRoom(sliced);
  if (isPresent(op, 1))
    norm.gamma = operandOf(sliced, 1);
  if (isPresent(op, 2))
    norm.beta = operandOf(sliced, 2);
  return one<quantizedNormalizationScratch, emitQuantizedNormalization>(norm);
}

StoredAs storedAs(Value value) { return {tpu::quantizedType(value).getScale(), zeroPoint(value)}; }

Kernels quantizedSoftmaxKernels(tpu::SoftmaxOp op, const SlicedOp &sliced) {
  if (op.getLog() || worksInTheMiddle(op))
    return makeError("", "a logarithm, or an axis that is not the last", "the last axis");
  QuantizedSoftmax softmax;
  softmax.input = operandOf(sliced, 0);
  softmax.output = resultOf(sliced);
  softmax.beta = op.getBeta().convertToDouble();
  softmax.outputAs = storedAs(op.getOutput());
  softmax.scratch = scratchRoom(sliced);
  return one<quantizedSoftmaxScratch, emitQuantizedSoftmax>(softmax);
}

Kernels quantizedAttentionKernels(tpu::ScaleDotProductAttentionOp op, const SlicedOp &sliced) {
  for (Value value : {op.getKey(), op.getValue(), op.getOutput()})
    if (!tpu::isQuantized(value))
      return makeError("", "a tensor of floats", "stored integers alone");
  QuantizedAttention attention;
  Expected<double> scale = setHeads(attention, op, sliced);
  if (!scale)
    return propagate(scale);
  attention.scale = *scale;
  attention.queryAs = storedAs(op.getQuery());
  attention.keyAs = storedAs(op.getKey());
  attention.valueAs = storedAs(op.getValue());
  attention.outputAs = storedAs(op.getOutput());
  attention.scratch = scratchRoom(sliced);
  return one<quantizedAttentionScratch, emitQuantizedAttention>(attention);
}

bool isCastOfIntegers(Operation *cast) {
  return isQuantized(cast) || tpu::isQuantized(cast->getResult(0));
}

} // namespace

const KernelTable &quantizedKernels() {
  using Sliced = const SlicedOp &;
  static const KernelTable kTable =
      KernelTable(isQuantized, checkNothing)
          .add<tpu::ConvOp>([](Operation *, Sliced sliced) { return quantizedConvKernels(sliced); })
          .add<tpu::DeconvOp>(
              [](Operation *, Sliced sliced) { return quantizedDeconvKernels(sliced); })
          .add<tpu::MatMulOp>([](tpu::MatMulOp product, Sliced sliced) {
            return quantizedMatMulKernels(product, sliced);
          })
          .add<tpu::AddOp, tpu::SubOp>(
              [](auto sum, Sliced sliced) { return sumKernels(sum, sliced); })
          .add<tpu::MulOp>(
              [](tpu::MulOp product, Sliced sliced) { return mulKernels(product, sliced); })
          .add<tpu::MaxOp, tpu::MinOp>(
              [](auto most, Sliced sliced) { return extremeKernels(most, sliced); })
          .add<tpu::LutOp>([](Operation *, Sliced sliced) { return tableKernels(sliced); })
          .add<tpu::MaxPoolOp>([](Operation *, Sliced sliced) { return maxPoolKernels(sliced); })
          .add<tpu::AvgPoolOp>(
              [](tpu::AvgPoolOp pool, Sliced sliced) { return averageKernels(pool, sliced); })
          .add<tpu::ReduceOp>([](tpu::ReduceOp reduce, Sliced sliced) {
            return quantizedReduceKernels(reduce, sliced);
          })
          .add<tpu::LeakyReluOp, tpu::PReluOp>(
              [](auto relu, Sliced sliced) { return leakyKernels(relu, sliced); })
          .add<tpu::RequantIntOp>(
              [](tpu::RequantIntOp op, Sliced sliced) { return requantizeKernels(op, sliced); })
          .add<tpu::UpsampleOp>([](Operation *, Sliced sliced) { return upsampleKernels(sliced); })
          .add<tpu::InterpOp>([](tpu::InterpOp interp, Sliced sliced) {
            return quantizedInterpKernels(interp, sliced);
          })
          .where(isCastOfIntegers)
          .add<tpu::CastOp>(
              [](tpu::CastOp cast, Sliced sliced) { return castKernels(cast, sliced); })
          .where(tpu::hasStoredSteps)
          .add<tpu::LayerNormOp>(
              [](tpu::LayerNormOp norm, Sliced sliced) { return normKernels(norm, sliced); })
          .add<tpu::SoftmaxOp>([](tpu::SoftmaxOp softmax, Sliced sliced) {
            return quantizedSoftmaxKernels(softmax, sliced);
          })
          .add<tpu::ScaleDotProductAttentionOp>(
              [](tpu::ScaleDotProductAttentionOp attention, Sliced sliced) {
                return quantizedAttentionKernels(attention, sliced);
              });
  return kTable;
}

} // namespace tpuc::bm1684x::backend
