//===- Quantize.cpp - What quantization and integer products compute ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Binary.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "tpuc/Interpreter/Kernels/QuantizeLinear.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Interpreter/Ops/Windows.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Elements.h"
#include "tpuc/Support/OpShapes/Matrix.h"

using namespace tpuc;
using namespace tpuc::ops;

/// How scale and zero point, operands 1 and 2, lie on operand 0.
static Expected<kernels::QuantizeLayout> layoutOf(OpContext &context) {
  const Shape &input = context.operand(0).shape();
  const auto rank = static_cast<int64_t>(input.rank());
  int64_t axis = context.integer("axis");
  if (axis < 0)
    axis += rank;
  // Scalars have no axis; the parameters of one element need none.
  kernels::QuantizeLayout layout{std::max<int64_t>(axis, 0), context.integer("block_size")};
  for (unsigned index : {1, 2})
    if (const Tensor *parameters = context.optional(index))
      if (std::optional<Error> error = kernels::checkLayout(input, parameters->shape(), layout))
        return located(context, *error);
  return layout;
}

static Expected<void> evaluateQuantize(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<kernels::QuantizeLayout> layout = layoutOf(context);
  if (!layout)
    return propagate(layout);
  const Tensor *zeroPoint = context.optional(2);
  const DataType type =
      context.optionalType("to").value_or(zeroPoint ? zeroPoint->type() : DataType::U8);
  Expected<Tensor *> output = context.allocate(0, type, input.shape());
  if (!output)
    return propagate(output);
  kernels::quantizeLinear(input, context.operand(1), zeroPoint, *layout, context.flag("saturate"),
                          **output, context.threads());
  return {};
}

static Expected<void> evaluateDequantize(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<kernels::QuantizeLayout> layout = layoutOf(context);
  if (!layout)
    return propagate(layout);
  const DataType type = context.optionalType("to").value_or(context.operand(1).type());
  Expected<Tensor *> output = context.allocate(0, type, input.shape());
  if (!output)
    return propagate(output);
  kernels::dequantizeLinear(input, context.operand(1), context.optional(2), *layout, **output,
                            context.threads());
  return {};
}

static Expected<void> evaluateDynamicQuantize(OpContext &context) {
  const Tensor &input = context.operand(0);
  if (!isFloat(input.type()))
    return context.error("an input of type " + std::string(dataTypeName(input.type())), "floats");
  Expected<Tensor *> output = context.allocate(0, DataType::U8, input.shape());
  if (!output)
    return propagate(output);
  Expected<Tensor *> scale = context.allocate(1, DataType::F32, Shape{});
  if (!scale)
    return propagate(scale);
  Expected<Tensor *> zeroPoint = context.allocate(2, DataType::U8, Shape{});
  if (!zeroPoint)
    return propagate(zeroPoint);
  kernels::dynamicQuantizeLinear(input, **output, **scale, **zeroPoint, context.threads());
  return {};
}

static Expected<void> evaluateDynamicQuantizeRows(OpContext &context) {
  const Tensor &input = context.operand(0);
  if (!isFloat(input.type()))
    return context.error("an input of type " + std::string(dataTypeName(input.type())), "floats");
  const int64_t axis = context.integer("axis");
  const auto rank = static_cast<int64_t>(input.shape().rank());
  if (axis < 0 || axis > rank)
    return context.error("axis is " + std::to_string(axis), "0 to " + std::to_string(rank));
  Shape rows = input.shape();
  for (int64_t i = axis; i < rank; ++i)
    rows[static_cast<size_t>(i)] = 1;
  Expected<Tensor *> output = context.allocate(0, DataType::I8, input.shape());
  if (!output)
    return propagate(output);
  Expected<Tensor *> scale = context.allocate(1, DataType::F32, rows);
  if (!scale)
    return propagate(scale);
  Expected<Tensor *> zeroPoint = context.allocate(2, DataType::I8, rows);
  if (!zeroPoint)
    return propagate(zeroPoint);
  kernels::dynamicQuantizeRows(convert(input, DataType::F32), context.flag("symmetric"), **output,
                               **scale, **zeroPoint, context.threads());
  return {};
}

/// `tensor` so that its elements lie along `axis` of `rank` axes, if it has rank 1 and more than
/// one element; one element as a scalar; null as null.
static std::optional<Tensor> alongAxis(const Tensor *tensor, size_t axis, size_t rank) {
  if (!tensor)
    return std::nullopt;
  if (tensor->numElements() == 1)
    return tensor->reshaped(Shape{});
  if (tensor->shape().rank() != 1 || axis >= rank)
    return *tensor;
  std::vector<int64_t> dims(rank, 1);
  dims[axis] = tensor->shape()[0];
  return tensor->reshaped(Shape(dims));
}

/// Operand `index` less the zero point, which lies along `axis` if it is not one for all.
static Expected<Tensor> centered(OpContext &context, unsigned index, unsigned zeroIndex,
                                 size_t axis) {
  const Tensor &input = context.operand(index);
  const std::optional<Tensor> zero = alongAxis(
      context.optional(zeroIndex), std::min(axis, input.shape().rank() - 1), input.shape().rank());
  if (zero) {
    const std::array shapes{input.shape(), zero->shape()};
    const std::optional<Shape> shape = kernels::broadcastShape(shapes);
    if (!shape || !(*shape == input.shape()))
      return context.error("zero point has shape " + context.operand(zeroIndex).shape().str() +
                               " for an operand of shape " + input.shape().str(),
                           "one element, or one per row, column or output channel");
  }
  return kernels::subtractZeroPoint(input, zero ? &*zero : nullptr, context.threads());
}

/// The scales of the operands, each along its axis, and of the output.
struct Scales {
  unsigned left;
  size_t leftAxis;
  unsigned right;
  size_t rightAxis;
  unsigned output;
};

/// Rounds `sums` into result 0, in the type of the output's zero point, which follows its scale.
static Expected<void> requantize(OpContext &context, const Tensor &sums, const Scales &scales) {
  const size_t rank = sums.shape().rank();
  const auto scale = [&](unsigned index, size_t axis) {
    const Tensor wide = convert(context.operand(index), DataType::F32);
    return *alongAxis(&wide, axis, rank);
  };
  const std::array factors{scale(scales.left, scales.leftAxis),
                           scale(scales.right, scales.rightAxis)};
  const Tensor outputScale = scale(scales.output, 0);
  const Tensor &zeroPoint = context.operand(scales.output + 1);
  if (outputScale.numElements() != 1 || zeroPoint.numElements() != 1)
    return context.error("scale and zero point of the output have shapes " +
                             context.operand(scales.output).shape().str() + " and " +
                             zeroPoint.shape().str(),
                         "one element each");
  const std::array shapes{sums.shape(), factors[0].shape(), factors[1].shape()};
  const std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape || !(*shape == sums.shape()))
    return context.error("scales have shapes " + context.operand(scales.left).shape().str() +
                             " and " + context.operand(scales.right).shape().str(),
                         "one element, or one per row, column or output channel of " +
                             sums.shape().str());
  // The product first, as the factor of the sums is one number.
  const std::array factorShapes{factors[0].shape(), factors[1].shape()};
  Tensor product(DataType::F32, *kernels::broadcastShape(factorShapes));
  kernels::binary(kernels::BinaryOp::Mul, factors, {}, product, context.threads());
  Tensor factor(DataType::F32, product.shape());
  kernels::binary(kernels::BinaryOp::Div, std::array{product, outputScale}, {}, factor,
                  context.threads());
  if (isFloat(zeroPoint.type()))
    return context.error("a zero point of type " + std::string(dataTypeName(zeroPoint.type())),
                         "an integer");
  WideInteger zero = 0;
  loadElements(zeroPoint, 0, std::span(&zero, 1));
  Expected<Tensor *> output = context.allocate(0, zeroPoint.type(), sums.shape());
  if (!output)
    return propagate(output);
  kernels::requantize(sums, factor, static_cast<int64_t>(zero), **output, context.threads());
  return {};
}

/// The convolution of integers from which zero points were subtracted, into `output` (i32).
static Expected<kernels::ConvParams> convolutionParams(OpContext &context, const Tensor &input,
                                                       const Tensor &filter, Shape &shape) {
  Expected<Window> window =
      shapes::convolutionWindow(windowSpec(context), input.shape().dims(), filter.shape().dims());
  if (!window)
    return located(context, window.error());
  shape = Shape(std::span<const int64_t>(window->output.data(), window->output.size()));
  kernels::ConvParams params;
  params.window = windowParams(*window);
  params.group = context.integer("group");
  return params;
}

/// The operands of an integer convolution without their zero points, and what else it takes.
struct CenteredConvolution {
  Tensor input;
  Tensor filter;
  kernels::ConvParams params;
  Shape shape;
};

/// For the input and the filter at the given operands, with zero points at the others.
static Expected<CenteredConvolution> centeredConvolution(OpContext &context, unsigned input,
                                                         unsigned inputZeroPoint, unsigned filter,
                                                         unsigned filterZeroPoint) {
  Expected<Tensor> centeredInput = centered(context, input, inputZeroPoint, 1);
  if (!centeredInput)
    return propagate(centeredInput);
  Expected<Tensor> centeredFilter = centered(context, filter, filterZeroPoint, 0);
  if (!centeredFilter)
    return propagate(centeredFilter);
  Shape shape;
  Expected<kernels::ConvParams> params =
      convolutionParams(context, *centeredInput, *centeredFilter, shape);
  if (!params)
    return propagate(params);
  return CenteredConvolution{*centeredInput, *centeredFilter, *params, shape};
}

static Expected<void> evaluateQLinearConv(OpContext &context) {
  Expected<CenteredConvolution> conv = centeredConvolution(context, 0, 2, 3, 5);
  if (!conv)
    return propagate(conv);
  Tensor sums(DataType::I32, conv->shape);
  kernels::convolve(conv->input, conv->filter, context.optional(8), conv->params, sums,
                    context.threads(), nullptr);
  return requantize(context, sums, {1, 1, 4, 1, 6});
}

static Expected<void> evaluateConvInteger(OpContext &context) {
  Expected<CenteredConvolution> conv = centeredConvolution(context, 0, 2, 1, 3);
  if (!conv)
    return propagate(conv);
  Expected<Tensor *> output = context.allocate(0, DataType::I32, conv->shape);
  if (!output)
    return propagate(output);
  kernels::convolve(conv->input, conv->filter, nullptr, conv->params, **output, context.threads(),
                    nullptr);
  return {};
}

/// The axis of rows of an operand or result of `rank` axes.
static size_t rowAxis(size_t rank) { return rank < 2 ? 0 : rank - 2; }

/// Both factors of a product less their zero points, and the shape of the result.
struct CenteredProduct {
  Tensor a, b;
  Shape shape;
};

/// Of the operands `a` and `b`, with zero points of rows and of columns.
static Expected<CenteredProduct> centeredProduct(OpContext &context, unsigned a, unsigned aZero,
                                                 unsigned b, unsigned bZero) {
  const size_t rankA = context.operand(a).shape().rank();
  const size_t rankB = context.operand(b).shape().rank();
  if (rankA == 0 || rankB == 0)
    return context.error("an operand is a scalar", "at least one dimension");
  Expected<Dims> dims =
      shapes::matMulShape(dimsOf(context, a), context.operand(b).shape().dims(), false, false);
  if (!dims)
    return located(context, dims.error());
  Expected<Tensor> left = centered(context, a, aZero, rowAxis(rankA));
  if (!left)
    return propagate(left);
  Expected<Tensor> right = centered(context, b, bZero, rankB - 1);
  if (!right)
    return propagate(right);
  return CenteredProduct{std::move(*left), std::move(*right),
                         Shape(std::span<const int64_t>(dims->data(), dims->size()))};
}

static Expected<void> evaluateMatMulInteger(OpContext &context) {
  Expected<CenteredProduct> product = centeredProduct(context, 0, 2, 1, 3);
  if (!product)
    return propagate(product);
  Expected<Tensor *> output = context.allocate(0, DataType::I32, product->shape);
  if (!output)
    return propagate(output);
  kernels::matMul(product->a, product->b, nullptr, {}, **output, context.threads(), nullptr);
  return {};
}

static Expected<void> evaluateQLinearMatMul(OpContext &context) {
  Expected<CenteredProduct> product = centeredProduct(context, 0, 2, 3, 5);
  if (!product)
    return propagate(product);
  Tensor sums(DataType::I32, product->shape);
  kernels::matMul(product->a, product->b, nullptr, {}, sums, context.threads(), nullptr);
  const size_t rank = product->shape.rank();
  return requantize(context, sums, {1, rowAxis(rank), 4, rank == 0 ? 0 : rank - 1, 6});
}

std::span<const OpEvaluator> ops::quantizeOps() {
  static constexpr OpEvaluator kOps[] = {
      {"QuantizeLinear", evaluateQuantize},
      {"DequantizeLinear", evaluateDequantize},
      {"DynamicQuantizeLinear", evaluateDynamicQuantize},
      {"DynamicQuantizeRows", evaluateDynamicQuantizeRows},
      {"QLinearConv", evaluateQLinearConv},
      {"ConvInteger", evaluateConvInteger},
      {"QLinearMatMul", evaluateQLinearMatMul},
      {"MatMulInteger", evaluateMatMulInteger},
  };
  return kOps;
}
