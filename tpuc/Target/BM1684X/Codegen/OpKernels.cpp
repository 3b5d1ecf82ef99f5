//===- OpKernels.cpp - The kernels that compute an op on the BM1684X ----------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684X/Codegen/OpWindows.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Target/BM1684X/Codegen/Parameters.h"
#include "tpuc/Target/BM1684X/Codegen/PixelRows.h"
#include "tpuc/Target/BM1684X/Codegen/QuantizedKernels.h"
#include "tpuc/Target/BM1684X/Codegen/RecurrentKernels.h"
#include "tpuc/Target/BM1684X/Codegen/SelectKernels.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/Activations.h"
#include "tpuc/Target/BM1684X/Kernels/Attention.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"
#include "tpuc/Target/BM1684X/Kernels/Pooling.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"

#include "llvm/ADT/StringSwitch.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

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
  return conv;
}

Kernels convKernels(const TiledOp &tiled) {
  Expected<Window2d> window = windowOf(tiled);
  if (!window)
    return propagate(window);
  Convolution conv = convolutionOf(tiled);
  conv.window = *window;
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

Kernels binaryKernels(Operation *op, BinaryKind kind, const TiledOp &tiled) {
  if (auto factors = op->getAttrOfType<ArrayAttr>("coeff"))
    for (double factor : toDoubles(factors))
      if (factor != 1)
        return makeError("", "a weighted sum", "factors of 1");
  Binary binary;
  binary.kind = kind;
  binary.output = resultOf(tiled);
  binary.activation = activationOf(op);
  binary.scratch = scratchRoom(tiled);
  std::vector<BinaryOperand> operands;
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    if (std::optional<double> number = layoutOf(tiled).operand(index).number)
      operands.emplace_back(*number);
    else
      operands.emplace_back(operandOf(tiled, index));
  }
  if (auto constant = op->getAttrOfType<FloatAttr>("const_val")) {
    operands.emplace_back(constant.getValueAsDouble());
    if (auto reverse = op->getAttrOfType<BoolAttr>("is_reverse"); reverse && reverse.getValue())
      std::swap(operands[0], operands[1]);
  }
  if (operands.size() != 2)
    return makeError("", std::to_string(operands.size()) + " operands", "two");
  binary.left = operands[0];
  binary.right = operands[1];
  return one<binaryScratch, emitBinary>(binary);
}

Kernels unaryKernels(const TiledOp &tiled, UnaryKind kind, double a = 0, double b = 0) {
  if (auto log = tiled.op->getAttrOfType<BoolAttr>("log"); log && log.getValue())
    return makeError("", "a logarithm of the result");
  Unary unary;
  unary.kind = kind;
  unary.a = a;
  unary.b = b;
  unary.input = operandOf(tiled, 0);
  unary.output = resultOf(tiled);
  unary.scratch = scratchRoom(tiled);
  return one<unaryScratch, emitUnary>(unary);
}

double number(const llvm::APFloat &value) { return value.convertToDouble(); }

/// max(x, 0) + slope * min(x, 0), the second part in the scratch.
Kernels preluKernels(const TiledOp &tiled) {
  const LocalTensor input = operandOf(tiled, 0);
  const LocalTensor output = resultOf(tiled);
  const LocalTensor negative = output.at(static_cast<uint32_t>(tiled.scratchAddress));
  BinaryOperand slope = operandOf(tiled, 1);
  if (std::optional<double> number = layoutOf(tiled).operand(1).number)
    slope = *number;
  const auto binary = [](BinaryKind kind, BinaryOperand left, BinaryOperand right,
                         const LocalTensor &to) {
    return makeKernel<binaryScratch, emitBinary>(Binary{.kind = kind,
                                                        .left = std::move(left),
                                                        .right = std::move(right),
                                                        .output = to,
                                                        .activation = {},
                                                        .scratch = {}});
  };
  return std::vector<Kernel>{binary(BinaryKind::Min, input, 0.0, negative),
                             binary(BinaryKind::Mul, negative, slope, negative),
                             binary(BinaryKind::Max, input, 0.0, output),
                             binary(BinaryKind::Add, output, negative, output)};
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

/// The norm of a root mean square, which has no addend.
Kernels rmsNormKernels(tpu::RMSNormOp op, const TiledOp &tiled) {
  Normalization norm;
  norm.input = operandOf(tiled, 0);
  norm.output = resultOf(tiled);
  norm.epsilon = op.getEps().convertToDouble();
  norm.centers = false;
  norm.scratch = scratchRoom(tiled);
  if (isPresent(op, 1))
    norm.gamma = operandOf(tiled, 1);
  return one<normalizationScratch, emitNormalization>(norm);
}

/// A layer norm, a norm over channels, or an instance norm.
template <typename Op> Kernels normKernels(Op op, const TiledOp &tiled) {
  Normalization norm;
  norm.input = operandOf(tiled, 0);
  norm.output = resultOf(tiled);
  norm.epsilon = op.getEps().convertToDouble();
  norm.scratch = scratchRoom(tiled);
  if (isPresent(op, 1))
    norm.gamma = operandOf(tiled, 1);
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

bool isComputed(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

Kernels attentionKernels(tpu::ScaleDotProductAttentionOp op, const TiledOp &tiled) {
  Attention attention;
  Expected<double> scale = setHeads(attention, op, tiled);
  if (!scale)
    return propagate(scale);
  attention.scale = *scale;
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

/// Types and forms that no kernel takes.
Expected<void> checkOperands(const TiledOp &tiled) {
  const BM1684XLayout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < layout.numTensors(); ++index) {
    const DataType type = layout.operand(index).type;
    if (!layout.operand(index).isLoaded)
      continue;
    if (!isComputed(type))
      return makeError("", "a tensor of " + std::string(dataTypeName(type)), "F32, F16 or BF16");
  }
  return {};
}

/// Whether a kernel can take a part of the tensor in which operand or result `index` lies.
bool takesPart(const TiledOp &tiled, unsigned index, const LocalTile &local) {
  if (!local.held || *local.held == local.tile)
    return true;
  return layoutOf(tiled).operand(index).form == OperandForm::Tensor &&
         (*local.held)[kAxisD].size == 1 && (*local.held)[kAxisC] == local.tile[kAxisC];
}

/// Tensors that no local tensor stands for.
Expected<void> checkDimensions(const TiledOp &tiled) {
  const auto numOperands = static_cast<unsigned>(tiled.operands.size());
  for (unsigned index = 0; index <= numOperands; ++index) {
    const LocalTile &local = index == numOperands ? tiled.result : tiled.operands[index];
    if (!takesPart(tiled, index, local))
      return makeError("", "a part of a larger operand");
    if (local.tile[kAxisD].size > 1)
      return makeError("", "a tensor of 5 dimensions", "at most 4");
  }
  return {};
}

} // namespace

Kernels upsampleKernels(const TiledOp &tiled) {
  return oneChecked<checkUpsampleNearest, emitUpsampleNearest>(
      UpsampleNearest{.input = operandOf(tiled, 0), .output = resultOf(tiled)});
}

Expected<ResizeTaps> resizeTapsOf(tpu::InterpOp op, const TiledOp &tiled) {
  ResizeTaps all;
  for (unsigned i = 0; i < 2; ++i) {
    Expected<std::vector<InputTaps>> taps =
        resizeTaps(op, i, tiled.result.tile[kAxisH + i], tiled.operands[0].tile[kAxisH + i]);
    if (!taps)
      return propagate(taps);
    for (const InputTaps &tap : *taps)
      (i == 0 ? all.rows : all.columns).push_back({tap.first, tap.second, tap.secondWeight});
  }
  return all;
}

Expected<double> setHeads(AttentionOperands &attention, tpu::ScaleDotProductAttentionOp op,
                          const TiledOp &tiled) {
  const bool isPlain = !op.getIsCausal() && static_cast<int64_t>(op.getLeftWindow()) < 0 &&
                       static_cast<int64_t>(op.getRightWindow()) < 0 &&
                       op.getSoftcap().convertToDouble() == 0 &&
                       (!op.getSoftmaxType() || op.getSoftmaxType()->isF32());
  if (!isPlain || !op.getQNumHeads() || !op.getKvNumHeads())
    return makeError("", "hidden keys, a cap or a softmax of another type", "attention alone");
  attention.query = operandOf(tiled, 0);
  attention.key = operandOf(tiled, 1);
  attention.value = operandOf(tiled, 2);
  attention.output = resultOf(tiled);
  attention.heads = static_cast<int64_t>(*op.getQNumHeads());
  attention.keyHeads = static_cast<int64_t>(*op.getKvNumHeads());
  const auto width = static_cast<double>(attention.query.shape[3] / attention.heads);
  return op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(width);
}

std::vector<MatrixOperands> matricesOf(const TiledOp &tiled) {
  const LocalTensor left = operandOf(tiled, 0);
  const LocalTensor right = operandOf(tiled, 1);
  const LocalTensor output = resultOf(tiled);
  std::vector<MatrixOperands> matrices;
  for (int64_t batch = 0; batch < output.shape[0]; ++batch)
    matrices.push_back({left.slice(0, batch, 1), right.slice(0, right.shape[0] == 1 ? 0 : batch, 1),
                        output.slice(0, batch, 1)});
  return matrices;
}

/// Of a concatenation of channels: those parts that lie in their places begin at whole rounds of
/// lanes; the others are brought to their lanes, unless they were before.
static Kernels concatKernels(const TiledOp &tiled) {
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

namespace {

using Sliced = const TiledOp &;

/// A function without numbers, and one of two operands.
template <UnaryKind kind> struct Plain {
  Kernels operator()(Operation *, Sliced tiled) const { return unaryKernels(tiled, kind); }
};
template <BinaryKind kind> struct OfTwo {
  Kernels operator()(Operation *op, Sliced tiled) const { return binaryKernels(op, kind, tiled); }
};

/// Element-wise functions without numbers of their own.
KernelTable plainTable() {
  return KernelTable(takesAll, checkOperands)
      .add<tpu::AddOp, tpu::AddConstOp>(OfTwo<BinaryKind::Add>())
      .add<tpu::SubOp, tpu::SubConstOp>(OfTwo<BinaryKind::Sub>())
      .add<tpu::MulOp, tpu::MulConstOp>(OfTwo<BinaryKind::Mul>())
      .add<tpu::DivOp, tpu::DivConstOp>(OfTwo<BinaryKind::Div>())
      .add<tpu::MaxOp, tpu::MaxConstOp>(OfTwo<BinaryKind::Max>())
      .add<tpu::MinOp, tpu::MinConstOp>(OfTwo<BinaryKind::Min>())
      .add<tpu::AbsOp>(Plain<UnaryKind::Abs>())
      .add<tpu::NegOp>(Plain<UnaryKind::Neg>())
      .add<tpu::SqrtOp>(Plain<UnaryKind::Sqrt>())
      .add<tpu::RsqrtOp>(Plain<UnaryKind::Rsqrt>())
      .add<tpu::ReciprocalOp>(Plain<UnaryKind::Reciprocal>())
      .add<tpu::ExpOp>(Plain<UnaryKind::Exp>())
      .add<tpu::LogOp>(Plain<UnaryKind::Log>())
      .add<tpu::TanhOp>(Plain<UnaryKind::Tanh>())
      .add<tpu::ErfOp>(Plain<UnaryKind::Erf>())
      .add<tpu::HardSwishOp>(Plain<UnaryKind::HardSwish>())
      .add<tpu::SoftplusOp>(Plain<UnaryKind::Softplus>())
      .add<tpu::MishOp>(Plain<UnaryKind::Mish>())
      .add<tpu::FloorOp>(Plain<UnaryKind::Floor>())
      .add<tpu::CeilOp>(Plain<UnaryKind::Ceil>())
      .add<tpu::RoundOp>(Plain<UnaryKind::Round>())
      .add<tpu::SignOp>(Plain<UnaryKind::Sign>())
      .add<tpu::SoftsignOp>(Plain<UnaryKind::Softsign>())
      .add<tpu::SinOp>(Plain<UnaryKind::Sin>())
      .add<tpu::CosOp>(Plain<UnaryKind::Cos>())
      .add<tpu::SinhOp>(Plain<UnaryKind::Sinh>())
      .add<tpu::CoshOp>(Plain<UnaryKind::Cosh>());
}

/// Element-wise functions with numbers among their attributes.
KernelTable numberedTable() {
  return KernelTable(takesAll, checkOperands)
      .add<tpu::ReluOp>([](tpu::ReluOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Relu, number(op.getReluLimit()));
      })
      .add<tpu::ClipOp>([](tpu::ClipOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Clip, number(op.getMin()), number(op.getMax()));
      })
      .add<tpu::LeakyReluOp>([](tpu::LeakyReluOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::LeakyRelu, number(op.getAlpha()));
      })
      .add<tpu::SigmoidOp>([](tpu::SigmoidOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Sigmoid, number(op.getScale()), number(op.getBias()));
      })
      .add<tpu::SiLUOp>(
          [](Operation *, Sliced tiled) { return unaryKernels(tiled, UnaryKind::Swish, 1); })
      .add<tpu::SwishOp>([](tpu::SwishOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Swish, number(op.getBeta()));
      })
      .add<tpu::GELUOp>([](tpu::GELUOp op, Sliced tiled) {
        const bool isTanh = op.getApproxMode() == "tanh";
        return unaryKernels(tiled, isTanh ? UnaryKind::GeluTanh : UnaryKind::GeluErf);
      })
      .add<tpu::HardSigmoidOp>([](tpu::HardSigmoidOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::HardSigmoid, number(op.getAlpha()),
                            number(op.getBeta()));
      })
      .add<tpu::EluOp>([](tpu::EluOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Elu, number(op.getAlpha()));
      })
      .add<tpu::ThresholdedReluOp>([](tpu::ThresholdedReluOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Threshold, number(op.getAlpha()));
      })
      .add<tpu::ShrinkOp>([](tpu::ShrinkOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Shrink, number(op.getLambd()), number(op.getBias()));
      })
      .add<tpu::SeluOp>([](tpu::SeluOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Selu, number(op.getAlpha()), number(op.getGamma()));
      })
      .add<tpu::CeluOp>([](tpu::CeluOp op, Sliced tiled) {
        return unaryKernels(tiled, UnaryKind::Celu, number(op.getAlpha()));
      });
}

/// What is not element by element, or changes the type.
KernelTable layerTable() {
  return KernelTable(takesAll, checkOperands)
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
      .add<tpu::PReluOp>([](Operation *, Sliced tiled) { return preluKernels(tiled); })
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
      .add<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(
          [](Operation *, Sliced tiled) { return recurrentKernels(tiled); })
      // These move elements of any type.
      .with(checkNothing)
      .add<tpu::SliceOp>([](Operation *, Sliced tiled) { return columnSliceKernels(tiled); })
      .add<tpu::ConcatOp>([](Operation *, Sliced tiled) { return concatKernels(tiled); });
}

std::array<const KernelTable *, 5> kernelTables() {
  static const KernelTable kPlain = plainTable(), kNumbered = numberedTable(),
                           kLayers = layerTable();
  return {&quantizedKernels(), &selectKernels(), &kPlain, &kNumbered, &kLayers};
}

/// The first rule that takes an op; null if there is none.
const KernelRule *ruleOf(Operation *op) {
  for (const KernelTable *table : kernelTables())
    if (const KernelRule *rule = table->find(op))
      return rule;
  return nullptr;
}

} // namespace

bool hasKernel(Operation *op) { return ruleOf(op) != nullptr; }

bool hasKernelFor(OperationName op) {
  return llvm::any_of(kernelTables(), [&](const KernelTable *table) { return table->names(op); });
}

Kernels kernelsOf(const TiledOp &tiled) {
  if (Expected<void> checked = checkDimensions(tiled); !checked)
    return propagate(checked);
  const KernelRule *rule = ruleOf(tiled.op);
  if (!rule)
    return makeError("", "there is no kernel");
  if (Expected<void> checked = rule->check(tiled); !checked)
    return propagate(checked);
  return rule->make(tiled.op, tiled);
}

} // namespace tpuc::bm1684x::backend
