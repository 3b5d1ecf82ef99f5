//===- LayerKernels.cpp - Kernels of convolutions, products, norms and moves -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/LayerKernels.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionFacts.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Target/BM1684X/Codegen/OpWindows.h"
#include "tpuc/Target/BM1684X/Codegen/PixelRows.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/Attention.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Target/BM1684X/Kernels/Recurrence.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"
#include "tpuc/Target/BM1684X/Kernels/StackedRows.h"
#include "tpuc/Target/BM168x/Codegen/Moves.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

Kernels upsampleKernels(const TiledOp &tiled) {
  return oneChecked<checkUpsampleNearest, emitUpsampleNearest>(
      UpsampleNearest{.input = operandOf(tiled, 0), .output = resultOf(tiled)});
}

namespace {

Convolution convolutionOf(const TiledOp &tiled) {
  Convolution conv;
  conv.input = operandOf(tiled, 0);
  conv.output = resultOf(tiled);
  conv.filterAddress = addressOf(tiled, 1);
  conv.group = groupOf(tiled);
  conv.activation = activationOf(tiled.op);
  conv.scratch = scratchRoom(tiled);
  if (isPresent(tiled.op, 2))
    conv.biasAddress = addressOf(tiled, 2);
  if (auto outside = tiled.op->getAttrOfType<FloatAttr>("pad_value"))
    conv.outside = outside.getValueAsDouble();
  if (auto outsides = tiled.op->getAttrOfType<ArrayAttr>("pad_values"))
    conv.outsides = toDoubles(outsides);
  if (llvm::all_equal(conv.outsides) && !conv.outsides.empty())
    conv.outside = std::exchange(conv.outsides, {}).front();
  return conv;
}

Kernels convKernels(const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  Convolution conv = convolutionOf(tiled);
  conv.window = *window;
  conv.narrowSums = cast<tpu::ConvOp>(tiled.op).getNarrowSums();
  return convolutionKernels<convolutionScratch, emitConvolution>(layoutOf(tiled), conv);
}

Kernels deconvKernels(const TiledOp &tiled) {
  Expected<Window2d> window = transposedWindowOf(tiled);
  if (!window)
    return propagate(window);
  Convolution conv = convolutionOf(tiled);
  conv.window = *window;
  return layoutOf(tiled).filter.isInPhases
             ? one<phaseDeconvolutionScratch, emitPhaseDeconvolution>(conv)
             : one<deconvolutionScratch, emitDeconvolution>(conv);
}

template <typename Op> Kernels poolKernels(Op op, const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  return one<poolingScratch, emitPooling>(Pooling{.input = operandOf(tiled, 0),
                                                  .output = resultOf(tiled),
                                                  .window = *window,
                                                  .isAverage = isa<tpu::AvgPoolOp>(op),
                                                  .countsPadding = op.getCountIncludePad(),
                                                  .activation = activationOf(op),
                                                  .scratch = scratchRoom(tiled)});
}

/// One product for each matrix of the batch.
Kernels matMulKernels(tpu::MatMulOp op, const TiledOp &tiled) {
  MatrixProduct product;
  product.rightIsTransposed = layoutOf(tiled).operand(1).liesTurned;
  product.activation = activationOf(op);
  product.scratch = scratchRoom(tiled);
  if (isPresent(op, 2)) {
    if (tiled.model->operands[2].extents[kAxisW] != tiled.model->result[kAxisW])
      return makeError("", "one bias for all columns", "one for each");
    product.biasAddress = addressOf(tiled, 2);
  }
  std::vector<Kernel> products;
  for (const MatrixOperands &matrices : matricesOf(tiled)) {
    product.left = matrices.left;
    product.right = matrices.right;
    product.output = matrices.output;
    products.push_back(makeKernel<matrixProductScratch, emitMatrixProduct>(product));
  }
  return products;
}

Kernels reduceKernels(tpu::ReduceOp op, const TiledOp &tiled) {
  const auto kind = llvm::StringSwitch<std::optional<ReduceKind>>(op.getMode())
                        .Case("ReduceSum", ReduceKind::Sum)
                        .Case("ReduceMean", ReduceKind::Mean)
                        .Case("ReduceMax", ReduceKind::Max)
                        .Case("ReduceMin", ReduceKind::Min)
                        .Default(std::nullopt);
  if (!kind)
    return makeError("", "mode " + op.getMode().str(), "a sum, mean, maximum or minimum");
  return one<reductionScratch, emitReduction>(Reduction{.kind = *kind,
                                                        .input = operandOf(tiled, 0),
                                                        .output = resultOf(tiled),
                                                        .scratch = scratchRoom(tiled)});
}

/// What all norms have.
template <typename Op> Normalization normOf(Op op, const TiledOp &tiled) {
  Normalization norm;
  norm.input = operandOf(tiled, 0);
  norm.output = resultOf(tiled);
  norm.epsilon = op.getEps().convertToDouble();
  norm.scratch = scratchRoom(tiled);
  if (isPresent(op, 1))
    norm.gamma = operandOf(tiled, 1);
  return norm;
}

/// The norm of a root mean square, which has no addend. Heads follow each other in a row.
Kernels rmsNormKernels(tpu::RMSNormOp op, const TiledOp &tiled) {
  Normalization norm = normOf(op, tiled);
  norm.centers = false;
  if (const auto heads = static_cast<int64_t>(op.getNumHeads().value_or(1)); heads > 1) {
    norm.overWidth = true;
    const auto byHeads = [&](LocalTensor &tensor) {
      tensor = tensor.withShape({tensor.shape[0], tensor.shape[1], heads, tensor.shape[3] / heads});
    };
    byHeads(norm.input);
    byHeads(norm.output);
    if (norm.gamma)
      byHeads(*norm.gamma);
  }
  return one<normalizationScratch, emitNormalization>(norm);
}

/// A layer norm, a norm over channels, or an instance norm.
template <typename Op> Kernels normKernels(Op op, const TiledOp &tiled) {
  Normalization norm = normOf(op, tiled);
  if (isPresent(op, 2))
    norm.beta = operandOf(tiled, 2);
  return one<normalizationScratch, emitNormalization>(norm);
}

Kernels runningSumKernels(tpu::CumSumOp op, const TiledOp &tiled) {
  if (op.getExclusive() || op.getReverse() || isPresent(op, 1))
    return makeError("", "another running sum", "one from the front along an axis that is stated");
  return one<runningSumScratch, emitRunningSum>(RunningSum{
      .input = operandOf(tiled, 0), .output = resultOf(tiled), .scratch = scratchRoom(tiled)});
}

Kernels softmaxKernels(tpu::SoftmaxOp op, const TiledOp &tiled) {
  return one<softmaxScratch, emitSoftmax>(Softmax{.input = operandOf(tiled, 0),
                                                  .output = resultOf(tiled),
                                                  .beta = op.getBeta().convertToDouble(),
                                                  .isLog = op.getLog(),
                                                  .scratch = scratchRoom(tiled)});
}

Kernels interpKernels(tpu::InterpOp op, const TiledOp &tiled) {
  if (repeatsPixels(op))
    return upsampleKernels(tiled);
  Expected<ResizeTaps> taps = resizeTapsOf(op, tiled);
  if (!taps)
    return propagate(taps);
  return one<resizeScratch, emitResize>(Resize{.input = operandOf(tiled, 0),
                                               .output = resultOf(tiled),
                                               .rows = std::move(taps->rows),
                                               .columns = std::move(taps->columns),
                                               .scratch = scratchRoom(tiled)});
}

Kernels attentionKernels(tpu::ScaleDotProductAttentionOp op, const TiledOp &tiled) {
  Attention attention;
  Expected<double> scale = setHeads(attention, op, tiled);
  if (!scale)
    return propagate(scale);
  attention.scale = *scale;
  attention.hasShortWeights = op->hasAttr(tpu::kShortWeights);
  attention.scratch = scratchRoom(tiled);
  return one<attentionScratch, emitAttention>(attention);
}

/// Some columns of rows, of any type.
Kernels columnSliceKernels(const TiledOp &tiled) {
  const LocalTensor from = operandOf(tiled, 0);
  const LocalTensor to = resultOf(tiled);
  if (from.shape != to.shape)
    return makeError("", "every few columns", "columns that follow each other");
  return std::vector<Kernel>{{[]() -> Expected<uint32_t> { return 0; },
                              [=](Builder &builder) { return emitLocalCopy(builder, from, to); }}};
}

/// The columns of all operands behind each other, of any type.
Kernels columnConcatKernels(const TiledOp &tiled) {
  constexpr unsigned kColumns = 3;
  std::vector<Kernel> kernels;
  const LocalTensor result = resultOf(tiled);
  int64_t column = 0;
  for (unsigned index = 0; index < tiled.op->getNumOperands(); ++index) {
    const LocalTensor from = operandOf(tiled, index);
    const LocalTensor to = result.slice(kColumns, column, from.shape[kColumns]);
    kernels.push_back({[]() -> Expected<uint32_t> { return 0; },
                       [=](Builder &builder) { return emitLocalCopy(builder, from, to); }});
    column += from.shape[kColumns];
  }
  return kernels;
}

/// Of a concatenation of channels: those parts that lie in their places begin at whole rounds of
/// lanes; the others are brought to their lanes, unless they were before.
Kernels concatKernels(const TiledOp &tiled) {
  if (isColumnConcat(tiled.op))
    return columnConcatKernels(tiled);
  constexpr unsigned kChannels = 1;
  std::vector<Kernel> kernels;
  const LocalTensor result = resultOf(tiled);
  int64_t channel = 0;
  for (unsigned index = 0; index < tiled.op->getNumOperands(); ++index) {
    const LocalTensor from = operandOf(tiled, index);
    const LocalTensor to = result.slice(kChannels, channel, from.shape[kChannels]);
    if (channel % kLanes != 0 && !tiled.operands[index].isInPlace)
      kernels.push_back(
          {[]() -> Expected<uint32_t> { return 0; },
           [from, to](Builder &builder) { return emitLocalMove(builder, from, to); }});
    channel += from.shape[kChannels];
  }
  return kernels;
}

/// Which element of the operand's tile each one of the result's tile is along an axis, where
/// `before` stand in front of the first.
std::vector<int64_t> borderSource(tpu::PadOp op, const TiledOp &tiled, unsigned axis,
                                  int64_t before) {
  const int64_t extent = tiled.model->operands[0].extents[axis];
  const std::vector<int64_t> whole = kernels::padSource(
      extent, before, tiled.model->result[axis] - extent - before,
      op.getMode() == "edge" ? kernels::PadMode::Edge : kernels::PadMode::Reflect);
  const codegen::Range range = tiled.result.tile[axis];
  std::vector<int64_t> sources(whole.begin() + range.begin, whole.begin() + range.end());
  for (int64_t &source : sources)
    source -= tiled.operands[0].tile[axis].begin;
  return sources;
}

/// Constant channels behind those of the input: channels lie over lanes, so these stay where they
/// are. Or rows and columns around pictures.
Kernels padKernels(tpu::PadOp op, const TiledOp &tiled) {
  constexpr unsigned kChannels = 1;
  const LocalTensor from = operandOf(tiled, 0);
  const LocalTensor to = resultOf(tiled);
  if (!precOf(to.type))
    return makeError("", "a tensor of " + std::string(dataTypeName(to.type)),
                     "a type that is computed");
  if (op.getMode() != "constant") {
    const SmallVector<int64_t> pads = top::toInts(*op.getPaddings());
    const size_t rank = pads.size() / 2;
    return std::vector<Kernel>{
        {[]() -> Expected<uint32_t> { return 0; },
         [border =
              Border{from, to, borderSource(op, tiled, codegen::kAxisH, rank == 4 ? pads[2] : 0),
                     borderSource(op, tiled, codegen::kAxisW, pads[rank - 1])}](Builder &builder) {
           return emitBorder(builder, border);
         }}};
  }
  const Immediate value = immediate(to.type, op.getVal().convertToDouble());
  const auto emit = [=](Builder &builder) {
    addUnaryArith(builder, ArithOp::Copy, to, value);
    return emitLocalCopy(builder, from, to.slice(kChannels, 0, from.shape[kChannels]));
  };
  return std::vector<Kernel>{{[]() -> Expected<uint32_t> { return 0; }, emit}};
}

Kernels packRowsKernels(tpu::PackRowsOp op, const TiledOp &tiled) {
  const auto fill = static_cast<int64_t>(op.getFill());
  const LocalTensor to = resultOf(tiled);
  if (!precOf(to.type))
    return makeError("", "a tensor of " + std::string(dataTypeName(to.type)),
                     "a type that is computed");
  const PaddedRange rows = tiled.model->operands[0].padded(kAxisH, tiled.result.tile[kAxisH]);
  return one<stackedRowsScratch, emitStackedRows>(StackedRows{
      .input = operandOf(tiled, 0),
      .output = to,
      .kernel = static_cast<int64_t>(op.getKernel()),
      .stride = static_cast<int64_t>(op.getStride()),
      .padBegin = rows.padBegin,
      .outside = isFloat(to.type) ? immediateBits(to.type, static_cast<double>(fill))
                                  : static_cast<uint32_t>(fill + tpu::zeroPointOf(op.getInput())),
      .scratch = scratchRoom(tiled)});
}

/// Channels as rows, or rows as channels. What a row of either holds follows itself.
Kernels transposeKernels(const TiledOp &tiled) {
  const auto asRows = [](LocalTensor tensor) {
    tensor.shape = {tensor.shape[0], tensor.shape[1], 1, tensor.shape[2] * tensor.shape[3]};
    return tensor;
  };
  const LocalTensor from = asRows(operandOf(tiled, 0));
  const LocalTensor to = asRows(resultOf(tiled));
  return std::vector<Kernel>{{[]() -> Expected<uint32_t> { return 0; },
                              [=](Builder &builder) { return emitLocalTurn(builder, from, to); }}};
}

/// Elements of whatever type transfers bring.
Expected<void> checkMoved(const TiledOp &tiled) {
  return bm168x::backend::checkElements(tiled.op,
                                        [](DataType type) { return precOf(type).has_value(); });
}

/// What is not element by element, or changes the type.
KernelTable layerTable() {
  return KernelTable(takesAll, checkFloats)
      .add<tpu::ConvOp>([](Operation *, Sliced tiled) { return convKernels(tiled); })
      .add<tpu::DeconvOp>([](Operation *, Sliced tiled) { return deconvKernels(tiled); })
      .add<tpu::MaxPoolOp, tpu::AvgPoolOp>(
          [](auto pool, Sliced tiled) { return poolKernels(pool, tiled); })
      .add<tpu::MatMulOp>(
          [](tpu::MatMulOp product, Sliced tiled) { return matMulKernels(product, tiled); })
      .add<tpu::CastOp>([](Operation *, Sliced tiled) {
        return one<castScratch, emitCast>(CastOp{.input = operandOf(tiled, 0),
                                                 .output = resultOf(tiled),
                                                 .scratch = scratchRoom(tiled)});
      })
      .add<tpu::ReduceOp>(
          [](tpu::ReduceOp reduce, Sliced tiled) { return reduceKernels(reduce, tiled); })
      .add<tpu::LayerNormOp, tpu::PixelNormOp, tpu::InstanceNormOp>(
          [](auto norm, Sliced tiled) { return normKernels(norm, tiled); })
      .add<tpu::RMSNormOp>(
          [](tpu::RMSNormOp norm, Sliced tiled) { return rmsNormKernels(norm, tiled); })
      .add<tpu::SoftmaxOp>(
          [](tpu::SoftmaxOp softmax, Sliced tiled) { return softmaxKernels(softmax, tiled); })
      .add<tpu::ScaleDotProductAttentionOp>(
          [](tpu::ScaleDotProductAttentionOp attention, Sliced tiled) {
            return attentionKernels(attention, tiled);
          })
      .add<tpu::UpsampleOp>([](Operation *, Sliced tiled) { return upsampleKernels(tiled); })
      .add<tpu::InterpOp>(
          [](tpu::InterpOp interp, Sliced tiled) { return interpKernels(interp, tiled); })
      .add<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>([](Operation *, Sliced tiled) {
        return one<recurrenceScratch, emitRecurrence>(
            bm168x::backend::recurrenceOf<Recurrence>(tiled, operandOf, resultOf));
      })
      // It says itself which integers it takes.
      .with(checkNothing)
      .add<tpu::CumSumOp>(
          [](tpu::CumSumOp sum, Sliced tiled) { return runningSumKernels(sum, tiled); })
      // These move elements.
      .with(checkMoved)
      .add<tpu::SliceOp>([](Operation *, Sliced tiled) { return columnSliceKernels(tiled); })
      .add<tpu::PadOp>([](tpu::PadOp pad, Sliced tiled) { return padKernels(pad, tiled); })
      .add<tpu::PackRowsOp>(
          [](tpu::PackRowsOp rows, Sliced tiled) { return packRowsKernels(rows, tiled); })
      .add<tpu::TransposeOp>([](Operation *, Sliced tiled) { return transposeKernels(tiled); })
      .add<tpu::ConcatOp>([](Operation *, Sliced tiled) { return concatKernels(tiled); });
}

} // namespace

const KernelTable &layerKernels() {
  static const KernelTable kTable = layerTable();
  return kTable;
}

} // namespace tpuc::bm1684x::backend
