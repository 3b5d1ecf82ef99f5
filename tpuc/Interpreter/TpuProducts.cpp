//===- TpuProducts.cpp - What convolutions and products of stored integers compute ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"
#include "tpuc/Support/OpShapes/Matrix.h"

using namespace tpuc;
using namespace tpuc::top;

/// Room for result 0 of the shape `dims`, as it is stored.
static Expected<Tensor *> allocateStored(EvalContext &context, llvm::ArrayRef<int64_t> dims) {
  return context.allocate(0, resultType(context.op()), Shape(std::span(dims.data(), dims.size())));
}

/// Where the results of a product have their output channels, and how many these are.
struct Channels {
  int64_t axis;
  int64_t count;
};

/// An error unless `count` scales are one for all channels or one for each.
static Expected<void> checkScales(const EvalContext &context, size_t count,
                                  const Channels &channels) {
  if (count == 1 || count == static_cast<size_t>(channels.count))
    return {};
  return context.error(std::to_string(count) + " scales",
                       "1 or " + std::to_string(channels.count) + ", one for each output channel");
}

/// The floats that `op` makes of its sums.
template <typename Op>
static void dequantize(Op op, EvalContext &context, const Tensor &sums, int64_t axis,
                       Tensor &output) {
  std::vector<float> scales;
  for (auto scale : op.getDequantScaleAttr().template getAsRange<mlir::FloatAttr>())
    scales.push_back(static_cast<float>(scale.getValueAsDouble()));
  const auto limit = static_cast<float>(op.getReluLimit().convertToDouble());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float low = op.getDoRelu() ? 0 : -kInfinity;
  const float high = op.getDoRelu() && limit >= 0 ? limit : kInfinity;
  kernels::dequantizeSums(sums, axis, scales, low, high, output, context.threads());
}

/// Makes the result of `op`, of the shape `dims`. `compute` fills a tensor: with stored integers,
/// or where `params` has no requantization with sums, which become floats here.
template <typename Op, typename Params>
static Expected<void> evaluateSums(Op op, EvalContext &context, llvm::ArrayRef<int64_t> dims,
                                   const Channels &channels, Params &params,
                                   llvm::function_ref<void(Tensor &)> compute) {
  const bool givesFloats = op.getDequantScale().has_value();
  tpu::StoredRange range{};
  if (!givesFloats) {
    range = storedRange(op);
    params.requant = requantOf(op, range);
  }
  const size_t scales = givesFloats ? op.getDequantScale()->size() : params.requant->factors.size();
  if (Expected<void> checked = checkScales(context, scales, channels); !checked)
    return checked;
  Expected<Tensor *> output = allocateStored(context, dims);
  if (!output)
    return propagate(output);
  if (!givesFloats) {
    compute(**output);
    limitBelowZero(range, **output);
    return {};
  }
  Expected<Tensor> sums = Tensor::create(DataType::I32, (*output)->shape().dims(), "sums");
  if (!sums)
    return context.error("not enough memory");
  compute(*sums);
  dequantize(op, context, *sums, channels.axis, **output);
  return {};
}

template <typename Op, auto geometry, auto kernel>
static Expected<void> evaluateTpuConvolution(Op op, EvalContext &context) {
  Expected<Window> window =
      geometry(windowSpec(op), extents(context.operand(0)), extents(context.operand(1)));
  if (!window)
    return located(context, window.error());
  if (op.getInserts())
    return context.error("inserts zeros between stored integers", "no inserts");
  kernels::IntegerConvParams params;
  params.window = windowParams(*window);
  params.group = op.getGroup();
  params.inputZero = zeroPoint(op.getInput());
  return evaluateSums(
      op, context, window->output, {1, window->output[1]}, params, [&](Tensor &output) {
        const bool isConstant = !context.has(2) || context.cacheFor(2);
        kernel(context.operand(0), context.operand(1), context.optional(2), params, output,
               context.threads(), isConstant ? context.cacheFor(1) : nullptr);
      });
}

static Expected<void> evaluateTpuMatMul(tpu::MatMulOp op, EvalContext &context) {
  const Tensor &left = context.operand(0);
  const Tensor &right = context.operand(1);
  Expected<shapes::Dims> shape = shapes::matMulShape(extents(left), extents(right),
                                                     op.getLeftTranspose(), op.getRightTranspose());
  if (!shape)
    return located(context, shape.error());
  kernels::IntegerMatMulParams params;
  params.transposeLeft = op.getLeftTranspose();
  params.transposeRight = op.getRightTranspose();
  params.leftZero = zeroPoint(op.getInput());
  params.rightZero = zeroPoint(op.getRight());
  // A vector on the right leaves no axis of columns.
  const Channels columns{std::ssize(*shape) - 1, right.shape().rank() > 1 ? shape->back() : 1};
  return evaluateSums(op, context, *shape, columns, params, [&](Tensor &output) {
    const bool isConstant = !context.has(2) || context.cacheFor(2);
    kernels::integerMatMul(left, right, context.optional(2), params, output, context.threads(),
                           isConstant ? context.cacheFor(1) : nullptr);
  });
}

void tpuc::attachTpuProducts(mlir::MLIRContext *context) {
  attachEvaluate<tpu::ConvOp,
                 evaluateTpuConvolution<tpu::ConvOp, convolutionWindow, kernels::integerConvolve>>(
      context);
  attachEvaluate<tpu::DeconvOp, evaluateTpuConvolution<tpu::DeconvOp, transposedWindow,
                                                       kernels::integerDeconvolve>>(context);
  attachEvaluate<tpu::MatMulOp, evaluateTpuMatMul>(context);
}
