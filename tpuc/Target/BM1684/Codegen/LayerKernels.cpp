//===- LayerKernels.cpp - Kernels of layers of floats ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Target/BM1684/Codegen/FloatKernels.h"
#include "tpuc/Target/BM1684/Codegen/OpWindows.h"
#include "tpuc/Target/BM1684/Kernels/Elementwise.h"
#include "tpuc/Target/BM1684/Kernels/Recurrence.h"
#include "tpuc/Target/BM1684/Kernels/Reductions.h"
#include "tpuc/Target/BM168x/Codegen/Moves.h"
#include "tpuc/Target/BM168x/Codegen/RecurrentOps.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684::backend {

// Not the machine's.
using mlir::Operation;

LocalTensor operandOf(const TiledOp &tiled, unsigned index) {
  return layoutOf(tiled).operand(index).local(tiled.operands[index]);
}

LocalTensor resultOf(const TiledOp &tiled) { return layoutOf(tiled).result().local(tiled.result); }

Scratch scratchRoom(const TiledOp &tiled) {
  return {static_cast<uint32_t>(tiled.scratchAddress), static_cast<uint32_t>(tiled.scratchBytes)};
}

bool isPresent(Operation *op, unsigned index) {
  return index < op->getNumOperands() && !isa<NoneType>(op->getOperand(index).getType());
}

Expected<void> checkFloats(const TiledOp &tiled) {
  const BM1684Layout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < layout.numTensors(); ++index) {
    const TensorLayout &tensor = layout.operand(index);
    if (tensor.isLoaded && tensor.type != DataType::F32)
      return makeError("", "a tensor of " + std::string(dataTypeName(tensor.type)), "F32");
  }
  return {};
}

namespace {

Convolution convolutionOf(const TiledOp &tiled, const Window2d &window) {
  Convolution conv;
  conv.input = operandOf(tiled, 0);
  conv.output = resultOf(tiled);
  conv.filterAddress = operandOf(tiled, 1).address;
  conv.group = groupsOf(tiled, conv.output.shape[1]);
  conv.activation = activationOf(tiled.op);
  conv.window = window;
  if (isPresent(tiled.op, 2))
    conv.biasAddress = operandOf(tiled, 2).address;
  return conv;
}

Kernels convKernels(const TiledOp &tiled) {
  Expected<Window2d> window = convolutionWindowOf(tiled);
  if (!window)
    return propagate(window);
  // One channel in groups of one is depthwise for the command, and lies so.
  return oneChecked<checkConvolution, emitConvolution>(convolutionOf(tiled, *window));
}

Kernels deconvKernels(const TiledOp &tiled) {
  Expected<Window2d> window = transposedWindowOf(tiled);
  if (!window)
    return propagate(window);
  Convolution conv = convolutionOf(tiled, *window);
  conv.isTransposed = true;
  return oneChecked<checkConvolution, emitConvolution>(conv);
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
  product.activation = activationOf(op);
  product.scratch = scratchRoom(tiled);
  if (isPresent(op, 2)) {
    if (tiled.model->operands[2].extents[kAxisW] != tiled.model->result[kAxisW])
      return makeError("", "one bias for all columns", "one for each");
    product.bias = operandOf(tiled, 2);
  }
  const LocalTensor left = operandOf(tiled, 0);
  const LocalTensor right = operandOf(tiled, 1);
  const LocalTensor output = resultOf(tiled);
  std::vector<Kernel> products;
  for (int64_t batch = 0; batch < output.shape[0]; ++batch) {
    product.left = left.slice(0, batch, 1);
    product.right = right.slice(0, right.shape[0] == 1 ? 0 : batch, 1);
    product.output = output.slice(0, batch, 1);
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

/// The norm of a root mean square, which has no addend.
Kernels rmsNormKernels(tpu::RMSNormOp op, const TiledOp &tiled) {
  if (op.getNumHeads())
    return makeError("", "a norm of parts of rows", "one of whole rows");
  Normalization norm = normOf(op, tiled);
  norm.centers = false;
  return one<normalizationScratch, emitNormalization>(norm);
}

/// A layer norm, a norm over channels, or an instance norm.
template <typename Op> Kernels normKernels(Op op, const TiledOp &tiled) {
  Normalization norm = normOf(op, tiled);
  if (isPresent(op, 2))
    norm.beta = operandOf(tiled, 2);
  return one<normalizationScratch, emitNormalization>(norm);
}

Kernels softmaxKernels(tpu::SoftmaxOp op, const TiledOp &tiled) {
  return one<softmaxScratch, emitSoftmax>(Softmax{.input = operandOf(tiled, 0),
                                                  .output = resultOf(tiled),
                                                  .beta = op.getBeta().convertToDouble(),
                                                  .isLog = op.getLog(),
                                                  .scratch = scratchRoom(tiled)});
}

Kernels upsampleKernels(const TiledOp &tiled) {
  return oneChecked<checkUpsampleNearest, emitUpsampleNearest>(
      UpsampleNearest{.input = operandOf(tiled, 0), .output = resultOf(tiled)});
}

Kernels interpKernels(tpu::InterpOp op, const TiledOp &tiled) {
  if (repeatsPixels(op))
    return upsampleKernels(tiled);
  Resize resize{.input = operandOf(tiled, 0),
                .output = resultOf(tiled),
                .rows = {},
                .columns = {},
                .scratch = scratchRoom(tiled)};
  for (unsigned i = 0; i < 2; ++i) {
    Expected<std::vector<InputTaps>> taps =
        resizeTaps(op, i, tiled.result.tile[kAxisH + i], tiled.operands[0].tile[kAxisH + i]);
    if (!taps)
      return propagate(taps);
    for (const InputTaps &tap : *taps)
      (i == 0 ? resize.rows : resize.columns).push_back({tap.first, tap.second, tap.secondWeight});
  }
  return one<resizeScratch, emitResize>(resize);
}

/// Of a concatenation of channels: those parts that lie in their places begin at whole rounds of
/// lanes; the others are brought to their lanes, unless they were before.
Kernels concatKernels(const TiledOp &tiled) {
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

/// Elements of whatever type transfers bring.
Expected<void> checkMoved(const TiledOp &tiled) {
  return bm168x::backend::checkElements(tiled.op,
                                        [](DataType type) { return precOf(type).has_value(); });
}

KernelTable layerTable() {
  return KernelTable(takesAll, checkFloats)
      .add<tpu::ConvOp>([](Operation *, Sliced tiled) { return convKernels(tiled); })
      .add<tpu::DeconvOp>([](Operation *, Sliced tiled) { return deconvKernels(tiled); })
      .add<tpu::MaxPoolOp, tpu::AvgPoolOp>(
          [](auto pool, Sliced tiled) { return poolKernels(pool, tiled); })
      .add<tpu::MatMulOp>(
          [](tpu::MatMulOp product, Sliced tiled) { return matMulKernels(product, tiled); })
      .add<tpu::ReduceOp>(
          [](tpu::ReduceOp reduce, Sliced tiled) { return reduceKernels(reduce, tiled); })
      .add<tpu::LayerNormOp, tpu::PixelNormOp, tpu::InstanceNormOp>(
          [](auto norm, Sliced tiled) { return normKernels(norm, tiled); })
      .add<tpu::RMSNormOp>(
          [](tpu::RMSNormOp norm, Sliced tiled) { return rmsNormKernels(norm, tiled); })
      .add<tpu::SoftmaxOp>(
          [](tpu::SoftmaxOp softmax, Sliced tiled) { return softmaxKernels(softmax, tiled); })
      .add<tpu::UpsampleOp>([](Operation *, Sliced tiled) { return upsampleKernels(tiled); })
      .add<tpu::InterpOp>(
          [](tpu::InterpOp interp, Sliced tiled) { return interpKernels(interp, tiled); })
      .add<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>([](Operation *, Sliced tiled) {
        return one<recurrenceScratch, emitRecurrence>(
            bm168x::backend::recurrenceOf<Recurrence>(tiled, operandOf, resultOf));
      })
      // These move elements.
      .with(checkMoved)
      .add<tpu::ConcatOp>([](Operation *, Sliced tiled) { return concatKernels(tiled); });
}

} // namespace

const KernelTable &layerKernels() {
  static const KernelTable kTable = layerTable();
  return kTable;
}

} // namespace tpuc::bm1684::backend
