//===- ChipTopOptimize.cpp - Preparing a network for its chip ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/FoldIntoWindows.h"
#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/SourceIntegers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Kernels/QuantizeLinear.h"
#include "tpuc/Support/Convert.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tpuc {
#define GEN_PASS_DEF_CHIPTOPOPTIMIZE
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

std::vector<double> numbersOf(const Tensor &tensor) {
  const Tensor wide = convert(tensor, DataType::F64);
  const auto values = wide.data<double>();
  return {values.begin(), values.end()};
}

/// Turns ops of networks that were quantized before into ops on f32 whose tensors say how they are
/// stored.
class QuantizedSource {
public:
  explicit QuantizedSource(ModuleOp module) : module(module), builder(module.getContext()) {}

  bool run(func::FuncOp main);

private:
  void expandConv(top::QLinearConvOp op);
  void expandMatMul(top::QLinearMatMulOp op);
  void foldWeight(top::DequantizeLinearOp op);
  void cancelPair(top::DequantizeLinearOp op);
  Value dequantize(Value value, Value scale, Value zeroPoint, int64_t axis);
  void quantize(Operation *op, Value numbers, Value scale, Value zeroPoint);
  Type asFloat(Type type) {
    return cast<TensorType>(type).clone(Float32Type::get(type.getContext()));
  }
  Value none() {
    return builder.create<top::NoneOp>(builder.getUnknownLoc(), builder.getNoneType());
  }

  ModuleOp module;
  OpBuilder builder;
  bool hasStored = false;
};

Value QuantizedSource::dequantize(Value value, Value scale, Value zeroPoint, int64_t axis) {
  OperationState state(value.getLoc(), top::DequantizeLinearOp::getOperationName(),
                       {value, scale, zeroPoint}, asFloat(value.getType()));
  state.addAttribute("axis", builder.getI64IntegerAttr(axis));
  Operation *made = builder.create(state);
  return made->getResult(0);
}

/// `op`'s result are the integers that store `numbers`.
void QuantizedSource::quantize(Operation *op, Value numbers, Value scale, Value zeroPoint) {
  OperationState state(op->getLoc(), top::QuantizeLinearOp::getOperationName(),
                       {numbers, scale, zeroPoint}, op->getResultTypes());
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
}

void QuantizedSource::expandConv(top::QLinearConvOp op) {
  builder.setInsertionPoint(op);
  std::optional<Tensor> bias = top::constantTensor(op->getOperand(8));
  std::optional<Tensor> inputScale = top::constantTensor(op->getOperand(1));
  std::optional<Tensor> filterScale = top::constantTensor(op->getOperand(4));
  if (!top::constantTensor(op->getOperand(3)) || !inputScale || !filterScale ||
      (top::isPresent(op->getOperand(8)) && !bias))
    return;
  Value input = dequantize(op->getOperand(0), op->getOperand(1), op->getOperand(2), 1);
  Value filter = dequantize(op->getOperand(3), op->getOperand(4), op->getOperand(5), 0);
  Value sums = none();
  if (bias) {
    const std::vector<double> scales = numbersOf(*filterScale);
    Tensor numbers(DataType::F32, bias->shape());
    for (auto [index, value] : llvm::enumerate(numbersOf(*bias)))
      numbers.mutableData<float>()[index] = static_cast<float>(
          value * numbersOf(*inputScale)[0] * scales[scales.size() == 1 ? 0 : index]);
    sums = top::WeightOp::create(builder, module, layerName(op) + "_bias", std::move(numbers));
  }
  OperationState state(op->getLoc(), top::ConvOp::getOperationName(), {input, filter, sums},
                       asFloat(op->getResult(0).getType()));
  for (NamedAttribute attribute : op->getAttrs())
    state.addAttribute(attribute.getName(), attribute.getValue());
  Operation *conv = builder.create(state);
  quantize(op, conv->getResult(0), op->getOperand(6), op->getOperand(7));
}

void QuantizedSource::expandMatMul(top::QLinearMatMulOp op) {
  builder.setInsertionPoint(op);
  const auto columnAxis = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? std::max<int64_t>(type.getRank() - 1, 0) : 0;
  };
  for (unsigned index : {1, 4})
    if (std::optional<Tensor> scale = top::constantTensor(op->getOperand(index));
        !scale || (index == 1 && scale->numElements() != 1))
      return;
  Value left = dequantize(op->getOperand(0), op->getOperand(1), op->getOperand(2), 0);
  Value right = dequantize(op->getOperand(3), op->getOperand(4), op->getOperand(5),
                           columnAxis(op->getOperand(3)));
  OperationState state(op->getLoc(), top::MatMulOp::getOperationName(), {left, right, none()},
                       asFloat(op->getResult(0).getType()));
  quantize(op, builder.create(state)->getResult(0), op->getOperand(6), op->getOperand(7));
}

/// A constant becomes floats; where no zero point is in the way, with the scales to store it by.
void QuantizedSource::foldWeight(top::DequantizeLinearOp op) {
  std::optional<Tensor> integers = top::constantTensor(op->getOperand(0));
  std::optional<Tensor> scale = top::constantTensor(op->getOperand(1));
  std::optional<Tensor> zeroPoint = top::constantTensor(op->getOperand(2));
  if (!integers || !scale || (top::isPresent(op->getOperand(2)) && !zeroPoint) ||
      op.getBlockSize() != 0)
    return;
  const kernels::QuantizeLayout layout{static_cast<int64_t>(op.getAxis()), 0};
  Tensor numbers(DataType::F32, integers->shape());
  ThreadPool threads(1);
  kernels::dequantizeLinear(*integers, convert(*scale, DataType::F32),
                            zeroPoint ? &*zeroPoint : nullptr, layout, numbers, threads);
  builder.setInsertionPoint(op);
  auto weight = top::WeightOp::create(builder, module, layerName(op), std::move(numbers));
  const bool isCentred =
      !zeroPoint || llvm::all_of(numbersOf(*zeroPoint), [](double zero) { return zero == 0; });
  if (isCentred && integers->type() == DataType::I8)
    weight.setWeightScaleAttr(builder.getF64ArrayAttr(numbersOf(*scale)));
  op.getOutput().replaceAllUsesWith(weight.getOutput());
  op.erase();
}

/// DequantizeLinear(QuantizeLinear(x)) is x, stored in these integers.
void QuantizedSource::cancelPair(top::DequantizeLinearOp op) {
  auto quantized = op->getOperand(0).getDefiningOp<top::QuantizeLinearOp>();
  if (!quantized)
    return;
  const Type integers = quantized.getOutput().getType();
  quant::UniformQuantizedType type =
      top::storedType(quantized->getOperand(1), quantized->getOperand(2), integers);
  if (!type || type != top::storedType(op->getOperand(1), op->getOperand(2), integers))
    return;
  Value source = quantized->getOperand(0);
  auto tensor = cast<TensorType>(source.getType());
  if (tensor.getElementType() != type) {
    if (!tensor.getElementType().isF32() &&
        !isa<quant::CalibratedQuantizedType>(tensor.getElementType()))
      return;
    source.setType(tensor.clone(type));
    if (auto input = source.getDefiningOp<top::InputOp>())
      input.getInput().setType(cast<TensorType>(source.getType()));
  }
  hasStored = true;
  // What the network gives keeps its name.
  const auto isTerminator = [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); };
  if (Operation *maker = source.getDefiningOp();
      maker && maker->getNumResults() == 1 && !isa<top::InputOp>(maker) &&
      llvm::any_of(op->getUsers(), isTerminator) && llvm::none_of(source.getUsers(), isTerminator))
    maker->setLoc(op.getLoc());
  op.getOutput().replaceAllUsesWith(source);
  op.erase();
  if (quantized->use_empty())
    quantized.erase();
}

bool QuantizedSource::run(func::FuncOp main) {
  for (auto op : llvm::to_vector(main.front().getOps<top::QLinearConvOp>()))
    expandConv(op);
  for (auto op : llvm::to_vector(main.front().getOps<top::QLinearMatMulOp>()))
    expandMatMul(op);
  for (auto op : llvm::to_vector(main.front().getOps<top::DequantizeLinearOp>())) {
    if (op->getOperand(0).getDefiningOp<top::WeightOp>())
      foldWeight(op);
    else
      cancelPair(op);
  }
  top::updateFunctionType(main);
  return hasStored;
}

struct ChipTopOptimizePass : tpuc::impl::ChipTopOptimizeBase<ChipTopOptimizePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    if (foldNumbers)
      foldIntoWindows(main);
    if (keepQuantized)
      return;
    if (QuantizedSource(module).run(main))
      setPhase(module, Phase::TakeQuantized);
  }
};

} // namespace
