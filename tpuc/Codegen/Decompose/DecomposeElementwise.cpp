//===- DecomposeElementwise.cpp - Element-wise ops of several steps -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// The dimensions of numpy's broadcasting of two tensors.
static SmallVector<int64_t> broadcastDims(Value a, Value b) {
  ArrayRef<int64_t> longer = OpMaker::dimsOf(a);
  ArrayRef<int64_t> shorter = OpMaker::dimsOf(b);
  if (longer.size() < shorter.size())
    std::swap(longer, shorter);
  SmallVector<int64_t> dims(longer);
  const size_t offset = longer.size() - shorter.size();
  for (auto [index, extent] : llvm::enumerate(shorter))
    if (extent != 1)
      dims[offset + index] = extent;
  return dims;
}

/// Sums, means and extremes of any number of tensors: two at a time.
bool codegen::decomposeManyOperands(OpMaker &maker) {
  Operation *op = maker.op;
  const bool isMean = isa<tpu::MeanOp>(op);
  if (!isMean && !isa<tpu::AddOp, tpu::MaxOp, tpu::MinOp>(op))
    return false;
  if (!isMean && op->getNumOperands() == 2)
    return false;
  if (auto factors = op->getAttrOfType<ArrayAttr>("coeff"))
    if (llvm::any_of(toDoubles(factors), [](double factor) { return factor != 1; }))
      return false;
  const StringRef name = isMean ? tpu::AddOp::getOperationName() : op->getName().getStringRef();
  Value total = op->getOperand(0);
  const NamedAttrList activation = OpMaker::activationOf(op->getAttrDictionary());
  for (Value operand : op->getOperands().drop_front()) {
    const bool isLast = operand == op->getOperands().back();
    total =
        maker.make(name, "part", Type(OpMaker::typeOf(total).clone(broadcastDims(total, operand))),
                   {total, operand}, isLast ? activation : NamedAttrList());
  }
  if (isMean)
    total = maker.withConst<tpu::MulConstOp>("mean", total, 1.0 / op->getNumOperands());
  if (total == op->getOperand(0))
    total = maker.reshaped(total, OpMaker::dimsOf(op->getResult(0)), "copy");
  maker.replace(0, total);
  return true;
}

bool codegen::decomposeClip(OpMaker &maker) {
  auto op = dyn_cast<tpu::ClipTensorOp>(maker.op);
  if (!op)
    return false;
  Value value = op.getInput();
  if (!isa<NoneType>(op.getMin().getType()))
    value = maker.makeLike<tpu::MaxOp>("from", {value, op.getMin()});
  if (!isa<NoneType>(op.getMax().getType()))
    value = maker.makeLike<tpu::MinOp>("to", {value, op.getMax()});
  maker.replace(0, value);
  return true;
}

bool codegen::decomposeScale(OpMaker &maker) {
  auto op = dyn_cast<tpu::ScaleOp>(maker.op);
  if (!op || !OpMaker::isFloat(op.getInput()) || OpMaker::dimsOf(op.getInput()).size() < 2)
    return false;
  SmallVector<int64_t> dims(OpMaker::dimsOf(op.getInput()).size(), 1);
  dims[1] = OpMaker::dimsOf(op.getInput())[1];
  const Value input = maker.widened(op.getInput());
  const auto ofChannels = [&](Value numbers, StringRef what) {
    if (const std::optional<Tensor> constant = OpMaker::constantOf(numbers))
      return maker.weight(constant->reshaped(Shape(std::span(dims.data(), dims.size()))), what,
                          input);
    return maker.widened(maker.reshaped(numbers, dims, what), "wide_" + what.str());
  };
  const Value scaled =
      maker.makeLike<tpu::MulOp>("scaled", {input, ofChannels(op.getScale(), "factors")});
  const Value shifted =
      maker.makeLike<tpu::AddOp>("shifted", {scaled, ofChannels(op.getBias(), "addends")},
                                 OpMaker::activationOf(op->getAttrDictionary()));
  maker.replace(0, maker.finished(shifted, 0));
  return true;
}

/// The power that a tensor is raised to, where it is one number.
static std::optional<double> exponentOf(Operation *op) {
  if (auto power = dyn_cast<tpu::PowConstOp>(op))
    return power.getConstVal().convertToDouble();
  auto power = dyn_cast<tpu::PowOp>(op);
  if (!power || OpMaker::typeOf(power.getInput()) != OpMaker::typeOf(power.getOutput()))
    return std::nullopt;
  const std::optional<Tensor> constant = OpMaker::constantOf(power.getExponent());
  if (!constant)
    return std::nullopt;
  const Tensor numbers = convert(*constant, DataType::F32);
  const auto values = numbers.data<float>();
  if (values.empty() || llvm::any_of(values, [&](float value) { return value != values[0]; }))
    return std::nullopt;
  return values[0];
}

/// `base` to a whole power of at least 1.
static Value wholePower(OpMaker &maker, Value base, unsigned exponent) {
  Value power;
  for (Value square = base; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0)
      power = power ? maker.makeLike<tpu::MulOp>("power", {power, square}) : square;
    if (exponent > 1)
      square = maker.makeLike<tpu::MulOp>("square", {square, square});
  }
  return power;
}

/// `base` to a power of so many quarters: of it, its root and the root of that.
static Value quarterPower(OpMaker &maker, Value base, unsigned quarters) {
  Value power = quarters < 4 ? Value() : wholePower(maker, base, quarters / 4);
  const auto multiply = [&](Value factor) {
    power = power ? maker.makeLike<tpu::MulOp>("power", {power, factor}) : factor;
  };
  if (quarters % 4 == 0)
    return power;
  const Value root = maker.makeLike<tpu::SqrtOp>("root", base);
  if ((quarters & 2) != 0)
    multiply(root);
  if ((quarters & 1) != 0)
    multiply(maker.makeLike<tpu::SqrtOp>("fourth_root", root));
  return power;
}

/// By products for whole powers, else by roots or the exponential of a logarithm, which are not
/// defined for negative numbers.
bool codegen::decomposePower(OpMaker &maker) {
  const std::optional<double> exponent = exponentOf(maker.op);
  constexpr double kMostFactors = 64;
  if (!exponent || !OpMaker::isFloat(maker.op->getOperand(0)) || *exponent == 0 ||
      std::abs(*exponent) > kMostFactors)
    return false;
  const Value base = maker.widened(maker.op->getOperand(0));
  const double magnitude = std::abs(*exponent);
  const double quarters = magnitude * 4;
  constexpr double kMostQuarters = 16;
  Value power;
  if (magnitude == std::floor(magnitude)) {
    power = wholePower(maker, base, static_cast<unsigned>(magnitude));
  } else if (quarters == std::floor(quarters) && quarters <= kMostQuarters) {
    power = quarterPower(maker, base, static_cast<unsigned>(quarters));
  } else {
    Value scaled = maker.withConst<tpu::MulConstOp>(
        "scaled", maker.makeLike<tpu::LogOp>("logarithm", base), magnitude);
    power = maker.makeLike<tpu::ExpOp>("power", scaled);
  }
  if (*exponent < 0)
    power = maker.makeLike<tpu::ReciprocalOp>("quotient", power);
  if (power == maker.op->getOperand(0))
    return false;
  maker.replace(0, maker.finished(power, 0));
  return true;
}

/// The upper or lower triangle: a choice by a constant.
bool codegen::decomposeTrilu(OpMaker &maker) {
  auto op = dyn_cast<tpu::TriluOp>(maker.op);
  if (!op)
    return false;
  std::optional<int64_t> diagonal = op.getDiagonal();
  if (!diagonal && isa<NoneType>(op.getDiagonalTensor().getType()))
    diagonal = 0;
  if (!diagonal)
    if (const auto values = top::constantInts(op.getDiagonalTensor());
        values && values->size() == 1)
      diagonal = values->front();
  if (!diagonal)
    return false;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const std::array<int64_t, 2> matrix = {dims[dims.size() - 2], dims.back()};
  Tensor kept(DataType::Bool, Shape(std::span(matrix)));
  const auto flags = kept.mutableBytes();
  for (int64_t row = 0; row < matrix[0]; ++row)
    for (int64_t column = 0; column < matrix[1]; ++column)
      flags[static_cast<size_t>(row * matrix[1] + column)] =
          std::byte{op.getUpper() ? column - row >= *diagonal : column - row <= *diagonal};
  const std::array<int64_t, 1> one = {1};
  Tensor zero(DataType::F32, Shape(std::span(one)));
  zero.mutableData<float>()[0] = 0;
  const Value no = maker.weight(zero, "zero", op.getInput());
  maker.replace(0, maker.make(tpu::WhereOp::getOperationName(), "choice",
                              Type(OpMaker::typeOf(op.getInput())),
                              {maker.weight(kept, "triangle"), op.getInput(), no}, {}));
  return true;
}
