//===- ElementwiseKernels.cpp - Kernels of element-wise functions of floats -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/ElementwiseKernels.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684X/Codegen/SlicedOperands.h"
#include "tpuc/Target/BM1684X/Kernels/Activations.h"
#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

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

Kernels preluKernels(const TiledOp &tiled) {
  BinaryOperand slope = operandOf(tiled, 1);
  if (std::optional<double> number = layoutOf(tiled).operand(1).number)
    slope = *number;
  return one<preluScratch, emitPRelu>(PRelu{.input = operandOf(tiled, 0),
                                            .slope = std::move(slope),
                                            .output = resultOf(tiled),
                                            .scratch = scratchRoom(tiled)});
}

/// A function without numbers, and one of two operands.
template <UnaryKind kind> struct Plain {
  Kernels operator()(Operation *, Sliced tiled) const { return unaryKernels(tiled, kind); }
};
template <BinaryKind kind> struct OfTwo {
  Kernels operator()(Operation *op, Sliced tiled) const { return binaryKernels(op, kind, tiled); }
};

/// Floats. Packed constants are not for rows of matrices, which have their channels as images.
Expected<void> checkChannels(const TiledOp &tiled) {
  const BM1684XLayout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < tiled.op->getNumOperands(); ++index)
    if (const TensorLayout &operand = layout.operand(index);
        operand.form == OperandForm::PerChannel && operand.extents[kAxisC] != operand.rows.channels)
      return makeError("", "numbers of channels for rows of matrices", "channels of pictures");
  return checkFloats(tiled);
}

/// Tensors that are not all floats, or all integers of 32 bits.
Expected<void> checkFloatsOrIntegers(const TiledOp &tiled) {
  const BM1684XLayout &layout = layoutOf(tiled);
  for (unsigned index = 0; index < layout.numTensors(); ++index)
    if (layout.operand(index).isLoaded && layout.operand(index).type != DataType::I32)
      return checkChannels(tiled);
  return {};
}

/// Element-wise functions without numbers of their own.
KernelTable plainTable() {
  return KernelTable(takesAll, checkFloatsOrIntegers)
      .add<tpu::AddOp>(OfTwo<BinaryKind::Add>())
      .add<tpu::SubOp>(OfTwo<BinaryKind::Sub>())
      .add<tpu::MulOp>(OfTwo<BinaryKind::Mul>())
      .with(checkChannels)
      .add<tpu::AddConstOp>(OfTwo<BinaryKind::Add>())
      .add<tpu::SubConstOp>(OfTwo<BinaryKind::Sub>())
      .add<tpu::MulConstOp>(OfTwo<BinaryKind::Mul>())
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
  return KernelTable(takesAll, checkFloats)
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
      })
      .add<tpu::PReluOp>([](Operation *, Sliced tiled) { return preluKernels(tiled); });
}

} // namespace

const KernelTable &plainKernels() {
  static const KernelTable kTable = plainTable();
  return kTable;
}

const KernelTable &numberedKernels() {
  static const KernelTable kTable = numberedTable();
  return kTable;
}

} // namespace tpuc::bm1684x::backend
