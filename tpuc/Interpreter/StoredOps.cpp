//===- StoredOps.cpp - What top ops compute of stored integers ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/StoredOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/FixedPoint16.h"
#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/OpShapes/Matrix.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

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

/// Whether all of these are of the integers of the first: at most 8 bits, or 16 with the zero point
/// 0. What is computed of them fits 32 bits.
static bool areAlike(llvm::ArrayRef<UniformQuantizedType> types) {
  const quant::StorageSpec first = types.front().getStorage();
  return first.width <= 16 && llvm::all_of(types, [&](UniformQuantizedType type) {
           const quant::StorageSpec own = type.getStorage();
           return own.width == first.width && own.isSigned == first.isSigned &&
                  (own.width <= 8 || type.getZeroPoint() == 0);
         });
}

/// How result 0 is stored, with the op's ReLU.
template <typename Op> static FixedResult resultOf(Op op) {
  UniformQuantizedType type = tpu::quantizedType(op->getResult(0));
  FixedResult result{tpu::paramsOf(type), tpu::rangeOf(type)};
  if constexpr (requires { op.getDoRelu(); }) {
    if (!op.getDoRelu())
      return result;
    const auto high = static_cast<int64_t>(result.range.highest);
    result.range.lowest = std::max(result.range.lowest, result.params.zeroPoint);
    if (const double limit = op.getReluLimit().convertToDouble(); limit >= 0) {
      const float steps = static_cast<float>(limit) / static_cast<float>(result.params.scale);
      const auto top = static_cast<int64_t>(std::round(steps)) + result.params.zeroPoint;
      result.range.highest = static_cast<uint64_t>(std::min(high, top));
    }
  }
  return result;
}

/// The integers of a constant that states scales: one, or one for each channel, of which `inner`
/// elements lie together (0: all of them); none where it states others, or its numbers need more
/// than the bits of `type`: I8, I32 or I64.
static std::optional<Tensor> integersOf(const Tensor &numbers, llvm::ArrayRef<double> scales,
                                        DataType type, int64_t inner = 0) {
  const int64_t count = numbers.numElements();
  const auto channels = static_cast<int64_t>(scales.size());
  if (scales.empty() || count % channels != 0 || numbers.type() != DataType::F32)
    return std::nullopt;
  if (inner == 0)
    inner = std::max<int64_t>(count / channels, 1);
  Tensor wide(DataType::I64, numbers.shape());
  auto out = wide.mutableData<int64_t>();
  const auto in = numbers.data<float>();
  const double most = type == DataType::I8 ? 127 : type == DataType::I32 ? 0x1p31 - 1 : 0x1p62;
  for (int64_t index = 0; index < count; ++index) {
    const double scale = scales[static_cast<size_t>(index / inner % channels)];
    const double whole = std::round(static_cast<double>(in[static_cast<size_t>(index)]) / scale);
    if (!(whole >= -most - 1 && whole <= most))
      return std::nullopt;
    out[static_cast<size_t>(index)] = static_cast<int64_t>(whole);
  }
  return convert(wide, type);
}

/// The scales that a constant states.
static std::vector<double> scalesOf(mlir::Value value) {
  auto weight = value.getDefiningOp<WeightOp>();
  std::vector<double> scales;
  if (mlir::ArrayAttr stated = weight ? weight.getWeightScaleAttr() : mlir::ArrayAttr())
    for (auto scale : stated.getAsRange<mlir::FloatAttr>())
      scales.push_back(scale.getValueAsDouble());
  return scales;
}

namespace {

/// Filter and bias of a product as integers.
struct FixedProduct {
  Tensor filter;
  std::optional<Tensor> bias;
  kernels::RequantParams requant;
};

} // namespace

/// What `op` multiplies with; none where it is no product of integers of `width` bits that states
/// its scales. Biases have 32 bits beside 8 and 64 beside 16.
/// `channels`: of the output; `inner`: how many elements of one lie together in the filter; 0: all.
template <typename Op>
static std::optional<FixedProduct> productOf(Op op, EvalContext &context, unsigned width,
                                             int64_t channels, int64_t inner = 0) {
  UniformQuantizedType input = tpu::quantizedType(op->getOperand(0));
  if (!input || !tpu::isQuantized(op->getResult(0)) || input.getStorage().width != width ||
      tpu::quantizedType(op->getResult(0)).getStorage().width != width)
    return std::nullopt;
  const std::vector<double> scales = scalesOf(op->getOperand(1));
  std::optional<Tensor> filter = integersOf(context.operand(1), scales, DataType::I8, inner);
  if (!filter || (scales.size() != 1 && std::ssize(scales) != channels) ||
      (context.has(2) && context.operand(2).numElements() != channels))
    return std::nullopt;
  FixedProduct product{std::move(*filter), std::nullopt, {}};
  if (context.has(2)) {
    product.bias = integersOf(context.operand(2), scalesOf(op->getOperand(2)),
                              width == 8 ? DataType::I32 : DataType::I64);
    if (!product.bias)
      return std::nullopt;
  }
  const FixedResult result = resultOf(op);
  product.requant.mode = RequantMode::TFLite_LShift;
  for (double scale : scales)
    product.requant.factors.push_back(
        kernels::fixedPoint(input.getScale() * scale / result.params.scale));
  product.requant.zeroPoint = static_cast<int32_t>(result.params.zeroPoint);
  product.requant.range = result.range;
  return product;
}

/// How many bits the integers of operand 0 have; 0 where it is no such.
static unsigned widthOf(mlir::Operation *op) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  return type ? type.getStorage().width : 0;
}

/// How sums of 64 bits become results.
static kernels::WideRequant wideOf(const kernels::RequantParams &params) {
  return {.factors = params.factors, .range = params.range};
}

static const Tensor *pointerTo(const std::optional<Tensor> &tensor) {
  return tensor ? &*tensor : nullptr;
}

/// The bias less what the zero point of the input adds to each channel of the filter.
static Tensor foldedBias(const FixedProduct &product, int64_t inputZero) {
  const int64_t channels = product.filter.shape()[0];
  const int64_t each = product.filter.numElements() / std::max<int64_t>(channels, 1);
  Tensor folded(DataType::I32, Shape({channels}));
  auto out = folded.mutableData<int32_t>();
  const auto filter = product.filter.data<int8_t>();
  for (int64_t channel = 0; channel < channels; ++channel) {
    int64_t sum = 0;
    for (int64_t index = 0; index < each; ++index)
      sum += filter[static_cast<size_t>(channel * each + index)];
    const int64_t own =
        product.bias ? product.bias->data<int32_t>()[static_cast<size_t>(channel)] : 0;
    out[static_cast<size_t>(channel)] = static_cast<int32_t>(own - inputZero * sum);
  }
  return folded;
}

static Expected<bool> fixedConv(ConvOp op, EvalContext &context) {
  const bool isWide = widthOf(op) == 16;
  std::optional<FixedProduct> product =
      productOf(op, context, isWide ? 16 : 8, context.operand(1).shape()[0]);
  Expected<Window> window = ops::Window();
  if (product)
    window = convolutionWindow(ops::windowSpec(context), extents(context.operand(0)),
                               extents(context.operand(1)));
  if (!window)
    return located(context, window.error());
  if (!product || context.optionalIntList("inserts"))
    return false;
  kernels::IntegerConvParams params;
  params.window = windowParams(*window);
  params.group = op.getGroup();
  params.inputZero = zeroPoint(op.getInput());
  params.requant = product->requant;
  const Shape shape(std::span(window->output.data(), window->output.size()));
  Expected<Tensor *> output = context.allocate(0, resultType(op), shape);
  if (!output)
    return propagate(output);
  if (isWide) {
    kernels::wideConvolve(context.operand(0), product->filter, pointerTo(product->bias),
                          params.window, params.group, wideOf(product->requant), **output,
                          context.threads());
    return true;
  }
  const Tensor bias = foldedBias(*product, params.inputZero);
  kernels::integerConvolve(context.operand(0), product->filter, &bias, params, **output,
                           context.threads(), nullptr);
  return true;
}

static Expected<bool> fixedDeconv(DeconvOp op, EvalContext &context) {
  const Shape &shape = context.operand(1).shape();
  const bool isWide = widthOf(op) == 16;
  // The filter is [C, M, kernel...].
  std::optional<FixedProduct> product;
  if (op.getGroup() == 1 && shape.rank() > 2)
    product = productOf(op, context, isWide ? 16 : 8, shape[1], shape.strides()[1]);
  if (!product)
    return false;
  Expected<Window> window = transposedWindow(ops::windowSpec(context), extents(context.operand(0)),
                                             extents(context.operand(1)));
  if (!window)
    return located(context, window.error());
  kernels::IntegerConvParams params;
  params.window = windowParams(*window);
  params.inputZero = zeroPoint(op.getInput());
  params.requant = product->requant;
  Expected<Tensor *> output = context.allocate(
      0, resultType(op), Shape(std::span(window->output.data(), window->output.size())));
  if (!output)
    return propagate(output);
  if (isWide) {
    kernels::wideDeconvolve(context.operand(0), product->filter, pointerTo(product->bias),
                            params.window, wideOf(product->requant), **output, context.threads());
    return true;
  }
  kernels::integerDeconvolve(context.operand(0), product->filter, pointerTo(product->bias), params,
                             **output, context.threads(), nullptr);
  return true;
}

/// The product of two tensors of stored integers, all of 8 bits or of 16 with the zero point 0.
static Expected<bool> fixedProduct(MatMulOp op, EvalContext &context) {
  UniformQuantizedType left = tpu::quantizedType(op.getInput());
  UniformQuantizedType right = tpu::quantizedType(op.getRight());
  UniformQuantizedType made = tpu::quantizedType(op.getOutput());
  if (!left || !right || !made || !areAlike({made, left, right}) || context.has(2) ||
      context.operand(0).shape().rank() < 2 || context.operand(1).shape().rank() < 2)
    return false;
  Expected<shapes::Dims> shape =
      shapes::matMulShape(extents(context.operand(0)), extents(context.operand(1)),
                          op.getLeftTranspose(), op.getRightTranspose());
  if (!shape)
    return located(context, shape.error());
  Expected<Tensor *> output =
      context.allocate(0, resultType(op), Shape(std::span(shape->data(), shape->size())));
  if (!output)
    return propagate(output);
  const FixedResult result = resultOf(op);
  kernels::WideRequant requant;
  requant.factors = {kernels::fixedPoint(left.getScale() * right.getScale() / result.params.scale)};
  requant.range = result.range;
  requant.zeroPoint = result.params.zeroPoint;
  if (made.getStorage().width == 8)
    requant.rounding = kernels::SumRounding::Twice;
  kernels::wideMatMul({context.operand(0), tpu::paramsOf(left)},
                      {context.operand(1), tpu::paramsOf(right)}, nullptr,
                      {op.getLeftTranspose(), op.getRightTranspose()}, requant, **output,
                      context.threads());
  return true;
}

static Expected<bool> fixedMatMul(MatMulOp op, EvalContext &context) {
  if (tpu::isQuantized(op.getRight()))
    return fixedProduct(op, context);
  const bool isWide = widthOf(op) == 16;
  std::optional<FixedProduct> product;
  if (context.operand(1).shape().rank() == 2)
    product = productOf(op, context, isWide ? 16 : 8, context.operand(1).shape()[0]);
  // Scales of channels are those of rows.
  if (!product || op.getLeftTranspose() || !op.getRightTranspose())
    return false;
  Expected<shapes::Dims> shape = shapes::matMulShape(
      extents(context.operand(0)), extents(context.operand(1)), false, /*transposeRight=*/true);
  if (!shape)
    return located(context, shape.error());
  kernels::IntegerMatMulParams params;
  params.transposeRight = true;
  params.leftZero = zeroPoint(op.getInput());
  params.requant = product->requant;
  // Unlike those of convolutions, the sums of rows are rounded once.
  params.requant->mode = RequantMode::MultiplierShift;
  params.requant->rounding = RoundingMode::HalfUp;
  for (MultiplierShift &factor : params.requant->factors)
    factor.rshift += 31;
  Expected<Tensor *> output =
      context.allocate(0, resultType(op), Shape(std::span(shape->data(), shape->size())));
  if (!output)
    return propagate(output);
  if (isWide) {
    // Sums have the bits of the bias.
    kernels::WideRequant requant = wideOf(product->requant);
    if (!product->bias)
      requant.rounding = kernels::SumRounding::Once;
    kernels::wideMatMul({context.operand(0), {}}, {product->filter, {}}, pointerTo(product->bias),
                        {false, /*rightTransposed=*/true}, requant, **output, context.threads());
    return true;
  }
  kernels::integerMatMul(context.operand(0), product->filter, pointerTo(product->bias), params,
                         **output, context.threads(), nullptr);
  return true;
}

namespace {

/// Operand `index` as integers; a constant with one stated scale has no zero point.
class Addend {
public:
  Addend(mlir::Operation *op, EvalContext &context, unsigned index) {
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
    // As far from a zero point as 8 bits go; sums of more would leave 32 bits.
    const auto isFar = [](int32_t value) { return value < -255 || value > 255; };
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
  const Addend left(op, context, 0);
  const Addend right(op, context, 1);
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
  if constexpr (std::is_same_v<Op, PReluOp>)
    kernels::fixedPRelu(left, right, resultOf(op), **output, context.threads());
  else if constexpr (std::is_same_v<Op, MulOp>)
    kernels::fixedMul(left, right, resultOf(op), **output, context.threads());
  else
    kernels::fixedAdd(left, right, std::is_same_v<Op, SubOp>, resultOf(op), **output,
                      context.threads());
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
      !llvm::is_contained({"ReduceMean", "ReduceSum"}, op.getMode()))
    return false;
  const Tensor &input = context.operand(0);
  llvm::SmallVector<int64_t> axes = toInts(*op.getAxes());
  for (int64_t &axis : axes)
    axis += axis < 0 ? static_cast<int64_t>(input.shape().rank()) : 0;
  Expected<Tensor *> output = context.allocate(
      0, resultType(op), kernels::reducedShape(input.shape(), axes, op.getKeepdims()));
  if (!output)
    return propagate(output);
  kernels::fixedSum({input, tpu::paramsOf(type)}, axes, op.getMode() == "ReduceMean", resultOf(op),
                    **output);
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

static Expected<bool> fixedLeakyRelu(LeakyReluOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  UniformQuantizedType made = tpu::quantizedType(op->getResult(0));
  if (!type || !made || !areAlike({type, made}))
    return false;
  Expected<Tensor *> output = context.allocate(0, resultType(op), context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::fixedLeakyRelu({context.operand(0), tpu::paramsOf(type)}, context.real("alpha"),
                          resultOf(op), **output, context.threads());
  return true;
}

static Expected<bool> fixedHardSwish(HardSwishOp op, EvalContext &context) {
  UniformQuantizedType type = tpu::quantizedType(op->getOperand(0));
  UniformQuantizedType made = tpu::quantizedType(op->getResult(0));
  if (!type || !made || !areAlike({type, made}) || type.getStorage().width != 8)
    return false;
  Expected<Tensor *> output = context.allocate(0, resultType(op), context.operand(0).shape());
  if (!output)
    return propagate(output);
  kernels::fixedHardSwish({context.operand(0), tpu::paramsOf(type)}, resultOf(op), **output,
                          context.threads());
  return true;
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
          .Case<AddOp, SubOp, MulOp, PReluOp>(
              [&](auto binary) { return fixedBinary(binary, context); })
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
          .Case([&](HardSwishOp swish) { return fixedHardSwish(swish, context); })
          .Case([&](CopyOp copy) { return fixedCopy(copy, context); })
          .Default([](mlir::Operation *) { return false; });
  if (!done)
    return propagate(done);
  return *done ? Expected<void>() : evaluateByNumbers(op, context);
}
