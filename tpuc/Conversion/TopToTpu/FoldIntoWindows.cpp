//===- FoldIntoWindows.cpp - Numbers that convolutions take over ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/FoldIntoWindows.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Support/Convert.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;

namespace {

/// x * scale + shift
struct Affine {
  double scale = 1, shift = 0;
};

template <typename Op> bool hasActivation(Op op) { return op.getDoRelu(); }

/// What an op of one tensor and a number computes; none of other ops.
std::optional<Affine> affineOf(Operation *op) {
  const auto number = [](auto of) { return of.getConstVal().convertToDouble(); };
  if (auto sum = dyn_cast<top::AddConstOp>(op); sum && !hasActivation(sum))
    return Affine{1, number(sum)};
  if (auto product = dyn_cast<top::MulConstOp>(op); product && !hasActivation(product))
    return Affine{number(product), 0};
  if (auto difference = dyn_cast<top::SubConstOp>(op); difference && !hasActivation(difference))
    return difference.getIsReverse() ? Affine{-1, number(difference)}
                                     : Affine{1, -number(difference)};
  if (auto quotient = dyn_cast<top::DivConstOp>(op);
      quotient && !hasActivation(quotient) && !quotient.getIsReverse())
    return Affine{1 / number(quotient), 0};
  return std::nullopt;
}

/// Factors beyond it would bring filters to the ends of what 16 bits hold.
bool isModerate(const Affine &affine) {
  constexpr double kMost = 64;
  const double scale = std::abs(affine.scale);
  return scale >= 1 / kMost && scale <= kMost && std::abs(affine.shift) <= kMost * scale;
}

/// A convolution of constants whose input may become another.
class Window {
public:
  explicit Window(top::ConvOp conv) : conv(conv) {}

  /// Whether it can take over an op in front of it.
  bool takes();
  /// Reads `input` in place of `input * scale + shift`. `takes` has said that it can.
  void take(Value input, const Affine &affine, OpBuilder &builder);

private:
  bool hasPads() {
    return conv.getPads() &&
           llvm::any_of(top::toInts(*conv.getPads()), [](int64_t pad) { return pad != 0; });
  }

  top::ConvOp conv;
};

bool Window::takes() {
  const std::optional<Tensor> filter = floatConstant(conv.getFilter());
  if (!filter || filter->shape().rank() != 4 || conv.getAutoPad() != "NOTSET" ||
      conv.getInserts() || conv.getPadValues() ||
      (top::isPresent(conv.getBias()) && !floatConstant(conv.getBias())) ||
      !top::elementTypeOf(conv.getOutput()).isF32())
    return false;
  const Shape &shape = filter->shape();
  return !hasPads() || (shape[1] == 1 && shape[0] == static_cast<int64_t>(conv.getGroup()));
}

void Window::take(Value input, const Affine &affine, OpBuilder &builder) {
  Tensor filter = floatConstant(conv.getFilter())->clone();
  const int64_t outputs = filter.shape()[0];
  Tensor bias(DataType::F32, Shape{outputs});
  if (std::optional<Tensor> given = floatConstant(conv.getBias()))
    bias = given->clone();
  const std::span<float> elements = filter.mutableData<float>();
  const std::span<float> biases = bias.mutableData<float>();
  const auto each = elements.size() / static_cast<size_t>(outputs);
  for (size_t output = 0; output < biases.size(); ++output) {
    double sum = 0;
    for (float &element : elements.subspan(output * each, each)) {
      sum += element;
      element = static_cast<float>(element * affine.scale);
    }
    biases[output] = static_cast<float>(biases[output] + sum * affine.shift);
  }
  // Around the input stands what becomes the former number.
  const double former = conv.getPadValue() ? conv.getPadValue()->convertToDouble() : 0;
  const double outside = (former - affine.shift) / affine.scale;
  const auto module = conv->getParentOfType<ModuleOp>();
  const std::string name = layerName(conv);
  builder.setInsertionPoint(conv);
  Value newFilter =
      top::WeightOp::create(builder, module, name + "_folded_filter", std::move(filter));
  Value newBias = top::WeightOp::create(builder, module, name + "_folded_bias", std::move(bias));
  conv.getInputMutable().assign(input);
  conv.getFilterMutable().assign(newFilter);
  conv.getBiasMutable().assign(newBias);
  if (hasPads() && outside != 0)
    conv.setPadValueAttr(builder.getF64FloatAttr(outside));
  else
    conv.removePadValueAttr();
}

} // namespace

std::optional<Tensor> tpuc::floatConstant(Value value) {
  auto weight = value.getDefiningOp<top::WeightOp>();
  if (!weight || weight.getWeightScale())
    return std::nullopt;
  Expected<Tensor> tensor = weight.read();
  if (!tensor || tensor->type() != DataType::F32)
    return std::nullopt;
  return *tensor;
}

void tpuc::foldIntoWindows(func::FuncOp main) {
  OpBuilder builder(main.getContext());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front()))) {
    const std::optional<Affine> affine = affineOf(&op);
    if (!affine || op.use_empty() || !isModerate(*affine) ||
        !top::elementTypeOf(op.getResult(0)).isF32())
      continue;
    const bool isRead = llvm::all_of(op.getUses(), [](OpOperand &use) {
      auto conv = dyn_cast<top::ConvOp>(use.getOwner());
      return conv && use.getOperandNumber() == 0 && Window(conv).takes();
    });
    if (!isRead)
      continue;
    for (Operation *user : llvm::to_vector(op.getUsers()))
      Window(cast<top::ConvOp>(user)).take(op.getOperand(0), *affine, builder);
    op.erase();
  }
}
