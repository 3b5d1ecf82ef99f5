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

#include <array>
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

Kernels unaryKernels(const SlicedOp &sliced, UnaryKind kind, double a = 0, double b = 0) {
  if (auto log = sliced.op->getAttrOfType<BoolAttr>("log"); log && log.getValue())
    return makeError("", "a logarithm of the result");
  Unary unary;
  unary.kind = kind;
  unary.a = a;
  unary.b = b;
  unary.input = operandOf(sliced, 0);
  unary.output = resultOf(sliced);
  unary.scratch = scratchRoom(sliced);
  return one<unaryScratch, emitUnary>(unary);
}

double number(const llvm::APFloat &value) { return value.convertToDouble(); }

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

namespace {

using Sliced = const SlicedOp &;

/// A function without numbers, and one of two operands.
template <UnaryKind kind> struct Plain {
  Kernels operator()(Operation *, Sliced sliced) const { return unaryKernels(sliced, kind); }
};
template <BinaryKind kind> struct OfTwo {
  Kernels operator()(Operation *op, Sliced sliced) const { return binaryKernels(op, kind, sliced); }
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
      .add<tpu::ReluOp>([](tpu::ReluOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Relu, number(op.getReluLimit()));
      })
      .add<tpu::ClipOp>([](tpu::ClipOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Clip, number(op.getMin()), number(op.getMax()));
      })
      .add<tpu::LeakyReluOp>([](tpu::LeakyReluOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::LeakyRelu, number(op.getAlpha()));
      })
      .add<tpu::SigmoidOp>([](tpu::SigmoidOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Sigmoid, number(op.getScale()),
                            number(op.getBias()));
      })
      .add<tpu::SiLUOp>(
          [](Operation *, Sliced sliced) { return unaryKernels(sliced, UnaryKind::Swish, 1); })
      .add<tpu::SwishOp>([](tpu::SwishOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Swish, number(op.getBeta()));
      })
      .add<tpu::GELUOp>([](tpu::GELUOp op, Sliced sliced) {
        const bool isTanh = op.getApproxMode() == "tanh";
        return unaryKernels(sliced, isTanh ? UnaryKind::GeluTanh : UnaryKind::GeluErf);
      })
      .add<tpu::HardSigmoidOp>([](tpu::HardSigmoidOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::HardSigmoid, number(op.getAlpha()),
                            number(op.getBeta()));
      })
      .add<tpu::EluOp>([](tpu::EluOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Elu, number(op.getAlpha()));
      })
      .add<tpu::ThresholdedReluOp>([](tpu::ThresholdedReluOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Threshold, number(op.getAlpha()));
      })
      .add<tpu::ShrinkOp>([](tpu::ShrinkOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Shrink, number(op.getLambd()), number(op.getBias()));
      })
      .add<tpu::SeluOp>([](tpu::SeluOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Selu, number(op.getAlpha()), number(op.getGamma()));
      })
      .add<tpu::CeluOp>([](tpu::CeluOp op, Sliced sliced) {
        return unaryKernels(sliced, UnaryKind::Celu, number(op.getAlpha()));
      });
}

/// What is not element by element, or changes the type.
KernelTable layerTable() {
  return KernelTable(takesAll, checkOperands)
      .add<tpu::ConvOp>([](Operation *, Sliced sliced) { return convKernels(sliced); })
      .add<tpu::DeconvOp>([](Operation *, Sliced sliced) { return deconvKernels(sliced); })
      .add<tpu::MaxPoolOp, tpu::AvgPoolOp>(
          [](auto pool, Sliced sliced) { return poolKernels(pool, sliced); })
      .add<tpu::MatMulOp>(
          [](tpu::MatMulOp product, Sliced sliced) { return matMulKernels(product, sliced); })
      .add<tpu::CastOp>([](Operation *, Sliced sliced) {
        return one<castScratch, emitCast>(CastOp{.input = operandOf(sliced, 0),
                                                 .output = resultOf(sliced),
                                                 .scratch = scratchRoom(sliced)});
      })
      .add<tpu::PReluOp>([](Operation *, Sliced sliced) { return preluKernels(sliced); })
      .add<tpu::ReduceOp>(
          [](tpu::ReduceOp reduce, Sliced sliced) { return reduceKernels(reduce, sliced); })
      .add<tpu::LayerNormOp, tpu::PixelNormOp, tpu::InstanceNormOp>(
          [](auto norm, Sliced sliced) { return normKernels(norm, sliced); })
      .add<tpu::RMSNormOp>(
          [](tpu::RMSNormOp norm, Sliced sliced) { return rmsNormKernels(norm, sliced); })
      .add<tpu::SoftmaxOp>(
          [](tpu::SoftmaxOp softmax, Sliced sliced) { return softmaxKernels(softmax, sliced); })
      .add<tpu::ScaleDotProductAttentionOp>(
          [](tpu::ScaleDotProductAttentionOp attention, Sliced sliced) {
            return attentionKernels(attention, sliced);
          })
      .add<tpu::UpsampleOp>([](Operation *, Sliced sliced) { return upsampleKernels(sliced); })
      .add<tpu::InterpOp>(
          [](tpu::InterpOp interp, Sliced sliced) { return interpKernels(interp, sliced); })
      .add<tpu::LSTMOp, tpu::GRUOp, tpu::RNNOp>(
          [](Operation *, Sliced sliced) { return recurrentKernels(sliced); })
      // These move elements of any type.
      .with(checkNothing)
      .add<tpu::SliceOp>([](Operation *, Sliced sliced) { return columnSliceKernels(sliced); })
      .add<tpu::ConcatOp>([](Operation *, Sliced sliced) { return concatKernels(sliced); });
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

Kernels kernelsOf(const SlicedOp &sliced) {
  if (Expected<void> checked = checkDimensions(sliced); !checked)
    return propagate(checked);
  const KernelRule *rule = ruleOf(sliced.op);
  if (!rule)
    return makeError("", "there is no kernel");
  if (Expected<void> checked = rule->check(sliced); !checked)
    return propagate(checked);
  return rule->make(sliced.op, sliced);
}

} // namespace tpuc::bm1684x::backend
