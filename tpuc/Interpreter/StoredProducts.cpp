//===- StoredProducts.cpp - Products of stored integers -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WeightRest.h"
#include "tpuc/Interpreter/Kernels/FixedPoint16.h"
#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/StoredFixedPoint.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/OpShapes/Matrix.h"

using namespace tpuc;
using namespace tpuc::top;
using kernels::FixedResult;
using quant::UniformQuantizedType;

bool tpuc::areAlike(llvm::ArrayRef<UniformQuantizedType> types) {
  const quant::StorageSpec first = types.front().getStorage();
  return first.width <= 16 && llvm::all_of(types, [&](UniformQuantizedType type) {
           const quant::StorageSpec own = type.getStorage();
           return own.width == first.width && own.isSigned == first.isSigned &&
                  (own.width <= 8 || type.getZeroPoint() == 0);
         });
}

std::optional<Tensor> tpuc::integersOf(const Tensor &numbers, llvm::ArrayRef<double> scales,
                                       DataType type, int64_t inner, llvm::ArrayRef<int64_t> rest) {
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
    double whole = std::round(static_cast<double>(in[static_cast<size_t>(index)]) / scale);
    if (!rest.empty())
      whole += static_cast<double>(rest[static_cast<size_t>(index)]);
    if (!(whole >= -most - 1 && whole <= most))
      return std::nullopt;
    out[static_cast<size_t>(index)] = static_cast<int64_t>(whole);
  }
  return convert(wide, type);
}

/// What a constant states beyond its numbers.
static llvm::ArrayRef<int64_t> restOf(mlir::Value value) {
  auto weight = value.getDefiningOp<WeightOp>();
  return weight ? weightRest(weight) : llvm::ArrayRef<int64_t>();
}

std::vector<double> tpuc::scalesOf(mlir::Value value) {
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
    product.bias =
        integersOf(context.operand(2), scalesOf(op->getOperand(2)),
                   width == 8 ? DataType::I32 : DataType::I64, 0, restOf(op->getOperand(2)));
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

Expected<bool> tpuc::fixedConv(ConvOp op, EvalContext &context) {
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

Expected<bool> tpuc::fixedDeconv(DeconvOp op, EvalContext &context) {
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

Expected<bool> tpuc::fixedMatMul(MatMulOp op, EvalContext &context) {
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
