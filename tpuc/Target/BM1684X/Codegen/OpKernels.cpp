//===- OpKernels.cpp - The kernels that compute an op on the BM1684X ----------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Codegen/ResizeTaps.h"
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
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

Convolution convolutionOf(const SlicedOp &sliced) {
  Convolution conv;
  conv.input = operandOf(sliced, 0);
  conv.output = resultOf(sliced);
  conv.filterAddress = addressOf(sliced, 1);
  conv.group = groupOf(sliced);
  conv.activation = activationOf(sliced.op);
  conv.scratch = scratchRoom(sliced);
  if (isPresent(sliced.op, 2))
    conv.biasAddress = addressOf(sliced, 2);
  return conv;
}

Kernels convKernels(const SlicedOp &sliced) {
  Expected<Window2d> window = windowOf(sliced);
  if (!window)
    return propagate(window);
  Convolution conv = convolutionOf(sliced);
  conv.window = *window;
  return convolutionKernels<convolutionScratch, emitConvolution>(sliced.op, conv);
}

Kernels deconvKernels(const SlicedOp &sliced) {
  Expected<Window2d> window = transposedWindowOf(sliced);
  if (!window)
    return propagate(window);
  Convolution conv = convolutionOf(sliced);
  conv.window = *window;
  return isInPhases(sliced.op) ? one<phaseDeconvolutionScratch, emitPhaseDeconvolution>(conv)
                               : one<deconvolutionScratch, emitDeconvolution>(conv);
}

template <typename Op> Kernels poolKernels(Op op, const SlicedOp &sliced) {
  Expected<Window2d> window = windowOf(sliced);
  if (!window)
    return propagate(window);
  return one<poolingScratch, emitPooling>(Pooling{.input = operandOf(sliced, 0),
                                                  .output = resultOf(sliced),
                                                  .window = *window,
                                                  .isAverage = isa<tpu::AvgPoolOp>(op),
                                                  .countsPadding = op.getCountIncludePad(),
                                                  .activation = activationOf(op),
                                                  .scratch = scratchRoom(sliced)});
}

/// One product for each matrix of the batch.
Kernels matMulKernels(tpu::MatMulOp op, const SlicedOp &sliced) {
  MatrixProduct product;
  product.rightIsTransposed = liesTurned(op);
  product.activation = activationOf(op);
  product.scratch = scratchRoom(sliced);
  if (isPresent(op, 2)) {
    if (sliced.model->operands[2].extents[kAxisW] != sliced.model->result[kAxisW])
      return makeError("", "one bias for all columns", "one for each");
    product.biasAddress = addressOf(sliced, 2);
  }
  std::vector<Kernel> products;
  for (const MatrixOperands &matrices : matricesOf(sliced)) {
    product.left = matrices.left;
    product.right = matrices.right;
    product.output = matrices.output;
    products.push_back(makeKernel<matrixProductScratch, emitMatrixProduct>(product));
  }
  return products;
}

std::optional<BinaryKind> binaryKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<BinaryKind>>(op)
      .Case<tpu::AddOp, tpu::AddConstOp>([](auto) { return BinaryKind::Add; })
      .Case<tpu::SubOp, tpu::SubConstOp>([](auto) { return BinaryKind::Sub; })
      .Case<tpu::MulOp, tpu::MulConstOp>([](auto) { return BinaryKind::Mul; })
      .Case<tpu::DivOp, tpu::DivConstOp>([](auto) { return BinaryKind::Div; })
      .Case<tpu::MaxOp, tpu::MaxConstOp>([](auto) { return BinaryKind::Max; })
      .Case<tpu::MinOp, tpu::MinConstOp>([](auto) { return BinaryKind::Min; })
      .Default([](Operation *) { return std::nullopt; });
}

Kernels binaryKernels(Operation *op, BinaryKind kind, const SlicedOp &sliced) {
  if (auto factors = op->getAttrOfType<ArrayAttr>("coeff"))
    for (double factor : toDoubles(factors))
      if (factor != 1)
        return makeError("", "a weighted sum", "factors of 1");
  Binary binary;
  binary.kind = kind;
  binary.output = resultOf(sliced);
  binary.activation = activationOf(op);
  binary.scratch = scratchRoom(sliced);
  std::vector<BinaryOperand> operands;
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    if (std::optional<double> number = scalarOperand(op, index);
        number && operandForm(op, index) == OperandForm::Absent)
      operands.emplace_back(*number);
    else
      operands.emplace_back(operandOf(sliced, index));
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

/// The kind of an element-wise op of one tensor, with its two numbers.
std::optional<Unary> unaryOf(Operation *op) {
  const auto number = [&](StringRef name, double missing = 0) {
    const auto attribute = op->getAttrOfType<FloatAttr>(name);
    return attribute ? attribute.getValueAsDouble() : missing;
  };
  const auto make = [](UnaryKind kind, double a = 0, double b = 0) {
    Unary unary;
    unary.kind = kind;
    unary.a = a;
    unary.b = b;
    return unary;
  };
  using Maybe = std::optional<Unary>;
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([&](tpu::ReluOp) { return make(UnaryKind::Relu, number("relu_limit", -1)); })
      .Case([&](tpu::ClipOp) { return make(UnaryKind::Clip, number("min"), number("max")); })
      .Case([&](tpu::LeakyReluOp) { return make(UnaryKind::LeakyRelu, number("alpha")); })
      .Case([&](tpu::AbsOp) { return make(UnaryKind::Abs); })
      .Case([&](tpu::NegOp) { return make(UnaryKind::Neg); })
      .Case([&](tpu::SqrtOp) { return make(UnaryKind::Sqrt); })
      .Case([&](tpu::RsqrtOp) { return make(UnaryKind::Rsqrt); })
      .Case([&](tpu::ReciprocalOp) { return make(UnaryKind::Reciprocal); })
      .Case([&](tpu::ExpOp) { return make(UnaryKind::Exp); })
      .Case([&](tpu::LogOp) { return make(UnaryKind::Log); })
      .Case([&](tpu::SigmoidOp) {
        return make(UnaryKind::Sigmoid, number("scale", 1), number("bias"));
      })
      .Case([&](tpu::TanhOp) { return make(UnaryKind::Tanh); })
      .Case([&](tpu::SiLUOp) { return make(UnaryKind::Swish, 1); })
      .Case([&](tpu::SwishOp) { return make(UnaryKind::Swish, number("beta", 1)); })
      .Case([&](tpu::GELUOp gelu) {
        return make(gelu.getApproxMode() == "tanh" ? UnaryKind::GeluTanh : UnaryKind::GeluErf);
      })
      .Case([&](tpu::ErfOp) { return make(UnaryKind::Erf); })
      .Case([&](tpu::HardSigmoidOp) {
        return make(UnaryKind::HardSigmoid, number("alpha", 0.2), number("beta", 0.5));
      })
      .Case([&](tpu::HardSwishOp) { return make(UnaryKind::HardSwish); })
      .Case([&](tpu::EluOp) { return make(UnaryKind::Elu, number("alpha", 1)); })
      .Case([&](tpu::SoftplusOp) { return make(UnaryKind::Softplus); })
      .Case([&](tpu::MishOp) { return make(UnaryKind::Mish); })
      .Case([&](tpu::FloorOp) { return make(UnaryKind::Floor); })
      .Case([&](tpu::CeilOp) { return make(UnaryKind::Ceil); })
      .Case([&](tpu::RoundOp) { return make(UnaryKind::Round); })
      .Case([&](tpu::SignOp) { return make(UnaryKind::Sign); })
      .Case([&](tpu::ThresholdedReluOp) { return make(UnaryKind::Threshold, number("alpha", 1)); })
      .Case([&](tpu::ShrinkOp) {
        return make(UnaryKind::Shrink, number("lambd", 0.5), number("bias"));
      })
      .Case([&](tpu::SoftsignOp) { return make(UnaryKind::Softsign); })
      .Case([&](tpu::SeluOp selu) {
        return make(UnaryKind::Selu, selu.getAlpha().convertToDouble(),
                    selu.getGamma().convertToDouble());
      })
      .Case([&](tpu::CeluOp) { return make(UnaryKind::Celu, number("alpha", 1)); })
      .Case([&](tpu::SinOp) { return make(UnaryKind::Sin); })
      .Case([&](tpu::CosOp) { return make(UnaryKind::Cos); })
      .Case([&](tpu::SinhOp) { return make(UnaryKind::Sinh); })
      .Case([&](tpu::CoshOp) { return make(UnaryKind::Cosh); })
      .Default([](Operation *) { return Maybe(); });
}

Kernels unaryKernels(const SlicedOp &sliced, Unary unary) {
  if (auto log = sliced.op->getAttrOfType<BoolAttr>("log"); log && log.getValue())
    return makeError("", "a logarithm of the result");
  unary.input = operandOf(sliced, 0);
  unary.output = resultOf(sliced);
  unary.scratch = scratchRoom(sliced);
  return one<unaryScratch, emitUnary>(unary);
}

/// max(x, 0) + slope * min(x, 0), the second part in the scratch.
Kernels preluKernels(const SlicedOp &sliced) {
  const LocalTensor input = operandOf(sliced, 0);
  const LocalTensor output = resultOf(sliced);
  const LocalTensor negative = output.at(static_cast<uint32_t>(sliced.scratchAddress));
  BinaryOperand slope = operandOf(sliced, 1);
  if (std::optional<double> number = scalarOperand(sliced.op, 1))
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

Kernels reduceKernels(tpu::ReduceOp op, const SlicedOp &sliced) {
  const auto kind = llvm::StringSwitch<std::optional<ReduceKind>>(op.getMode())
                        .Case("ReduceSum", ReduceKind::Sum)
                        .Case("ReduceMean", ReduceKind::Mean)
                        .Case("ReduceMax", ReduceKind::Max)
                        .Case("ReduceMin", ReduceKind::Min)
                        .Default(std::nullopt);
  if (!kind)
    return makeError("", "mode " + op.getMode().str(), "a sum, mean, maximum or minimum");
  return one<reductionScratch, emitReduction>(Reduction{.kind = *kind,
                                                        .input = operandOf(sliced, 0),
                                                        .output = resultOf(sliced),
                                                        .scratch = scratchRoom(sliced)});
}

/// The norm of a root mean square, which has no addend.
Kernels rmsNormKernels(tpu::RMSNormOp op, const SlicedOp &sliced) {
  Normalization norm;
  norm.input = operandOf(sliced, 0);
  norm.output = resultOf(sliced);
  norm.epsilon = op.getEps().convertToDouble();
  norm.centers = false;
  norm.scratch = scratchRoom(sliced);
  if (isPresent(op, 1))
    norm.gamma = operandOf(sliced, 1);
  return one<normalizationScratch, emitNormalization>(norm);
}

/// A layer norm, a norm over channels, or an instance norm.
template <typename Op> Kernels normKernels(Op op, const SlicedOp &sliced) {
  Normalization norm;
  norm.input = operandOf(sliced, 0);
  norm.output = resultOf(sliced);
  norm.epsilon = op.getEps().convertToDouble();
  norm.scratch = scratchRoom(sliced);
  if (isPresent(op, 1))
    norm.gamma = operandOf(sliced, 1);
  if (isPresent(op, 2))
    norm.beta = operandOf(sliced, 2);
  return one<normalizationScratch, emitNormalization>(norm);
}

Kernels softmaxKernels(tpu::SoftmaxOp op, const SlicedOp &sliced) {
  return one<softmaxScratch, emitSoftmax>(Softmax{.input = operandOf(sliced, 0),
                                                  .output = resultOf(sliced),
                                                  .beta = op.getBeta().convertToDouble(),
                                                  .isLog = op.getLog(),
                                                  .scratch = scratchRoom(sliced)});
}

Kernels interpKernels(tpu::InterpOp op, const SlicedOp &sliced) {
  if (repeatsPixels(op))
    return upsampleKernels(sliced);
  Expected<ResizeTaps> taps = resizeTapsOf(op, sliced);
  if (!taps)
    return propagate(taps);
  return one<resizeScratch, emitResize>(Resize{.input = operandOf(sliced, 0),
                                               .output = resultOf(sliced),
                                               .rows = std::move(taps->rows),
                                               .columns = std::move(taps->columns),
                                               .scratch = scratchRoom(sliced)});
}

bool isComputed(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

Kernels attentionKernels(tpu::ScaleDotProductAttentionOp op, const SlicedOp &sliced) {
  Attention attention;
  Expected<double> scale = setHeads(attention, op, sliced);
  if (!scale)
    return propagate(scale);
  attention.scale = *scale;
  attention.scratch = scratchRoom(sliced);
  return one<attentionScratch, emitAttention>(attention);
}

/// Some columns of rows, of any type.
Kernels columnSliceKernels(const SlicedOp &sliced) {
  const LocalTensor from = operandOf(sliced, 0);
  const LocalTensor to = resultOf(sliced);
  if (from.shape != to.shape)
    return makeError("", "every few columns", "columns that follow each other");
  return std::vector<Kernel>{{[]() -> Expected<uint32_t> { return 0; },
                              [=](Builder &builder) { return emitLocalCopy(builder, from, to); }}};
}

/// Types and forms that no kernel takes.
Expected<void> checkOperands(const SlicedOp &sliced) {
  for (unsigned index = 0; index <= sliced.op->getNumOperands(); ++index) {
    if (operandForm(sliced.op, index) == OperandForm::Absent)
      continue;
    const DataType type = elementTypeOf(sliced.op, index);
    if (!isComputed(type))
      return makeError("", "a tensor of " + std::string(dataTypeName(type)), "F32, F16 or BF16");
  }
  return {};
}

/// Whether a kernel can take a part of the tensor in which operand or result `index` lies.
bool takesPart(const SlicedOp &sliced, unsigned index, const LocalSlice &local) {
  if (!local.held || *local.held == local.slice)
    return true;
  return operandForm(sliced.op, index) == OperandForm::Tensor && (*local.held)[kAxisD].size == 1 &&
         (*local.held)[kAxisC] == local.slice[kAxisC];
}

/// Tensors that no local tensor stands for.
Expected<void> checkDimensions(const SlicedOp &sliced) {
  const auto numOperands = static_cast<unsigned>(sliced.operands.size());
  for (unsigned index = 0; index <= numOperands; ++index) {
    const LocalSlice &local = index == numOperands ? sliced.result : sliced.operands[index];
    if (!takesPart(sliced, index, local))
      return makeError("", "a part of a larger operand");
    if (local.slice[kAxisD].size > 1)
      return makeError("", "a tensor of 5 dimensions", "at most 4");
  }
  return {};
}

} // namespace

Kernels upsampleKernels(const SlicedOp &sliced) {
  return oneChecked<checkUpsampleNearest, emitUpsampleNearest>(
      UpsampleNearest{.input = operandOf(sliced, 0), .output = resultOf(sliced)});
}

Expected<ResizeTaps> resizeTapsOf(tpu::InterpOp op, const SlicedOp &sliced) {
  ResizeTaps all;
  for (unsigned i = 0; i < 2; ++i) {
    Expected<std::vector<InputTaps>> taps =
        resizeTaps(op, i, sliced.result.slice[kAxisH + i], sliced.operands[0].slice[kAxisH + i]);
    if (!taps)
      return propagate(taps);
    for (const InputTaps &tap : *taps)
      (i == 0 ? all.rows : all.columns).push_back({tap.first, tap.second, tap.secondWeight});
  }
  return all;
}

Expected<double> setHeads(AttentionOperands &attention, tpu::ScaleDotProductAttentionOp op,
                          const SlicedOp &sliced) {
  const bool isPlain = !op.getIsCausal() && static_cast<int64_t>(op.getLeftWindow()) < 0 &&
                       static_cast<int64_t>(op.getRightWindow()) < 0 &&
                       op.getSoftcap().convertToDouble() == 0 &&
                       (!op.getSoftmaxType() || op.getSoftmaxType()->isF32());
  if (!isPlain || !op.getQNumHeads() || !op.getKvNumHeads())
    return makeError("", "hidden keys, a cap or a softmax of another type", "attention alone");
  attention.query = operandOf(sliced, 0);
  attention.key = operandOf(sliced, 1);
  attention.value = operandOf(sliced, 2);
  attention.output = resultOf(sliced);
  attention.heads = static_cast<int64_t>(*op.getQNumHeads());
  attention.keyHeads = static_cast<int64_t>(*op.getKvNumHeads());
  const auto width = static_cast<double>(attention.query.shape[3] / attention.heads);
  return op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(width);
}

std::vector<MatrixOperands> matricesOf(const SlicedOp &sliced) {
  const LocalTensor left = operandOf(sliced, 0);
  const LocalTensor right = operandOf(sliced, 1);
  const LocalTensor output = resultOf(sliced);
  std::vector<MatrixOperands> matrices;
  for (int64_t batch = 0; batch < output.shape[0]; ++batch)
    matrices.push_back({left.slice(0, batch, 1), right.slice(0, right.shape[0] == 1 ? 0 : batch, 1),
                        output.slice(0, batch, 1)});
  return matrices;
}

bool hasKernel(Operation *op) {
  return hasQuantizedKernel(op) || hasSelectKernel(op) || binaryKind(op) || unaryOf(op) ||
         isa<tpu::ConvOp, tpu::DeconvOp, tpu::MaxPoolOp, tpu::AvgPoolOp, tpu::MatMulOp, tpu::CastOp,
             tpu::PReluOp, tpu::ReduceOp, tpu::LayerNormOp, tpu::PixelNormOp, tpu::RMSNormOp,
             tpu::InstanceNormOp, tpu::SoftmaxOp, tpu::UpsampleOp, tpu::InterpOp, tpu::LSTMOp,
             tpu::GRUOp, tpu::RNNOp, tpu::SliceOp, tpu::ScaleDotProductAttentionOp>(op);
}

/// Of a concatenation of channels: those parts that lie in their places begin at whole rounds of
/// lanes; the others are brought to their lanes, unless they were before.
static Kernels concatKernels(const SlicedOp &sliced) {
  constexpr unsigned kChannels = 1;
  std::vector<Kernel> kernels;
  const LocalTensor result = resultOf(sliced);
  int64_t channel = 0;
  for (unsigned index = 0; index < sliced.op->getNumOperands(); ++index) {
    const LocalTensor from = operandOf(sliced, index);
    const LocalTensor to = result.slice(kChannels, channel, from.shape[kChannels]);
    if (channel % kLanes != 0 && !sliced.operands[index].isPlaced)
      kernels.push_back(
          {[]() -> Expected<uint32_t> { return 0; },
           [from, to](Builder &builder) { return emitLocalMove(builder, from, to); }});
    channel += from.shape[kChannels];
  }
  return kernels;
}

Kernels kernelsOf(const SlicedOp &sliced) {
  if (Expected<void> checked = checkDimensions(sliced); !checked)
    return propagate(checked);
  if (hasQuantizedKernel(sliced.op))
    return quantizedKernels(sliced);
  if (hasSelectKernel(sliced.op))
    return selectKernels(sliced);
  if (isa<tpu::SliceOp>(sliced.op))
    return columnSliceKernels(sliced);
  if (isa<tpu::ConcatOp>(sliced.op))
    return concatKernels(sliced);
  if (Expected<void> checked = checkOperands(sliced); !checked)
    return propagate(checked);
  Operation *op = sliced.op;
  if (std::optional<BinaryKind> kind = binaryKind(op))
    return binaryKernels(op, *kind, sliced);
  if (std::optional<Unary> unary = unaryOf(op))
    return unaryKernels(sliced, *unary);
  return llvm::TypeSwitch<Operation *, Kernels>(op)
      .Case([&](tpu::ConvOp) { return convKernels(sliced); })
      .Case([&](tpu::DeconvOp) { return deconvKernels(sliced); })
      .Case<tpu::MaxPoolOp, tpu::AvgPoolOp>([&](auto pool) { return poolKernels(pool, sliced); })
      .Case([&](tpu::MatMulOp product) { return matMulKernels(product, sliced); })
      .Case([&](tpu::CastOp) {
        return one<castScratch, emitCast>(CastOp{.input = operandOf(sliced, 0),
                                                 .output = resultOf(sliced),
                                                 .scratch = scratchRoom(sliced)});
      })
      .Case([&](tpu::PReluOp) { return preluKernels(sliced); })
      .Case([&](tpu::ReduceOp reduce) { return reduceKernels(reduce, sliced); })
      .Case<tpu::LayerNormOp, tpu::PixelNormOp, tpu::InstanceNormOp>(
          [&](auto norm) { return normKernels(norm, sliced); })
      .Case([&](tpu::RMSNormOp norm) { return rmsNormKernels(norm, sliced); })
      .Case([&](tpu::SoftmaxOp softmax) { return softmaxKernels(softmax, sliced); })
      .Case([&](tpu::ScaleDotProductAttentionOp attention) {
        return attentionKernels(attention, sliced);
      })
      .Case([&](tpu::UpsampleOp) { return upsampleKernels(sliced); })
      .Case([&](tpu::InterpOp interp) { return interpKernels(interp, sliced); })
      .Case<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(
          [&](Operation *) { return recurrentKernels(sliced); })
      .Default([](Operation *) -> Kernels { return makeError("", "there is no kernel"); });
}

} // namespace tpuc::bm1684x::backend
