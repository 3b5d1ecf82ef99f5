//===- CompileOps.cpp - Ops as kernels for fixed shapes ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/CompileOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/ElementwiseForm.h"
#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/PackedMatMul.h"
#include "tpuc/Interpreter/TopWindow.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tpuc;
using namespace tpuc::top;
using kernels::CompiledKernel;

namespace {

using MaybeCompiled = std::optional<CompiledOp>;

llvm::ArrayRef<int64_t> dimsOf(const Shape &shape) { return {shape.begin(), shape.end()}; }

bool canBlock(const Shape &shape) { return shape.rank() == 3 || shape.rank() == 4; }

void appendRelu(CompiledKernel &kernel, bool doRelu, double limit) {
  if (doRelu)
    kernel.postOps.push_back(
        clipOp(0, limit < 0 ? std::numeric_limits<double>::infinity() : limit));
}

/// The kernel `made` on the only data operand, followed by `op`'s ReLU if it has one.
template <typename Op>
MaybeCompiled blockedOn(mlir::Value input, std::unique_ptr<CompiledKernel> made, Op op) {
  CompiledOp compiled{std::move(made), {{input, true}}, true};
  if constexpr (requires { op.getDoRelu(); })
    appendRelu(*compiled.kernel, op.getDoRelu(), op.getReluLimit().convertToDouble());
  return compiled;
}

/// The constant f32 filter and bias of a convolution or product; nothing if they are not.
struct Constants {
  const Tensor *filter = nullptr;
  const Tensor *bias = nullptr;
};
std::optional<Constants> constantsOf(mlir::Value filter, mlir::Value bias,
                                     const CompileContext &context) {
  Constants constants{context.constant(filter), isPresent(bias) ? context.constant(bias) : nullptr};
  if (!constants.filter || constants.filter->type() != DataType::F32 ||
      constants.filter->numElements() == 0)
    return std::nullopt;
  if (isPresent(bias) && (!constants.bias || constants.bias->type() != DataType::F32))
    return std::nullopt;
  return constants;
}

template <typename Op> MaybeCompiled compileConvolution(Op op, const CompileContext &context) {
  constexpr bool kIsTransposed = std::is_same_v<Op, DeconvOp>;
  std::optional<Shape> input = staticShape(op.getInput());
  std::optional<Shape> output = staticShape(op.getOutput());
  std::optional<Constants> constants = constantsOf(op.getFilter(), op.getBias(), context);
  if (!input || !output || !constants || op.getInserts())
    return std::nullopt;
  Expected<Window> window = windowOf(op, dimsOf(*input), extents(*constants->filter));
  if (!window || llvm::ArrayRef<int64_t>(window->output) != dimsOf(*output) ||
      (constants->bias && constants->bias->numElements() != (*output)[1]))
    return std::nullopt;
  kernels::ConvParams params;
  params.window = windowParams(*window);
  params.group = op.getGroup();
  const Shape &filter = constants->filter->shape();
  if constexpr (kIsTransposed) {
    if (!kernels::isBlockedDeconvolution(*input, *output, params))
      return std::nullopt;
    MaybeCompiled compiled = blockedOn(
        op.getInput(),
        kernels::makeDeconvolution(*input, *output, *constants->filter, constants->bias, params),
        op);
    compiled->isBlocked = !kernels::givesPlainResult(*input, *output, params);
    return compiled;
  } else {
    if (!kernels::isBlockedConvolution(*input, filter, params))
      return std::nullopt;
    MaybeCompiled compiled = blockedOn(
        op.getInput(),
        kernels::makeConvolution(*input, *output, *constants->filter, constants->bias, params), op);
    if (kernels::takesPlainInput(*input, filter, params))
      compiled->operands[0].isBlocked = false;
    return compiled;
  }
}

/// The window of a pooling of a blocked operand with a static result.
template <typename Op> std::optional<Window> poolWindow(Op op, const CompileContext &context) {
  std::optional<Shape> input = staticShape(op.getInput());
  std::optional<Shape> output = staticShape(op.getOutput());
  if (!input || !output || !canBlock(*input) || !context.isBlocked(op.getInput()))
    return std::nullopt;
  Expected<Window> window = windowOf(op, dimsOf(*input));
  if (!window || llvm::ArrayRef<int64_t>(window->output) != dimsOf(*output) ||
      llvm::any_of(window->padsBegin, [](int64_t pad) { return pad < 0; }))
    return std::nullopt;
  return *window;
}

MaybeCompiled compileMaxPool(MaxPoolOp op, const CompileContext &context) {
  std::optional<Window> window = poolWindow(op, context);
  if (!window)
    return std::nullopt;
  return blockedOn(op.getInput(),
                   kernels::makeMaxPool(*staticShape(op.getInput()), *staticShape(op.getOutput()),
                                        windowParams(*window)),
                   op);
}

MaybeCompiled compileAvgPool(AvgPoolOp op, const CompileContext &context) {
  std::optional<Window> window = poolWindow(op, context);
  if (!window || (op.getCountIncludePad() && op.getPadValue() != 0))
    return std::nullopt;
  Shape input = *staticShape(op.getInput());
  Shape output = *staticShape(op.getOutput());
  const bool isGlobal =
      llvm::ArrayRef<int64_t>(window->kernel) == dimsOf(input).drop_front(2) &&
      llvm::all_of(dimsOf(output).drop_front(2), [](int64_t extent) { return extent == 1; }) &&
      llvm::all_of(window->padsBegin, [](int64_t pad) { return pad == 0; }) &&
      llvm::all_of(window->dilations, [](int64_t step) { return step == 1; });
  return blockedOn(op.getInput(),
                   isGlobal ? kernels::makeGlobalAverage(input)
                            : kernels::makeAveragePool(input, output, windowParams(*window),
                                                       op.getCountIncludePad()),
                   op);
}

/// The mean over all spatial positions that keeps the dimensions.
MaybeCompiled compileReduce(top::ReduceOp op, const CompileContext &context) {
  std::optional<Shape> input = staticShape(op.getInput());
  std::optional<Shape> output = staticShape(op.getOutput());
  if (!input || !output || !canBlock(*input) || !context.isBlocked(op.getInput()) ||
      op.getMode() != "ReduceMean" || !op.getKeepdims())
    return std::nullopt;
  // The result tells which dimensions were reduced.
  Shape reduced = *input;
  for (size_t axis = 2; axis < reduced.rank(); ++axis)
    reduced[axis] = 1;
  if (reduced != *output)
    return std::nullopt;
  return blockedOn(op.getInput(), kernels::makeGlobalAverage(*input), op);
}

MaybeCompiled compileConcat(ConcatOp op, const CompileContext &context) {
  auto inputs = op.getInputs();
  std::optional<Shape> output = staticShape(op.getOutput());
  if (!output || !canBlock(*output) ||
      (op.getAxis() != 1 && op.getAxis() + static_cast<int64_t>(output->rank()) != 1))
    return std::nullopt;
  std::vector<Shape> shapes;
  CompiledOp compiled;
  bool isAnyBlocked = false;
  for (mlir::Value input : inputs) {
    std::optional<Shape> shape = staticShape(input);
    if (!shape || context.constant(input))
      return std::nullopt;
    shapes.push_back(*shape);
    compiled.operands.push_back({input, true});
    isAnyBlocked |= context.isBlocked(input);
  }
  if (!isAnyBlocked)
    return std::nullopt;
  compiled.kernel = kernels::makeConcat(shapes);
  compiled.isBlocked = true;
  appendRelu(*compiled.kernel, op.getDoRelu(), op.getReluLimit().convertToDouble());
  return compiled;
}

MaybeCompiled compileUpsample(UpsampleOp op, const CompileContext &context) {
  std::optional<Shape> input = staticShape(op.getInput());
  if (!input || input->rank() != 4 || !staticShape(op.getOutput()) ||
      !context.isBlocked(op.getInput()))
    return std::nullopt;
  return blockedOn(op.getInput(),
                   kernels::makeUpsample(*input, static_cast<int64_t>(op.getScaleH()),
                                         static_cast<int64_t>(op.getScaleW())),
                   op);
}

/// Nearest neighbours by a whole factor, which repeats pixels.
MaybeCompiled compileInterp(InterpOp op, const CompileContext &context) {
  std::optional<Shape> input = staticShape(op.getInput());
  std::optional<Shape> output = staticShape(op.getOutput());
  if (!input || !output || input->rank() != 4 || op.getMode() != "nearest" ||
      !context.isBlocked(op.getInput()) || (*input)[0] != (*output)[0] ||
      (*input)[1] != (*output)[1])
    return std::nullopt;
  const int64_t scaleH = (*output)[2] / (*input)[2];
  const int64_t scaleW = (*output)[3] / (*input)[3];
  if ((*input)[2] * scaleH != (*output)[2] || (*input)[3] * scaleW != (*output)[3])
    return std::nullopt;
  // Positions 0 to s - 1 stand for points around pixel 0 that all round to it.
  const bool isFloor = op.getNearestMode() == "floor";
  const bool isNear = op.getNearestMode() == "round_prefer_floor";
  const bool repeats =
      (op.getCoordMode() == "asymmetric" && (isFloor || (isNear && scaleH <= 2 && scaleW <= 2))) ||
      (op.getCoordMode() == "half_pixel" && isNear);
  if (!repeats)
    return std::nullopt;
  return blockedOn(op.getInput(), kernels::makeUpsample(*input, scaleH, scaleW), op);
}

MaybeCompiled compileMatMul(MatMulOp op, const CompileContext &context) {
  std::optional<Shape> left = staticShape(op.getInput());
  std::optional<Shape> output = staticShape(op.getOutput());
  std::optional<Constants> constants = constantsOf(op.getRight(), op.getBias(), context);
  if (!left || !output || !constants || op.getLeftTranspose() || left->rank() < 2 ||
      constants->filter->shape().rank() != 2)
    return std::nullopt;
  const int64_t terms = (*left)[left->rank() - 1];
  const int64_t columns = (*output)[output->rank() - 1];
  CompiledOp compiled{kernels::makeMatMul(left->numElements() / terms, terms, columns,
                                          *constants->filter, op.getRightTranspose(),
                                          constants->bias),
                      {{op.getInput(), false}},
                      false};
  appendRelu(*compiled.kernel, op.getDoRelu(), op.getReluLimit().convertToDouble());
  return compiled;
}

/// An element-wise op by itself, on the operand that has the shape of the result.
MaybeCompiled compileElementwise(mlir::Operation *op, const CompileContext &context) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  std::optional<Shape> output = staticShape(op->getResult(0));
  if (!output)
    return std::nullopt;
  const bool isBlocked =
      canBlock(*output) &&
      llvm::any_of(op->getOperands(), [&](mlir::Value value) { return context.isBlocked(value); });
  // An operand that has the layout already goes first.
  for (const bool wanted : {true, false})
    for (mlir::Value main : op->getOperands()) {
      std::optional<Shape> shape = staticShape(main);
      if (!shape || *shape != *output || context.constant(main) ||
          (wanted && isBlocked != context.isBlocked(main)))
        continue;
      CompiledOp compiled{
          kernels::makeElementwise(isBlocked ? kernels::blockedShape(*output) : *output, isBlocked),
          {{main, isBlocked}},
          isBlocked};
      if (appendElementwise(op, main, compiled, context))
        return compiled;
    }
  return std::nullopt;
}

} // namespace

std::optional<Shape> tpuc::staticShape(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() >= int64_t(Shape::kMaxRank) ||
      storageDataType(type) != DataType::F32)
    return std::nullopt;
  llvm::ArrayRef<int64_t> dims = type.getShape();
  if (llvm::is_contained(dims, 0) || !checkedNumElements(dims, DataType::F32, ""))
    return std::nullopt;
  return Shape(std::span(dims.data(), dims.size()));
}

MaybeCompiled tpuc::compileOp(mlir::Operation *op, const CompileContext &context) {
  return llvm::TypeSwitch<mlir::Operation *, MaybeCompiled>(op)
      .Case([&](ConvOp conv) {
        return conv.getPadValue() || conv.getPadValues() ? MaybeCompiled()
                                                         : compileConvolution(conv, context);
      })
      .Case([&](DeconvOp deconv) { return compileConvolution(deconv, context); })
      .Case([&](MaxPoolOp pool) { return compileMaxPool(pool, context); })
      .Case([&](AvgPoolOp pool) { return compileAvgPool(pool, context); })
      .Case([&](top::ReduceOp reduce) { return compileReduce(reduce, context); })
      .Case([&](ConcatOp concat) { return compileConcat(concat, context); })
      .Case([&](UpsampleOp upsample) { return compileUpsample(upsample, context); })
      .Case([&](InterpOp interp) { return compileInterp(interp, context); })
      .Case([&](MatMulOp matMul) { return compileMatMul(matMul, context); })
      .Default([&](mlir::Operation *other) { return compileElementwise(other, context); });
}

bool tpuc::appendElementwise(mlir::Operation *op, mlir::Value value, CompiledOp &to,
                             const CompileContext &context) {
  std::optional<Shape> shape = staticShape(value);
  if (op->getNumResults() != 1 || !shape || staticShape(op->getResult(0)) != shape)
    return false;
  std::optional<ElementwiseForm> form = elementwiseForm(op, value, *shape, to.isBlocked, context);
  if (!form)
    return false;
  for (kernels::PostOp &postOp : form->ops) {
    if (postOp.operand >= 0) {
      to.operands.push_back({form->others[static_cast<size_t>(postOp.operand)],
                             to.isBlocked && postOp.operandKind != kernels::RowOperand::Scalar});
      postOp.operand = static_cast<int>(to.operands.size()) - 1;
    }
    to.kernel->postOps.push_back(std::move(postOp));
  }
  return true;
}
