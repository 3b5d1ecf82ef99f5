//===- FoldConvolution.cpp - Constants into the weights of other ops ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Transforms/Fusions.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

using Doubles = std::vector<double>;

/// The elements of a constant f32 tensor, `count` of them (any number if it is negative).
static std::optional<Doubles> constantFloats(Value value, int64_t count) {
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor || tensor->type() != DataType::F32 || (count >= 0 && tensor->numElements() != count))
    return std::nullopt;
  auto data = tensor->data<float>();
  return Doubles(data.begin(), data.end());
}

/// The same for an operand that may be left out: then `count` times `otherwise`.
static std::optional<Doubles> constantFloats(Value value, int64_t count, double otherwise) {
  if (!isPresent(value))
    return Doubles(static_cast<size_t>(count), otherwise);
  return constantFloats(value, count);
}

static Value makeWeight(PatternRewriter &rewriter, Operation *op, StringRef suffix,
                        const Shape &shape, const Doubles &values) {
  Tensor tensor(DataType::F32, shape);
  std::ranges::transform(values, tensor.mutableData<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  return WeightOp::create(rewriter, op->getParentOfType<ModuleOp>(), layerName(op) + suffix.str(),
                          std::move(tensor))
      .getOutput();
}

static Shape vectorOf(int64_t count) { return Shape({count}); }

/// BatchNorm(x, mean, variance, gamma, beta) -> Scale(x, s, beta - mean * s),
/// s = gamma / sqrt(variance + epsilon)
static LogicalResult batchNormToScale(BatchNormOp norm, PatternRewriter &rewriter) {
  std::optional<Doubles> mean = constantFloats(norm.getMean(), -1);
  if (!mean || !elementTypeOf(norm.getOutput()).isF32())
    return failure();
  auto channels = static_cast<int64_t>(mean->size());
  std::optional<Doubles> variance = constantFloats(norm.getVariance(), channels);
  std::optional<Doubles> scale = constantFloats(norm.getGamma(), channels, 1);
  std::optional<Doubles> bias = constantFloats(norm.getBeta(), channels, 0);
  if (!variance || !scale || !bias)
    return failure();
  double epsilon = norm.getEpsilon().convertToDouble();
  for (size_t channel = 0; channel < mean->size(); ++channel) {
    (*scale)[channel] /= std::sqrt((*variance)[channel] + epsilon);
    (*bias)[channel] -= (*mean)[channel] * (*scale)[channel];
  }
  Value scaleWeight = makeWeight(rewriter, norm, "_scale", vectorOf(channels), *scale);
  Value biasWeight = makeWeight(rewriter, norm, "_bias", vectorOf(channels), *bias);
  rewriter.replaceOpWithNewOp<ScaleOp>(norm, norm.getType(), norm.getInput(), scaleWeight,
                                       biasWeight, norm.getDoReluAttr(), norm.getReluLimitAttr());
  return success();
}

/// The convolution that makes `value`, if it has no activation and nobody else reads it.
static ConvOp plainConv(Value value, Operation *reader) {
  auto conv = value.getDefiningOp<ConvOp>();
  if (!conv || !value.hasOneUse() || conv.getDoRelu() || conv->getBlock() != reader->getBlock() ||
      !elementTypeOf(value).isF32())
    return {};
  return conv;
}

/// Puts `conv` with other constants in the place of `last`, whose name and activation it gets.
template <typename Op>
static void replaceByConv(Op last, ConvOp conv, Value filter, Value bias,
                          PatternRewriter &rewriter) {
  auto fused = cast<ConvOp>(rewriter.clone(*conv));
  rewriter.modifyOpInPlace(fused, [&] {
    fused.getFilterMutable().assign(filter);
    fused.getBiasMutable().assign(bias);
    fused.setDoReluAttr(last.getDoReluAttr());
    fused.setReluLimitAttr(last.getReluLimitAttr());
    fused->setLoc(last.getLoc());
  });
  rewriter.replaceOp(last, fused->getResults());
}

/// Scale(Conv(x, filter, bias), scale, shift) -> Conv(x, filter * scale, bias * scale + shift)
static LogicalResult scaleIntoConv(ScaleOp op, PatternRewriter &rewriter) {
  ConvOp conv = plainConv(op.getInput(), op);
  if (!conv)
    return failure();
  std::optional<Doubles> filter = constantFloats(conv.getFilter(), -1);
  std::optional<Dims> dims = dimsOf(conv.getFilter());
  if (!filter || !dims || dims->empty() || (*dims)[0] < 1)
    return failure();
  int64_t channels = (*dims)[0];
  std::optional<Doubles> bias = constantFloats(conv.getBias(), channels, 0);
  std::optional<Doubles> scale = constantFloats(op.getScale(), channels);
  std::optional<Doubles> shift = constantFloats(op.getBias(), channels, 0);
  if (!bias || !scale || !shift)
    return failure();
  size_t perChannel = filter->size() / static_cast<size_t>(channels);
  for (size_t index = 0; index < filter->size(); ++index)
    (*filter)[index] *= (*scale)[index / perChannel];
  for (size_t channel = 0; channel < bias->size(); ++channel)
    (*bias)[channel] = (*bias)[channel] * (*scale)[channel] + (*shift)[channel];
  Value newFilter =
      makeWeight(rewriter, op, "_filter", Shape(std::span(dims->data(), dims->size())), *filter);
  Value newBias = makeWeight(rewriter, op, "_bias", vectorOf(channels), *bias);
  replaceByConv(op, conv, newFilter, newBias, rewriter);
  return success();
}

/// The elements of the constant f32 operand of a sum of two tensors, of which the other one, which
/// `other` is set to, has the shape of the sum.
static std::optional<Doubles> addedPerChannel(AddOp op, Value &other) {
  if (op.getInputs().size() != 2 || op.getCoeff() || !elementTypeOf(op.getOutput()).isF32())
    return std::nullopt;
  unsigned index = op.getInputs()[0].getDefiningOp<WeightOp>() ? 0 : 1;
  other = op.getInputs()[1 - index];
  if (dimsOf(other) != dimsOf(op.getOutput()))
    return std::nullopt;
  return constantFloats(op.getInputs()[index], -1);
}

/// Whether `constant` broadcasts along the dimension `axis` of `rank` only, and has `count`
/// elements there.
static bool isAlong(Value constant, int64_t axis, int64_t rank, int64_t count) {
  std::optional<Dims> dims = dimsOf(constant);
  if (!dims)
    return false;
  auto missing = rank - static_cast<int64_t>(dims->size());
  if (missing < 0 || axis < missing)
    return false;
  for (auto [index, extent] : llvm::enumerate(*dims))
    if (extent != (missing + static_cast<int64_t>(index) == axis ? count : 1))
      return false;
  return true;
}

static Value constantOperand(AddOp op) {
  return op.getInputs()[op.getInputs()[0].getDefiningOp<WeightOp>() ? 0 : 1];
}

/// Add(Conv(x, filter, bias), c) -> Conv(x, filter, bias + c)
static LogicalResult addIntoConv(AddOp op, PatternRewriter &rewriter) {
  Value other;
  std::optional<Doubles> added = addedPerChannel(op, other);
  ConvOp conv = added ? plainConv(other, op) : ConvOp();
  std::optional<Dims> dims = conv ? dimsOf(other) : std::nullopt;
  if (!dims || dims->size() < 3 || (*dims)[1] == kDynamic ||
      !isAlong(constantOperand(op), 1, static_cast<int64_t>(dims->size()), (*dims)[1]))
    return failure();
  std::optional<Doubles> bias = constantFloats(conv.getBias(), (*dims)[1], 0);
  if (!bias)
    return failure();
  for (size_t channel = 0; channel < bias->size(); ++channel)
    (*bias)[channel] += (*added)[channel];
  Value newBias = makeWeight(rewriter, op, "_bias", vectorOf((*dims)[1]), *bias);
  replaceByConv(op, conv, conv.getFilter(), newBias, rewriter);
  return success();
}

/// Add(MatMul(x, y), c) -> MatMul(x, y, c)
static LogicalResult addIntoMatMul(AddOp op, PatternRewriter &rewriter) {
  Value other;
  std::optional<Doubles> added = addedPerChannel(op, other);
  auto product = added ? other.getDefiningOp<MatMulOp>() : MatMulOp();
  if (!product || !other.hasOneUse() || isPresent(product.getBias()) || product.getDoRelu() ||
      product->getBlock() != op->getBlock())
    return failure();
  // A vector on the right leaves out the columns.
  std::optional<Dims> dims = dimsOf(other);
  std::optional<Dims> right = dimsOf(product.getRight());
  if (!dims || dims->empty() || !right || right->size() < 2 || dims->back() == kDynamic)
    return failure();
  auto rank = static_cast<int64_t>(dims->size());
  if (!isAlong(constantOperand(op), rank - 1, rank, dims->back()))
    return failure();
  Value bias = makeWeight(rewriter, op, "_bias", vectorOf(dims->back()), *added);
  auto fused = cast<MatMulOp>(rewriter.clone(*product));
  rewriter.modifyOpInPlace(fused, [&] {
    fused.getBiasMutable().assign(bias);
    fused.setDoReluAttr(op.getDoReluAttr());
    fused.setReluLimitAttr(op.getReluLimitAttr());
    fused->setLoc(op.getLoc());
  });
  rewriter.replaceOp(op, fused->getResults());
  return success();
}

void tpuc::addConvolutionFusions(RewritePatternSet &patterns) {
  addFusion(patterns, "batchnorm-to-scale", batchNormToScale);
  addFusion(patterns, "scale-into-conv", scaleIntoConv);
  addFusion(patterns, "add-into-conv", addIntoConv);
  addFusion(patterns, "add-into-matmul", addIntoMatMul);
}
