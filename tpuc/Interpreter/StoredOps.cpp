//===- StoredOps.cpp - What top ops compute of stored integers ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/StoredOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/FixedPoint16.h"
#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/StoredFixedPoint.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tpuc;
using namespace tpuc::top;
using kernels::FixedOperand;
using kernels::FixedResult;
using quant::UniformQuantizedType;

bool tpuc::isOnStoredNumbers(mlir::Operation *op) {
  const auto isStored = [](mlir::Value value) { return tpu::isQuantized(value); };
  if (llvm::none_of(op->getOperands(), isStored) && llvm::none_of(op->getResults(), isStored))
    return false;
  const std::optional<Phase> phase = phaseOf(op->getParentOfType<mlir::ModuleOp>());
  return phase && *phase < Phase::Lower;
}

//===----------------------------------------------------------------------===//
// By the numbers
//===----------------------------------------------------------------------===//

static Expected<void> evaluateByNumbers(mlir::Operation *op, EvalContext &context) {
  llvm::SmallVector<std::optional<Tensor>> operands;
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    UniformQuantizedType type = tpu::quantizedType(op->getOperand(index));
    if (!type || !context.has(index)) {
      operands.push_back(context.has(index) ? std::optional(context.operand(index)) : std::nullopt);
      continue;
    }
    Tensor numbers(DataType::F32, context.operand(index).shape());
    kernels::dequantizeStored(context.operand(index), tpu::paramsOf(type), numbers,
                              context.threads());
    operands.emplace_back(std::move(numbers));
  }
  EvalContext inner(
      op, operands,
      [](unsigned, DataType type, const Shape &shape) {
        return Tensor::create(type, shape.dims(), "result");
      },
      [&](mlir::Region &region, llvm::ArrayRef<Tensor> arguments) {
        return context.run(region, arguments);
      },
      context.threads());
  if (Expected<void> done = ops::evaluate(*ops::findEvaluator(op->getName().stripDialect()), inner);
      !done)
    return done;
  for (unsigned index = 0; index < op->getNumResults(); ++index) {
    if (!context.wants(index))
      continue;
    Tensor &made = inner.results()[index];
    UniformQuantizedType type = tpu::quantizedType(op->getResult(index));
    if (!type || made.type() != DataType::F32) {
      context.set(index, std::move(made));
      continue;
    }
    Expected<Tensor *> output =
        context.allocate(index, *storageDataType(op->getResult(index).getType()), made.shape());
    if (!output)
      return propagate(output);
    kernels::quantizeStored(made, tpu::paramsOf(type), tpu::rangeOf(type), **output,
                            context.threads());
  }
  return {};
}

//===----------------------------------------------------------------------===//
// In fixed point
//===----------------------------------------------------------------------===//

namespace {

/// Operand `index` as integers beside those of `width` bits; a constant with one stated scale has
/// no zero point.
class Addend {
public:
  Addend(mlir::Operation *op, EvalContext &context, unsigned index, unsigned width) {
    mlir::Value value = op->getOperand(index);
    if (UniformQuantizedType type = tpu::quantizedType(value)) {
      integers = context.operand(index);
      params = tpu::paramsOf(type);
      return;
    }
    const std::vector<double> scales = scalesOf(value);
    if (scales.size() != 1)
      return;
    integers = integersOf(context.operand(index), scales, DataType::I32);
    params = {scales[0], 0};
    // As far from a zero point as these bits go; sums of more would leave 32 bits.
    const int32_t most = width == 16 ? 32768 : 255;
    const auto isFar = [&](int32_t value) { return value < -most || value > most; };
    if (integers && llvm::any_of(integers->data<int32_t>(), isFar))
      integers.reset();
  }

  explicit operator bool() const { return integers.has_value(); }
  operator FixedOperand() const { return {*integers, params}; }

private:
  std::optional<Tensor> integers;
  QuantParams params;
};

} // namespace

template <typename Op> static Expected<bool> fixedBinary(Op op, EvalContext &context) {
  if (op->getNumOperands() != 2 || !tpu::isQuantized(op->getResult(0)))
    return false;
  llvm::SmallVector<UniformQuantizedType> types = {tpu::quantizedType(op->getResult(0))};
  for (mlir::Value operand : op->getOperands())
    if (UniformQuantizedType type = tpu::quantizedType(operand))
      types.push_back(type);
  if (!areAlike(types))
    return false;
  const unsigned width = types.front().getStorage().width;
  const Addend left(op, context, 0, width);
  const Addend right(op, context, 1, width);
  // Constants beside which nothing is stored are scaled by what they are beside.
  if (!left || !right || op->hasAttr("coeff"))
    return false;
  const std::array shapes{context.operand(0).shape(), context.operand(1).shape()};
  const std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape)
    return false;
  Expected<Tensor *> output = context.allocate(0, resultType(op), *shape);
  if (!output)
    return propagate(output);
  if constexpr (std::is_same_v<Op, DivOp>)
    kernels::fixedDiv(left, right, resultOf(op), **output, context.threads());
  else if constexpr (std::is_same_v<Op, PReluOp>)
    kernels::fixedPRelu(left, right, resultOf(op), **output, context.threads());
  else if constexpr (std::is_same_v<Op, MulOp>)
    kernels::fixedMul(left, right, resultOf(op), **output, context.threads());
  else
    kernels::fixedAdd(left, right, std::is_same_v<Op, SubOp>, resultOf(op), **output,
                      context.threads());
  return true;
}

static std::optional<double> scaleOf(mlir::Value value) {
  if (UniformQuantizedType type = tpu::quantizedType(value))
    return type.getScale();
  const std::vector<double> scales = scalesOf(value);
  return scales.size() == 1 ? std::optional(scales[0]) : std::nullopt;
}

/// The unit in which `difference` is a whole number, if all that it is for is to be squared: TFLite
/// has one op for both, whose difference of 8-bit integers is one, too.
static std::optional<double> squaredUnit(mlir::Value difference) {
  auto sub = difference.getDefiningOp<SubOp>();
  if (!sub || sub->getNumOperands() != 2 || sub.getDoRelu() || sub->hasAttr("coeff") ||
      tpu::isQuantized(difference))
    return std::nullopt;
  const auto squares = [&](mlir::Operation *user) {
    auto square = llvm::dyn_cast<MulOp>(user);
    return square && square->getNumOperands() == 2 && !square.getDoRelu() &&
           llvm::all_of(square->getOperands(),
                        [&](mlir::Value operand) { return operand == difference; }) &&
           tpu::isQuantized(square->getResult(0));
  };
  if (!llvm::all_of(difference.getUsers(), squares))
    return std::nullopt;
  llvm::SmallVector<UniformQuantizedType> types;
  for (mlir::Value operand : sub->getOperands())
    if (UniformQuantizedType type = tpu::quantizedType(operand))
      types.push_back(type);
  const std::optional<double> left = scaleOf(sub->getOperand(0));
  const std::optional<double> right = scaleOf(sub->getOperand(1));
  if (types.empty() || types.front().getStorage().width != 8 || !areAlike(types) || !left || !right)
    return std::nullopt;
  return kernels::differenceUnit(*left, *right);
}

static Expected<bool> fixedSub(SubOp op, EvalContext &context) {
  const std::optional<double> unit = squaredUnit(op->getResult(0));
  if (!unit)
    return fixedBinary(op, context);
  const Addend left(op, context, 0, 8);
  const Addend right(op, context, 1, 8);
  if (!left || !right)
    return false;
  const std::array shapes{context.operand(0).shape(), context.operand(1).shape()};
  const std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape)
    return false;
  Expected<Tensor *> output = context.allocate(0, DataType::F32, *shape);
  if (!output)
    return propagate(output);
  Tensor differences(DataType::I16, *shape);
  kernels::fixedDifference(left, right, differences, context.threads());
  kernels::dequantizeStored(differences, {*unit, 0}, **output, context.threads());
  return true;
}

static Expected<bool> fixedMul(MulOp op, EvalContext &context) {
  const std::optional<double> unit = squaredUnit(op->getOperand(0));
  if (!unit || op->getOperands().back() != op->getOperand(0))
    return fixedBinary(op, context);
  Tensor differences(DataType::I16, context.operand(0).shape());
  kernels::quantizeStored(context.operand(0), {*unit, 0}, integerRange<int16_t>(), differences,
                          context.threads());
  Expected<Tensor *> output = context.allocate(0, resultType(op), differences.shape());
  if (!output)
    return propagate(output);
  kernels::fixedSquare(differences, *unit, resultOf(op), **output, context.threads());
  return true;
}

static Expected<bool> fixedPool(AvgPoolOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op.getInput());
  UniformQuantizedType made = tpu::quantizedType(op.getOutput());
  if (!made || made != type || op.getCountIncludePad())
    return false;
  Expected<Window> window = poolWindow(ops::windowSpec(context), extents(context.operand(0)));
  if (!window)
    return located(context, window.error());
  const Shape shape(std::span(window->output.data(), window->output.size()));
  Expected<Tensor *> output = context.allocate(0, resultType(op), shape);
  if (!output)
    return propagate(output);
  kernels::fixedAveragePool(context.operand(0), windowParams(*window), resultOf(op), **output,
                            context.threads());
  return true;
}

static Expected<bool> fixedReduce(ReduceOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op.getInput());
  if (!type || !tpu::isQuantized(op.getOutput()) || !op.getAxes() ||
      !llvm::is_contained({"ReduceMean", "ReduceSum", "ReduceProd"}, op.getMode()))
    return false;
  // A product of nothing has a number, but no integer to begin with.
  if (op.getMode() == "ReduceProd" && context.operand(0).numElements() == 0)
    return false;
  const Tensor &input = context.operand(0);
  llvm::SmallVector<int64_t> axes = toInts(*op.getAxes());
  for (int64_t &axis : axes)
    axis += axis < 0 ? static_cast<int64_t>(input.shape().rank()) : 0;
  Expected<Tensor *> output = context.allocate(
      0, resultType(op), kernels::reducedShape(input.shape(), axes, op.getKeepdims()));
  if (!output)
    return propagate(output);
  if (op.getMode() == "ReduceProd")
    kernels::fixedProd({input, tpu::paramsOf(type)}, axes, resultOf(op), **output);
  else
    kernels::fixedSum({input, tpu::paramsOf(type)}, axes, op.getMode() == "ReduceMean",
                      resultOf(op), **output);
  return true;
}

/// Whether integers of 16 bits become those of a function within -1 and 1.
static bool isWideFunction(UniformQuantizedType type, UniformQuantizedType made) {
  return type && made && type.getStorage().width == 16 && type.getStorage() == made.getStorage() &&
         type.getZeroPoint() == 0 && made.getZeroPoint() == 0 && made.getScale() == 0x1p-15;
}

template <typename Op>
static Expected<bool> wideFunction(Op op, EvalContext &context,
                                   void (*function)(const FixedOperand &, Tensor &, ThreadPool &)) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  if (!isWideFunction(type, tpu::quantizedType(op->getResult(0))))
    return false;
  Expected<Tensor *> output = context.allocate(0, resultType(op), context.operand(0).shape());
  if (!output)
    return propagate(output);
  function({context.operand(0), tpu::paramsOf(type)}, **output, context.threads());
  return true;
}

static Expected<bool> fixedSoftmax(SoftmaxOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op.getInput());
  UniformQuantizedType made = tpu::quantizedType(op.getOutput());
  if (!type || !made || op.getLog() || type.getStorage() != made.getStorage())
    return false;
  const bool isWide = isWideFunction(type, made);
  const Tensor &input = context.operand(0);
  const auto rank = static_cast<int64_t>(input.shape().rank());
  int64_t axis = context.integer("axis");
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank || (isWide ? axis != rank - 1 : type.getStorage().width != 8))
    return false;
  // The sum of a row has 31 bits.
  if (isWide && input.shape()[static_cast<size_t>(axis)] > kernels::kMostWideShares)
    return false;
  Expected<Tensor *> output = context.allocate(0, resultType(op), input.shape());
  if (!output)
    return propagate(output);
  if (isWide) {
    kernels::wideSoftmax({input, tpu::paramsOf(type)}, op.getBeta().convertToDouble(), **output,
                         context.threads());
    return true;
  }
  kernels::fixedSoftmax({input, tpu::paramsOf(type)}, axis, op.getBeta().convertToDouble(),
                        resultOf(op), **output, context.threads());
  return true;
}

static Expected<bool> fixedResize(InterpOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op.getInput());
  auto shape = llvm::dyn_cast<mlir::RankedTensorType>(op.getOutput().getType());
  std::optional<kernels::FixedResize> how;
  if (op.getCoordMode() == "align_corners")
    how = kernels::FixedResize::AlignCorners;
  if (op.getCoordMode() == "half_pixel")
    how = kernels::FixedResize::HalfPixel;
  if (op.getCoordMode() == "asymmetric")
    how = kernels::FixedResize::Asymmetric;
  if (!type || type != tpu::quantizedType(op.getOutput()) || op.getMode() != "linear" || !how ||
      !shape || !shape.hasStaticShape() || shape.getRank() != 4 || type.getStorage().width > 16 ||
      !op.getAxes() || toInts(*op.getAxes()) != llvm::SmallVector<int64_t>{2, 3})
    return false;
  Expected<Tensor *> output =
      context.allocate(0, resultType(op), Shape(std::span(shape.getShape().data(), 4)));
  if (!output)
    return propagate(output);
  kernels::fixedResize(context.operand(0), *how, **output, context.threads());
  return true;
}

/// A function of stored numbers, whose result has a scale of its own: `kernel(input, result,
/// output, threads)`.
template <typename Op, typename Kernel>
static Expected<bool> fixedFunction(Op op, EvalContext &context, const Kernel &kernel) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  UniformQuantizedType made = tpu::quantizedType(op->getResult(0));
  if (!type || !made || !areAlike({type, made}))
    return false;
  Expected<Tensor *> output = context.allocate(0, resultType(op), context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernel(FixedOperand{context.operand(0), tpu::paramsOf(type)}, resultOf(op), **output,
         context.threads());
  return true;
}

static Expected<bool> fixedLeakyRelu(LeakyReluOp op, EvalContext &context) {
  const double alpha = context.real("alpha");
  return fixedFunction(
      op, context,
      [&](const FixedOperand &input, const FixedResult &result, Tensor &output,
          ThreadPool &threads) { kernels::fixedLeakyRelu(input, alpha, result, output, threads); });
}

static Expected<bool> fixedHardSwish(HardSwishOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  if (!type || type.getStorage().width != 8)
    return false;
  return fixedFunction(op, context, kernels::fixedHardSwish);
}

/// From integers of one scale to those of another.
static Expected<bool> fixedCopy(CopyOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  if (!type || !tpu::isQuantized(op->getResult(0)))
    return false;
  const FixedResult result = resultOf(op);
  kernels::RequantParams params;
  params.mode = RequantMode::TFLite_LShift;
  params.factors = {kernels::fixedPoint(type.getScale() / result.params.scale)};
  params.zeroPoint = static_cast<int32_t>(result.params.zeroPoint);
  params.range = result.range;
  Expected<Tensor *> output = context.allocate(0, resultType(op), context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::integerRequantize(context.operand(0), static_cast<int32_t>(type.getZeroPoint()), 0,
                             params, **output, context.threads());
  return true;
}

Expected<void> tpuc::evaluateOnStoredNumbers(mlir::Operation *op, EvalContext &context) {
  Expected<bool> done =
      llvm::TypeSwitch<mlir::Operation *, Expected<bool>>(op)
          .Case([&](ConvOp conv) { return fixedConv(conv, context); })
          .Case([&](DeconvOp conv) { return fixedDeconv(conv, context); })
          .Case([&](MatMulOp product) { return fixedMatMul(product, context); })
          .Case([&](SubOp difference) { return fixedSub(difference, context); })
          .Case([&](MulOp product) { return fixedMul(product, context); })
          .Case<AddOp, DivOp, PReluOp>([&](auto binary) { return fixedBinary(binary, context); })
          .Case([&](AvgPoolOp pool) { return fixedPool(pool, context); })
          .Case([&](ReduceOp reduce) { return fixedReduce(reduce, context); })
          .Case([&](SoftmaxOp softmax) { return fixedSoftmax(softmax, context); })
          .Case([&](SigmoidOp sigmoid) {
            const bool isPlain = !sigmoid.getLog() && sigmoid.getScale().convertToDouble() == 1 &&
                                 sigmoid.getBias().convertToDouble() == 0;
            return isPlain ? wideFunction(sigmoid, context, kernels::wideSigmoid)
                           : Expected<bool>(false);
          })
          .Case([&](TanhOp tanh) { return wideFunction(tanh, context, kernels::wideTanh); })
          .Case([&](InterpOp resize) { return fixedResize(resize, context); })
          .Case([&](LeakyReluOp relu) { return fixedLeakyRelu(relu, context); })
          .Case([&](SqrtOp root) { return fixedFunction(root, context, kernels::fixedSqrt); })
          .Case([&](HardSwishOp swish) { return fixedHardSwish(swish, context); })
          .Case([&](CopyOp copy) { return fixedCopy(copy, context); })
          .Default([](mlir::Operation *) { return false; });
  if (!done)
    return propagate(done);
  return *done ? Expected<void>() : evaluateByNumbers(op, context);
}
