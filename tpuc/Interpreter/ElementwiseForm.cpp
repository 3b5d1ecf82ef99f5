//===- ElementwiseForm.cpp - Element-wise ops as post-ops ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/ElementwiseForm.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Interpreter/Kernels/Blocked.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tpuc;
using namespace tpuc::top;
using kernels::BinaryOp;
using kernels::PostOp;
using kernels::RowOperand;
using kernels::UnaryOp;

kernels::PostOp tpuc::clipOp(double low, double high) {
  PostOp op;
  op.kind = PostOp::Kind::Clip;
  op.a = static_cast<float>(low);
  op.b = static_cast<float>(high);
  return op;
}

namespace {

PostOp unaryOp(UnaryOp kind, double a = 0, double b = 0) {
  PostOp op;
  op.unary = kind;
  op.a = static_cast<float>(a);
  op.b = static_cast<float>(b);
  return op;
}

PostOp binaryOp(BinaryOp kind, bool isReversed) {
  PostOp op;
  op.kind = PostOp::Kind::Binary;
  op.binary = kind;
  op.isReversed = isReversed;
  return op;
}

PostOp scalarOp(BinaryOp kind, double value, bool isReversed = false) {
  PostOp op = binaryOp(kind, isReversed);
  op.operandKind = RowOperand::Scalar;
  op.constant = {static_cast<float>(value)};
  return op;
}

/// Builds the form of one op.
class FormBuilder {
public:
  FormBuilder(mlir::Value main, const Shape &shape, bool isBlocked, const CompileContext &context)
      : main(main), shape(shape), isBlocked(isBlocked), context(context) {}

  std::optional<ElementwiseForm> build(mlir::Operation *op) {
    if (!isKnown(op))
      return std::nullopt;
    return std::move(form);
  }

private:
  bool add(PostOp op) {
    form.ops.push_back(std::move(op));
    return true;
  }
  template <typename Op> bool addRelu(Op op) {
    const double limit = op.getReluLimit().convertToDouble();
    if (op.getDoRelu())
      add(clipOp(0, limit < 0 ? std::numeric_limits<double>::infinity() : limit));
    return true;
  }
  template <typename Op> bool addConst(Op op, BinaryOp kind, bool isReversed = false) {
    add(scalarOp(kind, op.getConstVal().convertToDouble(), isReversed));
    if constexpr (requires { op.getDoRelu(); })
      addRelu(op);
    return true;
  }

  /// `main kind other` or, where main is the second operand, `other kind main`.
  bool addBinary(BinaryOp kind, mlir::OperandRange operands) {
    if (operands.size() != 2)
      return false;
    const bool isReversed = operands[0] != main;
    PostOp op = binaryOp(kind, isReversed);
    return readOther(operands[isReversed ? 0 : 1], op) && add(std::move(op));
  }

  /// How the other operand meets the elements.
  bool readOther(mlir::Value other, PostOp &op) {
    std::optional<Shape> own = staticShape(other);
    if (!own || own->rank() > shape.rank())
      return false;
    const Tensor *constant = context.constant(other);
    if (own->numElements() == 1) {
      op.operandKind = RowOperand::Scalar;
      if (constant)
        op.constant = {constant->data<float>()[0]};
      return constant || addOther(other, op);
    }
    if (*own == shape && !constant) {
      op.operandKind = RowOperand::Same;
      return addOther(other, op);
    }
    if (!isBlocked || !isPerChannel(*own))
      return false;
    op.operandKind = RowOperand::Channel;
    if (constant)
      return readChannels(*constant, op);
    if (own->rank() != shape.rank())
      return false;
    op.samplePitch = (*own)[0] == 1 ? 0 : kernels::blocksOf(shape[1]) * kernels::kBlock;
    return addOther(other, op);
  }

  /// Extents 1 but for the channels, and the samples.
  bool isPerChannel(const Shape &own) const {
    const size_t shift = shape.rank() - own.rank();
    for (size_t axis = 0; axis < own.rank(); ++axis)
      if (axis + shift == 1 ? own[axis] != shape[1]
                            : own[axis] != 1 && (axis + shift != 0 || own[axis] != shape[0]))
        return false;
    return own.rank() + 1 >= shape.rank();
  }

  /// One constant for each channel.
  bool readChannels(const Tensor &constant, PostOp &op) {
    if (constant.numElements() != shape[1])
      return false;
    auto values = constant.data<float>();
    op.constant.assign(values.begin(), values.end());
    op.constant.resize(static_cast<size_t>(kernels::blocksOf(shape[1]) * kernels::kBlock), 0.0F);
    return true;
  }

  bool addOther(mlir::Value other, PostOp &op) {
    op.operand = static_cast<int>(form.others.size());
    form.others.push_back(other);
    return true;
  }

  /// x * scale[c] + bias[c].
  bool addScale(ScaleOp op) {
    const Tensor *scale = context.constant(op.getScale());
    const Tensor *bias = context.constant(op.getBias());
    if (!isBlocked || op.getInput() != main || !scale || !bias || scale->type() != DataType::F32 ||
        bias->type() != DataType::F32)
      return false;
    for (auto [kind, tensor] : {std::pair(BinaryOp::Mul, scale), std::pair(BinaryOp::Add, bias)}) {
      PostOp step = binaryOp(kind, false);
      step.operandKind = RowOperand::Channel;
      if (!readChannels(*tensor, step))
        return false;
      add(std::move(step));
    }
    return addRelu(op);
  }

  template <typename Op> bool addScaled(Op op, BinaryOp kind) {
    return op.getMultiplier() == 1 && op.getRshift() == 0 && addBinary(kind, op.getInputs()) &&
           addRelu(op);
  }
  template <typename Op> bool addSum(Op op, BinaryOp kind) {
    return !op.getCoeff() && addBinary(kind, op.getInputs()) && addRelu(op);
  }

  bool isKnown(mlir::Operation *op);
  bool isKnownBinary(mlir::Operation *op);

  mlir::Value main;
  const Shape &shape;
  bool isBlocked;
  const CompileContext &context;
  ElementwiseForm form;
};

double number(const llvm::APFloat &value) { return value.convertToDouble(); }

bool FormBuilder::isKnown(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case([&](ReluOp relu) {
        const double limit = number(relu.getReluLimit());
        return add(clipOp(0, limit < 0 ? std::numeric_limits<double>::infinity() : limit));
      })
      .Case([&](ClipOp clip) { return add(clipOp(number(clip.getMin()), number(clip.getMax()))); })
      .Case([&](AbsOp) { return add(unaryOp(UnaryOp::Abs)); })
      .Case([&](NegOp) { return add(unaryOp(UnaryOp::Neg)); })
      .Case([&](ErfOp) { return add(unaryOp(UnaryOp::Erf)); })
      .Case([&](ExpOp) { return add(unaryOp(UnaryOp::Exp)); })
      .Case([&](HardSwishOp) { return add(unaryOp(UnaryOp::HardSwish)); })
      .Case([&](MishOp) { return add(unaryOp(UnaryOp::Mish)); })
      .Case([&](ReciprocalOp) { return add(unaryOp(UnaryOp::Reciprocal)); })
      .Case([&](RsqrtOp) { return add(unaryOp(UnaryOp::Rsqrt)); })
      .Case([&](SqrtOp) { return add(unaryOp(UnaryOp::Sqrt)); })
      .Case([&](TanhOp) { return add(unaryOp(UnaryOp::Tanh)); })
      .Case([&](SiLUOp) { return add(unaryOp(UnaryOp::Swish, 1)); })
      .Case([&](SwishOp swish) { return add(unaryOp(UnaryOp::Swish, number(swish.getBeta()))); })
      .Case([&](LeakyReluOp relu) {
        return add(unaryOp(UnaryOp::LeakyRelu, number(relu.getAlpha())));
      })
      .Case([&](HardSigmoidOp sigmoid) {
        return add(
            unaryOp(UnaryOp::HardSigmoid, number(sigmoid.getAlpha()), number(sigmoid.getBeta())));
      })
      .Case([&](SigmoidOp sigmoid) {
        return !sigmoid.getLog() && add(unaryOp(UnaryOp::Sigmoid, number(sigmoid.getScale()),
                                                number(sigmoid.getBias())));
      })
      .Case([&](GELUOp gelu) {
        return add(unaryOp(gelu.getApproxMode() == "tanh" ? UnaryOp::GeluTanh : UnaryOp::GeluErf));
      })
      .Case([&](ScaleOp scale) { return addScale(scale); })
      .Case([&](tpu::RoundToOp round) {
        return add(unaryOp(round.getType().isF16() ? UnaryOp::RoundF16 : UnaryOp::RoundBF16));
      })
      .Default([&](mlir::Operation *other) { return isKnownBinary(other); });
}

bool FormBuilder::isKnownBinary(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case([&](AddOp sum) { return addSum(sum, BinaryOp::Add); })
      .Case([&](SubOp difference) { return addSum(difference, BinaryOp::Sub); })
      .Case([&](MulOp product) { return addScaled(product, BinaryOp::Mul); })
      .Case([&](DivOp quotient) { return addScaled(quotient, BinaryOp::Div); })
      .Case([&](MinOp least) { return addBinary(BinaryOp::Min, least.getInputs()); })
      .Case([&](MaxOp most) { return addBinary(BinaryOp::Max, most.getInputs()); })
      .Case([&](PReluOp relu) {
        return relu->getOperand(0) == main && addBinary(BinaryOp::PRelu, relu->getOperands());
      })
      .Case([&](AddConstOp sum) { return addConst(sum, BinaryOp::Add); })
      .Case([&](SubConstOp difference) {
        return addConst(difference, BinaryOp::Sub, difference.getIsReverse());
      })
      .Case([&](MulConstOp product) { return addConst(product, BinaryOp::Mul); })
      .Case([&](DivConstOp quotient) {
        return addConst(quotient, BinaryOp::Div, quotient.getIsReverse());
      })
      .Case([&](MinConstOp least) { return addConst(least, BinaryOp::Min); })
      .Case([&](MaxConstOp most) { return addConst(most, BinaryOp::Max); })
      .Default(false);
}

} // namespace

std::optional<ElementwiseForm> tpuc::elementwiseForm(mlir::Operation *op, mlir::Value main,
                                                     const Shape &shape, bool isBlocked,
                                                     const CompileContext &context) {
  return FormBuilder(main, shape, isBlocked, context).build(op);
}
