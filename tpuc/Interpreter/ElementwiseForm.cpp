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
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Interpreter/Kernels/Blocked.h"

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
  /// Each adds the steps of an op, and says whether it could.
  using Forms = OpFunctions<bool(FormBuilder &)>;
  static const Forms &forms();

  FormBuilder(mlir::Value main, const Shape &shape, bool isBlocked, const CompileContext &context)
      : main(main), shape(shape), isBlocked(isBlocked), context(context) {}

  std::optional<ElementwiseForm> build(mlir::Operation *op) {
    const auto add = forms().find(op);
    if (!add || !add(op, *this))
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

  static void addUnary(Forms &forms);
  static void addBinaries(Forms &forms);

  mlir::Value main;
  const Shape &shape;
  bool isBlocked;
  const CompileContext &context;
  ElementwiseForm form;
};

double number(const llvm::APFloat &value) { return value.convertToDouble(); }

/// Functions of one tensor.
void FormBuilder::addUnary(Forms &forms) {
  forms
      .add<ReluOp>([](ReluOp relu, FormBuilder &form) {
        const double limit = number(relu.getReluLimit());
        return form.add(clipOp(0, limit < 0 ? std::numeric_limits<double>::infinity() : limit));
      })
      .add<ClipOp>([](ClipOp clip, FormBuilder &form) {
        return form.add(clipOp(number(clip.getMin()), number(clip.getMax())));
      })
      .add<AbsOp>([](AbsOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Abs)); })
      .add<NegOp>([](NegOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Neg)); })
      .add<ErfOp>([](ErfOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Erf)); })
      .add<ExpOp>([](ExpOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Exp)); })
      .add<HardSwishOp>(
          [](HardSwishOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::HardSwish)); })
      .add<MishOp>([](MishOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Mish)); })
      .add<ReciprocalOp>(
          [](ReciprocalOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Reciprocal)); })
      .add<RsqrtOp>([](RsqrtOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Rsqrt)); })
      .add<SqrtOp>([](SqrtOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Sqrt)); })
      .add<TanhOp>([](TanhOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Tanh)); })
      .add<SiLUOp>([](SiLUOp, FormBuilder &form) { return form.add(unaryOp(UnaryOp::Swish, 1)); })
      .add<SwishOp>([](SwishOp swish, FormBuilder &form) {
        return form.add(unaryOp(UnaryOp::Swish, number(swish.getBeta())));
      })
      .add<LeakyReluOp>([](LeakyReluOp relu, FormBuilder &form) {
        return form.add(unaryOp(UnaryOp::LeakyRelu, number(relu.getAlpha())));
      })
      .add<HardSigmoidOp>([](HardSigmoidOp sigmoid, FormBuilder &form) {
        return form.add(
            unaryOp(UnaryOp::HardSigmoid, number(sigmoid.getAlpha()), number(sigmoid.getBeta())));
      })
      .add<SigmoidOp>([](SigmoidOp sigmoid, FormBuilder &form) {
        return !sigmoid.getLog() && form.add(unaryOp(UnaryOp::Sigmoid, number(sigmoid.getScale()),
                                                     number(sigmoid.getBias())));
      })
      .add<GELUOp>([](GELUOp gelu, FormBuilder &form) {
        return form.add(
            unaryOp(gelu.getApproxMode() == "tanh" ? UnaryOp::GeluTanh : UnaryOp::GeluErf));
      })
      .add<ScaleOp>([](ScaleOp scale, FormBuilder &form) { return form.addScale(scale); })
      .add<tpu::RoundToOp>([](tpu::RoundToOp round, FormBuilder &form) {
        return form.add(unaryOp(round.getType().isF16() ? UnaryOp::RoundF16 : UnaryOp::RoundBF16));
      });
}

/// Functions of two tensors, or of one and a number.
void FormBuilder::addBinaries(Forms &forms) {
  forms.add<AddOp>([](AddOp sum, FormBuilder &form) { return form.addSum(sum, BinaryOp::Add); })
      .add<SubOp>([](SubOp difference, FormBuilder &form) {
        return form.addSum(difference, BinaryOp::Sub);
      })
      .add<MulOp>(
          [](MulOp product, FormBuilder &form) { return form.addScaled(product, BinaryOp::Mul); })
      .add<DivOp>(
          [](DivOp quotient, FormBuilder &form) { return form.addScaled(quotient, BinaryOp::Div); })
      .add<MinOp>([](MinOp least, FormBuilder &form) {
        return form.addBinary(BinaryOp::Min, least.getInputs());
      })
      .add<MaxOp>([](MaxOp most, FormBuilder &form) {
        return form.addBinary(BinaryOp::Max, most.getInputs());
      })
      .add<PReluOp>([](PReluOp relu, FormBuilder &form) {
        return relu->getOperand(0) == form.main &&
               form.addBinary(BinaryOp::PRelu, relu->getOperands());
      })
      .add<AddConstOp>(
          [](AddConstOp sum, FormBuilder &form) { return form.addConst(sum, BinaryOp::Add); })
      .add<SubConstOp>([](SubConstOp difference, FormBuilder &form) {
        return form.addConst(difference, BinaryOp::Sub, difference.getIsReverse());
      })
      .add<MulConstOp>([](MulConstOp product, FormBuilder &form) {
        return form.addConst(product, BinaryOp::Mul);
      })
      .add<DivConstOp>([](DivConstOp quotient, FormBuilder &form) {
        return form.addConst(quotient, BinaryOp::Div, quotient.getIsReverse());
      })
      .add<MinConstOp>(
          [](MinConstOp least, FormBuilder &form) { return form.addConst(least, BinaryOp::Min); })
      .add<MaxConstOp>(
          [](MaxConstOp most, FormBuilder &form) { return form.addConst(most, BinaryOp::Max); });
}

const FormBuilder::Forms &FormBuilder::forms() {
  static const Forms kForms = [] {
    Forms forms;
    addUnary(forms);
    addBinaries(forms);
    return forms;
  }();
  return kForms;
}

} // namespace

std::optional<ElementwiseForm> tpuc::elementwiseForm(mlir::Operation *op, mlir::Value main,
                                                     const Shape &shape, bool isBlocked,
                                                     const CompileContext &context) {
  return FormBuilder(main, shape, isBlocked, context).build(op);
}

bool tpuc::hasElementwiseForm(mlir::OperationName op) { return FormBuilder::forms().find(op); }
